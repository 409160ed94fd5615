"""The rules of the royal card game: scalar functions on one game `g` (a `STATE` record) and the box `t` (`TABLES`).

They give the same results compiled and as plain Python, because of the conventions in CONTRIBUTING.md.

A *kind* is the number of a card in `Components.cards`, a *group* a suit or one of the two kinds of super-trumps, and a
*set of cards* a row with a number for each group (`state.GROUPS`). Player p + 1 sits to the left of player p.
"""

from __future__ import annotations

import numpy as np

from artus_env.authoring import add, below, jit, lowest_bit, random_bits, shuffle
from artus_env.games.royal.actions import MASK_WORDS
from artus_env.games.royal.components import MAX_CARDS, MAX_HAND, MAX_PLAYERS, MAX_SUITS
from artus_env.games.royal.fast import write_cards
from artus_env.games.royal.state import GROUPS, KNIGHTS, OVER, SWORD_PHASE, TRICK_PHASE

START, CHANCE = 100, 101
"""Indices of the random numbers for the start player and for `chance`, after those of the first shuffle."""


# --- cards -------------------------------------------------------------------------------------------------------


@jit
def put(t, cards, kind):
    """Add a card to a set of cards."""
    group = int(t["group"][kind])
    cards[group] += 1 << int(t["value"][kind]) - 1 if group < KNIGHTS else 1


@jit
def take(t, cards, kind):
    """Remove a card from a set of cards that has it."""
    group = int(t["group"][kind])
    cards[group] -= 1 << int(t["value"][kind]) - 1 if group < KNIGHTS else 1


@jit
def hand_size(t, g, player):
    """Number of cards in a player's hand, which is public: those dealt that haven't been played."""
    return int(t["hand"]) - int(g["played_cards"][player])


@jit
def left_of(g, player, seats):
    """Player who sits `seats` places to the left of a player; `seats` is less than the number of players."""
    player += seats
    return player - int(g["num_players"]) if player >= int(g["num_players"]) else player


@jit
def last_card(g, player):
    """Kind of the card that a player played last. They must have played one since the last deal."""
    return int(g["played"][player, int(g["played_cards"][player]) - 1])


# --- who takes a trick -------------------------------------------------------------------------------------------


@jit
def strength(t, g, kind, led):
    """Rank of a card that isn't a super-trump: by the place of its suit's chip, then by value; 0 for a suit without a
    placed chip that isn't `led`, the suit that was led."""
    suit, value = int(t["group"][kind]), int(t["value"][kind])
    place = int(g["places"][min(suit, MAX_SUITS - 1)])
    return 16 * place + value if (place > 0) | (suit == led) else 0


@jit
def beats(t, g, kind, other, led):
    """Whether a card takes a trick of the suit `led` (-1: none) from the card `other` that has held it so far.

    Among super-trumps, the first one holds the trick until one of the other kind follows: knight beats shield and
    shield beats knight. They beat all other cards. Otherwise the suit on the highest place wins, else the highest card
    of the led suit.
    """
    group, other_group = int(t["group"][kind]), int(t["group"][other])
    higher = strength(t, g, kind, led) > strength(t, g, other, led)
    return (group != other_group) & (group >= KNIGHTS) | higher & (group < KNIGHTS) & (other_group < KNIGHTS)


@jit
def add_to_trick(t, g, player, kind):
    """Add a card to the trick: update the suit that has to be followed, and the player who takes the trick."""
    in_trick, led, winning, group = int(g["in_trick"]), int(g["led"]), int(g["winning"]), int(t["group"][kind])
    is_first = in_trick == 0
    holding_kind = kind if is_first else last_card(g, winning)
    g["winning"] = player if beats(t, g, kind, holding_kind, led) | is_first else winning
    group_to_follow = group if group < KNIGHTS else -1
    g["led"] = group_to_follow if is_first else led
    g["in_trick"] = in_trick + 1


