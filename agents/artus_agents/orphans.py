"""Kills processes left over from programs whose launcher was killed and that have no PID namespace (see `launcher`).
Linux only.

While such programs run, this process adopts all its orphaned descendants (`PR_SET_CHILD_SUBREAPER`), including those
not started by a program. Only processes with a program's mark are killed and reaped here.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import resource
import signal
import threading
import time
from contextlib import suppress

from artus_agents.launcher import PR_SET_CHILD_SUBREAPER, descendants

PR_GET_CHILD_SUBREAPER = 37  # <linux/prctl.h>
HIGHEST_MARK = 2**62
"""A program's mark is its hard limit `RLIMIT_RTTIME`. Marks count down from our own limit, or from this number if our
limit is higher: 2**62 microseconds, in effect no limit."""

_libc = ctypes.CDLL(None)
_lock = threading.RLock()  # garbage collection may end a program at any point
_numbers = itertools.count(1)
_marks: set[tuple[int, int]] = set()  # (owner, mark) of running programs: a forked copy isn't their owner
_before: dict[int, int] = {}  # whether that process adopted orphans before


def _in_child() -> None:
    global _lock
    _lock = threading.RLock()  # in the parent a thread may hold it that doesn't exist here


os.register_at_fork(after_in_child=_in_child)


def new_mark() -> int:
    """A mark for a program to be started by the launcher. From now on its orphans become our children."""
    process = os.getpid()
    with _lock:
        if not _marks_of(process):
            adopts = ctypes.c_int()
            _libc.prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(adopts))
            _before[process] = adopts.value
        mark = _own_limit() - next(_numbers)
        _marks.add((process, mark))
        _libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    return mark


def end(mark: int, seconds: float) -> None:
    """Kill and reap the remaining processes of a program whose launcher has ended.

    Args:
        mark: See `new_mark`.
        seconds: How long to wait until all are gone.
    """
    process = os.getpid()
    deadline = time.monotonic() + seconds
    with suppress(OSError):  # no /proc
        while (left := _left_of(mark)) and time.monotonic() < deadline:
            for one in left:
                with suppress(OSError):
                    os.kill(one, signal.SIGKILL)
            for one in left:
                with suppress(ChildProcessError):
                    os.waitpid(one, os.WNOHANG)
            time.sleep(0.001)
    with _lock:
        _marks.discard((process, mark))
        if not _marks_of(process):
            _libc.prctl(PR_SET_CHILD_SUBREAPER, _before.get(process, 0))


def _left_of(mark: int) -> set[int]:
    """Our children with this mark, and all their descendants.

    A program can lower its mark, so a child with an unknown mark counts as this program's. Children without a mark are
    left alone: they may run programs of their own.
    """
    own = os.getpid()
    not_ours = {_own_limit(), *_marks_of(own)} - {mark}
    left: set[int] = set()
    for process, parent in descendants(own).items():  # parents come before their children
        if parent in left or (parent == own and _limit_of(process) not in not_ours):
            left.add(process)
    return left


def _marks_of(process: int) -> set[int]:
    return {mark for owner, mark in _marks.copy() if owner == process}


def _own_limit() -> int:
    return _limit_of(0)


def _limit_of(process: int) -> int:
    """The hard limit that serves as the mark of a process (0: this process). Our own limit if that process is gone or
    can't be read."""
    try:
        limit = resource.prlimit(process, resource.RLIMIT_RTTIME)[1]
    except OSError:
        return _own_limit()
    return HIGHEST_MARK if limit == resource.RLIM_INFINITY else min(limit, HIGHEST_MARK)
