"""The tree of both searches: nodes, edges, and selection. Compiled; contains no rules.

A tree belongs to one player, the one to move at its root. A node stands for everything that this player has seen since
the root, so hidden information never distinguishes two nodes. Each action of a node has its own edge with statistics.
Actions that look the same to the searching player also have separate edges, but these lead to the same node. The
appearance of an action may depend only on the action and on public information.
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
        ("child", np.int32),  # node that the edge leads to, -1: none yet
        ("next", np.int32),  # next edge of the same node, -1: none
        ("visits", np.int32),
        ("prior", np.float32),  # unscaled
        ("total", np.float32),  # sum of the values of these visits for the player who moves at the node
    ]
)


def node_dtype(words: int) -> np.dtype:
    """dtype of a node.

    Args:
        words: Number of words in a set of actions.
    """
    return np.dtype(
        [
            ("first", np.int32),  # its first edge, -1: none
            ("seen", np.int32),  # what the searching player sees of the action that led here
            ("veiled", np.int32),  # whether an action of this node looks like another one to the searching player
            ("known", np.uint64, (words,)),  # actions that have an edge
        ]
    )


class Tree(NamedTuple):
    """Arrays of a tree. Node 0 is the root."""

    nodes: np.ndarray
    """Shape (nodes,), see `node_dtype`."""
    edges: np.ndarray
    """Shape (edges,), EDGE."""
    used: np.ndarray
    """Nodes and edges taken so far: shape (2,), int64."""


@jit
def plant(tree):
    """Reset the tree to a root without edges."""
    tree.used[0], tree.used[1] = 0, 0
    add_node(tree, -1)


@jit
def add_node(tree, seen_action):
    """Add a node without edges for the public action `seen_action`, and return its index. There must be room."""
    index = int(tree.used[0])
    tree.used[0] += 1
    node = tree.nodes[index]
    node["first"] = -1
    node["seen"] = seen_action
    node["veiled"] = 0
    for word in range(len(node["known"])):
        node["known"][word] = 0
    return index


@jit
def add_edge(tree, node, action, prior):
    """Add an edge to a node for an action without one. Returns whether there was room."""
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
        viewer: The searching player.

    Returns:
        The node that the edge leads to, and whether it is new. There must be room for one.
    """
    edge = tree.edges[index]
    action, child = np.int64(edge["action"]), int(edge["child"])
    is_new = False
    if child < 0:
        seen_action = public_action(t, g, action, viewer)
        if seen_action != action:
            tree.nodes[node]["veiled"] = 1
        if int(tree.nodes[node]["veiled"]):  # otherwise edges never share a node
            child = find_child(tree, node, seen_action)
        if child < 0:
            child = add_node(tree, seen_action)
            is_new = True
        edge["child"] = child
    play(t, g, action)
    return child, is_new


@jit
def find_child(tree, node, seen_action):
    """The child of this node for the public action `seen_action`; -1 if there is none."""
    index = int(tree.nodes[node]["first"])
    while index >= 0:
        child = int(tree.edges[index]["child"])
        if child >= 0 and int(tree.nodes[child]["seen"]) == seen_action:
            return child
        index = int(tree.edges[index]["next"])
    return -1


@jit
def covers(t, g, legal, action):
    """Whether another player can't distinguish this action of the player to move from another legal one."""
    if has_secrets(t):
        player, players = int(g["player"]), int(g["num_players"])
        for seats in range(1, players):
            onlooker = (player + seats) % players
            seen_action = public_action(t, g, action, onlooker)
            other = next_action(legal, -1)
            while other >= 0:
                if other != action and public_action(t, g, other, onlooker) == seen_action:
                    return True
                other = next_action(legal, other)
    return False


@jit
def sum_edges(tree, node, legal):
    """Sums over the node's edges whose actions are legal: of visits, of totals and of priors."""
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
def best_edge(tree, node, legal, weight, unvisited_value):
    """Index of the edge with the highest upper bound (PUCT) among legal actions, -1 if no legal action has an edge.

    Args:
        legal: The legal actions in this deal: shape (W,), uint64.
        weight: Weight of the prior relative to the mean value of an edge, before it is visited.
        unvisited_value: Value assumed for an edge without visits.
    """
    best, chosen = -math.inf, -1
    index = int(tree.nodes[node]["first"])
    while index >= 0:
        edge = tree.edges[index]
        if is_in(legal, int(edge["action"])):
            visits = int(edge["visits"])
            mean = float(edge["total"]) / visits if visits else unvisited_value
            bound = mean + weight * float(edge["prior"]) / (1 + visits)
            if bound > best:
                best, chosen = bound, index
        index = int(edge["next"])
    return chosen


@jit
def visit(tree, index, value):
    """Count a visit of an edge, with its value for the player who moved."""
    edge = tree.edges[index]
    edge["visits"] += 1
    edge["total"] += value


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
