"""Reading of untrusted input: files, requests, output of other programs.

One decoder checks all types: a boolean isn't a number, 1.0 isn't a whole number, and numbers are finite. Input that is
too deep, too long or of the wrong type is rejected with one short line that names the place.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

MOST_SHOWN = 80
"""Most characters of an untrusted value in a message."""


def decode(content: str | bytes, wanted: type[T]) -> T:
    """Decode JSON as a value of a type: a dataclass, `list[int]`, `dict[str, Any]` and so on.

    Args:
        content: The JSON text; a byte order mark at the beginning, as written by Windows editors and .NET, is skipped.
        wanted: That type; keys of the JSON that a dataclass doesn't have are ignored.

    Raises:
        ValueError: If the content isn't JSON or is of another type; the message names the error and its place.
    """
    content = content.removeprefix("\ufeff") if isinstance(content, str) else content.removeprefix(BOM_UTF8)
    try:
        return msgspec.json.decode(content, type=wanted)
    except (ValueError, RecursionError) as error:
        raise ValueError(_short(error)) from None


def convert(value: Any, wanted: type[T]) -> T:
    """`decode` for data that is already parsed, such as the content of a TOML file.

    Raises:
        ValueError: As for `decode`.
    """
    try:
        return msgspec.convert(value, wanted)
    except (ValueError, RecursionError) as error:
        raise ValueError(_short(error)) from None


def shown(value: Any, most: int = MOST_SHOWN) -> str:
    """Return an untrusted value for a message: printable, on one line, shortened."""
    try:
        text = value.decode(errors="replace") if isinstance(value, bytes) else value
        text = ascii(text[: most + 1]) if isinstance(text, str) else ascii(text)
    except (ValueError, RecursionError):  # a number with more digits than Python prints; brackets too deep
        return f"a value of type {type(value).__name__} that is too large to show"
    return text if len(text) <= most + 2 else f"{text[:most]}..."


def printable(text: str, most: int = MOST_SHOWN) -> str:
    """Return an untrusted name for a page, a picture or a terminal: on one line, shortened, unprintable characters
    replaced."""
    text = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text[: most + 1])
    return text if len(text) <= most else f"{text[:most]}..."


def storable(name: str) -> str:
    """Return a path or name from the system as text for a file: bytes that aren't UTF-8 become `\\udcf6`, as on the
    terminal."""
    return name.encode(errors="backslashreplace").decode()


def check_storable(what: str, *names: str) -> None:
    """Reject names that can't be stored, because a file name in them isn't UTF-8.

    Raises:
        ValueError: The message contains `what` and the name.
    """
    for name in names:
        if name != storable(name):
            raise ValueError(f"{what} {shown(name)} isn't UTF-8 and can't be kept: rename the file")


def _short(error: Exception) -> str:
    """Return the error in one line. The decoder's messages quote keys and values of any length."""
    if isinstance(error, RecursionError):
        return "brackets are nested too deep"
    text = " ".join(str(error).split())
    return text if len(text) <= 200 else f"{text[:200]}..."


def check_names(what: str, names: Any, num_players: int) -> None:
    """Reject anything but a list with one text per player.

    Raises:
        ValueError: The message contains the given value.
    """
    if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{what} must be a list of texts, got {shown(names)}")
    if len(names) != num_players:
        raise ValueError(f"{what} must name {num_players} players, got {shown(list(names))}")


# --- positions as data ----------------------------------------------------------------------------------------------

_MOST_KEYS = 5
"""Most unknown keys in a message."""
_MOST_NAMES = 24
"""Most valid names in a message."""


def check_keys(data: Any, keys: tuple[str, ...]) -> None:
    """Reject anything but a JSON object with exactly these keys.

    Raises:
        ValueError: The message lists the missing and the unknown keys.
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
    """Return the index of a text in a list of names.

    Raises:
        ValueError: If the text isn't in the list.
    """
    if not isinstance(value, str) or value not in names:
        known = ", ".join(names) if len(names) <= _MOST_NAMES else f"{names[0]}, {names[1]}, ... {names[-1]}"
        raise ValueError(f"{name} must be {'one of ' * (len(names) > 1)}{known}, got {shown(value)}")
    return names.index(value)


def some_of(name: str, values: Any, names: Sequence[str]) -> list[int]:
    """Return the indices of texts in a list of names, in the given order.

    Raises:
        ValueError: If `values` isn't a list, or contains anything but names.
    """
    return [one_of(f"{name}[{nth}]", value, names) for nth, value in enumerate(list_of(name, values))]


def list_of(name: str, values: Any, length: int | None = None) -> list[Any]:
    """Return a list, after a check of its type and, if given, its length.

    Raises:
        ValueError: If the type or the length is wrong.
    """
    if not isinstance(values, list) or (length is not None and len(values) != length):
        wanted = "a list" if length is None else f"a list of {length}"
        raise ValueError(f"{name} must be {wanted}, got {shown(values)}")
    return values
