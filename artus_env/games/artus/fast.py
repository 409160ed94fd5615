"""Parts of the rules that use look-up tables for many seats or cards at once, because they run for every decision.

The plain version below each function defines its result; tests compare the two.
"""

from __future__ import annotations

from artus_env.authoring import highest_bit, jit, popcount
from artus_env.games.artus.actions import BOARD_PART, HAND_PART, MASK_WORDS, NONE
from artus_env.games.artus.components import NUM_SEATS

TOP = NUM_SEATS - 1
RANKS = (1 << NUM_SEATS + 1) - 2
LACKING = NONE // 2  # a sum of values below it includes `NONE`, the value for a missing knight


# --- seats by their value ----------------------------------------------------------------------------------------


@jit
def ranked(t, board):
    """Seats of a board that is rotated to the King, as bits in order of their value, and the sum of their values.

    Bit r of the first result is the seat of rank r, 1..28; bit 0 is always set and stands for a missing seat, which
    ranks lowest.
    """
    mask = (1 << BOARD_PART) - 1
    sums = (
        int(t["ranked"][0, board & mask])
        + int(t["ranked"][1, board >> BOARD_PART & mask])
        + int(t["ranked"][2, board >> 2 * BOARD_PART & mask])
        + int(t["ranked"][3, board >> 3 * BOARD_PART & mask])
    )
    return sums & RANKS | 1, sums >> 32


def plain_ranked(t, board):
    values = {bit: int(t["wheel"][TOP - bit]) for bit in range(NUM_SEATS) if board >> bit & 1}
    order = sorted(range(NUM_SEATS), key=lambda distance: int(t["wheel"][distance]))
    return sum(1 << order.index(TOP - bit) + 1 for bit in values) | 1, sum(values.values())


@jit
def best_of(t, seats):
    """Value of the best of the `ranked` seats, `NONE` if there is none."""
    return int(t["ranks"][highest_bit(seats)])


def plain_best_of(t, seats):
    order = sorted(int(value) for value in t["wheel"])
    return max((order[rank - 1] for rank in range(1, NUM_SEATS + 1) if seats >> rank & 1), default=NONE)


@jit
def without_best(seats):
    """The `ranked` seats without the best."""
    return seats ^ (1 << highest_bit(seats)) | 1


def plain_without_best(seats):
    ranks = [rank for rank in range(1, NUM_SEATS + 1) if seats >> rank & 1]
    return sum(1 << rank for rank in ranks[:-1]) | 1


# --- cards -------------------------------------------------------------------------------------------------------


@jit
def add_copy(t, cards, card):
    """The set of cards with one more copy of `card`: the first one that isn't in the set yet."""
    return cards | (cards + (1 << int(t["first"][card])))  # the sum carries to the bit of this copy


def plain_add_copy(t, cards, card):
    return cards | 1 << next(place for place in _copies(t, card) if not cards >> place & 1)


@jit
def remove_copy(t, cards, card):
    """The set of cards without its last copy of `card`; always the last, so that equal hands are equal sets."""
    return cards ^ (1 << highest_bit(cards & int(t["copies"][card])))


def plain_remove_copy(t, cards, card):
    return cards ^ 1 << max(place for place in _copies(t, card) if cards >> place & 1)


@jit
def copies(t, cards, card):
    """Number of copies of a card in a set of cards."""
    return popcount(cards & int(t["copies"][card]))


def plain_copies(t, cards, card):
    return sum(cards >> place & 1 for place in _copies(t, card))


def _copies(t, card):
    return [place for place in range(int(t["num_cards"])) if t["deck"][place] == card]


@jit
def write_actions(t, four_players, king_colour, hand, words):
    """Write the actions of all cards in a hand into `words`, as bits. There is no loop over the cards, because the CPU
    would often mispredict its end.

    Args:
        four_players: 1 with four players, who have four knights each, else 0.
        king_colour: 0: the King is silver, 1: bronze.
        hand: A set of cards.
        words: Output: shape (MASK_WORDS,), uint64.
    """
    rows, mask = t["hand_rows"][four_players, king_colour], (1 << HAND_PART) - 1
    first, second, third, fourth = (
        rows[0, hand & mask], rows[1, hand >> HAND_PART & mask], rows[2, hand >> 2 * HAND_PART & mask],
        rows[3, hand >> 3 * HAND_PART & mask],
    )  # fmt: skip
    for word in range(MASK_WORDS):
        words[word] = first[word] | second[word] | third[word] | fourth[word]


def plain_write_actions(t, four_players, king_colour, hand, words):
    words[:] = 0
    for place in (place for place in range(int(t["num_cards"])) if hand >> place & 1):
        words |= t["hand_rows"][four_players, king_colour, place // HAND_PART, 1 << place % HAND_PART]
