"""Search that a network guides: it finds what the policy misses, honestly, and for each player by his own chance to
win."""

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
    """Any opinions."""
    torch.manual_seed(seed)
    made = Network(
        Shape.of(ARTUS, STANDARD, (16,), action_features), ARTUS.observation_scale(STANDARD), ARTUS.action_feature_gates
    )
    for parameter in made.head.parameters():
        parameter.data += torch.randn(parameter.shape) / 10
    return made.requires_grad_(False)


def without_opinions(likes=None):
    """Every action is as good as another, except one that it likes, and nothing is still to come."""
    made = Network(Shape.of(ARTUS, STANDARD, (8,), action_features=False)).requires_grad_(False)
    for parameter in made.parameters():
        parameter.zero_()
    if likes is not None:
        made.head.bias[likes] = 3
    return made


def exact():
    """Weights so coarse that no sum is rounded: it says the same of a position in any company."""
    made = network()
    for parameter in made.parameters():
        parameter.data = (parameter * 64).round() / 64
    return made


def view_of(*positions, seed=0):
    batch = Batch(len(positions), rules=positions[0]["rules"], num_players=positions[0]["num_players"], autoreset=False)
    batch.states[:] = [Game.from_dict(each).state for each in positions]
    batch.refresh()
    return View(batch, None, seed_stream(seed, len(positions)))


def somewhere(rules, num_players, moves, count=24):
    """Games after some random moves."""
    batch = Batch(count, rules=rules, num_players=num_players, seed=3, autoreset=False)
    for _ in range(moves):
        batch.step(batch.sample())
    return View(batch, None, seed_stream(5, count)), batch


def elsewhere(game, moves, num_players, count):
    """Games of any kind after some random moves, and a network with any opinions of them."""
    definition = find_game(game)
    torch.manual_seed(0)
    made = Network(Shape.of(definition, definition.standard, (16,))).requires_grad_(False)
    batch = Batch(count, game=definition, num_players=num_players, seed=3, autoreset=True)
    for _ in range(moves):
        batch.step(batch.sample())
    return View(batch, None, seed_stream(5, count)), made


# --- it finds what the policy misses
# -------------------------------------------------------------------------------------


def test_it_finds_the_one_move_that_wins_the_game():
    """The last card of the game, with one point less than the best move needs. The policy likes the worst one."""
    last = position(TABLE, ["k1-4"], start=1, turn=0)
    game = Game.from_dict(last)
    points = {int(move): int(after(game, move).scores[0]) for move in game.legal_actions()}
    most = max(points.values())
    winning = {move for move in points if points[move] == most}
    assert len(winning) < len(points) / 2
    last["scores"] = [0, most - 1]
    losing = min(points, key=points.__getitem__)
    misled = without_opinions(likes=losing)
    view = view_of(last)
    assert NeuralAgent(misled).act(view)[0] == losing
    for reward in ("win", "margin", "prestige"):
        assert NeuralSearchAgent(misled, 64, reward=reward, candidates=64).act(view)[0] in winning


def test_what_a_search_has_found_is_about_the_legal_actions_and_its_choice_among_the_most_tried():
    view, _ = somewhere("beginner", 2, 30)
    agent = NeuralSearchAgent(network(), 40)
    found = agent.search(view)
    assert (found.action == agent.act(view)).all()
    assert (found.visits[view.mask == 0] == 0).all()
    assert (found.worth[found.visits == 0] == 0).all()
    several = view.mask.sum(axis=1) > 1
    assert several.any()
    assert (found.visits.sum(axis=1)[several] > 20).all()
    assert (found.visits.sum(axis=1) <= 40).all()
    chosen = found.visits[np.arange(len(view)), found.action]
    assert (chosen == found.visits.max(axis=1)).all()
    means = found.worth[found.visits > 0] / found.visits[found.visits > 0]
    assert means.min() > -0.2
    assert means.max() < 1.2
    assert np.ptp(means) > 0.01


