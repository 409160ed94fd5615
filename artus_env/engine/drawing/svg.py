"""Common elements of the pictures of all games: text and numbers for SVG, style sheets, a badge for each player.

Nothing here needs an id, so that any number of pictures can stand on one page: colours are classes, and all rules begin
with the class of the game and the theme.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

from artus_env.engine.basics.wording import letter_of

THEMES = ("auto", "light", "dark")
LAYOUTS = ("wide", "table")
WIDTH, HEIGHT = 1216, 688
"""Size of the wide layout in its own units; the rasteriser's frames have the same shape."""
CARD_WIDTH, CARD_HEIGHT = 44, 62

Fills = Mapping[str, tuple[str, str]]
"""Class -> fill in the light theme, fill in the dark theme."""
Strokes = Mapping[str, tuple[str, str, float]]
"""Class -> colour in the light theme, colour in the dark theme, width."""

COLOURS: Fills = {
    "page": ("#f5efe3", "#1b1917"),
    "panel": ("#fffcf5", "#282522"),
    "ink": ("#2a2520", "#f2ebdf"),
    "mute": ("#665b4e", "#b3a797"),
    "gold": ("#e0b23c", "#e0b23c"),
    "plate": ("#2a2520", "#1b1917"),  # letters and signs on gold
    "pale": ("#ffffff", "#ffffff"),  # letters and signs on card backs
    "face": ("#fffdf8", "#efe7d8"),
    "print": ("#2a2520", "#2a2520"),  # text and signs on a card's front
}
"""Colours of all games; each game adds its own."""
STROKES: Strokes = {
    "edge": ("#d8cab0", "#453f38", 1.5),
    "cut": ("#cdbfa5", "#6b6156", 1),  # the edge of a card
    "turn": ("#2a2520", "#f2ebdf", 3),
    "outline": ("#2a2520", "#f2ebdf", 1.8),
    "inlay": ("#ffffff", "#ffffff", 1),
}
"""Strokes of all games; each game adds its own."""


class Badge(NamedTuple):
    """Badge of a player: its colours as `#rrggbb`, its outline around its centre, the vertical position of its
    letter."""

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
"""Colour, outline and letter each suffice to identify the player; each badge is about 40 x 44."""


def badge(player: int, x: float, y: float, scale: float) -> str:
    """Draw a player's badge with their letter, around its centre."""
    return (
        f'<g transform="translate({short(x)} {short(y)}) scale({scale:g})"><path class="p{player} outline round" '
        f'd="{BADGES[player].outline}"/>{label(0, BADGES[player].middle, 24, f"l{player}", letter_of(player))}</g>'
    )


def placed(x: float, y: float, scale: float, inside: str) -> str:
    """Move and scale a drawing that has its centre at the origin."""
    return f'<g transform="translate({short(x)} {short(y)}) scale({round(scale, 3):g})">{inside}</g>'


def card_back(colour: str, sign: str) -> str:
    """Draw the back of a card, `CARD_WIDTH` x `CARD_HEIGHT`, in a CSS class for its
    colour, with an SVG path as its sign."""
    return (
        f'<rect class="{colour}" width="{CARD_WIDTH}" height="{CARD_HEIGHT}" rx="5"/>'
        f'<rect class="inlay none" opacity=".5" x="3.5" y="3.5" width="{CARD_WIDTH - 7}" '
        f'height="{CARD_HEIGHT - 7}" rx="3"/>'
        f'<path class="pale" opacity=".85" transform="translate(22 31)" d="{sign}"/>'
    )


def card_front(colour: str, sign: str, value: int) -> str:
    """Draw the front of a card: its value, large, above its sign (24 x 24); `colour`: the class of its lower edge."""
    return (
        f'<rect class="face cut" width="{CARD_WIDTH}" height="{CARD_HEIGHT}" rx="5"/>'
        f'<path class="{colour}" d="M1 56H43V58Q42 61 39 61H5Q2 61 1 58Z"/>'
        f"{label(22, 16.5, 26, 'print', str(value))}{placed(22, 41, 0.98, sign)}"
    )


def short(number: float) -> str:
    """A coordinate with one decimal at most."""
    return f"{round(number, 1):g}"


def label(x: float, y: float, size: float, classes: str, text: str) -> str:
    """Draw text; the middle of its capitals is at y."""
    attributes = f'x="{short(x)}" y="{short(y + 0.36 * size)}"'
    return f'<text class="{classes}" {attributes} font-size="{short(size)}">{xml_text(text)}</text>'


