"""Exact solution of the last few decisions, once no player has hidden information (`perfect_information_horizon` of
`artus_env.engine.contract.verbs`). Compiled; contains no rules.

Each player maximizes their own lead over the best of the others. With two players one wins what the other loses, so
alpha-beta pruning applies; with more, all lines are searched.
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

TWO, MORE = 4, 3
"""Decisions before the end from which a game is solved, with two players and with more."""
MOST_LEFT = 6
"""Largest possible number of such decisions."""
MOST_TRIED = 100_000
"""Actions tried for one decision, not counting the last ones of a line. Beyond that the search gives up."""
ROWS = MOST_LEFT + 1
GAMES_PER_THREAD = 64


class Room(NamedTuple):
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
    """Number of actions, number of tried actions, and the best action so far: shape (3, ROWS), int64."""
    leads: np.ndarray
    """Each player's lead after the best action so far: shape (ROWS, players), float64."""
    floors: np.ndarray
    """Lead that each player has already secured higher up on the line: shape (ROWS, players), float64."""


def open_games(view: View) -> np.ndarray:
    """Whether each game of a view has perfect information from here to its end: shape (n,), bool."""
    left = np.empty(len(view), np.int64)
    decisions_left(view.tables, view.known(), left)
    return left >= 0


def solved(view: View) -> np.ndarray:
    """The best action of each game of a view that can be solved, -1 for the others: shape (n,), int64."""
    actions = np.full(len(view), -1)
    if open_games(view).any():
        states = view.redeal(view.keys)  # the true states, but only where nothing is hidden
        bounds = shares(len(view), threads_for(len(view), GAMES_PER_THREAD))
        run_shares(solve_all, (view.tables, states, TWO, MORE, actions), bounds)
    return actions


@jit
def decisions_left(tables, states, left):
    """`perfect_information_horizon` of n games: shape (n,), int64. States may be concealed."""
    tables, states = borrow(tables), borrow(states)
    for i in range(len(left)):
        left[i] = perfect_information_horizon(tables[0], states[i])


@jit_shared
def solve_all(tables, states, two, more, actions, low, high):
    """Write the best action of each game that `is_near` its end, leave the others unchanged: shape (n,), int64."""
    tables, states = borrow(tables), borrow(states)
    t = tables[0]
    room = room_for(t, states)
    for i in range(low, high):
        if is_near(t, states[i], two, more):
            actions[i] = solve(t, states[i], room)


@jit
def room_for(t, games):
    """Allocate buffers for games like these: shape (n,), the state dtype."""
    words, players = mask_words(t), games[0]["scores"].shape[0]
    return Room(
        np.empty(ROWS, games.dtype),
        np.empty((ROWS, words), np.uint64),
        np.empty((ROWS, 64 * words), np.int64),
        np.empty((ROWS, 64 * words), np.int64),
        np.empty((3, ROWS), np.int64),
        np.empty((ROWS, players)),
        np.empty((ROWS, players)),
    )


@jit
def is_near(t, g, two, more):
    """Whether the game can be solved: at most `two` decisions are left with two players, at most `more` otherwise."""
    left = perfect_information_horizon(t, g)
    return left > 0 and left <= (two if int(g["num_players"]) == 2 else more)


@jit
def solve(t, g, room):
    """The best action in a position that `is_near` the end, -1 if there are too many lines."""
    games, actions = borrow(room.games), borrow(room.actions)
    leads, floors = borrow(room.leads), borrow(room.floors)
    counts, tried, best = room.counts[0], room.counts[1], room.counts[2]
    players = np.int64(g["num_players"])
    games[0] = g
    for player in range(players):
        floors[0, player] = -math.inf
    row, total = enter(t, np.int64(0), room), np.int64(0)
    while True:
        mover = int(games[row]["player"])
        cut = players == 2 and leads[row, mover] >= -floors[row, 1 - mover]
        if tried[row] < counts[row] and not cut:
            action = next_best(room, row)
            games[row + 1] = games[row]
            play(t, games[row + 1], action)
            for player in range(players):
                floors[row + 1, player] = floors[row, player]
            floors[row + 1, mover] = max(floors[row, mover], leads[row, mover])
            row = enter(t, row + 1, room)
            total += counts[row]
            if total > MOST_TRIED:
                return -1
        elif row == 0:
            return best[0]
        else:  # the result below is the value of the action that led there
            row -= 1
            mover = int(games[row]["player"])
            if leads[row + 1, mover] > leads[row, mover]:
                best[row] = actions[row, tried[row] - 1]
                for player in range(players):
                    leads[row, player] = leads[row + 1, player]


@jit
def enter(t, row, room):
    """Initialize a row for its position. There are no actions to try if the game is over or this is the last decision.
    Returns the row."""
    g = room.games[row]
    players = np.int64(g["num_players"])
    room.counts[0, row], room.counts[1, row], room.counts[2, row] = 0, 0, -1
    if is_over(t, g):
        write_leads(t, g, room.leads[row])
        return row
    for player in range(players):
        room.leads[row, player] = -math.inf
    write_legal(t, g, room.words[row])
    count, most = 0, 0
    action = next_action(room.words[row], -1)
    while action >= 0:
        points = points_of(t, g, action)
        room.actions[row, count], room.points[row, count] = action, points
        most = count if points > room.points[row, most] else most
        count += 1
        action = next_action(room.words[row], action)
    if perfect_information_horizon(t, g) == 1:
        room.counts[2, row] = room.actions[row, most]
        play(t, g, room.actions[row, most])
        write_leads(t, g, room.leads[row])
    else:
        room.counts[0, row] = count
    return row


@jit
def write_leads(t, g, leads):
    """Write each player's lead over the best of the others in a finished game."""
    players = np.int64(g["num_players"])
    for player in range(players):
        others = -math.inf
        for step in range(1, players):
            others = max(others, float(ranking_key(t, g, (player + step) % players)))
        leads[player] = ranking_key(t, g, player) - others


@jit
def next_best(room, row):
    """Return the untried action of a row with the most points, and mark it as tried."""
    actions, points = room.actions[row], room.points[row]
    first = int(room.counts[1, row])
    best = first
    for k in range(first + 1, int(room.counts[0, row])):
        best = k if points[k] > points[best] else best
    actions[first], actions[best] = actions[best], actions[first]
    points[first], points[best] = points[best], points[first]
    room.counts[1, row] += 1
    return actions[first]


@jit
def finish(t, g, room):
    """Play a position that `is_near` the end to its end, each player optimally. Stops where `solve` gives up."""
    while not is_over(t, g):
        action = solve(t, g, room)
        if action < 0:
            break
        play(t, g, action)
