"""Texts of positions of the royal card game for the terminal."""

import random

from artus_env import Game


def played(game, num_moves):
    """The game after some random moves, or at its end."""
    rng = random.Random(2)
    while not game.over and num_moves:
        game.play(rng.choice(game.moves()))
        num_moves -= 1
    return game


def test_a_player_sees_the_table_and_their_own_hand():
    game = played(Game(num_players=3, seed=4, game="royal"), 60)
    assert game.render(1, names=["Ann", "Bo\x1b", "Cleopatra of the Nile, queen"]).splitlines() == [
        "standard: Cleopatra of the Ni… (C) plays a card",
        "",
        "0      1      2      3      4*     5      6      7      8*     9",
        ".      .      B      .      .      .      .      .      A      .",
        "10     11     12*    13     14     15     16*    17     18     19",
        ".      C      .      .      .      .      .      .      .      .",
        "20*    21     22     23     24*    25     26     27",
        ".      .      .      .      .      .      .      .",
        "",
        "                       field  cards  has no",
        "A Ann                      8      5  diamonds (dealer)",
        "B Bo�                      2      5  clubs",
        "C Cleopatra of the Ni…    11      5  diamonds",
        "",
        "trumps, lowest first: 1 flowers, 2 diamonds, 3 chalices",
        "trick: -",
        "discards: hearts 2 3 4 5 6 9 11, diamonds 2 3 4 5 6 7 8 9 10 11, clubs 1 2 3 4 6",
        "  7 9 11, spades 1 3 4 5 6 7 8 9 11, flowers 1 3 4 5 7 8 9 10 11, chalices 1 2 3",
        "  4 5 6 8 9 10 11, knight x2, shield x2",
        "pile: 0 cards",
        "hand of A: 5 cards",
        "hand of B: hearts 7 10, diamonds 1, spades 10, chalices 7",
        "hand of C: 5 cards",
    ]


def test_the_end_names_the_winner_and_shows_all_hands():
    game = played(Game(num_players=2, seed=4, game="royal"), 1000)
    assert game.over
    assert game.render().splitlines() == [
        "standard: player 0 (A) has reached Artus and won",
        "",
        "0      1      2      3      4*     5      6      7      8*     9",
        ".      .      .      .      .      .      .      .      .      .",
        "10     11     12*    13     14     15     16*    17     18     19",
        ".      .      .      .      .      .      .      .      .      .",
        "20*    21     22     23     24*    25     26     27",
        ".      .      .      .      .      B      .      A",
        "",
        "           field  cards  has no",
        "A player 0    27      6  hearts spades (dealer)",
        "B player 1    25      6  -",
        "",
        "trumps, lowest first: 1 flowers, 2 spades, 3 diamonds, 4 chalices, 5 clubs, 6",
        "  hearts",
        "trick: -",
        "discards: hearts 1 5 6 7 11, diamonds 2 3 5 6 7 9 11, clubs 1 3 4 6 8 10, spades",
        "  6 7 9 11, flowers 2 5 6 9 10, chalices 2 3 6 10, knight x3, shield x2",
        "pile: 24 cards",
        "hand of A: diamonds 1, clubs 5 7 9, chalices 8 9",
        "hand of B: diamonds 10, spades 4, flowers 3 11, chalices 1, shield",
    ]
