"""Work units (see `units`) done by the machines of a Ray cluster. Machines may join and leave at any time."""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from artus_training.workers.queue import (
    SAME_EVERYWHERE,
    TRIES,
    PackedWork,
    UnitQueue,
    WorkerError,
    pickled,
    unit_function,
    unpickled,
)

IN_FLIGHT = 2
"""Units sent per CPU before their results arrive: one in progress, one waiting."""
SECONDS = 1.0
"""Most seconds between two checks of a cluster's number of CPUs, and fewest between two checks of its head."""
PATIENCE = 10.0
"""Seconds within which the head of a cluster must answer."""
STORE_BYTES = 200 << 20
"""Size of the object store of a cluster that is started here; small, because results are small."""

_unit_function = lru_cache(maxsize=1)(unit_function)  # agents stay in a worker's process from unit to unit


def by_ray(ray: Any, work: PackedWork, units: Sequence[Any], queue: UnitQueue) -> Generator[tuple[int, Any]]:
    """Yield the number of each unit and its result (see `queue.unit_function`), or `Lost`, in the order of completion.

    Args:
        ray: The module, see `connected`.
        work, units, queue: See `Processes.do`.
    """
    # Ray's own retries repeat a unit whose process died, but not one whose result was lost with its machine.
    remote_do = ray.remote(num_cpus=1, max_retries=0, num_returns="streaming")(_do)
    head = _Head(ray)
    work_ref = ray.put(work)
    folder = str(Path.cwd())
    running: dict[Any, int] = {}
    begun: set[int] = set()
    failed_starts = 0  # in a row
    try:
        while True:
            head.check()
            num_wanted = IN_FLIGHT * max(1, int(ray.cluster_resources().get("CPU", 0)))
            while len(running) < num_wanted and (number := queue.take(num_wanted)) is not None:
                running[remote_do.remote(work_ref, units[number], folder)] = number
            if not running:
                return
            for stream in ray.wait(list(running), timeout=SECONDS)[0]:
                number = running[stream]
                try:
                    result = ray.get(next(stream))
                except ray.exceptions.RayTaskError as error:  # an error before `_do`, which returns errors of our work
                    del running[stream]
                    raise WorkerError(
                        f"a worker can't play ({str(error).strip().splitlines()[-1]}): {SAME_EVERYWHERE}"
                    ) from None
                except ray.exceptions.RayError as error:
                    del running[stream]
                    cause = type(error).__name__
                    if number in begun:
                        begun.remove(number)
                        if lost := queue.died(number, cause):
                            yield number, lost
                    else:
                        queue.put_back(number)
                        failed_starts += 1
                        if failed_starts >= TRIES * num_wanted:
                            raise WorkerError(
                                f"{failed_starts} workers have ended before they began, {cause}"
                            ) from None
                    continue
                if number not in begun:
                    begun.add(number)
                    failed_starts = 0
                    continue
                del running[stream]
                begun.remove(number)
                yield number, unpickled(result)
    finally:
        if head.answers:
            for stream in running:
                ray.cancel(stream, force=True)


def _do(work: PackedWork, unit: Any, folder: str) -> Iterator[Any]:
    """Do a unit on a worker of the cluster: yield None when it begins, then its result. Runs in the driver's folder if
    the worker's machine has it."""
    with suppress(OSError):
        os.chdir(folder)
    do = _unit_function(work)
    yield None
    yield pickled(do(unit))


class _Head:
    """Head of the cluster that Ray is connected to. If the head is lost, Ray waits for it and then ends the process;
    `check` raises an error earlier."""

    def __init__(self, ray: Any) -> None:
        self._address = ray.get_runtime_context().gcs_address
        self._checked = 0.0
        self.answers = True

    def check(self) -> None:
        """Raise a WorkerError if the head is lost. Looks at most every `SECONDS`."""
        if time.monotonic() - self._checked < SECONDS:
            return
        host, _, port = self._address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()
        except OSError as error:
            self.answers = False
            raise WorkerError(
                f"the head of the Ray cluster at {self._address} has gone ({error}); start it, and run the same "
                "command again"
            ) from None
        self._checked = time.monotonic()


class _OwnOutput:
    """Standard output for the thread that creates it. Other threads, such as Ray's, write to standard error."""

    def __init__(self) -> None:
        self._stdout, self._thread = sys.stdout, threading.get_ident()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stdout if threading.get_ident() == self._thread else sys.stderr, name)


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Connect to a cluster and yield the `ray` module.

    Args:
        address: Address of the cluster. Empty: the cluster that this process is connected to, else one that runs on
            this machine, else one that is started here and ended afterwards.

    Raises:
        WorkerError: If there is no such cluster, or Ray can't connect to it.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no usage statistics
    import ray

    if not address and ray.is_initialized():
        yield ray
        return
    if match := re.fullmatch(r"([^/]+):([0-9]+)", address):  # without this check Ray would wait for many minutes
        try:
            socket.create_connection((match[1], int(match[2])), PATIENCE).close()
        except (OSError, OverflowError) as error:
            raise WorkerError(f"there is no Ray cluster at {address}: {error}") from None
    stdout, sys.stdout = sys.stdout, _OwnOutput()
    try:
        with _sigterm_handler_restored():
            _connect(ray, address)
        yield ray
    finally:
        sys.stdout = sys.stderr  # for Ray's last messages
        ray.shutdown()
        sys.stdout = stdout


def _connect(ray: Any, address: str) -> None:
    """Connect Ray to a cluster, see `connected`."""
    quiet: Any = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        ray.init(address or "auto", **quiet)
    except (ConnectionError, ValueError, RuntimeError) as error:
        if address or not isinstance(error, ConnectionError):  # another version, for example
            raise WorkerError(f"there is no Ray cluster {f'at {address}' if address else 'here'}: {error}") from None
        ray.init("local", include_dashboard=False, object_store_memory=STORE_BYTES, **quiet)


@contextmanager
def _sigterm_handler_restored() -> Iterator[None]:
    """Restore the handler of SIGTERM afterwards: that of Ray prints a stack dump and exits."""
    old_handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, old_handler)
