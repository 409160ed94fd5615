"""Tables and sentences for the terminal, by rich; rows of Markdown; names of variants and agents for display."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from artus_env import DEFAULT_GAME
from artus_env.engine.contract.registry import find_game

UNLIMITED = 100_000
"""Columns of output that is no terminal: there, a row is a line."""
GAP = 2
"""Spaces between two columns."""
SHORTEST = 8
"""Letters that a line of a wrapped cell has at least."""


def table(rows: Sequence[Sequence[str]], *, numbers: Collection[int] = ()) -> Table:
    """A table that fits the terminal if possible: long cells are wrapped, then intervals go below their numbers.
    Numbers are never cut.

    Args:
        rows: The head, then the other rows, each with the same number of cells.
        numbers: Columns of numbers, aligned to the right; an interval in brackets may follow a number.
    """
    made, width = _table(rows, numbers), _console().width
    if _narrowest(made) > width:
        below = ((cell.replace(" (", "\n(") if k in numbers else cell for k, cell in enumerate(row)) for row in rows)
        made = _table([list(row) for row in below], numbers)
    if _narrowest(made) > width:
        made.width = _narrowest(made)
    return made


def _table(rows: Sequence[Sequence[str]], numbers: Collection[int]) -> Table:
    made = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for k, column in enumerate(zip(*rows, strict=True)):
        longest = max(len(line) for cell in column for line in cell.split("\n"))
        if k in numbers:
            made.add_column(Text(column[0]), justify="right", min_width=longest, no_wrap=True)
        else:
            made.add_column(Text(column[0]), overflow="fold", min_width=min(longest, SHORTEST))
    for row in rows[1:]:
        made.add_row(*map(Text, row))
    return made


def _console() -> Console:
    on_screen = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if on_screen else UNLIMITED, force_jupyter=False, highlight=False)


def _narrowest(table: Table) -> int:
    """Columns that a table needs."""
    return sum((column.min_width or 0) + GAP for column in table.columns) - GAP


def as_text(*parts: str | Table) -> str:
    """Sentences and tables as text, wrapped at the width of the terminal."""
    console = _console()
    with console.capture() as captured:
        for part in parts:
            console.print(Text(part, overflow="ignore") if isinstance(part, str) else part, crop=False)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def markdown_row(cells: Sequence[str]) -> str:
    """A row of a Markdown table; `|` within a cell is escaped."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def variant_name(game: str, rules: str, num_players: int) -> str:
    """Name of a variant for a title; the name of the default game is left out."""
    title = "" if game == DEFAULT_GAME else f"{find_game(game).title}, "
    return f"{title}{rules}, {num_players} players"


def shortened(name: str, width: int) -> str:
    """Cut a name in the middle to at most `width` letters."""
    left = width - 3
    return name if len(name) <= width else f"{name[: -(-left // 2)]}...{name[len(name) - left // 2 :]}"


def one_line_name(name: str) -> str:
    """Replace unprintable letters of a name, such as line breaks, by spaces."""
    return "".join(letter if letter.isprintable() else " " for letter in name)
