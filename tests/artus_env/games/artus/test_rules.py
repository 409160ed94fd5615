"""One test for each rule. Positions are drawn as `positions` explains: 28 seats clockwise, A and B are knights.

In most drawings the silver King sits on seat 0, so that seat 27 right behind him is worth 10, 26 8, 25 7, 24 6, 23 5,
22 4, 21 3, 20 2, 19 1, then 18 -1 down to 4 -15; 3, 2 and 1 are yellow.
"""

import numpy as np
import pytest

from artus_env import Batch, Components, Game, IllegalMoveError
from positions import BACK, KING_CARDS, KNIGHT_CARDS, PLATES, SCORING_CARDS, around, drawing, position, tidy

VARIANTS = [(rules, players) for rules in ("beginner", "advanced") for players in (2, 3, 4)]
TABLE = "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B"


def rules_for(hand):
    return "advanced" if any(BACK[card] == "scoring" for card in hand) else "beginner"


def game_at(table, hand, **where):
    """A game at a position in which the player to move holds just these cards, near its end."""
    return Game.from_dict(position(table, hand, **{"rules": rules_for(hand), "left": 1, **where}))


# --- moving figures ------------------------------------------------------------------------------------------------

MOVES = {
    "seats that are taken count as steps": (
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
        ("k3-6:17>20", -2),
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  .  B  A  A  | b1 .  .  B  A  .  B",
    ),
    "the seat that is left counts, not the one reached": (
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
        ("k1-4:25>26", 7),
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  .  A  B",
    ),
    "leaving a red seat costs prestige": (
        "Ks .  .  .  B  .  A  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
        ("k7-9:6>15", -13),
        "Ks .  .  .  B  .  .  | b1 .  .  A  .  .  .  | s1 A  B  A  B  A  .  | b1 .  .  B  A  .  B",
    ),
    "the worst seat is the one before the yellow ones": (
        "Ks .  .  B  A  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
        ("k1-5b:4>2", -15),
        "Ks .  A  B  .  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
    ),
    "a figure that is landed on goes to the next free seat counter-clockwise": (
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
        ("k5-7:19>24", 1),
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  .  .  | b1 .  B  A  A  .  B",
    ),
    "also after a backward move": (
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
        ("k1-5b:19>16", 1),
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 B  A  A  B  .  .  | b1 .  .  B  A  .  B",
    ),
    "own knights are displaced too": (
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
        ("k7-9:10>17", -9),
        "Ks .  .  A  B  .  .  | b1 .  .  .  .  .  .  | s1 A  B  A  B  A  .  | b1 .  .  B  A  .  B",
    ),
    "the mover's old seat is free by then": (
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
        ("k1-4:17>18", -2),
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  B  A  A  .  | b1 .  .  B  A  .  B",
    ),
    "the next free seat may be past several taken ones and past seat 0": (
        "A  B  .  A  B  .  .  | b1 .  .  A  .  .  .  | Ks .  B  A  B  .  .  | b1 A  .  .  .  s1 B",
        ("k6-8:22>1", -11),
        "A  A  .  A  B  .  .  | b1 .  .  A  .  .  .  | Ks .  B  A  B  .  .  | b1 .  .  .  B  s1 B",
    ),
    "a backward move past seat 0": (
        "B  A  .  A  B  .  .  | b1 .  .  A  .  .  .  | Ks .  B  A  B  .  .  | b1 A  .  .  .  s1 B",
        ("k1-5b:1>27", -4),
        "B  .  .  A  B  .  .  | b1 .  .  A  .  .  .  | Ks .  B  A  B  .  .  | b1 A  .  .  B  s1 A",
    ),
    "a displaced prince keeps his rings": (
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b2 .  .  B  A  .  B",
        ("k2-5:19>21", 1),
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  .  b2 | A  .  .  B  A  .  B",
    ),
    "a displaced King: the mover scores the seat as it was worth before the wheel turns": (
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
        ("k3-6:25>0", 7),
        "A  .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  .  Ks B",
    ),
    "a prince scores the seat that he leaves": (
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
        ("bronze1-7:21>22", 3),
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | .  b1 .  B  A  .  B",
    ),
    "a prince keeps his rings and displaces the figure that he lands on": (
        "Ks .  .  A  B  .  .  | b2 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
        ("bronze1-7:7>10", -12),
        "Ks .  .  A  B  .  .  | .  .  A  b2 .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
    ),
    "a prince may displace the King": (
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
        ("bronze1-7:21>0", 3),
        "b1 .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | .  .  .  B  A  Ks B",
    ),
    "a prince goes backward": (
        "Ks .  s1 A  B  .  .  | b1 .  .  A  .  .  .  | .  .  B  A  B  A  .  | b1 .  .  B  A  .  B",
        ("any1-5b:21>17", 3),
        "Ks .  s1 A  B  .  .  | b1 .  .  A  .  .  .  | .  A  B  b1 B  A  .  | .  .  .  B  A  .  B",
    ),
    "a prince backward onto the King": (
        "Ks .  s1 A  B  .  .  | b1 .  .  A  .  .  .  | .  .  B  A  B  A  .  | b1 .  .  B  A  .  B",
        ("any1-5b:2>0", 0),
        "s1 .  .  A  B  .  .  | b1 .  .  A  .  .  .  | .  .  B  A  B  A  .  | b1 .  .  B  A  Ks B",
    ),
    "the King scores nothing": (
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
        ("silver1-7:0>2", 0),
        ".  .  Ks A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
    ),
    "the King displaces too": (
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
        ("any4-8:0>4", 0),
        ".  .  B  A  Ks .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
    ),
    "the King's old seat is free by then": (
        "Ks A  B  A  B  .  .  | b1 .  .  .  .  .  .  | s1 .  .  A  B  A  .  | b1 .  .  B  A  .  B",
        ("any4-8:0>4", 0),
        "B  A  B  A  Ks .  .  | b1 .  .  .  .  .  .  | s1 .  .  A  B  A  .  | b1 .  .  B  A  .  B",
    ),
    "the King goes backward": (
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
        ("any1-5b:0>27", 0),
        ".  .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  B  Ks",
    ),
    "a ring scores the seat of the prince, who stays there": (
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
        ("ring-bronze:7", -12),
        "Ks .  .  A  B  .  .  | b2 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
    ),
    "the third ring crowns, scored before the wheel turns; the old King keeps one ring": (
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s2 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
        ("ring-silver:14", -5),
        "s1 .  .  A  B  .  .  | b1 .  .  A  .  .  .  | Ks .  B  A  B  A  .  | b1 .  .  B  A  .  B",
    ),
    "the crown may go to the other colour": (
        "Ks .  .  A  B  .  .  | b2 .  .  A  .  .  .  | s2 .  B  A  B  A  .  | b2 .  .  B  A  .  B",
        ("ring-any:21", 3),
        "s1 .  .  A  B  .  .  | b2 .  .  A  .  .  .  | s2 .  B  A  B  A  .  | Kb .  .  B  A  .  B",
    ),
    "choice moves an own knight": (
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
        ("choice:25>27", 7),
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  .  B  A",
    ),
    "choice moves a prince": (
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
        ("choice:14>17", -5),
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | .  A  B  s1 B  A  .  | b1 .  .  B  A  .  B",
    ),
    "choice moves the King": (
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
        ("choice:0>1", 0),
        ".  Ks .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
    ),
    "choice gives a ring": (
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b2 .  .  B  A  .  B",
        ("choice:ring:21", 3),
        "s1 .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | Kb .  .  B  A  .  B",
    ),
    "choice scores the best own knight": (
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
        ("choice:best", 7),
        "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B",
    ),
}


