"""Parts of the rules that are computed for all cards, places or quests at once, because they run for every decision.

One number has a hexadecimal digit for each kind of card (`state.DIGIT`) or a byte for each place, so that one
instruction works on all of them. The plain version below each function defines its result; tests compare the two in
random positions.
"""

from __future__ import annotations

import numpy as np

from artus_env.authoring import jit, jit_wrapping, packed_bytes, popcount
from artus_env.games.quest.actions import BID_KINDS
from artus_env.games.quest.components import CARDS, MAX_VALUE, PLACES, QUESTS, VIRTUES
from artus_env.games.quest.state import DIGIT

NUM_CARDS, NUM_PLACES = len(CARDS), len(PLACES)
DIGITS = (1 << DIGIT) - 1
ONES = sum(1 << DIGIT * kind for kind in range(NUM_CARDS))
LOW_KINDS = sum(1 << DIGIT * MAX_VALUE * virtue for virtue in range(len(VIRTUES)))
"""Digit 1 for each kind of value 1."""
EIGHTS = 8 * ONES
DIGIT_SUM = 0x1111111111111111
"""Multiplying a number by it puts the sum of its digits into the sixteenth digit."""
BYTES = 0x0101010101010101
"""Multiplying a number by it copies it into each of eight bytes."""
BYTES_TO_BITS = 0x0102040810204080
"""Multiplying eight bytes of 0 or 1 by it collects them as the bits of the eighth byte."""


# --- cards -------------------------------------------------------------------------------------------------------


@jit_wrapping
def cards_in(cards):
    """Number of cards in a set of fewer than sixteen."""
    return int(np.int64(np.uint64(cards) * np.uint64(DIGIT_SUM) >> np.uint64(60)))


def plain_cards_in(cards):
    return sum(cards >> DIGIT * kind & DIGITS for kind in range(16))


@jit
def fits(bid, cards):
    """Whether all cards of a bid are in the set `cards`, which has at most seven of each kind."""
    # Each digit of the cards gets an added eight. Subtracting a larger digit of the bid clears it.
    return ((cards | EIGHTS) - bid) & EIGHTS == EIGHTS


def plain_fits(bid, cards):
    return all(bid >> DIGIT * kind & DIGITS <= cards >> DIGIT * kind & DIGITS for kind in range(BID_KINDS))


@jit
def kinds_of(cards):
    """Kinds of the cards in a set: digit 1 for each kind."""
    return (cards | cards >> 1 | cards >> 2 | cards >> 3) & ONES


def plain_kinds_of(cards):
    return sum(1 << DIGIT * kind for kind in range(NUM_CARDS) if cards >> DIGIT * kind & DIGITS)


# --- what quests demand ------------------------------------------------------------------------------------------


@jit
def met(cards):
    """Requirements that a set of cards can meet: digit 1 for each kind if the set has a card of this kind or a higher
    one of its virtue."""
    kinds = kinds_of(cards)
    return kinds | kinds >> DIGIT & LOW_KINDS


def plain_met(cards):
    virtues = [range(kind, kind - kind % MAX_VALUE + MAX_VALUE) for kind in range(NUM_CARDS)]
    is_met = [any(cards >> DIGIT * higher & DIGITS for higher in virtue) for virtue in virtues]
    return sum(1 << DIGIT * kind for kind in range(NUM_CARDS) if is_met[kind])


@jit
def missing(t, quest, cards):
    """Number of requirements of a quest for which a set of cards has no card of that value or a higher one."""
    return popcount(int(t["demands"][quest]) & ~met(cards))


def plain_missing(t, quest, cards):
    kinds = [MAX_VALUE * virtue + int(need) - 1 for virtue, need in enumerate(t["needs"][quest]) if need]
    return sum(not plain_met(cards) >> DIGIT * kind & 1 for kind in kinds)


@jit
def payable(t, cards):
    """Quests whose requirements a set of cards meets completely, as bits."""
    kinds = met(cards)
    kinds = (kinds | kinds >> 3) & 0x03030303  # eight digits 0 or 1 become eight bits: pairs, fours, all
    kinds = (kinds | kinds >> 6) & 0x000F000F
    return int(t["payable"][(kinds | kinds >> 12) & 0xFF])


def plain_payable(t, cards):
    return sum(1 << quest for quest in range(len(QUESTS)) if plain_missing(t, quest, cards) == 0)


# --- ways round the ring -----------------------------------------------------------------------------------------


@jit
def steps_from(g, place):
    """Steps from a place to each of the eight places, the shorter way round the ring: a byte each, the first lowest."""
    # No byte of these sums and differences carries into the next one.
    one_way = (packed_bytes(g["spots"]) | 8 * BYTES) - int(g["spots"][place]) * BYTES & 7 * BYTES
    is_far = one_way + 3 * BYTES >> 3 & BYTES  # 1 for each place that is more than half of the ring away
    return one_way + 8 * is_far - (2 * one_way & 15 * is_far)


def plain_steps_from(g, place):
    one_way = [(int(g["spots"][other]) - int(g["spots"][place])) % NUM_PLACES for other in range(NUM_PLACES)]
    return sum(min(steps, NUM_PLACES - steps) << 8 * other for other, steps in enumerate(one_way))


@jit
def within(steps, farthest):
    """Places from 1 to `farthest` (less than eight) steps away, as bits; `steps` has a byte for each place."""
    return _bits_of((steps + 7 * BYTES & (8 + farthest) * BYTES - steps) >> 3 & BYTES)


def plain_within(steps, farthest):
    return sum(1 << place for place in range(NUM_PLACES) if 0 < steps >> 8 * place & 255 <= farthest)


@jit_wrapping
def _bits_of(flags):
    """Eight bytes, each of them 0 or 1, as eight bits."""
    return int(np.int64(np.uint64(flags) * np.uint64(BYTES_TO_BITS) >> np.uint64(56)))
