"""The action features that a policy uses, and how it draws actions."""

import dataclasses
import math

import numpy as np
import pytest
import torch

from artus_agents.network import Network, Output, Shape
from artus_agents.neural import (
    ONE_THREAD_LIMIT,
    NeuralAgent,
    draw_actions,
    infer,
    view_action_features,
    write_action_features,
)
from artus_agents.policy import choose
from artus_env import NUM_ACTIONS, Batch, Game
from artus_env.engine.agents.view import View
from artus_env.engine.contract.rng import seed_stream
from artus_env.games.artus import evaluation
from artus_env.games.artus.actions import MASK_WORDS
from artus_env.games.artus.components import STANDARD
from artus_env.games.artus.definition import ARTUS
from artus_env.games.artus.evaluation import NUM_ACTION_FEATURES
from artus_env.games.artus.state import DRAW_PHASE, PLACE_PHASE, PLAY_PHASE
from positions import PLATES, position, prospects

VARIANTS = [(rules, players) for rules in ("beginner", "advanced") for players in (2, 3, 4)]
TABLE = "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s1 .  B  A  B  A  .  | b1 .  .  B  A  .  B"
"""Player A is to move. The values of A's seats are 0, -9, -2, 1 and 7, those of B's seats -15, -3, -1, 6 and 10."""


def batch_of(games):
    """A batch with the positions of these games."""
    batch = Batch(len(games), rules=games[0].rules, num_players=games[0].num_players, threads=1)
    for i, game in enumerate(games):
        batch.states[i] = game.state
    batch.refresh()
    return batch


def action_features_of(batch, threads=1, untouched=0):
    """The action features of a batch: shape (n, A, K); `untouched` for illegal actions."""
    out = np.full((len(batch), NUM_ACTIONS, NUM_ACTION_FEATURES), untouched, np.int8)
    write_action_features(batch.tables, batch.states, batch.legal_bits, out, threads)
    return out


def mask_of(actions):
    """A mask of these actions as `choose` takes it: shape (MASK_WORDS,), uint64."""
    words = np.zeros(MASK_WORDS, np.uint64)
    for action in actions:
        words[action // 64] |= np.uint64(1 << action % 64)
    return words


def random_positions(rules, num_players, count, seed=0):
    """Games after random numbers of random moves."""
    random = np.random.default_rng([seed, num_players, rules == "advanced"])
    length = len(played_out(Game(rules, num_players, seed=0), random).actions_played)
    return [played_out(Game(rules, num_players, seed=i), random, int(random.integers(length))) for i in range(count)]


def played_out(game, random, moves=1000):
    while not game.over and len(game.actions_played) < moves:
        game.play(int(random.choice(game.legal_actions())))
    return game


# --- action features
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hand", "move", "points", "own_change", "other_change"),
    [
        ("k1-4", "k1-4:25>26", 7, 8 - 7, 0),
        ("k5-7", "k5-7:19>24", 1, 6 - 1, 5 - 6),  # B's knight goes from 24 to 23
        ("k7-9", "k7-9:10>17", -9, (-2 - 4) - (-9 - 2), 0),  # A's other knight goes from 17 to 15
        ("bronze1-7", "bronze1-7:21>22", 3, 0, 0),
        ("ring-bronze", "ring-bronze:7", -12, 0, 0),
        # The King moves, or A lands on him and pushes him to 26: the wheel turns for all players.
        (
            "silver1-7",
            "silver1-7:0>2",
            0,
            (0 - 11 - 4 - 2 + 5) - (0 - 9 - 2 + 1 + 7),
            (0 - 5 - 3 + 4 + 7) - (-15 - 3 - 1 + 6 + 10),
        ),
        (
            "k3-6",
            "k3-6:25>0",
            7,
            (0 - 14 - 7 + 1 + 3) - (0 - 9 - 2 + 1 + 7),
            (-13 - 1 + 2 + 8 + 0) - (-15 - 3 - 1 + 6 + 10),
        ),
    ],
)
def test_action_features_counted_by_hand(hand, move, points, own_change, other_change):
    game = Game.from_dict(position(TABLE, [hand], left=1))
    assert action_features_of(batch_of([game]))[0, game.action(move), :3].tolist() == [points, own_change, other_change]


def prospects_of(game, player):
    """`evaluation.prospects` of a game for a player, as a list."""
    t, g, player = game.tables[0], game.state, np.int64(player)
    royals = evaluation.royal_points(t, g)
    return list(evaluation.prospects(t, g, player, royals, evaluation.card_points_of_others(t, g, player, royals)))


