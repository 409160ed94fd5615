"""Wording of messages, the same in every game."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def counted(number: int, noun: str, form: str = "") -> str:
    """Return a number with its noun: `1 move`, `2 moves`.

    Args:
        number: The number of things.
        noun: The noun in the singular.
        form: Format of the number, as for `format`: "," separates thousands.
    """
    return f"{number:{form}} {noun}{'' if number == 1 else 's'}"


def did_you_mean(word: object, names: Iterable[str]) -> str:
    """Return a hint for an unknown name: `; did you mean greedy?`, or an empty text if no name is similar."""
    near = get_close_matches(word.lower(), list(names)) if isinstance(word, str) else []
    return f"; did you mean {' or '.join(near)}?" if near else ""


def signed(value: int) -> str:
    """Return a number as text, with a true minus sign, as wide as a plus sign."""
    return f"\N{MINUS SIGN}{-value}" if value < 0 else f"{value}"


def letter_of(player: int) -> str:
    """Letter of a player in pictures and lists: A, B, ..."""
    return chr(ord("A") + player)
