"""Optional: rules compile in two thirds of the time and run a tenth faster, by names of Numba's that aren't public.

Importing this module fails where Numba's version hasn't been tried with it, or lacks one of the names: `jit` then uses
plain Numba, which is slower and gives the same results. docs/compiling.md says what each part is for and brings.

- What compiled code calls stays bitcode until a function that Python calls is complete, and becomes machine code with
  that one only. Numba makes machine code and wrappers for Python of every function, and then builds it into its callers
  all the same.
- Compiled code stays on disk between processes, as long as it is known what it was compiled from (see `cache`).
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

TRIED = ((0, 66), (0, 67), (0, 68))
"""Versions of Numba with which the tests of the engine pass."""
NAMES = (
    "CompileResult._rebuild", "CompileResult._reduce", "JITCodeLibrary._finalize_dynamic_globals",
    "JITCodeLibrary._get_module_for_linking", "JITCodeLibrary._optimize_final_module",
    "JITCodeLibrary._optimize_functions", "JITCodeLibrary.enable_object_caching",
    "JITCodeLibrary.serialize_using_object_code", "NullCache.load_overload", "NullCache.save_overload",
)  # fmt: skip
"""Those that are looked for at once, beside `IMPORTED`, which are imported above."""
IMPORTED = ("Compiler", "CompileResult", "JITCodeLibrary", "NullCache", "dumps")
if numba.version_info.short not in TRIED:
    raise ImportError(f"Numba {numba.__version__} hasn't been tried")
for _name in NAMES:
    _owner, _, _attribute = _name.partition(".")
    if _attribute and not hasattr(globals()[_owner], _attribute):
        raise ImportError(f"Numba {numba.__version__} has no {_name}")


# --- what compiled code calls stays bitcode ---------------------------------------------------------------------------


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
        """What `_rebuild_callee` makes a library of: its name and its bitcode."""
        return self.name, self._get_module_for_linking().as_bitcode()


class LoopCompiler(Compiler):
    """Numba's compiler, with a `LoopLibrary`."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.library = LoopLibrary(self.state.targetctx.codegen(), "loop")
        self.state.library.enable_object_caching()


class CalleeCompiler(Compiler):
    """Numba's compiler, without wrappers and with a `CalleeLibrary`."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.flags.no_cpython_wrapper = self.state.flags.no_cfunc_wrapper = True
        self.state.library = CalleeLibrary(self.state.targetctx.codegen(), "callee")


def _rebuild_callee(context: Any, *reduced: Any) -> CompileResult:
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


def compile_function(
    function: Callable[..., Any], options: dict[str, Any], folder: Callable[[Any], Path | None],
    values: Callable[[Any], str],
) -> Any:  # fmt: skip
    """A function that Python calls, with machine code, and that compiled code calls, as bitcode.

    Args:
        options: For `numba.njit`.
        folder, values: Of a signature, see `KeptCode`.
    """
    loop: Any = numba.njit(pipeline_class=LoopCompiler, **options)(function)
    callee: Any = numba.njit(pipeline_class=CalleeCompiler, **options)(function)
    if Path(function.__code__.co_filename).exists():  # what was typed in has no file, and is compiled each time
        loop._cache = KeptCode(function, "loop", folder, values, CompileResult._rebuild)
        callee._cache = KeptCode(function, "callee", folder, values, _rebuild_callee)
    # What compiled code asks the function that it finds in a module.
    loop.get_call_template, loop.get_overload = callee.get_call_template, callee.get_overload
    return loop


# --- compiled code on disk --------------------------------------------------------------------------------------------


class KeptCode(NullCache):
    """What a compiled function asks for its code, in place of Numba's own cache.

    Args:
        function: The plain function; its source is a file.
        kind: "loop" or "callee".
        folder: Where the files for a signature lie, None: they aren't kept. The folder changes with the code that is
            compiled into the function; it may vanish at any time.
        values: Hash of the values that are compiled into the function for a signature.
        rebuild: What makes a result of what its `_reduce` returned.
    """

    def __init__(
        self, function: Callable[..., Any], kind: str, folder: Callable[[Any], Path | None],
        values: Callable[[Any], str], rebuild: Callable[..., CompileResult],
    ) -> None:  # fmt: skip
        self._name = f"{function.__module__}.{function.__qualname__}"
        self._kind, self._folder, self._values, self._rebuild = kind, folder, values, rebuild

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        """The code for some types, None if there is none that is sound."""
        folder = self._folder(sig)
        data = folder and cache.read(folder, self._name, self._key(sig, target_context.codegen()))
        if not data:
            return None
        try:
            target_context.refresh()
            return self._rebuild(target_context, *pickle.loads(data))
        except Exception:  # of another version of LLVM, say: it is compiled again
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code for some types: a `CompileResult`."""
        folder = self._folder(sig)
        if folder and not data.library.has_dynamic_globals:  # addresses of this process
            cache.write(folder, self._name, self._key(sig, data.codegen), dumps(data._reduce()))

    def _key(self, sig: Any, codegen: Any) -> str:
        return repr((self._kind, sig, codegen.magic_tuple(), self._values(sig)))
