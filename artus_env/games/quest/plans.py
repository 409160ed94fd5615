"""Estimated points of a turn: the best of a few plans for the action cards that a player has and may still take.

A plan fixes how often the knight rides and whether the turn ends in Camelot. Points in Camelot, on the way and at the
tournament are added up; action cards on display that a plan needs use up choices. The estimate uses public information,
and the cards and quests that the player has or is assumed to have.
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

JOUSTING, DRAGON, BOOK, HIGHER = 0.3, 0.2, 0.5, 0.15
"""Points of a virtue card apart from quests: sword or lance, dragon, book; and the additional points of value 2."""
OWED = 0.6
"""Points of an action card that is still to be chosen. A plan pays them for each one that it needs."""
CHOSEN = 0.95
"""Factor of a plan's points for each action card that it needs and that is still to be chosen: others may take it."""
EXERCISING = 0.4
"""Points of an exercise in addition to its card."""
ASKING, FITTING, CROWDED = 0.3, 0.15, 0.5
"""Points of an action card that takes a quest; factor of the best open quest's points, which are added; reduction for
each quest in hand."""
LEAST = 0.1
"""Minimum points of a tournament."""
PROSPECT = 0.97
"""Factor of points that are still to be won: at court, in a tournament, for a quest in this turn."""
LATER, LACKING, WAY, FURTHER = 0.5, 0.8, 0.9, 0.5
"""Factors of a quest's shields: in a later turn; for each missing card; for each step; for all quests except the
best."""
AWAY = 0.5
"""Cost in points of ending a turn outside Camelot."""
HIDDEN_STRENGTH, BID_PART, EDGE = 0.6, 0.6, 0.3
"""Mean strength that a starting card adds to a bid; part of their strength that players bid; increase in the chance to
win for each point of strength above the expected one."""


class Held(NamedTuple):
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
    left: int
    """Action cards that are still to be chosen in this round."""


class Hopes(NamedTuple):
    """Estimated points of the quests in hand in later turns: the sum, the best and the second best."""

    total: float
    best: float
    second: float


@jit
def worth(t, g, held):
    """Estimated points of a player's cards and quests, with the best plan for this turn."""
    turn, rest = parts_of_worth(t, g, held)
    return turn + rest


@jit
def parts_of_worth(t, g, held):
    """Points of the best plan for this turn, and points apart from plans: cards, choices, and quests for later
    turns."""
    rest = OWED * held.left
    for kind in range(NUM_CARDS):
        rest += count(held.cards, kind) * card_worth(kind)
    hopes = hopes_of(t, g, held)
    rest += _together(hopes.total, hopes.best)
    camelot, joust = camelot_worth(t, g, held), joust_worth(t, g, held)
    if held.place == CAMELOT:
        turn = max(
            plan_worth(t, g, held, hopes, camelot, joust, 0, True),
            plan_worth(t, g, held, hopes, camelot, joust, 1, False),
            plan_worth(t, g, held, hopes, camelot, joust, 2, True),
        )
    else:
        turn = max(
            plan_worth(t, g, held, hopes, camelot, joust, 0, False),
            plan_worth(t, g, held, hopes, camelot, joust, 1, True),
            plan_worth(t, g, held, hopes, camelot, joust, 1, False),
            plan_worth(t, g, held, hopes, camelot, joust, 2, False),
        )
    return turn, rest


@jit
def card_worth(kind):
    """Points of a virtue card apart from quests."""
    value = BOOK if kind >= BOOKS else JOUSTING if kind < BID_KINDS else DRAGON
    return value + HIGHER * (kind % MAX_VALUE)


# --- quests in later turns ---------------------------------------------------------------------------------------


@jit
def hope_of(t, g, cards, place, quest):
    """Estimated points of a quest in a later turn."""
    missing, goal_place = 0, quest // QUESTS_AT_PLACE + 1
    for virtue in range(NUM_VIRTUES):
        need = int(t["needs"][quest, virtue])
        if need > 0 and payment(cards, virtue, need) < 0:
            missing += 1
    way = steps_between(g, CAMELOT if missing > 0 else place, goal_place)
    return int(t["shields"][quest]) * LATER * LACKING**missing * WAY**way


@jit
def hopes_of(t, g, held):
    """`Hopes` of the quests in hand."""
    total, best, second, quests = 0.0, 0.0, 0.0, held.quests
    while quests != 0:
        hope = hope_of(t, g, held.cards, held.place, lowest_bit(quests))
        quests &= quests - 1
        total += hope
        best, second = max(best, hope), max(second, min(best, hope))
    return Hopes(total, best, second)


@jit
def _together(total, best):
    """Points of several quests together: all but the best count less, because rounds are few."""
    return best + FURTHER * (total - best)


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
    """Expected part of the prize for a player's bid of a certain strength."""
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
            expected = max(expected, BID_PART * (open_strength + HIDDEN_STRENGTH * hidden))
    if bid > strongest:
        return 1.0
    return min(0.95, max(0.05, 0.5 + EDGE * (bid - expected)))


# --- plans -------------------------------------------------------------------------------------------------------


