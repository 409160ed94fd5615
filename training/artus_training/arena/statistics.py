"""Statistics for evaluations and tournaments: intervals of win rates, and the scale of ratings.

Ratings follow Bradley and Terry's model, in Elo points.
"""

from __future__ import annotations

import math

Z_95 = 1.959964
"""Half width of a 95 % interval in standard deviations."""
ANCHOR = "greedy"
"""The agent that fixes the scale of ratings: its rating is `ANCHOR_RATING`."""
ANCHOR_RATING = 1000
POINTS_PER_UNIT = 400 / math.log(10)
"""Elo points per unit of Bradley and Terry's model."""
PRIOR = 1
"""Prior that keeps ratings finite: before the first deal, every agent counts as having won this number of deals and
lost as many, in equal parts against each agent."""


def expected_score(difference: float) -> float:
    """Expected share of duels in which an agent is ahead of one rated `difference` points lower."""
    return 1 / (1 + 10 ** (-difference / 400))


def wilson_interval(rate: float, effective_games: float, z: float = Z_95) -> tuple[float, float]:
    """95 % interval of a win rate.

    This is Wilson's interval: it needs no random samples and stays correct near 0 and 1, where a bootstrap of 1 000
    wins in 1 000 games has width 0. Shared wins, and deals that are played from every seat, have less variance than
    independent wins and losses, so the interval is too wide rather than too narrow.

    Args:
        rate: The win rate.
        effective_games: Number of independent games with the same information; may be a fraction or infinite.
        z: Half width in standard deviations.
    """
    square = z**2 / effective_games
    centre = (rate + square / 2) / (1 + square)
    half_width = math.sqrt(rate * (1 - rate) * square + square**2 / 4) / (1 + square)
    return max(0.0, centre - half_width), min(1.0, centre + half_width)
