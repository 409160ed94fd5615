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
    thread_limit = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    if thread_limit.isdecimal():
        cores = min(cores, int(thread_limit))
    return max(1, math.floor(min(cores, _process_quota())))


@cache
def _process_quota() -> float:
    """CPU quota of this process, in cores; infinity if it has none."""
    return min(cpu_quotas(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")), default=math.inf)


def cpu_quotas(groups: Path, mount_point: Path) -> Iterator[float]:
    """Yield the CPU quotas, in cores, of the control groups of a process.

    Args:
        groups: File that lists the groups, such as Linux's `/proc/self/cgroup`; may be missing.
        mount_point: Folder with the groups' files. In a container this is often the folder of the process's own group,
            whatever path `groups` has for that group.
    """
    with suppress(OSError, ValueError):  # there are none, or in another format
        for line in groups.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if not controllers or "cpu" in controllers.split(","):
                names = (controllers, "cpu") if controllers else (".", "unified")
                for root in (mount_point / name for name in names):
                    group = root / path.lstrip("/")
                    yield from (_quota(folder) for folder in (group, *group.parents) if folder.is_relative_to(root))


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
