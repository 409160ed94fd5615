"""The verbs of Artus (see `artus_env.agents.verbs`): its rules, what is seen of it, and how it is judged."""

from __future__ import annotations

from artus_env.authoring import jit
from artus_env.games.artus.actions import MASK_WORDS
from artus_env.games.artus.evaluation import (
    action_features,
    default_action,
    evaluate,
    greedy_value,
    num_action_features,
    perfect_information_horizon,
    score_stddev,
)
from artus_env.games.artus.observation import observe
from artus_env.games.artus.rules import deal, hide, is_over, legal, play, points_of, resample_hidden

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
    "perfect_information_horizon",
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
    """A hundred points of prestige make a margin of 1."""
    return 100.0
