"""Compiled loops of the network-guided search: selection down the trees and backup. They contain no rules.

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

from artus_agents.endgame import finish, is_near, room_for
from artus_agents.policy import choose, legal_logits
from artus_agents.tree import Tree, add_edge, best_edge, covers, follow, plant, visit, weigh
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
LAST_TWO, LAST_MORE = 2, 2
"""Decisions before the end from which a walk plays on with the exact solution, with two players and with more."""
TREE = -1
"""Value of `more_turns` for searches that grow a tree."""
_POLICY = 1 << 20  # random numbers of a deal from this index on are for the policy's moves


class Trees(NamedTuple):
    """The trees of n games. Node 0 is the root."""

    nodes: np.ndarray
    """Shape (n, NODES_PER_EVALUATION * evaluations + 1), see `tree.node_dtype`."""
    edges: np.ndarray
    """Shape (n, edges), `tree.EDGE`."""
    used: np.ndarray
    """Nodes and edges taken so far: shape (n, 2), int64."""
    candidates: np.ndarray
    """Edges of the root that are tried, best first: shape (n, candidates), int64."""


class Leaves(NamedTuple):
    """Ends of the walks of a round: one row for each, game by game."""

    states: np.ndarray
    """Positions at these ends, as dealt: shape (m,), the state dtype."""
    legal: np.ndarray
    """Shape (m, W), uint64; no action where the game is over."""
    observation: np.ndarray
    """Observation of the player to move: shape (m, F), int8."""
    paths: np.ndarray
    """Edges on the path, and who moved: shape (m, 2, MAX_DEPTH), int32."""
    ends: np.ndarray
    """Node that gets the leaf's actions, -1 for none, and number of edges on the path: shape (m, 2), int64."""
    going: np.ndarray
    """Whether the policy plays on from here, after a secret choice: shape (m,), bool."""
    turns: np.ndarray
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
        legal: shape (n, W), uint64.
        counts: Result: the number of candidates, shape (n,), int64.
    """
    ids = np.empty(output.logits.shape[1], np.int64)
    logits = np.empty(output.logits.shape[1], np.float32)
    for i in range(len(counts)):
        tree = tree_of(trees, i)
        plant(tree)
        count = legal_logits(output.logits[i], output.gates[i], legal[i], output.action_features[i], ids, logits)
        grow(tree, 0, ids, logits, count)
        grown = int(tree.used[1])
        order = np.argsort(-logits[:grown])  # the root's edges are the first ones, in the order of `ids`
        counts[i] = min(grown, trees.candidates.shape[1])
        for k in range(counts[i]):
            trees.candidates[i, k] = order[k]


@jit
def read_roots(trees, actions, visits, worth):
    """Write the results at the roots: the best candidate, shape (n,), int64; and for each action the number of visits
    and their total value, shapes (n, A), int32 and float32, unchanged where the root has no edge."""
    for i in range(len(actions)):
        tree = tree_of(trees, i)
        actions[i] = int(tree.edges[trees.candidates[i, 0]]["action"])
        index = int(tree.nodes[0]["first"])
        while index >= 0:
            edge = tree.edges[index]
            visits[i, int(edge["action"])] = edge["visits"]
            worth[i, int(edge["action"])] = edge["total"]
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
def walk(tables, roots, games, deals, offsets, trees, leaves, more_turns):
    """Sample a deal for each round, and walk down to a leaf from each remaining candidate.

    Args:
        roots: The games, shape (n,). They are copied before information hidden from the player to move is resampled.
        games: Game of each round, shape (rounds,), int64.
        deals: Seed of each round's deal, shape (rounds,), uint64.
        offsets: First leaf of each round, shape (rounds + 1,), int64; a round tries as many candidates as it has
            leaves.
        leaves: Result.
        more_turns: Every walk ends after the searching player's move, as after a secret choice, and the policy plays
            this many more of their turns; `TREE`: walks end only at secret choices.
    """
    tables, roots, trees = borrow(tables), borrow(roots), borrow(trees)
    states, legal, observation = borrow(leaves.states), borrow(leaves.legal), borrow(leaves.observation)
    paths, ends, going, turns = borrow(leaves.paths), borrow(leaves.ends), borrow(leaves.going), borrow(leaves.turns)
    t = tables[0]
    room = room_for(t, roots)
    for k in range(len(games)):
        i = games[k]
        deal = offsets[k + 1] - 1  # the last leaf keeps the deal until it is played from there
        states[deal] = roots[i]
        resample_hidden(t, states[deal], np.int64(roots[i]["player"]), deals[k])
        tree = tree_of(trees, i)
        for leaf in range(offsets[k], offsets[k + 1]):
            states[leaf] = states[deal]
            g = states[leaf]
            first = int(trees.candidates[i, leaf - offsets[k]])
            turns[leaf] = max(0, more_turns)
            ends[leaf, 0], ends[leaf, 1], apart = descend(
                t, g, tree, first, legal[leaf], paths[leaf], more_turns >= 0, room
            )
            going[leaf] = apart and plays_on(t, g, legal[leaf], np.int64(roots[i]["player"]), turns, leaf)
            observe(t, g, np.int64(g["player"]), observation[leaf])


@jit
def descend(t, g, tree, first, legal, path, at_once, room):
    """Play the root's edge `first` in `g`, then go down the tree until the position has a legal action without an edge
    or the searching player makes a secret choice; after the first edge with `at_once`. Near the end, `finish` plays on.

    Writes the legal actions and the path. Returns the node that gets the actions, -1 for none; the number of edges
    played; and whether the walk ended at such a choice: then the legal actions aren't written yet.
    """
    viewer = np.int64(g["player"])
    node, index, depth = np.int64(0), first, 0  # a literal 0 would have its own type
    if has_secrets(t):
        write_legal(t, g, legal)
    while True:
        path[0, depth], path[1, depth] = index, int(g["player"])
        depth += 1
        apart = at_once or (int(g["player"]) == viewer and covers(t, g, legal, int(tree.edges[index]["action"])))
        node, _ = follow(t, g, tree, node, index, viewer)
        if apart:
            return -1, depth, True
        if is_near(t, g, LAST_TWO, LAST_MORE):
            finish(t, g, room)
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
    """Add an edge for the only legal action. Returns whether there was room, with enough left for the nodes at the ends
    of walks."""
    ends = len(tree.nodes) // NODES_PER_EVALUATION
    return int(tree.used[0]) < len(tree.nodes) - ends and add_edge(tree, node, next_action(legal, -1), 1.0)


@jit
def plays_on(t, g, legal, viewer, turns, leaf):
    """Play on while only one action is legal, and write the legal actions then. Returns whether the policy is to choose
    among them: it is another player's turn, or the viewer's with `turns` left for this leaf."""
    write_legal(t, g, legal)
    while not is_over(t, g) and size(legal) == 1:
        play(t, g, next_action(legal, -1))
        write_legal(t, g, legal)
    if is_over(t, g):
        return False
    if int(g["player"]) != viewer:
        return True
    turns[leaf] -= 1
    return turns[leaf] >= 0


@jit
def lead_on(tables, going, deals, step, leaves, output):
    """Play a move in each of some leaves, drawn with the policy's probabilities.

    All candidates of a deal get the same random numbers, so players who can't distinguish them move alike.

    Args:
        going: Leaves, shape (k,), int64.
        deals: Seeds of their deals, shape (k,), uint64.
        step: Moves played before.
        leaves: Changed.
        output: Network output for these leaves.
    """
    t = tables[0]
    count = len(going)
    legal = leaves.legal[going]
    bits, actions, log_probs = np.empty(count, np.uint64), np.empty(count, np.int64), np.empty(count, np.float32)
    for k in range(count):
        bits[k] = random_bits(deals[k], _POLICY + step)
    choose(output.logits, output.gates, legal, output.action_features, bits, True, actions, log_probs, 0, count)
    for k in range(count):
        leaf = going[k]
        g = leaves.states[leaf]
        play(t, g, actions[k])
        on = plays_on(t, g, leaves.legal[leaf], np.int64(leaves.paths[leaf, 1, 0]), leaves.turns, leaf)
        observe(t, g, np.int64(g["player"]), leaves.observation[leaf])
        leaves.going[leaf] = on and step + 1 < leaves.paths.shape[2]


@jit
def select(tree, node, legal):
    """The edge to follow where all legal actions have one."""
    visits, total, priors = weigh(tree, node, legal)
    mean = total / max(1, visits)  # value assumed for untried actions
    return best_edge(tree, node, legal, EXPLORATION * math.sqrt(1.0 + visits) / priors, mean)


# --- and back up ------------------------------------------------------------------------------------------------------


@jit
def back_up(tables, games, offsets, following, trees, leaves, rows, values, mode, growing):
    """Add the values of the leaves to the edges on their paths, and rank candidates.

    Args:
        games, offsets: As for `walk`.
        following: Candidates that a round's game tries in its next round: shape (rounds,), int64.
        trees, leaves: After `walk`.
        rows: Row of `values` for each leaf, shape (m,), int64; arbitrary where the game is over.
        values: Network values of the leaves where the game isn't over: shape (k, players), float32.
        mode: The reward that `values` predict.
        growing: Result: whether the next round may reach the leaf's node, shape (m,), bool.
    """
    tables, trees = borrow(tables), borrow(trees)
    states, paths, ends, values = borrow(leaves.states), borrow(leaves.paths), borrow(leaves.ends), borrow(values)
    worth = np.empty(states[0]["scores"].shape[0])
    for k in range(len(games)):
        i = games[k]
        width = offsets[k + 1] - offsets[k]
        tree = tree_of(trees, i)
        for leaf in range(offsets[k], offsets[k + 1]):
            appraise(tables[0], states[leaf], values[rows[leaf]], mode, worth)
            for step in range(ends[leaf, 1]):
                visit(tree, paths[leaf, 0, step], worth[paths[leaf, 1, step]])
        if following[k] < width:
            rank(tree, trees.candidates[i], width)
        for leaf in range(offsets[k], offsets[k + 1]):
            growing[leaf] = False
            if ends[leaf, 0] >= 0:
                for place in range(following[k]):
                    growing[leaf] |= trees.candidates[i, place] == paths[leaf, 0, 0]


@jit
def grow_all(games, chosen, rows, trees, leaves, output):
    """Add edges to the nodes of some leaves.

    Args:
        games: Game of each leaf, shape (k,), int64.
        chosen: The leaves, shape (k,), int64.
        rows: Row of the network output for each leaf, as for `back_up`. The action features in `output` have a row for
            each chosen leaf instead.
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
def appraise(t, g, to_come, mode, worth):
    """Write each player's chance to win: shape (players,), 0..1, apart from errors of the network.

    Args:
        to_come: Future reward of the player to move and the following players, as estimated by a network.
        mode: Which reward that is (see `artus_env.engine.play.rewards`).
    """
    players, mover = int(g["num_players"]), int(g["player"])
    over = is_over(t, g)
    for player in range(players):
        worth[player] = 0.0 if over else to_come[(player - mover) % players]
    if over:
        final_reward(t, g, WIN, worth)
    if over or mode == WIN:
        for player in range(players):  # a win shared by w is paid (n - w) / (w (n - 1)), a loss -1 / (n - 1)
            worth[player] = (1 + (players - 1) * worth[player]) / players
    else:
        chances(t, g, mode, players, worth)


