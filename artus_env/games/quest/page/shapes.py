"""Parts of the picture of the King's quests: colours, the style sheet, signs, cards, tags of quests."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from artus_env import pictures as drawing
from artus_env.games.quest.components import MAX_PLAYERS, QUESTS, VIRTUES, Components
from artus_env.games.quest.page import say
from artus_env.games.quest.page.deeds import needs_of, place_of, value_of, virtue_of
from artus_env.pictures import CARD_HEIGHT, CARD_WIDTH, label, placed, short, xml_text

VIRTUE_COLOURS = ("#093bc4", "#ad0302", "#0c9f67", "#eda90e")
"""Blue, red, green and amber, by the number of the virtue, the same in both themes. They differ for every kind of
colour vision; a test computes it."""

COLOURS: dict[str, tuple[str, str]] = {
    # class: fill in the light theme, in the dark theme
    **drawing.COLOURS,
    "place": ("#e3d2b4", "#453c32"),
    "camelot": ("#efd48f", "#5f4c1f"),
    "emblem": ("#c4ad84", "#6d6051"),
    "table": ("#fbf6ea", "#24211e"),
    "back": ("#7a4668", "#895276"),
    "deed": ("#4c6478", "#4c6478"),  # head of action cards
    "canvas": ("#fffdf8", "#cfc3b0"),  # tents
    **{f"virtue{number}": (colour, colour) for number, colour in enumerate(VIRTUE_COLOURS)},
}
STROKES: dict[str, tuple[str, str, float]] = {
    # class: colour in the light theme, in the dark theme, width
    **drawing.STROKES,
    "thin-rim": ("#2a2520", "#2a2520", 0.8),
    "road": ("#d8c6a4", "#3d362e", 20),
    "trail": ("#2a2520", "#f7f0e4", 3),
    "bidden": ("#e0b23c", "#e0b23c", 4),
    "slot": ("#a8977a", "#6b6156", 1.5),
    "strike": ("#2a2520", "#f2ebdf", 2.6),
    "stitch": ("#fffdf8", "#fffdf8", 1.4),
}

SWORD = "M0-12.5L2.2-9.5V3.5H7V6.5H2.2V9A2.6 2.6 0 1 1-2.2 9V6.5H-7V3.5H-2.2V-9.5Z"
"""About 24 x 24, centred, like the signs below."""
LANCE = "M-4.6 12.5V-7.5L-3.1-12.5L-1.6-7.5L11-3.2L-1.6 1.8V12.5Z"
DRAGON = (
    "M-11.5 5.5L-5.5-1.5C-5-6.5-1.5-9.5 2.5-10L1-12.5L6.5-11L9.5-12.5L9-8.5C12-4.5 12.5 5 9 12H-3C-1.5 9 1.5 7 2 3.5"
    "L-3 4.5L-4.5 8L-7 6L-9.5 8.5Z"
)
BOOK = "M0-6.5C-3-9.5-8-9.5-12-8.2V7.8C-8 6.5-3 6.5 0 9.5C3 6.5 8 6.5 12 7.8V-8.2C8-9.5 3-9.5 0-6.5Z"
SIGNS = (SWORD, LANCE, DRAGON, BOOK)
"""Signs by the number of the virtue."""
EYE = '<circle class="face" cx="1.8" cy="-4.6" r="1.5"/>'
SPINE = '<path class="stitch none round" d="M0-5.5V8"/>'

CORONET = "M-11 8V-6L-5.5 0L0-9L5.5 0L11-6V8Z"
COURT = "M-12-5L0-12L12-5V-2.5H-12ZM-9.5-.5H-6V7H-9.5ZM-1.8-.5H1.8V7H-1.8ZM6-.5H9.5V7H6ZM-12 8.5H12V12H-12Z"
SCROLL = "M-7-12H11.5C8.5-12 8.5-7.5 8.5-6V8C8.5 11 7 12 5 12H-9C-12 12-12 8-9 8H-7Z"
HORSE = (
    "M-9.5 12C-9.5 6-2 4-2 .5C-4 2.5-7 2.5-8 4.5C-9.5 6-12 4-11-.5L-7-7"
    "L-6.5-12.5L-2-9C5-9.5 10-4 9.5 4.5C9.3 8 9 10 9 12Z"
)
JOUST = "M-12 9.5L9-12L12-12L12-9L-9.5 12H-12ZM12 9.5L-9-12L-12-12L-12-9L9.5 12H12Z"
"""Two lances."""
SHIELD = "M-10-11H10V1C10 7 5 10.5 0 12.5C-5 10.5-10 7-10 1Z"
TENT = "M0-13L15 11H-15Z"

EMBLEMS = {
    "camelot": "M-20 14V-8H-16V-12H-12V-8H-8V-2H-5V-14H-2V-18H2V-14H5V-2H8V-8H12V-12H16V-8H20V14H4V6A4 4 0 0 0-4 6V14Z",
    "forest": "M-9-16L-1 0H-5L2 12H-7V16H-11V12H-20L-13 0H-17ZM10-10L17 3H14L20 13H12V16H8V13H3L6 3Z",
    "valley": "M-20 14V-8C-12-8-8 6 0 6C8 6 12-14 20-14V14Z",
    "lake": "M-20-6C-14-13-6-13 0-6S14 1 20-6V0C14 7 6 7 0 0S-14-7-20 0Z"
    "M-20 6C-14-1-6-1 0 6S14 13 20 6V12C14 19 6 19 0 12S-14 5-20 12Z",
    "moor": "M-14 14C-14 2-16-4-18-10C-13-6-11 0-11 6C-10-4-8-12-4-17C-5-8-6-2-6 14ZM4 14C4 4 3-2 2-8C7-4 8 0 9 6"
    "C10-2 13-8 18-12C14-4 12 4 12 14Z",
    "ford": "M-20 2H-12C-12-6-4-6-4 2H4C4-9 14-9 14 2H20V6H-20ZM-20 10H20V14H-20Z",
    "ruin": "M-18 14V-10L-14-14L-10-10V-2H-4V14ZM0 14V2H6V-6L10-2L12-12H16V14Z",
    "tower": "M-9 16L-7-6H-10V-16H-6V-12H-2V-16H2V-12H6V-16H10V-6H7L9 16H3V8A3 3 0 0 0-3 8V16Z",
}
"""Emblems by place, about 40 x 32."""

TAG_WIDTH, TAG_HEIGHT = 132, 25


def flat_colours(theme: str) -> Sequence[str]:
    """All colours of the theme "light" or "dark" as `#rrggbb`, for pictures that can have only few colours."""
    return drawing.flat_colours(theme, COLOURS, STROKES, MAX_PLAYERS)


@cache
def style(theme: str) -> str:
    """The style sheet of a theme. "auto" follows the reader's system: light, or dark if it asks for that."""
    sheet = drawing.style_sheet("quest", theme, COLOURS, STROKES, MAX_PLAYERS)
    return f"{sheet}.quest-{theme} .dim{{opacity:.4}}"


