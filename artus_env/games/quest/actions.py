"""The action table and the box as compiled code sees it.

Actions are numbered in this order: take an action card of each kind, exercise for each kind of virtue card, take each
quest, lay back a book of each value at court, do each quest, ride each horse to each place, done, bid each kind of
sword and lance card, and end the bid: 11 + 8 + 14 + 2 + 14 + 24 + 1 + 5.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
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
    QUESTS_AT_PLACE,
    STANDARD,
    VIRTUES,
    Components,
)

BID_KINDS = 2 * MAX_VALUE
"""Cards of the first two virtues, sword and lance, can be bid."""
BOOKS = len(CARDS) - MAX_VALUE
"""Kind of the lowest book card."""
TAKE = 0
EXERCISE_ACTIONS = TAKE + len(ACTIONS)
ARTUS_ACTIONS = EXERCISE_ACTIONS + len(CARDS)
COURT_ACTIONS = ARTUS_ACTIONS + len(QUESTS)
QUEST_ACTIONS = COURT_ACTIONS + MAX_VALUE
HORSE_ACTIONS = QUEST_ACTIONS + len(QUESTS)
DONE = HORSE_ACTIONS + len(HORSES) * len(PLACES)
BID = DONE + 1
BID_DONE = BID + BID_KINDS
NUM_ACTIONS = BID_DONE + 1
MASK_WORDS = (NUM_ACTIONS + 63) // 64

TABLES = np.dtype(
    [
        ("quest", np.int8),  # tells this game's tables from all others
        ("copies", np.int8, (len(CARDS),)),
        ("display", np.int8, (MAX_PLAYERS + 1, len(ACTIONS))),  # by number of players
        ("choices", np.int8, (MAX_PLAYERS + 1,)),
        ("goals", np.int16, (MAX_PLAYERS + 1,)),
        ("needs", np.int8, (len(QUESTS), len(VIRTUES))),  # lowest value of each virtue, 0: none
        ("shields", np.int8, (len(QUESTS),)),
        ("steps", np.int8, (len(HORSES),)),
        ("rounds", np.int8),
        ("court", np.int8),
        ("prize", np.int8),
    ]
)


class Action(NamedTuple):
    """What an action id means: `first` is the first id of its kind, `number` counts on from there."""

    first: int
    number: int = 0


@lru_cache(maxsize=16)
def action_table(components: Components = STANDARD) -> tuple[Action, ...]:
    """One entry for each action id, the same for every box."""
    firsts = (
        TAKE, EXERCISE_ACTIONS, ARTUS_ACTIONS, COURT_ACTIONS, QUEST_ACTIONS, HORSE_ACTIONS, DONE, BID, BID_DONE,
        NUM_ACTIONS,
    )  # fmt: skip
    return tuple(Action(first, action - first) for first, end in pairwise(firsts) for action in range(first, end))


def place_of(quest: int) -> int:
    """The place of a quest: two a place, from the first one outside Camelot on."""
    return quest // QUESTS_AT_PLACE + 1


@lru_cache(maxsize=16)
def build_tables(components: Components = STANDARD) -> np.ndarray:
    """The box as compiled code sees it: shape (1,), dtype `TABLES`, read-only."""
    tables = np.zeros(1, TABLES)
    t = tables[0]
    t["copies"] = components.copies
    t["display"][MIN_PLAYERS:] = components.display
    t["choices"][MIN_PLAYERS:] = components.choices
    t["goals"][MIN_PLAYERS:] = components.goals
    t["needs"] = [quest.needs for quest in components.quests]
    t["shields"] = [quest.points for quest in components.quests]
    t["steps"] = HORSES
    t["rounds"], t["court"], t["prize"] = components.rounds, components.court, components.prize
    tables.flags.writeable = False
    return tables
