"""A batch: stepping, errors that change nothing, resets, autoreset, copies."""

import copy
import pickle
import re

import numpy as np
import pytest

from artus_env import NUM_ACTIONS, Batch, Game
from artus_env.engine.compiling.jit import DISABLED
from artus_env.engine.play import kernels
from engine_play import ARRAYS, VARIANTS, decisions, play_digest

variants = pytest.mark.parametrize(("rules", "num_players"), VARIANTS)


def played_batch(steps=25, **options):
    batch = Batch(6, **{"rules": "advanced", "num_players": 3, "seed": 3, **options})
    for _ in range(steps):
        batch.step(batch.sample())
    return batch


def all_arrays(batch):
    """All arrays of a batch, its private ones included."""
    return {name: array.tobytes() for name, array in vars(batch).items() if isinstance(array, np.ndarray)}


# --- step --------------------------------------------------------------------------------------------------------


def first_action(batch, game, legal):
    return int(np.flatnonzero(batch.mask[game] == legal)[0])


@pytest.mark.parametrize("steps", [0, 25, 60])
@pytest.mark.parametrize(
    "illegal_action",
    [
        lambda batch: first_action(batch, 4, legal=0),
        lambda batch: -1,
        lambda batch: NUM_ACTIONS,
        lambda batch: 10**12,
        lambda batch: -(1 << 63),
    ],
    ids=["masked out", "negative", "one too many", "huge", "hugely negative"],
)
def test_one_illegal_action_stops_all_games(steps, illegal_action):
    batch = played_batch(steps)
    actions = batch.sample().copy()
    before = all_arrays(batch)
    actions[4] = illegal_action(batch)
    with pytest.raises(
        ValueError, match=rf"^game 4: action {actions[4]} .* is illegal for player {batch.player[4]}; legal: "
    ) as error:
        batch.step(actions)
    assert all_arrays(batch) == before
    text = str(error.value)
    game = Game.from_dict(batch.definition.to_dict(batch.states[4], batch.components))
    assert text.endswith("; legal: " + " ".join(game.moves()))
    assert game.state.tobytes() != batch.states[3].tobytes()


def test_the_first_illegal_action_is_named():
    batch = played_batch()
    with pytest.raises(ValueError, match=r"^game 0: action 27 \(place a knight 27 behind the King\) is illegal"):
        batch.step(np.full(6, 27))


@pytest.mark.parametrize(
    "actions",
    [
        [0] * 5,
        [0] * 7,
        [[0] * 6],
        0,
        None,
        "@12",
        [0.0] * 6,
        [True] * 6,
        [1 << 64] + [0] * 5,
        np.zeros(6, np.float32),
        np.zeros((6, 1), np.int64),
    ],
    ids=repr,
)
def test_actions_must_be_one_whole_number_a_game(actions):
    batch = played_batch()
    before = all_arrays(batch)
    with pytest.raises((TypeError, ValueError), match="actions must be 6 whole numbers, got"):
        batch.step(actions)
    assert all_arrays(batch) == before


@pytest.mark.parametrize(
    "convert",
    [
        lambda actions: actions.tolist(),
        lambda actions: actions.astype(np.int16),
        lambda actions: actions.astype(np.uint64),
        lambda actions: actions.astype(">i4"),
        lambda actions: np.stack([actions, actions], 1)[:, 0],
        lambda actions: np.broadcast_to(np.stack([actions]), (1, 6))[0],
    ],
    ids=["list", "int16", "uint64", "other byte order", "every second", "read-only"],
)
def test_actions_of_any_whole_kind(convert):
    """Actions of every whole-number type are converted to the one type that the loops are compiled for."""
    batch, other_batch = played_batch(), played_batch()
    num_compiled = None if DISABLED else len(kernels.step.signatures)
    actions = batch.sample().copy()
    batch.step(actions)
    other_batch.sample()
    other_batch.step(convert(actions))
    assert all_arrays(other_batch) == all_arrays(batch)
    assert num_compiled == (None if DISABLED else len(kernels.step.signatures))


