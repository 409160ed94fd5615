"""The one place where functions are compiled, and where compiled code is kept between processes.

Numba's own disk cache looks only at the file of the function that was compiled. A function of another file that was
inlined into it, or a global, can change without the cache noticing. Here the cache folder carries a hash of every
source file that can end up in compiled code, so that an edited rule always means a new folder. `compiled` reads and
writes the files in it, and removes old folders.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.core import config as numba_config
from numba.extending import intrinsic, overload

from artus_env.engine.compiled import KeptCode, tidy, warn_not_kept

config: Any = numba_config  # its attributes are made at run time
PACKAGE = Path(__file__).resolve().parents[1]
DISABLED = bool(config.DISABLE_JIT)


def source_hash(*packages: Path) -> str:
    """Hash of all sources of some packages and of the versions that compile them (16 hex digits)."""
    digest = hashlib.sha256(f"{sys.version} {np.__version__} {numba.__version__}".encode())
    for package in packages:
        for path in sorted(package.rglob("*.py")):
            digest.update(str(path.relative_to(package)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_root() -> Path:
    """Folder for compiled code, with nothing else in it: below `NUMBA_CACHE_DIR` where that is set, else below the
    user's cache folder.
    """
    return Path(config.CACHE_DIR or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "artus_env"


@cache
def cache_folder(package: str) -> Path | None:
    """Where the compiled code of a package lies, None (and a warning) if there can't be such a folder.

    Functions of other packages inline the rules, so their folder depends on this package's sources and their own.
    """
    sources = [PACKAGE]
    path = getattr(sys.modules.get(package), "__path__", None)
    if path and Path(path[0]).resolve() != PACKAGE:
        sources.append(Path(path[0]).resolve())
    try:
        folder = cache_root() / source_hash(*sources)
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home folder
        warn_not_kept(config.CACHE_DIR or "the user's cache folder", error)
        return None
    with suppress(OSError):  # it may be another user's, to read only
        os.utime(folder)  # when it was used last
        tidy(folder)
    return folder


def jit(function: Callable[..., Any], parallel: bool = False) -> Callable[..., Any]:
    """Compile `function` (nopython, releases the GIL). With `NUMBA_DISABLE_JIT=1` it stays plain Python."""
    if DISABLED:
        return function
    compiled: Callable[..., Any] = numba.njit(nogil=True, error_model="numpy", parallel=parallel)(function)
    folder = cache_folder(function.__module__.partition(".")[0])
    if folder is not None and Path(function.__code__.co_filename).exists():  # what was typed in is compiled each time
        compiled._cache = KeptCode(function, folder)  # type: ignore[attr-defined]
    return compiled


def jit_parallel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Like `jit`, for loops with `numba.prange`. Call them only through `workers.run_shares`."""
    return jit(function, parallel=True)


def jit_wrapping(function: Callable[..., Any]) -> Callable[..., Any]:
    """Like `jit`, for arithmetic that overflows on purpose: plain Python must not warn of what machine code does."""
    return np.errstate(over="ignore")(function) if DISABLED else jit(function)


def borrow(array: np.ndarray) -> np.ndarray:
    """The array without its reference count, for compiled loops over the rows of arrays that their caller holds.

    Every row that is passed on would cost two atomic additions to one counter, about as much as a whole move, and two
    threads would wait for each other there.
    """
    return array


@intrinsic
def _borrow(context: Any, array: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        held = context.make_array(signature.args[0])(context, builder, arguments[0])
        held.meminfo = cgutils.get_null_value(held.meminfo.type)
        return held._getvalue()

    return array(array), codegen


@overload(borrow)
def _typed_borrow(array):
    if isinstance(array, types.Array):
        return lambda array: _borrow(array)  # type: ignore[call-arg]
    return None
