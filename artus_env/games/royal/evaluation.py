"""Evaluation of positions and actions, for agents that look ahead.

`hold_chance`, `greedy_value`, `default_action` and `action_features` use only what the player to move knows. `evaluate`
reads the complete position, including other hands: agents that look ahead call it for deals that they have drawn
themselves.
"""

from __future__ import annotations

import math

import numpy as np

from artus_env.authoring import clipped, highest_bit, jit, lowest_bit, next_action, popcount
from artus_env.games.royal.components import MAX_PLAYERS, MAX_SUITS, MAX_VALUE
from artus_env.games.royal.rules import beats, chips_placed, hand_size, is_sword, landing, last_card, left_of
from artus_env.games.royal.state import GROUPS, KNIGHTS, OVER, SHIELDS, SWORD_PHASE, TRICK_PHASE

LAST = MAX_SUITS - 1
SUIT_BITS = (1 << MAX_VALUE) - 1

PLAIN, CHIPLESS, TOP = range(3)
TRUMPS = 4
"""Rows of `WORTH`: suits while no chip is placed, suits without a chip, then four rows of trumps: the highest, the
second, the third, all others."""
_FITTED = {
    2: ((0.42, 0.0, 0.8), (0.54, 0.15, 0.7), (0.92, 0.5, 0.62), (0.68, 0.4, 0.55), (0.44, 0.28, 0.5), (0.24, 0.2, 0.5)),
    4: (
        (0.42, 0.0, 0.5),
        (0.23, 0.05, 0.45),
        (0.78, 0.3, 0.58),
        (0.53, 0.18, 0.5),
        (0.26, 0.07, 0.4),
        (0.13, 0.04, 0.4),
    ),
    6: (
        (0.31, 0.0, 0.25),
        (0.14, 0.04, 0.5),
        (0.69, 0.1, 0.7),
        (0.41, 0.04, 0.58),
        (0.13, 0.01, 0.4),
        (0.09, 0.02, 0.5),
    ),
}
_FITTED_SUPER = {2: 1.12, 4: 0.93, 6: 0.84}


def _worth() -> tuple[np.ndarray, np.ndarray]:
    """Expected tricks of cards: shape (players - 2, row, higher unseen cards), and of super-trumps, by players - 2."""
    higher = np.arange(MAX_VALUE + 1)
    players = range(2, MAX_PLAYERS + 1)
    known = sorted(_FITTED)
    fitted = np.array([_FITTED[count] for count in known])
    rows = np.stack(
        [
            [[np.interp(n, known, fitted[:, row, part]) for part in range(3)] for row in range(TOP + TRUMPS)]
            for n in players
        ]
    )
    best, least, decay = (rows[:, :, part, None] for part in range(3))
    return least + (best - least) * decay**higher, np.interp(players, known, [_FITTED_SUPER[count] for count in known])


WORTH, SUPER_WORTH = _worth()
"""Tricks that a card is expected to take in the rest of a deal, by the number of unseen higher cards of its suit: each
of these reduces them by a factor, from the number of a highest card towards a minimum. Fitted to the tricks that hands
of greedy players took, at 400 000 moments with each of three numbers of players."""
PRICE, PRICE_OF_PLAYER = 0.35, 0.18
"""Price in fields of a trick that a card is expected to take later, for a greedy player: a constant, and an amount for
each player at the table."""
PLACING, SWAPPING = 0.4, 0.1
"""Tricks that a chip brings for each card of its suit that a player has more than others: for a new chip, and for one
that moves up by a place."""
SWORD = 0.6
"""Value of landing on a sword, in tricks."""
LEADING = 0.2
"""Value of leading the next trick, in tricks."""
FAR = 2.0
"""Chances to win are proportional to exp(-FAR sqrt(tricks that a player needs))."""
WINNING, LEAD = 11.0, 0.1
"""Value of winning in fields, and weight of each field of lead."""
CLOSE = 0.3
"""Minimum number of tricks to go, however good the hand is."""

