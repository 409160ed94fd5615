"""Update the generated tables in Markdown files, between `<!-- table: NAME -->` and `<!-- end -->`.

    python tools/tables.py README.md docs/*.md

NAME is `ladder` or the name of a table of the default game (see `artus rules`), GAME/NAME, or `settings`: those of
trainings.
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
    made = tables_of(definition)
    if definition.ladder:
        made.setdefault("ladder", partial(ladder_table, definition.ladder))
    return made


def ladder_table(file: Path) -> str:
    """Strength and speed of agents."""
    return markdown(HEAD, rows_of(read_ladder(file)))


def settings() -> str:
    """Settings of `artus train`; the defaults are written as `--set` takes them."""
    texts, rows = texts_of(Settings), []
    for each in dataclasses.fields(Settings):
        text = str(each.default) if isinstance(each.default, (str, Path)) else json.dumps(each.default)
        rows.append((f"`{each.name}`", f"`{text}`" if text not in ("", "null") else "", texts[each.name]))
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
        rating = f"{entry.rating:.0f}" + between(entry.rating_95, 0)
    if entry.wins is not None:
        wins = f"{100 * entry.wins:.1f} %" + between(entry.wins_95, 1, 100)
    if entry.decisions is not None:
        decisions = f"{float(f'{entry.decisions:.2g}'):,.0f}"
    known = "; ".join(
        f"{100 * best.gain:.1f}{between(best.gain_95, 1, 100)}: {cell(best.response)}"
        + ("" if best.role == "response" else f", {best.role}")
        for best in entry.responses
    )
    return rating, wins, known or NOT_MEASURED, decisions


def between(interval: Interval | None, digits: int, scale: float = 1) -> str:
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
        made = all_tables(find_game(game)) if game else all_tables(default) | {settings.__name__: settings}
        if name not in made:
            raise ValueError(f"there is no table {shown(name)}; there are {', '.join(made)}")
        return f"<!-- table: {match[1]} -->\n{made[name]()}\n<!-- end -->"

    return re.sub(r"<!-- table: (\S+) -->\n.*?<!-- end -->", table, text, flags=re.DOTALL)


def main(arguments: list[str]) -> int:
    """Run the script; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", help="Markdown files")
    for path in parser.parse_args(arguments).files:
        try:
            text = path.read_text(encoding="utf-8")
            made = fill(text, find_game(DEFAULT_GAME))
        except (OSError, ValueError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            return 2
        if made != text:
            write_atomically(path, made.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
