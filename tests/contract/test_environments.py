"""Every game as an environment: what PettingZoo, Gymnasium and Stable-Baselines3 ask for."""

import pickle

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from pettingzoo.test import api_test, seed_test
from pettingzoo.test.state_test import test_state as check_state
from pettingzoo.test.state_test import test_state_space as check_state_space
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.env_checker import check_env as sb3_check_env
from stable_baselines3.common.monitor import Monitor

import artus_env
from artus_env import DEFAULT_GAME, IllegalMoveError
from artus_env.engine.rewards import reward_modes
from artus_env.environments import AnyEnv, AnyVectorEnv, env, raw_env
from artus_env.registration import gymnasium_name, pettingzoo_name
from every_game import games, largest, variants, variants_of

EPISODES = 3


def arguments(variant, **others):
    return {"game": variant.game, "rules": variant.rules, "num_players": variant.num_players, **others}


def registered(game):
    """What Gymnasium calls the environment of a game."""
    return f"artus_env:{gymnasium_name(game, DEFAULT_GAME)}"


def choose(masks, rng):
    """A uniformly drawn action for each row of masks; any for a row without one."""
    return (rng.random(masks.shape) * masks).argmax(axis=-1)


def play(env, rng):
    """Random steps of an AEC environment until all have terminated: what each agent was paid."""
    paid = dict.fromkeys(env.possible_agents, 0.0)
    while not all(env.terminations.values()):
        env.step(int(choose(env.last()[0]["action_mask"], rng)))
        for agent, reward in env.rewards.items():
            paid[agent] += reward
    return list(paid.values())


# --- PettingZoo ---


# api_test knows by name which environments have Dict observations, and warns of those of all others.
@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array:UserWarning")
@pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be:UserWarning")
@pytest.mark.parametrize("make", [env, raw_env], ids=["env", "raw_env"])
@largest
def test_it_is_a_pettingzoo_environment(make, variant):
    api_test(make(**arguments(variant)), num_cycles=100)
    seed_test(lambda: make(**arguments(variant)), num_cycles=100)
    check_state_space(make(**arguments(variant)))
    if make is env:  # it plays illegal actions
        check_state(make(**arguments(variant)), num_cycles=50)


@games
def test_it_is_registered(game):
    made = pettingzoo.make("aec", pettingzoo_name(game, DEFAULT_GAME))
    made.reset(seed=1)
    assert made.game == variants_of(game)[0].new_game(1)
    single = gymnasium.make(registered(game))
    assert single.reset(seed=1)[1]["action_mask"].any()


@games
def test_its_environments_are_attributes_of_the_package(game):
    made = getattr(artus_env, f"{game.replace('-', '_')}_v0")
    assert made.raw_env(num_players=2).metadata["name"] == f"{game}_v0"
    one, copy = made.env(reward="margin"), pickle.loads(pickle.dumps(made.env))(reward="margin")
    one.reset(seed=3)
    copy.reset(seed=3)
    assert one.game == copy.game
    assert one.game.definition.name == game
    with pytest.raises(AttributeError, match="no attribute 'nobodys_v0'"):
        artus_env.nobodys_v0  # noqa: B018


@variants
def test_the_end_of_an_aec_game_pays_what_the_batch_pays(variant):
    """In every reward mode, added up for each agent; in the mode of the score, also for points that others' moves
    bring."""
    for mode in reward_modes(variant.definition.score):
        made = raw_env(**arguments(variant, reward=mode))
        made.reset(seed=4)
        paid = play(made, np.random.default_rng(4))
        batch = variant.new_batch(1, reward=mode)
        batch.reset(seeds=4)
        total = np.zeros(variant.num_players)
        for action in made.game.actions_played:
            total += batch.step([action])[0][0]
        assert batch.done.all()
        np.testing.assert_allclose(paid, total, atol=1e-5)


