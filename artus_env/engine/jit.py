"""The one place where functions are compiled, and where compiled code is kept between processes.

A folder of compiled code carries a hash of all code that can end up in it: the function's module with what it imports,
and the verbs of the game that it was compiled for. So an edited rule always means a new folder, and an edited picture,
comment or docstring doesn't. `compiled` reads and writes the files, and removes old folders.
"""

from __future__ import annotations

import gc
import hashlib
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite.binding import ffi
from numba import types
from numba.core import cgutils, event
from numba.core import config as numba_config
from numba.core.registry import cpu_target
from numba.extending import lower_builtin, type_callable

from artus_env.engine import callees, passes, shortcuts
from artus_env.engine.compiled import KeptCode, tidy, warn_not_kept
from artus_env.engine.sources import VERSIONS, code_hash

ANNOUNCED_AFTER = 1.0
"""Seconds of compiling until it is said that this is why nothing happens."""
ANNOUNCEMENT = "artus_env: compiling for this machine, once; that takes some seconds"

Borrowed = TypeVar("Borrowed", bound="np.ndarray | tuple[Any, ...]")

config: Any = numba_config  # its attributes are made at run time
_listeners: Any = getattr(getattr(ffi.lib, "_lock", None), "_cblist", [])  # to each call of LLVM; llvmlite's own list
DISABLED = bool(config.DISABLE_JIT)


