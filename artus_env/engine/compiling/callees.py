"""What compiled code calls is made small for its callers, and turned into machine code with them only.

Numba makes every function complete before another one may call it, optimised to the end, with machine code and wrappers
for Python and C, and then builds it into its callers all the same: much of the time until the first move. A function
that Python calls is compiled as ever. Callees that are optimised still less save nothing that could be measured: their
callers have to do it.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.core.typed_passes import IRLegalization

from artus_env.engine.compiling.passes import CountNoReferences, Passes


class LoopLibrary(JITCodeLibrary):
    """The code of a function that Python calls, and of all that this calls.

    Loops over players, places or cards are short: told of no number of players, LLVM would make vectors of sixteen of
    them, with code for what is left over, which takes longer to compile and to run.
    """

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager(loop_vectorize=False, slp_vectorize=False)
        passes.run(self._final_module, builder)


class CalleeLibrary(JITCodeLibrary):
    """The code of a function and of all that it calls, as far as its callers need it."""

    def _optimize_functions(self, ll_module: Any) -> None:
        # Numba sets passes up for mere declarations, too, and most functions of a module are no more than that.
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager()
                passes.run(function, builder)

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager(
            opt=0, loop_vectorize=False, slp_vectorize=False, cost="cheap"
        )
        passes.run(self._final_module, builder)

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """0: there is no machine code."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """Where the environments of what runs are set, which this doesn't."""
        return _NoEnvironments()

    def serialize_using_object_code(self) -> tuple[str, bytes]:
        """What `rebuild` makes a library of: its name and its bitcode."""
        return self.name, self._get_module_for_linking().as_bitcode()


class LoopCompiler(Compiler):
    """Numba's compiler, with a `LoopLibrary`."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.library = LoopLibrary(self.state.targetctx.codegen(), "loop")
        self.state.library.enable_object_caching()

    def define_pipelines(self) -> list[Any]:
        passes = Passes(self.state)
        passes.finalize()
        return [passes]


class CalleeCompiler(Compiler):
    """Numba's compiler, without wrappers and with a `CalleeLibrary`."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.flags.no_cpython_wrapper = self.state.flags.no_cfunc_wrapper = True
        self.state.library = CalleeLibrary(self.state.targetctx.codegen(), "callee")

    def define_pipelines(self) -> list[Any]:
        passes = Passes(self.state)
        passes.add_pass_after(CountNoReferences, IRLegalization)
        passes.finalize()
        return [passes]


def rebuild(context: Any, *reduced: Any) -> CompileResult:
    """`CompileResult._rebuild` for what `CalleeCompiler` has compiled."""
    return CompileResult._rebuild(_Rebuilding(context), *reduced)._replace(target_context=context)


class _NoEnvironments:
    def set_env(self, name: str, environment: Any) -> None:
        pass


class _Rebuilding:
    """As much of a target context as it takes to rebuild a function."""

    def __init__(self, context: Any) -> None:
        self.typing_context = context.typing_context
        self.get_executable = context.get_executable
        self._codegen = context.codegen()

    def codegen(self) -> _Rebuilding:
        return self

    def unserialize_library(self, state: tuple[str, bytes]) -> CalleeLibrary:
        name, bitcode = state
        library = CalleeLibrary(self._codegen, name)
        library._final_module = llvm.parse_bitcode(bitcode)
        library._finalize_final_module()
        return library
