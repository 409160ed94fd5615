"""Compiled loops over states, shape (N,): one verb each, and some checks that combine several verbs.

They call verbs directly, never through another function, so that their plain Python (`py_func`) uses the verbs that are
registered at that time.
"""

from __future__ import annotations

import numpy as np

from artus_env.engine.compiling.jit import jit
from artus_env.engine.contract import verbs
from artus_env.engine.contract.bits import next_action
from artus_env.engine.contract.rng import breaks_tie


@jit
def deal(tables, states, which, seeds, num_players, rule_set):
    """Deal the games with the indices `which`: shape (n,), int64; `seeds` has shape (n,), uint64."""
    for k in range(len(which)):
        verbs.deal(tables[0], states[which[k]], seeds[k], np.int64(-1), num_players, rule_set)


@jit
def choose(tables, states, keys, legal, actions):
    """Draw a legal action of each game uniformly, -1 where there is none: shape (N,), int64. `legal` is written, too:
    shape (N, words), uint64."""
    for i in range(len(states)):
        verbs.legal(tables[0], states[i], legal[i])
        actions[i] = -1
        equals = 0
        action = next_action(legal[i], -1)
        while action >= 0:
            equals += 1
            if breaks_tie(keys[i], equals):
                actions[i] = action
            action = next_action(legal[i], action)


@jit
def play(tables, states, actions):
    """Play an action in each game, except where it is -1."""
    for i in range(len(states)):
        if actions[i] >= 0:
            verbs.play(tables[0], states[i], actions[i])


@jit
def resample(tables, states, viewers, seeds):
    """Resample what the viewers (shape (N,), int64) don't know."""
    for i in range(len(states)):
        verbs.resample_hidden(tables[0], states[i], viewers[i], seeds[i])


@jit
def hide(tables, states, viewers):
    """Remove what the viewers don't know."""
    for i in range(len(states)):
        verbs.hide(tables[0], states[i], viewers[i])


@jit
def observe(tables, states, viewers, out):
    """Observations of the viewers: shape (N, F), int8."""
    for i in range(len(states)):
        verbs.observe(tables[0], states[i], viewers[i], out[i])


@jit
def over(tables, states, out):
    """Which games are over: shape (N,), bool."""
    for i in range(len(states)):
        out[i] = verbs.is_over(tables[0], states[i])


@jit
def play_alike(tables, truths, actions, after, states, viewers, keys, legal, played):
    """Play in each state an action that looks to its viewer like the action in the true state.

    That is the same action if the viewer took it or sees it afterwards, else one of the legal actions with the same
    `public_action`, drawn uniformly.

    Args:
        truths, actions, after: True states, the actions played there, and the states that followed.
        states: States in which to play; changed.
        legal: Overwritten with the actions that were legal: shape (N, words), uint64.
        played: Output: the actions, shape (N,), int64; -1 where none was legal, or none was taken in the true state.
    """
    t = tables[0]
    for i in range(len(states)):
        truth, g, taken, viewer = truths[i], states[i], actions[i], viewers[i]
        played[i] = -1
        verbs.legal(t, g, legal[i])
        if taken < 0:
            continue
        revealed = np.int64(truth["player"]) == viewer or verbs.is_revealed(t, truth, taken, viewer, after[i])
        seen = verbs.public_action(t, truth, taken, viewer)
        equals = 0
        action = next_action(legal[i], -1)
        while action >= 0:
            alike = action == taken if revealed else verbs.public_action(t, g, action, viewer) == seen
            if alike:
                equals += 1
                if breaks_tie(keys[i], equals):
                    played[i] = action
            action = next_action(legal[i], action)
        if played[i] >= 0:
            verbs.play(t, g, played[i])


@jit
def follow_secrets(tables, before, actions, after, legal, secrets, secret_actions, opened):
    """Track choices that players haven't seen.

    Args:
        before, actions, after: States, the actions played there, and the states that followed.
        legal: Legal actions of `before`: shape (N, words), uint64.
        secrets, secret_actions: The last choice that each player hasn't seen: the state before it, and the action, -1
            if there is none; shape (N, players). Updated.
        opened: Output: whether this action has revealed that choice, shape (N, players), bool.
    """
    t = tables[0]
    for i in range(len(before)):
        taken = actions[i]
        for viewer in range(secrets.shape[1]):
            old = secret_actions[i, viewer]
            opened[i, viewer] = old >= 0 and verbs.is_revealed(t, secrets[i, viewer], old, viewer, after[i])
            if opened[i, viewer]:
                secret_actions[i, viewer] = -1
            if taken < 0 or viewer == np.int64(before[i]["player"]):
                continue
            seen = verbs.public_action(t, before[i], taken, viewer)
            hidden = seen != taken
            action = next_action(legal[i], -1)
            while action >= 0 and not hidden:
                hidden = action != taken and verbs.public_action(t, before[i], action, viewer) == seen
                action = next_action(legal[i], action)
            if hidden and not verbs.is_revealed(t, before[i], taken, viewer, after[i]):
                secrets[i, viewer] = before[i]
                secret_actions[i, viewer] = taken


@jit
def first_differences(tables, states, others, viewers, legal, public, points, greedy):
    """Find the first legal action for which verbs give the viewer different results in two states, -1 if there is none.

    Args:
        states, others: shape (N,).
        legal: Legal actions of `states`: shape (N, words), uint64.
        public: Output: that action for `public_action`, where the viewer isn't to move.
        points, greedy: Output: that action for `points_of` and `greedy_value`, where the viewer is to move.
    """
    t = tables[0]
    for i in range(len(states)):
        g, other, viewer = states[i], others[i], viewers[i]
        public[i], points[i], greedy[i] = -1, -1, -1
        moves = np.int64(g["player"]) == viewer
        action = next_action(legal[i], -1)
        while action >= 0:
            if moves:
                if points[i] < 0 and verbs.points_of(t, g, action) != verbs.points_of(t, other, action):
                    points[i] = action
                if greedy[i] < 0 and verbs.greedy_value(t, g, action) != verbs.greedy_value(t, other, action):
                    greedy[i] = action
            elif public[i] < 0 and verbs.public_action(t, g, action, viewer) != verbs.public_action(
                t, other, action, viewer
            ):
                public[i] = action
            action = next_action(legal[i], action)


@jit
def ranks(tables, states, out):
    """Ranking keys of the players: shape (N, players), int64."""
    for i in range(len(states)):
        for player in range(out.shape[1]):
            out[i, player] = verbs.ranking_key(tables[0], states[i], player)
