"""Texts of the play page and of the games on it, in the current language, and external text made safe to display.

The optional page content of a game is defined by `artus_env.authoring.Sentences` and `Browser`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from artus_env.engine.basics.wording import signed
from artus_env.engine.contract.definition import Definition
from artus_env.engine.drawing.translations import Entry, Texts

say = Texts(Path(__file__).parent / "texts")
"""Texts of the play page: the catalogues in `texts`, which its scripts use as well."""
NOT_IN_SCRIPTS = ("help.", "picture.", "reason.")
"""Key prefixes of a game's texts that only the server uses."""


class Message(NamedTuple):
    """A text of the play page that is put into the current language when it is shown."""

    key: str
    values: dict[str, Any]

    def __str__(self) -> str:
        return say(self.key, **self.values)


@cache
def _texts(page: Path) -> Texts:
    return Texts(page / "texts")


def texts_of(definition: Definition) -> Texts:
    """A game's catalogues, in the folder `texts` of its page; empty ones if it has none."""
    return _texts(definition.page or Path(__file__).parent / "no page")


def texts_of_script(definition: Definition) -> dict[str, Entry]:
    """A game's texts that its script needs."""
    return texts_of(definition).without(*NOT_IN_SCRIPTS)


def text_of(definition: Definition, key: str, default: str = "") -> str:
    """A game's text, or the default if it has none."""
    say_of_game = texts_of(definition)
    return say_of_game(key) if key in say_of_game else default


def title_of(definition: Definition) -> str:
    """A game's title: its text `title`, else the definition's."""
    return text_of(definition, "title", definition.title)


def score_of(definition: Definition) -> str:
    """Name of the game's points: its text `score`, else the definition's."""
    return text_of(definition, "score", definition.score)


def scored(definition: Definition, points: int) -> str:
    """A number of points in words, such as `3 fields`: the game's text `scored`, else the number and the name of the
    points."""
    say_of_game, number = texts_of(definition), signed(points)
    if "scored" in say_of_game:
        return say_of_game("scored", n=points, points=number)
    return say("points", points=number, score=score_of(definition))


def rules_name(definition: Definition, rules: str) -> str:
    """Title of a rule set: its text `rules.NAME`, else its name."""
    return text_of(definition, f"rules.{rules}", rules)


def rules_of(definition: Definition, rules: str) -> str:
    """Title of a rule set, empty if the game has only one."""
    return rules_name(definition, rules) if len(definition.rules) > 1 else ""


def readable(text: str, max_length: int) -> str:
    """External text for display: one line, printable, at most `max_length` characters."""
    text = "".join(letter if letter.isprintable() else "?" for letter in text[: max_length + 1])
    return text if len(text) <= max_length else f"{text[: max_length - 1]}…"