def end_games(num_players, cards_left):
    """Beginner games in which so many cards are left to play, all of them known to everybody."""
    batch = Batch(40, num_players=num_players, seed=8, autoreset=False)
    while True:
        if (batch.states["phase"] == PLAY_PHASE).all() and not batch.states["pile_sizes"].any():
            left = np.bitwise_count(batch.states["hands"]).sum(axis=1)
            if left[0] == cards_left:
                return batch
        batch.step(batch.sample())


def after(game, move):
    """The game that follows."""
    played = game.clone()
    played.play(move)
    return played


@pytest.mark.parametrize("num_players", [2, 3])
def test_each_player_is_taken_to_play_for_himself(num_players):
    """Two cards are left, mine and then another's. What I should play was found by trying everything.

    The best that I can be sure of is a draw: most answers lose more, so who took the others to answer for me, or at
    random, would often play something else.
    """
    batch = end_games(num_players, 2)
    tried = 0
    for state in batch.states:
        given = ARTUS.to_dict(state, batch.components)
        me, other = given["turn"], (given["turn"] + 1) % num_players
        game = Game.from_dict(given)
        answers = {}  # scores after each answer to each move: shape (answers, players)
        for move in game.legal_actions():
            reply = after(game, move)
            answers[int(move)] = np.array([after(reply, answer).scores for answer in reply.legal_actions()])
        leads = {
            move: (scores[:, me] - np.delete(scores, me, axis=1).max(axis=1)).min() for move, scores in answers.items()
        }
        given["scores"][me] -= int(max(leads.values()))
        mine = {}
        for move, scores in answers.items():
            scores[:, me] -= max(leads.values())
            won = scores == scores.max(axis=1, keepdims=True)
            shares = won / won.sum(axis=1, keepdims=True)
            mine[move] = shares[shares[:, other] == shares[:, other].max(), me]  # of his best answers
        best = max(shares.min() for shares in mine.values())
        good = {move for move, shares in mine.items() if shares.min() == best}
        if all(shares.max() < best for move, shares in mine.items() if move not in good) and len(good) < len(mine) / 2:
            tried += 1
            agent = NeuralSearchAgent(without_opinions(), 10_000, candidates=128)
            assert agent.act(view_of(given))[0] in good
    assert tried >= 5


def test_it_sees_what_the_second_card_will_bring():
    """Advanced, the last two cards of the game: only some first moves can still win."""
    last = position(TABLE, ["k1-4", "k2-5"], rules="advanced", start=1, turn=0)
    game = Game.from_dict(last)
    totals = {}
    for first in game.legal_actions():
        middle = after(game, first)
        totals[int(first)] = max(int(after(middle, second).scores[0]) for second in middle.legal_actions())
    most = max(totals.values())
    winning = {action for action, total in totals.items() if total == most}
    assert len(winning) < len(totals) / 2
    last["scores"] = [0, most - 1]
    misled = without_opinions(likes=min(totals, key=totals.__getitem__))
    assert NeuralSearchAgent(misled, 10_000, candidates=64).act(view_of(last))[0] in winning


def test_values_guide_it_where_the_game_goes_on():
    """Flat policy, and a value that knows one thing: what it is worth to still have a certain card after the move."""
    given = position(TABLE, ["k1-4", "k2-5", "k3-6", "k4-7"], rounds=5)
    game = Game.from_dict(given)
    plays_it = {int(move) for move in game.legal_actions() if game.move(move).startswith("k4-7")}
    seen = {int(move): after(game, move).observation(0) for move in game.legal_actions()}
    # The feature that is 1 in all positions with that card and 0 in all without it.
    has_it = next(
        f for f in range(OBSERVATION_SIZE) if all(row[f] == (move not in plays_it) for move, row in seen.items())
    )
    made = without_opinions()
    made.trunk[0].weight[0, has_it] = 1
    made.head.weight[NUM_ACTIONS : NUM_ACTIONS + 2, 0] = torch.tensor(
        [0.9, -0.9]
    )  # who has moved will draw: he is first
    view = view_of(*[given] * 8)
    assert not plays_it & set(NeuralSearchAgent(made, 64).act(view).tolist())
    made.head.weight[NUM_ACTIONS : NUM_ACTIONS + 2] *= -1
    assert plays_it >= set(NeuralSearchAgent(made, 128, candidates=64).act(view).tolist())


