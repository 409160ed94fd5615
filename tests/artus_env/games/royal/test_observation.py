"""Observations in the royal card game, compared with a second implementation that reads the known position."""

import random

import numpy as np
import pytest

from artus_env import Game
from artus_env.games.royal.components import Components
from artus_env.games.royal.definition import ROYAL
from observations import check_observations, flags
from royal.reference import ARTUS, DECK, SUITS, SWORDS, suit_of, value_of

GROUPS = [*SUITS, "knight", "shield"]
SUPER = GROUPS[6:]


def group_of(card):
    """The suit of a card, or knight or shield."""
    return suit_of(card) or card


def plane(cards):
    """A flag for each value of each suit: whether the card is among these."""
    return [int(f"{suit}-{value}" in cards) for suit in SUITS for value in range(1, 12)]


def takes(card, best, led, trumps):
    """Whether a card takes a trick from the best one so far."""
    if best is None:
        return True
    if best in SUPER or card in SUPER:
        return card in SUPER and card != best

    def rank(other):
        place = trumps.index(suit_of(other)) + 1 if suit_of(other) in trumps else 0
        return (place, value_of(other)) if place or suit_of(other) == led else (-1, 0)

    return rank(card) > rank(best)


def expected(position, viewer):
    """The blocks of an observation by name, from a position as the viewer knows it."""
    n, over = position["num_players"], position["phase"] == "over"
    trumps = [suit for suit in position["trumps"] if suit]
    hand, trick = position["hands"][viewer], position["trick"]
    unseen = list(DECK)
    for card in [*hand, *position["discards"], *(card for _, card in trick)]:
        unseen.remove(card)
    led = suit_of(trick[0][1]) if trick else None
    holder, best = None, None
    for player, card in trick:
        if takes(card, best, led, trumps):
            holder, best = player, card
    playable = [card for card in hand if suit_of(card) == led] if led else []
    taking_cards = [card for card in playable or hand if takes(card, best, led, trumps)]
    unseen_values = {suit: [value_of(card) for card in unseen if suit_of(card) == suit] for suit in SUITS}
    own_values = {suit: [value_of(card) for card in hand if suit_of(card) == suit] for suit in SUITS}
    masters = [
        f"{suit}-{value}" for suit in SUITS for value in own_values[suit] if value > max(unseen_values[suit], default=0)
    ]
    fields, seats = position["fields"], [(viewer + turn) % n for turn in range(n)]
    pile, hand_sizes = position["pile"], [8 - len(played) for played in position["played"]]

    def by_player(value, size=1):
        parts = [value(player) for player in seats]
        flat = [number for part in parts for number in (part if isinstance(part, list) else [part])]
        return flat + [0] * (6 * size - len(flat))

    def target(player):
        return next(field for field in range(fields[player] + 1, 99) if field not in fields)

    def tricks_to_go(player):
        return ARTUS - fields[player] - sum(field > fields[player] for field in fields)

    def to_sword(player):
        return next((field - fields[player] for field in SWORDS if field > fields[player]), 0)

    def trump_features(suit):
        if suit is None:
            return [0, 0, 0]
        return [len(own_values[suit]), max(own_values[suit], default=0), len(unseen_values[suit])]

    cards_of = dict(trick)
    leader = position["turn"]
    if trick:
        leader = trick[0][0]
    elif position["phase"] == "sword":
        is_new_deal = all(count == 8 for count in hand_sizes) and max(fields) > 0
        leader = (position["dealer"] + 1) % n if is_new_deal else position["turn"]
    return {
        "hand": plane(hand),
        "own super-trumps": [hand.count(kind) for kind in SUPER],
        "unseen": plane(unseen),
        "unseen super-trumps": [unseen.count(kind) for kind in SUPER],
        "masters": plane(masters),
        "takers": plane(taking_cards),
        "taking super-trumps": [taking_cards.count(kind) for kind in SUPER],
        "led": flags(7, SUITS.index(led) + 1 if led else 0),
        "best card": flags(9, GROUPS.index(group_of(best)) + 1 if best else 0),
        "best value": [value_of(best) if best and best not in SUPER else 0],
        "best place": [trumps.index(suit_of(best)) + 1 if best and suit_of(best) in trumps else 0],
        "phase": flags(2, ["trick", "sword", "over"].index(position["phase"])),
        "players": flags(5, n - 2),
        "chips": [len(trumps)],
        "swaps": [int(len(trumps) == 6)],
        "deals": [pile // (8 * n)],
        "in trick": [len(trick)],
        "to come": [n - len(trick) if position["phase"] == "trick" else 0],
        "pile": [pile],
        "trump cards": [number for suit in position["trumps"] for number in trump_features(suit)],
        "suits": [len(own_values[suit]) for suit in SUITS],
        "unseen suits": [len(unseen_values[suit]) for suit in SUITS],
        "trumps": [int(place < len(trumps) and trumps[place] == suit) for place in range(6) for suit in SUITS],
        "voids": by_player(lambda player: [int(suit in position["voids"][player]) for suit in SUITS], 6),
        "nearly there": by_player(lambda player: flags(4, tricks_to_go(player))[1:], 3),
        "field": by_player(lambda player: fields[player]),
        "tricks to go": by_player(tricks_to_go),
        "target": by_player(lambda player: min(ARTUS, target(player))),
        "gain": by_player(lambda player: target(player) - fields[player]),
        "sword": by_player(lambda player: int(target(player) in SWORDS)),
        "to sword": by_player(to_sword),
        "cards": by_player(lambda player: hand_sizes[player]),
        "dealer": by_player(lambda player: int(player == position["dealer"])),
        "leader": by_player(lambda player: int(player == (position["start_player"] if over else leader))),
        "to move": by_player(lambda player: int(player == position["turn"])),
        "start player": by_player(lambda player: int(player == position["start_player"])),
        "card played": by_player(
            lambda player: flags(8, GROUPS.index(group_of(cards_of[player]))) if player in cards_of else [0] * 8, 8
        ),
        "value played": by_player(
            lambda player: value_of(cards_of[player]) if cards_of.get(player, "knight") not in SUPER else 0
        ),
        "takes it": by_player(lambda player: int(player == holder)),
    }  # fmt: skip


@pytest.mark.parametrize("num_players", range(2, 7))
def test_observations_agree_with_the_known_position(num_players):
    assert check_observations(ROYAL, "standard", num_players, expected) == {"trick", "sword", "over"}


def test_the_layout_is_the_same_for_every_box():
    small = Components(
        suits=("hearts", "clubs", "spades", "moons"), values=10, knights=2, fields=12, swords=(3, 6), hand=6
    )
    names = [(block.name, block.size) for block in ROYAL.layout(ROYAL.standard).features]
    assert [(block.name, block.size) for block in ROYAL.layout(small).features] == names
    assert len({name for name, _ in names}) == len(names)
    low, high = ROYAL.observation_bounds(small)
    game = Game(game="royal", num_players=6, seed=3, components=small)
    choices = random.Random(3)
    while not game.over:
        observation = game.observation()
        assert ((low <= observation) & (observation <= high)).all()
        values = observation[: 6 * 11].reshape(6, 11)
        assert not values[4:].any()
        assert not values[:, 10].any()
        assert values.sum() + observation[66:68].sum() == len(game.to_dict()["hands"][game.player])
        game.play(choices.choice(game.legal_actions()))


def test_scaled_features_are_about_as_large_as_flags():
    low, high = ROYAL.observation_bounds(ROYAL.standard)
    largest = high * ROYAL.observation_scale(ROYAL.standard)
    assert (low == 0).all()
    assert (largest >= 0.99).all()
    assert np.max(largest) <= 9