@pytest.mark.parametrize(("before", "played", "after"), MOVES.values(), ids=MOVES)
def test_moves(before, played, after):
    move, points = played
    card = move.split(":")[0]
    game = game_at(before, [card], scores=[10, 20])
    assert game.play(move) == points
    assert drawing(game.to_dict()) == tidy(after)
    assert game.scores == [10 + points, 20], "only the mover scores, a displaced figure brings nothing"
    assert game.to_dict()["hands"][0] == []
    assert game.to_dict()["played"][0][-1] == card


@pytest.mark.parametrize(
    ("move", "before", "now"),
    [
        # A on 3, 10, 17, 19, 25: yellow, -9, -2, 1, 7
        ("silver1-7:14>15", -3, -3),  # a prince turns nothing
        ("silver1-7:0>2", -3, 0 - 11 - 4 - 2 + 5),  # the King moved to 2
        ("any1-5b:0>27", -3, -15 - 8 - 1 + 2 + 8),  # the King moved back to 27
        ("k3-6:25>0", -3, 0 - 14 - 7 + 1 + 3),  # the King displaced to 26, A now on 0, 3, 10, 17, 19
        ("ring-any:21", -3, -9 - 2 + 6 + 8 - 15),  # the second prince crowned on 21
        ("ring-any:7", -3, -3),  # a second ring turns nothing
    ],
)
def test_the_wheel_turns_at_once(move, before, now):
    """A second card in the same turn is already scored on the turned wheel."""
    table = "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b2 .  .  B  A  .  B"
    game = game_at(table, [move.split(":")[0], "all"], left=2)
    assert game.clone().play("all") == before
    game.play(move)
    assert game.play("all") == now


