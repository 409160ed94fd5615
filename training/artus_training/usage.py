"""Exceptions that end a command: wrong usage, or an early end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class UsageError(Exception):
    """An error that the user can fix: shown in one line, without a traceback; exit code 2."""


class Finished(SystemExit):
    """Ends a command early, with this exit code. Any other SystemExit comes from code of agents and games."""

    code: int


@contextmanager
def shown_in_one_line(*kinds: type[Exception], about: object = "") -> Iterator[None]:
    """Turn errors of these kinds into a `UsageError`.

    Args:
        kinds: Such as ValueError.
        about: Subject of the message, such as a file; it comes first.
    """
    try:
        yield
    except kinds as error:
        raise UsageError(f"{about}: {error}" if about else str(error)) from error
