"""Rewards at the end of a game and for each move."""

import numpy as np
import pytest

from artus_env import Batch
from engine_play import VARIANTS, decisions

variants = pytest.mark.parametrize(("rules", "num_players"), VARIANTS)


def last_reward(mode, final_scores):
    """The reward for the last move of games that end with these scores."""
    num_players = len(final_scores)
    batch = Batch(4, num_players=num_players, seed=1, reward=mode)
    for _ in range(decisions("beginner", num_players) - 1):
        batch.step(batch.sample())
    actions, players = batch.sample(), batch.player.copy()
    last_points = batch.points()[range(4), actions]
    assert last_points.any()
    batch.scores[:] = final_scores
    batch.scores[range(4), players] -= last_points
    reward, done = batch.step(actions)
    assert done.all()
    assert (batch.final_scores == final_scores).all()
    return reward, players, last_points


@pytest.mark.parametrize(
    ("final_scores", "expected"),
    [
        ([10, 3], [1, -1]),
        ([-40, -3], [-1, 1]),
        ([5, 5], [0, 0]),
        ([1, 9, 3], [-1 / 2, 1, -1 / 2]),
        ([9, 1, 9], [1 / 4, -1 / 2, 1 / 4]),
        ([0, 0, 0], [0, 0, 0]),
        ([-1, -2, -3, 300], [-1 / 3, -1 / 3, -1 / 3, 1]),
        ([7, -2, 7, 6], [1 / 3, -1 / 3, 1 / 3, -1 / 3]),
        ([5, 5, 0, 5], [1 / 9, 1 / 9, -1 / 3, 1 / 9]),
        ([-8, -8, -8, -8], [0, 0, 0, 0]),
    ],
    ids=str,
)
def test_win(final_scores, expected):
    """w joint winners among n players get (n - w) / (w (n - 1)) each, the others -1 / (n - 1)."""
    reward, _, _ = last_reward("win", final_scores)
    assert reward == pytest.approx(np.array([expected] * 4))


@pytest.mark.parametrize(
    ("final_scores", "expected"),
    [
        ([10, 3], [0.07, -0.07]),
        ([5, 5], [0, 0]),
        ([30, 0, -60], [0.60, 0.15, -0.75]),
        ([100, 0, 0, -40], [1.1333333, -0.2, -0.2, -0.7333333]),
    ],
    ids=str,
)
def test_margin(final_scores, expected):
    """Own score minus the mean of the others, in hundreds."""
    reward, _, _ = last_reward("margin", final_scores)
    assert reward == pytest.approx(np.array([expected] * 4), abs=1e-6)


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_prestige_pays_the_last_move_like_any_other(num_players):
    reward, players, points = last_reward("prestige", [50] + [20] * (num_players - 1))
    assert reward[range(4), players] == pytest.approx(points / 100)


@variants
def test_prestige_is_the_margin_paid_move_by_move(rules, num_players):
    batch = Batch(3, rules=rules, num_players=num_players, seed=3, reward="prestige")
    total_reward = np.zeros((3, num_players))
    for _ in range(decisions(rules, num_players)):
        actions, players, all_points = batch.sample(), batch.player.copy(), batch.points()
        points = all_points[range(3), actions]
        reward, done = batch.step(actions)
        for game in range(3):
            expected = np.full(num_players, -points[game] / (num_players - 1) / 100)
            expected[players[game]] = points[game] / 100
            assert reward[game] == pytest.approx(expected, abs=1e-6)
        total_reward += reward
    assert done.all()
    mean_of_others = (batch.final_scores.sum(1, keepdims=True) - batch.final_scores) / (num_players - 1)
    assert total_reward == pytest.approx((batch.final_scores - mean_of_others) / 100, abs=1e-5)
    assert batch.final_scores.any()