@pytest.mark.parametrize("king", range(28))
def test_every_seat_is_worth_what_the_wheel_shows(king):
    """For every seat of the King, knights of the player leave all seats, five at a time."""
    for first in (1, 6, 11, 16, 21, 23):
        knights = range(first, first + 5)
        figures = dict.fromkeys([(king - distance) % 28 for distance in knights], "A") | {king: "Ks"}
        free = [seat for seat in range(28) if seat not in figures]
        figures |= dict(zip(free, ["s1", "b1", "b1", *"BBBBB"], strict=False))
        game = game_at(" ".join(figures.get(seat, ".") for seat in range(28)), ["k1-4"])
        for distance in knights:
            seat = (king - distance) % 28
            assert game.clone().play(f"k1-4:{seat}>{(seat + 1) % 28}") == PLATES[distance]


# --- what each card allows -----------------------------------------------------------------------------------------

ON_TABLE = {"knights": [3, 10, 17, 19, 25], "silver": [0, 14], "bronze": [7, 21], "royals": [0, 7, 14, 21]}
CARDS = {
    "k1-4": ("knights", [1, 2, 3, 4]),
    "k2-5": ("knights", [2, 3, 4, 5]),
    "k3-6": ("knights", [3, 4, 5, 6]),
    "k4-7": ("knights", [4, 5, 6, 7]),
    "k5-7": ("knights", [5, 6, 7]),
    "k6-8": ("knights", [6, 7, 8]),
    "k7-9": ("knights", [7, 8, 9]),
    "k1-5b": ("knights", [1, 2, 3, 4, 5, -1, -2, -3, -4, -5]),
    "any4-8": ("royals", [4, 5, 6, 7, 8]),
    "silver1-7": ("silver", [1, 2, 3, 4, 5, 6, 7]),
    "bronze1-7": ("bronze", [1, 2, 3, 4, 5, 6, 7]),
    "any1-5b": ("royals", [1, 2, 3, 4, 5, -1, -2, -3, -4, -5]),
}


def figure_moves(card, figures, steps):
    return [f"{card}:{seat}>{(seat + count) % 28}" for seat in figures for count in steps]


@pytest.mark.parametrize("king", ["Ks", "Kb"])
@pytest.mark.parametrize("card", CARDS)
def test_what_a_moving_card_allows(card, king):
    """The card moves each of the player's knights, or each royal of its colour (prince or King), by each of its numbers
    of steps."""
    table = TABLE if king == "Ks" else TABLE.translate(str.maketrans("sb", "bs"))
    figures, steps = CARDS[card]
    if king == "Kb":
        figures = {"silver": "bronze", "bronze": "silver"}.get(figures, figures)
    assert sorted(game_at(table, [card]).moves()) == sorted(figure_moves(card, ON_TABLE[figures], steps))


