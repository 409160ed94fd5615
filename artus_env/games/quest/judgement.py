"""How good a position is for a player, and what an action promises them: what players that look ahead go by.

What a player holds is worth a guess at the points that it will bring. The guess is made from what the player knows:
their own hand, and of all others what everybody has seen. The numbers are round ones that make `greedy` play sensibly.
"""

from __future__ import annotations

import math

from artus_env.engine.bits import lowest_bit, popcount
from artus_env.engine.jit import jit
from artus_env.games.quest.actions import (
    ARTUS_ACTIONS,
    BID,
    BID_KINDS,
    BOOKS,
    COURT_ACTIONS,
    DONE,
    EXERCISE_ACTIONS,
    HORSE_ACTIONS,
    QUEST_ACTIONS,
    TAKE,
)
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
from artus_env.games.quest.rules import (
    ALL_BIDS,
    CAMELOT,
    DIGITS,
    NUM_CARDS,
    NUM_HORSES,
    NUM_PLACES,
    NUM_VIRTUES,
    cards_in,
    count,
    goal,
    hand,
    is_over,
    jousters,
    one,
    payment,
    points_of,
    steps_between,
)
from artus_env.games.quest.state import BID_PHASE, CHOOSE_PHASE, DIGIT

LIKELY, LATER, ALMOST = 0.98, 0.6, 0.7
"""Parts of its shields that a quest in hand is worth: it can be done in this round; in a later one; in this one as soon
as a horse is found."""
LACKING, COMING, FAR, WAY = 0.75, 0.97, 0.95, 0.98
"""What is left of that for each card that is missing, each card that is still to be exercised for in this round, each
step that no horse covers, and each step."""
FURTHER = 0.5
"""What quests beside the best one count that can't be done in this round: cards and rounds are few."""
JOUSTING, BOOK, OTHER_CARD, HIGHER = 0.3, 0.5, 0.2, 0.15
"""Points that a card promises beside quests: sword or lance, book, dragon, and each with value 2 so much more."""
EXERCISING, ASKING, RIDING = 0.2, 0.5, 0.05
"""Points that an action card promises that can be used: to exercise, to take a quest, for each step of a horse."""
OWED = 1.0
"""Points that an action card promises that is still to be chosen."""
PROSPECT = 0.97
"""What is left of points that are still to be fetched at court or in a tournament."""
HIDDEN_STRENGTH, BID_PART, EDGE = 0.6, 0.6, 0.3
"""What a starting card adds to a bid on average; what part of their strength players bid; what a strength of 1 more
than expected adds to the chance to win."""
LAST_SPREAD, SPREAD, SHORT = 2.0, 1.2, 0.5
"""How far a lead in points may still move: in any game that goes on, and times the root of the points that the leader
lacks. What is held counts `SHORT` of its worth in the round after which the game ends."""


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


# --- what a player holds -------------------------------------------------------------------------------------------


@jit
def worth(t, g, player, cards, quests, actions, place):
    """Points that a player may hope for with what they hold.

    Args:
        player: Whose knight and rivals are meant; all that follows may differ from what they really hold.
        cards: Virtue cards, as digits.
        quests: Quests in hand, as bits.
        actions: Action cards that aren't used, as digits.
        place: Where the knight is.
    """
    ride, horses = 0, 0
    for horse in range(NUM_HORSES):
        horses += count(actions, HORSE + horse)
        ride += count(actions, HORSE + horse) * int(t["steps"][horse])
    home = steps_between(g, place, CAMELOT)
    at_home = home <= ride
    total = RIDING * ride + _worth_of_cards(cards)
    books, jousting, joust = count(cards, BOOKS) + count(cards, BOOKS + 1), strength(cards), 0.0
    if at_home:
        for virtue in range(NUM_VIRTUES):
            exercises = min(count(actions, EXERCISE + virtue), _cards_of(int(g["piles"]), virtue))
            total += EXERCISING * exercises
            if MAX_VALUE * virtue < BID_KINDS:
                jousting += exercises
            elif MAX_VALUE * virtue == BOOKS:
                books += exercises
        asked = min(count(actions, ARTUS), popcount(int(g["open_quests"])))
        total += ASKING * asked / (1 + FURTHER * popcount(quests))
        if count(actions, TOURNAMENT) > 0:
            hope = PROSPECT * int(t["prize"]) * chance_to_win(g, player, jousting)
            joust = max(EXERCISING, hope - JOUSTING)
    now, postponed, later = _worth_of_quests(t, g, cards, quests, actions, place, ride)
    if ride > 0 or place != CAMELOT:
        now += min(count(actions, COURT), books) * max(0.0, PROSPECT * int(t["court"]) - BOOK)
    if horses >= (2 if place == CAMELOT else 1):
        return total + later + now + joust
    return total + later + max(now, postponed + joust)  # one can't be outside and in Camelot


@jit
def _cards_of(cards, virtue):
    """How many cards of a virtue there are."""
    return count(cards, MAX_VALUE * virtue) + count(cards, MAX_VALUE * virtue + 1)


@jit
def _worth_of_cards(cards):
    """What virtue cards promise beside quests."""
    total = 0.0
    for kind in range(NUM_CARDS):
        value = BOOK if kind >= BOOKS else JOUSTING if kind < BID_KINDS else OTHER_CARD
        total += count(cards, kind) * (value + HIGHER * (kind % MAX_VALUE))
    return total