LAST_SPREAD, SPREAD = 0.8, 1.05
"""Standard deviation of the fields still to come: `LAST_SPREAD` in any unfinished game, plus `SPREAD` times the square
root of the fields that the leading pawn has to go. The constants were fitted: a softmax of leads divided by this
predicts best who won 3 000 games of greedy players."""
TAKES, HOLDS, BRINGS, COSTS, CHIP, WINS, SWORDS, GIVES, LOSES, EMPTIES = range(10)
NUM_ACTION_FEATURES = 10


# --- cards -------------------------------------------------------------------------------------------------------


@jit
def hidden_cards(t, g, player):
    """Number of cards in the pile and in the hands of all other players."""
    count = int(g["pile_size"])
    for other in range(int(g["num_players"])):
        if other != player:
            count += hand_size(t, g, other)
    return count


@jit
def cards_left(t, g):
    """All cards in hands and in the pile, as bits in two numbers: all suits but the last one, one after the other, then
    the last one."""
    front = 0
    for suit in range(LAST):
        front |= (int(t["full"][suit]) ^ int(g["discards"][suit])) << MAX_VALUE * suit
    last = int(t["full"][LAST]) ^ int(g["discards"][LAST])
    player = int(g["leader"])
    for _ in range(int(g["in_trick"])):
        kind = last_card(g, player)
        group, value = int(t["group"][kind]), int(t["value"][kind])
        if group < LAST:
            front ^= 1 << MAX_VALUE * group + value - 1
        elif group == LAST:
            last ^= 1 << value - 1
        player = left_of(g, player, 1)
    return front, last


@jit
def of_suit(left, suit):
    """Values of a suit in `left`, the result of `cards_left`, as bits."""
    return left[0] >> MAX_VALUE * suit & SUIT_BITS if suit < LAST else left[1]


@jit
def super_trumps_left(t, g, group):
    """Number of knights or shields in hands and in the pile."""
    count = int(t["full"][group]) - int(g["discards"][group])
    player = int(g["leader"])
    for _ in range(int(g["in_trick"])):
        count -= int(t["group"][last_card(g, player)]) == group
        player = left_of(g, player, 1)
    return count


@jit
def suit_row(g, chips, suit):
    """Row of `WORTH` for cards of a suit while `chips` chips are placed."""
    place = int(g["places"][suit])
    if place > 0:
        return TOP + min(TRUMPS - 1, chips - place)
    return CHIPLESS if chips > 0 else PLAIN


@jit
def hand_worth(t, g, player, left, chips):
    """Tricks that a hand is expected to take in the rest of this deal; `left` is the result of `cards_left`."""
    table = WORTH[int(g["num_players"]) - 2]
    total = SUPER_WORTH[int(g["num_players"]) - 2] * (
        int(g["hands"][player, KNIGHTS]) + int(g["hands"][player, SHIELDS])
    )
    for suit in range(MAX_SUITS):
        own = int(g["hands"][player, suit])
        others = of_suit(left, suit) & ~own
        row = suit_row(g, chips, suit)
        while own:
            total += table[row, popcount(others >> lowest_bit(own))]
            own &= own - 1
    return total


@jit
def card_worth(t, g, player, left, chips, kind):
    """Tricks that one card in a hand is expected to take in this deal if it isn't played now."""
    players, suit = int(g["num_players"]), int(t["group"][kind])
    if suit >= KNIGHTS:
        return SUPER_WORTH[players - 2]
    others = of_suit(left, suit) & ~int(g["hands"][player, suit])
    return WORTH[players - 2, suit_row(g, chips, suit), popcount(others >> int(t["value"][kind]))]


@jit
def excess(t, g, left, suit):
    """Cards of a suit that the player to move has more than an average other hand of the same size, by what they
    know."""
    player = int(g["player"])
    own, hidden = int(g["hands"][player, suit]), hidden_cards(t, g, player)
    share = hand_size(t, g, player) / hidden if hidden else 0.0
    return popcount(own) - share * popcount(of_suit(left, suit) & ~own)


@jit
def chip_worth(t, g, left, action):
    """Tricks that placing or swapping chips is expected to bring the player to move in this deal; 0 for declining."""
    if action < int(t["decline"]):
        return PLACING * excess(t, g, left, action - int(t["trump_actions"]))
    if action == int(t["decline"]):
        return 0.0
    low, high = int(t["swaps"][action - int(t["swap_actions"]), 0]), int(t["swaps"][action - int(t["swap_actions"]), 1])
    better = 0.0
    for suit in range(int(t["suits"])):
        if int(g["places"][suit]) == low:
            better += excess(t, g, left, suit)
        elif int(g["places"][suit]) == high:
            better -= excess(t, g, left, suit)
    return SWAPPING * (high - low) * better


