"""Compiled loops over the verbs of a game, for the batch, the single game and the agents' view.

Loops over a whole batch take the games `low..high-1`, so that each thread can take a part of the batch. Sets of actions
have 64 actions per word.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from artus_env.engine.compiling.arrays import borrow
from artus_env.engine.compiling.jit import jit, jit_inlined
from artus_env.engine.compiling.threads import jit_shared
from artus_env.engine.contract import verbs
from artus_env.engine.contract.bits import first_words, is_in, next_action, nth_action, size, write_64_bits
from artus_env.engine.contract.rng import below, following, next_seed, random_bits
from artus_env.engine.play.rewards import after_move, before_move

ILLEGAL, FULL = -1_000_000, -1_000_001
"""Results of `play_one` in place of points, if nothing has changed: the action is illegal; no memory is left to record
it."""
MOVES, OVER, ACTIONS = 0, 1, 2
"""Indices in the past of a game, an int64 array: number of moves played; whether it is over; first of the actions
played. Compiled code writes it together with the state: an interrupt can come before or after, but not between them."""
DRAWN, PLAYS = -1, -2
"""Values in place of a start player. `DRAWN`: deal, and draw the start player. `PLAYS`: don't deal, play an action."""


class Games(NamedTuple):
    """N games of a batch in the form for compiled loops.

    Python passes these fields as a plain tuple: Numba needs a microsecond more to recognize a named one, which is 10 %
    of a step of `Batch(1)`.
    """

    tables: np.ndarray
    """Shape (1,), the dtype of the game's tables."""
    states: np.ndarray
    """Shape (N,), the dtype of the game's states."""
    seeds: np.ndarray
    """Seeds of the current deals: shape (N,), uint64."""
    player: np.ndarray
    """The players to move: shape (N,), int8."""
    observation: np.ndarray
    """Shape (N, F), int8."""
    mask: np.ndarray
    """Shape (N, A), int8."""
    legal_bits: np.ndarray
    """Shape (N, words), uint64."""
    reward: np.ndarray
    """Rewards of the last move: shape (N, players), float32."""
    done: np.ndarray
    """Whether the last move ended the game: shape (N,), bool."""
    final_scores: np.ndarray
    """Scores of the last finished game: shape (N, players), int32."""
    final_outcomes: np.ndarray
    """Ranking keys of its players: shape (N, players), int32."""
    num_players: int
    rule_set: int
    """Number of the rule set."""
    reward_mode: int
    """Number of the reward mode, see `rewards`."""
    autoreset: bool


@jit_inlined
def borrowed(fields):
    """Return the games of a batch with arrays without reference counts (see `borrow`)."""
    games = Games(*fields)
    return Games(
        borrow(games.tables), borrow(games.states), borrow(games.seeds), borrow(games.player),
        borrow(games.observation), borrow(games.mask), borrow(games.legal_bits), borrow(games.reward),
        borrow(games.done), borrow(games.final_scores), borrow(games.final_outcomes),
        games.num_players, games.rule_set, games.reward_mode, games.autoreset,
    )  # fmt: skip


@jit
def write_mask(t, legal, mask):
    """Write legal actions, given as bits, into `mask`, with one byte per action: shape (A,), int8."""
    num_actions = len(mask)
    if num_actions < 64:
        for action in range(num_actions):
            mask[action] = is_in(legal, action)
        return
    for word in range(verbs.mask_words(t)):  # a literal: the loop is unrolled
        if word < num_actions >> 6:
            write_64_bits(legal[word], mask, word << 6)
    start = num_actions - 64  # the last 64 actions again, so that they can be written as a whole word, too
    tail = legal[start >> 6] >> np.uint64(start & 63)
    if start & 63:
        tail |= legal[(start >> 6) + 1] << np.uint64(64 - (start & 63))
    write_64_bits(tail, mask, start)


@jit
def look(fields, which):
    """Write the player to move, observation and mask of the games `which`: shape (n,), int64."""
    games = borrowed(fields)
    for k in range(len(which)):
        look_at(games, which[k])


