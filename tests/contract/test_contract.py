"""Every game passes the checks of `artus_env.testing`, whose errors name the game and the fault."""

import math
import subprocess
import sys

import numpy as np
import pytest

from artus_env.engine.compiling.jit import DISABLED
from artus_env.testing import check_game, check_no_leaks, check_resampling
from artus_env.testing.contract import CHECKS
from artus_env.testing.statistics import SignTest, sum_of, worst
from artus_env.testing.variants import random_game, run, variants_of
from every_game import games, variants

STATES = 300 if DISABLED else 20_000


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@variants
def test_it_keeps_the_contract(variant, check):
    run(check, variant, 1)


@games
def test_nothing_leaks(game):
    result = check_no_leaks(game, states=STATES, texts=STATES // 50)
    assert result.states >= STATES
    assert result.changed > STATES // 2


@games
def test_resampling_is_uniform(game):
    result = check_resampling(game, states=STATES)
    assert result.states > STATES // 2
    assert result.comparisons > 1000
    assert result.smallest_p > 1e-6


def test_a_whole_game_is_checked_by_name():
    check_game("hoard", states=STATES // 10)
    command = [sys.executable, "-m", "artus_env.testing", "hoard", "--states", "300"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
    assert printed.count("no finding") == 3


def test_what_fails_is_named():
    def always_wrong(variant, seed):
        raise KeyError("hat")

    variant = variants_of("hoard")[0]
    with pytest.raises(AssertionError, match=r"^hoard-standard-2, seed 7: always_wrong: KeyError: 'hat'$"):
        run(always_wrong, variant, 7)


def test_games_end_after_different_numbers_of_moves():
    """The tests here also cover games of different lengths."""
    lengths = {sum(1 for _ in random_game(variants_of("magpies")[0], seed)) for seed in range(5)}
    assert len(lengths) > 1


# --- sign tests -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("more", "less"), [(80, 20), (20, 80), (55, 45), (30, 0), (1000, 800), (5, 5), (0, 0)])
def test_p_values_are_bounds_of_the_exact_ones(more, less):
    for one_sided in (True, False):
        test = SignTest(one_sided)
        test.add(np.array([1] * more + [0] * less), np.array([0] * more + [1] * less))
        n, tested_count = more + less, more if one_sided else max(more, less)
        exact = sum(math.comb(n, k) for k in range(tested_count, n + 1)) / 2**n * (1 if one_sided else 2)
        bound = float(np.exp(test.log_p()[0]))
        assert min(1, exact) <= bound * (1 + 1e-9)
        assert bound <= min(1, exact * 3 * math.sqrt(n + 1)) or tested_count <= n / 2


def test_a_difference_is_found_among_many_and_none_where_none_is():
    rng = np.random.default_rng(1)
    for shift, is_found in ((0.0, False), (0.1, True)):
        first, second = rng.random((2, 4000, 300))
        test = SignTest()
        test.add(first + shift * (np.arange(300) == 123), second)
        p, key, index, more, less = worst({"first": test, "none": SignTest()})
        assert (p < 1e-6) == is_found
        assert key == "first"
        assert more + less == 4000
        assert not is_found or index == (123,)
    assert sum_of([test, test]).first_greater.tolist() == (2 * test.first_greater).tolist()
