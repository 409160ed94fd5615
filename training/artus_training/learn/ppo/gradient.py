"""The gradient of the policy's loss, for the network's logits and gates.

loss = mean(-min(ratio * advantage, clipped ratio * advantage) - entropy weight * entropy). Its gradient with respect to
the logits has a closed form, so autograd is needed only for the network. Of hundreds of actions about 20 are legal: on
the CPU a compiled loop over those is 10 times as fast as whole rows in torch.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import torch

from artus_agents.policy import SCALE, legal_logits, softmax
from artus_env.engine.compiling.arrays import borrow
from artus_env.engine.compiling.threads import jit_shared


class Choices(NamedTuple):
    """Inputs of the policy's loss, a row for each of R decisions: arrays, or tensors on the network's device."""

    legal: Any
    """Bits of the legal actions, shape (R, words): uint64 in arrays, int64 with the same bits in tensors."""
    action_features: Any
    """shape (R, A, K), int8; without action features (R, 1, 0)."""
    action: Any
    """The chosen action, shape (R,), int64."""
    log_prob: Any
    """Its log-probability when it was drawn, shape (R,), float32."""
    advantage: Any
    """shape (R,), float32."""


class Policy(NamedTuple):
    """The policy's part of the network output for B decisions, or the gradient of the loss with respect to it."""

    logits: Any
    """shape (B, A), float32."""
    gates: Any
    """shape (B, K), float32; K is 0 without action features."""


@jit_shared
def policy_gradient(policy, rows, choices, count, clip, entropy_weight, gradient, sums, low, high, share=0):
    """Write the gradient of the loss, and add to `sums`: entropy, KL divergence, clipped decisions.

    Decision i of the minibatch is decision `rows[i]` of those collected: copying these first would take as long as the
    computation.

    Args:
        policy: See `Policy`, of B decisions.
        rows: shape (B,), int64.
        choices: See `Choices`, of all decisions collected.
        count: Number of decisions in the mean: B, or more if other processes have a part of the minibatch.
        clip, entropy_weight: As in the settings.
        gradient: Results for decisions low..high-1.
        sums: shape (shares, 3 or more), float64; the sums are added to row `share`.
    """
    logits, gates = borrow(policy.logits), borrow(policy.gates)
    legal, action_features = borrow(choices.legal), borrow(choices.action_features)
    actions, old_log_probs, advantages = choices.action, choices.log_prob, choices.advantage
    by_logits, by_gates = borrow(gradient.logits), borrow(gradient.gates)
    ids = np.empty(logits.shape[1], np.int64)
    values = np.empty(logits.shape[1], np.float32)
    probs = np.empty(logits.shape[1], np.float32)
    part = np.float32(1 / count)
    for i in range(low, high):
        row = rows[i]
        count = legal_logits(logits[i], gates[i], legal[row], action_features[row], ids, values)
        probs[:count] = values[:count]
        log_total = softmax(probs, count)
        entropy = np.float32(0)
        chosen = 0
        for j in range(count):
            values[j] -= log_total  # log-probability
            entropy -= probs[j] * values[j]
            if ids[j] == actions[row]:
                chosen = j
        log_ratio = values[chosen] - old_log_probs[row]
        ratio = np.float32(math.exp(log_ratio))
        advantage = advantages[row]
        moves = ratio < 1 + clip if advantage > 0 else ratio > 1 - clip
        weight = advantage * ratio * part if moves else np.float32(0)
        sums[share, 0] += entropy
        sums[share, 1] += ratio - 1 - log_ratio
        sums[share, 2] += not moves
        by_logits[i] = 0
        by_gates[i] = 0
        for j in range(count):
            slope = probs[j] * (weight + entropy_weight * part * (values[j] + entropy))
            if j == chosen:
                slope -= weight
            by_logits[i, ids[j]] = slope
            for k in range(by_gates.shape[1]):
                by_gates[i, k] += SCALE * slope * action_features[row, ids[j], k]


def policy_gradient_torch(
    policy: Policy, choices: Choices, count: int, clip: float, entropy_weight: float
) -> tuple[Policy, torch.Tensor]:
    """`policy_gradient` in torch, for other devices: the gradient, and the three sums.

    `choices` has only the decisions of the minibatch.
    """
    (logits, gates), (legal, action_features, actions, old_log_probs, advantages) = policy, choices
    index = torch.arange(logits.shape[1], device=logits.device)
    mask = (legal[:, index // 64] >> (index % 64)) & 1 == 1
    if gates.shape[1]:
        known = torch.where(mask[:, :, None], action_features, 0)  # rows of illegal actions hold old data
        num_action_features = float(SCALE) * known.float()
        logits = logits + (num_action_features * gates[:, None, :]).sum(2)
    log_probs = torch.log_softmax(logits.masked_fill(~mask, -1e9), dim=1)
    probs = log_probs.exp()
    entropy = -(probs * log_probs).sum(1, keepdim=True)
    log_ratio = log_probs.gather(1, actions[:, None])[:, 0] - old_log_probs
    ratio = log_ratio.exp()
    moves = torch.where(advantages > 0, ratio < 1 + clip, ratio > 1 - clip)
    weight = torch.where(moves, advantages * ratio, 0)[:, None] / count
    by_logits = probs * (weight + entropy_weight / count * (log_probs + entropy))
    by_logits.scatter_add_(1, actions[:, None], -weight)
    by_gates = (by_logits[:, :, None] * num_action_features).sum(1) if gates.shape[1] else torch.zeros_like(gates)
    sums = torch.stack([entropy.sum(), (ratio - 1 - log_ratio).sum(), (~moves).sum()])
    return Policy(by_logits, by_gates), sums
