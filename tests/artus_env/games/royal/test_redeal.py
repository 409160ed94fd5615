"""Redeals: uniform over all deals that fit a player's knowledge, including voids, for any true deal."""

from collections import Counter
from itertools import combinations, permutations
from math import comb, prod, sqrt
from threading import Thread

import numpy as np
import pytest

from artus_env import Game
from artus_env.engine.compiling.jit import DISABLED
from artus_env.engine.play import kernels
from artus_env.games.royal.components import STANDARD, Components
from artus_env.games.royal.position import POSITIONS
from royal.positions import table
from royal.reference import DECK

SMALL = Components(suits=("hearts", "clubs"), values=5, knights=1, shields=1, hand=2)
LONG = Components(suits=("hearts", "clubs", "spades"), values=5, knights=2, shields=1, hand=3)
FOUR = Components(suits=("hearts", "clubs", "spades", "flowers"), values=5, knights=3, shields=1, hand=4)

MOST_CELLS = 1_000
"""Maximum number of different deals in a test of uniformity."""
DRAWS_PER_CELL = 4 if DISABLED else 30
"""Number of redeals for each equally likely deal."""


def deals(position, viewer, components, seen_of_pile):
    """All deals that fit a viewer's knowledge, each as the other hands and the first `seen_of_pile` cards of the pile.

    Returns:
        A Counter of deals: equal cards count as different ones, so that a deal may be there several times. None if
        there are too many deals to count.
    """
    hidden = [card for card in components.cards for _ in range(components.copies[components.cards.index(card)])]
    for card in position["hands"][viewer] + position["discards"] + [card for _, card in position["trick"]]:
        hidden.remove(card)
    sizes = [count for player, count in enumerate(position["hands"]) if player != viewer]
    slots = [len(hidden) - sum(sizes[:nth]) for nth in range(len(sizes))]
    if prod(map(comb, slots, sizes)) > 2 * MOST_CELLS:
        return None
    found = [((), hidden)]
    for player, count in enumerate(position["hands"]):
        if player == viewer:
            continue
        found = [
            (
                (*hands, tuple(undealt[index] for index in indices)),
                [c for k, c in enumerate(undealt) if k not in indices],
            )
            for hands, undealt in found
            for indices in combinations(range(len(undealt)), count)
            if not {undealt[index].split("-")[0] for index in indices} & set(position["voids"][player])
        ]
        if len(found) > MOST_CELLS:
            return None
    if len(found) * len(list(permutations(found[0][1], seen_of_pile))) > MOST_CELLS:
        return None
    return Counter((*hands, pile) for hands, undealt in found for pile in permutations(undealt, seen_of_pile))


def redealt(game, viewer, count, first_seed=0):
    """The states of many redeals of a game: shape (count,)."""
    states = np.repeat(game.states, count)
    seeds = np.arange(first_seed, first_seed + count, dtype=np.uint64)
    kernels.redeal(game.tables, states, seeds, np.full(count, viewer, np.int8), 0, count)
    return states


def check_uniform(game, viewer, seen_of_pile):
    """Check that all deals are redealt equally often. Returns False, without a check, if there is only one deal or
    there are too many."""
    cells = deals(game.to_dict(viewer), viewer, game.components, seen_of_pile)
    if cells is None or len(cells) < 2:
        return False
    total = cells.total()
    draws = DRAWS_PER_CELL * total
    # Equal states are converted only once: hands and pile are the only bytes that may differ.
    states = redealt(game, viewer, draws)
    states["chance"] = 0
    pile_start = states["pile"].shape[1] - int(game.state["pile_size"])
    states["pile"][:, pile_start + seen_of_pile :] = 0
    different_states, counts = np.unique(states.view(f"V{states.itemsize}"), return_counts=True)
    found = Counter()
    for state, count in zip(different_states.view(states.dtype), counts, strict=True):
        position = POSITIONS.to_dict(state, game.components)
        hands = [tuple(hand) for player, hand in enumerate(position["hands"]) if player != viewer]
        found[(*hands, tuple(position["pile"][:seen_of_pile]))] += int(count)
    assert set(found) <= set(cells), "an impossible deal"
    expected = {cell: DRAWS_PER_CELL * weight for cell, weight in cells.items()}
    chi_square = sum((found[cell] - count) ** 2 / count for cell, count in expected.items())
    freedom = len(cells) - 1
    assert abs(chi_square - freedom) < 5 * sqrt(2 * freedom) + 5, (chi_square, freedom, game.to_dict(), viewer)
    return True


