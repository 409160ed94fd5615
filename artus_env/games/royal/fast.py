"""Parts of the rules that are computed for all cards at once, because they run for every decision.

The plain version below the function defines its result; a test compares the two.
"""

from __future__ import annotations

import numpy as np

from artus_env.authoring import add, jit
from artus_env.games.royal.components import MAX_SUITS
from artus_env.games.royal.state import KNIGHTS


@jit
def write_cards(t, hand, suit_to_follow, words):
    """Write the cards of a hand that may be played as bits, without branches, which would often be mispredicted.

    Args:
        hand: A set of cards.
        suit_to_follow: The only suit that may be played; -1: any card may.
        words: shape (MASK_WORDS,), uint64.
    """
    values, any_card = int(t["values"]), suit_to_follow < 0
    low, high = np.uint64(0), np.uint64(0)  # every suit begins in the low word
    for suit in range(MAX_SUITS):
        cards = np.uint64(int(hand[suit]) if any_card or suit == suit_to_follow else 0)
        first = np.uint64(suit * values)
        low |= cards << first
        high |= cards >> np.uint64(1) >> np.uint64(63) - first
    for kind in range(2):
        one = np.uint64(any_card and int(hand[KNIGHTS + kind]) > 0)
        action = int(t["suits"]) * values + kind
        low |= one << np.uint64(action) if action < 64 else np.uint64(0)
        high |= one << np.uint64(action - 64) if action >= 64 else np.uint64(0)
    words[0], words[1] = low, high


def plain_write_cards(t, hand, suit_to_follow, words):
    words[:] = 0
    for kind in range(int(t["suits"]) * int(t["values"]) + 2):
        group, value = t["group"][kind], t["value"][kind]
        held = hand[group] > 0 if group >= KNIGHTS else hand[group] >> value - 1 & 1
        if held and suit_to_follow in (-1, group):
            add(words, kind)
