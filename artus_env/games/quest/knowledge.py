"""What players know and don't know: drawing hidden things anew, and what is seen of a secret bid.

Hidden are the starting cards of the others as long as they haven't been laid back, bids until all are open, the order
of the quests in the pile, and `chance`. Piles and cards that were taken are open, so what the others' starting cards
are together is known; who has which of them isn't.
"""

from __future__ import annotations

import numpy as np

from artus_env.engine.bits import popcount
from artus_env.engine.jit import jit
from artus_env.engine.rng import below, random_bits
from artus_env.games.quest.actions import BID, BID_DONE, BID_KINDS
from artus_env.games.quest.rules import NUM_CARDS, NUM_QUESTS, held, jousters, shuffle
from artus_env.games.quest.state import BID_PHASE

CARDS_STREAM, BID_STREAM, PILE_STREAM, CHANCE_NUMBER = 1000, 0, 100, 200
"""Numbers of a redeal's random stream: the first of each kind; cards may take many attempts and come last."""


@jit
def hides_bid(g, player, viewer):
    """Whether a viewer doesn't know what a player has bid: one of two jousters who is bidding or has bid."""
    joust = jousters(g)
    if int(g["phase"]) != BID_PHASE or player == viewer or popcount(joust) < 2 or not joust >> player & 1:
        return False
    return player == int(g["player"]) or not int(g["bidding"]) >> player & 1


@jit
def public_action(t, g, action, viewer):
    """What a viewer sees of an action: of a card in a secret bid nothing, not even how many there are."""
    secret = BID <= action < BID_DONE and hides_bid(g, int(g["player"]), viewer)
    return -1 if secret else action


@jit
def redeal(t, g, viewer, seed):
    """Draw anew what a viewer doesn't know, uniformly over the single cards that it can be.

    Exclusions count as known: what a player's starting cards can't be, they aren't. Then every hidden bid is any of the
    different sets that its player's hand allows, each as likely.
    """
    redeal_start_cards(t, g, viewer, seed)
    stream = BID_STREAM
    for player in range(int(g["num_players"])):
        if hides_bid(g, player, viewer):
            for kind in range(BID_KINDS):
                g["bids"][player, kind] = below(random_bits(seed, stream), held(g, player, kind) + 1)
                stream += 1
    redeal_pile(g, seed)
    g["chance"] = random_bits(seed, CHANCE_NUMBER) >> np.uint64(11)


@jit
def redeal_start_cards(t, g, viewer, seed):
    """Deal the others' starting cards anew, again and again until no exclusion is broken: each deal that breaks none is
    as likely. They are six cards at most, so one in 90 deals fits in the worst case.

    Sets of cards are numbers with four bits for each kind.
    """
    unseen, left = 0, 0
    counts = 0  # of each player's starting cards, four bits each
    for player in range(int(g["num_players"])):
        if player != viewer:
            for kind in range(NUM_CARDS):
                cards = int(g["start_cards"][player, kind])
                unseen += cards << 4 * kind
                left += cards
                counts += cards << 4 * player
    if left == 0:
        return
    stream, fits = CARDS_STREAM, False
    while not fits:
        fits = True
        cards, number, player, due = unseen, left, -1, 0
        while fits and number > 0:
            while due == 0:
                player += 1
                due = counts >> 4 * player & 15
                for kind in range(NUM_CARDS if due > 0 else 0):
                    g["start_cards"][player, kind] = 0
            nth = below(random_bits(seed, stream), number)
            stream += 1
            kind = 0
            while nth >= cards >> 4 * kind & 15:
                nth -= cards >> 4 * kind & 15
                kind += 1
            fits = not int(g["excluded"][player]) >> kind & 1
            cards -= 1 << 4 * kind
            g["start_cards"][player, kind] += 1
            number -= 1
            due -= 1


@jit
def redeal_pile(g, seed):
    """Shuffle the pile of quests; which ones lie there is known."""
    size = int(g["quest_pile_size"])
    quests = 0
    for place in range(NUM_QUESTS - size, NUM_QUESTS):
        quests |= 1 << int(g["quest_pile"][place])
    place = NUM_QUESTS - size
    for quest in range(NUM_QUESTS):  # in their order first: the result must not depend on the true one
        if quests >> quest & 1:
            g["quest_pile"][place] = quest
            place += 1
    shuffle(g["quest_pile"], NUM_QUESTS - size, size, seed, PILE_STREAM)
