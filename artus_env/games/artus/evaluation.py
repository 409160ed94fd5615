"""Evaluation of positions and actions, for agents that look ahead.

It uses only what the player to move knows. Some constants and choices were found by experiment, as their docstrings
say.
"""

from __future__ import annotations

import math

import numpy as np

from artus_env.authoring import breaks_tie, clipped, jit, jit_inlined, next_action, popcount
from artus_env.games.artus.actions import (
    ALL,
    BEST,
    CARPET,
    COLORS,
    KNIGHT,
    NONE,
    PLACE,
    REDS,
    REVERSED,
    RING,
    ROYAL,
    ROYAL_COLOURS,
)
from artus_env.games.artus.components import MAX_PLAYERS, NUM_ROYALS, PILES
from artus_env.games.artus.fast import LACKING, best_of, ranked, without_best
from artus_env.games.artus.rules import (
    cards_in_piles,
    distance_behind,
    king_seat,
    play,
    points_of,
    rotated,
    scoring_cards,
)
from artus_env.games.artus.state import DRAW_PHASE, PLAY_PHASE

LAST_SPREAD, SPREAD = 2.0, 3.0
"""Standard deviation of the points still to come: `LAST_SPREAD` in any unfinished game, plus `SPREAD` times the square
root of the cards that a player has left. The exact numbers matter little: agents with 0.5 to 4 times as much won 48 to
51 % of 600 games against agents with these."""
NUM_ACTION_FEATURES = 13
SILVER, BRONZE, ANY = range(len(ROYAL_COLOURS))
_, KING_PILE, SCORING_PILE = range(len(PILES))


@jit
def seats_value(t, g, player):
    """Sum of the values of the seats that a player's knights hold."""
    _, total = ranked(t, rotated(int(g["knights"][player]), king_seat(g)))
    return total


@jit
def others_seats_value(t, g, player):
    """Sum of the values of the seats that the knights of all other players hold."""
    total = 0
    for other in range(int(g["num_players"])):
        if other != player:
            total += seats_value(t, g, other)
    return total


@jit
def evaluate(t, g, player, weight):
    """Lead of a player over the mean of the others, in points. The values of the seats that a player's knights hold
    count with the factor `weight`."""
    players = int(g["num_players"])
    own_points = 0.0
    others_points = 0.0
    for other in range(players):
        points = int(g["scores"][other]) + weight * seats_value(t, g, other)
        if other == player:
            own_points = points
        else:
            others_points += points
    return own_points - others_points / (players - 1)


@jit
def greedy_value(t, g, action):
    """Points that an action brings at once; placing a knight counts as the value of its seat, because moving it from
    there would bring these points."""
    points = points_of(t, g, action)
    if int(t["actions"][action, 0]) == PLACE:
        points += int(t["wheel"][int(t["actions"][action, 2])])
    return points


@jit
def default_action(t, g, key):
    """Action that draws from the pile with the largest fraction of its cards left; the random bits `key` break ties.
    -1 if no draw is due.

    This keeps all kinds of cards coming. In 3 000 games with lookahead it won 57 % (advanced) and 52 % (beginner)
    against drawing at random. Fixed orders of preference won 38 to 57 %, and none was better than random in both rule
    sets. Searching the draws won no more games and took 17 % of the time.
    """
    if int(g["phase"]) != DRAW_PHASE:
        return -1
    player = int(g["player"])
    best, chosen, ties = 0.0, -1, 0
    for pile in range(3):
        left = int(g["pile_sizes"][player, pile])
        if left > 0:
            fraction = left / int(t["pile_sizes"][pile])
            if fraction > best:
                best, chosen, ties = fraction, pile, 1
            elif fraction == best:
                ties += 1
                if breaks_tie(key, ties):
                    chosen = pile
    return int(t["num_actions"]) - 3 + chosen


# --- points of cards --------------------------------------------------------------------------------------------------


@jit
def to_play(t, g, player):
    """Cards that a player hasn't played, in hand or in piles, as bits of the deck. They are public, and all of them
    will be played."""
    cards = 0
    for pile in range(int(t["num_piles"][int(g["rule_set"])])):
        cards |= int(t["pile_bits"][pile])
    return cards & ~int(g["played"][player])


@jit
def knight_values(t, g, player):
    """Values of the seats of a player's knights: five numbers, the highest first; 0 for a missing knight."""
    first, _ = ranked(t, rotated(int(g["knights"][player]), king_seat(g)))
    second = without_best(first)
    third = without_best(second)
    fourth = without_best(third)
    fifth = without_best(fourth)
    return (
        zero_if_missing(best_of(t, first)), zero_if_missing(best_of(t, second)), zero_if_missing(best_of(t, third)),
        zero_if_missing(best_of(t, fourth)), zero_if_missing(best_of(t, fifth)),
    )  # fmt: skip


