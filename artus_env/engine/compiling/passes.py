"""Numba's passes over a function, without what comes to nothing in nearly all of them: a tenth of the time until the
first move."""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType
from typing import Any

from numba import types
from numba.core import ir
from numba.core.compiler import DefaultPassBuilder
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
from numba.core.typed_passes import AnnotateTypes, NopythonRewrites
from numba.core.untyped_passes import InlineClosureLikes

LOOKS: set[Any] = set()
"""Functions with code of their own (see `jit.compile_as`): what they return is a number, part of what they are given,
or an array whose references nobody counts."""


class Passes(PassManager):
    """What Numba's compiler does to a function without Python objects, one pass after the other.

    Numba describes to listeners what each pass is given, flag by flag and down to the fields of records. There are
    none.
    """

    def __init__(self, state: Any) -> None:
        super().__init__("nopython")
        if_needed = {InlineClosureLikes: InlineClosures, NopythonRewrites: RewriteArrays}
        for each, why in DefaultPassBuilder.define_nopython_pipeline(state).passes:
            if each is not AnnotateTypes:  # it writes types beside the source, for people to read
                self.add_pass(if_needed.get(each, each), why)

    def _runPass(self, index: int, each: Any, state: Any) -> None:  # noqa: N802 - Numba's name
        each.analysis = self._analysis
        each.run_initialization(state)
        each.run_pass(state)
        each.run_finalizer(state)


@register_pass(mutates_CFG=True, analysis_only=False)
class InlineClosures(InlineClosureLikes):
    """Numba's pass for functions within a function, and for lists, where there are any."""

    _name = "inline_closures"

    def run_pass(self, state: Any) -> bool:
        nested = any(isinstance(constant, CodeType) for constant in state.func_id.code.co_consts)
        return (nested or _makes_list(state)) and super().run_pass(state)


@register_pass(mutates_CFG=True, analysis_only=False)
class RewriteArrays(NopythonRewrites):
    """Numba's pass for arithmetic with whole arrays, arrays made of lists, and fields named by a variable, where there
    are any."""

    _name = "rewrite_arrays"

    def run_pass(self, state: Any) -> bool:
        return (_makes_list(state) or _reckons_with_arrays(state)) and super().run_pass(state)


def _instructions(state: Any) -> Iterator[Any]:
    return (instruction for block in state.func_ir.blocks.values() for instruction in block.body)


def _makes_list(state: Any) -> bool:
    return any(
        isinstance(found, ir.Assign) and isinstance(found.value, ir.Expr) and found.value.op == "build_list"
        for found in _instructions(state)
    )


def _reckons_with_arrays(state: Any) -> bool:
    def is_text(index: Any) -> bool:
        return isinstance(state.typemap[index.name], types.StringLiteral)

    for found in _instructions(state):
        if isinstance(found, ir.SetItem) and is_text(found.index):
            return True
        if isinstance(found, ir.Assign) and isinstance(found.value, ir.Expr):
            value = found.value
            if value.op == "getitem" and is_text(value.index):
                return True
            if value.op in ("unary", "binop", "call") and isinstance(state.typemap[found.target.name], types.Array):
                return True
    return False


@register_pass(mutates_CFG=False, analysis_only=False)
class CountNoReferences(LoweringPass):
    """Let a function that only looks at arrays, which its caller holds, count no references to them: calls of its own
    for each array that it is given, and as many at its end, which were a tenth of a move."""

    _name = "count_no_references"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        if not _makes_memory(state):
            state.flags.nrt = False
            state.targetctx = state.targetctx.subtarget(enable_nrt=False)
        return True


def _makes_memory(state: Any) -> bool:
    """Whether a function may come to hold memory that nobody else does, or ask for some. In doubt it may."""

    def holds(kind: Any) -> bool:
        return bool(state.targetctx.data_model_manager[kind].contains_nrt_meminfo())

    def looks(value: Any) -> bool:
        """Whether what a value holds is held by somebody else."""
        if not isinstance(value, ir.Expr) or value.op in ("cast", "phi", "getattr", "build_tuple"):
            return True
        if value.op in ("getitem", "static_getitem"):
            index = value.index if value.op == "getitem" else value.index_var
            return index is None or not holds(state.typemap[index.name])
        return value.op == "call" and getattr(state.typemap[value.func.name], "typing_key", None) in LOOKS

    if holds(state.return_type):
        return True
    for node in _instructions(state):
        if isinstance(node, ir.Assign):
            if holds(state.typemap[node.target.name]) and not looks(node.value):
                return True
        elif isinstance(node, ir.SetItem | ir.StaticSetItem):
            if holds(state.typemap[node.value.name]):  # it may be copied first
                return True
        elif isinstance(node, ir.DynamicRaise | ir.DynamicTryRaise):
            return True
    return False
