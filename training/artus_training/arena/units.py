"""Units of work: each a pure function of a few numbers, done in this process, by several others, or by a Ray cluster.

Results come in the order of the units, so what is made of them doesn't depend on who did which, how many did them, or
who died meanwhile. Only the caller writes anything.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import Any, Protocol, TypeVar

from artus_env.agents import Agent
from artus_env.engine.basics.reading import shown
from artus_training.arena.cluster import by_ray, connected
from artus_training.arena.processes import Processes, by_processes
from artus_training.arena.todo import Lost, ToDo, UnitError, sent

Unit = TypeVar("Unit")
Result = TypeVar("Result")

GAMES_AT_ONCE = 64
"""Of agents that don't say how many games they like to be asked about at a time."""
MOST_WORKERS = 256
MOST_NAMED = 5
"""Lost units that an error names."""


def unit_games(agents: Sequence[Agent]) -> int:
    """How many games make a unit: some seconds of work, as far as the agents' names tell, and the same everywhere."""
    return max(1, min(int(getattr(agent, "games_at_once", GAMES_AT_ONCE)) for agent in agents))


def check_workers(workers: int, ray: str | None = None) -> None:
    """Raise a ValueError if so many processes can't share the work, or if it isn't said who shall do it."""
    if not 1 <= workers <= MOST_WORKERS:
        raise ValueError(f"workers must be at least 1 and at most {MOST_WORKERS}, got {shown(workers)}")
    if workers > 1 and ray is not None:
        raise ValueError("either some workers or a Ray cluster can play, not both")


def run_units(
    work: Callable[[Unit], Result],
    units: Sequence[Unit],
    workers: int = 1,
    ray: str | None = None,
    processes: Processes | None = None,
    waiting: dict[int, Result] | None = None,
) -> Generator[tuple[Unit, Result]]:
    """Each unit and what `work` makes of it, in the order of the units.

    Args:
        work: What to do; whoever does it, the result is the same. To other processes it is sent once, units and results
            are sent as they come. If it has an attribute `made_of`, a text, that must be the same wherever it arrives.
        units: What to do it with.
        workers: Processes, each with one thread; 1: this process with its threads. A process that dies is replaced, and
            its unit is done again.
        ray: Address of a Ray cluster that does the work instead; empty: see `cluster.connected`.
        processes: Those that do it, and stay; None: new ones, which end when the work is done.
        waiting: Is given the results that have come and wait for an earlier unit, by number: what the caller can still
            use when it is interrupted.

    Raises:
        ValueError: If the work can't be sent to other processes, or is made of something else there.
        ClusterError: If there is no such cluster.
        UnitError: When all else is done, if some units have ended `TRIES` processes each.
        Exception: What `work` raises, with a note that says which unit it was.
    """
    check_workers(workers, ray)
    if workers == 1 and ray is None:
        yield from ((unit, work(unit)) for unit in units)
        return
    to_do = ToDo(len(units))
    if ray is not None:
        found = by_ray(sent(work), units, to_do, ray)
    elif processes is not None:
        found = processes.do(sent(work), units, to_do)
    else:
        found = by_processes(sent(work), units, to_do, workers)
    lost = []
    with closing(found):  # no process stays behind
        for unit, result in in_order(found, units, to_do, {} if waiting is None else waiting):
            if isinstance(result, Exception):
                result.add_note(f"in {unit}")
                raise result
            if isinstance(result, Lost):
                lost.append(f"{unit} {result.reason}")
            else:
                yield unit, result
    if lost:
        more = [f"and {len(lost) - MOST_NAMED} more"] if len(lost) > MOST_NAMED else []
        raise UnitError("; ".join(lost[:MOST_NAMED] + more))


class Runner(Protocol):
    """`run_units` by those who are kept."""

    def __call__(
        self, work: Callable[[Unit], Result], units: Sequence[Unit], *, waiting: dict[int, Result] | None = None
    ) -> Iterator[tuple[Unit, Result]]: ...


@contextmanager
def kept(workers: int = 1, ray: str | None = None, first: Callable[[Any], Any] | None = None) -> Iterator[Runner]:
    """`run_units`, with processes, or the connection to a cluster, that stay from one piece of work to the next.

    Args:
        workers, ray: As there.
        first: Work that comes first: processes get ready for it while the caller does so.

    Raises:
        ValueError: If it isn't said who shall do it, or the first work can't be sent to other processes.
        ClusterError: If there is no such cluster.
    """
    check_workers(workers, ray)
    if ray is not None:
        with connected(ray):
            yield partial(run_units, ray="")
    elif workers > 1:
        with closing(Processes(workers)) as processes:
            if first is not None:
                processes.prepare(first)
            yield partial(run_units, workers=workers, processes=processes)
    else:
        yield run_units


def in_order(
    found: Iterable[tuple[int, Any]], units: Sequence[Unit], to_do: ToDo, waiting: dict[int, Any]
) -> Iterator[tuple[Unit, Any]]:
    """What was found, in the order of the units. What comes twice counts once.

    Args:
        waiting: Filled with results that wait for an earlier unit, by number. Errors and lost units aren't among them.
    """
    failed: dict[int, Any] = {}
    for number, result in found:
        if number >= to_do.first:
            (failed if isinstance(result, Exception | Lost) else waiting).setdefault(number, result)
        while to_do.first in waiting or to_do.first in failed:
            to_do.first += 1
            number = to_do.first - 1
            yield units[number], (waiting if number in waiting else failed).pop(number)
