"""Estimated points of a turn: the best of a few plans for the action cards that a player has and may still take.

A plan fixes how often the knight rides and whether the turn ends in Camelot. Its points in Camelot, on the way and at
the tournament are added up. Action cards that it still needs use up choices: action cards that the player may still
take from the display in this round. The estimate uses public information, and the cards and quests that the player has
or is assumed to have.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from artus_env.authoring import jit, lowest_bit, popcount
from artus_env.games.quest.actions import BID_KINDS, BOOKS
from artus_env.games.quest.components import (
    ARTUS,
    COURT,
    EXERCISE,
    HORSE,
    MAX_VALUE,
    QUEST,
    QUESTS_AT_PLACE,
    TOURNAMENT,
)
from artus_env.games.quest.fast import NUM_CARDS, cards_in
from artus_env.games.quest.rules import ALL_BIDS, CAMELOT, NUM_HORSES, NUM_VIRTUES, count, payment, steps_between

JOUST_CARD_POINTS, DRAGON_POINTS, BOOK_POINTS, HIGHER_POINTS = 0.3, 0.2, 0.5, 0.15
"""Points of a virtue card apart from its use for quests: sword or lance, dragon, book; and additional points of cards
of value 2."""
CHOICE_POINTS = 0.6
"""Points of a choice that is left, which a plan loses for each choice that it uses up."""
CHOICE_FACTOR = 0.95
"""Factor of a plan's points for each choice that it uses up, because other players may take that action card."""
EXERCISE_POINTS = 0.4
"""Points of an exercise in addition to those of the virtue card that it takes."""
ASKING_POINTS, OPEN_QUEST_FACTOR, QUESTS_IN_HAND_FACTOR = 0.3, 0.15, 0.5
"""Points of taking a quest: constant points, plus a factor times the points of the best open quest. The sum is divided
by 1 plus the last number for each other quest in hand."""
MIN_TOURNAMENT_POINTS = 0.1
"""Minimum points of a tournament."""
PROSPECT_FACTOR = 0.97
"""Factor of points that aren't certain yet: at court, in a tournament, for a quest in this turn."""
LATER_FACTOR, MISSING_FACTOR, STEP_FACTOR, OTHER_QUESTS_FACTOR = 0.5, 0.8, 0.9, 0.5
"""Factors of a quest's points: if it can be done only in a later turn; for each missing card; for each step to its
place; for all quests except the best."""
AWAY_COST = 0.5
"""Cost in points of ending a turn outside Camelot."""
HIDDEN_STRENGTH, BID_FRACTION, STRENGTH_FACTOR = 0.6, 0.6, 0.3
"""Mean strength that a hidden starting card adds to a bid; fraction of their strength that players bid; increase in the
chance to win for each point of a bid above the expected one."""


class Holdings(NamedTuple):
    """Cards and quests that a player has, or is assumed to have."""

    player: int
    cards: int
    """Virtue cards, as digits."""
    quests: int
    """Quests in hand, as bits."""
    actions: int
    """Unused action cards, as digits."""
    place: int
    """Place of the knight."""
    choices_left: int
    """Number of action cards that the player may still take in this round."""


class Hopes(NamedTuple):
    """Estimated points of the quests in hand in later turns: the sum, the best and the second best."""

    total: float
    best: float
    second: float


@jit
def estimated_points(t, g, holdings):
    """Estimated points of a player's cards and quests, with the best plan for this turn."""
    turn_points, other_points = turn_and_other_points(t, g, holdings)
    return turn_points + other_points


@jit
def turn_and_other_points(t, g, holdings):
    """Points of the best plan for this turn, and points that don't depend on plans: cards, choices left, and quests for
    later turns."""
    other_points = CHOICE_POINTS * holdings.choices_left
    for kind in range(NUM_CARDS):
        other_points += count(holdings.cards, kind) * card_points(kind)
    hopes = quest_hopes(t, g, holdings)
    other_points += _combined(hopes.total, hopes.best)
    camelot, joust = camelot_points(t, g, holdings), joust_points(t, g, holdings)
    if holdings.place == CAMELOT:
        turn_points = max(
            plan_points(t, g, holdings, hopes, camelot, joust, 0, True),
            plan_points(t, g, holdings, hopes, camelot, joust, 1, False),
            plan_points(t, g, holdings, hopes, camelot, joust, 2, True),
        )
    else:
        turn_points = max(
            plan_points(t, g, holdings, hopes, camelot, joust, 0, False),
            plan_points(t, g, holdings, hopes, camelot, joust, 1, True),
            plan_points(t, g, holdings, hopes, camelot, joust, 1, False),
            plan_points(t, g, holdings, hopes, camelot, joust, 2, False),
        )
    return turn_points, other_points


