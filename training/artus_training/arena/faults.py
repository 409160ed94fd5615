"""Summary of the games that agents gave up, one entry for each fault."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_NOTE = re.compile(r" gave up deal \d+, rotation \d+, as player \d+: (.*)", re.DOTALL)
_VARYING = re.compile(r"'[^']*'\.{0,3}|\"[^\"]*\"|b'[^']*'|\d+")
_CONSEQUENCE = "not started again after"


@dataclass
class Fault:
    """One kind of error of an agent, and how often it occurred."""

    agent: str
    reason: str
    """The message of its first occurrence."""
    games: int = 0
    """Number of games given up."""
    unplayed: bool = False
    """Whether the agent wasn't even started for some of them. Their number says nothing about the agent, because each
    process counts failures separately."""

    def __str__(self) -> str:
        unplayed = ", some of them because it wasn't started again" if self.unplayed else ""
        return f"{self.agent}: {self.games:,} {'game' if self.games == 1 else 'games'}{unplayed}: {self.reason}"


def faults_of(notes: Iterable[str], agents: Sequence[str]) -> list[Fault]:
    """Collect the faults in the notes of a tournament (`Results.notes`), sorted by agent, then the most frequent first.

    Reasons that differ only in numbers and quoted text are one fault. Games for which an agent wasn't started again
    count towards its most frequent fault.

    Args:
        notes: In any order.
        agents: Names of the agents that played.
    """
    found: dict[str, dict[str, Fault]] = {}
    unplayed: dict[str, list[str]] = {}
    longest_first = sorted(agents, key=len, reverse=True)
    for note in notes:
        agent = next((name for name in longest_first if note.startswith(f"{name} gave up deal ")), "")
        match = _NOTE.fullmatch(note[len(agent) :])
        reason = match[1] if match else note
        of_agent = found.setdefault(agent, {})
        if reason.startswith(_CONSEQUENCE):
            unplayed.setdefault(agent, []).append(reason)
        else:
            of_agent.setdefault(_VARYING.sub("", reason), Fault(agent, reason)).games += 1
    for agent, reasons in unplayed.items():
        faults = found[agent].values() or [found[agent].setdefault(reasons[0], Fault(agent, reasons[0]))]
        worst = max(faults, key=lambda fault: fault.games)
        worst.games += len(reasons)
        worst.unplayed = True
    return [fault for name in sorted(found) for fault in sorted(found[name].values(), key=lambda fault: -fault.games)]
