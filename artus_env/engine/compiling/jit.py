"""The only place where functions are compiled: by plain Numba, or by `bitcode` if that supports the installed Numba."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba import config as numba_config
from numba.extending import overload

from artus_env.engine.compiling.cache import cache_folder
from artus_env.engine.compiling.sources import values_hash
from artus_env.engine.compiling.tables import game_of

ANNOUNCED_AFTER = 1.0
"""Seconds of compiling one function after which a message on the terminal explains the wait."""
ANNOUNCEMENT = "artus_env: compiling for this machine, once; that takes some seconds"
PLAIN = "ARTUS_PLAIN_NUMBA"
"""Environment variable: with any value but 0, only Numba's public interface is used."""
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
"""For `numba.njit`."""

Function = TypeVar("Function", bound=Callable[..., Any])

config: Any = numba_config  # its attributes are set at run time
DISABLED = bool(config.DISABLE_JIT)
_announced = False


def _bitcode() -> Any:
    if DISABLED or os.environ.get(PLAIN, "0") != "0":
        return None
    try:
        from artus_env.engine.compiling import bitcode
    except ImportError as error:
        logging.getLogger("artus_env").warning(
            "artus_env: %s, so every process compiles the rules anew, with plain Numba", error
        )
        return None
    return bitcode


bitcode = _bitcode()
"""The module `bitcode`; None: plain Numba compiles."""


def jit(function: Function, **options: Any) -> Function:
    """Compile `function` (nopython, releases the GIL). With `NUMBA_DISABLE_JIT=1` it stays plain Python.

    Args:
        function: A function of numbers, texts, arrays and records.
        options: More options for `numba.njit`.
    """
    if DISABLED:
        return function
    if bitcode:
        folder_for, values_hash_for = partial(_folder_for, function), partial(_values_hash_for, function)
        compiled = bitcode.compile_function(function, OPTIONS | options, folder_for, values_hash_for)
    else:
        compiled = numba.njit(**OPTIONS, **options)(function)
    compiled.compile = partial(_compile, compiled.compile)
    return compiled


def jit_inlined(function: Function) -> Function:
    """Like `jit`, for a long function that only one loop calls; the compiler inlines short functions by itself. Calls
    with records and arrays are expensive: a game became 17 % faster without the calls of one such function."""
    return jit(function, forceinline=True)


def jit_wrapping(function: Function) -> Function:
    """Like `jit`, for arithmetic that overflows on purpose: plain Python doesn't warn about it. Only unsigned numbers
    may overflow: the compiler assumes that signed ones don't."""
    return np.errstate(over="ignore")(function) if DISABLED else jit(function)


def chosen_by_types(function: Callable[..., Any], choose: Callable[..., Any]) -> None:
    """Replace a Python function in compiled code by the function that `choose` returns.

    Args:
        choose: Numba types of the arguments -> plain Python function to compile for arguments of these types; None: the
            function doesn't accept these types.
    """
    if not DISABLED:
        options: Any = OPTIONS | {"forceinline": True} | ({"pipeline_class": bitcode.CalleeCompiler} if bitcode else {})
        overload(function, jit_options=options, strict=False)(choose)


def _compile(compile: Callable[..., Any], *arguments: Any) -> Any:
    """Compile a function for some types of arguments. Once per process, a message on the terminal explains a long
    wait."""
    global _announced
    start = time.monotonic()
    compiled = compile(*arguments)
    if not _announced and time.monotonic() > start + ANNOUNCED_AFTER:
        _announced = True
        if sys.stderr and sys.stderr.isatty():
            print(ANNOUNCEMENT, file=sys.stderr, flush=True)
    return compiled


def _folder_for(function: Callable[..., Any], signature: Any) -> Path | None:
    """Folder with the compiled code of a function for these argument types; None: the code isn't kept."""
    game = game_of(signature)
    return cache_folder(function.__module__, *(game.modules if game else ()))


def _values_hash_for(function: Callable[..., Any], signature: Any) -> str:
    """Hash of the values that are compiled into a function for these argument types."""
    game = game_of(signature)
    return values_hash(function, *(game.verbs if game else ()))
