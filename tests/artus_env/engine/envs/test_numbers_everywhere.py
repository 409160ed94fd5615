"""One rule for seeds, actions and options at every interface."""

import pickle

import gymnasium
import numpy as np
import pytest

from artus_env import Batch, Game, IllegalMoveError, artus_v0
from artus_env.engine.agents.names import find_agent


def aec(maker):
    env = maker()
    env.reset(seed=5)
    return env


def gym_env():
    env = gymnasium.make("artus_env:Artus-v0", seat=0)
    env.reset(seed=5)
    return env


def vector_env():
    envs = gymnasium.make_vec("artus_env:Artus-v0", num_envs=2, seat=0)
    envs.reset(seed=5)
    return envs


# --- seeds ---

USES_OF_A_SEED = {
    "Game": lambda seed: Game(seed=seed).to_dict(),
    "Batch": lambda seed: Batch(2, seed=seed).observation.tolist(),
    "Batch.reset": lambda seed: Batch(2).reset(seed),
    "Game.redeal": lambda seed: Game(seed=1).redeal(0, seed).to_dict(),
    "AEC env": lambda seed: aec(artus_v0.env).reset(seed=seed),
    "AEC raw_env": lambda seed: aec(artus_v0.raw_env).reset(seed=seed),
    "Gymnasium": lambda seed: gym_env().reset(seed=seed)[0].tolist(),
    "vector env": lambda seed: vector_env().reset(seed=seed)[0].tolist(),
    "vector env, a list": lambda seed: vector_env().reset(seed=[seed, 1])[0].tolist(),
}
EQUAL_SEEDS = [5, np.int8(5), np.int64(5), np.uint64(5)]


@pytest.mark.parametrize("interface", USES_OF_A_SEED)
def test_a_seed_is_a_whole_number_of_python_or_numpy(interface):
    use = USES_OF_A_SEED[interface]
    first_result, *other_results = (use(seed) for seed in EQUAL_SEEDS)
    assert all(result == first_result for result in other_results)
    for seed in (True, np.True_, 5.0, np.float64(5), "5", b"5", {5}, {"a": 5}, object()):
        with pytest.raises(TypeError, match=r"seed must be a whole number in 0\.\.2\*\*64-1, got "):
            use(seed)
    for seed in (-1, np.int64(-1), 2**64):
        with pytest.raises(ValueError, match=r"seed must be a whole number in 0\.\.2\*\*64-1, got "):
            use(seed)


# --- actions ---


def agent_that_returns(action):
    agent = find_agent(lambda observation, mask: action)
    batch = Batch(1, seed=5)
    from artus_env.engine.agents.view import choose_actions

    return choose_actions(batch, [agent], np.zeros((1, 2), np.int64), batch.seeds)


USES_OF_AN_ACTION = {
    "Game.play": lambda action: Game(seed=5).play(action),
    "Game.move": lambda action: Game(seed=5).move(action),
    "Game.is_seen": lambda action: Game(seed=5).is_seen(action, 0),
    "Game.public_action": lambda action: Game(seed=5).public_action(action, 0),
    "AEC env": lambda action: aec(artus_v0.env).step(action),
    "AEC raw_env": lambda action: aec(artus_v0.raw_env).step(action),
    "Gymnasium": lambda action: gym_env().step(action),
}
USES_OF_ACTIONS = {
    "Batch": lambda actions: Batch(2, seed=5).step(actions),
    "vector env": lambda actions: vector_env().step(actions),
}
NON_NUMBERS = [True, np.True_, 1.0, np.float64(1), np.array([1, 2]), object()]


@pytest.mark.parametrize("interface", USES_OF_AN_ACTION)
def test_an_action_is_a_whole_number_of_any_library(interface):
    import torch

    play = USES_OF_AN_ACTION[interface]
    legal = Game(seed=5).legal_actions()[0]
    for action in (legal, np.int16(legal), np.uint64(legal), np.array(legal), torch.tensor(legal)):
        play(action)
    for action in (*NON_NUMBERS, torch.tensor(True), torch.tensor(1.0)):
        with pytest.raises(TypeError, match="an action is a whole number, got "):
            play(action)


@pytest.mark.parametrize("interface", USES_OF_ACTIONS)
def test_actions_are_whole_numbers_of_any_library(interface):
    import torch

    play = USES_OF_ACTIONS[interface]
    legal = vector_env().action_masks().argmax(axis=1) if interface == "vector env" else Batch(2, seed=5).mask.argmax(1)
    for actions in (legal, legal.astype(np.uint64), legal.tolist(), tuple(legal), torch.tensor(legal)):
        play(actions)
    for actions in ([1.0, 2.0], [True, False], np.ones(2, np.bool_), [1, True], "ab", None, [[1], [2, 3]], {1, 2}):
        with pytest.raises(TypeError, match="actions must be 2 whole numbers, got "):
            play(actions)
    for actions in ([1], [1, 2, 3], np.ones((2, 1), np.int64), 1, []):
        with pytest.raises(ValueError, match="actions must be 2 whole numbers, got "):
            play(actions)


