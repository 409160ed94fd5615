"""Hidden information: removing what a player doesn't know, and drawing it again.

Public are the pawns, the chips, the trick, the discards, the cards that each player has played since the last deal, the
sizes of hands and pile, and the *voids*: a player who hasn't followed a suit has none of it before the next deal.
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
ROOM = DRAWS * GROUPS
STREAM = 1000
"""First number of the random stream for hands of players with voids."""
ROUNDS = 2
"""Number of times that guesses are improved. With 1, a few deals take many more draws; more than 2 make no
difference."""


@jit
def hide(t, g, viewer):
    """Remove everything that `viewer` doesn't know: other hands become empty, the cards of the pile -1, `chance` 0; the
    pile's size stays, and the sizes of hands follow from the cards played."""
    g["chance"] = 0
    for player in range(int(g["num_players"])):
        if player != viewer:
            for group in range(GROUPS):
                g["hands"][player, group] = 0
    for place in range(MAX_CARDS - int(g["pile_size"]), MAX_CARDS):
        g["pile"][place] = -1


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
    place = MAX_CARDS - int(g["pile_size"])
    for player in range(int(g["num_players"])):
        if player != viewer and restricted >> player & 1 == 0:
            place -= hand_size(t, g, player)
    shuffle_hidden(t, g, hidden, place, seed)
    for player in range(int(g["num_players"])):
        if player != viewer and restricted >> player & 1 == 0:
            for _ in range(hand_size(t, g, player)):
                put(t, g["hands"][player], int(g["pile"][place]))
                g["pile"][place] = -1
                place += 1


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
    """Other players with a void in a suit that has hidden cards, as bits."""
    suits = 0
    for suit in range(KNIGHTS):
        if hidden[suit] != 0:
            suits |= 1 << suit
    players = 0
    for player in range(int(g["num_players"])):
        if player != viewer and int(g["voids"][player]) & suits != 0:
            players |= 1 << player
    return players


@jit
def shuffle_hidden(t, g, hidden, start, seed):
    """Put a set of cards at the end of the pile, from `start` on, in random order."""
    place = start
    values = int(t["values"])
    for group in range(KNIGHTS):
        cards = hidden[group]
        while cards != 0:
            g["pile"][place] = group * values + lowest_bit(cards)
            cards &= cards - 1
            place += 1
    for group in range(KNIGHTS, GROUPS):
        for _ in range(hidden[group]):
            g["pile"][place] = int(t["trump_actions"]) - GROUPS + group
            place += 1
    bits = np.uint64(0)
    for place in range(start, MAX_CARDS - 1):
        # One random number is enough for two draws.
        bits = random_bits(seed, place) if (place - start) & 1 == 0 else bits << np.uint64(32)
        other = place + below(bits, MAX_CARDS - place)
        card = g["pile"][other]
        g["pile"][other] = g["pile"][place]
        g["pile"][place] = card


@jit
def count_of(cards, group):
    """Number of cards of a group in a set of cards."""
    return popcount(cards[group]) if group < KNIGHTS else cards[group]


@jit
def may_hold(g, player, group):
    """Whether a player may have cards of a group, by their voids."""
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

    over the cards drawn before that this player might have had. If w[k, s] is the product of the last factors over all
    later draws, they and the weights cancel out, and the product is at most that of G[k] exp(W0[k] / G[k] - 1). The
    quality of the guesses affects only how many draws are accepted.
    """
    weights, guesses = real_numbers(ROOM), real_numbers(DRAWS)
    owners = whole_numbers(DRAWS)
    draws = 0
    for voids in range(KNIGHTS, 0, -1):
        for player in range(int(g["num_players"])):
            if restricted >> player & 1 == 1 and popcount(int(g["voids"][player])) == voids:
                for _ in range(hand_size(t, g, player)):
                    owners[draws] = player
                    draws += 1
    bound = weigh(g, hidden, owners, draws, weights, guesses)
    left = whole_numbers(GROUPS)
    counts = real_numbers(GROUPS)
    stream = STREAM
    while True:
        ratio = 1.0
        for group in range(GROUPS):
            left[group] = hidden[group]
            counts[group] = count_of(hidden, group)
        for player in range(int(g["num_players"])):
            if restricted >> player & 1 == 1:
                for group in range(GROUPS):
                    g["hands"][player, group] = 0
        for draw in range(draws):
            row = draw * GROUPS
            total = 0.0
            for group in range(GROUPS):
                total += weights[row + group] * counts[group]
            if total == 0.0:
                ratio = 0.0
                break
            rest = total * fraction(seed, stream)
            stream += 1
            chosen = -1
            for group in range(GROUPS):
                share = weights[row + group] * counts[group]
                if share > 0.0:
                    chosen = group
                    if rest < share:
                        break
                    rest -= share
            weight = weights[row + chosen]
            nth = min(int(rest / weight), int(counts[chosen]) - 1)
            one = 1
            if chosen < KNIGHTS:
                cards = left[chosen]
                for _ in range(nth):
                    cards &= cards - 1
                one = cards & -cards
            left[chosen] -= one
            counts[chosen] -= 1.0
            g["hands"][owners[draw], chosen] += one
            ratio *= total / (weight * guesses[draw])
        if fraction(seed, stream) * exp(bound) < ratio:
            for group in range(GROUPS):
                hidden[group] = left[group]
            return
        stream += 1


@jit
def fraction(seed, number):
    """A random number of a stream, in 0..1."""
    return float(int(random_bits(seed, number) >> np.uint64(11))) / (1 << 53)


@jit
def weigh(g, hidden, owners, draws, weights, guesses):
    """Weights and guesses for `draw_restricted`.

    Args:
        owners: Player of each draw: shape (draws,).
        weights: Output: w[k, s] at k * GROUPS + s.
        guesses: Output: G[k].

    Returns:
        The sum of W0[k] / G[k] - 1 over all draws.
    """
    expected = real_numbers(ROOM)
    left = real_numbers(GROUPS)
    for index in range(draws * GROUPS):
        weights[index] = 1.0 if may_hold(g, owners[index // GROUPS], index % GROUPS) else 0.0
    bound = 0.0
    for _ in range(ROUNDS):
        for group in range(GROUPS):
            left[group] = count_of(hidden, group)
        for draw in range(draws):
            row = draw * GROUPS
            total = 0.0
            for group in range(GROUPS):
                expected[row + group] = left[group]
                total += weights[row + group] * left[group]
            share = 1.0 / max(total, 1.0)
            for group in range(GROUPS):
                left[group] *= 1.0 - weights[row + group] * share
        for group in range(GROUPS):
            left[group] = 1.0
        bound = 0.0
        for draw in range(draws - 1, -1, -1):
            row = draw * GROUPS
            total = 0.0
            full = 0.0
            one = 0.0
            for group in range(GROUPS):
                weight = left[group] if weights[row + group] > 0.0 else 0.0
                weights[row + group] = weight
                one = max(one, weight)
                total += weight * expected[row + group]
                full += weight * count_of(hidden, group)
            guess = max(total, one)
            guesses[draw] = guess
            bound += full / guess - 1.0
            for group in range(GROUPS):
                fall = weights[row + group] / guess
                left[group] /= 1.0 + fall + 0.5 * fall * fall  # a little more than exp(-fall)
    return bound
