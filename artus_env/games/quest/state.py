"""The state of a game: one record of a few hundred bytes. Copying the record copies the game."""

from __future__ import annotations

import numpy as np

from artus_env.authoring import state_dtype
from artus_env.games.quest.components import MAX_PLAYERS, PLACES, QUESTS

CHOOSE_PHASE, ACT_PHASE, BID_PHASE, OVER = range(4)
PHASES = ("choose", "act", "bid", "over")

DIGIT = 4
"""Number of bits of a hexadecimal digit. A set of cards is one number: its lowest digit is the number of cards of kind
0, the next one that of kind 1, and so on."""

STATE = state_dtype(
    MAX_PLAYERS,
    [
        ("chance", np.uint64),  # seed of all lots that are drawn at ends of rounds
        ("piles", np.int64),  # digit k: cards of kind k on the open piles
        ("start_cards", np.int64, (MAX_PLAYERS,)),  # digit k: starting cards of kind k, hidden from others
        ("taken", np.int64, (MAX_PLAYERS,)),  # digit k: cards of kind k in hand that were taken openly
        ("bids", np.int64, (MAX_PLAYERS,)),  # digit k: cards of kind k that are bid; in hand until all have bid
        ("excluded", np.int64, (MAX_PLAYERS,)),  # digit k is 1: no remaining starting card is of kind k
        ("display", np.int64),  # digit a: action cards of kind a on display
        ("actions", np.int64, (MAX_PLAYERS,)),  # digit a: action cards of kind a, taken and not yet used
        ("open_quests", np.int16),  # bit q: quest q lies open
        ("quests", np.int16, (MAX_PLAYERS,)),  # bit q: quest q is in hand
        ("quest_pile", np.int8, (len(QUESTS),)),  # -1 for each drawn quest, then the pile, the next quest first
        ("spots", np.int8, (len(PLACES),)),  # position of each place in the ring, counted from Camelot at 0
        ("places", np.int8, (MAX_PLAYERS,)),  # place of each knight
        ("tents", np.int8, (MAX_PLAYERS,)),  # players in turn order; -1 after the last
        ("reached", np.int8, (MAX_PLAYERS,)),  # 1: first to reach the goal, 2: second, ..., may be equal; 0: not yet
        ("bidding", np.int8),  # bit p: player p still has to bid
        ("quest_pile_size", np.int8),
        ("round", np.int8),  # from 1 on
        ("lots", np.int8),  # number of lots drawn at ends of rounds
        ("phase", np.int8),
        ("start_player", np.int8),  # has tent 1 in the first round
    ],
)
"""Missing players have zeros."""
