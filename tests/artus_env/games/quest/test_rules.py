"""One test for each rule of the King's quests, at a position that shows it."""

import pytest

from artus_env import Game, IllegalMoveError
from artus_env.engine.contract import verbs
from artus_env.games.quest import fast, rules
from artus_env.games.quest.components import PLACES, STANDARD, Components, Quest
from artus_env.games.quest.definition import QUEST
from quest.positions import ACTIONS, BOX, CHOICES, DISPLAY, QUESTS, RING, flat, game_at, joust, points, position

ALL_PLAYERS = pytest.mark.parametrize("players", [2, 3, 4])


def new_game(players=3, seed=1, start=None):
    return Game(num_players=players, seed=seed, start_player=start, game="quest")


def moves_of(game, kind):
    """Legal moves of one kind, without the kind: `lake` for `horse-3:lake`."""
    return [move.partition(":")[2] for move in game.moves() if move.partition(":")[0] == kind]


def end_of_turn(game):
    """The position after the player to move has ended their turn."""
    game.play("done")
    return game.to_dict()


@pytest.mark.parametrize("seed", range(5))
def test_steps_from_a_place_to_all_others_at_once(seed):
    state = new_game(seed=seed).state
    for place in range(len(PLACES)):
        steps = fast.steps_from(state, place)
        assert [steps >> 8 * other & 255 for other in range(len(PLACES))] == [
            rules.steps_between(state, place, other) for other in range(len(PLACES))
        ]


# --- 1 set-up --------------------------------------------------------------------------------------------------------


@ALL_PLAYERS
def test_set_up(players):
    dealt = new_game(players).to_dict()
    assert dealt["display"] == DISPLAY[players]
    assert [len(cards) for cards in dealt["start_cards"]] == [2] * players
    hands = flat(dealt["start_cards"])
    piled = [f"{virtue}-{value}" for virtue, values in dealt["piles"].items() for value in values]
    assert sorted([*hands, *piled]) == sorted(BOX.elements())
    assert sorted(dealt["open_quests"] + dealt["quest_pile"]) == sorted(QUESTS)
    assert len(dealt["open_quests"]) == 3
    assert dealt["places"] == ["camelot"] * players
    assert sorted(dealt["ring"]) == sorted(RING)
    assert dealt["ring"][0] == "camelot"
    assert dealt["tents"][0] == dealt["turn"] == dealt["start_player"]
    assert (dealt["phase"], dealt["round"], dealt["lots"]) == ("choose", 1, 0)


def test_what_is_shuffled_and_drawn_comes_in_all_orders():
    deals = [new_game(seed=seed).to_dict() for seed in range(200)]
    for part in (lambda d: d["ring"][1], lambda d: d["ring"][7]):
        assert {part(deal) for deal in deals} == set(RING[1:])
    assert {deal["quest_pile"][0] for deal in deals} == set(QUESTS)
    assert {card for deal in deals for cards in deal["start_cards"] for card in cards} == set(BOX)
    assert len({tuple(deal["tents"]) for deal in deals}) == 6


def test_a_start_player_has_the_first_tent_and_the_others_draw():
    tents = {tuple(new_game(4, seed, 2).to_dict()["tents"]) for seed in range(100)}
    assert {order[0] for order in tents} == {2}
    assert len(tents) == 6


# --- 2 choosing ------------------------------------------------------------------------------------------------------


@ALL_PLAYERS
def test_all_take_one_card_after_the_other_in_the_order_of_tents(players):
    dealt = position(players, phase="choose", tents=list(range(players))[::-1], turn=players - 1)
    game = Game.from_dict(dealt, game="quest")
    turns = []
    while game.to_dict()["phase"] == "choose":
        turns.append(game.player)
        game.play(game.moves()[-1])
    assert turns == list(range(players))[::-1] * CHOICES[players]
    assert game.player == players - 1
    assert [len(cards) for cards in game.to_dict()["actions"]] == [CHOICES[players]] * players


def test_every_card_on_display_can_be_taken():
    assert moves_of(game_at(phase="choose"), "take") == ACTIONS


def test_nobody_takes_a_second_tournament_but_two_of_everything_else():
    game = game_at(2, phase="choose", actions={0: ["tournament", "quest"]})
    assert "tournament" not in moves_of(game, "take")
    assert "quest" in moves_of(game, "take")
    game.play("take:quest")
    assert "tournament" in moves_of(game, "take"), "the other player has none"


