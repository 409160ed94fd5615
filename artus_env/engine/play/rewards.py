"""Reward modes, defined once for every interface. All are zero-sum.

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
    """Names of the reward modes of a game with this name of the score."""
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
    """Prepare the reward array for moves that begin at these scores: shape (players,), floats of any width; in the mode
    POINTS the negative scores, else 0."""
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
    """Write the rewards for all points earned since `before_move`, also by players other than the mover: they may earn
    some when choices are revealed together, or a trick ends."""
    players = np.int64(g["num_players"])
    total = 0
    for player in range(players):
        total += int(g["scores"][player]) + int(reward[player])
    for player in range(players):
        own = int(g["scores"][player]) + int(reward[player])
        reward[player] = (own * (players - 1) - (total - own)) / ((players - 1) * verbs.margin_scale(t, g))


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
            won = verbs.ranking_key(t, g, player) == best
            reward[player] = (players - winners) / (winners * (players - 1)) if won else -1 / (players - 1)
        return
    total = 0
    for player in range(players):
        total += int(g["scores"][player])
    for player in range(players):
        own = int(g["scores"][player])
        reward[player] = (own - (total - own) / (players - 1)) / verbs.margin_scale(t, g)
