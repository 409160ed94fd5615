"""Compiled loops between the game and a policy network: the features of each action, and the choice of an action.

A network sees the position as numbers and would have to learn the effect of every action. *Action features* give it
directly: a few numbers for each legal action, computed by the game's verb `action_features`, such as its immediate
points. The player to move knows all of them.
"""

from __future__ import annotations

import math

import numpy as np

from artus_env.engine.compiling.arrays import borrow
from artus_env.engine.compiling.jit import jit
from artus_env.engine.compiling.threads import jit_shared
from artus_env.engine.contract import verbs
from artus_env.engine.contract.bits import next_action

SCALE = np.float32(0.1)
"""A gate is a weight for ten units of a feature, so that gates are about as large as the network's other outputs."""


@jit_shared
def action_features(tables, states, legal, scratch, out, low, high, share=0):
    """Write the action features of every legal action: shape (n, A, K), int8. Entries of other actions stay unchanged.

    `scratch`, two games for each share, is overwritten. States may be concealed: hidden information isn't read.
    """
    tables, states, legal, scratch, out = borrow(tables), borrow(states), borrow(legal), borrow(scratch), borrow(out)
    for i in range(low, high):
        verbs.action_features(tables[0], states[i], legal[i], scratch[share], out[i])


@jit
def legal_logits(logits, gates, legal, features, ids, values):
    """Write the `ids` of the legal actions of one game, and as `values` their logits, which include the action
    features. Returns the number of legal actions."""
    count = 0
    action = next_action(legal, -1)
    while action >= 0:
        logit = logits[action]
        for k in range(len(gates)):
            logit += SCALE * gates[k] * features[action, k]
        ids[count] = action
        values[count] = logit
        count += 1
        action = next_action(legal, action)
    return count


@jit
def softmax(values, count):
    """Turn the first `count` logits into probabilities, in place. Returns the logarithm of the sum of their
    exponentials."""
    highest = values[0]
    for j in range(1, count):
        highest = max(highest, values[j])
    total = np.float32(0)
    for j in range(count):
        values[j] = math.exp(values[j] - highest)
        total += values[j]
    for j in range(count):
        values[j] /= total
    return highest + np.float32(math.log(total))


@jit_shared
def choose(logits, gates, legal, features, bits, sample, actions, log_probs, low, high):
    """Choose actions for games low..high-1: drawn with the network's probabilities, or the likeliest ones. Also write
    their log-probabilities.

    Args:
        logits: shape (n, A), float32.
        gates: Weight of ten units of each action feature in a logit: shape (n, K), float32; K = 0: no action features.
        legal: shape (n, W), uint64.
        features: Action features, shape (n, A, K), int8, or anything of that rank where K = 0.
        bits: 64 random bits for each game, shape (n,), uint64.
        sample: Whether to draw the actions.
        actions, log_probs: Outputs: shape (n,), int64 and float32.
    """
    logits, gates, legal, features = borrow(logits), borrow(gates), borrow(legal), borrow(features)
    ids = np.empty(logits.shape[1], np.int64)
    values = np.empty(logits.shape[1], np.float32)
    for i in range(low, high):
        count = legal_logits(logits[i], gates[i], legal[i], features[i], ids, values)
        if count == 0:  # the game is over
            actions[i], log_probs[i] = -1, 0
            continue
        softmax(values, count)
        chosen = 0
        if sample:  # the inverse of the cumulative distribution: one random number a game
            remaining = np.float32(bits[i] >> np.uint64(40)) * np.float32(2**-24)
            chosen = count - 1
            for j in range(count - 1):
                remaining -= values[j]
                if remaining < 0:
                    chosen = j
                    break
            while values[chosen] == 0:  # rounding has led to an action of probability 0
                chosen -= 1
        else:
            for j in range(1, count):
                if values[j] > values[chosen]:
                    chosen = j
        actions[i] = ids[chosen]
        log_probs[i] = math.log(values[chosen])
