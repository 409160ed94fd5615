"""Artus as a PettingZoo environment."""

import copy
import pickle
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pettingzoo
import pytest
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from artus_env import Game, IllegalMoveError, artus_v0
from engine_play import VARIANTS, decisions, random_game

variants = pytest.mark.parametrize(("rules", "num_players"), VARIANTS)
both_constructors = pytest.mark.parametrize("make", [artus_v0.env, artus_v0.raw_env], ids=["env", "raw_env"])


def any_legal(env, rng):
    """A random legal action of the selected agent; None if the agent has terminated."""
    observation, _, terminated, _, _ = env.last()
    return None if terminated else int(rng.choice(np.flatnonzero(observation["action_mask"])))


def play(env, seed=0, steps=None):
    """Take random steps until all agents have terminated, or `steps` steps; return the actions."""
    rng, actions = np.random.default_rng(seed), []
    while not all(env.terminations.values()) and len(actions) != steps:
        actions.append(any_legal(env, rng))
        env.step(actions[-1])
    return actions


def mid_game(make=artus_v0.env, steps=40, seed=5, **kwargs):
    env = make(**kwargs)
    env.reset(seed=seed)
    play(env, steps=steps)
    return env


def illegal_action(env):
    return int(np.flatnonzero(env.last()[0]["action_mask"] == 0)[0])


# --- PettingZoo's requirements; `contract/test_environments.py` runs PettingZoo's own tests ---


def test_it_is_registered():
    env = pettingzoo.make("aec", "artus-v0", rules="advanced", num_players=3)
    assert env.unwrapped is env
    assert str(env) == "artus_v0"
    assert (env.rules, env.possible_agents) == ("advanced", ["player_0", "player_1", "player_2"])


def test_importing_again_does_not_warn():
    code = "import importlib, artus_env; importlib.reload(artus_env.registration); importlib.reload(artus_env)"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


@pytest.mark.parametrize(
    "call",
    [
        "env.step(0)", "env.last()", "env.observe('player_0')", "env.state()", "env.render()", "env.agent_iter()",
        "env.agents", "env.num_agents", "env.agent_selection", "env.rewards", "env.terminations", "env.truncations",
        "env.infos",
    ],
)  # fmt: skip
def test_before_reset_it_raises_what_pettingzoo_raises(call):
    errors = []
    for env in (artus_v0.env(render_mode="ansi"), OrderEnforcingWrapper(artus_v0.raw_env(render_mode="ansi"))):
        with pytest.raises((AssertionError, AttributeError)) as error:
            eval(call, {"env": env})
        errors.append(error.type)
    assert errors[0] is errors[1]


def test_a_loop_without_a_step_is_an_error():
    env = artus_v0.env()
    env.reset()
    with pytest.raises(AssertionError, match="need to call step"):
        for _ in env.agent_iter():
            pass


# --- turns and masks ---


@variants
def test_one_step_is_one_decision_and_all_terminate_together(rules, num_players):
    env = artus_v0.env(rules=rules, num_players=num_players)
    env.reset(seed=3)
    game, movers = Game(rules, num_players, seed=3), []
    for agent in env.agent_iter():
        observation, _, terminated, truncated, info = env.last()
        assert not truncated
        assert terminated == game.over
        assert (info["action_mask"] == observation["action_mask"]).all()
        assert (observation["action_mask"] == (0 if game.over else game.mask())).all()
        assert (observation["observation"] == game.observation(env.possible_agents.index(agent))).all()
        if terminated:
            env.step(None)
            continue
        assert agent == f"player_{game.player}"
        for other in env.agents:
            if other != agent:
                assert not env.infos[other]["action_mask"].any()
                assert not env.observe(other)["action_mask"].any()
        movers.append(agent)
        action = game.legal_actions()[-1]
        env.step(action)
        game.play(action)
    assert len(movers) == decisions(rules, num_players)
    assert any(first == second for first, second in pairwise(movers))  # several in a row
    assert env.agents == []


def test_the_state_is_what_all_players_see():
    env = mid_game(rules="advanced", num_players=3)
    assert (env.state() == np.concatenate([env.observe(agent)["observation"] for agent in env.agents])).all()


def test_observations_and_masks_never_change_afterwards():
    env, rng = mid_game(steps=0), np.random.default_rng(0)
    arrays_and_copies = []
    while not all(env.terminations.values()):
        observation, _, _, _, info = env.last()
        arrays = [*observation.values(), *env.observe(env.agent_selection).values(), info["action_mask"]]
        arrays_and_copies += [(array, array.copy()) for array in arrays]
        env.step(any_legal(env, rng))
    assert all((array == array_copy).all() for array, array_copy in arrays_and_copies)


