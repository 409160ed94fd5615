"""Every agent plays every game legally, and its decisions depend only on what its player knows."""

from functools import partial

import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

from artus_agents.simple import RandomAgent
from artus_env.engine.agents.match import play_games
from artus_env.engine.agents.names import find_agent
from artus_env.engine.agents.view import View
from artus_env.engine.contract.rng import seed_stream
from artus_env.engine.play.choosers import chooser_of
from artus_env.environments import GameVectorEnv
from artus_env.testing.variants import variants_of
from every_game import LARGEST, VARIANTS, largest, variants

NUM_GAMES = 8
MANY_GAMES = 1024
"""So many games that all loops share their work among threads."""
KEYS = seed_stream(5, NUM_GAMES)


def neural_agent(name, variant):
    """An agent with random weights, so coarse that no sum is rounded: its decisions don't depend on the other games in
    a call."""
    import torch

    from artus_agents.network import Network, Shape
    from artus_agents.neural import NeuralAgent
    from artus_agents.neural_search import EndgameAgent, NeuralSearchAgent

    torch.set_num_threads(1)  # tests run side by side, and torch's threads spin while they wait
    definition = variant.definition
    torch.manual_seed(0)
    new_network = Network(
        Shape.of(definition, definition.standard, (16,)), definition.observation_scale(definition.standard)
    )
    for parameter in new_network.parameters():
        parameter.data = (parameter + torch.randn(parameter.shape) / 10).mul(64).round() / 64
    network = new_network.requires_grad_(False)
    if name == "ppo":
        return NeuralAgent(network)
    search = NeuralSearchAgent(network, 8)
    return EndgameAgent(search) if name == "ppo-endgame" else search


AGENTS = {
    "random": lambda variant: find_agent("random"),
    "greedy": lambda variant: find_agent("greedy"),
    "lookahead": lambda variant: find_agent("lookahead"),
    "ismcts": lambda variant: find_agent("ismcts:20"),
    **{name: partial(neural_agent, name) for name in ("ppo", "ppo-search", "ppo-endgame")},
}
agents = pytest.mark.parametrize("make", AGENTS.values(), ids=AGENTS)


def actions_of(agent, batch):
    return np.asarray(agent.act(View(batch, None, KEYS)))


def mid_game_batch(variant):
    """Games of different ages, none of them over."""
    batch = variant.new_batch(NUM_GAMES, autoreset=True, seed=3)
    num_moves = np.random.default_rng(3).integers(0, 40, NUM_GAMES)
    for move in range(num_moves.max()):
        is_moving = np.flatnonzero(move < num_moves)
        batch.step(batch.sample()[is_moving], is_moving)
    return batch


class AskedAgent:
    """Plays like the agent with a name, but without its `chooser`, so that each decision is a call of `act`."""

    def __init__(self, name):
        self.agent = find_agent(name)

    def act(self, view):
        return self.agent.act(view)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
@variants
def test_compiled_loops_play_whole_games_as_their_agents_would(threads, variant):
    if threads > 1 and variant not in LARGEST:
        pytest.skip("one variant of each game is enough for threads")
    count = 64
    agent_of_seat = np.random.default_rng(0).integers(0, 2, (count, variant.num_players))

    def played(make):
        batch = variant.new_batch(count, threads=threads)
        result = play_games(batch, [make("random"), make("greedy")], agent_of_seat, seed_stream(5, count))
        shown = ("player", "observation", "mask", "legal_bits", "done", "final_scores", "final_outcomes")
        return np.array(result.actions), [result.scores, result.outcomes, result.forfeits] + [
            getattr(batch, name) for name in shown
        ]

    actions, results = played(find_agent)
    asked_actions, asked_results = played(AskedAgent)
    assert (actions == asked_actions).all()
    for result, asked in zip(results, asked_results, strict=True):
        assert (result == asked).all()


