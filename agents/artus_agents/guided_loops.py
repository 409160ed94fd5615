"""Compiled loops of the search that a network guides: down the trees, and back up. They know no rules.

One tree for each game (see `tree`) that grows in rounds. A round deals what is hidden in the game anew and tries each
of its root's candidates in that same deal, so that luck hits all alike. Each trial walks down to one leaf; the network
judges the leaves of many rounds at once, of all games, and of those rounds of a game that need nothing of each other;
what they are worth goes back up, to each player by their own chance to win.

A secret choice of the searching player ends the walk: below it the others would learn answers to what they can't see,
and the network, which judges a position by what the player to move sees, would find all such choices alike. From there
everybody plays by the policy, each knowing only what they see, until the searching player is to move again. In games
that say so (`Definition.search_turns`) every move of the searching player is such a choice, and the policy plays some
more of their turns. Where hands are hidden others don't see that a good card is gone; where actions change the values
hardly more than these err, the turns lead to other positions in each deal, and errors even out.

No walk ends where only one action is legal, but goes on by it: a network that learnt from choices alone has never been
told what such a position is worth.
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
"""Room for nodes. A walk adds at most one at its end, and one for each position on its way in which only one action is
legal; where these find no room, the walk ends."""
EDGES_PER_NODE = 64
"""Room for edges. More may be legal, or be dealt in turn; a node that finds no room just doesn't grow."""
MAX_DEPTH = 64
"""A walk that gets here is judged here, and so is one that the policy has led on for so many moves."""
LARGEST_LOGIT = 50.0
"""e to the power of it is still a float32, and so is its inverse."""
EXPLORATION = 0.3
"""How much an action's prior counts against what was seen of it. It matters little: 0.1 and 1 play about as well."""
EVIDENCE = 12.0
"""What a win in one trial counts beside the policy's logit, see `merit`. Between 12 and 40 it makes little difference;
without the logits, searches lose to their own network where values know little of what the policy never does."""
LAST_TWO, LAST_MORE = 2, 2
"""Decisions before an end that can be calculated, with two players and with more, from which a walk goes on to it."""
TREE = -1
"""Instead of a number of turns: the search grows a tree."""
_POLICY = 1 << 20  # numbers of a deal's stream from here on are for the policy's moves, those below are for the deal


class Trees(NamedTuple):
    """The trees of n games. Node 0 is the root."""

    nodes: np.ndarray
    """Shape (n, NODES_PER_EVALUATION * evaluations + 1), see `tree.node_dtype`."""
    edges: np.ndarray
    """Shape (n, edges), `tree.EDGE`."""
    used: np.ndarray
    """Nodes and edges taken so far: shape (n, 2), int64."""
    candidates: np.ndarray
    """Edges of the root that are tried, the best first: shape (n, candidates), int64."""


class Leaves(NamedTuple):
    """Where the walks of a round have ended: one row for each, game by game."""

    states: np.ndarray
    """The games there, as dealt: shape (m,), the state dtype."""
    legal: np.ndarray
    """Shape (m, W), uint64; no action where the game is over."""
    observation: np.ndarray
    """Of the player to move there: shape (m, F), int8."""
    paths: np.ndarray
    """Edges that led there, and who moved: shape (m, 2, MAX_DEPTH), int32."""
    ends: np.ndarray
    """Node to which the leaf's actions are added, -1: none, and number of edges on the path: shape (m, 2), int64."""
    going: np.ndarray
    """Whether the policy plays on from here, behind a secret choice: shape (m,), bool."""
    turns: np.ndarray
    """How many turns of the searching player it still plays: shape (m,), int64."""


class Said(NamedTuple):
    """What a network says of m positions: see `network.Output` and `policy.action_features`."""

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
def plant_all(trees, said, legal, counts):
    """Give each tree its root, and as candidates the actions that the network likes best.

    Args:
        trees: Overwritten.
        said: Of the positions at the root.
        legal: shape (n, W), uint64.
        counts: Result: the number of candidates, shape (n,), int64.
    """
    ids = np.empty(said.logits.shape[1], np.int64)
    logits = np.empty(said.logits.shape[1], np.float32)
    for i in range(len(counts)):
        tree = tree_of(trees, i)
        plant(tree)
        count = legal_logits(said.logits[i], said.gates[i], legal[i], said.action_features[i], ids, logits)
        grow(tree, 0, ids, logits, count)
        grown = int(tree.used[1])
        order = np.argsort(-logits[:grown])  # the root's edges are the first ones, in the order of `ids`
        counts[i] = min(grown, trees.candidates.shape[1])
        for k in range(counts[i]):
            trees.candidates[i, k] = order[k]


@jit
def read_roots(trees, actions, visits, worth):
    """What has become of the roots: their best candidates, shape (n,), int64, and of each of their actions how often it
    was tried and what that was worth in all, shapes (n, A), int32 and float32, zeros where it wasn't."""
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
    """Give a node an edge for each of `count` actions that has none yet, as long as there is room."""
    for j in range(count):
        action = int(ids[j])
        if not is_in(tree.nodes[node]["known"], action):
            prior = math.exp(max(-LARGEST_LOGIT, min(LARGEST_LOGIT, float(logits[j]))))
            if not add_edge(tree, node, action, prior):
                break


# --- down -------------------------------------------------------------------------------------------------------------