# --- what a position is worth
# --------------------------------------------------------------------------------------------


def worth(given, to_come, mode):
    out = np.full(MAX_PLAYERS, np.nan)
    appraise(TABLES, Game.from_dict(given).state, np.array(to_come, np.float32), mode, out)
    return out[: given["num_players"]]


FOUR = "Ks .  .  A  B  .  C  | b1 .  D  A  .  .  C  | s2 .  B  A  B  A  D  | b1 .  C  B  D  C  D"


@pytest.mark.parametrize("mode", [WIN, MARGIN, POINTS])
def test_a_finished_game_is_worth_what_was_won(mode):
    """Whatever a network says of it."""
    for scores, shares in (([4, 3, 2, 1], [1, 0, 0, 0]), ([-5, 7, 7, 1], [0, 0.5, 0.5, 0]), ([2, 2, 2, 2], [0.25] * 4)):
        over = position(FOUR, phase="over", scores=scores, start=2, turn=2)
        np.testing.assert_allclose(worth(over, [9, 9, 9, 9], mode), shares, atol=1e-12)


def test_values_of_a_win_are_parts_of_the_win():
    """Player 2 is to move, so values are those of players 2, 3, 0, 1. A sure win is paid 1, an equal chance 0, a loss
    -1/3."""
    going_on = position(FOUR, rounds=3, turn=2, scores=[100, 0, 0, 0])
    np.testing.assert_allclose(worth(going_on, [1, -1 / 3, 0, -0.2], WIN), [0.25, 0.1, 1, 0], atol=1e-6)


def test_margins_become_chances():
    equal = position(FOUR, rounds=3, turn=1)
    np.testing.assert_allclose(worth(equal, [0, 0, 0, 0], POINTS), [0.25] * 4)
    ahead = position(FOUR, rounds=3, turn=1, scores=[0, 10, 0, 0])
    made = worth(ahead, [0, 0, 0, 0], POINTS)
    assert made.sum() == pytest.approx(1)
    assert 0.9 > made[1] > 0.3 > made[0] == made[2] == made[3]
    # Points made and points to come count alike where points are paid at once; where the margin is paid at the end, it
    # is all.
    to_come = [0.1, -0.1 / 3, -0.1 / 3, -0.1 / 3]
    np.testing.assert_allclose(worth(equal, to_come, POINTS), made, atol=1e-6)
    np.testing.assert_allclose(worth(ahead, to_come, MARGIN), made, atol=1e-6)
    # The same lead is worth more when less is left.
    later = position(FOUR, rounds=12, turn=1, scores=[0, 10, 0, 0])
    assert worth(later, [0, 0, 0, 0], POINTS)[1] > made[1] + 0.05


# --- honest, and the same every time
# -------------------------------------------------------------------------------------


def test_a_round_is_one_deal_for_all_candidates_and_the_next_round_another(monkeypatch):
    view, batch = somewhere("beginner", 2, 12)
    assert (batch.states["phase"] == PLAY_PHASE).all()
    other = 1 - batch.player
    dealt = []
    walk = neural_search.guided_loops.walk

    def watched(tables, roots, games, deals, offsets, trees, leaves, more_turns):
        walk(tables, roots, games, deals, offsets, trees, leaves, more_turns)
        states = leaves.states[: offsets[-1]].reshape(24, 2)  # three rounds are too few to get to the other's next draw
        dealt.append((states["hands"] | states["played"])[games[:, None], np.arange(2), other[:, None]])

    monkeypatch.setattr(neural_search.guided_loops, "walk", watched)
    NeuralSearchAgent(network(), 6, candidates=2).act(view)
    assert len(dealt) == 3
    assert all((cards[:, 0] == cards[:, 1]).all() for cards in dealt)
    for one, two in ((0, 1), (1, 2), (0, 2)):
        assert (dealt[one][:, 0] != dealt[two][:, 0]).mean() > 0.5


