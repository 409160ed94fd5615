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
    BOOK_POINTS,
    JOUST_CARD_POINTS,
    PROSPECT_FACTOR,
    Holdings,
    card_points,
    chance_to_win,
    estimated_points,
    strength,
    turn_and_other_points,
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
    one_card,
    payment,
    play,
    points_of,
    steps_between,
    tent_of,
)
from artus_env.games.quest.state import BID_PHASE, CHOOSE_PHASE, DIGIT

DOABLE_FACTOR, LATER_FACTOR, NO_HORSE_FACTOR = 0.98, 0.6, 0.7
"""Factors of the points of a quest in hand: if it can be done in this round; if it can be done only in a later one; if
it could be done in this round with another horse."""
MISSING_FACTOR, COMING_FACTOR, FAR_FACTOR, STEP_FACTOR = 0.75, 0.97, 0.95, 0.98
"""Further factors: for each missing card; for each card that an exercise in this round will take; for each step beyond
those of all horses in hand; for each step."""
OTHER_QUESTS_FACTOR = 0.5
"""Weight of quests that can't be done in this round, except the best of them: cards and rounds are few."""
EXERCISE_POINTS, ASKING_POINTS, STEP_POINTS = 0.2, 0.5, 0.05
"""Points of an action card that can be used: to exercise, to take a quest, for each step of a horse."""
POINTS, PLANNED, TURN, NEXT, OTHERS, REPLIED = range(6)
"""Indices of the action features, see `action_features`."""
NUM_ACTION_FEATURES = 6
LAST_SPREAD, SPREAD = 2.0, 1.2
"""Standard deviation of the points still to come: `LAST_SPREAD` in any unfinished game, plus `SPREAD` times the square
root of the points that the leader needs."""
LAST_ROUND_WEIGHT = 0.5
"""Factor of the estimated points of cards and quests in the round after which the game ends."""


# --- cards and quests ----------------------------------------------------------------------------------------------


@jit
def simple_estimate(t, g, player, cards, quests, actions, place):
    """Estimated points of a player's cards and quests, without plans.

    Args:
        player: The player; the following arguments may differ from what they really have.
        cards: Virtue cards, as digits.
        quests: Quests in hand, as bits.
        actions: Unused action cards, as digits.
        place: Place of the knight.
    """
    steps, horses = 0, 0
    for horse in range(NUM_HORSES):
        horses += count(actions, HORSE + horse)
        steps += count(actions, HORSE + horse) * int(t["steps"][horse])
    steps_home = steps_between(g, place, CAMELOT)
    reaches_camelot = steps_home <= steps
    total = STEP_POINTS * steps
    for kind in range(NUM_CARDS):
        total += count(cards, kind) * card_points(kind)
    books, bid_strength, joust_points = count(cards, BOOKS) + count(cards, BOOKS + 1), strength(cards), 0.0
    if reaches_camelot:
        for virtue in range(NUM_VIRTUES):
            exercises = min(count(actions, EXERCISE + virtue), _cards_of(int(g["piles"]), virtue))
            total += EXERCISE_POINTS * exercises
            if MAX_VALUE * virtue < BID_KINDS:
                bid_strength += exercises
            elif MAX_VALUE * virtue == BOOKS:
                books += exercises
        num_asked = min(count(actions, ARTUS), popcount(int(g["open_quests"])))
        total += ASKING_POINTS * num_asked / (1 + OTHER_QUESTS_FACTOR * popcount(quests))
        if count(actions, TOURNAMENT) > 0:
            hope = PROSPECT_FACTOR * int(t["prize"]) * chance_to_win(g, player, bid_strength)
            joust_points = max(EXERCISE_POINTS, hope - JOUST_CARD_POINTS)
    now_points, postponed_points, later_points = _quest_points(t, g, cards, quests, actions, place, steps)
    if steps > 0 or place != CAMELOT:
        now_points += min(count(actions, COURT), books) * max(0.0, PROSPECT_FACTOR * int(t["court"]) - BOOK_POINTS)
    if horses >= (2 if place == CAMELOT else 1):
        return total + later_points + now_points + joust_points
    return total + later_points + max(now_points, postponed_points + joust_points)  # too few horses for both places


@jit
def _cards_of(cards, virtue):
    """Number of cards of a virtue."""
    return count(cards, MAX_VALUE * virtue) + count(cards, MAX_VALUE * virtue + 1)


