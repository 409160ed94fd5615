"""The verbs of the royal card game (see
`artus_env.agents.verbs`): its rules, what is seen of it, how it is judged."""

from __future__ import annotations

from artus_env.authoring import jit
from artus_env.games.royal.actions import MASK_WORDS
from artus_env.games.royal.evaluation import (
    action_features,
    default_action,
    evaluate,
    greedy_value,
    num_action_features,
    score_stddev,
)
from artus_env.games.royal.hidden_information import hide, resample_hidden
from artus_env.games.royal.observation import observe
from artus_env.games.royal.rules import deal, is_over, legal, play, points_of

__all__ = [
    "action_features",
    "deal",
    "default_action",
    "evaluate",
    "greedy_value",
    "hide",
    "is_over",
    "legal",
    "margin_scale",
    "mask_words",
    "num_action_features",
    "observe",
    "play",
    "points_of",
    "resample_hidden",
    "score_stddev",
]


@jit
def mask_words(t):
    """Enough for the most actions that a box may make."""
    return MASK_WORDS


@jit
def margin_scale(t, g):
    """The whole course makes a margin of 1."""
    return float(int(t["fields"]))
