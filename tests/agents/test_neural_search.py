"""Network-guided search: it finds moves that the policy misses, uses no hidden information, and each player in it
maximizes their own chance to win."""

import numpy as np
import pytest
import torch

from artus_agents import neural_search
from artus_agents.guided_loops import EVIDENCE, Trees, appraise, rank
from artus_agents.network import Network, Shape
from artus_agents.neural import NeuralAgent
from artus_agents.neural_search import (
    MOST_EVALUATIONS,
    NeuralSearchAgent,
    TrainedSearchAgent,
    batches_of,
    find_search,
    halving,
)
from artus_agents.saved import save_agent
from artus_agents.tree import EDGE, Tree, node_dtype
from artus_env import NUM_ACTIONS, OBSERVATION_SIZE, Batch, Game
from artus_env.engine.agents.names import find_agent
from artus_env.engine.agents.view import View
from artus_env.engine.contract.registry import find_game
from artus_env.engine.contract.rng import seed_stream
from artus_env.engine.play.rewards import MARGIN, POINTS, WIN, mode_index
from artus_env.games.artus.actions import action_table
from artus_env.games.artus.components import MAX_PLAYERS, STANDARD, Components
from artus_env.games.artus.definition import ARTUS
from artus_env.games.artus.state import DRAW_PHASE, PLAY_PHASE
from artus_env.games.royal.state import OVER as ROYAL_OVER
from artus_training.arena.evaluate import evaluate
from artus_training.arena.lineup import line_up
from positions import position

torch.set_num_threads(1)  # tests run side by side, and torch's threads spin while they wait

VARIANTS = [(rules, players) for rules in ("beginner", "advanced") for players in (2, 3, 4)]
CARD = {
    "variants": [["beginner", 2], ["advanced", 3]], "components": STANDARD.hash,
    "settings": {"reward": "prestige", "final_reward": "win"},
}  # fmt: skip
TABLES = ARTUS.build_tables(STANDARD)[0]
TABLE = "Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s2 .  B  A  B  A  .  | b1 .  .  B  A  .  B"


def network(seed=0, action_features=True):
    """A network with random weights."""
    torch.manual_seed(seed)
    new_network = Network(
        Shape.of(ARTUS, STANDARD, (16,), action_features), ARTUS.observation_scale(STANDARD), ARTUS.action_feature_gates
    )
    for parameter in new_network.head.parameters():
        parameter.data += torch.randn(parameter.shape) / 10
    return new_network.requires_grad_(False)


def flat_network(favourite=None):
    """A network whose policy is uniform, except for a favourite action if there is one, and whose values are 0."""
    new_network = Network(Shape.of(ARTUS, STANDARD, (8,), action_features=False)).requires_grad_(False)
    for parameter in new_network.parameters():
        parameter.zero_()
    if favourite is not None:
        new_network.head.bias[favourite] = 3
    return new_network


def exact_network():
    """A network with weights so coarse that no sum is rounded: its output for a position is the same in every batch."""
    new_network = network()
    for parameter in new_network.parameters():
        parameter.data = (parameter * 64).round() / 64
    return new_network


def view_of(*positions, seed=0):
    """A view of a batch with these positions."""
    batch = Batch(len(positions), rules=positions[0]["rules"], num_players=positions[0]["num_players"], autoreset=False)
    batch.states[:] = [Game.from_dict(data).state for data in positions]
    batch.refresh()
    return View(batch, None, seed_stream(seed, len(positions)))


def middle_of_games(rules, num_players, moves, count=24):
    """Games after some random moves: a view and its batch."""
    batch = Batch(count, rules=rules, num_players=num_players, seed=3, autoreset=False)
    for _ in range(moves):
        batch.step(batch.sample())
    return View(batch, None, seed_stream(5, count)), batch


def game_and_network(game, moves, num_players, count):
    """A view of any game's positions after some random moves, and a network with random weights for the game."""
    definition = find_game(game)
    torch.manual_seed(0)
    new_network = Network(Shape.of(definition, definition.standard, (16,))).requires_grad_(False)
    batch = Batch(count, game=definition, num_players=num_players, seed=3, autoreset=True)
    for _ in range(moves):
        batch.step(batch.sample())
    return View(batch, None, seed_stream(5, count)), new_network


# --- moves that the policy misses
# -------------------------------------------------------------------------------------