@jit
def zero_if_missing(value):
    """The value, or 0 if it stands for a missing figure."""
    return value if value > LACKING else 0


@jit
def royal_points(t, g):
    """Highest points that each of these brings: a move of a silver royal, a move of a bronze royal, a ring for a silver
    prince, a ring for a bronze prince."""
    king, seat = int(g["king"]), king_seat(g)
    silver, bronze = NONE, NONE
    for royal in range(NUM_ROYALS):
        value = int(t["wheel"][distance_behind(seat, np.int64(g["royals"][royal]))])
        silver = max(silver, value if royal < 2 and royal != king else NONE)
        bronze = max(bronze, value if royal >= 2 and royal != king else NONE)
    return max(silver, 0 if king < 2 else NONE), max(bronze, 0 if king >= 2 else NONE), silver, bronze


@jit_inlined
def card_points(t, g, player, royals, next_cards):
    """Points of the cards that a player has left, if all figures stayed in place and each card brought the most that it
    can.

    Knight cards move different knights, the best ones first; if there are more knight cards than knights, the others
    bring nothing.

    Args:
        royals: Result of `royal_points`.
        next_cards: Cards that the player may play next, as bits of the deck.

    Returns:
        Value of the seats of the player's knights, points of all cards left together, and points of the best card of
        `next_cards`.
    """
    bits = t["effect_bits"]
    cards_left = to_play(t, g, player)
    first, second, third, fourth, fifth = knight_values(t, g, player)
    silver, bronze, silver_ring, bronze_ring = royals
    moves = popcount(cards_left & int(bits[KNIGHT, ANY]))
    total = (first if moves > 0 else 0) + (second if moves > 1 else 0) + (third if moves > 2 else 0)
    total += (fourth if moves > 3 else 0) + (fifth if moves > 4 else 0)
    best = first if next_cards & int(bits[KNIGHT, ANY]) else NONE
    if cards_left & int(t["pile_bits"][KING_PILE]):
        any_move, any_ring = max(silver, bronze), max(silver_ring, bronze_ring)
        total += (
            popcount(cards_left & int(bits[ROYAL, SILVER])) * silver
            + popcount(cards_left & int(bits[ROYAL, BRONZE])) * bronze
        )
        total += popcount(cards_left & int(bits[RING, SILVER])) * silver_ring
        total += popcount(cards_left & int(bits[RING, BRONZE])) * bronze_ring
        total += (
            popcount(cards_left & int(bits[ROYAL, ANY])) * any_move
            + popcount(cards_left & int(bits[RING, ANY])) * any_ring
        )
        best = max(best, silver if next_cards & int(bits[ROYAL, SILVER]) else NONE)
        best = max(best, bronze if next_cards & int(bits[ROYAL, BRONZE]) else NONE)
        best = max(best, any_move if next_cards & int(bits[ROYAL, ANY]) else NONE)
        best = max(best, silver_ring if next_cards & int(bits[RING, SILVER]) else NONE)
        best = max(best, bronze_ring if next_cards & int(bits[RING, BRONZE]) else NONE)
        best = max(best, any_ring if next_cards & int(bits[RING, ANY]) else NONE)
    if cards_left & int(t["pile_bits"][SCORING_PILE]):
        all_knights, best_knight, colors, carpet, reds = scoring_cards(t, g, player)
        choice = max(best_knight, silver, bronze)
        total += (
            popcount(cards_left & int(bits[ALL, ANY])) - popcount(cards_left & int(bits[REVERSED, ANY]))
        ) * all_knights
        total += (
            popcount(cards_left & int(bits[COLORS, ANY])) * colors
            + popcount(cards_left & int(bits[CARPET, ANY])) * carpet
        )
        total += (
            popcount(cards_left & int(bits[REDS, ANY])) * reds + popcount(cards_left & int(bits[BEST, ANY])) * choice
        )
        best = max(best, all_knights if next_cards & int(bits[ALL, ANY]) else NONE)
        best = max(best, -all_knights if next_cards & int(bits[REVERSED, ANY]) else NONE)
        best = max(best, colors if next_cards & int(bits[COLORS, ANY]) else NONE)
        best = max(best, carpet if next_cards & int(bits[CARPET, ANY]) else NONE)
        best = max(best, reds if next_cards & int(bits[REDS, ANY]) else NONE)
        best = max(best, choice if next_cards & int(bits[BEST, ANY]) else NONE)
    return first + second + third + fourth + fifth, total, zero_if_missing(best)


# --- action features --------------------------------------------------------------------------------------------------


