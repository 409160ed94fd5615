"""Units of work done by several processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Any

from artus_training.arena.todo import Sent, ToDo, doing, soon

SPAWN = multiprocessing.get_context("spawn")  # a forked child may not use its parent's threads


def by_processes(work: Sent, units: Sequence[Any], to_do: ToDo, workers: int) -> Generator[tuple[int, Any]]:
    """The number of each unit and what came of it (see `todo.doing`), or `Lost`, as they come."""
    with closing(Processes(min(workers, len(units)))) as processes:
        yield from processes.do(work, units, to_do)


class Processes:
    """Several processes, which stay from one piece of work to the next.

    Args:
        workers: How many there are at most.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._idle: list[_Process] = []

    def prepare(self, work: Callable[[Any], Any]) -> None:
        """Start all processes, and let them get ready for this work while the caller does so.

        Raises:
            ValueError: If the work can't be sent.
        """
        announced = soon(work)
        self._idle += [_Process() for _ in range(self.workers - len(self._idle))]
        for process in self._idle:
            process.take(announced)

    def do(self, work: Sent, units: Sequence[Any], to_do: ToDo) -> Generator[tuple[int, Any]]:
        """See `by_processes`. Processes that still do a unit when nobody listens any more are ended."""
        processes: list[_Process] = []
        try:
            for _ in range(min(self.workers, len(units))):
                processes.append(self._idle.pop() if self._idle else _Process())
            for process in processes:  # all of them have been started: long work waits for one that starts
                process.take(work)
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
                        processes[place] = _Process()
                        processes[place].take(work)
                        if lost := to_do.died(number, f"exit code {process.end()}"):
                            yield number, lost
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
    """Another process, which does one unit after the other."""

    def __init__(self) -> None:
        self.connection, theirs = SPAWN.Pipe()
        self.process = SPAWN.Process(target=_serve, args=(theirs,), daemon=True)
        with one_thread():
            self.process.start()
        theirs.close()  # the only other end is the process's own: it is closed when that ends
        self.number: int | None = None
        """Of the unit that it does."""

    def take(self, work: Sent) -> None:
        """Say what is done with units from now on."""
        self._send(work)

    def begin(self, unit: Any) -> None:
        self._send(unit)

    def _send(self, message: Any) -> None:
        with suppress(OSError):  # a process that has died is noticed where its result is missing
            self.connection.send(message)

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


def _serve(connection: Connection) -> None:
    """What a worker does, until there is nobody left who would send it anything."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes of a terminal; the first one decides
    with suppress(EOFError, OSError):
        do = doing(connection.recv())
        while True:
            message = connection.recv()
            if isinstance(message, Sent):
                do = doing(message)
            else:
                connection.send(do(message))


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
