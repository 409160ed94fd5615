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
    """Write the cards of a hand that may be played, as a set of actions; without branches, which would often be
    mispredicted.

    Args:
        hand: A set of cards.
        suit_to_follow: The only suit that may be played; -1: any card may.
        words: Output: shape (MASK_WORDS,), uint64.
    """
    values, any_card = int(t["values"]), suit_to_follow < 0
    low_word, high_word = np.uint64(0), np.uint64(0)  # every suit begins in the low word
    for suit in range(MAX_SUITS):
        bits = np.uint64(int(hand[suit]) if any_card or suit == suit_to_follow else 0)
        shift = np.uint64(suit * values)
        low_word |= bits << shift
        high_word |= bits >> np.uint64(1) >> np.uint64(63) - shift
    for kind in range(2):
        bit = np.uint64(any_card and int(hand[KNIGHTS + kind]) > 0)
        action = int(t["suits"]) * values + kind
        low_word |= bit << np.uint64(action) if action < 64 else np.uint64(0)
        high_word |= bit << np.uint64(action - 64) if action >= 64 else np.uint64(0)
    words[0], words[1] = low_word, high_word


def plain_write_cards(t, hand, suit_to_follow, words):
    """The definition of `write_cards`, as plain Python."""
    words[:] = 0
    for kind in range(int(t["suits"]) * int(t["values"]) + 2):
        group, value = t["group"][kind], t["value"][kind]
        in_hand = hand[group] > 0 if group >= KNIGHTS else hand[group] >> value - 1 & 1
        if in_hand and suit_to_follow in (-1, group):
            add(words, kind)
