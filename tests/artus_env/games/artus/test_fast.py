"""Functions that use look-up tables give the same results as their plain definitions."""

import numpy as np

from artus_env.games.artus import fast
from artus_env.games.artus.actions import MASK_WORDS, build_tables
from artus_env.games.artus.components import NUM_SEATS, STANDARD

TABLES = build_tables(STANDARD)[0]
RNG = np.random.default_rng(5)


def sets(size, number=300):
    """Sets as bits, from nearly empty to nearly full."""
    for _ in range(number):
        yield sum(1 << int(place) for place in np.flatnonzero(RNG.random(size) < RNG.random()))


def test_seats_by_their_value():
    for board in sets(NUM_SEATS):
        seats, total = fast.ranked(TABLES, board)
        assert (seats, total) == fast.plain_ranked(TABLES, board)
        assert fast.best_of(TABLES, seats) == fast.plain_best_of(TABLES, seats)
        if board:
            assert fast.without_best(seats) == fast.plain_without_best(seats)


def test_cards():
    for cards in sets(int(TABLES["num_cards"])):
        for card in range(len(STANDARD.cards)):
            assert fast.copies(TABLES, cards, card) == fast.plain_copies(TABLES, cards, card)
            if fast.copies(TABLES, cards, card):
                assert fast.remove_copy(TABLES, cards, card) == fast.plain_remove_copy(TABLES, cards, card)
            if fast.copies(TABLES, cards, card) < STANDARD.cards[card].copies:
                assert fast.add_copy(TABLES, cards, card) == fast.plain_add_copy(TABLES, cards, card)


def test_actions_of_a_hand():
    words, plain = np.zeros(MASK_WORDS, np.uint64), np.zeros(MASK_WORDS, np.uint64)
    for hand in sets(int(TABLES["num_cards"])):
        for four_players, king_colour in np.ndindex(2, 2):
            fast.write_actions(TABLES, four_players, king_colour, hand, words)
            fast.plain_write_actions(TABLES, four_players, king_colour, hand, plain)
            assert (words == plain).all()