def test_it_finds_the_one_move_that_wins_the_game():
    """The last card of the game: only a move with the most points wins. The policy prefers the worst move."""
    end = position(TABLE, ["k1-4"], start=1, turn=0)
    game = Game.from_dict(end)
    points = {int(move): int(after_move(game, move).scores[0]) for move in game.legal_actions()}
    most_points = max(points.values())
    winning = {move for move in points if points[move] == most_points}
    assert len(winning) < len(points) / 2
    end["scores"] = [0, most_points - 1]
    worst = min(points, key=points.__getitem__)
    misled_network = flat_network(favourite=worst)
    view = view_of(end)
    assert NeuralAgent(misled_network).act(view)[0] == worst
    for reward in ("win", "margin", "prestige"):
        assert NeuralSearchAgent(misled_network, 64, reward=reward, candidates=64).act(view)[0] in winning


def test_results_of_a_search_cover_legal_actions_and_its_choice_is_among_the_most_tried():
    view, _ = middle_of_games("beginner", 2, 30)
    agent = NeuralSearchAgent(network(), 40)
    results = agent.search(view)
    assert (results.action == agent.act(view)).all()
    assert (results.visits[view.mask == 0] == 0).all()
    assert (results.value_sums[results.visits == 0] == 0).all()
    has_choice = view.mask.sum(axis=1) > 1
    assert has_choice.any()
    assert (results.visits.sum(axis=1)[has_choice] > 20).all()
    assert (results.visits.sum(axis=1) <= 40).all()
    visits_of_choice = results.visits[np.arange(len(view)), results.action]
    assert (visits_of_choice == results.visits.max(axis=1)).all()
    means = results.value_sums[results.visits > 0] / results.visits[results.visits > 0]
    assert means.min() > -0.2
    assert means.max() < 1.2
    assert np.ptp(means) > 0.01


def end_games(num_players, cards_left):
    """Beginner games with this number of cards left to play, all of them known to all players."""
    batch = Batch(40, num_players=num_players, seed=8, autoreset=False)
    while True:
        if (batch.states["phase"] == PLAY_PHASE).all() and not batch.states["pile_sizes"].any():
            num_left = np.bitwise_count(batch.states["hands"]).sum(axis=1)
            if num_left[0] == cards_left:
                return batch
        batch.step(batch.sample())


def after_move(game, move):
    """A copy of a game after a move."""
    copy = game.clone()
    copy.play(move)
    return copy


@pytest.mark.parametrize("num_players", [2, 3])
def test_each_player_is_assumed_to_play_for_themselves(num_players):
    """Two cards are left, mine and then another player's. All lines are tried to find the moves that I should play.

    Scores are set so that the best result that I can be sure of is a draw. Most of the other's answers give them less,
    so a search that assumed helpful or random answers would often choose another move.
    """
    batch = end_games(num_players, 2)
    num_checked = 0
    for state in batch.states:
        last_position = ARTUS.to_dict(state, batch.components)
        me, other = last_position["turn"], (last_position["turn"] + 1) % num_players
        game = Game.from_dict(last_position)
        answers = {}  # scores after each answer to each move: shape (answers, players)
        for move in game.legal_actions():
            reply = after_move(game, move)
            answers[int(move)] = np.array([after_move(reply, answer).scores for answer in reply.legal_actions()])
        leads = {
            move: (scores[:, me] - np.delete(scores, me, axis=1).max(axis=1)).min() for move, scores in answers.items()
        }
        last_position["scores"][me] -= int(max(leads.values()))
        my_shares = {}
        for move, scores in answers.items():
            scores[:, me] -= max(leads.values())
            is_winner = scores == scores.max(axis=1, keepdims=True)
            shares = is_winner / is_winner.sum(axis=1, keepdims=True)
            my_shares[move] = shares[shares[:, other] == shares[:, other].max(), me]  # after the other's best answers
        best = max(shares.min() for shares in my_shares.values())
        best_moves = {move for move, shares in my_shares.items() if shares.min() == best}
        if (
            all(shares.max() < best for move, shares in my_shares.items() if move not in best_moves)
            and len(best_moves) < len(my_shares) / 2
        ):
            num_checked += 1
            agent = NeuralSearchAgent(flat_network(), 10_000, candidates=128)
            assert agent.act(view_of(last_position))[0] in best_moves
    assert num_checked >= 5


