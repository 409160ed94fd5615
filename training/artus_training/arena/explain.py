"""What a tournament's figures mean, in sentences for people who have never seen a rating."""

from __future__ import annotations

from artus_training.arena.elo import ahead
from artus_training.arena.names import one_line_name
from artus_training.arena.standings import Standings

DIFFERENCES = (0, 50, 100, 200, 400)
LEVELS = {
    "random": "plays any legal move, which nobody does who knows the aim of the game",
    "greedy": "takes the most points that it can have at once, as people do who have just learnt the rules",
    "lookahead": "tries all its moves of a turn and looks at where they leave it, as people do after some games",
    "ismcts:1000": "thinks a thousand possible games ahead, as a good player would have to",
    "ppo": "has learnt from millions of games against itself",
}
"""What the agents that come along do, the plainest first; no people have been measured."""


def neighbours(whole: Standings) -> list[str]:
    """How sure it is that each agent is better than the next one of the table."""
    sentences = []
    for place, (line, after) in enumerate(zip(whole.table, whole.table[1:], strict=False)):
        name, other = one_line_name(line.agent), one_line_name(after.agent)
        difference = line.rating - after.rating
        sentence = f"{name} is {difference:z.0f} points above {other}: ahead in {ahead(difference):.0%} of their duels"
        low = whole.duels_low[place, place + 1]
        if not whole.duels[place, place + 1] >= 0:  # not a number: they never met
            sentence += ", though they never met."
        elif not whole.has_intervals:
            sentence += ". Too few deals to say how sure that is."
        else:
            high = whole.duels_high[place, place + 1]
            seen = f" It was ahead in {whole.duels[place, place + 1]:.0%} of them (95 %: {low:.0%} to {high:.0%})"
            sentence += "." + seen
            sentence += ": sure to be better." if low > 0.5 else ": who is better isn't sure. More games would tell."
        sentences.append(sentence)
    return sentences


def levels(whole: Standings) -> list[str]:
    """Where those agents stand whose way to play people know, the weakest first."""
    rating = {line.agent: line.rating for line in whole.table}
    there = sorted((rating[name], name) for name in LEVELS if name in rating)
    return [f"{value:z.0f}: {name} {LEVELS[name]}." for value, name in there]


def differences() -> list[tuple[str, str]]:
    """Rating differences, and how often the better agent is ahead."""
    return [(f"{points}", f"{ahead(points):.0%}") for points in DIFFERENCES]