def test_the_arrays_are_the_same_every_time():
    batch = Batch(4)
    arrays = {name: getattr(batch, name) for name in ARRAYS if name != "scores"}
    sampled = batch.sample()
    for _ in range(80):
        assert batch.sample() is sampled
        reward, done = batch.step(sampled)
        assert reward is batch.reward
        assert done is batch.done
    batch.reset()
    batch.refresh()
    assert all(getattr(batch, name) is array for name, array in arrays.items())
    assert np.shares_memory(batch.scores, batch.states)


# --- some of the games -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", [[4, 1], np.array([4, 1], np.int8), [-2, 1]], ids=repr)
def test_step_of_some_games_leaves_the_others(which):
    batch, all_played = played_batch(reward="prestige"), played_batch(reward="prestige")
    before = {name: getattr(batch, name).copy() for name in ARRAYS}
    actions = all_played.sample().copy()
    all_played.step(actions)
    reward, done = batch.step(actions[[4, 1]], which=which)
    assert reward is batch.reward
    assert done is batch.done
    for name in ARRAYS:
        expected = before[name]
        expected[[1, 4]] = getattr(all_played, name)[[1, 4]]
        assert getattr(batch, name).tobytes() == expected.tobytes(), name


def test_step_of_some_games_to_their_end_and_beyond():
    batch = Batch(6, seed=3)
    is_played = np.array([False, True, False, False, True, False])
    seeds = batch.seeds.copy()
    for _ in range(decisions("beginner", 2)):
        _, done = batch.step(batch.sample()[is_played], which=is_played)
    assert done.tolist() == is_played.tolist()
    assert (batch.seeds != seeds).tolist() == is_played.tolist()
    batch.step(batch.sample()[is_played], which=is_played)
    assert not batch.done.any()


@pytest.mark.parametrize(
    ("actions", "which", "fault"),
    [
        ([27, 27], [4, 1], "game 4: action 27 "),
        ([0], [4, 1], "actions must be 2 whole numbers"),
        ([0] * 6, [4, 1], "actions must be 2 whole numbers"),
        ([0, True], [4, 1], "actions must be 2 whole numbers"),
        ([0, 0], [1, 1], "which names a game twice"),
        ([0, 0], [1, 6], "which must be indices below 6"),
    ],
    ids=str,
)
def test_a_step_of_some_games_that_fails_changes_nothing(actions, which, fault):
    batch = played_batch()
    before = all_arrays(batch)
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(fault)}"):
        batch.step(actions, which=which)
    assert all_arrays(batch) == before


def test_observe_shows_what_any_player_sees():
    batch = played_batch(40)
    games = [Game.from_dict(batch.definition.to_dict(state, batch.components)) for state in batch.states]
    assert (batch.observe(batch.player) == batch.observation).all()
    for player in range(3):
        observations = batch.observe(player)
        assert (observations == [game.observation(player) for game in games]).all()
        assert not np.shares_memory(observations, batch.observation)
    two_observations = batch.observe([2, 0], which=[5, 1])
    assert (two_observations == [games[5].observation(2), games[1].observation(0)]).all()


@pytest.mark.parametrize(
    ("players", "which", "fault"),
    [
        (3, None, "players must be in 0..2"),
        (-1, None, "players must be in 0..2"),
        (0.0, None, "players must be in 0..2"),
        (True, None, "players must be in 0..2"),
        ([0, 1, True, 0, 0, 0], None, "players must be in 0..2"),
        (np.ones(6, np.bool_), None, "players must be in 0..2"),
        ([0, 1], None, "players must be one number or 6"),
        (0, [7], "which must be indices below 6"),
    ],
    ids=str,
)
def test_observe_refuses_players_that_do_not_exist(players, which, fault):
    with pytest.raises(ValueError, match=re.escape(fault)):
        played_batch().observe(players, which)


# --- sample ------------------------------------------------------------------------------------------------------


def test_sample_takes_every_legal_action_equally_often():
    batch = played_batch(steps=40, num_players=2)
    draws = 4000
    counts = np.zeros((6, NUM_ACTIONS), np.int64)
    for _ in range(draws):
        counts[range(6), batch.sample()] += 1
    assert not counts[batch.mask == 0].any()
    for game in range(6):
        legal = np.flatnonzero(batch.mask[game])
        expected = draws / len(legal)
        chi_square = ((counts[game, legal] - expected) ** 2 / expected).sum()
        freedom = len(legal) - 1
        assert freedom - 4 * (2 * freedom) ** 0.5 < chi_square < freedom + 4 * (2 * freedom) ** 0.5