def test_it_sees_what_the_second_card_will_bring():
    """Advanced rules, the last two cards of the game: only some first moves can still win."""
    end = position(TABLE, ["k1-4", "k2-5"], rules="advanced", start=1, turn=0)
    game = Game.from_dict(end)
    points = {}
    for first in game.legal_actions():
        middle = after_move(game, first)
        points[int(first)] = max(int(after_move(middle, second).scores[0]) for second in middle.legal_actions())
    most_points = max(points.values())
    winning = {action for action, total in points.items() if total == most_points}
    assert len(winning) < len(points) / 2
    end["scores"] = [0, most_points - 1]
    misled_network = flat_network(favourite=min(points, key=points.__getitem__))
    assert NeuralSearchAgent(misled_network, 10_000, candidates=64).act(view_of(end))[0] in winning


def test_values_guide_it_where_the_game_goes_on():
    """The policy is uniform, and the values depend only on whether a certain card is still in the hand."""
    start = position(TABLE, ["k1-4", "k2-5", "k3-6", "k4-7"], rounds=5)
    game = Game.from_dict(start)
    moves_of_card = {int(move) for move in game.legal_actions() if game.move(move).startswith("k4-7")}
    observations = {int(move): after_move(game, move).observation(0) for move in game.legal_actions()}
    # The feature that is 1 in all positions with that card and 0 in all others.
    feature = next(
        f
        for f in range(OBSERVATION_SIZE)
        if all(row[f] == (move not in moves_of_card) for move, row in observations.items())
    )
    network = flat_network()
    network.trunk[0].weight[0, feature] = 1
    # First the player who has moved, as they still have to draw.
    network.head.weight[NUM_ACTIONS : NUM_ACTIONS + 2, 0] = torch.tensor([0.9, -0.9])
    view = view_of(*[start] * 8)
    assert not moves_of_card & set(NeuralSearchAgent(network, 64).act(view).tolist())
    network.head.weight[NUM_ACTIONS : NUM_ACTIONS + 2] *= -1
    assert moves_of_card >= set(NeuralSearchAgent(network, 128, candidates=64).act(view).tolist())


# --- values of positions
# --------------------------------------------------------------------------------------------


def win_chances(data, future_rewards, mode):
    """Each player's chance to win, by `appraise`."""
    out = np.full(MAX_PLAYERS, np.nan)
    appraise(TABLES, Game.from_dict(data).state, np.array(future_rewards, np.float32), mode, out)
    return out[: data["num_players"]]


FOUR = "Ks .  .  A  B  .  C  | b1 .  D  A  .  .  C  | s2 .  B  A  B  A  D  | b1 .  C  B  D  C  D"


@pytest.mark.parametrize("mode", [WIN, MARGIN, POINTS])
def test_chances_in_a_finished_game_are_the_shares_of_the_win(mode):
    """Whatever a network predicts."""
    for scores, shares in (([4, 3, 2, 1], [1, 0, 0, 0]), ([-5, 7, 7, 1], [0, 0.5, 0.5, 0]), ([2, 2, 2, 2], [0.25] * 4)):
        over = position(FOUR, phase="over", scores=scores, start=2, turn=2)
        np.testing.assert_allclose(win_chances(over, [9, 9, 9, 9], mode), shares, atol=1e-12)


def test_predicted_win_rewards_become_chances():
    """Player 2 is to move, so the values are those of players 2, 3, 0, 1. The reward is 1 for a sure win, 0 for an
    equal chance, -1/3 for a loss."""
    unfinished = position(FOUR, rounds=3, turn=2, scores=[100, 0, 0, 0])
    np.testing.assert_allclose(win_chances(unfinished, [1, -1 / 3, 0, -0.2], WIN), [0.25, 0.1, 1, 0], atol=1e-6)


def test_margins_become_chances():
    equal = position(FOUR, rounds=3, turn=1)
    np.testing.assert_allclose(win_chances(equal, [0, 0, 0, 0], POINTS), [0.25] * 4)
    with_lead = position(FOUR, rounds=3, turn=1, scores=[0, 10, 0, 0])
    chances = win_chances(with_lead, [0, 0, 0, 0], POINTS)
    assert chances.sum() == pytest.approx(1)
    assert 0.9 > chances[1] > 0.3 > chances[0] == chances[2] == chances[3]
    # With rewards for points, the points scored so far count as much as future points. With a reward for the final
    # margin, the predicted value is the whole margin.
    future_rewards = [0.1, -0.1 / 3, -0.1 / 3, -0.1 / 3]
    np.testing.assert_allclose(win_chances(equal, future_rewards, POINTS), chances, atol=1e-6)
    np.testing.assert_allclose(win_chances(with_lead, future_rewards, MARGIN), chances, atol=1e-6)
    # A lead means a higher chance when fewer rounds are left.
    later = position(FOUR, rounds=12, turn=1, scores=[0, 10, 0, 0])
    assert win_chances(later, [0, 0, 0, 0], POINTS)[1] > chances[1] + 0.05


