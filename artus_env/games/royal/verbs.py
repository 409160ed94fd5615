"""The verbs of the royal card game (see `artus_env.engine.verbs`): its rules, what is seen of it, how it is judged."""

from __future__ import annotations

from artus_env.engine.jit import jit
from artus_env.games.royal.actions import MASK_WORDS
from artus_env.games.royal.rules import deal, is_over, legal, play, points_of

__all__ = [
    "deal",
    "is_over",
    "legal",
    "mask_words",
    "play",
    "points_of",
    "scale",
]


@jit
def mask_words(t):
    """Enough for the most actions that a box may make."""
    return MASK_WORDS


@jit
def scale(t, g):
    """The whole course makes a margin of 1."""
    return float(int(t["fields"]))