@jit
def card_points(kind):
    """Points of a virtue card of a kind, apart from its use for quests."""
    value = BOOK_POINTS if kind >= BOOKS else JOUST_CARD_POINTS if kind < BID_KINDS else DRAGON_POINTS
    return value + HIGHER_POINTS * (kind % MAX_VALUE)


# --- quests in later turns ---------------------------------------------------------------------------------------


@jit
def quest_hope(t, g, cards, place, quest):
    """Estimated points of a quest in a later turn."""
    missing, goal_place = 0, quest // QUESTS_AT_PLACE + 1
    for virtue in range(NUM_VIRTUES):
        need = int(t["needs"][quest, virtue])
        if need > 0 and payment(cards, virtue, need) < 0:
            missing += 1
    distance = steps_between(g, CAMELOT if missing > 0 else place, goal_place)
    return int(t["shields"][quest]) * LATER_FACTOR * MISSING_FACTOR**missing * STEP_FACTOR**distance


@jit
def quest_hopes(t, g, holdings):
    """`Hopes` of the quests in hand."""
    total, best, second, quests = 0.0, 0.0, 0.0, holdings.quests
    while quests != 0:
        hope = quest_hope(t, g, holdings.cards, holdings.place, lowest_bit(quests))
        quests &= quests - 1
        total += hope
        best, second = max(best, hope), max(second, min(best, hope))
    return Hopes(total, best, second)


@jit
def _combined(total, best):
    """Points of several quests together: all but the best count less, because rounds are few."""
    return best + OTHER_QUESTS_FACTOR * (total - best)


# --- the tournament ----------------------------------------------------------------------------------------------


@jit
def strength(cards):
    """The highest bid that cards allow."""
    total = 0
    for kind in range(BID_KINDS):
        total += count(cards, kind) * (kind % MAX_VALUE + 1)
    return total


@jit
def chance_to_win(g, player, bid):
    """Expected fraction of the prize for a player who bids the sum `bid`."""
    if bid == 0:
        return 0.0
    strongest, expected = 0, 0.0
    for rival in range(int(g["num_players"])):
        if rival != player and count(int(g["actions"][rival]), TOURNAMENT) > 0:
            open_strength = strength(int(g["taken"][rival]))
            hidden = cards_in(int(g["start_cards"][rival]))
            if int(g["excluded"][rival]) & ALL_BIDS == ALL_BIDS:
                hidden = 0
            strongest = max(strongest, open_strength + MAX_VALUE * hidden)
            expected = max(expected, BID_FRACTION * (open_strength + HIDDEN_STRENGTH * hidden))
    if bid > strongest:
        return 1.0
    return min(0.95, max(0.05, 0.5 + STRENGTH_FACTOR * (bid - expected)))


# --- plans -------------------------------------------------------------------------------------------------------


