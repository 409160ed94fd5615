"""The queue of a run's work units that haven't been started, and the form of the messages between driver and workers.

A work unit is one call of the run's function, with a few numbers (see `units`). The driver is the process that wants
the results; workers are processes that do units.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from multiprocessing.reduction import ForkingPickler
from typing import Any, NamedTuple

from artus_training.usage import UsageError

TRIES = 3
"""A unit is lost after this number of processes died while doing it."""
AHEAD = 8
"""Units per process that may be started before the first unfinished unit is done: their results may be lost if the run
ends."""
SAME_EVERYWHERE = (
    "the same version of artus, of other packages with agents, and of files that agents' names mention must be on all "
    "machines"
)


class WorkerError(UsageError):
    """Work without a result: processes died, the cluster is missing or lost, or a worker has other code or files."""


class Lost(NamedTuple):
    """Replaces the result of a unit that is given up."""

    reason: str


class UnitQueue:
    """Queue of the units 0, 1, ... that aren't started yet.

    Args:
        units: Number of units.
    """

    def __init__(self, units: int) -> None:
        self.first = 0
        """The first unit whose result is missing."""
        self._waiting = list(range(units))[::-1]
        self._deaths: dict[int, int] = {}

    def take(self, workers: int) -> int | None:
        """Take the next unit; None if there is none, or if it is too far ahead for this number of workers."""
        may_start = self._waiting and self._waiting[-1] < self.first + AHEAD * workers
        return self._waiting.pop() if may_start else None

    def died(self, number: int, cause: str) -> Lost | None:
        """Record that a process died during a unit. The unit goes back to the queue, or is lost.

        Args:
            number: The unit.
            cause: How the process ended, for messages.

        Returns:
            `Lost` if this was the last try, else None.
        """
        self._deaths[number] = self._deaths.get(number, 0) + 1
        if self._deaths[number] == TRIES:
            return Lost(f"has ended {TRIES} processes, the last one with {cause}")
        self.put_back(number)
        return None

    def put_back(self, number: int) -> None:
        """Return a unit to the queue: it will be the next one taken."""
        self._waiting.append(number)


class PackedWork(NamedTuple):
    """Work as it is sent to other processes."""

    work: bytes
    fingerprint: str
    """The sender's fingerprint of the code and files on which the work depends; empty: unknown."""


def packed(work: Callable[[Any], Any]) -> PackedWork:
    """Pickle work for other processes, with its fingerprint.

    Raises:
        ValueError: If the work can't be pickled.
    """
    return announcement(work)._replace(fingerprint=getattr(work, "fingerprint", ""))


def announcement(work: Callable[[Any], Any]) -> PackedWork:
    """Pickle work that is only announced: the receiver imports and hashes everything that the work needs, which takes
    seconds, but refuses to do the work.

    Raises:
        ValueError: If the work can't be pickled.
    """
    try:
        return PackedWork(pickle.dumps(work), "")
    except Exception as error:  # pickle raises what the objects in it raise
        raise ValueError(f"this can't be sent to other processes ({error}); play with one worker") from error


def unpacked(work: PackedWork) -> Callable[[Any], Any]:
    """Unpickle work.

    Raises:
        WorkerError: If its fingerprint differs here, or it can't be loaded.
    """
    try:
        work_function: Callable[[Any], Any] = pickle.loads(work.work)
        fingerprint_here = getattr(work_function, "fingerprint", "")
    except Exception as error:  # pickle raises what the objects in it raise
        raise WorkerError(f"a worker can't load this ({type(error).__name__}: {error}): {SAME_EVERYWHERE}") from None
    if fingerprint_here != work.fingerprint:
        raise WorkerError(
            f"the fingerprint of the game and the agents is {fingerprint_here} here, but {work.fingerprint} where they "
            f"were sent from: {SAME_EVERYWHERE}"
        )
    return work_function


def unit_function(work: PackedWork) -> Callable[[Any], Any]:
    """Return a function that does units of received work. It returns a result, or an exception that can be sent."""
    try:
        do = unpacked(work)
    except Exception as error:
        refusal = picklable(error)
        return lambda unit: refusal

    def outcome(unit: Any) -> Any:
        try:
            return do(unit)
        except Exception as error:
            return picklable(error)

    return outcome


def picklable(error: Exception) -> Exception:
    """The error itself, or a RuntimeError with its text if it can't be pickled."""
    try:
        pickle.loads(ForkingPickler.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def unpickled(result: bytes) -> Any:
    """Unpickle the result of a unit; a `WorkerError` if that fails."""
    try:
        return pickle.loads(result)
    except Exception as error:  # pickle raises what the objects in it raise
        return WorkerError(f"a result can't be read here ({type(error).__name__}: {error})")


def pickled(result: Any) -> bytes:
    """Pickle the result of a unit, or a `WorkerError` if that fails."""
    try:
        return bytes(ForkingPickler.dumps(result))
    except Exception as error:  # pickle raises what the objects in it raise
        return pickle.dumps(WorkerError(f"a result can't be sent ({type(error).__name__}: {error})"))
