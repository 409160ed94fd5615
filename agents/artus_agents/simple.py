"""Two players that need no training: random, and greedy."""

from __future__ import annotations

import numpy as np

from artus_agents import loops
from artus_env.engine.agents import View
from artus_env.engine.workers import run_shares, shares, threads_for

GAMES_PER_THREAD = 512


def _bounds(count: int) -> np.ndarray:
    return shares(count, threads_for(count, GAMES_PER_THREAD))


class RandomAgent:
    """Plays each legal action with the same chance."""

    def act(self, view: View) -> np.ndarray:
        """See `Agent.act`."""
        actions = np.empty(len(view), np.int64)
        run_shares(loops.uniform, loops.uniform_shares, (view.legal_bits, view.keys, actions), _bounds(len(view)))
        return actions


class GreedyAgent:
    """Takes the most points that it can get at once; among equals it draws.

    A knight is placed on the free seat with the best value, which is what moving it away would bring now. Drawing
    brings nothing at once, so the pile is drawn at random.
    """

    def act(self, view: View) -> np.ndarray:
        """See `Agent.act`."""
        actions = np.empty(len(view), np.int64)
        arguments = (view.tables, view.known(), view.legal_bits, view.keys, actions)
        run_shares(loops.greedy, loops.greedy_shares, arguments, _bounds(len(view)))
        return actions
