"""Random, greedy and neural agents, and how agents are found by name."""

import re
from importlib.metadata import EntryPoint

import numpy as np
import pytest
import torch

from artus_agents.network import Network, Shape
from artus_agents.neural import NeuralAgent, infer
from artus_agents.simple import GreedyAgent, RandomAgent
from artus_env import NUM_ACTIONS, Batch
from artus_env.engine.agents import names as engine_agents
from artus_env.engine.agents.match import play_games
from artus_env.engine.agents.names import GROUP, find_agent, runs_program
from artus_env.engine.agents.view import View
from artus_env.engine.contract.rng import seed_stream
from artus_env.engine.play.game import IllegalMoveError
from artus_env.games.artus.actions import PLACE, action_table
from artus_env.games.artus.components import STANDARD
from artus_env.games.artus.definition import ARTUS
from artus_env.games.artus.state import PLAY_PHASE
from artus_training.arena.evaluate import evaluate

torch.set_num_threads(1)  # tests run side by side, and torch's threads spin while they wait

VARIANTS = [(rules, players) for rules in ("beginner", "advanced") for players in (2, 3, 4)]


def keys(count, seed=0):
    return seed_stream(seed, count, 50)


def middle_of_games(num_games=256, rules="advanced", num_players=3, steps=60):
    """A batch of games after some random moves."""
    batch = Batch(num_games, rules=rules, num_players=num_players, seed=3)
    for _ in range(steps):
        batch.step(batch.sample())
    return batch


def neural_agent(sample=False, card=None, action_features=True):
    """A neural agent with random weights."""
    torch.manual_seed(0)
    shape = Shape.of(ARTUS, STANDARD, (32,), action_features)
    return NeuralAgent(
        Network(shape, ARTUS.observation_scale(ARTUS.standard), ARTUS.action_feature_gates).requires_grad_(False),
        sample=sample,
        card=card,
    )


@pytest.mark.parametrize(("rules", "num_players"), VARIANTS)
def test_a_neural_agent_that_samples_plays_legal_actions_to_the_end(rules, num_players):
    agent = neural_agent(sample=True)
    batch = Batch(32, rules=rules, num_players=num_players, seed=1, autoreset=False)
    step = 0
    while not batch.done.all():
        actions = agent.act(View(batch, None, keys(32, step)))
        batch.step(actions)  # raises an error at an illegal action
        step += 1


def test_samples_of_a_neural_agent_do_not_depend_on_other_games():
    agent = neural_agent(sample=True)
    batch = middle_of_games()
    actions = agent.act(View(batch, None, keys(256)))
    part = np.array([200, 3, 77])
    np.testing.assert_array_equal(agent.act(View(batch, part, keys(256))), actions[part])


class FirstActionAgent:
    """Returns the first legal actions, converted by a function of these actions and the view."""

    def __init__(self, convert):
        self.convert = convert

    def act(self, view):
        return self.convert(view.mask.argmax(axis=1), view)


def illegal_in_game_two(actions, view):
    numbers = view.games - view._batch.numbers[0]
    return np.where(numbers == 2, view.mask.argmin(axis=1), actions)


@pytest.mark.parametrize(
    ("names", "title"),
    [(None, "agent 1 of the line-up (FirstActionAgent)"), (["best", "worst"], "agent 1 of the line-up (worst)")],
)
def test_an_illegal_action_names_agent_game_and_move(names, title):
    batch = Batch(4, seed=1, autoreset=False)
    cheater = FirstActionAgent(illegal_in_game_two)
    agent_of_seat = np.tile([0, 1], (4, 1))
    expected = re.escape(f"{title}: game 2: action 0 (") + ".* is illegal for player 1; legal: @"
    with pytest.raises(IllegalMoveError, match=expected) as raised:
        play_games(batch, [GreedyAgent(), cheater], agent_of_seat, keys(4), names)
    assert raised.value.game == 2


@pytest.mark.parametrize(
    ("convert", "message"),
    [
        (lambda actions, _: actions[:-1], "got int64 of shape"),
        (lambda actions, _: actions[:, None], "got int64 of shape"),
        (lambda actions, _: actions.astype(float), "got float64 of shape"),
        (lambda actions, _: actions > 0, "got bool of shape"),
        (lambda actions, _: [*actions.tolist()[:-1], True], "True]"),
        (lambda actions, _: actions[0], "got int64 of shape ()"),
        (lambda actions, _: None, "got object of shape ()"),
        (lambda actions, _: [[1], [2, 3]], "got [[1], [2, 3]]"),
    ],
)
def test_an_agent_that_returns_no_valid_actions_is_named(convert, message):
    batch = Batch(4, seed=1, autoreset=False)
    agents = [GreedyAgent(), FirstActionAgent(convert)]
    with pytest.raises(ValueError, match="agent 1 of the line-up .worst.: .*" + re.escape(message)):
        play_games(batch, agents, np.tile([1, 0], (4, 1)), keys(4), ["best", "worst"])


