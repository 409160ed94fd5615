"""Update the generated tables in Markdown files, between `<!-- table: NAME -->` and `<!-- end -->`.

    python tools/tables.py README.md docs/*.md

NAME is `ladder` or the name of another table of the default game (see `artus rules`), GAME/NAME for a table of another
game, or `settings` for the settings of trainings.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from artus_env import DEFAULT_GAME
from artus_env.engine.basics.reading import printable, shown
from artus_env.engine.basics.writing import write_atomically
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import find_game
from artus_training.arena.ladder import Entry, Interval, Ladder, read_ladder
from artus_training.arena.statistics import ANCHOR, ANCHOR_RATING
from artus_training.games import markdown, tables_of
from artus_training.learn.ppo import Settings
from artus_training.learn.settings import texts_of

NOT_MEASURED = "not measured"
HEAD = (
    "rules, players",
    "agent",
    f"rating (`{ANCHOR}` = {ANCHOR_RATING})",
    "wins",
    "points from unbeatable, at least",
    "decisions/s",
)


def all_tables(definition: Definition) -> dict[str, Callable[[], str]]:
    """Functions that make a game's tables as Markdown, by table name, with its ladder."""
    makers = tables_of(definition)
    if definition.ladder:
        makers.setdefault("ladder", partial(ladder_table, definition.ladder))
    return makers


def ladder_table(file: Path) -> str:
    """Table of the strength and speed of agents."""
    return markdown(HEAD, rows_of(read_ladder(file)))


def settings() -> str:
    """Table of the settings of `artus train`; the defaults are written as `--set` takes them."""
    texts, rows = texts_of(Settings), []
    for setting in dataclasses.fields(Settings):
        text = str(setting.default) if isinstance(setting.default, (str, Path)) else json.dumps(setting.default)
        rows.append((f"`{setting.name}`", f"`{text}`" if text not in ("", "null") else "", texts[setting.name]))
    return markdown(["setting", "default", "meaning"], rows)


def rows_of(ladder: Ladder) -> list[tuple[str, ...]]:
    """The rows of the table, under `HEAD`."""
    return [
        (f"{cell(entry.rules)}, {entry.num_players}", f"`{cell(entry.agent)}`", *figures(entry))
        for entry in ladder.entries
    ]


def figures(entry: Entry) -> tuple[str, ...]:
    """The cells with an agent's figures."""
    rating, wins, decisions = NOT_MEASURED, NOT_MEASURED, NOT_MEASURED
    if entry.rating is not None:
        rating = f"{entry.rating:.0f}" + interval_text(entry.rating_95, 0)
    if entry.wins is not None:
        wins = f"{100 * entry.wins:.1f} %" + interval_text(entry.wins_95, 1, 100)
    if entry.decisions is not None:
        decisions = f"{float(f'{entry.decisions:.2g}'):,.0f}"
    responses = "; ".join(
        f"{100 * best.gain:.1f}{interval_text(best.gain_95, 1, 100)}: {cell(best.response)}"
        + ("" if best.role == "response" else f", {best.role}")
        for best in entry.responses
    )
    return rating, wins, responses or NOT_MEASURED, decisions


def interval_text(interval: Interval | None, digits: int, scale: float = 1) -> str:
    """Format the 95 % interval of a figure; empty if there is none."""
    return "" if interval is None else " ({:.{d}f} .. {:.{d}f})".format(*(scale * end for end in interval), d=digits)


def cell(text: str) -> str:
    """Make an external name safe for a Markdown table."""
    return printable(text).replace("|", "/").replace("`", "'")


def fill(text: str, default: Definition) -> str:
    """Regenerate every marked table of a text.

    Args:
        text: Markdown.
        default: The game of tables marked with NAME alone.

    Raises:
        ValueError: If a marked table doesn't exist, or its game isn't installed.
    """

    def table(match: re.Match[str]) -> str:
        game, _, name = match[1].rpartition("/")
        makers = all_tables(find_game(game)) if game else all_tables(default) | {settings.__name__: settings}
        if name not in makers:
            raise ValueError(f"there is no table {shown(name)}; there are {', '.join(makers)}")
        return f"<!-- table: {match[1]} -->\n{makers[name]()}\n<!-- end -->"

    return re.sub(r"<!-- table: (\S+) -->\n.*?<!-- end -->", table, text, flags=re.DOTALL)


def main(arguments: list[str]) -> int:
    """Run the script; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", help="Markdown files")
    for path in parser.parse_args(arguments).files:
        try:
            text = path.read_text(encoding="utf-8")
            filled = fill(text, find_game(DEFAULT_GAME))
        except (OSError, ValueError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            return 2
        if filled != text:
            write_atomically(path, filled.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
