"""What a tournament says: win rates, scores, duels, ratings, each with its uncertainty."""

from __future__ import annotations

import math
from dataclasses import dataclass

import choix
import numpy as np
from scipy.special import stdtrit

from artus_env.engine.match import seat_orders, wins_of
from artus_training.arena.elo import POINTS, PRIOR
from artus_training.arena.evaluate import wilson_interval
from artus_training.arena.results import Results

BOOTSTRAP_SAMPLES = 2000
SAMPLES_AT_ONCE = 20
"""How many are drawn at a time, so that they fit into memory."""
MOST_DRAWN = 2_000
"""Of more deals of an order neighbours are drawn together: it says the same, and takes a tenth of a second."""
FEWEST_DEALS = 10
"""With fewer, samples of them are too much alike to say how far off a mean may be."""
FEWEST_OF_AN_ORDER = 2
"""One deal says nothing about how much deals of its seating order differ."""
ZERO = "random"
"""The agent whose rating is 0 where it plays."""
MEAN = "mean"


@dataclass(frozen=True)
class Standing:
    """One agent's line of the table. Intervals are 95 %; None where there are too few deals for one."""

    agent: str
    games: int
    wins: float
    """Mean part of the win, of which joint winners have equal parts."""
    wins_low: float | None
    wins_high: float | None
    score: float
    """Mean number of points at the end."""
    score_low: float | None
    """None also where the agent had the same score in all deals."""
    score_high: float | None
    rating: float
    """Elo points (see `fit`) above `Standings.zero`."""
    rating_low: float | None
    """Of the difference to `Standings.zero`; that agent itself has no interval."""
    rating_high: float | None


@dataclass(frozen=True)
class Standings:
    """The table of a tournament, best rating first, and the duels."""

    table: list[Standing]
    duels: np.ndarray
    """How often agent i is ahead of agent j in the games of both, ties half: shape (K, K), NaN where they
    never met; in the order of the table."""
    duels_low: np.ndarray
    """95 % intervals: NaN where there are too few deals."""
    duels_high: np.ndarray
    zero: str
    """What has the rating 0: the agent `random` where it plays, else `mean`, the mean of all agents."""
    deals: int
    """Deals of each line-up that count."""
    fewest: int
    """Deals that intervals need."""
    points: str
    """What the game calls its score."""

    @property
    def has_intervals(self) -> bool:
        """Whether there are deals enough to say how sure the figures are."""
        return self.deals >= self.fewest


