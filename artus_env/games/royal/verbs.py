"""The verbs of the royal card game (see
`artus_env.engine.contract.verbs`): its rules, what is seen of it, how it is judged."""

from __future__ import annotations

from artus_env.engine.compiling.jit import jit
from artus_env.games.royal.actions import MASK_WORDS
from artus_env.games.royal.judgement import appeal, doubt, judge, outlook, outlooks, routine
from artus_env.games.royal.knowledge import conceal, redeal
from artus_env.games.royal.observation import observe
from artus_env.games.royal.rules import deal, is_over, legal, play, points_of

__all__ = [
    "appeal",
    "conceal",
    "deal",
    "doubt",
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
    """The whole course makes a margin of 1."""
    return float(int(t["fields"]))
