"""Rating of a person on the scale of agents, from few games against agents whose ratings are known.

Tournaments use the same model (`standings.fit`), Bradley and Terry's: a player 400 points above another is ahead of it
in 10 of 11 duels. For whole games this becomes Plackett and Luce's model: the first place is drawn with chances
proportional to 10 ** (rating / 400), then the second place among the other players, and so on; the order of any two
players then follows Bradley and Terry. As the person's rating is the only unknown number, its posterior is computed on
a grid. The prior is Jeffreys' for the duels that were played, which favours no agent. With the prior of the
tournaments, one game won and one lost, the intervals from few games would be too narrow for people who are stronger
than most agents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, permutations, product

import numpy as np

from artus_training.arena.statistics import POINTS
from artus_training.tables import one_line_name

NEEDED = 10
"""Games that a person needs to get a placement."""
BEYOND = 2000.0
"""How far the grid of ratings extends below the weakest and above the strongest agent, in points."""
STEP = 2.0
"""Points between two ratings of the grid."""


@dataclass(frozen=True, order=True)
class Compared:
    """A game of a person against agents of known rating."""

    place: int
    """The person's place; 1 is the best."""
    agents: tuple[tuple[float, int], ...]
    """Each agent's rating and place."""


@dataclass(frozen=True)
class Placement:
    """A person's place among agents."""

    rating: float
    """Median of the posterior."""
    low: float
    """95 % interval."""
    high: float
    below: str | None
    """The strongest agent with a lower rating, None if there is none."""
    above: str | None
    """The weakest agent with a higher rating, None if there is none."""
    better: dict[str, float]
    """Probability that the person is better than each agent, 0..1; the weakest agent first."""

    @property
    def side(self) -> str:
        """The person's side of the neighbouring agents: `between`, `above` or `below`."""
        return "between" if self.below and self.above else "above" if self.below else "below"

    def __str__(self) -> str:
        """The person's place in words: between two agents, above the strongest one or below the weakest one."""
        return f"{self.side} {' and '.join(one_line_name(each) for each in (self.below, self.above) if each)}"


def place(games: Sequence[Compared], ratings: Mapping[str, float]) -> Placement:
    """Place a person among agents.

    Args:
        games: At least one.
        ratings: Ratings of all agents of the scale, also of agents that the person hasn't met.

    Raises:
        ValueError: If there are no games or no ratings.
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
    below = np.cumsum(weights) / weights.sum()  # probability that the rating is at most the grid's
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
    """The logarithm of Jeffreys' prior: the square root of the duels' Fisher information, strengths (G,) -> (G,)."""
    met = Counter(rating for game in games for rating, _ in game.agents)
    information = np.zeros_like(strength)
    for rating, times in sorted(met.items()):
        apart = strength - rating / POINTS
        information += times * np.exp(-np.logaddexp(0, apart) - np.logaddexp(0, -apart))
    return np.asarray(np.log(information) / 2)


def likelihood(game: Compared, strength: np.ndarray) -> np.ndarray:
    """Log likelihood of a game's result for each strength (G,) of the person -> (G,). Players who share a place may
    have any order among themselves: the mean over all orders."""
    every = [_of_order(order, strength) for order in orders(game)]
    return np.asarray(np.mean(every, axis=0))


def orders(game: Compared) -> Iterator[tuple[float | None, ...]]:
    """Yield all orders of the players that fit their places, the best first: ratings of agents, None for the person."""
    players = sorted(
        [(game.place, None), *((place, rating) for rating, place in game.agents)], key=lambda each: each[0]
    )
    shared = [[rating for _, rating in group] for _, group in groupby(players, key=lambda each: each[0])]
    for parts in product(*map(permutations, shared)):
        yield tuple(rating for part in parts for rating in part)


def _of_order(order: Sequence[float | None], strength: np.ndarray) -> np.ndarray:
    """Log likelihood of one order, in which each player is ahead of all players behind them."""
    players = [strength if rating is None else np.full_like(strength, rating / POINTS) for rating in order]
    behind = players[-1]
    total = np.zeros_like(strength)
    for player in reversed(players[:-1]):
        behind = np.logaddexp(behind, player)
        total += player - behind
    return total
