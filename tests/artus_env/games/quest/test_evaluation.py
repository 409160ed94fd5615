"""Evaluation functions: they prefer sensible moves, use only what the player knows, and win against simpler agents."""

import random

import numpy as np
import pytest

from artus_env import Batch, Game
from artus_env.engine.agents.match import play_games
from artus_env.engine.agents.names import find_agent
from artus_env.engine.compiling.jit import DISABLED
from artus_env.engine.contract import verbs
from artus_env.engine.contract.rng import seed_stream
from artus_env.games.quest.evaluation import NEXT, OTHERS, PLANNED, POINTS, REPLIED, TURN, known_holdings
from artus_env.games.quest.plans import estimated_points
from quest.positions import game_at, joust, points

GAMES = 60


def greedy_move(game):
    """The move that the agent `greedy` plays."""
    legal = game.legal_actions()
    return game.move(max(legal, key=lambda action: verbs.greedy_value(game.tables[0], game.state, action)))


def value_of(game, player, weight=1.0):
    return verbs.evaluate(game.tables[0], game.state, player, weight)


def best_moves(game):
    """The legal moves, sorted by the value of the position after them for the player to move, the best first."""
    after = {}
    for move in game.moves():
        played = game.clone()
        played.play(move)
        after[move] = value_of(played, game.player)
    return sorted(after, key=after.__getitem__, reverse=True)


def action_features(game):
    """Action features of each legal move."""
    t, g = game.tables[0], game.state
    legal = np.zeros(verbs.mask_words(t), np.uint64)
    verbs.legal(t, g, legal)
    out = np.zeros((256, verbs.num_action_features(t)), np.int8)
    verbs.action_features(t, g, legal, np.zeros(2, game.states.dtype), out)
    return {game.move(action): out[action].tolist() for action in game.legal_actions()}


def test_a_player_rides_to_a_quest_that_is_paid_for_and_does_it():
    game = game_at(actions={0: ["horse-4", "quest"]}, quests={0: ["moor-2"]}, taken={0: ["sword-1", "book-2"]})
    for move in ("horse-4:moor", "quest:moor-2", "done"):
        assert greedy_move(game) == move
        game.play(move)
    assert game.scores == [5, 0, 0]


def test_a_player_gathers_first_what_the_quest_demands():
    game = game_at(actions={0: ["exercise-dragon", "horse-4", "quest"]}, quests={0: ["ruin-1"]}, taken={0: ["lance-1"]})
    for move in ("exercise:dragon-2", "horse-4:ruin", "quest:ruin-1"):
        assert greedy_move(game) == move
        game.play(move)


def test_a_player_goes_to_court_with_a_book_that_no_quest_needs():
    game = game_at(actions={0: ["court", "horse-2"]}, taken={0: ["book-1", "book-2"]})
    game.play(greedy_move(game))
    assert game.to_dict()["places"][0] != "camelot"
    assert greedy_move(game) == "court:book-1"


def test_a_player_takes_the_action_card_that_is_missing():
    parts = {"quests": {0: ["moor-2"]}, "taken": {0: ["sword-1", "book-2"]}, "phase": "choose"}
    assert greedy_move(game_at(actions={0: ["horse-4"]}, **parts)) == "take:quest"
    assert greedy_move(game_at(actions={0: ["quest"]}, **parts)).startswith("take:horse")


@pytest.mark.parametrize(("chosen", "missing"), [("horse-4", "quest"), ("quest", "horse-4")])
def test_the_last_choice_completes_the_plan_for_a_quest(chosen, missing):
    """Moor is four steps away."""
    parts = {"quests": {0: ["moor-2"]}, "taken": {0: ["sword-1", "book-2"]}, "phase": "choose"}
    assert best_moves(game_at(actions={0: ["exercise-book", chosen]}, **parts))[0] == f"take:{missing}"


def test_no_horse_is_chosen_for_nothing():
    game = game_at(phase="choose", taken={0: ["lance-2"]})
    moves = best_moves(game)
    assert moves[0] == "take:tournament"
    assert [move for move in moves[-3:] if move.startswith("take:horse")]
    values = {}
    for move in ("take:horse-2", "take:horse-4", "take:exercise-book"):
        played = game.clone()
        played.play(move)
        values[move] = value_of(played, 0)
    assert values["take:horse-2"] == values["take:horse-4"] < values["take:exercise-book"]


