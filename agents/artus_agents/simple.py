"""Two players that need no training: random, and greedy."""

from __future__ import annotations

import numpy as np

from artus_env.engine.agents import View


def draw_among(candidates: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """One of each row's candidates, drawn uniformly: candidates (n, A) of bool or 0/1, keys (n,) uint64 -> (n,) int64."""
    counts = candidates.sum(axis=1, dtype=np.int64)
    nth = ((keys >> np.uint64(32)) * counts.astype(np.uint64)) >> np.uint64(32)
    return (candidates.cumsum(axis=1, dtype=np.int32) > nth.astype(np.int32)[:, None]).argmax(axis=1)


class RandomAgent:
    """Plays each legal action with the same chance."""

    def act(self, view: View) -> np.ndarray:
        return draw_among(view.mask, view.keys)