@pytest.mark.parametrize(
    ("card", "king", "princes"),
    [
        ("ring-silver", "Ks", [14]),
        ("ring-silver", "Kb", [7, 21]),
        ("ring-bronze", "Ks", [7, 21]),
        ("ring-bronze", "Kb", [14]),
        ("ring-any", "Ks", [7, 14, 21]),
        ("ring-any", "Kb", [7, 14, 21]),
    ],
)
def test_rings_go_to_princes_of_the_colour_never_to_the_king(card, king, princes):
    table = TABLE if king == "Ks" else TABLE.translate(str.maketrans("sb", "bs"))
    game = game_at(table, [card])
    assert sorted(game.moves()) == sorted(f"{card}:{seat}" for seat in princes)
    with pytest.raises(IllegalMoveError, match=f"{card}:0 is illegal"):
        game.play(f"{card}:0")


@pytest.mark.parametrize("card", ["ring-any", "ring-silver", "choice"])
def test_rings_go_to_princes_wherever_the_king_sits(card):
    """The King on 14, the other silver figure on 0."""
    table = "s1 .  .  A  B  .  .  | b1 .  .  A  .  .  .  | Ks .  B  A  B  A  .  | b1 .  .  B  A  .  B"
    game = game_at(table, [card])
    rings = [move for move in game.moves() if ">" not in move and move != "choice:best"]
    name = "choice:ring" if card == "choice" else card
    assert sorted(rings) == sorted(f"{name}:{seat}" for seat in ([0] if card == "ring-silver" else [0, 7, 21]))


def test_what_choice_allows():
    """An own knight, any prince or the King 1-3 forward, a ring on any prince, or the best knight."""
    expected = figure_moves("choice", [3, 10, 17, 19, 25, 0, 7, 14, 21], [1, 2, 3])
    expected += ["choice:ring:7", "choice:ring:14", "choice:ring:21", "choice:best"]
    assert sorted(game_at(TABLE, ["choice"]).moves()) == sorted(expected)


def test_a_hand_allows_what_its_cards_allow():
    hand = ["k7-9", "ring-silver", "colors"]
    expected = [*figure_moves("k7-9", ON_TABLE["knights"], [7, 8, 9]), "ring-silver:14", "colors"]
    assert sorted(game_at(TABLE, hand).moves()) == sorted(expected)


def test_two_equal_ring_cards_are_two_cards_and_one_choice():
    game = game_at(TABLE, ["ring-any", "ring-any"], hands={1: ["k1-4", "k2-5"]})
    assert sorted(game.moves()) == ["ring-any:14", "ring-any:21", "ring-any:7"]
    game.play("ring-any:7")
    assert game.to_dict()["hands"][0] == ["ring-any"]
    game.play("k1-4:4>5")
    assert sorted(game.moves()) == ["ring-any:14", "ring-any:21", "ring-any:7"]
    assert game.play("ring-any:7") == -12
    assert drawing(game.to_dict()) == tidy(
        "s1 .  .  A  .  B  .  | Kb .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B"
    )
    assert game.to_dict()["played"][0][-2:] == ["ring-any", "ring-any"]


def test_with_four_players_there_are_four_knights():
    table = "Ks A  .  B  C  D  .  | b1 A  .  B  C  D  .  | s1 A  .  B  C  D  .  | b1 A  .  B  C  D  ."
    assert sorted(game_at(table, ["k5-7"]).moves()) == sorted(figure_moves("k5-7", [1, 8, 15, 22], [5, 6, 7]))
    assert len(game_at(table, ["choice"]).moves()) == 3 * (4 + 4) + 3 + 1
    assert game_at(table, ["all"]).play("all") == 0 - 11 - 4 + 4


def test_only_own_knights_move():
    game = game_at(TABLE, ["k1-4"], turn=1)
    assert sorted(game.moves()) == sorted(figure_moves("k1-4", [4, 16, 18, 24, 27], [1, 2, 3, 4]))
    with pytest.raises(IllegalMoveError, match="k1-4:3>4 is illegal for player 1"):
        game.play("k1-4:3>4")


# --- scoring cards -------------------------------------------------------------------------------------------------

