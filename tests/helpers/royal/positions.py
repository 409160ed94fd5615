"""Positions of the royal card game for tests that read like the rule they check."""

from collections import Counter

from artus_env import Game
from royal.reference import DECK


def table(hands, *, fields=None, trumps=(), leader=0, phase="trick", turn=None):
    """A position with these hands, before a trick of the first deal whose earlier tricks have been played."""
    n = len(hands)
    other_cards = list((Counter(DECK) - Counter(card for hand in hands for card in hand)).elements())
    played = cards_played(other_cards, n, 8 - len(hands[0]), leader)
    discards = [card for cards in played for card in cards]
    pile = list((Counter(other_cards) - Counter(discards)).elements())
    return {
        "game": "royal", "rules": "standard", "num_players": n, "start_player": 0,
        "dealer": (leader - 1) % n, "phase": phase, "turn": leader if turn is None else turn,
        "fields": list(fields or [0] * n), "trumps": [*trumps, *[None] * (6 - len(trumps))],
        "hands": [sorted(hand, key=DECK.index) for hand in hands], "voids": [[] for _ in hands], "trick": [],
        "played": played, "discards": sorted(discards, key=DECK.index), "pile": pile,
        "chance": 7, "shuffles": 0,
    }  # fmt: skip


def cards_played(cards_left, n, tricks, leader):
    """Cards played by each player in earlier tricks. In each, the leader led the highest card of a suit, all followed
    suit, and so the leader also led the next trick."""
    played = [[] for _ in range(n)]
    suits = {}
    for card in cards_left:
        if "-" in card:
            suits.setdefault(card.split("-")[0], []).append(card)
    for _ in range(tricks):
        suit_cards = max(suits.values(), key=len)
        suit_cards.sort(key=DECK.index)
        for seat in range(n):
            played[(leader + seat) % n].append(suit_cards.pop())
    return played


def at(position):
    """A game at a position."""
    return Game.from_dict(position, game="royal")