@jit
def plan_worth(t, g, held, hopes, camelot, joust, rides, ends_home):
    """Points that a plan adds in this turn; minus infinity if the plan is impossible.

    If the knight starts outside Camelot and ends there, it first does what it can at its place; with two rides, it is
    in Camelot between them.

    Args:
        hopes, camelot, joust: Results of `hopes_of`, `camelot_worth` and `joust_worth`.
        rides: Number of rides.
        ends_home: Whether the turn ends in Camelot.
    """
    horses, ride, fastest, free = 0, 0, 0, 0
    for horse in range(NUM_HORSES):
        steps, number = int(t["steps"][horse]), count(held.actions, HORSE + horse)
        horses += number
        ride += number * steps
        if number > 0:
            fastest = max(fastest, steps)
        if count(int(g["display"]), HORSE + horse) > 0:
            free = max(free, steps)
    choices = max(0, rides - horses)
    if choices > held.left or (choices > 0 and free == 0):
        return -math.inf
    outside = held.place != CAMELOT
    visits = not outside or ends_home or rides == 2
    if outside and visits and steps_between(g, held.place, CAMELOT) > ride + choices * free:
        return -math.inf

    total = camelot if visits else 0.0
    total += joust if ends_home else -AWAY
    if outside or rides > 0:
        gathers = visits and not (outside and ends_home)  # the knight is in Camelot before the quest's place
        books = count(held.cards, BOOKS) + count(held.cards, BOOKS + 1)
        if gathers:
            books += _exercises(g, held, BOOKS // MAX_VALUE)
        total += min(count(held.actions, COURT), books) * max(0.0, PROSPECT * int(t["court"]) - BOOK)
        start, reach = CAMELOT if gathers else held.place, max(fastest, free if choices > 0 else 0)
        if outside and (ends_home or rides == 0):
            reach = free = 0
        total += quests_worth(t, g, held, hopes, start, reach, free, held.left - choices, gathers)
    return (total * CHOSEN**choices if total > 0 else total) - OWED * choices


@jit
def _exercises(g, held, virtue):
    """Number of cards of a virtue that can be exercised for."""
    piles = int(g["piles"])
    on_pile = count(piles, MAX_VALUE * virtue) + count(piles, MAX_VALUE * virtue + 1)
    return min(count(held.actions, EXERCISE + virtue), on_pile)


@jit
def _highest(g, virtue):
    """Whether the pile of a virtue has a card of the highest value."""
    return count(int(g["piles"]), MAX_VALUE * virtue + 1) > 0


@jit
def camelot_worth(t, g, held):
    """Points of what a player gathers in Camelot: virtue cards and quests."""
    total = 0.0
    for virtue in range(NUM_VIRTUES):
        card = card_worth(MAX_VALUE * virtue + (1 if _highest(g, virtue) else 0))
        total += _exercises(g, held, virtue) * (EXERCISING + card)
    quests = int(g["open_quests"])
    asked = min(count(held.actions, ARTUS), popcount(quests))
    if asked > 0:
        best = 0.0
        while quests != 0:
            best = max(best, hope_of(t, g, held.cards, CAMELOT, lowest_bit(quests)))
            quests &= quests - 1
        total += asked * (ASKING + FITTING * best) / (1 + CROWDED * (popcount(held.quests) + asked - 1))
    return total


@jit
def joust_worth(t, g, held):
    """Estimated points of the tournament, with the cards that can be exercised for before it."""
    if count(held.actions, TOURNAMENT) == 0:
        return 0.0
    bid = strength(held.cards)
    for virtue in range(BID_KINDS // MAX_VALUE):
        bid += _exercises(g, held, virtue) * (MAX_VALUE if _highest(g, virtue) else 1)
    return max(LEAST, PROSPECT * int(t["prize"]) * chance_to_win(g, held.player, bid) - JOUSTING)


@jit
def quests_worth(t, g, held, hopes, start, reach, free, left, gathers):
    """Gain in points from doing the best quest in hand in this turn.

    Args:
        start: Place from which the knight rides there.
        reach: Steps of the fastest horse for it.
        free: Steps of the fastest horse on display; 0: none can be used.
        left: Number of action cards that may still be chosen for it.
        gathers: Whether cards may be exercised for before it.
    """
    best, quests, piles, display = 0.0, held.quests, int(g["piles"]), int(g["display"])
    while quests != 0:
        quest = lowest_bit(quests)
        quests &= quests - 1
        way = steps_between(g, start, quest // QUESTS_AT_PLACE + 1)
        choices, cost, possible = 0, 0.0, way <= max(reach, free)
        if way > reach:
            choices += 1
        if count(held.actions, QUEST) == 0:
            possible = possible and count(display, QUEST) > 0
            choices += 1
        for virtue in range(NUM_VIRTUES):
            need = int(t["needs"][quest, virtue])
            if need > 0:
                kind = payment(held.cards, virtue, need)
                if kind < 0:
                    kind = payment(piles, virtue, need)
                    possible = possible and gathers and kind >= 0
                    if count(held.actions, EXERCISE + virtue) == 0:
                        possible = possible and count(display, EXERCISE + virtue) > 0
                        choices += 1
                cost += card_worth(kind)
        if possible and choices <= left:
            hope = hope_of(t, g, held.cards, held.place, quest)
            others = hopes.second if hope == hopes.best else hopes.best
            kept = _together(hopes.total - hope, others) - _together(hopes.total, hopes.best)
            gain = PROSPECT * int(t["shields"][quest]) - cost + kept
            best = max(best, gain * CHOSEN**choices - OWED * choices)
    return best
