"""Bit sets and random numbers, compiled and in plain Python, compared with simple definitions of them."""

import warnings

import numba
import numpy as np
import pytest

from artus_env.engine.compiling import arrays
from artus_env.engine.compiling.jit import DISABLED, jit
from artus_env.engine.contract import bits, rng
from artus_env.engine.contract.rng import SEED_LIMIT

TOP = 1 << 63
EDGES = [
    1,
    2,
    3,
    0x80,
    0xFF,
    1 << 27,
    (1 << 28) - 1,
    1 << 31,
    (1 << 32) - 1,
    1 << 32,
    TOP - 1,
    TOP,
    TOP + 1,
    SEED_LIMIT - 1,
]
RANDOM = [int(word) >> shift for word, shift in zip(rng.seed_stream(1, 40), range(40), strict=True)]
WORDS = EDGES + [word for word in RANDOM if word]


@numba.njit
def compiled_popcount(word):
    return bits.popcount(word)


@numba.njit
def compiled_lowest_bit(word):
    return bits.lowest_bit(word)


@numba.njit
def compiled_highest_bit(word):
    return bits.highest_bit(word)


@numba.njit
def compiled_nth_bit(word, nth):
    return bits.nth_bit(word, nth)


@numba.njit
def compiled_write_32_bits(word, out, start):
    bits.write_32_bits(word, out, start)


@numba.njit
def compiled_write_64_bits(word, out, start):
    bits.write_64_bits(word, out, start)


@numba.njit
def compiled_write_32_bits_reversed(word, out, start):
    bits.write_32_bits_reversed(word, out, start)


@numba.njit
def compiled_write_nibbles(digits, out, start):
    bits.write_nibbles(digits, out, start)


@numba.njit
def compiled_write_bytes(word, out, start):
    bits.write_bytes(word, out, start)


@numba.njit
def compiled_packed_bytes(values):
    return bits.packed_bytes(values)


@numba.njit
def compiled_first_words(words, count):
    return bits.first_words(words, count)


def python_and_compiled(name):
    return pytest.mark.parametrize(
        name, [getattr(bits, name), globals()[f"compiled_{name}"]], ids=["python", "compiled"]
    )  # without JIT both are plain Python


def in_all_types(word):
    """The word in every type that rules use: uint64, and if it is below 2**63 also int64 and int."""
    return [np.uint64(word), np.int64(word), word] if word < TOP else [np.uint64(word)]


@python_and_compiled("popcount")
def test_popcount(popcount):
    for word in [0, *WORDS]:
        assert {popcount(typed) for typed in in_all_types(word)} == {bin(word).count("1")}


@python_and_compiled("lowest_bit")
def test_lowest_bit(lowest_bit):
    for word in WORDS:
        assert {lowest_bit(typed) for typed in in_all_types(word)} == {bin(word)[::-1].index("1")}


@python_and_compiled("highest_bit")
def test_highest_bit(highest_bit):
    for word in WORDS:
        assert {highest_bit(typed) for typed in in_all_types(word)} == {len(bin(word)) - len("0b1")}


def numbers_written(unpack, word, width):
    """The numbers that `unpack` writes from index 5 of a longer array on; the other numbers must stay."""
    out = np.full(width + 10, 7, np.int8)
    unpack(word, out, 5)
    assert (out[:5] == 7).all()
    assert (out[5 + width :] == 7).all()
    return out[5 : 5 + width].tolist()


@python_and_compiled("write_32_bits")
def test_write_32_bits(write_32_bits):
    for word in [0, *WORDS]:
        expected = [word >> bit & 1 for bit in range(32)]
        assert all(numbers_written(write_32_bits, typed, 32) == expected for typed in in_all_types(word))


@python_and_compiled("write_32_bits_reversed")
def test_write_32_bits_reversed(write_32_bits_reversed):
    for word in [0, *WORDS]:
        expected = [word >> bit & 1 for bit in reversed(range(32))]
        assert all(numbers_written(write_32_bits_reversed, typed, 32) == expected for typed in in_all_types(word))


@python_and_compiled("write_64_bits")
def test_write_64_bits(write_64_bits):
    for word in [0, *WORDS]:
        expected = [word >> bit & 1 for bit in range(64)]
        assert all(numbers_written(write_64_bits, typed, 64) == expected for typed in in_all_types(word))


