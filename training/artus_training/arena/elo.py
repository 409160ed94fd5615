"""The scale of ratings: Bradley and Terry's model, in Elo points."""

from __future__ import annotations

import math

POINTS = 400 / math.log(10)
"""Elo points in a unit of Bradley and Terry's model."""
PRIOR = 1
"""Deals that everybody is thought to have won, and as many lost, before the first one: shared evenly among all
agents."""


def ahead(difference: float) -> float:
    """In what fraction of their duels an agent is ahead of another that is so many points below it."""
    return 1 / (1 + 10 ** (-difference / 400))
