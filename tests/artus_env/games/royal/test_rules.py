"""The rules of the royal card game: the examples, a test for each rule, and a comparison with a second implementation.

`table` makes a position from the hands; all other parts have their usual values.
"""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from artus_env import Batch, Game
from artus_env.engine.compiling.jit import DISABLED
from artus_env.engine.play import kernels
from artus_env.games.royal.components import STANDARD, Components
from royal.positions import at, table
from royal.reference import ARTUS, DECK, MOST_DECISIONS, MOST_TRICKS, SWORDS, compare

counts_of_players = pytest.mark.parametrize("num_players", range(2, 7))


def trick_winner(hands, cards, **options):
    """The player who takes a trick of these cards, which player 0 leads: the one whose pawn moves."""
    game = at(table(hands, **options))
    before = game.scores
    for card in cards:
        assert card in game.moves(), (card, game.moves())
        game.play(card)
    moved_players = [player for player, (old, new) in enumerate(zip(before, game.scores, strict=True)) if old != new]
    assert len(moved_players) == 1
    return moved_players[0]


# --- the examples ----------------------------------------------------------------------------------------------------

FOUR = [["hearts-1", "spades-2"], ["hearts-5", "spades-3"], ["clubs-10", "spades-4"], ["hearts-6", "spades-5"]]
FIRST = ["hearts-1", "hearts-5", "clubs-10", "hearts-6"]


def test_example_1_the_highest_card_of_the_suit_that_was_led_takes_the_trick():
    assert trick_winner(FOUR, FIRST) == 3


def test_example_2_a_trump_takes_it():
    assert trick_winner(FOUR, FIRST, trumps=["clubs"]) == 2


def test_example_3_the_trump_on_the_higher_place_takes_it_whatever_its_value():
    hands = [["hearts-11", "diamonds-1"], ["clubs-11", "diamonds-2"], ["spades-1", "diamonds-3"]]
    hands.append(["hearts-2", "diamonds-4"])
    cards = ["hearts-11", "clubs-11", "spades-1", "hearts-2"]
    assert trick_winner(hands, cards, trumps=["clubs", "spades"]) == 2
    assert trick_winner(hands, cards, trumps=["spades", "clubs"]) == 1


def test_example_4_a_super_trump_is_taken_by_the_other_kind_only():
    hands = [["hearts-3", "diamonds-1"], ["knight", "diamonds-2"], ["shield", "diamonds-3"], ["knight", "diamonds-4"]]
    assert trick_winner(hands, ["hearts-3", "knight", "shield", "knight"]) == 3
    hands = [["shield", "diamonds-1"], ["shield", "diamonds-2"], ["hearts-9", "diamonds-3"]]
    assert trick_winner(hands, ["shield", "shield", "hearts-9"]) == 0


def test_example_5_a_suit_that_is_trump_has_to_be_followed_and_follows_no_other():
    trumps = ["hearts", "diamonds", "clubs", "spades"]
    hands = [["clubs-9", "flowers-1"], ["clubs-1", "spades-2"], ["spades-1", "hearts-1"]]
    game = at(table(hands, trumps=trumps))
    game.play("clubs-9")
    assert game.moves() == ["clubs-1"]
    game.play("clubs-1")
    assert game.moves() == ["hearts-1", "spades-1"]
    game.play("spades-1")
    assert game.scores == [0, 0, 1]
    assert game.to_dict()["voids"] == [[], [], ["clubs"]]


def test_example_6_a_pawn_goes_to_the_next_free_field_and_may_land_on_a_sword():
    hands = [["hearts-9", "spades-1"], *([f"hearts-{value}", f"spades-{value}"] for value in (2, 3, 4, 5))]
    game = at(table(hands, fields=[3, 4, 5, 6, 7]))
    for move in ("hearts-9", "hearts-2", "hearts-3", "hearts-4", "hearts-5"):
        game.play(move)
    assert game.scores == [8, 4, 5, 6, 7]
    assert game.to_dict()["phase"] == "sword"
    assert game.player == 0
    assert game.moves()[-1] == "decline"


