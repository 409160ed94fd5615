"""The state of a game: one record of a few hundred bytes. Copying the record copies the game."""

from __future__ import annotations

import numpy as np

from artus_env.authoring import state_dtype
from artus_env.games.royal.components import MAX_CARDS, MAX_HAND, MAX_PLAYERS, MAX_SUITS

TRICK_PHASE, SWORD_PHASE, OVER = range(3)
PHASES = ("trick", "sword", "over")

KNIGHTS, SHIELDS = MAX_SUITS, MAX_SUITS + 1
GROUPS = MAX_SUITS + 2
"""A set of cards is a row of this many numbers: for each suit the values as bits (bit v - 1: value v), then how many
knights and how many shields."""

STATE = state_dtype(
    MAX_PLAYERS,
    [
        ("chance", np.uint64),  # every shuffle after the first follows from it and `shuffles`
        ("hands", np.int16, (MAX_PLAYERS, GROUPS)),
        ("discards", np.int16, (GROUPS,)),  # all cards of finished tricks since the last shuffle
        ("pile", np.int8, (MAX_CARDS,)),  # kinds, the next card first, against the end; dealt ones are -1
        ("played", np.int8, (MAX_PLAYERS, MAX_HAND)),  # kinds since the last deal in order of play, -1 behind the last
        ("played_cards", np.int8, (MAX_PLAYERS,)),  # how many these are
        ("voids", np.int8, (MAX_PLAYERS,)),  # bit s: hasn't followed suit s since the last deal
        ("places", np.int8, (MAX_SUITS,)),  # place of each suit's trump chip from 1 on, 0: not placed
        ("phase", np.int8),
        ("leader", np.int8),  # leads this trick, or the next one where none is begun; the start player when over
        ("in_trick", np.int8),  # cards in the trick: the last card in `played` of as many players from the leader on
        ("led", np.int8),  # the suit that has to be followed; -1: none, no card lies yet or a super-trump was led
        ("winning", np.int8),  # who takes the trick so far; -1: no card lies yet
        ("pile_size", np.int8),
        ("shuffles", np.int16),  # after the first one
        ("dealer", np.int8),
        ("start_player", np.int8),
    ],
)
"""Players who don't take part have zeros, -1 in `played`."""
