"""Shares a compiled loop over a batch among threads, where that is safe.

Numba's threads spin for a moment between two loops, so that handing out work takes microseconds; Python's threads sleep
and take tens of them to wake. The price is two dangers, met here: a forked child must not use the threads that its
parent started (OpenMP ends the process), and not every layer bears calls from two Python threads at once. In both cases
the calling thread does all the work itself; the results are the same.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.core import config as numba_config

config: Any = numba_config  # its attributes are made at run time

CACHE_LINE = 64
"""Bytes that a processor's cores hand to each other as one."""

_lock = threading.Lock()
_forked = False


def _in_child() -> None:
    global _forked, _lock
    _forked = True
    _lock = threading.Lock()  # the parent's may be held by a thread that doesn't exist here


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


def available_cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def shares(count: int, threads: int) -> np.ndarray:
    """Bounds of equal shares of `count` games: shape (threads + 1,), int64."""
    return np.linspace(0, count, threads + 1).astype(np.int64)


def scratch(count: int, items: int, dtype: Any) -> np.ndarray:
    """Memory for `count` shares to write to, with any content: shape (count, `items` or some more).

    The rows that threads use lie a cache line apart: two that write to one line take turns, and are slower than one alone.
    """
    apart = -(-CACHE_LINE // np.dtype(dtype).itemsize)
    return np.empty((count, items + apart), dtype)


def run_shares(
    loop: Callable[..., Any], parallel_loop: Callable[..., Any], arguments: tuple[Any, ...], bounds: np.ndarray
) -> None:
    """Run `loop(*arguments, low, high)` over all shares, in parallel where that is possible."""
    threads = min(len(bounds) - 1, config.NUMBA_NUM_THREADS)
    if threads > 1 and not _forked and _lock.acquire(blocking=False):
        previous = numba.get_num_threads()
        try:
            if threads != previous:
                numba.set_num_threads(threads)
            parallel_loop(*arguments, bounds)
        finally:
            if threads != previous:
                numba.set_num_threads(previous)
            _lock.release()
    else:
        loop(*arguments, 0, int(bounds[-1]))
