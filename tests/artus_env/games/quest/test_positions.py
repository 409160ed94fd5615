"""Positions of the King's quests: good ones stay the same when read and written, and faults are named in one line."""

from copy import deepcopy

import pytest

from artus_env import Game
from foreign import is_short_line
from quest.positions import ACTIONS, DISPLAY, QUESTS, game_at, joust, position

DELETE = object()

GOOD = {
    "choose": position(phase="choose", turn=1, actions={1: ["quest"]}, points=[1, 2, 3], round=4, lots=2),
    "act": position(
        turn=1, actions={0: ["tournament"], 1: ["horse-2", "quest"]}, places={1: "lake", 2: "moor"},
        start_cards={0: ["sword-1"], 1: ["book-1", "book-2"]}, taken={1: ["dragon-2"]},
        quests={1: ["lake-1"], 2: ["moor-2"]}, points=[20, 3, 0], reached=[1, 0, 0], excluded={0: ["dragon-1"]},
    ),
    "bid": position(
        phase="bid", turn=2, actions={0: ["tournament"], 2: ["tournament"]}, bidding=[2],
        bids={0: ["sword-1", "lance-2"]},
        taken={0: ["sword-1", "sword-1"], 2: ["lance-1"]}, start_cards={0: ["lance-2"]},
    ),
    "alone": position(
        phase="bid", turn=2, actions={0: ["tournament"], 2: ["tournament"]}, places={0: "lake"}, bidding=[2]
    ),
    "over": position(phase="over", points=[20, 21, 3], reached=[1, 1, 0]),
}  # fmt: skip

