"""How good a position is for a player, and what an action leads to: what players that look ahead go by.

All of it is known to the player to move. The numbers were found by trying, as their docstrings say.
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
"""How far a lead in points may still move: in any game that goes on, and times the root of the cards that a player has
left.
It matters little: from half to four times as much won 48 to 51 % of 600 games against this."""
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
    """Sum of the values of the seats that the knights of all but one player hold."""
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
    """The points that an action brings now; placing a knight counts as the value of its seat, what moving it would
    bring."""
    points = points_of(t, g, action)
    if int(t["actions"][action, 0]) == PLACE:
        points += int(t["wheel"][int(t["actions"][action, 2])])
    return points


@jit
def default_action(t, g, key):
    """Drawing: from the pile of which most is left, measured by its full size; ties broken at random.

    That keeps all kinds of cards coming. In 3 000 games with lookahead it won 57 % (advanced) and 52 % (beginner)
    against drawing at random. Fixed orders of preference won 38 to 57 %, and none was better than random in both rule
    sets. Searching won no more games and cost a sixth of the time.
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


# --- what cards are good for ------------------------------------------------------------------------------------------


@jit
def to_play(t, g, player):
    """The cards that a player hasn't played, in hand or in piles, as bits of the deck. Everybody knows them, and all of
    them will be played."""
    cards = 0
    for pile in range(int(t["num_piles"][int(g["rule_set"])])):
        cards |= int(t["pile_bits"][pile])
    return cards & ~int(g["played"][player])


@jit
def knights_worth(t, g, player):
    """Values of the seats that a player's knights hold, the best first; 0 for a knight that isn't there."""
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
    """0 for a figure that isn't there."""
    return value if value > LACKING else 0


@jit
def royals_worth(t, g):
    """The most that a move of a silver royal brings, of a bronze one, a ring for a silver prince, for a bronze one."""
    king, seat = int(g["king"]), king_seat(g)
    silver, bronze = NONE, NONE
    for royal in range(NUM_ROYALS):
        value = int(t["wheel"][distance_behind(seat, np.int64(g["royals"][royal]))])
        silver = max(silver, value if royal < 2 and royal != king else NONE)
        bronze = max(bronze, value if royal >= 2 and royal != king else NONE)
    return max(silver, 0 if king < 2 else NONE), max(bronze, 0 if king >= 2 else NONE), silver, bronze


@jit_inlined
def promise(t, g, player, royals, near):
    """What the cards that a player has left would bring if all figures stayed where they are, each at its best.

    Knight cards move one knight after the other, the best ones first; where there are more cards than knights, the last
    ones bring nothing.

    Args:
        royals: Of `royals_worth`.
        near: Cards of which one may be played soon: bits of the deck.

    Returns:
        The worth of the player's seats, what all cards left bring together, and what the best of `near` brings.
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


# --- action features
# ------------------------------------------------------------------------------------------------------


@jit
def num_action_features(t):
    """Thirteen: see `prospects`."""
    return NUM_ACTION_FEATURES


@jit_inlined
def prospects(t, g, player, royals, others):
    """What a player has to look forward to, and what the others have.

    Args:
        royals, others: What `royals_worth` and `others_promise` say.

    Returns:
        The player's score; the worth of their seats and of all others'; what all cards that they have left would bring,
        and all others' theirs, see `promise`; the best of the cards in their hand, and the best that the player after
        them may have. Then, with more than two players, the others one by one, for it matters who of them gains: the
        worth of the seats and of all cards of the first after the player, and the best card of the second; with four
        the same of the second and the third. The last one has the rest of the sums. 0 for what fewer players lack.
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
def others_promise(t, g, player, royals):
    """What each of the three players after one has to look forward to: the worth of their seats, what all cards that
    they have left would bring, and the best that they may have, see `promise`; 0 for players that there aren't."""
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
    """Whether a move has left the King and all knights but the player's own where they were."""
    stay = king_seat(g) == king_seat(after)
    for other in range(MAX_PLAYERS):
        stay &= other == player or int(g["knights"][other]) == int(after["knights"][other])
    return stay


@jit
def action_features(t, g, words, scratch, out):
    """By how much each legal action changes what `prospects` says of its player: the points that it brings, and so on.

    Nothing hidden is looked at, so the state may be concealed. Drawing has none.
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
    others_before = others_promise(t, g, player, royals_before)
    before = prospects(t, g, player, royals_before, others_before)
    after = scratch[0]
    action = next_action(words, -1)
    while action >= 0:
        scratch[0] = g
        play(t, after, action)
        royals, others = royals_worth(t, after), others_before
        if royals != royals_before or not others_stay(g, after, player):  # most moves change nothing for the others
            others = others_promise(t, after, player, royals)
        then = prospects(t, after, player, royals, others)
        for k in range(NUM_ACTION_FEATURES):
            out[action, k] = clipped(then[k] - before[k])
        action = next_action(words, action)


@jit
def score_stddev(t, g):
    """Grows with the root of the cards that a player has left, in hand and in the piles."""
    players = int(g["num_players"])
    left = 0
    for player in range(players):
        left += popcount(int(g["hands"][player]))
        for pile in range(g["pile_sizes"].shape[1]):
            left += int(g["pile_sizes"][player, pile])
    return LAST_SPREAD + SPREAD * math.sqrt(left / players)


@jit
def perfect_information_horizon(t, g):
    """Cards still to play as soon as all piles are empty: then all cards that weren't played are in hands."""
    if int(g["phase"]) != PLAY_PHASE:
        return -1
    left = 0
    for player in range(int(g["num_players"])):
        if cards_in_piles(g, player) > 0:
            return -1
        left += popcount(to_play(t, g, player))
    return left
