"""Faulty positions: `from_dict` refuses them and names the fault.

Each row changes one good position, and has words that the message must contain.
"""

from copy import deepcopy

import pytest

from artus_env import Game
from foreign import VALUES, is_short_line, places, refusal, replaced
from positions import BACK, position

#         seats 0..6              7..13                  14..20                 21..27
TABLE = "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s2 .  B  A  B  A  .  | b1 .  .  B  A  .  B"
PLACING = "Ks .  .  A  .  .  .  | b1 .  .  A  .  .  .  | s1 .  B  .  B  .  .  | b1 .  .  .  .  .  ."
DELETE = object()

GOOD = {
    # After five rounds, player 0 is to play the first of two cards: 10 cards played, 6 in hand, 6 in the piles.
    "play": position(
        TABLE,
        rules="advanced",
        rounds=5,
        hands={0: ["k1-4", "k2-5", "any4-8", "ring-any", "all", "reds"], 1: ["k3-6", "any1-5b"]},
        piles={0: {"knight": ["k7-9"], "king": ["ring-any"], "scoring": ["carpet", "choice"]}},
    ),
    "draw": position(TABLE, phase="draw", turn=1, start=1, rounds=3, hands={0: ["k1-4"], 1: ["ring-any"]}),
    "place": position(PLACING, rules="advanced", phase="place", turn=1, start=0),  # two each, player 1 places first
    "over": position(TABLE, phase="over", start=1, turn=1, scores=[40, -3]),
    "beginner": position(TABLE, ["k1-4", "ring-any"]),
}