def test_example_7_the_last_free_field_is_artus_and_wins():
    hands = [["hearts-9", "spades-1"], ["hearts-2", "spades-2"], ["hearts-3", "spades-3"]]
    game = at(table(hands, fields=[24, 25, 26]))
    for move in ("hearts-9", "hearts-2", "hearts-3"):
        points = game.play(move)
    assert game.over
    assert game.scores == [27, 25, 26]
    assert game.winners == [0]
    assert points == 0  # the last card wasn't the winner's
    end = game.to_dict()
    assert (end["turn"], end["trick"], end["phase"]) == (end["start_player"], [], "over")
    assert {"hearts-9", "hearts-2", "hearts-3"} <= set(end["discards"])
    assert game.moves() == []


# --- following -------------------------------------------------------------------------------------------------------


def test_a_player_with_the_led_suit_must_play_it_and_no_super_trump():
    hands = [["hearts-9", "spades-1"], ["hearts-2", "knight"], ["knight", "shield"]]
    game = at(table(hands))
    assert game.moves() == ["hearts-9", "spades-1"]
    game.play("hearts-9")
    assert game.moves() == ["hearts-2"]
    game.play("hearts-2")
    assert game.moves() == ["knight", "shield"]


def test_where_a_super_trump_was_led_no_suit_is_demanded():
    hands = [["knight", "spades-1"], ["hearts-2", "clubs-3"], ["hearts-4", "shield"]]
    game = at(table(hands))
    game.play("knight")
    game.play("hearts-2")
    assert game.moves() == ["hearts-4", "shield"]
    game.play("hearts-4")
    assert game.scores == [1, 0, 0]
    assert game.to_dict()["voids"] == [[], [], []]


def test_other_suits_do_not_take_a_trick_unless_they_are_trump():
    hands = [["hearts-1", "spades-1"], ["clubs-11", "spades-2"], ["flowers-11", "spades-3"]]
    assert trick_winner(hands, ["hearts-1", "clubs-11", "flowers-11"]) == 0


def test_the_highest_card_of_a_trump_suit_takes_the_trick():
    hands = [["hearts-11", "spades-1"], ["clubs-2", "spades-2"], ["clubs-10", "spades-3"], ["clubs-9", "spades-4"]]
    assert trick_winner(hands, ["hearts-11", "clubs-2", "clubs-10", "clubs-9"], trumps=["clubs"]) == 2


def test_a_super_trump_beats_all_trumps():
    hands = [["hearts-11", "spades-1"], ["shield", "spades-2"], ["clubs-10", "spades-3"]]
    assert trick_winner(hands, ["hearts-11", "shield", "clubs-10"], trumps=["hearts", "clubs"]) == 1


# --- pawns -----------------------------------------------------------------------------------------------------------


def test_only_the_winner_of_a_trick_moves_and_leads_the_next_one():
    game = at(table(FOUR, fields=[5, 1, 2, 9]))
    for card in FIRST:
        game.play(card)
    assert game.scores == [5, 1, 2, 10]
    assert game.player == 3


def test_points_are_the_fields_that_a_card_brings_its_player():
    game = at(table(FOUR, fields=[10, 11, 0, 9]))
    assert [game.play(card) for card in FIRST] == [0, 0, 0, 3]
    batch = Batch(1, game="royal", num_players=4, autoreset=False)
    game = at(table(FOUR, fields=[10, 11, 0, 9]))
    for card in FIRST[:3]:
        game.play(card)
    batch.states[:] = game.states
    batch.refresh()
    assert batch.points()[0, game.action("hearts-6")] == 3


def test_passing_over_a_sword_does_nothing():
    game = at(table(FOUR, fields=[0, 0, 4, 3]))
    for card in FIRST:
        game.play(card)
    assert game.scores == [0, 0, 4, 5]
    assert game.to_dict()["phase"] == "trick"


# --- swords ----------------------------------------------------------------------------------------------------------


def on_sword(trumps):
    """A game in which player 3's pawn stands on a sword, so that they may place or swap a chip."""
    return at(table(FOUR, fields=[0, 0, 4, 8], trumps=trumps, leader=3, phase="sword", turn=3))


def test_a_chip_goes_to_the_lowest_empty_place():
    game = on_sword(["clubs"])
    assert game.moves() == [
        "trump:hearts",
        "trump:diamonds",
        "trump:spades",
        "trump:flowers",
        "trump:chalices",
        "decline",
    ]
    game.play("trump:flowers")
    assert game.to_dict()["trumps"] == ["clubs", "flowers", None, None, None, None]
    assert (game.player, game.to_dict()["phase"]) == (3, "trick")