# --- the trick ---------------------------------------------------------------------------------------------------


@jit
def hold_chance(t, g, left, kind):
    """Chance that a card of the player to move takes the trick, by what they know; 0 if it doesn't take it now.

    Each later player is assumed to hold any cards except suits that they haven't followed, and to take the trick if
    they can.
    """
    player, led = int(g["player"]), int(g["led"])
    group, value = int(t["group"][kind]), int(t["value"][kind])
    if int(g["in_trick"]) == 0:
        led = group if group < KNIGHTS else -1
    elif not beats(t, g, kind, last_card(g, int(g["winning"])), led):
        return 0.0
    to_come = int(g["num_players"]) - 1 - int(g["in_trick"])
    hidden = hidden_cards(t, g, player)
    place = int(g["places"][group]) if group < KNIGHTS else MAX_SUITS + 1
    followers, following = 0, 0  # unseen cards of the led suit, and those of them that take the trick
    if led >= 0:
        cards = of_suit(left, led) & ~int(g["hands"][player, led])
        followers = popcount(cards)
        if group == led:
            following = popcount(cards >> value)
        elif int(g["places"][led]) > place:
            following = followers
    chance = 1.0
    for turn in range(1, to_come + 1):
        other = left_of(g, player, turn)
        voids, size = int(g["voids"][other]), hand_size(t, g, other)
        others = 0  # unseen cards of other suits and super-trumps that take the trick
        for suit in range(MAX_SUITS):
            if suit != led and voids >> suit & 1 == 0:
                cards = of_suit(left, suit) & ~int(g["hands"][player, suit])
                if suit == group:
                    others += popcount(cards >> value)
                elif int(g["places"][suit]) > place:
                    others += popcount(cards)
        for kind_of in range(KNIGHTS, SHIELDS + 1):
            if kind_of != group:
                others += super_trumps_left(t, g, kind_of) - int(g["hands"][player, kind_of])
        free, takes = 1.0, 0.0  # chances that they don't have the led suit, and that they take the trick with it
        if led >= 0 and voids >> led & 1 == 0:
            free = (1.0 - followers / hidden) ** size
            takes = 1.0 - (1.0 - following / hidden) ** size
        rest = hidden - followers
        if others > 0:
            takes += free * (1.0 - (1.0 - min(1.0, others / rest)) ** size)
        chance *= 1.0 - min(1.0, takes)
    return chance


@jit
def is_to_come(g, player):
    """Whether a player still has to play a card to the current trick."""
    seat = player - int(g["leader"])
    return (seat if seat >= 0 else seat + int(g["num_players"])) >= int(g["in_trick"])


@jit
def spent_worth(t, g, player, left, chips, kind):
    """Expected later tricks of the card that a player plays to the trick: `kind`, or for -1 the lowest that they can
    play."""
    led = int(g["led"])
    if kind < 0 and led >= 0 and int(g["hands"][player, led]) > 0:
        kind = int(t["values"]) * led + lowest_bit(int(g["hands"][player, led]))
    if kind < 0:
        return WORTH[int(g["num_players"]) - 2, CHIPLESS if chips > 0 else PLAIN, MAX_VALUE]
    return card_worth(t, g, player, left, chips, kind)