SCORING = [
    # values of the knights' seats        card        prestige
    ([10, 8, -1, -2, -15], "all", 0),
    ([10, 8, 7, 6, 5], "all", 36),
    ([0, 0, 0, -1, 2], "all", 1),
    ([-15, -14, -13, -12, -11], "all", -65),
    ([10, 8, 7, 6, 5], "reversed", -36),
    ([-15, -14, -13, -12, -11], "reversed", 65),
    ([0, 0, 0, -1, 2], "reversed", -1),
    # one on green, one on yellow, one on red: the best of each colour
    ([10, 8, 0, -1, -2], "colors", 9),
    ([1, 4, 0, -9, -14], "colors", -5),
    ([1, 0, 0, 0, -3], "colors", -2),
    # the player must score if they can, even below the penalty; the lowest possible score is -14: 1 + 0 - 15
    ([1, 0, 0, 0, -15], "colors", -14),
    # without all three colours: -15
    ([10, 8, 7, 6, 0], "colors", -15),
    ([10, 8, 7, -1, -2], "colors", -15),
    ([0, 0, -1, -2, -3], "colors", -15),
    ([0, 0, 0, 1, 2], "colors", -15),
    # three on red: the best three
    ([10, -1, -2, -3, -4], "reds", -6),
    ([10, 8, -1, -7, -15], "reds", -23),
    ([-11, -12, -13, -14, -15], "reds", -36),
    ([10, 8, -13, -14, -15], "reds", -42),
    ([10, 8, 7, -1, -2], "reds", -50),
    ([0, 0, 0, -1, -2], "reds", -50),
    ([10, 8, 7, 6, 5], "reds", -50),
    # the best own knight
    ([10, 8, -1, -2, -15], "choice:best", 10),
    ([0, 0, 0, -1, -2], "choice:best", 0),
    ([-11, -12, -13, -14, -15], "choice:best", -11),
]


@pytest.mark.parametrize(("knights", "card", "prestige"), SCORING, ids=lambda value: str(value).replace(" ", ""))
@pytest.mark.parametrize("king_seat", [0, 9])
def test_scoring_cards(knights, card, prestige, king_seat):
    """Only the values of the seats count, wherever the King sits."""
    free = [value for value in PLATES[1:25] if value not in knights]
    table = around("Kb", king_seat, A=knights, B=free[3:8], s1=free[:2], b1=free[2:3])
    game = game_at(table, [card.split(":")[0]])
    assert game.play(card) == prestige
    assert game.scores == [prestige, 0]


@pytest.mark.parametrize(
    ("knights", "card", "penalty", "prestige"),
    [
        ([1, 0, 0, 0, -15], "colors", -5, -14),
        ([10, 8, -13, -14, -15], "reds", -5, -42),
        ([10, 8, 7, -1, -2], "reds", -5, -5),
    ],
)
def test_where_the_condition_holds_one_must_score_even_below_the_penalty(knights, card, penalty, prestige):
    """In the published box only `carpet` can score less than its penalty, so the other cards are tested with milder
    penalties."""
    box = Components().replace(cards={card: {"penalty": penalty}})
    table = around("Kb", A=knights, B=[6, 5, 4, 3, 2], s1=[-3, -4], b1=[-5])
    game = Game.from_dict(position(table, [card], rules="advanced", left=1), components=box)
    assert game.play(card) == prestige


