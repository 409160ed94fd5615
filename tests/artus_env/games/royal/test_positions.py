"""Faulty positions: `from_dict` raises an error that names the fault, and loads nothing.

Each row of `FAULTS` changes a valid position, and has words that the message must contain.
"""

import json
from copy import deepcopy

import numpy as np
import pytest

from artus_env import Game
from artus_env.engine.compiling.jit import DISABLED
from foreign import is_short_line
from royal.positions import table

DELETE = object()


def played_on(position, *moves):
    """The position after these moves."""
    game = Game.from_dict(position, game="royal")
    for move in moves:
        game.play(move)
    return game.to_dict()


HANDS = [["hearts-1", "spades-2"], ["hearts-5", "spades-3"], ["clubs-10", "spades-4"], ["hearts-6", "spades-5"]]
BEFORE = table(HANDS, fields=[0, 7, 4, 0], trumps=["clubs"])
GOOD = {
    # player 2 hasn't followed; player 3 is to play
    "trick": lambda: played_on(BEFORE, "hearts-1", "hearts-5", "clubs-10"),
    "leading": lambda: deepcopy(BEFORE),
    "sword": lambda: table(HANDS, fields=[0, 7, 4, 8], trumps=["clubs"], leader=3, phase="sword", turn=3),
    "fresh": lambda: Game(game="royal", num_players=3, seed=1, start_player=2).to_dict(),
    "over": lambda: played_on(
        table(HANDS, fields=[3, 24, 25, 26], leader=0), "hearts-1", "hearts-5", "clubs-10", "hearts-6"
    ),
}
# trick: pile of 40 cards, dealer 3, 7 cards played by players 0 to 2, 6 by player 3

FAULTS = [
    # name of a valid position, {path: new value}, words of the message
    # --- keys and types
    ("trick", {("hat",): 1}, "unknown: 'hat'"),
    ("trick", {("pile",): DELETE}, "missing: pile"),
    ("trick", {("chance",): DELETE, ("voids",): DELETE}, "missing: voids, chance"),
    ("trick", {("game",): "quest"}, "game must be royal, got 'quest'"),
    ("trick", {("rules",): "expert"}, "rules must be standard, got 'expert'"),
    ("trick", {("rules",): ["standard"]}, "rules must be standard"),
    ("trick", {("num_players",): 1}, "num_players must be in 2..6, got 1"),
    ("trick", {("num_players",): 7}, "num_players must be in 2..6, got 7"),
    ("trick", {("num_players",): True}, "num_players must be a whole number, got True"),
    ("trick", {("num_players",): 5}, "fields must be a list of 5"),
    ("trick", {("start_player",): 4}, "start_player must be in 0..3, got 4"),
    ("trick", {("dealer",): -1}, "dealer must be in 0..3, got -1"),
    ("trick", {("turn",): 3.0}, "turn must be a whole number, got 3.0"),
    ("trick", {("phase",): "draw"}, "phase must be one of trick, sword, over, got 'draw'"),
    ("trick", {("chance",): 1 << 53}, "chance must be in 0..9007199254740991"),
    ("trick", {("chance",): -1}, "chance must be in"),
    ("trick", {("chance",): None}, "chance must be a whole number, got None"),
    ("trick", {("shuffles",): -1}, "shuffles must be in 0..10000, got -1"),
    ("trick", {("shuffles",): "0"}, "shuffles must be a whole number, got '0'"),
    # --- pawns and chips
    ("trick", {("fields",): {}}, "fields must be a list of 4"),
    ("trick", {("fields", 0): 28}, "fields[0] must be in 0..27, got 28"),
    ("trick", {("fields", 0): -1}, "fields[0] must be in 0..27, got -1"),
    ("trick", {("fields", 0): "3"}, "fields[0] must be a whole number, got '3'"),
    ("trick", {("fields", 0): 7}, "the pawns of players 0 and 1 both stand on field 7"),
    ("trick", {("fields", 0): 27}, "a pawn stands on field 27 when the game is over and only then"),
    ("over", {("fields", 3): 9}, "a pawn stands on field 27 when the game is over and only then"),
    ("sword", {("fields", 3): 9}, "phase is sword, but the pawn of player 3 is on no sword"),
    ("trick", {("trumps",): ["clubs"]}, "trumps must be a list of 6"),
    ("trick", {("trumps", 1): "swords"}, "trumps[1] must be one of hearts, diamonds"),
    ("trick", {("trumps", 1): "clubs"}, "trumps: clubs is there twice"),
    ("trick", {("trumps", 2): "hearts"}, "trumps: place 2 is empty, so that hearts can't be on place 3"),
    # --- cards
    ("trick", {("hands",): [2, 2, 2, 2]}, "hands[0] must be a list, got 2"),
    ("trick", {("pile",): 40}, "pile must be a list, got 40"),
    ("trick", {("hands",): []}, "hands must be a list of 4"),
    ("trick", {("hands", 0): "spades-2"}, "hands[0] must be a list"),
    ("trick", {("hands", 0, 0): "spades-12"}, "hands[0][0] must be one of hearts-1, hearts-2, ... shield, got"),
    ("trick", {("hands", 0, 0): 7}, "hands[0][0] must be one of hearts-1, hearts-2, ... shield, got 7"),
    ("trick", {("pile", 0): "king"}, "pile[0] must be one of hearts-1"),
    ("trick", {("discards", 0): None}, "discards[0] must be one of hearts-1"),
    ("trick", {("played", 1, 0): "queen"}, "played[1][0] must be one of hearts-1"),
    ("trick", {("hands", 0, 0): "spades-3"}, "spades-2 must be once in hands, trick, discards and pile together"),
    ("trick", {("hands", 0, 0): "knight"}, "got it nowhere"),
    ("trick", {("played", 3, 0): "spades-5"}, "played: spades-5 is neither in the trick nor in the discards"),
    ("trick", {("hands", 0): [], ("hands", 1): ["spades-2", "spades-3"]}, "player 0 must have 8 cards in hands and"),
    ("leading", {("pile",): [], ("discards",): [*BEFORE["discards"], *BEFORE["pile"]]}, "pile must have 40 or 8 cards"),
    # --- the trick
    ("trick", {("trick",): {}}, "trick must be a list"),
    ("trick", {("trick", 0): "hearts-1"}, "trick[0] must be a list of player and card, got 'hearts-1'"),
    ("trick", {("trick", 0, 0): 4}, "trick[0]: player must be in 0..3, got 4"),
    ("trick", {("trick", 0, 1): "horse"}, "trick[0]: card must be one of hearts-1"),
    ("trick", {("trick", 1, 0): 2}, "trick must have cards of successive players, but not of all"),
    ("trick", {("trick", 0, 1): "hearts-5", ("trick", 1, 1): "hearts-1"}, "hearts-5 isn't the last card in played[0]"),
    ("trick", {("turn",): 2}, "turn must be the player left of those in the trick, 3, got 2"),
    ("trick", {("phase",): "sword", ("turn",): 2}, "phase is sword: trick must be empty"),
    ("leading", {("turn",): 1}, "player 1 can't have taken the last trick"),
    ("fresh", {("turn",): 1}, "player 2, left of the dealer, leads the first trick of a deal, got player 1"),
    ("fresh", {("dealer",): 2}, "player 0, left of the dealer, leads the first trick of a deal, got player 2"),
    ("sword", {("turn",): 2}, "player 2 can't have taken the last trick"),
    ("over", {("turn",): 1}, "when the game is over turn is the start player, 0, got 1"),
    ("over", {("fields",): [27, 24, 25, 26]}, "player 0 can't have taken the last trick"),
    # --- voids
    ("trick", {("voids",): [[]]}, "voids must be a list of 4"),
    ("trick", {("voids", 2): "hearts"}, "voids[2] must be a list"),
    ("trick", {("voids", 2): ["horses"]}, "voids[2][0] must be one of hearts"),
    ("trick", {("voids", 2): ["hearts", "hearts"]}, "voids[2] must rise, got ['hearts', 'hearts']"),
    ("trick", {("voids", 0): ["spades"]}, "voids[0]: player 0 has spades in hand"),
    ("trick", {("voids", 2): []}, "player 2 hasn't followed hearts and must be marked void of it"),
    ("trick", {("voids", 1): ["flowers"]}, "voids must be the suits that a player hasn't followed since the deal"),
    ("fresh", {("voids", 1): ["flowers"]}, "voids"),
    ("leading", {("voids", 1): ["chalices"]}, "voids must be the suits that a player hasn't followed since the deal"),
]  # fmt: skip


