"""Wrong usage, as every command reports it."""

from __future__ import annotations


class UsageError(Exception):
    """Something that the user can mend: shown in one line, without a traceback; exit code 2."""
