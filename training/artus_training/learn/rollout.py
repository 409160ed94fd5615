"""The decisions that a rollout of PPO collects, and minibatches of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from artus_agents.network import Shape
from artus_env.engine.compiling.jit import jit
from artus_env.engine.contract.bits import next_action

GROUP = 16
"""Decisions are shuffled in blocks of 16 adjacent rows, which are faster to read; adjacent rows are of different
games."""


class Rollout(NamedTuple):
    """T decisions in each of N games, after the decisions that were carried over from earlier rollouts.

    There are F features, W words of legal actions, A actions, K action features, and P players at most. `rows` is P +
    T: row p holds the carried-over decision of seat p, row P + t the decision of step t.
    """

    num_players: np.ndarray  # (N,), int64
    player: np.ndarray  # the player who decides: (T, N), int8
    learns: np.ndarray  # whether to learn from the decision: (T, N), bool
    reward: np.ndarray  # (T, N, P), float32
    done: np.ndarray  # whether the step ended the game: (T, N), bool
    observation: np.ndarray  # (rows, N, F), int8
    legal: np.ndarray  # bits of the legal actions: (rows, N, W), uint64
    action_features: np.ndarray  # (rows, N, A, K), int8; only those of legal actions are written
    action: np.ndarray  # (rows, N), int64
    logprob: np.ndarray  # log-probability of the action when it was drawn: (rows, N), float32
    value: np.ndarray  # values of the player to move and of the players after it: (rows, N, P), float32
    advantage: np.ndarray  # (rows, N), float32
    returns: np.ndarray  # targets of `value`, NaN where unknown: (rows, N, P), float32
    ready: np.ndarray  # whether a row can be learnt from: (rows, N), bool
    pending: np.ndarray  # row of the decision of each seat that is to be carried over, -1 without one: (P, N), int64
    carried: np.ndarray  # whether a seat has a carried-over decision: (P, N), bool
    carried_reward: np.ndarray  # rewards of the carried-over decision so far: (P, N), float64

    @classmethod
    def of(cls, num_players: np.ndarray, num_steps: int, shape: Shape, words: int) -> Rollout:
        """An empty rollout of `num_steps` decisions in each game."""
        players, games, rows = shape.players, len(num_players), shape.players + num_steps
        features = (shape.num_actions, shape.num_action_features) if shape.num_action_features else (1, 0)
        return cls(
            num_players=num_players,
            player=np.zeros((num_steps, games), np.int8),
            learns=np.zeros((num_steps, games), np.bool_),
            reward=np.zeros((num_steps, games, players), np.float32),
            done=np.zeros((num_steps, games), np.bool_),
            observation=np.zeros((rows, games, shape.observation_size), np.int8),
            legal=np.zeros((rows, games, words), np.uint64),
            action_features=np.zeros((rows, games, *features), np.int8),
            action=np.zeros((rows, games), np.int64),
            logprob=np.zeros((rows, games), np.float32),
            value=np.zeros((rows, games, players), np.float32),
            advantage=np.zeros((rows, games), np.float32),
            returns=np.zeros((rows, games, players), np.float32),
            ready=np.zeros((rows, games), np.bool_),
            pending=np.full((players, games), -1),
            carried=np.zeros((players, games), np.bool_),
            carried_reward=np.zeros((players, games)),
        )

    def carry_over(self) -> None:
        """Move the decisions whose outcome isn't known yet to the first rows."""
        seats, games = np.nonzero(self.pending >= 0)
        for array in (self.observation, self.legal, self.action_features, self.action, self.logprob, self.value):
            array[seats, games] = array[self.pending[seats, games], games]
        self.carried[:] = self.pending >= 0


