"""Information-set Monte-Carlo tree search.

Every simulation samples a deal of the hidden information and walks down the same tree; at each node only the actions
that are legal in that deal compete. In games with secret choices, no player may answer a choice that they haven't seen:
the tree ends below the searching player's own secret choices, and each player's quick moves are based on a sample of
what they don't know.
"""

from __future__ import annotations

import math
import re
import time
from typing import NamedTuple

import numpy as np

from artus_agents.tree import (
    EDGE,
    Tree,
    add_edge,
    best_edge,
    covers,
    follow,
    most_visited,
    node_dtype,
    plant,
    sum_edges,
    visit,
)
from artus_env.agents import View
from artus_env.engine.basics.reading import shown
from artus_env.engine.compiling.arrays import borrow
from artus_env.engine.compiling.jit import jit
from artus_env.engine.compiling.quotas import available_cores
from artus_env.engine.compiling.threads import jit_shared, run_shares, scratch, shares
from artus_env.engine.contract.bits import first_words, is_in, is_subset, next_action, nth_action, size
from artus_env.engine.contract.rng import below, random_bits
from artus_env.engine.contract.verbs import (
    default_action,
    evaluate,
    has_secrets,
    is_over,
    mask_words,
    play,
    ranking_key,
    resample_hidden,
)
from artus_env.engine.contract.verbs import legal as write_legal
from artus_env.engine.contract.verbs import margin_scale as points_of_margin

EDGES_PER_SIMULATION = 60
MAX_DEPTH = 64
MOST_SIMULATIONS = 1_000_000
"""Maximum for a decision, also with a time budget: the tree must fit into memory, and its edges have 32-bit indices.
The arrays for this maximum take 1.5 GB, of which at most 1/3 is used."""
MAX_PARALLEL_SIMULATIONS = 4_000_000
"""Maximum number of simulations, in total, of the trees that grow in parallel."""
MOST_SECONDS = 86_400.0
CHUNK = 32
"""Simulations between two checks of the clock."""
CLEAR_LEAD, SHARPNESS = 0.8, 0.08
"""Default values of `scale` and `temperature`, in margins (see `artus_env.engine.contract.verbs.margin_scale`)."""


class Settings(NamedTuple):
    """Parameters of a search; see the arguments of `IsmctsAgent`."""

    weight: float
    scale: float
    exploration: float
    temperature: float
    tries: int
    horizon: int


class Memory(NamedTuple):
    """Buffers of a search; with a leading dimension for shares where several run in parallel."""

    games: np.ndarray
    """The game of the simulation, a copy to try actions in, and a copy with what the player to move doesn't know
    resampled: shape (3,), the state dtype."""
    words: np.ndarray
    """Legal actions: shape (W,), uint64, or longer."""
    nodes: np.ndarray
    edges: np.ndarray
    used: np.ndarray
    """See `Tree`."""
    path: np.ndarray
    """Three rows: edges on the way down, players who moved there, and the final value for each player: shape
    (3, MAX_DEPTH), float64."""