def standings(results: Results) -> Standings:
    """Work the table out. It doesn't depend on the order in which games were played.

    Intervals of wins and duels are Wilson's (see `fraction_intervals`); those of scores and ratings come from a paired
    bootstrap: deals are drawn with replacement, each with all its rotations and line-ups, every seating order as often
    as it was played. Deals by which some orders are ahead of others don't count. Fewer than `FEWEST_DEALS`, or
    `FEWEST_OF_AN_ORDER`, have no intervals.

    Raises:
        ValueError: If some line-up hasn't played a deal in each order yet.
    """
    names = results.settings.agents
    count = len(names)
    orders = len(seat_orders(results.settings.num_players))
    deals = min(len(scores) for scores in results.scores) // orders * orders
    if deals == 0:
        raise ValueError("some line-ups have not played in each order yet")
    wins, scores, better, games = by_deal(results, deals)
    figures = np.concatenate([wins, scores, better.reshape(count * count, deals)])
    means = figures.mean(axis=1)
    duels = means[2 * count :].reshape(count, count)
    zero = names.index(ZERO) if ZERO in names else None
    rating = above(zero, fit(deals * np.nan_to_num(duels) + PRIOR / count))

    fewest = max(FEWEST_DEALS, FEWEST_OF_AN_ORDER * orders)
    low, high = np.full((2, len(figures) + count), np.nan)
    if deals >= fewest:
        rng = np.random.default_rng(results.settings.seed)
        samples = resample(figures, orders, rng)
        again = np.nan_to_num(samples[2 * count :].T.reshape(-1, count, count))
        # What the prior says is as uncertain as what was played: else agents that never lose had ratings without a
        # width.
        prior = rng.gamma(PRIOR / count, size=again.shape)
        ratings = [above(zero, fit(duel, near=rating)) for duel in deals * again + prior]
        low, high = interval_of(
            np.concatenate([means, rating]), np.concatenate([samples, np.transpose(ratings)]), deals // orders
        )
        fractions = np.r_[:count, 2 * count : len(figures)]
        low[fractions], high[fractions] = fraction_intervals(figures[fractions], orders)
        nothing = [count + k for k in range(count) if np.ptp(scores[k]) == 0]
        if zero is not None:
            nothing.append(len(figures) + zero)
        low[nothing] = high[nothing] = np.nan

    order = np.argsort(-rating, kind="stable")
    table = [
        Standing(
            names[k], int(games[k]),
            float(means[k]), known(low[k]), known(high[k]),
            float(means[count + k]), known(low[count + k]), known(high[count + k]),
            float(rating[k]), known(low[len(figures) + k]), known(high[len(figures) + k]),
        )
        for k in order
    ]  # fmt: skip
    square = np.ix_(order, order)
    duels_low, duels_high = (ends[2 * count : len(figures)].reshape(count, count) for ends in (low, high))
    zero_name = MEAN if zero is None else ZERO
    points = results.settings.definition.score
    return Standings(table, duels[square], duels_low[square], duels_high[square], zero_name, deals, fewest, points)


