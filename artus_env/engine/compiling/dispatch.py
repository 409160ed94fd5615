"""Verbs: functions that all games have under the same names. The type of the tables determines the game whose function
is called.

Compiled code selects the game's function at compile time, so that a verb costs the same as a direct call; plain Python
looks it up. Passing the functions as arguments would work, too, but Numba never saves code that was compiled so.
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
"""Default of each verb, by its name, for games without a function of that name; None: every game must have one."""
_games: dict[np.dtype, dict[str, Verb]] = {}


def register(game: str, tables: np.dtype, functions: dict[str, Verb]) -> None:
    """Register a game's verbs.

    Args:
        game: Name of the game.
        tables: The type of its tables, different from all other games'.
        functions: The game's functions for all verbs, by the verb's name.

    Raises:
        ValueError: If another game with other verbs has tables of this type.
    """
    register_tables(tables, CompiledGame(game, tuple(functions.values())))
    _games[tables] = functions


def verbs_among(sources: Iterable[Any]) -> dict[str, Verb | None]:
    """Return a function for each verb, by its name: the first one of that name in some modules or objects, else the
    default; None: there is neither."""
    return {
        name: next((getattr(source, name) for source in sources if hasattr(source, name)), default)
        for name, default in DEFAULTS.items()
    }


def functions_of(tables: np.dtype) -> tuple[Verb, ...]:
    """All verbs of the game with these tables, including defaults."""
    return tuple(_games[tables].values())


def as_python(verb: Verb, t: Any, *arguments: Any) -> Any:
    """Return the value of a verb, run as plain Python so that nothing is compiled for it."""
    function = _verb_of(t.dtype, verb.__name__)
    return getattr(function, "py_func", function)(t, *arguments)


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
        def generic(t: Any, *arguments: Any) -> Any:
            return _verb_of(t.dtype, name)(t, *arguments)

        def choose(t: Any, *arguments: Any) -> Verb:
            game_verb = _verb_of(t.dtype, name)
            return lambda t, *arguments: game_verb(t, *arguments)

        chosen_by_types(generic, choose)
        return generic

    return make


def _verb_of(tables: np.dtype, name: str) -> Verb:
    verbs = _games.get(tables)
    if verbs is None:
        raise TypeError(f"{name}: no game has tables of type {tables}; a game's tables come from its definition")
    return verbs[name]
