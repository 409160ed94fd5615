"""Compiled loops over the rules: everything that the batch, the single game and the agents' view run.

All loops go over games `low..high-1`, so that threads can share a batch. They are thin: what a game is stands in
`rules`, what is seen in `observation`.
"""

from __future__ import annotations

import numba
import numpy as np

from artus_env.engine.bits import lowest_bit, popcount, unpack64
from artus_env.engine.jit import borrow, jit, jit_parallel
from artus_env.engine.rewards import final_reward, move_reward
from artus_env.engine.rng import below, following, next_seed, random_bits
from artus_env.games.artus import observation as seen
from artus_env.games.artus import rules
from artus_env.games.artus.actions import KNIGHT, MASK_WORDS, PLACE, RING, ROYAL, TAIL_WORD
from artus_env.games.artus.state import OVER

ILLEGAL = -1_000_000
"""What `play_one` returns instead of points."""


@jit
def is_legal(legal, action):
    """Whether an action is in a set of legal actions: shape (MASK_WORDS,), uint64."""
    return (legal[action >> 6] >> np.uint64(action & 63)) & np.uint64(1) != 0


@jit
def write_mask(t, legal, mask):
    """Legal actions from bits to bytes: shape (A,), int8."""
    actions = int(t["num_actions"])
    if actions < 64:  # a tiny box
        for action in range(actions):
            mask[action] = is_legal(legal, action)
        return
    for word in range(actions >> 6):
        unpack64(legal[word], mask, word << 6)
    unpack64(legal[TAIL_WORD], mask, actions - 64)


@jit
def look(tables, states, player, observation, mask, legal, low, high):
    """Write who is to move in each game, what he sees and what he may do."""
    tables, states, legal, mask, observation = (
        borrow(tables), borrow(states), borrow(legal), borrow(mask), borrow(observation),
    )  # fmt: skip
    t = tables[0]
    for i in range(low, high):
        g = states[i]
        player[i] = g["player"]
        rules.legal(t, g, legal[i])
        write_mask(t, legal[i], mask[i])
        seen.observe(t, g, int(g["player"]), observation[i])


@jit
def look_chosen(tables, states, player, observation, mask, legal, which):
    """`look` for the games `which` alone: shape (n,), int64."""
    for k in range(len(which)):
        look(tables, states, player, observation, mask, legal, which[k], which[k] + 1)


@jit
def observe_chosen(tables, states, which, viewers, out):
    """What `viewers` see in the games `which`: shapes (n,), int64, and (n, F), int8."""
    tables, states, out = borrow(tables), borrow(states), borrow(out)
    for k in range(len(which)):
        seen.observe(tables[0], states[which[k]], int(viewers[k]), out[k])


@jit
def deal(tables, states, seeds, start_players, chosen, num_players, advanced, low, high):
    """Deal the chosen games anew. A start player of -1 is drawn."""
    tables, states = borrow(tables), borrow(states)
    t = tables[0]
    for i in range(low, high):
        if chosen[i]:
            rules.deal(t, states[i], seeds[i], int(start_players[i]), num_players, advanced)


@jit
def first_illegal(states, legal, actions, num_actions):
    """Index of the first game whose action is illegal, -1 if there is none. Finished games take any action."""
    states, legal = borrow(states), borrow(legal)
    for i in range(len(actions)):
        action = int(actions[i])
        if (action < 0 or action >= num_actions or not is_legal(legal[i], action)) and int(states[i]["phase"]) != OVER:
            return i
    return -1


@jit
def step(
    tables, states, seeds, actions, mode, autoreset,
    player, observation, mask, legal, reward, done, final_scores, low, high,
):  # fmt: skip
    """Play one legal action in each game; then write what the next player sees. Finished games stay as they are.

    With `autoreset` a game that ends is dealt anew at once, with the next seed of its stream.
    """
    tables, states, legal, mask, observation, reward, final_scores = (
        borrow(tables), borrow(states), borrow(legal), borrow(mask), borrow(observation), borrow(reward),
        borrow(final_scores),
    )  # fmt: skip
    t = tables[0]
    for i in range(low, high):
        g = states[i]
        players = int(g["num_players"])
        mover = int(g["player"])
        if int(g["phase"]) == OVER:
            move_reward(mode, 0, mover, players, reward[i])
            continue
        points = rules.play(t, g, int(actions[i]))
        move_reward(mode, points, mover, players, reward[i])
        over = int(g["phase"]) == OVER
        done[i] = over
        if over:
            final_reward(mode, g["scores"], players, reward[i])
            for p in range(players):
                final_scores[i, p] = g["scores"][p]
            if autoreset:
                seeds[i] = next_seed(seeds[i])
                rules.deal(t, g, seeds[i], -1, players, int(g["advanced"]))
        player[i] = g["player"]
        rules.legal(t, g, legal[i])
        write_mask(t, legal[i], mask[i])
        seen.observe(t, g, int(g["player"]), observation[i])


