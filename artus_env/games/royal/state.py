"""The state of a game: one record of a few hundred bytes. Copying the record copies the game."""

from __future__ import annotations

import numpy as np

from artus_env.authoring import state_dtype
from artus_env.games.royal.components import MAX_CARDS, MAX_HAND, MAX_PLAYERS, MAX_SUITS

TRICK_PHASE, SWORD_PHASE, OVER = range(3)
PHASES = ("trick", "sword", "over")

KNIGHTS, SHIELDS = MAX_SUITS, MAX_SUITS + 1
GROUPS = MAX_SUITS + 2
"""A set of cards is a row of this many numbers: for each suit the values as bits (bit v - 1: value v), then the number
of knights and the number of shields."""

STATE = state_dtype(
    MAX_PLAYERS,
    [
        ("chance", np.uint64),  # together with `shuffles`, seed of every shuffle after the first
        ("hands", np.int16, (MAX_PLAYERS, GROUPS)),
        ("discards", np.int16, (GROUPS,)),  # all cards of finished tricks since the last shuffle
        ("pile", np.int8, (MAX_CARDS,)),  # kinds in the order of dealing, at the end of the row; -1 before them
        ("played", np.int8, (MAX_PLAYERS, MAX_HAND)),  # kinds since the last deal in order of play, -1 after the last
        ("played_cards", np.int8, (MAX_PLAYERS,)),  # number of kinds in `played`
        ("voids", np.int8, (MAX_PLAYERS,)),  # bit s: hasn't followed suit s since the last deal
        ("places", np.int8, (MAX_SUITS,)),  # place of each suit's trump chip from 1 on, 0: not placed
        ("phase", np.int8),
        ("leader", np.int8),  # player who leads this or the next trick; the start player when the game is over
        ("in_trick", np.int8),  # number of cards in the trick: the last ones in `played`, from the leader on
        ("led", np.int8),  # suit that has to be followed; -1: no card is played yet, or a super-trump was led
        ("winning", np.int8),  # player who takes the trick so far; -1: no card is played yet
        ("pile_size", np.int8),
        ("shuffles", np.int16),  # number of shuffles after the first one
        ("dealer", np.int8),
        ("start_player", np.int8),
    ],
)
"""The fields of one game. Seats without a player have zeros, and -1 in `played`."""