FAULTS = [
    # good position, {where: what}, words of the message
    # --- keys and types
    ("play", {("hat",): 1}, "unknown: 'hat'"),
    ("play", {("seats",): DELETE}, "missing: seats"),
    ("play", {("seats",): DELETE, ("left",): DELETE, ("hat",): 1}, "missing: left, seats; unknown: 'hat'"),
    ("play", {("rules",): "expert"}, "rules must be one of beginner, advanced, got 'expert'"),
    ("play", {("rules",): 1}, "rules must be one of"),
    ("play", {("rules",): ["beginner"]}, "rules must be one of"),
    ("play", {("phase",): "sleep"}, "phase must be one of place, play, draw, over, got 'sleep'"),
    ("play", {("phase",): None}, "phase must be one of"),
    ("play", {("num_players",): 1}, "num_players must be in 2..4, got 1"),
    ("play", {("num_players",): 5}, "num_players must be in 2..4, got 5"),
    ("play", {("num_players",): True}, "num_players must be a whole number, got True"),
    ("play", {("num_players",): 2.0}, "num_players must be a whole number, got 2.0"),
    ("play", {("num_players",): "2"}, "num_players must be a whole number, got '2'"),
    ("play", {("num_players",): 3}, "hands must be a list of 3"),
    ("play", {("start_player",): 2}, "start_player must be in 0..1, got 2"),
    ("play", {("start_player",): False}, "start_player must be a whole number"),
    ("play", {("turn",): -1}, "turn must be in 0..1, got -1"),
    ("play", {("turn",): 0.0}, "turn must be a whole number"),
    ("play", {("left",): "2"}, "left must be a whole number, got '2'"),
    ("play", {("left",): True}, "left must be a whole number"),
    ("play", {("left",): 3}, "left must be in 0..2, got 3"),
    ("play", {("left",): 0}, "left must be 1 or 2 in phase play, got 0"),
    ("beginner", {("left",): 2}, "left must be 1 in phase play, got 2"),
    ("draw", {("left",): 2}, "left must be 1 in phase draw, got 2"),
    ("place", {("left",): 2}, "left must be 1 in phase place, got 2"),
    ("over", {("left",): 1}, "left must be 0 in phase over, got 1"),
    ("play", {("scores",): [0]}, "scores must be a list of 2"),
    ("play", {("scores",): {"0": 0, "1": 0}}, "scores must be a list of 2"),
    ("play", {("scores", 1): 1.5}, "scores[1] must be a whole number"),
    ("play", {("scores", 1): "7"}, "scores[1] must be a whole number"),
    ("play", {("scores", 0): True}, "scores[0] must be a whole number"),
    ("play", {("scores", 0): None}, "scores[0] must be a whole number"),
    ("play", {("scores", 0): 10**9}, "scores[0] must be in -100000..100000"),
    # --- figures
    ("play", {("seats",): [None] * 27}, "seats must be a list of 28"),
    ("play", {("seats",): "Ks . . A"}, "seats must be a list of 28"),
    ("play", {("seats", 1): "knight"}, "seats[1] must be null, "),
    ("play", {("seats", 1): {}}, "seats[1] must be null, "),
    ("play", {("seats", 1): {"knight": 0, "rings": 1}}, "seats[1] must be null, "),
    ("play", {("seats", 7): {"prince": "bronze"}}, "seats[7] must be null, "),
    ("play", {("seats", 7): {"prince": "bronze", "king": "bronze", "rings": 1}}, "seats[7] must be null, "),
    ("play", {("seats", 3, "knight"): 2}, "seats[3]: knight must be in 0..1, got 2"),
    ("play", {("seats", 3, "knight"): True}, "seats[3]: knight must be a whole number"),
    ("play", {("seats", 3, "knight"): "0"}, "seats[3]: knight must be a whole number"),
    ("play", {("seats", 7, "prince"): "gold"}, "seats[7]: colour must be one of silver, bronze, got 'gold'"),
    ("play", {("seats", 7, "rings"): 3}, "seats[7]: rings of a prince must be in 1..2, got 3"),
    ("play", {("seats", 7, "rings"): 0}, "seats[7]: rings of a prince must be in 1..2, got 0"),
    ("play", {("seats", 7, "rings"): True}, "seats[7]: rings of a prince must be a whole number, got True"),
    ("play", {("seats", 7, "rings"): 1.0}, "seats[7]: rings of a prince must be a whole number, got 1.0"),
    ("play", {("seats", 0, "rings"): 2}, "seats[0]: rings of a king must be in 3..3, got 2"),
    ("play", {("seats", 0, "rings"): "3"}, "seats[0]: rings of a king must be a whole number, got '3'"),
    ("play", {("seats", 0): {"prince": "silver", "rings": 1}}, "exactly one king, got 0"),
    ("play", {("seats", 14): {"king": "silver", "rings": 3}}, "exactly one king, got 2"),
    ("play", {("seats", 7): None}, "two bronze royals (princes and king), got 1"),
    ("play", {("seats", 7, "prince"): "silver"}, "two silver royals (princes and king), got 3"),
    ("play", {("seats", 1): {"prince": "silver", "rings": 1}}, "two silver royals (princes and king), got 3"),
    ("play", {("seats", 3): None}, "player 0 must have 5 knights on the table, got 4"),
    ("play", {("seats", 1): {"knight": 1}}, "player 1 must have 5 knights on the table, got 6"),
    ("play", {("seats", 3, "knight"): 1}, "player 0 must have 5 knights on the table, got 4"),
    ("over", {("seats", 3): None}, "player 0 must have 5 knights on the table, got 4"),
    # --- placing, in order: player 1, then the start player 0
    ("place", {("seats", 1): {"knight": 0}}, "player 1 must have 3 knights on the table, got 2"),
    ("place", {("seats", 16): None}, "player 1 must have 2 knights on the table, got 1"),
    ("place", {("turn",): 0}, "player 1 must have 3 knights on the table, got 2"),
    ("place", {("start_player",): 1}, "player 0 must have 3 knights on the table, got 2"),
    ("place", {("seats", 1): {"knight": 1}}, "player 1 must have 2 knights on the table, got 3"),
    (
        "place",
        {("seats", seat): {"knight": seat % 2} for seat in (1, 2, 5, 6, 8, 9)},
        "phase is place, but player 0, who places last, has all 5 knights",
    ),
    # --- cards
    ("play", {("hands",): {}}, "hands must be a list of 2"),
    ("play", {("hands", 0): "k1-4"}, "hands[0] must be a list"),
    ("play", {("hands", 0): 6}, "hands[0] must be a list"),
    ("play", {("hands", 1): {"knight": 3, "king": 2, "scoring": 1}}, "hands[1] must be a list, got {"),
    ("play", {("hands", 0, 0): "k4-9"}, "hands[0][0] must be one of k1-4, "),
    ("play", {("hands", 0, 0): 3}, "hands[0][0] must be one of k1-4, "),
    ("play", {("hands", 0, 0): ["k1-4"]}, "hands[0][0] must be one of k1-4, "),
    (
        "play",
        {("hands", 0, 0): "k2-5"},
        "hands[0]: k2-5 can't be there twice",
    ),
    (
        "play",
        {("hands", 0, 1): "k1-4"},
        "hands[0]: k1-4 can't be there twice",
    ),
    (
        "play",
        {("hands", 0, 3): "reversed"},
        "player 0 must have ring-any twice in hand, piles and played cards together, got it once",
    ),
    ("play", {("hands", 0, 0): "ring-any"}, "player 0 must have k1-4 once"),
    (
        "play",
        {("hands", 0, 4): "ring-any"},
        "player 0 must have ring-any twice in hand, piles and played cards together, got it 3 times",
    ),
    ("play", {("played", 0, 0): "horse"}, "played[0][0] must be one of k1-4, "),
    ("play", {("played",): [[]]}, "played must be a list of 2"),
    ("play", {("piles", 0): []}, "piles[0] must be an object with knight, king, scoring"),
    ("play", {("piles", 0, "scoring"): DELETE}, "piles[0] must be an object with knight, king, scoring"),
    ("play", {("piles", 0, "banner"): []}, "piles[0] must be an object with knight, king, scoring"),
    ("play", {("piles", 0, "knight"): 1}, "piles[0].knight must be a list, got 1"),
    ("play", {("piles", 0, "knight", 0): "horse"}, "piles[0].knight[0] must be one of k1-4, "),
    ("play", {("piles", 0, "knight", 0): "carpet"}, "piles[0].knight: carpet is no knight card"),
    ("play", {("piles", 0, "king", 0): "k7-9"}, "piles[0].king: k7-9 is no king card"),
    ("beginner", {("hands", 0, 0): "all"}, "player 0 must have k1-4 once"),
    ("beginner", {("hands", 0): ["k1-4", "ring-any", "all"]}, "player 0 must have all nowhere"),
    ("beginner", {("piles", 1, "scoring"): ["reds"]}, "player 1 must have reds nowhere"),
    ("play", {("rules",): "beginner"}, "must have all nowhere in hand, piles and played cards together, got it once"),
    ("beginner", {("rules",): "advanced"}, "player 0 must have all once"),
    # --- hands, piles and played cards at this point of the game
    ("play", {("left",): 1}, "player 0 must have 9 played cards at this point of the game, got 10"),
    ("play", {("turn",): 1}, "player 0 must have 12 played cards at this point of the game, got 10"),
    ("play", {("phase",): "draw"}, "player 0 must have 4 cards in hand at this point of the game, got 6"),
    (
        "play",
        {("phase",): "over", ("left",): 0},
        "player 0 must have 22 played cards at this point of the game, got 10",
    ),
    ("play", {("phase",): "place", ("left",): 1}, "phase is place"),
    ("draw", {("phase",): "play"}, "player 0 must have 4 played cards at this point of the game, got 3"),
    ("draw", {("turn",): 0}, "player 0 must have 3 cards in hand at this point of the game, got 4"),
    ("beginner", {("phase",): "draw"}, "phase is draw, but player 0 has no cards left to draw"),
    ("over", {("turn",): 0}, "when the game is over turn is the start player, 1, got 0"),
    ("over", {("phase",): "play", ("left",): 1}, "phase is play, but player 1 has no cards left to play"),
    (
        "over",
        {("phase",): "draw", ("left",): 1},
        "player 0 must have 15 played cards at this point of the game, got 16",
    ),
]


