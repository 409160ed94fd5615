"""Buffers for the decisions between two updates, and for those carried over to the next rollout."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from artus_agents.network import Shape
from artus_training.learn.ppo.estimate import Carried, Estimates, Steps, estimate
from artus_training.learn.ppo.gradient import Choices
from artus_training.learn.ppo.ranks import ALONE, Ranks


class Decisions(NamedTuple):
    """The collected decisions as tensors, a row for each of R decisions."""

    observation: torch.Tensor
    """shape (R, F), int8."""
    choices: Choices
    """See `Choices`; the advantages are normalised over the decisions that are ready to learn from."""
    target: torch.Tensor
    """Targets of the values, shape (R, P), float32; NaN where one isn't known."""


class Rollout:
    """The buffers for T steps of N games, and for the decisions carried over from earlier ones.

    Args:
        num_players: Players of each game, shape (N,), int64.
        num_steps: T.
        shape: Shape of the network's inputs and outputs; P is its number of players.
        mask_words: Number of 64-bit words for a set of actions.

    Attributes:
        seats: P.
        observation, legal, action_features, action, log_prob, value, advantage, target, ready: Arrays of decisions.
            Rows 0..P-1 are the carried-over ones, row p of seat p; row P + t is step t. Shapes (P + T, N, ...).
        mover, learns, reward, done: Arrays of steps, shapes (T, N, ...); see `Steps`.
        carried, carried_reward: See `Carried`.
        pending: See `Estimates`.
    """

    def __init__(self, num_players: np.ndarray, num_steps: int, shape: Shape, mask_words: int) -> None:
        self.seats = seats = shape.players
        games, rows = len(num_players), seats + num_steps
        told = (shape.num_actions, shape.num_action_features) if shape.num_action_features else (1, 0)
        self.num_players = num_players
        self.observation = np.zeros((rows, games, shape.observation_size), np.int8)
        self.legal = np.zeros((rows, games, mask_words), np.uint64)
        self.action_features = np.zeros((rows, games, *told), np.int8)
        self.action = np.zeros((rows, games), np.int64)
        self.log_prob = np.zeros((rows, games), np.float32)
        self.value = np.zeros((rows, games, seats), np.float32)
        self.mover = np.zeros((num_steps, games), np.int8)
        self.learns = np.zeros((num_steps, games), np.bool_)
        self.reward = np.zeros((num_steps, games, seats), np.float32)
        self.done = np.zeros((num_steps, games), np.bool_)
        self.advantage = np.zeros((rows, games), np.float32)
        self.target = np.zeros((rows, games, seats), np.float32)
        self.ready = np.zeros((rows, games), np.bool_)
        self.pending = np.full((seats, games), -1)
        self.carried = np.zeros((seats, games), np.bool_)
        self.carried_reward = np.zeros((seats, games))

    def estimate(self, gamma: float, gae_lambda: float) -> None:
        """Estimate advantages and value targets after all steps are played."""
        steps = Steps(self.num_players, self.mover, self.learns, self.reward, self.done, self.value)
        carried = Carried(self.carried, self.carried_reward)
        estimate(steps, carried, gamma, gae_lambda, Estimates(self.advantage, self.target, self.ready, self.pending))

    def decisions(self, device: torch.device, ranks: Ranks = ALONE) -> Decisions:
        """Return all rows in the order of `ready.reshape(-1)`. On the CPU most share the memory of the buffers.

        Args:
            device: The device of the tensors.
            ranks: Processes whose advantages are normalised together.
        """
        mean, variance = ranks.mean_and_variance(self.advantage[self.ready])
        advantage = (self.advantage - mean) / (np.sqrt(variance) + 1e-8)

        def rows(part: np.ndarray) -> torch.Tensor:
            return torch.from_numpy(part.reshape(self.ready.size, *part.shape[2:])).to(device)

        choices = (self.legal.view(np.int64), self.action_features, self.action, self.log_prob, advantage)
        return Decisions(rows(self.observation), Choices(*map(rows, choices)), rows(self.target))

    def carry_over(self) -> None:
        """Move the decisions whose outcome isn't known yet to the first rows."""
        seats, games = np.nonzero(self.pending >= 0)
        rows = self.pending[seats, games]
        for part in (self.observation, self.legal, self.action_features, self.action, self.log_prob, self.value):
            part[seats, games] = part[rows, games]
        self.carried = self.pending >= 0

    def kept(self) -> dict[str, np.ndarray]:
        """The arrays that are kept from one rollout to the next, by name."""
        names = ("observation", "legal", "action_features", "action", "log_prob", "value", "carried", "carried_reward")
        return {name: getattr(self, name)[: self.seats] for name in names}
