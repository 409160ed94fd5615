"""Parts of the picture of the table: colours, the style sheet, signs of suits, cards and chips."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from artus_env import pictures as drawing
from artus_env.games.royal.components import MAX_PLAYERS, Components
from artus_env.games.royal.page import say
from artus_env.games.royal.page.sentences import card_id
from artus_env.games.royal.page.tricks import suit_of, value_of
from artus_env.pictures import CARD_HEIGHT, CARD_WIDTH, label, placed, short, xml_text

SUIT_COLOURS = ("#ad0302", "#eda90e", "#0c9f67", "#15151e", "#72387c", "#093bc4")
"""Red, amber, green, black, plum and blue, by the number of the suit; the same in both themes. They look different
with every kind of colour vision; a test computes it."""

COLOURS: dict[str, tuple[str, str]] = {
    # class: fill in the light theme, in the dark theme
    **drawing.COLOURS,
    "field": ("#e3d2b4", "#453c32"),
    "sworded": ("#c9d7e4", "#3d5063"),
    "goal": ("#e0b23c", "#e0b23c"),
    "table": ("#fbf6ea", "#24211e"),
    "steel": ("#4c6478", "#a9bfd2"),
    "back": ("#7a4668", "#895276"),
    "super": ("#2a2520", "#2a2520"),  # faces of super-trumps
    "trophy": ("#f0cb62", "#f0cb62"),  # signs of super-trumps
    "wedge": ("#e6d8bd", "#3d362e"),
    **{f"suit{number}": (colour, colour) for number, colour in enumerate(SUIT_COLOURS)},
}
STROKES: dict[str, tuple[str, str, float]] = {
    # class: colour in the light theme, in the dark theme, width
    **drawing.STROKES,
    "rim": ("#2a2520", "#14110e", 1.5),
    "thin-rim": ("#2a2520", "#2a2520", 0.8),
    "winning": ("#e0b23c", "#e0b23c", 4),
    "gilt": ("#e0b23c", "#e0b23c", 2),
    "trail": ("#2a2520", "#f7f0e4", 3),
    "slot": ("#a8977a", "#6b6156", 1.5),
    "strike": ("#2a2520", "#f2ebdf", 2.6),
    **{f"ring{number}": (colour, colour, 4) for number, colour in enumerate(SUIT_COLOURS)},
}

CHIP = 30
"""Radius of a trump chip."""
CROWN = "M-10 7L-12-6L-5.5-1L0-9L5.5-1L12-6L10 7Z"
"""Paths around the origin: the crown is 24 x 16 units, the following signs about 24 x 24."""
SWORD = "M0-12L2-9V3H6V5.6H2V9.4A2.4 2.4 0 1 1-2 9.4V5.6H-6V3H-2V-9Z"
KNIGHT = "M-8 11C-8 5-1 3-1 0C-3 2-6 2.5-7.5 4.5C-9 5.5-11 3.5-10-.5L-6-7L-5.5-11.5L-1.5-8.5C5-8.5 9-3 8 11Z"
SHIELD = "M-10-11H10V1C10 7 5 10.5 0 12.5C-5 10.5-10 7-10 1Z"
CROSS = "M-2-11H2V-3H10V1H2V12L0 12.5L-2 12V1H-10V-3H-2Z"
"""Cross on the shield."""


def _petals(count: int = 5, ring: float = 5.4, radius: float = 4.7) -> str:
    """A flower: arcs from one gap between petals to the next."""
    gaps = [(math.tau * (nth + 0.5) / count, ring) for nth in range(count)]
    points = [f"{short(far * math.sin(angle))} {short(-far * math.cos(angle))}" for angle, far in gaps]
    arcs = "".join(f"A{radius} {radius} 0 1 1 {point}" for point in [*points[1:], points[0]])
    return f"M{points[0]}{arcs}Z"


SIGNS = (
    "M0 11C-4 7-11.5 2-11.5-4.5C-11.5-8.5-8.5-11-5.6-11C-3-11-1-9.3 0-6.8C1-9.3 3-11 5.6-11C8.5-11 11.5-8.5 11.5-4.5"
    "C11.5 2 4 7 0 11Z",
    "M0-12.5L9.5 0L0 12.5L-9.5 0Z",
    "M-1.4 3.2A5.2 5.2 0 1 1-4.7-3.4A5.2 5.2 0 1 1 4.7-3.4A5.2 5.2 0 1 1 1.4 3.2Q2 8.5 5.5 11.5H-5.5Q-2 8.5-1.4 3.2Z",
    "M0-12C2-7.5 10.5-3 10.5 3C10.5 6.6 8 8.2 5.8 8.2C3.8 8.2 2.2 7.2 1.4 5.6Q2 9.4 5.2 11.8H-5.2Q-2 9.4-1.4 5.6"
    "C-2.2 7.2-3.8 8.2-5.8 8.2C-8 8.2-10.5 6.6-10.5 3C-10.5-3-2-7.5 0-12Z",
    _petals(),
    "M-10-11.5H10C10-4 6.5-.2 2.2 1V5.5C2.2 8 6.5 8 6.5 11.5H-6.5C-6.5 8-2.2 8-2.2 5.5V1C-6.5-.2-10-4-10-11.5Z",
)
"""Signs by the number of the suit: heart, diamond, club, spade, flower, chalice."""
FLOWER = 4


def flat_colours(theme: str) -> Sequence[str]:
    """All colours of the theme "light" or "dark" as `#rrggbb`, for pictures that can have only few colours."""
    return drawing.flat_colours(theme, COLOURS, STROKES, MAX_PLAYERS)


@cache
def style(theme: str) -> str:
    """The style sheet of a theme. "auto" follows the reader's system: light, or dark if it asks for that."""
    sheet = drawing.style_sheet("royal", theme, COLOURS, STROKES, MAX_PLAYERS)
    return f"{sheet}.royal-{theme} .dim{{opacity:.4}}"


