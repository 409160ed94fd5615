"""Changed boxes: the same rules play with other data, and boxes whose parts don't fit together are refused."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from artus_env import Batch, Card, Components, Game
from artus_env.games.artus.components import CARDS, STANDARD, WHEEL
from artus_env.games.artus.definition import ARTUS
from engine_play import TINY_BOX, decisions, random_game
from foreign import VALUES, is_short_line, places, refusal, replaced
from positions import around, position


def with_cards(copies):
    """The standard box with other numbers of some cards."""
    cards = [replace(card, copies=copies.get(card.name, card.copies)) for card in CARDS if copies.get(card.name) != 0]
    return STANDARD.replace(cards=cards)


RING_CARDS = tuple(Card(f"ring-{number}", "king", "ring") for number in range(3))
SCORING_NAMES = [card.name for card in CARDS if card.pile == "scoring"]

BOXES = {  # boxes, each with its number of actions, counted by hand
    "a step more": (STANDARD.replace(cards={"k4-7": {"high": 8}}), 339 + 5),
    "another card forward or backward": (STANDARD.replace(cards={"k2-5": {"backward": True}}), 339 + 5 * 4),
    "four rings for any prince": (STANDARD.replace(cards={"ring-any": {"copies": 4}}), 339),
    "two rings for silver, none for bronze": (with_cards({"ring-silver": 2, "ring-bronze": 0}), 339 - 2),
    "another carpet": (STANDARD.replace(carpet=(3, 4, 5, 17, 18, 19)), 339),
    "no carpet": (STANDARD.replace(carpet=()), 339),
    "other wheel": (STANDARD.replace(wheel=(0, 100, -100, *[0, 7, -7] * 8, 50)), 339),
    "no red plates": (STANDARD.replace(wheel=(0, *range(1, 28))), 339),
    "other penalties": (STANDARD.replace(cards={"colors": {"penalty": -100}, "reds": {"penalty": 100}}), 339),
    "other crown seats": (STANDARD.replace(crown_seats=(27, 0, 1, 2)), 339),
    "two cards fewer": (with_cards({"k1-4": 0, "reds": 0}), 339 - 4 * 5 - 1),
    "no scoring cards": (with_cards(dict.fromkeys(SCORING_NAMES, 0)), 339 - 5 - 32),
    "many knight cards": (with_cards({"silver1-7": 0, "bronze1-7": 0, "k1-4": 5}), 339 - 2 * 14),
    "as many scoring cards as fit": (STANDARD.replace(cards={"choice": {"copies": 3}}), 339),
    "tiny": (TINY_BOX, 28 + 2 * 5 + 4 + 3),
    "one word of actions": (
        Components(
            cards=(
                Card("k", "knight", "knight", 1, 5, copies=3),
                Card("ring-0", "king", "ring", copies=2),
                Card("ring-1", "king", "ring"),
            )
        ),
        64,
    ),
    "as many actions as fit": (
        Components(cards=(*(Card(f"k-{number}", "knight", "knight", 1, 27) for number in range(3)), *RING_CARDS)),
        448,
    ),
}

boxes = pytest.mark.parametrize(("box", "num_actions"), BOXES.values(), ids=BOXES.keys())


@boxes
@pytest.mark.parametrize(("rules", "num_players"), [("beginner", 2), ("advanced", 4)])
def test_a_changed_box_just_works(box, num_actions, rules, num_players):
    """Whole random games in a batch are the same as single games, and all observations have the size and the bounds
    that this box's layout gives."""
    batch = Batch(2, rules=rules, num_players=num_players, seed=1, autoreset=False, components=box)
    games = [Game(rules, num_players, seed=int(seed), components=box) for seed in batch.seeds]
    low, high = ARTUS.observation_bounds(box)
    size = ARTUS.layout(box).size
    assert batch.mask.shape == (2, num_actions)
    assert batch.observation.shape == (2, size)
    assert low.shape == high.shape == ARTUS.observation_scale(box).shape == (size,)
    for _ in range(decisions(rules, num_players, box)):
        assert (low <= batch.observation).all()
        assert (batch.observation <= high).all()
        actions, points = batch.sample(), batch.points()
        for i, game in enumerate(games):
            assert game.mask().tolist() == batch.mask[i].tolist()
            assert game.observation().tolist() == batch.observation[i].tolist()
            move = game.move(int(actions[i]))
            assert game.action(move) == actions[i]
            assert game.play(move) == points[i, actions[i]]
        batch.step(actions)
    assert batch.done.all()
    cards = [card.name for card in box.deck if rules == "advanced" or card.pile != "scoring"]
    for i, game in enumerate(games):
        assert game.over
        assert game.scores == batch.final_scores[i].tolist()
        assert all(sorted(played) == sorted(cards) for played in game.to_dict()["played"])
        assert Game.replay(game.record(), components=box) == game
        assert Game.from_dict(json.loads(json.dumps(game.to_dict())), box) == game


