"""Whole games compared with a reference implementation of the rules, move by move.

A few games are played in CI. `python tests/artus_env/games/quest/test_reference.py 2000` plays 2 000 games with each
number of players and prints how often each event occurred.
"""

import random
import sys
from collections import Counter
from pathlib import Path

import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[3] / "helpers"))

from artus_env import Game
from artus_env.engine.compiling.jit import DISABLED
from artus_env.engine.contract import verbs
from quest import reference
from quest.positions import points

GAMES = 2 if DISABLED else 12
CARE = (0.0, 0.5, 0.8, 0.9)
"""Probabilities that a player chooses the best move instead of a random one: from aimless games of thirty rounds to
games that end at the goal."""
EVENTS = {
    "take", "exercise", "artus", "court", "quest", "horse-2", "horse-3", "horse-4", "done", "alone", "alone, nothing",
    "won", "shared", "excluded", "goal",
}  # fmt: skip
"""Events that must occur in the games, so that the comparison covers all rules."""


def choose(game, care, rng):
    """A move: with probability `care` the best one by `greedy_value`, else a random one."""
    legal = game.legal_actions()
    if rng.random() < care:
        return game.move(max(legal, key=lambda action: verbs.greedy_value(game.tables[0], game.state, action)))
    return game.move(rng.choice(legal))


def compare(num_players, seed, happened):
    """Play one game in the environment and in the reference, and count its events in `happened`."""
    rng = random.Random(f"{num_players}-{seed}")
    game = Game(num_players=num_players, seed=seed, game="quest")
    position = game.to_dict()
    while not game.over:
        before, legal = position, game.moves()
        assert sorted(set(reference.moves(before))) == sorted(legal), before
        move = choose(game, CARE[seed % len(CARE)], rng)
        predicted, gained, after = points(game, move), game.play(move), game.to_dict()
        # The reference uses these tents only for the order of players with equal points.
        position = reference.play(before, move, after["tents"])
        assert after == position, move
        player = before["turn"]
        assert gained == after["points"][player] - before["points"][player]
        jousters = reference.jousters(before)
        certain = not (move.startswith("bid") and len(jousters) > 1)
        assert predicted == (gained if certain else 0)
        happened.update(event_names(before, move, after, jousters))
    assert game.winners == reference.winners(position)
    happened["goal" if any(position["reached"]) else "round 30"] += 1
    happened["goal in one tournament"] += sorted(position["reached"])[-2:] == [1, 1]
    happened["first at the goal alone"] += len(game.winners) < position["points"].count(max(position["points"]))


def event_names(before, move, after, jousters):
    """Names of the events (see `EVENTS`) of a move."""
    kind = move.partition(":")[0]
    yield from ["excluded"] * (before["excluded"] != after["excluded"])
    if kind != "bid":
        yield kind
    elif len(jousters) == 1:
        yield "alone, nothing" if move == "bid:nothing" else "alone"
    elif after["phase"] != "bid":
        gains = sum(after["points"]) - sum(before["points"])
        higher = max(new - old for new, old in zip(after["points"], before["points"], strict=True))
        yield {(0, 0): "nothing bid", (2, 1): "shared", (2, 2): "won"}[gains, higher]


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_whole_games(num_players):
    happened = Counter()
    for seed in range(GAMES):
        compare(num_players, seed, happened)
    assert DISABLED or set(happened) >= EVENTS, EVENTS - set(happened)


if __name__ == "__main__":
    for players in (2, 3, 4):
        events = Counter()
        for number in range(int(sys.argv[1])):
            compare(players, number, events)
        print(f"{players} players, {sys.argv[1]} games: {dict(sorted(events.items()))}")