@largest
def test_an_illegal_action_ends_the_game_for_all(variant):
    made = env(**arguments(variant))
    made.reset(seed=1)
    agent, illegal = made.agent_selection, int(made.last()[0]["action_mask"].argmin())
    made.step(illegal)
    assert all(made.terminations.values())
    assert made.rewards == dict.fromkeys(made.possible_agents, 0.0) | {agent: -1.0}
    assert made.infos[agent]["illegal_action"] == illegal
    raw = raw_env(**arguments(variant))
    raw.reset(seed=1)
    with pytest.raises(IllegalMoveError):
        raw.step(illegal)
    assert not any(raw.terminations.values())


# --- Gymnasium ---


@pytest.fixture
def seated(variant):
    return AnyEnv(**arguments(variant))


@largest
def test_it_is_a_gymnasium_environment(seated, variant):
    made = gymnasium.make(registered(variant.game), num_players=variant.num_players).unwrapped
    check_env(made)
    sb3_check_env(made)
    assert made.observation_space == seated.observation_space


@variants
def test_the_seat_only_meets_its_own_decisions(seated, variant):
    rng = np.random.default_rng(0)
    for episode in range(EPISODES):
        observation, info = seated.reset(seed=episode)
        seat, terminated, total = info["seat"], False, 0.0
        while not terminated:
            batch = seated._games.batch
            assert batch.player[0] == seat
            assert (observation == batch.observe(seat)[0]).all()
            observation, reward, terminated, _, info = seated.step(choose(info["action_mask"], rng))
            total += reward
        assert not info["action_mask"].any()
        assert (observation == batch.observe(seat)[0]).all()
        assert -1 <= total <= 1


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
@largest
def test_the_vector_environment_does_what_a_loop_over_single_ones_does(mode, variant):
    name = registered(variant.game)
    options = {"rules": variant.rules, "num_players": variant.num_players}
    native = gymnasium.make_vec(name, 3, autoreset_mode=mode, **options)
    loop = gymnasium.make_vec(name, 3, "sync", vector_kwargs={"autoreset_mode": mode}, **options)
    assert isinstance(native, AnyVectorEnv) or variant.game == DEFAULT_GAME
    rng, result, ends = np.random.default_rng(0), native.reset(seed=7), 0
    assert data_equivalence(result, loop.reset(seed=7), exact=True)
    info = result[1]
    for step in range(60):
        actions = choose(info["action_mask"], rng)
        if step % 20 == 10:
            actions[step % 3] = -1  # illegal
        result, expected = native.step(actions), loop.step(actions)
        terminated, info = result[2], result[4]
        if mode == "NextStep":  # the one difference: nothing can be drawn from an empty mask
            expected[4]["action_mask"][terminated] = 1
        assert data_equivalence(result, expected, exact=True)
        ends += terminated.sum()
        if mode == "Disabled" and terminated.any():
            result = native.reset(options={"reset_mask": terminated})
            assert data_equivalence(result, loop.reset(options={"reset_mask": terminated}), exact=True)
            info["action_mask"] = native.action_masks()
    assert ends > 2


@largest
def test_sb3_contrib_learns_by_the_masks(seated, variant):
    ended = []
    made = Monitor(seated)
    model = MaskablePPO("MlpPolicy", made, n_steps=128, batch_size=64, n_epochs=1, seed=0, device="cpu")
    model.learn(
        256, callback=lambda state, _: ended.extend(info for info in state["infos"] if "illegal_action" in info) or True
    )
    assert made.get_episode_lengths()
    assert not ended
    observation, _ = made.reset(seed=0)
    masks = get_action_masks(made)
    assert masks[model.predict(observation, action_masks=masks)[0]]


# --- looking ---


@largest
def test_every_way_of_rendering_shows_the_table(variant):
    made = env(**arguments(variant, render_mode="ansi"))
    made.reset(seed=1)
    assert made.render() == made.game.render()
    frames = env(**arguments(variant, render_mode="rgb_array"))
    frames.reset(seed=1)
    first = frames.render()
    assert first.dtype == np.uint8
    assert first.shape[2] == 3
    assert first.std() > 0
    vector = AnyVectorEnv(2, **arguments(variant, render_mode="rgb_array"))
    vector.reset(seed=1)
    assert len(vector.render()) == 2
    single = AnyEnv(**arguments(variant, render_mode="ansi", seat=0))
    single.reset(seed=1)
    assert single.render() == single._games.text(0)
