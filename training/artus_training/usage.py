"""Exceptions that end a command: wrong usage, or an early end."""

from __future__ import annotations


class UsageError(Exception):
    """An error that the user can fix: shown in one line, without a traceback; exit code 2."""


class Finished(SystemExit):
    """Ends a command early, with this exit code. Any other SystemExit comes from code of agents and games."""

    code: int