class IsmctsAgent:
    """Searches one tree over many deals that fit the player's knowledge (single-observer information-set MCTS).

    Every simulation samples a deal, walks down by PUCT among the actions that are legal in that deal (priors from the
    evaluation after the action), adds a node, plays a few quick moves and evaluates the position. The most visited
    action is played. Where the game has a `default_action`, it is played without a search.

    Args:
        budget: Simulations per decision, e.g. `1000`, at most `MOST_SIMULATIONS`; or seconds per decision, e.g. `0.2s`,
            with a maximum number of simulations (then results depend on the machine).
        weight: Weight of a player's holdings relative to their score, see `evaluate`; None: the game's own weight.
        scale: Points of lead that count as a clear advantage; None: 0.8 margins.
        exploration: Weight of an action's prior relative to its results.
        temperature: Difference in evaluation, in points, that multiplies the prior by e; None: 0.08 margins.
        tries: A quick move is the best of this many random ones.
        horizon: Quick moves before the evaluation.

    Raises:
        ValueError: If the budget has neither form or is too large.
    """

    def __init__(
        self,
        budget: int | str = 1000,
        weight: float | None = None,
        scale: float | None = None,
        exploration: float = 1.0,
        temperature: float | None = None,
        tries: int = 8,
        horizon: int = 12,
    ) -> None:
        match = re.fullmatch(r"([0-9]+)|([0-9]*\.?[0-9]+)s", str(budget))
        if not match or not 0 < float(match[1] or match[2]) <= (MOST_SIMULATIONS if match[1] else MOST_SECONDS):
            raise ValueError(
                f"ismcts needs a number of simulations in 1..{MOST_SIMULATIONS} (ismcts:1000) or a time of more "
                f"than 0 and at most {MOST_SECONDS:g} seconds (ismcts:0.2s), got {shown(str(budget))}"
            )
        self.simulations = int(match[1]) if match[1] else 0
        self.seconds = float(match[2]) if match[2] else 0.0
        self.games_at_once = max(1, 16_000 // self.simulations) if self.simulations else 1
        self._optional_settings = weight, scale, temperature  # None: the game's value
        self._fixed_settings = float(exploration), int(tries), int(horizon)

    def act(self, view: View) -> np.ndarray:
        """See `Agent.act`."""
        count = len(view)
        states = view.redeal(view.keys)  # the search samples its own deals; the true states aren't available here
        if self.seconds:
            return np.array(
                [self._decide(view, states[i], view.legal_bits[i], view.keys[i]) for i in range(count)], np.int64
            )
        bounds = shares(count, min(available_cores(), count, MAX_PARALLEL_SIMULATIONS // self.simulations))
        memory = self._memory(len(bounds) - 1, self.simulations, view)
        settings = self._settings(view, states[0])
        actions = np.empty(count, np.int64)
        arguments = (
            view.tables, states, view.legal_bits, view.keys, self.simulations, settings, memory, actions,
        )  # fmt: skip
        run_shares(search, arguments, bounds, kind=self.simulations)
        return actions

    def consider(self, view: View) -> tuple[np.ndarray, np.ndarray]:
        """The actions that `act` would play, and the visits of all actions.

        Returns:
            The actions, shape (n,), int64, and the visits of each action in the search, shape (n, A), int64. Where
            `act` needs no search (one legal action, or a default action), the chosen action has one visit.
        """
        states = view.redeal(view.keys)
        actions = np.zeros(len(view), np.int64)
        visits = np.zeros(view.mask.shape, np.int64)
        for i, state in enumerate(states):
            actions[i] = without_search(view.tables[0], state, view.legal_bits[i], view.keys[i])
            if actions[i] >= 0:
                visits[i, actions[i]] = 1
                continue
            tree = self._grow_tree(view, state, view.keys[i])
            actions[i] = most_visited(tree)
            index = int(tree.nodes[0]["first"])
            while index >= 0:
                visits[i, tree.edges[index]["action"]] = tree.edges[index]["visits"]
                index = int(tree.edges[index]["next"])
        return actions, visits

    def _settings(self, view: View, state: np.void) -> Settings:
        """The settings, with the game's values as defaults. `state`: any state of the game."""
        weight, scale, temperature = self._optional_settings
        exploration, tries, horizon = self._fixed_settings
        margin = points_of_margin(view.tables[0], state)
        return Settings(
            float(view.definition.evaluation_weight if weight is None else weight),
            float(CLEAR_LEAD * margin if scale is None else scale),
            exploration,
            float(SHARPNESS * margin if temperature is None else temperature),
            tries,
            horizon,
        )

    def _decide(self, view: View, state: np.void, legal: np.ndarray, key: np.uint64) -> int:
        """Choose an action for one game; a search ends when its time is up."""
        action = int(without_search(view.tables[0], state, legal, key))
        return action if action >= 0 else int(most_visited(self._grow_tree(view, state, key)))

    def _grow_tree(self, view: View, state: np.void, key: np.uint64) -> Tree:
        """Grow the tree for one game, up to the number of simulations or until its time is up."""
        end = time.perf_counter() + self.seconds
        max_simulations = self.simulations or min(max(1000, int(self.seconds * 200_000)), MOST_SIMULATIONS)
        memory = Memory(*(part[0] for part in self._memory(1, max_simulations, view)))
        settings = self._settings(view, state)
        for first in range(0, max_simulations, CHUNK):
            simulate(view.tables[0], state, key, first, min(CHUNK, max_simulations - first), settings, memory)
            if self.seconds and time.perf_counter() >= end:
                break
        return Tree(memory.nodes, memory.edges, memory.used)

    @staticmethod
    def _memory(count: int, simulations: int, view: View) -> Memory:
        """Allocate buffers for searches, a row for each thread."""
        words = view.legal_bits.shape[1]
        return Memory(
            scratch(count, 3, view.definition.state_dtype),
            scratch(count, words, np.uint64),
            np.empty((count, simulations + 1), node_dtype(words)),
            np.empty((count, (simulations + 10) * EDGES_PER_SIMULATION), EDGE),
            scratch(count, 2, np.int64),
            np.empty((count, 3, MAX_DEPTH)),
        )


# --- compiled loops ---------------------------------------------------------------------------------------------------

_PLAYOUT = 1 << 20  # index of the first random number of a simulation that is for quick moves


@jit_shared
def search(tables, states, legal, keys, simulations, settings, memory, actions, low, high, share=0):
    """Write one action for each game: shape (n,), int64. `memory` has a row for each share."""
    tables, states, legal = borrow(tables), borrow(states), borrow(legal)
    t = tables[0]
    buffers = buffers_of_share(memory, share)
    for i in range(low, high):
        actions[i] = without_search(t, states[i], legal[i], keys[i])
        if actions[i] < 0:
            simulate(t, states[i], keys[i], 0, simulations, settings, buffers)
            actions[i] = most_visited(Tree(buffers.nodes, buffers.edges, buffers.used))


@jit
def buffers_of_share(memory, share):
    """Buffers of one share. Only for compiled code: the arrays don't keep their memory alive, see `borrow`."""
    games, words, nodes = borrow(memory.games), borrow(memory.words), borrow(memory.nodes)
    edges, used, path = borrow(memory.edges), borrow(memory.used), borrow(memory.path)
    return Memory(games[share], words[share], nodes[share], edges[share], used[share], path[share])


@jit
def without_search(t, g, legal, key):
    """The action that needs no search: the only legal one, or the default action; -1 if there is none."""
    return next_action(legal, -1) if size(legal) == 1 else default_action(t, g, key)


@jit
def simulate(t, root, key, first, count, settings, memory):
    """Run simulations `first..first + count - 1` of a search from `root`; the first one resets the tree."""
    games, path = borrow(memory.games), borrow(memory.path)
    legal = first_words(borrow(memory.words), mask_words(t))
    tree = Tree(borrow(memory.nodes), borrow(memory.edges), borrow(memory.used))
    values = path[2]
    viewer = np.int64(root["player"])
    if first == 0:
        plant(tree)
    for simulation in range(first, first + count):
        seed = random_bits(key, simulation)
        games[0] = root
        g = games[0]
        resample_hidden(t, g, viewer, seed)
        # Down the tree, until it grows by a node.
        node, depth = np.int64(0), 0  # int64, as `n` below
        while not is_over(t, g) and depth < path.shape[1]:
            write_legal(t, g, legal)
            index = select(t, games, legal, tree, node, settings)
            if index < 0:  # no room left for this deal's actions
                break
            path[0, depth], path[1, depth] = index, g["player"]
            depth += 1
            is_secret = int(g["player"]) == viewer and covers(t, g, legal, int(tree.edges[index]["action"]))
            node, is_new = follow(t, g, tree, node, index, viewer)
            if is_new or is_secret:  # others mustn't learn to answer a choice that they can't see
                break
        # Quick moves from there, then the evaluation.
        n = np.int64(_PLAYOUT)  # a literal has its own type and would be compiled separately
        for _ in range(settings.horizon):
            if is_over(t, g):
                break
            write_legal(t, g, legal)
            play(t, g, quick_move(t, games, legal, settings, seed, n))
            n += settings.tries
        write_values(t, g, settings, values)
        for step in range(depth):
            visit(tree, int(path[0, step]), values[int(path[1, step])])


@jit
def select(t, games, legal, tree, node, settings):
    """Index of the edge to follow from `games[0]`; -1 if there is no room for an edge."""
    if not is_subset(legal, tree.nodes[node]["known"]):
        add_edges(t, games, legal, tree, node, settings)
    visits, _, priors = sum_edges(tree, node, legal)
    return best_edge(tree, node, legal, settings.exploration * math.sqrt(1.0 + visits) / priors, 0.0)


@jit
def add_edges(t, games, legal, tree, node, settings):
    """Add an edge to the node for every legal action without one. Its prior follows from the evaluation after the
    action."""
    g = games[0]
    player = np.int64(g["player"])
    evaluates = default_action(t, g, np.uint64(0)) < 0
    start = int(tree.used[1])
    best = -math.inf
    action = next_action(legal, -1)
    while action >= 0:
        if not is_in(tree.nodes[node]["known"], action):
            value = 0.0
            if evaluates:
                games[1] = g
                if not covers(t, g, legal, action):  # secret choices have no observable effect
                    play(t, games[1], action)
                value = evaluate(t, games[1], player, settings.weight)
            if not add_edge(tree, node, action, value):
                break
            best = max(best, value)
        action = next_action(legal, action)
    for index in range(start, int(tree.used[1])):
        edge = tree.edges[index]
        edge["prior"] = math.exp((float(edge["prior"]) - best) / settings.temperature)


@jit
def quick_move(t, games, legal, settings, key, n):
    """A quick, sensible action for `games[0]`: the best of a few random ones, by the evaluation after the action."""
    g = games[0]
    player = np.int64(g["player"])
    action = default_action(t, g, random_bits(key, n))
    if action >= 0:
        return action
    count = size(legal)
    nth = below(random_bits(key, n), count)
    action = nth_action(legal, nth)
    if count == 1:
        return action
    source = 0  # index of the game in which actions are tried
    if has_secrets(t):  # the deal contains the others' secret choices; resample them for the player to move
        source = 2
        games[source] = g
        resample_hidden(t, games[source], player, random_bits(random_bits(key, n), 0))
    games[1] = games[source]
    play(t, games[1], action)
    best = evaluate(t, games[1], player, settings.weight)
    tried_bits = bit_of(nth)
    for k in range(1, settings.tries):
        nth = below(random_bits(key, n + k), count)
        if tried_bits & bit_of(nth):  # evaluated before
            continue
        tried_bits |= bit_of(nth)
        other = nth_action(legal, nth)
        games[1] = games[source]
        play(t, games[1], other)
        value = evaluate(t, games[1], player, settings.weight)
        if value > best:
            best, action = value, other
    return action


@jit
def bit_of(number):
    """The bit that stands for a number below 63 in a set; 0 for larger numbers."""
    return 1 << number if number < 63 else 0


@jit
def write_values(t, g, settings, values):
    """Write the value of a position for each player, from -1 to 1: by the result if the game is over, else by tanh of
    the evaluation."""
    players = np.int64(g["num_players"])
    over = is_over(t, g)
    for player in range(players):
        if over:
            lead = evaluate(t, g, player, 0.0)
            best_other = -math.inf
            for other in range(players):
                if other != player:
                    best_other = max(best_other, float(ranking_key(t, g, other)))
            margin = ranking_key(t, g, player) - best_other
            result = 1.0 if margin > 0 else 0.0 if margin == 0 else -1.0
            values[player] = 0.5 * result + 0.5 * math.tanh(lead / settings.scale)
        else:
            values[player] = math.tanh(evaluate(t, g, player, settings.weight) / settings.scale)
