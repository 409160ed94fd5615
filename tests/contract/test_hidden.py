"""Redeals of small positions, whose possible deals are listed here by hand."""

import json
from collections import Counter
from itertools import combinations
from math import sqrt

import numpy as np
import pytest

from artus_env.engine.play import kernels
from artus_env.testing.variants import variants_of
from quest.positions import joust


def hidden_bids():
    """One of two players has bid. Hidden from the other player: which three of seventeen cards the bidder had, and
    which one of these is the bid."""
    (variant, *_) = variants_of("magpies")
    game = variant.new_game(1)
    game.play(game.moves()[0])
    viewer = game.player
    own = game.to_dict(viewer)["hands"][viewer]
    others = [card for card in range(20) if card not in own]
    cells = [(*hand, bid) for hand in combinations(others, 3) for bid in hand]
    return game, viewer, cells, lambda position: (*position["hands"][1 - viewer], position["bids"][1 - viewer])


def hidden_hands():
    """Three players with three cards each, none in the pile; each of the others has shown a void."""
    variant = next(variant for variant in variants_of("royal") if variant.num_players == 3)
    game = variant.new_game(9)
    while game.to_dict(0)["pile"] or [len(hand) for hand in game.to_dict()["hands"]] != [3, 3, 3]:
        game.play(game.moves()[0])
    viewer, known = game.player, game.to_dict()
    left, right = (player for player in range(3) if player != viewer)
    unseen = known["hands"][left] + known["hands"][right]
    cells = [
        tuple(sorted(hand))
        for hand in combinations(unseen, 3)
        if not {card.split("-")[0] for card in hand} & set(known["voids"][left])
        and not {card.split("-")[0] for card in unseen if card not in hand} & set(known["voids"][right])
    ]
    assert known["voids"][left] != known["voids"][right]
    assert len(cells) > 2
    return game, viewer, cells, lambda position: tuple(sorted(position["hands"][left]))


def hidden_hands_and_a_bid():
    """Two of three players have two of four starting cards each. One of them has bid, of what they hold anyway; the
    other one is known not to have a certain card."""
    cards = ["dragon-1", "dragon-2", "book-1", "book-2"]
    known = {"taken": {0: ["sword-1", "lance-1"], 2: ["sword-2"]}, "excluded": {1: ["dragon-1"]}}
    game = joust((0, 2), start_cards={0: cards[:2], 1: cards[2:]}, moves=("bid:lance-1",), **known)
    hands = [(one, two) for one in combinations(cards, 2) for two in combinations(cards, 2) if not {*one} & {*two}]
    bids = [(), ("sword-1",), ("lance-1",), ("sword-1", "lance-1")]
    cells = [(*hand, bid) for hand in hands if "dragon-1" not in hand[1] for bid in bids]

    def read(position):
        return (*map(tuple, position["start_cards"][:2]), tuple(position["bids"][0]))

    return game, 2, cells, read


HIDDEN = {"magpies": hidden_bids, "royal": hidden_hands, "quest": hidden_hands_and_a_bid}
"""By game: a position, a viewer, all equally likely things that they don't know, and how to read them from a
position. Artus has its own in tests/artus_env/games/artus."""


@pytest.mark.parametrize("game", HIDDEN)
def test_redeals_are_uniform(game):
    start, viewer, cells, read = HIDDEN[game]()
    draws = 30 * len(cells)
    states = np.repeat(start.states, draws)
    kernels.redeal(start.tables, states, np.arange(draws).astype(np.uint64), np.full(draws, viewer, np.int8), 0, draws)
    found = Counter(read(start.definition.to_dict(state, start.components)) for state in states)
    assert set(found) <= set(cells)
    chi_square = sum((found[cell] - 30) ** 2 / 30 for cell in cells)
    freedom = len(cells) - 1
    assert freedom - 4 * sqrt(2 * freedom) < chi_square < freedom + 4 * sqrt(2 * freedom)


def test_chance_is_drawn_anew():
    """What comes after the deal can't be read from a redealt game either."""
    (variant, *_) = variants_of("magpies")
    game = variant.new_game(1)
    chances = {json.dumps(game.redeal(0, seed).to_dict()["chance"]) for seed in range(50)}
    assert len(chances) == 50
    assert "chance" not in game.to_dict(0)
