"""Texts of positions of the royal card game for the terminal."""

from engine_play import random_game


def test_a_player_sees_the_table_and_their_own_hand():
    game = random_game("standard", 3, seed=0, moves=62, name="royal")
    assert game.render(1, names=["Ann", "Bo\x1b", "Cleopatra of the Nile, queen"]).splitlines() == [
        "standard: Ann (A) plays a card",
        "",
        "0      1      2      3      4*     5      6      7      8*     9",
        ".      .      .      .      .      .      .      C      .      A",
        "10     11     12*    13     14     15     16*    17     18     19",
        ".      B      .      .      .      .      .      .      .      .",
        "20*    21     22     23     24*    25     26     27",
        ".      .      .      .      .      .      .      .",
        "",
        "                       field  cards  has no",
        "A Ann                      9      5  clubs",
        "B Bo�                     11      4  -",
        "C Cleopatra of the Ni…     7      4  hearts clubs (dealer)",
        "",
        "trumps, lowest first: 1 chalices, 2 hearts, 3 spades",
        "trick: B clubs-6, C chalices-11",
        "discards: hearts 1 2 3 4 5 6 7 8 9 10 11, diamonds 1 2 3 4 5 7 8 9 10 11, clubs",
        "  1 2 3 4 5 7 8 9 10, spades 2 3 4 5 6 7 8 11, flowers 2 4 5 6 8 10 11, chalices",
        "  1 2 3 4 7 8 10, knight x2, shield x3",
        "pile: 0 cards",
        "hand of A: 5 cards",
        "hand of B: clubs 11, flowers 1 7, chalices 6",
        "hand of C: 4 cards",
    ]


def test_the_end_names_the_winner_and_shows_all_hands():
    game = random_game("standard", 2, seed=0, name="royal")
    assert game.over
    assert game.render().splitlines() == [
        "standard: player 1 (B) has reached Artus and won",
        "",
        "0      1      2      3      4*     5      6      7      8*     9",
        ".      .      .      .      .      .      .      .      .      .",
        "10     11     12*    13     14     15     16*    17     18     19",
        ".      .      .      .      .      .      A      .      .      .",
        "20*    21     22     23     24*    25     26     27",
        ".      .      .      .      .      .      .      B",
        "",
        "           field  cards  has no",
        "A player 0    16      5  -",
        "B player 1    27      5  hearts (dealer)",
        "",
        "trumps, lowest first: 1 clubs, 2 diamonds, 3 chalices, 4 flowers, 5 spades, 6",
        "  hearts",
        "trick: -",
        "discards: hearts 5 6 7 8 11, diamonds 6 7 8 9 11, clubs 2 10, spades 1 4 11,",
        "  flowers 1 3 5, chalices 9 10, shield x2",
        "pile: 40 cards",
        "hand of A: hearts 1 3, clubs 7 8, flowers 9",
        "hand of B: diamonds 1, spades 6 8, flowers 2 11",
    ]
