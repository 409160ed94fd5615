"""A played game as one line of JSON that replays to the same game on any machine.

Keys: `game` and `rules_version`; `components`, the hash of the box; `seed`, a note, null if unknown; `players`, who
played, or null; `position`, the first position with all hidden cards; `moves`, as text; `scores`, at the end.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from artus_env.engine.reading import decode, shown
from artus_env.engine.rng import check_seed

if TYPE_CHECKING:
    from artus_env.engine.game import Game

    G = TypeVar("G", bound=Game)

LONGEST = 1 << 20
"""Bytes of a record that is read; those of real games have some 5 000."""


class RecordError(ValueError):
    """A record that can't be replayed; the message says why."""


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The parts of a record, each of its type. Whether position and moves make sense is for `replay` to see."""

    game: str
    rules_version: int
    components: str
    seed: int | None
    players: list[str] | None
    position: dict[str, Any]
    moves: list[str]
    scores: list[int]


def write(game: Game, players: list[str] | None = None) -> str:
    """The record of a game up to now.

    Raises:
        ValueError: If `players` doesn't name every player.
    """
    if players is not None and len(players) != game.num_players:
        raise ValueError(f"players must name {game.num_players} players, got {players}")
    replayed = game.first()
    moves = []
    for action in game.actions_played:
        moves.append(replayed.move(action))
        replayed.play(action)
    return json.dumps(
        {
            "game": game.definition.name,
            "rules_version": game.definition.rules_version,
            "components": game.components.hash,
            "seed": game.seed,
            # Half a letter, as in a file name that is no text, has no place in a record: no reader takes it.
            "players": players and [name.encode(errors="replace").decode() for name in players],
            "position": game.first().to_dict(),
            "moves": moves,
            "scores": game.scores,
        },
        separators=(",", ":"),
    )


def read(record: str | bytes) -> Record:
    """The parts of a record.

    Raises:
        RecordError: If it isn't a whole record, or has a part of another type.
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


def replay(cls: type[G], record: str | bytes, components: Any = None) -> G:
    """Play a record through and check that it ends as it says.

    Raises:
        RecordError: If it can't be replayed: damaged, another box or rules version, an illegal move, other scores.
    """
    data = read(record)
    definition = cls.definition
    components = definition.box(components)
    for key, found, expected in (
        ("game", data.game, definition.name),
        ("rules_version", data.rules_version, definition.rules_version),
        ("components", data.components, components.hash),
    ):
        if found != expected:
            raise RecordError(f"{key} is {shown(found)}, but this is {expected!r}")
    try:
        game = cls.from_dict(data.position, components)
    except ValueError as error:
        raise RecordError(f"position: {error}") from None
    game.seed = data.seed
    for number, move in enumerate(data.moves):
        try:
            game.play(move)
        except ValueError as error:
            raise RecordError(f"move {number + 1} of {len(data.moves)}: {error}") from None
    if game.scores != data.scores:
        raise RecordError(f"the scores at the end are {game.scores}, but the record says {shown(data.scores)}")
    return game