def by_deal(results: Results, deals: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What the first D deals brought K agents.

    Returns:
        Mean part of the win (K, D), mean score (K, D), how often agent i was ahead of agent j, ties half (K, K, D;
        NaN where they never met), and the number of games in all (K,).
    """
    count = len(results.settings.agents)
    wins, points, better = np.zeros((count, deals)), np.zeros((count, deals)), np.zeros((count, count, deals))
    games, seats, met = np.zeros(count), np.zeros(count), np.zeros((count, count))
    for lineup, who in enumerate(results.settings.lineups()):
        outcomes = results.standing_outcomes(lineup)[:deals]
        won = wins_of(outcomes)
        games[list(set(who))] += deals * outcomes.shape[1]
        for place, agent in enumerate(who):
            wins[agent] += won[:, :, place].sum(axis=1)
            points[agent] += results.scores[lineup][:deals, :, place].sum(axis=1)
            seats[agent] += outcomes.shape[1]
            for other_place, other in enumerate(who):
                if other != agent:
                    ahead, level = (
                        compare(outcomes[:, :, place], outcomes[:, :, other_place])
                        for compare in (np.greater, np.equal)
                    )
                    better[agent, other] += (ahead + level / 2).sum(axis=1)
                    met[agent, other] += outcomes.shape[1]
    with np.errstate(invalid="ignore"):
        return wins / seats[:, None], points / seats[:, None], better / met[:, :, None], games


def fit(ahead: np.ndarray, near: np.ndarray | None = None) -> np.ndarray:
    """Ratings by Bradley and Terry's model, all duels at once: shape (K, K) -> (K,).

    An agent that is 400 points above another is ahead of it in 10 of 11 duels, in the mean over all duels of the table.

    Args:
        ahead: How many duels agent i has won against agent j, ties half. All positive: nobody is infinitely stronger,
            and those who never met are as good as each other. The diagonal doesn't count.
        near: Ratings to start the search at.
    """
    wins = ahead * ~np.eye(len(ahead), dtype=bool)
    start = None if near is None else near / POINTS
    return POINTS * choix.ilsr_pairwise_dense(wins, initial_params=start, max_iter=10_000, tol=1e-6)


def above(zero: int | None, rating: np.ndarray) -> np.ndarray:
    """Ratings as differences to that of one agent, or to their mean: shape (K,)."""
    return rating - (rating.mean() if zero is None else rating[zero])


def resample(figures: np.ndarray, orders: int, rng: np.random.Generator) -> np.ndarray:
    """Means over deals that were drawn with replacement: (F, D) -> (F, samples). Deal d was played in order d %
    orders."""
    each = figures.shape[1] // orders
    together = -(-each // MOST_DRAWN)
    each //= together
    figures = figures[:, : each * together * orders].reshape(len(figures), each, together, orders).mean(axis=2)
    means = []
    for _ in range(BOOTSTRAP_SAMPLES // SAMPLES_AT_ONCE):
        times = rng.multinomial(each, np.full(each, 1 / each), size=(SAMPLES_AT_ONCE, orders))
        means.append(np.tensordot(figures, times / (each * orders), axes=([1, 2], [2, 1])))
    return np.concatenate(means, axis=1)


def interval_of(middle: np.ndarray, samples: np.ndarray, each: int) -> tuple[np.ndarray, np.ndarray]:
    """95 % intervals: two of shape (F,), from estimates (F,) and what they are for samples of the deals (F, samples).

    Args:
        middle, samples: The estimates.
        each: Deals of each order. Samples of n values spread as if around a mean that was known: by n - 1 instead of n
            too little.
    """
    wider = math.sqrt(each / (each - 1))
    low, high = np.quantile(samples, [0.025, 0.975], axis=1)
    return middle + wider * (low - middle), middle + wider * (high - middle)


def fraction_intervals(figures: np.ndarray, orders: int) -> tuple[np.ndarray, np.ndarray]:
    """95 % intervals of fractions: two of shape (F,), from what each deal brought (F, D), 0..1; NaN where nothing is
    known.

    Samples of deals spread evenly around the mean that was seen, and are too near to it where that is far from 1/2: of
    true duels such intervals held less than they promise. Wilson's asks instead which true fractions are
    compatible with what was seen. It counts independent games, so it is told how many of them spread as much as the
    mean of these deals does; and because that spread is an estimate, it goes as far as Student's t says.
    """
    count, deals = figures.shape
    each = deals // orders
    mean = figures.mean(axis=1)
    variance = figures.reshape(count, each, orders).var(axis=1, ddof=1).mean(axis=1) / deals
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = np.where(variance > 0, mean * (1 - mean) / variance, np.inf)
    reach = float(stdtrit(deals - orders, 0.975))
    ends = np.full((count, 2), np.nan)
    for row in np.flatnonzero(~np.isnan(mean)):
        ends[row] = wilson_interval(mean[row], worth[row], reach)
    return never_certain(mean, ends[:, 0], ends[:, 1], deals)


def never_certain(mean: np.ndarray, low: np.ndarray, high: np.ndarray, deals: int) -> tuple[np.ndarray, np.ndarray]:
    """Intervals of fractions that leave room for what didn't happen in any of the deals.

    What never happened in n deals may still happen in a few of a hundred, by Wilson's interval of 0 in n: no upper end
    is below that, no lower end above the rest. Samples of deals that all went the same way are all the same; there the
    room is taken to both sides.
    """
    unseen = wilson_interval(0.0, deals)[1]
    low = np.minimum(low, np.minimum(mean, 1 - unseen)).clip(0, 1)
    high = np.maximum(high, np.maximum(mean, unseen)).clip(0, 1)
    same = high - low < 1e-9
    return np.where(same, mean * (1 - unseen), low), np.where(same, mean + (1 - mean) * unseen, high)


def known(value: float) -> float | None:
    """NaN is unequal to itself, and JSON has none: then None."""
    return None if math.isnan(value) else float(value)


def known_rows(values: np.ndarray) -> list[list[float | None]]:
    """`known` for a matrix."""
    return [[known(value) for value in row] for row in values.tolist()]
