"""The last decisions, where all players know everything: their exact solution, in every search, and the agent that
searches only there."""

import numpy as np
import pytest
import torch

from artus_agents import endgame, neural_search
from artus_agents.guided_loops import WALK_HORIZON_MORE, WALK_HORIZON_TWO
from artus_agents.network import Network, Shape
from artus_agents.neural import NeuralAgent
from artus_agents.neural_search import (
    EndgameAgent,
    NeuralSearchAgent,
    TrainedEndgameAgent,
    find_endgame,
    games_at_once,
)
from artus_agents.saved import save_agent
from artus_env import Batch, Game
from artus_env.engine.agents.names import find_agent
from artus_env.engine.agents.view import View
from artus_env.engine.contract.rng import seed_stream
from artus_env.games.artus.components import STANDARD
from artus_env.games.artus.definition import ARTUS
from artus_training.arena.lineup import line_up
from positions import position

torch.set_num_threads(1)  # tests run side by side, and torch's threads spin while they wait

TABLE = "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s2 .  B  A  B  A  .  | b1 .  .  B  A  .  B"
CARDS = {"beginner": 16, "advanced": 22}
"""Number of cards that each player plays in a game, by rule set."""


def near_the_end(rules, num_players, left, count):
    """Games in which this number of cards is left to play, reached by random moves: a view and its batch."""
    batch = Batch(count, rules=rules, num_players=num_players, seed=3, autoreset=False)
    while len(unfinished := np.flatnonzero(cards_left(batch) > left)):
        batch.step(batch.sample()[unfinished], unfinished)
    return View(batch, None, seed_stream(5, count)), batch


def cards_left(batch):
    """Number of cards left to play in each game: shape (n,)."""
    played = np.array([[int(cards).bit_count() for cards in row] for row in batch.states["played"]])
    return CARDS[batch.rules] * batch.num_players - played.sum(axis=1)


def network(seed=0):
    """A network with random weights."""
    torch.manual_seed(seed)
    return Network(Shape.of(ARTUS, STANDARD, (16,)), ARTUS.observation_scale(STANDARD)).requires_grad_(False)


def best_leads(game):
    """Each player's lead over the best of the others if each maximizes their own. All lines are tried."""
    if game.over:
        return [game.scores[p] - max(s for q, s in enumerate(game.scores) if q != p) for p in range(game.num_players)]
    return max(
        (best_leads(after(game, action)) for action in game.legal_actions()), key=lambda leads: leads[game.player]
    )


def after(game, action):
    game = game.clone()
    game.play(action)
    return game


def games_of(batch):
    """A `Game` for each game of a batch."""
    return [Game.from_dict(ARTUS.to_dict(batch.states[i], STANDARD, None)) for i in range(len(batch))]


@pytest.mark.parametrize(
    ("rules", "num_players", "left"),
    [("beginner", 2, 1), ("beginner", 2, 2), ("beginner", 2, 3), ("advanced", 2, 2), ("beginner", 3, 2),
     ("advanced", 4, 1)],
)  # fmt: skip
def test_nothing_better_can_be_found(rules, num_players, left):
    view, batch = near_the_end(rules, num_players, left, 4)
    actions = endgame.solved(view)
    for game, action in zip(games_of(batch), actions, strict=True):
        assert best_leads(after(game, int(action)))[game.player] == best_leads(game)[game.player]


def test_a_lead_that_both_fight_for_is_the_same_with_every_line_cut_off_that_can_be():
    """Four cards are left: the solved action is as good as the best one by solutions of the positions after it."""
    view, batch = near_the_end("beginner", 2, 4, 3)
    actions = endgame.solved(view)
    assert (actions >= 0).all()
    for game, action in zip(games_of(batch), actions, strict=True):
        values = [best_reply(after(game, legal_action), game.player) for legal_action in game.legal_actions()]
        assert best_reply(after(game, int(action)), game.player) == max(values)


def best_reply(game, player):
    """A player's final lead if all remaining decisions are the solved ones."""
    while not game.over:
        batch = Batch(1, rules=game.rules, num_players=2, autoreset=False)
        batch.states[:] = game.states
        batch.refresh()
        game = after(game, int(endgame.solved(View(batch, None, seed_stream(1, 1)))[0]))
    return game.scores[player] - game.scores[1 - player]


