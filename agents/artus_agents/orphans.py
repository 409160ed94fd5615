"""Kills processes that remain of programs without a PID namespace when their launcher was killed (see `launcher`).
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
_adopted_before: dict[int, int] = {}  # by process: whether it adopted orphans before its first program


def _renew_lock() -> None:
    """Make a new lock in a forked process."""
    global _lock
    _lock = threading.RLock()  # in the parent a thread may hold it that doesn't exist here


os.register_at_fork(after_in_child=_renew_lock)


def new_mark() -> int:
    """A mark for a program to be started by the launcher. From now on its orphans become our children."""
    process = os.getpid()
    with _lock:
        if not _marks_of(process):
            adopts = ctypes.c_int()
            _libc.prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(adopts))
            _adopted_before[process] = adopts.value
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
    with suppress(OSError):  # if there is no /proc
        while (remaining := _remaining_processes(mark)) and time.monotonic() < deadline:
            for orphan in remaining:
                with suppress(OSError):
                    os.kill(orphan, signal.SIGKILL)
            for orphan in remaining:
                with suppress(ChildProcessError):
                    os.waitpid(orphan, os.WNOHANG)
            time.sleep(0.001)
    with _lock:
        _marks.discard((process, mark))
        if not _marks_of(process):
            _libc.prctl(PR_SET_CHILD_SUBREAPER, _adopted_before.get(process, 0))


def _remaining_processes(mark: int) -> set[int]:
    """Our children with this mark, and all their descendants.

    A program can lower its mark, so a child with an unknown mark counts as this program's. Children without a mark are
    left alone: they may run programs of their own.
    """
    our_process = os.getpid()
    other_marks = {_own_limit(), *_marks_of(our_process)} - {mark}
    remaining: set[int] = set()
    for process, parent in descendants(our_process).items():  # parents come before their children
        if parent in remaining or (parent == our_process and _limit_of(process) not in other_marks):
            remaining.add(process)
    return remaining


def _marks_of(process: int) -> set[int]:
    """Marks of the programs that a process has started."""
    return {mark for owner, mark in _marks.copy() if owner == process}


def _own_limit() -> int:
    """The hard limit of this process."""
    return _limit_of(0)


def _limit_of(process: int) -> int:
    """The hard limit that serves as the mark of a process (0: this process). Our own limit if that process is gone or
    can't be read."""
    try:
        limit = resource.prlimit(process, resource.RLIMIT_RTTIME)[1]
    except OSError:
        return _own_limit()
    return HIGHEST_MARK if limit == resource.RLIM_INFINITY else min(limit, HIGHEST_MARK)
