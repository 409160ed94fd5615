"""Operations that take a processor one or a few instructions, and for which Python has no portable name.

Each is a Python function, used as is without JIT; when compiled, it is LLVM's own code.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import lower_builtin, type_callable

from artus_env.engine.compiling.jit import DISABLED, Function, chosen_by_types, config, jit

WORD, BYTE = ir.IntType(64), ir.IntType(8)
_TRUE = ir.IntType(1)(1)


def compiled_as(signature: Any, build: Callable[..., Any]) -> Callable[[Function], Function]:
    """Compile a Python function to given LLVM code.

    Args:
        signature: Numba signature with at most three whole numbers; arguments are converted to these types.
        build: Function that builds the LLVM value to return, from an LLVM builder and the values of the arguments.
    """

    def make(function: Function) -> Function:
        typings = (lambda: signature, lambda a: signature, lambda a, b: signature, lambda a, b, c: signature)
        type_callable(function)(lambda context: typings[len(signature.args)])
        lower_builtin(function, *signature.args)(lambda context, builder, _, values: build(builder, *values))
        return function

    return make


# --- bits of a number -------------------------------------------------------------------------------------------------


@compiled_as(types.int64(types.int64), lambda builder, bits: builder.ctpop(bits))
def popcount(bits: int | np.unsignedinteger) -> int:
    """Number of set bits."""
    return int(bits).bit_count()


@compiled_as(types.int64(types.int64), lambda builder, bits: builder.cttz(bits, _TRUE))
def lowest_bit(bits: int) -> int:
    """Index of the lowest set bit of `bits` > 0."""
    return (int(bits) & -int(bits)).bit_length() - 1


@compiled_as(types.int64(types.int64), lambda builder, bits: builder.sub(WORD(63), builder.ctlz(bits, _TRUE)))
def highest_bit(bits: int) -> int:
    """Index of the highest set bit of `bits` > 0."""
    return int(bits).bit_length() - 1


def nth_bit(word: int, nth: int) -> int:
    """Index of the set bit of a word (uint64) that has `nth` set bits below it; it must exist.

    By binary search without branches: processors would mispredict most branches of a loop that drops the lowest bit
    `nth` times.
    """
    index = np.uint64(0)
    for step in range(6):
        width = np.uint64(32 >> step)
        count = popcount(word >> index & (np.uint64(1) << width) - np.uint64(1))
        is_above = nth >= count
        nth -= count if is_above else 0
        index += width if is_above else np.uint64(0)
    return int(index)


def _has_fast_scatter() -> bool:
    """Whether the target processor has a fast instruction for scattering bits to the set bits of a word."""
    if config.CPU_NAME or config.CPU_FEATURES is not None:  # the user has chosen another target than this machine
        return False
    slow = ("znver1", "znver2")
    return bool(llvm.get_host_cpu_features().get("bmi2")) and llvm.get_host_cpu_name() not in slow


def _nth_bit_by_scatter(builder: Any, word: Any, nth: Any) -> Any:
    pdep = builder.module.declare_intrinsic("llvm.x86.bmi.pdep.64", fnty=ir.FunctionType(WORD, [WORD, WORD]))
    return builder.cttz(builder.call(pdep, [builder.shl(WORD(1), nth), word]), _TRUE)


if not DISABLED and _has_fast_scatter():
    compiled_as(types.int64(types.uint64, types.int64), _nth_bit_by_scatter)(nth_bit)
else:
    nth_bit = jit(nth_bit)


# --- bytes in arrays --------------------------------------------------------------------------------------------------


def write_32_bits(bits: int, out: np.ndarray, start: int) -> None:
    """Write the lowest 32 bits, lowest first, as 0/1 into `out[start:start + 32]` (int8)."""
    out[start : start + 32] = [int(bits) >> lane & 1 for lane in range(32)]


def write_64_bits(bits: int, out: np.ndarray, start: int) -> None:
    """Write 64 bits, lowest first, as 0/1 into `out[start:start + 64]` (int8)."""
    out[start : start + 64] = [int(bits) >> lane & 1 for lane in range(64)]


def write_32_bits_reversed(bits: int, out: np.ndarray, start: int) -> None:
    """Write the lowest 32 bits, highest first, as 0/1 into `out[start:start + 32]` (int8)."""
    out[start : start + 32] = [int(bits) >> 31 - lane & 1 for lane in range(32)]


def write_nibbles(digits: int, out: np.ndarray, start: int) -> None:
    """Write the sixteen hexadecimal digits of 64 bits, lowest first, into `out[start:start + 16]` (int8)."""
    out[start : start + 16] = [int(digits) >> 4 * lane & 15 for lane in range(16)]


def write_bytes(word: int, out: np.ndarray, start: int) -> None:
    """Write the eight bytes of 64 bits, lowest first, into `out[start:start + 8]` (int8)."""
    out[start : start + 8] = [int(word) >> 8 * lane & 255 for lane in range(8)]


def packed_bytes(values: np.ndarray) -> int:
    """The first eight numbers of an array (int8), none negative, as the bytes of one number, the first one lowest."""
    return int.from_bytes(np.asarray(values, np.int8)[:8].tobytes(), "little")


def _compile_store(function: Any, make: Callable[..., Any]) -> None:
    """Compile a function `(bits, out, start)` to a store of the vector of bytes that `make(builder, bits)` makes."""

    def build(builder: Any, bits: Any, address: Any) -> Any:
        values = make(builder, bits)
        builder.store(values, builder.inttoptr(address, values.type.as_pointer()), align=1)
        return bits

    @compiled_as(types.int64(types.int64, types.intp), build)
    def write(bits: int, address: int) -> int:
        raise NotImplementedError  # plain Python runs `function`

    def at_address(bits, out, start):
        write(bits, out.ctypes.data + start)

    chosen_by_types(function, lambda bits, out, start: at_address if out.layout == "C" else None)


def _bits_as_bytes(order: list[int]) -> Any:
    """Bits as a vector of booleans, widened to bytes, in the given order: about four instructions."""
    lanes = len(order)

    def make(builder: Any, bits: Any) -> Any:
        narrow = builder.trunc(bits, ir.IntType(lanes)) if lanes < 64 else bits
        flags = builder.bitcast(narrow, ir.VectorType(ir.IntType(1), lanes))
        values = builder.zext(flags, ir.VectorType(BYTE, lanes))
        return builder.shuffle_vector(values, values, ir.Constant(ir.VectorType(ir.IntType(32), lanes), order))

    return make


def _nibbles(builder: Any, digits: Any) -> Any:
    """The even and the odd digits, eight bytes each, interleaved. LLVM would split a vector of 4-bit numbers into
    single ones."""
    eight, mask = ir.VectorType(BYTE, 8), WORD(0x0F0F0F0F0F0F0F0F)
    even, odd = (builder.bitcast(builder.and_(part, mask), eight) for part in (digits, builder.lshr(digits, WORD(4))))
    order = [lane // 2 + 8 * (lane % 2) for lane in range(16)]
    return builder.shuffle_vector(even, odd, ir.Constant(ir.VectorType(ir.IntType(32), 16), order))


_compile_store(write_32_bits, _bits_as_bytes(list(range(32))))
_compile_store(write_64_bits, _bits_as_bytes(list(range(64))))
_compile_store(write_32_bits_reversed, _bits_as_bytes(list(range(31, -1, -1))))
_compile_store(write_nibbles, _nibbles)
_compile_store(write_bytes, lambda builder, word: builder.bitcast(word, ir.VectorType(BYTE, 8)))


@compiled_as(
    types.int64(types.intp),
    lambda builder, address: builder.load(builder.inttoptr(address, WORD.as_pointer()), align=1),
)
def _word_at(address: int) -> int:
    raise NotImplementedError  # plain Python runs `packed_bytes`


def _word_of(values):
    return _word_at(values.ctypes.data)


chosen_by_types(packed_bytes, lambda values: _word_of if values.layout == "C" else None)


# --- words of memory that threads share, for compiled code only: plain Python starts no threads -----------------------
# Each is one atomic instruction; a thread that reads after it sees everything written before it.


def _pointer(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, WORD.as_pointer())


@compiled_as(
    types.int64(types.intp), lambda builder, address: builder.load_atomic(_pointer(builder, address), "seq_cst", 8)
)
def load(address: int) -> int:
    """Read a word."""
    raise NotImplementedError


def _store(builder: Any, address: Any, value: Any) -> Any:
    builder.store_atomic(value, _pointer(builder, address), "seq_cst", 8)
    return value


@compiled_as(types.int64(types.intp, types.int64), _store)
def store(address: int, value: int) -> int:
    """Write a word."""
    raise NotImplementedError


@compiled_as(
    types.int64(types.intp, types.int64),
    lambda builder, address, value: builder.atomic_rmw("add", _pointer(builder, address), value, "seq_cst"),
)
def fetch_add(address: int, value: int) -> int:
    """Add to a word; return its previous value."""
    raise NotImplementedError


_PAUSES = dict.fromkeys(("x86_64", "amd64"), "llvm.x86.sse2.pause") | dict.fromkeys(
    ("aarch64", "arm64"), "llvm.aarch64.hint"
)


def _pause(builder: Any) -> Any:
    name = _PAUSES.get(platform.machine().lower())
    if name:
        operands = [ir.IntType(32)(1)] if "hint" in name else []  # "yield", as aarch64 calls it
        function_type = ir.FunctionType(ir.VoidType(), [operand.type for operand in operands])
        builder.call(builder.module.declare_intrinsic(name, fnty=function_type), operands)
    return WORD(0)


@compiled_as(types.int64(), _pause)
def pause() -> int:
    """Let a core rest for some tens of cycles while it waits for a word to change."""
    raise NotImplementedError
