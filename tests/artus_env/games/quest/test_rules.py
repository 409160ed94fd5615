"""The rules of the King's quests, one by one, each at a position that is written out."""

import pytest

from artus_env import Game, IllegalMoveError
from artus_env.engine.contract import verbs
from artus_env.games.quest import fast, rules
from artus_env.games.quest.components import PLACES, STANDARD, Components, Quest
from artus_env.games.quest.definition import QUEST
from quest.positions import ACTIONS, BOX, CHOICES, DISPLAY, QUESTS, RING, flat, game, joust, points, position

ALL_PLAYERS = pytest.mark.parametrize("players", [2, 3, 4])


def new_game(players=3, seed=1, start=None):
    return Game(num_players=players, seed=seed, start_player=start, game="quest")


def moves_of(game, kind):
    """What can be done of one kind, without its name: `lake` of `horse-3:lake`."""
    return [move.partition(":")[2] for move in game.moves() if move.partition(":")[0] == kind]


def end_of_turn(game):
    """The position when the player to move has used nothing more."""
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
    made = Game.from_dict(dealt, game="quest")
    turns = []
    while made.to_dict()["phase"] == "choose":
        turns.append(made.player)
        made.play(made.moves()[-1])
    assert turns == list(range(players))[::-1] * CHOICES[players]
    assert made.player == players - 1
    assert [len(cards) for cards in made.to_dict()["actions"]] == [CHOICES[players]] * players


def test_every_card_on_display_can_be_taken():
    assert moves_of(game(phase="choose"), "take") == ACTIONS


def test_nobody_takes_a_second_tournament_but_two_of_everything_else():
    made = game(2, phase="choose", actions={0: ["tournament", "quest"]})
    assert "tournament" not in moves_of(made, "take")
    assert "quest" in moves_of(made, "take")
    made.play("take:quest")
    assert "tournament" in moves_of(made, "take"), "the other player has none"


def test_what_is_taken_is_gone():
    made = game(phase="choose", moves=("take:artus",))
    assert "artus" not in moves_of(made, "take")
    assert made.to_dict()["actions"][0] == ["artus"]


# --- 3 acting --------------------------------------------------------------------------------------------------------


def test_action_cards_are_used_in_any_order_and_go_back():
    made = game(actions={0: ["exercise-sword", "horse-2", "horse-3"]})
    before = made.to_dict()["display"]
    made.play("horse-3:forest")
    made.play("horse-2:camelot")
    made.play("exercise:sword-2")
    assert made.to_dict()["actions"][0] == []
    assert made.to_dict()["taken"][0] == ["sword-2"]
    assert sorted(made.to_dict()["display"]) == sorted([*before, "exercise-sword", "horse-2", "horse-3"])
    assert made.moves() == ["done"]
    assert made.player == 0, "the turn ends with done alone"


def test_what_is_not_used_goes_back_without_effect():
    made = game(actions={0: ["exercise-sword", "artus", "horse-4"]})
    after = end_of_turn(made)
    assert after["actions"][0] == []
    assert {"exercise-sword", "artus", "horse-4"} <= set(after["display"])
    assert after["turn"] == 1


def test_turns_follow_the_tents():
    made = game(turn=2, tents=[2, 0, 1])
    assert end_of_turn(made)["turn"] == 0
    assert end_of_turn(made)["turn"] == 1


def test_exercising_takes_any_card_of_its_virtue_in_camelot():
    made = game(actions={0: ["exercise-lance"]})
    assert moves_of(made, "exercise") == ["lance-1", "lance-2"]
    made.play("exercise:lance-2")
    assert made.to_dict()["piles"]["lance"] == [1, 1, 1, 2]


def test_an_empty_pile_has_nothing_to_take():
    made = game(actions={0: ["exercise-book"]}, taken={1: ["book-1", "book-1"], 2: ["book-2", "book-2"]})
    assert made.moves() == ["done"]
    made = game(actions={0: ["exercise-book"]}, taken={1: ["book-1", "book-1"], 2: ["book-2"]})
    assert moves_of(made, "exercise") == ["book-2"]