@jit
def _quest_points(t, g, cards, quests, actions, place, steps):
    """Estimated points of quests in hand, as three numbers: of quests that can be done in this round, of these quests
    if they are done later instead, and of all other quests, of which the best one counts most.

    `steps` is the number of steps of all horses in hand."""
    quest_cards, now_points, postponed_points, best, later_points = count(actions, QUEST), 0.0, 0.0, 0.0, 0.0
    steps_home = steps_between(g, place, CAMELOT)
    while quests != 0:
        quest = lowest_bit(quests)
        quests &= quests - 1
        goal_place = quest // QUESTS_AT_PLACE + 1
        missing, coming = _missing(t, g, cards, actions if steps_home <= steps else 0, quest)
        distance = steps_between(g, place, goal_place)
        if missing + coming > 0:
            distance = steps_home + steps_between(g, CAMELOT, goal_place)
        shields, steps_lacking = int(t["shields"][quest]), max(0, distance - steps)
        hope = shields * MISSING_FACTOR**missing * COMING_FACTOR**coming
        hope = hope * FAR_FACTOR**steps_lacking * STEP_FACTOR**distance
        if missing == 0 and steps_lacking == 0 and quest_cards > 0:
            quest_cards -= 1
            now_points += shields * DOABLE_FACTOR * COMING_FACTOR**coming
            postponed_points += LATER_FACTOR * hope
        else:
            hope *= NO_HORSE_FACTOR if missing == 0 and quest_cards > 0 else LATER_FACTOR
            later_points += hope
            best = max(best, hope)
    return now_points, postponed_points, best + OTHER_QUESTS_FACTOR * (later_points - best)


@jit
def _missing(t, g, cards, actions, quest):
    """Numbers of cards that a quest demands and that aren't in hand: cards that these action cards can't take from the
    piles either, and cards that they can take."""
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
def known_holdings(t, g, player, viewer):
    """Cards and quests of a player, as far as a viewer can know them; without the cards of a bid that the player has
    made, if they are the viewer."""
    cards, actions, choices_left = int(g["taken"][player]), int(g["actions"][player]), 0
    if int(g["phase"]) == CHOOSE_PHASE:
        choices_left = int(t["choices"][int(g["num_players"])]) - cards_in(actions)
    if player == viewer:
        cards = hand(g, player)
        if has_bid(g, player):
            cards, actions = cards - int(g["bids"][player]), 0
    return Holdings(player, cards, int(g["quests"][player]), actions, int(g["places"][player]), choices_left)


@jit
def has_bid(g, player):
    """Whether a player has bid against a player who still has to bid."""
    return int(g["phase"]) == BID_PHASE and (jousters(g) ^ int(g["bidding"])) >> player & 1 == 1


@jit
def prospects(t, g, player, viewer):
    """Estimated points of a player's cards and quests, as far as a viewer can know them."""
    points = estimated_points(t, g, known_holdings(t, g, player, viewer))
    if player == viewer and has_bid(g, player):
        points += expected_prize(t, g, player, int(g["bids"][player]))
    return points


@jit
def expected_prize(t, g, player, bid):
    """Expected points of a player's bid against another player."""
    return int(t["prize"]) * chance_to_win(g, player, strength(bid))


@jit
def evaluate(t, g, player, weight):
    """Lead of a player over the mean of the others, in points. Estimated points of cards and quests count with the
    factor `weight`."""
    players = int(g["num_players"])
    holdings_weight = weight
    for other in range(players):
        if int(g["reached"][other]) > 0:
            holdings_weight = weight * LAST_ROUND_WEIGHT
    if is_over(t, g):
        holdings_weight = 0.0
    own_points = 0.0
    others_points = 0.0
    for other in range(players):
        points = float(int(g["scores"][other]))
        if holdings_weight != 0:
            points += holdings_weight * prospects(t, g, other, player)
        if other == player:
            own_points = points
        else:
            others_points += points
    return own_points - others_points / (players - 1)


