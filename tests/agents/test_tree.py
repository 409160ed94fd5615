"""The tree of both searches: choices that the searching player can't distinguish lead to one node."""

from types import SimpleNamespace

import numpy as np
import pytest

from artus_agents.search import IsmctsAgent
from artus_agents.tree import EDGE, Tree, add_edge, best_edge, follow, most_visited, node_dtype, plant, visit
from artus_env.engine.compiling.jit import jit
from artus_env.engine.contract import verbs

STATE = np.dtype([("player", np.int8), ("num_players", np.int8), ("rule_set", np.int8), ("scores", np.int32, (2,)),
                  ("bid", np.int8, (2,))])  # fmt: skip
TABLES = np.dtype([("sealed_bids", np.int8), ("size", np.int8)])
"""Two players bid 0..2 in turn. The bids 0 and 1 are secret, bid 2 is open."""


@jit
def nothing(t, g):
    """A verb that these tests don't need."""
    return 0


@jit
def play(t, g, action):
    """The player to move bids."""
    g["bid"][int(g["player"])] = action
    g["player"] = 1 - int(g["player"])
    return 0


@jit
def public_action(t, g, action, viewer):
    """Other players can't tell the bids 0 and 1 apart."""
    return action if viewer == int(g["player"]) or action == 2 else 0


NEEDED = dict.fromkeys(("deal", "legal", "points_of", "is_over", "observe", "resample_hidden", "hide"), nothing)
GAME = SimpleNamespace(**NEEDED, play=play, public_action=public_action)
verbs.register("bids", TABLES, [GAME], 1)


@pytest.fixture
def tree():
    """A root whose three bids have edges 0, 1 and 2."""
    new_tree = Tree(np.empty(8, node_dtype(1)), np.empty(4, EDGE), np.empty(2, np.int64))
    plant(new_tree)
    for bid in range(3):
        assert add_edge(new_tree, 0, bid, 1.0)
    return new_tree


def game(player):
    """A state in which this player is to move."""
    state = np.zeros(1, STATE)[0]
    state["player"] = player
    return state


def followed_node(tree, index, viewer, player):
    """Follow an edge of the root and return its node, which is added if there is none yet."""
    num_nodes = int(tree.used[0])
    node, is_new = follow(np.zeros(1, TABLES)[0], game(player), tree, 0, index, viewer)
    assert is_new == (node == num_nodes)
    return node


def test_secret_choices_of_others_lead_to_one_node(tree):
    nodes = [followed_node(tree, index, viewer=0, player=1) for index in range(3)]
    assert nodes[0] == nodes[1] != nodes[2]
    assert tree.used.tolist() == [3, 3]
    assert [followed_node(tree, index, viewer=0, player=1) for index in range(3)] == nodes, "and again on the next walk"


def test_own_choices_lead_to_a_node_each(tree):
    assert len({followed_node(tree, index, viewer=1, player=1) for index in range(3)}) == 3


def test_what_is_played_is_the_real_choice(tree):
    followed_node(tree, 0, viewer=0, player=1)
    state = game(1)
    follow(np.zeros(1, TABLES)[0], state, tree, 0, 1, 0)
    assert state["bid"].tolist() == [0, 1]
    assert state["player"] == 0


def test_each_choice_keeps_its_own_statistics(tree):
    """Even though both lead to the same node: the player who bids knows the bid."""
    legal = np.array([0b011], np.uint64)
    for index, value in ((0, 0.1), (1, 0.6), (1, 0.8)):
        followed_node(tree, index, viewer=0, player=1)
        visit(tree, index, value)
    assert tree.edges["visits"][:3].tolist() == [1, 2, 0]
    assert best_edge(tree, 0, legal, 0.0, 0.0) == 1
    assert best_edge(tree, 0, legal, 10.0, 0.0) == 0, "fewer visits, so the prior counts more"
    assert best_edge(tree, 0, np.array([0b100], np.uint64), 0.0, 0.3) == 2
    assert best_edge(tree, 0, np.array([0b1000], np.uint64), 0.0, 0.3) == -1
    assert most_visited(tree) == 1


def test_edges_end_where_there_is_no_room(tree):
    assert add_edge(tree, 0, 3, 1.0)
    assert not add_edge(tree, 0, 4, 1.0)
    assert tree.nodes[0]["known"].tolist() == [0b1111]


def test_actions_of_any_number_have_edges():
    """Games may have more actions than 16 bits count."""
    assert np.iinfo(EDGE["action"]).max > 1_000_000


def test_settings_come_from_the_game_unless_given():
    definition = SimpleNamespace(evaluation_weight=0.25)
    tables = np.zeros(1, TABLES)
    view, state = SimpleNamespace(definition=definition, tables=tables), game(0)
    assert IsmctsAgent()._settings(view, state)[:4] == (0.25, 0.8, 1.0, 0.08), "this game's scale is 1"
    assert IsmctsAgent(weight=0.5, scale=9, temperature=3)._settings(view, state)[:4] == (0.5, 9.0, 1.0, 3.0)
