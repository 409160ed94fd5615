"""What players that look ahead go by: sensible, of the player's own knowledge alone, and good enough to win."""

import random

import numpy as np
import pytest

from artus_env import Batch, Game
from artus_env.engine.agents.match import play_games
from artus_env.engine.agents.names import find_agent
from artus_env.engine.compiling.jit import DISABLED
from artus_env.engine.contract import verbs
from artus_env.engine.contract.rng import seed_stream
from artus_env.games.quest.evaluation import NEXT, OTHERS, PLANNED, POINTS, REPLIED, TURN, held_by
from artus_env.games.quest.plans import worth
from quest.positions import game, joust, points

GAMES = 60


def greedy_move(made):
    """What `greedy` plays."""
    legal = made.legal_actions()
    return made.move(max(legal, key=lambda action: verbs.greedy_value(made.tables[0], made.state, action)))


def judged(made, player, weight=1.0):
    return verbs.evaluate(made.tables[0], made.state, player, weight)


def best_judged(made):
    """The moves after which the position is judged best for the player to move, best first."""
    after = {}
    for move in made.moves():
        played = made.clone()
        played.play(move)
        after[move] = judged(played, made.player)
    return sorted(after, key=after.__getitem__, reverse=True)


def action_features(made):
    """What a policy is told of each legal move."""
    t, g = made.tables[0], made.state
    legal = np.zeros(verbs.mask_words(t), np.uint64)
    verbs.legal(t, g, legal)
    out = np.zeros((256, verbs.num_action_features(t)), np.int8)
    verbs.action_features(t, g, legal, np.zeros(2, made.states.dtype), out)
    return {made.move(action): out[action].tolist() for action in made.legal_actions()}


def test_a_player_rides_to_a_quest_that_is_paid_for_and_does_it():
    made = game(actions={0: ["horse-4", "quest"]}, quests={0: ["moor-2"]}, taken={0: ["sword-1", "book-2"]})
    for move in ("horse-4:moor", "quest:moor-2", "done"):
        assert greedy_move(made) == move
        made.play(move)
    assert made.scores == [5, 0, 0]


def test_a_player_gathers_first_what_the_quest_demands():
    made = game(actions={0: ["exercise-dragon", "horse-4", "quest"]}, quests={0: ["ruin-1"]}, taken={0: ["lance-1"]})
    for move in ("exercise:dragon-2", "horse-4:ruin", "quest:ruin-1"):
        assert greedy_move(made) == move
        made.play(move)


def test_a_player_goes_to_court_with_a_book_that_no_quest_needs():
    made = game(actions={0: ["court", "horse-2"]}, taken={0: ["book-1", "book-2"]})
    made.play(greedy_move(made))
    assert made.to_dict()["places"][0] != "camelot"
    assert greedy_move(made) == "court:book-1"


def test_a_player_takes_the_action_card_that_is_missing():
    parts = {"quests": {0: ["moor-2"]}, "taken": {0: ["sword-1", "book-2"]}, "phase": "choose"}
    assert greedy_move(game(actions={0: ["horse-4"]}, **parts)) == "take:quest"
    assert greedy_move(game(actions={0: ["quest"]}, **parts)).startswith("take:horse")


@pytest.mark.parametrize(("chosen", "missing"), [("horse-4", "quest"), ("quest", "horse-4")])
def test_the_last_choice_completes_the_plan_for_a_quest(chosen, missing):
    """Moor is four steps away."""
    parts = {"quests": {0: ["moor-2"]}, "taken": {0: ["sword-1", "book-2"]}, "phase": "choose"}
    assert best_judged(game(actions={0: ["exercise-book", chosen]}, **parts))[0] == f"take:{missing}"


def test_no_horse_is_chosen_for_nothing():
    made = game(phase="choose", taken={0: ["lance-2"]})
    moves = best_judged(made)
    assert moves[0] == "take:tournament"
    assert [move for move in moves[-3:] if move.startswith("take:horse")]
    worth = {}
    for move in ("take:horse-2", "take:horse-4", "take:exercise-book"):
        played = made.clone()
        played.play(move)
        worth[move] = judged(played, 0)
    assert worth["take:horse-2"] == worth["take:horse-4"] < worth["take:exercise-book"]


