"""Units of work: each a pure function of a few numbers, done in this process or by several others.

Results come in the order of the units, so what is made of them doesn't depend on who did which, how many did them, or
who died meanwhile. Only the caller writes anything.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from typing import Any, TypeVar

from artus_env.engine.agents import Agent
from artus_env.engine.reading import shown

Unit = TypeVar("Unit")
Result = TypeVar("Result")

GAMES_AT_ONCE = 64
"""Of agents that don't say how many games they like to be asked about at a time."""
MOST_WORKERS = 256
TRIES = 3
"""A unit that has ended so many processes ends the run."""
AHEAD = 8
"""Units that each process may be in front of the first one that isn't done: what is lost when the run is ended."""
SPAWN = multiprocessing.get_context("spawn")  # a forked child may not use its parent's threads


class UnitError(RuntimeError):
    """A unit that no process has survived."""


def unit_games(agents: Sequence[Agent]) -> int:
    """How many games make a unit: some seconds of work, as far as the agents' names tell, and the same everywhere."""
    return max(1, min(int(getattr(agent, "games_at_once", GAMES_AT_ONCE)) for agent in agents))


def check_workers(workers: int) -> None:
    """Raise a ValueError if so many processes can't share the work."""
    if not 1 <= workers <= MOST_WORKERS:
        raise ValueError(f"workers must be at least 1 and at most {MOST_WORKERS}, got {shown(workers)}")


def run_units(work: Callable[[Unit], Result], units: Sequence[Unit], workers: int = 1) -> Iterator[Result]:
    """What `work` makes of each unit, in the order of the units.

    Args:
        work: What to do; whoever does it, the result is the same. With several workers it is sent to each of them once,
            units and results are sent as they come.
        units: What to do it with.
        workers: Processes, each with one thread; 1: this process with its threads. A process that dies is replaced, and
            does its unit again.

    Raises:
        ValueError: If the work can't be sent to other processes.
        UnitError: If one unit has ended `TRIES` processes.
        Exception: What `work` raises, with a note that says which unit it was.
    """
    check_workers(workers)
    if workers == 1:
        yield from map(work, units)
        return
    try:
        sent = pickle.dumps(work)
    except Exception as error:  # pickle raises what the objects in it raise
        raise ValueError(f"this can't be sent to other processes ({error}); play with one worker") from error
    processes = [_Process(sent) for _ in range(min(workers, len(units)))]
    try:
        yield from _in_order(processes, sent, units)
    finally:
        for process in processes:
            process.end()


def _in_order(processes: list[_Process], sent: bytes, units: Sequence[Unit]) -> Iterator[Any]:
    """Hand out units and yield their results in order."""
    to_do = list(range(len(units)))[::-1]
    deaths = dict.fromkeys(to_do, 0)
    results: dict[int, Any] = {}
    given = 0
    while given < len(units):
        for process in processes:
            if process.number is None and to_do and to_do[-1] < given + AHEAD * len(processes):
                number = to_do.pop()
                process.begin(number, units[number])
        ready = wait([process.connection for process in processes if process.number is not None])
        for place, process in enumerate(processes):
            if process.number is None or process.connection not in ready:
                continue
            number = process.number
            try:
                results[number] = process.result()
            except EOFError:
                deaths[number] += 1
                code = process.end()
                if deaths[number] == TRIES:
                    raise UnitError(
                        f"{units[number]} has ended {TRIES} processes, the last with exit code {code}"
                    ) from None
                to_do.append(number)
                processes[place] = _Process(sent)
        while given in results:
            result = results.pop(given)
            if isinstance(result, Exception):
                result.add_note(f"in {units[given]}")
                raise result
            yield result
            given += 1


class _Process:
    """Another process, which does one unit after the other."""

    def __init__(self, sent: bytes) -> None:
        self.connection, theirs = SPAWN.Pipe()
        self.process = SPAWN.Process(target=_serve, args=(theirs, sent), daemon=True)
        with one_thread():
            self.process.start()
        theirs.close()  # the only other end is the process's own: it is closed when that ends
        self.number: int | None = None
        """Of the unit that it does."""

    def begin(self, number: int, unit: Any) -> None:
        self.number = number
        with suppress(OSError):  # a process that has died is noticed where its result is missing
            self.connection.send(unit)

    def result(self) -> Any:
        """What came of the unit: its result, or an exception.

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


def _serve(connection: Connection, sent: bytes) -> None:
    """What a worker does, until there is nobody left who would send it anything."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes of a terminal; the first one decides
    work = pickle.loads(sent)
    with suppress(EOFError, OSError):
        while True:
            unit = connection.recv()
            try:
                result = work(unit)
            except Exception as error:
                result = _that_travels(error)
            connection.send(result)


def _that_travels(error: Exception) -> Exception:
    """The error, or its text if it can't be sent as it is."""
    try:
        pickle.loads(ForkingPickler.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


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
