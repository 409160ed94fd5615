"""Work units (see `units`) done by several processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Any

from artus_training.workers.queue import (
    TRIES,
    PackedWork,
    UnitQueue,
    WorkerError,
    announcement,
    pickled,
    unit_function,
    unpickled,
)

SPAWN = multiprocessing.get_context("spawn")  # a forked child may not use its parent's threads
BEGUN = b""
"""Message of a worker that begins a unit; no pickled result is empty."""


class Processes:
    """A pool of processes, which are kept between pieces of work.

    Args:
        workers: Most processes at a time.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._idle: list[_Process] = []

    def prepare(self, work: Callable[[Any], Any]) -> None:
        """Start all processes, and let them load this work while the caller loads it, too.

        Raises:
            ValueError: If the work can't be sent to other processes.
        """
        announced = announcement(work)
        self._idle += [_Process() for _ in range(self.workers - len(self._idle))]
        for process in self._idle:
            process.take(announced)

    def do(self, work: PackedWork, units: Sequence[Any], queue: UnitQueue) -> Generator[tuple[int, Any]]:
        """Yield the number of each unit and its result (see `unit_function`), or `Lost`, in the order of completion.
        Processes that are still busy when the generator is closed are ended.

        Args:
            work: The work.
            units: Arguments of the work.
            queue: The numbers of the units that aren't started yet.

        Raises:
            WorkerError: If each process ends `TRIES` times in a row before it begins a unit.
        """
        processes: list[_Process] = []
        failed_starts = 0  # in a row
        try:
            for _ in range(min(self.workers, len(units))):
                processes.append(self._idle.pop() if self._idle else _Process())
            for process in processes:  # after all have started, as sending long work waits for a starting process
                process.take(work)
            while True:
                for process in processes:
                    if process.number is None:
                        process.number = queue.take(len(processes))
                        if process.number is not None:
                            process.begin(units[process.number])
                busy = [process.connection for process in processes if process.number is not None]
                if not busy:
                    return
                ready = wait(busy)
                for index, process in enumerate(processes):
                    number = process.number
                    if number is None or process.connection not in ready:
                        continue
                    try:
                        message = process.receive()
                    except EOFError:
                        cause = f"exit code {process.end()}"
                        if process.begun:
                            if lost := queue.died(number, cause):
                                yield number, lost
                        else:
                            queue.put_back(number)
                            failed_starts += 1
                            if failed_starts == TRIES * len(processes):
                                raise WorkerError(
                                    f"{failed_starts} processes have ended before they began, {cause}"
                                ) from None
                        processes[index] = _Process()
                        processes[index].take(work)
                        continue
                    if process.number is None:
                        yield number, message
                    else:
                        failed_starts = 0
        finally:
            for process in processes:
                if process.number is None:
                    self._idle.append(process)
                else:
                    process.end()

    def close(self) -> None:
        """End all processes."""
        for process in self._idle:
            process.end()
        self._idle.clear()


class _Process:
    """A worker process, which does one unit after another."""

    def __init__(self) -> None:
        self.connection, worker_end = SPAWN.Pipe()
        self.process = SPAWN.Process(target=_serve, args=(worker_end,), daemon=True)
        with _interrupts_blocked():
            self.process.start()
        worker_end.close()  # now only the worker has this end, which is closed when the worker ends
        self.number: int | None = None
        """Number of the unit that it does; None: the process is idle."""
        self.begun = False
        """Whether the process has begun that unit: then it has finished importing and loading."""

    def take(self, work: PackedWork) -> None:
        """Set the work to do with later units."""
        self._send(work)

    def begin(self, unit: Any) -> None:
        """Send a unit; the process begins it when it has loaded the work."""
        self.begun = False
        self._send(unit)

    def _send(self, message: Any) -> None:
        with suppress(OSError):  # a dead process is noticed when its result is received
            self.connection.send(message)

    def receive(self) -> Any:
        """Receive a message: None when the process begins the unit, then the result, which sets `number` to None.

        Raises:
            EOFError: If the process has died.
        """
        try:
            message = self.connection.recv_bytes()
        except ConnectionError as error:
            raise EOFError from error
        if message == BEGUN:
            self.begun = True
            return None
        self.number = None
        return unpickled(message)

    def end(self) -> int | None:
        """Kill the process and return its exit code."""
        self.connection.close()
        self.process.kill()
        self.process.join()
        return self.process.exitcode


def _serve(connection: Connection) -> None:
    """Main loop of a worker, until its driver ends or closes the connection."""
    threading.Thread(target=_end_with_driver, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes of a terminal; the driver ends us
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    os.environ["OMP_NUM_THREADS"] = "1"  # read when torch is imported: later, unless the driver's script does that
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
    with suppress(OSError, AttributeError):  # what agents print isn't the driver's output
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with suppress(EOFError, OSError):
        do = unit_function(connection.recv())
        while True:
            message = connection.recv()
            if isinstance(message, PackedWork):
                do = unit_function(message)
            else:
                connection.send_bytes(BEGUN)
                connection.send_bytes(pickled(do(message)))


def _end_with_driver() -> None:
    """End this process as soon as its driver has ended, for whatever reason and whatever this process is doing."""
    driver = multiprocessing.parent_process()
    assert driver is not None
    driver.join()
    os._exit(1)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block SIGINT in this context. Processes that are started in it don't get SIGINT until they unblock it: otherwise
    Ctrl-C during their start would print a traceback."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    old_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old_mask)
