"""A played game as one line of JSON that replays to the same game on any machine: the format of the line.

Keys: `game` and `rules_version`; `components`, the hash of the components; `seed`, for information, null if unknown;
`players`, their names, or null; `position`, the first position with all hidden cards; `moves`, as text; `scores`, at
the end. `Game.record` and `Game.replay` write and play them.
"""

from __future__ import annotations

from typing import Any

import msgspec

from artus_env.engine.basics.reading import decode
from artus_env.engine.contract.rng import check_seed

LONGEST = 1 << 20
"""Most bytes of a record that is read; records of real games have about 5 000."""


class RecordError(ValueError):
    """A record that can't be replayed; the message says why."""


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Parts of a record with their types. `Game.replay` checks whether position and moves make sense."""

    game: str
    rules_version: int
    components: str
    seed: int | None
    players: list[str] | None
    position: dict[str, Any]
    moves: list[str]
    scores: list[int]


def read(record: str | bytes) -> Record:
    """Parse a record.

    Raises:
        RecordError: If it isn't a complete record, or a part has another type.
    """
    if not isinstance(record, (str, bytes)):
        raise RecordError(f"not a record: one line of JSON is expected, got {type(record).__name__}")
    if len(record) > LONGEST:
        raise RecordError(f"not a record: longer than {LONGEST} bytes")
    try:
        data = decode(record, Record)
        if data.seed is not None:
            check_seed(data.seed)
    except ValueError as error:
        raise RecordError(f"not a record: {error}") from None
    if data.players is not None and len(data.players) != len(data.scores):
        raise RecordError(f"not a record: {len(data.players)} players are named, {len(data.scores)} have a score")
    return data
