"""How commands end: with wrong usage, or early."""

from __future__ import annotations


class UsageError(Exception):
    """Something that the user can mend: shown in one line, without a traceback; exit code 2."""


class Finished(SystemExit):
    """A command that ends early, with this exit code. Any other SystemExit comes from code of agents and games."""