def test_prospects_counted_by_hand():
    """Two cards each are left. A holds a knight card and a ring for the bronze princes, who sit on 3 and -12; B has two
    moves of knights."""
    table = position(TABLE, ["k1-4", "ring-bronze"], hands={1: ["k2-5", "k3-6"]}, left=1)
    a, b = 0 - 9 - 2 + 1 + 7, -15 - 3 - 1 + 6 + 10
    values = prospects_of(Game.from_dict(table), 0)
    assert values == [0, a, b, 7 + 3, 10 + 6, 7, 10] + 6 * [0]  # there are no other players


def test_prospects_distinguish_opponents_counted_by_hand():
    """All have a card left: A the ring for the bronze princes, who sit on -12 and 3, the others a knight card."""
    table = "Ks .  .  A  B  .  C  | b1 .  D  A  .  .  C  | s2 .  B  A  B  A  D  | b1 .  C  B  D  C  D"
    hands = {1: ["k1-4"], 2: ["k2-5"], 3: ["k3-6"]}
    b, c, d = -15 - 3 - 1 + 6, -13 - 6 + 5 + 8, -10 + 2 + 7 + 10
    values = prospects_of(Game.from_dict(position(table, ["ring-bronze"], hands=hands, left=1)), 0)
    assert values == [0, 0 - 9 - 2 + 1, b + c + d, 3, 6 + 8 + 10, 3, 6, b, 6, 8, c, 8, 10]


@pytest.mark.parametrize(("rules", "num_players"), VARIANTS)
def test_action_features_are_the_changes_when_the_action_is_played(rules, num_players):
    games = random_positions(rules, num_players, 24)
    out = action_features_of(batch_of(games))
    phases = set()
    for game, features in zip(games, out, strict=True):
        phases.add(int(game.state["phase"]))
        before = prospects(game.to_dict(), game.player)
        for action in game.legal_actions():
            after = game.clone()
            points = after.play(action)
            is_draw = game.state["phase"] == DRAW_PHASE
            change = np.subtract(prospects(after.to_dict(), game.player), before)
            expected = np.zeros(NUM_ACTION_FEATURES) if is_draw else np.clip(change, -127, 127)
            assert features[action].tolist() == expected.tolist(), (game, game.move(action))
            assert is_draw or features[action, 0] == points
    assert {PLACE_PHASE, PLAY_PHASE, DRAW_PHASE} >= phases >= {PLAY_PHASE}


def test_action_features_of_drawing_a_card_are_0():
    games = [game for game in random_positions("advanced", 3, 80) if game.state["phase"] == DRAW_PHASE]
    assert len(games) >= 5
    out = action_features_of(batch_of(games), untouched=77)
    for game, features in zip(games, out, strict=True):
        assert (features[game.legal_actions()] == 0).all()


def test_placing_a_knight_changes_prospects_by_the_value_of_its_seat():
    game = Game(num_players=3, seed=4)
    out = action_features_of(batch_of([game]))[0]
    for action in game.legal_actions():
        seat = int(game.move(action).removeprefix("@"))
        king = next(seat for seat, figure in enumerate(game.to_dict()["seats"]) if figure and "king" in figure)
        assert out[action, :3].tolist() == [0, PLATES[(king - seat) % 28], 0]


@pytest.mark.parametrize(("rules", "num_players"), VARIANTS)
def test_prospects_are_those_of_a_naive_count(rules, num_players):
    for game in random_positions(rules, num_players, 24, seed=2):
        for player in range(num_players):
            assert prospects_of(game, player) == prospects(game.to_dict(), player)


def test_a_network_that_uses_only_the_first_features_gets_these():
    """Games may append features, and older agents go on playing."""
    torch.manual_seed(4)
    batch = batch_of(random_positions("advanced", 2, 60))
    shape = Shape.of(ARTUS, STANDARD, (16,))
    network = Network(dataclasses.replace(shape, num_action_features=3), gates=(1.2, 0.2, -0.2))
    full_network = Network(shape, gates=(1.2, 0.2, -0.2) + 10 * (0,))
    for full_weights, weights in zip(full_network.parameters(), network.parameters(), strict=True):
        full_weights.data[: len(weights)] = weights.data  # gates are the last rows, and rows without an output are 0
    view = View(batch, None, seed_stream(1, len(batch)))
    for actual, expected in zip(
        NeuralAgent(network).evaluate(view), NeuralAgent(full_network).evaluate(view), strict=True
    ):
        np.testing.assert_allclose(actual, expected, atol=1e-6)
    assert NeuralAgent(network).act(view).tolist() == NeuralAgent(full_network).act(view).tolist()


def test_nothing_is_written_at_illegal_actions():
    batch = batch_of(random_positions("advanced", 4, 20))
    out = action_features_of(batch, untouched=99)
    assert (out[batch.mask == 0] == 99).all()
    assert (out[batch.mask == 1] != 99).all()