def test_what_is_taken_is_gone():
    game = game_at(phase="choose", moves=("take:artus",))
    assert "artus" not in moves_of(game, "take")
    assert game.to_dict()["actions"][0] == ["artus"]


# --- 3 acting --------------------------------------------------------------------------------------------------------


def test_action_cards_are_used_in_any_order_and_go_back():
    game = game_at(actions={0: ["exercise-sword", "horse-2", "horse-3"]})
    before = game.to_dict()["display"]
    game.play("horse-3:forest")
    game.play("horse-2:camelot")
    game.play("exercise:sword-2")
    assert game.to_dict()["actions"][0] == []
    assert game.to_dict()["taken"][0] == ["sword-2"]
    assert sorted(game.to_dict()["display"]) == sorted([*before, "exercise-sword", "horse-2", "horse-3"])
    assert game.moves() == ["done"]
    assert game.player == 0, "the turn ends with done alone"


def test_what_is_not_used_goes_back_without_effect():
    game = game_at(actions={0: ["exercise-sword", "artus", "horse-4"]})
    after = end_of_turn(game)
    assert after["actions"][0] == []
    assert {"exercise-sword", "artus", "horse-4"} <= set(after["display"])
    assert after["turn"] == 1


def test_turns_follow_the_tents():
    game = game_at(turn=2, tents=[2, 0, 1])
    assert end_of_turn(game)["turn"] == 0
    assert end_of_turn(game)["turn"] == 1


def test_exercising_takes_any_card_of_its_virtue_in_camelot():
    game = game_at(actions={0: ["exercise-lance"]})
    assert moves_of(game, "exercise") == ["lance-1", "lance-2"]
    game.play("exercise:lance-2")
    assert game.to_dict()["piles"]["lance"] == [1, 1, 1, 2]


def test_an_empty_pile_has_nothing_to_take():
    game = game_at(actions={0: ["exercise-book"]}, taken={1: ["book-1", "book-1"], 2: ["book-2", "book-2"]})
    assert game.moves() == ["done"]
    game = game_at(actions={0: ["exercise-book"]}, taken={1: ["book-1", "book-1"], 2: ["book-2"]})
    assert moves_of(game, "exercise") == ["book-2"]


def test_outside_camelot_nobody_exercises_or_asks_for_quests():
    game = game_at(actions={0: ["exercise-sword", "artus"]}, places={0: "lake"})
    assert game.moves() == ["done"]


def test_artus_gives_any_open_quest_and_the_display_is_not_filled_up():
    game = game_at(actions={0: ["artus"]}, open_quests=["forest-1", "lake-2", "ford-1"])
    assert moves_of(game, "artus") == ["forest-1", "lake-2", "ford-1"]
    game.play("artus:lake-2")
    after = game.to_dict()
    assert after["open_quests"] == ["forest-1", "ford-1"]
    assert after["quests"][0] == ["lake-2"]
    assert len(after["quest_pile"]) == 11


def test_without_open_quests_artus_gives_none():
    assert game_at(actions={0: ["artus"]}, open_quests=[]).moves() == ["done"]


@pytest.mark.parametrize("book", ["book-1", "book-2"])
def test_court_takes_any_book_outside_camelot_for_two_points(book):
    game = game_at(actions={0: ["court"]}, places={0: "moor"}, taken={0: ["book-1", "book-2"]})
    assert moves_of(game, "court") == ["book-1", "book-2"]
    assert points(game, f"court:{book}") == 2
    game.play(f"court:{book}")
    after = game.to_dict()
    assert after["points"] == [2, 0, 0]
    assert after["taken"][0] == [{"book-1": "book-2", "book-2": "book-1"}[book]]
    assert after["piles"]["book"] == sorted([1, 2, int(book[-1])])
    assert "court" in after["display"]


def test_no_court_in_camelot_or_without_a_book():
    assert game_at(actions={0: ["court"]}, taken={0: ["book-1"]}).moves() == ["done"]
    assert game_at(actions={0: ["court"]}, places={0: "moor"}, taken={0: ["sword-1"]}).moves() == ["done"]


