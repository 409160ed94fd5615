"""What the pictures of all games are made of: letters and numbers for SVG, style sheets, a badge for each player.

Nothing here needs an id, so that any number of pictures can stand on one page: colours are classes, and all rules begin
with the class of the game and the theme.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from artus_env.engine.wording import letter_of

THEMES = ("auto", "light", "dark")

Fills = Mapping[str, tuple[str, str]]
"""Class: fill in the light theme, in the dark theme."""
Strokes = Mapping[str, tuple[str, str, float]]
"""Class: colour in the light theme, in the dark theme, width."""


class Badge(NamedTuple):
    """A player's shield: its colours as `#rrggbb`, its outline about its middle, where its letter is."""

    colour: str
    ink: str
    outline: str
    middle: float = 0


BADGES = (
    Badge("#0a6cb0", "#ffffff", "M-18-19H18V3C18 13 9 19 0 23C-9 19-18 13-18 3Z"),
    Badge("#e08c10", "#26221e", "M-13-19H13Q19-19 19-13V13Q19 19 13 19H-13Q-19 19-19 13V-13Q-19-19-13-19Z"),
    Badge("#26221e", "#ffffff", "M0-24L22 0L0 24L-22 0Z"),
    Badge("#f0b6d4", "#26221e", "M-11-20H11L23 0L11 20H-11L-23 0Z"),
    Badge("#0b7a5c", "#ffffff", "M0-21A21 21 0 1 1 0 21A21 21 0 1 1 0-21Z"),
    Badge("#d9d24b", "#26221e", "M0-23L24 18H-24Z", 5),
)
"""Any one of colour, outline and letter tells who it is; each is about 40 x 44."""


def badge(player: int, x: float, y: float, scale: float) -> str:
    """A player's shield with their letter, about its middle."""
    return (
        f'<g transform="translate({short(x)} {short(y)}) scale({scale:g})"><path class="p{player} outline round" '
        f'd="{BADGES[player].outline}"/>{label(0, BADGES[player].middle, 24, f"l{player}", letter_of(player))}</g>'
    )


def short(number: float) -> str:
    """A coordinate with one decimal at most."""
    return f"{round(number, 1):g}"


def label(x: float, y: float, size: float, classes: str, text: str) -> str:
    """Text with its capitals' middle at y."""
    where = f'x="{short(x)}" y="{short(y + 0.36 * size)}"'
    return f'<text class="{classes}" {where} font-size="{short(size)}">{xml_text(text)}</text>'


def xml_text(text: str) -> str:
    """Text for XML, which knows no control characters at all."""
    return escape("".join(letter for letter in text if letter.isprintable()), quote=True)


def shortened(text: str, length: int) -> str:
    """A text of at most so many letters."""
    return text if len(text) <= length else text[: length - 1] + "…"


def style_sheet(name: str, theme: str, fills: Fills, strokes: Strokes, players: int) -> str:
    """The style sheet of a theme for pictures of the class `name-theme`, with colours for the badges of `players`.

    "auto" follows the reader's: light, or dark where their system asks for it.
    """
    head = f".{name}-{theme}"
    badges = BADGES[:players]
    common = (
        f"{head} text{{font-family:Inter,system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;"
        f"font-weight:700;text-anchor:middle;font-feature-settings:'tnum'}}"
        f"{head} .thin{{font-weight:400}}{head} .start{{text-anchor:start}}{head} .end{{text-anchor:end}}"
        f"{head} .none{{fill:none}}{head} .dash{{stroke-dasharray:5 4}}"
        f"{head} .round{{stroke-linecap:round;stroke-linejoin:round}}"
        + "".join(f"{head} .p{player}{{fill:{badge.colour}}}" for player, badge in enumerate(badges))
        + "".join(f"{head} .l{player}{{fill:{badge.ink}}}" for player, badge in enumerate(badges))
    )
    light, dark = (_colours(head, fills, strokes, column) for column in range(2))
    if theme == "auto":
        return f"{common}{light}@media (prefers-color-scheme:dark){{{dark}}}"
    return common + (light if theme == "light" else dark)


def _colours(head: str, fills: Fills, strokes: Strokes, column: int) -> str:
    filled = "".join(f"{head} .{name}{{fill:{both[column]}}}" for name, both in fills.items())
    drawn = "".join(f"{head} .{name}{{stroke:{row[column]};stroke-width:{row[2]}}}" for name, row in strokes.items())
    return f"{filled}{drawn}{head} .none{{fill:none}}"


def flat_colours(theme: str, fills: Fills, strokes: Strokes, players: int) -> Sequence[str]:
    """Every colour of "light" or "dark", as `#rrggbb`: for pictures that can't have many."""
    column = THEMES.index(theme) - 1
    badges = (badge.colour for badge in BADGES[:players])
    drawn = ((light, dark)[column] for light, dark, _ in strokes.values())
    return list(dict.fromkeys([*(both[column] for both in fills.values()), *drawn, *badges]))