def changed(good, changes):
    """A copy of a good position with other values at some paths."""
    faulty = deepcopy(GOOD[good])
    for path, value in changes.items():
        parent = faulty
        for key in path[:-1]:
            parent = parent[key]
        if value is DELETE:
            del parent[path[-1]]
        else:
            parent[path[-1]] = value
    return faulty


@pytest.mark.parametrize("good", GOOD)
def test_the_good_positions_are_good(good):
    assert Game.from_dict(GOOD[good]).to_dict() == GOOD[good]


@pytest.mark.parametrize(
    ("good", "changes", "words"), FAULTS, ids=[f"{good}: {words[:50]}" for good, _, words in FAULTS]
)
def test_faults_are_named(good, changes, words):
    faulty = changed(good, changes)
    before = deepcopy(faulty)
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the words are checked below, without escaping them
        Game.from_dict(faulty)
    assert words in str(error.value)
    assert faulty == before


def moved(faulty, player, *, out_of, into):
    """Move the last card of one place to another, e.g. from the hand to a pile."""
    place = {"hand": faulty["hands"][player], "played": faulty["played"][player], **faulty["piles"][player]}
    place[into].append(place[out_of].pop())
    return faulty


MOVED = [
    ("hand", "played", "player 0 must have 10 played cards at this point of the game, got 11"),
    ("played", "hand", "player 0 must have 8 played cards at this point of the game, got 9"),
    ("hand", "scoring", "player 0 must have 6 cards in hand at this point of the game, got 5"),
    ("knight", "hand", "player 0 must have 6 cards in hand at this point of the game, got 7"),
]


