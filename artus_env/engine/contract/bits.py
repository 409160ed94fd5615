"""Sets of actions as bits, 64 of them a word, lowest first; and operations on bits (see `compiling.intrinsics`)."""

from __future__ import annotations

import numpy as np

from artus_env.engine.compiling.arrays import first_words
from artus_env.engine.compiling.intrinsics import (
    highest_bit,
    lowest_bit,
    nth_bit,
    packed_bytes,
    popcount,
    unpack32,
    unpack32_reversed,
    unpack64,
    unpack_bytes,
    unpack_nibbles,
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
    "unpack32",
    "unpack32_reversed",
    "unpack64",
    "unpack_bytes",
    "unpack_nibbles",
]


@jit
def is_in(words, action):
    """Whether an action is in a set of actions: shape (W,), uint64."""
    return (words[action >> 6] >> np.uint64(action & 63)) & np.uint64(1) != 0


@jit
def add(words, action):
    """Put an action into a set of actions."""
    words[action >> 6] |= np.uint64(1) << np.uint64(action & 63)


@jit
def add_all(words, start, bits):
    """Put the actions `start + k` for which bit k of 0..62 is set into a set of actions."""
    word, shift = start >> 6, start & 63
    words[word] |= np.uint64(bits) << np.uint64(shift)
    if shift and bits >> 64 - shift:
        words[word + 1] |= np.uint64(bits) >> np.uint64(64 - shift)


@jit
def is_subset(words, others):
    """Whether all actions of a set are in another set as well."""
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
    """The action of a set that `nth` actions come before, -1 if there are just `nth`.

    Without a branch for each word: which one it is in can't be guessed.
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
    """The action of a set that follows `action`, -1 if there is none; the first one follows -1.

    This is how compiled code goes through a set::

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