def test_the_tree_takes_in_what_other_deals_allow(monkeypatch):
    """I draw, then the other plays one of four cards, which are different ones in each deal."""
    made = []

    def kept(*arrays):
        made.append(Trees(*arrays))
        return made[-1]

    monkeypatch.setattr(neural_search, "Trees", kept)
    view, batch = somewhere("beginner", 2, 11)
    assert (batch.states["phase"] == DRAW_PHASE).all()
    NeuralSearchAgent(network(), 100).act(view)
    cards = action_table()
    (trees,) = made
    for nodes, edges, best in zip(trees.nodes, trees.edges, trees.candidates[:, 0], strict=True):
        index, found = nodes[edges[best]["child"]]["first"], set()
        while index >= 0:
            found.add(cards[edges[index]["action"]].card)
            index = edges[index]["next"]
        assert len(found) == 15  # of his 16 cards two are alike


@pytest.mark.parametrize("action_features", [True, False])
def test_decisions_don_t_depend_on_company(action_features, monkeypatch):
    view, batch = somewhere("advanced", 3, 30, count=96)
    agent = NeuralSearchAgent(exact() if action_features else without_opinions(), 32)
    together = agent.act(view)
    some = np.array([70, 3, 95])
    np.testing.assert_array_equal(agent.act(View(batch, some, view.keys)), together[some])
    monkeypatch.setattr(neural_search, "MOST_GAMES", 10)
    np.testing.assert_array_equal(agent.act(view), together)


def test_the_same_keys_give_the_same_decisions_and_others_may_not():
    view, batch = somewhere("advanced", 2, 20)
    agent = NeuralSearchAgent(network(), 16)
    decided = agent.act(view)
    np.testing.assert_array_equal(agent.act(view), decided)
    others = agent.act(View(batch, None, seed_stream(6, 24)))
    assert 0 < (others != decided).sum() < 24


# --- secret choices
# -------------------------------------------------------------------------------------


def magpies(moves, num_players=3, count=24):
    """Games of secret bids after some random ones."""
    batch = Batch(count, game="magpies", num_players=num_players, seed=3, autoreset=False)
    for _ in range(moves):
        batch.step(batch.sample())
    return View(batch, None, seed_stream(5, count)), batch


def counting_jewels():
    """No opinion about bids; it knows that jewels are good."""
    definition = find_game("magpies")
    made = Network(Shape.of(definition, definition.standard, (8,), action_features=False)).requires_grad_(False)
    for parameter in made.parameters():
        parameter.zero_()
    actions, own_jewels = 20, 20
    made.trunk[0].weight[0, own_jewels] = 1
    made.head.weight[actions, 0], made.head.weight[actions + 1 : actions + 3, 0] = 0.125, -0.0625
    return made


@pytest.mark.parametrize("bidders", [0, 1, 2])
def test_a_secret_choice_is_judged_when_its_player_sees_what_became_of_it(bidders):
    """The next player doesn't see the bid: by what they know all bids would be as good."""
    view, batch = magpies(bidders, count=96)
    hands = batch.states["hands"][np.arange(96), batch.player]
    highest = np.array([int(hand).bit_length() - 1 for hand in hands])
    assert (NeuralSearchAgent(counting_jewels(), 24).act(view) == highest).mean() > 0.55


def test_nobody_answers_a_bid_that_lies_face_down(monkeypatch):
    """Whichever card the first player tries, the next one bids the same in the same deal, and another one in others."""
    view, _ = magpies(0)
    bids = []
    lead_on = neural_search.guided_loops.lead_on

    def watched(tables, going, deals, step, leaves, output):
        lead_on(tables, going, deals, step, leaves, output)
        if step == 0:
            states = leaves.states[going].reshape(24, -1)  # some candidates of each game
            players = states["player"][:, 0]
            bids.append(states["bids"][np.arange(24), :, (players - 1) % 3])
            assert (states["bids"][np.arange(24), :, (players - 2) % 3] != bids[-1]).all()

    monkeypatch.setattr(neural_search.guided_loops, "lead_on", watched)
    NeuralSearchAgent(counting_jewels(), 24).act(view)
    assert len(bids) > 3
    assert all((cards >= 0).all() and (cards == cards[:, :1]).all() for cards in bids)
    assert (bids[0][:, 0] != bids[1][:, 0]).mean() > 0.5