def test_outside_camelot_nobody_exercises_or_asks_for_quests():
    made = game(actions={0: ["exercise-sword", "artus"]}, places={0: "lake"})
    assert made.moves() == ["done"]


def test_artus_gives_any_open_quest_and_the_display_is_not_filled_up():
    made = game(actions={0: ["artus"]}, open_quests=["forest-1", "lake-2", "ford-1"])
    assert moves_of(made, "artus") == ["forest-1", "lake-2", "ford-1"]
    made.play("artus:lake-2")
    after = made.to_dict()
    assert after["open_quests"] == ["forest-1", "ford-1"]
    assert after["quests"][0] == ["lake-2"]
    assert len(after["quest_pile"]) == 11


def test_without_open_quests_artus_gives_none():
    assert game(actions={0: ["artus"]}, open_quests=[]).moves() == ["done"]


@pytest.mark.parametrize("book", ["book-1", "book-2"])
def test_court_takes_any_book_outside_camelot_for_two_points(book):
    made = game(actions={0: ["court"]}, places={0: "moor"}, taken={0: ["book-1", "book-2"]})
    assert moves_of(made, "court") == ["book-1", "book-2"]
    assert points(made, f"court:{book}") == 2
    made.play(f"court:{book}")
    after = made.to_dict()
    assert after["points"] == [2, 0, 0]
    assert after["taken"][0] == [{"book-1": "book-2", "book-2": "book-1"}[book]]
    assert after["piles"]["book"] == sorted([1, 2, int(book[-1])])
    assert "court" in after["display"]


def test_no_court_in_camelot_or_without_a_book():
    assert game(actions={0: ["court"]}, taken={0: ["book-1"]}).moves() == ["done"]
    assert game(actions={0: ["court"]}, places={0: "moor"}, taken={0: ["sword-1"]}).moves() == ["done"]


def quest_at(quest, place, taken, start=(), **parts):
    """Player 0 holds a quest and may do one."""
    return game(
        actions={0: ["quest"]},
        places={0: place},
        quests={0: [quest]},
        taken={0: taken},
        start_cards={0: start},
        **parts,
    )


@pytest.mark.parametrize("quest", QUESTS)
def test_every_quest_brings_its_shields_for_its_cards(quest):
    """The list of the box, in the words of `siblings.md`."""
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
    made = quest_at(quest, place, demands)
    assert points(made, f"quest:{quest}") == shields
    made.play(f"quest:{quest}")
    after = made.to_dict()
    assert after["points"][0] == shields
    assert after["taken"][0] == after["quests"][0] == []
    assert quest not in [*after["open_quests"], *after["quest_pile"]], "it is out of the game"
    assert after["piles"] == position()["piles"]
    assert after["excluded"][0] == []
    for nth in range(len(demands)):
        assert quest_at(quest, place, demands[:nth] + demands[nth + 1 :]).moves() == ["done"]
    for nth, demand in enumerate(demands):
        if demand.endswith("2"):
            lower = [*demands[:nth], demand.replace("2", "1"), *demands[nth + 1 :]]
            assert quest_at(quest, place, lower).moves() == ["done"]


def test_a_quest_is_done_at_its_place_and_from_the_hand():
    assert quest_at("lake-1", "moor", ["dragon-2"]).moves() == ["done"]
    assert quest_at("lake-1", "camelot", ["dragon-2"]).moves() == ["done"]
    other = game(actions={0: ["quest"]}, places={0: "lake"}, quests={1: ["lake-1"]}, taken={0: ["dragon-2"]})
    assert other.moves() == ["done"]
    lying = game(actions={0: ["quest"]}, places={0: "lake"}, open_quests=["lake-1"], taken={0: ["dragon-2"]})
    assert lying.moves() == ["done"]


def test_two_low_cards_do_not_make_a_high_one():
    assert quest_at("lake-1", "lake", ["dragon-1", "dragon-1"]).moves() == ["done"]