@pytest.mark.parametrize(("rules", "num_players"), VARIANTS)
def test_what_a_player_knows_is_enough_and_hidden_cards_change_nothing(rules, num_players):
    batch = batch_of(random_positions(rules, num_players, 32, seed=1))
    view = View(batch, None, np.zeros(32, np.uint64))
    legal = batch.mask == 1
    expected = action_features_of(batch)
    np.testing.assert_array_equal(view_action_features(view)[legal], expected[legal])  # from `View.known`
    for seed in range(2):
        redealt = view.redeal(seed_stream(seed, 32))
        assert (redealt["hands"] != batch.states["hands"]).any()
        batch.states[:] = redealt
        batch.refresh()
        np.testing.assert_array_equal(batch.mask == 1, legal)
        np.testing.assert_array_equal(action_features_of(batch)[legal], expected[legal])


def test_two_threads_write_what_one_writes():
    batch = Batch(300, rules="advanced", num_players=4, seed=2)
    for _ in range(50):
        batch.step(batch.sample())
    before = batch.states.copy()
    np.testing.assert_array_equal(action_features_of(batch, 2), action_features_of(batch, 1))
    np.testing.assert_array_equal(batch.states, before)


# --- choosing actions
# ----------------------------------------------------------------------------------------------------------


def choose_actions(logits, legal, random_bits, sample=True, gates=None, out=None):
    """Call `choose` for games with these logits of their legal actions; illegal actions have a logit of 1000. Returns
    the actions and their log-probabilities."""
    count = len(random_bits)
    rows = np.full((count, NUM_ACTIONS), 1000, np.float32)
    rows[:, legal] = logits
    gates = np.zeros((count, 0), np.float32) if gates is None else np.tile(np.array(gates, np.float32), (count, 1))
    out = np.zeros((count, 1, 0), np.int8) if out is None else np.tile(out, (count, 1, 1))
    actions, log_probs = np.full(count, -7), np.full(count, np.nan, np.float32)
    words = np.tile(mask_of(legal), (count, 1))
    choose(rows, gates, words, out, np.array(random_bits, np.uint64), sample, actions, log_probs, 0, count)
    return actions, log_probs


SPREAD = [0, 63, 64, 200, 335, 338]
"""Actions in different words of the mask, at their edges."""


def test_draws_are_as_frequent_as_their_probabilities():
    probabilities = np.array([0.05, 0.3, 0.25, 0.2, 0.15, 0.05])
    count = 40_000
    actions, log_probs = choose_actions(np.log(probabilities) + 3, SPREAD, seed_stream(5, count))
    counts = np.array([(actions == action).sum() for action in SPREAD])
    assert counts.sum() == count  # no illegal action was drawn, although their logits are far higher
    expected = probabilities * count
    assert ((counts - expected) ** 2 / expected).sum() < 20.5  # chi-square with 5 degrees of freedom: 99.9 %
    for action, probability in zip(SPREAD, probabilities, strict=True):
        np.testing.assert_allclose(log_probs[actions == action], math.log(probability), atol=1e-6)


def test_gates_weigh_the_action_features():
    """With equal logits, ten points more double the probability, and a worse own seat halves it."""
    out = np.zeros((NUM_ACTIONS, NUM_ACTION_FEATURES), np.int8)
    out[63, 0], out[64, 1], out[64, 2] = 10, -5, 30
    gates = [math.log(2), 2 * math.log(2), 0]
    actions, log_probs = choose_actions(0, [0, 63, 64], seed_stream(6, 1000), gates=gates, out=out)
    expected = {0: 2 / 7, 63: 4 / 7, 64: 1 / 7}
    assert set(actions.tolist()) == set(expected)
    np.testing.assert_allclose(log_probs, [math.log(expected[action]) for action in actions], atol=1e-6)


def test_the_random_bits_select_by_cumulative_probability():
    """Probabilities 1/4, 1/4, 1/2: the first quarter of all numbers draws the first action, and so on."""
    quarter = 1 << 62
    random_bits = [0, quarter - (1 << 41), quarter, 2 * quarter - (1 << 41), 2 * quarter, 3 * quarter, (1 << 64) - 1]
    actions, _ = choose_actions(np.log([1, 1, 2]), [7, 100, 338], random_bits)
    assert actions.tolist() == [7, 7, 100, 100, 338, 338, 338]


@pytest.mark.parametrize("likely", [0, 1, 2])
def test_an_action_of_probability_0_is_never_drawn(likely):
    """exp(-200) is 0 in float32, and the log-probability of such an action would be infinite."""
    logits = np.full(3, -200.0)
    logits[likely] = 0
    actions, log_probs = choose_actions(logits, [3, 4, 5], [0, 1 << 40, 1 << 63, (1 << 64) - 1])
    assert (actions == 3 + likely).all()
    assert (log_probs == 0).all()


