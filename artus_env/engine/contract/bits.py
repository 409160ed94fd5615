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
    """Add the action `start + k` to a set of actions for each set bit k in 0..62."""
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

    Without a branch for each word: its outcome can't be predicted.
    """
    at, before, end = 0, 0, 0
    for k in range(len(words)):
        end += popcount(words[k])
        behind = nth >= end
        at += 1 if behind else 0
        before = end if behind else before
    if at == len(words):
        return -1
    return 64 * at + nth_bit(words[at], nth - before)


@jit
def next_action(words, action):
    """Next action of a set after `action`, -1 if there is none; after -1 comes the first one.

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
    left = words[word] >> np.uint64(start & 63) << np.uint64(start & 63)
    while left == 0:
        word += 1
        if word == len(words):
            return -1
        left = words[word]
    return 64 * word + lowest_bit(left)