# --- signs ---------------------------------------------------------------------------------------------------------


def suit_sign(number: int) -> str:
    """The sign of a suit in its colour, 24 x 24, for a light background."""
    centre = '<circle class="face" r="2.6"/>' if number == FLOWER else ""
    return f'<path class="suit{number} thin-rim round" d="{SIGNS[number]}"/>{centre}'


def super_sign(card: str) -> str:
    """The sign of a super-trump, 24 x 25: a horse's head or a shield."""
    if card == "knight":
        return f'<path class="trophy" d="{KNIGHT}"/><circle class="super" cx="-3.4" cy="-4" r="1.3"/>'
    return f'<path class="trophy" d="{SHIELD}"/><path class="super" d="{CROSS}"/>'


def suit_coin(number: int) -> str:
    """The sign of a suit on a light disc, 28 x 28, for any background."""
    return f'<circle class="face cut" r="14"/><g transform="scale(.8)">{suit_sign(number)}</g>'


def no_suit(number: int) -> str:
    """Sign of a void: the suit's sign, struck through."""
    return f'{suit_coin(number)}<path class="strike none round" d="M-11 11L11-11"/>'


def chip(number: int) -> str:
    """The trump chip of a suit, centred."""
    return (
        f'<circle class="face" r="{CHIP}"/><circle class="ring{number} none" r="{CHIP - 3}"/>'
        f'<g transform="scale(1.42)">{suit_sign(number)}</g>'
    )


def super_chip() -> str:
    """Symbol of the super-trumps, which stand above all chips, in the size of a chip."""
    return (
        f'<circle class="super gilt" r="{CHIP}"/>{placed(-12, 0, 0.9, super_sign("knight"))}'
        f"{placed(13, 0, 0.9, super_sign('shield'))}"
    )


# --- cards -----------------------------------------------------------------------------------------------------------


@cache
def card_back() -> str:
    """The back of a card."""
    return drawing.card_back("back", CROWN)


def card_front(card: str, components: Components) -> str:
    """The front of a card: its value above its suit, or the sign of a super-trump."""
    return _front(card, components, "" if suit_of(card) else say(f"card.{card}"))


@cache
def _front(card: str, components: Components, title: str) -> str:
    suit = suit_of(card)
    if suit is None:
        return (
            f'<rect class="super cut" width="{CARD_WIDTH}" height="{CARD_HEIGHT}" rx="5"/>'
            f"{placed(22, 26, 1.3, super_sign(card))}{label(22, 52, 11, 'trophy', title)}"
        )
    number = components.suits.index(suit)
    return drawing.card_front(f"suit{number}", suit_sign(number), value_of(card))


def card_at(
    card: str | None, components: Components, x: float, y: float, scale: float, attributes: str, mark: str
) -> str:
    """A card with its title.

    Args:
        card: Name of the card; None: a card's back.
        components: The box.
        x, y: Upper left corner.
        scale: Size relative to a card of CARD_WIDTH x CARD_HEIGHT.
        attributes: Attributes of the group.
        mark: SVG that is drawn around the card.
    """
    face, title = (card_front(card, components), card_id(card)) if card else (card_back(), say("picture.hidden"))
    transform = f'transform="translate({short(x)} {short(y)}) scale({round(scale, 3):g})"'
    return f"<g {attributes}><title>{xml_text(title)}</title><g {transform}>{mark}{face}</g></g>"
