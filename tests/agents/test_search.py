"""Lookahead and search: they use no hidden information, and each plays better than the simpler agents."""

import numpy as np
import pytest

from artus_agents import search
from artus_agents.lookahead import LookaheadAgent
from artus_agents.search import EDGES_PER_SIMULATION, MOST_SIMULATIONS, IsmctsAgent
from artus_agents.tree import EDGE, covers, node_dtype
from artus_env import Batch, Game
from artus_env.engine.agents.match import play_games
from artus_env.engine.agents.names import find_agent
from artus_env.engine.agents.view import View
from artus_env.engine.contract.rng import seed_stream
from artus_env.engine.contract.verbs import evaluate
from artus_env.games.artus.definition import ARTUS

KEYS = seed_stream(5, 24)


def middle_of_games(rules, num_players, moves):
    """A batch of games after some random moves."""
    batch = Batch(24, rules=rules, num_players=num_players, seed=3, autoreset=False)
    for _ in range(moves):
        batch.step(batch.sample())
    return batch


def decide(agent, batch):
    """The actions of an agent in the games of a batch."""
    return np.asarray(agent.act(View(batch, None, KEYS)))


@pytest.mark.parametrize("moves", [3, 16, 33])
def test_what_ismcts_considers_most_is_what_it_plays(moves):
    batch = middle_of_games("advanced", 3, moves)
    agent = IsmctsAgent(40)
    actions, visits = agent.consider(View(batch, None, KEYS))
    assert actions.tolist() == decide(agent, batch).tolist()
    assert (visits[np.arange(24), actions] == visits.max(axis=1)).all()
    assert not visits[batch.mask == 0].any()
    assert set(visits.sum(axis=1)) <= {1, 40}, "1: nothing to search for"


def test_lookahead_takes_the_turn_with_the_best_table():
    """Advanced rules: the pair of cards after which the table has the best evaluation, found by trying all pairs."""
    batch = middle_of_games("advanced", 2, 10)  # all knights are placed, two cards are due
    weight = 0.17
    actions = decide(LookaheadAgent(weight), batch)
    for number in range(6):
        game = Game.from_dict(ARTUS.to_dict(batch.states[number], batch.components))
        player, tables = game.player, batch.tables

        def best_after(first, game=game, player=player, tables=tables):
            after = game.clone()
            after.play(first)
            values = []
            for second in after.legal_actions():
                end = after.clone()
                end.play(second)
                values.append(evaluate(tables[0], end.state, player, weight))
            return max(values)

        assert best_after(actions[number]) == pytest.approx(max(best_after(first) for first in game.legal_actions()))


def test_drawing_keeps_the_piles_even():
    batch = middle_of_games("beginner", 2, 11)
    assert (batch.states["phase"] == 2).all()
    piles = decide(LookaheadAgent(), batch) - (batch.num_actions - 3)
    sizes = batch.states["pile_sizes"][np.arange(24), batch.player]
    assert (sizes[np.arange(24), piles] == sizes.max(axis=1)).all()


def fraction_of_wins(first_agent, second_agent, rules, deals):
    """The fraction of games that the first agent wins, each deal played from both seats."""
    batch = Batch(2 * deals, rules=rules, autoreset=False)
    batch.reset(np.repeat(seed_stream(1, deals), 2))
    agent_of_seat = np.tile([[0, 1], [1, 0]], (deals, 1))
    played = play_games(
        batch, [find_agent(first_agent), find_agent(second_agent)], agent_of_seat, seed_stream(2, 2 * deals)
    )
    wins = played.wins()
    return (wins[0::2, 0].mean() + wins[1::2, 1].mean()) / 2


@pytest.mark.parametrize("rules", ["beginner", "advanced"])
@pytest.mark.parametrize(
    ("better", "worse", "deals"),
    [("greedy", "random", 100), ("lookahead", "greedy", 200), ("ismcts:100", "lookahead", 60)],
)
def test_each_player_beats_the_simpler_one(better, worse, deals, rules):
    assert fraction_of_wins(better, worse, rules, deals) > 0.6


