"""Operations on bit sets that processors have and Python has no portable name for.

Each is a Python function, used as it stands without JIT, and one LLVM instruction (or a few) when compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed

from artus_env.engine.compiling.jit import compile_as, jit, target


def popcount(bits: int) -> int:
    """Number of set bits."""
    return int(bits).bit_count()


def lowest_bit(bits: int) -> int:
    """Index of the lowest set bit of `bits` > 0."""
    return (int(bits) & -int(bits)).bit_length() - 1


def highest_bit(bits: int) -> int:
    """Index of the highest set bit of `bits` > 0."""
    return int(bits).bit_length() - 1


def unpack32(bits: int, out: np.ndarray, start: int) -> None:
    """Write the lowest 32 bits, lowest first, as 0/1 into `out[start:start + 32]` (int8)."""
    out[start : start + 32] = [int(bits) >> lane & 1 for lane in range(32)]


def unpack64(bits: int, out: np.ndarray, start: int) -> None:
    """Write 64 bits, lowest first, as 0/1 into `out[start:start + 64]` (int8)."""
    out[start : start + 64] = [int(bits) >> lane & 1 for lane in range(64)]


def unpack32_reversed(bits: int, out: np.ndarray, start: int) -> None:
    """Write the lowest 32 bits, highest first, as 0/1 into `out[start:start + 32]` (int8)."""
    out[start : start + 32] = [int(bits) >> 31 - lane & 1 for lane in range(32)]


def unpack_nibbles(digits: int, out: np.ndarray, start: int) -> None:
    """Write the sixteen hexadecimal digits of 64 bits, lowest first, into `out[start:start + 16]` (int8)."""
    out[start : start + 16] = [int(digits) >> 4 * lane & 15 for lane in range(16)]


def unpack_bytes(word: int, out: np.ndarray, start: int) -> None:
    """Write the eight bytes of 64 bits, lowest first, into `out[start:start + 8]` (int8)."""
    out[start : start + 8] = [int(word) >> 8 * lane & 255 for lane in range(8)]


def packed_bytes(values: np.ndarray) -> int:
    """The first eight numbers of an array (int8), none negative, as the bytes of one, the first one lowest."""
    return int.from_bytes(np.asarray(values, np.int8)[:8].tobytes(), "little")


def _counting(function: Any, build: Any) -> None:
    """Compile a function of 64 bits, whose result is a whole number, as what `build` makes."""

    def typing(bits: Any) -> Any:
        return types.int64(types.int64) if isinstance(bits, types.Integer) else None

    compile_as(function, typing, lambda context, builder, signature, arguments: build(builder, arguments[0]))


_WIDTH = ir.Constant(ir.IntType(64), 63)
_counting(popcount, lambda builder, bits: builder.ctpop(bits))
_counting(lowest_bit, lambda builder, bits: builder.cttz(bits, cgutils.true_bit))
_counting(highest_bit, lambda builder, bits: builder.sub(_WIDTH, builder.ctlz(bits, cgutils.true_bit)))


def _storing(function: Any, build: Any) -> None:
    """Compile a function `(bits, out, start)` as storing the vector of bytes that `build` makes of the bits."""

    def typing(bits: Any, out: Any, start: Any) -> Any:
        fits = isinstance(bits, types.Integer) and isinstance(out, types.Array) and out.layout == "C"
        return types.void(types.int64, out, types.intp) if fits else None

    def store(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        bits, out, start = arguments
        values = build(builder, bits)
        array = context.make_array(signature.args[1])(context, builder, out)
        target = builder.bitcast(builder.gep(array.data, [start]), values.type.as_pointer())
        builder.store(values, target, align=1)
        return context.get_dummy_value()

    compile_as(function, typing, store)


def _flags(order: list[int]) -> Any:
    """Bits as a vector of booleans, widened to bytes, in the order given: about four instructions."""
    lanes = len(order)

    def build(builder: Any, bits: Any) -> Any:
        narrow = builder.trunc(bits, ir.IntType(lanes)) if lanes < 64 else bits
        flags = builder.bitcast(narrow, ir.VectorType(ir.IntType(1), lanes))
        values = builder.zext(flags, ir.VectorType(ir.IntType(8), lanes))
        return builder.shuffle_vector(values, values, ir.Constant(ir.VectorType(ir.IntType(32), lanes), order))

    return build


def _nibbles(builder: Any, digits: Any) -> Any:
    """The even and the odd digits, eight bytes each, interleaved. Vectors of numbers of four bits would be taken apart
    one by one."""
    eight = ir.VectorType(ir.IntType(8), 8)
    mask = ir.Constant(ir.IntType(64), 0x0F0F0F0F0F0F0F0F)
    odd = builder.lshr(digits, ir.Constant(ir.IntType(64), 4))
    even, odd = (builder.bitcast(builder.and_(part, mask), eight) for part in (digits, odd))
    order = [lane // 2 + 8 * (lane % 2) for lane in range(16)]
    return builder.shuffle_vector(even, odd, ir.Constant(ir.VectorType(ir.IntType(32), 16), order))


_storing(unpack32, _flags(list(range(32))))
_storing(unpack64, _flags(list(range(64))))
_storing(unpack32_reversed, _flags(list(range(31, -1, -1))))
_storing(unpack_nibbles, _nibbles)
_storing(unpack_bytes, lambda builder, word: builder.bitcast(word, ir.VectorType(ir.IntType(8), 8)))


def _typing_of_packed(values: Any) -> Any:
    return types.int64(values) if isinstance(values, types.Array) and values.dtype == types.int8 else None


def _packed(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.load(builder.bitcast(array.data, ir.IntType(64).as_pointer()), align=1)


compile_as(packed_bytes, _typing_of_packed, _packed)


# --- sets of actions: 64 of them a word, lowest first ----------------------------------------------------------------


def first_words(words: np.ndarray, count: int) -> np.ndarray:
    """The first `count` words of a set. Where `count` is a literal number compiled code knows how long they are, and
    needs no loop to go through them."""
    return words[:count]


def _type_of_first_words(words: Any, count: Any) -> Any:
    fits = isinstance(words, types.Array) and isinstance(count, types.Integer)
    return words(words, types.intp) if fits else None


def _first_words(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    array.nitems = arguments[1]
    array.shape = cgutils.pack_array(builder, [array.nitems])
    return impl_ret_borrowed(context, builder, signature.return_type, array._getvalue())


compile_as(first_words, _type_of_first_words, _first_words)


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


def _nth_bit(word, nth):
    """Index of the set bit of a word that `nth` others come before; there must be one.

    By halves, without a branch: a loop that drops the lowest bit `nth` times would mostly be guessed wrong.
    """
    at = np.uint64(0)
    for step in range(6):
        width = np.uint64(32 >> step)
        count = popcount(word >> at & (np.uint64(1) << width) - np.uint64(1))
        behind = nth >= count
        nth -= count if behind else 0
        at += width if behind else np.uint64(0)
    return int(at)


def _scattering(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """The same by an instruction of processors with BMI2, which scatters bits to the set ones of a word."""
    word, nth = arguments
    kind = ir.IntType(64)
    pdep = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind, kind]), "llvm.x86.bmi.pdep.64")
    found = builder.call(pdep, [builder.shl(ir.Constant(kind, 1), nth), word])
    return builder.cttz(found, cgutils.true_bit)


_SLOW = ("znver1", "znver2")  # have the instruction and take longer for it than by halves
_PROCESSOR, _FEATURES = target()
nth_bit: Any = _nth_bit
if "+bmi2" in _FEATURES and _PROCESSOR not in _SLOW:
    compile_as(_nth_bit, lambda word, nth: types.int64(types.uint64, types.int64), _scattering)
else:
    nth_bit = jit(_nth_bit)


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
