"""Daemon threads, which the process doesn't wait for at its end, such as the thread of an agent whose game was
closed."""

from __future__ import annotations

import threading
from collections.abc import Callable

_NAME = "artus-daemon"


def start(work: Callable[[], object]) -> threading.Thread:
    """Run `work` in a daemon thread."""
    thread = threading.Thread(target=work, name=_NAME, daemon=True)
    thread.start()
    return thread


def at_work() -> bool:
    """Whether a thread that `start` created is still running.

    If so, the interpreter must not be shut down: the thread runs compiled code, which would be freed.
    """
    return any(thread.name == _NAME for thread in threading.enumerate())
