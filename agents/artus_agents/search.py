"""Information-set Monte-Carlo tree search."""

from __future__ import annotations

import re
import time

import numpy as np

from artus_agents import loops
from artus_env.engine.agents import View
from artus_env.engine.reading import shown
from artus_env.engine.verbs import routine
from artus_env.engine.workers import available_cores, run_shares, scratch, shares

EDGES_PER_SIMULATION = 60
MAX_DEPTH = 64
MOST_SIMULATIONS = 1_000_000
"""For a decision, also one that is given much time: the tree must fit into memory, and its edges are counted in 32
bits. Room for this one takes 1.6 GB, of which a third is used at most."""
MOST_TOGETHER = 4_000_000
"""Simulations of the trees that grow side by side."""
MOST_SECONDS = 86_400.0
CHUNK = 32
"""Simulations between two looks at the clock."""


class IsmctsAgent:
    """Searches one tree over many deals that fit what it knows (single-observer information-set MCTS).

    Every simulation deals the hidden cards anew, walks down by PUCT among the actions that are legal in that deal
    (priors from the judgement after the move), adds a node, plays a few quick moves and judges the table. The most
    visited action is played. It draws cards as lookahead does.

    Args:
        budget: Simulations for a decision, e.g. `1000`, at most `MOST_SIMULATIONS`, or time, e.g. `0.2s` (then results
            depend on the machine), it decides when the time is up or after that many simulations.
        weight: What a seat is worth of its value.
        scale: Points of lead that count as a clear advantage.
        exploration: How much an action's prior counts against what was seen of it.
        temperature: Points of judgement by which an action must be better to have e times the prior.
        tries: A quick move is the best of so many drawn ones.
        horizon: Quick moves before the table is judged.

    Raises:
        ValueError: If the budget is neither, or too large.
    """

    def __init__(
        self,
        budget: int | str = 1000,
        weight: float = 0.17,
        scale: float = 80.0,
        exploration: float = 1.0,
        temperature: float = 8.0,
        tries: int = 8,
        horizon: int = 12,
    ) -> None:
        match = re.fullmatch(r"([0-9]+)|([0-9]*\.?[0-9]+)s", str(budget))
        if not match or not 0 < float(match[1] or match[2]) <= (MOST_SIMULATIONS if match[1] else MOST_SECONDS):
            raise ValueError(
                f"ismcts needs a number of simulations in 1..{MOST_SIMULATIONS} (ismcts:1000) or a time of more "
                "than 0 and "
                f"at most {MOST_SECONDS:g} seconds (ismcts:0.2s), got {shown(str(budget))}"
            )
        self.simulations = int(match[1]) if match[1] else 0
        self.seconds = float(match[2]) if match[2] else 0.0
        self._settings = (float(weight), float(scale), float(exploration), float(temperature), int(tries), int(horizon))

    def act(self, view: View) -> np.ndarray:
        """See `Agent.act`."""
        count = len(view)
        states = view.redeal(view.keys)  # the search deals anew itself; the truth isn't even here
        if self.seconds:
            return np.array(
                [self._in_time(view, states[i], view.legal_bits[i], view.keys[i]) for i in range(count)], np.int64
            )
        bounds = shares(count, min(available_cores(), count, MOST_TOGETHER // self.simulations))
        memory = self._memory(len(bounds) - 1, self.simulations, view)
        actions = np.empty(count, np.int64)
        arguments = (
            view.tables,
            states,
            view.legal_bits,
            *memory,
            view.keys,
            actions,
            self.simulations,
            *self._settings,
        )
        run_shares(loops.search, loops.search_shares, arguments, bounds, kind=self.simulations)
        return actions

    def consider(self, view: View) -> tuple[np.ndarray, np.ndarray]:
        """What `act` would play, and how sure it is.

        Returns:
            The actions, shape (n,), int64, and how often the search has tried each action, shape (n, A), int64. Where
            `act` needs no search (one legal action, or drawing) that is a single 1.
        """
        states = view.redeal(view.keys)
        actions = np.zeros(len(view), np.int64)
        visits = np.zeros(view.mask.shape, np.int64)
        for i, state in enumerate(states):
            actions[i] = self._without_search(view, state, view.legal_bits[i], view.keys[i])
            if actions[i] >= 0:
                visits[i, actions[i]] = 1
                continue
            nodes, edges = self._tree(view, state, view.keys[i])
            actions[i] = loops.most_visited(nodes, edges)
            index = int(nodes[0]["first"])
            while index >= 0:
                visits[i, edges[index]["action"]] = edges[index]["visits"]
                index = int(edges[index]["next"])
        return actions, visits

    def _in_time(self, view: View, state: np.void, legal: np.ndarray, key: np.uint64) -> int:
        """Search one game until its time is up."""
        action = self._without_search(view, state, legal, key)
        return action if action >= 0 else int(loops.most_visited(*self._tree(view, state, key)))

    @staticmethod
    def _without_search(view: View, state: np.void, legal: np.ndarray, key: np.uint64) -> int:
        """The action where none needs to be searched for, else -1."""
        only = int(loops.single(legal))
        return only if only >= 0 else int(routine(view.tables[0], state, key))

    def _tree(self, view: View, state: np.void, key: np.uint64) -> tuple[np.ndarray, np.ndarray]:
        """Nodes and edges of the tree that is grown for one game, by simulations or until its time is up."""
        end = time.perf_counter() + self.seconds
        most = self.simulations or min(max(1000, int(self.seconds * 200_000)), MOST_SIMULATIONS)
        games, words, *trees = (part[0] for part in self._memory(1, most, view))
        memory = [games, words[: view.legal_bits.shape[1]], *trees]
        for first in range(0, most, CHUNK):
            loops.simulate(view.tables[0], state, *memory, key, first, min(CHUNK, most - first), *self._settings)
            if self.seconds and time.perf_counter() >= end:
                break
        return memory[2], memory[3]

    @staticmethod
    def _memory(count: int, simulations: int, view: View) -> tuple[np.ndarray, ...]:
        """What the search writes to, a row for each thread: games, legal actions, nodes, edges, path, used."""
        words = view.legal_bits.shape[1]
        return (
            scratch(count, 2, view.definition.state_dtype),
            scratch(count, words, np.uint64),
            np.empty((count, simulations + 1), loops.node_dtype(words)),
            np.empty((count, (simulations + 10) * EDGES_PER_SIMULATION), loops.EDGE),
            np.empty((count, 3, MAX_DEPTH)),
            scratch(count, 2, np.int64),
        )
