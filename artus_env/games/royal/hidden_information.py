"""Hidden information: removing what a player doesn't know, and drawing it again.

Public are the pawns, the chips, the trick, the discards, the cards that each player has played since the last deal, the
sizes of hands and pile, and the *voids*: a player who hasn't followed a suit has none of it until the next deal.
Hidden are the other hands, the order of the pile, and `chance`.

Voids make uniform redeals hard: each draw changes the cards left for other players. `draw_restricted` draws with
weights and rejects a few draws.
"""

from __future__ import annotations

from math import exp

import numpy as np

from artus_env.authoring import below, jit, lowest_bit, popcount, random_bits, real_numbers, whole_numbers
from artus_env.games.royal.components import MAX_CARDS, MAX_HAND, MAX_PLAYERS
from artus_env.games.royal.rules import CHANCE, hand_size, last_card, left_of, put, take
from artus_env.games.royal.state import GROUPS, KNIGHTS

DRAWS = (MAX_PLAYERS - 1) * MAX_HAND
"""Maximum number of cards that other players hold."""
MAX_WEIGHTS = DRAWS * GROUPS
FIRST_RANDOM = 1000
"""Index of the first random number for hands of players with voids."""
ROUNDS = 2
"""Number of times that the guesses of `draw_restricted` are improved. With 1, a few deals take many more draws;
more than 2 make no difference."""


@jit
def hide(t, g, viewer):
    """Remove everything that `viewer` doesn't know: other hands become empty, the cards of the pile -1, `chance` 0; the
    pile's size stays, and the sizes of hands follow from the cards played."""
    g["chance"] = 0
    for player in range(int(g["num_players"])):
        if player != viewer:
            for group in range(GROUPS):
                g["hands"][player, group] = 0
    for index in range(MAX_CARDS - int(g["pile_size"]), MAX_CARDS):
        g["pile"][index] = -1


@jit
def resample_hidden(t, g, viewer, seed):
    """Draw everything that `viewer` doesn't know with `seed`, uniformly among the deals that fit their knowledge."""
    hide(t, g, viewer)
    g["chance"] = random_bits(seed, CHANCE) >> np.uint64(11)
    hidden = whole_numbers(GROUPS)
    gather_hidden(t, g, viewer, hidden)
    restricted = restricted_players(g, viewer, hidden)
    if restricted != 0:
        draw_restricted(t, g, restricted, hidden, seed)
    index = MAX_CARDS - int(g["pile_size"])
    for player in range(int(g["num_players"])):
        if player != viewer and restricted >> player & 1 == 0:
            index -= hand_size(t, g, player)
    shuffle_hidden(t, g, hidden, index, seed)
    for player in range(int(g["num_players"])):
        if player != viewer and restricted >> player & 1 == 0:
            for _ in range(hand_size(t, g, player)):
                put(t, g["hands"][player], int(g["pile"][index]))
                g["pile"][index] = -1
                index += 1


@jit
def gather_hidden(t, g, viewer, hidden):
    """Write the cards that `viewer` doesn't see into `hidden`, a set of cards: all but their own, the discards and the
    trick."""
    for group in range(GROUPS):
        hidden[group] = int(t["full"][group]) - int(g["discards"][group]) - int(g["hands"][viewer, group])
    for seat in range(int(g["in_trick"])):
        take(t, hidden, last_card(g, left_of(g, int(g["leader"]), seat)))


@jit
def restricted_players(g, viewer, hidden):
    """Other players with a void in a suit that has hidden cards, as bits by player number."""
    hidden_suits = 0
    for suit in range(KNIGHTS):
        if hidden[suit] != 0:
            hidden_suits |= 1 << suit
    players = 0
    for player in range(int(g["num_players"])):
        if player != viewer and int(g["voids"][player]) & hidden_suits != 0:
            players |= 1 << player
    return players


@jit
def shuffle_hidden(t, g, hidden, start, seed):
    """Put a set of cards at the end of the pile, from `start` on, in random order."""
    index = start
    values = int(t["values"])
    for group in range(KNIGHTS):
        suit_bits = hidden[group]
        while suit_bits != 0:
            g["pile"][index] = group * values + lowest_bit(suit_bits)
            suit_bits &= suit_bits - 1
            index += 1
    for group in range(KNIGHTS, GROUPS):
        for _ in range(hidden[group]):
            g["pile"][index] = int(t["trump_actions"]) - GROUPS + group
            index += 1
    random = np.uint64(0)
    for index in range(start, MAX_CARDS - 1):
        # One random number is enough for two draws.
        random = random_bits(seed, index) if (index - start) & 1 == 0 else random << np.uint64(32)
        other_index = index + below(random, MAX_CARDS - index)
        card = g["pile"][other_index]
        g["pile"][other_index] = g["pile"][index]
        g["pile"][index] = card


@jit
def count_of(cards, group):
    """Number of cards of a group in a set of cards."""
    return popcount(cards[group]) if group < KNIGHTS else cards[group]


@jit
def may_hold(g, player, group):
    """Whether a player may have cards of a group, as far as their voids show."""
    return int(g["voids"][player]) >> group & 1 == 0  # super-trumps are never void


