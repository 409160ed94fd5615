"""Texts of positions of Artus for the terminal."""

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
    game = played(Game("advanced", 3, seed=4), 29)
    assert game.render(1, names=["Ann", "Bo\x1b", "Cleopatra of the Nile, queen"]).splitlines() == [
        " 0~king  1~0     2~0     3 0     4 -15   5 -14   6 -13   7 -12   8 -11",
        "   Ks      C       .       .       .       .       A       .       .",
        "27 +10                                                           9 -10",
        "   .     advanced: Bo� (B) draws a card                            A",
        "26 +8                                                           10 -9",
        "   A                                 cards  piles:                 C",
        "25 +7                     prestige  played  knight king scoring 11 -8",
        "   B     A Ann                 -20       2    5     3      6       C",
        "24 +6    B Bo�                 -34       4    5     4      5    12 -7",
        "   C     C Cleopatra of …      -24       2    3     5      6       .",
        "23 +5                                                           13 -6",
        "   b2                                                              A",
        "22 +4   21 +3   20 +2   19 +1   18 -1   17 -2   16~-3   15~-4   14~-5",
        "   B       b1      B       .       B       C       A       s1      B",
        "",
        "hand of A: (knight) (knight) (king) (king) (king) (king)",
        "hand of B: k2-5 bronze1-7 ring-any all",
        "hand of C: (knight) (knight) (knight) (knight) (king) (king)",
    ]


def test_the_end_names_the_winner_and_shows_all_hands():
    game = played(Game("beginner", 2, seed=4), 1000)
    assert game.over
    assert game.render().splitlines() == [
        " 0~-13   1~-12   2~-11   3 -10   4 -9    5 -8    6 -7    7 -6    8 -5",
        "   A       B       .       B       .       A       s2      .       .",
        "27 -14                                                           9 -4",
        "   A     beginner, over: player 1 (B) won                          .",
        "26 -15                                                          10 -3",
        "   B                           cards  piles:                       .",
        "25 0                prestige  played  knight king               11 -2",
        "   .     A player 0      -86      16    0     0                    .",
        "24 0     B player 1      -62      16    0     0                 12 -1",
        "   A                                                               .",
        "23 0                                                            13 +1",
        "   B                                                               .",
        "22 king 21 +10  20 +8   19 +7   18 +6   17 +5   16~+4   15~+3   14~+2",
        "   Ks      B       .       .       .       .       b1      b2      A",
        "",
        "hand of A: -",
        "hand of B: -",
    ]