def quest_at(quest, place, taken, start=(), **parts):
    """A game in which player 0 has this quest in hand, a quest card, and these virtue cards."""
    return game_at(
        actions={0: ["quest"]},
        places={0: place},
        quests={0: [quest]},
        taken={0: taken},
        start_cards={0: start},
        **parts,
    )


@pytest.mark.parametrize("quest", QUESTS)
def test_every_quest_brings_its_shields_for_its_cards(quest):
    """The quests of the box, as the rule text lists them."""
    demands, shields = {
        "forest-1": (["sword-2"], 3),
        "forest-2": (["sword-2", "dragon-1"], 5),
        "valley-1": (["lance-2"], 3),
        "valley-2": (["lance-1", "book-1"], 4),
        "lake-1": (["dragon-2"], 3),
        "lake-2": (["lance-1", "dragon-1"], 4),
        "moor-1": (["book-2"], 3),
        "moor-2": (["sword-1", "book-2"], 5),
        "ford-1": (["sword-1", "lance-1"], 4),
        "ford-2": (["sword-1", "lance-1", "dragon-1"], 6),
        "ruin-1": (["lance-1", "dragon-2"], 5),
        "ruin-2": (["lance-1", "dragon-1", "book-1"], 6),
        "tower-1": (["sword-1", "book-1"], 4),
        "tower-2": (["sword-2", "lance-1", "book-1"], 7),
    }[quest]
    place = quest.partition("-")[0]
    game = quest_at(quest, place, demands)
    assert points(game, f"quest:{quest}") == shields
    game.play(f"quest:{quest}")
    after = game.to_dict()
    assert after["points"][0] == shields
    assert after["taken"][0] == after["quests"][0] == []
    assert quest not in [*after["open_quests"], *after["quest_pile"]], "it is out of the game"
    assert after["piles"] == position()["piles"]
    assert after["excluded"][0] == []
    for nth in range(len(demands)):
        assert quest_at(quest, place, demands[:nth] + demands[nth + 1 :]).moves() == ["done"]
    for nth, demand in enumerate(demands):
        if demand.endswith("2"):
            lower_cards = [*demands[:nth], demand.replace("2", "1"), *demands[nth + 1 :]]
            assert quest_at(quest, place, lower_cards).moves() == ["done"]


def test_a_quest_is_done_at_its_place_and_from_the_hand():
    assert quest_at("lake-1", "moor", ["dragon-2"]).moves() == ["done"]
    assert quest_at("lake-1", "camelot", ["dragon-2"]).moves() == ["done"]
    quest_of_other = game_at(
        actions={0: ["quest"]}, places={0: "lake"}, quests={1: ["lake-1"]}, taken={0: ["dragon-2"]}
    )
    assert quest_of_other.moves() == ["done"]
    open_quest = game_at(actions={0: ["quest"]}, places={0: "lake"}, open_quests=["lake-1"], taken={0: ["dragon-2"]})
    assert open_quest.moves() == ["done"]


def test_two_low_cards_do_not_make_a_high_one():
    assert quest_at("lake-1", "lake", ["dragon-1", "dragon-1"]).moves() == ["done"]


def test_the_lowest_card_that_will_do_is_paid():
    game = quest_at("lake-2", "lake", ["lance-1", "dragon-2"], ["lance-2", "dragon-1"])
    game.play("quest:lake-2")
    after = game.to_dict()
    assert (after["start_cards"][0], after["taken"][0]) == (["lance-2"], ["dragon-2"])
    assert after["excluded"][0] == []


def test_a_higher_card_pays_and_shows_that_there_is_no_lower_one():
    game = quest_at("lake-2", "lake", ["lance-2", "dragon-2"], ["book-1"])
    game.play("quest:lake-2")
    after = game.to_dict()
    assert after["points"][0] == 4
    assert after["excluded"] == [["lance-1", "dragon-1"], [], []]


def test_exclusions_are_noted_even_if_no_starting_card_is_left_and_never_end():
    game = quest_at("lake-2", "lake", ["lance-2", "dragon-1"])
    game.play("quest:lake-2")
    assert end_of_turn(game)["excluded"][0] == ["lance-1"]
    for _ in range(2):
        game.play("done")
    assert game.to_dict()["round"] == 2
    assert game.to_dict()["excluded"][0] == ["lance-1"]