@pytest.mark.parametrize(("out_of", "into", "words"), MOVED)
def test_cards_in_the_wrong_place(out_of, into, words):
    faulty = moved(deepcopy(GOOD["play"]), 0, out_of=out_of, into=into)
    with pytest.raises(ValueError, match=words):
        Game.from_dict(faulty)


@pytest.mark.parametrize(("rules", "dealt"), [("beginner", 2), ("advanced", 3)])
@pytest.mark.parametrize("back", ["knight", "king"])
def test_dealt_cards_are_not_in_a_pile(rules, dealt, back):
    """2 or 3 of a pile's 8 cards are dealt, so that the pile never has more than 6 or 5."""
    faulty = position(TABLE, rules=rules, rounds=1)
    other = "king" if back == "knight" else "knight"
    piles = faulty["piles"][0]
    while len(piles[back]) <= 8 - dealt:
        cards = next(cards for cards in (faulty["hands"][0], faulty["played"][0]) if back in map(BACK.get, cards))
        place = [BACK[card] for card in cards].index(back)
        piles[back].append(cards[place])
        cards[place] = piles[other].pop()
    with pytest.raises(
        ValueError, match=f"{dealt} cards of the {back} pile are dealt, so that at most {8 - dealt} can lie"
    ):
        Game.from_dict(faulty)


@pytest.mark.parametrize("good", GOOD)
@pytest.mark.parametrize("player", [0, 1])
def test_what_a_player_knows_is_no_position(good, player):
    """In a position as a player knows it, at least the piles are counts instead of lists."""
    known = Game.from_dict(GOOD[good]).to_dict(player=player)
    with pytest.raises(ValueError, match="must be a list, got"):
        Game.from_dict(known)


@pytest.mark.parametrize("nothing", [None, [], "position", 7, [GOOD["play"]]])
def test_other_things_are_no_positions(nothing):
    with pytest.raises(ValueError, match="a position is a JSON object, got"):
        Game.from_dict(nothing)


def test_positions_that_could_not_come_about_are_welcome():
    """Only the numbers of cards and figures are checked, not how the position came about: here all princes have two
    rings in the first round, and the scores can't be reached."""
    rings = TABLE.replace("b1", "b2")
    start = position(rings, rounds=0, scores=[1234, -987])
    assert Game.from_dict(start).to_dict() == start


@pytest.mark.parametrize("value", VALUES, ids=lambda value: f"{type(value).__name__}")
def test_whatever_stands_in_a_position_is_a_fault_that_is_named_in_a_short_line(value):
    for faulty in (value, *(replaced(GOOD["play"], path, value) for path in places(GOOD["play"]))):
        message = refusal(ValueError, Game.from_dict, faulty)
        if message is None:  # 7 points
            assert Game.from_dict(faulty).to_dict() == faulty
        else:
            assert is_short_line(message), faulty


@pytest.mark.parametrize("key", ["x" * 100_000, "\n\x1b[31m", 10**5000], ids=["long", "unprintable", "number"])
def test_unknown_keys_are_named_in_a_short_line(key):
    with pytest.raises(ValueError, match="unknown: ") as caught:
        Game.from_dict({**GOOD["play"], key: 1, **dict.fromkeys(range(1000))})
    assert is_short_line(str(caught.value))