def test_a_time_is_a_budget_too():
    batch = middle_of_games("beginner", 2, 10)
    actions = IsmctsAgent("0.02s").act(View(batch, np.arange(3), KEYS))
    assert batch.mask[np.arange(3), actions].all()


NO_NUMBERS = ["", "-5", "1.5", "fast", "1e9", "nan", "inf", "1_000", " 1", "5\n", "\N{FULLWIDTH DIGIT ONE}"]
NO_TIMES = ["ms", "nans", "infs", "-1s", "1e3s", "\N{ARABIC-INDIC DIGIT THREE}s"]
OUT_OF_BOUNDS = ["0", "1000001", "1000000000", "9" * 9999, "0s", "86401s", "9" * 9999 + "s"]


@pytest.mark.parametrize("budget", NO_NUMBERS + NO_TIMES + OUT_OF_BOUNDS)
def test_a_wrong_budget_is_named(budget):
    with pytest.raises(ValueError, match=r"needs a number of simulations in 1..1000000 \(.* got ") as caught:
        IsmctsAgent(budget)
    assert len(str(caught.value)) < 300


def test_indices_of_the_largest_tree_fit_into_their_dtypes():
    assert IsmctsAgent(MOST_SIMULATIONS).simulations == MOST_SIMULATIONS
    for dtype in (node_dtype(1)["first"], EDGE["child"], EDGE["next"]):
        assert np.iinfo(dtype).max >= (MOST_SIMULATIONS + 10) * EDGES_PER_SIMULATION


def test_trees_that_grow_side_by_side_fit_into_memory(monkeypatch):
    """With fewer trees in parallel than there are cores, the decisions are the same."""
    batch = middle_of_games("advanced", 3, 30)
    actions = decide(IsmctsAgent(40), batch)
    tree_counts = []
    agent, memory = IsmctsAgent(40), IsmctsAgent._memory
    monkeypatch.setattr(
        agent, "_memory", lambda count, *arguments: tree_counts.append(count) or memory(count, *arguments)
    )
    monkeypatch.setattr(search, "MAX_PARALLEL_SIMULATIONS", 100)
    monkeypatch.setattr(search, "available_cores", lambda: 7)
    np.testing.assert_array_equal(decide(agent, batch), actions)
    assert tree_counts == [2]


@pytest.mark.parametrize("weight", ["much", "nan", "inf", "-inf", "", 10**400])
def test_a_wrong_weight_is_named(weight):
    with pytest.raises(ValueError, match="lookahead needs a finite number"):
        LookaheadAgent(weight)


def test_quick_moves_answer_no_bid_that_lies_face_down():
    """In Magpies, one player has bid: the next one's quick move doesn't depend on this bid."""
    game = Game(game="magpies", seed=3)
    game.play(game.legal_actions()[0])
    settings = search.Settings(0.0, 1.0, 1.0, 1.0, 8, 12)
    all_moves = set()
    for key in range(20):
        moves = set()
        for seed in range(12):
            games = np.repeat(game.redeal(game.player, seed).states, 3)
            legal = np.array([sum(1 << action for action in game.legal_actions())], np.uint64)
            moves.add(search.quick_move(game.tables[0], games, legal, settings, np.uint64(key), 0))
        assert len(moves) == 1
        all_moves |= moves
    assert len(all_moves) > 1


def test_only_secret_choices_are_covered():
    for name, is_secret in (("magpies", True), ("artus", False)):
        game = Game(game=name, seed=3)
        legal = np.zeros(game.definition.mask_words, np.uint64)
        for action in game.legal_actions():
            legal[action >> 6] |= np.uint64(1 << (action & 63))
        t, g = game.tables[0], game.state
        assert {covers(t, g, legal, action) for action in game.legal_actions()} == {is_secret}
