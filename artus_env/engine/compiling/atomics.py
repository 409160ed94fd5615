"""What threads tell each other through words of memory, for compiled code; plain Python starts no threads.

Each is one instruction of the processor, and everything that was written before it is there for whoever reads after it.
"""

from __future__ import annotations

import platform
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from artus_env.engine.compiling.jit import compile_as

WORD = ir.IntType(64)
_PAUSES = dict.fromkeys(("x86_64", "amd64"), "llvm.x86.sse2.pause") | dict.fromkeys(
    ("aarch64", "arm64"), "llvm.aarch64.hint"
)
_HINT = ir.Constant(ir.IntType(32), 1)  # "yield", as aarch64 calls it


def load(words: Any, at: int) -> int:
    """A word as it is now."""
    raise NotImplementedError


def store(words: Any, at: int, value: int) -> None:
    """Write a word."""
    raise NotImplementedError


def fetch_add(words: Any, at: int, value: int) -> int:
    """Add to a word; returns what was there before."""
    raise NotImplementedError


def pause() -> None:
    """Let a core rest for some tens of cycles while it waits for a word to change."""
    raise NotImplementedError


def word_pointer(context: Any, builder: Any, kind: Any, words: Any, at: Any) -> Any:
    """Where word `at` of an array is, in the code that is being made."""
    array = context.make_array(kind)(context, builder, words)
    return builder.gep(array.data, [at])


def _typing_of_load(words: Any, at: Any) -> Any:
    return types.int64(words, types.intp)


def _typing_of_store(words: Any, at: Any, value: Any) -> Any:
    return types.void(words, types.intp, types.int64)


def _typing_of_fetch_add(words: Any, at: Any, value: Any) -> Any:
    return types.int64(words, types.intp, types.int64)


def _load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.load_atomic(word_pointer(context, builder, signature.args[0], *arguments), "seq_cst", 8)


def _store(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    *place, value = arguments
    builder.store_atomic(value, word_pointer(context, builder, signature.args[0], *place), "seq_cst", 8)
    return context.get_dummy_value()


def _fetch_add(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    *place, value = arguments
    return builder.atomic_rmw("add", word_pointer(context, builder, signature.args[0], *place), value, "seq_cst")


def _pause(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    name = _PAUSES.get(platform.machine().lower())
    if name:
        numbers = [_HINT] if "hint" in name else []
        kind = ir.FunctionType(ir.VoidType(), [number.type for number in numbers])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, name), numbers)
    return context.get_dummy_value()


compile_as(load, _typing_of_load, _load)
compile_as(store, _typing_of_store, _store)
compile_as(fetch_add, _typing_of_fetch_add, _fetch_add)
compile_as(pause, lambda: types.void(), _pause)
