"""Compiled loops of the network-guided search: they select actions down the trees, and back up the values of leaves.
They contain no rules.

Each game has one tree (see `tree`), which grows in rounds. A round samples a new deal of the hidden information and
tries all candidates of the root in this same deal, so that luck affects all of them equally. Each trial ends in one
leaf. The network evaluates many leaves in one batch: from all games, and from several rounds of one game if these don't
depend on each other. The values are backed up as each player's own chance to win.

A secret choice of the searching player ends the walk. Below it, the other players would learn to answer a choice that
they can't see. And the network, which evaluates a position from the observation of the player to move, couldn't
distinguish the choices. From there all players move by the policy, each with their own information, until it is the
searching player's turn again. In games with `Definition.search_turns` every move of the searching player is treated
like this, and the policy plays some more of their turns. This helps in two cases: with hidden hands, other players
don't see that a good card is gone; and where actions change the values little more than the network's error, the extra
turns lead to different positions in each deal and errors average out.

Walks don't end where only one action is legal but play it: a network that is trained only on real choices never had a
target for such positions.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from artus_agents.endgame import allocate_buffers, finish, is_near
from artus_agents.policy import choose, legal_logits
from artus_agents.tree import Tree, add_edge, best_edge, covers, follow, plant, sum_edges, visit
from artus_env.engine.compiling.arrays import borrow
from artus_env.engine.compiling.jit import jit
from artus_env.engine.contract.bits import is_in, is_subset, next_action, size
from artus_env.engine.contract.rng import random_bits
from artus_env.engine.contract.verbs import (
    has_secrets,
    is_over,
    margin_scale,
    observe,
    play,
    resample_hidden,
    score_stddev,
)
from artus_env.engine.contract.verbs import legal as write_legal
from artus_env.engine.play.rewards import POINTS, WIN, final_reward

NODES_PER_EVALUATION = 16
"""Nodes allocated per evaluation. A walk adds at most one node at its end, and one for each position on the way with
only one legal action. When these find no room, the walk ends."""
EDGES_PER_NODE = 64
"""Edges allocated per node. A position may have more legal actions, as may all deals of a node together; a node that
finds no room doesn't grow."""
MAX_DEPTH = 64
"""Maximum number of edges of a walk, and of moves that the policy plays after it; then the position is evaluated."""
LARGEST_LOGIT = 50.0
"""exp(x) and exp(-x) are finite in float32 and not 0."""
EXPLORATION = 0.3
"""Weight of an action's prior relative to its results. It matters little: 0.1 and 1 play about as well."""
EVIDENCE = 12.0
"""Weight of a win in one trial relative to the policy's logit, see `merit`. Between 12 and 40 it makes little
difference. Without the logits, searches lose to their own network where its values are poor for actions that the policy
never plays."""
WALK_HORIZON_TWO, WALK_HORIZON_MORE = 2, 2
"""Number of decisions left from which on a walk follows the exact solution, with two players and with more."""
TREE = -1
"""Value of `more_turns` for searches that grow a tree."""
_POLICY = 1 << 20  # index of the first random number of a deal that is for the policy's moves


class Trees(NamedTuple):
    """The trees of n games. Node 0 is the root."""

    nodes: np.ndarray
    """Shape (n, NODES_PER_EVALUATION * evaluations + 1), see `tree.node_dtype`."""
    edges: np.ndarray
    """Shape (n, edges), `tree.EDGE`."""
    used: np.ndarray
    """Number of nodes and number of edges in use: shape (n, 2), int64."""
    candidates: np.ndarray
    """Indices of the root's edges that are tried, best first: shape (n, candidates), int64."""


class Leaves(NamedTuple):
    """Ends of the walks of some rounds: one row for each walk, round by round."""

    states: np.ndarray
    """Positions at these ends, in the deals of their rounds: shape (m,), the state dtype."""
    legal: np.ndarray
    """Legal actions: shape (m, W), uint64; none where the game is over."""
    observation: np.ndarray
    """Observation of the player to move: shape (m, F), int8."""
    paths: np.ndarray
    """Indices of the edges on the path, and the players who moved there: shape (m, 2, MAX_DEPTH), int32."""
    ends: np.ndarray
    """Node that gets the leaf's actions, -1 for none, and number of edges on the path: shape (m, 2), int64."""
    policy_to_move: np.ndarray
    """Whether the policy plays on from here, after a secret choice: shape (m,), bool."""
    turns_left: np.ndarray
    """Turns of the searching player that the policy still plays: shape (m,), int64."""


class NetworkOutput(NamedTuple):
    """Output of a network for m positions, and their action features; see `network.Output` and
    `policy.action_features`."""

    logits: np.ndarray
    gates: np.ndarray
    values: np.ndarray
    action_features: np.ndarray