@boxes
def test_every_legal_move_of_a_changed_box_has_its_own_text(box, num_actions):
    for moves in (0, 5, 30, 34):
        game = random_game("advanced", 2, seed=2, moves=moves, components=box)
        assert len(set(game.moves())) == len(game.moves()) == game.mask().sum()
        redealt = game.redeal(game.player, 3)
        assert redealt.to_dict(game.player) == game.to_dict(game.player)
        assert (redealt.observation(game.player) == game.observation(game.player)).all()


# --- the change shows where it should, and nowhere else ------------------------------------------------------------

TABLE = around("Ks", s1=[4], b1=[5, -3], A=[10, 8, 7, -1, -2], B=[1, -4, -5, -6, -7])


def play_in(box, move, table=TABLE, **options):
    """Prestige that a move brings in a box, at a position in which its card is in hand."""
    game = Game.from_dict(position(table, rules="advanced", hands={0: [move.split(":")[0]]}, rounds=3, **options), box)
    return game.play(move)


def test_a_step_more():
    longer = STANDARD.replace(cards={"k4-7": {"high": 8}})
    assert play_in(longer, "k4-7:27>7") == 10  # the knight on the plate 10 stands right behind the King on seat 0
    assert play_in(longer, "k4-7:27>6") == play_in(STANDARD, "k4-7:27>6") == 10
    with pytest.raises(ValueError, match="k4-7:27>7 is illegal"):
        play_in(STANDARD, "k4-7:27>7")


def test_backward_too():
    both_ways = STANDARD.replace(cards={"k2-5": {"backward": True}})
    assert play_in(both_ways, "k2-5:27>22") == 10
    with pytest.raises(ValueError, match="k2-5:27>22 is illegal"):
        play_in(STANDARD, "k2-5:27>22")


def test_another_value_on_the_wheel():
    assert play_in(STANDARD, "k4-7:27>4") == 10
    assert play_in(STANDARD.replace(wheel=(0, 13, *WHEEL[2:])), "k4-7:27>4") == 13
    assert play_in(STANDARD, "all") == 10 + 8 + 7 - 1 - 2
    assert play_in(STANDARD.replace(wheel=(0, 13, *WHEEL[2:])), "all") == 13 + 8 + 7 - 1 - 2


def test_another_carpet():
    """The five knights stand on seats 27, 26, 25, 18 and 17; none of them is on the standard carpet."""
    assert play_in(STANDARD, "carpet") == -25
    assert play_in(STANDARD.replace(carpet=(27, 17)), "carpet") == 10 - 2
    assert play_in(STANDARD.replace(carpet=(27, 3)), "carpet") == -25


def test_another_penalty():
    assert play_in(STANDARD, "reds") == -50
    assert play_in(STANDARD.replace(cards={"reds": {"penalty": -7}}), "reds") == -7
    assert play_in(STANDARD.replace(cards={"reds": {"penalty": -7}}), "carpet") == -25


def test_other_crown_seats():
    seats = Game(seed=1, components=STANDARD.replace(crown_seats=(5, 6, 9, 8))).to_dict()["seats"]
    assert {seat: figure for seat, figure in enumerate(seats) if figure} == {
        5: {"king": "silver", "rings": 3},
        6: {"prince": "bronze", "rings": 1},
        9: {"prince": "silver", "rings": 1},
        8: {"prince": "bronze", "rings": 1},
    }


def test_more_copies_of_a_card():
    box = STANDARD.replace(cards={"ring-any": {"copies": 4}})
    game = random_game("advanced", 2, seed=4, components=box)
    assert [played.count("ring-any") for played in game.to_dict()["played"]] == [4, 4]


# --- boxes that can't be -------------------------------------------------------------------------------------------

