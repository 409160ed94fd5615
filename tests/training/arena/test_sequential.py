"""The sequential test: whenever it stops, at most one result in twenty is wrong."""

import dataclasses

import numpy as np
import pytest

from artus_training.arena.evaluate import evaluate, units_of
from artus_training.arena.sequential import ERROR, Sequential, gain
from artus_training.cli import main


@pytest.mark.parametrize(
    ("values", "chances"),
    [([0, 1], [0.5, 0.5]), ([0, 0.5, 1], [0.1, 0.8, 0.1]), ([0, 1], [2 / 3, 1 / 3]), ([0.2, 0.5], [0.9, 0.1])],
)
def test_bets_on_the_true_mean_are_fair(values, chances):
    """The basis of the test: no stake gains or loses capital on average, and no capital becomes negative."""
    values, chances = np.array(values, float), np.array(chances)
    for observations in (values, 1 - values):
        factors = np.exp(gain(observations, chances @ observations))
        assert chances @ factors == pytest.approx(1)
        assert factors.min() >= 0


@pytest.mark.slow
@pytest.mark.parametrize(("equal", "players"), [(0.5, 2), (1 / 3, 3)])
def test_equals_are_seldom_told_apart_however_often_one_looks(equal, players):
    rng = np.random.default_rng(5)
    tests, wrong, outside = 200, 0, 0
    for _ in range(tests):
        test = Sequential(equal)
        for part in np.split((rng.random((600, players)) < equal).mean(axis=1), 20):
            test.add(part)
            low, high = test.interval()
            outside += not low <= equal <= high
            assert test.sure == (not low <= equal <= high)
        wrong += test.sure
    assert wrong / tests <= ERROR
    assert outside <= 20 * wrong


@pytest.mark.parametrize("rate", [0.3, 0.45, 0.6, 0.97])
def test_whoever_is_better_is_found_with_the_true_rate_inside(rate):
    rng = np.random.default_rng(7)
    covered = 0
    for _ in range(40):
        test = Sequential(0.5)
        assert test.add((rng.random((20_000, 2)) < rate).mean(axis=1))
        low, high = test.interval()
        assert (low > 0.5) if rate > 0.5 else (high < 0.5)
        covered += low <= rate <= high
    assert covered >= 38


def test_it_stops_at_the_same_observation_whatever_they_come_in():
    observations = (np.random.default_rng(1).random((3000, 2)) < 0.55).mean(axis=1)
    ends = []
    for size in (1, 7, 3000):
        test = Sequential(0.5)
        for first in range(0, 3000, size):
            if test.add(observations[first : first + size]):
                break
        ends.append((test.count, *test.interval()))
    assert ends[0][0] < 3000
    np.testing.assert_allclose(ends[1:], [ends[0]] * 2)


def test_nothing_was_seen():
    test = Sequential(0.25)
    assert not test.add(np.zeros(0))
    assert (test.count, test.progress, test.interval()) == (0, 0.0, (0.0, 1.0))


def test_what_is_no_part_of_a_win_is_refused():
    for wrong in (1.5, -0.1, np.nan):
        with pytest.raises(ValueError, match=r"observations must be in 0\.\.1"):
            Sequential(0.5).add(np.array([0.5, wrong]))


# --- evaluations ---


@pytest.mark.slow
@pytest.mark.parametrize("agents", [["greedy", "lookahead"], ["greedy", "random", "lookahead"]])
def test_an_evaluation_stops_at_the_same_game_whoever_plays(agents):
    common = {"games": 2000, "num_players": 3, "seed": 3, "until_sure": True}
    alone = evaluate(agents, **common)
    assert alone.sure
    assert alone.games < 1000
    assert evaluate(agents, **common, batch_size=10) == alone
    assert evaluate(agents, **common, batch_size=35, workers=2) == alone
    # The games are the first ones of an evaluation that isn't stopped.
    unstopped = evaluate(agents, num_players=3, seed=3, games=alone.games)
    assert dataclasses.replace(unstopped, interval=alone.interval, sure=True) == alone


@pytest.mark.parametrize(("game", "players"), [("artus", 4), ("royal", 2), ("quest", 3)])
def test_every_game_can_be_played_until_sure(game, players):
    result = evaluate(["greedy", "random"], game=game, num_players=players, games=4000, until_sure=True)
    low, _ = result.interval
    assert result.sure
    assert low > 1 / players


def test_equals_play_to_the_end(capsys):
    assert main(["evaluate", "greedy", "greedy", "--games", "60", "--until-sure"]) == 1
    assert "not sure after 60 games who is better" in capsys.readouterr().out


def test_who_is_worse_is_said(capsys):
    assert main(["evaluate", "random", "greedy", "--until-sure"]) == 0
    output = capsys.readouterr().out
    assert "sure: random wins less than an equal would" in output
    assert "95 % at any time: 0.0% to" in output


def test_games_are_given_up_as_long_as_it_lasts():
    """Forfeited games that were played after the decision don't count."""
    tired = type("Tired", (), {"act": lambda self, view: np.full(len(view), -1), "failure": "tired"})()
    result = evaluate([tired, "random"], games=400, until_sure=True)
    assert result.forfeits == result.games < 100
    assert result.reason == "tired"


def test_progress_comes_to_its_end():
    seen = []
    evaluate(["greedy", "random"], games=10_000, until_sure=True, batch_size=4, progress=seen.append)
    assert seen[-1] == 1
    assert all(0 < part <= 1 for part in seen)
    assert len(seen) > 2


def test_units_grow_where_few_games_may_be_enough():
    def bounds(*arguments):
        return [(first, first + deals) for _, first, deals in units_of(*arguments)]

    assert bounds(1000, 500, 64) == [(0, 64), (64, 192), (192, 448), (448, 948), (948, 1000)]
    assert bounds(1000, 500, 500) == [(0, 500), (500, 1000)]
    assert bounds(30, 10, 64) == [(0, 10), (10, 20), (20, 30)]
