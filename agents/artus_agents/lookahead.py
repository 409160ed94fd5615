"""A player that tries all its moves of a turn and judges the table behind them."""

from __future__ import annotations

import math

import numpy as np

from artus_agents import loops
from artus_env.engine.agents import View
from artus_env.engine.reading import shown
from artus_env.engine.workers import run_shares, scratch, shares, threads_for

GAMES_PER_THREAD = 16


class LookaheadAgent:
    """Plays out each own move, in the advanced game each pair of moves of its turn, and takes the best table.

    A table is judged by the lead in points, with each seat that a knight holds counted at `weight` of its value. It
    draws from the pile of which most is left.

    Args:
        weight: What a seat is worth of its value.

    Raises:
        ValueError: If the weight is no finite number.
    """

    def __init__(self, weight: float | str = 0.17) -> None:
        try:
            self.weight = float(weight)
        except (ValueError, OverflowError):
            self.weight = math.nan
        if not math.isfinite(self.weight):
            raise ValueError(
                f"lookahead needs a finite number as the weight of seats (lookahead:0.17), got {shown(weight)}"
            )

    def act(self, view: View) -> np.ndarray:
        """See `Agent.act`."""
        count = len(view)
        bounds = shares(count, threads_for(count, GAMES_PER_THREAD))
        states = view.redeal(view.keys)  # what it can't know plays no part; this only makes sure
        actions = np.empty(count, np.int64)
        arguments = (
            view.tables, states, view.legal_bits, scratch(len(bounds) - 1, 3, states.dtype),
            scratch(len(bounds) - 1, view.legal_bits.shape[1], np.uint64), self.weight, view.keys, actions,
        )  # fmt: skip
        run_shares(loops.lookahead, loops.lookahead_shares, arguments, bounds)
        return actions