@jit_inlined
def look_at(games, i):
    """Write the player to move, observation and mask of one game."""
    t, g = games.tables[0], games.states[i]
    games.player[i] = g["player"]
    verbs.legal(t, g, games.legal_bits[i])
    write_mask(t, games.legal_bits[i], games.mask[i])
    verbs.observe(t, g, np.int64(g["player"]), games.observation[i])


@jit
def observe_chosen(tables, states, which, viewers, out):
    """Write the observations of `viewers` in the games `which`: shapes (n,), int64, and (n, F), int8."""
    tables, states, out = borrow(tables), borrow(states), borrow(out)
    for k in range(len(which)):
        verbs.observe(tables[0], states[which[k]], np.int64(viewers[k]), out[k])


@jit
def deal(fields, starts, seeds, which):
    """Deal the games `which` again: shape (n,), int64. Player, observation and mask aren't written.

    Args:
        starts: Start players, or `DRAWN`: shape (n,), int8.
        seeds: Shape (n,), as int64.
    """
    games = borrowed(fields)
    t = games.tables[0]
    for k in range(len(which)):
        i = which[k]
        games.seeds[i] = np.uint64(seeds[k])
        games.done[i] = False
        verbs.deal(t, games.states[i], games.seeds[i], np.int64(starts[k]), games.num_players, games.rule_set)


@jit
def is_legal(legal, action, num_actions):
    """Whether a number is an action id and in the set of legal actions."""
    return 0 <= action < num_actions and is_in(legal, action)


@jit
def first_illegal(fields, actions, which):
    """Index of the first illegal one of the `actions` for the games `which`, -1 if all are legal: shapes (n,), int64.
    Finished games accept any action."""
    games = borrowed(fields)
    for k in range(len(which)):
        i, action = np.uint64(which[k]), np.int64(actions[k])
        legal = is_legal(games.legal_bits[i], action, games.mask.shape[1])
        if not legal and not verbs.is_over(games.tables[0], games.states[i]):
            return k
    return -1


@jit_inlined
def move(t, g, action, mode, reward, final_scores, final_outcomes):
    """Play a legal action and write its rewards; at the end also the scores and the values that rank the players: all
    of shape (players,).

    Returns: whether the game is over.
    """
    before_move(g["scores"], mode, reward)
    verbs.play(t, g, action)
    over = verbs.is_over(t, g)
    after_move(t, g, mode, over, reward)
    if over:
        for p in range(np.int64(g["num_players"])):
            final_scores[p] = g["scores"][p]
            final_outcomes[p] = verbs.ranking_key(t, g, p)
    return over


@jit_shared
def step(fields, starts, actions, which, low, high):
    """Play a legal action in each of the games `which[low..high-1]`, or deal the game anew; then write the next
    player's view. Finished games stay unchanged.

    With `autoreset` a game that ends is dealt again at once, with the next seed of its stream. One loop both plays and
    deals, so that a batch needn't compile another one for its first deal.

    Args:
        starts: `PLAYS`, or the start player of a new deal: shape (n,), int8.
        actions: The action, or the seed of a new deal: shape (n,), int64.
        which: Shape (n,), int64.
    """
    games = borrowed(fields)
    t = games.tables[0]
    for k in range(low, high):
        i, start = np.uint64(which[k]), np.int64(starts[k])
        g = games.states[i]
        if start == PLAYS:
            if verbs.is_over(t, g):
                games.reward[i] = 0
                continue
            over = move(
                t, g, actions[k], games.reward_mode, games.reward[i], games.final_scores[i], games.final_outcomes[i]
            )
            games.done[i] = over
            if over and games.autoreset:
                games.seeds[i] = next_seed(games.seeds[i])
                start = np.int64(DRAWN)
        else:
            games.seeds[i] = np.uint64(actions[k])
            games.done[i] = False
        if start >= DRAWN:
            verbs.deal(t, g, games.seeds[i], start, games.num_players, games.rule_set)
        look_at(games, i)


@jit_shared
def sample(tables, legal, keys, actions, low, high):
    """Draw a legal action uniformly for each game, -1 for a finished one. Each key advances to its next number."""
    tables, legal = borrow(tables), borrow(legal)
    t = tables[0]
    for i in range(low, high):
        key = keys[i]
        keys[i] = following(key)
        actions[i] = choose(t, legal[i], random_bits(key, 0))


