"""Building blocks for a game's pictures and texts: parts of SVG, and catalogues in several languages.

A picture is a function of a position, see `Definition.picture`. Its parts are text: functions such as `badge`, `label`
and `card_front` return SVG, `PictureParts` puts a picture together, and `style_sheet` gives the parts their colours.
"""

from artus_env.engine.drawing.picture import PictureParts, Scene
from artus_env.engine.drawing.svg import (
    BADGES,
    CARD_HEIGHT,
    CARD_WIDTH,
    COLOURS,
    HEIGHT,
    STROKES,
    WIDTH,
    Fills,
    Strokes,
    badge,
    card_back,
    card_front,
    flat_colours,
    label,
    placed,
    short,
    shortened,
    small,
    small_badges,
    small_card,
    style_sheet,
    xml_text,
)
from artus_env.engine.drawing.translations import Texts, language

__all__ = [
    "BADGES", "CARD_HEIGHT", "CARD_WIDTH", "COLOURS", "HEIGHT", "STROKES", "WIDTH", "Fills", "PictureParts",
    "Scene", "Strokes", "Texts", "badge", "card_back", "card_front", "flat_colours", "label", "language",
    "placed", "short", "shortened", "small", "small_badges", "small_card", "style_sheet", "xml_text",
]  # fmt: skip
