"""The state of a game: one record of a few hundred bytes. Copying the record copies the game."""

from __future__ import annotations

import numpy as np

from artus_env.games.quest.components import ACTIONS, CARDS, MAX_PLAYERS, PLACES, QUESTS

CHOOSE_PHASE, ACT_PHASE, BID_PHASE, OVER = range(4)
PHASES = ("choose", "act", "bid", "over")

STATE = np.dtype(
    [
        ("chance", np.uint64),  # every lot follows from it and `lots`
        ("scores", np.int16, (MAX_PLAYERS,)),  # points
        ("open_quests", np.int16),  # bit q: quest q lies open
        ("quests", np.int16, (MAX_PLAYERS,)),  # bit q: quest q is in hand
        ("excluded", np.int16, (MAX_PLAYERS,)),  # bit k: none of the starting cards that are left is of kind k
        ("start_cards", np.int8, (MAX_PLAYERS, len(CARDS))),  # by kind: starting cards that nobody else has seen
        ("taken", np.int8, (MAX_PLAYERS, len(CARDS))),  # by kind: cards in hand that were taken openly
        ("bids", np.int8, (MAX_PLAYERS, len(CARDS))),  # by kind: cards that are bid, in hand until bids are open
        ("piles", np.int8, (len(CARDS),)),  # by kind: cards on the open piles
        ("display", np.int8, (len(ACTIONS),)),  # by kind: action cards on display
        ("actions", np.int8, (MAX_PLAYERS, len(ACTIONS))),  # by kind: action cards taken and not yet used
        ("quest_pile", np.int8, (len(QUESTS),)),  # the next quest first, against the end; drawn ones are -1
        ("ring", np.int8, (len(PLACES),)),  # the places in their order round the ring, from Camelot on
        ("places", np.int8, (MAX_PLAYERS,)),  # where each knight is
        ("tents", np.int8, (MAX_PLAYERS,)),  # players in turn order; -1 behind the last
        ("reached", np.int8, (MAX_PLAYERS,)),  # in which order the goal was reached, 0: not yet; equal: at one time
        ("bidding", np.int8),  # bit p: player p still has to bid
        ("quest_pile_size", np.int8),
        ("round", np.int8),  # from 1 on
        ("lots", np.int8),  # drawn at ends of rounds
        ("phase", np.int8),
        ("player", np.int8),  # who is to move; the start player when the game is over
        ("start_player", np.int8),  # has tent 1 in the first round
        ("num_players", np.int8),
        ("rule_set", np.int8),
    ]
)
"""Players who don't take part have zeros."""
