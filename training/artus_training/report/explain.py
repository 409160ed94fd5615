"""Sentences that explain a tournament's figures to people who don't know ratings, and a summary of agents' faults."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from artus_training.arena.standings import Standings
from artus_training.arena.statistics import expected_score
from artus_training.people.rating import NEEDED
from artus_training.people.results import Person
from artus_training.tables import one_line_name

DIFFERENCES = (0, 50, 100, 200, 400)
LEVELS = {
    "random": "plays any legal move; whoever knows the aim of the game should stand above it",
    "greedy": "takes the most points that it can have at once, as people may who have just learnt the rules",
    "lookahead": "tries all its moves of a turn and looks at the positions after them, as people may after some games",
    "ismcts:1000": "thinks a thousand possible games ahead, as a good player would have to",
    "ppo": "has learnt from millions of games against itself",
}
"""How the agents that come with the project play, the simplest first, and which people may play like that (an
estimate)."""
ESTIMATED = (
    "No person is placed here: nobody has {needed} games kept on this machine, in this variant, with agents of this "
    "table. What follows is an estimate, from what some of these agents do, and nothing measured."
)
MEASURED = (
    "Measured, from games of people that are kept on this machine, with the ratings of this table; their names "
    "aren't shown."
)
BESIDE = "Beside that an estimate, from what some of these agents do:"
UNKNOWN = "None of the agents that an estimate needs plays here: {names}."
_NOTE = re.compile(r" gave up deal \d+, rotation \d+, as player \d+: (.*)", re.DOTALL)
_VARYING = re.compile(r"'[^']*'\.{0,3}|\"[^\"]*\"|b'[^']*'|\d+")
_CONSEQUENCE = "not started again after"


def neighbours(ranking: Standings) -> list[str]:
    """One sentence for each pair of neighbours in the table: their difference in rating, and whether the first is
    surely better."""
    sentences = []
    for place, (line, next_line) in enumerate(zip(ranking.table, ranking.table[1:], strict=False)):
        name, other = one_line_name(line.agent), one_line_name(next_line.agent)
        difference = line.rating - next_line.rating
        expected = expected_score(difference)
        sentence = f"{name} is {difference:z.0f} points above {other}: ahead in {expected:.0%} of their duels"
        low = ranking.duels_low[place, place + 1]
        if not ranking.duels[place, place + 1] >= 0:  # not a number: they never met
            sentence += ", though they never met."
        elif not ranking.has_intervals:
            sentence += ". Too few deals to say how sure that is."
        else:
            high = ranking.duels_high[place, place + 1]
            observed = f" It was ahead in {ranking.duels[place, place + 1]:.0%} of them (95 %: {low:.0%} to {high:.0%})"
            sentence += "." + observed
            sentence += ": sure to be better." if low > 0.5 else ": who is better isn't sure. More games would tell."
        sentences.append(sentence)
    return sentences


@dataclass(frozen=True)
class People:
    """Sentences about people's places in the table."""

    about: str
    """Whether the places were measured, and from which games."""
    measured: list[str]
    """One sentence for each placed person, the weakest first."""
    estimate: str
    """Introduction of the estimate if it follows measured places, else empty."""
    estimated: list[str]
    """One sentence for each agent of `LEVELS`, the weakest first."""


def where_people_stand(ranking: Standings, placed: Sequence[Person]) -> People:
    """Describe people's places in a table: measured ones if there are any, and an estimate.

    Args:
        ranking: The table.
        placed: People rated on its scale; those without a placement are ignored.
    """
    placed_people = sorted(
        ((person, person.placement) for person in placed if person.placement), key=lambda pair: pair[1].rating
    )
    sentences = [
        f"{placement.rating:z.0f} (95 %: {placement.low:z.0f} to {placement.high:z.0f}): a person, "
        f"by {person.counted} games; {placement}."
        for person, placement in placed_people
    ]
    estimated = levels(ranking)
    unknown = "" if estimated else f" {UNKNOWN.format(names=', '.join(LEVELS))}"
    if not sentences:
        return People(ESTIMATED.format(needed=NEEDED) + unknown, [], "", estimated)
    return People(MEASURED, sentences, BESIDE if estimated else "", estimated)


def levels(ranking: Standings) -> list[str]:
    """Ratings and descriptions of the agents of `LEVELS` that play here, the weakest first."""
    rating_of = {line.agent: line.rating for line in ranking.table}
    rated = sorted((rating_of[name], name) for name in LEVELS if name in rating_of)
    return [f"{value:z.0f}: {name} {LEVELS[name]}." for value, name in rated]


def differences() -> list[tuple[str, str]]:
    """Rating differences, each with the fraction of duels in which the better agent is ahead."""
    return [(f"{points}", f"{expected_score(points):.0%}") for points in DIFFERENCES]


@dataclass
class Fault:
    """One kind of error of an agent, and how often it occurred."""

    agent: str
    reason: str
    """The message of its first occurrence."""
    games: int = 0
    """Number of games given up."""
    unplayed: bool = False
    """Whether the agent wasn't even started for some of these games. Their number says nothing about the agent, because
    each process counts failures separately."""

    def __str__(self) -> str:
        unplayed = ", some of them because it wasn't started again" if self.unplayed else ""
        return f"{self.agent}: {self.games:,} {'game' if self.games == 1 else 'games'}{unplayed}: {self.reason}"


def faults_of(notes: Iterable[str], agents: Sequence[str]) -> list[Fault]:
    """Collect the faults in the notes of a tournament (`Results.notes`), sorted by agent, then the most frequent first.

    Reasons that differ only in numbers and quoted text are one fault. Games for which an agent wasn't started again are
    counted as its most frequent fault.

    Args:
        notes: The notes, in any order.
        agents: Names of the agents that played.
    """
    faults_by_agent: dict[str, dict[str, Fault]] = {}
    unplayed: dict[str, list[str]] = {}
    longest_first = sorted(agents, key=len, reverse=True)
    for note in notes:
        agent = next((name for name in longest_first if note.startswith(f"{name} gave up deal ")), "")
        match = _NOTE.fullmatch(note[len(agent) :])
        reason = match[1] if match else note
        of_agent = faults_by_agent.setdefault(agent, {})
        if reason.startswith(_CONSEQUENCE):
            unplayed.setdefault(agent, []).append(reason)
        else:
            of_agent.setdefault(_VARYING.sub("", reason), Fault(agent, reason)).games += 1
    for agent, reasons in unplayed.items():
        faults = faults_by_agent[agent].values() or [
            faults_by_agent[agent].setdefault(reasons[0], Fault(agent, reasons[0]))
        ]
        most_frequent = max(faults, key=lambda fault: fault.games)
        most_frequent.games += len(reasons)
        most_frequent.unplayed = True
    return [
        fault
        for name in sorted(faults_by_agent)
        for fault in sorted(faults_by_agent[name].values(), key=lambda fault: -fault.games)
    ]