def test_terminated_agents_can_only_leave():
    env = mid_game(steps=None)
    with pytest.raises(ValueError, match="only valid action is None"):
        env.step(0)
    for _ in range(2):
        env.step(None)
    assert env.agents == []
    env.step(None)  # nothing happens, as with PettingZoo's wrapper


# --- rewards ---


@pytest.mark.parametrize("mode", ["win", "margin"])
def test_the_end_pays_once(mode):
    num_players = 3
    env = artus_v0.env("advanced", num_players, mode)
    for seed in range(5):
        env.reset(seed=seed)
        totals = dict.fromkeys(env.agents, 0.0)
        rng = np.random.default_rng(seed)
        for agent in env.agent_iter():
            _, reward, terminated, _, _ = env.last()
            assert terminated or not any(env.rewards.values())
            totals[agent] += reward
            env.step(any_legal(env, rng))
        scores, winners = np.array(env.game.scores), env.game.winners
        if mode == "margin":
            expected = [(score - (scores.sum() - score) / (num_players - 1)) / 100 for score in scores]
        else:
            reward_of_winner = (num_players - len(winners)) / (len(winners) * (num_players - 1))
            expected = [
                reward_of_winner if player in winners else -1 / (num_players - 1) for player in range(num_players)
            ]
        assert list(totals.values()) == pytest.approx(expected)


@variants
def test_prestige_is_paid_move_by_move_and_sums_to_the_margin(rules, num_players):
    env = artus_v0.env(rules, num_players, "prestige")
    env.reset(seed=2)
    rng, totals = np.random.default_rng(0), np.zeros(num_players)
    while not all(env.terminations.values()):
        before, mover = np.array(env.game.scores), env.possible_agents.index(env.agent_selection)
        env.step(any_legal(env, rng))
        gain = (np.array(env.game.scores) - before)[mover] / 100
        expected = np.full(num_players, -gain / (num_players - 1))
        expected[mover] = gain
        rewards = np.array(list(env.rewards.values()))
        assert rewards == pytest.approx(expected)
        totals += rewards
    scores = np.array(env.game.scores)
    assert totals == pytest.approx((scores - (scores.sum() - scores) / (num_players - 1)) / 100)


def test_a_waiting_agent_collects_the_rewards_of_others_moves():
    env, rng = mid_game(reward="prestige", steps=0), np.random.default_rng(0)
    due_rewards = dict.fromkeys(env.agents, 0.0)
    for agent in env.agent_iter():
        _, reward, _, _, _ = env.last()
        assert reward == pytest.approx(due_rewards[agent])
        due_rewards[agent] = 0.0
        env.step(any_legal(env, rng))
        for other, new_reward in env.rewards.items():
            due_rewards[other] += new_reward


# --- illegal actions ---


@variants
def test_a_wrapper_that_pays_movers_alone_never_tells_the_start_player_how_its_games_end(rules, num_players):
    """docs/frameworks.md says this about the wrapper in PettingZoo's tutorial for Stable-Baselines3."""
    env, rng, num_lost = artus_v0.env(rules=rules, num_players=num_players), np.random.default_rng(0), 0
    for seed in range(5):
        env.reset(seed=seed)
        start = env.possible_agents[env.game.to_dict()["start_player"]]
        while not all(env.terminations.values()):
            mover = env.agent_selection
            env.step(any_legal(env, rng))
            assert env.rewards[mover] == 0 or mover != start
        num_lost += env.rewards[start] != 0
    assert num_lost > 0


@pytest.mark.parametrize("action", ["masked", -1, "A", 2**70])
def test_an_illegal_action_ends_the_game_for_all(action):
    env = mid_game(rules="advanced", num_players=4, reward="prestige")
    offender = env.agent_selection
    action = {"masked": illegal_action(env), "A": env.action_space(offender).n}.get(action, action)
    env.step(action)
    assert env.rewards == {agent: -1 if agent == offender else 0 for agent in env.possible_agents}
    assert env.infos[offender]["illegal_action"] == action
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    assert not any(env.infos[agent]["action_mask"].any() for agent in env.agents)
    assert not any(env.observe(agent)["action_mask"].any() for agent in env.agents)
    assert env.agent_selection == offender
    assert env.last()[1] == -1
    for _ in env.agent_iter():
        env.step(None)
    env.reset()
    assert not any(env.terminations.values())


