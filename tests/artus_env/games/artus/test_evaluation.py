"""Evaluation functions, compared with values computed from positions as plain data; texts about moves and cards."""

import json
import random

import numpy as np
import pytest

from artus_env import Game
from artus_env.engine.contract import verbs
from artus_env.games.artus.components import STANDARD, WHEEL
from artus_env.games.artus.definition import ARTUS
from artus_env.games.artus.evaluation import NUM_ACTION_FEATURES
from artus_env.games.artus.notation import parsed
from artus_env.games.artus.page import browser, sentences

NAMES = ["Ann", "Bo", "Cy"]
VARIANTS = [("beginner", 2), ("advanced", 3)]


def positions(rules, num_players):
    """A game at every third of its positions."""
    rng = random.Random(num_players)
    game = Game(rules, num_players, seed=5)
    number = 0
    while not game.over:
        if number % 3 == 0:
            yield game
        game.play(rng.choice(game.legal_actions()))
        number += 1
    yield game


def seat_values(position):
    """Sum of the values of the seats of each player's knights, from plain data."""
    king = next(seat for seat, figure in enumerate(position["seats"]) if figure and "king" in figure)
    values = [0] * position["num_players"]
    for seat, figure in enumerate(position["seats"]):
        if figure and "knight" in figure:
            values[figure["knight"]] += WHEEL[(king - seat) % 28]
    return values


@pytest.mark.parametrize(("rules", "num_players"), VARIANTS)
def test_a_table_is_judged_by_points_and_seats(rules, num_players):
    deviations = []
    for game in positions(rules, num_players):
        t, g, values = game.tables[0], game.state, seat_values(game.to_dict())
        for player in range(num_players):
            total = [score + 0.5 * value for score, value in zip(game.scores, values, strict=True)]
            others = (sum(total) - total[player]) / (num_players - 1)
            assert verbs.evaluate(t, g, player, 0.5) == pytest.approx(total[player] - others)
        deviations.append(verbs.score_stddev(t, g))
    assert deviations == sorted(deviations, reverse=True)
    assert deviations[-1] == 2.0


@pytest.mark.parametrize(("rules", "num_players"), VARIANTS)
def test_what_an_action_leads_to_is_told_before(rules, num_players):
    out = np.zeros((game_actions(), NUM_ACTION_FEATURES), np.int8)
    for game in positions(rules, num_players):
        t, g, player, position = game.tables[0], game.state, game.player, game.to_dict()
        is_draw, before = position["phase"] == "draw", seat_values(position)
        default = verbs.default_action(t, g, np.uint64(7))
        assert (default in game.legal_actions()) if is_draw else default == -1
        legal = np.zeros(verbs.mask_words(t), np.uint64)
        verbs.legal(t, g, legal)
        verbs.action_features(t, g, legal, np.zeros(2, game.states.dtype), out)
        for action in game.legal_actions()[:6]:
            after = game.clone()
            points = after.play(action)
            change = np.subtract(seat_values(after.to_dict()), before)
            expected = [points, change[player], change.sum() - change[player]]
            assert out[action, :3].tolist() == ([0, 0, 0] if is_draw else expected)
            is_placing = parsed(game.move(action)).kind == "place"
            assert verbs.greedy_value(t, g, action) == (change[player] if is_placing else points)


def game_actions():
    return len(ARTUS.action_table(STANDARD))


@pytest.mark.parametrize(("rules", "num_players"), VARIANTS)
def test_every_move_can_be_said_and_shown(rules, num_players):
    kinds = set()
    for game in positions(rules, num_players):
        player, names = game.player, NAMES[:num_players]
        before = game.to_dict(player)
        for move in game.moves()[::5]:
            after = game.clone()
            points = after.play(move)
            foreseen = after.to_dict(player) if browser.foreseeable(move) else None
            choice = browser.choice(before, move, foreseen, names, STANDARD)
            kinds.add(choice["kind"])
            assert choice["points"] == points
            assert json.loads(json.dumps(choice)) == choice
            assert sentences.choice(before, move, foreseen, names, STANDARD)
            for viewer in range(num_players):
                arguments = game.to_dict(viewer), move, after.to_dict(viewer)
                assert sentences.played(*arguments, viewer, names, STANDARD).endswith((".", "”."))
            last = browser.last(before, move, after.to_dict(player), STANDARD)
            assert (last["origin"], last["target"]) == parsed(move)[3:5]
            assert (browser.source(move, STANDARD) is None) == (parsed(move).card is None)
    assert kinds >= {"place", "draw", "knight", "royal", "ring"}
    setup = browser.setup(rules, num_players, STANDARD)
    assert len(setup["badges"]) == num_players
    assert all(card["text"] for card in setup["cards"].values())


def test_every_table_of_the_docs_can_be_made():
    assert all(table().rows for table in ARTUS.doc_tables.values())
