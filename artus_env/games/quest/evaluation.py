"""Evaluation of positions and actions, for agents that look ahead.

A player's cards and quests have a value: an estimate of the points that they will bring. It uses only what the player
knows: their own hand, and public information about the others. `evaluate` makes plans for the turn; `greedy_value`,
which the agent `greedy` uses, adds simple values without plans. The constants are round numbers with which both play
sensibly.
"""

from __future__ import annotations

import math

from artus_env.authoring import clipped, jit, lowest_bit, next_action, popcount
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
from artus_env.games.quest.fast import DIGITS, NUM_CARDS, NUM_PLACES, cards_in
from artus_env.games.quest.plans import (
    BOOK,
    JOUSTING,
    PROSPECT,
    Held,
    card_worth,
    chance_to_win,
    parts_of_worth,
    strength,
    worth,
)
from artus_env.games.quest.rules import (
    CAMELOT,
    NUM_HORSES,
    NUM_VIRTUES,
    choices_of,
    count,
    goal,
    hand,
    is_over,
    jousters,
    one,
    payment,
    play,
    points_of,
    steps_between,
    tent_of,
)
from artus_env.games.quest.state import BID_PHASE, CHOOSE_PHASE, DIGIT

LIKELY, LATER, ALMOST = 0.98, 0.6, 0.7
"""Value of a quest in hand, as a factor of its shields: if it can be done in this round; in a later one; in this one
with another horse."""
LACKING, COMING, FAR, WAY = 0.75, 0.97, 0.95, 0.98
"""Further factors: for each missing card, each card that is still to be exercised for in this round, each step that no
horse covers, and each step."""
FURTHER = 0.5
"""Weight of quests that can't be done in this round, except the best of them: cards and rounds are few."""
EXERCISING, ASKING, RIDING = 0.2, 0.5, 0.05
"""Points of an action card that can be used: to exercise, to take a quest, for each step of a horse."""
POINTS, PLANNED, TURN, NEXT, OTHERS, REPLIED = range(6)
NUM_ACTION_FEATURES = 6
"""Number of action features."""
LAST_SPREAD, SPREAD, SHORT = 2.0, 1.2, 0.5
"""Standard deviation of the points still to come: `LAST_SPREAD` in any unfinished game, plus `SPREAD` times the square
root of the points that the leader needs. `SHORT`: weight of cards and quests in the round after which the game ends."""


# --- cards and quests ----------------------------------------------------------------------------------------------


@jit
def at_sight(t, g, player, cards, quests, actions, place):
    """Estimated points of a player's cards and quests, without plans.

    Args:
        player: The player, whose rivals in the tournament count; the other arguments may differ from what they really
            have.
        cards: Virtue cards, as digits.
        quests: Quests in hand, as bits.
        actions: Unused action cards, as digits.
        place: Place of the knight.
    """
    ride, horses = 0, 0
    for horse in range(NUM_HORSES):
        horses += count(actions, HORSE + horse)
        ride += count(actions, HORSE + horse) * int(t["steps"][horse])
    home = steps_between(g, place, CAMELOT)
    at_home = home <= ride
    total = RIDING * ride
    for kind in range(NUM_CARDS):
        total += count(cards, kind) * card_worth(kind)
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
    return total + later + max(now, postponed + joust)  # too few horses for both places


@jit
def _cards_of(cards, virtue):
    """Number of cards of a virtue."""
    return count(cards, MAX_VALUE * virtue) + count(cards, MAX_VALUE * virtue + 1)


@jit
def _worth_of_quests(t, g, cards, quests, actions, place, ride):
    """Estimated points of quests in hand: of quests for this round, of the same quests if they are done later, and of
    all other quests, of which the best one counts most."""
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
    """Number of cards demanded by a quest that neither the hand nor these action cards provide, and number that these
    action cards provide."""
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
def held_by(t, g, player, viewer):
    """Cards and quests of a player, as far as a viewer can know them; for a jouster after a bid, what is left."""
    cards, actions, left = int(g["taken"][player]), int(g["actions"][player]), 0
    if int(g["phase"]) == CHOOSE_PHASE:
        left = int(t["choices"][int(g["num_players"])]) - cards_in(actions)
    if player == viewer:
        cards = hand(g, player)
        if has_bid(g, player):
            cards, actions = cards - int(g["bids"][player]), 0
    return Held(player, cards, int(g["quests"][player]), actions, int(g["places"][player]), left)


@jit
def has_bid(g, player):
    """Whether a player has bid against a player who still has to bid."""
    return int(g["phase"]) == BID_PHASE and (jousters(g) ^ int(g["bidding"])) >> player & 1 == 1


@jit
def prospects(t, g, player, viewer):
    """Estimated points of a player's cards and quests, as far as a viewer can know them."""
    promised = worth(t, g, held_by(t, g, player, viewer))
    if player == viewer and has_bid(g, player):
        promised += prize_of(t, g, player, int(g["bids"][player]))
    return promised