@pytest.mark.parametrize("answer", [True, 1.5, None, "@3", [3]], ids=repr)
def test_a_function_that_returns_no_action_is_named(answer):
    def absent_minded(observation, mask):
        return answer

    batch = Batch(2, seed=1, autoreset=False)
    with pytest.raises(ValueError, match=re.escape(f"absent_minded must return one whole number, got {answer!r}")):
        play_games(batch, [find_agent(absent_minded)], np.zeros((2, 2), int), keys(2))


def test_an_evaluation_names_the_agent_that_plays_an_illegal_action():
    def cheat(observation, mask):
        return int(mask.argmin())

    with pytest.raises(
        IllegalMoveError, match=r"agent 1 of the line-up \(cheat\): game \d+: action 0 .* is illegal for player"
    ):
        evaluate(["greedy", cheat], games=4)


def test_actions_may_be_tensors_and_lists():
    for convert in (
        torch.from_numpy,
        np.ndarray.tolist,
        list,
        lambda actions: [torch.tensor(a) for a in actions.tolist()],
    ):
        batch = Batch(3, seed=1, autoreset=False)
        agent = FirstActionAgent(lambda actions, _, convert=convert: convert(actions))
        play_games(batch, [agent], np.zeros((3, 2), int), keys(3))
        assert batch.over.all()


def test_random_draws_each_legal_action_equally_often():
    batch = Batch(6000, seed=1, num_players=3)
    batch.states[:] = batch.states[0]
    batch.refresh()  # the same position 6000 times
    actions = RandomAgent().act(View(batch, None, keys(6000)))
    legal = np.flatnonzero(batch.mask[0])
    counts = np.bincount(actions, minlength=NUM_ACTIONS)
    assert set(np.flatnonzero(counts)) == set(legal)
    expected = 6000 / len(legal)
    chi_square = ((counts[legal] - expected) ** 2 / expected).sum()
    assert chi_square < 2.5 * len(legal)  # far above its mean


def test_the_known_part_of_a_view_holds_nothing_hidden():
    """`View.known` is the same for all states that the player to move can't tell apart."""
    batch = middle_of_games()
    view = View(batch, None, keys(256))
    known = view.known()
    np.testing.assert_array_equal(
        known["hands"][np.arange(256), batch.player], batch.states["hands"][np.arange(256), batch.player]
    )
    for seed in range(3):
        batch.states[:] = view.redeal(keys(256, seed))
        np.testing.assert_array_equal(View(batch, None, keys(256)).known(), known)


@pytest.mark.parametrize("shape", [(), (255,), (257,), (256, 1)], ids=str)
def test_a_view_redeals_with_a_seed_for_each_game(shape):
    """With fewer seeds, the compiled loop would read beyond their end."""
    view = View(middle_of_games(), None, keys(256))
    with pytest.raises(ValueError, match="seeds must be 256 numbers, got shape"):
        view.redeal(np.zeros(shape, np.uint64))


def test_greedy_takes_the_most_points():
    batch = middle_of_games()
    points = batch.points().astype(int)
    points[batch.mask == 0] = -1000
    actions = GreedyAgent().act(View(batch, None, keys(256)))
    playing = np.flatnonzero(batch.states["phase"] == PLAY_PHASE)
    assert len(playing) > 100
    np.testing.assert_array_equal(points[playing, actions[playing]], points[playing].max(axis=1))


def test_greedy_draws_among_equals():
    batch = Batch(1, seed=0)
    while not (batch.mask[0, -3:-1] == 1).all():  # until there are two piles to draw from
        batch.step(batch.sample())
    actions = {int(GreedyAgent().act(View(batch, None, keys(1, seed)))[0]) for seed in range(40)}
    assert actions == {NUM_ACTIONS - 3, NUM_ACTIONS - 2}


def test_greedy_places_on_the_best_free_seat():
    batch = Batch(64, num_players=4, seed=5)
    table = action_table()
    for step in range(8):
        actions = GreedyAgent().act(View(batch, None, keys(64, step)))
        for game, action in enumerate(actions):
            free = [STANDARD.wheel[table[legal].slot] for legal in np.flatnonzero(batch.mask[game])]
            assert table[action].effect == PLACE
            assert STANDARD.wheel[table[action].slot] == max(free)
        batch.step(actions)


@pytest.mark.parametrize(("rules", "num_players"), VARIANTS)
def test_greedy_beats_random_clearly(rules, num_players):
    result = evaluate(["greedy", "random"], rules=rules, num_players=num_players, games=240)
    assert result.win_rate > 0.97