def test_a_player_plans_to_exercise_at_home_before_riding_out():
    """Away from home without a horse, no exercise helps; at home, the missing card is as good as there."""
    parts = {"quests": {0: ["ruin-1"]}, "taken": {0: ["lance-1"]}, "phase": "act"}
    cards = {0: ["exercise-dragon", "horse-4", "quest"]}
    at_home = judged(game(actions=cards, **parts), 0)
    without = judged(game(actions={0: ["exercise-sword", "horse-4", "quest"]}, **parts), 0)
    away = judged(game(actions=cards, places={0: "ford"}, **parts), 0)
    assert at_home > max(without, away) + 1.5


def test_a_lone_jouster_pays_with_the_cheapest_card():
    made = joust((0,), taken={0: ["sword-2", "lance-1", "lance-2"]})
    assert greedy_move(made) == "bid:lance-1"


def test_of_two_jousters_none_bids_more_than_the_other_can_beat():
    made = joust((0, 1), players=2, taken={0: ["sword-1", "sword-2", "lance-2"], 1: ["lance-1", "book-1"]})
    assert greedy_move(made) in ("bid:sword-2", "bid:lance-2")
    made = joust((0, 1), players=2, taken={0: ["sword-1", "sword-2", "lance-2"], 1: ["book-1"]})
    assert greedy_move(made) == "bid:sword-1"


def test_what_is_held_counts_at_its_weight_and_only_while_the_game_goes_on():
    made = game(quests={0: ["moor-2"]}, taken={0: ["sword-1", "book-2"]}, points=[4, 1, 3])
    assert judged(made, 0, 0.0) == pytest.approx(4 - 2)
    assert judged(made, 0) > judged(made, 0, 0.5) > 2
    assert judged(made, 1) < judged(game(points=[4, 1, 3]), 1)
    over = game(phase="over", points=[20, 1, 3], reached=[1, 0, 0], quests={0: ["moor-2"]})
    assert judged(over, 0) == judged(over, 0, 0.0) == 18


def test_a_bid_that_lies_counts_as_a_hope():
    """The bid's cards are as good as gone, and the prize isn't won yet."""
    before = joust(taken={0: ["sword-2"], 1: ["lance-1"]})
    low, high = before.clone(), before.clone()
    low.play("bid:nothing")
    high.play("bid:sword-2")
    assert judged(high, 0) > judged(low, 0)
    assert judged(high, 1) == judged(low, 1), "the other one can't know"


def test_evaluations_and_appeals_look_at_nothing_hidden():
    cards = {"taken": {0: ["sword-1"]}, "start_cards": {0: ["lance-1"], 2: ["lance-2", "book-1"], 3: ["sword-2"]}}
    for made in (joust((0, 1), 4, moves=("bid:nothing",), **cards), game(4, phase="choose", **cards)):
        viewer = made.player
        others = [made.redeal(viewer, seed) for seed in range(8)]
        assert len({other.record() for other in others}) > 1
        assert {judged(other, viewer) for other in others} == {judged(made, viewer)}
        for action in made.legal_actions():
            told = [verbs.greedy_value(other.tables[0], other.state, action) for other in [made, *others]]
            assert len(set(told)) == 1


def test_an_action_features_tells_points_and_plans_in_tenths():
    made = game(actions={0: ["quest"]}, places={0: "lake"}, quests={0: ["lake-1"]}, taken={0: ["dragon-2"]})
    told = action_features(made)
    assert told["quest:lake-1"][POINTS] == 30
    assert told["done"][POINTS] == 0
    assert told["quest:lake-1"][PLANNED] > 0 > told["done"][PLANNED]
    assert told["done"][TURN] < 0


def test_an_action_features_tells_what_the_others_miss():
    """Moor is four steps away, and there is one horse that goes so far."""
    parts = {"quests": {1: ["moor-2"]}, "taken": {1: ["sword-1", "book-2"]}, "phase": "choose"}
    chosen = {0: ["artus"], 1: ["quest"], 2: ["court"]}
    told = action_features(game(2, actions={player: chosen[player] for player in (0, 1)}, **parts))
    assert told["take:horse-4"][NEXT] < -10
    assert told["take:exercise-lance"][NEXT] > -5
    assert {numbers[OTHERS] for numbers in told.values()} == {0}, "there is nobody else"
    told = action_features(game(3, actions=chosen, tents=[0, 2, 1], **parts))
    assert told["take:horse-4"][OTHERS] < -10 < told["take:horse-4"][NEXT]


