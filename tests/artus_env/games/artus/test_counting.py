"""Seats that a move's points come from: the values that the page shows add up to the points that the rules give."""

import random

import pytest

from artus_env import Game
from artus_env.games.artus.components import STANDARD
from artus_env.games.artus.notation import parsed
from artus_env.games.artus.page import sentences
from artus_env.games.artus.page.counting import scored_seats

PENALTIES = {card.name: card.penalty for card in STANDARD.cards}


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_what_counts_adds_up_to_the_points(num_players):
    seen, penalties = set(), 0
    for seed in range(12):
        game, rng = Game("advanced", num_players, seed), random.Random(seed)
        while not game.over:
            position = game.to_dict()
            for move in game.moves():
                after, parts = game.clone(), parsed(move)
                points = after.play(move)
                scored = scored_seats(position, parts, STANDARD)
                if parts.kind in ("place", "draw"):
                    assert scored == []
                elif not scored:
                    assert points == PENALTIES[parts.card] < 0
                    penalties += 1
                else:
                    assert sum(value for _, value in scored) == points
                    assert len({seat for seat, _ in scored}) == len(scored)
                    seen.add(parts.card if parts.kind == "score" else parts.kind)
            game.play(rng.choice(game.moves()))
    assert seen == {"move", "ring", "best", "all", "reversed", "colors", "carpet", "reds"}
    assert penalties > 100


def test_the_log_names_the_seats_that_a_scoring_card_counts():
    position = {
        "num_players": 2, "turn": 0,
        "seats": [None] * 28, "scores": [0, 0], "hands": [["carpet"], []], "piles": [{}, {}],
    }  # fmt: skip
    position["seats"][3] = {"king": "silver", "rings": 3}
    for seat in (1, 2, 15):
        position["seats"][seat] = {"knight": 0}
    position["seats"][16] = {"knight": 1}
    after = {**position, "scores": [18, 0]}
    text = sentences.played(position, "carpet", after, 0, ["Ann", "Ben"], STANDARD)
    assert text == "scores with “Carpet”: +18 (seat 2: 10, seat 1: 8)."