@jit
def num_action_features(t):
    """13: one for each number of `prospects`."""
    return NUM_ACTION_FEATURES


@jit_inlined
def prospects(t, g, player, royals, others):
    """Score of a player, and values of the seats and cards of all players.

    Args:
        royals: Result of `royal_points`.
        others: Result of `card_points_of_others`.

    Returns:
        13 numbers (see `card_points`): the player's score; the values of their seats and of all others' seats; the
        points of their cards left and of all others' cards left; the points of the best card in their hand, and of the
        best that the next player may have. Then numbers of single other players, because it matters which of them
        gains. With more than two players: seats and cards left of the next player, and the best card of the second.
        With four: seats and cards left of the second, and the best card of the third. Seats and cards of the last
        player follow from the sums. Numbers for missing players are 0.
    """
    own_seats, own_sum, own_best = card_points(t, g, player, royals, np.int64(g["hands"][player]))
    seats, total, best, second_seats, second_sum, second_best, third_seats, third_sum, third_best = others
    players = int(g["num_players"])
    return (
        np.int64(g["scores"][player]), own_seats, seats + second_seats + third_seats,
        own_sum, total + second_sum + third_sum, own_best, best,
        seats if players > 2 else 0, total if players > 2 else 0, second_best,
        second_seats if players > 3 else 0, second_sum if players > 3 else 0, third_best,
    )  # fmt: skip


@jit
def card_points_of_others(t, g, player, royals):
    """Results of `card_points` for the three players after this one, in turn order: nine numbers, 0 for missing
    players. The best card is the best of all cards that a player has left."""
    players = int(g["num_players"])
    seats, total, best = 0, 0, 0
    second_seats, second_sum, second_best = 0, 0, 0
    third_seats, third_sum, third_best = 0, 0, 0
    for step in range(1, players):
        other = player + step if player + step < players else player + step - players
        other_seats, other_sum, other_best = card_points(t, g, other, royals, to_play(t, g, other))
        if step == 1:
            seats, total, best = other_seats, other_sum, other_best
        elif step == 2:
            second_seats, second_sum, second_best = other_seats, other_sum, other_best
        else:
            third_seats, third_sum, third_best = other_seats, other_sum, other_best
    return seats, total, best, second_seats, second_sum, second_best, third_seats, third_sum, third_best


@jit
def others_stay(g, after, player):
    """Whether a move has left the King and the knights of all other players in place."""
    stay = king_seat(g) == king_seat(after)
    for other in range(MAX_PLAYERS):
        stay &= other == player or int(g["knights"][other]) == int(after["knights"][other])
    return stay


@jit
def action_features(t, g, words, scratch, out):
    """Write into `out` how much each legal action changes each number of `prospects`; the change of the score is the
    points that the action brings.

    Nothing hidden is read, so the hidden parts of the state may be removed. All changes are 0 for drawing.
    """
    player = np.int64(g["player"])
    if int(g["phase"]) == DRAW_PHASE:
        action = next_action(words, -1)
        while action >= 0:
            for k in range(NUM_ACTION_FEATURES):
                out[action, k] = 0
            action = next_action(words, action)
        return
    royals_before = royal_points(t, g)
    others_before = card_points_of_others(t, g, player, royals_before)
    old_numbers = prospects(t, g, player, royals_before, others_before)
    after = scratch[0]
    action = next_action(words, -1)
    while action >= 0:
        scratch[0] = g
        play(t, after, action)
        royals, others = royal_points(t, after), others_before
        if royals != royals_before or not others_stay(g, after, player):  # most moves change nothing for the others
            others = card_points_of_others(t, after, player, royals)
        new_numbers = prospects(t, after, player, royals, others)
        for k in range(NUM_ACTION_FEATURES):
            out[action, k] = clipped(new_numbers[k] - old_numbers[k])
        action = next_action(words, action)


@jit
def score_stddev(t, g):
    """Standard deviation of the points still to come: grows with the square root of the cards that a player has left,
    in hand and in the piles."""
    players = int(g["num_players"])
    left = 0
    for player in range(players):
        left += popcount(int(g["hands"][player]))
        for pile in range(g["pile_sizes"].shape[1]):
            left += int(g["pile_sizes"][player, pile])
    return LAST_SPREAD + SPREAD * math.sqrt(left / players)


@jit
def perfect_information_horizon(t, g):
    """Number of cards still to play if all piles are empty: every card left is in a hand then, so all are known. Else
    -1."""
    if int(g["phase"]) != PLAY_PHASE:
        return -1
    left = 0
    for player in range(int(g["num_players"])):
        if cards_in_piles(g, player) > 0:
            return -1
        left += popcount(to_play(t, g, player))
    return left
