"""Units of work done by several processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Any

from artus_training.arena.todo import Sent, ToDo, doing

SPAWN = multiprocessing.get_context("spawn")  # a forked child may not use its parent's threads


def by_processes(work: Sent, units: Sequence[Any], to_do: ToDo, workers: int) -> Generator[tuple[int, Any]]:
    """The number of each unit and what came of it (see `todo.doing`), or `Lost`, as they come."""
    processes = [_Process(work) for _ in range(min(workers, len(units)))]
    try:
        while True:
            for process in processes:
                if process.number is None:
                    process.number = to_do.take(len(processes))
                    if process.number is not None:
                        process.begin(units[process.number])
            busy = [process.connection for process in processes if process.number is not None]
            if not busy:
                return
            ready = wait(busy)
            for place, process in enumerate(processes):
                number = process.number
                if number is None or process.connection not in ready:
                    continue
                try:
                    yield number, process.result()
                except EOFError:
                    processes[place] = _Process(work)
                    if lost := to_do.died(number, f"exit code {process.end()}"):
                        yield number, lost
    finally:
        for process in processes:
            process.end()


class _Process:
    """Another process, which does one unit after the other."""

    def __init__(self, work: Sent) -> None:
        self.connection, theirs = SPAWN.Pipe()
        self.process = SPAWN.Process(target=_serve, args=(theirs, work), daemon=True)
        with one_thread():
            self.process.start()
        theirs.close()  # the only other end is the process's own: it is closed when that ends
        self.number: int | None = None
        """Of the unit that it does."""

    def begin(self, unit: Any) -> None:
        with suppress(OSError):  # a process that has died is noticed where its result is missing
            self.connection.send(unit)

    def result(self) -> Any:
        """What came of the unit.

        Raises:
            EOFError: If the process has died.
        """
        try:
            result = self.connection.recv()
        except ConnectionError as error:
            raise EOFError from error
        self.number = None
        return result

    def end(self) -> int | None:
        """End it, whatever it does. Returns its exit code."""
        self.connection.close()
        self.process.kill()
        self.process.join()
        return self.process.exitcode


def _serve(connection: Connection, work: Sent) -> None:
    """What a worker does, until there is nobody left who would send it anything."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes of a terminal; the first one decides
    do = doing(work)
    with suppress(EOFError, OSError):
        while True:
            connection.send(do(connection.recv()))


@contextmanager
def one_thread() -> Iterator[None]:
    """As if the user had asked for one thread everywhere, also in processes that start meanwhile."""
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["OMP_NUM_THREADS"]
        else:
            os.environ["OMP_NUM_THREADS"] = before
