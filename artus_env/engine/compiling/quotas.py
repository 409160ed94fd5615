"""Number of cores that a process may use."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path


def available_cores() -> int:
    """Number of cores that this process may use: limited by its CPU affinity, its CPU quota (rounded down) and
    `OMP_NUM_THREADS` if that is set."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    if asked.isdecimal():
        cores = min(cores, int(asked))
    return max(1, math.floor(min(cores, _own_quota())))


@cache
def _own_quota() -> float:
    return min(cpu_quotas(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")), default=math.inf)


def cpu_quotas(groups: Path, mounted: Path) -> Iterator[float]:
    """Yield the CPU quotas, in cores, of the control groups of a process.

    Args:
        groups: File that names them, such as Linux's `/proc/self/cgroup`; may be missing.
        mounted: Folder with their files. In a container this is often the process's own group, whatever `groups` calls
            it.
    """
    with suppress(OSError, ValueError):  # there are none, or in another format
        for line in groups.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if not controllers or "cpu" in controllers.split(","):
                names = (controllers, "cpu") if controllers else (".", "unified")
                for root in (mounted / name for name in names):
                    own = root / path.lstrip("/")
                    yield from (_quota(each) for each in (own, *own.parents) if each.is_relative_to(root))


def _quota(folder: Path) -> float:
    """Quota of one control group of either version, in cores; infinity if it has none."""
    with suppress(OSError, ValueError, ZeroDivisionError):
        if (folder / "cpu.max").exists():
            quota, period = (folder / "cpu.max").read_text().split()
        else:
            quota, period = ((folder / name).read_text() for name in ("cpu.cfs_quota_us", "cpu.cfs_period_us"))
        if quota.strip() != "max" and int(quota) >= 0:
            return int(quota) / int(period)
    return math.inf
