"""Artus as a Gymnasium environment: one seat plays, agents play the others. The tests for all games are in
`contract/test_environments.py`."""

import copy
import pickle
from itertools import pairwise

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode

from artus_env import Game, IllegalMoveError
from artus_env.artus_v0 import ArtusEnv, ArtusVectorEnv
from engine_play import VARIANTS, random_game

ENV = "artus_env:Artus-v0"
variants = pytest.mark.parametrize(("rules", "num_players"), VARIANTS)


def choose(masks, rng):
    """Draw a legal action uniformly for each row of masks; any action where the row is all zeros."""
    return (rng.random(masks.shape) * masks).argmax(axis=-1)


def play(env, seed=0):
    """Play random actions until the episode ends; return the actions, the observations and the rewards."""
    rng, actions, observations, rewards, terminated = np.random.default_rng(seed), [], [], [], False
    while not terminated:
        actions.append(int(choose(env.action_masks(), rng)))
        observation, reward, terminated, _, _ = env.step(actions[-1])
        observations.append(observation)
        rewards.append(reward)
    return actions, observations, rewards


class Witness:
    """Plays the lowest legal action and remembers for which players it was asked."""

    def __init__(self):
        self.players = set()

    def act(self, view):
        self.players |= set(view.player.tolist())
        return view.mask.argmax(axis=1)


def lowest(observation, action_mask):
    return int(action_mask.argmax())


def state_bytes(env):
    """The state of an environment's games as bytes, to compare it with others."""
    return env.games.batch.states.tobytes()


# --- one environment ---


def test_it_runs_behind_the_wrappers_that_make_puts_around_it():
    from sb3_contrib.common.maskable.utils import get_action_masks

    env = gymnasium.make(ENV, render_mode="ansi")
    with pytest.raises(ResetNeeded):
        env.step(0)
    _, info = env.reset(seed=0)
    rng, terminated = np.random.default_rng(0), False
    while not terminated:
        assert (get_action_masks(env) == info["action_mask"].astype(bool)).all()
        assert "prestige" in env.render()
        _, _, terminated, _, info = env.step(choose(info["action_mask"], rng))


def test_gymnasium_samples_legal_actions_with_the_masks():
    env = ArtusEnv("advanced", 3)
    env.reset(seed=0)
    terminated = False
    while not terminated:
        action = env.action_space.sample(env.action_masks())
        _, _, terminated, _, info = env.step(action)
        assert "illegal_action" not in info
    envs = ArtusVectorEnv(3)
    envs.reset(seed=0)
    for _ in range(20):
        info = envs.step(envs.action_space.sample(tuple(envs.action_masks())))[4]
        assert "illegal_action" not in info


@variants
def test_an_episode_has_a_seats_decisions_of_one_game(rules, num_players):
    env = ArtusEnv(rules, num_players, seat=1)
    _, info = env.reset(seed=3)
    rng, decisions = np.random.default_rng(0), 0
    terminated = False
    while not terminated:
        _, _, terminated, truncated, info = env.step(choose(info["action_mask"], rng))
        decisions += 1
        assert not truncated
    assert env.games.batch.over.all()
    assert not env.action_masks().any()
    knights, cards, dealt = (
        4 if num_players == 4 else 5,
        16 if rules == "beginner" else 22,
        4 if rules == "beginner" else 6,
    )
    assert decisions == knights + cards + cards - dealt
    with pytest.raises(ResetNeeded):
        env.step(0)


@variants
def test_the_reward_is_what_the_seat_made_of_the_whole_game(rules, num_players):
    for mode in ("win", "margin", "prestige"):
        env = ArtusEnv(rules, num_players, reward=mode)
        for seed in range(4):
            _, info = env.reset(seed=seed)
            rewards = play(env, seed)[2]
            scores, seat = env.games.batch.scores[0].astype(float), info["seat"]
            if mode == "win":
                winners = scores == scores.max()
                share = (num_players - winners.sum()) / (winners.sum() * (num_players - 1))
                expected = share if winners[seat] else -1 / (num_players - 1)
            else:
                expected = (scores[seat] - (scores.sum() - scores[seat]) / (num_players - 1)) / 100
            assert sum(rewards) == pytest.approx(expected, abs=1e-5)
            assert mode == "prestige" or not any(rewards[:-1])