def test_each_quest_card_does_one_quest():
    two_quests = {
        "quests": {0: ["lake-1", "lake-2"]},
        "taken": {0: ["dragon-1", "dragon-2", "lance-1"]},
        "places": {0: "lake"},
    }
    game = game_at(actions={0: ["quest", "quest"]}, **two_quests)
    game.play("quest:lake-1")
    game.play("quest:lake-2")
    assert game.scores[0] == 7
    game = game_at(actions={0: ["quest"]}, **two_quests)
    game.play("quest:lake-1")
    assert game.moves() == ["done"]


@pytest.mark.parametrize(
    ("horse", "place", "reached"),
    [
        ("horse-2", "camelot", {"forest", "valley", "tower", "ruin"}),
        ("horse-3", "camelot", {"forest", "valley", "lake", "tower", "ruin", "ford"}),
        ("horse-4", "camelot", set(RING) - {"camelot"}),
        ("horse-2", "tower", {"camelot", "forest", "ruin", "ford"}),
        ("horse-3", "lake", {"forest", "valley", "camelot", "moor", "ford", "ruin"}),
    ],
)
def test_horses_go_as_far_as_they_can_or_less_both_ways_round_the_ring(horse, place, reached):
    game = game_at(actions={0: [horse]}, places={0: place, 1: "ford"})
    assert set(moves_of(game, horse)) == reached
    game.play(f"{horse}:ford" if "ford" in reached else f"{horse}:forest")
    assert game.to_dict()["places"][0] in reached


def test_the_ring_is_that_of_the_deal():
    ring = ["camelot", "tower", "moor", "lake", "ruin", "valley", "ford", "forest"]
    game = game_at(actions={0: ["horse-2"]}, ring=ring)
    assert set(moves_of(game, "horse-2")) == {"tower", "moor", "forest", "ford"}


# --- what is laid back -----------------------------------------------------------------------------------------------


def test_a_card_that_was_taken_openly_is_laid_back_first():
    game = game_at(
        actions={0: ["court", "court"]},
        players=4,
        places={0: "moor"},
        taken={0: ["book-1"]},
        start_cards={0: ["book-1"]},
    )
    game.play("court:book-1")
    assert (game.to_dict()["start_cards"][0], game.to_dict()["taken"][0]) == (["book-1"], [])
    game.play("court:book-1")
    assert (game.to_dict()["start_cards"][0], game.to_dict()["taken"][0]) == ([], [])


# --- 4 the tournament ------------------------------------------------------------------------------------------------


def acted(places, actions, **parts):
    """The position after the last player has ended their turn, which ends the acting phase."""
    game = game_at(turn=2, places=places, actions=actions, **parts)
    return end_of_turn(game)


def test_cards_of_the_tournament_stay_until_it_is_over():
    game = game_at(actions={0: ["tournament", "horse-2"]}, places={0: "lake"})
    after = end_of_turn(game)
    assert after["actions"][0] == ["tournament"], "also those of knights outside Camelot"
    game.play("done")
    game.play("done")
    assert game.to_dict()["actions"][0] == []
    assert game.to_dict()["display"].count("tournament") == 2


def test_only_knights_in_camelot_joust():
    after = acted({0: "lake"}, {0: ["tournament"], 1: ["tournament"]})
    assert (after["phase"], after["bidding"], after["turn"]) == ("bid", [1], 1)
    after = acted({0: "lake", 1: "moor"}, {0: ["tournament"], 1: ["tournament"]})
    assert (after["phase"], after["round"]) == ("choose", 2)
    after = acted({}, {0: ["tournament"], 1: ["tournament"]})
    assert (after["phase"], after["bidding"], after["turn"]) == ("bid", [0, 1], 0)
    assert acted({}, {})["phase"] == "choose"


def test_alone_a_player_bids_exactly_one_card_for_two_points():
    game = joust((1,), taken={1: ["sword-1", "sword-2"]}, start_cards={1: ["lance-1", "book-1"]})
    assert set(moves_of(game, "bid")) == {"sword-1", "sword-2", "lance-1"}
    assert points(game, "bid:lance-1") == 2
    game.play("bid:lance-1")
    after = game.to_dict()
    assert after["points"] == [0, 2, 0]
    assert (after["start_cards"][1], after["taken"][1]) == (["book-1"], ["sword-1", "sword-2"])
    assert after["phase"] == "choose"
    assert after["excluded"][1] == []


