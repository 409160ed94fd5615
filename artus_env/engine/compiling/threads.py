"""Shares a compiled loop over a batch among threads, where that pays. docs/compiling.md explains it.

The threads are Python's. Between two loops they spin for a moment in compiled code, where Python doesn't know of them,
so that handing out work takes microseconds; then they sleep. Whoever is free takes the next share, the thread that has
the work among them. One that is late finds no share left, and nobody waits but for shares that somebody is at.
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
"""Bytes that a processor's cores hand to each other as one."""
TAKEN, DONE, BUSY, ASLEEP = 0, CACHE_LINE, 2 * CACHE_LINE, 2 * CACHE_LINE + 8
"""Bytes in an array of `_words`. Of a job: how many of its shares have been taken, and how many are done. Of a thread:
whether it is at a share, and whether it sleeps."""
CLOSED = -1
MOST_THREADS = 256
SPINS = 5000
"""How often a thread looks whether work has come before it sleeps: less than a millisecond. To wake one takes tens of
microseconds, half a step of 1,024 games; a thread that spins keeps others from their cores."""
LOOK_AGAIN = 100e-6
"""Seconds until it is looked again whether the others have done their shares, when they aren't just about to."""


def _words() -> np.ndarray:
    return np.zeros(3 * CACHE_LINE // 8, np.int64)


class Job(NamedTuple):
    """A loop that is shared."""

    run: Callable[..., Any]
    """See `jit_shared`."""
    counters: np.ndarray
    """See `TAKEN`."""
    bounds: np.ndarray
    arguments: tuple[Any, ...]
    errors: list[BaseException]
    """Of shares of other threads."""


@jit
def _newer_job(newest, own, seen):
    """The number of the newest job, once that isn't `seen` any more; if it still is after a while, the thread counts as
    asleep from here on."""
    for _ in range(SPINS):
        number = load(newest.ctypes.data)
        if number != seen:
            return number
        pause()
    store(own.ctypes.data + ASLEEP, 1)
    return seen


@jit
def _give_up(counters, own):
    """The share that a thread is at has failed, if it is at one: it counts as done."""
    if load(own.ctypes.data + BUSY):
        store(own.ctypes.data + BUSY, 0)
        fetch_add(counters.ctypes.data + DONE, 1)


@jit
def _all_done(counters, count):
    """Whether all shares are done, or are soon."""
    for _ in range(SPINS):
        if load(counters.ctypes.data + DONE) == count:
            return True
        pause()
    return False


def jit_shared(function: Function) -> Function:
    """Like `jit`, for a loop `function(*arguments, low, high)` or `function(*arguments, low, high, share)` that
    `run_shares` runs; `share` is the number of the share.

    Its attribute `run` is what Python runs: `run(counters, own, bounds, *arguments)` does shares of a job until none is
    left; `own` are the words of the thread.
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

    def run(counters, own, bounds, *arguments):
        taken, done, busy = counters.ctypes.data + TAKEN, counters.ctypes.data + DONE, own.ctypes.data + BUSY
        count = len(bounds) - 1
        share = fetch_add(taken, 1)
        while share < count:
            store(busy, 1)
            loop(*arguments, bounds[share], bounds[share + 1], share)
            store(busy, 0)
            fetch_add(done, 1)
            share = fetch_add(taken, 1)

    for part in (loop, run):
        if part is not compiled:
            part.__module__, part.__qualname__ = function.__module__, f"{function.__qualname__}.{part.__name__}"
    compiled.run = jit(run)
    return compiled


class Crew:
    """The threads of a process that do shares of loops, for one caller at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._job: Job | None = None
        """The newest one, until it is done; it holds the arrays of its loop."""
        self._newest, self._own = _words(), _words()
        self._threads: list[tuple[threading.Thread, np.ndarray, threading.Lock]] = []

    def run(self, run: Callable[..., Any], arguments: tuple[Any, ...], bounds: np.ndarray) -> None:
        """Do all shares of a loop; `run` is that of `jit_shared`. The caller holds the lock.

        Raises:
            Exception: That of a share, or an interrupt, once all shares have ended.
        """
        self._finish()  # several interrupts at once may have come while the last loop ran
        self._job = job = Job(run, _words(), bounds, arguments, [])
        self._finish()
        if job.errors:
            raise job.errors[0]

    def _finish(self) -> None:
        """Do what is left of the newest job."""
        error: BaseException | None = None
        while job := self._job:
            try:
                self._wake(min(len(job.bounds) - 1, MOST_THREADS) - 1)
                _give_up(job.counters, self._own)
                job.run(job.counters, self._own, job.bounds, *job.arguments)
                while not _all_done(job.counters, len(job.bounds) - 1):
                    time.sleep(LOOK_AGAIN)
                self._job = None
            except NumbaError:  # the loop can't be compiled, so no thread has begun
                self._job = None
                raise
            except BaseException as raised:  # of an own share; or Python acts on a signal, wherever it calls a function
                error = error or raised
        if error:
            raise error

    def _wake(self, count: int) -> None:
        """Let so many threads know that there is a job."""
        with suppress(RuntimeError):  # the system gives no more threads: those that there are do all
            while len(self._threads) < count:
                own, bell = _words(), threading.Lock()
                bell.acquire()
                name = f"artus-{len(self._threads) + 1}"
                thread = threading.Thread(target=self._serve, args=(own, bell), name=name, daemon=True)
                thread.start()
                self._threads.append((thread, own, bell))
        if self._newest[0] != CLOSED:
            self._newest[0] += 1
        for _, own, bell in self._threads[:count]:
            if own[ASLEEP // 8]:
                own[ASLEEP // 8] = 0
                bell.release()

    def _serve(self, own: np.ndarray, bell: threading.Lock) -> None:
        """What a thread does all its life."""
        seen = 0
        while (number := _newer_job(self._newest, own, seen)) != CLOSED:
            if number == seen:
                bell.acquire()
            elif job := self._job:
                try:
                    job.run(job.counters, own, job.bounds, *job.arguments)
                except BaseException as error:
                    job.errors.append(error)
                    _give_up(job.counters, own)
            seen = number

    def end(self) -> None:
        """Let the threads end, and wait for them: Python must not vanish under them."""
        self._newest[0] = CLOSED
        while any(thread.is_alive() for thread, _, _ in self._threads):
            self._wake(len(self._threads))
            time.sleep(LOOK_AGAIN)


_crew = Crew()
_paces: defaultdict[Hashable, Pace] = defaultdict(Pace)


@atexit.register
def _end() -> None:
    if _crew.lock.acquire(timeout=1.0):  # else a thread is at work that Python doesn't wait for
        _crew.end()


def _in_child() -> None:
    global _crew
    _crew = Crew()  # the parent's threads don't exist here


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


def run_shares(loop: Callable[..., Any], arguments: tuple[Any, ...], bounds: np.ndarray, kind: Hashable = None) -> None:
    """Run `loop(*arguments, low, high)` over all shares, in parallel where that is possible and pays. Of two threads of
    a program that do this at once, one does all its work itself; the results are the same.

    Args:
        loop: Runs the games `low..high-1`; made by `jit_shared`.
        arguments: Of all shares.
        bounds: See `shares`.
        kind: Tells apart calls of one loop whose games take differently long.

    Raises:
        Exception: What a share raised; the others have been done.
    """
    games = int(bounds[-1])
    if DISABLED:
        loop(*arguments, 0, games)
        return
    run = loop.run  # type: ignore[attr-defined]
    if len(bounds) == 2 or games == 0:
        words = _words()
        run(words, words, bounds[[0, -1]], *arguments)
        return
    pace, crew = _paces[loop, games.bit_length(), kind], _crew
    if pace.pays(games) and not crew.lock.locked():
        start = time.perf_counter()
        with crew.lock:  # an interrupt can't come between this and what follows
            crew.run(run, arguments, bounds)
        pace.ran_shared(games, time.perf_counter() - start)
    else:
        words, start = _words(), time.thread_time()
        run(words, words, bounds[[0, -1]], *arguments)
        pace.ran_alone(games, time.thread_time() - start)


def threads_for(games: int, each: int, given: int = 0) -> int:
    """How many threads to use where one pays for every `each` games: at least 1, at most `given` (0: one a core)."""
    most = games // each
    return min(given or available_cores(), most) if most > 1 else 1  # asking the system takes microseconds


def shares(count: int, threads: int) -> np.ndarray:
    """Bounds of equal shares of `count` games: shape (threads + 1,), int64."""
    return np.arange(threads + 1) * count // threads


def scratch(count: int, items: int, dtype: Any) -> np.ndarray:
    """Memory for `count` shares to write to, with any content: shape (count, `items` or some more).

    The rows that threads use lie a cache line apart: two that write to one line take turns, and are slower than one
    alone.
    """
    apart = -(-CACHE_LINE // np.dtype(dtype).itemsize)
    return np.empty((count, items + apart), dtype)