def test_the_lowest_card_that_will_do_is_paid():
    made = quest_at("lake-2", "lake", ["lance-1", "dragon-2"], ["lance-2", "dragon-1"])
    made.play("quest:lake-2")
    after = made.to_dict()
    assert (after["start_cards"][0], after["taken"][0]) == (["lance-2"], ["dragon-2"])
    assert after["excluded"][0] == []


def test_a_higher_card_pays_and_shows_that_there_is_no_lower_one():
    made = quest_at("lake-2", "lake", ["lance-2", "dragon-2"], ["book-1"])
    made.play("quest:lake-2")
    after = made.to_dict()
    assert after["points"][0] == 4
    assert after["excluded"] == [["lance-1", "dragon-1"], [], []]


def test_exclusions_are_noted_even_if_no_starting_card_is_left_and_never_end():
    made = quest_at("lake-2", "lake", ["lance-2", "dragon-1"])
    made.play("quest:lake-2")
    assert end_of_turn(made)["excluded"][0] == ["lance-1"]
    for _ in range(2):
        made.play("done")
    assert made.to_dict()["round"] == 2
    assert made.to_dict()["excluded"][0] == ["lance-1"]


def test_each_quest_card_does_one_quest():
    both = {
        "quests": {0: ["lake-1", "lake-2"]},
        "taken": {0: ["dragon-1", "dragon-2", "lance-1"]},
        "places": {0: "lake"},
    }
    made = game(actions={0: ["quest", "quest"]}, **both)
    made.play("quest:lake-1")
    made.play("quest:lake-2")
    assert made.scores[0] == 7
    made = game(actions={0: ["quest"]}, **both)
    made.play("quest:lake-1")
    assert made.moves() == ["done"]


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
    made = game(actions={0: [horse]}, places={0: place, 1: "ford"})
    assert set(moves_of(made, horse)) == reached
    made.play(f"{horse}:ford" if "ford" in reached else f"{horse}:forest")
    assert made.to_dict()["places"][0] in reached


def test_the_ring_is_that_of_the_deal():
    ring = ["camelot", "tower", "moor", "lake", "ruin", "valley", "ford", "forest"]
    made = game(actions={0: ["horse-2"]}, ring=ring)
    assert set(moves_of(made, "horse-2")) == {"tower", "moor", "forest", "ford"}


# --- what is laid back -----------------------------------------------------------------------------------------------


def test_a_card_that_was_taken_openly_is_laid_back_first():
    made = game(
        actions={0: ["court", "court"]},
        players=4,
        places={0: "moor"},
        taken={0: ["book-1"]},
        start_cards={0: ["book-1"]},
    )
    made.play("court:book-1")
    assert (made.to_dict()["start_cards"][0], made.to_dict()["taken"][0]) == (["book-1"], [])
    made.play("court:book-1")
    assert (made.to_dict()["start_cards"][0], made.to_dict()["taken"][0]) == ([], [])


# --- 4 the tournament ------------------------------------------------------------------------------------------------


def acted(places, actions, **parts):
    """The position when the last player, who has nothing left, is done."""
    made = game(turn=2, places=places, actions=actions, **parts)
    return end_of_turn(made)


def test_cards_of_the_tournament_stay_until_it_is_over():
    made = game(actions={0: ["tournament", "horse-2"]}, places={0: "lake"})
    after = end_of_turn(made)
    assert after["actions"][0] == ["tournament"], "also those of knights outside Camelot"
    made.play("done")
    made.play("done")
    assert made.to_dict()["actions"][0] == []
    assert made.to_dict()["display"].count("tournament") == 2


def test_only_knights_in_camelot_joust():
    after = acted({0: "lake"}, {0: ["tournament"], 1: ["tournament"]})
    assert (after["phase"], after["bidding"], after["turn"]) == ("bid", [1], 1)
    after = acted({0: "lake", 1: "moor"}, {0: ["tournament"], 1: ["tournament"]})
    assert (after["phase"], after["round"]) == ("choose", 2)
    after = acted({}, {0: ["tournament"], 1: ["tournament"]})
    assert (after["phase"], after["bidding"], after["turn"]) == ("bid", [0, 1], 0)
    assert acted({}, {})["phase"] == "choose"


