"""Shares a compiled loop over a batch among threads, where that pays. docs/compiling.md explains it.

The threads are Python's. Between two loops they spin for a moment in compiled code, where Python doesn't know of them,
so that handing out work takes microseconds; then they sleep. Whoever is free takes the next share, the thread that has
the work among them: one that is late finds nothing to do, and nobody waits but for shares that somebody is at. A forked
child starts threads of its own, and of two Python threads that want them at once one does all its work itself; the
results are the same.

A *post* is an array of words (int64) through which threads work together on one job at a time.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Any

import numpy as np

from artus_env.engine.compiling.intrinsics import fetch_add, load, pause, store, swap_if
from artus_env.engine.compiling.jit import DISABLED, Function, jit
from artus_env.engine.compiling.pacing import Pace
from artus_env.engine.compiling.quotas import available_cores

CACHE_LINE = 64
"""Bytes that a processor's cores hand to each other as one."""
MOST_THREADS = 256
OPEN, DONE, COUNT, THREADS = 0, CACHE_LINE, CACHE_LINE + 8, 2 * CACHE_LINE
"""Bytes of a post: the number of the job that is open, above how many of its shares are taken; how many are done, of
how many; and for each thread, a cache line apart, whether it is at a share, and whether it sleeps. Thread 0 has the
work."""
BUSY, ASLEEP = 0, 8
_SHARES = 1 << 32
_CLOSED = -1
SPINS = 5000
"""How often a thread looks whether work has come before it sleeps: less than a millisecond. To wake one takes tens of
microseconds, half a step of 1 024 games; a thread that spins keeps others from their cores."""
LOOK_AGAIN = 100e-6
"""Seconds until it is looked again whether the others have done their shares, when they aren't just about to."""


@jit
def _next_job(post, thread, seen):
    """The number of the open job, once that isn't `seen` any more; if it still is after a while, the thread counts as
    asleep from here on."""
    address = post.ctypes.data
    for _ in range(SPINS):
        number = load(address + OPEN) // _SHARES
        if number != seen:
            return number
        pause()
    store(address + THREADS + thread * CACHE_LINE + ASLEEP, 1)
    return seen


@jit
def _open(post, number, count):
    """Open a job of so many shares, if that hasn't been done: an interrupt comes before this call or after it."""
    address = post.ctypes.data
    if load(address + OPEN) // _SHARES != number:
        store(address + DONE, 0)
        store(address + COUNT, count)
        store(address + OPEN, number * _SHARES)


@jit
def _take(post, number, count):
    """A share of a job that nobody has taken yet; -1: there is none, or the job is over."""
    address = post.ctypes.data + OPEN
    while True:
        word = load(address)
        if word // _SHARES != number or word % _SHARES >= count:
            return -1
        if swap_if(address, word, word + 1):
            return word % _SHARES


@jit
def _give_up(post, thread):
    """The share that a thread is at has failed, if it is at one: it counts as done."""
    address = post.ctypes.data
    if load(address + THREADS + thread * CACHE_LINE + BUSY):
        store(address + THREADS + thread * CACHE_LINE + BUSY, 0)
        fetch_add(address + DONE, 1)


@jit
def _all_done(post):
    """Whether all shares are done, or are soon."""
    address = post.ctypes.data
    for _ in range(SPINS):
        if load(address + DONE) == load(address + COUNT):
            return True
        pause()
    return False


