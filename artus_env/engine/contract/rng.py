"""SplitMix64 as a counter-based generator: number n of stream `key` is a hash of (key, n).

There is no state to advance, so results depend neither on the number of games nor on the order of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from artus_env.engine.basics.numbers import is_whole
from artus_env.engine.basics.reading import shown
from artus_env.engine.compiling.jit import jit, jit_wrapping

SEED_LIMIT = 1 << 64
_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MUL_1 = np.uint64(0xBF58476D1CE4E5B9)
_MUL_2 = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)
_NEXT_SEED = np.uint64(1 << 32)  # number of the next deal's seed: far above the numbers that one deal uses
_SEAT = np.uint64(1 << 33)  # number for drawing a seat


def _hash(key, n):
    """Hash of (key, n), uint64: scalars or arrays."""
    z = key + (n + np.uint64(1)) * _GAMMA
    z = (z ^ (z >> _30)) * _MUL_1
    z = (z ^ (z >> _27)) * _MUL_2
    return z ^ (z >> _31)


_compiled_hash = jit_wrapping(_hash)


@jit_wrapping
def random_bits(key, n):
    """Number `n` of the stream `key`: 64 random bits."""
    return _compiled_hash(np.uint64(key), np.uint64(n))


@jit_wrapping
def below(bits, bound):
    """A number in 0..bound-1 from 64 random bits; uniform to within 2**-22 for bounds under 2**10."""
    return int(np.int64(((np.uint64(bits) >> _32) * np.uint64(bound)) >> _32))


@jit
def shuffle(cards, start, size, seed, first, step):
    """Shuffle `cards[start:start + size]` (Fisher-Yates, from the last card down) with numbers `first`, `first + step`,
    ... of the stream `seed`. Returns the number after the last one used."""
    for last in range(size - 1, 0, -1):
        other = below(random_bits(seed, first), last + 1)
        first += step
        card = cards[start + last]
        cards[start + last] = cards[start + other]
        cards[start + other] = card
    return first


@jit_wrapping
def breaks_tie(key, equals):
    """Whether the newest of `equals` equally good choices replaces the choice kept so far: true with probability
    1 / `equals`, so that in the end each choice has the same chance. The random number is number `equals` of the
    stream `key`."""
    return below(random_bits(key, equals), equals) == 0


@jit_wrapping
def following(key):
    """Key of the rest of a stream: its number n is number n + 1 of the stream `key`."""
    return np.uint64(key) + _GAMMA


@jit_wrapping
def next_seed(seed):
    """Seed of the deal after the one with this seed."""
    return _compiled_hash(np.uint64(seed), _NEXT_SEED)


def following_keys(keys: np.ndarray) -> np.ndarray:
    """`following` for an array of keys, uint64."""
    return keys + _GAMMA


def key_bits(keys: np.ndarray, numbers: np.ndarray | int = 0) -> np.ndarray:
    """Number 0 of each key's stream, or those with other `numbers`: 64 random bits each, uint64."""
    with np.errstate(over="ignore"):
        return _hash(keys, np.asarray(numbers, np.uint64))


def next_seeds(seeds: np.ndarray) -> np.ndarray:
    """`next_seed` for an array of seeds, uint64."""
    with np.errstate(over="ignore"):
        return _hash(seeds, _NEXT_SEED)


def drawn_seats(seeds: np.ndarray, num_players: int) -> np.ndarray:
    """A seat in 0..num_players-1 for each deal, independent of its cards: shape of `seeds`, int64."""
    with np.errstate(over="ignore"):
        bits = _hash(seeds, _SEAT)
    return (((bits >> _32) * np.uint64(num_players)) >> _32).astype(np.int64)


def seed_stream(seed: int, count: int, purpose: int = 0, first: int = 0) -> np.ndarray:
    """Return seeds number `first` to `first + count - 1` of a stream that is derived from one seed: shape (count,),
    uint64.

    Streams for different values of `purpose` are unrelated, and none of them reveals the seed or another stream.

    Raises:
        TypeError, ValueError: As for `check_seed`.
    """
    key = np.random.SeedSequence([check_seed(seed), purpose]).generate_state(1, np.uint64)[0]
    with np.errstate(over="ignore"):
        return _hash(key, np.arange(first, first + count, dtype=np.uint64))


def check_seed(seed: Any) -> int:
    """Return the seed as an int.

    Raises:
        TypeError: If it isn't a whole number of Python or NumPy.
        ValueError: If it isn't in 0..2**64-1.
    """
    if not is_whole(seed):
        raise TypeError(f"seed must be a whole number in 0..2**64-1, got {shown(seed)}")
    if not 0 <= seed < SEED_LIMIT:
        raise ValueError(f"seed must be a whole number in 0..2**64-1, got {shown(seed)}")
    return int(seed)


def fresh_seed() -> int:
    """Return a seed from the operating system, for callers that were given none."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
