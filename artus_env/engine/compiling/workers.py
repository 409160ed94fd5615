"""Shares a compiled loop over a batch among threads, where that pays.

The threads are Python's. Between two loops they spin for a moment in compiled code, where Python doesn't know of them,
so that handing out work takes less than a microsecond; then they sleep. A forked child starts threads of its own, and
of two Python threads that want them at once one does all its work itself; the results are the same.

Threads that wait for each other lose when the machine does other work, too: all of them wait for the one that another
program keeps from its core, and if they spin meanwhile they keep it away themselves. So they spin for less than a
millisecond, cores that a container's quota doesn't give aren't counted, and a loop that loses by being shared runs on
one thread for a while.
"""

from __future__ import annotations

import atexit
import math
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numba.core import config as numba_config

from artus_env.engine.compiling import handover
from artus_env.engine.compiling.handover import CACHE_LINE
from artus_env.engine.compiling.jit import DISABLED

config: Any = numba_config  # its attributes are made at run time

LOOK_AGAIN = 100e-6
"""Seconds until it is looked again whether the others have done their shares, when they aren't just about to."""
CALLS_BETWEEN_MEASUREMENTS = 1024
"""Of one thread alone, which the gain from several is compared with."""
LONG = 0.1
"""Seconds of work that are always shared: a thread that is kept waiting has less to lose than there is to gain."""
MOST_CREDIT = 0.02
"""Seconds that sharing may lose at once after it has paid for long: a thread that is kept from its core for a moment, a
few milliseconds, doesn't end it."""
PAUSE = 50
"""Sharing that has lost is not tried again for so many times what it has lost."""
LONGEST_PAUSE = 3.0
"""Seconds; more would be lost by not noticing that the neighbours have gone."""


def available_cores() -> int:
    """Number of cores that this process may use: those that it may run on, no more than its CPU quota gives whole, and
    no more than `OMP_NUM_THREADS` where that is set."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    if asked.isdecimal():
        cores = min(cores, int(asked))
    return max(1, min(cores, math.floor(_own_quota())))


@cache
def _own_quota() -> float:
    # A quota above 2**31 or none at all counts the same.
    return min(2.0**31, *cpu_quotas(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")))


def cpu_quotas(groups: Path, mounted: Path) -> Iterator[float]:
    """The CPU quotas, in cores, of the control groups that a process is in; infinity first, which stands for none.

    Args:
        groups: Names them, as Linux does in `/proc/self/cgroup`; may be missing.
        mounted: Where their files are. In a container this is often its own group, whatever `groups` calls it.
    """
    yield math.inf
    try:
        lines = groups.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and "cpu" not in controllers.split(","):
            continue
        for root in (mounted / controllers, mounted / "cpu") if controllers else (mounted, mounted / "unified"):
            own = root / path.lstrip("/")
            for folder in (own, *own.parents):
                if folder.is_relative_to(root):
                    yield _quota(folder)


def _quota(folder: Path) -> float:
    """The quota of one control group of either version, in cores; infinity if it has none."""
    try:
        if (folder / "cpu.max").exists():
            quota, period = (folder / "cpu.max").read_text().split()
        else:
            quota, period = ((folder / name).read_text() for name in ("cpu.cfs_quota_us", "cpu.cfs_period_us"))
        return math.inf if quota == "max" or int(quota) < 0 else int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return math.inf


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


class Pace:
    """Whether it pays to share one kind of loop, by how long its calls have taken.

    A call that is shared earns what it saves against one thread and pays what it loses. In debt, the loop runs on one
    thread for `PAUSE` times what was lost. So little is lost, whatever else runs, and all is gained where nothing does.

    Attributes:
        alone: Seconds of CPU that one thread takes for a game, as last measured; 0: not yet.
        credit: Seconds, at most `MOST_CREDIT`.
        resume: When sharing may be tried again, on `time.perf_counter`.
    """

    def __init__(self) -> None:
        self.alone = 0.0
        self.credit = 0.0
        self.resume = 0.0
        self._quickest = math.inf  # of the shared calls
        self._calls = self._shared = self._measured = 0

    def pays(self, games: int) -> bool:
        """Whether the next call is to be shared."""
        self._calls += 1
        if not self.alone:  # not known, and not to be found out if it may take minutes
            return self._shared < 2 or self._quickest > LONG
        if self.alone * games > LONG:
            return True
        return self._calls % CALLS_BETWEEN_MEASUREMENTS != 0 and time.perf_counter() >= self.resume

    def ran_alone(self, games: int, seconds: float) -> None:
        """One thread took so many seconds of CPU. The first time doesn't count: it may have compiled the loop."""
        self._measured += 1
        if self._measured > 1:
            self.alone = seconds / games

    def ran_shared(self, games: int, seconds: float) -> None:
        """Several threads took so long, by the clock. The first time doesn't count, likewise."""
        self._shared += 1
        if self._shared > 1:
            self._quickest = min(self._quickest, seconds)
        if not self.alone:
            return
        self.credit = min(MOST_CREDIT, self.credit + self.alone * games - seconds)
        if self.credit < 0:
            self.resume = time.perf_counter() + min(LONGEST_PAUSE, -PAUSE * self.credit)
            self.credit = 0.0