@jit
def tree_of(trees, i):
    """The tree of one game."""
    return Tree(trees.nodes[i], trees.edges[i], trees.used[i])


# --- the root ---------------------------------------------------------------------------------------------------------


@jit
def plant_all(trees, output, legal, counts):
    """Create the root of each tree, with the network's favourite actions as candidates.

    Args:
        trees: Overwritten.
        output: Network output for the root positions.
        legal: Legal actions of these positions: shape (n, W), uint64.
        counts: Output: number of candidates of each tree, shape (n,), int64.
    """
    ids = np.empty(output.logits.shape[1], np.int64)
    logits = np.empty(output.logits.shape[1], np.float32)
    for i in range(len(counts)):
        tree = tree_of(trees, i)
        plant(tree)
        count = legal_logits(output.logits[i], output.gates[i], legal[i], output.action_features[i], ids, logits)
        grow(tree, 0, ids, logits, count)
        num_edges = int(tree.used[1])
        order = np.argsort(-logits[:num_edges])  # the root's edges are the first ones, in the order of `ids`
        counts[i] = min(num_edges, trees.candidates.shape[1])
        for k in range(counts[i]):
            trees.candidates[i, k] = order[k]


@jit
def read_roots(trees, actions, visits, value_sums):
    """Write the results at the roots.

    Args:
        actions: Output: the best candidate, shape (n,), int64.
        visits, value_sums: Outputs: number of visits of each action, and sum of their values: shape (n, A), int32 and
            float32; unchanged where the root has no edge.
    """
    for i in range(len(actions)):
        tree = tree_of(trees, i)
        actions[i] = int(tree.edges[trees.candidates[i, 0]]["action"])
        index = int(tree.nodes[0]["first"])
        while index >= 0:
            edge = tree.edges[index]
            visits[i, int(edge["action"])] = edge["visits"]
            value_sums[i, int(edge["action"])] = edge["total"]
            index = int(edge["next"])


@jit
def grow(tree, node, ids, logits, count):
    """Add an edge to a node for each of `count` actions without one, as long as there is room."""
    for j in range(count):
        action = int(ids[j])
        if not is_in(tree.nodes[node]["known"], action):
            prior = math.exp(max(-LARGEST_LOGIT, min(LARGEST_LOGIT, float(logits[j]))))
            if not add_edge(tree, node, action, prior):
                break


# --- down -------------------------------------------------------------------------------------------------------------


@jit
def walk(tables, roots, games, deal_seeds, offsets, trees, leaves, more_turns):
    """Sample a deal for each round, and walk down to a leaf from each remaining candidate.

    Args:
        roots: The games, shape (n,). They are copied before information hidden from the player to move is resampled.
        games: Index of each round's game, shape (rounds,), int64.
        deal_seeds: Seed of each round's deal, shape (rounds,), uint64.
        offsets: Index of each round's first leaf, shape (rounds + 1,), int64; a round tries as many candidates as it
            has leaves.
        leaves: Output.
        more_turns: Number of further turns of the searching player that the policy plays; every walk then ends after
            their first move, as after a secret choice. `TREE`: walks end only at secret choices.
    """
    tables, roots, trees = borrow(tables), borrow(roots), borrow(trees)
    states, legal, observation = borrow(leaves.states), borrow(leaves.legal), borrow(leaves.observation)
    paths, ends = borrow(leaves.paths), borrow(leaves.ends)
    policy_to_move, turns_left = borrow(leaves.policy_to_move), borrow(leaves.turns_left)
    t = tables[0]
    buffers = allocate_buffers(t, roots)
    for k in range(len(games)):
        i = games[k]
        deal_leaf = offsets[k + 1] - 1  # the last leaf stores the deal until its own walk begins
        states[deal_leaf] = roots[i]
        resample_hidden(t, states[deal_leaf], np.int64(roots[i]["player"]), deal_seeds[k])
        tree = tree_of(trees, i)
        for leaf in range(offsets[k], offsets[k + 1]):
            states[leaf] = states[deal_leaf]
            g = states[leaf]
            first = int(trees.candidates[i, leaf - offsets[k]])
            turns_left[leaf] = max(0, more_turns)
            ends[leaf, 0], ends[leaf, 1], ended_at_choice = descend(
                t, g, tree, first, legal[leaf], paths[leaf], more_turns >= 0, buffers
            )
            viewer = np.int64(roots[i]["player"])
            policy_to_move[leaf] = ended_at_choice and play_forced_moves(t, g, legal[leaf], viewer, turns_left, leaf)
            observe(t, g, np.int64(g["player"]), observation[leaf])


