"""The verbs of the King's quests (see
`artus_env.engine.contract.verbs`): rules, what is seen of them, how they are judged."""

from __future__ import annotations

from artus_env.engine.compiling.jit import jit
from artus_env.games.quest.actions import MASK_WORDS
from artus_env.games.quest.judgement import appeal, doubt, judge, outlook, outlooks
from artus_env.games.quest.knowledge import opened, public_action, redeal
from artus_env.games.quest.observation import observe
from artus_env.games.quest.rules import deal, is_over, legal, outcome, play, points_of

__all__ = [
    "appeal",
    "deal",
    "doubt",
    "is_over",
    "judge",
    "legal",
    "mask_words",
    "observe",
    "opened",
    "outcome",
    "outlook",
    "outlooks",
    "play",
    "points_of",
    "public_action",
    "redeal",
    "scale",
]


@jit
def mask_words(t):
    """The same for every box."""
    return MASK_WORDS


@jit
def scale(t, g):
    """The points that end the game make a margin of 1."""
    return float(t["goals"][int(g["num_players"])])  # as `rules.goal`, which the tables of the docs would compile
