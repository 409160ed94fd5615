"""Redeals of small positions for which all possible deals are listed here."""

import json
from collections import Counter
from itertools import combinations
from math import sqrt

import numpy as np
import pytest

from artus_env.engine.play import kernels
from artus_env.testing.variants import variants_of
from quest.positions import joust


def hidden_bid_and_hand():
    """One of two players has bid. Hidden from the other player: which three of seventeen cards the bidder had, and
    which one of these is the bid."""
    (variant, *_) = variants_of("magpies")
    game = variant.new_game(1)
    game.play(game.moves()[0])
    viewer = game.player
    own_hand = game.to_dict(viewer)["hands"][viewer]
    unknown_cards = [card for card in range(20) if card not in own_hand]
    secrets = [(*hand, bid) for hand in combinations(unknown_cards, 3) for bid in hand]
    return game, viewer, secrets, lambda position: (*position["hands"][1 - viewer], position["bids"][1 - viewer])


def hidden_hands():
    """Three players with three cards each, none in the pile; each of the others has shown a void."""
    variant = next(variant for variant in variants_of("royal") if variant.num_players == 3)
    game = variant.new_game(9)
    while game.to_dict(0)["pile"] or [len(hand) for hand in game.to_dict()["hands"]] != [3, 3, 3]:
        game.play(game.moves()[0])
    viewer, position = game.player, game.to_dict()
    left, right = (player for player in range(3) if player != viewer)
    unknown_cards = position["hands"][left] + position["hands"][right]
    secrets = [
        tuple(sorted(hand))
        for hand in combinations(unknown_cards, 3)
        if not {card.split("-")[0] for card in hand} & set(position["voids"][left])
        and not {card.split("-")[0] for card in unknown_cards if card not in hand} & set(position["voids"][right])
    ]
    assert position["voids"][left] != position["voids"][right]
    assert len(secrets) > 2
    return game, viewer, secrets, lambda position: tuple(sorted(position["hands"][left]))


def hidden_hands_and_a_bid():
    """Two of three players have two of four starting cards each. One of them has bid cards that they are known to hold;
    the other is known not to have a certain card."""
    cards = ["dragon-1", "dragon-2", "book-1", "book-2"]
    arguments = {"taken": {0: ["sword-1", "lance-1"], 2: ["sword-2"]}, "excluded": {1: ["dragon-1"]}}
    game = joust((0, 2), start_cards={0: cards[:2], 1: cards[2:]}, moves=("bid:lance-1",), **arguments)
    hands = [
        (first, second)
        for first in combinations(cards, 2)
        for second in combinations(cards, 2)
        if not {*first} & {*second}
    ]
    bids = [(), ("sword-1",), ("lance-1",), ("sword-1", "lance-1")]
    secrets = [(*hand, bid) for hand in hands if "dragon-1" not in hand[1] for bid in bids]

    def read(position):
        return (*map(tuple, position["start_cards"][:2]), tuple(position["bids"][0]))

    return game, 2, secrets, read


SMALL_POSITIONS = {"magpies": hidden_bid_and_hand, "royal": hidden_hands, "quest": hidden_hands_and_a_bid}
"""For each game a function that returns a game, a viewer, the equally likely secrets from which the truth is one, and a
function that reads the secret from a position. Artus has its own test in tests/artus_env/games/artus."""


@pytest.mark.parametrize("game", SMALL_POSITIONS)
def test_redeals_are_uniform(game):
    start, viewer, secrets, read = SMALL_POSITIONS[game]()
    count = 30 * len(secrets)
    states = np.repeat(start.states, count)
    kernels.redeal(start.tables, states, np.arange(count).astype(np.uint64), np.full(count, viewer, np.int8), 0, count)
    counts = Counter(read(start.definition.to_dict(state, start.components)) for state in states)
    assert set(counts) <= set(secrets)
    chi_square = sum((counts[secret] - 30) ** 2 / 30 for secret in secrets)
    freedom = len(secrets) - 1
    assert freedom - 4 * sqrt(2 * freedom) < chi_square < freedom + 4 * sqrt(2 * freedom)


def test_chance_is_drawn_anew():
    """A redealt game doesn't reveal later random events either."""
    (variant, *_) = variants_of("magpies")
    game = variant.new_game(1)
    chances = {json.dumps(game.redeal(0, seed).to_dict()["chance"]) for seed in range(50)}
    assert len(chances) == 50
    assert "chance" not in game.to_dict(0)