CARPET = [
    # The carpet lies on seats 0, 1, 2, 14, 15, 16, wherever the King sits.
    # King on 7: they are worth 3, 4, 5 and -12, -11, -10
    ("A  A  .  A  .  A  A  | Ks .  B  B  B  B  B  | .  .  .  s1 b1 b1 .  | .  .  .  .  .  .  .", 3 + 4),
    ("A  A  A  .  .  A  .  | Ks .  B  B  B  B  B  | A  .  .  s1 b1 b1 .  | .  .  .  .  .  .  .", 4 + 5),
    (".  .  A  .  .  A  A  | Ks .  B  B  B  B  B  | .  .  A  s1 b1 b1 A  | .  .  .  .  .  .  .", 5 - 10),
    (".  .  .  A  .  A  A  | Ks .  B  B  B  B  B  | A  A  .  s1 b1 b1 .  | .  .  .  .  .  .  .", -12 - 11),
    # one or none: -25; other players' knights don't help
    ("B  B  B  A  A  A  A  | Ks .  .  .  .  .  .  | B  B  A  s1 b1 b1 .  | .  .  .  .  .  .  .", -25),
    ("B  B  B  A  A  A  A  | Ks A  .  .  .  .  .  | B  B  .  s1 b1 b1 .  | .  .  .  .  .  .  .", -25),
    # King on 10: 14, 15, 16 are worth -15, -14, -13. With two knights there the player must score, even below -25
    (".  .  .  A  .  A  A  | .  .  .  Ks .  .  .  | A  A  .  B  B  B  B  | B  s1 b1 b1 .  .  .", -15 - 14),
    (".  .  .  A  .  A  .  | .  .  .  Ks .  .  .  | A  A  A  B  B  B  B  | B  s1 b1 b1 .  .  .", -14 - 13),
    # King on 0: 1 and 2 are yellow, 14, 15, 16 are worth -5, -4, -3
    ("Ks A  A  A  .  .  .  | .  .  .  .  .  .  .  | .  A  A  B  B  B  B  | B  s1 b1 b1 .  .  .", 0),
    ("Ks A  .  A  A  .  .  | .  .  .  .  .  .  .  | .  A  A  B  B  B  B  | B  s1 b1 b1 .  .  .", 0 - 3),
]


@pytest.mark.parametrize(("table", "prestige"), CARPET)
def test_the_carpet_card(table, prestige):
    """The card scores the best two of the player's knights on the carpet."""
    assert game_at(table, ["carpet"]).play("carpet") == prestige


@pytest.mark.parametrize("card", ["all", "reversed", "colors", "carpet", "reds"])
def test_a_scoring_card_is_one_move_and_moves_nothing(card):
    game = game_at(TABLE, [card])
    assert game.moves() == [card]
    game.play(card)
    assert drawing(game.to_dict()) == tidy(TABLE)


# --- setting up ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rules", "players"), VARIANTS)
def test_the_deal(rules, players):
    """Royals sit on the crown seats, opposite the other one of their colour. A hand has 2 + 2 or 3 + 3 cards; the other
    cards are in piles by their backs."""
    first = Game(rules=rules, num_players=players, seed=3).to_dict()
    assert drawing(first) == tidy("Ks . . . . . . | b1 . . . . . . | s1 . . . . . . | b1 . . . . . .")
    assert first["phase"] == "place"
    assert first["scores"] == [0] * players
    assert first["played"] == [[]] * players
    dealt = 2 if rules == "beginner" else 3
    for hand, piles in zip(first["hands"], first["piles"], strict=True):
        assert [BACK[card] for card in hand] == ["knight"] * dealt + ["king"] * dealt
        in_hand = {back: [card for card in hand if BACK[card] == back] for back in ("knight", "king")}
        assert sorted(in_hand["knight"] + piles["knight"]) == sorted(KNIGHT_CARDS)
        assert sorted(in_hand["king"] + piles["king"]) == sorted(KING_CARDS)
        assert sorted(piles["scoring"]) == sorted(SCORING_CARDS if rules == "advanced" else [])


def test_the_deal_is_even():
    """In 4000 deals each card is in a hand and at each place of its pile about as often as expected."""
    chances = [3 / 8] * 14 + [1 - 20 / 56, 6 / 56]  # the last two: at least one and both of the equal ring cards
    states = Batch(4000, rules="advanced", num_players=2, seed=5, threads=1).states
    for player in (0, 1):
        dealt = states["hands"][:, player][:, None] >> np.arange(16) & 1
        assert np.abs(dealt.mean(axis=0) - chances).max() < 0.04  # 5 standard deviations
        for place in range(3, 8):
            on_place = np.bincount(states["piles"][:, player, place], minlength=8) / 4000
            assert np.abs(on_place - 1 / 8).max() < 0.027
        for place in range(16, 22):
            on_place = np.bincount(states["piles"][:, player, place], minlength=21)[15:] / 4000
            assert np.abs(on_place - 1 / 6).max() < 0.03
    assert not (states["hands"][:, 0] == states["hands"][:, 1]).mean() > 0.01


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_start_player_is_drawn_or_given(players):
    starts = [Game(num_players=players, seed=seed).to_dict()["start_player"] for seed in range(300)]
    for start in range(players):
        assert abs(starts.count(start) - 300 / players) < 45
        assert Game(num_players=players, seed=1, start_player=start).to_dict()["start_player"] == start
    with_drawn_start, with_given_start = (
        Game(num_players=players, seed=1),
        Game(num_players=players, seed=1, start_player=starts[1]),
    )
    assert with_drawn_start == with_given_start, (
        "the same seed deals the same cards whether the start player is drawn or given"
    )


