"""The scale of ratings: Bradley and Terry's model, in Elo points."""

from __future__ import annotations

import math

POINTS = 400 / math.log(10)
"""Elo points per unit of Bradley and Terry's model."""
PRIOR = 1
"""Prior: number of won deals per agent, and the same number of lost ones, shared evenly among all agents."""


def ahead(difference: float) -> float:
    """Expected share of duels in which an agent is ahead of one rated `difference` points lower."""
    return 1 / (1 + 10 ** (-difference / 400))
