"""Words for people, the same in every game."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def counted(number: int, noun: str, form: str = "") -> str:
    """A number of things: `1 move`, `2 moves`.

    Args:
        number: How many.
        noun: One of them.
        form: How the number is written, as for `format`: "," separates thousands.
    """
    return f"{number:{form}} {noun}{'' if number == 1 else 's'}"


def did_you_mean(word: object, names: Iterable[str]) -> str:
    """What a message adds about a name that doesn't exist: `; did you mean greedy?`, or nothing if none is like it."""
    near = get_close_matches(word.lower(), list(names)) if isinstance(word, str) else []
    return f"; did you mean {' or '.join(near)}?" if near else ""


def signed(value: int) -> str:
    """A number with a true minus sign, as wide as a plus sign."""
    return f"\N{MINUS SIGN}{-value}" if value < 0 else f"{value}"


def letter_of(player: int) -> str:
    """The letter that pictures and lists call a player by: A, B, ..."""
    return chr(ord("A") + player)
