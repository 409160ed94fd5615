"""The one place where functions are compiled, and where compiled code is kept between processes.

A folder of compiled code carries a hash of all code that can end up in it: the function's module with what it imports,
and the modules with the verbs of the game that it was compiled for. So an edited rule always means a new folder, and an
edited picture, comment or docstring doesn't. A file in it carries a hash of the values that were compiled in: constants
that a module takes from a file, from the environment or from another package. `compiled` reads and writes the files,
and removes old folders.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.core import config as numba_config
from numba.core.registry import cpu_target
from numba.extending import lower_builtin, type_callable

from artus_env.engine.compiling import callees, passes
from artus_env.engine.compiling.cache import KeptCode, tidy, warn_not_kept
from artus_env.engine.compiling.sources import VERSIONS, code_hash, values_hash

ANNOUNCED_AFTER = 1.0
"""Seconds of compiling one function after which a terminal is told why nothing happens."""
ANNOUNCEMENT = "artus_env: compiling for this machine, once; that takes some seconds"

Borrowed = TypeVar("Borrowed", bound="np.ndarray | tuple[Any, ...]")
Function = TypeVar("Function", bound=Callable[..., Any])

config: Any = numba_config  # its attributes are made at run time
DISABLED = bool(config.DISABLE_JIT)
_announced = False


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


class CompiledGame(NamedTuple):
    """A game as compiled code knows it."""

    name: str
    verbs: tuple[Any, ...]

    @property
    def modules(self) -> tuple[str, ...]:
        """Those that its verbs come from."""
        return tuple(sorted({verb.__module__ for verb in self.verbs}))


_games: dict[Any, CompiledGame] = {}  # by the type of a game's tables in compiled code


def register_tables(tables: np.dtype, game: CompiledGame) -> None:
    """Let compiled code know which game's verbs it calls where it is given tables of this type.

    Raises:
        ValueError: If another game with other verbs has tables of this type: compiled code couldn't tell them apart.
    """
    kind = numba.from_dtype(tables)
    known = _games.get(kind, game)
    if known.name != game.name and known.verbs != game.verbs:
        raise ValueError(
            f"the games {game.name} and {known.name} have tables of one type: add a field named after the game to them"
        )
    _games[kind] = game


def game_of(kind: Any) -> CompiledGame | None:
    """The game whose verbs a function calls that is given this: a Numba type or a signature; None: no game's."""
    if isinstance(kind, types.Array):
        kind = kind.dtype
    if isinstance(kind, types.Record):
        return _games.get(kind)
    parts: Any = getattr(kind, "args", getattr(kind, "types", kind))
    found = (game_of(part) for part in parts) if isinstance(parts, tuple) else ()
    return next((game for game in found if game), None)


@cache
def cache_folder(*modules: str) -> Path | None:
    """Where the compiled code of a module's functions lies; None if it isn't known what code that is (see
    `code_hash`), or (with a warning) if there can't be such a folder.

    Args:
        modules: The module's name, and those of the modules with the verbs that were compiled into them.
    """
    codes = [code_hash(name) for name in modules]
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


def _compile(compile: Callable[..., Any], *arguments: Any) -> Any:
    """Compile a function for some types of arguments. Says once in a process, on a terminal, why that takes so long."""
    global _announced
    begun = time.monotonic()
    compiled = compile(*arguments)
    if not _announced and time.monotonic() > begun + ANNOUNCED_AFTER:
        _announced = True
        if sys.stderr and sys.stderr.isatty():
            print(ANNOUNCEMENT, file=sys.stderr, flush=True)
    return compiled


# Since 3.11 Python has the frames of what it calls in pieces of 16 kB and gives the last piece back at once when it is
# empty. Numba's compiler is deep, and in what it calls over and over at the edge of a piece Python would ask the system
# for memory forty thousand times, a tenth of the time until the first move. A frame that needs this many words brings a
# piece of a megabyte, half of which is left for all calls from there.
_compile.__code__ = _compile.__code__.replace(co_stacksize=1 << 16)


def _folder_of(function: Callable[..., Any], signature: Any) -> Path | None:
    game = game_of(signature)
    return cache_folder(function.__module__, *(game.modules if game else ()))


def _values_for(function: Callable[..., Any], signature: Any) -> str:
    """Hash of the values that are compiled into a function for these types of arguments."""
    game = game_of(signature)
    return values_hash(function, *(game.verbs if game else ()))


def jit(function: Function, forceinline: bool = False) -> Function:
    """Compile `function` (nopython, releases the GIL). With `NUMBA_DISABLE_JIT=1` it stays plain Python."""
    if DISABLED:
        return function
    options: Any = {"nogil": True, "error_model": "numpy", "forceinline": forceinline}
    compiled: Any = numba.njit(pipeline_class=callees.LoopCompiler, **options)(function)
    callee: Any = numba.njit(pipeline_class=callees.CalleeCompiler, **options)(function)
    if Path(function.__code__.co_filename).exists():  # what was typed in has no file, and is compiled each time
        kept = partial(_folder_of, function), partial(_values_for, function)
        compiled._cache = KeptCode(function, *kept)
        callee._cache = KeptCode(function, *kept, callees.rebuild)
    compiled.callee = callee
    compiled.compile = partial(_compile, compiled.compile)
    # What compiled code asks the function that it finds in a module.
    compiled.get_call_template, compiled.get_overload = callee.get_call_template, callee.get_overload
    return cast(Function, compiled)


def jit_inlined(function: Function) -> Function:
    """Like `jit`, for a long function in its one caller's loop; short ones the compiler puts into their callers by
    itself. Calls with records and arrays are dear: one game became a sixth faster without those to one such function.
    """
    return jit(function, forceinline=True)


def jit_wrapping(function: Function) -> Function:
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