def positions_with_voids(components, num_players, games):
    """Yield games at positions of random games in which a player has shown a void."""
    for seed in range(games):
        choices = np.random.default_rng(seed)
        game = Game(game="royal", num_players=num_players, seed=seed, components=components)
        while not game.over:
            if any(game.to_dict()["voids"]):
                yield game.clone()
            game.play(int(choices.choice(game.legal_actions())))


@pytest.mark.parametrize("num_players", range(2, 7))
@pytest.mark.parametrize("box", ["SMALL", "LONG", "FOUR", "STANDARD"])
def test_redeals_are_uniform(box, num_players):
    """Compared with a count of all deals, in positions with voids: of the hands and up to two cards of the pile."""
    components = globals()[box]
    if len(components.deck) < num_players * components.hand or (components == STANDARD and num_players > 4):
        pytest.skip("too few cards, or too many deals to count")
    num_wanted = 1 if DISABLED else 3
    num_checked, last_shape = 0, None
    for game in positions_with_voids(components, num_players, 8):
        viewer = game.player
        known = game.to_dict(viewer)
        shape = (known["voids"], known["hands"][viewer], known["pile"])
        if shape == last_shape:
            continue
        for seen_of_pile in (2, 1, 0):
            if seen_of_pile <= known["pile"] and check_uniform(game, viewer, seen_of_pile):
                num_checked += 1
                last_shape = shape
                break
        if num_checked == num_wanted:
            return
    assert num_checked


@pytest.mark.slow
@pytest.mark.parametrize("num_players", range(2, 7))
def test_no_redeal_gives_a_player_a_card_of_a_suit_that_they_have_not_followed(num_players):
    """Voids count until the next deal. A redealt game is a valid position that the viewer can't distinguish."""
    num_voids = 0
    for seed in range(2):
        choices = np.random.default_rng(seed)
        game = Game(game="royal", num_players=num_players, seed=seed)
        while not game.over:
            voids = game.to_dict()["voids"]
            for viewer in {game.player, (game.player + 1) % num_players} if any(voids) else ():
                redealt_game = game.redeal(viewer, seed)
                hands = redealt_game.to_dict()["hands"]
                for player, suits in enumerate(voids):
                    assert not {card.split("-")[0] for card in hands[player]} & set(suits)
                    num_voids += bool(suits) and player != viewer
                assert Game.from_dict(redealt_game.to_dict(), game="royal") == redealt_game
                assert redealt_game.to_dict(viewer) == game.to_dict(viewer)
            game.play(int(choices.choice(game.legal_actions())))
    assert num_voids > 30


def test_redeals_end_where_the_pile_is_empty_and_voids_leave_little_open():
    """Three players, the last hands before a shuffle: all flowers must be player 1's, and the chalice player 2's. Such
    a redeal once never ended: the guesses for the last draws were almost 0, so that no draw was accepted."""
    hands = [
        "spades-1 spades-2 spades-3 spades-4 spades-5",
        "hearts-9 hearts-10 flowers-3 flowers-8 flowers-10",
        "hearts-2 diamonds-8 clubs-1 clubs-5 chalices-9",
    ]
    tricks = [
        "chalices-11 diamonds-1 chalices-1",
        "flowers-11 flowers-1 diamonds-2",
        "diamonds-11 diamonds-3 diamonds-4",
    ]
    hands = list(map(str.split, hands))
    played = [list(cards) for cards in zip(*map(str.split, tricks), strict=True)]
    discards = list((Counter(DECK) - Counter(card for hand in hands for card in hand)).elements())
    changes = {"voids": [[], ["chalices"], ["flowers"]], "played": played, "discards": discards, "pile": []}
    game = Game.from_dict(table(hands) | changes, game="royal")
    cells = deals(game.to_dict(0), 0, STANDARD, 0)
    states = []
    thread = Thread(target=lambda: states.extend(redealt(game, 0, DRAWS_PER_CELL * cells.total())), daemon=True)
    thread.start()
    thread.join(timeout=60)
    assert states, "a redeal doesn't end"
    assert {(*map(tuple, POSITIONS.to_dict(state, STANDARD)["hands"][1:]), ()) for state in states} == set(cells)


def test_a_new_deal_ends_all_voids():
    for seed in range(2):
        choices = np.random.default_rng(seed)
        game = Game(game="royal", num_players=4, seed=seed)
        while not game.over:
            position = game.to_dict()
            if not any(position["played"]):
                assert position["voids"] == [[], [], [], []]
            game.play(int(choices.choice(game.legal_actions())))
