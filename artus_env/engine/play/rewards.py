"""Reward modes, defined once for every interface. In each, the rewards of all players add up to zero.

win     at the end: w joint winners among n players get (n - w) / (w (n - 1)) each, the others -1 / (n - 1)
margin  at the end: (own score - mean score of the others) / scale of the game
points  the same margin, paid move by move; it is also called by the name of the game's score
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from artus_env.engine.basics.reading import shown
from artus_env.engine.basics.wording import did_you_mean
from artus_env.engine.compiling.jit import jit, jit_inlined
from artus_env.engine.contract import verbs

WIN, MARGIN, POINTS = range(3)
ILLEGAL_REWARD = -1.0
"""Reward of a player whose illegal action ends the game; the others get 0."""
RewardMode = Literal["win", "margin", "points"] | str
"""Any other text is the name of the game's score, which means the same as "points"."""


def reward_modes(score: str) -> tuple[str, str, str]:
    """Names of the reward modes of a game whose score has this name."""
    return "win", "margin", score


def mode_index(name: str, score: str) -> int:
    """Number of a reward mode.

    Args:
        name: "win", "margin", "points" or the name of the score.
        score: The name of the score.

    Raises:
        ValueError: If there is no such mode.
    """
    modes = reward_modes(score)
    if name == "points":
        return POINTS
    if name not in modes:
        raise ValueError(f"reward must be one of {', '.join(modes)}, got {shown(name)}{did_you_mean(name, modes)}")
    return modes.index(name)


@jit
def before_move(scores, mode, reward):
    """Prepare the reward array, shape (players,), floats of any width, for the moves that follow: in the mode POINTS it
    gets the negative scores before them, else 0."""
    for player in range(len(reward)):
        reward[player] = -int(scores[player]) if mode == POINTS else 0


@jit_inlined
def after_move(t, g, mode, over, reward):
    """Write the rewards for all moves since `before_move`: shape (players,), floats of any width."""
    if mode == POINTS:
        move_reward(t, g, reward)
    elif over:
        final_reward(t, g, mode, reward)


@jit
def move_reward(t, g, reward):
    """Write the rewards for all points earned since `before_move`. Players other than the mover may earn some as well:
    when choices are revealed together, or a trick ends."""
    players = np.int64(g["num_players"])
    total = 0
    for player in range(players):
        total += int(g["scores"][player]) + int(reward[player])
    for player in range(players):
        own_points = int(g["scores"][player]) + int(reward[player])
        reward[player] = (own_points * (players - 1) - (total - own_points)) / (
            (players - 1) * verbs.margin_scale(t, g)
        )


@jit
def final_reward(t, g, mode, reward):
    """Write the rewards of a finished game, in the modes that pay at the end."""
    players = np.int64(g["num_players"])
    if mode == WIN:
        best = verbs.ranking_key(t, g, 0)
        winners = 0
        for player in range(players):
            outcome = verbs.ranking_key(t, g, player)
            if outcome > best:
                best = outcome
                winners = 0
            if outcome == best:
                winners += 1
        for player in range(players):
            is_winner = verbs.ranking_key(t, g, player) == best
            reward[player] = (players - winners) / (winners * (players - 1)) if is_winner else -1 / (players - 1)
        return
    total = 0
    for player in range(players):
        total += int(g["scores"][player])
    for player in range(players):
        own_score = int(g["scores"][player])
        reward[player] = (own_score - (total - own_score) / (players - 1)) / verbs.margin_scale(t, g)
