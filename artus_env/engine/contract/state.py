"""The record of one game: what every game has in it, beside a game's own fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def state_dtype(seats: int, fields: Sequence[tuple[Any, ...]], score: Any = np.int16) -> np.dtype:
    """A structured data type: `scores` (one for each seat), `player` (who is to move), `num_players`, `rule_set`
    (number of the rule set), and a game's own fields. The widest numbers come first, so that they lie aligned.

    Args:
        seats: Players that a game can have at most.
        fields: The game's own, as for `np.dtype`: `(name, type)` or `(name, type, shape)`.
        score: Type of a score.
    """
    required = [("scores", score, (seats,)), *((name, np.int8) for name in ("player", "num_players", "rule_set"))]
    return np.dtype(sorted([*required, *fields], key=lambda field: -np.dtype(field[1]).itemsize))


def marked(game: str, tables: np.ndarray) -> np.ndarray:
    """Tables with a field named after the game, by which compiled code tells games apart: shape (1,), read-only.

    Raises:
        ValueError: If the game has a field of that name itself.
    """
    # Tables that have been marked already have an int8 that is 0.
    if game in (tables.dtype.names or ()) and (tables.dtype[game] != np.int8 or tables[game].any()):
        raise ValueError(
            f"{game}: tables have a field {game}, which the definition adds itself: give yours another name"
        )
    fields = [name for name in tables.dtype.names or () if name != game]
    made = np.zeros(1, [(game, np.int8), *((name, tables.dtype[name]) for name in fields)])
    for name in fields:
        made[name] = tables[name]
    made.flags.writeable = False
    return made