@jit
def trick_winner(t, g):
    """Winner of the current trick, if each later player takes it whenever they can, with the lowest card that does.

    Returns:
        The player, and the kind of the card that they still have to play for it; -1 if it has been played.
    """
    led, winner, with_kind = int(g["led"]), int(g["winning"]), -1
    kind = last_card(g, winner)
    group, value = int(t["group"][kind]), int(t["value"][kind])
    player = int(g["player"])
    for _ in range(int(g["num_players"]) - int(g["in_trick"])):
        place = int(g["places"][group]) if group < KNIGHTS else MAX_SUITS + 1
        found, cards = -1, 0
        if led >= 0 and int(g["hands"][player, led]) > 0:
            own = int(g["hands"][player, led])
            cards = own >> value << value if group == led else own if int(g["places"][led]) > place else 0
            found = led if cards else -1
        else:
            if group < KNIGHTS:
                cards = int(g["hands"][player, group]) >> value << value
                found = group if cards else -1
                lowest = MAX_SUITS + 1
                for suit in range(MAX_SUITS):
                    if found != group and place < int(g["places"][suit]) < lowest and int(g["hands"][player, suit]) > 0:
                        cards = int(g["hands"][player, suit])
                        found, lowest = suit, int(g["places"][suit])
            if found < 0:
                for other in range(KNIGHTS, SHIELDS + 1):
                    if found < 0 and other != group and int(g["hands"][player, other]) > 0:
                        found = other
        if found >= 0:
            winner, group = player, found
            value = lowest_bit(cards) + 1 if found < KNIGHTS else 0
            values = int(t["values"])
            with_kind = values * found + value - 1 if found < KNIGHTS else int(t["suits"]) * values + found - KNIGHTS
        player = left_of(g, player, 1)
    return winner, with_kind


# --- verbs -------------------------------------------------------------------------------------------------------


@jit
def evaluate(t, g, player, weight):
    """The chance to win, in fields: `WINNING` for a certain win, 0 for equal chances; plus `LEAD` for each field of
    lead over the mean of the others. When the game is over, the value is this lead.

    The current trick is played out first, see `trick_winner`. The chance to win falls with the square root of the
    tricks that a player needs to reach the last field. Tricks that their hand is expected to take beyond the mean hand
    count as taken, at `weight`.
    """
    players = int(g["num_players"])
    phase = int(g["phase"])
    winner, with_kind, target, sword = -1, -1, 0, -1
    if phase == TRICK_PHASE and int(g["in_trick"]) > 0:
        winner, with_kind = trick_winner(t, g)
        target = landing(t, g, winner)
        if is_sword(t, target):
            sword = winner
    elif phase == SWORD_PHASE:
        sword = int(g["player"])
    total, pawns, own = 0, 0, 0
    for other in range(players):
        field = target if other == winner else int(g["scores"][other])
        total += field
        pawns |= 1 << field
        own = field if other == player else own
    lead = own - (total - own) / (players - 1)
    if phase == OVER:
        return lead
    fields = int(t["fields"])
    if target == fields:
        return LEAD * lead + (WINNING if winner == player else -WINNING / (players - 1))
    left, chips = cards_left(t, g), chips_placed(t, g)
    mean = 0.0
    if weight != 0.0:
        for other in range(players):
            mean += hand_worth(t, g, other, left, chips)
        mean /= players
    chances, chance = 0.0, 0.0
    for other in range(players):
        field = target if other == winner else int(g["scores"][other])
        to_go = float(fields - field - popcount(pawns >> field + 1))
        if weight != 0.0:
            to_go -= weight * (hand_worth(t, g, other, left, chips) - mean)
            if winner >= 0 and (with_kind >= 0 if other == winner else is_to_come(g, other)):
                played = with_kind if other == winner else -1
                to_go += weight * spent_worth(t, g, other, left, chips, played)
        if other == winner:
            to_go -= LEADING
        if other == sword:
            to_go -= SWORD
        one = math.exp(-FAR * math.sqrt(max(CLOSE, to_go)))
        chances += one
        chance = one if other == player else chance
    return LEAD * lead + WINNING * (players * chance / chances - 1.0) / (players - 1)


@jit
def greedy_value(t, g, action):
    """Fields that a card is expected to bring, minus its value in later tricks; for a chip, the expected gain in
    tricks."""
    left, chips = cards_left(t, g), chips_placed(t, g)
    player = int(g["player"])
    if int(g["phase"]) == SWORD_PHASE:
        return chip_worth(t, g, left, action)
    gain = landing(t, g, player) - int(g["scores"][player])
    price = PRICE + PRICE_OF_PLAYER * int(g["num_players"])
    return hold_chance(t, g, left, action) * gain - price * card_worth(t, g, player, left, chips, action)