# --- no hidden information, and reproducible
# -------------------------------------------------------------------------------------


def test_a_round_is_one_deal_for_all_candidates_and_the_next_round_another(monkeypatch):
    view, batch = middle_of_games("beginner", 2, 12)
    assert (batch.states["phase"] == PLAY_PHASE).all()
    opponents = 1 - batch.player
    deals = []
    walk = neural_search.guided_loops.walk

    def watched(tables, roots, games, deal_seeds, offsets, trees, leaves, more_turns):
        walk(tables, roots, games, deal_seeds, offsets, trees, leaves, more_turns)
        # Three rounds are too few to reach the opponent's next draw.
        states = leaves.states[: offsets[-1]].reshape(24, 2)
        deals.append((states["hands"] | states["played"])[games[:, None], np.arange(2), opponents[:, None]])

    monkeypatch.setattr(neural_search.guided_loops, "walk", watched)
    NeuralSearchAgent(network(), 6, candidates=2).act(view)
    assert len(deals) == 3
    assert all((cards[:, 0] == cards[:, 1]).all() for cards in deals)
    for first, second in ((0, 1), (1, 2), (0, 2)):
        assert (deals[first][:, 0] != deals[second][:, 0]).mean() > 0.5


def test_the_tree_has_the_actions_of_all_deals(monkeypatch):
    """The searching player draws, then the opponent plays one of four cards, which differ between deals."""
    all_trees = []

    def store(*arrays):
        all_trees.append(Trees(*arrays))
        return all_trees[-1]

    monkeypatch.setattr(neural_search, "Trees", store)
    view, batch = middle_of_games("beginner", 2, 11)
    assert (batch.states["phase"] == DRAW_PHASE).all()
    NeuralSearchAgent(network(), 100).act(view)
    cards = action_table()
    (trees,) = all_trees
    for nodes, edges, first_edge in zip(trees.nodes, trees.edges, trees.candidates[:, 0], strict=True):
        index, found_cards = nodes[edges[first_edge]["child"]]["first"], set()
        while index >= 0:
            found_cards.add(cards[edges[index]["action"]].card)
            index = edges[index]["next"]
        assert len(found_cards) == 15  # two of the opponent's 16 cards are equal


@pytest.mark.parametrize("action_features", [True, False])
def test_decisions_do_not_depend_on_other_games(action_features, monkeypatch):
    view, batch = middle_of_games("advanced", 3, 30, count=96)
    agent = NeuralSearchAgent(exact_network() if action_features else flat_network(), 32)
    actions = agent.act(view)
    part = np.array([70, 3, 95])
    np.testing.assert_array_equal(agent.act(View(batch, part, view.keys)), actions[part])
    monkeypatch.setattr(neural_search, "MOST_GAMES", 10)
    np.testing.assert_array_equal(agent.act(view), actions)


def test_the_same_keys_give_the_same_decisions_and_others_may_not():
    view, batch = middle_of_games("advanced", 2, 20)
    agent = NeuralSearchAgent(network(), 16)
    actions = agent.act(view)
    np.testing.assert_array_equal(agent.act(view), actions)
    other_actions = agent.act(View(batch, None, seed_stream(6, 24)))
    assert 0 < (other_actions != actions).sum() < 24


# --- secret choices
# -------------------------------------------------------------------------------------


def magpies(moves, num_players=3, count=24):
    """Games of Magpies, which has secret bids, after some random bids: a view and its batch."""
    batch = Batch(count, game="magpies", num_players=num_players, seed=3, autoreset=False)
    for _ in range(moves):
        batch.step(batch.sample())
    return View(batch, None, seed_stream(5, count)), batch


