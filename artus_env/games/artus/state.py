"""The state of a game: one record of a few hundred bytes. Copying the record copies the game."""

from __future__ import annotations

import numpy as np

from artus_env.authoring import state_dtype
from artus_env.games.artus.components import MAX_CARDS, MAX_PLAYERS, NUM_ROYALS, PILES

PLACE_PHASE, PLAY_PHASE, DRAW_PHASE, OVER = range(4)
PHASES = ("place", "play", "draw", "over")

STATE = state_dtype(
    MAX_PLAYERS,
    [
        ("knights", np.int32, (MAX_PLAYERS,)),  # bit s: this player has a knight on seat s
        ("hands", np.int32, (MAX_PLAYERS,)),  # bit c: card c of the deck is in hand; n copies set the first n
        ("played", np.int32, (MAX_PLAYERS,)),  # bit c: this player has played card c of the deck; copies as in `hands`
        ("royals", np.int8, (NUM_ROYALS,)),  # seat of each royal: two silver ones, two bronze ones
        ("rings", np.int8, (NUM_ROYALS,)),
        ("king", np.int8),  # index of the royal with three rings
        ("phase", np.int8),
        ("left", np.int8),  # cards still to play or to draw in this phase; 1 when placing, 0 when over
        ("start_player", np.int8),
        ("unused", np.int8),  # keeps the arrays below aligned
        ("pile_sizes", np.int8, (MAX_PLAYERS, len(PILES))),  # cards left in each pile
        ("piles", np.int8, (MAX_PLAYERS, MAX_CARDS)),  # card index; a pile's next card first; drawn ones are -1
        ("history", np.int8, (MAX_PLAYERS, MAX_CARDS)),  # card index in order of play, -1 after the last
    ],
    score=np.int32,
)
"""`piles` has a part for the knight cards, then one for the king cards, then one for the scoring cards. The cards left
in a pile are at the end of its part, so the next card to draw is the first one there that isn't -1. Missing players
have zeros and -1."""