@python_and_compiled("write_nibbles")
def test_write_nibbles(write_nibbles):
    for word in [0, *WORDS]:
        expected = [word >> 4 * digit & 15 for digit in range(16)]
        assert all(numbers_written(write_nibbles, typed, 16) == expected for typed in in_all_types(word))


@python_and_compiled("packed_bytes")
@python_and_compiled("write_bytes")
def test_bytes(write_bytes, packed_bytes):
    numbers = [0, 127, 1, 2, 64, 3, 100, 5]
    word = packed_bytes(np.array([*numbers, 9], np.int8))
    assert word == sum(number << 8 * place for place, number in enumerate(numbers))
    assert numbers_written(write_bytes, word, 8) == numbers


# --- sets of actions -----------------------------------------------------------------------------------------------


@python_and_compiled("first_words")
def test_first_words_are_the_same_memory(first_words):
    words = np.arange(5, dtype=np.uint64)
    first = first_words(words, 3)
    assert first.tolist() == [0, 1, 2]
    first[2] = 9
    assert words.tolist() == [0, 1, 9, 3, 4]


@pytest.mark.parametrize("start", [0, 5, 37, 63, 64, 100])
def test_sets_of_actions(start):
    rng = np.random.default_rng(start)
    for bit_set in [0, 1, 1 << 62, (1 << 63) - 1, *map(int, rng.integers(0, 1 << 62, 40))]:
        words = np.zeros(3, np.uint64)
        bits.add(words, 7)
        bits.add_all(words, start, bit_set)
        actions = sorted({7} | {start + bit for bit in range(63) if bit_set >> bit & 1})
        assert [action for action in range(192) if bits.is_in(words, action)] == actions
        assert bits.size(words) == len(actions)
        assert [bits.nth_action(words, nth) for nth in range(len(actions) + 1)] == [*actions, -1]
        assert [bits.next_action(words, action) for action in [-1, *actions]] == [*actions, -1]
        fewer = words.copy()
        bits.add(words, 191)
        assert bits.is_subset(fewer, words)
        assert not bits.is_subset(words, fewer)


@pytest.mark.parametrize("count", range(1, 9))
@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 1.0])
def test_the_nth_action_of_few_words_and_of_many(count, share):
    is_chosen = np.random.default_rng(count).random(64 * count) < share
    words = np.packbits(is_chosen, bitorder="little").view(np.uint64)
    actions = is_chosen.nonzero()[0].tolist()
    assert [bits.nth_action(words, nth) for nth in range(len(actions) + 1)] == [*actions, -1]


@pytest.mark.parametrize(
    "nth_bit",
    [compiled_nth_bit, jit(getattr(bits.nth_bit, "py_func", bits.nth_bit))],
    ids=["processor instruction", "binary search"],
)
def test_the_nth_bit_of_a_word(nth_bit):
    """With the processor's instruction if it has one, and with the code for processors without it."""
    rng = np.random.default_rng(1)
    for word in [1, 1 << 63, (1 << 64) - 1, *map(int, rng.integers(1, 1 << 63, 40)), *(1 << rng.integers(0, 63, 20))]:
        places = [place for place in range(64) if int(word) >> place & 1]
        assert [int(nth_bit(np.uint64(word), nth)) for nth in range(len(places))] == places


# --- random numbers ----------------------------------------------------------------------------------------------


def splitmix64(seed, count):
    """The published generator (Steele, Lea and Flood 2014), in whole numbers."""
    numbers = []
    for _ in range(count):
        seed = (seed + 0x9E3779B97F4A7C15) % SEED_LIMIT
        z = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9 % SEED_LIMIT
        z = (z ^ z >> 27) * 0x94D049BB133111EB % SEED_LIMIT
        numbers.append(z ^ z >> 31)
    return numbers


KEYS = [0, 1, 42, TOP - 1, TOP, SEED_LIMIT - 1]


def test_random_bits_are_the_published_ones():
    published = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert [int(rng.random_bits(np.uint64(0), np.uint64(n))) for n in range(3)] == published


