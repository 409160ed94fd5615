"""Opponents in a training. If an opponent gives up a game, a random legal move is played instead and the game goes on.

The first time, a warning names the opponent and the reason. An opponent that gives up all decisions of a whole round,
such as a program with a typo in its name, stops the training.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from artus_env.agents import FORFEIT, Agent, View


class OpponentError(ValueError):
    """An opponent that doesn't play. The message names it and the reason."""


class Opponent:
    """Wraps an agent so that all its actions are legal.

    Args:
        name: The agent's name, for messages.
        agent: The agent.

    Attributes:
        asked: Number of decisions since the last `end_round`.
        given_up: Number of these that were replaced by random ones.
    """

    def __init__(self, name: str, agent: Agent) -> None:
        self.name = name
        self.agent = agent
        self.asked = self.given_up = 0
        self.warned = False
        self.reason = ""  # of the first given-up decision, in the last round that had one

    def act(self, view: View) -> np.ndarray:
        """See `Agent.act`.

        Raises:
            OpponentError: If the agent returns anything but whole numbers, one for each game.
        """
        actions: Any = np.array(self.agent.act(view))
        if actions.shape != (len(view),) or actions.dtype.kind not in "iu":
            raise OpponentError(
                f"opponent {self.name} must return {len(view)} whole numbers, got {actions.dtype} of shape "
                f"{actions.shape}"
            )
        actions = actions.astype(np.int64)
        mask = view.mask
        known = (actions >= 0) & (actions < mask.shape[1])
        legal = known & (mask[np.arange(len(view)), np.where(known, actions, 0)] == 1)
        if not legal.all():
            self._play_at_random(view, actions, np.flatnonzero(~legal))
        self.asked += len(view)
        return actions

    def _play_at_random(self, view: View, actions: np.ndarray, games: np.ndarray) -> None:
        if not self.given_up:  # later reasons are less useful: a program that keeps failing isn't even started again
            self.reason = self._why(view, actions, int(games[0]))
        if not self.warned:
            self.warned = True
            print(
                f"opponent {self.name} gave a game up ({self.reason}): random moves are played in its place",
                file=sys.stderr,
            )
        self.given_up += len(games)
        for game in games:
            legal = np.flatnonzero(view.mask[game])
            actions[game] = legal[int(view.keys[game] % np.uint64(len(legal)))]

    def _why(self, view: View, actions: np.ndarray, game: int) -> str:
        if actions[game] != FORFEIT:
            return f"illegal action {actions[game]}"
        reasons = getattr(self.agent, "failures", {})
        return reasons.get(int(view.games[game])) or getattr(self.agent, "failure", "") or "it gave no reason"


def end_round(opponents: Iterable[Any]) -> int:
    """Return the number of given-up decisions in a round, and reset the counters.

    Raises:
        OpponentError: If an opponent gave up all its decisions.
    """
    given_up = 0
    for opponent in opponents:
        if isinstance(opponent, Opponent):
            if opponent.asked and opponent.given_up == opponent.asked:
                raise OpponentError(f"opponent {opponent.name} gives up every game: {opponent.reason}")
            given_up += opponent.given_up
            opponent.asked = opponent.given_up = 0
    return given_up