@jit
def walk(tables, roots, games, deals, offsets, trees, leaves, more_turns):
    """Deal what is hidden in each round, and walk down from each candidate that is still in the running to a leaf.

    Args:
        roots: The games; what their players to move don't know is overwritten in a copy. Shape (n,).
        games: Whose round it is, shape (rounds,), int64.
        deals: Seeds of the rounds' deals, shape (rounds,), uint64.
        offsets: The first leaf of each round, shape (rounds + 1,), int64; it tries as many candidates as it has leaves.
        leaves: Result.
        more_turns: Every walk ends with the searching player's move, as behind a secret choice, and the policy plays so
            many more of their turns; `TREE`: no walk does for that alone.
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
    """Play the root's edge `first` in `g`, then down the tree until the position allows an action without an edge, or
    until a choice of the searching player is secret; that edge alone if told to end `at_once`. Where the end can be
    calculated, all play on to it as well as they can.

    Writes the legal actions there and the path. Returns the node for them, -1: none, the number of edges played, and
    whether it was such a choice: then the legal actions are left to be written.
    """
    viewer = np.int64(g["player"])
    node, index, depth = np.int64(0), first, 0  # a plain 0 is a type of its own
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
    """Give a node an edge for the only legal action. Returns whether there was room, also for what follows."""
    ends = len(tree.nodes) // NODES_PER_EVALUATION
    return int(tree.used[0]) < len(tree.nodes) - ends and add_edge(tree, node, next_action(legal, -1), 1.0)


@jit
def plays_on(t, g, legal, viewer, turns, leaf):
    """Play on while only one action is legal. Writes the legal actions then; returns whether the policy is to choose
    among them, because it is somebody else's turn than the viewer's, or theirs and not the last one of the leaf."""
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
def lead_on(tables, going, deals, step, leaves, said):
    """Play a move in each of some leaves, drawn with the policy's probabilities.

    All candidates of a deal get the same random numbers, so players who can't tell them apart move alike.

    Args:
        going: Leaves, shape (k,), int64.
        deals: Seeds of their deals, shape (k,), uint64.
        step: How many moves were played before.
        leaves: Changed.
        said: What the network says of these leaves.
    """
    t = tables[0]
    count = len(going)
    legal = leaves.legal[going]
    bits, actions, log_probs = np.empty(count, np.uint64), np.empty(count, np.int64), np.empty(count, np.float32)
    for k in range(count):
        bits[k] = random_bits(deals[k], _POLICY + step)
    choose(said.logits, said.gates, legal, said.action_features, bits, True, actions, log_probs, 0, count)
    for k in range(count):
        leaf = going[k]
        g = leaves.states[leaf]
        play(t, g, actions[k])
        on = plays_on(t, g, leaves.legal[leaf], np.int64(leaves.paths[leaf, 1, 0]), leaves.turns, leaf)
        observe(t, g, np.int64(g["player"]), leaves.observation[leaf])
        leaves.going[leaf] = on and step + 1 < leaves.paths.shape[2]


@jit
def select(tree, node, legal):
    """The edge to go on by where all legal actions have one."""
    visits, total, priors = weigh(tree, node, legal)
    mean = total / max(1, visits)  # what an action that was never tried is taken for
    return best_edge(tree, node, legal, EXPLORATION * math.sqrt(1.0 + visits) / priors, mean)


# --- and back up ------------------------------------------------------------------------------------------------------


@jit
def back_up(tables, games, offsets, following, trees, leaves, rows, values, mode, growing):
    """Add what the leaves are worth to the edges that led there, and rank candidates.

    Args:
        games, offsets: As for `walk`.
        following: How many candidates a round's game tries in its next one: shape (rounds,), int64.
        trees, leaves: After `walk`.
        rows: Which row of `values` is about a leaf, shape (m,), int64; any where the game is over.
        values: What the network said of the leaves where it isn't: shape (k, players), float32.
        mode: The reward that `values` are about.
        growing: Result: which leaves' nodes the next round may come to, shape (m,), bool.
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
def grow_all(games, chosen, rows, trees, leaves, said):
    """Give the nodes of some leaves their edges.

    Args:
        games: Whose leaves: shape (k,), int64.
        chosen: Which ones, shape (k,), int64.
        rows: As for `back_up`, now of what `said` has beside the action features, which has a row for each chosen leaf.
    """
    trees = borrow(trees)
    ids, logits = np.empty(said.logits.shape[1], np.int64), np.empty(said.logits.shape[1], np.float32)
    for k in range(len(chosen)):
        leaf = chosen[k]
        row = rows[leaf]
        count = legal_logits(
            said.logits[row], said.gates[row], leaves.legal[leaf], said.action_features[k], ids, logits
        )
        grow(tree_of(trees, games[k]), leaves.ends[leaf, 0], ids, logits, count)


@jit
def appraise(t, g, to_come, mode, worth):
    """Write each player's chance to win: shape (players,), 0..1 or, as far as a network errs, about that.

    Args:
        to_come: Reward still to come for the player to move and those after him, as a network sees it.
        mode: What reward that is (see `artus_env.engine.play.rewards`).
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
    """Turn margins that are still to come into chances to win, in place: a softmax of what the scores will be."""
    total = 0
    for player in range(players):
        total += int(g["scores"][player])
    spread = score_stddev(t, g) / margin_scale(t, g)
    highest = -math.inf
    for player in range(players):
        if mode == POINTS:  # what was made so far has been paid
            own = int(g["scores"][player])
            worth[player] += (own - (total - own) / (players - 1)) / margin_scale(t, g)
        # From the lead over the others' mean to that over everybody's.
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
    """Sort the first `count` candidates, which were tried equally often: the best first, equals as they were."""
    for k in range(1, count):
        index = int(candidates[k])
        j = k
        while j > 0 and merit(tree, int(candidates[j - 1])) < merit(tree, index):
            candidates[j] = candidates[j - 1]
            j -= 1
        candidates[j] = index


@jit
def merit(tree, index):
    """What candidates are ranked by: what the policy thought of them, and the more the trials the more these."""
    edge = tree.edges[index]
    return math.log(float(edge["prior"])) + EVIDENCE * float(edge["total"])