@jit
def descend(t, g, tree, first, legal, path, one_edge, buffers):
    """Play the root's edge `first` in `g`, then go down the tree until the position has a legal action without an edge
    or the searching player makes a secret choice. With `one_edge`, stop after the first edge. Near the end, `finish`
    plays on.

    Writes the legal actions and the path.

    Returns:
        The node that gets the actions, -1 for none; the number of edges played; and whether the walk ended after a
        secret choice or because of `one_edge`: then the legal actions aren't written yet.
    """
    viewer = np.int64(g["player"])
    node, index, depth = np.int64(0), first, 0  # a literal 0 would have its own type
    if has_secrets(t):
        write_legal(t, g, legal)
    while True:
        path[0, depth], path[1, depth] = index, int(g["player"])
        depth += 1
        ends_tree = one_edge or (int(g["player"]) == viewer and covers(t, g, legal, int(tree.edges[index]["action"])))
        node, _ = follow(t, g, tree, node, index, viewer)
        if ends_tree:
            return -1, depth, True
        if is_near(t, g, WALK_HORIZON_TWO, WALK_HORIZON_MORE):
            finish(t, g, buffers)
            write_legal(t, g, legal)
            return -1, depth, False
        write_legal(t, g, legal)
        if is_over(t, g) or depth == path.shape[1]:
            return -1, depth, False
        if not is_subset(legal, tree.nodes[node]["known"]) and (size(legal) > 1 or not pass_through(tree, node, legal)):
            return node, depth, False
        index = select(tree, node, legal)


@jit
def pass_through(tree, node, legal):
    """Add an edge for the only legal action, if enough room remains for the nodes at the ends of walks. Returns whether
    the edge was added."""
    reserve = len(tree.nodes) // NODES_PER_EVALUATION
    return int(tree.used[0]) < len(tree.nodes) - reserve and add_edge(tree, node, next_action(legal, -1), 1.0)


@jit
def play_forced_moves(t, g, legal, viewer, turns_left, leaf):
    """Play on while only one action is legal, then write the legal actions.

    Returns:
        Whether the policy chooses among them: if it is another player's turn, or the viewer's and this leaf has
        `turns_left`.
    """
    write_legal(t, g, legal)
    while not is_over(t, g) and size(legal) == 1:
        play(t, g, next_action(legal, -1))
        write_legal(t, g, legal)
    if is_over(t, g):
        return False
    if int(g["player"]) != viewer:
        return True
    turns_left[leaf] -= 1
    return turns_left[leaf] >= 0


@jit
def play_policy_moves(tables, chosen, deal_seeds, step, leaves, output):
    """Play a move in each of some leaves, drawn with the policy's probabilities.

    All candidates of a deal get the same random numbers, so players who can't distinguish them move alike.

    Args:
        chosen: Indices of these leaves, shape (k,), int64.
        deal_seeds: Seeds of their deals, shape (k,), uint64.
        step: Number of moves that the policy has played before.
        leaves: Changed in place.
        output: Network output for these leaves.
    """
    t = tables[0]
    count = len(chosen)
    legal = leaves.legal[chosen]
    bits, actions, log_probs = np.empty(count, np.uint64), np.empty(count, np.int64), np.empty(count, np.float32)
    for k in range(count):
        bits[k] = random_bits(deal_seeds[k], _POLICY + step)
    choose(output.logits, output.gates, legal, output.action_features, bits, True, actions, log_probs, 0, count)
    for k in range(count):
        leaf = chosen[k]
        g = leaves.states[leaf]
        play(t, g, actions[k])
        viewer = np.int64(leaves.paths[leaf, 1, 0])
        policy_to_move = play_forced_moves(t, g, leaves.legal[leaf], viewer, leaves.turns_left, leaf)
        observe(t, g, np.int64(g["player"]), leaves.observation[leaf])
        leaves.policy_to_move[leaf] = policy_to_move and step + 1 < leaves.paths.shape[2]


@jit
def select(tree, node, legal):
    """Index of the edge to follow from a node where all legal actions have an edge."""
    visits, total, priors = sum_edges(tree, node, legal)
    mean = total / max(1, visits)  # value assumed for untried actions
    return best_edge(tree, node, legal, EXPLORATION * math.sqrt(1.0 + visits) / priors, mean)


# --- back up ---------------------------------------------------------------------------------------------------------


