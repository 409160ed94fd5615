"""Text tables that fit the terminal, and names for display: of variants, and of agents, whose command can be long."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Collection, Sequence
from textwrap import fill, wrap

from artus_env import DEFAULT_GAME
from artus_env.engine.contract.registry import find_game

SHORTEST_NAME = 8
"""Letters that a shortened name keeps at least."""
SHORTEST_TEXT = 8
"""Letters that a line of wrapped text keeps at least."""
BETWEEN = "  "
BOLD, DIM, PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"


def terminal_width() -> int:
    """Columns of the terminal; without a terminal 80, or the value of COLUMNS."""
    return shutil.get_terminal_size().columns


def coloured() -> bool:
    """Whether output may have colours: on a terminal, unless the user wants none (https://no-color.org)."""
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
    """Return the lines of a table that fits the terminal if possible.

    If it is too wide, names are cut in the middle; then intervals go below their numbers; then texts are wrapped.
    Numbers are never cut. The full names follow below the table.

    Args:
        rows: The head, then the other rows, each with the same number of cells.
        names: Columns of names.
        numbers: Columns of numbers, aligned to the right; an interval in brackets may follow a number.
        texts: Columns of text.
        width: Columns of the terminal; None: see `terminal_width`.
        colours: Whether to print the head bold and intervals dim; None: see `coloured`.
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
    """Wrap each sentence to the width of the terminal."""
    return [fill(line, terminal_width(), break_long_words=False, break_on_hyphens=False) for line in lines]


def markdown_row(cells: Sequence[str]) -> str:
    """A row of a Markdown table; `|` within a cell is escaped."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _below(cell: str) -> str:
    """Move an interval in brackets to a line of its own."""
    return cell.replace(" (", "\n(")


def _widths(head: Sequence[str], body: Sequence[Sequence[str]]) -> list[int]:
    return [max(len(line) for cell in column for line in cell.split("\n")) for column in zip(head, *body, strict=True)]


def _total(widths: Sequence[int]) -> int:
    """Width of a whole line."""
    return sum(widths) + len(BETWEEN) * (len(widths) - 1)


def _room(widths: Sequence[int], columns: Collection[int], least: int, width: int) -> dict[int, int]:
    """Letters that some columns may have so that a line fits: the widest column is narrowed first. Columns that keep
    their width are left out."""
    room = list(widths)
    while _total(room) > width and (wide := [k for k in columns if room[k] > least]):
        room[max(wide, key=lambda k: room[k])] -= 1
    return {k: room[k] for k in columns if room[k] < widths[k]}


def _cut(body: Sequence[list[str]], names: Sequence[int], head: Sequence[str], width: int) -> list[list[str]]:
    """The rows, with names shortened as far as necessary."""
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
    """Format a row, as the number of lines of its highest cell."""
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


def variant_name(game: str, rules: str, num_players: int) -> str:
    """Name of a variant for a title; the name of the default game is left out."""
    title = "" if game == DEFAULT_GAME else f"{find_game(game).title}, "
    return f"{title}{rules}, {num_players} players"


def short_names(names: list[str], width: int) -> list[str]:
    """Cut names in the middle to a width, but keep them different from each other."""
    short = [shortened(name, width) for name in names]
    alike = Counter(short)
    return [
        text if alike[text] == 1 else f"{shortened(name, width - len(f'#{number}'))}#{number}"
        for number, (name, text) in enumerate(zip(names, short, strict=True), 1)
    ]


def shortened(name: str, width: int) -> str:
    """Cut a name in the middle to at most `width` letters."""
    left = width - 3
    return name if len(name) <= width else f"{name[: -(-left // 2)]}...{name[len(name) - left // 2 :]}"


def one_line_name(name: str) -> str:
    """Replace unprintable letters of a name, such as line breaks, by spaces."""
    return "".join(letter if letter.isprintable() else " " for letter in name)
