"""The rules of Artus: scalar functions on one game `g` (a `STATE` record) and the box `t` (`TABLES`).

All of them are compiled when called from compiled code and are plain Python with `NUMBA_DISABLE_JIT=1`. Two conventions
give the same results in both: small fields go through `int()` before arithmetic, and bit sets are never negative.

Numbers that are passed to a function are `np.int64`, because a function is compiled once for each argument type. In
compiled code, `int()` of an int8 is still an int8, and a literal number has its own type.

Seats are numbered clockwise, forward is clockwise, and a *board* is a set of seats: bit s stands for seat s.
"""

from __future__ import annotations

import numpy as np

from artus_env.authoring import below, highest_bit, jit, jit_inlined, popcount, random_bits, shuffle
from artus_env.games.artus.actions import (
    ALL,
    CARPET,
    COLORS,
    DRAW,
    KNIGHT,
    MASK_WORDS,
    PLACE,
    REDS,
    REVERSED,
    RING,
    ROYAL,
)
from artus_env.games.artus.components import MAX_CARDS, MAX_PLAYERS, NUM_ROYALS, NUM_SEATS, PILES
from artus_env.games.artus.fast import (
    LACKING,
    TOP,
    add_copy,
    best_of,
    copies,
    ranked,
    remove_copy,
    without_best,
    write_actions,
)
from artus_env.games.artus.state import DRAW_PHASE, OVER, PLACE_PHASE, PLAY_PHASE

FULL = (1 << NUM_SEATS) - 1


# --- the round table ---------------------------------------------------------------------------------------------


@jit
def king_seat(g):
    """Seat of the King."""
    return np.int64(g["royals"][int(g["king"])])


@jit
def distance_behind(king, seat):
    """Seats from the King back to `seat`, against the direction of play: 0..27."""
    return king - seat if king >= seat else king - seat + NUM_SEATS


@jit
def value(t, g, seat):
    """Current value of a seat: the wheel's plate in front of it, which turns with the King."""
    return int(t["wheel"][distance_behind(king_seat(g), seat)])


@jit
def rotated(board, seat):
    """The board rotated so that `seat` is at bit 27; the seat d places behind it is at bit 27 - d."""
    shift = seat + 1
    return ((board >> shift) | (board << (NUM_SEATS - shift))) & FULL


@jit
def occupied(g):
    """The board of all taken seats."""
    board = 0
    for player in range(MAX_PLAYERS):
        board |= int(g["knights"][player])
    for royal in range(NUM_ROYALS):
        board |= 1 << int(g["royals"][royal])
    return board


@jit
def knight_seat(g, player, slot):
    """Seat of a player's knight number `slot`, counted from the King backward."""
    king = king_seat(g)
    board = rotated(int(g["knights"][player]), king)
    for _ in range(slot):
        board ^= 1 << highest_bit(board)
    seat = king - (TOP - highest_bit(board))
    return seat if seat >= 0 else seat + NUM_SEATS


@jit
def royal_in_slot(g, slot):
    """Index of the royal in a slot. Each colour has two slots; the first is for its royal that is nearer behind the
    King."""
    king = king_seat(g)
    first = slot & 2
    first_distance = distance_behind(king, np.int64(g["royals"][first]))
    second_distance = distance_behind(king, np.int64(g["royals"][first + 1]))
    swapped = 1 if second_distance < first_distance else 0
    return first + ((slot & 1) ^ swapped)


# --- moving figures ----------------------------------------------------------------------------------------------


@jit
def landing(origin, steps):
    """Seat `steps` places forward of `origin` (backward if negative). Taken seats count as steps."""
    seat = origin + steps
    if seat >= NUM_SEATS:
        return seat - NUM_SEATS
    return seat if seat >= 0 else seat + NUM_SEATS


@jit
def make_room(g, taken, seat):
    """If a figure is on `seat`, move it to the nearest free seat counter-clockwise, whichever way the arriving figure
    moved.

    `taken` is the board of all other figures: the seat that the arriving figure left is already free. A displaced
    figure scores nothing.
    """
    if not taken >> seat & 1:
        return
    refuge = landing(seat, highest_bit(rotated(~taken & FULL, seat)) - TOP)
    for player in range(MAX_PLAYERS):
        knights = int(g["knights"][player])
        sat_there = knights >> seat & 1
        g["knights"][player] = knights ^ (sat_there << seat) ^ (sat_there << refuge)
    for royal in range(NUM_ROYALS):
        if int(g["royals"][royal]) == seat:
            g["royals"][royal] = refuge