INVALID = {
    "wheel too short": ({"wheel": WHEEL[:27]}, "wheel needs 28 values"),
    "wheel too long": ({"wheel": (*WHEEL, 0)}, "wheel needs 28 values"),
    "wheel with a value on the crown plate": ({"wheel": (1, *WHEEL[1:])}, "0 for the crown plate"),
    "wheel too steep": ({"wheel": (*WHEEL[:27], -101)}, "wheel needs 28 values in -100..100"),
    "wheel of halves": ({"wheel": (*WHEEL[:27], 0.5)}, "wheel needs whole numbers"),
    "wheel of words": ({"wheel": ["a"] * 28}, "wheel needs whole numbers"),
    "no wheel": ({"wheel": None}, "wheel needs whole numbers"),
    "carpet off the table": ({"carpet": (28,)}, "carpet needs different seats in 0..27"),
    "carpet twice": ({"carpet": (3, 3)}, "carpet needs different seats in 0..27"),
    "carpet of halves": ({"carpet": (3.5,)}, "carpet needs whole numbers"),
    "three crowns": ({"crown_seats": (0, 7, 14)}, "crown_seats needs 4 seats"),
    "a crown seat twice": ({"crown_seats": (0, 7, 14, 14)}, "crown_seats needs different seats"),
    "a crown off the table": ({"crown_seats": (0, 7, 14, -1)}, "crown_seats needs different seats"),
    "cards that are none": ({"cards": ("k1-4",)}, "cards needs Card objects"),
    "no cards at all": ({"cards": None}, "cards needs Card objects"),
    "an unknown card": ({"cards": {"k9-9": {}, "k0-0": {}}}, "cards: no card is called k0-0, k9-9"),
    "an unknown field": ({"cards": {"k1-4": {"speed": 3}}}, "cards: "),
    "a name twice": ({"cards": {"k1-4": {"name": "k2-5"}}}, "cards: each name may occur only once"),
    "a name that a move is made of": ({"cards": {"k1-4": {"name": "k:4"}}}, "cards: 'k:4' can't be a card's name"),
    "the name of drawing": ({"cards": {"k1-4": {"name": "draw"}}}, "cards: 'draw' can't be a card's name"),
    "a name like placing": ({"cards": {"k1-4": {"name": "@12"}}}, "cards: '@12' can't be a card's name"),
    "a name with a space": ({"cards": {"k1-4": {"name": "k 4"}}}, "cards: 'k 4' can't be a card's name"),
    "a name that can't be printed": (
        {"cards": {"k1-4": {"name": "k\u202e"}}},
        "cards: 'k\\u202e' can't be a card's name",
    ),
    "a long name": ({"cards": {"k1-4": {"name": "k" * 33}}}, "cards: a card's name has at most 32 letters"),
    "a name that is none": ({"cards": {"k1-4": {"name": ["k1-4"]}}}, "cards: ['k1-4'] can't be a card's name"),
    "yes for a number": ({"carpet": [True]}, "carpet needs whole numbers, got [True]"),
    "a number for yes": ({"cards": {"k1-4": {"backward": 1}}}, "card k1-4: backward must be true or false, got 1"),
    "no name": ({"cards": {"k1-4": {"name": ""}}}, "cards: '' can't be a card's name"),
    "an unknown back": ({"cards": {"k1-4": {"pile": "bishop"}}}, "card k1-4: a 'bishop' card"),
    "an action of another back": (
        {"cards": {"k1-4": {"action": "ring"}}},
        "card k1-4: a 'knight' card can't have the action",
    ),
    "steps the wrong way round": ({"cards": {"k1-4": {"low": 5}}}, "card k1-4: steps must be in 1..27, got 5..4"),
    "no steps": ({"cards": {"k1-4": {"low": 0}}}, "card k1-4: steps must be in 1..27, got 0..4"),
    "once around": ({"cards": {"k1-4": {"high": 28}}}, "card k1-4: steps must be in 1..27"),
    "ways that meet": ({"cards": {"k1-5b": {"high": 14}}}, "card k1-5b: steps must be in 1..13"),
    "half steps": ({"cards": {"k1-4": {"high": 4.5}}}, "card k1-4: high must be a whole number, got 4.5"),
    "a ring that moves": ({"cards": {"ring-any": {"low": 1, "high": 2}}}, "card ring-any: a card that moves nothing"),
    "an unknown colour": ({"cards": {"ring-any": {"colour": "gold"}}}, "card ring-any: colour must be"),
    "a coloured knight": ({"cards": {"k1-4": {"colour": "silver"}}}, "card k1-4: only cards for princes and the King"),
    "a penalty without a condition": ({"cards": {"all": {"penalty": -5}}}, "card all: all cards have no penalty"),
    "too high a penalty": ({"cards": {"reds": {"penalty": -101}}}, "card reds: needs a penalty in -100..100"),
    "no copy": ({"cards": {"reds": {"copies": 0}}}, "card reds: needs a penalty in -100..100 and at least one copy"),
    "cards out of order": ({"cards": CARDS[::-1]}, "cards: knight cards come first"),
    "a scoring card in two forms": (
        {"cards": (*CARDS, replace(CARDS[-2], name="reds-2"), replace(CARDS[-1], name="choice-2"))},
        "cards: each scoring action may occur only once",
    ),
    "too few knight cards": ({"cards": (*CARDS[:2], *CARDS[8:])}, "cards: at least 3 knight and 3 king cards"),
    "too few king cards": (
        {"cards": (*CARDS[:8], *CARDS[8:10], *CARDS[15:])},
        "cards: at least 3 knight and 3 king cards",
    ),
    "too many cards": ({"cards": {"ring-any": {"copies": 5}}}, "cards: at most 24 a player, got 25"),
    "an odd number of cards": ({"cards": {"ring-any": {"copies": 3}}}, "cards: advanced players play 2 a turn"),
}