_paces: defaultdict[Hashable, Pace] = defaultdict(Pace)


class Crew:
    """The threads of a process that do shares of loops, for one caller at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._most: int = config.NUMBA_NUM_THREADS  # it may change: Numba reads it again whenever it compiles
        self._post = handover.new_post(self._most)
        self._shares = 0
        self._held: tuple[Any, ...] = ()  # arrays of the loop that runs: they must not go away
        self._workers: list[tuple[threading.Thread, threading.Lock]] = []

    def run(self, run: Callable[..., bool], arguments: tuple[Any, ...], bounds: np.ndarray) -> None:
        """Do all shares of a loop; `run` is that of `handover.jit_shared`. Who calls holds the lock.

        Raises:
            Exception: That of a share, once all have ended.
        """
        self._wait()  # several interrupts at once may have come while the last loop ran
        self._held, self._shares = (*arguments, bounds), len(bounds) - 1
        self._post[handover.DONE] = self._shares  # until the loop begins
        self._wake(min(self._shares, self._most) - 1)
        interrupt: BaseException | None = None
        try:
            run(self._post, bounds, True, *arguments)
        except BaseException as error:  # KeyboardInterrupt, or what another signal's handler raises
            interrupt = error
        while True:  # Python may act on a signal wherever it calls a function
            try:
                self._wait()
                break
            except BaseException as error:
                interrupt = error
        if interrupt:
            raise interrupt
        handover.raise_failure(self._post)

    def _wait(self) -> None:
        """Until the threads have done their shares."""
        while self._post[handover.DONE] != self._shares:
            time.sleep(LOOK_AGAIN)
        self._held = ()

    def _wake(self, count: int) -> None:
        with suppress(RuntimeError):  # the system gives no more threads: those that there are do all
            while len(self._workers) < count:
                self._start()
        for number in range(min(count, len(self._workers))):
            self._wake_one(number)

    def _wake_one(self, number: int) -> None:
        sleeps = handover.sleeps(number)
        if self._post[sleeps]:
            self._post[sleeps] = 0
            self._workers[number][1].release()

    def _start(self) -> None:
        number, bell = len(self._workers), threading.Lock()
        handover.work(handover.closed_post(), handover.OWN)  # compiled here, so that two threads never compile at once
        bell.acquire()
        thread = threading.Thread(
            target=_work, args=(self._post, handover.sleeps(number), bell), name=f"artus-{number}", daemon=True
        )
        thread.start()
        self._workers.append((thread, bell))

    def end(self) -> None:
        """Let the threads end, and wait for them: Python must not vanish under them."""
        handover.close(self._post)
        for number, (thread, _) in enumerate(self._workers):
            while thread.is_alive():
                self._wake_one(number)
                thread.join(LOOK_AGAIN)


def _work(post: np.ndarray, sleeps: int, bell: threading.Lock) -> None:
    """What a thread does all its life."""
    while handover.work(post, sleeps):
        bell.acquire()


_crew = Crew()
_posts: list[np.ndarray] = []  # for loops on one thread, each for one at a time


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
        loop: Runs the games `low..high-1`; a `handover.jit_shared`.
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
    if min(len(bounds) - 1, config.NUMBA_NUM_THREADS) == 1 or games == 0:
        _run_alone(loop, arguments, bounds if len(bounds) == 2 else bounds[[0, -1]])
        return
    pace, crew = _paces[loop, games.bit_length(), kind], _crew
    if pace.pays(games) and not crew.lock.locked():
        start = time.perf_counter()
        with crew.lock:  # an interrupt can't come between this and what follows
            crew.run(loop.run, arguments, bounds)  # type: ignore[attr-defined]
        pace.ran_shared(games, time.perf_counter() - start)
    else:
        start = time.thread_time()
        _run_alone(loop, arguments, bounds[[0, -1]])
        pace.ran_alone(games, time.thread_time() - start)


def _run_alone(loop: Any, arguments: tuple[Any, ...], bounds: np.ndarray) -> None:
    try:
        post = _posts.pop()
    except IndexError:
        post = handover.new_post(0)
    loop.run(post, bounds, False, *arguments)
    _posts.append(post)
    handover.raise_failure(post)
