"""Who holds which seat in the games of a training: the learner, agents, earlier selves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

LEARNER = -1


def shared(reward: np.ndarray, learns: np.ndarray) -> np.ndarray:
    """What seats are paid if those that learn in a game get the mean of what all of them get: shapes (n, P), float32,
    and (n, P), bool -> (n, P), float32."""
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
    """Put opponents into games that have just been dealt. Each time they move on by one.

    Args:
        holders: Of each seat, `LEARNER` or the number of the opponent: shape (games, `num_players` or more);
            overwritten. Games against the first opponent come first, then those against the next, at last those in
            which all seats learn.
        num_players: Of these games.
        fractions: Of the games, for each opponent.
        which: Numbers of the games that have just been dealt.
        first_time: Whether nobody has sat there before.
        seats: That an opponent holds; 0: from one to all but one, from game to game.
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