def test_a_neural_agent_samples_with_the_probabilities_of_its_network():
    batch = Batch(1, seed=2)
    agent = neural_agent(sample=True, action_features=False)
    agent.network.head.weight *= 100  # far from equal chances
    logits = infer(agent.network, batch.observation).logits[0].clone()
    logits[torch.from_numpy(batch.mask[0]) == 0] = -torch.inf
    expected = torch.softmax(logits, dim=0).detach().numpy()
    num_games = 4000
    games = Batch(num_games, seed=2)
    games.reset(np.full(num_games, batch.seeds[0], np.uint64))
    counts = np.bincount(agent.act(View(games, None, keys(num_games))), minlength=NUM_ACTIONS)
    np.testing.assert_allclose(counts / num_games, expected, atol=0.03)


def test_a_neural_agent_refuses_variants_that_it_was_not_trained_for():
    agent = neural_agent(card={"variants": [["advanced", 2]], "components": STANDARD.hash})
    agent.act(View(Batch(1, rules="advanced"), None, keys(1)))
    with pytest.raises(ValueError, match="trained for advanced with 2 players, not for advanced with 3 players"):
        agent.act(View(Batch(1, rules="advanced", num_players=3), None, keys(1)))


# --- names
# -------------------------------------------------------------------------------------------------------------


def last(observation, action_mask):
    """An agent that is a function."""
    return int(np.flatnonzero(action_mask)[-1])


def last_or_first(end="last"):
    """A function that returns such an agent."""
    return last if end == "last" else lambda observation, action_mask: int(np.flatnonzero(action_mask)[0])


greedy_object = GreedyAgent()
not_an_agent = {"act": "later"}


def no_agent_either(argument=""):
    return not_an_agent


@pytest.fixture
def entry_point(monkeypatch):
    """A function that registers an attribute of this module as the agent `mine`."""

    def register(attribute):
        entry = EntryPoint("mine", f"{__name__}:{attribute}", "artus.agents")
        monkeypatch.setattr("artus_env.engine.agents.names.entry_points", lambda group: [entry])

    return register


@pytest.mark.parametrize(
    ("attribute", "name", "index"),
    [("last", "mine", -1), ("last_or_first", "mine", -1), ("last_or_first", "mine:first", 0)],
)
def test_an_entry_point_may_name_a_function_or_a_factory_of_one(attribute, name, index, entry_point):
    entry_point(attribute)
    batch = Batch(3, seed=1)
    actions = find_agent(name).act(View(batch, None, keys(3)))
    assert actions.tolist() == [int(np.flatnonzero(mask)[index]) for mask in batch.mask]


def test_an_entry_point_may_name_an_agent(entry_point):
    entry_point("greedy_object")
    assert find_agent("mine") is greedy_object
    with pytest.raises(ValueError, match="takes no argument, got 'bold'"):
        find_agent("mine:bold")


def test_objects_that_are_no_agents_are_refused(entry_point):
    entry_point("not_an_agent")
    with pytest.raises(ValueError, match="agent 'mine' can't be made"):
        find_agent("mine")
    entry_point("no_agent_either")
    with pytest.raises(TypeError, match=r"agent 'mine': this name leads to \{'act': 'later'\}, which"):
        find_agent("mine")
    for no_agent in (GreedyAgent, 7):  # the class, not an object of it
        with pytest.raises(TypeError, match="an agent is a name, has act"):
            find_agent(no_agent)


@pytest.mark.parametrize(
    ("name", "guess"),
    [
        ("ppoo", "did you mean ppo?"),
        ("Greedy:", "did you mean greedy?"),
        ("ismtcs:100", "did you mean ismcts?"),
        ("z" * 9999, "'zz"),
    ],
)
def test_the_message_about_an_unknown_name_suggests_similar_ones(name, guess):
    with pytest.raises(ValueError, match="there is no agent '") as caught:
        find_agent(name)
    assert guess in str(caught.value)
    assert "installed are: greedy, ismcts" in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("name", ["program", "program:./bot", "program:time=2 touch x", "program:ppo:x.safetensors"])
def test_names_that_start_a_program_are_known(name):
    assert runs_program(name)


@pytest.mark.parametrize(
    "name", ["random", "ismcts:500", "ppo:program:x", "x.safetensors", "Program:./bot", "nobody", ""]
)
def test_names_that_start_no_program_are_known_too(name):
    assert not runs_program(name)


def test_an_agent_of_another_package_declares_that_it_starts_programs(monkeypatch):
    entry = EntryPoint("wrapped", f"{__name__}:WrappedProgram", GROUP)
    monkeypatch.setattr(engine_agents, "entry_points", lambda group: [entry])
    assert runs_program("wrapped:./bot")


class WrappedProgram:
    runs_program = True