def test_alone_a_player_bids_exactly_one_card_for_two_points():
    made = joust((1,), taken={1: ["sword-1", "sword-2"]}, start_cards={1: ["lance-1", "book-1"]})
    assert set(moves_of(made, "bid")) == {"sword-1", "sword-2", "lance-1"}
    assert points(made, "bid:lance-1") == 2
    made.play("bid:lance-1")
    after = made.to_dict()
    assert after["points"] == [0, 2, 0]
    assert (after["start_cards"][1], after["taken"][1]) == (["book-1"], ["sword-1", "sword-2"])
    assert after["phase"] == "choose"
    assert after["excluded"][1] == []


def test_alone_without_sword_and_lance_a_player_gets_nothing_and_that_is_known():
    made = joust((1,), taken={1: ["dragon-1"]}, start_cards={1: ["book-1"]})
    assert made.moves() == ["bid:nothing"]
    assert points(made, "bid:nothing") == 0
    made.play("bid:nothing")
    assert made.scores == [0, 0, 0]
    assert made.to_dict()["excluded"][1] == ["sword-1", "sword-2", "lance-1", "lance-2"]


def test_two_bid_any_set_of_swords_and_lances():
    made = joust(taken={0: ["sword-1", "dragon-1"]}, start_cards={0: ["sword-1", "lance-2"]})
    bids = ["nothing", "lance-2", "sword-1", "sword-1+lance-2", "sword-1+sword-1", "sword-1+sword-1+lance-2"]
    assert set(moves_of(made, "bid")) == set(bids)
    assert [points(made, f"bid:{bid}") for bid in bids] == [0] * 6


def test_the_earlier_tent_bids_first():
    made = joust((0, 1), tents=[1, 2, 0], turn=1, taken={0: ["sword-1"], 1: ["sword-2"]})
    made.play("bid:sword-2")
    assert made.player == 0


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
    made = joust(taken={0: ["sword-2", "lance-1"], 1: ["sword-1", "lance-1", "book-1"]})
    cards = BOX.total() - 5
    for bid in bids:
        assert made.to_dict()["bids"][made.player] == []
        made.play(f"bid:{bid}")
    after = made.to_dict()
    assert after["points"] == won
    assert after["bids"] == [[], [], []]
    assert after["excluded"] == [[], [], []], "whoever may bid nothing shows nothing"
    bid_cards = flat(bid.split("+") for bid in bids if bid != "nothing")
    assert sum(map(len, after["piles"].values())) == cards + len(bid_cards)
    assert after["display"] == DISPLAY[3]


def test_cards_that_are_bid_stay_in_the_hand_until_bids_are_open():
    made = joust(taken={0: ["sword-2"]}, moves=("bid:sword-2",))
    after = made.to_dict()
    assert after["taken"][0] == ["sword-2"]
    assert after["bids"][0] == ["sword-2"]
    assert after["piles"]["sword"] == [1, 1, 1, 2]
    assert after["bidding"] == [1]


def test_what_a_move_brings_its_player_is_told_when_bids_are_open():
    made = joust(taken={0: ["sword-2"], 1: ["lance-2", "lance-1"]})
    assert made.play("bid:sword-2") == 0
    assert made.play("bid:lance-1+lance-2") == 2


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
    """The number of the lot counts: the same `chance` gives another order later."""
    orders = {tuple(acted({}, {}, round=30 - 1, lots=lots)["tents"]) for lots in range(20)}
    assert len(orders) > 2


# --- 6 the end of the game -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("players", "goal"), [(2, 25), (3, 20), (4, 15)])
def test_the_round_in_which_somebody_reaches_the_goal_is_played_to_its_end(players, goal):
    before = [goal - 2] + [0] * (players - 1)
    made = game(players, actions={0: ["court"]}, places={0: "moor"}, taken={0: ["book-1"]}, points=before)
    made.play("court:book-1")
    assert not made.over
    assert made.to_dict()["reached"] == [1] + [0] * (players - 1)
    for _ in range(players):
        assert not made.over
        made.play("done")
    assert made.over
    assert made.winners == [0]
    assert made.moves() == []


