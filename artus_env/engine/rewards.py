"""Reward modes, defined once for every interface. All are zero-sum.

win       at the end: w joint winners among n players get (n - w) / (w (n - 1)) each, the others -1 / (n - 1)
margin    at the end: (own score - mean score of the others) / 100
prestige  the same margin, paid move by move
"""

from __future__ import annotations

from artus_env.engine.jit import jit

MODES = ("win", "margin", "prestige")
WIN, MARGIN, PRESTIGE = range(3)
SCALE = 100.0


def mode_index(name: str) -> int:
    """Number of a reward mode.

    Raises:
        ValueError: If there is no such mode.
    """
    if name not in MODES:
        raise ValueError(f"reward must be one of {', '.join(MODES)}, got {name!r}")
    return MODES.index(name)


@jit
def final_reward(mode, scores, players, reward):
    """Write the reward for a finished game over that for its last move: shape (players,), floats of any width.

    In the mode PRESTIGE nothing changes: that mode pays for moves alone.
    """
    if mode == WIN:
        best = int(scores[0])
        winners = 0
        for player in range(players):
            score = int(scores[player])
            if score > best:
                best = score
                winners = 0
            if score == best:
                winners += 1
        for player in range(players):
            won = int(scores[player]) == best
            reward[player] = (players - winners) / (winners * (players - 1)) if won else -1 / (players - 1)
    elif mode == MARGIN:
        total = 0
        for player in range(players):
            total += int(scores[player])
        for player in range(players):
            own = int(scores[player])
            reward[player] = (own - (total - own) / (players - 1)) / SCALE


@jit
def move_reward(mode, points, player, players, reward):
    """Write the reward for a move that brought `player` some points: shape (players,), floats of any width."""
    for other in range(players):
        reward[other] = 0
    if mode == PRESTIGE and points != 0:
        for other in range(players):
            reward[other] = -points / ((players - 1) * SCALE)
        reward[player] = points / SCALE