def jit_shared(function: Function) -> Function:
    """Like `jit`, for a loop `function(*arguments, low, high)` or `function(*arguments, low, high, share)` that
    `run_shares` runs; `share` is the number of the share.

    Its attribute `run` is what Python runs: `run(post, thread, number, bounds, *arguments)` does shares of the open job
    `number` until none is left.
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

    def run(post, thread, number, bounds, *arguments):
        address, count = post.ctypes.data, len(bounds) - 1
        busy = address + THREADS + thread * CACHE_LINE + BUSY
        share = _take(post, number, count)
        while share >= 0:
            store(busy, 1)
            loop(*arguments, bounds[share], bounds[share + 1], share)
            store(busy, 0)
            fetch_add(address + DONE, 1)
            share = _take(post, number, count)

    for part in (loop, run):
        if part is not compiled:
            part.__module__, part.__qualname__ = function.__module__, f"{function.__qualname__}.{part.__name__}"
    compiled.run = jit(run)
    return compiled


class Crew:
    """The threads of a process that do shares of loops, for one caller at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.error: BaseException | None = None
        self._post = _new_post(MOST_THREADS)
        self._job: tuple[Any, ...] | None = None  # it holds the arrays of the loop that runs
        self._number = 0
        self._threads: list[tuple[threading.Thread, threading.Lock]] = []

    def run(self, run: Callable[..., Any], arguments: tuple[Any, ...], bounds: np.ndarray) -> None:
        """Do all shares of a loop; `run` is that of `jit_shared`. Who calls holds the lock.

        Raises:
            Exception: That of a share, once all have ended.
        """
        self._wait()  # several interrupts at once may have come while the last loop ran
        self._number, self.error = self._number % (_SHARES >> 2) + 1, None
        self._job = run, self._number, bounds, *arguments
        error: BaseException | None = None
        while True:
            try:
                self._wake(min(len(bounds) - 1, MOST_THREADS) - 1)
                _give_up(self._post, 0)
                _open(self._post, self._number, len(bounds) - 1)
                run(self._post, 0, self._number, bounds, *arguments)
                self._wait()
                break
            except BaseException as raised:  # of an own share; or Python acts on a signal, wherever it calls a function
                error = error or raised
        if error := error or self.error:
            raise error

    def _wait(self) -> None:
        """Until the threads have done their shares."""
        while not _all_done(self._post):
            time.sleep(LOOK_AGAIN)
        self._job = None

    def _wake(self, count: int) -> None:
        with suppress(RuntimeError):  # the system gives no more threads: those that there are do all
            while len(self._threads) < count:
                number, bell = len(self._threads) + 1, threading.Lock()
                bell.acquire()
                thread = threading.Thread(target=self._serve, args=(number, bell), name=f"artus-{number}", daemon=True)
                thread.start()
                self._threads.append((thread, bell))
        for number, (_, bell) in enumerate(self._threads[:count], 1):
            asleep = (THREADS + number * CACHE_LINE + ASLEEP) // 8
            if self._post[asleep]:
                self._post[asleep] = 0
                bell.release()

    def _serve(self, thread: int, bell: threading.Lock) -> None:
        """What a thread does all its life."""
        seen = 0
        while (number := _next_job(self._post, thread, seen)) != _CLOSED:
            if number == seen:
                bell.acquire()
            elif job := self._job:
                run, *arguments = job
                try:
                    run(self._post, thread, *arguments)
                except BaseException as error:
                    self.error = error
                    _give_up(self._post, thread)
            seen = number

    def end(self) -> None:
        """Let the threads end, and wait for them: Python must not vanish under them."""
        self._post[OPEN] = _CLOSED * _SHARES
        while any(thread.is_alive() for thread, _ in self._threads):
            self._wake(len(self._threads))
            time.sleep(LOOK_AGAIN)


def _new_post(threads: int) -> np.ndarray:
    return np.zeros((THREADS + threads * CACHE_LINE) // 8, np.int64)


def _run_alone(run: Callable[..., Any], arguments: tuple[Any, ...], bounds: np.ndarray) -> None:
    """All games as one share, which is open from the beginning."""
    run(_new_post(1), 0, 0, bounds if len(bounds) == 2 else bounds[[0, -1]], *arguments)


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
    """Run `loop(*arguments, low, high)` over all shares, in parallel where that is possible and pays.

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
        _run_alone(run, arguments, bounds)
        return
    pace, crew = _paces[loop, games.bit_length(), kind], _crew
    if pace.pays(games) and not crew.lock.locked():
        start = time.perf_counter()
        with crew.lock:  # an interrupt can't come between this and what follows
            crew.run(run, arguments, bounds)
        pace.ran_shared(games, time.perf_counter() - start)
    else:
        start = time.thread_time()
        _run_alone(run, arguments, bounds)
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
