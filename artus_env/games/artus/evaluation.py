"""Evaluation of positions and actions, for agents that look ahead.

It uses only what the player to move knows. The constants were found by experiment, see their docstrings.
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
    ROYALS,
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
root of the cards that a player has left. The exact numbers matter little: 0.5 to 4 times as much won 48 to 51 % of 600
games against these."""
NUM_ACTION_FEATURES = 13
SILVER, BRONZE, ANY = range(len(ROYALS))
_, KING_PILE, SCORING_PILE = range(len(PILES))


@jit
def worth(t, g, player):
    """Sum of the values of the seats that a player's knights hold."""
    _, total = ranked(t, rotated(int(g["knights"][player]), king_seat(g)))
    return total


@jit
def others_worth(t, g, player):
    """Sum of the values of the seats that the knights of all other players hold."""
    total = 0
    for other in range(int(g["num_players"])):
        if other != player:
            total += worth(t, g, other)
    return total


@jit
def evaluate(t, g, player, weight):
    """Lead of a player over the mean of the others, in points, with seats held counted at `weight` of their value."""
    players = int(g["num_players"])
    own = 0.0
    others = 0.0
    for other in range(players):
        points = int(g["scores"][other]) + weight * worth(t, g, other)
        if other == player:
            own = points
        else:
            others += points
    return own - others / (players - 1)


@jit
def greedy_value(t, g, action):
    """Points that an action brings at once; placing a knight counts as the value of its seat, the points for moving
    it."""
    points = points_of(t, g, action)
    if int(t["actions"][action, 0]) == PLACE:
        points += int(t["wheel"][int(t["actions"][action, 2])])
    return points


@jit
def default_action(t, g, key):
    """Draw from the pile with the largest part of its full size left; ties are broken at random. -1 if no draw is due.

    This keeps all kinds of cards coming. In 3 000 games with lookahead it won 57 % (advanced) and 52 % (beginner)
    against drawing at random. Fixed orders of preference won 38 to 57 %, and none was better than random in both rule
    sets. Searching the draws won no more games and took 17 % of the time.
    """
    if int(g["phase"]) != DRAW_PHASE:
        return -1
    player = int(g["player"])
    best, chosen, equals = 0.0, -1, 0
    for pile in range(3):
        left = int(g["pile_sizes"][player, pile])
        if left > 0:
            part = left / int(t["pile_sizes"][pile])
            if part > best:
                best, chosen, equals = part, pile, 1
            elif part == best:
                equals += 1
                if breaks_tie(key, equals):
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
def knights_worth(t, g, player):
    """Values of the seats that a player's knights hold, the highest first; 0 for a missing knight."""
    first, _ = ranked(t, rotated(int(g["knights"][player]), king_seat(g)))
    second = without_best(first)
    third = without_best(second)
    fourth = without_best(third)
    fifth = without_best(fourth)
    return (
        there(best_of(t, first)), there(best_of(t, second)), there(best_of(t, third)), there(best_of(t, fourth)),
        there(best_of(t, fifth)),
    )  # fmt: skip


@jit
def there(value):
    """The value, or 0 for a missing figure."""
    return value if value > LACKING else 0


@jit
def royals_worth(t, g):
    """Highest points for a move of a silver royal, a move of a bronze one, a ring for a silver prince and for a bronze
    one."""
    king, seat = int(g["king"]), king_seat(g)
    silver, bronze = NONE, NONE
    for royal in range(NUM_ROYALS):
        value = int(t["wheel"][distance_behind(seat, np.int64(g["royals"][royal]))])
        silver = max(silver, value if royal < 2 and royal != king else NONE)
        bronze = max(bronze, value if royal >= 2 and royal != king else NONE)
    return max(silver, 0 if king < 2 else NONE), max(bronze, 0 if king >= 2 else NONE), silver, bronze


