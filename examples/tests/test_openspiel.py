"""OpenSpiel: its own checks pass, its searches get possible deals, and its exact algorithms give correct results."""

import itertools
import json

import numpy as np
import pyspiel
import pytest
from open_spiel.python import rl_environment
from open_spiel.python.algorithms.best_response import BestResponsePolicy
from open_spiel.python.algorithms.expected_game_score import policy_value
from open_spiel.python.algorithms.exploitability import nash_conv
from open_spiel.python.policy import UniformRandomPolicy
from open_spiel.python.pytorch.deep_cfr import DeepCFRSolver

import openspiel_ismcts
from artus_env import Components, Game, environments, openspiel
from artus_env.games.royal.components import Components as RoyalComponents

TWO_SUITS = RoyalComponents(suits=("hearts", "diamonds"), values=6, knights=0, shields=0, fields=2, swords=(1,), hand=2)
"""Twelve cards and hands of two: a game is over after a few decisions."""
games = pytest.mark.parametrize("name", ["artus", "royal", "quest"])


def started(game, actions=0, seed=0):
    """A state after the deal and this number of random actions."""
    state, rng = game.new_initial_state(), np.random.default_rng(seed)
    state.apply_action(0)
    for _ in range(actions):
        state.apply_action(int(rng.choice(state.legal_actions())))
    return state


# --- what OpenSpiel asks for ---


@games
@pytest.mark.parametrize("num_players", [2, 3])
def test_openspiels_random_simulations_pass(name, num_players):
    pyspiel.random_sim_test(openspiel.load(name, num_players=num_players, seed=1), 1, False, False)


@games
def test_they_pass_with_explicit_deals_written_and_read_in_mid_game(name):
    deals = [Game(game=name, seed=seed).first() for seed in (1, 2)]
    pyspiel.random_sim_test(openspiel.load(name, deals=deals), 1, True, False)


def test_a_game_is_known_by_its_parameters():
    deals = [Game(game="royal", seed=seed, components=TWO_SUITS) for seed in range(3)]
    game = openspiel.load("royal", components=TWO_SUITS, deals=deals, seed=5)
    again = pyspiel.load_game(str(game))
    assert (again.components, again.deals) == (TWO_SUITS, deals)
    assert [again.new_initial_state().child(outcome).game for outcome in range(3)] == deals
    assert pyspiel.load_game("artus_env(game=quest,num_players=4)").num_players() == 4


@games
def test_a_function_with_a_parameter_game_of_its_own_takes_the_name(name):
    env = rl_environment.Environment("artus_env", game_name=name, num_players=3)
    assert env.game.definition.name == name
    assert env.num_players == 3
    assert pyspiel.load_game(str(env.game)).definition.name == name
    assert env.reset().observations["info_state"][0] == env._state.observation_tensor(0)


@games
def test_information_states_have_no_tensor_and_say_so(name):
    """Deep CFR asks for such a tensor."""
    game = openspiel.load(name, seed=1)
    message = "artus_env has no information state tensor: use observation_tensor, or information_state_string"
    for ask in (
        game.information_state_tensor_shape,
        lambda: started(game).information_state_tensor(0),
        lambda: DeepCFRSolver(game, num_iterations=1, num_traversals=1),
    ):
        with pytest.raises(NotImplementedError, match=message):
            ask()
    assert len(started(game).information_state_string(0)) == 32


@games
def test_states_are_written_and_read(name):
    game = openspiel.load(name, seed=3)
    state = started(game, 12)
    again = game.deserialize_state(state.serialize())
    assert again.game == state.game
    assert again.history() == state.history()
    assert [again.information_state_string(player) for player in (0, 1)] == state.seen


def test_the_same_seed_deals_the_same_games():
    first, second = (openspiel.load("artus", seed=9) for _ in range(2))
    one, two = started(first), started(first)
    assert one.game != two.game
    assert (started(second).game, started(second).game) == (one.game, two.game)


def test_copies_go_their_own_way():
    state = started(openspiel.load("artus", seed=3), 5)
    before, copy = state.game.clone(), state.clone()
    copy.apply_action(copy.legal_actions()[0])
    assert state.game == before != copy.game
    assert state.seen != copy.seen


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"game": "chess"}, "no game 'chess'"),
        ({"num_players": 7}, "num_players must be 2..4, got 7"),
        ({"seed": 2**31}, "seed must be"),
        ({"deals": [Game(game="royal", seed=1)]}, "deals must be of artus, beginner, 2 players"),
        ({"deals": [Game(seed=1, components=Components(carpet=(1,)))]}, "with the same box"),
    ],
)
def test_what_cannot_be_loaded_is_named(given, message):
    with pytest.raises(ValueError, match=message):
        openspiel.load(**given)


# --- rewards ---


@games
def test_the_loser_is_paid_minus_one_as_in_the_environment(name):
    """Both play the same actions after the same deal."""
    losses = 0
    for seed in range(4):
        state = started(openspiel.load(name, seed=seed))
        env, rng = environments.env(game=name), np.random.default_rng(seed)
        env.reset(options={"position": state.game.to_dict()})
        while not state.is_terminal():
            assert state.returns() == [0, 0]
            action = int(rng.choice(state.legal_actions()))
            env.step(action)
            state.apply_action(action)
        assert state.returns() == [env.rewards[agent] for agent in env.possible_agents]
        losses += min(state.returns()) == -1
    assert losses