@jit
def _worth_of_quests(t, g, cards, quests, actions, place, ride):
    """What quests in hand promise: those that can be done in this round, the same ones if they are done later, and all
    others, of which the best one counts most."""
    chances, now, postponed, best, later = count(actions, QUEST), 0.0, 0.0, 0.0, 0.0
    home = steps_between(g, place, CAMELOT)
    while quests != 0:
        quest = lowest_bit(quests)
        quests &= quests - 1
        goal_place = quest // QUESTS_AT_PLACE + 1
        missing, coming = _missing(t, g, cards, actions if home <= ride else 0, quest)
        way = steps_between(g, place, goal_place)
        if missing + coming > 0:
            way = home + steps_between(g, CAMELOT, goal_place)
        shields, far = int(t["shields"][quest]), max(0, way - ride)
        hope = shields * LACKING**missing * COMING**coming * FAR**far * WAY**way
        if missing == 0 and far == 0 and chances > 0:
            chances -= 1
            now += shields * LIKELY * COMING**coming
            postponed += LATER * hope
        else:
            hope *= ALMOST if missing == 0 and chances > 0 else LATER
            later += hope
            best = max(best, hope)
    return now, postponed, best + FURTHER * (later - best)


@jit
def _missing(t, g, cards, actions, quest):
    """How many cards a quest demands that are neither in hand nor to be had with these action cards, and how many that
    are to be had."""
    missing, coming = 0, 0
    for virtue in range(NUM_VIRTUES):
        need = int(t["needs"][quest, virtue])
        if need > 0 and payment(cards, virtue, need) < 0:
            if count(actions, EXERCISE + virtue) > 0 and payment(int(g["piles"]), virtue, need) >= 0:
                coming += 1
            else:
                missing += 1
    return missing, coming


@jit
def prospects(t, g, player, viewer):
    """What a player holds is worth, as far as a viewer can know it."""
    cards, actions = int(g["taken"][player]), int(g["actions"][player])
    promised = 0.0
    if int(g["phase"]) == CHOOSE_PHASE:
        promised = OWED * (int(t["choices"][int(g["num_players"])]) - cards_in(actions))
    if player == viewer:
        cards = hand(g, player)
        joust = jousters(g) ^ int(g["bidding"]) if int(g["phase"]) == BID_PHASE else 0
        if joust >> player & 1:  # has bid, against somebody who still has to
            bid = int(g["bids"][player])
            promised = int(t["prize"]) * chance_to_win(g, player, strength(bid))
            cards, actions = cards - bid, 0
    quests, place = int(g["quests"][player]), int(g["places"][player])
    return promised + worth(t, g, player, cards, quests, actions, place)


@jit
def judge(t, g, player, weight):
    """Lead of a player over the mean of the others, in points, with what all hold counted at `weight`."""
    players = int(g["num_players"])
    held = weight
    for other in range(players):
        if int(g["reached"][other]) > 0:
            held = weight * SHORT
    if is_over(t, g):
        held = 0.0
    own = 0.0
    others = 0.0
    for other in range(players):
        points = float(int(g["scores"][other]))
        if held != 0:
            points += held * prospects(t, g, other, player)
        if other == player:
            own = points
        else:
            others += points
    return own - others / (players - 1)


@jit
def appeal(t, g, action):
    """Points that an action brings, and by how much it makes what its player holds more worth or less."""
    player = int(g["player"])
    cards, quests = hand(g, player), int(g["quests"][player])
    actions, place = int(g["actions"][player]), int(g["places"][player])
    points = float(points_of(t, g, action))
    if action >= BID and popcount(jousters(g)) > 1:
        points += int(t["prize"]) * chance_to_win(g, player, strength(int(t["bids"][action - BID])))
    before = worth(t, g, player, cards, quests, actions, place)
    if action < EXERCISE_ACTIONS:
        actions += one(action - TAKE)
    elif action < ARTUS_ACTIONS:
        kind = action - EXERCISE_ACTIONS
        cards += one(kind)
        actions -= one(EXERCISE + kind // MAX_VALUE)
    elif action < COURT_ACTIONS:
        quests |= 1 << action - ARTUS_ACTIONS
        actions -= one(ARTUS)
    elif action < QUEST_ACTIONS:
        cards -= one(BOOKS + action - COURT_ACTIONS)
        actions -= one(COURT)
    elif action < HORSE_ACTIONS:
        quest = action - QUEST_ACTIONS
        quests &= ~(1 << quest)
        actions -= one(QUEST)
        for virtue in range(NUM_VIRTUES):
            need = int(t["needs"][quest, virtue])
            if need > 0:
                cards -= one(payment(cards, virtue, need))
    elif action < DONE:
        actions -= one(HORSE + (action - HORSE_ACTIONS) // NUM_PLACES)
        place = (action - HORSE_ACTIONS) % NUM_PLACES
    elif action == DONE:
        actions &= DIGITS << DIGIT * TOURNAMENT
    else:
        cards -= int(t["bids"][action - BID])
        actions = 0
    return points + worth(t, g, player, cards, quests, actions, place) - before


@jit
def doubt(t, g):
    """Grows with the root of the points that the leader lacks."""
    most = 0
    for player in range(int(g["num_players"])):
        most = max(most, int(g["scores"][player]))
    return LAST_SPREAD + SPREAD * math.sqrt(max(0, goal(t, g) - most))