def cache_root() -> Path:
    """Folder for compiled code, with nothing else in it: below `NUMBA_CACHE_DIR` where that is set, else below the
    user's cache folder.
    """
    return Path(config.CACHE_DIR or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "artus_env"


def told_by_environment() -> list[str]:
    """What the environment says to Numba of how to compile."""
    elsewhere = ("NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS")  # where code lies, and who runs it
    return sorted(
        f"{name}={value}" for name, value in os.environ.items() if name.startswith("NUMBA_") and name not in elsewhere
    )


_tables: dict[Any, str] = {}  # by the type of a game's tables in compiled code: the module with its verbs


def register_tables(tables: np.dtype, module: str) -> None:
    """Let compiled code know which module's verbs it calls where it is given tables of this type.

    Raises:
        ValueError: If another module's game has tables of this type: compiled code couldn't tell them apart.
    """
    known = _tables.setdefault(numba.from_dtype(tables), module)
    if known != module:
        raise ValueError(f"{module} and {known} have tables of one type: add a field named after the game to them")


def module_of_tables(kind: Any) -> str | None:
    """The module whose verbs a function calls that is given this: a Numba type or a signature; None: no game's."""
    if isinstance(kind, types.Array):
        kind = kind.dtype
    if isinstance(kind, types.Record):
        return _tables.get(kind)
    parts: Any = getattr(kind, "args", getattr(kind, "types", kind))
    found = (module_of_tables(part) for part in parts) if isinstance(parts, tuple) else ()
    return next((module for module in found if module), None)


@cache
def cache_folder(module: str, game: str | None = None) -> Path | None:
    """Where the compiled code of a module's functions lies; None if it isn't known what code that is (see
    `code_hash`), or (with a warning) if there can't be such a folder.

    Args:
        module: The module's name.
        game: The module with the verbs that were compiled into them.
    """
    codes = [code_hash(name) for name in (module, game) if name]
    if None in codes:
        return None
    try:
        folder = cache_root() / hashlib.sha256(repr((VERSIONS, told_by_environment(), codes)).encode()).hexdigest()[:16]
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home folder
        warn_not_kept(config.CACHE_DIR or "the user's cache folder", error)
        return None
    with suppress(OSError):  # it may be another user's, to read only
        os.utime(folder)  # when it was used last
        tidy(folder)
    return folder


class _Compiling(event.Listener):
    """Says once in a process why it takes so long. Meanwhile two things rest: Python's garbage collector, which would
    look through all that Numba makes again and again, for a tenth of the time, and once more at the end, for a
    twentieth, if it weren't told that all of it is old; and what Numba tells its listeners of each of twenty thousand
    calls to LLVM, for a twentieth."""

    def __init__(self) -> None:
        self._depth = 0
        self._begun = 0.0
        self._collects = False
        self._resting: list[Any] = []
        self._said = False

    def on_start(self, about: Any) -> None:
        if self._depth == 0:
            self._begun = time.monotonic()
            self._collects = gc.isenabled()
            gc.disable()
            self._resting += _listeners
            _listeners.clear()
        self._depth += 1

    def on_end(self, about: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            _listeners.extend(self._resting)
            self._resting.clear()
            if self._collects:
                if gc.get_freeze_count() == 0:  # nobody else's objects become old with Numba's
                    gc.freeze()
                    gc.unfreeze()
                gc.enable()
        if not self._said and time.monotonic() > self._begun + ANNOUNCED_AFTER:
            self._said = True
            print(ANNOUNCEMENT, file=sys.stderr, flush=True)


if not DISABLED:
    event.register("numba:compile", _Compiling())
    shortcuts.take()


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


# Since 3.11 Python has the frames of what it calls in pieces of 16 kB and gives the last piece back at once when it is
# empty. Numba's compiler is deep, and in what it calls over and over at the edge of a piece Python would ask the system
# for memory forty thousand times, a tenth of the time until the first move. A frame that needs this many words brings a
# piece of a megabyte, half of which is left for all calls from there.
_call.__code__ = _call.__code__.replace(co_stacksize=1 << 16)


def _folder_of(function: Callable[..., Any], signature: Any) -> Path | None:
    return cache_folder(function.__module__, module_of_tables(signature))


def jit(function: Callable[..., Any], forceinline: bool = False) -> Callable[..., Any]:
    """Compile `function` (nopython, releases the GIL). With `NUMBA_DISABLE_JIT=1` it stays plain Python."""
    if DISABLED:
        return function
    options: Any = {"nogil": True, "error_model": "numpy", "forceinline": forceinline}
    compiled: Any = numba.njit(pipeline_class=callees.LoopCompiler, **options)(function)
    callee: Any = numba.njit(pipeline_class=callees.CalleeCompiler, **options)(function)
    if Path(function.__code__.co_filename).exists():  # what was typed in has no file, and is compiled each time
        compiled._cache = KeptCode(function, partial(_folder_of, function))
        callee._cache = KeptCode(function, partial(_folder_of, function), callees.rebuild)
    compiled.callee = callee
    compiled.compile = partial(_call, compiled.compile)
    # What compiled code asks the function that it finds in a module.
    compiled.get_call_template, compiled.get_overload = callee.get_call_template, callee.get_overload
    return cast(Callable[..., Any], compiled)


def jit_inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Like `jit`, for a long function in its one caller's loop; short ones the compiler puts into their callers by
    itself. Calls with records and arrays are dear: one game became a sixth faster without those to one such function.
    """
    return jit(function, forceinline=True)


def jit_wrapping(function: Callable[..., Any]) -> Callable[..., Any]:
    """Like `jit`, for arithmetic that overflows on purpose: plain Python must not warn of what machine code does. Only
    unsigned numbers may: of signed ones the compiler takes it that they don't."""
    return np.errstate(over="ignore")(function) if DISABLED else jit(function)


def target() -> tuple[str, list[str]]:
    """The processor that is compiled for, and what it has and hasn't, such as "+bmi2"; nothing without JIT."""
    if DISABLED:
        return "", []
    _, name, features = cpu_target.target_context.codegen().magic_tuple()
    return name, features.split(",")


def compile_as(function: Callable[..., Any], typing: Callable[..., Any], build: Callable[..., Any]) -> None:
    """Put what `build` makes wherever compiled code calls a function.

    Args:
        function: A Python function, which stays what it is without JIT.
        typing: Given the types of its arguments: a Numba signature, to which they are converted; None: they don't fit.
        build: `build(context, builder, signature, arguments)` makes the code and returns the value.
    """
    passes.LOOKS.add(function)
    type_callable(function)(lambda context: typing)
    lower_builtin(function, types.VarArg(types.Any))(build)


def borrow(array: Borrowed) -> Borrowed:
    """The array, or the arrays of a tuple, without their reference counts, for compiled loops over the rows of arrays
    that their caller holds.

    Every row that is passed on would cost two atomic additions to one counter, about as much as a whole move, and two
    threads would wait for each other there.
    """
    return array


def borrowed(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """`borrow` in code that is being made, for a value of any type."""
    if isinstance(kind, types.Array):
        held = context.make_array(kind)(context, builder, value)
        held.meminfo = cgutils.get_null_value(held.meminfo.type)
        return held._getvalue()
    if isinstance(kind, types.BaseTuple):
        parts: Any = kind
        for place, part in enumerate(parts):
            one = borrowed(context, builder, part, builder.extract_value(value, place))
            value = builder.insert_value(value, one, place)
    return value


compile_as(
    borrow,
    lambda array: array(array) if isinstance(array, types.Array | types.BaseTuple) else None,
    lambda context, builder, signature, arguments: borrowed(context, builder, signature.args[0], arguments[0]),
)