def game_that_the_last_player_wins():
    """A game two moves before its end: player 0 moves, then player 1, who wins whatever the two moves are."""
    for seed in range(100):
        game = random_game("beginner", 2, seed)
        before = game.first()
        for action in game.actions_played[:-2]:
            before.play(action)
        movers = [before.player, 1 - before.player]
        if movers == [0, 1] and game.scores[1] > game.scores[0] + 60 and before.scores[1] > before.scores[0] + 60:
            return before
    raise AssertionError("no such game")


@pytest.mark.parametrize(("seat", "reward"), [(0, -1), (1, 1)])
def test_a_game_that_ends_on_an_opponents_move_still_pays(seat, reward):
    game = game_that_the_last_player_wins()
    env = ArtusEnv(seat=seat)
    _, info = env.reset(options={"position": game.to_dict()})
    assert env.step(choose(info["action_mask"], np.random.default_rng(0)))[1:3] == (reward, True)


def test_what_opponents_did_before_the_first_decision_is_paid_with_it():
    game = random_game("beginner", 2, seed=1, moves=24)
    while game.to_dict()["phase"] != "play" or not any(points := [game.clone().play(a) for a in game.legal_actions()]):
        game.play(game.legal_actions()[0])
    mover = game.player
    best_action = game.legal_actions()[int(np.argmax(np.abs(points)))]
    position = game.to_dict()
    after = game.clone()
    gain = after.play(best_action)
    env = ArtusEnv(
        seat=1 - mover,
        reward="prestige",
        opponents=lambda _, mask: best_action if mask[best_action] else int(mask.argmax()),
    )
    env.reset(options={"position": position})
    before = env.games.batch.scores[0].copy()
    assert before[mover] - position["scores"][mover] == gain
    rewards = play(env)[2]
    scores = env.games.batch.scores[0]
    margin = (scores - scores[::-1])[1 - mover] - (position["scores"][1 - mover] - position["scores"][mover])
    assert sum(rewards) == pytest.approx(margin / 100, abs=1e-5)


# --- seats and opponents ---


def test_the_seat_is_drawn_for_each_episode_unless_given():
    env = ArtusEnv("beginner", 3)
    env.reset(seed=0)
    assert {env.reset()[1]["seat"] for _ in range(40)} == {0, 1, 2}
    fixed = ArtusEnv("beginner", 3, seat=2)
    assert {fixed.reset()[1]["seat"] for _ in range(10)} == {2}
    assert fixed.reset(options={"seat": 1})[1]["seat"] == 1
    assert fixed.reset()[1]["seat"] == 2


def test_a_list_of_opponents_sits_clockwise_from_the_seat():
    witnesses = [Witness(), Witness(), Witness()]
    env = ArtusEnv("advanced", 4, seat=2, opponents=witnesses)
    env.reset(seed=0)
    play(env)
    assert [witness.players for witness in witnesses] == [{3}, {0}, {1}]


def test_one_opponent_sits_everywhere_else():
    witness = Witness()
    env = ArtusEnv("beginner", 3, seat=1, opponents=witness)
    env.reset(seed=0)
    play(env)
    assert witness.players == {0, 2}


def test_opponents_can_be_names_agents_and_functions():
    games = []
    for opponents in (Witness(), lowest, [lowest]):
        env = ArtusEnv(seat=0, opponents=opponents)
        env.reset(seed=1)
        play(env)
        games.append(state_bytes(env))
    assert len(set(games)) == 1
    for name in ("random", "greedy"):
        env = ArtusEnv(seat=0, opponents=name)
        env.reset(seed=1)
        play(env)
        assert state_bytes(env) not in games
        games.append(state_bytes(env))


def test_greedy_is_the_stronger_opponent():
    means = []
    for opponents in ("random", "greedy"):
        env = ArtusEnv(opponents=opponents, reward="margin")
        env.reset(seed=0)
        returns = []
        for seed in range(30):
            returns.append(sum(play(env, seed)[2]))
            env.reset()
        means.append(np.mean(returns))
    assert means[1] < means[0]


