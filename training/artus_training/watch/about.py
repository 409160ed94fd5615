"""`artus games`, `artus rules` and `artus tables`: the installed games and their tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from artus_env import DEFAULT_GAME
from artus_env.engine.basics.wording import did_you_mean
from artus_env.engine.basics.writing import write_atomically
from artus_env.engine.contract.registry import find_game, game_names
from artus_training.options import read_options
from artus_training.tables import as_text, table
from artus_training.usage import UsageError
from artus_training.watch.doc_tables import fill, tables_of


@dataclass
class GamesOptions:
    """List the installed games: names, players, rule sets.

    Examples:
        artus games
    """


def games(arguments: list[str]) -> int:
    """The command `artus games`: a line for each installed game."""
    read_options(GamesOptions, "artus games", arguments)
    rows = [("game", "title", "players", "rule sets")]
    for name in game_names():
        game = find_game(name)
        fewest, most = game.min_players, game.max_players
        players = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        rows.append((name, game.title, players, ", ".join(game.rules)))
    print(as_text(table(rows)))
    return 0


@dataclass
class RulesOptions:
    """Print the tables of a game: its box, its actions, its rewards.

    Examples:
        artus rules
        artus rules actions rewards
    """

    tables: Annotated[tuple[str, ...], Positional, arg(metavar="[TABLE ...]")] = ()
    """Titles of the tables; unless given, all."""
    game: str = DEFAULT_GAME
    """The game; `artus games` lists all."""


def rules(arguments: list[str]) -> int:
    """The command `artus rules`: the tables of a game."""
    chosen = read_options(RulesOptions, "artus rules", arguments)
    try:
        made = tables_of(find_game(chosen.game))
    except ValueError as error:
        raise UsageError(str(error)) from None
    unknown = [name for name in chosen.tables if name not in made]
    if unknown:
        guess = did_you_mean(unknown[0], made) or ";"
        raise UsageError(f"there is no table {unknown[0]!r}{guess} there are {', '.join(made)}")
    print("\n\n".join(f"{name}\n\n{aligned(made[name]())}" for name in chosen.tables or made))
    return 0


@dataclass
class TablesOptions:
    """Update the tables in Markdown files, between `<!-- table: NAME -->` and `<!-- end -->`.

    NAME is the name of one of the game's tables, see `artus rules`, or GAME/NAME.

    Examples:
        artus tables docs/*.md
    """

    files: Annotated[tuple[Path, ...], Positional, arg(metavar="FILE ...", help_behavior_hint="(required)")]
    """The Markdown files."""
    game: str = DEFAULT_GAME
    """The game of tables marked with NAME alone; `artus games` lists all."""


def tables(arguments: list[str]) -> int:
    """The command `artus tables`: generated tables in Markdown files."""
    chosen = read_options(TablesOptions, "artus tables", arguments)
    for path in chosen.files:
        try:
            text = path.read_text(encoding="utf-8")
            made = fill(text, find_game(chosen.game))
        except ValueError as error:
            raise UsageError(f"{path}: {error}") from None
        if made != text:
            write_atomically(path, made.encode())
    return 0


def aligned(markdown: str) -> str:
    """A Markdown table as text; other lines follow below it."""
    lines = re.sub(r"`|\*\*", "", markdown).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    cells = [row for row in cells if any(cell.strip("-") for cell in row)]  # skip the line of dashes
    below = [line for line in lines if not line.startswith("|")]
    return as_text(*([table(cells)] if cells else []), *below)
