"""The environment compared with a reference implementation of the rules, and counts of legal move sequences (perft).

`reference` is slow, naive Python that shares no code with the environment. In random games both must list the same
moves and reach the same positions. The perft numbers are fixed: they change if any rule does.
"""

import random
from math import perm

import numpy as np
import pytest

import reference
from artus_env import Batch, Game
from artus_env.engine.compiling.jit import DISABLED
from positions import position

VARIANTS = [(rules, players) for rules in ("beginner", "advanced") for players in (2, 3, 4)]
GAMES = 3 if DISABLED else 20
"""Random games for each variant."""


def compare(game, choices):
    """Play a game to its end; at every step the environment and the reference must list the same moves and reach the
    same position."""
    expected = game.to_dict()
    while not game.over:
        moves = game.moves()
        assert sorted(moves) == sorted(reference.moves(expected)), expected
        move = choices.choice(moves)
        expected = reference.play(expected, move)
        game.play(move)
        assert game.to_dict() == expected, move
    assert reference.moves(expected) == []


@pytest.mark.parametrize(("rules", "players"), VARIANTS)
def test_random_games(rules, players):
    for seed in range(GAMES):
        compare(Game(rules=rules, num_players=players, seed=seed), random.Random(seed))


@pytest.mark.parametrize(("rules", "players"), VARIANTS)
def test_random_games_from_crowded_tables(rules, players):
    """All figures on neighbouring seats, princes with two rings: the King is displaced and crowned often."""
    for seed in range(GAMES // 2):
        choices = random.Random(seed)
        figures = [f"{colour}{choices.randint(1, 2)}" for colour in "sbb"] + ["Ks"]
        figures += "ABCD"[:players] * (4 if players == 4 else 5)
        choices.shuffle(figures)
        gap = choices.randrange(28)
        table = (figures + ["."] * (28 - len(figures))) * 2
        start = choices.randrange(players)
        compare(
            Game.from_dict(
                position(
                    " ".join(table[gap : gap + 28]), rules=rules, turn=start, start=start, rounds=0, shuffle=choices
                )
            ),
            choices,
        )


# --- perft ---------------------------------------------------------------------------------------------------------


def perft(start, depth):
    """Number of legal move sequences: every layer of the tree is one batch."""
    game = Game.from_dict(start)
    states = np.array([game.state], game.state.dtype)
    for left in range(depth, 0, -1):
        batch = Batch(len(states), rules=game.rules, num_players=game.num_players, threads=1, autoreset=False)
        batch.states[:] = states
        batch.refresh()
        rows, actions = np.nonzero(batch.mask)
        if left == 1 or len(rows) == 0:
            return len(rows)
        batch = Batch(len(rows), rules=game.rules, num_players=game.num_players, threads=1, autoreset=False)
        batch.states[:] = states[rows]
        batch.refresh()
        batch.step(actions)
        states = batch.states


TABLE_2 = "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B"
TABLE_3 = "C  s1 A  .  B  .  C  | b2 .  .  A  .  .  C  | Kb B  B  A  B  A  .  | .  C  .  B  A  C  s2"
CROWNS = "A  B  C  D  s2 .  .  | .  A  B  C  D  b2 .  | .  .  A  B  C  D  Ks | b2 .  .  A  B  C  D"

POSITIONS = {
    "start of play": position(TABLE_2, rounds=0),
    "drawing two": position(TABLE_2, rules="advanced", phase="draw", rounds=3),
    "last cards to draw": position(TABLE_3, phase="draw", turn=1, start=2, rounds=11, players=3),
    "mid-game": position(TABLE_3, rounds=6, turn=2, start=1),
    "advanced": position(TABLE_2, ["k1-5b", "choice", "all", "ring-any"], rules="advanced", rounds=5),
    "coronations": position(
        CROWNS, ["ring-any", "ring-any"], hands={1: ["ring-silver", "any1-5b"], 2: ["ring-any", "silver1-7"]}
    ),
    "advanced coronations": position(CROWNS, ["ring-any", "choice", "silver1-7", "all"], rules="advanced"),
    "the last two cards": position(TABLE_3, ["any1-5b", "reds"], rules="advanced", turn=1, start=2),
    "placing the last knights": position(
        "Ks A  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  .  .  | b1 .  .  B  .  .  .",
        phase="place",
        turn=1,
        start=0,
    ),
}

COUNTS = {
    # sequences of 1, 2, 3, ... moves
    "start of play": [52, 104, 5408, 10816, 573664],
    "drawing two": [3, 8, 640, 33520, 100560],
    "last cards to draw": [1, 94, 8836, 618520],
    "mid-game": [56, 112, 6270, 12540, 1077996],
    "advanced": [119, 10094, 30282, 80752],
    "coronations": [3, 125, 2125, 72250],
    "advanced coronations": [46, 1126, 57426],
    "the last two cards": [41, 80, 0],
    "placing the last knights": [16, 240, 12480, 24960, 1297920],
}
SEQUENCES = [
    (name, depth, count)
    for name, numbers in COUNTS.items()
    for depth, count in enumerate(numbers, 1)
    if not DISABLED or count < 1000
]


@pytest.mark.parametrize(("name", "depth", "count"), SEQUENCES)
def test_perft(name, depth, count):
    assert perft(POSITIONS[name], depth) == count


@pytest.mark.parametrize(("name", "depth", "count"), SEQUENCES)
def test_perft_of_the_reference(name, depth, count):
    """The reference implementation counts the same numbers."""
    assert reference.perft(POSITIONS[name], depth) == count


@pytest.mark.parametrize("players", [2, 3, 4])
def test_perft_of_placing(players):
    """24 seats are free for the first knight, 23 for the second, ..."""
    first = Game(num_players=players, seed=0).to_dict()
    for depth in (1, 2) if DISABLED else (1, 2, 3, 4):
        assert perft(first, depth) == perm(24, depth)
