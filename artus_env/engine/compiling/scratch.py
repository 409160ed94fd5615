"""Small arrays to calculate in, for one call: on the stack in compiled code, where making them costs nothing.

What they hold at first is undefined, and they end with the function that makes them: never return or keep one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from artus_env.engine.compiling.jit import compile_as


def whole_numbers(count: int) -> np.ndarray:
    """Room for `count` whole numbers, a literal: shape (count,), int64."""
    return np.empty(count, np.int64)


def real_numbers(count: int) -> np.ndarray:
    """Room for `count` numbers, a literal: shape (count,), float64."""
    return np.empty(count, np.float64)


def _on_stack(function: Any, dtype: Any, kind: ir.Type) -> None:
    """Compile a function of a literal number as an array of that length in the frame of its caller."""

    def typing(count: Any) -> Any:
        return types.Array(dtype, 1, "C")(count) if isinstance(count, types.IntegerLiteral) else None

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        length = signature.args[0].literal_value
        data = cgutils.alloca_once(builder, kind, size=length)
        array = context.make_array(signature.return_type)(context, builder)
        itemsize = context.get_constant(types.intp, 8)
        shape = [context.get_constant(types.intp, length)]
        context.populate_array(array, data=data, shape=shape, strides=[itemsize], itemsize=itemsize, meminfo=None)
        return array._getvalue()

    compile_as(function, typing, make)


_on_stack(whole_numbers, types.int64, ir.IntType(64))
_on_stack(real_numbers, types.float64, ir.DoubleType())
