"""Compiled loops of the players that look ahead: lookahead and search. Rules come from `artus_env`, none are here."""

from __future__ import annotations

import math

import numba
import numpy as np

from artus_env.engine.bits import add, is_in, is_subset, next_action, popcount
from artus_env.engine.jit import borrow, jit, jit_parallel
from artus_env.engine.kernels import choose
from artus_env.engine.rng import below, random_bits
from artus_env.engine.verbs import (
    appeal,
    is_over,
    judge,
    mask_words,
    outcome,
    play,
    redeal,
    routine,
)
from artus_env.engine.verbs import legal as write_legal

_NEVER = -1e30
_PLAYOUT = 1 << 20  # numbers of a simulation's stream from here on are for quick moves, those below for the deal


@jit
def best_in_turn(t, games, level, legal, player, weight):
    """Best judgement that `player` can reach from `games[level]` with the cards that he still plays in this turn."""
    g = games[level]
    if is_over(t, g) or int(g["player"]) != player or routine(t, g, np.uint64(0)) >= 0:
        return judge(t, g, player, weight)
    best = _NEVER
    write_legal(t, g, legal)
    action = next_action(legal, -1)
    while action >= 0:
        games[level + 1] = g
        play(t, games[level + 1], action)
        best = max(best, judge(t, games[level + 1], player, weight))
        action = next_action(legal, action)
    return best


@jit
def lookahead_one(t, games, legal, second, weight, key):
    """The action that leads to the best judgement at the end of the turn; among equals it draws. `games[0]`: the
    game."""
    player = int(games[0]["player"])
    best, chosen, equals = _NEVER, -1, 0
    action = next_action(legal, -1)
    while action >= 0:
        games[1] = games[0]
        play(t, games[1], action)
        judged = best_in_turn(t, games, 1, second, player, weight)
        if judged > best:
            best, chosen, equals = judged, action, 1
        elif judged == best:
            equals += 1
            if below(random_bits(key, equals), equals) == 0:
                chosen = action
        action = next_action(legal, action)
    return chosen


@jit
def lookahead(tables, states, legal, scratch, words, weight, keys, actions, low, high, share=0):
    """One action for each game: shape (n,), int64. `scratch` (shares, 3) and `words` (shares, words) are
    overwritten."""
    tables, states, legal, scratch, words = (
        borrow(tables),
        borrow(states),
        borrow(legal),
        borrow(scratch),
        borrow(words),
    )
    t = tables[0]
    second = words[share, : mask_words(t)]
    for i in range(low, high):
        actions[i] = routine(t, states[i], keys[i])
        if actions[i] < 0:
            scratch[share, 0] = states[i]
            actions[i] = lookahead_one(t, scratch[share], legal[i], second, weight, keys[i])


@jit_parallel
def lookahead_shares(tables, states, legal, scratch, words, weight, keys, actions, bounds):
    for share in numba.prange(len(bounds) - 1):
        lookahead(tables, states, legal, scratch, words, weight, keys, actions, bounds[share], bounds[share + 1], share)


# --- random and greedy
# ---------------------------------------------------------------------------------------------------


@jit
def uniform(legal, keys, actions, low, high):
    """A legal action for each game, each with the same chance: shape (n,), int64."""
    legal = borrow(legal)
    for i in range(low, high):
        actions[i] = choose(legal[i], keys[i])


@jit
def greedy(tables, states, legal, keys, actions, low, high):
    """The action with most points now; a knight's place counts as its value. Among equals it draws."""
    tables, states, legal = borrow(tables), borrow(states), borrow(legal)
    t = tables[0]
    for i in range(low, high):
        best, chosen, equals = -1_000_000, -1, 0
        action = next_action(legal[i], -1)
        while action >= 0:
            points = appeal(t, states[i], action)
            if points > best:
                best, chosen, equals = points, action, 1
            elif points == best:
                equals += 1
                if below(random_bits(keys[i], equals), equals) == 0:
                    chosen = action
            action = next_action(legal[i], action)
        actions[i] = chosen


@jit_parallel
def uniform_shares(legal, keys, actions, bounds):
    for share in numba.prange(len(bounds) - 1):
        uniform(legal, keys, actions, bounds[share], bounds[share + 1])


