"""Which game compiled code plays: known by the type of the tables that it is given."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types


class CompiledGame(NamedTuple):
    """A game as compiled code knows it."""

    name: str
    verbs: tuple[Any, ...]

    @property
    def modules(self) -> tuple[str, ...]:
        """Those that its verbs come from."""
        return tuple(sorted({verb.__module__ for verb in self.verbs}))


_games: dict[Any, CompiledGame] = {}


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
