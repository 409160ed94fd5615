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
    kind = numba.from_dtype(tables)
    known = _games.get(kind, game)
    if known.name != game.name and known.verbs != game.verbs:
        raise ValueError(
            f"the games {game.name} and {known.name} have tables of one type: add a field named after the game to them"
        )
    _games[kind] = game


def game_of(kind: Any) -> CompiledGame | None:
    """Return the game whose verbs a function calls with this argument, a Numba type or a signature; None: no game."""
    if isinstance(kind, types.Array):
        kind = kind.dtype
    if isinstance(kind, types.Record):
        return _games.get(kind)
    parts: Any = getattr(kind, "args", getattr(kind, "types", kind))
    found = (game_of(part) for part in parts) if isinstance(parts, tuple) else ()
    return next((game for game in found if game), None)