def test_a_player_plans_to_exercise_at_home_before_riding_out():
    """In Camelot, the missing card counts almost as if it were in hand; outside Camelot, an exercise card is of no
    use."""
    parts = {"quests": {0: ["ruin-1"]}, "taken": {0: ["lance-1"]}, "phase": "act"}
    cards = {0: ["exercise-dragon", "horse-4", "quest"]}
    at_home = value_of(game_at(actions=cards, **parts), 0)
    without_exercise = value_of(game_at(actions={0: ["exercise-sword", "horse-4", "quest"]}, **parts), 0)
    away_from_home = value_of(game_at(actions=cards, places={0: "ford"}, **parts), 0)
    assert at_home > max(without_exercise, away_from_home) + 1.5


def test_a_lone_jouster_pays_with_the_cheapest_card():
    game = joust((0,), taken={0: ["sword-2", "lance-1", "lance-2"]})
    assert greedy_move(game) == "bid:lance-1"


def test_of_two_jousters_none_bids_more_than_the_other_can_beat():
    game = joust((0, 1), players=2, taken={0: ["sword-1", "sword-2", "lance-2"], 1: ["lance-1", "book-1"]})
    assert greedy_move(game) in ("bid:sword-2", "bid:lance-2")
    game = joust((0, 1), players=2, taken={0: ["sword-1", "sword-2", "lance-2"], 1: ["book-1"]})
    assert greedy_move(game) == "bid:sword-1"


def test_what_is_held_counts_at_its_weight_and_only_while_the_game_goes_on():
    game = game_at(quests={0: ["moor-2"]}, taken={0: ["sword-1", "book-2"]}, points=[4, 1, 3])
    assert value_of(game, 0, 0.0) == pytest.approx(4 - 2)
    assert value_of(game, 0) > value_of(game, 0, 0.5) > 2
    assert value_of(game, 1) < value_of(game_at(points=[4, 1, 3]), 1)
    over = game_at(phase="over", points=[20, 1, 3], reached=[1, 0, 0], quests={0: ["moor-2"]})
    assert value_of(over, 0) == value_of(over, 0, 0.0) == 18


def test_a_bid_that_lies_counts_as_a_hope():
    """The bid's cards no longer count, and the prize counts only with its expected value."""
    before = joust(taken={0: ["sword-2"], 1: ["lance-1"]})
    low, high = before.clone(), before.clone()
    low.play("bid:nothing")
    high.play("bid:sword-2")
    assert value_of(high, 0) > value_of(low, 0)
    assert value_of(high, 1) == value_of(low, 1), "the other one can't know"


def test_evaluations_and_appeals_look_at_nothing_hidden():
    cards = {"taken": {0: ["sword-1"]}, "start_cards": {0: ["lance-1"], 2: ["lance-2", "book-1"], 3: ["sword-2"]}}
    for game in (joust((0, 1), 4, moves=("bid:nothing",), **cards), game_at(4, phase="choose", **cards)):
        viewer = game.player
        others = [game.redeal(viewer, seed) for seed in range(8)]
        assert len({other.record() for other in others}) > 1
        assert {value_of(other, viewer) for other in others} == {value_of(game, viewer)}
        for action in game.legal_actions():
            values = [verbs.greedy_value(other.tables[0], other.state, action) for other in [game, *others]]
            assert len(set(values)) == 1


def test_an_action_features_tells_points_and_plans_in_tenths():
    game = game_at(actions={0: ["quest"]}, places={0: "lake"}, quests={0: ["lake-1"]}, taken={0: ["dragon-2"]})
    features = action_features(game)
    assert features["quest:lake-1"][POINTS] == 30
    assert features["done"][POINTS] == 0
    assert features["quest:lake-1"][PLANNED] > 0 > features["done"][PLANNED]
    assert features["done"][TURN] < 0


def test_an_action_features_tells_what_the_others_miss():
    """Moor is four steps away, and there is one horse that goes so far."""
    parts = {"quests": {1: ["moor-2"]}, "taken": {1: ["sword-1", "book-2"]}, "phase": "choose"}
    chosen = {0: ["artus"], 1: ["quest"], 2: ["court"]}
    features = action_features(game_at(2, actions={player: chosen[player] for player in (0, 1)}, **parts))
    assert features["take:horse-4"][NEXT] < -10
    assert features["take:exercise-lance"][NEXT] > -5
    assert {numbers[OTHERS] for numbers in features.values()} == {0}, "there is nobody else"
    features = action_features(game_at(3, actions=chosen, tents=[0, 2, 1], **parts))
    assert features["take:horse-4"][OTHERS] < -10 < features["take:horse-4"][NEXT]