@pytest.mark.parametrize(
    ("kwargs", "error", "message"),
    [
        ({"rules": "expert"}, ValueError, "rules"),
        ({"num_players": 1}, ValueError, "num_players"),
        ({"num_players": True}, ValueError, "num_players"),
        ({"seat": 2}, ValueError, "seat must be in 0..1"),
        ({"seat": True}, ValueError, "seat must be a whole number, got True"),
        ({"opponents": "nobody"}, ValueError, "there is no agent 'nobody'"),
        ({"opponents": ["random", "random"]}, ValueError, "opponents must be one for all or a list of 1"),
        ({"opponents": 3}, TypeError, "an agent is"),
        ({"reward": "money"}, ValueError, "reward"),
        ({"components": "box"}, TypeError, "components"),
        ({"render_mode": "rgb"}, ValueError, "render_mode"),
    ],
)
def test_arguments_that_do_not_fit_are_named(kwargs, error, message):
    for make in (ArtusEnv, ArtusVectorEnv):
        with pytest.raises(error, match=message):
            make(**kwargs)


class AgentOfFractions:
    """Returns no whole numbers."""

    def act(self, view):
        return view.mask.argmax(axis=1) / 2


def first_illegal(observation, mask):
    return int(mask.argmin())


def test_an_opponent_who_plays_an_illegal_move_is_named():
    env = ArtusEnv(num_players=3, seat=0, opponents=["random", first_illegal])
    named = r"agent 1 of the line-up \(first_illegal\): game 0: action 0 \(.*\) is illegal for player 2; legal: "
    with pytest.raises(IllegalMoveError, match=named):
        env.reset(seed=0, options={"start_player": 0})
    envs = ArtusVectorEnv(3, seat=0, opponents=AgentOfFractions())
    with pytest.raises(
        ValueError, match=r"agent 0 of the line-up \(AgentOfFractions\): actions must be 3 whole numbers, got float64"
    ):
        envs.reset(seed=0, options={"start_player": 0})


def test_an_opponent_who_gives_up_is_named():
    env = ArtusEnv(seat=0, opponents="program:/no/such/bot")
    with pytest.raises(RuntimeError, match=r"an opponent gave its game up: .*/no/such/bot"):
        env.reset(seed=0, options={"start_player": 0})


# --- illegal actions, seeds, options, copies ---


@pytest.mark.parametrize("action", ["masked", -1, 10_000, 2**70])
def test_an_illegal_action_ends_the_episode(action):
    env = ArtusEnv("advanced", 3, reward="prestige")
    _, info = env.reset(seed=0)
    assert "illegal_action" not in info
    action = int(info["action_mask"].argmin()) if action == "masked" else action
    before = state_bytes(env)
    _, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated, info["illegal_action"]) == (-1, True, False, action)
    assert not info["action_mask"].any()
    assert state_bytes(env) == before
    with pytest.raises(ResetNeeded):
        env.step(0)
    env.reset()
    for non_action in (1.5, True, np.bool_(True), None):
        with pytest.raises(TypeError):
            env.step(non_action)
    assert env.action_masks().any()


def test_a_seed_settles_seats_deals_and_opponents_of_all_episodes():
    histories = []
    for _ in range(2):
        env = ArtusEnv("advanced", 3)
        env.reset(seed=5)
        assert env.games.batch.seeds[0] == 5
        history = []
        for episode in range(3):
            history.append((play(env, episode)[0], state_bytes(env)))
            history.append(env.reset()[1]["seat"])
        histories.append(history)
    assert histories[0] == histories[1]
    assert len({game for _, game in histories[0][::2]}) == 3
    other = ArtusEnv("advanced", 3)
    other.reset()
    assert play(other, 0)[0] != histories[0][0][0]


def test_the_deal_of_a_seed_is_that_of_the_game():
    env = ArtusEnv("advanced", 2, seat=1)
    env.reset(seed=9, options={"start_player": 0})  # player 1 places first: nothing has happened yet
    assert state_bytes(env) == Game("advanced", 2, seed=9, start_player=0).states.tobytes()


def test_a_game_can_begin_at_a_position():
    game = random_game("advanced", 3, seed=8, moves=50)
    env = ArtusEnv("advanced", 3)
    observation, info = env.reset(options={"position": game.to_dict(), "seat": game.player})
    assert info["seat"] == game.player
    assert (observation == game.observation()).all()
    assert (info["action_mask"] == game.mask()).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seats": 1}, "seats unknown"),
        ({"seat": 2}, "seat must be in 0..1"),
        ({"start_player": -1}, "start_player must be in 0..1"),
        ({"start_player": 0, "position": ("beginner", 2, 1, 30)}, "start_player and position"),
        ({"position": ("beginner", 3, 1, 30)}, "to beginner with 3 players"),
        ({"position": ("beginner", 2, 1)}, "the game is over"),
    ],
)
def test_options_that_do_not_fit_are_named_and_change_nothing(options, message):
    """Positions are written as the arguments of `random_game`."""
    if "position" in options:
        options = {**options, "position": random_game(*options["position"]).to_dict()}
    for env in (ArtusEnv(), ArtusVectorEnv(3)):
        env.reset(seed=0)
        before = state_bytes(env)
        with pytest.raises(ValueError, match=message):
            env.reset(seed=1, options=options)
        assert state_bytes(env) == before


