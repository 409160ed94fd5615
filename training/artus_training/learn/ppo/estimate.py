"""Generalised advantage estimation, seat by seat."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from artus_env.engine.compiling.jit import jit


class Steps(NamedTuple):
    """Data of T steps of N games. P is the most players that the game allows."""

    num_players: np.ndarray
    """shape (N,), int64."""
    mover: np.ndarray
    """The player who decides, shape (T, N), int8."""
    learns: np.ndarray
    """Whether to learn from the decision, shape (T, N), bool."""
    reward: np.ndarray
    """shape (T, N, P), float32."""
    done: np.ndarray
    """Whether the step ended the game, shape (T, N), bool."""
    value: np.ndarray
    """Values at the carried-over decisions and at the steps, for the mover and the players after them: shape
    (P + T, N, P), float32."""


class Carried(NamedTuple):
    """The decisions carried over from earlier rollouts, one for each seat."""

    there: np.ndarray
    """Whether the seat has one, shape (P, N), bool."""
    reward: np.ndarray
    """Sum of its rewards so far, shape (P, N), float64."""


class Estimates(NamedTuple):
    """The results. Rows 0..P-1 are the carried-over decisions, row p of seat p; row P + t is step t."""

    advantage: np.ndarray
    """shape (P + T, N), float32."""
    target: np.ndarray
    """Target of each value, shape (P + T, N, P), float32; NaN where it isn't known."""
    ready: np.ndarray
    """Whether a row can be learnt from, shape (P + T, N), bool."""
    pending: np.ndarray
    """Row of each seat's decision to carry over, -1: none; shape (P, N), int64."""


@jit
def estimate(steps, carried, gamma, gae_lambda, estimates):
    """Write the estimates of a rollout.

    A seat's trajectory is the sequence of its own decisions. All rewards of a seat between two of its decisions, also
    for moves of other players, are credited to the first one; the bootstrap is the value at the second one, or 0 if the
    game has ended. A decision whose seat hasn't moved again yet is not ready: it is carried over to the next rollout,
    so that each decision is used exactly once.

    Args:
        steps: See `Steps`.
        carried: See `Carried`; its rewards are overwritten by those of the decisions now pending.
        gamma, gae_lambda: As in the settings.
        estimates: Results, see `Estimates`.
    """
    num_players, mover, learns, reward, done, value = steps
    carried_there, carried_reward = carried
    advantage, target, ready, pending = estimates
    count, games, seats = reward.shape
    ahead_value, ahead_return, ahead_advantage = np.zeros(seats), np.zeros(seats), np.zeros(seats)
    paid, known = np.zeros(seats), np.zeros(seats, np.bool_)
    for n in range(games):
        players = num_players[n]
        paid[:] = 0
        known[:] = False
        pending[:, n] = -1
        still_open = np.zeros(seats)
        for t in range(count - 1, -1, -1):
            row = seats + t
            if done[t, n]:
                known[:] = True
                ahead_value[:], ahead_return[:], ahead_advantage[:], paid[:] = 0, 0, 0, 0
            for seat in range(players):
                paid[seat] += reward[t, n, seat]
            ready[row, n] = False
            if not learns[t, n]:
                continue
            me = int(mover[t, n])
            own = value[row, n, 0]
            target[row, n] = np.nan
            if known[me]:
                delta = paid[me] + gamma * ahead_value[me] - own
                ahead_advantage[me] = delta + gamma * gae_lambda * ahead_advantage[me]
                ahead_return[me] = ahead_advantage[me] + own
                advantage[row, n] = ahead_advantage[me]
                target[row, n, 0] = ahead_return[me]
                ready[row, n] = True
                for seat in range(players):
                    if seat != me and known[seat]:
                        target[row, n, (seat - me + players) % players] = paid[seat] + gamma * ahead_return[seat]
            else:
                pending[me, n] = row
                still_open[me] = paid[me]
                ahead_advantage[me] = 0
                ahead_return[me] = own
            ahead_value[me] = own
            paid[me] = 0
            known[me] = True
        for seat in range(players):
            ready[seat, n] = False
            if carried_there[seat, n]:
                total = carried_reward[seat, n] + paid[seat]
                own = value[seat, n, 0]
                target[seat, n] = np.nan
                if known[seat]:
                    delta = total + gamma * ahead_value[seat] - own
                    advantage[seat, n] = delta + gamma * gae_lambda * ahead_advantage[seat]
                    target[seat, n, 0] = advantage[seat, n] + own
                    ready[seat, n] = True
                else:
                    pending[seat, n] = seat
                    still_open[seat] = total
            carried_reward[seat, n] = still_open[seat]