def test_sample_reaches_the_first_and_last_action_of_every_word():
    """The legal bits are set by hand: each action in turn is the only legal one."""
    batch = Batch(1)
    for action in range(NUM_ACTIONS):
        batch.legal_bits[:] = 0
        batch.legal_bits[0, action // 64] = np.uint64(1 << action % 64)
        assert batch.sample().tolist() == [action]


def test_sampling_changes_no_game():
    batch = played_batch()
    before = {name: getattr(batch, name).tobytes() for name in ARRAYS}
    batch.sample()
    assert {name: getattr(batch, name).tobytes() for name in ARRAYS} == before


# --- the end of a game -------------------------------------------------------------------------------------------


@variants
def test_autoreset_deals_anew_at_once(rules, num_players):
    batch = Batch(3, rules=rules, num_players=num_players, seed=6)
    batch.final_scores[:] = 77
    for _ in range(decisions(rules, num_players) - 1):
        _, done = batch.step(batch.sample())
        assert not done.any()
    assert (batch.final_scores == 77).all()  # of the last finished game: there is none yet
    seeds, expected_scores = batch.seeds.copy(), batch.scores.copy()
    actions, players = batch.sample(), batch.player.copy()
    expected_scores[range(3), players] += batch.points()[range(3), actions]
    reward, done = batch.step(actions)
    assert done.all()
    assert (batch.final_scores == expected_scores).all()
    assert reward.any()
    assert (batch.seeds != seeds).all()
    assert not batch.scores.any()
    assert (batch.mask[:, :28].sum(1) == 24).all()  # all seats but four are free for the first knight
    assert batch.mask.sum() == 3 * 24
    scores_before = batch.final_scores.copy()
    reward, done = batch.step(batch.sample())
    assert not done.any()
    assert not reward.any()
    assert (batch.final_scores == scores_before).all()


@variants
def test_without_autoreset_finished_games_stay(rules, num_players):
    batch = Batch(3, rules=rules, num_players=num_players, seed=7, autoreset=False)
    for _ in range(10):
        batch.step(batch.sample())
    batch.reset(which=[1])  # ten moves behind the others from now on
    for _ in range(decisions(rules, num_players) - 10):
        batch.step(batch.sample())
    assert batch.done.tolist() == batch.over.tolist() == [True, False, True]
    finished_game = Game.from_dict(batch.definition.to_dict(batch.states[0], batch.components))
    assert finished_game.over
    assert batch.final_scores[0].tolist() == finished_game.scores
    arrays_at_end = {name: getattr(batch, name)[[0, 2]].tobytes() for name in ARRAYS if name != "reward"}
    for steps_left in reversed(range(10)):
        actions = batch.sample()
        assert actions[[0, 2]].tolist() == [-1, -1]
        actions[[0, 2]] = [12345, -7]  # of finished games actions don't matter
        reward, done = batch.step(actions)
        assert done.tolist() == [True, steps_left == 0, True]
        assert not reward[[0, 2]].any()
        assert not batch.mask[[0, 2]].any()
        assert {name: getattr(batch, name)[[0, 2]].tobytes() for name in arrays_at_end} == arrays_at_end
    assert reward[1].any()
    batch.step(np.array([-5, -5, -5]))
    batch.reset(which=batch.done)
    assert not batch.done.any()
    assert not batch.over.any()
    assert (batch.mask.sum(1) == 24).all()


# --- reset and refresh -------------------------------------------------------------------------------------------


def dealt_states(batch):
    return [state.tobytes() for state in batch.states]


def dealt_state(seed, start_player=None):
    return Game("advanced", 3, seed=seed, start_player=start_player).state.tobytes()


def test_reset_deals_the_next_seeds():
    batch = played_batch()
    before = batch.seeds.copy()
    batch.reset()
    assert (batch.seeds != before).all()
    assert dealt_states(batch) == [dealt_state(int(seed)) for seed in batch.seeds]
    same_batch = played_batch()
    same_batch.reset()
    assert all_arrays(same_batch) == all_arrays(batch)


def test_reset_with_seeds():
    batch = played_batch()
    seeds = [0, 1, (1 << 63) + 1, (1 << 64) - 1, 4, 4]
    batch.reset(seeds=seeds)
    assert batch.seeds.tolist() == seeds
    assert dealt_states(batch) == [dealt_state(seed) for seed in seeds]
    batch.reset(seeds=9)
    assert dealt_states(batch) == [dealt_state(9)] * 6


def test_reset_with_start_players():
    batch = played_batch()
    batch.reset(seeds=range(6), start_players=[0, 1, 2, -1, 2, 0])
    assert dealt_states(batch) == [
        dealt_state(0, 0),
        dealt_state(1, 1),
        dealt_state(2, 2),
        dealt_state(3),
        dealt_state(4, 2),
        dealt_state(5, 0),
    ]
    assert batch.states["start_player"][[0, 1, 2, 4, 5]].tolist() == [0, 1, 2, 2, 0]
    batch.reset(start_players=1)
    assert batch.states["start_player"].tolist() == [1] * 6
    assert batch.player.tolist() == [0] * 6  # his right neighbour places first


@pytest.mark.parametrize(
    "which", [[1, 4], np.array([1, 4], np.uint8), [False, True, False, False, True, False], [-5, -2], (1, 4)], ids=repr
)
def test_reset_of_some_games_leaves_the_others(which):
    batch = played_batch()
    arrays = [name for name in ARRAYS if name not in ("reward", "final_scores", "final_outcomes")]
    before = {name: getattr(batch, name).copy() for name in arrays}
    batch.reset(seeds=[70, 71], start_players=[2, 0], which=which)
    assert dealt_states(batch)[1] == dealt_state(70, 2)
    assert dealt_states(batch)[4] == dealt_state(71, 0)
    others = [0, 2, 3, 5]
    for name in arrays:
        assert (getattr(batch, name)[others] == before[name][others]).all(), name
    assert (batch.observation[[1, 4]] != before["observation"][[1, 4]]).any(1).all()


def test_reset_gives_seeds_in_the_order_of_which():
    batch = played_batch()
    batch.reset(seeds=[70, 71], start_players=[0, 1], which=[4, 1])
    assert batch.seeds[[4, 1]].tolist() == [70, 71]
    assert dealt_states(batch)[4] == dealt_state(70, 0)
    assert dealt_states(batch)[1] == dealt_state(71, 1)


@pytest.mark.parametrize("which", [[], np.zeros(6, bool), np.flatnonzero([0])], ids=repr)
def test_reset_of_no_game(which):
    batch = played_batch()
    before = all_arrays(batch)
    batch.reset(which=which)
    assert all_arrays(batch) == before


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"seeds": -1}, "seed must be a whole number in 0"),
        ({"seeds": [1, 2, 3, 4, 5, -6]}, "seed must be a whole number in 0"),
        ({"seeds": 1 << 64}, "seed must be a whole number in 0"),
        ({"seeds": 1.0}, "seed must be a whole number in 0"),
        ({"seeds": True}, "seed must be a whole number in 0"),
        ({"seeds": [0, 1, 2, 3, 4, 5.5]}, "seed must be a whole number in 0"),
        ({"seeds": np.full(6, -1)}, "seed must be a whole number in 0"),
        ({"seeds": np.zeros(6)}, "seed must be a whole number in 0"),
        ({"seeds": "1"}, "seed must be a whole number in 0"),
        ({"seeds": [1, 2]}, "seeds must be one number or 6"),
        ({"seeds": [[1] * 6]}, "seeds must be one number or 6"),
        ({"seeds": [1, 2], "which": [0]}, "seeds must be one number or 1"),
        ({"start_players": 3}, "start_players must be in 0..2"),
        ({"start_players": -2}, "start_players must be in 0..2"),
        ({"start_players": 0.5}, "start_players must be in 0..2"),
        ({"start_players": [0, 1, 2, 3, 0, 0]}, "start_players must be in 0..2"),
        ({"start_players": True}, "start_players must be in 0..2"),
        ({"start_players": [0, 1, 2, False, 0, 0]}, "start_players must be in 0..2"),
        ({"start_players": [0, 1]}, "start_players must be one number or 6"),
        ({"start_players": 1, "seeds": 1.5}, "seed must be a whole number in 0"),
        ({"start_players": 7, "seeds": 1}, "start_players must be in 0..2"),
        ({"which": 6}, "which must be indices below 6 or 6 booleans"),
        ({"which": [0, -7]}, "which must be indices below 6 or 6 booleans"),
        ({"which": [True, False]}, "which must be indices below 6 or 6 booleans"),
        ({"which": 0.0}, "which must be indices below 6 or 6 booleans"),
        ({"which": [2, 2], "seeds": [1, 2]}, "which names a game twice"),
        ({"which": [0, -6]}, "which names a game twice"),
    ],
    ids=repr,
)
def test_a_reset_that_fails_changes_nothing(options, fault):
    batch = played_batch()
    before = all_arrays(batch)
    with pytest.raises((TypeError, ValueError), match=re.escape(fault)):
        batch.reset(**options)
    assert all_arrays(batch) == before