# --- signs ---------------------------------------------------------------------------------------------------------


def virtue_sign(virtue: str) -> str:
    """The sign of a virtue in its colour, 24 x 24, for a light background."""
    number = VIRTUES.index(virtue)
    inside = {"dragon": EYE, "book": SPINE}.get(virtue, "")
    return f'<path class="virtue{number} thin-rim round" d="{SIGNS[number]}"/>{inside}'


def no_card(card: str) -> str:
    """Sign that none of a player's hidden cards is of this kind: value and sign, struck through; 30 x 30."""
    return (
        f'<circle class="face cut" r="14"/>{placed(-3, 0, 0.62, virtue_sign(virtue_of(card)))}'
        f"{label(7.5, 3, 13, 'print', str(value_of(card)))}"
        f'<path class="strike none round" d="M-11 11L11-11"/>'
    )


def shields(points: int) -> str:
    """Points, on a golden shield of 20 x 24."""
    return (
        f'<path class="gold thin-rim" d="{SHIELD}"/>{label(0, -0.5, 14 if points < 100 else 9, "plate", str(points))}'
    )


# --- cards -----------------------------------------------------------------------------------------------------------


@cache
def virtue_front(card: str) -> str:
    """The front of a virtue card."""
    virtue = virtue_of(card)
    return drawing.card_front(f"virtue{VIRTUES.index(virtue)}", virtue_sign(virtue), value_of(card))