@pytest.mark.parametrize("bidders", [0, 1, 2])
def test_a_search_among_secret_choices_knows_no_more_than_its_player(bidders):
    view, batch = magpies(6 + bidders)
    agent = NeuralSearchAgent(counting_jewels(), 24)
    decided = agent.act(view)
    for truth in range(3):
        batch.states[:] = view.redeal(seed_stream(truth, 24))
        batch.refresh()
        np.testing.assert_array_equal(agent.act(View(batch, None, view.keys)), decided)
    some = np.array([17, 3, 22])
    np.testing.assert_array_equal(agent.act(View(batch, some, view.keys)), decided[some])


@pytest.mark.parametrize("bidders", [0, 1, 2])
def test_it_asks_for_the_others_moves_besides(asked, bidders):
    """Both other players move before the bidder has another turn."""
    view, _ = magpies(bidders, count=1)
    NeuralSearchAgent(counting_jewels(), 30).act(view)
    assert asked[0] == 1
    assert sum(asked[1:]) == (1 + 2) * halving(30, 3)[:, 3].sum()


# --- where nothing is left to choose
# -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("game", "num_players", "moves"), [("artus", 2, 60), ("quest", 3, 40), ("royal", 4, 13)])
def test_no_position_is_judged_in_which_only_one_action_is_legal(game, num_players, moves, monkeypatch):
    """Networks that learnt from choices alone know nothing of it."""
    view, made = elsewhere(game, moves, num_players, 48)
    legal = []
    back_up = neural_search.guided_loops.back_up

    def watched(tables, games, offsets, following, trees, leaves, *others):
        legal.extend(np.split(np.bitwise_count(leaves.legal[: offsets[-1]]).sum(axis=1), offsets[1:-1]))
        back_up(tables, games, offsets, following, trees, leaves, *others)

    monkeypatch.setattr(neural_search.guided_loops, "back_up", watched)
    NeuralSearchAgent(made, 24).act(view)
    assert len(legal) > 3
    assert all((count != 1).all() for count in legal)


# --- where hands count
# -------------------------------------------------------------------------------------


def tricks(moves, num_players, count=24):
    """Games of tricks after some random moves, and a network with any opinions of them."""
    return elsewhere("royal", moves, num_players, count)


@pytest.mark.parametrize("num_players", [2, 4])
def test_a_card_is_judged_when_its_player_is_to_move_again(num_players, monkeypatch):
    """Nobody else sees that it is gone from their hand."""
    view, made = tricks(5, num_players)
    judged = []
    back_up = neural_search.guided_loops.back_up

    def watched(tables, games, offsets, following, trees, leaves, *others):
        states = leaves.states[: offsets[-1]]
        movers = np.repeat(view.player[games], np.diff(offsets))
        judged.extend(np.split((states["player"] == movers) | (states["phase"] == ROYAL_OVER), offsets[1:-1]))
        back_up(tables, games, offsets, following, trees, leaves, *others)

    monkeypatch.setattr(neural_search.guided_loops, "back_up", watched)
    NeuralSearchAgent(made, 24).act(view)
    assert len(judged) > 3
    assert all(each.all() for each in judged)