class Minibatch(NamedTuple):
    """B decisions. Only legal actions are listed, about 20 of hundreds per decision: L for all decisions together,
    decision after decision."""

    observation: torch.Tensor  # (B, F), int8
    action: torch.Tensor  # place of the chosen action among the L: (B,), int64
    old_logprob: torch.Tensor  # log-probability of the chosen action when it was drawn: (B,), float32
    advantage: torch.Tensor  # normalised over the rollout: (B,), float32
    returns: torch.Tensor  # targets of the values, NaN where unknown: (B, P), float32
    variance: float  # variance of the returns of the rollout
    decision: torch.Tensor  # the decision that each legal action belongs to: (L,), int64
    legal: torch.Tensor  # ids of the legal actions: (L,), int64
    action_features: torch.Tensor  # (L, K), int8


@jit
def list_legal(legal, action_features, action, first, place, ids, features):
    """List the legal actions of R decisions one after the other.

    Args:
        legal: shape (R, W), uint64. `action_features`: shape (R, A, K). `action`: shape (R,).
        first: Result: where the actions of each decision begin, shape (R,).
        place: Result: place of the chosen action among the legal ones of its decision, shape (R,).
        ids, features: Results, shapes (total,) and (total, K).
    """
    used = 0
    for i in range(len(legal)):
        first[i] = used
        candidate = next_action(legal[i], -1)
        while candidate >= 0:
            if candidate == action[i]:
                place[i] = used - first[i]
            ids[used] = candidate
            for k in range(features.shape[1]):
                features[used, k] = action_features[i, candidate, k]
            used += 1
            candidate = next_action(legal[i], candidate)


class Decisions:
    """All rows of a rollout as tensors, from which minibatches are taken.

    Args:
        rollout: The rollout, with normalised advantages.
        variance: Variance of its returns.
        device: The device of the tensors. On the CPU most share the memory of the rollout.
    """

    def __init__(self, rollout: Rollout, variance: float, device: torch.device) -> None:
        legal = rollout.legal.reshape(-1, rollout.legal.shape[-1])
        count = np.bitwise_count(legal).sum(1, dtype=np.int64)
        first, place = np.zeros(len(count), np.int64), np.zeros(len(count), np.int64)
        ids = np.empty(count.sum(), np.int64)
        features = np.empty((len(ids), rollout.action_features.shape[-1]), np.int8)
        features_by_action = rollout.action_features.reshape(len(count), *rollout.action_features.shape[2:])
        list_legal(legal, features_by_action, rollout.action.reshape(-1), first, place, ids, features)
        parts = (
            rollout.observation.reshape(len(count), -1), rollout.logprob.reshape(-1), rollout.advantage.reshape(-1),
            rollout.returns.reshape(len(count), -1), count, first, place, ids, features,
        )  # fmt: skip
        self.observation, self.logprob, self.advantage, self.returns, *legal_lists = (
            torch.from_numpy(part).to(device) for part in parts
        )
        self.count, self.first, self.place, self.ids, self.features = legal_lists
        self.variance = variance

    def minibatch(self, rows: torch.Tensor) -> Minibatch:
        """The decisions of these rows, shape (B,), int64."""
        rows = rows.to(self.observation.device)
        observation, old_logprob, advantage, returns, count, first, place = (
            part.index_select(0, rows)
            for part in (
                self.observation, self.logprob, self.advantage, self.returns, self.count, self.first, self.place
            )
        )  # fmt: skip
        begin = count.cumsum(0) - count
        decision = torch.repeat_interleave(torch.arange(len(rows), device=rows.device), count)
        listed = torch.arange(len(decision), device=rows.device) + (first - begin).index_select(0, decision)
        ids, features = self.ids.index_select(0, listed), self.features.index_select(0, listed)
        return Minibatch(
            observation, begin + place, old_logprob, advantage, returns, self.variance, decision, ids, features
        )


def shuffled(rows: np.ndarray, generator: torch.Generator) -> torch.Tensor:
    """Rows in random order, in blocks of `GROUP`: shape (R,), int64."""
    blocks = torch.randperm(-(-len(rows) // GROUP), generator=generator)
    order = (blocks[:, None] * GROUP + torch.arange(GROUP)).reshape(-1)
    return torch.from_numpy(rows)[order[order < len(rows)]]
