"""Players of each seat in the games of a training: the learner, agents, earlier selves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

LEARNER = -1


def shared(reward: np.ndarray, learns: np.ndarray) -> np.ndarray:
    """Replace the rewards of a game's learning seats by their mean: shapes (n, P), float32, and (n, P), bool ->
    (n, P), float32."""
    mean = (reward * learns).sum(axis=1, keepdims=True) / np.maximum(1, learns.sum(axis=1, keepdims=True))
    return np.where(learns, mean, reward).astype(np.float32)


def seat_opponents(
    holders: np.ndarray,
    num_players: int,
    fractions: Sequence[float],
    which: np.ndarray,
    first_time: bool = False,
    seats: int = 0,
) -> None:
    """Put opponents into games that have just been dealt. In each new game they move one seat further.

    Args:
        holders: Player of each seat, `LEARNER` or the number of the opponent: shape (games, `num_players` or more);
            overwritten. Games against the first opponent come first, then those against the next, and at the end those
            in which all seats learn.
        num_players: Players in these games.
        fractions: Share of the games of each opponent.
        which: Numbers of the games that have just been dealt.
        first_time: Whether no opponents have sat in these games before.
        seats: Number of seats of an opponent; 0: from one to all but one, in turn from game to game.
    """
    low = 0.0
    for opponent, fraction in enumerate(fractions):
        first, last = round(low * len(holders)), round((low + fraction) * len(holders))
        low += fraction
        for game in which[(which >= first) & (which < last)]:
            theirs = holders[game, :num_players] != LEARNER
            start = game if first_time else int(np.argmax(theirs & ~np.roll(theirs, 1))) + 1
            holders[game, :num_players] = LEARNER
            held = start + np.arange(seats or 1 + game // num_players % (num_players - 1))
            holders[game, held % num_players] = opponent