def test_without_drawing_the_first_of_the_likeliest_actions_is_chosen():
    actions, log_probs = choose_actions([1.0, 2.5, -1.0, 2.5, 0.0, 2.0], SPREAD, [0, (1 << 64) - 1], sample=False)
    assert actions.tolist() == [63, 63]
    expected = torch.log_softmax(torch.tensor([1.0, 2.5, -1.0, 2.5, 0.0, 2.0]), 0)[1]
    np.testing.assert_allclose(log_probs, float(expected), atol=1e-6)


def test_one_legal_action_is_certain_and_a_finished_game_has_none():
    actions, log_probs = choose_actions([-50.0], [338], [1 << 63])
    assert (actions[0], log_probs[0]) == (338, 0)
    actions, log_probs = choose_actions([], [], [1 << 63])
    assert (actions[0], log_probs[0]) == (-1, 0)


@pytest.mark.parametrize("with_action_features", [False, True])
def test_log_probabilities_are_those_of_torch_and_all_actions_legal(with_action_features):
    random = np.random.default_rng(1)
    batch = Batch(500, rules="advanced", num_players=3, seed=8)
    for _ in range(70):
        batch.step(batch.sample())
    features = action_features_of(batch, untouched=50) if with_action_features else np.zeros((500, 1, 0), np.int8)
    gates = random.normal(size=(500, features.shape[2])).astype(np.float32) * 2
    logits = random.normal(size=(500, NUM_ACTIONS)).astype(np.float32) * 3
    actions, log_probs = np.empty(500, np.int64), np.empty(500, np.float32)
    choose(logits, gates, batch.legal_bits, features, seed_stream(2, 500), True, actions, log_probs, 0, 500)
    assert batch.mask[np.arange(500), actions].all()
    masked_logits = torch.from_numpy(logits + (features / 10 * gates[:, None, :]).sum(axis=2).astype(np.float32))
    masked_logits[torch.from_numpy(batch.mask) == 0] = -torch.inf
    expected = torch.log_softmax(masked_logits, dim=1)[torch.arange(500), torch.from_numpy(actions)]
    np.testing.assert_allclose(log_probs, expected.numpy(), atol=1e-5, rtol=1e-5)


def test_two_threads_draw_what_one_draws():
    batch = Batch(600, rules="advanced", num_players=2, seed=3)
    random = torch.Generator().manual_seed(1)
    output = Output(
        torch.randn(600, NUM_ACTIONS, generator=random),
        torch.randn(600, NUM_ACTION_FEATURES, generator=random),
        torch.zeros(600, 4),
    )
    arguments = (output, batch.legal_bits, action_features_of(batch), seed_stream(4, 600), True)
    with_one_thread, with_two_threads = draw_actions(*arguments, threads=1), draw_actions(*arguments, threads=2)
    for expected, actual in zip(with_one_thread, with_two_threads, strict=True):
        np.testing.assert_array_equal(expected, actual)
    assert batch.mask[np.arange(600), with_one_thread[0]].all()


@pytest.mark.parametrize("with_action_features", [True, False])
def test_evaluate_returns_the_probabilities_that_actions_are_drawn_with(with_action_features):
    """Probabilities are 0 for illegal actions, and those of drawn actions agree with `draw_actions`."""
    torch.manual_seed(3)
    batch = Batch(200, rules="advanced", num_players=3, seed=8)
    for _ in range(70):
        batch.step(batch.sample())
    network = Network(Shape.of(ARTUS, STANDARD, (16,), with_action_features))
    torch.nn.init.normal_(network.head.weight, std=0.3)
    view = View(batch, None, seed_stream(1, len(batch)))
    probabilities, values = NeuralAgent(network).evaluate(view)
    assert probabilities.shape == (len(batch), NUM_ACTIONS)
    assert (probabilities[view.mask == 0] == 0).all()
    assert probabilities.sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert (probabilities.argmax(axis=1) == NeuralAgent(network).act(view)).all()
    output = infer(network, view.observation)
    features = view_action_features(view) if with_action_features else np.zeros((len(view), 1, 0), np.int8)
    actions, log_probs = draw_actions(output, view.legal_bits, features, view.keys, True)
    assert np.log(probabilities[np.arange(len(view)), actions]) == pytest.approx(log_probs, abs=1e-4)
    assert (values == output.values.numpy()[:, :3]).all()


def test_few_positions_are_evaluated_by_one_thread_and_the_setting_stays(monkeypatch):
    threads = torch.get_num_threads()
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    network = Network(Shape(8, 4, 2, (16,)))
    thread_counts = []
    monkeypatch.setattr(
        network, "forward", lambda rows: thread_counts.append(torch.get_num_threads()) or torch.zeros(len(rows), 64)
    )
    try:
        torch.set_num_threads(2)
        infer(network, np.zeros((3, 8), np.int8))
        infer(network, np.zeros((ONE_THREAD_LIMIT, 8), np.int8))
        assert thread_counts == [1, 2]
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
