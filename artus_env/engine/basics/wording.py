"""Words for people, the same in every game."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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


def markdown(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def observation_table(rows: Sequence[Sequence[object]]) -> str:
    """Lines of `Layout.rows` as a table."""
    several = any(" x " in str(size) for _, size, *_ in rows)
    meaning = "meaning (of the first)" if several else "meaning"
    return markdown(["index", "size", "block", "range", "scale", "as floats", meaning], rows)
