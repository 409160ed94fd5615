"""Agent that tries its next two actions, if both belong to one turn, and evaluates the position after them."""

from __future__ import annotations

import math

import numpy as np

from artus_env.agents import View
from artus_env.engine.basics.reading import shown
from artus_env.engine.compiling.arrays import borrow
from artus_env.engine.compiling.jit import jit
from artus_env.engine.compiling.threads import jit_shared, run_shares, scratch, shares, threads_for
from artus_env.engine.contract.bits import first_words, next_action
from artus_env.engine.contract.rng import breaks_tie, random_bits
from artus_env.engine.contract.verbs import default_action, evaluate, is_over, mask_words, play, resample_hidden
from artus_env.engine.contract.verbs import legal as write_legal

GAMES_PER_THREAD = 16
_DEALS = 1 << 20  # random numbers of a decision from this index on are for deals, lower ones break ties


class LookaheadAgent:
    """Tries each own action, and each second one if it moves again, and plays towards the best position.

    The game's verb `evaluate` rates a position. Where it depends on hidden information (`Definition.evaluation_deals`),
    an action is tried in several deals that fit the player's knowledge, the same ones for all actions. Where the game
    has a `default_action`, it is played without lookahead.

    Args:
        weight: Weight of a player's holdings relative to their score, see `evaluate`; None: the game's own weight.

    Raises:
        ValueError: If the weight is not a finite number.
    """

    games_at_once = 512

    def __init__(self, weight: float | str | None = None) -> None:
        self.weight: float | None = None
        if weight is not None:
            try:
                self.weight = float(weight)
            except (ValueError, OverflowError):
                self.weight = math.nan
            if not math.isfinite(self.weight):
                raise ValueError(
                    f"lookahead needs a finite number as the weight of what players hold (lookahead:0.17), "
                    f"got {shown(weight)}"
                )

    def act(self, view: View) -> np.ndarray:
        """See `Agent.act`."""
        count = len(view)
        bounds = shares(count, threads_for(count, GAMES_PER_THREAD))
        states = view.redeal(view.keys)  # the first deal; the true states aren't available here
        weight = view.definition.evaluation_weight if self.weight is None else self.weight
        actions = np.empty(count, np.int64)
        arguments = (
            view.tables, states, view.legal_bits, scratch(len(bounds) - 1, 3, states.dtype),
            scratch(len(bounds) - 1, view.legal_bits.shape[1], np.uint64), weight, view.definition.evaluation_deals,
            view.keys, actions,
        )  # fmt: skip
        run_shares(lookahead, arguments, bounds)
        return actions


@jit
def best_in_turn(t, games, level, legal, player, weight):
    """The best evaluation that `player` can reach from `games[level]` with one more action; that of the position itself
    if it isn't their turn any more."""
    g = games[level]
    if is_over(t, g) or int(g["player"]) != player or default_action(t, g, np.uint64(0)) >= 0:
        return evaluate(t, g, player, weight)
    best = -math.inf
    write_legal(t, g, legal)
    action = next_action(legal, -1)
    while action >= 0:
        games[level + 1] = g
        play(t, games[level + 1], action)
        best = max(best, evaluate(t, games[level + 1], player, weight))
        action = next_action(legal, action)
    return best


@jit
def lookahead_one(t, games, legal, second_legal, weight, num_deals, key):
    """The action with the best sum of evaluations over `num_deals` deals; ties are broken at random.

    Args:
        games: Three games: the position in the first deal, and two that are overwritten.
        legal: The legal actions.
        second_legal: Overwritten with the legal actions of the second decision.
    """
    player = np.int64(games[0]["player"])
    best, chosen, num_equal = -math.inf, -1, 0
    action = next_action(legal, -1)
    while action >= 0:
        total = 0.0
        for deal in range(num_deals):
            games[1] = games[0]
            if deal > 0:
                resample_hidden(t, games[1], player, random_bits(key, _DEALS + deal))
            play(t, games[1], action)
            total += best_in_turn(t, games, 1, second_legal, player, weight)
        if total > best:
            best, chosen, num_equal = total, action, 1
        elif total == best:
            num_equal += 1
            if breaks_tie(key, num_equal):
                chosen = action
        action = next_action(legal, action)
    return chosen


@jit_shared
def lookahead(tables, states, legal, scratch, words, weight, num_deals, keys, actions, low, high, share=0):
    """Write one action for each game: shape (n,), int64.

    Args:
        scratch, words: Overwritten, a row for each share: three games, and the words of a set of actions.
    """
    tables, states, legal = borrow(tables), borrow(states), borrow(legal)
    scratch, words = borrow(scratch), borrow(words)
    t = tables[0]
    second_legal = first_words(words[share], mask_words(t))
    for i in range(low, high):
        actions[i] = default_action(t, states[i], keys[i])
        if actions[i] < 0:
            scratch[share, 0] = states[i]
            actions[i] = lookahead_one(t, scratch[share], legal[i], second_legal, weight, num_deals, keys[i])
