"""Optional use of private names of Numba: rules compile in about 67 % of the time, to code that is about 10 % faster.

Importing this module fails if it wasn't tested with the installed version of Numba, or if one of the names is missing:
`jit` then uses plain Numba, which is slower and gives the same results. docs/compiling.md explains the purpose and the
gain of each part.

- Functions called from compiled code stay bitcode until a function that Python calls is complete, and become machine
  code only as part of it. Numba makes machine code and Python wrappers for every function, although it also inlines
  them into their callers.
- Compiled code stays on disk between processes, if the code that it was compiled from is known (see `cache`).
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.core.serialize import dumps

from artus_env.engine.compiling import cache

TESTED_VERSIONS = ((0, 66), (0, 67), (0, 68))
"""Versions of Numba with which the tests of the engine pass."""
NAMES = (
    "CompileResult._rebuild", "CompileResult._reduce", "JITCodeLibrary._finalize_dynamic_globals",
    "JITCodeLibrary._get_module_for_linking", "JITCodeLibrary._optimize_final_module",
    "JITCodeLibrary._optimize_functions", "JITCodeLibrary.enable_object_caching",
    "JITCodeLibrary.serialize_using_object_code", "NullCache.load_overload", "NullCache.save_overload",
)  # fmt: skip
"""Names checked here; those in `IMPORTED` are checked by the imports above."""
IMPORTED = ("Compiler", "CompileResult", "JITCodeLibrary", "NullCache", "dumps")
if numba.version_info.short not in TESTED_VERSIONS:
    raise ImportError(f"Numba {numba.__version__} hasn't been tried")
for _name in NAMES:
    _owner, _, _attribute = _name.partition(".")
    if _attribute and not hasattr(globals()[_owner], _attribute):
        raise ImportError(f"Numba {numba.__version__} has no {_name}")


# --- functions called from compiled code stay bitcode -----------------------------------------------------------------


class LoopLibrary(JITCodeLibrary):
    """Code of a function that Python calls, and of all functions that it calls.

    Loops over players, places or cards are short. LLVM doesn't know that, and would vectorize them by sixteen, with
    code for the remainder, which takes longer to compile and to run.
    """

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager(loop_vectorize=False, slp_vectorize=False)
        passes.run(self._final_module, builder)


class CalleeLibrary(JITCodeLibrary):
    """Code of a function and of all functions that it calls, in the form that its callers need."""

    def _optimize_functions(self, ll_module: Any) -> None:
        # Numba sets up passes for declarations, too, and most functions of a module are only declared.
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
        """Return 0: there is no machine code."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """A code generator that sets no environments: only machine code needs them."""
        return _NoEnvironments()

    def serialize_using_object_code(self) -> tuple[str, bytes]:
        """Return the arguments from which `_rebuild_callee` makes a library: its name and its bitcode."""
        return self.name, self._get_module_for_linking().as_bitcode()


class LoopCompiler(Compiler):
    """Numba's compiler, with a `LoopLibrary`."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.library = LoopLibrary(self.state.targetctx.codegen(), "loop")
        self.state.library.enable_object_caching()


class CalleeCompiler(Compiler):
    """Numba's compiler, with a `CalleeLibrary` and without wrappers."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.flags.no_cpython_wrapper = self.state.flags.no_cfunc_wrapper = True
        self.state.library = CalleeLibrary(self.state.targetctx.codegen(), "callee")


def _rebuild_callee(context: Any, *reduced: Any) -> CompileResult:
    """`CompileResult._rebuild` for results of `CalleeCompiler`."""
    return CompileResult._rebuild(_Rebuilding(context), *reduced)._replace(target_context=context)


class _NoEnvironments:
    def set_env(self, name: str, environment: Any) -> None:
        pass


class _Rebuilding:
    """The parts of a target context that are needed to rebuild a function."""

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


def compile_function(
    function: Callable[..., Any], options: dict[str, Any], folder_for: Callable[[Any], Path | None],
    values_hash_for: Callable[[Any], str],
) -> Any:  # fmt: skip
    """Compile a function to machine code for Python and to bitcode for compiled callers.

    Args:
        options: For `numba.njit`.
        folder_for, values_hash_for: See `KeptCode`.
    """
    loop: Any = numba.njit(pipeline_class=LoopCompiler, **options)(function)
    callee: Any = numba.njit(pipeline_class=CalleeCompiler, **options)(function)
    if Path(function.__code__.co_filename).exists():  # code typed in at a prompt has no file
        loop._cache = KeptCode(function, "loop", folder_for, values_hash_for, CompileResult._rebuild)
        callee._cache = KeptCode(function, "callee", folder_for, values_hash_for, _rebuild_callee)
    # Compiled callers find `loop` in the module and use these two attributes.
    loop.get_call_template, loop.get_overload = callee.get_call_template, callee.get_overload
    return loop


# --- compiled code on disk --------------------------------------------------------------------------------------------


class KeptCode(NullCache):
    """Disk cache of a compiled function, in place of Numba's own.

    Args:
        function: The plain function; its source is a file.
        kind: "loop" or "callee".
        folder_for: signature -> folder of its files; None: they aren't kept. The folder changes with the code that is
            compiled into the function; it may vanish at any time.
        values_hash_for: signature -> hash of the values that are compiled into the function for this signature.
        rebuild: Function that makes a `CompileResult` from the target context and the output of its `_reduce`.
    """

    def __init__(
        self, function: Callable[..., Any], kind: str, folder_for: Callable[[Any], Path | None],
        values_hash_for: Callable[[Any], str], rebuild: Callable[..., CompileResult],
    ) -> None:  # fmt: skip
        self._name = f"{function.__module__}.{function.__qualname__}"
        self._kind, self._folder_for, self._values_hash_for, self._rebuild = kind, folder_for, values_hash_for, rebuild

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        """Return the code for these argument types; None if it is missing or damaged."""
        folder = self._folder_for(sig)
        data = folder and cache.read(folder, self._name, self._key(sig, target_context.codegen()))
        if not data:
            return None
        try:
            target_context.refresh()
            return self._rebuild(target_context, *pickle.loads(data))
        except Exception:  # from another version of LLVM, for example: it is compiled again
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save the code for these argument types: a `CompileResult`."""
        folder = self._folder_for(sig)
        if folder and not data.library.has_dynamic_globals:  # dynamic globals are addresses of this process
            cache.write(folder, self._name, self._key(sig, data.codegen), dumps(data._reduce()))

    def _key(self, sig: Any, codegen: Any) -> str:
        return repr((self._kind, sig, codegen.magic_tuple(), self._values_hash_for(sig)))