@jit
def default_action(t, g, key):
    """The only card that may be played, or the lowest one if following suit can't take the trick any more; else -1."""
    if int(g["phase"]) != TRICK_PHASE:
        return -1
    player, led = int(g["player"]), int(g["led"])
    values = int(t["values"])
    if led >= 0 and int(g["hands"][player, led]) > 0:
        own = int(g["hands"][player, led])
        lowest, highest = values * led + lowest_bit(own), values * led + highest_bit(own)
        if lowest == highest or not beats(t, g, highest, last_card(g, int(g["winning"])), led):
            return lowest
        return -1
    only, kinds = -1, 0
    for group in range(GROUPS):
        cards = int(g["hands"][player, group])
        if cards:
            kinds += popcount(cards) if group < KNIGHTS else 1
            only = values * group + lowest_bit(cards) if group < KNIGHTS else values * int(t["suits"]) + group - KNIGHTS
    return only if kinds == 1 else -1


@jit
def num_action_features(t):
    """10, see `action_features`."""
    return NUM_ACTION_FEATURES


@jit
def action_features(t, g, words, scratch, out):
    """Write ten features of each legal action, in this order; those of cards are 0 for chips, and the other way round:

    - cards: 100 if the card takes the trick now; the chance that it holds the trick to the end, in %; the fields that
      it is expected to bring, in tenths; its value if it isn't played now, in hundredths of a trick;
    - chips: the expected gain in this deal, in hundredths of a trick;
    - cards: the chance that the card wins the game, and the chance that it leads to a sword, both in %; the fields that
      others are expected to get by it, in tenths, and the chance that one of them wins, in %, see `gains_of_others`;
      100 if it is the last card of its suit in the hand.
    """
    player = int(g["player"])
    left, chips = cards_left(t, g), chips_placed(t, g)
    choosing = int(g["phase"]) == SWORD_PHASE
    target = 0 if choosing else landing(t, g, player)
    taking, leaving = gains_of_others(t, g, True), gains_of_others(t, g, False)
    action = next_action(words, -1)
    while action >= 0:
        for k in range(NUM_ACTION_FEATURES):
            out[action, k] = 0
        if choosing:
            out[action, CHIP] = clipped(100 * chip_worth(t, g, left, action))
        else:
            chance, group = hold_chance(t, g, left, action), int(t["group"][action])
            gain, last_field = taking if chance > 0.0 else leaving
            out[action, TAKES] = 100 if chance > 0.0 else 0
            out[action, HOLDS] = clipped(100 * chance)
            out[action, BRINGS] = clipped(10 * chance * (target - int(g["scores"][player])))
            out[action, COSTS] = clipped(100 * card_worth(t, g, player, left, chips, action))
            out[action, WINS] = clipped(100 * chance) if target == int(t["fields"]) else 0
            out[action, SWORDS] = clipped(100 * chance) if is_sword(t, target) else 0
            out[action, GIVES] = clipped(10 * (1.0 - chance) * gain)
            out[action, LOSES] = clipped(100 * (1.0 - chance) * last_field)
            out[action, EMPTIES] = 100 if group < KNIGHTS and popcount(int(g["hands"][player, group])) == 1 else 0
        action = next_action(words, action)


@jit
def gains_of_others(t, g, takes):
    """Mean fields that the other possible winners would get for the trick, and the chance that these win them the game,
    if all are equally likely.

    They are the players still to play and, unless the card `takes` the trick now, the player who holds it now.
    """
    player, count, fields, last_field = int(g["player"]), 0, 0, 0
    for turn in range(int(g["num_players"]) - int(g["in_trick"])):
        other = left_of(g, player, turn) if turn > 0 else int(g["winning"])
        if turn > 0 or (not takes and int(g["in_trick"]) > 0):
            target = landing(t, g, other)
            count += 1
            fields += target - int(g["scores"][other])
            last_field += target == int(t["fields"])
    return (fields / count, last_field / count) if count > 0 else (0.0, 0.0)


@jit
def score_stddev(t, g):
    """Standard deviation of the fields still to come: grows with the square root of the fields that the leading pawn
    has to go."""
    players = int(g["num_players"])
    foremost = 0
    for player in range(players):
        foremost = max(foremost, int(g["scores"][player]))
    return LAST_SPREAD + SPREAD * math.sqrt(int(t["fields"]) - foremost)