@pytest.mark.parametrize(
    "play",
    [
        lambda game, action: game.play(action),
        lambda game, action: game.move(action),
        lambda game, action: game.public_action(action, 0),
        lambda game, action: game.play_and_look(action, game.mask(), game.observation()),
    ],
)
@pytest.mark.parametrize("action", [300, -1, 339, 2**70, np.int64(300)])
def test_the_error_for_an_illegal_action_has_the_action_and_the_legal_ones(play, action):
    game = Game(seed=5)
    with pytest.raises(IllegalMoveError) as caught:
        play(game, action)
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert error.action == action
        assert error.legal == tuple(game.legal_actions())
        assert error.game is None
        assert str(error) == str(caught.value)


def test_the_error_of_a_text_a_batch_a_finished_game_and_raw_env_has_them_too():
    game = Game(seed=5)
    with pytest.raises(IllegalMoveError) as caught:
        game.play("@99")
    assert (caught.value.action, caught.value.legal) == ("@99", tuple(game.legal_actions()))
    env = aec(artus_v0.raw_env)
    with pytest.raises(IllegalMoveError) as caught:
        env.step(300)
    assert (caught.value.action, caught.value.legal) == (300, tuple(env.game.legal_actions()))
    batch = Batch(2, seed=5)
    with pytest.raises(IllegalMoveError) as caught:
        batch.step([batch.mask[0].argmax(), 300])
    assert (caught.value.action, caught.value.game) == (300, 1)
    assert caught.value.legal == tuple(np.flatnonzero(batch.mask[1]))
    while not game.over:
        game.play(game.legal_actions()[0])
    with pytest.raises(IllegalMoveError) as caught:
        game.play(1)
    assert (caught.value.action, caught.value.legal) == (1, ())


@pytest.mark.parametrize("move", [None, 1, b"@1", ["@1"]])
def test_a_move_is_a_text(move):
    with pytest.raises(TypeError, match="a move is a text, got "):
        Game(seed=5).action(move)


@pytest.mark.parametrize("action", [True, 1.0, None, "1", np.array([1, 2])])
def test_a_function_that_returns_no_whole_number_is_named(action):
    with pytest.raises(ValueError, match=r"agent 0 .*|.* must return one whole number, got "):
        agent_that_returns(action)


# --- options ---

RESETS_WITH_OPTIONS = {
    "AEC env": lambda options: aec(artus_v0.env).reset(options=options),
    "AEC raw_env": lambda options: aec(artus_v0.raw_env).reset(options=options),
    "Gymnasium": lambda options: gym_env().reset(options=options),
    "vector env": lambda options: vector_env().reset(options=options),
}


@pytest.mark.parametrize("interface", RESETS_WITH_OPTIONS)
def test_options_are_a_dict_of_known_names(interface):
    reset = RESETS_WITH_OPTIONS[interface]
    reset(None)
    reset({})
    reset({"start_player": None})
    for options in ([1], [], "start_player", 1, {"start_player"}):
        with pytest.raises(TypeError, match="options must be a dict with some of start_player, "):
            reset(options)
    for value in (None, 1):
        with pytest.raises(ValueError, match="options: start_playr unknown; there are start_player, "):
            reset({"start_playr": value})
    with pytest.raises(ValueError, match="unknown"):
        reset({1: 2})


# --- the rest of the batch's and the game's arguments ---


@pytest.mark.parametrize("value", [None, 1, 0, "yes", 1.0, [True]])
def test_autoreset_is_true_or_false(value):
    with pytest.raises(TypeError, match="autoreset must be True or False, got "):
        Batch(1, autoreset=value)
    assert Batch(1, autoreset=np.False_).autoreset is False


def nested_list(depth):
    nested = []
    for _ in range(depth):
        nested = [nested]
    return nested


@pytest.mark.parametrize("game", ["artus", "royal", "quest", "magpies"])
@pytest.mark.parametrize("names", [[1, 2], [None, "B"], "AB", 2, {"A", "B"}, ["A"], ["A", "B", "C"], nested_list(5000)])
def test_names_are_a_text_for_each_player(game, names):
    one_game = Game(game=game, seed=1)
    with pytest.raises(ValueError, match=r"players must (be a list of texts|name 2 players), got "):
        one_game.record(names)
    for show in (one_game.render, one_game.svg):
        with pytest.raises(ValueError, match=r"names must (be a list of texts|name 2 players), got "):
            show(names=names)
