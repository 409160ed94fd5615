"""The verbs of the King's quests (see
`artus_env.agents.verbs`): rules, what is seen of them, how they are judged."""

from __future__ import annotations

from artus_env.authoring import jit
from artus_env.games.quest.actions import MASK_WORDS
from artus_env.games.quest.evaluation import action_features, evaluate, greedy_value, num_action_features, score_stddev
from artus_env.games.quest.hidden_information import is_revealed, public_action, resample_hidden
from artus_env.games.quest.observation import observe
from artus_env.games.quest.rules import deal, is_over, legal, play, points_of, ranking_key

__all__ = [
    "action_features",
    "deal",
    "evaluate",
    "greedy_value",
    "is_over",
    "is_revealed",
    "legal",
    "margin_scale",
    "mask_words",
    "num_action_features",
    "observe",
    "play",
    "points_of",
    "public_action",
    "ranking_key",
    "resample_hidden",
    "score_stddev",
]


@jit
def mask_words(t):
    """The same for every box."""
    return MASK_WORDS


@jit
def margin_scale(t, g):
    """The points that end the game make a margin of 1."""
    return float(t["goals"][int(g["num_players"])])  # as `rules.goal`, which the tables of the docs would compile