ORDER = [
    # players, start player, order in which the players place
    (2, 0, "1 0"),
    (2, 1, "0 1"),
    (3, 0, "2 1 0"),
    (3, 1, "0 2 1"),
    (3, 2, "1 0 2"),
    (4, 0, "3 2 1 0"),
    (4, 1, "0 3 2 1"),
    (4, 2, "1 0 3 2"),
    (4, 3, "2 1 0 3"),
]


@pytest.mark.parametrize(("players", "start", "order"), ORDER)
def test_placing_goes_counter_clockwise_and_ends_with_the_start_player(players, start, order):
    """The right neighbour of the start player begins; one knight each, on any free seat; then the start player
    plays."""
    game = Game(num_players=players, seed=0, start_player=start)
    knights = 4 if players == 4 else 5
    for player in [int(player) for player in order.split()] * knights:
        now = game.to_dict()
        assert (now["phase"], game.player, now["left"]) == ("place", player, 1)
        free = [seat for seat, figure in enumerate(now["seats"]) if figure is None]
        assert sorted(game.moves()) == sorted(f"@{seat}" for seat in free)
        seat = free[player]
        assert game.play(f"@{seat}") == 0
        assert game.to_dict()["seats"][seat] == {"knight": player}
    assert (game.to_dict()["phase"], game.player) == ("play", start)


def test_knights_are_placed_on_free_seats_only():
    game = Game(num_players=2, seed=0, start_player=0)
    game.play("@12")
    for taken in ("@0", "@7", "@12", "@14", "@21", "@28"):
        with pytest.raises(IllegalMoveError, match=f"{taken} is illegal"):
            game.play(taken)


# --- the course of the game ----------------------------------------------------------------------------------------


def course(rules, players, start):
    """Expected (phase, player, cards left to play or draw) of every decision in a game."""
    knights = 4 if players == 4 else 5
    clockwise = [(start + place) % players for place in range(players)]
    for _ in range(knights):
        yield from (("place", player, 1) for player in [*reversed(clockwise[1:]), start])
    rounds, a_turn, draws = (16, 1, 12) if rules == "beginner" else (11, 2, 16)
    for number in range(rounds):
        for player in clockwise:
            yield from (("play", player, a_turn - nth) for nth in range(a_turn))
            if number * a_turn < draws:
                yield from (("draw", player, a_turn - nth) for nth in range(a_turn))
    yield "over", start, 0


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize(("rules", "players"), VARIANTS)
def test_the_course_of_a_game(rules, players, start):
    """Players have 16 turns with one card each, or 11 turns with two, clockwise, and draw after them while they have
    piles."""
    game = Game(rules=rules, num_players=players, seed=9, start_player=start)
    for number, (phase, player, left) in enumerate(course(rules, players, start)):
        now = game.to_dict()
        assert (now["phase"], now["turn"], now["left"]) == (phase, player, left)
        assert game.player == player
        assert game.over == (phase == "over")
        if not game.over:
            moves = game.moves()
            game.play(moves[number * 7 % len(moves)])
    assert game.moves() == []
    assert now["hands"] == [[]] * players
    assert [len(cards) for cards in now["played"]] == [16 if rules == "beginner" else 22] * players
    with pytest.raises(IllegalMoveError, match="the game is over"):
        game.play("k1-4:0>1")