@pytest.mark.parametrize("reward", ["win", "points"])
@largest
def test_compiled_loops_play_the_other_seats_as_their_agents_would(reward, variant):
    names = ["greedy", "random", "greedy", "random", "greedy"][: variant.num_players - 1]

    def seated(make):
        options = {"rules": variant.rules, "num_players": variant.num_players, "game": variant.game}
        return GameVectorEnv(8, reward=reward, opponents=[make(name) for name in names], **options)

    compiled, asked = seated(find_agent), seated(AskedAgent)
    result, rng, ends, step = compiled.reset(seed=1), np.random.default_rng(0), 0, 0
    assert data_equivalence(result, asked.reset(seed=1), exact=True)
    while ends < 4:
        masks = result[-1]["action_mask"]
        actions = (rng.random(masks.shape) * masks).argmax(axis=1)
        if step % 20 == 10:
            actions[step % 7] = -1  # illegal
        result = compiled.step(actions)
        assert data_equivalence(result, asked.step(actions), exact=True)
        ends += result[2].sum() - ("illegal_action" in result[-1])
        step += 1


def test_what_inherits_from_an_agent_may_choose_otherwise():
    class Lowest(RandomAgent):
        def act(self, view):
            return view.mask.argmax(axis=1)

    assert chooser_of(find_agent("random")) is not None
    assert chooser_of(Lowest()) is None


@agents
@variants
def test_decisions_do_not_depend_on_what_is_hidden(make, variant):
    agent, batch = make(variant), mid_game_batch(variant)
    expected = actions_of(agent, batch)
    assert batch.mask[np.arange(NUM_GAMES), expected].all()
    view = View(batch, None, KEYS)
    for truth in range(3):
        batch.states[:] = view.redeal(seed_stream(truth, NUM_GAMES))
        batch.refresh()
        assert (actions_of(agent, batch) == expected).all()


@agents
@largest
def test_decisions_do_not_depend_on_company(make, variant):
    agent, batch = make(variant), mid_game_batch(variant)
    actions_together = actions_of(agent, batch)
    assert actions_together.tolist() == [agent.act(View(batch, np.array([game]), KEYS))[0] for game in range(NUM_GAMES)]
    assert (actions_of(agent, batch) == actions_together).all()


@agents
def test_decisions_do_not_depend_on_threads(make, monkeypatch):
    """Tests use one thread unless they ask for more. Shared loops have to be compiled in addition, so this test uses a
    small game."""
    variant = variants_of("magpies")[0]
    agent, batch, keys = make(variant), variant.new_batch(MANY_GAMES), seed_stream(5, MANY_GAMES)
    results = []
    for threads in ("1", "2"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        results.append(agent.act(View(batch, None, keys)).tolist())
    assert results[0] == results[1]


@agents
@largest
def test_a_whole_game_is_played(make, variant):
    batch = variant.new_batch(4)
    line_up = [make(variant), find_agent("random")]
    agent_of_seat = np.zeros((4, variant.num_players), np.int64)
    agent_of_seat[:, 1:] = 1
    played = play_games(batch, line_up, agent_of_seat, KEYS[:4])
    assert batch.over.all()
    np.testing.assert_allclose(played.wins().sum(axis=1), 1)


@pytest.mark.parametrize("variant", [v for v in VARIANTS if v.game == "magpies"][:2], ids=str)
@pytest.mark.parametrize(("name", "lead"), [("lookahead", 0.04), ("ismcts:60", 0.15)])
def test_searches_play_better_than_chance(name, lead, variant):
    """An agent that looks far enough ahead bids the highest card; `lookahead` sees the end of a round only from the
    last bid."""
    games, players = 300, variant.num_players
    batch = variant.new_batch(games)
    agent_of_seat = (np.arange(players)[None, :] + np.arange(games)[:, None]) % players  # each seat in turn
    other_agents = [find_agent("random")] * (players - 1)
    played = play_games(batch, [find_agent(name), *other_agents], agent_of_seat, seed_stream(1, games))
    win_share = played.wins()[agent_of_seat == 0].mean()
    assert win_share > 1 / players + lead, win_share
