"""How a game looks that brings no looks of its own: its text as a picture, and a badge for each player."""

from __future__ import annotations

import unicodedata
from html import escape
from itertools import zip_longest

BADGES = (
    ("#0a6cb0", "#ffffff", "M-18-19H18V3C18 13 9 19 0 23C-9 19-18 13-18 3Z"),
    ("#e08c10", "#26221e", "M-13-19H13Q19-19 19-13V13Q19 19 13 19H-13Q-19 19-19 13V-13Q-19-19-13-19Z"),
    ("#26221e", "#ffffff", "M0-24L22 0L0 24L-22 0Z"),
    ("#f0b6d4", "#26221e", "M-11-20H11L23 0L11 20H-11L-23 0Z"),
    ("#0b7a5c", "#ffffff", "M0-21A21 21 0 1 1 0 21A21 21 0 1 1 0-21Z"),
    ("#d9d24b", "#26221e", "M0-23L23 17H-23Z"),
)
"""Fill, letter and outline of each player's badge, told apart by any one of them, for every kind of colour vision."""
LETTERS = "ABCDEF"
LINE, COLUMN, PAGE = 20, 9, 18
"""Height of a line, width of a column, edge around the text, in units of a text picture: pixels at its full size."""


def badge(player: int) -> str:
    """A player's badge as an `<svg>`: letter, colour and outline are that player's own."""
    fill, ink, outline = BADGES[player]
    below = 6 if LETTERS[player] == "F" else 0  # a triangle is wide below its middle
    return (
        f'<svg viewBox="-26 -26 52 52"><path d="{outline}" fill="{fill}" stroke="currentColor" stroke-width="1.8" '
        f'stroke-linejoin="round"/><text y="{8.6 + below:g}" font-size="24" font-weight="700" text-anchor="middle" '
        f'fill="{ink}">{LETTERS[player]}</text></svg>'
    )


def text_picture(text: str, before: str | None = None, title: str = "") -> str:
    """A text of several lines as SVG, letter below letter; lines that differ from `before` are marked.

    It has the colours of the page around it, light or dark; elsewhere those of a light page.
    """
    rows = [_plain(line) for line in text.rstrip().splitlines()] or [""]
    old = [_plain(line) for line in before.rstrip().splitlines()] if before is not None else rows
    width = max(20, *map(_columns, rows)) * COLUMN + 2 * PAGE
    height = len(rows) * LINE + 2 * PAGE
    new = [row != was and bool(row.strip()) for row, was in zip_longest(rows, old)][: len(rows)]
    marks, lines = [], []
    for number, row in enumerate(rows):
        top = PAGE + number * LINE
        if new[number]:
            marks.append(
                f'<rect class="new" x="{PAGE / 2:g}" y="{top}" width="{width - PAGE}" height="{LINE}" rx="4"/>'
            )
        if row.strip():
            # Without a length for each run of letters, fonts that aren't quite as wide would shift the columns.
            length = _columns(row) * COLUMN
            lines.append(
                f'<text x="{PAGE}" y="{top + 14.5:g}" textLength="{length}" lengthAdjust="spacingAndGlyphs" '
                f'xml:space="preserve">{escape(row)}</text>'
            )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="text" viewBox="0 0 {width} {height}" role="img" '
        f'style="width:100%;max-width:{round(1.35 * width)}px;height:auto">'
        f"<title>{escape(title)}</title><desc>{escape(chr(10).join(rows))}</desc>"
        "<style>.text .sheet{fill:var(--panel,#fffcf5);stroke:var(--edge,#d8cab0)}"
        ".text text{fill:var(--ink,#2a2520);font:15px ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',"
        "monospace;white-space:pre}.text .new{fill:var(--soft,#efe5d2)}</style>"
        f'<rect class="sheet" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="13.5"/>'
        f"{''.join(marks)}{''.join(lines)}</svg>"
    )


def _plain(line: str) -> str:
    """A line without what can't be seen, and without blanks at its end."""
    return "".join(letter if letter.isprintable() else " " for letter in line.expandtabs()).rstrip()


def _columns(line: str) -> int:
    """How many columns a line takes: two for each wide letter, none for marks on another one."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in line
    )