def jewel_network():
    """A network whose policy is uniform and whose values grow with a player's jewels."""
    definition = find_game("magpies")
    new_network = Network(Shape.of(definition, definition.standard, (8,), action_features=False)).requires_grad_(False)
    for parameter in new_network.parameters():
        parameter.zero_()
    actions, own_jewels = 20, 20
    new_network.trunk[0].weight[0, own_jewels] = 1
    new_network.head.weight[actions, 0], new_network.head.weight[actions + 1 : actions + 3, 0] = 0.125, -0.0625
    return new_network


@pytest.mark.parametrize("bidders", [0, 1, 2])
def test_a_secret_choice_is_evaluated_when_its_player_sees_the_result(bidders):
    """The next player doesn't see the bid: from their observation, all bids would have equal values."""
    view, batch = magpies(bidders, count=96)
    hands = batch.states["hands"][np.arange(96), batch.player]
    highest = np.array([int(hand).bit_length() - 1 for hand in hands])
    assert (NeuralSearchAgent(jewel_network(), 24).act(view) == highest).mean() > 0.55


def test_no_player_answers_a_secret_bid(monkeypatch):
    """The next player's bid doesn't depend on the card that the first player tries, only on the deal."""
    view, _ = magpies(0)
    bids = []
    play_policy_moves = neural_search.guided_loops.play_policy_moves

    def watched(tables, chosen, deal_seeds, step, leaves, output):
        play_policy_moves(tables, chosen, deal_seeds, step, leaves, output)
        if step == 0:
            states = leaves.states[chosen].reshape(24, -1)  # a row of candidates for each game
            players = states["player"][:, 0]
            bids.append(states["bids"][np.arange(24), :, (players - 1) % 3])
            assert (states["bids"][np.arange(24), :, (players - 2) % 3] != bids[-1]).all()

    monkeypatch.setattr(neural_search.guided_loops, "play_policy_moves", watched)
    NeuralSearchAgent(jewel_network(), 24).act(view)
    assert len(bids) > 3
    assert all((cards >= 0).all() and (cards == cards[:, :1]).all() for cards in bids)
    assert (bids[0][:, 0] != bids[1][:, 0]).mean() > 0.5


@pytest.mark.parametrize("bidders", [0, 1, 2])
def test_a_search_among_secret_choices_knows_no_more_than_its_player(bidders):
    view, batch = magpies(6 + bidders)
    agent = NeuralSearchAgent(jewel_network(), 24)
    actions = agent.act(view)
    for seed in range(3):
        batch.states[:] = view.redeal(seed_stream(seed, 24))
        batch.refresh()
        np.testing.assert_array_equal(agent.act(View(batch, None, view.keys)), actions)
    part = np.array([17, 3, 22])
    np.testing.assert_array_equal(agent.act(View(batch, part, view.keys)), actions[part])


@pytest.mark.parametrize("bidders", [0, 1, 2])
def test_moves_of_the_policy_need_further_evaluations(batch_sizes, bidders):
    """Both other players move before the bidder has another turn."""
    view, _ = magpies(bidders, count=1)
    NeuralSearchAgent(jewel_network(), 30).act(view)
    assert batch_sizes[0] == 1
    assert sum(batch_sizes[1:]) == (1 + 2) * halving(30, 3)[:, 3].sum()


# --- forced moves
# -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("game", "num_players", "moves"), [("artus", 2, 60), ("quest", 3, 40), ("royal", 4, 13)])
def test_positions_with_one_legal_action_are_not_evaluated(game, num_players, moves, monkeypatch):
    """Networks are trained only on real choices and have no reliable values for other positions."""
    view, network = game_and_network(game, moves, num_players, 48)
    legal_counts = []
    back_up = neural_search.guided_loops.back_up

    def watched(tables, games, offsets, next_widths, trees, leaves, *arguments):
        legal_counts.extend(np.split(np.bitwise_count(leaves.legal[: offsets[-1]]).sum(axis=1), offsets[1:-1]))
        back_up(tables, games, offsets, next_widths, trees, leaves, *arguments)

    monkeypatch.setattr(neural_search.guided_loops, "back_up", watched)
    NeuralSearchAgent(network, 24).act(view)
    assert len(legal_counts) > 3
    assert all((counts != 1).all() for counts in legal_counts)


# --- games of tricks
# -------------------------------------------------------------------------------------


def tricks(moves, num_players, count=24):
    """A view of royal card games after some random moves, and a network with random weights."""
    return game_and_network("royal", moves, num_players, count)