@jit_parallel
def greedy_shares(tables, states, legal, keys, actions, bounds):
    for share in numba.prange(len(bounds) - 1):
        greedy(tables, states, legal, keys, actions, bounds[share], bounds[share + 1])


# --- information-set Monte-Carlo tree search -------------------------------------------------------------------------
#
# One tree for the player to move at the root. Every simulation deals the hidden cards anew and walks down the same
# tree; at each node only the actions that are legal in that deal compete. Nodes stand for the sequence of actions since
# the root, so hidden cards never tell two nodes apart.

EDGE = np.dtype(
    [
        ("action", np.int16),
        ("child", np.int32),  # node that it leads to, -1: not yet
        ("next", np.int32),  # next edge of the same node, -1: none
        ("visits", np.int32),
        ("offered", np.int32),  # visits of the node in which the action was legal
        ("prior", np.float32),
        ("total", np.float32),  # sum of returns for the player who moves at the node
    ]
)


def node_dtype(words: int) -> np.dtype:
    """A node of a tree: its first edge, and the actions that have an edge as a set of so many words."""
    return np.dtype([("first", np.int32), ("known", np.uint64, (words,))])


@jit
def quick_move(t, games, level, legal, tries, weight, key, n):
    """A quick, sensible action: the best of a few drawn ones, judged after the move."""
    g = games[level]
    player = int(g["player"])
    known = routine(t, g, random_bits(key, n))
    if known >= 0:
        return known
    action = choose(legal, random_bits(key, n))
    games[level + 1] = g
    play(t, games[level + 1], action)
    best = judge(t, games[level + 1], player, weight)
    for k in range(1, tries):
        other = choose(legal, random_bits(key, n + k))
        if other == action:
            continue
        games[level + 1] = g
        play(t, games[level + 1], other)
        judged = judge(t, games[level + 1], player, weight)
        if judged > best:
            best, action = judged, other
    return action


@jit
def returns(t, g, weight, scale, out):
    """What a position is worth to each player, -1..1: the result when over, else the squashed judgement."""
    players = int(g["num_players"])
    over = is_over(t, g)
    for player in range(players):
        if over:
            lead = judge(t, g, player, 0.0)
            best = _NEVER
            for other in range(players):
                if other != player:
                    best = max(best, float(outcome(t, g, other)))
            margin = outcome(t, g, player) - best
            won = 1.0 if margin > 0 else 0.0 if margin == 0 else -1.0
            out[player] = 0.5 * won + 0.5 * math.tanh(lead / scale)
        else:
            out[player] = math.tanh(judge(t, g, player, weight) / scale)


@jit
def add_edges(t, games, legal, nodes, edges, node, used, weight, temperature):
    """Give the node an edge for every legal action that has none; priors from the judgement after the move."""
    if is_subset(legal, nodes[node]["known"]):
        return used
    g = games[0]
    player = int(g["player"])
    judging = routine(t, g, np.uint64(0)) < 0
    start = used
    best = _NEVER
    action = next_action(legal, -1)
    while action >= 0:
        if not is_in(nodes[node]["known"], action):
            if used == len(edges):
                return used
            add(nodes[node]["known"], action)
            edge = edges[used]
            edge["action"] = action
            edge["child"] = -1
            edge["visits"] = 0
            edge["offered"] = 0
            edge["total"] = 0
            judged = 0.0
            if judging:
                games[1] = g
                play(t, games[1], action)
                judged = judge(t, games[1], player, weight)
            edge["prior"] = judged
            best = max(best, judged)
            edge["next"] = nodes[node]["first"]
            nodes[node]["first"] = used
            used += 1
        action = next_action(legal, action)
    for index in range(start, used):
        edges[index]["prior"] = math.exp((float(edges[index]["prior"]) - best) / temperature)
    return used


@jit
def select_edge(nodes, edges, node, legal, exploration):
    """The legal edge with the highest upper bound (PUCT over the actions that this deal offers)."""
    offered = 0
    total_prior = 0.0
    index = int(nodes[node]["first"])
    while index >= 0:
        edge = edges[index]
        if is_in(legal, int(edge["action"])):
            edge["offered"] += 1
            offered += int(edge["visits"])
            total_prior += float(edge["prior"])
        index = int(edge["next"])
    best, chosen = _NEVER, -1
    root = math.sqrt(1.0 + offered)
    index = int(nodes[node]["first"])
    while index >= 0:
        edge = edges[index]
        if is_in(legal, int(edge["action"])):
            visits = int(edge["visits"])
            mean = float(edge["total"]) / visits if visits else 0.0
            bound = mean + exploration * float(edge["prior"]) / total_prior * root / (1 + visits)
            if bound > best:
                best, chosen = bound, index
        index = int(edge["next"])
    return chosen