@pytest.mark.parametrize("number", range(3))
def test_an_action_features_tells_what_is_left_after_the_next_player_has_chosen(number):
    """The next one takes what they would like best, or what they would like second, if it is gone."""
    wanted = [{1: ["moor-2"]}, {0: ["ruin-1"], 1: ["forest-1"]}, {}][number]
    cards = [{1: ["sword-1", "book-2"]}, {0: ["lance-1"], 1: ["sword-2"]}, {1: ["sword-1", "lance-2"]}][number]
    made = game(2, actions={0: ["quest"], 1: ["quest"]}, quests=wanted, taken=cards, phase="choose")
    t, told = made.tables[0], action_features(made)
    before = worth(t, made.state, held_by(t, made.state, 0, 0))
    passing = made.clone()
    passing.state["player"] = 1
    likes = sorted(action_features(passing).items(), key=lambda choice: -choice[1][PLANNED])
    gaps = {round(likes[k][1][PLANNED] - likes[k + 1][1][PLANNED]) for k in range(2)}
    assert 0 not in gaps, "or the reply is one of several"
    for move, numbers in told.items():
        played = made.clone()
        played.play(move)
        played.play(next(reply for reply, _ in likes if reply in played.moves()))
        after = worth(t, played.state, held_by(t, played.state, 0, 0))
        assert numbers[REPLIED] == pytest.approx(10 * (after - before), abs=0.51)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_an_action_features_is_what_a_player_hopes_for_when_the_action_is_played(players):
    choices = random.Random(players)
    made = Game(game="quest", num_players=players, seed=1)
    while not made.over:
        t, g, player = made.tables[0], made.state, made.player
        chooses = made.to_dict()["phase"] == "choose"
        for move, numbers in action_features(made).items():
            assert chooses or numbers[REPLIED] == numbers[PLANNED]
            if move == "done" or move.startswith("bid"):
                assert numbers[NEXT] == numbers[OTHERS] == 0
                continue
            played = made.clone()
            played.play(move)
            later = played.state
            hopes = np.array([[worth(t, at, held_by(t, at, other, player)) for other in range(players)]
                              for at in (g, later)])  # fmt: skip
            tents = g["tents"].tolist()
            following = tents[(tents.index(player) + 1) % players]
            own, others = (hopes[1] - hopes[0])[player], np.delete(hopes[1] - hopes[0], [player, following]).sum()
            assert numbers[PLANNED] == pytest.approx(10 * (points(made, move) + own), abs=0.51)
            assert numbers[NEXT] == pytest.approx(10 * (hopes[1] - hopes[0])[following], abs=0.51)
            assert numbers[OTHERS] == pytest.approx(10 * others, abs=0.51)
        made.play(choices.choice(made.moves()))


def test_an_action_features_tells_nothing_that_is_hidden():
    cards = {"taken": {0: ["sword-2"]}, "start_cards": {0: ["lance-1"], 1: ["lance-2", "book-1"], 2: ["sword-2"]}}
    for made in (joust((0, 1), 3, moves=("bid:nothing",), **cards), game(phase="choose", **cards)):
        others = [made.redeal(made.player, seed) for seed in range(8)]
        assert len({other.record() for other in others}) > 1
        assert all(action_features(other) == action_features(made) for other in others)


def test_the_result_becomes_clearer_towards_the_goal():
    doubts = [verbs.score_stddev(made.tables[0], made.state) for made in (game(points=[p, 0, 0]) for p in (0, 9, 19))]
    assert doubts == sorted(doubts, reverse=True)
    assert doubts[-1] > 0


def test_points_of_a_quest_are_told_before():
    made = game(actions={0: ["quest"]}, places={0: "lake"}, quests={0: ["lake-1"]}, taken={0: ["dragon-2"]})
    assert points(made, "quest:lake-1") == 3
    assert greedy_move(made) == "quest:lake-1"


def wins(names, players):
    """Part of the games that the first agent wins against copies of the second, in seats that change."""
    batch = Batch(GAMES, game="quest", num_players=players, seed=1, threads=1, autoreset=False)
    agent_of_seat = (np.arange(players)[None, :] + np.arange(GAMES)[:, None]) % players
    first, second = map(find_agent, names)
    played = play_games(batch, [first, *[second] * (players - 1)], agent_of_seat, seed_stream(1, GAMES))
    return played.wins()[agent_of_seat == 0].mean()


@pytest.mark.skipif(DISABLED, reason="hundreds of games take too long in plain Python")
@pytest.mark.parametrize("players", [2, 3, 4])
def test_each_player_beats_the_simpler_one(players):
    assert wins(("greedy", "random"), players) > 0.95
    assert wins(("lookahead", "greedy"), players) > (0.8, 0.65, 0.5)[players - 2]