@jit_inlined
def promise(t, g, player, royals, near):
    """Points of the cards that a player has left if all figures stayed in place and each card were played at its best.

    Knight cards move different knights, the best ones first; if there are more cards than knights, the last ones bring
    nothing.

    Args:
        royals: Result of `royals_worth`.
        near: Cards that may be played next: bits of the deck.

    Returns:
        Value of the player's seats, points of all cards left together, and points of the best card of `near`.
    """
    bits = t["effect_bits"]
    left = to_play(t, g, player)
    one, two, three, four, five = knights_worth(t, g, player)
    silver, bronze, silver_ring, bronze_ring = royals
    moves = popcount(left & int(bits[KNIGHT, ANY]))
    total = (one if moves > 0 else 0) + (two if moves > 1 else 0) + (three if moves > 2 else 0)
    total += (four if moves > 3 else 0) + (five if moves > 4 else 0)
    best = one if near & int(bits[KNIGHT, ANY]) else NONE
    if left & int(t["pile_bits"][KING_PILE]):
        moved, ringed = max(silver, bronze), max(silver_ring, bronze_ring)
        total += popcount(left & int(bits[ROYAL, SILVER])) * silver + popcount(left & int(bits[ROYAL, BRONZE])) * bronze
        total += popcount(left & int(bits[RING, SILVER])) * silver_ring
        total += popcount(left & int(bits[RING, BRONZE])) * bronze_ring
        total += popcount(left & int(bits[ROYAL, ANY])) * moved + popcount(left & int(bits[RING, ANY])) * ringed
        best = max(best, silver if near & int(bits[ROYAL, SILVER]) else NONE)
        best = max(best, bronze if near & int(bits[ROYAL, BRONZE]) else NONE)
        best = max(best, moved if near & int(bits[ROYAL, ANY]) else NONE)
        best = max(best, silver_ring if near & int(bits[RING, SILVER]) else NONE)
        best = max(best, bronze_ring if near & int(bits[RING, BRONZE]) else NONE)
        best = max(best, ringed if near & int(bits[RING, ANY]) else NONE)
    if left & int(t["pile_bits"][SCORING_PILE]):
        every, single, colors, carpet, reds = scoring_cards(t, g, player)
        choice = max(single, silver, bronze)
        total += (popcount(left & int(bits[ALL, ANY])) - popcount(left & int(bits[REVERSED, ANY]))) * every
        total += popcount(left & int(bits[COLORS, ANY])) * colors + popcount(left & int(bits[CARPET, ANY])) * carpet
        total += popcount(left & int(bits[REDS, ANY])) * reds + popcount(left & int(bits[BEST, ANY])) * choice
        best = max(best, every if near & int(bits[ALL, ANY]) else NONE)
        best = max(best, -every if near & int(bits[REVERSED, ANY]) else NONE)
        best = max(best, colors if near & int(bits[COLORS, ANY]) else NONE)
        best = max(best, carpet if near & int(bits[CARPET, ANY]) else NONE)
        best = max(best, reds if near & int(bits[REDS, ANY]) else NONE)
        best = max(best, choice if near & int(bits[BEST, ANY]) else NONE)
    return one + two + three + four + five, total, there(best)


# --- action features --------------------------------------------------------------------------------------------------


@jit
def num_action_features(t):
    """13, see `prospects`."""
    return NUM_ACTION_FEATURES


@jit_inlined
def prospects(t, g, player, royals, others):
    """Score, seats and cards of a player, and those of the others.

    Args:
        royals, others: Results of `royals_worth` and `promises_of_others`.

    Returns:
        The player's score; the values of their seats and of all others' seats; the points of their cards left and of
        all others' cards left, see `promise`; the best card in their hand, and the best that the next player may have.
        Then the others separately, because it matters which of them gains. With more than two players: seats and cards
        left of the next player, and the best card of the second. With four: the same of the second and the third. Those
        of the last player follow from the sums. Numbers for missing players are 0.
    """
    own_seats, own_sum, own_best = promise(t, g, player, royals, np.int64(g["hands"][player]))
    seats, total, best, second_seats, second_sum, second_best, third_seats, third_sum, third_best = others
    players = int(g["num_players"])
    return (
        np.int64(g["scores"][player]), own_seats, seats + second_seats + third_seats,
        own_sum, total + second_sum + third_sum, own_best, best,
        seats if players > 2 else 0, total if players > 2 else 0, second_best,
        second_seats if players > 3 else 0, second_sum if players > 3 else 0, third_best,
    )  # fmt: skip


@jit
def promises_of_others(t, g, player, royals):
    """Result of `promise` for each of the three players after this one: value of their seats, points of all cards left,
    and points of the best of these; 0 for missing players."""
    players = int(g["num_players"])
    seats, total, best = 0, 0, 0
    second_seats, second_sum, second_best = 0, 0, 0
    third_seats, third_sum, third_best = 0, 0, 0
    for step in range(1, players):
        other = player + step if player + step < players else player + step - players
        held, cards, card = promise(t, g, other, royals, to_play(t, g, other))
        if step == 1:
            seats, total, best = held, cards, card
        elif step == 2:
            second_seats, second_sum, second_best = held, cards, card
        else:
            third_seats, third_sum, third_best = held, cards, card
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
    """Change of each number of `prospects` by each legal action, such as the points that it brings.

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
    royals_before = royals_worth(t, g)
    others_before = promises_of_others(t, g, player, royals_before)
    before = prospects(t, g, player, royals_before, others_before)
    after = scratch[0]
    action = next_action(words, -1)
    while action >= 0:
        scratch[0] = g
        play(t, after, action)
        royals, others = royals_worth(t, after), others_before
        if royals != royals_before or not others_stay(g, after, player):  # most moves change nothing for the others
            others = promises_of_others(t, after, player, royals)
        then = prospects(t, after, player, royals, others)
        for k in range(NUM_ACTION_FEATURES):
            out[action, k] = clipped(then[k] - before[k])
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
    """Number of cards still to play once all piles are empty, because all of them are in hands then; else -1."""
    if int(g["phase"]) != PLAY_PHASE:
        return -1
    left = 0
    for player in range(int(g["num_players"])):
        if cards_in_piles(g, player) > 0:
            return -1
        left += popcount(to_play(t, g, player))
    return left
