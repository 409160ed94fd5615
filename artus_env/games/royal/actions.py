"""The action table, and the box as a record for compiled code.

Action ids are numbered in this order: play a card of each kind, in the order of the deck; place the trump chip of each
suit; decline; swap the chips on each pair of places. In the standard box these are 68 + 6 + 1 + 15 actions.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

from artus_env.games.royal.components import MAX_CARDS, MAX_COPIES, MAX_SUITS, STANDARD, Components
from artus_env.games.royal.state import KNIGHTS, SHIELDS

CARD, TRUMP, DECLINE, SWAP = range(4)
MAX_SWAPS = MAX_SUITS * (MAX_SUITS - 1) // 2
MAX_KINDS = MAX_CARDS - 2 * (MAX_COPIES - 1)
MASK_WORDS = (MAX_KINDS + MAX_SUITS + 1 + MAX_SWAPS + 63) // 64
"""Number of 64-bit words that hold a set of actions, in any box."""

TABLES = np.dtype(
    [
        ("suits", np.int8),  # number of suits
        ("values", np.int8),  # number of cards of a suit, and the highest value
        ("cards", np.int8),  # number of cards in the deck
        ("hand", np.int8),  # number of cards dealt to each player
        ("fields", np.int8),  # number of the last field
        ("swords", np.int64),  # bit f: field f carries a sword
        ("deck", np.int8, (MAX_CARDS,)),  # kind of each card, in deck order
        ("copies", np.int8, (MAX_KINDS,)),
        ("group", np.int8, (MAX_KINDS,)),  # group of each kind: its suit, or KNIGHTS or SHIELDS (see `state.GROUPS`)
        ("value", np.int8, (MAX_KINDS,)),  # value of each kind, 0 for super-trumps
        ("full", np.int16, (MAX_SUITS + 2,)),  # all cards of the box, as a set of cards (see `state.GROUPS`)
        ("trump_actions", np.int8),  # id of the first action that places a chip
        ("decline", np.int8),  # id of the action that places no chip
        ("swap_actions", np.int8),  # id of the first action that swaps the chips on two places
        ("num_actions", np.int8),
        ("swaps", np.int8, (MAX_SWAPS, 2)),  # the two places of each swap, numbered from 1
        ("swap_words", np.uint64, (MASK_WORDS,)),  # all swaps, as a set of actions
    ]
)


class Action(NamedTuple):
    """Meaning of an action id.

    `effect` is CARD, TRUMP, DECLINE or SWAP, `number` the kind of the card or the suit of the chip, and `places` are
    those whose chips are swapped.
    """

    effect: int
    number: int = 0
    places: tuple[int, int] = (0, 0)


@lru_cache(maxsize=16)
def action_table(components: Components = STANDARD) -> tuple[Action, ...]:
    """The meaning of each action, by its id."""
    suits = range(len(components.suits))
    return (
        *(Action(CARD, kind) for kind in range(len(components.cards))),
        *(Action(TRUMP, suit) for suit in suits),
        Action(DECLINE),
        *(Action(SWAP, places=pair) for pair in combinations([suit + 1 for suit in suits], 2)),
    )


def build_tables(components: Components) -> np.ndarray:
    """The box as a record for compiled code: shape (1,), dtype `TABLES`."""
    actions = action_table(components)
    kinds, suits = len(components.cards), len(components.suits)
    tables = np.zeros(1, TABLES)
    t = tables[0]
    t["suits"], t["values"], t["hand"], t["fields"] = suits, components.values, components.hand, components.fields
    t["cards"] = len(components.deck)
    t["swords"] = sum(1 << field for field in components.swords)
    t["deck"] = -1
    t["deck"][: len(components.deck)] = components.deck
    t["copies"][:kinds] = components.copies
    for kind in range(kinds - 2):  # all but knight and shield
        t["group"][kind], t["value"][kind] = kind // components.values, kind % components.values + 1
    t["group"][kinds - 2 : kinds] = KNIGHTS, SHIELDS
    t["full"][:suits] = (1 << components.values) - 1
    t["full"][KNIGHTS], t["full"][SHIELDS] = components.knights, components.shields
    t["trump_actions"], t["decline"], t["swap_actions"] = kinds, kinds + suits, kinds + suits + 1
    t["num_actions"] = len(actions)
    for action, (effect, _, places) in enumerate(actions):
        if effect == SWAP:
            t["swaps"][action - int(t["swap_actions"])] = places
            t["swap_words"][action // 64] |= np.uint64(1) << np.uint64(action % 64)
    return tables