@jit
def step_chosen(
    tables, states, seeds, actions, mode, autoreset,
    player, observation, mask, legal, reward, done, final_scores, which,
):  # fmt: skip
    """`step` for the games `which` alone: shape (n,), int64. `actions` has one for every game of the batch."""
    seeds, actions, player, done = borrow(seeds), borrow(actions), borrow(player), borrow(done)
    tables, states, legal, mask, observation, reward, final_scores = (
        borrow(tables), borrow(states), borrow(legal), borrow(mask), borrow(observation), borrow(reward),
        borrow(final_scores),
    )  # fmt: skip
    for k in range(len(which)):
        step(
            tables, states, seeds, actions, mode, autoreset,
            player, observation, mask, legal, reward, done, final_scores, which[k], which[k] + 1,
        )  # fmt: skip


@jit
def sample(legal, keys, actions, low, high):
    """A uniformly drawn legal action for each game, -1 for a finished one. Each key moves on to its next number."""
    legal = borrow(legal)
    for i in range(low, high):
        key = keys[i]
        keys[i] = following(key)
        actions[i] = choose(legal[i], random_bits(key, 0))


@jit
def choose(legal, bits):
    """One of the legal actions, from 64 random bits; -1 if there is none."""
    total = 0
    for word in range(MASK_WORDS - 1):
        total += popcount(legal[word])
    nth = below(bits, total)
    for word in range(MASK_WORDS - 1):
        count = popcount(legal[word])
        if nth < count:
            left = legal[word]
            for _ in range(nth):
                left &= left - np.uint64(1)
            return 64 * word + lowest_bit(left)
        nth -= count
    return -1


@jit
def points(tables, states, legal, out, low, high):
    """Immediate prestige of every legal action, 0 elsewhere: shape (N, A), int16."""
    tables, states, legal, out = borrow(tables), borrow(states), borrow(legal), borrow(out)
    t = tables[0]
    for i in range(low, high):
        g = states[i]
        out[i] = 0
        for word in range(MASK_WORDS - 1):
            left = legal[i, word]
            while left:
                action = 64 * word + lowest_bit(left)
                left &= left - np.uint64(1)
                out[i, action] = rules.points_of(t, g, action)


@jit
def redeal(tables, states, seeds, viewers, low, high):
    """Draw what the viewers don't know anew, in place."""
    tables, states = borrow(tables), borrow(states)
    t = tables[0]
    for i in range(low, high):
        rules.redeal(t, states[i], int(viewers[i]), seeds[i])


@jit
def conceal(states, viewers, low, high):
    """Remove what the viewers don't know, in place."""
    states = borrow(states)
    for i in range(low, high):
        rules.conceal(states[i], int(viewers[i]))


# --- shares of a batch in parallel; `bounds[k]..bounds[k + 1]` are the games of share k -----------------------------


@jit_parallel
def step_shares(
    tables, states, seeds, actions, mode, autoreset,
    player, observation, mask, legal, reward, done, final_scores, bounds,
):  # fmt: skip
    for share in numba.prange(len(bounds) - 1):
        step(
            tables, states, seeds, actions, mode, autoreset,
            player, observation, mask, legal, reward, done, final_scores, bounds[share], bounds[share + 1],
        )  # fmt: skip


@jit_parallel
def sample_shares(legal, keys, actions, bounds):
    for share in numba.prange(len(bounds) - 1):
        sample(legal, keys, actions, bounds[share], bounds[share + 1])


# --- one game: what `Game` runs, without the cost of filling a batch's buffers -------------------------------------


@jit
def play_one(tables, states, legal, action):
    """Play an action if it is legal: the points that it brought, or `ILLEGAL` and nothing has changed."""
    t, g = tables[0], states[0]
    rules.legal(t, g, legal)
    if action < 0 or action >= int(t["num_actions"]) or not is_legal(legal, action):
        return ILLEGAL
    return rules.play(t, g, action)


@jit
def mask_one(tables, states, legal, mask):
    """Legal actions of the player to move: shape (A,), int8."""
    rules.legal(tables[0], states[0], legal)
    write_mask(tables[0], legal, mask)


@jit
def observe_one(tables, states, viewer, out):
    """What `viewer` sees: shape (F,), int8."""
    seen.observe(tables[0], states[0], viewer, out)


@jit
def turn_one(tables, states, legal, action, mask, observation):
    """Play an action if it is legal, and write what the next player may do and sees: shapes (A,) and (F,), int8.

    Returns: the points that it brought (`ILLEGAL`: nothing has changed), who is to move next, whether the game is over.
    """
    points = play_one(tables, states, legal, action)
    mask_one(tables, states, legal, mask)
    g = states[0]
    player = int(g["player"])
    observe_one(tables, states, player, observation)
    return points, player, int(g["phase"]) == OVER


@jit
def describe(tables, states, action):
    """Seats from which and to which an action of the player to move goes, -1 where it has none: (origin, target)."""
    t, g = tables[0], states[0]
    effect, slot = int(t["actions"][action, 0]), int(t["actions"][action, 2])
    if effect == PLACE:
        return -1, rules.landing(rules.king_seat(g), -slot)
    if effect == KNIGHT:
        origin = rules.knight_seat(g, int(g["player"]), slot)
    elif effect in (ROYAL, RING):
        origin = int(g["royals"][rules.royal_in_slot(g, slot)])
    else:
        return -1, -1
    return origin, rules.landing(origin, int(t["actions"][action, 3]))