def test_observations_are_scaled_as_for_networks():
    game = openspiel.load("quest", seed=1)
    state = started(game, 30)
    scale = game.definition.observation_scale(game.components)
    for player in (0, 1):
        np.testing.assert_allclose(state.observation_tensor(player), state.game.observation(player) * scale)
    assert game.observation_tensor_shape() == [len(scale)]


# --- search ---


@games
@pytest.mark.parametrize("player", [0, 1])
def test_what_is_dealt_anew_looks_the_same_to_its_player(name, player):
    state = started(openspiel.load(name, seed=4), 9)
    resample, others = openspiel.resampler(7), set()
    for _ in range(8):
        other = resample(state, player)
        assert other.information_state_string(player) == state.information_state_string(player)
        assert other.observation_string(player) == state.observation_string(player)
        assert other.current_player() == state.current_player()
        if player == state.current_player():
            assert other.legal_actions() == state.legal_actions()
        others.add(json.dumps(other.game.to_dict()))
    assert len(others) > 1, "something is hidden"


@games
def test_the_search_never_sees_the_true_state(name):
    """Each resampled state has another deal, and can be played to its end."""
    game = openspiel.load(name, seed=2)
    bot, deal, looked = openspiel_ismcts.make_bot(game, 4, seed=0), openspiel.resampler(1), []

    def resample(state, player):
        looked.append(state.current_player() == player)
        return deal(state, player)

    bot.set_resampler(resample)
    bot._evaluator.evaluate = lambda state: [0.0, 0.0]
    assert sorted(openspiel_ismcts.play(game, {0: bot})) in ([-1, 1], [0, 0])
    assert all(looked)
    assert len(looked) > 20


def test_the_search_finds_the_winning_move():
    """One decision before the end, searched with playouts: it takes a move that wins in most deals, if there is one."""
    rng, found = np.random.default_rng(0), 0
    for seed in range(40):
        game = Game(game="royal", seed=seed)
        while not game.over:
            before, legal = game.clone(), game.legal_actions()
            game.play(int(rng.choice(legal)))
        wins = {action: child(before, action).winners == [before.player] for action in before.legal_actions()}
        if len(set(wins.values())) == 2 and all(child(before, action).over for action in wins):
            loaded = openspiel.load("royal", deals=[before])
            bot = openspiel_ismcts.make_bot(loaded, 30, seed)
            found += 1
            assert wins[int(bot.step(started(loaded)))]
    assert found


def child(game, action):
    game = game.clone()
    game.play(action)
    return game


# --- exact algorithms ---


def tree(game, player, known=()):
    """The game tree: at the end the reward of `player`, before it (information, children). The information is all that
    `player` knows, None if somebody else is to move; the children are the trees after each action."""
    if game.over:
        return (player in game.winners) - (1 - player in game.winners)
    known = (*known, json.dumps(game.to_dict(player)))
    children = {
        action: tree(child(game, action), player, (*known, game.public_action(action, player)))
        for action in game.legal_actions()
    }
    return (known if game.player == player else None, children)


def situations(node):
    """Yield (information, actions) of all nodes in which the player has a choice."""
    if isinstance(node, tuple):
        known, children = node
        if known and len(children) > 1:
            yield known, tuple(children)
        for child_node in children.values():
            yield from situations(child_node)


def plan_value(node, plan):
    """Expected reward of a player who follows a plan against uniformly random moves."""
    if not isinstance(node, tuple):
        return node
    known, children = node
    if known in plan:
        return plan_value(children[plan[known]], plan)
    return sum(plan_value(child_node, plan) for child_node in children.values()) / len(children)


def test_the_best_response_is_exact():
    """It is compared with all possible plans. A player who knew the deal would get more."""
    truth = Game(game="royal", seed=0, components=TWO_SUITS)
    deals = [truth.redeal(0, seed) for seed in range(4)]
    trees = [tree(deal, 0) for deal in deals]
    choices = dict(item for node in trees for item in situations(node))
    plans = [dict(zip(choices, plan, strict=True)) for plan in itertools.product(*choices.values())]
    best = max(sum(plan_value(node, plan) for node in trees) / len(trees) for plan in plans)
    game = openspiel.load("royal", components=TWO_SUITS, deals=deals)
    assert best_response_value(game, 0) == pytest.approx(best)
    assert policy_value(game.new_initial_state(), [UniformRandomPolicy(game)] * 2)[0] < best
    seeing = [best_response_value(openspiel.load("royal", components=TWO_SUITS, deals=[deal]), 0) for deal in deals]
    assert best < np.mean(seeing)


def best_response_value(game, player):
    """Value of the best response to uniformly random moves."""
    return BestResponsePolicy(game, player, UniformRandomPolicy(game)).value(game.new_initial_state())


def test_how_far_a_policy_is_from_equilibrium():
    deals = [Game(game="royal", seed=seed, components=TWO_SUITS) for seed in range(4)]
    game = openspiel.load("royal", components=TWO_SUITS, deals=deals)
    best = [best_response_value(game, player) for player in (0, 1)]
    assert nash_conv(game, UniformRandomPolicy(game)) == pytest.approx(sum(best))
    assert sum(best) > 0
