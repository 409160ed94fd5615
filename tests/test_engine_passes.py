"""Numba's passes: which are left out, and that what compiled code calls counts references only where it must."""

import sys
from contextlib import contextmanager

import numba
import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

from artus_env.engine.compiling.jit import DISABLED, borrow, jit

pytestmark = pytest.mark.skipif(DISABLED, reason="nothing is compiled")

NUMBERS = numba.int64[:, ::1]


def typed_in(source):
    """A function without a file: it is compiled each time."""
    names = {"np": np, "jit": jit, "borrow": borrow, "literal_unroll": numba.literal_unroll}
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


@contextmanager
def allocations():
    """A list, with how often memory has been asked for and given back in the end."""
    found = []
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        yield found
        after = rtsys.get_allocation_stats()
    finally:
        _nrt_python.memsys_disable_stats()
    found += [after.mi_alloc - before.mi_alloc, after.mi_free - before.mi_free]


@pytest.mark.parametrize(
    "lines",
    [
        "    def squared(number):\n        return number * number\n    return squared(numbers[0, 1]) + squared(3)",
        "    return np.array([number * number for number in numbers[0]]).sum()",
        "    return np.array([[numbers[i, j] for j in range(2)] for i in range(3)])[1].sum()",
        "    return np.array([numbers[0, 0], 7, numbers[1, 2]]).sum()",
        "    return (numbers[0] * 2 + numbers[1]).sum()",
        "    return np.add(-numbers[0], numbers[1]).sum()",
        "    all = 0\n    for name in literal_unroll(('a', 'b')):\n        all += fields[0][name]\n    return all",
        "    for name in literal_unroll(('a', 'b')):\n        fields[0][name] = 5\n    return fields[0]['b']",
    ],
)
def test_what_only_some_functions_need_is_done_for_them(lines):
    function = typed_in(f"@jit\ndef function(numbers, fields):\n{lines}")
    numbers, fields = np.arange(12).reshape(3, 4), np.array([(3, 4.5)], [("a", np.int64), ("b", np.float64)])
    expected = function.py_func(numbers, fields.copy())
    assert function(numbers, fields.copy()) == expected
    called = f"@jit\ndef called(numbers, fields):\n{lines}\n@jit\ndef function(*given):\n    return called(*given)"
    assert typed_in(called)(numbers, fields.copy()) == expected


def test_arithmetic_with_whole_arrays_makes_no_arrays_in_between():
    function = typed_in("@jit\ndef function(numbers):\n    return numbers * 2 + numbers - 1")
    function(np.arange(5))
    with allocations() as found:
        assert function(np.arange(5)).tolist() == [-1, 2, 5, 8, 11]
    assert found[0] == 2  # what is given, and what is returned


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
    with allocations() as found:
        assert all(calls(1000, held) == 8 for _ in range(100))
    assert sys.getrefcount(held) == references
    assert found[0] == found[1] >= 100