def test_alone_without_sword_and_lance_a_player_gets_nothing_and_that_is_known():
    game = joust((1,), taken={1: ["dragon-1"]}, start_cards={1: ["book-1"]})
    assert game.moves() == ["bid:nothing"]
    assert points(game, "bid:nothing") == 0
    game.play("bid:nothing")
    assert game.scores == [0, 0, 0]
    assert game.to_dict()["excluded"][1] == ["sword-1", "sword-2", "lance-1", "lance-2"]


def test_two_bid_any_set_of_swords_and_lances():
    game = joust(taken={0: ["sword-1", "dragon-1"]}, start_cards={0: ["sword-1", "lance-2"]})
    bids = ["nothing", "lance-2", "sword-1", "sword-1+lance-2", "sword-1+sword-1", "sword-1+sword-1+lance-2"]
    assert set(moves_of(game, "bid")) == set(bids)
    assert [points(game, f"bid:{bid}") for bid in bids] == [0] * 6


def test_the_earlier_tent_bids_first():
    game = joust((0, 1), tents=[1, 2, 0], turn=1, taken={0: ["sword-1"], 1: ["sword-2"]})
    game.play("bid:sword-2")
    assert game.player == 0


@pytest.mark.parametrize(
    ("bids", "won"),
    [
        (("sword-2", "lance-1"), [2, 0, 0]),
        (("lance-1", "sword-1+lance-1"), [0, 2, 0]),
        (("sword-2", "sword-1+lance-1"), [1, 1, 0]),
        (("nothing", "lance-1"), [0, 2, 0]),
        (("nothing", "nothing"), [0, 0, 0]),
    ],
)
def test_the_higher_sum_wins_equal_ones_share_and_all_bids_go_back(bids, won):
    game = joust(taken={0: ["sword-2", "lance-1"], 1: ["sword-1", "lance-1", "book-1"]})
    cards = BOX.total() - 5
    for bid in bids:
        assert game.to_dict()["bids"][game.player] == []
        game.play(f"bid:{bid}")
    after = game.to_dict()
    assert after["points"] == won
    assert after["bids"] == [[], [], []]
    assert after["excluded"] == [[], [], []], "whoever may bid nothing shows nothing"
    bid_cards = flat(bid.split("+") for bid in bids if bid != "nothing")
    assert sum(map(len, after["piles"].values())) == cards + len(bid_cards)
    assert after["display"] == DISPLAY[3]


def test_cards_that_are_bid_stay_in_the_hand_until_bids_are_open():
    game = joust(taken={0: ["sword-2"]}, moves=("bid:sword-2",))
    after = game.to_dict()
    assert after["taken"][0] == ["sword-2"]
    assert after["bids"][0] == ["sword-2"]
    assert after["piles"]["sword"] == [1, 1, 1, 2]
    assert after["bidding"] == [1]


def test_what_a_move_brings_its_player_is_told_when_bids_are_open():
    game = joust(taken={0: ["sword-2"], 1: ["lance-2", "lance-1"]})
    assert game.play("bid:sword-2") == 0
    assert game.play("bid:lance-1+lance-2") == 2


# --- 5 the end of a round --------------------------------------------------------------------------------------------


def test_the_display_is_filled_up_to_three_quests_as_far_as_the_pile_goes():
    pile = ["tower-2", "ford-1"]
    after = acted({}, {}, open_quests=["lake-1"], quest_pile=pile)
    assert after["open_quests"] == ["lake-1", "ford-1", "tower-2"]
    assert after["quest_pile"] == []
    after = acted({}, {}, open_quests=[], quest_pile=["tower-2"])
    assert after["open_quests"] == ["tower-2"]
    after = acted({}, {}, open_quests=["lake-1"], quest_pile=["tower-2", "ford-1", "moor-1", "moor-2"])
    assert (after["open_quests"], after["quest_pile"]) == (["lake-1", "ford-1", "tower-2"], ["moor-1", "moor-2"])


