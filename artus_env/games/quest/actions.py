"""The action table, and the box as a record for compiled code.

Actions are numbered in this order: take an action card of each kind, exercise for each kind of virtue card, take each
quest, lay back a book of each value at court, do each quest, ride each horse to each place, done, and bid each set of
sword and lance cards: 11 + 8 + 14 + 2 + 14 + 24 + 1 + 144 with the standard box.

A bid is one action, with any set of cards, so that the number of actions doesn't reveal the number of cards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from functools import lru_cache
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np

from artus_env.games.quest.components import (
    ACTIONS,
    CARDS,
    HORSES,
    MAX_PLAYERS,
    MAX_VALUE,
    MIN_PLAYERS,
    PLACES,
    QUESTS,
    STANDARD,
    VIRTUES,
    Components,
)
from artus_env.games.quest.state import DIGIT

BID_KINDS = 2 * MAX_VALUE
"""Number of kinds that can be bid: cards of the first two virtues, sword and lance."""
BOOKS = len(CARDS) - MAX_VALUE
"""Kind of the lowest book card."""
TAKE = 0
"""First action id of a kind of action, like the following constants."""
EXERCISE_ACTIONS = TAKE + len(ACTIONS)
ARTUS_ACTIONS = EXERCISE_ACTIONS + len(CARDS)
COURT_ACTIONS = ARTUS_ACTIONS + len(QUESTS)
QUEST_ACTIONS = COURT_ACTIONS + MAX_VALUE
HORSE_ACTIONS = QUEST_ACTIONS + len(QUESTS)
DONE = HORSE_ACTIONS + len(HORSES) * len(PLACES)
BID = DONE + 1
MASK_WORDS = 4
"""Words of 64 bits that hold the actions of any box."""
MAX_BIDS = 64 * MASK_WORDS - BID
"""Number of bids that have an action id."""

TABLES = np.dtype(
    [
        ("copies", np.int64),  # digit k: cards of kind k
        ("display", np.int64, (MAX_PLAYERS + 1,)),  # by number of players; digit a: action cards of kind a
        ("choices", np.int8, (MAX_PLAYERS + 1,)),
        ("goals", np.int16, (MAX_PLAYERS + 1,)),
        ("needs", np.int8, (len(QUESTS), len(VIRTUES))),  # lowest value of each virtue, 0: none
        ("demands", np.int64, (len(QUESTS),)),  # digit k is 1: a card of kind k or a higher value is demanded
        ("payable", np.int16, (1 << len(CARDS),)),  # [requirements that are met, as bits]: bit q: quest q can be paid
        ("shields", np.int8, (len(QUESTS),)),
        ("steps", np.int8, (len(HORSES),)),
        ("bids", np.int64, (MAX_BIDS,)),  # digit k: cards of kind k in each bid
        ("num_bids", np.int16),
        ("bid_steps", np.int16, (BID_KINDS,)),  # for each kind: how much higher a bid's id is with one more card of it
        ("rounds", np.int8),
        ("court", np.int8),
        ("prize", np.int8),
    ]
)


class Action(NamedTuple):
    """Meaning of an action id: `first` is the first id of its kind, `number` is its index among the ids of this kind.
    For a bid, `number` is the set of its cards instead (see `state.DIGIT`)."""

    first: int
    number: int


@lru_cache(maxsize=16)
def action_table(components: Components = STANDARD) -> tuple[Action, ...]:
    """All actions in order of their ids. With other components only the bids differ."""
    firsts = (TAKE, EXERCISE_ACTIONS, ARTUS_ACTIONS, COURT_ACTIONS, QUEST_ACTIONS, HORSE_ACTIONS, DONE, BID)
    counts = [range(copies + 1) for copies in components.copies[:BID_KINDS]]
    return (
        *(Action(first, action - first) for first, end in pairwise(firsts) for action in range(first, end)),
        *(Action(BID, in_digits(bid)) for bid in product(*counts)),
    )


def in_digits(counts: Sequence[int]) -> int:
    """Counts, written as the digits of one number (see `state.DIGIT`)."""
    return sum(count << DIGIT * kind for kind, count in enumerate(counts))


def build_tables(components: Components) -> np.ndarray:
    """The box as a record for compiled code: shape (1,), dtype `TABLES`."""
    tables = np.zeros(1, TABLES)
    t = tables[0]
    t["copies"] = in_digits(components.copies)
    t["display"][MIN_PLAYERS:] = [in_digits(cards) for cards in components.display]
    t["choices"][MIN_PLAYERS:] = components.choices
    t["goals"][MIN_PLAYERS:] = components.goals
    t["needs"] = [quest.needs for quest in components.quests]
    for quest, (needs, _) in enumerate(astuple(quest) for quest in components.quests):
        kinds = [MAX_VALUE * virtue + need - 1 for virtue, need in enumerate(needs) if need]
        t["demands"][quest] = sum(1 << DIGIT * kind for kind in kinds)
        demanded = sum(1 << kind for kind in kinds)
        t["payable"] |= [(demanded & ~met == 0) << quest for met in range(1 << len(CARDS))]
    t["shields"] = [quest.points for quest in components.quests]
    t["steps"] = HORSES
    bids = [action.number for action in action_table(components)[BID:]]
    t["bids"][: len(bids)], t["num_bids"] = bids, len(bids)
    t["bid_steps"] = [bids.index(1 << DIGIT * kind) for kind in range(BID_KINDS)]
    t["rounds"], t["court"], t["prize"] = components.rounds, components.court, components.prize
    return tables