@jit
def clear_trick(g):
    """Remove all cards from the trick."""
    g["in_trick"], g["led"], g["winning"] = 0, -1, -1


@jit
def landing(t, g, player):
    """Field that a player's pawn goes to when they win a trick: the next one without a pawn."""
    pawn_bits = 0
    for other in range(int(g["num_players"])):
        pawn_bits |= 1 << int(g["scores"][other])
    field = int(g["scores"][player]) + 1
    return field + lowest_bit(~(pawn_bits >> field))


@jit
def is_sword(t, field):
    """Whether a field carries a sword."""
    return int(t["swords"]) >> field & 1 == 1


# --- dealing -----------------------------------------------------------------------------------------------------


@jit
def new_pile(t, g, seed):
    """Make a pile of all cards: shuffled from deck order with the random numbers 0, 1, ... of a seed."""
    size = int(t["cards"])
    start = MAX_CARDS - size
    for index in range(size):
        g["pile"][start + index] = t["deck"][index]
    shuffle(g["pile"], start, size, seed, 0, 1)
    g["pile_size"] = size
    for group in range(GROUPS):
        g["discards"][group] = 0


@jit
def deal_hands(t, g):
    """Deal full hands, card by card from the dealer's left on, after a shuffle if the pile has too few cards."""
    players, hand = int(g["num_players"]), int(t["hand"])
    if int(g["pile_size"]) < players * hand:
        new_pile(t, g, random_bits(int(g["chance"]), int(g["shuffles"])))
        g["shuffles"] = int(g["shuffles"]) + 1
    index = MAX_CARDS - int(g["pile_size"])
    player = left_of(g, int(g["dealer"]), 1)
    for _ in range(hand):
        for _ in range(players):
            put(t, g["hands"][player], int(g["pile"][index]))
            g["pile"][index] = -1
            index += 1
            player = left_of(g, player, 1)
    g["pile_size"] = MAX_CARDS - index
    for player in range(players):
        for nth in range(MAX_HAND):
            g["played"][player, nth] = -1
        g["played_cards"][player] = 0
        g["voids"][player] = 0


@jit
def deal(t, g, seed, start_player, num_players, rule_set):
    """Set up a new game: pawns on field 0, no trumps, full hands.

    A start player of -1 is drawn. The start player sits to the left of the dealer and leads.
    """
    for player in range(MAX_PLAYERS):
        for group in range(GROUPS):
            g["hands"][player, group] = 0
        for nth in range(MAX_HAND):
            g["played"][player, nth] = -1
        g["scores"][player] = 0
        g["played_cards"][player] = 0
        g["voids"][player] = 0
    for index in range(MAX_CARDS):
        g["pile"][index] = -1
    for suit in range(MAX_SUITS):
        g["places"][suit] = 0
    leader = start_player if start_player >= 0 else below(random_bits(seed, START), num_players)
    g["start_player"], g["player"], g["leader"] = leader, leader, leader
    clear_trick(g)
    g["dealer"] = (leader - 1) % num_players
    g["num_players"], g["rule_set"], g["phase"], g["shuffles"] = num_players, rule_set, TRICK_PHASE, 0
    g["chance"] = random_bits(seed, CHANCE) >> np.uint64(11)
    new_pile(t, g, seed)
    deal_hands(t, g)


# --- deciding ----------------------------------------------------------------------------------------------------


@jit
def is_over(t, g):
    """Whether a pawn has reached the last field."""
    return int(g["phase"]) == OVER


@jit
def margin_scale(t, g):
    """Length of the course: the fields that make a margin of 1."""
    return float(int(t["fields"]))


@jit
def chips_placed(t, g):
    """Number of placed trump chips."""
    count = 0
    for suit in range(int(t["suits"])):
        count += int(g["places"][suit]) > 0
    return count