@jit
def move_knight(t, g, player, slot, steps):
    """Move a knight of `player`. Return the value of the seat that it left, before the wheel may turn."""
    origin = knight_seat(g, player, slot)
    points = value(t, g, origin)
    target = landing(origin, steps)
    g["knights"][player] = int(g["knights"][player]) ^ (1 << origin)
    make_room(g, occupied(g), target)
    g["knights"][player] = int(g["knights"][player]) | (1 << target)
    return points


@jit
def move_royal(t, g, slot, steps):
    """Move a prince or the King. Return the value of the seat that it left; for the King this is the crown plate, 0.

    Values are counted from the King's seat, so the wheel turns with the King, whatever caused the move.
    """
    royal = royal_in_slot(g, slot)
    origin = np.int64(g["royals"][royal])
    points = value(t, g, origin)
    target = landing(origin, steps)
    make_room(g, occupied(g) ^ (1 << origin), target)
    g["royals"][royal] = target
    return points


@jit
def give_ring(t, g, slot):
    """Give a ring to a prince. Return the value of the prince's seat before a coronation turns the wheel.

    A prince with three rings becomes King, and the old King has one ring again.
    """
    royal = royal_in_slot(g, slot)
    points = value(t, g, np.int64(g["royals"][royal]))
    rings = int(g["rings"][royal]) + 1
    g["rings"][royal] = rings
    if rings == 3:
        g["rings"][int(g["king"])] = 1
        g["king"] = royal
    return points


# --- scoring cards: own knights only -----------------------------------------------------------------------------


@jit_inlined
def scoring_cards(t, g, player):
    """Points that the scoring cards would bring a player now: (all, best, colors, carpet, reds).

    all: the sum of the knights' values. best: the highest of them (the third option of `choice`). colors: one knight on
    green, one on yellow, one on red. carpet: two on the carpet. reds: three on red. If several knights fit, the best
    are taken. Without the required knights a card brings its penalty; with them the player must score, even below the
    penalty.
    """
    king = king_seat(g)
    board = rotated(int(g["knights"][player]), king)
    seats, total = ranked(t, board)
    on_carpet, _ = ranked(t, board & rotated(int(t["carpet"]), king))
    best = best_of(t, seats)
    green, yellow, red = (
        seats & int(t["colors"][0]) | 1, seats & int(t["colors"][1]) | 1, seats & int(t["colors"][2]) | 1,
    )  # fmt: skip
    second_red = without_best(red)
    colors = best_of(t, green) + best_of(t, yellow) + best_of(t, red)
    carpets = best_of(t, on_carpet) + best_of(t, without_best(on_carpet))
    reds = best_of(t, red) + best_of(t, second_red) + best_of(t, without_best(second_red))
    colors_penalty = int(t["penalties"][COLORS])
    carpet_penalty = int(t["penalties"][CARPET])
    reds_penalty = int(t["penalties"][REDS])
    # The penalties are read before they are needed, because the CPU would often mispredict a branch.
    colors = colors if colors > LACKING else colors_penalty
    carpets = carpets if carpets > LACKING else carpet_penalty
    reds = reds if reds > LACKING else reds_penalty
    best = best if best > LACKING else 0  # 0 if no knight is on the table yet
    return total, best, colors, carpets, reds


@jit
def scoring(t, g, effect, player):
    """Points of a scoring action: of one of the five cards that only score, or of the third option of `choice`."""
    total, best, colors, carpet, reds = scoring_cards(t, g, player)
    if effect == ALL:
        return total
    if effect == REVERSED:
        return -total
    if effect == COLORS:
        return colors
    if effect == CARPET:
        return carpet
    if effect == REDS:
        return reds
    return best


@jit
def points_of(t, g, action):
    """Prestige that the player to move gets at once for a legal action; 0 for placing and drawing."""
    player = np.int64(g["player"])
    effect = np.int64(t["actions"][action, 0])
    slot = np.int64(t["actions"][action, 2])
    if effect == KNIGHT:
        return value(t, g, knight_seat(g, player, slot))
    if effect in (ROYAL, RING):
        return value(t, g, np.int64(g["royals"][royal_in_slot(g, slot)]))
    if effect in (PLACE, DRAW):
        return 0
    return scoring(t, g, effect, player)


# --- cards -------------------------------------------------------------------------------------------------------


@jit
def pile_start(t, pile):
    """Index in `piles` where the part of a pile begins."""
    first, second = int(t["pile_sizes"][0]), int(t["pile_sizes"][1])
    return (first if pile > 0 else 0) + (second if pile > 1 else 0)


