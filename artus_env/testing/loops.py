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
    """Draw a legal action of each game uniformly.

    Args:
        keys: Random bits for each game: shape (N,), uint64.
        legal: Output: the legal actions, shape (N, words), uint64.
        actions: Output: the drawn actions, shape (N,), int64; -1 where there is none.
    """
    for i in range(len(states)):
        verbs.legal(tables[0], states[i], legal[i])
        actions[i] = -1
        num_equal = 0
        action = next_action(legal[i], -1)
        while action >= 0:
            num_equal += 1
            if breaks_tie(keys[i], num_equal):
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
    """Write the observations of the viewers: shape (N, F), int8."""
    for i in range(len(states)):
        verbs.observe(tables[0], states[i], viewers[i], out[i])


@jit
def over(tables, states, out):
    """Write which games are over: shape (N,), bool."""
    for i in range(len(states)):
        out[i] = verbs.is_over(tables[0], states[i])


@jit
def play_alike(tables, truths, actions, states_after, states, viewers, keys, legal, played_actions):
    """Play in each state an action that looks to its viewer like the action in the true state.

    That is the same action if the viewer took it or sees it afterwards, else one of the legal actions with the same
    `public_action`, drawn uniformly.

    Args:
        truths, actions, states_after: True states, the actions played there, and the states that followed.
        states: States in which to play; changed.
        legal: Overwritten with the actions that were legal: shape (N, words), uint64.
        played_actions: Output: the actions, shape (N,), int64; -1 where none was legal, or none was taken in the true
            state.
    """
    t = tables[0]
    for i in range(len(states)):
        truth, g, taken_action, viewer = truths[i], states[i], actions[i], viewers[i]
        played_actions[i] = -1
        verbs.legal(t, g, legal[i])
        if taken_action < 0:
            continue
        is_revealed = np.int64(truth["player"]) == viewer or verbs.is_revealed(
            t, truth, taken_action, viewer, states_after[i]
        )
        visible_id = verbs.public_action(t, truth, taken_action, viewer)
        num_equal = 0
        action = next_action(legal[i], -1)
        while action >= 0:
            looks_alike = (
                action == taken_action if is_revealed else verbs.public_action(t, g, action, viewer) == visible_id
            )
            if looks_alike:
                num_equal += 1
                if breaks_tie(keys[i], num_equal):
                    played_actions[i] = action
            action = next_action(legal[i], action)
        if played_actions[i] >= 0:
            verbs.play(t, g, played_actions[i])


@jit
def follow_secrets(tables, before, actions, states_after, legal, secrets, secret_actions, reveals_secret):
    """Track choices that players haven't seen.

    Args:
        before, actions, states_after: States, the actions played there, and the states that followed.
        legal: Legal actions of `before`: shape (N, words), uint64.
        secrets, secret_actions: The last choice that each player hasn't seen: the state before it, and the action, -1
            if there is none; shape (N, players). Updated.
        reveals_secret: Output: whether this action has revealed that choice, shape (N, players), bool.
    """
    t = tables[0]
    for i in range(len(before)):
        taken_action = actions[i]
        for viewer in range(secrets.shape[1]):
            secret_action = secret_actions[i, viewer]
            reveals_secret[i, viewer] = secret_action >= 0 and verbs.is_revealed(
                t, secrets[i, viewer], secret_action, viewer, states_after[i]
            )
            if reveals_secret[i, viewer]:
                secret_actions[i, viewer] = -1
            if taken_action < 0 or viewer == np.int64(before[i]["player"]):
                continue
            visible_id = verbs.public_action(t, before[i], taken_action, viewer)
            is_hidden = visible_id != taken_action
            action = next_action(legal[i], -1)
            while action >= 0 and not is_hidden:
                is_hidden = action != taken_action and verbs.public_action(t, before[i], action, viewer) == visible_id
                action = next_action(legal[i], action)
            if is_hidden and not verbs.is_revealed(t, before[i], taken_action, viewer, states_after[i]):
                secrets[i, viewer] = before[i]
                secret_actions[i, viewer] = taken_action


@jit
def first_differences(tables, states, other_states, viewers, legal, public, points, greedy):
    """Find the first legal action for which verbs give the viewer different results in two states, -1 if there is none.

    Args:
        states, other_states: shape (N,).
        legal: Legal actions of `states`: shape (N, words), uint64.
        public: Output: that action for `public_action`, where the viewer isn't to move.
        points, greedy: Output: that action for `points_of` and `greedy_value`, where the viewer is to move.
    """
    t = tables[0]
    for i in range(len(states)):
        g, other_g, viewer = states[i], other_states[i], viewers[i]
        public[i], points[i], greedy[i] = -1, -1, -1
        is_to_move = np.int64(g["player"]) == viewer
        action = next_action(legal[i], -1)
        while action >= 0:
            if is_to_move:
                if points[i] < 0 and verbs.points_of(t, g, action) != verbs.points_of(t, other_g, action):
                    points[i] = action
                if greedy[i] < 0 and verbs.greedy_value(t, g, action) != verbs.greedy_value(t, other_g, action):
                    greedy[i] = action
            elif public[i] < 0 and verbs.public_action(t, g, action, viewer) != verbs.public_action(
                t, other_g, action, viewer
            ):
                public[i] = action
            action = next_action(legal[i], action)


@jit
def ranks(tables, states, out):
    """Write the ranking keys of the players: shape (N, players), int64."""
    for i in range(len(states)):
        for player in range(out.shape[1]):
            out[i, player] = verbs.ranking_key(tables[0], states[i], player)
