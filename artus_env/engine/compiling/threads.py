"""Split a compiled loop over a batch among threads if that pays. docs/compiling.md explains it.

The threads are Python's. Between two loops they spin for a moment in compiled code, without the GIL, so that handing
out work takes microseconds; then they sleep. A share is a block of the loop's games: any free thread, including the
caller, takes the next share. A late thread finds no share left; the caller waits only for shares still in progress.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numba.core.errors import NumbaError

from artus_env.engine.compiling.intrinsics import fetch_add, load, pause, store
from artus_env.engine.compiling.jit import DISABLED, Function, jit
from artus_env.engine.compiling.pacing import Pace
from artus_env.engine.compiling.quotas import available_cores

CACHE_LINE = 64
"""Bytes that processor cores exchange as one unit."""
TAKEN, DONE, BUSY, ASLEEP = 0, CACHE_LINE, 2 * CACHE_LINE, 2 * CACHE_LINE + 8
"""Byte offsets in an array of `_words`. In a job: the number of shares taken, and of shares done. In a thread: whether
it is working on a share, and whether it sleeps."""
CLOSED = -1
MOST_THREADS = 256
SPINS = 5000
"""Number of times that a thread checks for new work before it sleeps: less than a millisecond. Waking a thread takes
tens of microseconds, half a step of 1,024 games; a spinning thread keeps other threads from using its core."""
LOOK_AGAIN = 100e-6
"""Seconds between two checks for the end of the other threads' shares, after spinning didn't see it."""


def _words() -> np.ndarray:
    """Memory for the words of a job or a thread (see `TAKEN`), all zero."""
    return np.zeros(3 * CACHE_LINE // 8, np.int64)


class Job(NamedTuple):
    """A call of a loop that is split among threads."""

    run: Callable[..., Any]
    """The attribute `run` of the loop, see `jit_shared`."""
    counters: np.ndarray
    """See `TAKEN`."""
    bounds: np.ndarray
    arguments: tuple[Any, ...]
    errors: list[BaseException]
    """Errors in shares of other threads."""


@jit
def _newer_job(job_number, thread_words, last_number):
    """Return the number of the newest job, `job_number[0]`, as soon as it differs from `last_number`. If it doesn't for
    a while, mark the thread as asleep and return `last_number`."""
    for _ in range(SPINS):
        number = load(job_number.ctypes.data)
        if number != last_number:
            return number
        pause()
    store(thread_words.ctypes.data + ASLEEP, 1)
    return last_number


@jit
def _count_failed_share(counters, thread_words):
    """Count the failed share of a thread as done, if the thread was working on one."""
    if load(thread_words.ctypes.data + BUSY):
        store(thread_words.ctypes.data + BUSY, 0)
        fetch_add(counters.ctypes.data + DONE, 1)


@jit
def _all_done(counters, count):
    """Whether all shares are done, or become done while this function spins."""
    for _ in range(SPINS):
        if load(counters.ctypes.data + DONE) == count:
            return True
        pause()
    return False


def jit_shared(function: Function) -> Function:
    """Like `jit`, for a loop `function(*arguments, low, high)` or `function(*arguments, low, high, share)` that
    `run_shares` runs; `share` is the number of the share.

    Python calls its attribute `run`: `run(counters, thread_words, bounds, *arguments)` does shares of a job until none
    is left. `counters` are the words of the job, `thread_words` those of the calling thread (see `TAKEN`).
    """
    compiled: Any = jit(function)
    if DISABLED:
        return function
    if "share" in function.__code__.co_varnames[: function.__code__.co_argcount]:
        loop = compiled
    else:

        @jit
        def loop(*arguments):
            compiled(*arguments[:-1])

    def run(counters, thread_words, bounds, *arguments):
        taken_address, done_address = counters.ctypes.data + TAKEN, counters.ctypes.data + DONE
        busy_address = thread_words.ctypes.data + BUSY
        count = len(bounds) - 1
        share = fetch_add(taken_address, 1)
        while share < count:
            store(busy_address, 1)
            loop(*arguments, bounds[share], bounds[share + 1], share)
            store(busy_address, 0)
            fetch_add(done_address, 1)
            share = fetch_add(taken_address, 1)

    for inner in (loop, run):
        if inner is not compiled:
            inner.__module__, inner.__qualname__ = function.__module__, f"{function.__qualname__}.{inner.__name__}"
    compiled.run = jit(run)
    return compiled


class Crew:
    """Threads of a process that do shares of loops, for one caller at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._job: Job | None = None
        """The newest job until it is done; it holds the arrays of its loop."""
        self._job_number, self._caller_words = _words(), _words()
        self._threads: list[tuple[threading.Thread, np.ndarray, threading.Lock]] = []
        """Each thread with its words and its bell: a lock that the sleeping thread waits for."""

    def run(self, run: Callable[..., Any], arguments: tuple[Any, ...], bounds: np.ndarray) -> None:
        """Do all shares of a loop; `run` is the attribute made by `jit_shared`. The caller holds the lock.

        Raises:
            Exception: The error of a share, or an interrupt, after all shares have ended.
        """
        self._finish()  # the last loop may be unfinished, after several interrupts at once
        self._job = job = Job(run, _words(), bounds, arguments, [])
        self._finish()
        if job.errors:
            raise job.errors[0]

    def _finish(self) -> None:
        """Finish the newest job."""
        error: BaseException | None = None
        while job := self._job:
            try:
                self._wake(min(len(job.bounds) - 1, MOST_THREADS) - 1)
                _count_failed_share(job.counters, self._caller_words)
                job.run(job.counters, self._caller_words, job.bounds, *job.arguments)
                while not _all_done(job.counters, len(job.bounds) - 1):
                    time.sleep(LOOK_AGAIN)
                self._job = None
            except NumbaError:  # the loop can't be compiled, so no thread has started it
                self._job = None
                raise
            except BaseException as new_error:  # from a share of this thread, or from a signal, which may come anywhere
                error = error or new_error
        if error:
            raise error

    def _wake(self, count: int) -> None:
        """Notify `count` threads of the newest job; start and wake threads as needed."""
        with suppress(RuntimeError):  # no more threads available: the existing ones do all the work
            while len(self._threads) < count:
                thread_words, bell = _words(), threading.Lock()
                bell.acquire()
                name = f"artus-{len(self._threads) + 1}"
                thread = threading.Thread(target=self._serve, args=(thread_words, bell), name=name, daemon=True)
                thread.start()
                self._threads.append((thread, thread_words, bell))
        if self._job_number[0] != CLOSED:
            self._job_number[0] += 1
        for _, thread_words, bell in self._threads[:count]:
            if thread_words[ASLEEP // 8]:
                thread_words[ASLEEP // 8] = 0
                bell.release()

    def _serve(self, thread_words: np.ndarray, bell: threading.Lock) -> None:
        """Main loop of a thread."""
        last_number = 0
        while (number := _newer_job(self._job_number, thread_words, last_number)) != CLOSED:
            if number == last_number:
                bell.acquire()
            elif job := self._job:
                try:
                    job.run(job.counters, thread_words, job.bounds, *job.arguments)
                except BaseException as error:
                    job.errors.append(error)
                    _count_failed_share(job.counters, thread_words)
            last_number = number

    def end(self) -> None:
        """End the threads and wait for them: Python must not exit while they run."""
        self._job_number[0] = CLOSED
        while any(thread.is_alive() for thread, _, _ in self._threads):
            self._wake(len(self._threads))
            time.sleep(LOOK_AGAIN)


def _run_alone(run: Callable[..., Any], arguments: tuple[Any, ...], bounds: np.ndarray) -> None:
    """Do all games as one share."""
    words = _words()  # one array for both: the words of a job and those of a thread have different offsets
    run(words, words, bounds if len(bounds) == 2 else bounds[[0, -1]], *arguments)


_crew = Crew()
_paces: defaultdict[Hashable, Pace] = defaultdict(Pace)


@atexit.register
def _end_threads() -> None:
    if _crew.lock.acquire(timeout=1.0):  # otherwise a daemon thread is still working
        _crew.end()


def _reset_after_fork() -> None:
    global _crew
    _crew = Crew()  # the parent's threads don't exist here


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)


def run_shares(loop: Callable[..., Any], arguments: tuple[Any, ...], bounds: np.ndarray, kind: Hashable = None) -> None:
    """Run `loop(*arguments, low, high)` over all shares, in parallel if that is possible and pays. If two threads of a
    program do this at once, one does all its work itself; the results are the same.

    Args:
        loop: Runs the games `low..high-1`; made by `jit_shared`.
        arguments: Arguments of all shares.
        bounds: See `shares`.
        kind: Distinguishes calls of one loop whose games take different times.

    Raises:
        Exception: The error of a share; all other shares are done.
    """
    games = int(bounds[-1])
    if DISABLED:
        loop(*arguments, 0, games)
        return
    run = loop.run  # type: ignore[attr-defined]
    if len(bounds) == 2 or games == 0:
        _run_alone(run, arguments, bounds)
        return
    pace, crew = _paces[loop, games.bit_length(), kind], _crew
    if pace.should_share(games) and not crew.lock.locked():
        start = time.perf_counter()
        with crew.lock:  # an interrupt can't come between this and the next line
            crew.run(run, arguments, bounds)
        pace.record_shared(games, time.perf_counter() - start)
    else:
        start = time.thread_time()
        _run_alone(run, arguments, bounds)
        pace.record_alone(games, time.thread_time() - start)


def threads_for(games: int, games_per_thread: int, limit: int = 0) -> int:
    """Number of threads to use if each needs at least `games_per_thread` games to pay: at least 1, at most `limit` (0:
    one per core)."""
    max_threads = games // games_per_thread
    return (
        min(limit or available_cores(), max_threads) if max_threads > 1 else 1
    )  # asking the system takes microseconds


def shares(count: int, threads: int) -> np.ndarray:
    """Bounds of equal shares of `count` games: shape (threads + 1,), int64."""
    return np.arange(threads + 1) * count // threads


def scratch(count: int, items: int, dtype: Any) -> np.ndarray:
    """Return memory for `count` shares to write to, with undefined content: shape (count, `items` or a few more).

    Rows of different threads lie at least a cache line apart: threads that write to the same line take turns, which is
    slower than one thread alone.
    """
    gap = -(-CACHE_LINE // np.dtype(dtype).itemsize)
    return np.empty((count, items + gap), dtype)
