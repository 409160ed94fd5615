"""What is left of programs whose launcher was killed, where no PID namespace holds it together (see `launcher`). Linux
only.

While such programs run, this process adopts everybody below it whose parent is gone (`PR_SET_CHILD_SUBREAPER`): also
those that don't come from a program. Only those that bear a program's mark are killed and collected here.
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
"""Microseconds without a pause: as good as no limit."""

_libc = ctypes.CDLL(None)
_lock = threading.RLock()  # a program may be ended by the collector of garbage in the middle of anything
_numbers = itertools.count(1)
_marks: set[tuple[int, int]] = (
    set()
)  # of programs that run, each with the process that started it: a fork isn't its parent
_before: dict[int, int] = {}  # whether that process adopted orphans anyway


def _in_child() -> None:
    global _lock
    _lock = threading.RLock()  # the parent's may be held by a thread that isn't here


os.register_at_fork(after_in_child=_in_child)


def new_mark() -> int:
    """A mark for a program to be started, as the launcher takes it. From now on its orphans become our children."""
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
    """Kill and collect what is left of a program whose launcher has ended.

    Args:
        mark: See `new_mark`.
        seconds: How long to wait until all of it is gone.
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
    """Our children that bear this mark, and all below them.

    A program can lower its mark, so a child with an unknown mark counts as this program's.
    Children without a mark are not looked into: they may run programs of their own.
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
    """The hard limit that is the mark of those who have one; 0 is this process. Ours if it is gone or not ours to
    see."""
    try:
        limit = resource.prlimit(process, resource.RLIMIT_RTTIME)[1]
    except OSError:
        return _own_limit()
    return HIGHEST_MARK if limit == resource.RLIM_INFINITY else min(limit, HIGHEST_MARK)
