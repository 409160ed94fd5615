"""The same seeds give the same games: compiled or not, alone or in a batch of any size, on any number of threads."""

import json

import numpy as np
import pytest

from artus_env import Batch, Game
from artus_env.engine.compiling.jit import DISABLED
from artus_env.engine.play.batch import GAMES_TO_SHARE_CHOICES
from engine_play import ARRAYS, TINY_BOX, VARIANTS, decisions, digests, run_script

variants = pytest.mark.parametrize(("rules", "num_players"), VARIANTS)


@pytest.fixture(scope="module")
def digests_here():
    return digests()


def test_compiled_rules_are_the_python_rules(digests_here):
    other_digests = json.loads(run_script("digests", NUMBA_DISABLE_JIT="0" if DISABLED else "1"))
    assert other_digests == digests_here


def test_threads_change_nothing(digests_here):
    assert digests(threads=2) == digests_here


@variants
def test_a_game_is_a_batch_of_one(rules, num_players):
    batch = Batch(3, rules=rules, num_players=num_players, seed=11, autoreset=False)
    games = [Game(rules=rules, num_players=num_players, seed=int(seed)) for seed in batch.seeds]
    assert [game.seed for game in games] == batch.seeds.tolist()
    for _ in range(decisions(rules, num_players)):
        for i, game in enumerate(games):
            assert game.player == batch.player[i]
            assert (game.observation() == batch.observation[i]).all()
            assert (game.mask() == batch.mask[i]).all()
        points = batch.points()
        actions = batch.sample()
        for i, game in enumerate(games):
            assert game.play(int(actions[i])) == points[i, actions[i]]
        batch.step(actions)
        assert [game.scores for game in games] == batch.scores.tolist()
        assert [game.over for game in games] == batch.done.tolist()
    assert batch.done.all()
    assert [game.state.tobytes() for game in games] == [state.tobytes() for state in batch.states]
    assert [game.scores for game in games] == batch.final_scores.tolist()


@variants
@pytest.mark.parametrize("components", [None, TINY_BOX], ids=["standard", "tiny box"])
def test_seeds_name_the_current_deal(rules, num_players, components):
    """Also for the deals of autoreset and after a reset."""
    batch = Batch(3, rules=rules, num_players=num_players, seed=4, components=components)

    def same_deal_as_a_game(i):
        game = Game(rules=rules, num_players=num_players, seed=batch.seeds[i], components=components)
        return game.state.tobytes() == batch.states[i].tobytes()

    seeds = {int(batch.seeds[0])}
    for _ in range(2):
        assert all(same_deal_as_a_game(i) for i in range(3))
        for _ in range(decisions(rules, num_players, components)):
            _, done = batch.step(batch.sample())
        assert done.all()
        seeds.add(int(batch.seeds[0]))
    batch.reset()
    assert all(same_deal_as_a_game(i) for i in range(3))
    assert int(batch.seeds[0]) not in seeds
    assert len(seeds) == 3


@pytest.mark.parametrize(("rules", "num_players"), [("beginner", 2), ("advanced", 4)])
def test_a_game_knows_nothing_of_its_neighbours(rules, num_players):
    """Game i is the same in a batch of 5 and of 40: its deals, choices, rewards, and the deals after its end."""
    small_batch = Batch(5, rules=rules, num_players=num_players, seed=8, threads=1)
    large_batch = Batch(40, rules=rules, num_players=num_players, seed=8, threads=2)
    for _ in range(decisions(rules, num_players) + 5):
        actions = small_batch.sample()
        assert (actions == large_batch.sample()[:5]).all()
        small_batch.step(actions)
        large_batch.step(large_batch._actions)
        for name in ARRAYS:
            assert (getattr(small_batch, name) == getattr(large_batch, name)[:5]).all(), name
    assert small_batch.final_scores.any()


@pytest.mark.skipif(
    DISABLED, reason="thousands of games take too long in plain Python, where there are no threads anyway"
)
@pytest.mark.parametrize("threads", [2, 3, 5000])
def test_shared_work_covers_every_game(threads):
    """The batches are so large that choosing is shared as well; the number of threads may exceed that of games."""
    size = GAMES_TO_SHARE_CHOICES + 3
    alone = Batch(size, rules="advanced", num_players=3, threads=1)
    shared = Batch(size, rules="advanced", num_players=3, threads=threads)
    for _ in range(20):
        actions = alone.sample()
        assert (shared.sample() == actions).all()
        alone.step(actions)
        shared.step(actions)
        for name in ARRAYS:
            assert getattr(alone, name).tobytes() == getattr(shared, name).tobytes(), name


def test_other_seeds_are_other_games():
    first_batch, second_batch = (Batch(50, seed=seed) for seed in (0, 1))
    assert len({*first_batch.seeds.tolist(), *second_batch.seeds.tolist()}) == 100
    assert len({state.tobytes() for state in np.concatenate([first_batch.states, second_batch.states])}) == 100
