"""What compiled code calls counts references only where it must."""

import sys

import numba
import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

from artus_env.engine.jit import DISABLED, borrow, jit

pytestmark = pytest.mark.skipif(DISABLED, reason="nothing is compiled")

NUMBERS = numba.int64[:, ::1]


def typed_in(source):
    """A function without a file: it is compiled each time."""
    names = {"np": np, "jit": jit, "borrow": borrow}
    exec(source, names)
    return names["function"]


@pytest.mark.parametrize(
    ("counts", "line"),
    [
        (False, "return numbers[1, 2]"),
        (False, "numbers[1] = 7"),
        (False, "return numbers[1][2:].shape[0]"),
        (False, "return borrow(numbers)[0, 0]"),
        (True, "return numbers[1]"),
        (True, "return (numbers[1], 2)"),
        (True, "return np.empty(3)[0]"),
        (True, "return numbers.sum(axis=0)[0]"),
        (True, "return (numbers + 1)[0, 0]"),
        (True, "numbers[0] = numbers[1]"),
        (True, "return numbers[numbers[0]][0, 0]"),
        (True, "return len([1, 2])"),
        (True, "return copied(numbers)[0, 0]"),
        (True, "raise ValueError(numbers[0, 0])"),
        (False, "raise ValueError('none')"),
    ],
)
def test_who_counts_references(counts, line):
    copying = "@jit\ndef copied(numbers):\n    return numbers.copy()\n"
    function = typed_in(f"{copying}@jit\ndef function(numbers):\n    {line}")
    function.callee.compile((NUMBERS,))
    (result,) = function.callee.overloads.values()
    assert result.target_context.enable_nrt == counts


def test_memory_is_kept_and_given_back():
    calls = typed_in("""
@jit
def made(count):
    return np.full((count, 4), 3)
@jit
def row(numbers):
    return numbers[1]
@jit
def total(numbers):
    return numbers[0] + numbers[3]
@jit
def function(count, held):
    mine = row(made(count))
    mine[0] = 1
    return total(mine) + total(row(held))
""")
    held = np.full((5, 4), 2)
    assert calls(2, held) == 1 + 3 + 2 + 2
    references = sys.getrefcount(held)
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        assert all(calls(1000, held) == 8 for _ in range(100))
        after = rtsys.get_allocation_stats()
    finally:
        _nrt_python.memsys_disable_stats()
    assert sys.getrefcount(held) == references
    assert after.mi_alloc - before.mi_alloc == after.mi_free - before.mi_free >= 100
