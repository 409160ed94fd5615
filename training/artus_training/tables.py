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
"""Width of output that isn't a terminal, in columns: so large that every row fits into one line."""
GAP = 2
"""Spaces between two columns."""
FEWEST_LETTERS = 8
"""Fewest letters in a line of a wrapped cell."""


def table(rows: Sequence[Sequence[str]], *, number_columns: Collection[int] = ()) -> Table:
    """A table that fits the terminal if possible: long cells are wrapped, then intervals go below their numbers.
    Numbers are never cut.

    Args:
        rows: The head, then the other rows, each with the same number of cells.
        number_columns: Indices of the columns of numbers, which are aligned to the right; an interval in brackets may
            follow a number.
    """
    fitted, width = _table(rows, number_columns), _console().width
    if _narrowest(fitted) > width:
        stacked = (
            (cell.replace(" (", "\n(") if k in number_columns else cell for k, cell in enumerate(row)) for row in rows
        )
        fitted = _table([list(row) for row in stacked], number_columns)
    if _narrowest(fitted) > width:
        fitted.width = _narrowest(fitted)
    return fitted


def _table(rows: Sequence[Sequence[str]], number_columns: Collection[int]) -> Table:
    built = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for k, column in enumerate(zip(*rows, strict=True)):
        longest = max(len(line) for cell in column for line in cell.split("\n"))
        if k in number_columns:
            built.add_column(Text(column[0]), justify="right", min_width=longest, no_wrap=True)
        else:
            built.add_column(Text(column[0]), overflow="fold", min_width=min(longest, FEWEST_LETTERS))
    for row in rows[1:]:
        built.add_row(*map(Text, row))
    return built


def _console() -> Console:
    on_screen = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if on_screen else UNLIMITED, force_jupyter=False, highlight=False)


def _narrowest(table: Table) -> int:
    """Least width of a table, in columns of the terminal."""
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
    num_letters = width - 3
    return name if len(name) <= width else f"{name[: -(-num_letters // 2)]}...{name[len(name) - num_letters // 2 :]}"


def one_line_name(name: str) -> str:
    """Replace unprintable letters of a name, such as line breaks, by spaces."""
    return "".join(letter if letter.isprintable() else " " for letter in name)
