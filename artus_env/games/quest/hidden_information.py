"""Hidden information: drawing it again, and the visible part of a secret bid.

Hidden are the starting cards of the others until they are laid back, bids until all are open, the order of the quests
in the pile, and `chance`. Piles and cards that were taken are open, so the set of all others' starting cards is known,
but not who has which of them.
"""

from __future__ import annotations

import numpy as np

from artus_env.authoring import below, jit, popcount, random_bits, shuffle
from artus_env.games.quest.actions import BID, BID_KINDS
from artus_env.games.quest.fast import DIGITS, cards_in
from artus_env.games.quest.rules import NUM_QUESTS, count, hand, jousters, nth_card, one_card
from artus_env.games.quest.state import BID_PHASE, DIGIT

CARDS_STREAM, BID_STREAM, PILE_STREAM, CHANCE_NUMBER = 1000, 0, 100, 200
"""Indices in a redeal's random stream: the first of each kind. Cards come last, because they may take many attempts."""


@jit
def hides_bid(g, player, viewer):
    """Whether a player's bid is hidden from a viewer: the bid of one of two jousters, while the other still has to
    bid."""
    have_bid = jousters(g) & ~int(g["bidding"])
    return int(g["phase"]) == BID_PHASE and player != viewer and have_bid >> player & 1 == 1


@jit
def public_action(t, g, action, viewer):
    """Action as a viewer sees it: all bids of another player against a second jouster look the same, as `BID`."""
    secret = action >= BID and viewer != int(g["player"]) and popcount(jousters(g)) > 1
    return BID if secret else action


@jit
def is_revealed(t, g, action, viewer, now):
    """Whether a viewer knows an action in a later state: bids are known when the tournament is over."""
    return int(now["phase"]) != BID_PHASE or int(now["round"]) > int(g["round"])


@jit
def resample_hidden(t, g, viewer, seed):
    """Draw everything that a viewer doesn't know.

    Starting cards are drawn uniformly over single cards, without the excluded kinds of each player, because viewers
    know these. Then each hidden bid is drawn uniformly from the different sets that its player's hand allows.
    """
    redeal_start_cards(t, g, viewer, seed)
    stream = BID_STREAM
    for player in range(int(g["num_players"])):
        if hides_bid(g, player, viewer):
            g["bids"][player] = 0
            for kind in range(BID_KINDS):
                number = below(random_bits(seed, stream), count(hand(g, player), kind) + 1)
                g["bids"][player] += number * one_card(kind)
                stream += 1
    redeal_pile(g, seed)
    g["chance"] = random_bits(seed, CHANCE_NUMBER) >> np.uint64(11)


@jit
def redeal_start_cards(t, g, viewer, seed):
    """Deal the others' starting cards repeatedly until no exclusion is violated, so that all valid deals are equally
    likely. There are at most six cards, so in the worst case 1 of 90 deals is valid."""
    unseen, hand_sizes, players = 0, 0, int(g["num_players"])
    for player in range(players):
        if player != viewer:
            cards = int(g["start_cards"][player])
            unseen += cards
            hand_sizes += cards_in(cards) << DIGIT * player
    stream, is_valid = CARDS_STREAM, False
    while not is_valid:
        is_valid = True
        cards, left = unseen, cards_in(unseen)
        for player in range(players):
            if player != viewer:
                g["start_cards"][player] = 0
                for _ in range(count(hand_sizes, player)):
                    kind = nth_card(cards, below(random_bits(seed, stream), left))
                    stream += 1
                    left -= 1
                    cards -= one_card(kind)
                    g["start_cards"][player] += one_card(kind)
                is_valid = is_valid and int(g["start_cards"][player]) & int(g["excluded"][player]) * DIGITS == 0


@jit
def redeal_pile(g, seed):
    """Shuffle the pile of quests; the set of quests in it is known."""
    size = int(g["quest_pile_size"])
    quests = 0
    for place in range(NUM_QUESTS - size, NUM_QUESTS):
        quests |= 1 << int(g["quest_pile"][place])
    place = NUM_QUESTS - size
    for quest in range(NUM_QUESTS):  # sort them first: the result must not depend on the true order
        if quests >> quest & 1:
            g["quest_pile"][place] = quest
            place += 1
    shuffle(g["quest_pile"], NUM_QUESTS - size, size, seed, PILE_STREAM + size - 1, -1)
