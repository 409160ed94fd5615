"""What Numba finds out about whole numbers the long way, told at once: a tenth of the time until the first move.

Numba knows `int`, `min` and `max` as functions that it compiles for each type that they are called with, asks NumPy's
rules about each sum of two numbers, and looks through all that it has ever been told whenever it holds an array in a
variable, in vain. What is said here is what it comes to, so nothing else changes, also in code that isn't ours. A
twentieth more it takes to list the variables of instructions again and again, which goes in half of that, and a
fortieth to ask the same functions for their signatures and to sort the same templates.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from numba import types
from numba.core import ir, utils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin

_ARITHMETIC = "add sub mul and_ or_ xor lshift rshift iadd isub imul iand ior ixor ilshift irshift"
_COMPARISONS = "lt le gt ge eq ne"
PAIR = (types.int64, types.int64)


def _told(function: Any, typing: Callable[..., Any]) -> None:
    """Let Numba ask `typing(*types of arguments)` first for what a call of a function comes to; None: something else
    has to say."""

    class Told(AbstractTemplate):
        key = function
        metadata = {"target": "cpu"}  # what is said of a processor comes before what is said of any

        def generic(self, args: tuple[Any, ...], kws: Any) -> Any:
            return None if kws else typing(*args)

    infer_global(function)(Told)


def _of_int(*given: Any) -> Any:
    if len(given) == 1 and isinstance(given[0], types.Integer):
        kind = types.unliteral(given[0])
        return signature(kind, kind)
    return None


def _of_two(*given: Any) -> Any:
    kinds: list[Any] = [types.unliteral(kind) for kind in given if isinstance(kind, types.Integer)]
    if len(kinds) == len(given) == 2 and all(kind.signed for kind in kinds):
        widest = max(kinds, key=lambda kind: kind.bitwidth)
        return signature(widest, widest, widest)
    return None


def _first(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return arguments[0]


def _choosing(comparison: str) -> Callable[..., Any]:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.select(builder.icmp_signed(comparison, *arguments), *arguments)

    return build


def _operation(result: Any) -> Callable[..., Any]:
    known = signature(result, *PAIR)
    return lambda *given: known if given == PAIR else None


_SIMPLE, _VARIABLE, _INSTRUCTION, _PARTS = range(4)
_sorts: dict[type, int] = {}  # what Numba's classes are, of which it has many and asks for one after the other


def _sort_of(kind: type) -> int:
    sorts = {ir.Var: _VARIABLE, ir.Inst: _INSTRUCTION, list: _PARTS, tuple: _PARTS, dict: _PARTS}
    return next((sort for known, sort in sorts.items() if issubclass(kind, known)), _SIMPLE)


def _variables(self: ir.Inst, value: Any) -> list[ir.Var]:
    """`Inst._rec_list_vars`: the variables in a part of an instruction, in their order."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else (value,)
    found = []
    for part in parts:
        kind = type(part)
        if kind not in _sorts:
            _sorts[kind] = _sort_of(kind)
        sort = _sorts[kind]
        if sort == _VARIABLE:
            found.append(part)
        elif sort == _INSTRUCTION:
            found += part.list_vars()
        elif sort != _SIMPLE:
            found += _variables(self, part)
    return found


_sort_templates: Any = utils.order_by_target_specificity


@cache
def _sorted_templates(target: Any, templates: tuple[Any, ...], name: Any) -> list[Any]:
    return _sort_templates(target, list(templates), name)


def _templates_in_order(target: Any, templates: list[Any], fnkey: Any = "") -> list[Any]:
    """`utils.order_by_target_specificity`: what is said of a function, the most special first."""
    return _sorted_templates(target, tuple(templates), fnkey)


def take() -> None:
    """Tell Numba all of it, once in a process."""
    lower_builtin("__array__", types.Array)(_first)  # an array, held as one that may be of a class of its own: itself
    lower_builtin(int, types.Integer)(_first)
    _told(int, _of_int)
    for function, comparison in ((min, "<"), (max, ">")):
        lower_builtin(function, types.Integer, types.Integer)(_choosing(comparison))
        _told(function, _of_two)
    for names, result in ((_ARITHMETIC, types.int64), (_COMPARISONS, types.boolean)):
        for name in names.split():
            _told(getattr(operator, name), _operation(result))
    known: Any = utils
    known.pysignature = lru_cache(1024)(utils.pysignature)
    known.order_by_target_specificity = _templates_in_order
    instruction: Any = ir.Inst
    instruction._rec_list_vars = _variables