@jit
def prize_of(t, g, player, bid):
    """Expected points of a player's bid against another player."""
    return int(t["prize"]) * chance_to_win(g, player, strength(bid))


@jit
def evaluate(t, g, player, weight):
    """Lead of a player over the mean of the others, in points; estimated points of cards and quests count at
    `weight`."""
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
def greedy_value(t, g, action):
    """Points that an action brings, plus the change in the estimated points of its player's cards and quests."""
    player = int(g["player"])
    cards, quests = hand(g, player), int(g["quests"][player])
    actions, place = int(g["actions"][player]), int(g["places"][player])
    points = float(points_of(t, g, action))
    if action >= BID and popcount(jousters(g)) > 1:
        points += prize_of(t, g, player, int(t["bids"][action - BID]))
    before = at_sight(t, g, player, cards, quests, actions, place)
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
    return points + at_sight(t, g, player, cards, quests, actions, place) - before


@jit
def num_action_features(t):
    """6, see `action_features`."""
    return NUM_ACTION_FEATURES


@jit
def action_features(t, g, words, scratch, out):
    """Write six features of each legal action, in tenths of a point:

    - the points that it brings at once;
    - these plus the change in the estimated points of cards and quests;
    - the points at once plus the change in the points of the best plan for this turn alone;
    - the change in the estimated points of the player in the next tent, who finds other cards and quests left;
    - the change in those of all others;
    - the second number again; while cards are chosen, after the next player has taken their best card.

    Nothing hidden is read: a bid counts with its expected points.
    """
    player, after, later = int(g["player"]), scratch[0], scratch[1]
    turn_before, rest_before = parts_of_worth(t, g, held_by(t, g, player, player))
    next_before, others_before = hopes_of_others(t, g, player)
    first, second = replies(t, g, player, scratch) if int(g["phase"]) == CHOOSE_PHASE else (-1, -1)
    action = next_action(words, -1)
    while action >= 0:
        points, next_after, others_after = float(points_of(t, g, action)), next_before, others_before
        out[action, POINTS] = clipped(10 * points)
        scratch[0] = g
        if action < DONE:
            play(t, after, action)
            next_after, others_after = hopes_of_others(t, after, player)
        elif action == DONE:
            after["actions"][player] = int(g["actions"][player]) & DIGITS << DIGIT * TOURNAMENT
        held = held_by(t, after, player, player)
        if action >= BID:
            bid = int(t["bids"][action - BID])
            if popcount(jousters(g)) > 1:
                points += prize_of(t, g, player, bid)
            held = Held(player, held.cards - bid, held.quests, 0, held.place, 0)
        turn, rest = parts_of_worth(t, after, held)
        turn += points - turn_before
        rest -= rest_before
        replied = turn + rest
        if first >= 0 and int(after["phase"]) == CHOOSE_PHASE:
            scratch[1] = after
            play(t, later, first if count(int(after["display"]), first - TAKE) > 0 else second)
            replied = worth(t, later, held_by(t, later, player, player)) - turn_before - rest_before
        out[action, PLANNED] = clipped(10 * (turn + rest))
        out[action, TURN] = clipped(10 * turn)
        out[action, NEXT] = clipped(10 * (next_after - next_before))
        out[action, OTHERS] = clipped(10 * (others_after - others_before))
        out[action, REPLIED] = clipped(10 * replied)
        action = next_action(words, action)


@jit
def replies(t, g, player, scratch):
    """The two action cards on display that are best for the player in the next tent, as far as this player can know it:
    actions, the better one first; -1: there is none."""
    chooser = int(g["tents"][(tent_of(g, player) + 1) % int(g["num_players"])])
    own, first, second, best, second_best = int(g["actions"][chooser]), -1, -1, -math.inf, -math.inf
    scratch[1] = g
    after = scratch[1]
    kinds = choices_of(g, chooser)
    while kinds:
        kind = lowest_bit(kinds)
        kinds &= kinds - 1
        after["display"] = int(g["display"]) - one(kind)
        after["actions"][chooser] = own + one(kind)
        hope = worth(t, after, held_by(t, after, chooser, player))
        if hope > best:
            first, second, best, second_best = TAKE + kind, first, hope, best
        elif hope > second_best:
            second, second_best = TAKE + kind, hope
    return first, second


@jit
def hopes_of_others(t, g, player):
    """Estimated points of the player in the next tent, as far as this player can know them, and the sum of those of all
    others."""
    players, tent = int(g["num_players"]), tent_of(g, player)
    following, others = 0.0, 0.0
    for step in range(1, players):
        other = int(g["tents"][(tent + step) % players])
        hope = worth(t, g, held_by(t, g, other, player))
        if step == 1:
            following = hope
        else:
            others += hope
    return following, others


@jit
def score_stddev(t, g):
    """Standard deviation of the points still to come: grows with the square root of the points that the leader
    needs."""
    most = 0
    for player in range(int(g["num_players"])):
        most = max(most, int(g["scores"][player]))
    return LAST_SPREAD + SPREAD * math.sqrt(max(0, goal(t, g) - most))
