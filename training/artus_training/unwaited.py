"""Threads that nobody waits for when the process ends: an agent's that thinks on while its table is cleared."""

from __future__ import annotations

import threading
from collections.abc import Callable

_NAME = "artus-unwaited"


def start(work: Callable[[], object]) -> threading.Thread:
    """Do `work` in such a thread."""
    thread = threading.Thread(target=work, name=_NAME, daemon=True)
    thread.start()
    return thread


def at_work() -> bool:
    """Whether there still is one.

    Python must not be taken apart then: what the thread runs is compiled code, which would go with the rest.
    """
    return any(thread.name == _NAME for thread in threading.enumerate())
