"""Exact solution of the last few decisions, once no player has hidden information (`perfect_information_horizon` of
`artus_env.engine.contract.verbs`). Compiled; contains no rules.

Each player maximizes their own lead over the best of the others. With two players, one wins what the other loses, so
alpha-beta pruning applies; with more players, all lines are searched.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from artus_env.agents import View
from artus_env.engine.compiling.arrays import borrow
from artus_env.engine.compiling.jit import jit
from artus_env.engine.compiling.threads import jit_shared, run_shares, shares, threads_for
from artus_env.engine.contract.bits import next_action
from artus_env.engine.contract.verbs import (
    is_over,
    mask_words,
    perfect_information_horizon,
    play,
    points_of,
    ranking_key,
)
from artus_env.engine.contract.verbs import legal as write_legal

HORIZON_TWO, HORIZON_MORE = 4, 3
"""Maximum number of decisions left for a game to be solved, with two players and with more."""
MAX_HORIZON = 6
"""Largest horizon that the buffers allow."""
MAX_TRIED = 100_000
"""Maximum number of actions tried for one decision, not counting the last action of each line. Beyond that the search
gives up."""
ROWS = MAX_HORIZON + 1
GAMES_PER_THREAD = 64


class Buffers(NamedTuple):
    """Buffers of a search: a row for each decision on the current line."""

    games: np.ndarray
    """Shape (ROWS,), the state dtype."""
    words: np.ndarray
    """Legal actions: shape (ROWS, W), uint64."""
    actions: np.ndarray
    """Ids of the legal actions, most points first: shape (ROWS, A), int64."""
    points: np.ndarray
    """Immediate points of these actions: shape (ROWS, A), int64."""
    counts: np.ndarray
    """For each row the number of actions, the number of tried actions, and the best action so far: shape (3, ROWS),
    int64."""
    leads: np.ndarray
    """Each player's lead after the best action so far: shape (ROWS, players), float64."""
    floors: np.ndarray
    """Lead that each player has already secured by earlier decisions of the line: shape (ROWS, players), float64."""


def open_games(view: View) -> np.ndarray:
    """Whether each game of a view has perfect information from here to its end: shape (n,), bool."""
    horizons = np.empty(len(view), np.int64)
    write_horizons(view.tables, view.known(), horizons)
    return horizons >= 0


def solved(view: View) -> np.ndarray:
    """The best action of each game of a view, -1 for games that can't be solved: shape (n,), int64."""
    actions = np.full(len(view), -1)
    if open_games(view).any():
        states = view.redeal(view.keys)  # the true states, but only where nothing is hidden
        bounds = shares(len(view), threads_for(len(view), GAMES_PER_THREAD))
        run_shares(solve_all, (view.tables, states, HORIZON_TWO, HORIZON_MORE, actions), bounds)
    return actions


@jit
def write_horizons(tables, states, horizons):
    """Write into `horizons` the largest possible number of remaining decisions of each game, -1 if something is still
    hidden or random (see `perfect_information_horizon`): shape (n,), int64. States may be concealed."""
    tables, states = borrow(tables), borrow(states)
    for i in range(len(horizons)):
        horizons[i] = perfect_information_horizon(tables[0], states[i])


@jit_shared
def solve_all(tables, states, horizon_two, horizon_more, actions, low, high):
    """Write the best action of each game that `is_near` its end: shape (n,), int64; other games' stay unchanged."""
    tables, states = borrow(tables), borrow(states)
    t = tables[0]
    buffers = allocate_buffers(t, states)
    for i in range(low, high):
        if is_near(t, states[i], horizon_two, horizon_more):
            actions[i] = solve(t, states[i], buffers)


@jit
def allocate_buffers(t, games):
    """Allocate buffers for games like these: shape (n,), the state dtype."""
    words, players = mask_words(t), games[0]["scores"].shape[0]
    return Buffers(
        np.empty(ROWS, games.dtype),
        np.empty((ROWS, words), np.uint64),
        np.empty((ROWS, 64 * words), np.int64),
        np.empty((ROWS, 64 * words), np.int64),
        np.empty((3, ROWS), np.int64),
        np.empty((ROWS, players)),
        np.empty((ROWS, players)),
    )


