"""What is left of a run of units, and what whoever does one of them needs to know."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from multiprocessing.reduction import ForkingPickler
from typing import Any, NamedTuple

TRIES = 3
"""A unit that has ended so many processes is lost."""
AHEAD = 8
"""Units that each process may be in front of the first one that isn't done: what is lost when the run is ended."""
SAME_EVERYWHERE = (
    "the same version of artus, of other packages with agents, and of files that agents' names mention must be on all "
    "machines"
)


class UnitError(RuntimeError):
    """Units without a result: no process has survived them, or the result can't be sent."""


class OtherCodeError(ValueError):
    """Work that can't be done where it was sent: other code, or other files, are there."""


class ClusterError(RuntimeError):
    """There is no cluster to play on, or it has gone."""


class Lost(NamedTuple):
    """What takes the place of a unit's result when it is given up."""

    reason: str


class ToDo:
    """Which of the units 0, 1, ... nobody has begun yet.

    Args:
        units: How many there are.
    """

    def __init__(self, units: int) -> None:
        self.first = 0
        """The first unit whose result is missing."""
        self._waiting = list(range(units))[::-1]
        self._deaths: dict[int, int] = {}

    def take(self, doers: int) -> int | None:
        """The next unit for one of so many that do them; None: there is none, or it is too far in front."""
        near = self._waiting and self._waiting[-1] < self.first + AHEAD * doers
        return self._waiting.pop() if near else None

    def died(self, number: int, how: str) -> Lost | None:
        """A unit's process has ended. It is done once more, or lost."""
        self._deaths[number] = self._deaths.get(number, 0) + 1
        if self._deaths[number] == TRIES:
            return Lost(f"has ended {TRIES} processes, the last one with {how}")
        self.put_back(number)
        return None

    def put_back(self, number: int) -> None:
        """A unit's process has ended before it began the unit. It is done by another one."""
        self._waiting.append(number)


class Sent(NamedTuple):
    """Work as it is sent to other processes."""

    work: bytes
    made_of: str
    """Hash of the code and files that it depends on, where whoever sends it is; empty: it doesn't say."""


def sent(work: Callable[[Any], Any]) -> Sent:
    """Work for other processes.

    Raises:
        ValueError: If it can't be sent.
    """
    return soon(work)._replace(made_of=getattr(work, "made_of", ""))


def soon(work: Callable[[Any], Any]) -> Sent:
    """Work that nobody shall do yet: who receives it imports and hashes all that it is made of, which takes seconds,
    and refuses it.

    Raises:
        ValueError: If it can't be sent.
    """
    try:
        return Sent(pickle.dumps(work), "")
    except Exception as error:  # pickle raises what the objects in it raise
        raise ValueError(f"this can't be sent to other processes ({error}); play with one worker") from error


def received(work: Sent) -> Callable[[Any], Any]:
    """What was sent.

    Raises:
        OtherCodeError: If here it is made of other code or other files, or can't be read.
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
    """What does units of work that was sent. It returns a result, or an exception that can be sent."""
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
    """The error, or its text if it can't be sent as it is."""
    try:
        pickle.loads(ForkingPickler.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def unpickled(result: bytes) -> Any:
    """The result of a unit, or an error that says why it can't be read."""
    try:
        return pickle.loads(result)
    except Exception as error:  # pickle raises what the objects in it raise
        return UnitError(f"a result can't be read here ({type(error).__name__}: {error})")


def pickled(result: Any) -> bytes:
    """The result of a unit as it is sent, or an error that says why it can't be."""
    try:
        return bytes(ForkingPickler.dumps(result))
    except Exception as error:  # pickle raises what the objects in it raise
        return pickle.dumps(UnitError(f"a result can't be sent ({type(error).__name__}: {error})"))
