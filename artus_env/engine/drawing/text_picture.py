"""Picture of a game that has no picture of its own: its text."""

from __future__ import annotations

import re
import unicodedata
from html import escape

LINE, COLUMN, EDGE = 20, 9, 18
"""Height of a line, width of a column, margin around the text, in units of a text picture: pixels at full size."""


COLOURS = {
    "light": {"panel": "#fffcf5", "edge": "#d8cab0", "ink": "#2a2520", "mark": "#f3dfae"},
    "dark": {"panel": "#2a2520", "edge": "#574b3d", "ink": "#f4ecdf", "mark": "#6b5320"},
}
"""Colours by theme; their names are the names of the page's own colours."""


def text_picture(text: str, before: str | None = None, title: str = "", theme: str = "auto") -> str:
    """Draw a text of several lines as SVG in fixed columns; words that differ from `before` are marked.

    Args:
        text, before: The text now and before the last move.
        title: Title of the picture.
        theme: "light", "dark", or "auto": the colours that the surrounding page defines; where it defines none,
            those of a light page.
    """
    colours = COLOURS["light" if theme == "auto" else theme]
    if theme == "auto":
        colours = {name: f"var(--{name},{colour})" for name, colour in colours.items()}
    rows, old_rows = _rows(text), _rows(text if before is None else before)
    width = max(24, *map(_columns, rows)) * COLUMN + 2 * EDGE
    height = len(rows) * LINE + 2 * EDGE
    marks, words = [], []
    for number, row in enumerate(rows):
        old_row, top = old_rows[number] if number < len(old_rows) else "", EDGE + number * LINE
        for start, end in _changes(row, old_row):
            x, length = EDGE + _columns(row[:start]) * COLUMN, _columns(row[start:end]) * COLUMN
            marks.append(f'<rect class="new" x="{x - 4}" y="{top}" width="{length + 8}" height="{LINE}" rx="5"/>')
        for word in re.finditer(r"\S+", row):  # each has its own x: the width of a font can't shift the columns
            x, length = EDGE + _columns(row[: word.start()]) * COLUMN, _columns(word[0]) * COLUMN
            words.append(f'<text x="{x}" y="{top + 14.5:g}" textLength="{length}">{escape(word[0])}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="text" viewBox="0 0 {width} {height}" role="img" '
        f'style="width:100%;min-width:{round(0.48 * width)}px;max-width:{round(1.35 * width)}px;height:auto">'
        f"<title>{escape(title)}</title><desc>{escape(chr(10).join(rows))}</desc>"
        f"<style>.text .sheet{{fill:{colours['panel']};stroke:{colours['edge']}}}"
        f".text text{{fill:{colours['ink']};font-size:15px;font-family:ui-monospace,'SF Mono',Menlo,Consolas,"
        f"'DejaVu Sans Mono',monospace,Inter}}.text .new{{fill:{colours['mark']}}}</style>"
        f'<rect class="sheet" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="13.5"/>'
        f"{''.join(marks)}{''.join(words)}</svg>"
    )


def _rows(text: str) -> list[str]:
    """Lines of a text, with invisible characters replaced by spaces."""
    lines = text.expandtabs().rstrip().splitlines() or [""]
    return ["".join(letter if letter.isprintable() else " " for letter in line) for line in lines]


def _changes(row: str, old_row: str) -> list[tuple[int, int]]:
    """Ranges of a row with words that weren't in the same place before, as start and end; adjacent ones are joined."""
    ranges: list[tuple[int, int]] = []
    for word in re.finditer(r"\S+", row):
        start, end = word.span()
        if old_row[max(0, start - 1) : end + 1].strip() == word[0]:
            continue
        if ranges and start - ranges[-1][1] == 1:
            start = ranges.pop()[0]
        ranges.append((start, end))
    return ranges


def _columns(text: str) -> int:
    """Number of columns of a text: two for each wide letter, none for combining marks."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )
