"""Statistics of a tournament: win rates, scores, duels and ratings, each with its uncertainty."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import choix
import numpy as np
from scipy.special import stdtrit

from artus_env.agents import seat_orders, standing_outcomes, wins_of
from artus_training.arena.play import Block, Results
from artus_training.arena.schedule import Settings
from artus_training.arena.statistics import ANCHOR, ANCHOR_RATING, POINTS_PER_UNIT, PRIOR, Z_95, wilson_interval

BOOTSTRAP_SAMPLES = 2000
SAMPLES_AT_ONCE = 20
"""Samples drawn at a time, to save memory."""
MOST_DRAWS = 2_000
"""Most draws for each seating order. If there are more deals, adjacent deals are drawn together: the intervals are as
good, and resampling takes 0.1 s."""
FEWEST_DEALS = 10
"""Fewest deals for intervals: samples of fewer deals are too similar to show the uncertainty of a mean."""
FEWEST_OF_AN_ORDER = 2
"""Fewest deals of each seating order for intervals: one deal shows no spread."""


@dataclass(frozen=True)
class Standing:
    """One agent's line of the table. Intervals are 95 %; None if there are too few deals."""

    agent: str
    games: int
    wins: float
    """Mean share of the win; joint winners share it equally."""
    wins_low: float | None
    wins_high: float | None
    score: float
    """Mean number of points at the end."""
    score_low: float | None
    """Like `score_high`, None also if the agent had the same score in all deals."""
    score_high: float | None
    rating: float
    """Elo points (see `fit`), on the scale that gives `Standings.anchor` the rating `ANCHOR_RATING`."""
    rating_low: float | None
    """Interval of the difference to `Standings.anchor`; the anchor itself has none."""
    rating_high: float | None


@dataclass(frozen=True)
class Standings:
    """The table of a tournament, best rating first, and the duels."""

    table: list[Standing]
    duels: np.ndarray
    """Fraction of the games of agents i and j in which i is ahead; ties count half. Shape (K, K), in the order of the
    table; NaN where two agents never met."""
    duels_low: np.ndarray
    """Lower and upper ends of the 95 % intervals of `duels`; NaN if there are too few deals."""
    duels_high: np.ndarray
    anchor: str
    """The agent whose rating is `ANCHOR_RATING`; see `anchor_of`."""
    deals: int
    """Deals of each line-up that are counted."""
    fewest_deals: int
    """Fewest deals with which there are intervals."""
    points: str
    """The game's name for its score."""

    @property
    def has_intervals(self) -> bool:
        """Whether there are enough deals for intervals."""
        return self.deals >= self.fewest_deals


class Tally:
    """Sums over games, for the live table and for the report.

    Args:
        settings: The tournament.
        deals: D, the number of deals with separate sums; None: one sum over all deals, D = 1.
    """

    def __init__(self, settings: Settings, deals: int | None = None) -> None:
        count, columns = len(settings.agents), 1 if deals is None else deals
        self.settings, self.by_deal, self._lineups, self._deals = settings, deals is not None, settings.lineups(), 0
        self.wins, self.points = np.zeros((2, count, columns))
        """Won games and points at the end: shape (K, D)."""
        self.ahead = np.zeros((count, count, columns))
        """Games in which agent i is ahead of agent j; ties count half. Shape (K, K, D)."""
        self.games, self.seats = np.zeros((2, count), np.int64)
        """Games, and seats in them (an agent may have several in one game): shape (K,)."""
        self.met = np.zeros((count, count), np.int64)
        """Comparisons summed in `ahead`: shape (K, K)."""

    def add(self, block: Block) -> None:
        """Count the games of a block."""
        members = self._lineups[block.lineup]
        columns = slice(block.first, block.first + len(block)) if self.by_deal else slice(0, 1)
        outcomes = standing_outcomes(block.outcomes, block.given_up)
        won, games = wins_of(outcomes), outcomes[:, :, 0].size

        def summed(values: np.ndarray) -> np.ndarray:
            return np.asarray(values.sum(axis=1) if self.by_deal else values.sum())

        self._deals += len(block)
        self.games[list(set(members))] += games
        for place, agent in enumerate(members):
            self.wins[agent, columns] += summed(won[:, :, place])
            self.points[agent, columns] += summed(block.scores[:, :, place])
            self.seats[agent] += games
            for other_place, other in enumerate(members):
                if other != agent:
                    result, other_result = outcomes[:, :, place], outcomes[:, :, other_place]
                    self.ahead[agent, other, columns] += summed((result > other_result) + (result == other_result) / 2)
                    self.met[agent, other] += games

    def duels(self) -> np.ndarray:
        """Fraction of duels in which agent i is ahead of agent j; ties count half. Shape (K, K), NaN where they never
        met."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.ahead.sum(axis=2) / self.met)

    def ratings(self) -> tuple[int, np.ndarray]:
        """The anchor's index, and the ratings on its scale: shape (K,)."""
        deals, agents = self._deals / len(self._lineups), self.settings.agents
        rating = fit(deals * np.nan_to_num(self.duels()) + PRIOR / len(agents))
        anchor = anchor_of(agents, rating)
        return anchor, anchored(rating, anchor)


