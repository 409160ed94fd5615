"""Parts of the picture of a position: colours, the style sheet, figures and cards."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from artus_env import pictures as drawing
from artus_env.games.artus.components import MAX_PLAYERS, Card
from artus_env.games.artus.page import say
from artus_env.pictures import CARD_HEIGHT, CARD_WIDTH, label, short

GREEN, YELLOW, RED = "green", "yellow", "red"

COLOURS: dict[str, tuple[str, str]] = {
    # class: fill in the light theme, in the dark theme
    **drawing.COLOURS,
    "wood": ("#8b633c", "#6d4d30"),
    "top": ("#e3d2b4", "#3a3229"),
    "hub": ("#fbf6ea", "#24211e"),
    "chair": ("#d9c7a7", "#4d453b"),
    "cushion": ("#f1e7d3", "#5d5449"),
    "carpet": ("#6b4a9c", "#7d5cb0"),
    "track": ("#eadfc9", "#322d28"),
    "green": ("#83cda9", "#6fbd97"),
    "yellow": ("#f7d75c", "#e9c84c"),
    "red": ("#b03a28", "#b8402d"),
    "crown": ("#3a2d1d", "#14110e"),  # the plate in front of the King
    "silver": ("#d3dae2", "#d3dae2"),
    "bronze": ("#96562a", "#a8632f"),
    "knight": ("#4c6478", "#56718a"),
    "king": ("#8a6a1f", "#8d6c22"),
    "scoring": ("#7a4668", "#895276"),
}
STROKES: dict[str, tuple[str, str, float]] = {
    # class: colour in the light theme, in the dark theme, width
    **drawing.STROKES,
    "spoke": ("#f5efe3", "#1b1917", 1.5),
    "rim": ("#3a2d1d", "#14110e", 1.5),
    "ring": ("#e9b934", "#e9b934", 2.6),
    "under": ("#3a2d1d", "#14110e", 5),  # makes rings stand out on silver and bronze
    "move": ("#2a2520", "#f7f0e4", 4),
    "push": ("#2a2520", "#f7f0e4", 3),
    "left": ("#2a2520", "#f7f0e4", 1.8),
    "tick": ("#b9a98b", "#5b5248", 1.2),
    "trim": ("#e0b23c", "#e0b23c", 2),
    "slot": ("#b9a98b", "#6b6156", 1.2),
    "way": ("#2a2520", "#2a2520", 2),
}

CROWN = "M-10 7L-12-6L-5.5-1L0-9L5.5-1L12-6L10 7Z"
"""24 x 16, centred."""
SHIELD = "M-9-10H9V1C9 7 4 10 0 12C-4 10-9 7-9 1Z"
STAR = "M0-10L2.6-3.2L9.8-3L4.1 1.4L6.1 8.4L0 4.4L-6.1 8.4L-4.1 1.4L-9.8-3L-2.6-3.2Z"
BACK_ICONS = {"knight": SHIELD, "king": CROWN, "scoring": STAR}
MINUS, DASH = "\u2212", "\u2013"  # as wide as a plus sign; between the ends of a range


def flat_colours(theme: str) -> Sequence[str]:
    """All colours of the theme "light" or "dark" as `#rrggbb`, for pictures that can have only few colours."""
    return drawing.flat_colours(theme, COLOURS, STROKES, MAX_PLAYERS)


@cache
def style(theme: str) -> str:
    """The style sheet of a theme. "auto" follows the reader's system: light, or dark if it asks for that."""
    return drawing.style_sheet("artus", theme, COLOURS, STROKES, MAX_PLAYERS)


# --- figures -------------------------------------------------------------------------------------------------------


def ring_row(count: int, x: float = 0, y: float = 14) -> str:
    """Rings side by side."""
    places = [short(x + 10.5 * (nth - (count - 1) / 2)) for nth in range(count)]
    return "".join(
        f'<circle class="none {stroke}" cx="{place}" cy="{short(y)}" r="4.6"/>'
        for stroke in ("under", "ring")
        for place in places
    )


# --- cards -----------------------------------------------------------------------------------------------------------


def card_back(pile: str) -> str:
    """The back of a card of a pile."""
    return drawing.card_back(pile, BACK_ICONS[pile])


@cache
def steps_range(card: Card) -> str:
    """Range of a card's steps, such as 3-6."""
    return f"{card.low}{DASH}{card.high}" if card.low != card.high else str(card.low)


def card_front(card: Card) -> str:
    """The front of a card: its kind's colour and sign at the top, its effect below."""
    icon = BACK_ICONS[card.pile]
    lines = [
        f'<rect class="face cut" width="{CARD_WIDTH}" height="{CARD_HEIGHT}" rx="5"/>'
        f'<path class="{card.pile}" d="M0 18V5Q0 0 5 0H39Q44 0 44 5V18Z"/>'
        f'<path class="pale" transform="translate(22 9.5) scale(.62)" d="{icon}"/>'
    ]
    steps = steps_range(card)
    if card.action == "knight":
        lines += [label(22, 34, 16, "print", steps), _arrow(card.backward, 22, 50)]
    elif card.action == "royal":
        lines += [label(22, 28, 13.5, "print", steps), _arrow(card.backward, 22, 40), _crowned(card.colour, 53)]
    elif card.action == "ring":
        lines += [f'<g transform="translate(22 34) scale(1.35)">{ring_row(1, 0, 0)}</g>', _crowned(card.colour, 53)]
    else:
        lines += [_scoring(card), label(22, 54, 7.8, "print", say(f"face.{card.action}"))]
    return "".join(lines)


def _crowned(colour: str | None, y: float) -> str:
    return f'<g transform="translate(22 {y:g}) scale(.85)">{_crown_colours(colour)}</g>'


def _arrow(backward: bool, x: float, y: float) -> str:
    """An arrow forward, or one in both directions."""
    tail = "M-9 0L-5-4M-9 0L-5 4" if backward else ""
    return f'<path class="way none round" transform="translate({x:g} {y:g})" d="M-9 0H9M9 0L5-4M9 0L5 4{tail}"/>'


def _scoring(card: Card) -> str:
    if card.action in ("all", "reversed"):
        return label(22, 34, 24, "print", "+" if card.action == "all" else MINUS)
    if card.action == "carpet":
        return '<rect class="carpet" x="6" y="27" width="32" height="14" rx="2"/>' + "".join(
            f'<circle class="pale" cx="{x}" cy="34" r="3.6"/>' for x in (15, 29)
        )
    if card.action == "choice":
        return (
            f'<g transform="translate(11 34) scale(.55)">{_arrow(False, 0, 0)}</g>'
            '<circle class="ring none" cx="22.5" cy="34" r="4"/>'
            f'<path class="print" transform="translate(34 34) scale(.5)" d="{STAR}"/>'
        )
    colours = ("green", "yellow", "red") if card.action == "colors" else ("red", "red", "red")
    return "".join(
        f'<rect class="{colour}" x="{x}" y="29" width="9.5" height="11" rx="2"/>'
        for colour, x in zip(colours, (5, 17.2, 29.5), strict=True)
    )


def _crown_colours(colour: str | None) -> str:
    """A silver or bronze crown, or one with half of each for a card for any royal: 24 x 16."""
    if colour:
        return f'<path class="{colour} rim" d="{CROWN}"/>'
    return (
        '<path class="silver" d="M0-9V7H-10L-12-6L-5.5-1Z"/><path class="bronze" d="M0-9V7H10L12-6L5.5-1Z"/>'
        f'<path class="rim none" d="{CROWN}"/>'
    )