@pytest.mark.parametrize("num_players", [2, 4])
def test_a_card_is_evaluated_when_its_player_is_to_move_again(num_players, monkeypatch):
    """Nobody else sees that it is gone from their hand."""
    view, network = tricks(5, num_players)
    is_settled = []
    back_up = neural_search.guided_loops.back_up

    def watched(tables, games, offsets, next_widths, trees, leaves, *arguments):
        states = leaves.states[: offsets[-1]]
        movers = np.repeat(view.player[games], np.diff(offsets))
        is_settled.extend(np.split((states["player"] == movers) | (states["phase"] == ROYAL_OVER), offsets[1:-1]))
        back_up(tables, games, offsets, next_widths, trees, leaves, *arguments)

    monkeypatch.setattr(neural_search.guided_loops, "back_up", watched)
    NeuralSearchAgent(network, 24).act(view)
    assert len(is_settled) > 3
    assert all(leaves.all() for leaves in is_settled)


@pytest.mark.parametrize("num_players", [2, 4])
def test_the_policy_plays_some_turns_before_a_card_is_evaluated(num_players, monkeypatch):
    view, network = tricks(2, num_players)
    turns, own_turns, has_all_turns = view.definition.search_turns, [], []
    assert turns > 0
    play_policy_moves, back_up = neural_search.guided_loops.play_policy_moves, neural_search.guided_loops.back_up

    def counted(tables, chosen, deal_seeds, step, leaves, output):
        if step == 0:
            own_turns.append(np.zeros(len(leaves.states), int))
        own_turns[-1][chosen] += leaves.states["player"][chosen] == leaves.paths[chosen, 1, 0]
        play_policy_moves(tables, chosen, deal_seeds, step, leaves, output)

    def watched(tables, games, offsets, next_widths, trees, leaves, *arguments):
        unfinished = leaves.states["phase"][: offsets[-1]] != ROYAL_OVER
        has_all_turns.append((own_turns[-1][: offsets[-1]][unfinished] == turns).all())
        back_up(tables, games, offsets, next_widths, trees, leaves, *arguments)

    monkeypatch.setattr(neural_search.guided_loops, "play_policy_moves", counted)
    monkeypatch.setattr(neural_search.guided_loops, "back_up", watched)
    NeuralSearchAgent(network, 24).act(view)
    assert len(has_all_turns) > 1
    assert all(has_all_turns)


def test_candidates_are_ranked_by_their_trials_and_the_policy():
    tree = Tree(np.zeros(3, node_dtype(2)), np.zeros(3, EDGE), np.zeros(2, np.int64))
    tree.edges["prior"] = np.exp([8.0, 0.0, 7.0])
    for wins, order in (
        ([0, 0, 0], [0, 2, 1]),
        ([0, 7 / EVIDENCE, 2 / EVIDENCE], [2, 0, 1]),
        ([0, 9 / EVIDENCE, 0], [1, 0, 2]),
    ):
        tree.edges["total"] = wins
        candidates = np.arange(3)
        rank(tree, candidates, 3)
        assert candidates.tolist() == order


# --- legal actions, and the number of evaluations
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reward", ["win", "prestige"])
def test_it_plays_legal_actions_to_the_end(reward):
    batch = Batch(6, rules="advanced", num_players=4, seed=1, autoreset=False)
    agent = NeuralSearchAgent(network(), 9, reward=reward)
    step = 0
    while not batch.done.all():
        batch.step(agent.act(View(batch, None, seed_stream(step, 6))))  # raises an error at an illegal action
        step += 1


def test_a_search_that_has_no_room_plays_on(monkeypatch):
    monkeypatch.setattr(neural_search, "EDGES_PER_NODE", 2)  # fewer than the root alone needs
    view, batch = middle_of_games("beginner", 2, 10)
    actions = NeuralSearchAgent(network(), 8).act(view)
    assert batch.mask[np.arange(24), actions].all()


@pytest.mark.parametrize("action_features", [True, False])
def test_one_evaluation_is_too_few_to_search(action_features):
    view, _ = middle_of_games("beginner", 2, 20)
    policy = network(action_features=action_features)
    np.testing.assert_array_equal(NeuralSearchAgent(policy, 1).act(view), NeuralAgent(policy).act(view))


@pytest.fixture
def batch_sizes(monkeypatch):
    """The number of positions that the network evaluated in each call."""
    counts = []
    infer = neural_search.infer

    def counting(network, observation, bfloat16):
        counts.append(len(observation))
        return infer(network, observation, bfloat16)

    monkeypatch.setattr(neural_search, "infer", counting)
    return counts


