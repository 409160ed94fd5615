"""Who knows what: removing what a player doesn't know, and drawing it anew.

All know the pawns, the chips, the trick, the discards, who played what since the last deal, how many cards each hand
and the pile have, and the *voids*: a player who hasn't followed a suit has none of it before the next deal. Hidden are
the other hands, the order of the pile, and `chance`.
"""

from __future__ import annotations

import numpy as np

from artus_env.engine.jit import jit
from artus_env.engine.rng import below, random_bits
from artus_env.games.royal.components import MAX_CARDS
from artus_env.games.royal.rules import CHANCE, hand_size, last_card, left_of, put
from artus_env.games.royal.state import GROUPS, KNIGHTS


@jit
def conceal(t, g, viewer):
    """Remove all that `viewer` doesn't know: other hands become empty, the cards of the pile -1, `chance` 0; the pile's
    size stays, and the sizes of hands follow from the cards played."""
    g["chance"] = 0
    for player in range(int(g["num_players"])):
        if player != viewer:
            for group in range(GROUPS):
                g["hands"][player, group] = 0
    for place in range(MAX_CARDS - int(g["pile_size"]), MAX_CARDS):
        g["pile"][place] = -1


@jit
def gather_hidden(t, g, viewer):
    """Lay all cards that `viewer` doesn't see against the end of the pile, in deck order, and empty the other hands.

    Returns:
        How many they are.
    """
    players = int(g["num_players"])
    conceal(t, g, viewer)
    for turn in range(int(g["in_trick"])):  # cards of the trick count as seen, like discards
        put(t, g["discards"], last_card(g, left_of(g, int(g["leader"]), turn)))
    size = int(g["pile_size"])
    for player in range(players):
        if player != viewer:
            size += hand_size(t, g, player)
    place = MAX_CARDS - size
    for kind in range(int(t["trump_actions"])):
        group = int(t["group"][kind])
        seen = int(g["discards"][group])
        own = int(g["hands"][viewer, group])
        if group >= KNIGHTS:
            count = int(t["copies"][kind]) - seen - own
        else:
            count = 1 - (seen + own >> int(t["value"][kind]) - 1 & 1)
        for _ in range(count):
            g["pile"][place] = kind
            place += 1
    for turn in range(int(g["in_trick"])):
        kind = last_card(g, left_of(g, int(g["leader"]), turn))
        group = int(t["group"][kind])
        one = 1 if group >= KNIGHTS else 1 << int(t["value"][kind]) - 1
        g["discards"][group] -= one
    return size


@jit
def redeal(t, g, viewer, seed):
    """Draw all that `viewer` doesn't know anew, uniformly among the deals that fit what they know."""
    players = int(g["num_players"])
    hidden = gather_hidden(t, g, viewer)
    start = MAX_CARDS - hidden
    stream = CHANCE + 1
    fits = False
    while not fits:
        fits = True
        place = start
        for restricted in range(2):
            for player in range(players):
                if player == viewer or (int(g["voids"][player]) == 0) == (restricted == 0):
                    continue
                for group in range(GROUPS):
                    g["hands"][player, group] = 0
                for _ in range(hand_size(t, g, player)):
                    if not fits:
                        break
                    other = place + below(random_bits(seed, stream), MAX_CARDS - place)
                    stream += 1
                    card = int(g["pile"][other])
                    g["pile"][other] = g["pile"][place]
                    g["pile"][place] = card
                    place += 1
                    put(t, g["hands"][player], card)
                    fits = int(g["voids"][player]) >> int(t["group"][card]) & 1 == 0
    for last in range(MAX_CARDS - 1, place, -1):
        other = place + below(random_bits(seed, stream), last - place + 1)
        stream += 1
        card = g["pile"][other]
        g["pile"][other] = g["pile"][last]
        g["pile"][last] = card
    for dealt in range(start, place):
        g["pile"][dealt] = -1
    g["chance"] = random_bits(seed, CHANCE) >> np.uint64(11)