@jit
def chances(t, g, mode, players, worth):
    """Convert future margins into chances to win, in place: a softmax of the expected final scores."""
    total = 0
    for player in range(players):
        total += int(g["scores"][player])
    spread = score_stddev(t, g) / margin_scale(t, g)
    highest = -math.inf
    for player in range(players):
        if mode == POINTS:  # points made so far have been paid
            own = int(g["scores"][player])
            worth[player] += (own - (total - own) / (players - 1)) / margin_scale(t, g)
        # From the lead over the mean of the others to the lead over the mean of all.
        worth[player] *= (players - 1) / players / spread
        highest = max(highest, worth[player])
    parts = 0.0
    for player in range(players):
        worth[player] = math.exp(worth[player] - highest)
        parts += worth[player]
    for player in range(players):
        worth[player] /= parts


@jit
def rank(tree, candidates, count):
    """Sort the first `count` candidates, which have the same number of trials: best first, stable."""
    for k in range(1, count):
        index = int(candidates[k])
        j = k
        while j > 0 and merit(tree, int(candidates[j - 1])) < merit(tree, index):
            candidates[j] = candidates[j - 1]
            j -= 1
        candidates[j] = index


@jit
def merit(tree, index):
    """Rank value of a candidate: its policy logit plus the evidence of its trials, which grows with their number."""
    edge = tree.edges[index]
    return math.log(float(edge["prior"])) + EVIDENCE * float(edge["total"])
