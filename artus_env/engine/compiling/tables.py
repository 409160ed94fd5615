"""Game for which code is compiled, identified by the type of the tables that it gets."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types


class CompiledGame(NamedTuple):
    """Name and verbs of a game for compiled code."""

    name: str
    verbs: tuple[Any, ...]

    @property
    def modules(self) -> tuple[str, ...]:
        """Modules that define its verbs."""
        return tuple(sorted({verb.__module__ for verb in self.verbs}))


_games: dict[Any, CompiledGame] = {}


def register_tables(tables: np.dtype, game: CompiledGame) -> None:
    """Register the game whose verbs compiled code calls when it gets tables of this type.

    Raises:
        ValueError: If another game with other verbs has tables of this type: compiled code couldn't distinguish them.
    """
    record_type = numba.from_dtype(tables)
    registered = _games.get(record_type, game)
    if registered.name != game.name and registered.verbs != game.verbs:
        raise ValueError(
            f"the games {game.name} and {registered.name} have tables of one type: add a field named after the game to "
            "them"
        )
    _games[record_type] = game


def game_of(numba_type: Any) -> CompiledGame | None:
    """Return the game whose verbs a function calls with this argument, a Numba type or a signature; None: no game."""
    if isinstance(numba_type, types.Array):
        numba_type = numba_type.dtype
    if isinstance(numba_type, types.Record):
        return _games.get(numba_type)
    parts: Any = getattr(numba_type, "args", getattr(numba_type, "types", numba_type))
    games = (game_of(part) for part in parts) if isinstance(parts, tuple) else ()
    return next((game for game in games if game), None)
