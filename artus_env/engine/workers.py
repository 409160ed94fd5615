"""Shares a compiled loop over a batch among threads, where that is safe and where it pays.

Numba's threads spin for a moment between two loops, so that handing out work takes microseconds; Python's threads sleep
and take tens of them to wake. The price is two dangers, met here: a forked child must not use the threads that its
parent started (OpenMP ends the process), and not every layer bears calls from two Python threads at once. In both cases
the calling thread does all the work itself; the results are the same.

Threads that wait for each other lose when the machine does other work, too: all of them wait for the one that another
program keeps from its core, and if they spin meanwhile they keep it away themselves. So they spin for less than a
millisecond (OpenMP's default is thirty times that), cores that a container's quota doesn't give aren't counted, and a
loop that loses by being shared runs on one thread for a while.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import config as numba_config

config: Any = numba_config  # its attributes are made at run time

CACHE_LINE = 64
"""Bytes that a processor's cores hand to each other as one."""
SPINS = "10000"
"""How often one of OpenMP's threads looks whether work has come before it sleeps: less than a millisecond. Waking one
takes several microseconds, a twentieth of a step of 1 024 games; a thread that spins keeps the others from their
cores."""
SPINS_OF_OTHERS = "300"
"""The same in torch, whose OpenMP is its own: its loops are longer, and nothing sees to it that sharing them pays."""
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

_lock = threading.Lock()
_forked = False


def _in_child() -> None:
    global _forked, _lock
    _forked = True
    _lock = threading.Lock()  # the parent's may be held by a thread that doesn't exist here


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)

# Read by each copy of GNU's OpenMP when it is loaded: by torch's when that is imported, by Numba's in `_load_openmp`.
_spins_are_ours = not {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & os.environ.keys()
if _spins_are_ours:
    os.environ["GOMP_SPINCOUNT"] = SPINS_OF_OTHERS


@cache
def _load_openmp() -> None:
    """Start Numba's threads: they read now how often they are to spin."""
    if _spins_are_ours:
        os.environ["GOMP_SPINCOUNT"] = SPINS
    try:
        numba.get_num_threads()
    finally:
        if _spins_are_ours:
            os.environ["GOMP_SPINCOUNT"] = SPINS_OF_OTHERS


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


def run_shares(
    loop: Callable[..., Any],
    parallel_loop: Callable[..., Any],
    arguments: tuple[Any, ...],
    bounds: np.ndarray,
    kind: Hashable = None,
) -> None:
    """Run `loop(*arguments, low, high)` over all shares, in parallel where that is possible and pays.

    Args:
        loop: Runs the games `low..high-1`.
        parallel_loop: `parallel_loop(*arguments, bounds)` does the same for all shares, each on a thread.
        arguments: Of both.
        bounds: See `shares`.
        kind: Tells apart calls of one loop whose games take differently long.
    """
    threads, games = min(len(bounds) - 1, config.NUMBA_NUM_THREADS), int(bounds[-1])
    if threads == 1 or _forked or games == 0:
        loop(*arguments, 0, games)
        return
    pace = _paces[loop, games.bit_length(), kind]
    if pace.pays(games) and _lock.acquire(blocking=False):
        _load_openmp()
        previous = numba.get_num_threads()
        start = time.perf_counter()
        try:
            if threads != previous:
                numba.set_num_threads(threads)
            parallel_loop(*arguments, bounds)
        finally:
            if threads != previous:
                numba.set_num_threads(previous)
            _lock.release()
        pace.ran_shared(games, time.perf_counter() - start)
    else:
        start = time.thread_time()
        loop(*arguments, 0, games)
        pace.ran_alone(games, time.thread_time() - start)
