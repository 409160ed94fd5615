"""Units of work done by the machines of a Ray cluster. Machines may join and leave at any time."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from artus_training.arena.todo import ClusterError, Sent, ToDo, doing

IN_FLIGHT = 2
"""Units a CPU that are sent before their results have come: one is done, one waits."""
SECONDS = 1.0
"""After so long at the latest it is seen how many CPUs there are."""
PATIENCE = 10.0
"""Seconds in which the head of a cluster has to answer."""
STORE_BYTES = 200 << 20
"""Room for what the processes of a cluster share that is started here: results are small."""

_doing = lru_cache(maxsize=1)(doing)  # agents stay in a worker's process from unit to unit


def by_ray(work: Sent, units: Sequence[Any], to_do: ToDo, address: str) -> Generator[tuple[int, Any]]:
    """The number of each unit and what came of it (see `todo.doing`), or `Lost`, as they come.

    Args:
        address: See `connected`.
    """
    with connected(address) as ray:
        # Ray itself would do a unit again whose process has died, but not one whose result was lost with its machine.
        do = ray.remote(num_cpus=1, max_retries=0)(_do)
        held = ray.put(work)
        numbers: dict[Any, int] = {}
        try:
            while True:
                wanted = IN_FLIGHT * max(1, int(ray.cluster_resources().get("CPU", 0)))
                while len(numbers) < wanted and (number := to_do.take(wanted)) is not None:
                    numbers[do.remote(held, units[number])] = number
                if not numbers:
                    return
                for reference in ray.wait(list(numbers), timeout=SECONDS)[0]:
                    number = numbers.pop(reference)
                    try:
                        yield number, ray.get(reference)
                    except ray.exceptions.RayError as error:
                        if lost := to_do.died(number, type(error).__name__):
                            yield number, lost
        finally:
            for reference in numbers:
                ray.cancel(reference, force=True)


def _do(work: Sent, unit: Any) -> Any:
    """What a worker of the cluster does."""
    return _doing(work)(unit)


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Ray, connected to a cluster.

    Args:
        address: Of the cluster; empty: the one that this process is connected to, else one that runs on this machine,
            else one is started here as long as it is needed.

    Raises:
        ClusterError: If there is no such cluster, or Ray can't connect to it.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
    import ray

    if not address and ray.is_initialized():
        yield ray
        return
    if match := re.fullmatch(r"([^/]+):([0-9]+)", address):  # for which Ray would wait for many minutes
        try:
            socket.create_connection((match[1], int(match[2])), PATIENCE).close()
        except (OSError, OverflowError) as error:
            raise ClusterError(f"there is no Ray cluster at {address}: {error}") from None
    quiet: Any = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        ray.init(address or "auto", **quiet)
    except (ConnectionError, ValueError, RuntimeError) as error:
        if address or not isinstance(error, ConnectionError):  # of another version, for example
            raise ClusterError(f"there is no Ray cluster {f'at {address}' if address else 'here'}: {error}") from None
        ray.init("local", include_dashboard=False, object_store_memory=STORE_BYTES, **quiet)
    try:
        yield ray
    finally:
        ray.shutdown()
