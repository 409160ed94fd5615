"""What actors hand to the learner: decisions, and the policy and values that the network should have had there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from artus_agents.network import Shape

LARGEST = 1e4
"""Of the values of a decision; rewards are within -1..1."""


class Decisions(NamedTuple):
    """R decisions with M legal actions in all. Only what is legal is kept, which is a tenth of whole rows."""

    observation: np.ndarray
    """shape (R, F), int8."""
    first: np.ndarray
    """The legal actions of decision i are entries `first[i]` to `first[i + 1] - 1` of the next three: shape (R + 1,),
    int64."""
    action: np.ndarray
    """Legal actions, ascending in each decision: shape (M,), int16."""
    action_features: np.ndarray
    """Of these actions: shape (M, K), int8; K is 0 without action features."""
    policy: np.ndarray
    """The probability that each of them should have: shape (M,), float16, sums to about 1 in each decision."""
    values: np.ndarray
    """The reward to come, for the player to move and those after them in turn: shape (R, P), float16; NaN for players
    that there are not."""
    searched: np.ndarray
    """Whether a search says it; otherwise a policy to stay near to: shape (R,), bool."""
    gain: np.ndarray
    """By how much the player's chance to win is better with this policy than with the one that was searched with, if
    the search is right: shape (R,), float16; 0 where nothing was searched."""

    @property
    def size(self) -> int:
        """R."""
        return self.observation.shape[0]

    def check(self, shape: Shape) -> None:
        """Raise a ValueError unless compiled loops can take these decisions for a network of this shape.

        That is needed where they come from a file. Types and numbers of dimensions must be right.
        """
        rows, entries = self.size, self.action.shape[0]
        sizes = (
            self.observation.shape == (rows, shape.observation_size)
            and self.first.shape == (rows + 1,)
            and self.action_features.shape == (entries, shape.num_action_features)
            and self.policy.shape == (entries,)
            and self.values.shape == (rows, shape.players)
            and self.searched.shape == self.gain.shape == (rows,)
        )
        if not sizes:
            raise ValueError("decisions have arrays of other sizes")
        if self.first[0] != 0 or self.first[-1] != entries or (np.diff(self.first) < 1).any():
            raise ValueError("decisions have other numbers of legal actions")
        if ((self.action < 0) | (self.action >= shape.num_actions)).any():
            raise ValueError("decisions have actions that there are not")
        for numbers in (self.policy, self.gain):
            if not (np.abs(numbers) <= LARGEST).all():
                raise ValueError("decisions have numbers that no search finds")
        if (np.abs(self.values) > LARGEST).any():
            raise ValueError("decisions have values that no game has")


class Games(NamedTuple):
    """Some games of self-play."""

    made_of: str
    """Hash of the settings, of the code and of the game (see `SelfPlay.made_of`)."""
    version: int
    """Of the weights that they were played with."""
    first: int
    """The number of the first of them in the whole training."""
    num_games: int
    """How many."""
    steps: int
    """Decisions that were made in them, those without a choice and those that nothing is learnt from among them."""
    decisions: Decisions
    """Those that can be learnt from."""


def no_decisions(shape: Shape) -> Decisions:
    """None, as a network of this shape takes them."""
    return Decisions(
        np.zeros((0, shape.observation_size), np.int8), np.zeros(1, np.int64), np.zeros(0, np.int16),
        np.zeros((0, shape.num_action_features), np.int8), np.zeros(0, np.float16),
        np.zeros((0, shape.players), np.float16), np.zeros(0, np.bool_), np.zeros(0, np.float16),
    )  # fmt: skip


def joined(parts: Sequence[Decisions]) -> Decisions:
    """Decisions behind each other; there must be some parts."""
    offsets = np.cumsum([0] + [len(part.action) for part in parts])
    first = np.concatenate([[0], *(part.first[1:] + offset for part, offset in zip(parts, offsets, strict=False))])
    arrays = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in Decisions._fields if name != "first"
    }
    return Decisions(first=first.astype(np.int64), **arrays)