@jit
def draw(t, g, player, pile):
    """Take the top card of a pile into the hand."""
    left = int(g["pile_sizes"][player, pile])
    place = pile_start(t, pile) + int(t["pile_sizes"][pile]) - left
    card = int(g["piles"][player, place])
    g["piles"][player, place] = -1
    g["pile_sizes"][player, pile] = left - 1
    g["hands"][player] = add_copy(t, int(g["hands"][player]), card)


@jit
def discard(t, g, player, card):
    """Put a played card face up out of the game."""
    played = int(g["played"][player])
    g["history"][player, popcount(played)] = card
    g["hands"][player] = remove_copy(t, int(g["hands"][player]), card)
    g["played"][player] = add_copy(t, played, card)


@jit
def cards_in_piles(g, player):
    """Number of cards left in all piles of a player."""
    return int(g["pile_sizes"][player, 0]) + int(g["pile_sizes"][player, 1]) + int(g["pile_sizes"][player, 2])


# --- the course of the game --------------------------------------------------------------------------------------


@jit
def begin_turn(t, g, player):
    """Begin the turn of `player`, or end the game when all hands are played."""
    if int(g["hands"][player]) == 0:
        g["phase"] = OVER
        g["player"] = g["start_player"]
        g["left"] = 0
    else:
        g["phase"] = PLAY_PHASE
        g["player"] = player
        g["left"] = t["cards_a_turn"][int(g["rule_set"])]


@jit
def next_clockwise(g, player):
    return player + 1 if player + 1 < int(g["num_players"]) else 0


@jit
def play(t, g, action):
    """Carry out a legal action of the player to move. Return the prestige that it brought."""
    player = np.int64(g["player"])
    effect = np.int64(t["actions"][action, 0])
    slot = np.int64(t["actions"][action, 2])
    if effect == PLACE:
        place_knight(t, g, player, slot)
        return 0
    if effect == DRAW:
        draw(t, g, player, slot)
        left = int(g["left"]) - 1
        g["left"] = left
        if left == 0:
            begin_turn(t, g, next_clockwise(g, player))
        return 0

    steps = np.int64(t["actions"][action, 3])
    if effect == KNIGHT:
        points = move_knight(t, g, player, slot, steps)
    elif effect == ROYAL:
        points = move_royal(t, g, slot, steps)
    elif effect == RING:
        points = give_ring(t, g, slot)
    else:
        points = scoring(t, g, effect, player)
    g["scores"][player] += points
    discard(t, g, player, int(t["actions"][action, 1]))
    end_play(t, g, player)
    return points


@jit
def place_knight(t, g, player, distance):
    """Put a knight of `player` on a free seat, given by its distance behind the King.

    The right neighbour of the start player begins. The others follow counter-clockwise, one knight each; the start
    player is last in each round, and has the first turn after the last knight.
    """
    seat = landing(king_seat(g), -distance)
    board = int(g["knights"][player]) | (1 << seat)
    g["knights"][player] = board
    start = np.int64(g["start_player"])
    if player == start and popcount(board) == int(t["knights"][int(g["num_players"])]):
        begin_turn(t, g, start)
    else:
        g["player"] = player - 1 if player > 0 else int(g["num_players"]) - 1


@jit
def end_play(t, g, player):
    """Continue after a card is played: the player plays another one if the turn has more, else draws, which is
    compulsory while any of their piles has cards. If none has, the next player's turn begins."""
    left = int(g["left"]) - 1
    g["left"] = left
    if left > 0:
        return
    due = min(int(t["cards_a_turn"][int(g["rule_set"])]), cards_in_piles(g, player))
    if due > 0:
        g["phase"] = DRAW_PHASE
        g["left"] = due
    else:
        begin_turn(t, g, next_clockwise(g, player))


@jit
def is_over(t, g):
    """Whether all hands are played."""
    return int(g["phase"]) == OVER


@jit
def margin_scale(t, g):
    """100: a lead of 100 points of prestige is a margin of 1."""
    return 100.0


