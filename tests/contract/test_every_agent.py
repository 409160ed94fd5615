"""Every agent plays every game, legally, and decides by what its player knows alone."""

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

PLAYED = 8
TO_SHARE = 1024
"""Games whose work all loops share."""
KEYS = seed_stream(5, PLAYED)


def neural(name, variant):
    """An agent of any opinions, of weights so coarse that no sum is rounded: it says the same in any company."""
    import torch

    from artus_agents.network import Network, Shape
    from artus_agents.neural import NeuralAgent
    from artus_agents.neural_search import EndgameAgent, NeuralSearchAgent

    torch.set_num_threads(1)  # tests run side by side, and torch's threads spin while they wait
    definition = variant.definition
    torch.manual_seed(0)
    made = Network(Shape.of(definition, definition.standard, (16,)), definition.observation_scale(definition.standard))
    for parameter in made.parameters():
        parameter.data = (parameter + torch.randn(parameter.shape) / 10).mul(64).round() / 64
    network = made.requires_grad_(False)
    if name == "ppo":
        return NeuralAgent(network)
    search = NeuralSearchAgent(network, 8)
    return EndgameAgent(search) if name == "ppo-endgame" else search


AGENTS = {
    "random": lambda variant: find_agent("random"),
    "greedy": lambda variant: find_agent("greedy"),
    "lookahead": lambda variant: find_agent("lookahead"),
    "ismcts": lambda variant: find_agent("ismcts:20"),
    **{name: partial(neural, name) for name in ("ppo", "ppo-search", "ppo-endgame")},
}
agents = pytest.mark.parametrize("make", AGENTS.values(), ids=AGENTS)


def decide(agent, batch):
    return np.asarray(agent.act(View(batch, None, KEYS)))


def somewhere(variant):
    """Games of different ages, none of them over."""
    batch = variant.new_batch(PLAYED, autoreset=True, seed=3)
    ages = np.random.default_rng(3).integers(0, 40, PLAYED)
    for age in range(ages.max()):
        going_on = np.flatnonzero(age < ages)
        batch.step(batch.sample()[going_on], going_on)
    return batch


class Asked:
    """Plays like the agent of a name, but each decision is asked for: compiled loops don't know how it chooses."""

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
    asked_actions, asked_results = played(Asked)
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

    compiled, asked = seated(find_agent), seated(Asked)
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
    agent, batch = make(variant), somewhere(variant)
    decided = decide(agent, batch)
    assert batch.mask[np.arange(PLAYED), decided].all()
    view = View(batch, None, KEYS)
    for truth in range(3):
        batch.states[:] = view.redeal(seed_stream(truth, PLAYED))
        batch.refresh()
        assert (decide(agent, batch) == decided).all()


@agents
@largest
def test_decisions_do_not_depend_on_company(make, variant):
    agent, batch = make(variant), somewhere(variant)
    together = decide(agent, batch)
    assert together.tolist() == [agent.act(View(batch, np.array([game]), KEYS))[0] for game in range(PLAYED)]
    assert (decide(agent, batch) == together).all()


@agents
def test_decisions_do_not_depend_on_threads(make, monkeypatch):
    """Tests use one thread unless they ask for more. Loops that are shared are compiled apart: here for a small
    game."""
    variant = variants_of("magpies")[0]
    agent, batch, keys = make(variant), variant.new_batch(TO_SHARE), seed_stream(5, TO_SHARE)
    decided = []
    for threads in ("1", "2"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        decided.append(agent.act(View(batch, None, keys)).tolist())
    assert decided[0] == decided[1]


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
    """Whoever looks far enough ahead bids the highest card; `lookahead` sees the end of a round
    from its last bid alone."""
    games, players = 300, variant.num_players
    batch = variant.new_batch(games)
    agent_of_seat = (np.arange(players)[None, :] + np.arange(games)[:, None]) % players  # each seat in turn
    others = [find_agent("random")] * (players - 1)
    played = play_games(batch, [find_agent(name), *others], agent_of_seat, seed_stream(1, games))
    won = played.wins()[agent_of_seat == 0].mean()
    assert won > 1 / players + lead, won