def test_fewest_points_have_the_first_tent():
    after = acted({}, {}, points=[7, 2, 5])
    assert after["tents"] == [1, 2, 0]
    assert (after["turn"], after["lots"], after["start_player"]) == (1, 0, 0)


def test_a_lot_settles_the_order_of_equal_points():
    orders = {}
    for chance in range(300):
        after = acted({}, {}, points=[3, 1, 3], chance=chance)
        assert after["lots"] == 1
        orders[tuple(after["tents"])] = orders.get(tuple(after["tents"]), 0) + 1
    assert set(orders) == {(1, 0, 2), (1, 2, 0)}
    assert min(orders.values()) > 110
    assert len({tuple(acted({}, {}, chance=chance)["tents"]) for chance in range(100)}) == 6


def test_every_round_has_a_lot_of_its_own():
    """A lot depends on its number: the same `chance` gives another order in a later round."""
    orders = {tuple(acted({}, {}, round=30 - 1, lots=lots)["tents"]) for lots in range(20)}
    assert len(orders) > 2


# --- 6 the end of the game -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("players", "goal"), [(2, 25), (3, 20), (4, 15)])
def test_the_round_in_which_somebody_reaches_the_goal_is_played_to_its_end(players, goal):
    before = [goal - 2] + [0] * (players - 1)
    game = game_at(players, actions={0: ["court"]}, places={0: "moor"}, taken={0: ["book-1"]}, points=before)
    game.play("court:book-1")
    assert not game.over
    assert game.to_dict()["reached"] == [1] + [0] * (players - 1)
    for _ in range(players):
        assert not game.over
        game.play("done")
    assert game.over
    assert game.winners == [0]
    assert game.moves() == []


def test_one_point_less_does_not_end_the_game():
    game = game_at(actions={0: ["court"]}, places={0: "moor"}, taken={0: ["book-1"]}, points=[17, 0, 0])
    game.play("court:book-1")
    for _ in range(3):
        game.play("done")
    assert not game.over
    assert game.to_dict()["reached"] == [0, 0, 0]


def test_most_points_win_even_if_somebody_else_reached_the_goal_first():
    game = joust((1,), taken={1: ["sword-1"]}, points=[20, 19, 3], reached=[1, 0, 0], moves=("bid:sword-1",))
    assert game.over
    assert game.scores == [20, 21, 3]
    assert game.winners == [1]
    assert game.to_dict()["reached"] == [1, 2, 0]


def test_of_equal_points_the_first_at_the_goal_wins_alone():
    game = joust((1,), taken={1: ["sword-1"]}, points=[20, 18, 3], reached=[1, 0, 0], moves=("bid:sword-1",))
    assert game.scores == [20, 20, 3]
    assert game.winners == [0]


def test_two_who_reach_the_goal_in_one_tournament_share():
    game = joust(taken={0: ["sword-1"], 1: ["lance-1"]}, points=[19, 19, 3], moves=("bid:sword-1", "bid:lance-1"))
    assert game.over
    assert game.to_dict()["reached"] == [1, 1, 0]
    assert game.winners == [0, 1]


def test_when_the_game_ends_quests_tents_round_and_lots_stay():
    before = position(
        turn=2, points=[20, 3, 3], reached=[1, 0, 0], round=7, lots=2, open_quests=["lake-1"], tents=[1, 0, 2],
        start_player=0, actions={0: ["tournament"], 2: ["horse-2"]}, places={0: "lake"},
    )  # fmt: skip
    game = Game.from_dict(before, game="quest")
    after = end_of_turn(game)
    assert (after["phase"], after["turn"]) == ("over", 0)
    for name in ("tents", "round", "lots", "open_quests", "quest_pile", "places"):
        assert after[name] == before[name]
    assert after["actions"] == [[], [], []]
    assert after["display"] == DISPLAY[3]


def test_the_thirtieth_round_is_the_last():
    game = game_at(turn=2, round=30, points=[4, 9, 9])
    after = end_of_turn(game)
    assert (after["phase"], after["round"]) == ("over", 30)
    assert game.winners == [1, 2], "equal points share"
    assert end_of_turn(game_at(turn=2, round=29))["phase"] == "choose"


def test_the_goal_counts_in_the_last_round_too():
    parts = {"turn": 2, "round": 30, "reached": [2, 1, 0]}
    game = game_at(points=[21, 21, 0], **parts)
    game.play("done")
    assert game.winners == [1]