@jit
def draw_restricted(t, g, restricted, hidden, seed):
    """Draw the hands of players with voids, uniformly among the deals that fit, and remove their cards from `hidden`.

    The cards are drawn one after the other, for the most restricted players first. Draw k chooses a card of group s
    with the weight w[k, s]. Draws would be uniform if the product over k of (sum of the weights of all cards that could
    be chosen) / (weight of the chosen card) were the same for all deals that fit. They become uniform when each is
    accepted with a probability proportional to this product. With the sum W[k], any guess G[k] of it, and the sum W0[k]
    if no card had been drawn before,

        W[k] <= G[k] exp(W[k] / G[k] - 1) = G[k] exp(W0[k] / G[k] - 1) * product of exp(-w[k, s] / G[k])

    over the earlier draws of cards that this player might have had. If w[k, s] is the product of these last factors
    over all later draws, they and the weights cancel out, and the product is at most that of
    G[k] exp(W0[k] / G[k] - 1). The quality of the guesses affects only how many draws are accepted.
    """
    weights, guesses = real_numbers(MAX_WEIGHTS), real_numbers(DRAWS)
    owners = whole_numbers(DRAWS)
    draws = 0
    for voids in range(KNIGHTS, 0, -1):
        for player in range(int(g["num_players"])):
            if restricted >> player & 1 == 1 and popcount(int(g["voids"][player])) == voids:
                for _ in range(hand_size(t, g, player)):
                    owners[draws] = player
                    draws += 1
    bound = weigh(g, hidden, owners, draws, weights, guesses)
    undrawn = whole_numbers(GROUPS)
    counts = real_numbers(GROUPS)
    random_index = FIRST_RANDOM
    while True:
        ratio = 1.0
        for group in range(GROUPS):
            undrawn[group] = hidden[group]
            counts[group] = count_of(hidden, group)
        for player in range(int(g["num_players"])):
            if restricted >> player & 1 == 1:
                for group in range(GROUPS):
                    g["hands"][player, group] = 0
        for draw in range(draws):
            start = draw * GROUPS
            total = 0.0
            for group in range(GROUPS):
                total += weights[start + group] * counts[group]
            if total == 0.0:
                ratio = 0.0
                break
            aim = total * fraction(seed, random_index)
            random_index += 1
            chosen = -1
            for group in range(GROUPS):
                group_weight = weights[start + group] * counts[group]
                if group_weight > 0.0:
                    chosen = group
                    if aim < group_weight:
                        break
                    aim -= group_weight
            weight = weights[start + chosen]
            skipped = min(int(aim / weight), int(counts[chosen]) - 1)
            card = 1  # the card, as it is counted in a set of cards
            if chosen < KNIGHTS:
                bits = undrawn[chosen]
                for _ in range(skipped):
                    bits &= bits - 1
                card = bits & -bits
            undrawn[chosen] -= card
            counts[chosen] -= 1.0
            g["hands"][owners[draw], chosen] += card
            ratio *= total / (weight * guesses[draw])
        if fraction(seed, random_index) * exp(bound) < ratio:
            for group in range(GROUPS):
                hidden[group] = undrawn[group]
            return
        random_index += 1


@jit
def fraction(seed, index):
    """The random number with this index in the stream of a seed: a float from 0 up to, but not including, 1."""
    return float(int(random_bits(seed, index) >> np.uint64(11))) / (1 << 53)


@jit
def weigh(g, hidden, owners, draws, weights, guesses):
    """Compute weights and guesses for `draw_restricted`.

    Args:
        hidden: The cards that the viewer doesn't see: a set of cards.
        owners: Player of each draw: shape (draws,).
        weights: Output: w[k, s] at k * GROUPS + s.
        guesses: Output: G[k].

    Returns:
        The sum of W0[k] / G[k] - 1 over all draws.
    """
    expected = real_numbers(MAX_WEIGHTS)  # cards of each group that are left before each draw
    cards_left, factors = real_numbers(GROUPS), real_numbers(GROUPS)
    for index in range(draws * GROUPS):
        weights[index] = 1.0 if may_hold(g, owners[index // GROUPS], index % GROUPS) else 0.0
    bound = 0.0
    for _ in range(ROUNDS):
        for group in range(GROUPS):
            cards_left[group] = count_of(hidden, group)
        for draw in range(draws):
            start = draw * GROUPS
            total = 0.0
            for group in range(GROUPS):
                expected[start + group] = cards_left[group]
                total += weights[start + group] * cards_left[group]
            draw_chance = 1.0 / max(total, 1.0)
            for group in range(GROUPS):
                cards_left[group] *= 1.0 - weights[start + group] * draw_chance
        for group in range(GROUPS):
            factors[group] = 1.0
        bound = 0.0
        for draw in range(draws - 1, -1, -1):
            start = draw * GROUPS
            total = 0.0
            first_total = 0.0
            highest = 0.0
            for group in range(GROUPS):
                weight = factors[group] if weights[start + group] > 0.0 else 0.0
                weights[start + group] = weight
                highest = max(highest, weight)
                total += weight * expected[start + group]
                first_total += weight * count_of(hidden, group)
            guess = max(total, highest)
            guesses[draw] = guess
            bound += first_total / guess - 1.0
            for group in range(GROUPS):
                exponent = weights[start + group] / guess
                factors[group] /= 1.0 + exponent + 0.5 * exponent * exponent  # a little more than exp(-exponent)
    return bound