@pytest.mark.parametrize("num_players", [2, 4])
def test_the_policy_plays_some_turns_before_a_card_is_judged(num_players, monkeypatch):
    view, made = tricks(2, num_players)
    turns, own, checked = view.definition.search_turns, [], []
    assert turns > 0
    lead_on, back_up = neural_search.guided_loops.lead_on, neural_search.guided_loops.back_up

    def counted(tables, going, deals, step, leaves, output):
        if step == 0:
            own.append(np.zeros(len(leaves.states), int))
        own[-1][going] += leaves.states["player"][going] == leaves.paths[going, 1, 0]
        lead_on(tables, going, deals, step, leaves, output)

    def watched(tables, games, offsets, following, trees, leaves, *others):
        going_on = leaves.states["phase"][: offsets[-1]] != ROYAL_OVER
        checked.append((own[-1][: offsets[-1]][going_on] == turns).all())
        back_up(tables, games, offsets, following, trees, leaves, *others)

    monkeypatch.setattr(neural_search.guided_loops, "lead_on", counted)
    monkeypatch.setattr(neural_search.guided_loops, "back_up", watched)
    NeuralSearchAgent(made, 24).act(view)
    assert len(checked) > 1
    assert all(checked)


def test_trials_are_evidence_beside_the_policy():
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


# --- legal, whatever happens
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reward", ["win", "prestige"])
def test_it_plays_legal_actions_to_the_end(reward):
    batch = Batch(6, rules="advanced", num_players=4, seed=1, autoreset=False)
    agent = NeuralSearchAgent(network(), 9, reward=reward)
    step = 0
    while not batch.done.all():
        batch.step(agent.act(View(batch, None, seed_stream(step, 6))))  # raises at an illegal one
        step += 1


def test_a_search_that_has_no_room_plays_on(monkeypatch):
    monkeypatch.setattr(neural_search, "EDGES_PER_NODE", 2)  # less than the root alone needs
    view, batch = somewhere("beginner", 2, 10)
    decided = NeuralSearchAgent(network(), 8).act(view)
    assert batch.mask[np.arange(24), decided].all()


@pytest.mark.parametrize("action_features", [True, False])
def test_one_evaluation_is_too_few_to_search(action_features):
    view, _ = somewhere("beginner", 2, 20)
    made = network(action_features=action_features)
    np.testing.assert_array_equal(NeuralSearchAgent(made, 1).act(view), NeuralAgent(made).act(view))


@pytest.fixture
def asked(monkeypatch):
    """How many positions the network was asked about, call by call."""
    counts = []
    ask = neural_search.infer

    def counting(made, observation, bfloat16):
        counts.append(len(observation))
        return ask(made, observation, bfloat16)

    monkeypatch.setattr(neural_search, "infer", counting)
    return counts


def test_nothing_is_searched_where_there_is_no_choice(asked):
    only = position(TABLE, ["all"], rules="advanced", start=1, turn=0, left=1)
    game = Game.from_dict(only)
    assert game.moves() == ["all"]
    agent = NeuralSearchAgent(network(), 50)
    assert game.move(int(agent.search(view_of(only)).action[0])) == "all"
    assert asked == [1]
    assert game.move(int(agent.act(view_of(only))[0])) == "all"
    assert asked == [1]  # the end of a game needs no network


@pytest.mark.parametrize("evaluations", [2, 5, 16, 64, 100])
def test_it_asks_as_often_as_it_was_told(asked, evaluations):
    view, _ = somewhere("beginner", 2, 20, count=1)
    NeuralSearchAgent(network(), evaluations).act(view)
    assert asked[0] == 1  # the position itself
    assert evaluations - 1 <= sum(asked[1:]) <= evaluations


@pytest.mark.parametrize("evaluations", [1, 2, 3, 16, 17, 64, 1000])
def test_halving(evaluations):
    plan = halving(evaluations, 16)
    assert plan.shape[1] == 17
    assert not plan[-1].any()
    assert not plan[:, :2].any()  # without a choice
    for count in range(2, 17):
        widths = plan[:, count][plan[:, count] > 0]
        assert evaluations - 1 <= widths.sum() <= evaluations
        assert widths.max(initial=0) <= count
        assert (np.diff(widths) <= 0).all()
    assert halving(64, 16)[:, 16].tolist()[:4] == [16, 8, 8, 4]