@jit
def legal(t, g, words):
    """Write the legal actions, see `artus_env.engine.contract.verbs.legal`.

    A player with cards of the led suit must play one of them, and no super-trump; without any, they may play any card.
    """
    phase, suits = int(g["phase"]), int(t["suits"])
    for word in range(MASK_WORDS):
        words[word] = 0
    if phase == TRICK_PHASE:
        hand, led = g["hands"][int(g["player"])], int(g["led"])
        must_follow = led >= 0 and int(hand[led]) != 0
        write_cards(t, hand, led if must_follow else -1, words)
    if phase == SWORD_PHASE:
        if chips_placed(t, g) == suits:
            for word in range(MASK_WORDS):
                words[word] = t["swap_words"][word]
            return
        for suit in range(suits):
            if int(g["places"][suit]) == 0:
                add(words, int(t["trump_actions"]) + suit)
        add(words, int(t["decline"]))


@jit
def points_of(t, g, action):
    """Fields that a card brings its player at once: 0 unless it completes a trick and wins it."""
    if action >= int(t["trump_actions"]) or int(g["in_trick"]) != int(g["num_players"]) - 1:
        return 0
    if not beats(t, g, action, last_card(g, int(g["winning"])), int(g["led"])):
        return 0
    player = int(g["player"])
    return landing(t, g, player) - int(g["scores"][player])


@jit
def play(t, g, action):
    """Play a card, or place or swap trump chips. Return the fields that it brought its player at once."""
    player = int(g["player"])
    if int(g["phase"]) == SWORD_PHASE:
        use_sword(t, g, action)
        begin_trick(g)
        return 0
    led = int(g["led"])
    is_void = (led >= 0) & (int(t["group"][action]) != led)
    g["voids"][player] = int(g["voids"][player]) | (1 << led if is_void else 0)
    take(t, g["hands"][player], action)
    add_to_trick(t, g, player, action)
    num_played = int(g["played_cards"][player])
    g["played"][player, num_played] = action
    g["played_cards"][player] = num_played + 1
    if int(g["in_trick"]) < int(g["num_players"]):
        g["player"] = left_of(g, player, 1)
        return 0
    field = int(g["scores"][player])
    end_trick(t, g)
    return int(g["scores"][player]) - field


@jit
def use_sword(t, g, action):
    """Place the chip of a suit on the lowest empty place, or decline; or swap the chips on two places."""
    if action < int(t["decline"]):
        g["places"][action - int(t["trump_actions"])] = chips_placed(t, g) + 1
    elif action >= int(t["swap_actions"]):
        first = int(t["swaps"][action - int(t["swap_actions"]), 0])
        second = int(t["swaps"][action - int(t["swap_actions"]), 1])
        for suit in range(int(t["suits"])):
            place = int(g["places"][suit])
            if place == first:
                g["places"][suit] = second
            elif place == second:
                g["places"][suit] = first


@jit
def begin_trick(g):
    """Begin a trick: the leader is to move."""
    g["phase"] = TRICK_PHASE
    g["player"] = int(g["leader"])


@jit
def end_trick(t, g):
    """End a trick. The winner's pawn moves; if it reaches the last field, the game ends. Otherwise new hands are dealt
    if all cards are played, and if the pawn is on a sword, its player places or swaps chips before the next trick."""
    players = int(g["num_players"])
    winner = int(g["winning"])
    for player in range(players):
        put(t, g["discards"], last_card(g, player))
    field = landing(t, g, winner)
    g["scores"][winner] = field
    clear_trick(g)
    if field == int(t["fields"]):
        g["phase"] = OVER
        g["player"] = g["leader"] = int(g["start_player"])
        return
    g["leader"] = winner
    if int(g["played_cards"][winner]) == int(t["hand"]):
        g["dealer"] = left_of(g, int(g["dealer"]), 1)
        deal_hands(t, g)
        g["leader"] = left_of(g, int(g["dealer"]), 1)
    begin_trick(g)
    if is_sword(t, field):
        g["phase"] = SWORD_PHASE
        g["player"] = winner