def test_a_position_must_leave_the_seat_a_decision():
    game = game_that_the_last_player_wins()
    game.play(game.legal_actions()[0])
    with pytest.raises(ValueError, match="before the seat has a decision"):
        ArtusEnv(seat=0).reset(options={"position": game.to_dict()})


@pytest.mark.parametrize(
    "make_copy", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["deepcopy", "pickle"]
)
def test_a_copy_in_mid_game_has_the_same_future(make_copy):
    env = ArtusEnv("advanced", 3, reward="prestige")
    env.reset(seed=2)
    rng = np.random.default_rng(0)
    for _ in range(10):
        env.step(choose(env.action_masks(), rng))
    twin = make_copy(env)
    ours, theirs = play(env, 1), play(twin, 1)
    assert ours[0] == theirs[0]
    assert ours[2] == theirs[2]
    assert env.reset()[1]["seat"] == twin.reset()[1]["seat"]
    assert state_bytes(env) == state_bytes(twin)


def test_observations_never_change_afterwards():
    env = ArtusEnv()
    observations = [env.reset(seed=0)[0]]
    observations += play(env)[1]
    assert not any(np.shares_memory(one, other) for one, other in pairwise(observations))
    second_env = ArtusEnv()
    first_observation = second_env.reset(seed=0)[0]
    assert all(
        (one == other).all() for one, other in zip(observations, [first_observation, *play(second_env)[1]], strict=True)
    )


# --- the vector environment ---