FAULTS = [
    # good position, {where: what}, words of the message
    # --- keys and types
    ("act", {("hat",): 1}, "unknown: 'hat'"),
    ("act", {("ring",): DELETE}, "missing: ring"),
    ("act", {("game",): "artus"}, "game must be quest, got 'artus'"),
    ("act", {("rules",): "expert"}, "rules must be standard, got 'expert'"),
    ("act", {("num_players",): 5}, "num_players must be in 2..4, got 5"),
    ("act", {("num_players",): True}, "num_players must be a whole number, got True"),
    ("act", {("start_player",): 3}, "start_player must be in 0..2, got 3"),
    ("act", {("phase",): "draw"}, "phase must be one of choose, act, bid, over, got 'draw'"),
    ("act", {("turn",): -1}, "turn must be in 0..2, got -1"),
    ("act", {("round",): 0}, "round must be in 1..30, got 0"),
    ("act", {("round",): 31}, "round must be in 1..30, got 31"),
    ("choose", {("lots",): 4}, "lots must be in 0..3, got 4"),
    ("act", {("chance",): 1 << 53}, "chance must be in 0..9007199254740991"),
    ("act", {("chance",): -1}, "chance must be in 0.."),
    ("act", {("points",): [0, 0]}, "points must be a list of 3"),
    ("act", {("points", 1): 0.5}, "points[1] must be a whole number, got 0.5"),
    ("act", {("points", 1): -1}, "points[1] must be in 0..9999, got -1"),
    # --- ring, knights, tents
    ("act", {("ring",): ["forest"] * 8}, "ring must be all places once, from camelot on"),
    ("act", {("ring", 0): "forest", ("ring", 1): "camelot"}, "ring must be all places once, from camelot on"),
    ("act", {("ring",): ["camelot"]}, "ring must be a list of 8"),
    ("act", {("ring", 3): "paris"}, "ring[3] must be one of camelot, forest"),
    ("act", {("places", 2): "paris"}, "places[2] must be one of camelot, forest"),
    ("act", {("places",): ["lake"]}, "places must be a list of 3"),
    ("act", {("tents",): [0, 1, 1]}, "tents must be all players once, got [0, 1, 1]"),
    ("act", {("tents",): [0, 1]}, "tents must be a list of 3, got [0, 1]"),
    ("act", {("tents", 2): 3}, "tents[2] must be in 0..2, got 3"),
    ("act", {("tents",): [1, 0, 2]}, "in the first round the start player has the first tent, got [1, 0, 2]"),
    (
        "choose",
        {("tents",): [0, 2, 1], ("turn",): 2},
        "tents: fewest points come first, got [0, 2, 1] with points",
    ),
    # --- the goal
    ("act", {("points", 0): 19}, "reached[0] doesn't fit 19 points: the goal is 20"),
    ("act", {("points", 1): 20}, "reached[1] doesn't fit 20 points: the goal is 20"),
    ("act", {("reached", 0): 4}, "reached[0] must be in 0..3, got 4"),
    ("act", {("reached", 0): 2}, "reached must count from 1 without a gap, got [2, 0, 0]"),
    ("act", {("points", 1): 20, ("reached", 1): 1}, "two can be equal after a tournament, when the game is over"),
    ("over", {("points", 2): 22, ("reached", 2): 1}, "two can be equal after a tournament"),
    (
        "over",
        {("points",): [3, 3, 3], ("reached",): [0, 0, 0]},
        "phase can't be over: nobody has reached the goal, and it is",
    ),
    ("choose", {("points", 2): 20, ("reached", 2): 1}, "phase can't be choose: the game ends with the round in which"),
    ("over", {("turn",): 1}, "when the game is over turn is the start player, 0"),
    # --- action cards
    ("act", {("display", 0): "horse-9"}, "display[0] must be one of exercise-sword"),
    ("choose", {("display",): ACTIONS[::-1]}, "display must be in the order of the box"),
    ("act", {("display", -1): DELETE}, "display and actions must have 1 card horse-4 together, got 0"),
    ("act", {("display",): DISPLAY[3]}, "together, got 2"),
    ("act", {("display",): ["artus"] * 16}, "display can have at most 15 cards of one kind"),
    ("choose", {("actions", 1): [], ("display",): DISPLAY[3]}, "display and actions must have 1 card exercise-sword"),
    ("choose", {("turn",): 0}, "actions[1] must be 2 cards (at most 3) in phase choose with turn 0, got 1"),
    ("choose", {("turn",): 2}, "actions[1] must be 2 cards (at most 3) in phase choose with turn 2, got 1"),
    ("act", {("turn",): 0}, "actions[1] must be 3 cards in phase act with turn 0, got 2"),
    ("act", {("turn",): 2}, "actions[1] must be none but a tournament in phase act with turn 2, got 2"),
    (
        "alone",
        {("phase",): "over", ("round",): 30, ("turn",): 0, ("bidding",): []},
        "actions[0] must be none in phase over",
    ),
    # --- virtue cards
    ("act", {("piles",): []}, "piles must be an object with sword, lance, dragon, book"),
    ("act", {("piles", "book"): DELETE}, "piles must be an object with sword, lance, dragon, book"),
    ("act", {("piles", "hats"): []}, "piles must be an object with sword, lance, dragon, book"),
    ("act", {("piles", "sword"): [2, 1, 1, 2]}, "piles.sword must be in the order of the box"),
    ("act", {("piles", "sword"): [1, 1, 2, 3]}, "piles.sword[3] must be in 1..2, got 3"),
    (
        "act",
        {("piles", "sword"): [1, 1, 1, 2, 2]},
        "sword-1 must be 3 cards in piles, start_cards and taken together, got 4",
    ),
    ("act", {("taken", 1): []}, "dragon-2 must be 2 cards in piles, start_cards and taken together, got 1"),
    ("act", {("taken", 1): ["hat"]}, "taken[1][0] must be one of sword-1"),
    ("act", {("start_cards", 1): ["book-2", "book-1"]}, "start_cards[1] must be in the order of the box"),
    ("act", {("start_cards", 1): ["dragon-2", "book-1", "book-2"], ("taken", 1): []}, "start_cards[1] are at most 2"),
    ("act", {("start_cards", 2): 2}, "start_cards[2] must be a list, got 2"),
    ("act", {("excluded", 0): ["sword-1"]}, "start_cards[0] has a card that is excluded"),
    ("act", {("excluded", 0): ["dragon-1", "dragon-1"]}, "excluded[0] can have at most 1 card of one kind"),
    ("act", {("excluded", 0): ["dragon-2"]}, "excluded[0]: no payment or bid shows that, got ['dragon-2']"),
    ("act", {("excluded", 2): ["sword-2"]}, "excluded[2]: no payment or bid shows that, got ['sword-2']"),
    ("act", {("excluded", 2): ["sword-1", "sword-2"]}, "excluded[2]: no payment or bid shows that"),
    # --- quests
    ("act", {("quest_pile",): 9}, "quest_pile must be a list, got 9"),
    ("act", {("quest_pile",): QUESTS + QUESTS}, "quest_pile has at most 14 parts, got 28"),
    ("act", {("quest_pile", 0): "camelot-1"}, "quest_pile[0] must be one of forest-1"),
    ("act", {("quest_pile", 0): "lake-1"}, "lake-1 is there twice, in open_quests, quest_pile and quests together"),
    ("act", {("quests", 2): ["lake-1", "moor-2"]}, "lake-1 is there twice"),
    (
        "act",
        {("open_quests",): ["valley-1", "forest-1"]},
        "open_quests must rise, got ['valley-1', 'forest-1']",
    ),
    (
        "choose",
        {("open_quests",): ["forest-1"]},
        "open_quests must be 3 when a round begins, or all if the pile is empty, got 1",
    ),
    ("act", {("open_quests",): QUESTS[:4], ("quest_pile",): [], ("quests", 2): []}, "open_quests must be 3"),
    # --- the tournament
    ("bid", {("actions", 1): ["tournament"]}, "display and actions must have 2 cards tournament together, got 3"),
    ("choose", {("actions", 1): ["tournament", "tournament"]}, "together"),
    ("bid", {("bidding",): []}, "bidding must be some of those with a tournament card in Camelot, [0, 2]"),
    ("bid", {("bidding",): [1]}, "bidding must be some of those with a tournament card in Camelot, [0, 2]"),
    ("bid", {("bidding",): [0], ("turn",): 0}, "bidding: player 0 has the earlier tent and bids first"),
    ("bid", {("bidding",): [2, 0]}, "bidding must rise, got [2, 0]"),
    ("bid", {("turn",): 0}, "turn must be the player of bidding with the earliest tent, got 0"),
    ("bid", {("bidding",): [0, 2], ("turn",): 0}, "bids[0] must be empty: player 0 has not bid"),
    ("bid", {("bids", 0): None}, "bids[0] must be a list, got None"),
    ("bid", {("bids", 0): ["sword-2"]}, "bids[0]: player 0 doesn't hold so many sword-2"),
    ("bid", {("bids", 0): ["sword-1"] * 3}, "bids[0]: player 0 doesn't hold so many sword-1"),
    ("bid", {("bids", 0): ["dragon-1"]}, "bids[0]: dragon-1 can't be bid"),
    ("bid", {("bids", 2): ["lance-1"]}, "bids[2] must be empty: player 2 has not bid"),
    ("alone", {("places", 2): "moor"}, "bidding must be some of those with a tournament card in Camelot, []"),
    ("act", {("bidding",): [0]}, "bidding and bids must be empty in phase act"),
    ("act", {("bids", 0): ["sword-1"]}, "bidding and bids must be empty in phase act"),
]