@jit
def greedy_value(t, g, action):
    """Points that an action brings, plus the change in the estimated points of its player's cards and quests."""
    player = int(g["player"])
    cards, quests = hand(g, player), int(g["quests"][player])
    actions, place = int(g["actions"][player]), int(g["places"][player])
    points = float(points_of(t, g, action))
    if action >= BID and popcount(jousters(g)) > 1:
        points += expected_prize(t, g, player, int(t["bids"][action - BID]))
    before = simple_estimate(t, g, player, cards, quests, actions, place)
    if action < EXERCISE_ACTIONS:
        actions += one_card(action - TAKE)
    elif action < ARTUS_ACTIONS:
        kind = action - EXERCISE_ACTIONS
        cards += one_card(kind)
        actions -= one_card(EXERCISE + kind // MAX_VALUE)
    elif action < COURT_ACTIONS:
        quests |= 1 << action - ARTUS_ACTIONS
        actions -= one_card(ARTUS)
    elif action < QUEST_ACTIONS:
        cards -= one_card(BOOKS + action - COURT_ACTIONS)
        actions -= one_card(COURT)
    elif action < HORSE_ACTIONS:
        quest = action - QUEST_ACTIONS
        quests &= ~(1 << quest)
        actions -= one_card(QUEST)
        for virtue in range(NUM_VIRTUES):
            need = int(t["needs"][quest, virtue])
            if need > 0:
                cards -= one_card(payment(cards, virtue, need))
    elif action < DONE:
        actions -= one_card(HORSE + (action - HORSE_ACTIONS) // NUM_PLACES)
        place = (action - HORSE_ACTIONS) % NUM_PLACES
    elif action == DONE:
        actions &= DIGITS << DIGIT * TOURNAMENT
    else:
        cards -= int(t["bids"][action - BID])
        actions = 0
    return points + simple_estimate(t, g, player, cards, quests, actions, place) - before


@jit
def num_action_features(t):
    """6: the number of features that `action_features` writes for an action."""
    return NUM_ACTION_FEATURES


@jit
def action_features(t, g, words, scratch, out):
    """Write six features of each legal action, in tenths of a point:

    - the points that it brings at once;
    - these points plus the change in the estimated points of cards and quests;
    - the points at once plus the change in the points of the best plan for this turn alone;
    - the change in the estimated points of the player in the next tent, who finds other cards and quests left;
    - the change in the estimated points of all other players;
    - the second feature again; but when action cards are chosen, as it is after the next player has taken the card that
      is best for them.

    Nothing hidden is read: a bid counts with its expected points.
    """
    player, after, after_both = int(g["player"]), scratch[0], scratch[1]
    turn_points_before, other_points_before = turn_and_other_points(t, g, known_holdings(t, g, player, player))
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
        holdings = known_holdings(t, after, player, player)
        if action >= BID:
            bid = int(t["bids"][action - BID])
            if popcount(jousters(g)) > 1:
                points += expected_prize(t, g, player, bid)
            holdings = Holdings(player, holdings.cards - bid, holdings.quests, 0, holdings.place, 0)
        turn_change, other_change = turn_and_other_points(t, after, holdings)
        turn_change += points - turn_points_before
        other_change -= other_points_before
        change_after_reply = turn_change + other_change
        if first >= 0 and int(after["phase"]) == CHOOSE_PHASE:
            scratch[1] = after
            play(t, after_both, first if count(int(after["display"]), first - TAKE) > 0 else second)
            points_after_reply = estimated_points(t, after_both, known_holdings(t, after_both, player, player))
            change_after_reply = points_after_reply - turn_points_before - other_points_before
        out[action, PLANNED] = clipped(10 * (turn_change + other_change))
        out[action, TURN] = clipped(10 * turn_change)
        out[action, NEXT] = clipped(10 * (next_after - next_before))
        out[action, OTHERS] = clipped(10 * (others_after - others_before))
        out[action, REPLIED] = clipped(10 * change_after_reply)
        action = next_action(words, action)


@jit
def replies(t, g, player, scratch):
    """The two actions that take the cards on display which are best for the player in the next tent, as far as `player`
    can know it: the better one first, -1 if there is none."""
    chooser = int(g["tents"][(tent_of(g, player) + 1) % int(g["num_players"])])
    chooser_actions, first, second, best, second_best = int(g["actions"][chooser]), -1, -1, -math.inf, -math.inf
    scratch[1] = g
    after = scratch[1]
    kinds = choices_of(g, chooser)
    while kinds:
        kind = lowest_bit(kinds)
        kinds &= kinds - 1
        after["display"] = int(g["display"]) - one_card(kind)
        after["actions"][chooser] = chooser_actions + one_card(kind)
        hope = estimated_points(t, after, known_holdings(t, after, chooser, player))
        if hope > best:
            first, second, best, second_best = TAKE + kind, first, hope, best
        elif hope > second_best:
            second, second_best = TAKE + kind, hope
    return first, second


@jit
def hopes_of_others(t, g, player):
    """Estimated points of the player in the next tent, and the sum of the estimated points of all other players, as far
    as `player` can know them."""
    players, tent = int(g["num_players"]), tent_of(g, player)
    next_hope, other_hopes = 0.0, 0.0
    for step in range(1, players):
        other = int(g["tents"][(tent + step) % players])
        hope = estimated_points(t, g, known_holdings(t, g, other, player))
        if step == 1:
            next_hope = hope
        else:
            other_hopes += hope
    return next_hope, other_hopes


@jit
def score_stddev(t, g):
    """Standard deviation of the points still to come: grows with the square root of the points that the leader
    needs."""
    most = 0
    for player in range(int(g["num_players"])):
        most = max(most, int(g["scores"][player]))
    return LAST_SPREAD + SPREAD * math.sqrt(max(0, goal(t, g) - most))