@jit
def is_near(t, g, horizon_two, horizon_more):
    """Whether the game can be solved: at most `horizon_two` decisions are left with two players, at most `horizon_more`
    with more players."""
    horizon = perfect_information_horizon(t, g)
    return horizon > 0 and horizon <= (horizon_two if int(g["num_players"]) == 2 else horizon_more)


@jit
def solve(t, g, buffers):
    """The best action in a position that `is_near` the end, -1 if there are too many lines."""
    games, actions = borrow(buffers.games), borrow(buffers.actions)
    leads, floors = borrow(buffers.leads), borrow(buffers.floors)
    counts, tried, best = buffers.counts[0], buffers.counts[1], buffers.counts[2]
    players = np.int64(g["num_players"])
    games[0] = g
    for player in range(players):
        floors[0, player] = -math.inf
    row, num_tried = enter(t, np.int64(0), buffers), np.int64(0)
    while True:
        mover = int(games[row]["player"])
        is_cut_off = players == 2 and leads[row, mover] >= -floors[row, 1 - mover]
        if tried[row] < counts[row] and not is_cut_off:
            action = next_best(buffers, row)
            games[row + 1] = games[row]
            play(t, games[row + 1], action)
            for player in range(players):
                floors[row + 1, player] = floors[row, player]
            floors[row + 1, mover] = max(floors[row, mover], leads[row, mover])
            row = enter(t, row + 1, buffers)
            num_tried += counts[row]
            if num_tried > MAX_TRIED:
                return -1
        elif row == 0:
            return best[0]
        else:  # this row's result is the value of the action that led to it
            row -= 1
            mover = int(games[row]["player"])
            if leads[row + 1, mover] > leads[row, mover]:
                best[row] = actions[row, tried[row] - 1]
                for player in range(players):
                    leads[row, player] = leads[row + 1, player]


@jit
def enter(t, row, buffers):
    """Initialize a row for its position, with no actions to try if the game is over or only one decision is left.
    Returns the row."""
    g = buffers.games[row]
    players = np.int64(g["num_players"])
    buffers.counts[0, row], buffers.counts[1, row], buffers.counts[2, row] = 0, 0, -1
    if is_over(t, g):
        write_leads(t, g, buffers.leads[row])
        return row
    for player in range(players):
        buffers.leads[row, player] = -math.inf
    write_legal(t, g, buffers.words[row])
    count, best = 0, 0
    action = next_action(buffers.words[row], -1)
    while action >= 0:
        points = points_of(t, g, action)
        buffers.actions[row, count], buffers.points[row, count] = action, points
        best = count if points > buffers.points[row, best] else best
        count += 1
        action = next_action(buffers.words[row], action)
    if perfect_information_horizon(t, g) == 1:
        buffers.counts[2, row] = buffers.actions[row, best]
        play(t, g, buffers.actions[row, best])
        write_leads(t, g, buffers.leads[row])
    else:
        buffers.counts[0, row] = count
    return row


@jit
def write_leads(t, g, leads):
    """Write each player's lead over the best of the others in a finished game: shape (players,), float64."""
    players = np.int64(g["num_players"])
    for player in range(players):
        best_other = -math.inf
        for step in range(1, players):
            best_other = max(best_other, float(ranking_key(t, g, (player + step) % players)))
        leads[player] = ranking_key(t, g, player) - best_other


@jit
def next_best(buffers, row):
    """Return the untried action of a row with the most points, and mark it as tried."""
    actions, points = buffers.actions[row], buffers.points[row]
    first = int(buffers.counts[1, row])
    best = first
    for k in range(first + 1, int(buffers.counts[0, row])):
        best = k if points[k] > points[best] else best
    actions[first], actions[best] = actions[best], actions[first]
    points[first], points[best] = points[best], points[first]
    buffers.counts[1, row] += 1
    return actions[first]


@jit
def finish(t, g, buffers):
    """Play a position that `is_near` the end to its end, each player optimally. Stops where `solve` gives up."""
    while not is_over(t, g):
        action = solve(t, g, buffers)
        if action < 0:
            break
        play(t, g, action)