def test_refresh_looks_at_states_that_were_written():
    batch, other = played_batch(25), played_batch(40)
    batch.states[:] = other.states
    assert not (batch.observation == other.observation).all()
    batch.refresh()
    for name in ("player", "observation", "mask", "legal_bits"):
        assert (getattr(batch, name) == getattr(other, name)).all(), name


def test_refresh_of_some_games_leaves_the_others():
    batch, other = played_batch(25), played_batch(40)
    before = batch.observation.copy()
    batch.states[:] = other.states
    batch.refresh(which=[3, 0])
    assert (batch.observation[[0, 3]] == other.observation[[0, 3]]).all()
    assert (batch.mask[[0, 3]] == other.mask[[0, 3]]).all()
    assert (batch.observation[[1, 2, 4, 5]] == before[[1, 2, 4, 5]]).all()


def test_text_shows_one_table():
    batch = played_batch()
    game = Game.from_dict(batch.definition.to_dict(batch.states[2], batch.components))
    assert batch.text(2) == game.render()


# --- making a batch ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "fault"),
    [
        ({"num_games": 0}, ValueError, "num_games must be at least 1, got 0"),
        ({"num_games": True}, ValueError, "num_games must be a whole number, got True"),
        ({"num_games": 2.0}, ValueError, "num_games must be a whole number, got 2.0"),
        ({"threads": 0}, ValueError, "threads must be at least 1, got 0"),
        ({"threads": True}, ValueError, "threads must be a whole number, got True"),
        ({"num_players": True}, ValueError, "num_players must be 2..4, got True"),
        ({"rules": "expert"}, ValueError, "rules must be one of beginner, advanced, got 'expert'"),
        ({"num_players": 1}, ValueError, "num_players must be 2..4, got 1"),
        ({"num_players": 5}, ValueError, "num_players must be 2..4, got 5"),
        ({"seed": -1}, ValueError, "seed must be a whole number"),
        ({"seed": 0.5}, TypeError, "seed must be a whole number"),
        ({"reward": "score"}, ValueError, "reward must be one of win, margin, prestige, got 'score'"),
        ({"components": {}}, TypeError, "components must be Components"),
    ],
    ids=repr,
)
def test_a_batch_that_cannot_be(options, error, fault):
    with pytest.raises(error, match=re.escape(fault)):
        Batch(**{"num_games": 2, **options})


def test_without_a_seed_every_batch_is_another():
    assert Batch(2, seed=None).seeds.tolist() != Batch(2, seed=None).seeds.tolist()
    assert Batch(2).seeds.tolist() == Batch(2, seed=0).seeds.tolist()


# --- copies ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make_copy", [copy.deepcopy, lambda batch: pickle.loads(pickle.dumps(batch))], ids=["deepcopy", "pickle"]
)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_copied_batch_plays_on_alike_and_apart(make_copy, threads):
    batch = played_batch(reward="prestige", threads=threads)
    twin = make_copy(batch)
    assert all_arrays(twin) == all_arrays(batch)
    before = all_arrays(batch)
    played_by_twin = play_digest(twin, 130)  # past the end of every game
    assert all_arrays(batch) == before
    assert play_digest(batch, 130) == played_by_twin


def test_a_copied_batch_uses_the_loops_that_there_are():
    """Tables that lost their write protection would have every loop compiled once more."""
    batch = played_batch()
    assert copy.deepcopy(batch).tables is batch.tables
    assert pickle.loads(pickle.dumps(batch)).tables is batch.tables
