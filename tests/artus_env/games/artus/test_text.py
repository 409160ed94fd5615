"""Texts of positions of Artus for the terminal."""

from engine_play import random_game


def test_a_player_sees_the_table_and_their_own_hand():
    game = random_game("advanced", 3, seed=4, moves=29)
    assert game.render(1, names=["Ann", "Bo\x1b", "Cleopatra of the Nile, queen"]).splitlines() == [
        " 0~0     1~0     2~0     3 -15   4 -14   5 -13   6 -12   7 -11   8 -10",
        "   C       B       C       B       .       .       .       .       A",
        "27 king                                                          9 -9",
        "   Ks    advanced: Bo� (B) draws a card                            .",
        "26 +10                                                          10 -8",
        "   C                                 cards  piles:                 s1",
        "25 +8                     prestige  played  knight king scoring 11 -7",
        "   b1    A Ann                 -24       2    4     4      6       A",
        "24 +7    B Bo�                 -28       4    4     5      5    12 -6",
        "   C     C Cleopatra of …       -4       2    4     5      5       A",
        "23 +6                                                           13 -5",
        "   .                                                               A",
        "22 +5   21 +4   20 +3   19 +2   18 +1   17 -1   16~-2   15~-3   14~-4",
        "   .       .       B       .       B       C       A       B       b2",
        "",
        "hand of A: (knight) (knight) (knight) (king) (king) (king)",
        "hand of B: k5-7 k6-8 ring-bronze all",
        "hand of C: (knight) (knight) (king) (king) (king) (scoring)",
    ]


def test_the_end_names_the_winner_and_shows_all_hands():
    game = random_game("beginner", 2, seed=7)
    assert game.over
    assert game.render().splitlines() == [
        " 0~-10   1~-9    2~-8    3 -7    4 -6    5 -5    6 -4    7 -3    8 -2",
        "   .       .       b2      .       A       .       .       B       b2",
        "27 -11                                                           9 -1",
        "   B     beginner, over: player 0 (A) won                          B",
        "26 -12                                                          10 +1",
        "   B                           cards  piles:                       A",
        "25 -13              prestige  played  knight king               11 +2",
        "   .     A player 0      -52      16    0     0                    .",
        "24 -14   B player 1      -79      16    0     0                 12 +3",
        "   s1                                                              .",
        "23 -15                                                          13 +4",
        "   A                                                               .",
        "22 0    21 0    20 0    19 king 18 +10  17 +8   16~+7   15~+6   14~+5",
        "   A       .       .       Ks      A       .       B       .       .",
        "",
        "hand of A: -",
        "hand of B: -",
    ]
