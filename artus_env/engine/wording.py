"""Words for people, the same in every game."""

from __future__ import annotations


def counted(number: int, noun: str, form: str = "") -> str:
    """A number of things: `1 move`, `2 moves`.

    Args:
        number: How many.
        noun: One of them.
        form: How the number is written, as for `format`: "," separates thousands.
    """
    return f"{number:{form}} {noun}{'' if number == 1 else 's'}"


def signed(value: int) -> str:
    """A number with a true minus sign, as wide as a plus sign."""
    return f"\N{MINUS SIGN}{-value}" if value < 0 else f"{value}"


def letter_of(player: int) -> str:
    """The letter that pictures and lists call a player by: A, B, ..."""
    return chr(ord("A") + player)
