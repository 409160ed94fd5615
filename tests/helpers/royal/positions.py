"""Positions of the royal card game for tests that read like the rule they check."""

from collections import Counter

from artus_env import Game
from royal.reference import DECK


def table(hands, *, fields=None, trumps=(), leader=0, phase="trick", turn=None):
    """A position before a trick: the hands, and the first deal, of which the other tricks are over."""
    n = len(hands)
    rest = list((Counter(DECK) - Counter(card for hand in hands for card in hand)).elements())
    played = spent(rest, n, 8 - len(hands[0]), leader)
    discards = [card for cards in played for card in cards]
    pile = list((Counter(rest) - Counter(discards)).elements())
    return {
        "game": "royal", "rules": "standard", "num_players": n, "start_player": 0,
        "dealer": (leader - 1) % n, "phase": phase, "turn": leader if turn is None else turn,
        "fields": list(fields or [0] * n), "trumps": [*trumps, *[None] * (6 - len(trumps))],
        "hands": [sorted(hand, key=DECK.index) for hand in hands], "voids": [[] for _ in hands], "trick": [],
        "played": played, "discards": sorted(discards, key=DECK.index), "pile": pile,
        "chance": 7, "shuffles": 0,
    }  # fmt: skip


def spent(rest, n, tricks, leader):
    """Tricks that are over: the leader led the highest card of a suit that all followed, and so led the next one."""
    played = [[] for _ in range(n)]
    suits = {}
    for card in rest:
        if "-" in card:
            suits.setdefault(card.split("-")[0], []).append(card)
    for _ in range(tricks):
        cards = max(suits.values(), key=len)
        cards.sort(key=DECK.index)
        for seat in range(n):
            played[(leader + seat) % n].append(cards.pop())
    return played


def at(position):
    return Game.from_dict(position, game="royal")
