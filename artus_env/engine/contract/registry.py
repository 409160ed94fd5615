"""Games by name: any installed package can add one, as an entry point of the group `artus.games`."""

from __future__ import annotations

import copyreg
from functools import cache
from importlib.metadata import entry_points

from artus_env.engine.basics.reading import shown
from artus_env.engine.basics.wording import did_you_mean
from artus_env.engine.contract.definition import Definition

GROUP = "artus.games"
DEFAULT_GAME = "artus"
"""Name of the game that is played if none is given."""


def game_names() -> list[str]:
    """Names of all installed games."""
    return sorted({entry.name for entry in entry_points(group=GROUP)})


def game_modules() -> dict[str, str]:
    """Module of each installed game, by the game's name. Nothing is imported."""
    return {entry.name: entry.module for entry in reversed(tuple(entry_points(group=GROUP)))}  # the first one counts


def class_prefix(game: str) -> str:
    """Beginning of the names of a game's classes: `SecretLot` for `secret-lot`."""
    return "".join(part.capitalize() for part in game.split("-"))


def find_game(game: str | Definition | None = None) -> Definition:
    """Return a game's definition for its name, or the definition itself; None: the default game's.

    Raises:
        ValueError: If there is no such game; the message suggests similar names and lists the installed ones.
        TypeError: If the object with this name isn't a definition, or is a definition with another name.
    """
    return game if isinstance(game, Definition) else _load(DEFAULT_GAME if game is None else game)


@cache
def _load(name: str) -> Definition:
    for entry in entry_points(group=GROUP):
        if entry.name == name:
            definition = entry.load()
            if not isinstance(definition, Definition):
                raise TypeError(f"game {name!r}: {entry.value} is no Definition, got {shown(definition)}")
            if definition.name != name:
                raise TypeError(f"game {name!r}: {entry.value} calls itself {definition.name!r}")
            return definition
    names = game_names()
    guess = did_you_mean(name, names) or ";"
    raise ValueError(f"there is no game {shown(name)}{guess} installed are: {', '.join(names) or 'none'}")


# A game is the same in every process: only its name is pickled.
copyreg.pickle(Definition, lambda definition: (find_game, (definition.name,)))