@pytest.mark.parametrize("key", KEYS)
def test_random_bits_are_splitmix64(key):
    assert [int(rng.random_bits(np.uint64(key), np.uint64(n))) for n in range(20)] == splitmix64(key, 20)


def test_following_keys_go_on_where_the_stream_is():
    keys = np.array(KEYS, np.uint64)
    for n in range(5):
        streams = [splitmix64(key, n + 1)[n] for key in KEYS]
        assert rng.key_bits(keys).tolist() == streams
        assert [int(rng.random_bits(key, np.uint64(0))) for key in keys] == streams
        next_keys = [int(rng.following(key)) for key in keys]
        keys = rng.following_keys(keys)
        assert keys.tolist() == next_keys


def test_next_seeds_are_alike_one_by_one_and_in_arrays():
    keys = np.array(KEYS, np.uint64)
    next_seeds = rng.next_seeds(keys)
    assert next_seeds.tolist() == [int(rng.next_seed(key)) for key in keys]
    assert len({*next_seeds.tolist(), *KEYS}) == 2 * len(KEYS)


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 24, 45, 339, 512, 1023])
def test_below_divides_the_numbers_evenly(bound):
    """The highest 32 bits decide; each result has the same part of them, to within one."""
    assert rng.below(np.uint64(0), bound) == 0
    assert rng.below(np.uint64(SEED_LIMIT - 1), bound) == bound - 1
    for result in range(1, bound):
        first = -(-(result << 32) // bound)  # the first 32 bits that give this result
        assert rng.below(np.uint64(first << 32), bound) == result
        assert rng.below(np.uint64((first << 32) - 1), bound) == result - 1


def test_below_nothing_is_0():
    assert rng.below(np.uint64(SEED_LIMIT - 1), 0) == 0


def test_seed_stream_does_not_depend_on_its_length():
    assert rng.seed_stream(5, 100)[:7].tolist() == rng.seed_stream(5, 7).tolist()
    assert rng.seed_stream(5, 0).shape == (0,)


def test_seed_streams_share_nothing():
    streams = [rng.seed_stream(seed, 200, purpose) for seed in (0, 1, SEED_LIMIT - 1) for purpose in (0, 1)]
    assert len({int(seed) for stream in streams for seed in stream}) == 6 * 200


def test_random_numbers_warn_of_no_overflow():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        last = np.uint64(SEED_LIMIT - 1)
        rng.random_bits(last, last)
        rng.following(last)
        rng.next_seed(last)
        rng.key_bits(np.array([last]))
        rng.following_keys(np.array([last]))
        rng.next_seeds(np.array([last]))
        rng.seed_stream(SEED_LIMIT - 1, 3)


@pytest.mark.parametrize("seed", [0, 1, np.int8(3), np.uint64(SEED_LIMIT - 1), SEED_LIMIT - 1])
def test_valid_seeds_become_ints(seed):
    checked = rng.check_seed(seed)
    assert checked == seed
    assert type(checked) is int


@pytest.mark.parametrize(
    ("seed", "error"),
    [
        (-1, ValueError),
        (SEED_LIMIT, ValueError),
        *((seed, TypeError) for seed in (1.0, np.float32(1), True, None, "1")),
    ],
)
def test_invalid_seeds_are_refused(seed, error):
    with pytest.raises(error, match="seed must be a whole number in 0"):
        rng.check_seed(seed)


def test_fresh_seeds_differ():
    seeds = {rng.fresh_seed() for _ in range(20)}
    assert len(seeds) == 20
    assert all(rng.check_seed(seed) == seed for seed in seeds)


# --- arrays for one call ----------------------------------------------------------------------------------------------


@jit
def sum_of_arrays(count):
    total = 0.0
    for number in range(count):
        whole, real = arrays.whole_numbers(8), arrays.real_numbers(4)
        for place in range(8):
            whole[place] = number * place
        for place in range(4):
            real[place] = number / 4
        total += whole.sum() + real.sum()
    return total


def test_arrays_for_one_call():
    """A loop that makes such arrays a million times needs stack memory for one of each."""
    assert sum_of_arrays(1_000_000 if not DISABLED else 100) == sum(
        29 * k for k in range(1_000_000 if not DISABLED else 100)
    )
    assert len(arrays.whole_numbers(3)) == len(arrays.real_numbers(3)) == 3
