"""What a turn may still bring: the best of a few plans for the action cards that a player has and may still take.

A plan says how often the knight rides and whether the turn ends in Camelot. What happens in Camelot, on the way and at
the tournament is added up; action cards that a plan needs and that are still on display cost choices. The guess is made
from what everybody knows and from what the player in question holds, or is taken to hold.
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
"""Points that a virtue card promises beside quests: sword or lance, dragon, book, and with value 2 so much more."""
OWED = 0.6
"""Points that an action card promises that is still to be chosen. A plan pays it for each one that it needs."""
CHOSEN = 0.95
"""What is left of a plan for each action card that it needs and that is still to be chosen: others may take it."""
EXERCISING = 0.4
"""Points that an exercise promises beside its card."""
ASKING, FITTING, CROWDED = 0.3, 0.15, 0.5
"""Points that an action card promises with which a quest is taken; what part of what the best open one promises; how
much less for each quest in hand."""
LEAST = 0.1
"""Points that a tournament promises in any case."""
PROSPECT = 0.97
"""What is left of points that are still to be fetched: at court, in a tournament, for a quest in this turn."""
LATER, LACKING, WAY, FURTHER = 0.5, 0.8, 0.9, 0.5
"""What is left of a quest's shields in a later turn; for each card that is missing; for each step; of all quests but
the best one."""
AWAY = 0.5
"""Points that it costs to end a turn outside Camelot."""
HIDDEN_STRENGTH, BID_PART, EDGE = 0.6, 0.6, 0.3
"""What a starting card adds to a bid on average; what part of their strength players bid; what a strength of 1 more
than expected adds to the chance to win."""


class Held(NamedTuple):
    """What a player holds, or is taken to hold."""

    player: int
    cards: int
    """Virtue cards, as digits."""
    quests: int
    """Quests in hand, as bits."""
    actions: int
    """Action cards that aren't used, as digits."""
    place: int
    """Where the knight is."""
    left: int
    """Action cards that are still to be chosen in this round."""


class Hopes(NamedTuple):
    """What quests in hand promise in later turns."""

    total: float
    best: float
    second: float


@jit
def worth(t, g, held):
    """Points that a player may hope for with what they hold, by the best plan for this turn."""
    turn, rest = parts_of_worth(t, g, held)
    return turn + rest


@jit
def parts_of_worth(t, g, held):
    """What the best plan for this turn brings, and what is held anyway: cards, choices, and quests for later turns."""
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
    """What a virtue card promises beside quests."""
    value = BOOK if kind >= BOOKS else JOUSTING if kind < BID_KINDS else DRAGON
    return value + HIGHER * (kind % MAX_VALUE)


# --- quests in later turns ---------------------------------------------------------------------------------------


@jit
def hope_of(t, g, cards, place, quest):
    """What a quest promises in a later turn."""
    missing, goal_place = 0, quest // QUESTS_AT_PLACE + 1
    for virtue in range(NUM_VIRTUES):
        need = int(t["needs"][quest, virtue])
        if need > 0 and payment(cards, virtue, need) < 0:
            missing += 1
    way = steps_between(g, CAMELOT if missing > 0 else place, goal_place)
    return int(t["shields"][quest]) * LATER * LACKING**missing * WAY**way


@jit
def hopes_of(t, g, held):
    """See `Hopes`."""
    total, best, second, quests = 0.0, 0.0, 0.0, held.quests
    while quests != 0:
        hope = hope_of(t, g, held.cards, held.place, lowest_bit(quests))
        quests &= quests - 1
        total += hope
        best, second = max(best, hope), max(second, min(best, hope))
    return Hopes(total, best, second)


@jit
def _together(total, best):
    """What some hopes are worth together: rounds are few."""
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
    """The part of the prize that a player may hope for with a bid of a certain strength."""
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
    """What the turn brings by a plan, beside what is held anyway; minus infinity if it can't be carried out.

    From outside, a plan that ends in Camelot does what can be done outside first, at the knight's place; one with two
    rides is in Camelot in between.

    Args:
        hopes, camelot, joust: What `hopes_of`, `camelot_worth` and `joust_worth` say.
        rides: How often the knight rides.
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
        gathers = visits and not (outside and ends_home)  # is in Camelot before the knight is at the quest's place
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
    """How many cards of a virtue can be exercised for."""
    piles = int(g["piles"])
    on_pile = count(piles, MAX_VALUE * virtue) + count(piles, MAX_VALUE * virtue + 1)
    return min(count(held.actions, EXERCISE + virtue), on_pile)


@jit
def _highest(g, virtue):
    """Whether the pile of a virtue has a card of the highest value."""
    return count(int(g["piles"]), MAX_VALUE * virtue + 1) > 0


@jit
def camelot_worth(t, g, held):
    """What a player gathers in Camelot: virtue cards and quests."""
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
    """What the tournament promises, with the cards that can be exercised for before."""
    if count(held.actions, TOURNAMENT) == 0:
        return 0.0
    bid = strength(held.cards)
    for virtue in range(BID_KINDS // MAX_VALUE):
        bid += _exercises(g, held, virtue) * (MAX_VALUE if _highest(g, virtue) else 1)
    return max(LEAST, PROSPECT * int(t["prize"]) * chance_to_win(g, held.player, bid) - JOUSTING)


@jit
def quests_worth(t, g, held, hopes, start, reach, free, left, gathers):
    """By how much the best quest in hand is worth more if it is done in this turn.

    Args:
        start: Place from which the knight rides there.
        reach: Steps of the fastest horse for it.
        free: Steps of the fastest horse on display, 0: none will do.
        left: Action cards that may still be chosen for it.
        gathers: Whether cards may be exercised for before.
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