def test_raw_env_raises_and_stays_as_it_was():
    env = mid_game(artus_v0.raw_env)
    before, agent = copy.deepcopy(env), env.agent_selection
    for action in (illegal_action(env), -1, env.action_space(agent).n):
        with pytest.raises(IllegalMoveError, match="is illegal for player"):
            env.step(action)
    assert env.game == before.game
    assert env.agent_selection == agent
    assert (env.last()[0]["action_mask"] == before.last()[0]["action_mask"]).all()
    assert play(env) == play(before)


@both_constructors
@pytest.mark.parametrize("action", [None, 1.0, "3", [1, 2], True, False, np.bool_(True)])
def test_what_is_no_whole_number_is_no_action(make, action):
    env = mid_game(make)
    with pytest.raises(TypeError):
        env.step(action)
    assert not any(env.terminations.values())


def test_whole_numbers_of_all_kinds_are_actions():
    env = mid_game(steps=0)
    for number_type in (int, np.int32, np.uint8, np.array):
        env.step(number_type(any_legal(env, np.random.default_rng(0))))
    assert not any(env.terminations.values())


# --- copies ---


def unpickled_copy(env):
    return pickle.loads(pickle.dumps(env))


@both_constructors
@pytest.mark.parametrize("make_copy", [copy.deepcopy, unpickled_copy])
def test_a_copy_in_mid_game_has_the_same_future(make, make_copy):
    env = mid_game(make, rules="advanced", num_players=3, reward="prestige")
    twin = make_copy(env)
    assert (twin.agents, twin.agent_selection, twin.rewards) == (env.agents, env.agent_selection, env.rewards)
    assert twin._cumulative_rewards == env._cumulative_rewards
    play(twin, seed=9)  # playing one leaves the other alone
    assert not any(env.terminations.values())
    second_copy = make_copy(env)
    assert play(second_copy, seed=1) == play(env, seed=1)
    assert second_copy.rewards == env.rewards
    second_copy.reset()
    env.reset()
    assert second_copy.game == env.game


# --- starting states ---


def test_without_a_seed_the_deals_go_on():
    env, same_seed_env, other_env = (artus_v0.env() for _ in range(3))
    env.reset(seed=11)
    same_seed_env.reset(seed=11)
    other_env.reset()
    deals = [env.game]
    for _ in range(5):
        env.reset()
        same_seed_env.reset()
        assert env.game == same_seed_env.game
        assert env.game not in [*deals, other_env.game]
        deals.append(env.game)


@pytest.mark.parametrize("start_player", [0, 1, 2])
def test_the_start_player_can_be_named(start_player):
    env = artus_v0.env(num_players=3)
    env.reset(seed=4, options={"start_player": start_player})
    assert env.game == Game(num_players=3, seed=4, start_player=start_player)
    assert env.agent_selection == f"player_{(start_player - 1) % 3}"  # his right neighbour places first


def test_a_game_can_begin_at_a_position():
    game = random_game("advanced", 3, seed=8, moves=50)
    env = artus_v0.env(rules="advanced", num_players=3)
    env.reset(options={"position": game.to_dict()})
    assert env.game == game
    assert env.agent_selection == f"player_{game.player}"
    assert (env.last()[0]["action_mask"] == game.mask()).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"starter": 1, "first": 2}, "starter, first unknown"),
        ({"start_player": 2}, "start_player must be in 0..1"),
        ({"start_player": 0, "position": ("beginner", 2, 1, 30)}, "start_player and position"),
        ({"position": ("beginner", 3, 1, 30)}, "to beginner with 3 players, this is beginner with 2"),
        ({"position": ("advanced", 2, 1, 30)}, "to advanced with 2 players"),
        ({"position": ("beginner", 2, 1)}, "the game is over"),
        ({"position": {"rules": "beginner"}}, "missing: num_players"),
    ],
)
def test_options_that_do_not_fit_are_named_and_change_nothing(options, message):
    """Positions are written as the arguments of `random_game`."""
    if isinstance(options.get("position"), tuple):
        options = {**options, "position": random_game(*options["position"]).to_dict()}
    env = mid_game()
    before = env.game.clone()
    with pytest.raises(ValueError, match=message):
        env.reset(seed=1, options=options)
    assert env.game == before


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"rules": "expert"}, "rules"),
        ({"num_players": 5}, "num_players"),
        ({"reward": "money"}, "reward"),
        ({"render_mode": "rgb"}, "render_mode"),
    ],
)
def test_arguments_that_do_not_fit_are_named(kwargs, message):
    with pytest.raises(ValueError, match=message):
        artus_v0.env(**kwargs)