@pytest.mark.parametrize("number", range(3))
def test_an_action_features_tells_what_is_left_after_the_next_player_has_chosen(number):
    """The next player takes the card that is best for them, or the second-best if that is gone."""
    quests = [{1: ["moor-2"]}, {0: ["ruin-1"], 1: ["forest-1"]}, {}][number]
    cards = [{1: ["sword-1", "book-2"]}, {0: ["lance-1"], 1: ["sword-2"]}, {1: ["sword-1", "lance-2"]}][number]
    game = game_at(2, actions={0: ["quest"], 1: ["quest"]}, quests=quests, taken=cards, phase="choose")
    t, features = game.tables[0], action_features(game)
    before = estimated_points(t, game.state, known_holdings(t, game.state, 0, 0))
    game_of_next = game.clone()
    game_of_next.state["player"] = 1
    favourites = sorted(action_features(game_of_next).items(), key=lambda choice: -choice[1][PLANNED])
    gaps = {round(favourites[k][1][PLANNED] - favourites[k + 1][1][PLANNED]) for k in range(2)}
    assert 0 not in gaps, "or the reply is one of several"
    for move, numbers in features.items():
        played = game.clone()
        played.play(move)
        played.play(next(reply for reply, _ in favourites if reply in played.moves()))
        after = estimated_points(t, played.state, known_holdings(t, played.state, 0, 0))
        assert numbers[REPLIED] == pytest.approx(10 * (after - before), abs=0.51)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_an_action_features_is_what_a_player_hopes_for_when_the_action_is_played(players):
    choices = random.Random(players)
    game = Game(game="quest", num_players=players, seed=1)
    while not game.over:
        t, g, player = game.tables[0], game.state, game.player
        chooses = game.to_dict()["phase"] == "choose"
        for move, numbers in action_features(game).items():
            assert chooses or numbers[REPLIED] == numbers[PLANNED]
            if move == "done" or move.startswith("bid"):
                assert numbers[NEXT] == numbers[OTHERS] == 0
                continue
            played = game.clone()
            played.play(move)
            later = played.state
            hopes = np.array(
                [
                    [estimated_points(t, state, known_holdings(t, state, other, player)) for other in range(players)]
                    for state in (g, later)
                ]
            )
            tents = g["tents"].tolist()
            following = tents[(tents.index(player) + 1) % players]
            own_change, others_change = (
                (hopes[1] - hopes[0])[player],
                np.delete(hopes[1] - hopes[0], [player, following]).sum(),
            )
            assert numbers[PLANNED] == pytest.approx(10 * (points(game, move) + own_change), abs=0.51)
            assert numbers[NEXT] == pytest.approx(10 * (hopes[1] - hopes[0])[following], abs=0.51)
            assert numbers[OTHERS] == pytest.approx(10 * others_change, abs=0.51)
        game.play(choices.choice(game.moves()))


def test_an_action_features_tells_nothing_that_is_hidden():
    cards = {"taken": {0: ["sword-2"]}, "start_cards": {0: ["lance-1"], 1: ["lance-2", "book-1"], 2: ["sword-2"]}}
    for game in (joust((0, 1), 3, moves=("bid:nothing",), **cards), game_at(phase="choose", **cards)):
        others = [game.redeal(game.player, seed) for seed in range(8)]
        assert len({other.record() for other in others}) > 1
        assert all(action_features(other) == action_features(game) for other in others)


def test_the_result_becomes_clearer_towards_the_goal():
    deviations = [
        verbs.score_stddev(game.tables[0], game.state) for game in (game_at(points=[p, 0, 0]) for p in (0, 9, 19))
    ]
    assert deviations == sorted(deviations, reverse=True)
    assert deviations[-1] > 0


def test_points_of_a_quest_are_told_before():
    game = game_at(actions={0: ["quest"]}, places={0: "lake"}, quests={0: ["lake-1"]}, taken={0: ["dragon-2"]})
    assert points(game, "quest:lake-1") == 3
    assert greedy_move(game) == "quest:lake-1"


def wins(names, players):
    """Fraction of the games that the first agent wins against copies of the second, in each seat in turn."""
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