def xml_text(text: str) -> str:
    """Return text for XML, which allows no control characters."""
    return escape("".join(letter for letter in text if letter.isprintable()), quote=True)


def shortened(text: str, length: int) -> str:
    """Shorten a text to at most `length` characters."""
    return text if len(text) <= length else text[: length - 1] + "…"


def whole_picture(
    css_class: str,
    view: tuple[float, float, float, float],
    title: str,
    details: str,
    sheet: str,
    content: Iterable[str],
) -> str:
    """Return a complete picture: one `<svg>` element without ids.

    Args:
        css_class: Class of the picture, `name-theme`.
        view: The visible part: left, top, width, height.
        title, details: Title and description for readers who can't see the picture.
        sheet: Style sheet.
        content: The drawn parts as SVG, from back to front.
    """
    left, top, width, height = view
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{css_class}" viewBox="{left} {top} {width} {height}" '
        f'role="img" style="width:100%;max-width:{width}px;height:auto;border-radius:12px">',
        f"<title>{xml_text(title)}</title>",
        f"<desc>{xml_text(details)}</desc>",
        f"<style>{sheet}</style>",
        f'<rect class="page" x="{left}" y="{top}" width="{width}" height="{height}"/>',
        *content,
        "</svg>",
    ]
    return "\n".join(lines)


def small(name: str, box: str, inside: str) -> str:
    """Return a drawing in the colours of a page that shows a picture of the game `name`; `box`: its view box."""
    return f'<svg class="{name}-auto" viewBox="{box}">{inside}</svg>'


def small_card(name: str, inside: str) -> str:
    """Return a card as a `small` drawing, with room for its edge."""
    return small(name, f"-1 -1 {CARD_WIDTH + 2} {CARD_HEIGHT + 2}", inside)


def small_badges(name: str, num_players: int) -> list[str]:
    """Return the badges of the first players as `small` drawings."""
    return [small(name, "-26 -26 52 52", badge(player, 0, 0, 1)) for player in range(num_players)]


def style_sheet(name: str, theme: str, fills: Fills, strokes: Strokes, players: int) -> str:
    """Style sheet of a theme for pictures of the class `name-theme`, with colours for the badges of `players`.

    "auto" follows the reader's system: light, or dark if the system asks for it.
    """
    selector = f".{name}-{theme}"
    badges = BADGES[:players]
    common = (
        f"{selector} text{{font-family:Inter,system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;"
        f"font-weight:700;text-anchor:middle;font-feature-settings:'tnum'}}"
        f"{selector} .thin{{font-weight:400}}{selector} .start{{text-anchor:start}}{selector} .end{{text-anchor:end}}"
        f"{selector} .none{{fill:none}}{selector} .dash{{stroke-dasharray:5 4}}"
        f"{selector} .round{{stroke-linecap:round;stroke-linejoin:round}}"
        + "".join(f"{selector} .p{player}{{fill:{badge.colour}}}" for player, badge in enumerate(badges))
        + "".join(f"{selector} .l{player}{{fill:{badge.ink}}}" for player, badge in enumerate(badges))
    )
    light, dark = (_colours(selector, fills, strokes, column) for column in range(2))
    if theme == "auto":
        return f"{common}{light}@media (prefers-color-scheme:dark){{{dark}}}"
    return common + (light if theme == "light" else dark)


def _colours(selector: str, fills: Fills, strokes: Strokes, column: int) -> str:
    fill_rules = "".join(f"{selector} .{name}{{fill:{theme_fills[column]}}}" for name, theme_fills in fills.items())
    stroke_rules = "".join(
        f"{selector} .{name}{{stroke:{stroke[column]};stroke-width:{stroke[2]}}}" for name, stroke in strokes.items()
    )
    return f"{fill_rules}{stroke_rules}{selector} .none{{fill:none}}"


def flat_colours(theme: str, fills: Fills, strokes: Strokes, players: int) -> Sequence[str]:
    """All colours of "light" or "dark", as `#rrggbb`: for image formats with few colours."""
    column = THEMES.index(theme) - 1
    badge_colours = (badge.colour for badge in BADGES[:players])
    stroke_colours = ((light, dark)[column] for light, dark, _ in strokes.values())
    return list(
        dict.fromkeys([*(theme_fills[column] for theme_fills in fills.values()), *stroke_colours, *badge_colours])
    )
