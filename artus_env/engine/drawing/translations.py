"""Texts for people in several languages: a catalogue for each, and the language that is spoken now.

A catalogue is a JSON file `LANGUAGE.json` in a folder: key -> text, with places for values such as `{name}`. A text
that depends on a number `n` is an object with the forms `one` and `other`. Scripts in the browser read the same files,
by the same rules (`texts.js` of the play page).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

LANGUAGES = {"en": "English", "de": "Deutsch"}
"""Each with what it calls itself; the first is spoken unless something else is asked for."""
_DEFAULT = next(iter(LANGUAGES))
_now: ContextVar[str] = ContextVar("language", default=_DEFAULT)

Entry = str | Mapping[str, str]


def language() -> str:
    """The language that is spoken now."""
    return _now.get()


@contextmanager
def speaking(wanted: str) -> Iterator[None]:
    """Speak a language within the block: in this thread, or in this task of an event loop.

    Raises:
        ValueError: If it is none of `LANGUAGES`.
    """
    if wanted not in LANGUAGES:
        raise ValueError(f"language must be one of {', '.join(LANGUAGES)}, got {wanted!r}")
    token = _now.set(wanted)
    try:
        yield
    finally:
        _now.reset(token)


def preferred(accepted: str) -> str:
    """The one of `LANGUAGES` that somebody likes best, by the Accept-Language header of their browser."""
    best, best_weight = _DEFAULT, 0.0
    for part in accepted[:1000].split(","):
        tag, _, weight = part.replace(" ", "").lower().partition(";q=")
        name = tag.partition("-")[0]
        try:
            liked = float(weight) if weight else 1.0
        except ValueError:
            continue
        if name in LANGUAGES and liked > best_weight:
            best, best_weight = name, liked
    return best


class Texts:
    """The texts of a folder, said in the language that is spoken now.

    Args:
        folder: With the catalogues. A language that has none there is replaced by the first of `LANGUAGES`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[str, dict[str, Entry]] = {}

    def catalogue(self) -> dict[str, Entry]:
        """All texts in the language that is spoken now, empty if the folder has none.

        Raises:
            ValueError: If a file isn't a catalogue.
        """
        wanted = language()
        if wanted not in self._read:
            path = self.folder / f"{wanted}.json"
            if not path.is_file():
                path = self.folder / f"{_DEFAULT}.json"
            self._read[wanted] = read_catalogue(path) if path.is_file() else {}
        return self._read[wanted]

    def without(self, *beginnings: str) -> dict[str, Entry]:
        """The catalogue without the texts whose keys begin like one of these: what a page can do without."""
        return {key: entry for key, entry in self.catalogue().items() if not key.startswith(beginnings)}

    def __call__(self, key: str, **values: Any) -> str:
        """A text with its values, those of a form if there is a number `n`.

        Raises:
            KeyError: If there is no such text, or a value is missing.
        """
        entry = self.catalogue()[key]
        text = entry if isinstance(entry, str) else entry["one" if values["n"] == 1 else "other"]
        return re.sub(r"\{(\w+)\}", lambda place: str(values[place[1]]), text)

    def __contains__(self, key: str) -> bool:
        return key in self.catalogue()

    def listed(self, parts: list[str]) -> str:
        """Things one after the other: `one, two and three`. The catalogue has the last link as `and`."""
        return f"{', '.join(parts[:-1])} {self('and')} {parts[-1]}" if len(parts) > 1 else "".join(parts)


def read_catalogue(path: Path) -> dict[str, Entry]:
    """A catalogue from its file.

    Raises:
        ValueError: If it isn't one; the message names what is wrong.
    """
    found = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise ValueError(f"{path.name} must be an object with texts, got {type(found).__name__}")
    for key, entry in found.items():
        forms = entry if isinstance(entry, dict) else {"one": entry, "other": entry}
        if set(forms) != {"one", "other"} or not all(isinstance(text, str) for text in forms.values()):
            raise ValueError(f"{path.name}: {key} must be a text, or texts as one and other")
    return found
