"""Games that agents gave up, told once for each fault."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_NOTE = re.compile(r" gave up deal \d+, rotation \d+, as player \d+: (.*)", re.DOTALL)
_VARYING = re.compile(r"'[^']*'\.{0,3}|\"[^\"]*\"|b'[^']*'|\d+")
_CONSEQUENCE = "not started again after"


@dataclass
class Fault:
    """What an agent did wrong, and how often."""

    agent: str
    reason: str
    """The first time."""
    games: int = 0
    """Given up for it."""
    after: int = 0
    """Given up because the agent wasn't started again after it."""

    def __str__(self) -> str:
        after = f", and {self.after:,} more because it wasn't started again" if self.after else ""
        return f"{self.agent}: {self.games:,} {'game' if self.games == 1 else 'games'}{after}: {self.reason}"


def faults_of(notes: Iterable[str], agents: Sequence[str]) -> list[Fault]:
    """The faults in notes of a tournament (`Results.notes`), those of one agent together, the most frequent first.

    Reasons that differ in numbers and quoted text alone are one fault.

    Args:
        notes: In the order in which the games were played.
        agents: Names of those who played.
    """
    found: dict[str, dict[str, Fault]] = {}
    longest_first = sorted(agents, key=len, reverse=True)
    for note in notes:
        agent = next((name for name in longest_first if note.startswith(f"{name} gave up deal ")), "")
        match = _NOTE.fullmatch(note[len(agent) :])
        reason = match[1] if match else note
        of_agent = found.setdefault(agent, {})
        if reason.startswith(_CONSEQUENCE) and of_agent:
            next(reversed(of_agent.values())).after += 1
            continue
        of_agent.setdefault(_VARYING.sub("", reason), Fault(agent, reason)).games += 1
    return [fault for name in sorted(found) for fault in sorted(found[name].values(), key=lambda fault: -fault.games)]
