"""Where somebody stands on the scale of agents, from few games: their rating, with the agents' ratings known.

The model is that of the tournaments (`standings.fit`): by Bradley and Terry's, a player 400 points above another is
ahead of it in 10 of 11 duels. For whole games that is Plackett and Luce's: who is first is drawn with chances that are
10 ** (rating / 400), then who is second among the others, and so on; who is ahead of whom of two then follows Bradley
and Terry. With the agents' ratings known one number is unknown, so what the games say of it is worked out as a whole,
on a grid. What is thought before the first game is Jeffreys' prior for the duels that were played, which leans to no
agent. With the prior of the tournaments, a game won and one lost, the intervals of few games would be too narrow for
people who are stronger than most agents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, permutations, product

import numpy as np

from artus_training.arena.elo import POINTS
from artus_training.arena.names import one_line_name

NEEDED = 10
"""Games until somebody is placed."""
BEYOND = 2000.0
"""Points below the weakest agent, and above the strongest one, that a rating is looked for."""
STEP = 2.0
"""Points between two ratings that are tried."""


@dataclass(frozen=True, order=True)
class Compared:
    """A game of somebody with agents of known rating."""

    place: int
    """Theirs; 1 is the best."""
    agents: tuple[tuple[float, int], ...]
    """Each agent's rating and place."""


@dataclass(frozen=True)
class Placement:
    """Where somebody stands."""

    rating: float
    """Half of what is likely lies below it."""
    low: float
    """95 % interval."""
    high: float
    below: str | None
    """The strongest agent with a lower rating, None if there is none."""
    above: str | None
    """The weakest agent with a higher rating, None if there is none."""
    better: dict[str, float]
    """How sure it is that they are better than each agent, 0..1; the weakest agent first."""

    @property
    def side(self) -> str:
        """On which side of the agents next to them they stand: `between`, `above` or `below`."""
        return "between" if self.below and self.above else "above" if self.below else "below"

    def __str__(self) -> str:
        """Between which agents somebody stands."""
        return f"{self.side} {' and '.join(one_line_name(each) for each in (self.below, self.above) if each)}"


def place(games: Sequence[Compared], ratings: Mapping[str, float]) -> Placement:
    """Somebody's place among agents.

    Args:
        games: At least one.
        ratings: Of all agents of the scale, not only of those that they have met.

    Raises:
        ValueError: If there is nothing to compare with.
    """
    if not games or not ratings:
        raise ValueError("a place needs a game, and agents whose ratings are known")
    names = sorted(ratings, key=lambda name: (ratings[name], name))
    known = np.array([ratings[name] for name in names])
    grid = np.arange(known[0] - BEYOND, known[-1] + BEYOND + STEP, STEP)
    strength = grid / POINTS
    logs = prior(games, strength)
    for game, times in sorted(Counter(games).items()):
        logs += times * likelihood(game, strength)
    weights = np.exp(logs - logs.max())
    below = np.cumsum(weights) / weights.sum()  # how likely a rating is at most that of the grid
    rating, low, high = (float(np.interp(part, below, grid)) for part in (0.5, 0.025, 0.975))
    lower = [name for name, other in zip(names, known, strict=True) if other < rating]
    better = {name: float(1 - np.interp(ratings[name], grid, below)) for name in names}
    return Placement(
        rating,
        low,
        high,
        lower[-1] if lower else None,
        names[len(lower)] if len(lower) < len(names) else None,
        better,
    )


def prior(games: Sequence[Compared], strength: np.ndarray) -> np.ndarray:
    """The logarithm of Jeffreys' prior: of the root of how much each duel tells about a strength (G,) -> (G,)."""
    met = Counter(rating for game in games for rating, _ in game.agents)
    told = np.zeros_like(strength)
    for rating, times in sorted(met.items()):
        apart = strength - rating / POINTS
        told += times * np.exp(-np.logaddexp(0, apart) - np.logaddexp(0, -apart))
    return np.asarray(np.log(told) / 2)


def likelihood(game: Compared, strength: np.ndarray) -> np.ndarray:
    """The logarithm of how likely a game's end is, for each strength (G,) of the person -> (G,). Those who share a
    place may have come in any order: the mean over all of them."""
    every = [_of_order(order, strength) for order in orders(game)]
    return np.asarray(np.mean(every, axis=0))


def orders(game: Compared) -> Iterator[tuple[float | None, ...]]:
    """The orders in which players may have come, the best first: ratings of agents, None for the person."""
    players = sorted(
        [(game.place, None), *((place, rating) for rating, place in game.agents)], key=lambda each: each[0]
    )
    shared = [[rating for _, rating in group] for _, group in groupby(players, key=lambda each: each[0])]
    for parts in product(*map(permutations, shared)):
        yield tuple(rating for part in parts for rating in part)


def _of_order(order: Sequence[float | None], strength: np.ndarray) -> np.ndarray:
    """As `likelihood`, for one order: each player has come before all behind them."""
    players = [strength if rating is None else np.full_like(strength, rating / POINTS) for rating in order]
    behind = players[-1]
    total = np.zeros_like(strength)
    for player in reversed(players[:-1]):
        behind = np.logaddexp(behind, player)
        total += player - behind
    return total
