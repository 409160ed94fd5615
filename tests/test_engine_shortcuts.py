"""What Numba is told, or finds out a shorter way, is what it would have found out itself."""

import json
import subprocess
import sys

import numba
import numpy as np
import pytest

from artus_env.engine.jit import DISABLED

pytestmark = pytest.mark.skipif(DISABLED, reason="nothing is compiled")

ASK = """
import json, operator
from numba import types
from numba.core.registry import cpu_target

KINDS = [types.int8, types.int16, types.int32, types.int64, types.uint8, types.uint64, types.boolean, types.float32,
         types.float64, types.literal(3), types.literal(-3)]
NAMES = ("add sub mul and_ or_ xor lshift rshift iadd isub imul iand ior ixor ilshift irshift lt le gt ge eq ne "
         "floordiv mod truediv")

def found(function, *kinds):
    try:
        return str(context.resolve_function_type(context.resolve_value_type(function), kinds, {}).return_type)
    except Exception as error:
        return type(error).__name__

context = cpu_target.typing_context
cpu_target.target_context.refresh()
two = [min, max, *(getattr(operator, name) for name in NAMES.split())]
answers = {f"int({kind})": found(int, kind) for kind in KINDS}
answers |= {f"{function.__name__}({a}, {b})": found(function, a, b) for function in two for a in KINDS for b in KINDS}
print(json.dumps(answers))
"""


LIST_VARIABLES = """import json
from numba.core import ir
from numba.core.compiler import run_frontend

def many_instructions(a, b, *rest):
    total, parts = 0, [a, (b, a)]
    for one in rest:
        if one > a and not parts:
            total += max(one, b, key=len)
        parts[0] = a[one:b]
        total -= {a: one, "b": (b, total)}["b"][1]
    del parts
    return f"{total} of {a}", rest

instructions = [one for block in run_frontend(many_instructions).blocks.values() for one in block.body]
instructions += [one.value for one in instructions if isinstance(getattr(one, "value", None), ir.Inst)]
print(json.dumps([[str(one), [variable.name for variable in one.list_vars()]] for one in instructions]))
"""


def answers(first, ask=ASK):
    found = subprocess.run([sys.executable, "-c", first + ask], capture_output=True, text=True, check=True)
    return json.loads(found.stdout)


def test_the_variables_of_instructions_are_those_that_numba_lists_itself():
    numbas = answers("", LIST_VARIABLES)
    assert len(numbas) > 50
    assert any(len(variables) > 3 for _, variables in numbas)
    assert answers("import artus_env; ", LIST_VARIABLES) == numbas


def test_all_types_are_those_that_numba_finds_itself():
    numbas = answers("")
    assert numbas["int(int8)"] == numbas["min(int8, int8)"] == "int8"
    assert numbas["add(int64, int64)"] == "int64"
    assert answers("import artus_env\n") == numbas


def whole_numbers(a, b):
    return min(a, b), max(a, b), int(a), a + b, a - b, a * b, a & b, a | b, a ^ b, a << 3, a >> 3, a < b, a == b


@pytest.mark.parametrize("kind", [np.int8, np.int64])
@pytest.mark.parametrize(("a", "b"), [(3, 5), (5, 3), (-7, 2), (-7, -7), (-128, 127), (127, -128)])
def test_values_are_those_of_python(kind, a, b):
    found = numba.njit(whole_numbers)(kind(a), kind(b))
    assert list(found) == list(whole_numbers(a, b))


@pytest.mark.parametrize("kinds", [(np.uint8, np.uint8), (np.uint64, np.uint64), (np.int64, np.uint8)])
def test_the_less_and_the_greater_are_those_of_python_without_signs(kinds):
    """Numba's own choice of them stands: of unsigned numbers the greatest look negative."""
    ends = numba.njit(lambda a, b: (min(a, b), max(a, b)))
    one, great = kinds[0](1), kinds[1](np.iinfo(kinds[1]).max)
    assert ends(one, great) == ends(great, one) == (1, great)
