"""JSON values that a file from others may have at any place: of all types, some huge, deep or not printable."""

import json
from copy import deepcopy

TEXTS = [
    "null", "true", "1.0", "1e400", "-1", "7", "1" + "0" * 30, "1" + "0" * 4000, "1" + "0" * 9000, "[]", "[[]]", "{}",
    '{"x": 1}', '""', '"{{data}}</script>"', '"\\u202e\\u001b[31m\\n"', '"\\ud800"', '"' + "x" * 100_000 + '"',
    "[" * 900 + "]" * 900, "[" * 3000 + "]" * 3000, "[" * 100_000, "[" + "0," * 10_000 + "0]",
]  # fmt: skip
"""JSON texts, some of them invalid."""


def _values():
    for text in TEXTS:
        try:
            yield json.loads(text)
        except (ValueError, RecursionError):
            continue
    yield 10**5000  # too long for Python's JSON reader, but not for others


VALUES = list(_values())
"""The values that Python reads from `TEXTS`, and one that is too long for its reader."""


def places(data, path=()):
    """The path of every value within a JSON value."""
    if path:
        yield path
    for key, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield from places(value, (*path, key))


def replaced(data, path, value):
    """A copy of a JSON value with another value at a path."""
    data = deepcopy(data)
    *parents, key = path
    container = data
    for parent in parents:
        container = container[parent]
    container[key] = value
    return data


def refusal(error, read, data):
    """The message of the error that `read` raises for some data; None if it accepts them."""
    try:
        read(data)
    except error as raised:
        return str(raised)
    return None


def is_short_line(text, most=400):
    """Whether a message is short enough and printable in one line."""
    return 0 < len(text) < most and text.isprintable()