def standings(results: Results) -> Standings:
    """Compute the table. It doesn't depend on the order in which games were played.

    Intervals of wins and duels are Wilson's (see `fraction_intervals`); those of scores and ratings come from a paired
    bootstrap: deals are drawn with replacement, each with all its rotations and line-ups, and each seating order as
    often as it was played. Only deals that all line-ups have played are counted, as many of each order. There are no
    intervals with fewer deals than `FEWEST_DEALS`, or `FEWEST_OF_AN_ORDER` of each order.

    Raises:
        ValueError: If some line-up hasn't played a deal in each order yet.
    """
    names = results.settings.agents
    count = len(names)
    orders = len(seat_orders(results.settings.num_players))
    deals = min(len(scores) for scores in results.scores) // orders * orders
    if deals == 0:
        raise ValueError("some line-ups have not played in each order yet")
    tally = tally_of(results, deals)
    with np.errstate(invalid="ignore"):
        by_deal = tally.ahead / (tally.met[:, :, None] / deals)
    seats = tally.seats[:, None] / deals
    figures = np.concatenate([tally.wins / seats, tally.points / seats, by_deal.reshape(count * count, deals)])
    means = figures.mean(axis=1)
    anchor, rating = tally.ratings()

    fewest_deals = max(FEWEST_DEALS, FEWEST_OF_AN_ORDER * orders)
    low, high = np.full((2, len(figures) + count), np.nan)
    if deals >= fewest_deals:
        rng = np.random.default_rng(results.settings.seed)
        samples = resample(figures, orders, rng)
        resampled_duels = np.nan_to_num(samples[2 * count :].T.reshape(-1, count, count))
        # The prior is drawn, too: otherwise the interval of an agent that never loses would have width 0.
        prior = rng.gamma(PRIOR / count, size=resampled_duels.shape)
        ratings = [anchored(fit(duel, start_ratings=rating), anchor) for duel in deals * resampled_duels + prior]
        low, high = interval_of(
            np.concatenate([means, rating]), np.concatenate([samples, np.transpose(ratings)]), deals, orders
        )
        fraction_rows = np.r_[:count, 2 * count : len(figures)]
        games = np.concatenate([tally.games, tally.met.ravel()])
        low[fraction_rows], high[fraction_rows] = fraction_intervals(figures[fraction_rows], orders, games)
        without_interval = [*(count + k for k in range(count) if np.ptp(tally.points[k]) == 0), len(figures) + anchor]
        low[without_interval] = high[without_interval] = np.nan

    order = np.argsort(-rating, kind="stable")
    table = [
        Standing(
            names[k], int(tally.games[k]),
            float(means[k]), none_if_nan(low[k]), none_if_nan(high[k]),
            float(means[count + k]), none_if_nan(low[count + k]), none_if_nan(high[count + k]),
            float(rating[k]), none_if_nan(low[len(figures) + k]), none_if_nan(high[len(figures) + k]),
        )
        for k in order
    ]  # fmt: skip
    in_table_order = np.ix_(order, order)
    duels, duels_low, duels_high = (
        ends[2 * count : len(figures)].reshape(count, count)[in_table_order] for ends in (means, low, high)
    )
    points = results.settings.definition.score
    return Standings(table, duels, duels_low, duels_high, names[anchor], deals, fewest_deals, points)


def tally_of(results: Results, deals: int) -> Tally:
    """Sum the first D deals of each line-up."""
    tally = Tally(results.settings, deals)
    played = zip(results.scores, results.outcomes, results.given_up, strict=True)
    for lineup, (scores, outcomes, given_up) in enumerate(played):
        tally.add(Block(lineup, 0, scores[:deals], outcomes[:deals], given_up[:deals], []))
    return tally


def fit(ahead: np.ndarray, start_ratings: np.ndarray | None = None) -> np.ndarray:
    """Fit ratings to all duels at once by Bradley and Terry's model: shape (K, K) -> (K,).

    An agent rated 400 points above another is ahead of it in 10 of 11 duels; this holds in the mean over all duels of
    the table.

    Args:
        ahead: Number of duels that agent i has won against agent j; ties count half. All must be positive, so that no
            rating is infinite and agents that never met count as equal. The diagonal is ignored.
        start_ratings: Ratings at which the search starts: shape (K,).
    """
    wins = ahead * ~np.eye(len(ahead), dtype=bool)
    start_strengths = None if start_ratings is None else start_ratings / POINTS_PER_UNIT
    return POINTS_PER_UNIT * choix.ilsr_pairwise_dense(wins, initial_params=start_strengths, max_iter=10_000, tol=1e-6)


