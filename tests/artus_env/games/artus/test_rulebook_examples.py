"""The rulebook's examples A to G: one table, on which each example is played on its own.

The rulebook's picture of this table is reconstructed from the numbers in the examples. Four players: the rulebook's
Red, Blue, Black and Beige are players A, B, C and D here. The bronze King sits at the larger crown, the silver princes
on 3 (two rings, example C crowns this one) and on -12, the other bronze prince on the third yellow seat; Black and
Beige have a knight each on the yellow seats right in front of the King, which are on the carpet, as are -3, -4 and -5.
"""

import pytest

from artus_env import Game
from positions import around, drawing, position, tidy

RED, BLUE, BLACK, BEIGE = range(4)
TABLE = around(
    "Kb",
    C=[10, -3, -5, 0],
    B=[7, 6, 2, -1],
    A=[5, 4, 1, -9],
    D=[-2, -4, -7, 0],
    s2=[3],
    s1=[-12],
    b1=[0],
)
# The same, drawn: 0 0 0 before the King, then from -15 up to 10 right behind him.
DRAWN = "Kb C  D  b1 .  .  .  | s1 .  .  A  .  D  .  | C  D  C  D  B  A  B  | s2 A  A  B  B  .  C"


def game_at(player, card):
    """A game in which a player is to play this card, which is their last one."""
    rules = "advanced" if card in ("all", "reversed", "colors", "carpet", "reds") else "beginner"
    return Game.from_dict(position(TABLE, [card], turn=player, left=1, rules=rules))


def values_of(game, player):
    """Current values of the seats of a player's knights, in order from the King backward."""
    seats = game.to_dict()["seats"]
    king = next(seat for seat, figure in enumerate(seats) if figure and "king" in figure)
    plates = [0, 10, 8, 7, 6, 5, 4, 3, 2, 1, *range(-1, -16, -1), 0, 0, 0]
    return [plates[d] for d in range(28) if seats[(king - d) % 28] == {"knight": player}]


def test_the_picture():
    assert tidy(DRAWN) == TABLE
    assert values_of(game_at(RED, "k3-6"), BLUE) == [7, 6, 2, -1]


EXAMPLE_A = [
    # Red plays 3-6 with his knight on 5, seat 23
    ("4 forward: Black goes from 10 back to 8", "k3-6:23>27", {BLACK: [8, -3, -5, 0], RED: [10, 4, 1, -9]}, 0),
    ("5 forward: Artus goes back to 8, which becomes the crown plate", "k3-6:23>0", {}, 26),
    ("3 forward: nobody goes", "k3-6:23>26", {BLACK: [10, -3, -5, 0], RED: [8, 4, 1, -9]}, 0),
]


@pytest.mark.parametrize(("move", "now", "king"), [row[1:] for row in EXAMPLE_A], ids=[row[0] for row in EXAMPLE_A])
def test_example_a(move, now, king):
    """Red gets the same 5 points wherever the knight goes."""
    game = game_at(RED, "k3-6")
    assert game.play(move) == 5
    for player, values in now.items():
        assert values_of(game, player) == values
    assert game.to_dict()["seats"][king] == {"king": "bronze", "rings": 3}


def test_example_a_the_wheel_turns_with_the_displaced_king():
    """Red moves to the King's seat and pushes him two seats back. All figures behind him come two seats nearer; Red,
    now two seats ahead of him, stands on yellow."""
    game = game_at(RED, "k3-6")
    game.play("k3-6:23>0")
    assert values_of(game, RED) == [6, 3, -7, 0]
    assert values_of(game, BEIGE) == [1, -2, -5, -15]


def test_example_b():
    """Red goes 3 back from 5 to 2, for 5 points; Blue goes from 2 to -6, the next free seat behind."""
    game = game_at(RED, "k1-5b")
    assert game.play("k1-5b:23>20") == 5
    assert values_of(game, RED) == [4, 2, 1, -9]
    assert values_of(game, BLUE) == [7, 6, -1, -6]


def test_example_b_what_red_hopes_for():
    """When the silver prince on 3 is crowned Red stands right behind him, on 10."""
    game = Game.from_dict(position(TABLE, ["k1-5b"], turn=RED, hands={BLUE: ["ring-silver"]}))
    game.play("k1-5b:23>20")
    game.play("ring-silver:21")
    assert values_of(game, RED)[0] == 10


@pytest.mark.parametrize("player", [RED, BLUE, BLACK, BEIGE])
@pytest.mark.parametrize("card", ["ring-silver", "ring-any"])
def test_example_c(card, player):
    """Whoever gives the silver prince on 3 his third ring gets 3; the old King is a prince with one ring."""
    game = game_at(player, card)
    assert game.play(f"{card}:21") == 3
    assert drawing(game.to_dict()) == TABLE.replace("Kb", "b1").replace("s2", "Ks")


SUMS = [
    ("D", "all", BLACK, 10 - 3 - 5 + 0),
    ("D", "all", BLUE, 7 + 6 + 2 - 1),
    ("D", "all", RED, 5 + 4 + 1 - 9),
    ("D", "all", BEIGE, -2 - 4 - 7 + 0),
    ("D", "reversed", BEIGE, 2 + 4 + 7 + 0),
    ("E", "colors", BLACK, 10 - 3 + 0),
    ("E", "colors", BLUE, -15),
    ("E", "colors", RED, -15),
    ("E", "colors", BEIGE, -15),
    ("F", "carpet", BLACK, -3 + 0),
    ("F", "carpet", BLUE, -25),
    ("F", "carpet", RED, -25),
    ("F", "carpet", BEIGE, -4 + 0),
    ("G", "reds", BEIGE, -2 - 4 - 7),
    ("G", "reds", BLACK, -50),
    ("G", "reds", BLUE, -50),
    ("G", "reds", RED, -50),
]


@pytest.mark.parametrize(("example", "card", "player", "prestige"), SUMS)
def test_examples_d_to_g(example, card, player, prestige):
    game = game_at(player, card)
    assert game.play(card) == prestige
    assert game.scores[player] == prestige
