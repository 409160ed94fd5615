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

from artus_training.arena.statistics import POINTS_PER_UNIT
from artus_training.tables import one_line_name

NEEDED = 10
"""Games that a person needs to get a placement."""
BEYOND = 2000.0
"""Rating points by which the grid extends below the weakest and above the strongest agent."""
STEP = 2.0
"""Points between two ratings of the grid."""


@dataclass(frozen=True, order=True)
class RatedGame:
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
    """Lower and upper end of the 95 % interval."""
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
        return f"{self.side} {' and '.join(one_line_name(name) for name in (self.below, self.above) if name)}"


def place(games: Sequence[RatedGame], ratings: Mapping[str, float]) -> Placement:
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
    agent_ratings = np.array([ratings[name] for name in names])
    grid = np.arange(agent_ratings[0] - BEYOND, agent_ratings[-1] + BEYOND + STEP, STEP)
    strength = grid / POINTS_PER_UNIT
    logs = prior(games, strength)
    for game, times in sorted(Counter(games).items()):
        logs += times * likelihood(game, strength)
    weights = np.exp(logs - logs.max())
    cumulative = np.cumsum(weights) / weights.sum()  # probability of a rating up to each point of the grid
    rating, low, high = (float(np.interp(fraction, cumulative, grid)) for fraction in (0.5, 0.025, 0.975))
    weaker = [name for name, agent_rating in zip(names, agent_ratings, strict=True) if agent_rating < rating]
    better = {name: float(1 - np.interp(ratings[name], grid, cumulative)) for name in names}
    return Placement(
        rating,
        low,
        high,
        weaker[-1] if weaker else None,
        names[len(weaker)] if len(weaker) < len(names) else None,
        better,
    )


def prior(games: Sequence[RatedGame], strength: np.ndarray) -> np.ndarray:
    """Logarithm of Jeffreys' prior, the square root of the duels' Fisher information, for each strength: (G,) ->
    (G,)."""
    duels_by_rating = Counter(rating for game in games for rating, _ in game.agents)
    information = np.zeros_like(strength)
    for rating, num_duels in sorted(duels_by_rating.items()):
        difference = strength - rating / POINTS_PER_UNIT
        information += num_duels * np.exp(-np.logaddexp(0, difference) - np.logaddexp(0, -difference))
    return np.asarray(np.log(information) / 2)


def likelihood(game: RatedGame, strength: np.ndarray) -> np.ndarray:
    """Log likelihood of a game's result for each strength of the person: (G,) -> (G,). Players who share a place may
    have any order among themselves, so this is the mean over all orders."""
    by_order = [_log_likelihood(order, strength) for order in orders(game)]
    return np.asarray(np.mean(by_order, axis=0))


def orders(game: RatedGame) -> Iterator[tuple[float | None, ...]]:
    """Yield all orders of the players that fit their places, the best first: ratings of agents, None for the person."""
    players = sorted(
        [(game.place, None), *((place, rating) for rating, place in game.agents)], key=lambda player: player[0]
    )
    groups = [[rating for _, rating in group] for _, group in groupby(players, key=lambda player: player[0])]
    for parts in product(*map(permutations, groups)):
        yield tuple(rating for part in parts for rating in part)


def _log_likelihood(order: Sequence[float | None], strength: np.ndarray) -> np.ndarray:
    """Log likelihood (Plackett-Luce) of one order, best first, for each `strength` of the person, who is None in it."""
    players = [strength if rating is None else np.full_like(strength, rating / POINTS_PER_UNIT) for rating in order]
    behind = players[-1]
    total = np.zeros_like(strength)
    for player in reversed(players[:-1]):
        behind = np.logaddexp(behind, player)
        total += player - behind
    return total
