"""The units of a run that are still to do, and the messages between driver and workers."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from multiprocessing.reduction import ForkingPickler
from typing import Any, NamedTuple

TRIES = 3
"""A unit is lost after this number of processes died while doing it."""
AHEAD = 8
"""Units per process that may be started ahead of the first unfinished one: their results may be lost if the run
ends."""
SAME_EVERYWHERE = (
    "the same version of artus, of other packages with agents, and of files that agents' names mention must be on all "
    "machines"
)


class UnitError(RuntimeError):
    """Units without a result: every process died, or the result can't be sent."""


class OtherCodeError(ValueError):
    """Work that can't be done by the receiver, because it has other code or other files."""


class ClusterError(RuntimeError):
    """The cluster doesn't exist, or was lost."""


class Lost(NamedTuple):
    """Replaces the result of a unit that is given up."""

    reason: str


class ToDo:
    """Queue of the units 0, 1, ... that aren't started yet.

    Args:
        units: Number of units.
    """

    def __init__(self, units: int) -> None:
        self.first = 0
        """The first unit whose result is missing."""
        self._waiting = list(range(units))[::-1]
        self._deaths: dict[int, int] = {}

    def take(self, doers: int) -> int | None:
        """Take the next unit; None if there is none, or if it is too far ahead for this number of workers."""
        near = self._waiting and self._waiting[-1] < self.first + AHEAD * doers
        return self._waiting.pop() if near else None

    def died(self, number: int, how: str) -> Lost | None:
        """Record that a process died during a unit: the unit is done again, or is lost."""
        self._deaths[number] = self._deaths.get(number, 0) + 1
        if self._deaths[number] == TRIES:
            return Lost(f"has ended {TRIES} processes, the last one with {how}")
        self.put_back(number)
        return None

    def put_back(self, number: int) -> None:
        """Put a unit back whose process ended before it began the unit."""
        self._waiting.append(number)


class Sent(NamedTuple):
    """Work as it is sent to other processes."""

    work: bytes
    made_of: str
    """Fingerprint, at the sender, of the code and files that the work depends on; empty: unknown."""


def sent(work: Callable[[Any], Any]) -> Sent:
    """Pickle work for other processes, with its fingerprint.

    Raises:
        ValueError: If the work can't be pickled.
    """
    return soon(work)._replace(made_of=getattr(work, "made_of", ""))


def soon(work: Callable[[Any], Any]) -> Sent:
    """Pickle work that is only announced: the receiver imports and hashes everything that the work needs, which takes
    seconds, but refuses to do it.

    Raises:
        ValueError: If the work can't be pickled.
    """
    try:
        return Sent(pickle.dumps(work), "")
    except Exception as error:  # pickle raises what the objects in it raise
        raise ValueError(f"this can't be sent to other processes ({error}); play with one worker") from error


def received(work: Sent) -> Callable[[Any], Any]:
    """Unpickle work.

    Raises:
        OtherCodeError: If its fingerprint differs here, or it can't be loaded.
    """
    try:
        made: Callable[[Any], Any] = pickle.loads(work.work)
        here = getattr(made, "made_of", "")
    except Exception as error:  # pickle raises what the objects in it raise
        raise OtherCodeError(f"a worker can't load this ({type(error).__name__}: {error}): {SAME_EVERYWHERE}") from None
    if here != work.made_of:
        raise OtherCodeError(
            f"the game and the agents are made of {here} here, but of {work.made_of} where they were sent from: "
            f"{SAME_EVERYWHERE}"
        )
    return made


def doing(work: Sent) -> Callable[[Any], Any]:
    """Return a function that does units of received work. It returns a result, or an exception that can be sent."""
    try:
        do = received(work)
    except Exception as error:
        refusal = that_travels(error)
        return lambda unit: refusal

    def outcome(unit: Any) -> Any:
        try:
            return do(unit)
        except Exception as error:
            return that_travels(error)

    return outcome


def that_travels(error: Exception) -> Exception:
    """The error itself, or a RuntimeError with its text if it can't be pickled."""
    try:
        pickle.loads(ForkingPickler.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def unpickled(result: bytes) -> Any:
    """Unpickle the result of a unit; a `UnitError` if that fails."""
    try:
        return pickle.loads(result)
    except Exception as error:  # pickle raises what the objects in it raise
        return UnitError(f"a result can't be read here ({type(error).__name__}: {error})")


def pickled(result: Any) -> bytes:
    """Pickle the result of a unit, or a `UnitError` if that fails."""
    try:
        return bytes(ForkingPickler.dumps(result))
    except Exception as error:  # pickle raises what the objects in it raise
        return pickle.dumps(UnitError(f"a result can't be sent ({type(error).__name__}: {error})"))