def anchor_of(names: Sequence[str], rating: np.ndarray) -> int:
    """The index of the agent that gets the rating `ANCHOR_RATING`: `ANCHOR` if it plays, else the agent in the middle
    of the table. An agent that loses all its games would be a poor anchor: its distance to the others is uncertain, and
    that would widen every interval."""
    return names.index(ANCHOR) if ANCHOR in names else int(np.argsort(-rating, kind="stable")[len(names) // 2])


def anchored(rating: np.ndarray, anchor: int) -> np.ndarray:
    """Shift ratings so that the anchor has `ANCHOR_RATING`: shape (K,)."""
    return rating - rating[anchor] + ANCHOR_RATING


def resample(figures: np.ndarray, orders: int, rng: np.random.Generator) -> np.ndarray:
    """Draw bootstrap samples of the deals with replacement, and return their means: (F, D) -> (F, samples). Deal d was
    played in order d % orders."""
    draws = figures.shape[1] // orders
    deals_each = -(-draws // MOST_DRAWS)
    draws //= deals_each
    figures = figures[:, : draws * deals_each * orders].reshape(len(figures), draws, deals_each, orders).mean(axis=2)
    means = []
    for _ in range(BOOTSTRAP_SAMPLES // SAMPLES_AT_ONCE):
        num_drawn = rng.multinomial(draws, np.full(draws, 1 / draws), size=(SAMPLES_AT_ONCE, orders))
        means.append(np.tensordot(figures, num_drawn / (draws * orders), axes=([1, 2], [2, 1])))
    return np.concatenate(means, axis=1)


def interval_of(middle: np.ndarray, samples: np.ndarray, deals: int, orders: int) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends of 95 % intervals, each of shape (F,).

    The variance of bootstrap samples of n values is too small by the factor (n - 1) / n; this and Student's t widen the
    intervals.

    Args:
        middle: Estimates: shape (F,).
        samples: The same estimates for samples of the deals: shape (F, samples).
        deals, orders: Numbers of deals and of seating orders played.
    """
    deals_of_order = deals // orders
    widening = math.sqrt(deals_of_order / (deals_of_order - 1)) * float(stdtrit(deals - orders, 0.975)) / Z_95
    low, high = np.quantile(samples, [0.025, 0.975], axis=1)
    return middle + widening * (low - middle), middle + widening * (high - middle)


def fraction_intervals(figures: np.ndarray, orders: int, games: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends of 95 % intervals of fractions, each of shape (F,); NaN where nothing is known.

    Bootstrap intervals are symmetric around the observed mean, which makes them too short if the mean is far from 1/2:
    on real duels they contained the true value in less than 95 % of cases. Wilson's interval consists of the true
    fractions that are compatible with the observations. It needs a number of independent games: here the number of
    games whose mean has the same variance as the mean of these deals. As that variance is an estimate, Student's t
    replaces the normal quantile.

    If all deals of each order had the same result, there is no variance to estimate. The interval is then on both sides
    as wide as Wilson's interval of 0 wins in n games, since an event that never occurred may still be possible.

    Args:
        figures: The fraction in each deal, 0..1: shape (F, D).
        orders: Number of seating orders.
        games: Games behind each fraction: shape (F,).
    """
    count, deals = figures.shape
    by_order = figures.reshape(count, deals // orders, orders)
    mean = figures.mean(axis=1)
    variance = by_order.var(axis=1, ddof=1).mean(axis=1) / deals
    varies = np.ptp(by_order, axis=1).any(axis=1)
    quantile = float(stdtrit(deals - orders, 0.975))
    ends = np.full((count, 2), np.nan)
    for row in np.flatnonzero(~np.isnan(mean)):
        middle = float(mean[row])
        if varies[row]:
            ends[row] = wilson_interval(middle, middle * (1 - middle) / float(variance[row]), quantile)
        else:
            width = wilson_interval(0.0, float(games[row]))[1]
            ends[row] = middle * (1 - width), middle + (1 - middle) * width
    return ends[:, 0], ends[:, 1]


def none_if_nan(value: float) -> float | None:
    """Replace NaN by None, because JSON has no NaN, and NaN is unequal to itself."""
    return None if math.isnan(value) else float(value)


def rows_without_nan(values: np.ndarray) -> list[list[float | None]]:
    """Replace NaN by None in a matrix (see `none_if_nan`)."""
    return [[none_if_nan(value) for value in row] for row in values.tolist()]