def test_one_point_less_does_not_end_the_game():
    made = game(actions={0: ["court"]}, places={0: "moor"}, taken={0: ["book-1"]}, points=[17, 0, 0])
    made.play("court:book-1")
    for _ in range(3):
        made.play("done")
    assert not made.over
    assert made.to_dict()["reached"] == [0, 0, 0]


def test_most_points_win_even_if_somebody_else_reached_the_goal_first():
    made = joust((1,), taken={1: ["sword-1"]}, points=[20, 19, 3], reached=[1, 0, 0], moves=("bid:sword-1",))
    assert made.over
    assert made.scores == [20, 21, 3]
    assert made.winners == [1]
    assert made.to_dict()["reached"] == [1, 2, 0]


def test_of_equal_points_the_first_at_the_goal_wins_alone():
    made = joust((1,), taken={1: ["sword-1"]}, points=[20, 18, 3], reached=[1, 0, 0], moves=("bid:sword-1",))
    assert made.scores == [20, 20, 3]
    assert made.winners == [0]


def test_two_who_reach_the_goal_in_one_tournament_share():
    made = joust(taken={0: ["sword-1"], 1: ["lance-1"]}, points=[19, 19, 3], moves=("bid:sword-1", "bid:lance-1"))
    assert made.over
    assert made.to_dict()["reached"] == [1, 1, 0]
    assert made.winners == [0, 1]


def test_when_the_game_ends_quests_tents_round_and_lots_stay():
    before = position(
        turn=2, points=[20, 3, 3], reached=[1, 0, 0], round=7, lots=2, open_quests=["lake-1"], tents=[1, 0, 2],
        start_player=0, actions={0: ["tournament"], 2: ["horse-2"]}, places={0: "lake"},
    )  # fmt: skip
    made = Game.from_dict(before, game="quest")
    after = end_of_turn(made)
    assert (after["phase"], after["turn"]) == ("over", 0)
    for name in ("tents", "round", "lots", "open_quests", "quest_pile", "places"):
        assert after[name] == before[name]
    assert after["actions"] == [[], [], []]
    assert after["display"] == DISPLAY[3]


def test_the_thirtieth_round_is_the_last():
    made = game(turn=2, round=30, points=[4, 9, 9])
    after = end_of_turn(made)
    assert (after["phase"], after["round"]) == ("over", 30)
    assert made.winners == [1, 2], "equal points share"
    assert end_of_turn(game(turn=2, round=29))["phase"] == "choose"


def test_the_goal_counts_in_the_last_round_too():
    parts = {"turn": 2, "round": 30, "reached": [2, 1, 0]}
    made = game(points=[21, 21, 0], **parts)
    made.play("done")
    assert made.winners == [1]


def test_a_margin_is_measured_by_the_goal():
    for players, goal in ((2, 25), (3, 20), (4, 15)):
        made = game(players)
        assert verbs.margin_scale(made.tables[0], made.state) == goal


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
            game(phase="choose").play(move)


def test_another_box_plays_another_game():
    box = Components().replace(goals=[3, 3, 3], court=3, prize=4, rounds=5, choices=[2, 2, 2])
    made = Game(num_players=2, seed=1, components=box, game="quest")
    assert made.definition.action_table(box) == QUEST.action_table(STANDARD)
    while not made.over:
        made.play(made.moves()[-1])
    assert made.to_dict()["round"] <= 5
    assert Components.from_dict(box.to_dict()) == box
    assert Components.from_dict(box.to_dict()).hash == box.hash != STANDARD.hash


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"copies": (3, 2)}, "copies must be a list of 8"),
        ({"copies": (3, 2, 0, 2, 2, 2, 2, 2)}, "swords and lances must be there"),
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
        ({"quests": (Quest((0, 0, 0, 0), 3),) * 14}, "each demands something"),
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
