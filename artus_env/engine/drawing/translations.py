"""Texts in several languages: a catalogue for each language, and the current language.

A catalogue is a JSON file `LANGUAGE.json` in a folder: key -> text, with placeholders for values such as `{name}`. A
text that depends on a number `n` is an object with the forms `one` and `other`. Scripts in the browser read the same
files by the same rules (`texts.js` of the play page).
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
"""Languages, each with its own name for itself; the first is the default."""
_DEFAULT = next(iter(LANGUAGES))
_current: ContextVar[str] = ContextVar("language", default=_DEFAULT)

Entry = str | Mapping[str, str]


def language() -> str:
    """The current language."""
    return _current.get()


@contextmanager
def speaking(wanted: str) -> Iterator[None]:
    """Set the language within the block: in this thread, or in this task of an event loop.

    Raises:
        ValueError: If it isn't in `LANGUAGES`.
    """
    if wanted not in LANGUAGES:
        raise ValueError(f"language must be one of {', '.join(LANGUAGES)}, got {wanted!r}")
    token = _current.set(wanted)
    try:
        yield
    finally:
        _current.reset(token)


def preferred(accepted: str) -> str:
    """Return the preferred one of `LANGUAGES` for a user, from the Accept-Language header of their browser."""
    best_name, best_weight = _DEFAULT, 0.0
    for part in accepted[:1000].split(","):
        tag, _, weight_text = part.replace(" ", "").lower().partition(";q=")
        name = tag.partition("-")[0]
        try:
            weight = float(weight_text) if weight_text else 1.0
        except ValueError:
            continue
        if name in LANGUAGES and weight > best_weight:
            best_name, best_weight = name, weight
    return best_name


class Texts:
    """Texts of a folder in the current language.

    Args:
        folder: Folder with the catalogues. A language without a catalogue there is replaced by the first of
            `LANGUAGES`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._catalogues: dict[str, dict[str, Entry]] = {}

    def catalogue(self) -> dict[str, Entry]:
        """Return all texts in the current language, none if the folder has none.

        Raises:
            ValueError: If a file isn't a catalogue.
        """
        wanted = language()
        if wanted not in self._catalogues:
            path = self.folder / f"{wanted}.json"
            if not path.is_file():
                path = self.folder / f"{_DEFAULT}.json"
            self._catalogues[wanted] = read_catalogue(path) if path.is_file() else {}
        return self._catalogues[wanted]

    def without(self, *beginnings: str) -> dict[str, Entry]:
        """Return the catalogue without the texts whose keys have one of these beginnings: texts that a page doesn't
        need."""
        return {key: entry for key, entry in self.catalogue().items() if not key.startswith(beginnings)}

    def __call__(self, key: str, **values: Any) -> str:
        """Return a text with its values filled in; a number `n` selects the form.

        Raises:
            KeyError: If there is no such text, or a value is missing.
        """
        entry = self.catalogue()[key]
        text = entry if isinstance(entry, str) else entry["one" if values["n"] == 1 else "other"]
        return re.sub(r"\{(\w+)\}", lambda match: str(values[match[1]]), text)

    def __contains__(self, key: str) -> bool:
        return key in self.catalogue()

    def listed(self, parts: list[str]) -> str:
        """Join items to a list: `one, two and three`; the last two are joined by the text `and` of the catalogue."""
        return f"{', '.join(parts[:-1])} {self('and')} {parts[-1]}" if len(parts) > 1 else "".join(parts)


def read_catalogue(path: Path) -> dict[str, Entry]:
    """Read a catalogue from its file.

    Raises:
        ValueError: If it isn't one; the message names the error.
    """
    catalogue = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(catalogue, dict):
        raise ValueError(f"{path.name} must be an object with texts, got {type(catalogue).__name__}")
    for key, entry in catalogue.items():
        forms = entry if isinstance(entry, dict) else {"one": entry, "other": entry}
        if set(forms) != {"one", "other"} or not all(isinstance(text, str) for text in forms.values()):
            raise ValueError(f"{path.name}: {key} must be a text, or texts as one and other")
    return catalogue