def test_positions_with_too_many_lines_are_not_solved():
    """Three cards each that can move to any seat: up to a hundred million lines."""
    hand = ["any1-5b", "any4-8", "k1-5b"]
    end = position(TABLE, hand, turn=0, start=0, hands={1: hand})
    states = np.array([Game.from_dict(end).state])
    actions = np.full(1, -1)
    endgame.solve_all(Batch(1).tables, states, endgame.MAX_HORIZON, endgame.MAX_HORIZON, actions, 0, 1)
    assert actions[0] == -1


@pytest.mark.parametrize(("rules", "num_players", "left"), [("beginner", 2, 5), ("advanced", 3, 4)])
def test_trials_end_with_the_game_where_the_end_is_near(rules, num_players, left, monkeypatch):
    leaf_states, back_up = [], neural_search.guided_loops.back_up

    def watched(tables, games, offsets, next_widths, trees, leaves, *arguments):
        leaf_states.extend(leaves.states[: offsets[-1]].copy())
        back_up(tables, games, offsets, next_widths, trees, leaves, *arguments)

    monkeypatch.setattr(neural_search.guided_loops, "back_up", watched)
    NeuralSearchAgent(network(), 40).search(near_the_end(rules, num_players, left, 4)[0])
    states = np.array(leaf_states)
    counts = np.array([[int(cards).bit_count() for cards in row] for row in states["played"]]).sum(axis=1)
    to_play = CARDS[rules] * num_players - counts
    assert len(to_play) > 80
    horizon = WALK_HORIZON_TWO if num_players == 2 else WALK_HORIZON_MORE
    assert not ((to_play > 0) & (to_play <= horizon)).any()
    assert (to_play == 0).any()


def test_it_plays_like_the_network_and_searches_when_all_hands_are_known():
    search, plain = NeuralSearchAgent(network(), 8), NeuralAgent(network())
    agent = EndgameAgent(search)
    _, batch = near_the_end("beginner", 2, 7, 12)
    early = Batch(12, seed=9, autoreset=False)
    for _ in range(20):
        early.step(early.sample())
    for num_hidden in (0, 6, 12):
        batch.states[:num_hidden] = early.states[:num_hidden]
        batch.refresh()
        view = View(batch, None, seed_stream(5, 12))
        is_open = endgame.open_games(view)
        np.testing.assert_array_equal(is_open, np.arange(12) >= num_hidden)
        actions = agent.act(view)
        for expected_agent, chosen in ((search, is_open), (plain, ~is_open)):
            games = np.flatnonzero(chosen)
            if len(games):
                np.testing.assert_array_equal(actions[games], expected_agent.act(view.part(games)))


def test_a_part_of_a_view_is_about_the_same_games():
    view, batch = near_the_end("beginner", 2, 8, 12)
    part = View(batch, np.array([1, 3, 4, 9]), seed_stream(5, 12)).part(np.array([3, 1]))
    direct_part = view.part(np.array([9, 3]))
    for name in ("player", "keys", "observation", "mask", "legal_bits", "points", "games"):
        np.testing.assert_array_equal(getattr(part, name), getattr(direct_part, name))
        np.testing.assert_array_equal(getattr(part, name), getattr(view, name)[[9, 3]])
    np.testing.assert_array_equal(part.redeal(part.keys), view.redeal(view.keys)[[9, 3]])


# --- by name ---


def test_by_name_it_plays_with_what_comes_with_the_game(tmp_path):
    agent = find_agent("ppo-endgame")
    assert isinstance(agent, TrainedEndgameAgent)
    assert agent.evaluations == neural_search.ENDGAME_EVALUATIONS
    line_up(["ppo-endgame:4", "random"], "advanced", 3)
    with pytest.raises(ValueError, match="no trained agent comes with"):
        line_up(["ppo-endgame:4", "random"], game="magpies")
    card = {"variants": [["beginner", 2]], "components": STANDARD.hash, "settings": {"reward": "win"}}
    save_agent(tmp_path / "agent.safetensors", network(), card)
    saved = find_agent(f"ppo-endgame:5:{tmp_path / 'agent.safetensors'}")
    assert isinstance(saved, EndgameAgent)
    assert saved.search.evaluations == 5
    with pytest.raises(ValueError, match="trained for beginner with 2 players, not for advanced"):
        line_up([f"ppo-endgame:5:{tmp_path / 'agent.safetensors'}", "random"], "advanced")
    with pytest.raises(ValueError, match=r"ppo-endgame needs a number of evaluations in 1\.\.100000, .* got 'much'"):
        find_endgame("much")


def test_it_is_asked_about_as_many_games_as_a_network():
    assert find_agent("ppo-endgame").games_at_once == NeuralAgent.games_at_once > games_at_once(64)