@pytest.mark.parametrize(("changes", "fault"), INVALID.values(), ids=INVALID.keys())
def test_a_box_that_cannot_be(changes, fault):
    with pytest.raises(ValueError, match=re.escape(fault)):
        STANDARD.replace(**changes)


def test_too_many_actions():
    box = BOXES["as many actions as fit"][0].replace(cards={"ring-0": {"action": "royal", "low": 1, "high": 2}})
    with pytest.raises(ValueError, match="cards: at most 448 actions are possible, these make 452"):
        Game(components=box)


# --- telling boxes apart -------------------------------------------------------------------------------------------


def test_every_change_changes_the_hash():
    hashes = {box.hash for box, _ in BOXES.values()} | {STANDARD.hash}
    assert len(hashes) == len(BOXES) + 1
    assert all(re.fullmatch("[0-9a-f]{16}", text) for text in hashes)
    assert Components().hash == STANDARD.hash


@boxes
def test_a_box_survives_as_json(box, num_actions):
    again = Components.from_dict(json.loads(json.dumps(box.to_dict())))
    assert again == box
    assert again.hash == box.hash
    assert hash(again) == hash(box)


def test_a_box_may_be_given_as_lists_arrays_or_iterators():
    box = Components(wheel=np.array(WHEEL, np.int8), carpet=[0, 1, 2, 14, 15, 16], cards=(card for card in CARDS))
    assert box == STANDARD
    assert box.hash == STANDARD.hash


@pytest.mark.parametrize(
    "data", [{}, {"cards": [{"name": "k"}]}, {**STANDARD.to_dict(), "dice": 2}], ids=["no cards", "half a card", "dice"]
)
def test_from_dict_of_no_box(data):
    with pytest.raises(ValueError, match=r"^components: "):
        Components.from_dict(data)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: f"{type(value).__name__}")
def test_whatever_stands_in_a_box_is_a_fault_that_is_named_in_a_short_line(value):
    whole = json.loads(json.dumps(STANDARD.to_dict()))
    for faulty in (value, {**whole, "x" * 100_000: 1}, *(replaced(whole, path, value) for path in places(whole))):
        message = refusal(ValueError, Components.from_dict, faulty)
        if message is None:  # no carpet, 7 on the wheel, a card of any colour
            assert repr(json.loads(json.dumps(Components.from_dict(faulty).to_dict()))) == repr(faulty)
        else:
            assert is_short_line(message), faulty


def test_games_of_another_box_are_refused():
    box = STANDARD.replace(carpet=(3, 4, 5))
    game = random_game("advanced", 2, seed=5, components=box)
    assert Game.replay(game.record(), components=box) == game
    with pytest.raises(ValueError, match=f"components is '{box.hash}', but this is '{STANDARD.hash}'"):
        Game.replay(game.record())
    standard = random_game("advanced", 2, seed=5)
    with pytest.raises(ValueError, match=f"components is '{STANDARD.hash}', but this is '{box.hash}'"):
        Game.replay(standard.record(), components=box)


def test_positions_of_another_deck_are_refused():
    box = with_cards({"k1-4": 0, "reds": 0})
    with pytest.raises(ValueError, match=r"must be one of .*, got '(k1-4|reds)'"):
        Game.from_dict(Game("advanced", seed=6).to_dict(), box)
    with pytest.raises(
        ValueError, match="player 0 must have k1-4 once in hand, piles and played cards together, got it nowhere"
    ):
        Game.from_dict(Game("advanced", seed=6, components=box).to_dict())


def test_the_repeated_end_of_the_mask_is_no_action():
    """Masks repeat their last 64 bits behind the last word: ids up to there must not be taken for actions."""
    box = BOXES["as many actions as fit"][0]
    batch, game = Batch(1, components=box), Game(seed=1, components=box)
    while game.to_dict()["phase"] != "draw":  # the draws have the last ids
        game.play(game.legal_actions()[0])
    batch.states[0] = game.state
    batch.refresh()
    assert game.legal_actions()[-1] == 446
    for action in range(448, 512):
        with pytest.raises(ValueError, match=rf"action {action} \(there are 0..447\)"):
            game.play(action)
        with pytest.raises(ValueError, match=rf"action {action} \(there are 0..447\)"):
            batch.step([action])
