"""Names as displayed: detects invisible names and names that look alike."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import count

from artus_training.play.texts import say

BLANK = "\u115f\u1160\u2800\u3164\uffa0"
"""Fillers and the empty Braille pattern: Unicode counts them as letters and symbols, but they look like spaces."""
IGNORABLE = (0x034F, 0x17B4, 0x17B5, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
"""Printable characters without a glyph: joiners and variation selectors."""
CYRILLIC, GREEK = ("авеѕіјкмнорстухһԁԛԝ", "abesijkmhopctyxhdqw"), ("αβεζηικμνορτυχ", "abezhikmnoptyx")
"""Letters that look like Latin ones, in upper or lower case, and these Latin letters."""
_LOOK = (
    dict.fromkeys(map(ord, BLANK), " ")
    | dict.fromkeys(IGNORABLE, None)
    | str.maketrans(*CYRILLIC)
    | str.maketrans(*GREEK)
)


def fits(name: str, longest: int) -> bool:
    """Whether a name is printable, not too long, and has at least one visible character."""
    return name.isprintable() and len(name) <= longest and any(map(visible, name))


def visible(letter: str) -> bool:
    """Whether a character draws a glyph of its own; combining marks don't."""
    return unicodedata.category(letter)[0] in "LNPS" and letter not in BLANK


def look(name: str) -> str:
    """A key that is equal for names that differ only in case, blanks, invisible characters or script."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().translate(_LOOK).split())


def unique(names: Sequence[str]) -> list[str]:
    """Append a number to each name that looks like an earlier one: the smallest from 2 on that makes it unique."""
    final_names: list[str] = []
    earlier_looks: set[str] = set()
    taken_looks = set(map(look, names))
    for name in names:
        distinct = name
        if look(name) in earlier_looks:
            numbered = (say("level.numbered", name=name, number=number) for number in count(2))
            distinct = next(candidate for candidate in numbered if look(candidate) not in taken_looks)
            taken_looks.add(look(distinct))
        earlier_looks.add(look(name))
        final_names.append(distinct)
    return final_names
