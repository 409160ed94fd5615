"""Texts of positions of the King's quests for the terminal."""

import random

import pytest

from artus_env import Game
from quest.positions import RING, game_at, joust

PLAYERS = pytest.mark.parametrize("players", [2, 3, 4])


@PLAYERS
def test_every_position_fits_into_80_columns(players):
    rng = random.Random(players)
    names = ["a name that is far too long to fit into any line\x1b[31m", "Bo", "Cy", "Di"][:players]
    for seed in (1, 2):
        game = Game(num_players=players, seed=seed, game="quest")
        while not game.over:
            if rng.random() < 0.05:
                for viewer in (None, 0):
                    text = game.render(viewer, names=names)
                    assert max(map(len, text.splitlines())) <= 80
                    assert text.replace("\n", "").isprintable()
            game.play(rng.choice(game.moves()))
        assert " won." in game.render()


def test_a_position_reads_like_this():
    game = game_at(
        turn=1, round=7, lots=2, tents=[1, 0, 2], ring=[*RING[:1], *RING[:0:-1]], places={1: "lake"}, points=[20, 3, 0],
        reached=[1, 0, 0], start_cards={0: ["sword-1", "book-1"], 1: ["book-1", "book-2"]},
        taken={0: ["lance-1", "lance-1"], 1: ["dragon-2"]}, quests={1: ["lake-1"], 2: ["moor-2"]},
        open_quests=["lake-2"], actions={1: ["horse-2", "quest", "quest"]}, excluded={0: ["dragon-1"]},
    )  # fmt: skip
    assert game.render(1, names=["Ann", "Bo", "Cy"]).splitlines() == [
        "Round 7 of at most 30: B Bo uses action cards or is done.",
        "The game ends with the round in which somebody has 20 points.",
        "",
        "Ring of places (behind the last comes camelot again), knights, quests. A quest",
        "is paid for with a virtue card of each kind that it names, or of a higher value.",
        "  camelot  AC",
        "  tower    .",
        "  ruin     .",
        "  ford     .",
        "  moor     .     moor-2: sword-1 + book-2 for 5 points (held by C)",
        "  lake     B     lake-1: dragon-2 for 3 points (held by B)",
        "                 lake-2: lance-1 + dragon-1 for 4 points (open)",
        "  valley   .",
        "  forest   .",
        "",
        "Tent 1: B Bo, 3 points - to move",
        "  actions  2 x quest, horse-2",
        "  virtues  dragon-2, book-1, book-2",
        "Tent 2: A Ann, 20 points",
        "  actions  exercise-sword, exercise-lance, exercise-dragon",
        "  virtues  2 x lance-1 and 2 unknown cards (none of them dragon-1)",
        "Tent 3: C Cy, 0 points",
        "  actions  exercise-book, artus, court",
        "  virtues  -",
        "",
        "Actions on display: 2 x tournament, horse-3, horse-4",
        "Piles of virtues:   sword 1 1 2 2, lance 1 2 2, dragon 1 1 2, book 2",
        "Pile of quests:     11 quests",
    ]


def test_of_bids_everybody_sees_that_they_are_made():
    game = joust(taken={0: ["sword-1"], 1: ["lance-1"]}, moves=("bid:sword-1",))
    assert "A player 0, 0 points - bids sword-1" in game.render(0)
    assert "A player 0, 0 points - has bid, in secret" in game.render(2)
    assert "B player 1, 0 points - to move, in the tournament, has still to bid" in game.render(2)


def test_the_winner_is_named():
    game = joust((1,), taken={1: ["sword-1"]}, points=[20, 18, 3], reached=[1, 0, 0], moves=("bid:sword-1",))
    assert game.render().startswith("Over in round 1: A player 0 won.")


def test_every_player_needs_a_name():
    with pytest.raises(ValueError, match=r"names must name 3 players, got \['Ann'\]"):
        game_at().render(names=["Ann"])