@jit
def simulate(t, root, games, words, nodes, edges, path, used, key, first, count, weight, scale, exploration,
             temperature,
             tries, horizon):  # fmt: skip
    """Simulations `first..first + count - 1` of a search from `root`. `used`: nodes and edges taken so far, shape
    (2,)."""
    viewer = int(root["player"])
    if first == 0:
        clear(nodes[0])
        used[0], used[1] = 1, 0
    values = path[2]
    for simulation in range(first, first + count):
        stream = random_bits(key, simulation)
        games[0] = root
        g = games[0]
        redeal(t, g, viewer, stream)
        node, depth = 0, 0
        # Down the tree, until it grows by a node.
        while not is_over(t, g) and depth < len(path[0]):
            write_legal(t, g, words)
            used[1] = add_edges(t, games, words, nodes, edges, node, int(used[1]), weight, temperature)
            index = select_edge(nodes, edges, node, words, exploration)
            if index < 0:  # no room left for this deal's actions
                break
            path[0, depth], path[1, depth] = index, g["player"]
            depth += 1
            edge = edges[index]
            play(t, g, int(edge["action"]))
            node = int(edge["child"])
            if node < 0:
                if int(used[0]) < len(nodes):
                    edge["child"] = used[0]
                    clear(nodes[int(used[0])])
                    used[0] += 1
                break
        # On from there by quick moves, then judge.
        n = _PLAYOUT
        for _ in range(horizon):
            if is_over(t, g):
                break
            write_legal(t, g, words)
            play(t, g, quick_move(t, games, 0, words, tries, weight, stream, n))
            n += tries
        returns(t, g, weight, scale, values)
        for step in range(depth):
            edge = edges[int(path[0, step])]
            edge["visits"] += 1
            edge["total"] += values[int(path[1, step])]


@jit
def clear(node):
    """A node without edges."""
    node["first"] = -1
    for word in range(len(node["known"])):
        node["known"][word] = 0


@jit
def most_visited(nodes, edges):
    """The root's most visited action."""
    best, chosen = -1, -1
    index = int(nodes[0]["first"])
    while index >= 0:
        if int(edges[index]["visits"]) > best:
            best, chosen = int(edges[index]["visits"]), int(edges[index]["action"])
        index = int(edges[index]["next"])
    return chosen


@jit
def search(tables, states, legal, games, words, nodes, edges, path, used, keys, actions, simulations, weight, scale,
           exploration, temperature, tries, horizon, low, high, share=0):  # fmt: skip
    """One action for each game: shape (n,), int64. Scratch arrays have one row for each share."""
    tables, states, games, words, nodes = borrow(tables), borrow(states), borrow(games), borrow(words), borrow(nodes)
    edges, path, used, legal = borrow(edges), borrow(path), borrow(used), borrow(legal)
    for i in range(low, high):
        only = single(legal[i])
        if only >= 0:
            actions[i] = only
            continue
        actions[i] = routine(tables[0], states[i], keys[i])
        if actions[i] >= 0:
            continue
        simulate(tables[0], states[i], games[share], words[share, : mask_words(tables[0])], nodes[share],
                 edges[share], path[share], used[share],
                 keys[i], 0, simulations, weight, scale, exploration, temperature, tries, horizon)  # fmt: skip
        actions[i] = most_visited(nodes[share], edges[share])


@jit
def single(legal):
    """The only legal action, -1 if there are several."""
    count = 0
    for word in range(len(legal)):
        count += popcount(legal[word])
    return next_action(legal, -1) if count == 1 else -1


@jit_parallel
def search_shares(tables, states, legal, games, words, nodes, edges, path, used, keys, actions, simulations,
                  weight, scale,
                  exploration, temperature, tries, horizon, bounds):  # fmt: skip
    for share in numba.prange(len(bounds) - 1):
        search(tables, states, legal, games, words, nodes, edges, path, used, keys, actions, simulations, weight, scale,
               exploration, temperature, tries, horizon, bounds[share], bounds[share + 1], share)  # fmt: skip