@jit
def plan_points(t, g, holdings, hopes, camelot, joust, rides, ends_home):
    """Points that a plan adds in this turn; minus infinity if the plan is impossible.

    If the knight starts outside Camelot and ends there, it first does what it can at its place; with two rides, it is
    in Camelot between them.

    Args:
        hopes, camelot, joust: Results of `quest_hopes`, `camelot_points` and `joust_points`.
        rides: Number of rides.
        ends_home: Whether the turn ends in Camelot.
    """
    horses, steps_in_hand, fastest_horse, display_horse = 0, 0, 0, 0
    for horse in range(NUM_HORSES):
        steps, number = int(t["steps"][horse]), count(holdings.actions, HORSE + horse)
        horses += number
        steps_in_hand += number * steps
        if number > 0:
            fastest_horse = max(fastest_horse, steps)
        if count(int(g["display"]), HORSE + horse) > 0:
            display_horse = max(display_horse, steps)
    choices = max(0, rides - horses)
    if choices > holdings.choices_left or (choices > 0 and display_horse == 0):
        return -math.inf
    starts_outside = holdings.place != CAMELOT
    visits_camelot = not starts_outside or ends_home or rides == 2
    max_steps_home = steps_in_hand + choices * display_horse
    if starts_outside and visits_camelot and steps_between(g, holdings.place, CAMELOT) > max_steps_home:
        return -math.inf

    total = camelot if visits_camelot else 0.0
    total += joust if ends_home else -AWAY_COST
    if starts_outside or rides > 0:
        # Whether the knight is in Camelot before it is at the place of a quest.
        gathers_first = visits_camelot and not (starts_outside and ends_home)
        books = count(holdings.cards, BOOKS) + count(holdings.cards, BOOKS + 1)
        if gathers_first:
            books += _possible_exercises(g, holdings, BOOKS // MAX_VALUE)
        total += min(count(holdings.actions, COURT), books) * max(0.0, PROSPECT_FACTOR * int(t["court"]) - BOOK_POINTS)
        start = CAMELOT if gathers_first else holdings.place
        max_steps = max(fastest_horse, display_horse if choices > 0 else 0)
        if starts_outside and (ends_home or rides == 0):
            max_steps = display_horse = 0
        total += quest_gain(
            t, g, holdings, hopes, start, max_steps, display_horse, holdings.choices_left - choices, gathers_first
        )
    return (total * CHOICE_FACTOR**choices if total > 0 else total) - CHOICE_POINTS * choices


@jit
def _possible_exercises(g, holdings, virtue):
    """Number of cards of a virtue that a player can take with their exercise cards."""
    piles = int(g["piles"])
    on_pile = count(piles, MAX_VALUE * virtue) + count(piles, MAX_VALUE * virtue + 1)
    return min(count(holdings.actions, EXERCISE + virtue), on_pile)


@jit
def _has_highest_card(g, virtue):
    """Whether the pile of a virtue has a card of the highest value."""
    return count(int(g["piles"]), MAX_VALUE * virtue + 1) > 0


@jit
def camelot_points(t, g, holdings):
    """Points of what a player gathers in Camelot: virtue cards and quests."""
    total = 0.0
    for virtue in range(NUM_VIRTUES):
        card = card_points(MAX_VALUE * virtue + (1 if _has_highest_card(g, virtue) else 0))
        total += _possible_exercises(g, holdings, virtue) * (EXERCISE_POINTS + card)
    quests = int(g["open_quests"])
    num_asked = min(count(holdings.actions, ARTUS), popcount(quests))
    if num_asked > 0:
        best = 0.0
        while quests != 0:
            best = max(best, quest_hope(t, g, holdings.cards, CAMELOT, lowest_bit(quests)))
            quests &= quests - 1
        other_quests = popcount(holdings.quests) + num_asked - 1
        total += num_asked * (ASKING_POINTS + OPEN_QUEST_FACTOR * best) / (1 + QUESTS_IN_HAND_FACTOR * other_quests)
    return total


@jit
def joust_points(t, g, holdings):
    """Estimated points of the tournament, with the cards that the player can take by exercises before it."""
    if count(holdings.actions, TOURNAMENT) == 0:
        return 0.0
    bid = strength(holdings.cards)
    for virtue in range(BID_KINDS // MAX_VALUE):
        bid += _possible_exercises(g, holdings, virtue) * (MAX_VALUE if _has_highest_card(g, virtue) else 1)
    prize = PROSPECT_FACTOR * int(t["prize"]) * chance_to_win(g, holdings.player, bid)
    return max(MIN_TOURNAMENT_POINTS, prize - JOUST_CARD_POINTS)


@jit
def quest_gain(t, g, holdings, hopes, start, max_steps, display_horse, choices_left, gathers_first):
    """Gain in points from doing the best quest in hand in this turn.

    Args:
        start: Place from which the knight rides to the quest's place.
        max_steps: Steps of the fastest horse that the plan has for this ride.
        display_horse: Steps of the fastest horse on display; 0: none can be used.
        choices_left: Number of choices that the ride and the quest may use up.
        gathers_first: Whether the knight is in Camelot before, so that exercises can take missing cards.
    """
    best, quests, piles, display = 0.0, holdings.quests, int(g["piles"]), int(g["display"])
    while quests != 0:
        quest = lowest_bit(quests)
        quests &= quests - 1
        distance = steps_between(g, start, quest // QUESTS_AT_PLACE + 1)
        choices, cost, possible = 0, 0.0, distance <= max(max_steps, display_horse)
        if distance > max_steps:
            choices += 1
        if count(holdings.actions, QUEST) == 0:
            possible = possible and count(display, QUEST) > 0
            choices += 1
        for virtue in range(NUM_VIRTUES):
            need = int(t["needs"][quest, virtue])
            if need > 0:
                kind = payment(holdings.cards, virtue, need)
                if kind < 0:
                    kind = payment(piles, virtue, need)
                    possible = possible and gathers_first and kind >= 0
                    if count(holdings.actions, EXERCISE + virtue) == 0:
                        possible = possible and count(display, EXERCISE + virtue) > 0
                        choices += 1
                cost += card_points(kind)
        if possible and choices <= choices_left:
            hope = quest_hope(t, g, holdings.cards, holdings.place, quest)
            best_other_hope = hopes.second if hope == hopes.best else hopes.best
            change_of_hopes = _combined(hopes.total - hope, best_other_hope) - _combined(hopes.total, hopes.best)
            gain = PROSPECT_FACTOR * int(t["shields"][quest]) - cost + change_of_hopes
            best = max(best, gain * CHOICE_FACTOR**choices - CHOICE_POINTS * choices)
    return best
