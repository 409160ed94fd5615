"""The verbs of Artus (see `artus_env.engine.contract.verbs`): its rules, what is seen of it, and how it is judged."""

from __future__ import annotations

from artus_env.engine.compiling.jit import jit
from artus_env.games.artus.actions import MASK_WORDS
from artus_env.games.artus.judgement import appeal, doubt, endgame, judge, outlook, outlooks, routine
from artus_env.games.artus.observation import observe
from artus_env.games.artus.rules import conceal, deal, is_over, legal, play, points_of, redeal

__all__ = [
    "appeal",
    "conceal",
    "deal",
    "doubt",
    "endgame",
    "is_over",
    "judge",
    "legal",
    "mask_words",
    "observe",
    "outlook",
    "outlooks",
    "play",
    "points_of",
    "redeal",
    "routine",
    "scale",
]


@jit
def mask_words(t):
    """Enough for the most actions that a box may make."""
    return MASK_WORDS


@jit
def scale(t, g):
    """A hundred points of prestige make a margin of 1."""
    return 100.0
