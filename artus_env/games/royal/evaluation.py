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

LAST_SUIT = MAX_SUITS - 1
SUIT_BITS = (1 << MAX_VALUE) - 1
"""Mask for the values of one suit."""

PLAIN, CHIPLESS, TOP = range(3)
TRUMPS = 4
"""Rows of `WORTH`: PLAIN for suits while no chip is placed, CHIPLESS for suits without a chip while others have one,
and from TOP on TRUMPS rows for trumps: the highest, the second, the third, all others."""
_FITTED = {  # by number of players, for each row: tricks of a highest card, minimum, factor for each higher card
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
    """The tricks that cards are expected to take, indexed by [number of players - 2, row, number of higher unseen
    cards]; and those that a super-trump is expected to take, indexed by [number of players - 2]."""
    higher = np.arange(MAX_VALUE + 1)
    players = range(2, MAX_PLAYERS + 1)
    fitted_counts = sorted(_FITTED)
    fitted = np.array([_FITTED[count] for count in fitted_counts])
    rows = np.stack(
        [
            [
                [np.interp(n, fitted_counts, fitted[:, row, number]) for number in range(3)]
                for row in range(TOP + TRUMPS)
            ]
            for n in players
        ]
    )
    best, least, decay = (rows[:, :, number, None] for number in range(3))
    return least + (best - least) * decay**higher, np.interp(
        players, fitted_counts, [_FITTED_SUPER[count] for count in fitted_counts]
    )


WORTH, SUPER_WORTH = _worth()
"""Tricks that a card is expected to take in the rest of a deal, by the number of unseen higher cards of its suit: each
higher card reduces the expectation by a factor, from that of a highest card towards a minimum. Fitted to the tricks
that hands of greedy players took, at 400 000 moments with each of three numbers of players."""
PRICE, PRICE_PER_PLAYER = 0.35, 0.18
"""Value in fields, for a greedy player, of each trick that a card is expected to take later: a constant, plus an amount
for each player at the table."""
PLACING, SWAPPING = 0.4, 0.1
"""Tricks that a chip is expected to bring for each card by which a player has more of its suit than others: for a newly
placed chip, and for each place by which a chip moves up."""
SWORD = 0.6
"""Value of landing on a sword, in tricks."""
LEADING = 0.2
"""Value of leading the next trick, in tricks."""
STEEPNESS = 2.0
"""Chances to win are proportional to exp(-STEEPNESS sqrt(tricks that a player needs))."""
WINNING, LEAD = 11.0, 0.1
"""Value of winning, and of each field of lead; both in fields."""
FEWEST_TRICKS = 0.3
"""Minimum number of tricks to go, however good the hand is."""

LAST_SPREAD, SPREAD = 0.8, 1.05
"""Standard deviation of the fields still to come: `LAST_SPREAD` in any unfinished game, plus `SPREAD` times the square
root of the fields that the leading pawn has to go. The constants were fitted: a softmax of leads divided by this
predicts best who won 3 000 games of greedy players."""
TAKES, HOLDS, BRINGS, COSTS, CHIP, WINS, SWORDS, GIVES, LOSES, EMPTIES = range(10)
"""Index of each action feature, in the order that `action_features` describes."""
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
def remaining_cards(t, g):
    """The cards of all suits that are in hands and in the pile, as two numbers: the bits of all suits but the last, one
    suit after the other, and the bits of the last suit."""
    front = 0
    for suit in range(LAST_SUIT):
        front |= (int(t["full"][suit]) ^ int(g["discards"][suit])) << MAX_VALUE * suit
    last = int(t["full"][LAST_SUIT]) ^ int(g["discards"][LAST_SUIT])
    player = int(g["leader"])
    for _ in range(int(g["in_trick"])):
        kind = last_card(g, player)
        group, value = int(t["group"][kind]), int(t["value"][kind])
        if group < LAST_SUIT:
            front ^= 1 << MAX_VALUE * group + value - 1
        elif group == LAST_SUIT:
            last ^= 1 << value - 1
        player = left_of(g, player, 1)
    return front, last


@jit
def suit_bits(remaining, suit):
    """The values of a suit in `remaining`, the result of `remaining_cards`, as bits."""
    return remaining[0] >> MAX_VALUE * suit & SUIT_BITS if suit < LAST_SUIT else remaining[1]


@jit
def remaining_super_trumps(t, g, group):
    """Number of knights or shields in hands and in the pile."""
    count = int(t["full"][group]) - int(g["discards"][group])
    player = int(g["leader"])
    for _ in range(int(g["in_trick"])):
        count -= int(t["group"][last_card(g, player)]) == group
        player = left_of(g, player, 1)
    return count


@jit
def suit_row(g, num_chips, suit):
    """Row of `WORTH` for cards of a suit while `num_chips` chips are placed."""
    place = int(g["places"][suit])
    if place > 0:
        return TOP + min(TRUMPS - 1, num_chips - place)
    return CHIPLESS if num_chips > 0 else PLAIN


@jit
def hand_worth(t, g, player, remaining, num_chips):
    """Tricks that a hand is expected to take in the rest of this deal; `remaining` is the result of
    `remaining_cards`."""
    table = WORTH[int(g["num_players"]) - 2]
    total = SUPER_WORTH[int(g["num_players"]) - 2] * (
        int(g["hands"][player, KNIGHTS]) + int(g["hands"][player, SHIELDS])
    )
    for suit in range(MAX_SUITS):
        own_bits = int(g["hands"][player, suit])
        other_bits = suit_bits(remaining, suit) & ~own_bits
        row = suit_row(g, num_chips, suit)
        while own_bits:
            total += table[row, popcount(other_bits >> lowest_bit(own_bits))]
            own_bits &= own_bits - 1
    return total


@jit
def card_worth(t, g, player, remaining, num_chips, kind):
    """Tricks that one card in a hand is expected to take in this deal if it isn't played now."""
    players, suit = int(g["num_players"]), int(t["group"][kind])
    if suit >= KNIGHTS:
        return SUPER_WORTH[players - 2]
    other_bits = suit_bits(remaining, suit) & ~int(g["hands"][player, suit])
    return WORTH[players - 2, suit_row(g, num_chips, suit), popcount(other_bits >> int(t["value"][kind]))]


@jit
def suit_excess(t, g, remaining, suit):
    """Number of cards by which the player to move has more of a suit than an average other hand of the same size, as
    far as they know."""
    player = int(g["player"])
    own_bits, num_hidden = int(g["hands"][player, suit]), hidden_cards(t, g, player)
    fraction = hand_size(t, g, player) / num_hidden if num_hidden else 0.0
    return popcount(own_bits) - fraction * popcount(suit_bits(remaining, suit) & ~own_bits)


@jit
def chip_worth(t, g, remaining, action):
    """Tricks that placing or swapping chips is expected to bring the player to move in this deal; 0 for declining."""
    if action < int(t["decline"]):
        return PLACING * suit_excess(t, g, remaining, action - int(t["trump_actions"]))
    if action == int(t["decline"]):
        return 0.0
    swap = action - int(t["swap_actions"])
    low_place, high_place = int(t["swaps"][swap, 0]), int(t["swaps"][swap, 1])
    excess = 0.0
    for suit in range(int(t["suits"])):
        if int(g["places"][suit]) == low_place:
            excess += suit_excess(t, g, remaining, suit)
        elif int(g["places"][suit]) == high_place:
            excess -= suit_excess(t, g, remaining, suit)
    return SWAPPING * (high_place - low_place) * excess


# --- the trick ---------------------------------------------------------------------------------------------------


@jit
def hold_chance(t, g, remaining, kind):
    """Chance that a card of the player to move takes the trick, as far as they know; 0 if it doesn't take it now.

    Each later player is assumed to hold any cards except suits that they haven't followed, and to take the trick if
    they can.
    """
    player, led = int(g["player"]), int(g["led"])
    group, value = int(t["group"][kind]), int(t["value"][kind])
    if int(g["in_trick"]) == 0:
        led = group if group < KNIGHTS else -1
    elif not beats(t, g, kind, last_card(g, int(g["winning"])), led):
        return 0.0
    players_to_come = int(g["num_players"]) - 1 - int(g["in_trick"])
    num_hidden = hidden_cards(t, g, player)
    place = int(g["places"][group]) if group < KNIGHTS else MAX_SUITS + 1
    num_led, num_led_taking = 0, 0  # unseen cards of the led suit, and how many of them take the trick
    if led >= 0:
        bits = suit_bits(remaining, led) & ~int(g["hands"][player, led])
        num_led = popcount(bits)
        if group == led:
            num_led_taking = popcount(bits >> value)
        elif int(g["places"][led]) > place:
            num_led_taking = num_led
    chance = 1.0
    for seats in range(1, players_to_come + 1):
        other = left_of(g, player, seats)
        voids, cards_in_hand = int(g["voids"][other]), hand_size(t, g, other)
        num_others_taking = 0  # unseen cards of other suits and super-trumps that take the trick
        for suit in range(MAX_SUITS):
            if suit != led and voids >> suit & 1 == 0:
                bits = suit_bits(remaining, suit) & ~int(g["hands"][player, suit])
                if suit == group:
                    num_others_taking += popcount(bits >> value)
                elif int(g["places"][suit]) > place:
                    num_others_taking += popcount(bits)
        for super_group in range(KNIGHTS, SHIELDS + 1):
            if super_group != group:
                num_others_taking += remaining_super_trumps(t, g, super_group) - int(g["hands"][player, super_group])
        void_chance, take_chance = 1.0, 0.0  # chance to have none of the led suit, and to take the trick
        if led >= 0 and voids >> led & 1 == 0:
            void_chance = (1.0 - num_led / num_hidden) ** cards_in_hand
            take_chance = 1.0 - (1.0 - num_led_taking / num_hidden) ** cards_in_hand
        num_not_led = num_hidden - num_led
        if num_others_taking > 0:
            take_chance += void_chance * (1.0 - (1.0 - min(1.0, num_others_taking / num_not_led)) ** cards_in_hand)
        chance *= 1.0 - min(1.0, take_chance)
    return chance


@jit
def has_still_to_play(g, player):
    """Whether a player still has to play a card to the current trick."""
    seats = player - int(g["leader"])
    return (seats if seats >= 0 else seats + int(g["num_players"])) >= int(g["in_trick"])


@jit
def played_card_worth(t, g, player, remaining, num_chips, kind):
    """Tricks that a card would be expected to take later if a player didn't play it to this trick: the card `kind`, or
    for -1 the lowest that they can play."""
    led = int(g["led"])
    if kind < 0 and led >= 0 and int(g["hands"][player, led]) > 0:
        kind = int(t["values"]) * led + lowest_bit(int(g["hands"][player, led]))
    if kind < 0:
        return WORTH[int(g["num_players"]) - 2, CHIPLESS if num_chips > 0 else PLAIN, MAX_VALUE]
    return card_worth(t, g, player, remaining, num_chips, kind)


@jit
def trick_winner(t, g):
    """Winner of the current trick, if each later player takes it whenever they can, with the lowest card that does.

    Returns:
        The player, and the kind of the card that they will take it with; -1 if they have already played that card.
    """
    led, winner, kind_to_play = int(g["led"]), int(g["winning"]), -1
    kind = last_card(g, winner)
    group, value = int(t["group"][kind]), int(t["value"][kind])
    player = int(g["player"])
    for _ in range(int(g["num_players"]) - int(g["in_trick"])):
        place = int(g["places"][group]) if group < KNIGHTS else MAX_SUITS + 1
        taking_group, bits = -1, 0
        if led >= 0 and int(g["hands"][player, led]) > 0:
            own_bits = int(g["hands"][player, led])
            bits = own_bits >> value << value if group == led else own_bits if int(g["places"][led]) > place else 0
            taking_group = led if bits else -1
        else:
            if group < KNIGHTS:
                bits = int(g["hands"][player, group]) >> value << value
                taking_group = group if bits else -1
                lowest_place = MAX_SUITS + 1
                for suit in range(MAX_SUITS):
                    if (
                        taking_group != group
                        and place < int(g["places"][suit]) < lowest_place
                        and int(g["hands"][player, suit]) > 0
                    ):
                        bits = int(g["hands"][player, suit])
                        taking_group, lowest_place = suit, int(g["places"][suit])
            if taking_group < 0:
                for super_group in range(KNIGHTS, SHIELDS + 1):
                    if taking_group < 0 and super_group != group and int(g["hands"][player, super_group]) > 0:
                        taking_group = super_group
        if taking_group >= 0:
            winner, group = player, taking_group
            value = lowest_bit(bits) + 1 if taking_group < KNIGHTS else 0
            values = int(t["values"])
            kind_to_play = (
                values * taking_group + value - 1
                if taking_group < KNIGHTS
                else int(t["suits"]) * values + taking_group - KNIGHTS
            )
        player = left_of(g, player, 1)
    return winner, kind_to_play


# --- verbs -------------------------------------------------------------------------------------------------------


@jit
def evaluate(t, g, player, weight):
    """The chance to win, in fields: `WINNING` for a certain win, 0 for equal chances; plus `LEAD` for each field of
    lead over the mean of the others. When the game is over, the value is this lead.

    The current trick is played out first, see `trick_winner`. The chance to win falls with the square root of the
    tricks that a player needs to reach the last field. Tricks by which their hand is expected to exceed the mean hand
    count as taken, multiplied by `weight`.
    """
    players = int(g["num_players"])
    phase = int(g["phase"])
    winner, kind_to_play, target, sword_player = -1, -1, 0, -1
    if phase == TRICK_PHASE and int(g["in_trick"]) > 0:
        winner, kind_to_play = trick_winner(t, g)
        target = landing(t, g, winner)
        if is_sword(t, target):
            sword_player = winner
    elif phase == SWORD_PHASE:
        sword_player = int(g["player"])
    total, pawn_bits, own_field = 0, 0, 0
    for other in range(players):
        field = target if other == winner else int(g["scores"][other])
        total += field
        pawn_bits |= 1 << field
        own_field = field if other == player else own_field
    lead = own_field - (total - own_field) / (players - 1)
    if phase == OVER:
        return lead
    fields = int(t["fields"])
    if target == fields:
        return LEAD * lead + (WINNING if winner == player else -WINNING / (players - 1))
    remaining, num_chips = remaining_cards(t, g), chips_placed(t, g)
    mean_worth = 0.0
    if weight != 0.0:
        for other in range(players):
            mean_worth += hand_worth(t, g, other, remaining, num_chips)
        mean_worth /= players
    total_odds, own_odds = 0.0, 0.0
    for other in range(players):
        field = target if other == winner else int(g["scores"][other])
        tricks_to_go = float(fields - field - popcount(pawn_bits >> field + 1))
        if weight != 0.0:
            tricks_to_go -= weight * (hand_worth(t, g, other, remaining, num_chips) - mean_worth)
            if winner >= 0 and (kind_to_play >= 0 if other == winner else has_still_to_play(g, other)):
                kind = kind_to_play if other == winner else -1
                tricks_to_go += weight * played_card_worth(t, g, other, remaining, num_chips, kind)
        if other == winner:
            tricks_to_go -= LEADING
        if other == sword_player:
            tricks_to_go -= SWORD
        odds = math.exp(-STEEPNESS * math.sqrt(max(FEWEST_TRICKS, tricks_to_go)))
        total_odds += odds
        own_odds = odds if other == player else own_odds
    return LEAD * lead + WINNING * (players * own_odds / total_odds - 1.0) / (players - 1)


@jit
def greedy_value(t, g, action):
    """Fields that a card is expected to bring now, minus the value in fields of its expected later tricks; for a chip,
    the expected gain in tricks."""
    remaining, num_chips = remaining_cards(t, g), chips_placed(t, g)
    player = int(g["player"])
    if int(g["phase"]) == SWORD_PHASE:
        return chip_worth(t, g, remaining, action)
    gain = landing(t, g, player) - int(g["scores"][player])
    trick_price = PRICE + PRICE_PER_PLAYER * int(g["num_players"])
    cost = trick_price * card_worth(t, g, player, remaining, num_chips, action)
    return hold_chance(t, g, remaining, action) * gain - cost


@jit
def default_action(t, g, key):
    """The only card that may be played, or the lowest one if following suit can't take the trick any more; else -1."""
    if int(g["phase"]) != TRICK_PHASE:
        return -1
    player, led = int(g["player"]), int(g["led"])
    values = int(t["values"])
    if led >= 0 and int(g["hands"][player, led]) > 0:
        own_bits = int(g["hands"][player, led])
        lowest, highest = values * led + lowest_bit(own_bits), values * led + highest_bit(own_bits)
        if lowest == highest or not beats(t, g, highest, last_card(g, int(g["winning"])), led):
            return lowest
        return -1
    kind, num_kinds = -1, 0
    for group in range(KNIGHTS):
        own_bits = int(g["hands"][player, group])
        if own_bits:
            num_kinds += popcount(own_bits)
            kind = values * group + lowest_bit(own_bits)
    for group in range(KNIGHTS, GROUPS):
        if int(g["hands"][player, group]) > 0:
            num_kinds += 1
            kind = values * int(t["suits"]) + group - KNIGHTS
    return kind if num_kinds == 1 else -1


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
      others are expected to get by it, in tenths, and the chance that one of them wins the game by it, in %, see
      `gains_of_others`;
      100 if it is the last card of its suit in the hand.
    """
    player = int(g["player"])
    remaining, num_chips = remaining_cards(t, g), chips_placed(t, g)
    in_sword_phase = int(g["phase"]) == SWORD_PHASE
    target = 0 if in_sword_phase else landing(t, g, player)
    gains_if_taking, gains_if_not_taking = gains_of_others(t, g, True), gains_of_others(t, g, False)
    action = next_action(words, -1)
    while action >= 0:
        for k in range(NUM_ACTION_FEATURES):
            out[action, k] = 0
        if in_sword_phase:
            out[action, CHIP] = clipped(100 * chip_worth(t, g, remaining, action))
        else:
            chance, group = hold_chance(t, g, remaining, action), int(t["group"][action])
            gain, win_chance = gains_if_taking if chance > 0.0 else gains_if_not_taking
            out[action, TAKES] = 100 if chance > 0.0 else 0
            out[action, HOLDS] = clipped(100 * chance)
            out[action, BRINGS] = clipped(10 * chance * (target - int(g["scores"][player])))
            out[action, COSTS] = clipped(100 * card_worth(t, g, player, remaining, num_chips, action))
            out[action, WINS] = clipped(100 * chance) if target == int(t["fields"]) else 0
            out[action, SWORDS] = clipped(100 * chance) if is_sword(t, target) else 0
            out[action, GIVES] = clipped(10 * (1.0 - chance) * gain)
            out[action, LOSES] = clipped(100 * (1.0 - chance) * win_chance)
            out[action, EMPTIES] = 100 if group < KNIGHTS and popcount(int(g["hands"][player, group])) == 1 else 0
        action = next_action(words, action)


@jit
def gains_of_others(t, g, takes_trick):
    """Mean number of fields that the other possible winners of the trick would get, and the chance that the trick wins
    one of them the game, if all are equally likely.

    These are the players still to play and, unless the played card `takes_trick` now, the player who holds it now.
    """
    player, count, fields, wins = int(g["player"]), 0, 0, 0
    for seats in range(int(g["num_players"]) - int(g["in_trick"])):
        other = left_of(g, player, seats) if seats > 0 else int(g["winning"])
        if seats > 0 or (not takes_trick and int(g["in_trick"]) > 0):
            target = landing(t, g, other)
            count += 1
            fields += target - int(g["scores"][other])
            wins += target == int(t["fields"])
    return (fields / count, wins / count) if count > 0 else (0.0, 0.0)


@jit
def score_stddev(t, g):
    """Standard deviation of the fields still to come: grows with the square root of the fields that the leading pawn
    has to go."""
    players = int(g["num_players"])
    foremost = 0
    for player in range(players):
        foremost = max(foremost, int(g["scores"][player]))
    return LAST_SPREAD + SPREAD * math.sqrt(int(t["fields"]) - foremost)