def test_declining_leaves_the_chips():
    game = on_sword(["clubs"])
    game.play("decline")
    assert game.to_dict()["trumps"] == ["clubs", None, None, None, None, None]
    assert (game.player, game.to_dict()["phase"]) == (3, "trick")


def test_when_all_chips_are_placed_two_must_be_swapped():
    trumps = ["hearts", "diamonds", "clubs", "spades", "flowers", "chalices"]
    game = on_sword(trumps)
    assert game.moves() == [f"swap:{low}:{high}" for low in range(1, 7) for high in range(low + 1, 7)]
    game.play("swap:2:5")
    assert game.to_dict()["trumps"] == ["hearts", "flowers", "clubs", "spades", "diamonds", "chalices"]


def test_after_the_last_trick_of_a_deal_hands_are_dealt_before_the_winner_chooses():
    hands = [["hearts-1"], ["hearts-5"], ["hearts-7"], ["hearts-6"]]
    game = at(table(hands, fields=[0, 0, 3, 5]))
    for card in ("hearts-1", "hearts-5", "hearts-7", "hearts-6"):
        game.play(card)
    position = game.to_dict()
    assert (position["phase"], position["turn"], position["dealer"]) == ("sword", 2, 0)
    assert [len(hand) for hand in position["hands"]] == [8, 8, 8, 8]
    assert position["voids"] == position["played"] == [[], [], [], []]
    game.play("trump:hearts")
    assert game.player == 1  # left of the new dealer, not the winner


# --- dealing ---------------------------------------------------------------------------------------------------------


@counts_of_players
def test_the_start_player_leads_the_first_deal_and_the_dealer_sits_to_their_right(num_players):
    for start in range(num_players):
        game = Game(game="royal", num_players=num_players, seed=5, start_player=start)
        assert game.player == start
        assert game.to_dict()["dealer"] == (start - 1) % num_players


def test_cards_are_dealt_one_at_a_time_from_the_dealers_left():
    hands = [["hearts-1"], ["hearts-5"], ["hearts-7"]]
    position = table(hands)
    game = at(position)
    for card in ("hearts-1", "hearts-5", "hearts-7"):
        game.play(card)
    after = game.to_dict()
    assert after["dealer"] == 0
    for player in range(3):
        dealt = position["pile"][(player - 1) % 3 : 24 : 3]  # player 1 gets the first card
        assert Counter(after["hands"][player]) == Counter(dealt)
    assert after["pile"] == position["pile"][24:]
    assert after["shuffles"] == 0


@counts_of_players
def test_all_cards_are_shuffled_when_the_pile_has_too_few(num_players):
    """With 2 to 6 players after every 4, 3, 2, 1, 1 deals. The new pile depends only on `chance` and the number of
    shuffles."""
    deals = 72 // (8 * num_players)
    game = Game(game="royal", num_players=num_players, seed=3)
    choices = np.random.default_rng(3)
    piles = []
    while not game.over:
        old_shuffles, old_game = game.to_dict()["shuffles"], game.clone()
        game.play(int(choices.choice(game.legal_actions())))
        after = game.to_dict()
        if after["shuffles"] > old_shuffles:
            assert after["shuffles"] == old_shuffles + 1
            assert after["discards"] == []
            assert len(after["pile"]) == 72 - 8 * num_players
            assert Counter(after["pile"] + [card for hand in after["hands"] for card in hand]) == Counter(DECK)
            old_position = old_game.to_dict()
            assert len(old_position["pile"]) == 72 - 8 * num_players * deals
            piles.append((after["hands"], after["pile"]))
            old_position["chance"] += 1
            other_game = at(old_position)
            other_game.play(game.actions_played[-1])
            assert (other_game.to_dict()["hands"], other_game.to_dict()["pile"]) != piles[-1]
    assert len({str(pile) for pile in piles}) == len(piles) > 0