def changed(name, changes):
    """A copy of a valid position with other values at some paths."""
    faulty = GOOD[name]()
    for path, value in changes.items():
        container = faulty
        for key in path[:-1]:
            container = container[key]
        if value is DELETE:
            del container[path[-1]]
        else:
            container[path[-1]] = value
    return faulty


@pytest.mark.parametrize("good", GOOD)
def test_the_good_positions_are_good(good):
    assert Game.from_dict(GOOD[good]()).to_dict() == GOOD[good]()


@pytest.mark.parametrize(
    ("good", "changes", "words"), FAULTS, ids=[f"{good}: {words[:50]}" for good, _, words in FAULTS]
)
def test_faults_are_named(good, changes, words):
    faulty = changed(good, changes)
    before = deepcopy(faulty)
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the words are checked below, without escaping them
        Game.from_dict(faulty, game="royal")
    assert words in str(error.value)
    assert is_short_line(str(error.value))
    assert faulty == before


@pytest.mark.parametrize("num_players", range(2, 7))
def test_every_position_of_a_game_comes_back(num_players):
    """For all possible winners of the tricks since the deal, also when chips have been placed or swapped since."""
    for seed in range(1 if DISABLED else 3):
        choices = np.random.default_rng(seed)
        game = Game(game="royal", num_players=num_players, seed=seed)
        while True:
            written = json.loads(json.dumps(game.to_dict()))
            assert Game.from_dict(written) == game
            if game.over:
                break
            game.play(int(choices.choice(game.legal_actions())))


def test_the_position_as_a_player_knows_it():
    position = GOOD["trick"]()
    known = Game.from_dict(position).to_dict(3)
    assert known["hands"] == [1, 1, 1, position["hands"][3]]
    assert known["pile"] == len(position["pile"])
    assert "chance" not in known
    assert {key: known[key] for key in known if key not in ("hands", "pile")} == {
        key: position[key] for key in position if key not in ("hands", "pile", "chance")
    }
