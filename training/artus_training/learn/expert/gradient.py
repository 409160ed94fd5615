"""The gradient of the loss with respect to what the network says. Its closed form needs the legal actions alone.

The loss of a decision is its weight times the cross-entropy of the policy that it should have had, and the squared
error of the values.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from artus_agents.policy import SCALE, softmax
from artus_env.engine.compiling.arrays import borrow
from artus_env.engine.compiling.jit import jit


class Targets(NamedTuple):
    """Policies that the network should have had: see `games.Decisions`, whose float16 compiled code doesn't know."""

    first: np.ndarray
    """shape (R + 1,), int64."""
    action: np.ndarray
    """shape (M,), int16."""
    action_features: np.ndarray
    """shape (M, K), int8."""
    policy: np.ndarray
    """shape (M,), float32."""
    searched: np.ndarray
    """shape (R,), bool."""


@jit
def cross_entropy_gradient(logits, gates, rows, targets, weights, by_logits, by_gates, sums):
    """Write the gradient with respect to logits and gates; add up what the network says of the decisions.

    Args:
        logits, gates: What the network says of decisions `rows`: shapes (B, A) and (B, K), float32.
        rows: shape (B,), int64.
        targets: See `Targets`.
        weights: Of each of the B decisions: shape (B,), float32.
        by_logits, by_gates: Results, of the shapes of logits and gates.
        sums: Added to, shape (2, 3), float64. Row 0 is for decisions that are anchored, row 1 for those that were
            searched: how many they are, their KL divergence of the network from the policy that they should have had,
            and how many of both like the same action best.
    """
    logits, gates, by_logits, by_gates = borrow(logits), borrow(gates), borrow(by_logits), borrow(by_gates)
    action_features, actions, policy = borrow(targets.action_features), borrow(targets.action), borrow(targets.policy)
    first = targets.first
    probs = np.empty(logits.shape[1], np.float32)
    for i in range(len(rows)):
        row = rows[i]
        low = first[row]
        count = first[row + 1] - low
        liked = wanted = 0
        for j in range(count):
            value = logits[i, actions[low + j]]
            for k in range(gates.shape[1]):
                value += SCALE * gates[i, k] * action_features[low + j, k]
            probs[j] = value
            if value > probs[liked]:
                liked = j
            if policy[low + j] > policy[low + wanted]:
                wanted = j
        logs = probs[:count].copy()
        log_total = softmax(probs, count)
        total = np.float32(0)
        divergence = 0.0
        for j in range(count):
            share = policy[low + j]
            total += share
            if share > 0:
                divergence += share * (math.log(share) - (logs[j] - log_total))
        kind = 1 if targets.searched[row] else 0
        sums[kind, 0] += 1
        sums[kind, 1] += divergence
        sums[kind, 2] += liked == wanted
        by_logits[i] = 0
        by_gates[i] = 0
        for j in range(count):
            slope = weights[i] * (probs[j] * total - policy[low + j])
            by_logits[i, actions[low + j]] = slope
            for k in range(gates.shape[1]):
                by_gates[i, k] += SCALE * slope * action_features[low + j, k]
