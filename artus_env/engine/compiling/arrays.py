"""Arrays that compiled code uses during one call, without allocation and reference counts."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from llvmlite import ir
from numba import carray, types
from numba.extending import lower_builtin, overload, type_callable

from artus_env.engine.compiling.jit import DISABLED, chosen_by_types

Borrowed = TypeVar("Borrowed", bound="np.ndarray | tuple[Any, ...]")


def borrow(array: Borrowed) -> Borrowed:
    """Return the array, or the arrays of a tuple, without reference counts, for compiled loops over the rows of arrays
    that their caller holds. A non-contiguous array is returned unchanged.

    With reference counts, each row passed to a function would cost two atomic additions to one counter, about as much
    as a whole move, and two threads would wait for each other there.
    """
    return array


def first_words(words: np.ndarray, count: int) -> np.ndarray:
    """Return the first `count` words of a set. If `count` is a literal, the compiler knows the number of words and can
    unroll loops over them."""
    return words[:count]


def whole_numbers(count: int) -> np.ndarray:
    """Array of whole numbers: shape (count,), int64. In compiled code `count` must be a literal.

    Its initial content is undefined, and its memory ends with the function that makes it: never return or keep it.
    """
    return np.empty(count, np.int64)


def real_numbers(count: int) -> np.ndarray:
    """Array of real numbers: shape (count,), float64. Otherwise like `whole_numbers`."""
    return np.empty(count, np.float64)


# --- in compiled code -------------------------------------------------------------------------------------------------


def _pointer(array: np.ndarray, address: int) -> Any:
    raise NotImplementedError  # plain Python runs the functions above


def _room(count: int, dtype: Any) -> Any:
    """Return a pointer to uninitialized memory for `count` numbers of a data type."""
    raise NotImplementedError


def _typing_of_pointer(array: Any, address: Any) -> Any:
    return types.CPointer(array.dtype)(array, types.intp)


def _make_pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.inttoptr(arguments[1], context.get_value_type(signature.return_type))


def _typing_of_room(count: Any, dtype: Any) -> Any:
    return types.CPointer(dtype.dtype)(count, dtype) if isinstance(count, types.IntegerLiteral) else None


def _make_room(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Allocate the array in the stack frame of the calling function."""
    pointer_type = context.get_value_type(signature.return_type)
    with builder.goto_entry_block():
        return builder.bitcast(
            builder.alloca(ir.ArrayType(pointer_type.pointee, signature.args[0].literal_value)), pointer_type
        )


def _choose_borrow(array_type: Any) -> Any:
    if isinstance(array_type, types.Array) and array_type.layout == "C":
        return lambda array: carray(_pointer(array, array.ctypes.data), array.shape)
    if isinstance(array_type, types.BaseNamedTuple):
        tuple_class: Any = array_type.instance_class  # type: ignore[attr-defined]
        return lambda array: tuple_class(*_borrow_each(array))
    return (lambda array: _borrow_each(array)) if isinstance(array_type, types.BaseTuple) else lambda array: array


def _choose_first_words(words: Any, count: Any) -> Any:
    if words.layout == "C":
        return lambda words, count: carray(_pointer(words, words.ctypes.data), (count,))
    return lambda words, count: words[:count]


def _borrow_each(parts: Any) -> Any:
    raise NotImplementedError


def _choose_borrow_each(tuple_type: Any) -> Any:
    return (lambda parts: (borrow(parts[0]), *_borrow_each(parts[1:]))) if len(tuple_type) else lambda parts: ()


if not DISABLED:
    type_callable(_pointer)(lambda context: _typing_of_pointer)
    lower_builtin(_pointer, types.VarArg(types.Any))(_make_pointer)
    type_callable(_room)(lambda context: _typing_of_room)
    lower_builtin(_room, types.VarArg(types.Any))(_make_room)
    chosen_by_types(borrow, _choose_borrow)
    chosen_by_types(_borrow_each, _choose_borrow_each)
    chosen_by_types(first_words, _choose_first_words)
    inlined: dict[str, Any] = {"strict": False, "inline": "always", "prefer_literal": True}
    overload(whole_numbers, **inlined)(lambda count: lambda count: carray(_room(count, np.int64), (count,)))
    overload(real_numbers, **inlined)(lambda count: lambda count: carray(_room(count, np.float64), (count,)))
