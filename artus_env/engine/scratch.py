"""Small arrays to calculate in, for one call: on the stack in compiled code, where making them costs nothing.

What they hold at first is undefined, and they end with the function that makes them: never return or keep one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload


def whole_numbers(count: int) -> np.ndarray:
    """Room for `count` whole numbers, a literal: shape (count,), int64."""
    return np.empty(count, np.int64)


def real_numbers(count: int) -> np.ndarray:
    """Room for `count` numbers, a literal: shape (count,), float64."""
    return np.empty(count, np.float64)


def _on_stack(dtype: Any, kind: ir.Type) -> Any:
    """Intrinsic that makes an array of literal length in the frame of the function that it is called in."""

    @intrinsic
    def operation(context: Any, count: Any) -> Any:
        if not isinstance(count, types.IntegerLiteral):
            return None
        array_type, length = types.Array(dtype, 1, "C"), count.literal_value

        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            data = cgutils.alloca_once(builder, kind, size=length)
            array = context.make_array(array_type)(context, builder)
            itemsize = context.get_constant(types.intp, 8)
            shape = [context.get_constant(types.intp, length)]
            context.populate_array(array, data=data, shape=shape, strides=[itemsize], itemsize=itemsize, meminfo=None)
            return array._getvalue()

        return array_type(count), codegen

    return operation


_whole_numbers = _on_stack(types.int64, ir.IntType(64))
_real_numbers = _on_stack(types.float64, ir.DoubleType())


@overload(whole_numbers, prefer_literal=True)
def _typed_whole_numbers(count):
    if isinstance(count, types.IntegerLiteral):
        return lambda count: _whole_numbers(count)
    return None


@overload(real_numbers, prefer_literal=True)
def _typed_real_numbers(count):
    if isinstance(count, types.IntegerLiteral):
        return lambda count: _real_numbers(count)
    return None
