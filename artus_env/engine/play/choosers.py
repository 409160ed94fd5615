"""Ways of choosing actions in compiled code, and loops in which agents that choose this way play without Python.

An agent whose class has an attribute `chooser`, one of the numbers below, plays in these loops as its `act` would.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from artus_env.engine.compiling.arrays import borrow
from artus_env.engine.compiling.jit import jit
from artus_env.engine.compiling.threads import jit_shared
from artus_env.engine.contract import verbs
from artus_env.engine.contract.bits import next_action
from artus_env.engine.contract.rng import breaks_tie, following, random_bits
from artus_env.engine.play.kernels import borrowed, choose, is_legal, move, write_mask
from artus_env.engine.play.rewards import ILLEGAL_REWARD

UNIFORM, APPEALING = range(2)
"""`UNIFORM`: any legal action, all with the same probability. `APPEALING`: the action with the highest `greedy_value`,
as far as the player to move knows."""
NO_ACTION = -1


def chooser_of(agent: Any) -> int | None:
    """Chooser of an agent, None if only its `act` can choose. An inherited attribute doesn't count: the class may act
    differently."""
    chooser: int | None = vars(type(agent)).get("chooser")
    return chooser


@jit
def most_appealing(t, g, legal, bits):
    """The action with the highest `greedy_value`, ties broken by 64 random bits."""
    best_value, best_action, num_equal = -1_000_000, NO_ACTION, 0
    action = next_action(legal, -1)
    while action >= 0:
        value = verbs.greedy_value(t, g, action)
        if value > best_value:
            best_value, best_action, num_equal = value, action, 1
        elif value == best_value:
            num_equal += 1
            if breaks_tie(bits, num_equal):
                best_action = action
        action = next_action(legal, action)
    return best_action


@jit
def chosen_action(t, g, legal, chooser, bits, known_state):
    """Return the action that a chooser plays; `known_state` is memory for one state: shape (1,)."""
    if chooser == UNIFORM:
        return choose(t, legal, bits)
    known_state[0] = g
    verbs.hide(t, known_state[0], np.int64(g["player"]))
    return most_appealing(t, known_state[0], legal, bits)


@jit
def play_on(
    fields, seats, choosers, keys, pending, ended, acts, actions, which, illegal, paid, last_states, last_actions
):
    """Play an action in each of the games `which`, then the choices of the other seats, until the seat is to move or
    the game is over; then write its observation and mask.

    Args:
        fields: Fields of `Games`.
        seats: The user's seat in each game: shape (N,), int64.
        choosers: Choosers of all seats: shape (N, players), int64; the user's own is ignored. None: all choose
            uniformly, and no other chooser is compiled.
        keys: Keys of the next decisions of other seats: shape (N,), uint64; changed in place.
        pending: Rewards of the seat since its last decision: shape (N,), float64; changed in place.
        ended: Written: which games are over, or have ended by an illegal action: shape (N,), bool.
        acts: Whether the seat plays an action first; else the others begin.
        actions: The seat's actions, legal or not: shape (n,), int64.
        which: Shape (n,), int64.
        illegal: Written: which of the actions are illegal: shape (n,), bool. They end their games: the mask is zeros.
        paid: Written, with an action: the value of `pending` afterwards, which is then set to 0: shape (n,), float64.
        last_states, last_actions: Written, for pictures: the state before the last move of each game, and this move:
            shape (N,), the state dtype and int64. None: moves aren't recorded.
    """
    games = borrowed(fields)
    t = games.tables[0]
    if choosers is not None:
        seat_choosers, known_state = borrow(choosers), np.empty_like(games.states[:1])
    for k in range(len(which)):
        i = which[k]
        g, legal, mask, seat, action = games.states[i], games.legal_bits[i], games.mask[i], seats[i], actions[k]
        illegal[k] = acts and not is_legal(legal, action, len(mask))
        if illegal[k]:
            paid[k], pending[i], mask[:] = ILLEGAL_REWARD, 0, 0
            games.done[i] = ended[i] = True
            continue
        over, plays_next = verbs.is_over(t, g), acts
        while True:
            if plays_next:
                if last_actions is not None:
                    last_states[i], last_actions[i] = g, action
                over = move(
                    t, g, action, games.reward_mode, games.reward[i], games.final_scores[i], games.final_outcomes[i]
                )
                pending[i] += games.reward[i, seat]
            verbs.legal(t, g, legal)
            mover = np.int64(g["player"])
            if over or mover == seat:
                break
            bits = random_bits(keys[i], 0)
            if choosers is None:
                action = choose(t, legal, bits)
            else:
                action = chosen_action(t, g, legal, seat_choosers[i, mover], bits, known_state)
            keys[i] = following(keys[i])
            plays_next = True
        games.done[i] = ended[i] = over
        games.player[i] = g["player"]
        write_mask(t, legal, mask)
        verbs.observe(t, g, seat, games.observation[i])
        if acts:
            paid[k], pending[i] = pending[i], 0


@jit_shared
def play_out(fields, choosers, keys, actions, low, high):
    """Play the next decisions of the games `low..high-1`.

    Args:
        fields: Fields of `Games`.
        choosers: Choosers of all seats: shape (N, players), int64.
        keys: Keys of the games' next decisions: shape (N,), uint64; changed in place.
        actions: Written: one row for each decision, shape (decisions, N), int16; `NO_ACTION` after the end of a game.
    """
    games, choosers, actions = borrowed(fields), borrow(choosers), borrow(actions)
    t = games.tables[0]
    known_state = np.empty_like(games.states[:1])
    for i in range(low, high):
        g, legal = games.states[i], games.legal_bits[i]
        over = verbs.is_over(t, g)
        for k in range(len(actions)):
            actions[k, i] = NO_ACTION
            if over:
                continue
            verbs.legal(t, g, legal)
            chooser = choosers[i, np.int64(g["player"])]
            action = chosen_action(t, g, legal, chooser, random_bits(keys[i], 0), known_state)
            keys[i] = following(keys[i])
            actions[k, i] = action
            over = move(
                t, g, action, games.reward_mode, games.reward[i], games.final_scores[i], games.final_outcomes[i]
            )
        games.done[i] = over
