"""A played game as one line of JSON that replays to the same game on any machine.

Keys: `game` and `rules_version`; `components`, the hash of the box; `seed`, a note, null if unknown; `players`, who
played, or null; `position`, the first position with all hidden cards; `moves`, as text; `scores`, at the end.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from artus_env.engine.game import Game

    G = TypeVar("G", bound=Game)

KEYS = ("game", "rules_version", "components", "seed", "players", "position", "moves", "scores")


class RecordError(ValueError):
    """A record that can't be replayed; the message says why."""


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
            "players": players,
            "position": game.first().to_dict(),
            "moves": moves,
            "scores": game.scores,
        },
        separators=(",", ":"),
    )


def read(record: str) -> dict[str, Any]:
    """The parts of a record.

    Raises:
        RecordError: If it isn't a whole record.
    """
    try:
        data = json.loads(record)
    except (ValueError, TypeError, RecursionError) as error:  # also numbers too long and brackets too deep for Python
        raise RecordError(f"not a record, one line of JSON is expected: {error}") from None
    if not isinstance(data, dict) or set(data) != set(KEYS):
        have = sorted(data) if isinstance(data, dict) else type(data).__name__
        raise RecordError(f"a record has the keys {', '.join(KEYS)}, got {have}")
    if not isinstance(data["moves"], list) or not all(isinstance(move, str) for move in data["moves"]):
        raise RecordError("moves must be a list of texts")
    return data


def replay(cls: type[G], record: str, components: Any = None) -> G:
    """Play a record through and check that it ends as it says.

    Raises:
        RecordError: If it can't be replayed: damaged, another box or rules version, an illegal move, other scores.
    """
    data = read(record)
    definition = cls.definition
    components = definition.box(components)
    for key, expected in (
        ("game", definition.name),
        ("rules_version", definition.rules_version),
        ("components", components.hash),
    ):
        if data[key] != expected:
            raise RecordError(f"{key} is {data[key]!r}, but this is {expected!r}")
    try:
        game = cls.from_dict(data["position"], components)
    except ValueError as error:
        raise RecordError(f"position: {error}") from None
    game.seed = data["seed"]
    for number, move in enumerate(data["moves"]):
        try:
            game.play(move)
        except ValueError as error:
            raise RecordError(f"move {number + 1} of {len(data['moves'])}: {error}") from None
    if game.scores != data["scores"]:
        raise RecordError(f"the scores at the end are {game.scores}, but the record says {data['scores']}")
    return game