@cache
def virtue_back() -> str:
    """The back of a virtue card."""
    return drawing.card_back("back", CORONET)


def action_front(action: str) -> str:
    """The front of an action card: its name, and a sign of its effect."""
    return _action(action, say(f"face.{action.partition('-')[0]}"))


@cache
def _action(action: str, head: str) -> str:
    name, _, detail = action.partition("-")
    outlines = {"artus": CORONET, "tournament": JOUST, "court": COURT, "quest": SCROLL}
    if name == "exercise":
        inside = f"{placed(22, 36, 1.1, virtue_sign(detail))}{label(36, 54, 15, 'print', '+')}"
    elif name == "horse":
        inside = f"{placed(22, 31, 0.95, _path(HORSE))}{label(22, 53, 15, 'print', detail)}"
    elif name == "court":
        inside = f"{placed(22, 31, 0.95, _path(COURT))}{placed(22, 52, 0.55, virtue_sign('book'))}"
    else:
        inside = placed(
            22,
            38,
            1.25,
            f'<path class="{"gold thin-rim round" if name == "artus" else "print"}" d="{outlines[name]}"/>',
        )
    return (
        f'<rect class="face cut" width="{CARD_WIDTH}" height="{CARD_HEIGHT}" rx="5"/>'
        f'<path class="deed" d="M1 14V5Q1 1 5 1H39Q43 1 43 5V14Z"/>{label(22, 7.6, 9, "pale", head)}{inside}'
    )


def _path(outline: str) -> str:
    return f'<path class="print" d="{outline}"/>'


def card_at(inside: str, title: str, x: float, y: float, scale: float, attributes: str, mark: str = "") -> str:
    """SVG of a card with its title; x and y are its upper left corner. `attributes` are those of its group; `mark` is
    SVG that is drawn below the card."""
    transform = f'transform="translate({short(x)} {short(y)}) scale({round(scale, 3):g})"'
    return f"<g {attributes}><title>{xml_text(title)}</title><g {transform}>{mark}{inside}</g></g>"


@cache
def tag(quest: str, components: Components) -> str:
    """Demands and points of a quest: `TAG_WIDTH` x `TAG_HEIGHT`, centred, with room on the left."""
    parts = [
        f'<rect class="face cut" x="{-TAG_WIDTH / 2:g}" y="{-TAG_HEIGHT / 2:g}" width="{TAG_WIDTH}" '
        f'height="{TAG_HEIGHT}" rx="7"/>'
    ]
    needs = needs_of(quest, components)
    step = min(28, 84 / len(needs))
    for nth, card in enumerate(needs):
        x = -33 + step * nth
        parts.append(placed(x, 0, 0.68, virtue_sign(virtue_of(card))))
        parts.append(label(x + step / 2 - 1, 1, 13, "print", str(value_of(card))))
    points = components.quests[QUESTS.index(quest)].points
    return "".join(parts) + placed(54, 0, 0.92, shields(points))


def place_tag(quest: str, components: Components) -> str:
    """The tag of a quest with the emblem of its place in the room on the left."""
    emblem = f'<path class="print" d="{EMBLEMS[place_of(quest)]}"/>'
    return tag(quest, components) + placed(-53, 0, 0.42, emblem)