def changed(data, changes):
    data = deepcopy(data)
    for (*path, last), value in changes.items():
        parent = data
        for key in path:
            parent = parent[key]
        if value is DELETE:
            del parent[last]
        else:
            parent[last] = value
    return data


@pytest.mark.parametrize("name", GOOD)
def test_good_positions_are_taken_and_come_back(name):
    game = Game.from_dict(GOOD[name], game="quest")
    assert game.to_dict() == GOOD[name]
    assert Game.from_dict(game.to_dict(), game="quest") == game


@pytest.mark.parametrize(
    ("name", "changes", "words"), FAULTS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_fault_is_named_in_one_line(name, changes, words):
    with pytest.raises(ValueError, match=r"^[^\n]+$") as refused:
        Game.from_dict(changed(GOOD[name], changes), game="quest")
    message = str(refused.value)
    assert is_short_line(message)
    assert words in message.replace("a whole number in ", "in ")


def test_piles_may_stand_in_any_order():
    piles = dict(reversed(GOOD["act"]["piles"].items()))
    assert Game.from_dict({**GOOD["act"], "piles": piles}, game="quest").to_dict() == GOOD["act"]


# --- what a player is given -------------------------------------------------------------------------------------------


def test_others_starting_cards_the_pile_and_chance_are_not_for_players():
    game = game_at(start_cards={0: ["sword-1"], 1: ["book-1", "book-2"]}, taken={0: ["dragon-1"]}, chance=77)
    whole, given = game.to_dict(), game.to_dict(1)
    assert whole["chance"] == 77
    assert "chance" not in given
    assert given["start_cards"] == [1, ["book-1", "book-2"], 0]
    assert given["quest_pile"] == 11
    hidden = {"chance", "start_cards", "quest_pile"}
    assert {name: given[name] for name in whole if name not in hidden} == {
        name: whole[name] for name in whole if name not in hidden
    }


def test_what_two_have_bid_is_null_to_others_until_bids_are_open():
    game = joust((0, 2), taken={0: ["sword-1", "sword-1"], 2: ["sword-2"]})
    assert [game.to_dict(viewer)["bids"] for viewer in range(3)] == [[[], [], []]] * 3
    game.play("bid:sword-1")
    assert game.to_dict(0)["bids"] == [["sword-1"], [], []]
    assert game.to_dict(1)["bids"] == game.to_dict(2)["bids"] == [None, [], []]
    game.play("bid:nothing")
    assert game.to_dict(1)["bids"] == [[], [], []]


def test_a_bid_of_nothing_is_null_as_well():
    game = joust(taken={0: ["sword-1"]}, moves=("bid:nothing",))
    assert game.to_dict(1)["bids"] == [None, [], []]
    assert game.to_dict(0)["bids"] == [[], [], []]