@jit
def choose(t, legal, bits):
    """Choose one of the legal actions with 64 random bits; -1 if there is none."""
    words = first_words(legal, verbs.mask_words(t))
    return nth_action(words, below(bits, size(words)))


@jit
def points(tables, states, legal, out, low, high):
    """Write the points that every legal action earns at once, 0 elsewhere: shape (N, A), int16."""
    tables, states, legal, out = borrow(tables), borrow(states), borrow(legal), borrow(out)
    t = tables[0]
    for i in range(low, high):
        g = states[i]
        out[i] = 0
        action = next_action(legal[i], -1)
        while action >= 0:
            out[i, action] = verbs.points_of(t, g, action)
            action = next_action(legal[i], action)


@jit
def redeal(tables, states, seeds, viewers, low, high):
    """Resample everything that is hidden from the viewers, in place."""
    tables, states = borrow(tables), borrow(states)
    t = tables[0]
    for i in range(low, high):
        verbs.resample_hidden(t, states[i], np.int64(viewers[i]), seeds[i])


@jit
def hide(tables, states, viewers, low, high):
    """Remove everything that is hidden from the viewers, in place."""
    tables, states = borrow(tables), borrow(states)
    for i in range(low, high):
        verbs.hide(tables[0], states[i], np.int64(viewers[i]))


@jit
def over(tables, states, out, low, high):
    """Write which games have ended: shape (N,), bool."""
    tables, states = borrow(tables), borrow(states)
    for i in range(low, high):
        out[i] = verbs.is_over(tables[0], states[i])


@jit
def outcomes(tables, states, out, low, high):
    """Write the values that rank the players of each game: shape (N, num_players), int32."""
    tables, states, out = borrow(tables), borrow(states), borrow(out)
    for i in range(low, high):
        for player in range(out.shape[1]):
            out[i, player] = verbs.ranking_key(tables[0], states[i], player)


# --- one game, for `Game`, without the cost of filling a batch's buffers --------------------------------------------


@jit
def deal_one(tables, states, seed, start, num_players, rule_set):
    """Deal the game; the start player may be `DRAWN`."""
    verbs.deal(tables[0], states[0], seed, start, num_players, rule_set)


@jit
def over_one(tables, states):
    """Whether the game has ended."""
    return verbs.is_over(tables[0], states[0])


@jit
def play_one(tables, states, legal, past, action):
    """Play an action if it is legal, and record it in the past (see `MOVES`).

    The legal actions are computed again, unlike in a batch: users may write to `Game.state`.

    Returns: the points that it earned, `ILLEGAL` or `FULL`.
    """
    t, g = tables[0], states[0]
    place = ACTIONS + past[MOVES]
    if place >= len(past):
        return FULL
    verbs.legal(t, g, legal)
    if not is_in(legal, action):
        return ILLEGAL
    points = int(verbs.play(t, g, action))
    past[place] = action
    past[MOVES] += 1
    past[OVER] = verbs.is_over(t, g)
    return points


@jit
def mask_one(tables, states, legal, mask):
    """Write the legal actions of the player to move: shape (A,), int8."""
    verbs.legal(tables[0], states[0], legal)
    write_mask(tables[0], legal, mask)


@jit
def observe_one(tables, states, viewer, out):
    """Write the observation of `viewer`: shape (F,), int8."""
    verbs.observe(tables[0], states[0], viewer, out)


@jit
def pay_one(tables, states, mode, scores, over, reward):
    """Write the rewards since the given scores, and those for the end of the game if it is over: shapes (players,). The
    scores are updated."""
    t, g = tables[0], states[0]
    before_move(scores, mode, reward)
    after_move(t, g, mode, over, reward)
    for player in range(len(scores)):
        scores[player] = g["scores"][player]


@jit
def play_and_look_one(tables, states, legal, past, action, mask, observation):
    """`play_one`; then write the mask and observation of the next player: shapes (A,) and (F,), int8.

    Returns: as `play_one`; the next player to move, whether the game is over.
    """
    points = play_one(tables, states, legal, past, action)
    mask_one(tables, states, legal, mask)
    g = states[0]
    player = np.int64(g["player"])  # the type for which `observe` is compiled elsewhere
    observe_one(tables, states, player, observation)
    return points, int(player), past[OVER] == 1
