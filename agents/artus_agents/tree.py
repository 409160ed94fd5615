"""The tree that both searches grow: nodes, edges, and the choice among them. Compiled; knows no rules.

A tree belongs to one player, the one to move at its root. Nodes stand for what that player has seen since the root, so
nothing hidden tells two nodes apart. Each action of a node has an edge of its own with its statistics, also where the
searching player can't tell two of them apart; such edges lead to the same node. What an action looks like may depend on
the action and on what everybody knows, on nothing else.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from artus_env.engine.compiling.jit import jit
from artus_env.engine.contract.bits import add, is_in, next_action
from artus_env.engine.contract.verbs import has_secrets, play, public_action

EDGE = np.dtype(
    [
        ("action", np.int32),
        ("child", np.int32),  # node that it leads to, -1: none yet
        ("next", np.int32),  # next edge of the same node, -1: none
        ("visits", np.int32),
        ("prior", np.float32),  # unscaled
        ("total", np.float32),  # sum of what its visits were worth to the player who moves at the node
    ]
)


def node_dtype(words: int) -> np.dtype:
    """A node.

    Args:
        words: Of a set of actions.
    """
    return np.dtype(
        [
            ("first", np.int32),  # edge, -1: none
            ("seen", np.int32),  # what the searching player saw of the action that led here
            ("veiled", np.int32),  # whether any of its own actions looked like another one
            ("known", np.uint64, (words,)),  # actions that have an edge
        ]
    )


class Tree(NamedTuple):
    """Room for a tree. Node 0 is the root."""

    nodes: np.ndarray
    """Shape (nodes,), see `node_dtype`."""
    edges: np.ndarray
    """Shape (edges,), EDGE."""
    used: np.ndarray
    """Nodes and edges taken so far: shape (2,), int64."""


@jit
def plant(tree):
    """Make it a tree of nothing but its root, without edges."""
    tree.used[0], tree.used[1] = 0, 0
    add_node(tree, -1)


@jit
def add_node(tree, seen):
    """A new node without edges, to which an action leads that looks like this. There must be room."""
    index = int(tree.used[0])
    tree.used[0] += 1
    node = tree.nodes[index]
    node["first"] = -1
    node["seen"] = seen
    node["veiled"] = 0
    for word in range(len(node["known"])):
        node["known"][word] = 0
    return index


@jit
def add_edge(tree, node, action, prior):
    """Give a node an edge for an action that has none. Returns whether there was room."""
    index = int(tree.used[1])
    if index == len(tree.edges):
        return False
    tree.used[1] += 1
    edge = tree.edges[index]
    edge["action"] = action
    edge["child"] = -1
    edge["next"] = tree.nodes[node]["first"]
    edge["visits"] = 0
    edge["prior"] = prior
    edge["total"] = 0
    tree.nodes[node]["first"] = index
    add(tree.nodes[node]["known"], action)
    return True


@jit
def follow(t, g, tree, node, index, viewer):
    """Play the action of a node's edge in `g`.

    Args:
        viewer: Whose tree it is.

    Returns:
        The node that the edge leads to, and whether it is new. There must be room for one.
    """
    edge = tree.edges[index]
    action, child = np.int64(edge["action"]), int(edge["child"])
    new = False
    if child < 0:
        seen = public_action(t, g, action, viewer)
        if seen != action:
            tree.nodes[node]["veiled"] = 1
        if int(tree.nodes[node]["veiled"]):  # else no two edges lead to one node
            child = child_seen(tree, node, seen)
        if child < 0:
            child = add_node(tree, seen)
            new = True
        edge["child"] = child
    play(t, g, action)
    return child, new


@jit
def child_seen(tree, node, seen):
    """The node that any edge of this node leads to whose action looks like this; -1 if there is none."""
    index = int(tree.nodes[node]["first"])
    while index >= 0:
        child = int(tree.edges[index]["child"])
        if child >= 0 and int(tree.nodes[child]["seen"]) == seen:
            return child
        index = int(tree.edges[index]["next"])
    return -1


@jit
def covers(t, g, legal, action):
    """Whether somebody can't tell a legal action of the player to move from another one."""
    if has_secrets(t):
        player, players = int(g["player"]), int(g["num_players"])
        for step in range(1, players):
            onlooker = (player + step) % players
            seen = public_action(t, g, action, onlooker)
            other = next_action(legal, -1)
            while other >= 0:
                if other != action and public_action(t, g, other, onlooker) == seen:
                    return True
                other = next_action(legal, other)
    return False


@jit
def weigh(tree, node, legal):
    """Sums over the node's edges whose actions are legal: visits, totals and priors."""
    visits, total, priors = 0, 0.0, 0.0
    index = int(tree.nodes[node]["first"])
    while index >= 0:
        edge = tree.edges[index]
        if is_in(legal, int(edge["action"])):
            visits += int(edge["visits"])
            total += float(edge["total"])
            priors += float(edge["prior"])
        index = int(edge["next"])
    return visits, total, priors


@jit
def best_edge(tree, node, legal, weight, untried):
    """The legal edge with the highest upper bound (PUCT), -1 if no legal action has an edge.

    Args:
        legal: The legal actions in this deal: shape (W,), uint64.
        weight: What a prior counts beside the mean of what an edge was worth, before it is visited.
        untried: What an edge without visits is taken to be worth.
    """
    best, chosen = -math.inf, -1
    index = int(tree.nodes[node]["first"])
    while index >= 0:
        edge = tree.edges[index]
        if is_in(legal, int(edge["action"])):
            visits = int(edge["visits"])
            mean = float(edge["total"]) / visits if visits else untried
            bound = mean + weight * float(edge["prior"]) / (1 + visits)
            if bound > best:
                best, chosen = bound, index
        index = int(edge["next"])
    return chosen


@jit
def visit(tree, index, worth):
    """Count a visit that was worth this to the player who moved."""
    edge = tree.edges[index]
    edge["visits"] += 1
    edge["total"] += worth


@jit
def most_visited(tree):
    """The root's most visited action."""
    best, chosen = -1, -1
    index = int(tree.nodes[0]["first"])
    while index >= 0:
        edge = tree.edges[index]
        if int(edge["visits"]) > best:
            best, chosen = int(edge["visits"]), int(edge["action"])
        index = int(edge["next"])
    return chosen