def native_and_loop(num_envs, mode, **kwargs):
    """The native vector environment, and Gymnasium's loop over single environments."""
    loop = gymnasium.make_vec(ENV, num_envs, "sync", vector_kwargs={"autoreset_mode": mode}, **kwargs)
    return gymnasium.make_vec(ENV, num_envs, autoreset_mode=mode, **kwargs), loop


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_it_does_what_a_loop_over_single_environments_does(mode):
    options = {"rules": "advanced", "num_players": 3, "opponents": ["greedy", "random"], "reward": "prestige"}
    native, loop = native_and_loop(5, mode, **options)
    assert isinstance(native, ArtusVectorEnv)
    assert native.metadata["autoreset_mode"] is AutoresetMode(mode)
    assert native.observation_space == loop.observation_space
    assert native.action_space == loop.action_space
    result = native.reset(seed=7)
    assert data_equivalence(result, loop.reset(seed=7), exact=True)
    rng, info, ends = np.random.default_rng(0), result[1], 0
    for step in range(130):
        actions = choose(info["action_mask"], rng)
        if step % 20 == 10:
            actions[step % 5] = (-1, 10_000, native.games.mask()[step % 5].argmin())[step // 20 % 3]  # illegal
        result, expected = native.step(actions), loop.step(actions)
        terminated, info = result[2], result[4]
        if mode == "NextStep":  # one of two differences: nothing can be drawn from an empty mask
            assert info["action_mask"][terminated].all()
            assert not expected[4]["action_mask"][terminated].any()
            expected[4]["action_mask"][terminated] = 1
        assert data_equivalence(result, expected, exact=True)
        assert (native.action_masks() == info["action_mask"]).all()
        ends += terminated.sum()
        if mode == "Disabled" and terminated.any():
            with pytest.raises(ResetNeeded):
                native.step(actions)
            observation, info = native.reset(options={"reset_mask": terminated})
            expected_observation, expected_info = loop.reset(options={"reset_mask": terminated})
            assert (observation == expected_observation).all()
            for key in ("action_mask", "seat", "skipped_games"):  # the other difference: infos are for all games
                assert (info[key][terminated] == expected_info[key][terminated]).all()
            assert (info["action_mask"] == loop.call("action_masks")).all()
    assert ends > 8


@pytest.mark.parametrize("name", ["ArtusRoyal", "Hoard"])  # games of different lengths
def test_without_autoreset_the_masks_of_a_reset_are_fit_to_act_by(name):
    """The usual loop plays no illegal action, also in games that weren't dealt anew."""
    envs = gymnasium.make_vec(f"artus_env:{name}-v0", 8, autoreset_mode="Disabled")
    rng, (_, info), ends = np.random.default_rng(0), envs.reset(seed=0), 0
    for _ in range(200):
        *_, over, _, info = envs.step(choose(info["action_mask"], rng))
        assert "illegal_action" not in info
        ends += over.sum()
        if over.any():
            seats = info["seat"]
            _, info = envs.reset(options={"reset_mask": over})
            assert info["action_mask"].any(axis=1).all()
            assert info["_action_mask"].all()
            assert (info["seat"][~over] == seats[~over]).all()
    assert ends > 8


def test_an_illegal_action_too_large_for_numpy_is_named_all_the_same():
    env = ArtusEnv()
    env.reset(seed=0)
    assert env.step(1 << 70)[-1]["illegal_action"] == 1 << 70


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_episodes_are_cut_off_after_the_steps_that_were_named(mode):
    envs = gymnasium.make_vec(ENV, 4, max_episode_steps=3, autoreset_mode=mode)
    assert envs.unwrapped.spec.kwargs["max_episode_steps"] == 3
    (_, info), rng = envs.reset(seed=1), np.random.default_rng(0)
    for _ in range(2):
        for step in range(3):
            _, rewards, terminated, truncated, info = envs.step(choose(info["action_mask"], rng))
            assert not terminated.any()
            assert not rewards.any()
            assert truncated.all() if step == 2 else not truncated.any()
        if mode == "Disabled":
            with pytest.raises(ResetNeeded):
                envs.step(choose(info["action_mask"], rng))
            _, info = envs.reset(options={"reset_mask": truncated})
        elif mode == "SameStep":
            assert info["_final_obs"].all()
            assert info["final_info"]["action_mask"].any(axis=1).all()
        else:
            assert info["action_mask"].all()
            *_, truncated, info = envs.step(np.zeros(4, int))
            assert not truncated.any()


@pytest.mark.parametrize("no_limit", [None, -1])
def test_episodes_are_cut_off_only_where_that_is_asked_for(no_limit):
    envs = gymnasium.make_vec(ENV, 2, max_episode_steps=no_limit)
    (_, info), rng = envs.reset(seed=1), np.random.default_rng(0)
    for _ in range(100):
        *_, truncated, info = envs.step(choose(info["action_mask"], rng))
        assert not truncated.any()


@pytest.mark.parametrize("steps", [0, -2, 1.5, True, "3"])
def test_a_wrong_limit_of_steps_is_named(steps):
    with pytest.raises(ValueError, match="max_episode_steps must be"):
        ArtusVectorEnv(2, max_episode_steps=steps)


def test_attributes_and_methods_of_all_games_as_in_gymnasiums_vector_environments():
    native, loop = native_and_loop(3, "NextStep", render_mode="ansi")
    native.reset(seed=4)
    loop.reset(seed=4)
    for name in ("action_masks", "render", "render_mode", "action_space", "observation_space"):
        for method in ("call", "get_attr"):
            assert data_equivalence(getattr(native, method)(name), getattr(loop, method)(name), exact=True), name
    for values in ([1, 2, 3], ("a", "b", "c"), 7, None):
        for envs in (native, loop):
            envs.set_attr("level", values)
        assert native.get_attr("level") == loop.get_attr("level")
    native.set_attr("twice", [lambda x, k=k: 2 * x + k for k in range(3)])
    assert native.call("twice", 5) == (10, 11, 12)
    native.set_attr("render_mode", [None] * 3)
    assert native.call("render_mode") == (None, None, None)
    with pytest.raises(ValueError, match="render_mode is the same for all games"):
        native.set_attr("render_mode", [None, "ansi", None])
    with pytest.raises(ValueError, match="level must be one value or a list of 3, got 2"):
        native.set_attr("level", [1, 2])
    with pytest.raises(AttributeError, match="colour"):
        native.get_attr("colour")
    for name in ("reset", "step", "close"):
        with pytest.raises(ValueError, match=name):
            native.call(name)


def test_next_step_ignores_the_action_after_the_end():
    env = ArtusVectorEnv(2)
    env.reset(seed=0)
    mask = env.action_masks()
    _, rewards, terminated, _, info = env.step([int(mask[0].argmin()), int(mask[1].argmax())])
    assert rewards.tolist() == [-1, 0]
    assert terminated.tolist() == [True, False]
    assert info["_illegal_action"].tolist() == [True, False]
    assert info["action_mask"][0].all()
    _, rewards, terminated, _, info = env.step([10_000, int(info["action_mask"][1].argmax())])
    assert rewards[0] == 0
    assert not terminated.any()
    assert "illegal_action" not in info
    assert 0 < info["action_mask"][0].sum() < len(mask[0])


def test_same_step_shows_the_true_last_observation_and_the_lost_games_reward():
    game = game_that_the_last_player_wins()
    env = ArtusVectorEnv(2, seat=0, autoreset_mode="SameStep")
    _, info = env.reset(seed=0, options={"position": game.to_dict()})
    observations, rewards, terminated, _, info = env.step(info["action_mask"].argmax(axis=1))
    assert rewards.tolist() == [-1, -1]
    assert terminated.all()
    phase_and_left = {tuple(observation[-16:-12]) for observation in info["final_obs"]}
    assert phase_and_left == {(0, 0, 0, 0)}  # over, nothing left
    assert all((last != first).any() for last, first in zip(info["final_obs"], observations, strict=True))
    assert not info["final_info"]["action_mask"].any()
    assert info["action_mask"].any(axis=1).all()


def test_seeds_can_be_given_one_by_one():
    env, other_env = ArtusVectorEnv(3), ArtusVectorEnv(3)
    observations = env.reset(seed=[4, 5, 6])[0]
    assert (observations == other_env.reset(seed=4)[0]).all()
    env.reset(seed=[8, None, 4])
    assert env.games.batch.seeds.tolist()[::2] == [8, 4]
    assert env.games.batch.seeds[1] != 5
    with pytest.raises(ValueError, match="seed must be one number or a list of 3"):
        env.reset(seed=[1, 2])


def test_before_the_first_reset_and_with_wrong_actions_nothing_happens():
    env = ArtusVectorEnv(3)
    with pytest.raises(ResetNeeded):
        env.step([0, 0, 0])
    env.reset(seed=0)
    before = state_bytes(env)
    for actions, error in (([0, 0], ValueError), ([0.0, 1.0, 2.0], TypeError), (3, ValueError)):
        with pytest.raises(error, match="actions must be 3 whole numbers"):
            env.step(actions)
    assert state_bytes(env) == before


def test_it_renders_every_table_as_its_seat_sees_it():
    env = gymnasium.make_vec(ENV, 2, render_mode="ansi")
    env.reset(seed=0, options={"seat": 1})
    tables = env.render()
    assert len(tables) == 2
    assert all("hand of A: (knight)" in text for text in tables)


@pytest.mark.parametrize("game", ["Artus", "ArtusRoyal", "ArtusQuest"])
def test_observations_may_come_as_floats_for_networks(game):
    """Scaled observations are those of the same games times the scale, and lie within the observation space."""
    options = {"num_players": 3, "opponents": "greedy"}
    plain, scaled = (gymnasium.make(f"artus_env:{game}-v0", scale_observation=scale, **options) for scale in (0, 1))
    vector_env = gymnasium.make_vec(f"artus_env:{game}-v0", 2, scale_observation=True, **options)
    scale = scaled.unwrapped.games.batch.definition.observation_scale(plain.unwrapped.games.batch.components)
    (observation, info), (floats, _) = plain.reset(seed=5), scaled.reset(seed=5)
    rows, _ = vector_env.reset(seed=5)
    over = False
    while not over:
        assert floats.dtype == np.float32
        assert scaled.observation_space.contains(floats)
        assert vector_env.observation_space.contains(rows)
        np.testing.assert_array_equal(floats, observation * scale)
        np.testing.assert_array_equal(rows[0], floats)
        action = int(np.flatnonzero(info["action_mask"])[-1])
        observation, _, over, _, info = plain.step(action)
        floats = scaled.step(action)[0]
        second = int(np.flatnonzero(vector_env.action_masks()[1])[0])
        rows = vector_env.step([action, second])[0]
    assert np.abs(floats).max() < 10