@jit
def legal(t, g, words):
    """Write the legal actions of the player to move into `words` as bits: shape (MASK_WORDS,), uint64; all zero when
    the game is over.

    A hand's actions are the union of those of its cards: every card is playable in any position, because each player
    has all their knights and each colour its two royals.
    """
    phase = int(g["phase"])
    player = int(g["player"])
    if phase == PLAY_PHASE:
        four_players = 1 if int(g["num_players"]) == 4 else 0
        write_actions(t, four_players, int(g["king"]) >> 1 & 1, int(g["hands"][player]), words)
        return
    if phase == DRAW_PHASE:
        piles = 0
        for pile in range(len(PILES)):
            piles |= (int(g["pile_sizes"][player, pile]) > 0) << pile
        for word in range(MASK_WORDS):
            words[word] = t["draw_rows"][piles, word]
        return
    for word in range(MASK_WORDS):
        words[word] = 0
    if phase == PLACE_PHASE:
        free = rotated(~occupied(g) & FULL, king_seat(g))
        while free:
            top = highest_bit(free)
            free ^= 1 << top
            for word in range(MASK_WORDS):
                words[word] |= t["seat_rows"][TOP - top, word]


# --- dealing -----------------------------------------------------------------------------------------------------


@jit
def deal(t, g, seed, start_player, num_players, rule_set):
    """Set up a new game: royals, rings, shuffled piles, hands with equal numbers of knight and king cards.

    If `start_player` is -1, it is drawn by lot. Beginners play without the scoring pile.
    """
    for player in range(MAX_PLAYERS):
        g["knights"][player] = 0
        g["hands"][player] = 0
        g["played"][player] = 0
        g["scores"][player] = 0
        for pile in range(3):
            g["pile_sizes"][player, pile] = 0
        for place in range(MAX_CARDS):
            g["piles"][player, place] = -1
            g["history"][player, place] = -1
    g["num_players"] = num_players
    g["rule_set"] = rule_set
    drawn = below(random_bits(seed, 0), num_players)
    start = drawn if start_player < 0 else start_player
    g["start_player"] = start
    g["player"] = start - 1 if start > 0 else num_players - 1
    g["phase"] = PLACE_PHASE
    g["left"] = 1

    # Silver sits on the first and third crown seat, bronze on the others; the one on the first is King.
    g["royals"][0] = t["crown_seats"][0]
    g["royals"][1] = t["crown_seats"][2]
    g["royals"][2] = t["crown_seats"][1]
    g["royals"][3] = t["crown_seats"][3]
    for royal in range(NUM_ROYALS):
        g["rings"][royal] = 1
    g["rings"][0] = 3
    g["king"] = 0

    stream = np.int64(1)
    for player in range(num_players):
        for pile in range(np.int64(t["num_piles"][rule_set])):
            first = pile_start(t, pile)
            size = np.int64(t["pile_sizes"][pile])
            for position in range(first, first + size):
                g["piles"][player, position] = t["deck"][position]
            stream = shuffle(g["piles"][player], first, size, seed, stream, 1)
            g["pile_sizes"][player, pile] = size
        for _ in range(int(t["dealt_per_pile"][rule_set])):
            for pile in range(2):
                draw(t, g, player, pile)


@jit
def resample_hidden(t, g, viewer, seed):
    """Draw everything that `viewer` doesn't know, uniformly among the deals that fit the viewer's knowledge.

    Known are the viewer's hand, all played cards, the size of each pile and the back of each card in hand. Unknown are
    the fronts of the other hands and the order of every pile, also of the viewer's own. For each player and each back,
    the hidden cards are laid out in deck order, whatever the true order is, then shuffled and dealt to hand and pile.
    """
    stream = np.int64(0)
    for player in range(np.int64(g["num_players"])):
        hand = int(g["hands"][player])
        played = int(g["played"][player])
        new_hand = hand if player == viewer else 0
        start = 0
        for pile in range(int(t["num_piles"][int(g["rule_set"])])):
            size = int(t["pile_sizes"][pile])
            in_hand = 0 if player == viewer else popcount(hand & int(t["pile_bits"][pile]))
            hidden = int(g["pile_sizes"][player, pile]) + in_hand
            first = start + size - hidden
            place = first
            for position in range(start, start + size):
                card = int(t["deck"][position])
                known = copies(t, played, card) + (copies(t, hand, card) if player == viewer else 0)
                if position - int(t["first"][card]) >= known:
                    g["piles"][player, place] = card
                    place += 1
            stream = shuffle(g["piles"][player], first, hidden, seed, stream, 1)
            for place in range(first, first + in_hand):
                new_hand = add_copy(t, new_hand, int(g["piles"][player, place]))
                g["piles"][player, place] = -1
            start += size
        g["hands"][player] = new_hand


@jit
def hide(t, g, viewer):
    """Remove everything that `viewer` doesn't know: the other hands become empty, the cards of all piles -1; pile sizes
    stay."""
    for player in range(int(g["num_players"])):
        if player != viewer:
            g["hands"][player] = 0
        for place in range(MAX_CARDS):
            g["piles"][player, place] = -1
