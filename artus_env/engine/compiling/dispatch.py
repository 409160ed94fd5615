"""Verbs: functions that all games have under the same name, each with its own, chosen by the type of the game's tables.

Compiled code selects the game's function at compile time, so that a verb costs the same as a direct call; plain Python
looks it up. Functions as arguments would do the same, but code compiled with them is never saved on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import numpy as np

from artus_env.engine.compiling.jit import chosen_by_types, jit
from artus_env.engine.compiling.tables import CompiledGame, register_tables

Verb = Callable[..., Any]

DEFAULTS: dict[str, Verb | None] = {}
"""Functions for games without their own, by name; None: every game must have it."""
_games: dict[np.dtype, dict[str, Verb]] = {}


def register(game: str, tables: np.dtype, found: dict[str, Verb]) -> None:
    """Register a game's verbs.

    Args:
        game: Its name.
        tables: The type of its tables, different from all other games'.
        found: All verbs, by name.

    Raises:
        ValueError: If another game with other verbs has tables of this type.
    """
    register_tables(tables, CompiledGame(game, tuple(found.values())))
    _games[tables] = found


def verbs_among(sources: Iterable[Any]) -> dict[str, Verb | None]:
    """Return all verbs by name: the first function of that name in some modules or objects, else the default; None:
    neither."""
    return {
        name: next((getattr(source, name) for source in sources if hasattr(source, name)), default)
        for name, default in DEFAULTS.items()
    }


def functions_of(tables: np.dtype) -> tuple[Verb, ...]:
    """All verbs of the game with these tables, including defaults."""
    return tuple(_games[tables].values())


def as_python(verb: Verb, t: Any, *rest: Any) -> Any:
    """Return the value of a verb, run as plain Python so that nothing is compiled for it."""
    function = _of(t.dtype, verb.__name__)
    return getattr(function, "py_func", function)(t, *rest)


def verb(required: bool) -> Callable[[Verb], Verb]:
    """Turn a function into a verb that calls the function of the game whose tables it gets, in compiled code and in
    Python.

    Args:
        required: Whether every game must have its own; if not, the function itself is the default.
    """

    def make(function: Verb) -> Verb:
        name = function.__name__
        DEFAULTS[name] = None if required else jit(function)

        @wraps(function)
        def generic(t: Any, *rest: Any) -> Any:
            return _of(t.dtype, name)(t, *rest)

        def choose(t: Any, *rest: Any) -> Verb:
            chosen = _of(t.dtype, name)
            return lambda t, *rest: chosen(t, *rest)

        chosen_by_types(generic, choose)
        return generic

    return make


def _of(tables: np.dtype, name: str) -> Verb:
    verbs = _games.get(tables)
    if verbs is None:
        raise TypeError(f"{name}: no game has tables of type {tables}; a game's tables come from its definition")
    return verbs[name]