@counts_of_players
def test_the_deal_passes_to_the_left(num_players):
    game = Game(game="royal", num_players=num_players, seed=4)
    choices = np.random.default_rng(4)
    dealers = [game.to_dict()["dealer"]]
    while not game.over:
        game.play(int(choices.choice(game.legal_actions())))
        if game.to_dict()["dealer"] != dealers[-1]:
            dealers.append(game.to_dict()["dealer"])
            assert not game.over
    assert len(dealers) > 1
    assert all(new == (old + 1) % num_players for old, new in pairwise(dealers))


def test_each_place_of_the_pile_gets_all_cards_equally_often():
    deals = 1_000 if DISABLED else 20_000
    batch = Batch(deals, game="royal", num_players=2, seed=9)
    places = batch.states["pile"][:, 16:]
    counts = np.zeros((56, 68))
    for place in range(56):
        counts[place] = np.bincount(places[:, place], minlength=68)
    expected = deals * np.array(STANDARD.copies) / 72
    chi_square = ((counts - expected) ** 2 / expected).sum()
    freedom = 56 * 67
    assert abs(chi_square - freedom) < 6 * np.sqrt(2 * freedom)


# --- second implementation, bounds, other boxes -----------------------------------------------------------------------


@counts_of_players
def test_a_second_implementation_of_the_rules_agrees(num_players):
    """`python -m royal.reference 2000` in tests/helpers compares more games."""
    for seed in range(1 if DISABLED else 3):
        compare(num_players, seed, every=3)


@counts_of_players
def test_the_number_of_tricks_and_decisions_is_limited(num_players):
    """Each trick moves a pawn at least one field, and all pawns except the winner's end on different fields before
    Artus."""
    last_fields = range(ARTUS - num_players + 1, ARTUS + 1)  # the winner has passed all others once
    assert MOST_TRICKS[num_players] == sum(last_fields) - (num_players - 1) <= 27 * num_players
    assert MOST_DECISIONS[num_players] == num_players * (MOST_TRICKS[num_players] + len(SWORDS))
    batch = Batch(4 if DISABLED else 200, game="royal", num_players=num_players, seed=1, autoreset=False)
    decisions = 0
    while not batch.done.all():
        batch.step(batch.sample())
        decisions += 1
    assert decisions <= MOST_DECISIONS[num_players]
    assert set(batch.final_scores.max(axis=1)) == {ARTUS}
    assert set(STANDARD.swords) == set(SWORDS)


@pytest.mark.skipif(DISABLED, reason="whole games with redeals at each decision take minutes in plain Python")
@pytest.mark.parametrize(
    "components",
    [
        Components(fields=12, swords=(3, 6)),
        Components(hand=12),
        Components(suits=("swords", "cups"), values=11, knights=0, shields=3, hand=4, fields=9, swords=(2, 4, 8)),
        Components(fields=1, swords=()),
    ],
    ids=["course", "hand", "suits", "one field"],
)
def test_a_changed_box_plays(components):
    for num_players in (2, 6):
        batch = Batch(8, game="royal", num_players=num_players, seed=1, components=components, autoreset=False)
        while not batch.done.all():
            batch.step(batch.sample())
        assert (batch.final_scores.max(axis=1) == components.fields).all()
        game = Game(game="royal", num_players=num_players, seed=2, components=components)
        choices = np.random.default_rng(1)
        while not game.over:
            assert Game.from_dict(game.to_dict(), components, game="royal") == game
            assert game.redeal(0, 1).to_dict(0) == game.to_dict(0)
            game.play(int(choices.choice(game.legal_actions())))


def test_a_margin_is_the_lead_over_the_mean_of_the_others_in_courses():
    batch = Batch(4, game="royal", num_players=3, seed=1, reward="margin", autoreset=False)
    while not batch.done.all():
        reward, _ = batch.step(batch.sample())
        ended = batch.done & (reward != 0).any(axis=1)
        scores = batch.final_scores[ended].astype(float)
        expected = (scores - (scores.sum(axis=1, keepdims=True) - scores) / 2) / 27
        np.testing.assert_allclose(reward[ended], expected, atol=1e-5)


def test_conceal_leaves_sizes():
    game = Game(game="royal", num_players=3, seed=1)
    states = game.states.copy()
    kernels.hide(game.tables, states, np.array([1], np.int8), 0, 1)
    known = Game.from_state(game.definition, states, game.components).to_dict(1)
    assert known == game.to_dict(1)