def test_a_margin_is_measured_by_the_goal():
    for players, goal in ((2, 25), (3, 20), (4, 15)):
        game = game_at(players)
        assert verbs.margin_scale(game.tables[0], game.state) == goal


# --- numbers, texts, the box -----------------------------------------------------------------------------------------


def test_the_moves_have_the_texts_of_the_game():
    texts = [QUEST.move_text(action, None, STANDARD, None) for action in range(218)]
    assert len(QUEST.action_table(STANDARD)) == len(set(texts)) == 218
    assert [texts.index(text) for text in ("take:exercise-sword", "exercise:sword-1", "artus:forest-1")] == [0, 11, 19]
    assert [texts.index(text) for text in ("court:book-1", "quest:forest-1", "horse-2:camelot")] == [33, 35, 49]
    assert [texts.index(text) for text in ("horse-4:tower", "done", "bid:nothing")] == [72, 73, 74]
    assert "bid:sword-1+sword-1+lance-2" in texts


def test_every_action_can_be_said_in_words():
    meanings = [QUEST.action_meaning(action, STANDARD) for action in range(218)]
    assert len(set(meanings)) == 218
    assert meanings[72] == "ride horse-4 to tower"


def test_a_move_that_is_no_move_is_refused():
    for move in ("bid:sword-2", "take:horse-9", "exercise:sword-1 ", "done"):
        with pytest.raises(IllegalMoveError):
            game_at(phase="choose").play(move)


def test_another_box_plays_another_game():
    box = Components().replace(goals=[3, 3, 3], court=3, prize=4, rounds=5, choices=[2, 2, 2])
    game = Game(num_players=2, seed=1, components=box, game="quest")
    assert game.definition.action_table(box) == QUEST.action_table(STANDARD)
    while not game.over:
        game.play(game.moves()[-1])
    assert game.to_dict()["round"] <= 5
    assert Components.from_dict(box.to_dict()) == box
    assert Components.from_dict(box.to_dict()).hash == box.hash != STANDARD.hash


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"copies": (3, 2)}, "copies must be a list of 8"),
        ({"copies": (3, 2, 0, 2, 2, 2, 2, 2)}, "there must be swords and lances of each value"),
        ({"copies": (5, 5, 5, 5, 2, 2, 2, 2)}, "at most 180 bids, got 1296"),
        ({"copies": (1, 1, 1, 1, 0, 0, 0, 0)}, "4 players start with 2 cards each"),
        ({"copies": (9, 2, 3, 2, 2, 2, 2, 2)}, "copies must be in 0..5"),
        ({"display": ((1,) * 11,) * 2}, "display must be a list of 3"),
        ({"display": ((1, 1, 1, 1, 1, 3, 1, 2, 1, 1, 1),) * 3}, "at most two can meet in a tournament"),
        ({"choices": (9, 3, 3)}, "choices must be in 1..6"),
        ({"choices": (6, 5, 3)}, "too few cards for 3 players who take 5 each"),
        # 9 cards for 9 choices: the last player could find a second tournament alone
        (
            {"display": ((1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1), (1, 1, 1, 1, 0, 2, 1, 2, 0, 0, 0), (2,) * 11)},
            "too few cards",
        ),
        ({"goals": (0, 20, 15)}, "goals must be in 1..99"),
        ({"quests": ()}, "quests must be a list of 14"),
        ({"quests": (1,) * 14}, "quests needs Quest objects"),
        ({"quests": (Quest((0, 0, 0, 0), 3),) * 14}, "each one must demand a card"),
        ({"quests": (Quest((3, 0, 0, 0), 3),) * 14}, "quests: needs must be in 0..2"),
        ({"quests": (Quest((2, 0, 0, 0), 0),) * 14}, "quests: points must be in 1..99"),
        ({"rounds": 0}, "rounds must be in 1..99"),
        ({"court": -1}, "court must be in 0..99"),
        ({"prize": 3}, "prize must be even"),
    ],
)
def test_a_box_that_does_not_fit_is_refused(change, words):
    with pytest.raises(ValueError, match=r"^[^\n]+$") as refused:
        STANDARD.replace(**change)
    assert words in str(refused.value).replace("a whole number ", "")