def test_a_position_with_one_legal_action_is_not_searched(batch_sizes):
    forced = position(TABLE, ["all"], rules="advanced", start=1, turn=0, left=1)
    game = Game.from_dict(forced)
    assert game.moves() == ["all"]
    agent = NeuralSearchAgent(network(), 50)
    assert game.move(int(agent.search(view_of(forced)).action[0])) == "all"
    assert batch_sizes == [1]
    assert game.move(int(agent.act(view_of(forced))[0])) == "all"
    assert batch_sizes == [1]  # the end of a game needs no network


@pytest.mark.parametrize("evaluations", [2, 5, 16, 64, 100])
def test_the_number_of_evaluations_is_as_given(batch_sizes, evaluations):
    view, _ = middle_of_games("beginner", 2, 20, count=1)
    NeuralSearchAgent(network(), evaluations).act(view)
    assert batch_sizes[0] == 1  # the position itself
    assert evaluations - 1 <= sum(batch_sizes[1:]) <= evaluations


@pytest.mark.parametrize("evaluations", [1, 2, 3, 16, 17, 64, 1000])
def test_halving(evaluations):
    plan = halving(evaluations, 16)
    assert plan.shape[1] == 17
    assert not plan[-1].any()
    assert not plan[:, :2].any()  # positions without a choice
    for count in range(2, 17):
        widths = plan[:, count][plan[:, count] > 0]
        assert evaluations - 1 <= widths.sum() <= evaluations
        assert widths.max(initial=0) <= count
        assert (np.diff(widths) <= 0).all()
    assert halving(64, 16)[:, 16].tolist()[:4] == [16, 8, 8, 4]


def test_independent_rounds_are_evaluated_together():
    widths = np.array([[4, 2, 0], [4, 2, 0], [2, 2, 0], [2, 0, 0], [2, 0, 0], [0, 0, 0]])
    expected = [
        [[0, 0, 1, 1, 1], [0, 1, 0, 1, 2], [4, 4, 2, 2, 2], [4, 2, 2, 2, 0]],
        [[0, 0, 0], [2, 3, 4], [2, 2, 2], [2, 2, 0]],
    ]
    assert [[part.tolist() for part in batch] for batch in batches_of(widths, independent=True)] == expected
    dependent = batches_of(widths, independent=False)
    assert [batch.games.tolist() for batch in dependent] == [[0, 1], [0, 1], [0, 1], [0], [0]]
    assert [set(batch.numbers.tolist()) for batch in dependent] == [{0}, {1}, {2}, {3}, {4}]
    for batch in (*batches_of(widths, independent=True), *dependent):
        np.testing.assert_array_equal(batch.widths, widths[batch.numbers, batch.games])
        np.testing.assert_array_equal(batch.next_widths, widths[batch.numbers + 1, batch.games])


def test_bfloat16_leaves_the_given_network_alone():
    original = network()
    view, batch = middle_of_games("beginner", 2, 20)
    actions = NeuralSearchAgent(original, 8, bfloat16=True).act(view)
    assert batch.mask[np.arange(24), actions].all()
    assert all(parameter.dtype == torch.float32 for parameter in original.parameters())


# --- by name
# -------------------------------------------------------------------------------------------------------------


def test_by_name_it_searches_with_the_network_that_comes_with_the_game():
    assert find_agent("ppo-search").evaluations == neural_search.EVALUATIONS
    agent = find_agent("ppo-search:4")
    assert isinstance(agent, TrainedSearchAgent)
    for rules, num_players in VARIANTS:
        agent.check_variant(rules, num_players, STANDARD)
        view, batch = middle_of_games(rules, num_players, 20, count=4)
        assert batch.mask[np.arange(4), agent.act(view)].all()
    with pytest.raises(ValueError, match="trained for the box"):
        line_up(["ppo-search:4", "random"], "beginner", components=Components(wheel=(0, 11, *STANDARD.wheel[2:])))