def test_rounds_that_need_nothing_of_each_other_are_judged_together():
    widths = np.array([[4, 2, 0], [4, 2, 0], [2, 2, 0], [2, 0, 0], [2, 0, 0], [0, 0, 0]])
    together = [
        [[0, 0, 1, 1, 1], [0, 1, 0, 1, 2], [4, 4, 2, 2, 2], [4, 2, 2, 2, 0]],
        [[0, 0, 0], [2, 3, 4], [2, 2, 2], [2, 2, 0]],
    ]
    assert [[part.tolist() for part in batch] for batch in batches_of(widths, apart=True)] == together
    in_turn = batches_of(widths, apart=False)
    assert [batch.games.tolist() for batch in in_turn] == [[0, 1], [0, 1], [0, 1], [0], [0]]
    assert [set(batch.numbers.tolist()) for batch in in_turn] == [{0}, {1}, {2}, {3}, {4}]
    for batch in (*batches_of(widths, apart=True), *in_turn):
        np.testing.assert_array_equal(batch.widths, widths[batch.numbers, batch.games])
        np.testing.assert_array_equal(batch.following, widths[batch.numbers + 1, batch.games])


def test_bfloat16_leaves_the_given_network_alone():
    made = network()
    view, batch = somewhere("beginner", 2, 20)
    decided = NeuralSearchAgent(made, 8, bfloat16=True).act(view)
    assert batch.mask[np.arange(24), decided].all()
    assert all(parameter.dtype == torch.float32 for parameter in made.parameters())


# --- by name
# -------------------------------------------------------------------------------------------------------------


def test_by_name_it_searches_with_what_ships_for_the_variant():
    assert find_agent("ppo-search").evaluations == neural_search.EVALUATIONS
    agent = find_agent("ppo-search:4")
    assert isinstance(agent, TrainedSearchAgent)
    for rules, num_players in VARIANTS:
        agent.check_variant(rules, num_players, STANDARD)
        view, batch = somewhere(rules, num_players, 20, count=4)
        assert batch.mask[np.arange(4), agent.act(view)].all()
    with pytest.raises(ValueError, match="trained for the box"):
        line_up(["ppo-search:4", "random"], "beginner", components=Components(wheel=(0, 11, *STANDARD.wheel[2:])))


@pytest.mark.slow
@pytest.mark.parametrize(("rules", "num_players"), [("beginner", 2), ("advanced", 2), ("advanced", 4)])
def test_search_beats_the_policy_that_guides_it(rules, num_players):
    name = "shared" if num_players == 4 else f"{rules}-{num_players}"  # the one for four players leaves a search less
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
    view, _ = somewhere("advanced", 3, 20)
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
        agent.act(somewhere("beginner", 4, 3)[0])


@pytest.mark.parametrize(
    ("settings", "mode"),
    [
        ({"reward": "margin"}, MARGIN),
        ({"reward": "prestige", "final_reward": None}, POINTS),
        ({"reward": "prestige", "final_reward": "margin"}, MARGIN),
    ],
)
def test_the_card_says_what_the_values_are_about(tmp_path, settings, mode):
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
def test_a_card_that_doesn_t_say_so_is_refused(tmp_path, settings, message):
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
    ("given", "message"),
    [
        ({"evaluations": 0}, r"evaluations must be in 1\.\.100000, got 0"),
        ({"evaluations": 10**9}, r"evaluations must be in 1\.\.100000, got 1000000000"),
        ({"candidates": 0}, r"candidates must be in 1\.\.256, got 0"),
        ({"candidates": 10**9}, r"candidates must be in 1\.\.256, got 1000000000"),
    ],
)
def test_wrong_settings_are_named(given, message):
    with pytest.raises(ValueError, match=message):
        NeuralSearchAgent(network(), **given)


def test_a_reward_that_the_game_doesn_t_know_is_named():
    agent = NeuralSearchAgent(network(), reward="glory")
    for ask in (
        lambda: agent.act(somewhere("beginner", 2, 3)[0]),
        lambda: agent.check_variant("beginner", 2, STANDARD),
    ):
        with pytest.raises(ValueError, match="reward must be one of win, margin, prestige, got 'glory'"):
            ask()
