"""Record of one game: the fields of every game, and a game's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def state_dtype(seats: int, fields: Sequence[tuple[Any, ...]], score: Any = np.int16) -> np.dtype:
    """Return a structured data type: `scores` (one for each seat), `player` (the player to move), `num_players`,
    `rule_set` (number of the rule set), and a game's own fields. The widest numbers come first, so that they are
    aligned.

    Args:
        seats: Most players of a game.
        fields: The game's own fields, as for `np.dtype`: `(name, type)` or `(name, type, shape)`.
        score: Type of a score.
    """
    required = [("scores", score, (seats,)), *((name, np.int8) for name in ("player", "num_players", "rule_set"))]
    return np.dtype(sorted([*required, *fields], key=lambda field: -np.dtype(field[1]).itemsize))


def partial_state(dtype: np.dtype, **fields: Any) -> np.void:
    """Return a state in which only some fields are set, for rules that read no others. A list fills the beginning of a
    field."""
    state = np.zeros(1, dtype)[0]
    for name, value in fields.items():
        if isinstance(value, list):
            state[name][: len(value)] = value
        else:
            state[name] = value
    return state


def marked(game: str, tables: np.ndarray) -> np.ndarray:
    """Return tables with a field named after the game, by which compiled code distinguishes games: shape (1,),
    read-only.

    Raises:
        ValueError: If the game's tables already have another field of that name.
    """
    # In tables that are already marked, this field is an int8 with the value 0.
    if game in (tables.dtype.names or ()) and (tables.dtype[game] != np.int8 or tables[game].any()):
        raise ValueError(
            f"{game}: tables have a field {game}, which the definition adds itself: give yours another name"
        )
    fields = [name for name in tables.dtype.names or () if name != game]
    new_tables = np.zeros(1, [(game, np.int8), *((name, tables.dtype[name]) for name in fields)])
    for name in fields:
        new_tables[name] = tables[name]
    new_tables.flags.writeable = False
    return new_tables