@pytest.mark.slow
@pytest.mark.parametrize(("rules", "num_players"), [("beginner", 2), ("advanced", 2), ("advanced", 4)])
def test_search_beats_the_policy_that_guides_it(rules, num_players):
    # A search gains less with the network for four players.
    name = "shared" if num_players == 4 else f"{rules}-{num_players}"
    path = find_game("artus").trained / f"{name}.safetensors"
    agents = [f"ppo-search:64:{path}", f"ppo:{path}"]
    result = evaluate(agents, rules=rules, num_players=num_players, games=80)
    assert result.win_rate > (0.65 if num_players == 2 else 0.4)


@pytest.mark.parametrize("name", ["agent.safetensors", "a:b:c.safetensors"])
def test_by_path_it_searches_with_a_saved_agent(tmp_path, name):
    path = tmp_path / name
    save_agent(path, network(3), CARD)
    agent = find_agent(f"ppo-search:12:{path}")
    assert isinstance(agent, NeuralSearchAgent)
    assert (agent.evaluations, agent.reward) == (12, "win")
    view, _ = middle_of_games("advanced", 3, 20)
    expected = NeuralSearchAgent(network(3), 12, bfloat16=agent.bfloat16).act(view)
    np.testing.assert_array_equal(agent.act(view), expected)
    assert evaluate([f"ppo-search:12:{path}", "random"], games=4).forfeits == 0
    with pytest.raises(
        ValueError, match="trained for beginner with 2 players or advanced with 3 players, not for advanced"
    ):
        line_up([f"ppo-search:12:{path}", "random"], "advanced")
    with pytest.raises(
        ValueError, match="trained for beginner with 2 players or advanced with 3 players, not for beginner"
    ):
        agent.act(middle_of_games("beginner", 4, 3)[0])


@pytest.mark.parametrize(
    ("settings", "mode"),
    [
        ({"reward": "margin"}, MARGIN),
        ({"reward": "prestige", "final_reward": None}, POINTS),
        ({"reward": "prestige", "final_reward": "margin"}, MARGIN),
    ],
)
def test_the_card_says_which_reward_the_values_predict(tmp_path, settings, mode):
    save_agent(tmp_path / "agent.safetensors", network(), CARD | {"settings": settings})
    assert mode_index(find_search(f"5:{tmp_path / 'agent.safetensors'}").reward, "prestige") == mode


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (None, r"agent.json is no card of a saved agent: Expected `object`, got `null` - at `\$.settings`"),
        ({"steps": 5}, "what the values are about"),
        ({"reward": 3}, "what the values are about"),
        ({"reward": "glory"}, "reward must be one of win, margin, prestige, got 'glory'"),
    ],
)
def test_a_card_without_a_valid_reward_is_refused(tmp_path, settings, message):
    save_agent(tmp_path / "agent.safetensors", network(), CARD | {"settings": settings})
    with pytest.raises(ValueError, match=message) as caught:
        find_search(f"5:{tmp_path / 'agent.safetensors'}")
    assert str(tmp_path / "agent.json") in str(caught.value)


@pytest.mark.parametrize(
    "argument",
    [
        "0",
        "-5",
        "1.5",
        "much",
        "64:",
        ":agent",
        "agent.safetensors",
        "64 ",
        "٣",
        str(MOST_EVALUATIONS + 1),
        "9" * 5000,
        "1e9",
        "nan",
        "inf",
    ],
)
def test_a_wrong_argument_is_named(argument):
    with pytest.raises(
        ValueError, match=r"ppo-search needs a number of evaluations in 1..100000, .*ppo-search:64:PATH\), got"
    ) as caught:
        find_agent(f"ppo-search:{argument}")
    assert len(str(caught.value)) < 300


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"nobody\.json doesn't exist"):
        find_agent(f"ppo-search:64:{tmp_path / 'nobody.safetensors'}")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"evaluations": 0}, r"evaluations must be in 1\.\.100000, got 0"),
        ({"evaluations": 10**9}, r"evaluations must be in 1\.\.100000, got 1000000000"),
        ({"candidates": 0}, r"candidates must be in 1\.\.256, got 0"),
        ({"candidates": 10**9}, r"candidates must be in 1\.\.256, got 1000000000"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        NeuralSearchAgent(network(), **settings)


def test_a_reward_that_the_game_doesn_t_know_is_named():
    agent = NeuralSearchAgent(network(), reward="glory")
    for call in (
        lambda: agent.act(middle_of_games("beginner", 2, 3)[0]),
        lambda: agent.check_variant("beginner", 2, STANDARD),
    ):
        with pytest.raises(ValueError, match="reward must be one of win, margin, prestige, got 'glory'"):
            call()
