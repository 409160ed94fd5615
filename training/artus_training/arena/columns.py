"""Tables as text, as wide as the terminal: names give way first, numbers never do."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Collection, Sequence
from textwrap import fill, wrap

from artus_training.arena.names import short_names

SHORTEST_NAME = 8
"""Letters of a name that are left at least."""
SHORTEST_TEXT = 8
"""Letters of a line of text that are left at least."""
BETWEEN = "  "
BOLD, DIM, PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"


def terminal_width() -> int:
    """Columns of the terminal; 80 where there is none, unless COLUMNS says something else."""
    return shutil.get_terminal_size().columns


def coloured() -> bool:
    """Whether what is printed may have colours: on a terminal, unless the user wants none (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def table(
    rows: Sequence[Sequence[str]],
    *,
    names: Sequence[int] = (),
    numbers: Collection[int] = (),
    texts: Collection[int] = (),
    width: int | None = None,
    colours: bool | None = None,
) -> list[str]:
    """Lines of a table that is no wider than the terminal, if it can be.

    Where it is too wide, names are cut in the middle; then intervals go below their numbers; then texts are wrapped. A
    number is never cut. What was cut stands in full below the table.

    Args:
        rows: The head, and the others, of as many cells.
        names: Columns that hold names.
        numbers: Columns that are aligned to the right, perhaps with an interval in brackets.
        texts: Columns that hold words.
        width: Columns of the terminal; None: see `terminal_width`.
        colours: Whether to set the head off, and intervals; None: see `coloured`.
    """
    width = terminal_width() if width is None else width
    head, body = [_below(cell) for cell in rows[0]], [list(row) for row in rows[1:]]
    if _total(_widths(head, _cut(body, names, head, width))) > width:
        body = [[_below(cell) if k in numbers else cell for k, cell in enumerate(row)] for row in body]
    full, body = body, _cut(body, names, head, width)
    most = _room(_widths(head, body), texts, SHORTEST_TEXT, width)
    head, *body = [
        ["\n".join(wrap(cell, most[k])) if k in most else cell for k, cell in enumerate(row)] for row in (head, *body)
    ]
    widths = _widths(head, body)
    colours = coloured() if colours is None else colours
    lines = _lines(head, widths, numbers, BOLD if colours else "")
    for row in body:
        lines += _lines(row, widths, numbers, "", DIM if colours else "")
    cut = {row[k]: line[k] for row, line in zip(body, full, strict=True) for k in names if row[k] != line[k]}
    return [*lines, *([""] if cut else []), *(f"{short} = {name}" for short, name in cut.items())]


def filled(lines: Sequence[str]) -> list[str]:
    """Sentences, each as wide as the terminal."""
    return [fill(line, terminal_width(), break_long_words=False, break_on_hyphens=False) for line in lines]


def markdown_row(cells: Sequence[str]) -> str:
    """A row of a Markdown table. Names may hold the character that parts its cells."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _below(cell: str) -> str:
    """What stands in brackets goes below the rest."""
    return cell.replace(" (", "\n(")


def _widths(head: Sequence[str], body: Sequence[Sequence[str]]) -> list[int]:
    return [max(len(line) for cell in column for line in cell.split("\n")) for column in zip(head, *body, strict=True)]


def _total(widths: Sequence[int]) -> int:
    """Of a whole line."""
    return sum(widths) + len(BETWEEN) * (len(widths) - 1)


def _room(widths: Sequence[int], columns: Collection[int], least: int, width: int) -> dict[int, int]:
    """How many letters each of some columns may have, so that a line fits: the widest gives way first. Those that need
    not are left out."""
    room = list(widths)
    while _total(room) > width and (wide := [k for k in columns if room[k] > least]):
        room[max(wide, key=lambda k: room[k])] -= 1
    return {k: room[k] for k in columns if room[k] < widths[k]}


def _cut(body: Sequence[list[str]], names: Sequence[int], head: Sequence[str], width: int) -> list[list[str]]:
    """The rows with names as short as they have to be."""
    rows = [list(row) for row in body]
    for k, letters in _room(_widths(head, body), names, SHORTEST_NAME, width).items():
        different = list(dict.fromkeys(row[k] for row in body))
        short = dict(zip(different, short_names(different, letters), strict=True))
        for row in rows:
            row[k] = short[row[k]]
    return rows


def _lines(
    row: Sequence[str], widths: Sequence[int], numbers: Collection[int], style: str, brackets: str = ""
) -> list[str]:
    """A row, of as many lines as its highest cell."""
    cells = [cell.split("\n") for cell in row]
    lines = []
    for number in range(max(map(len, cells))):
        parts = [cell[number] if number < len(cell) else "" for cell in cells]
        text = BETWEEN.join(
            part.rjust(wide) if k in numbers else part.ljust(wide)
            for k, (part, wide) in enumerate(zip(parts, widths, strict=True))
        ).rstrip()
        if brackets:
            text = re.sub(r"\([^)]*\)", lambda found: f"{brackets}{found[0]}{PLAIN}", text)
        lines.append(f"{style}{text}{PLAIN}" if style and text else text)
    return lines