@pytest.mark.parametrize("rules", ["beginner", "advanced"])
def test_after_the_cards_one_has_to_draw_from_a_pile_of_ones_choice(rules):
    piles = ["draw:knight", "draw:king"] + ["draw:scoring"] * (rules == "advanced")
    game = Game.from_dict(position(TABLE, rules=rules, rounds=0))
    while game.to_dict()["phase"] == "play":
        assert game.player == 0
        game.play(game.moves()[0])
    assert game.player == 0
    assert game.moves() == piles


@pytest.mark.parametrize("back", ["knight", "king", "scoring"])
def test_the_top_card_of_the_pile_comes_into_the_hand(back):
    top = {"knight": ["k5-7", "k1-4"], "king": ["ring-any", "any1-5b"], "scoring": ["reds", "all"]}
    game = Game.from_dict(position(TABLE, rules="advanced", phase="draw", rounds=2, piles={0: top}))
    before = game.to_dict()
    assert game.play(f"draw:{back}") == 0
    after = game.to_dict()
    assert sorted(after["hands"][0]) == sorted([*before["hands"][0], top[back][0]])
    assert after["piles"][0][back] == before["piles"][0][back][1:]
    assert after["seats"] == before["seats"]
    assert after["hands"][1] == before["hands"][1]


def test_the_second_card_is_drawn_after_seeing_the_first():
    game = Game.from_dict(
        position(TABLE, rules="advanced", phase="draw", rounds=2, piles={0: {"scoring": ["reds"], "knight": ["k5-7"]}})
    )
    game.play("draw:scoring")
    assert (game.player, game.to_dict()["phase"], game.to_dict()["left"]) == (0, "draw", 1)
    assert "reds" in game.to_dict(player=0)["hands"][0]
    game.play("draw:knight")
    assert (game.player, game.to_dict()["phase"], game.to_dict()["left"]) == (1, "play", 2)


def test_an_empty_pile_cannot_be_drawn_from():
    """Round 11 of 16: two cards are left to draw, both king cards."""
    piles = {0: {"king": ["any4-8", "ring-any"]}}
    game = Game.from_dict(position(TABLE, phase="draw", rounds=10, piles=piles))
    assert game.to_dict()["piles"][0] == {"knight": [], "king": ["any4-8", "ring-any"], "scoring": []}
    assert game.moves() == ["draw:king"]
    with pytest.raises(IllegalMoveError, match="draw:knight is illegal"):
        game.play("draw:knight")


@pytest.mark.parametrize(("rules", "rounds"), [("beginner", 12), ("advanced", 8)])
def test_without_piles_the_hands_are_played_out(rules, rounds):
    """4 or 6 cards are left in each hand when the last pile is empty."""
    game = Game.from_dict(position(TABLE, rules=rules, rounds=rounds))
    turns = []
    while not game.over:
        assert game.to_dict()["phase"] == "play"
        turns.append(game.player)
        game.play(game.moves()[0])
    assert turns == ([0, 1] * 4 if rules == "beginner" else [0, 0, 1, 1] * 3)


ENDS = [
    # scores before the last card, prestige that it brings the last player, winners
    ([10, 10, 10], 7, [2]),
    ([10, 2, 3], 7, [0, 2]),
    ([0, 10, 3], 7, [1, 2]),
    ([10, 10, 3], 7, [0, 1, 2]),
    ([10, 30, 3], 7, [1]),
    ([-30, -20, -20], 7, [2]),
    ([-13, -20, -20], 7, [0, 2]),
]


@pytest.mark.parametrize(("scores", "prestige", "winners"), ENDS)
def test_most_prestige_wins_and_equals_share(scores, prestige, winners):
    """The last card of player 2 moves a knight away from 7."""
    table = "Ks .  .  C  B  .  .  | b1 A  .  C  .  A  .  | s1 A  B  C  B  C  A  | b1 .  B  B  C  A  ."
    game = Game.from_dict(position(table, ["k1-4"], turn=2, scores=scores))
    assert game.play("k1-4:25>27") == prestige
    assert game.over
    assert game.winners == winners
    assert game.player == 0, "when all is over the start player is named"
