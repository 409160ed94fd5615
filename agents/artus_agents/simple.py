"""Two agents without training: random and greedy."""

from __future__ import annotations

import numpy as np

from artus_env.agents import View
from artus_env.engine.compiling.arrays import borrow
from artus_env.engine.compiling.threads import jit_shared, run_shares, shares, threads_for
from artus_env.engine.play.choosers import APPEALING, UNIFORM, most_appealing
from artus_env.engine.play.kernels import choose

GAMES_PER_THREAD = 512


def _bounds(count: int) -> np.ndarray:
    """Bounds of the threads' shares of `count` games."""
    return shares(count, threads_for(count, GAMES_PER_THREAD))


class RandomAgent:
    """Plays a uniformly random legal action."""

    games_at_once = 8192
    chooser = UNIFORM

    def act(self, view: View) -> np.ndarray:
        """See `Agent.act`."""
        actions = np.empty(len(view), np.int64)
        run_shares(uniform, (view.tables, view.legal_bits, view.keys, actions), _bounds(len(view)))
        return actions


class GreedyAgent:
    """Plays the action with the most expected immediate points (the game's verb `greedy_value`); ties are broken at
    random."""

    games_at_once = 8192
    chooser = APPEALING

    def act(self, view: View) -> np.ndarray:
        """See `Agent.act`."""
        actions = np.empty(len(view), np.int64)
        arguments = (view.tables, view.known(), view.legal_bits, view.keys, actions)
        run_shares(greedy, arguments, _bounds(len(view)))
        return actions


@jit_shared
def uniform(tables, legal, keys, actions, low, high):
    """Write a uniformly random legal action for each game: shape (n,), int64."""
    tables, legal = borrow(tables), borrow(legal)
    for i in range(low, high):
        actions[i] = choose(tables[0], legal[i], keys[i])


@jit_shared
def greedy(tables, states, legal, keys, actions, low, high):
    """Write the action with the highest `greedy_value` for each game: shape (n,), int64."""
    tables, states, legal = borrow(tables), borrow(states), borrow(legal)
    for i in range(low, high):
        actions[i] = most_appealing(tables[0], states[i], legal[i], keys[i])
