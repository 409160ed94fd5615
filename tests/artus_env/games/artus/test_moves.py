"""Moves as text and in parts."""

import random

import pytest

from artus_env import Game
from artus_env.games.artus.notation import MoveParts, parse, parsed

FORMS = {
    "@12": MoveParts("place", target=12),
    "draw:king": MoveParts("draw", pile="king"),
    "k3-6:12>17": MoveParts("move", "k3-6", origin=12, target=17),
    "ring-any:21": MoveParts("ring", "ring-any", target=21),
    "choice:ring:7": MoveParts("ring", "choice", target=7, named=True),
    "choice:best": MoveParts("best", "choice"),
    "reds": MoveParts("score", "reds"),
}


@pytest.mark.parametrize("text", FORMS)
def test_each_kind_is_read_and_written(text):
    assert parse(text) == FORMS[text]
    assert FORMS[text].text == text


@pytest.mark.parametrize("rules", ["beginner", "advanced"])
@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_every_legal_move_of_a_game_is_read_and_written(rules, num_players):
    rng = random.Random(num_players)
    game = Game(rules, num_players, seed=num_players)
    kinds = set()
    while not game.over:
        for move in game.moves():
            assert parsed(move).text == move
            kinds.add(parsed(move).kind)
        game.play(rng.choice(game.moves()))
    assert kinds >= {"place", "draw", "move", "ring"}


@pytest.mark.parametrize("text", ["", "@", "@x", "k3-6:", "k3-6:12>", "k3-6:12>17 ", "a b", "k3-6:ring:", "x:y:best"])
def test_what_has_no_such_form_is_no_move(text):
    assert parse(text) is None
    with pytest.raises(ValueError, match="no move"):
        parsed(text)
