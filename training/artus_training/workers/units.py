"""Units of work: calls of a pure function of a few numbers, by this process, by several others, or by a Ray cluster.

Results arrive in the order of the units, so they don't depend on the number of workers, on their speed or on workers
that die. Only the caller writes files.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import Any, Protocol, TypeVar

from artus_env.engine.basics.reading import shown
from artus_training.workers.cluster import by_ray, connected
from artus_training.workers.processes import Processes
from artus_training.workers.queue import Lost, PackedWork, UnitQueue, WorkerError, packed

Unit = TypeVar("Unit")
Result = TypeVar("Result")

MOST_WORKERS = 256
MOST_NAMED = 5
"""Most lost units that an error message names."""


def check_workers(workers: int, ray: str | None = None) -> None:
    """Raise a ValueError if the number of workers is out of range, or both workers and a cluster are given."""
    if not 1 <= workers <= MOST_WORKERS:
        raise ValueError(f"workers must be at least 1 and at most {MOST_WORKERS}, got {shown(workers)}")
    if workers > 1 and ray is not None:
        raise ValueError("either some workers or a Ray cluster can play, not both")


def run_units(
    work: Callable[[Unit], Result],
    units: Sequence[Unit],
    workers: int = 1,
    ray: str | None = None,
    waiting: dict[int, Result] | None = None,
) -> Generator[tuple[Unit, Result]]:
    """Call `work` with each unit; yield units and results in the order of the units.

    Args:
        work: A function whose result doesn't depend on the process or machine. It is sent once to each other process.
            If it has an attribute `fingerprint`, a text, that must have the same value in each process.
        units: Arguments of `work`.
        workers: Processes, each with one thread; 1: this process with its threads. A process that dies is replaced, and
            its unit is done again.
        ray: Address of a Ray cluster that does the work instead; for an empty address see `cluster.connected`.
        waiting: Gets the results that wait for an earlier unit, by number, so that the caller can use them after an
            interrupt.

    Raises:
        ValueError: If the work can't be sent to other processes.
        WorkerError: If there is no such cluster, or `fingerprint` differs there. Also, after all other units are done,
            if some units have ended `TRIES` processes each.
        Exception: Any exception of `work`, with a note that names the unit.
    """
    with worker_pool(workers, ray) as runner:
        yield from runner(work, units, waiting=waiting)


class Runner(Protocol):
    """`run_units` with kept processes or a kept connection."""

    def __call__(
        self, work: Callable[[Unit], Result], units: Sequence[Unit], *, waiting: dict[int, Result] | None = None
    ) -> Generator[tuple[Unit, Result]]: ...


@contextmanager
def worker_pool(
    workers: int = 1, ray: str | None = None, first_work: Callable[[Any], Any] | None = None
) -> Iterator[Runner]:
    """Yield a `run_units` that keeps its processes, or its connection to a cluster, between pieces of work.

    Args:
        workers, ray: As for `run_units`.
        first_work: The first work, which processes load while the caller loads it, too.

    Raises:
        ValueError: See `check_workers`; also if the first work can't be sent to other processes.
        WorkerError: If there is no such cluster.
    """
    check_workers(workers, ray)
    if ray is not None:
        with connected(ray) as module:
            yield partial(_run_elsewhere, partial(by_ray, module))
    elif workers > 1:
        with closing(Processes(workers)) as processes:
            if first_work is not None:
                processes.prepare(first_work)
            yield partial(_run_elsewhere, processes.do)
    else:
        yield _run_here


def _run_here(
    work: Callable[[Unit], Result], units: Sequence[Unit], *, waiting: dict[int, Result] | None = None
) -> Generator[tuple[Unit, Result]]:
    """`run_units` in this process."""
    yield from ((unit, work(unit)) for unit in units)


def _run_elsewhere(
    do: Callable[[PackedWork, Sequence[Any], UnitQueue], Generator[tuple[int, Any]]],
    work: Callable[[Unit], Result],
    units: Sequence[Unit],
    *,
    waiting: dict[int, Result] | None = None,
) -> Generator[tuple[Unit, Result]]:
    """`run_units` with other processes.

    Args:
        do: Yields the number of each unit and its result, or `Lost`, in the order of completion.
        work, units, waiting: As for `run_units`.
    """
    queue, lost = UnitQueue(len(units)), []
    with closing(do(packed(work), units, queue)) as new_results:  # no process stays behind
        for unit, result in in_order(new_results, units, queue, {} if waiting is None else waiting):
            if isinstance(result, Exception):
                result.add_note(f"in {unit}")
                raise result
            if isinstance(result, Lost):
                lost.append(f"{unit} {result.reason}")
            else:
                yield unit, result
    if lost:
        rest_note = [f"and {len(lost) - MOST_NAMED} more"] if len(lost) > MOST_NAMED else []
        raise WorkerError("; ".join(lost[:MOST_NAMED] + rest_note))


def in_order(
    new_results: Iterable[tuple[int, Any]], units: Sequence[Unit], queue: UnitQueue, waiting: dict[int, Any]
) -> Iterator[tuple[Unit, Any]]:
    """Yield results in the order of the units; ignore repeated ones.

    Args:
        new_results: Numbers of units and their results, in any order.
        units, queue: All units, and the state of the run.
        waiting: Gets the results that wait for an earlier unit, by number, but no errors and lost units.
    """
    failures: dict[int, Any] = {}
    for number, result in new_results:
        if number >= queue.first:
            (failures if isinstance(result, Exception | Lost) else waiting).setdefault(number, result)
        while queue.first in waiting or queue.first in failures:
            queue.first += 1
            number = queue.first - 1
            yield units[number], (waiting if number in waiting else failures).pop(number)
