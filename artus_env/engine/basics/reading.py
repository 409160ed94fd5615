"""Reading what others have written: files, requests, answers of programs. Nothing in them is believed.

One decoder checks types for all of them: booleans are no numbers, 1.0 is no whole number, numbers are finite, and what
is too deep, too long or of another type is refused in one short line that says where.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

MOST_SHOWN = 80
"""Letters of a foreign value in a message."""


def decode(content: str | bytes, wanted: type[T]) -> T:
    """JSON as a value of a type: a dataclass, `list[int]`, `dict[str, Any]` and so on.

    Args:
        content: The JSON text; a byte order mark in front, as Windows editors and .NET write it, is skipped.
        wanted: The type; keys that a dataclass doesn't have are ignored.

    Raises:
        ValueError: If it is no JSON or of another type; the message says what and where.
    """
    content = content.removeprefix("\ufeff") if isinstance(content, str) else content.removeprefix(BOM_UTF8)
    try:
        return msgspec.json.decode(content, type=wanted)
    except (ValueError, RecursionError) as error:
        raise ValueError(_short(error)) from None


def convert(value: Any, wanted: type[T]) -> T:
    """`decode` for what is no text any more, such as the content of a TOML file.

    Raises:
        ValueError: As for `decode`.
    """
    try:
        return msgspec.convert(value, wanted)
    except (ValueError, RecursionError) as error:
        raise ValueError(_short(error)) from None


def shown(value: Any, most: int = MOST_SHOWN) -> str:
    """A foreign value as a message can show it: one line, printable, not long."""
    try:
        text = value.decode(errors="replace") if isinstance(value, bytes) else value
        text = ascii(text[: most + 1]) if isinstance(text, str) else ascii(text)
    except (ValueError, RecursionError):  # a number of more digits than Python prints; brackets too deep
        return f"a value of type {type(value).__name__} that is too large to show"
    return text if len(text) <= most + 2 else f"{text[:most]}..."


def printable(text: str, most: int = MOST_SHOWN) -> str:
    """A foreign name as a page, a picture or a terminal can show it: one line, not long, its unprintable letters
    replaced."""
    text = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text[: most + 1])
    return text if len(text) <= most else f"{text[:most]}..."


def storable(name: str) -> str:
    """A path or name from the system as text that files can hold: bytes of it that aren't UTF-8 become `\\udcf6`, as on
    the terminal."""
    return name.encode(errors="backslashreplace").decode()


def check_storable(what: str, *names: str) -> None:
    """Refuse a name that no file can hold, because the system's name of a file in it isn't UTF-8.

    Raises:
        ValueError: With `what` and the name.
    """
    for name in names:
        if name != storable(name):
            raise ValueError(f"{what} {shown(name)} isn't UTF-8 and can't be kept: rename the file")


def _short(error: Exception) -> str:
    """What was wrong, in one line. The decoder's messages quote keys and values of any length."""
    if isinstance(error, RecursionError):
        return "brackets are nested too deep"
    text = " ".join(str(error).split())
    return text if len(text) <= 200 else f"{text[:200]}..."


def check_names(what: str, names: Any, num_players: int) -> None:
    """Refuse what isn't a list with a text for each player.

    Raises:
        ValueError: With what was given.
    """
    if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{what} must be a list of texts, got {shown(names)}")
    if len(names) != num_players:
        raise ValueError(f"{what} must name {num_players} players, got {shown(list(names))}")


# --- positions as data ----------------------------------------------------------------------------------------------

_MOST_KEYS = 5
"""Unknown keys in a message."""
_MOST_NAMES = 24
"""Names in a message, of those that can be meant."""


def check_keys(data: Any, keys: tuple[str, ...]) -> None:
    """Refuse what is no JSON object with just these keys.

    Raises:
        ValueError: With what is missing and what is unknown.
    """
    if not isinstance(data, dict):
        raise ValueError(f"a position is a JSON object, got {type(data).__name__}")
    missing = [key for key in keys if key not in data]
    unknown = [shown(key) for key in data if key not in keys]
    parts = [
        f"missing: {', '.join(missing)}" if missing else "",
        f"unknown: {', '.join(unknown[:_MOST_KEYS])}{', ...' * (len(unknown) > _MOST_KEYS)}" if unknown else "",
    ]
    if missing or unknown:
        raise ValueError("; ".join(filter(None, parts)))


def one_of(name: str, value: Any, names: Sequence[str]) -> int:
    """The place of a text in a list of names.

    Raises:
        ValueError: If it isn't there.
    """
    if not isinstance(value, str) or value not in names:
        known = ", ".join(names) if len(names) <= _MOST_NAMES else f"{names[0]}, {names[1]}, ... {names[-1]}"
        raise ValueError(f"{name} must be {'one of ' * (len(names) > 1)}{known}, got {shown(value)}")
    return names.index(value)


def some_of(name: str, values: Any, names: Sequence[str]) -> list[int]:
    """The places of texts in a list of names, in the order given.

    Raises:
        ValueError: If it is no list, or one isn't there.
    """
    return [one_of(f"{name}[{nth}]", value, names) for nth, value in enumerate(list_of(name, values))]


def list_of(name: str, values: Any, length: int | None = None) -> list[Any]:
    """A list, of a certain length where one is given.

    Raises:
        ValueError: If it is none.
    """
    if not isinstance(values, list) or (length is not None and len(values) != length):
        wanted = "a list" if length is None else f"a list of {length}"
        raise ValueError(f"{name} must be {wanted}, got {shown(values)}")
    return values