@jit
def back_up(tables, games, offsets, next_widths, trees, leaves, rows, values, mode, may_grow):
    """Add the values of the leaves to the edges on their paths, and rank candidates.

    Args:
        games, offsets: As for `walk`.
        next_widths: Number of candidates that the game of each round tries in its next round: shape (rounds,), int64.
        trees, leaves: After `walk`.
        rows: Row of `values` for each leaf, shape (m,), int64; arbitrary where the game is over.
        values: Network values of the leaves where the game isn't over: shape (k, players), float32.
        mode: The reward that `values` predict.
        may_grow: Output: whether the next round may reach the leaf's node, shape (m,), bool.
    """
    tables, trees = borrow(tables), borrow(trees)
    states, paths, ends, values = borrow(leaves.states), borrow(leaves.paths), borrow(leaves.ends), borrow(values)
    win_chances = np.empty(states[0]["scores"].shape[0])
    for k in range(len(games)):
        i = games[k]
        width = offsets[k + 1] - offsets[k]
        tree = tree_of(trees, i)
        for leaf in range(offsets[k], offsets[k + 1]):
            appraise(tables[0], states[leaf], values[rows[leaf]], mode, win_chances)
            for step in range(ends[leaf, 1]):
                visit(tree, paths[leaf, 0, step], win_chances[paths[leaf, 1, step]])
        if next_widths[k] < width:
            rank(tree, trees.candidates[i], width)
        for leaf in range(offsets[k], offsets[k + 1]):
            may_grow[leaf] = False
            if ends[leaf, 0] >= 0:
                for place in range(next_widths[k]):
                    may_grow[leaf] |= trees.candidates[i, place] == paths[leaf, 0, 0]


@jit
def grow_all(games, chosen, rows, trees, leaves, output):
    """Add edges to the nodes of some leaves.

    Args:
        games: Index of the game of each chosen leaf, shape (k,), int64.
        chosen: Indices of the leaves, shape (k,), int64.
        rows: Row of the network output for each leaf, as for `back_up`.
        output: Network output. Its action features have a row for each chosen leaf instead.
    """
    trees = borrow(trees)
    ids, logits = np.empty(output.logits.shape[1], np.int64), np.empty(output.logits.shape[1], np.float32)
    for k in range(len(chosen)):
        leaf = chosen[k]
        row = rows[leaf]
        count = legal_logits(
            output.logits[row], output.gates[row], leaves.legal[leaf], output.action_features[k], ids, logits
        )
        grow(tree_of(trees, games[k]), leaves.ends[leaf, 0], ids, logits, count)


@jit
def appraise(t, g, future_rewards, mode, win_chances):
    """Write each player's chance to win: 0..1, apart from errors of the network.

    Args:
        future_rewards: Future reward of the player to move and the following players, as estimated by a network.
        mode: Which reward that is (see `artus_env.engine.play.rewards`).
        win_chances: Output: shape (players,).
    """
    players, mover = int(g["num_players"]), int(g["player"])
    over = is_over(t, g)
    rewards = win_chances  # the same memory: each reward is then replaced with a chance to win
    for player in range(players):
        rewards[player] = 0.0 if over else future_rewards[(player - mover) % players]
    if over:
        final_reward(t, g, WIN, rewards)
    if over or mode == WIN:
        for player in range(players):  # a win shared by w is paid (n - w) / (w (n - 1)), a loss -1 / (n - 1)
            win_chances[player] = (1 + (players - 1) * rewards[player]) / players
    else:
        margins_to_chances(t, g, mode, players, rewards)


@jit
def margins_to_chances(t, g, mode, players, values):
    """Replace future margins in `values` with chances to win: a softmax of the expected final scores."""
    score_sum = 0
    for player in range(players):
        score_sum += int(g["scores"][player])
    stddev = score_stddev(t, g) / margin_scale(t, g)
    highest = -math.inf
    for player in range(players):
        if mode == POINTS:  # the values don't include the points scored so far
            own_score = int(g["scores"][player])
            values[player] += (own_score - (score_sum - own_score) / (players - 1)) / margin_scale(t, g)
        # From the lead over the mean of the others to the lead over the mean of all.
        values[player] *= (players - 1) / players / stddev
        highest = max(highest, values[player])
    exp_sum = 0.0
    for player in range(players):
        values[player] = math.exp(values[player] - highest)
        exp_sum += values[player]
    for player in range(players):
        values[player] /= exp_sum


@jit
def rank(tree, candidates, count):
    """Sort the first `count` candidates, best first; they must have the same number of trials. The sort is stable."""
    for k in range(1, count):
        index = int(candidates[k])
        j = k
        while j > 0 and merit(tree, int(candidates[j - 1])) < merit(tree, index):
            candidates[j] = candidates[j - 1]
            j -= 1
        candidates[j] = index


@jit
def merit(tree, index):
    """Value by which a candidate is ranked: its policy logit plus the evidence of its trials, which grows with their
    number."""
    edge = tree.edges[index]
    return math.log(float(edge["prior"])) + EVIDENCE * float(edge["total"])
