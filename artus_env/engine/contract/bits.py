"""Sets of actions as bits, 64 per word, lowest first; and operations on bits (see `compiling.intrinsics`)."""

from __future__ import annotations

import numpy as np

from artus_env.engine.compiling.arrays import first_words
from artus_env.engine.compiling.intrinsics import (
    highest_bit,
    lowest_bit,
    nth_bit,
    packed_bytes,
    popcount,
    write_32_bits,
    write_32_bits_reversed,
    write_64_bits,
    write_bytes,
    write_nibbles,
)
from artus_env.engine.compiling.jit import jit

__all__ = [
    "add",
    "add_all",
    "first_words",
    "highest_bit",
    "is_in",
    "is_subset",
    "lowest_bit",
    "next_action",
    "nth_action",
    "nth_bit",
    "packed_bytes",
    "popcount",
    "size",
    "write_32_bits",
    "write_32_bits_reversed",
    "write_64_bits",
    "write_bytes",
    "write_nibbles",
]


@jit
def is_in(words, action):
    """Whether an action is in a set of actions: shape (W,), uint64."""
    return (words[action >> 6] >> np.uint64(action & 63)) & np.uint64(1) != 0


@jit
def add(words, action):
    """Add an action to a set of actions."""
    words[action >> 6] |= np.uint64(1) << np.uint64(action & 63)


@jit
def add_all(words, start, bits):
    """Add the action `start + k` to a set of actions for each set bit k of `bits`, in 0..62."""
    word, shift = start >> 6, start & 63
    words[word] |= np.uint64(bits) << np.uint64(shift)
    if shift and bits >> 64 - shift:
        words[word + 1] |= np.uint64(bits) >> np.uint64(64 - shift)


@jit
def is_subset(words, others):
    """Whether all actions of a set are also in another set."""
    missing = np.uint64(0)
    for word in range(len(words)):
        missing |= words[word] & ~others[word]
    return missing == 0


@jit
def size(words):
    """Number of actions in a set."""
    total = 0
    for word in range(len(words)):
        total += popcount(words[word])
    return total


@jit
def nth_action(words, nth):
    """Action of a set that has exactly `nth` lower actions in it; -1 if the set has only `nth` actions.

    Without a branch for each word, whose outcome processors couldn't predict.
    """
    word, count_before, count = 0, 0, 0
    for index in range(len(words)):
        count += popcount(words[index])
        is_later = nth >= count
        word += 1 if is_later else 0
        count_before = count if is_later else count_before
    if word == len(words):
        return -1
    return 64 * word + nth_bit(words[word], nth - count_before)


@jit
def next_action(words, action):
    """Lowest action of a set above `action`, -1 if there is none. With an `action` of -1: the first one of the set.

    A compiled loop over a set::

        action = next_action(legal, -1)
        while action >= 0:
            ...
            action = next_action(legal, action)
    """
    start = action + 1
    word = start >> 6
    if word == len(words):
        return -1
    remaining_bits = words[word] >> np.uint64(start & 63) << np.uint64(start & 63)
    while remaining_bits == 0:
        word += 1
        if word == len(words):
            return -1
        remaining_bits = words[word]
    return 64 * word + lowest_bit(remaining_bits)
