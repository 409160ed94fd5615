"""`artus new-game`: write a package with a small game that runs, as the start of another game."""

from __future__ import annotations

import keyword
import re
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from artus_training.options import read_options
from artus_training.usage import UsageError

TEMPLATE = Path(__file__).parent / "template"
NAME = "auction"
"""Name of the game in the template; the name of the new game replaces it in files and in their names."""


@dataclass
class NewGameOptions:
    """Write a package with a small game that runs, and its tests: the start of a game of your own.

    The package is in a new folder, NAME-game.

    Examples:
        artus new-game dragons
    """

    name: Annotated[str, Positional, arg(metavar="NAME")]
    """Name of the game in commands, and of its package: small letters and digits."""


def main(arguments: list[str]) -> int:
    """The command `artus new-game`."""
    chosen = read_options(NewGameOptions, "artus new-game", arguments)
    check_name(chosen.name)
    folder = Path(f"{chosen.name}-game")
    write_game(chosen.name, folder)
    print(f"{folder} has the game {chosen.name}. Try it:")
    print(f"  pip install -e {folder}[test]")
    print(f"  pytest {folder}")
    print(f"  artus play --game {chosen.name}")
    return 0


def check_name(name: str) -> None:
    """Check the name of a new game, which is also the name of its package.

    Raises:
        UsageError: If it has other characters than small letters and digits, or there is such a package already.
    """
    if not re.fullmatch("[a-z][a-z0-9]{0,31}", name) or keyword.iskeyword(name):
        raise UsageError(f"a game's name is at most 32 small letters and digits, a letter first, got {name!r}")
    if name in sys.stdlib_module_names or find_spec(name) is not None:
        raise UsageError(f"there is a Python package {name} already: choose another name")


def write_game(name: str, folder: Path) -> None:
    """Write the package of a game into a new folder.

    Raises:
        UsageError: If the folder is there already.
    """
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise UsageError(f"{folder} is there already") from None
    for path in sorted(TEMPLATE.rglob("*")):
        if path.is_file() and path.suffix in (".md", ".py", ".toml"):
            text = path.read_text(encoding="utf-8")
            for case in (str.lower, str.upper, str.capitalize):
                text = text.replace(case(NAME), case(name))
            target = folder / path.relative_to(TEMPLATE).as_posix().replace(NAME, name)
            target.parent.mkdir(exist_ok=True)
            target.write_text(text, encoding="utf-8")
