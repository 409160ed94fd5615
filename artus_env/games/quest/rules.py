"""The rules of the King's quests: scalar functions on one game `g` (a `STATE` record) and the box `t` (`TABLES`).

They give the same results compiled and as plain Python, because of the conventions in CONTRIBUTING.md.

A *kind* is the number of a virtue card in `CARDS` or of an action card in `ACTIONS`. Cards in hand are starting cards
and cards that were taken openly; cards that are bid stay among them until bids are open.
"""

from __future__ import annotations

import numpy as np

from artus_env.authoring import add, add_all, below, jit, popcount, random_bits, shuffle
from artus_env.games.quest.actions import (
    ARTUS_ACTIONS,
    BID,
    BID_KINDS,
    BOOKS,
    COURT_ACTIONS,
    DONE,
    EXERCISE_ACTIONS,
    HORSE_ACTIONS,
    MASK_WORDS,
    QUEST_ACTIONS,
    TAKE,
)
from artus_env.games.quest.components import (
    ACTIONS,
    ARTUS,
    COURT,
    EXERCISE,
    HORSE,
    HORSES,
    MAX_PLAYERS,
    MAX_VALUE,
    OPEN_QUESTS,
    QUEST,
    QUESTS,
    QUESTS_AT_PLACE,
    START_CARDS,
    TOURNAMENT,
    VIRTUES,
)
from artus_env.games.quest.fast import DIGITS, NUM_CARDS, NUM_PLACES, cards_in, fits, payable, steps_from, within
from artus_env.games.quest.state import ACT_PHASE, BID_PHASE, CHOOSE_PHASE, DIGIT, OVER

CAMELOT = 0
NUM_ACTION_CARDS, NUM_QUESTS = len(ACTIONS), len(QUESTS)
NUM_HORSES, NUM_VIRTUES = len(HORSES), len(VIRTUES)
ALL_BIDS = sum(1 << DIGIT * kind for kind in range(BID_KINDS))
START, CARD_STREAM, QUEST_STREAM, RING_STREAM, TENT_STREAM, CHANCE = 0, 100, 200, 300, 400, 500
"""Indices in the deal's random stream: the first of each kind of shuffle."""


# --- cards and places --------------------------------------------------------------------------------------------


@jit
def one_card(kind):
    """The set with one card of a kind (see `state.DIGIT`)."""
    return 1 << DIGIT * kind


@jit
def count(cards, kind):
    """Number of cards of a kind in a set of cards."""
    return cards >> DIGIT * kind & DIGITS


@jit
def nth_card(cards, nth):
    """Kind of the card at index `nth` in a set of cards, in the order of the box."""
    kind = 0
    while nth >= count(cards, kind):
        nth -= count(cards, kind)
        kind += 1
    return kind


@jit
def hand(g, player):
    """Set of all virtue cards in a player's hand, including the cards of a bid."""
    return int(g["start_cards"][player]) + int(g["taken"][player])


@jit
def lay_back(g, player, kind):
    """Lay a virtue card back on its pile: one that was taken openly if there is one, else a starting card."""
    if count(int(g["taken"][player]), kind) > 0:
        g["taken"][player] -= one_card(kind)
    else:
        g["start_cards"][player] -= one_card(kind)
    g["piles"] += one_card(kind)


@jit
def payment(cards, virtue, need):
    """Kind of the lowest card in a set that can be laid back for a requirement of value `need`, -1: none."""
    for value in range(need, MAX_VALUE + 1):
        kind = MAX_VALUE * virtue + value - 1
        if count(cards, kind) > 0:
            return kind
    return -1


@jit
def steps_between(g, place, other):
    """Steps between two places, the shorter way round the ring."""
    steps = abs(int(g["spots"][place]) - int(g["spots"][other]))
    return min(steps, NUM_PLACES - steps)


@jit
def quests_at(place):
    """Quests at a place outside Camelot, as bits."""
    return ((1 << QUESTS_AT_PLACE) - 1) << QUESTS_AT_PLACE * (place - 1)


@jit
def tent_of(g, player):
    """Tent of a player: their place in the turn order, from 0."""
    place = 0
    for tent in range(MAX_PLAYERS):  # no early exit: it would often be mispredicted
        place += tent * (int(g["tents"][tent]) == player)
    return place


@jit
def jousters(g):
    """Players who take part in the tournament, as bits: those with its card whose knights are in Camelot."""
    players = 0
    for player in range(int(g["num_players"])):
        has_card = count(int(g["actions"][player]), TOURNAMENT) > 0
        players |= (has_card & (int(g["places"][player]) == CAMELOT)) << player
    return players


@jit
def goal(t, g):
    """Number of points with which a player ends the game."""
    return int(t["goals"][int(g["num_players"])])


@jit
def margin_scale(t, g):
    """The points that end the game: a lead of this size is a margin of 1."""
    return float(t["goals"][int(g["num_players"])])


# --- dealing -----------------------------------------------------------------------------------------------------


@jit
def deal_start_cards(t, g, seed):
    """Deal two virtue cards to each player, drawn from all; the rest goes to the piles."""
    left = 0
    for kind in range(NUM_CARDS):
        left += count(int(t["copies"]), kind)
    g["piles"] = t["copies"]
    for nth in range(START_CARDS * int(g["num_players"])):
        kind = nth_card(int(g["piles"]), below(random_bits(seed, CARD_STREAM + nth), left - nth))
        g["piles"] -= one_card(kind)
        g["start_cards"][nth // START_CARDS] += one_card(kind)


@jit
def open_quests(g):
    """Fill the display up to three open quests, as far as the pile goes."""
    while popcount(int(g["open_quests"])) < OPEN_QUESTS and int(g["quest_pile_size"]) > 0:
        place = NUM_QUESTS - int(g["quest_pile_size"])
        g["open_quests"] = int(g["open_quests"]) | 1 << int(g["quest_pile"][place])
        g["quest_pile"][place] = -1
        g["quest_pile_size"] -= 1


@jit
def deal(t, g, seed, start_player, num_players, rule_set):
    """Set up a new game: two virtue cards each, three open quests, knights in Camelot, the ring in random order.

    Tents are drawn by lot; a given start player (not -1) has the first one, and the others draw for the rest.
    """
    for player in range(MAX_PLAYERS):
        g["scores"][player], g["quests"][player], g["excluded"][player] = 0, 0, 0
        g["places"][player], g["reached"][player] = CAMELOT, 0
        g["tents"][player] = player if player < num_players else -1
        g["start_cards"][player], g["taken"][player], g["bids"][player], g["actions"][player] = 0, 0, 0, 0
    first = start_player if start_player >= 0 else below(random_bits(seed, START), num_players)
    g["tents"][0], g["tents"][first] = first, 0
    shuffle(g["tents"], 1, num_players - 1, seed, TENT_STREAM + num_players - 2, -1)
    g["start_player"], g["player"], g["num_players"], g["rule_set"] = first, first, num_players, rule_set
    g["phase"], g["round"], g["lots"], g["bidding"] = CHOOSE_PHASE, 1, 0, 0
    g["chance"] = random_bits(seed, CHANCE) >> np.uint64(11)
    for place in range(NUM_PLACES):
        g["spots"][place] = place
    shuffle(g["spots"], 1, NUM_PLACES - 1, seed, RING_STREAM + NUM_PLACES - 2, -1)
    deal_start_cards(t, g, seed)
    for quest in range(NUM_QUESTS):
        g["quest_pile"][quest] = quest
    shuffle(g["quest_pile"], 0, NUM_QUESTS, seed, QUEST_STREAM + NUM_QUESTS - 1, -1)
    g["quest_pile_size"], g["open_quests"] = NUM_QUESTS, 0
    open_quests(g)
    g["display"] = t["display"][num_players]


# --- deciding ----------------------------------------------------------------------------------------------------


@jit
def is_over(t, g):
    """Whether the game has ended: with the round in which a player reached the goal, or with the last round."""
    return int(g["phase"]) == OVER


@jit
def legal(t, g, words):
    """Write the legal actions into `words`, see `artus_env.engine.contract.verbs.legal`."""
    for word in range(MASK_WORDS):
        words[word] = 0
    phase, player = int(g["phase"]), int(g["player"])
    if phase == CHOOSE_PHASE:
        _legal_choices(g, player, words)
    elif phase == ACT_PHASE:
        if int(g["places"][player]) == CAMELOT:
            _legal_in_camelot(g, player, words)
        else:
            _legal_outside(t, g, player, words)
        _legal_rides(t, g, player, words)
        add(words, DONE)
    elif phase == BID_PHASE:
        _legal_bids(t, g, player, words)


# These loops combine bits without branches, because branches on cards would often be mispredicted.


@jit
def _legal_choices(g, player, words):
    """Add the actions of choosing: take a card that is on display, but not a second tournament."""
    add_all(words, TAKE, choices_of(g, player))


@jit
def choices_of(g, player):
    """Kinds of action cards that a player may take, as bits."""
    display, second = int(g["display"]), int(g["actions"][player]) & DIGITS << DIGIT * TOURNAMENT
    cards = 0
    for kind in range(NUM_ACTION_CARDS):
        cards |= (count(display, kind) > 0) << kind
    return cards & ~((second > 0) << TOURNAMENT)


@jit
def _legal_in_camelot(g, player, words):
    """Add the actions in Camelot: exercise a virtue whose pile has cards; take an open quest."""
    cards, piles = int(g["actions"][player]), int(g["piles"])
    kinds = 0
    for kind in range(NUM_CARDS):
        kinds |= ((count(cards, EXERCISE + kind // MAX_VALUE) > 0) & (count(piles, kind) > 0)) << kind
    add_all(words, EXERCISE_ACTIONS, kinds)
    if count(cards, ARTUS) > 0:
        add_all(words, ARTUS_ACTIONS, int(g["open_quests"]))


@jit
def _legal_outside(t, g, player, words):
    """Add the actions outside Camelot: lay a book back at court; do a quest at its place."""
    cards, cards_in_hand = int(g["actions"][player]), hand(g, player)
    if count(cards, COURT) > 0:
        for nth in range(MAX_VALUE):
            if count(cards_in_hand, BOOKS + nth) > 0:
                add(words, COURT_ACTIONS + nth)
    quests_here = int(g["quests"][player]) & quests_at(int(g["places"][player]))
    if quests_here != 0 and count(cards, QUEST) > 0:
        add_all(words, QUEST_ACTIONS, quests_here & payable(t, cards_in_hand))


@jit
def _legal_rides(t, g, player, words):
    """Add the rides: each horse goes up to its number of steps, either way round."""
    cards, steps = int(g["actions"][player]), steps_from(g, int(g["places"][player]))
    rides = 0
    for horse in range(NUM_HORSES):
        farthest = min(int(t["steps"][horse]), NUM_PLACES - 1)
        rides |= (within(steps, farthest) if count(cards, HORSE + horse) > 0 else 0) << NUM_PLACES * horse
    add_all(words, HORSE_ACTIONS, rides)


@jit
def _legal_bids(t, g, player, words):
    """Add the bids. A lone jouster bids one sword or lance card, or nothing without such a card; each of two jousters
    bids any set of their sword and lance cards, which may be empty."""
    cards = hand(g, player)
    if popcount(jousters(g)) == 1:
        for kind in range(BID_KINDS):
            if count(cards, kind) > 0:
                add(words, BID + int(t["bid_steps"][kind]))
        if cards & ALL_BIDS * DIGITS == 0:
            add(words, BID)
        return
    bids = int(t["num_bids"])
    for first in range(0, bids, 32):
        possible = 0
        for bid in range(first, min(first + 32, bids)):
            possible |= fits(int(t["bids"][bid]), cards) << bid - first
        add_all(words, BID + first, possible)


@jit
def points_of(t, g, action):
    """Points that an action is certain to bring its player at once: 0 for a bid against another jouster."""
    if COURT_ACTIONS <= action < QUEST_ACTIONS:
        return int(t["court"])
    if QUEST_ACTIONS <= action < HORSE_ACTIONS:
        return int(t["shields"][action - QUEST_ACTIONS])
    if action > BID and popcount(jousters(g)) == 1:
        return int(t["prize"])
    return 0


@jit
def play(t, g, action):
    """Carry out a legal action. Return the points that it brought its player at once."""
    player = int(g["player"])
    before = int(g["scores"][player])
    if action < EXERCISE_ACTIONS:
        take_action_card(t, g, player, action - TAKE)
    elif action < DONE:
        use_action_card(t, g, player, action)
    elif action == DONE:
        end_turn(t, g, player)
    else:
        bid(t, g, player, action)
    return int(g["scores"][player]) - before


# --- choosing and acting -----------------------------------------------------------------------------------------


@jit
def take_action_card(t, g, player, kind):
    """Take an action card from the display; after the last one, all players act in tent order."""
    g["display"] -= one_card(kind)
    g["actions"][player] += one_card(kind)
    players = int(g["num_players"])
    tent, phase = tent_of(g, player) + 1, int(g["phase"])
    all_chosen = (tent == players) & (cards_in(int(g["actions"][player])) == int(t["choices"][players]))
    g["phase"] = ACT_PHASE if all_chosen else phase
    g["player"] = g["tents"][tent if tent < players else 0]


@jit
def give_back(g, player, kind):
    """Put an action card back on display."""
    g["actions"][player] -= one_card(kind)
    g["display"] += one_card(kind)


@jit
def use_action_card(t, g, player, action):
    """Use one action card; it goes back on display."""
    if action < ARTUS_ACTIONS:
        kind = action - EXERCISE_ACTIONS
        give_back(g, player, EXERCISE + kind // MAX_VALUE)
        g["piles"] -= one_card(kind)
        g["taken"][player] += one_card(kind)
    elif action < COURT_ACTIONS:
        quest = action - ARTUS_ACTIONS
        give_back(g, player, ARTUS)
        g["open_quests"] = int(g["open_quests"]) & ~(1 << quest)
        g["quests"][player] = int(g["quests"][player]) | 1 << quest
    elif action < QUEST_ACTIONS:
        give_back(g, player, COURT)
        lay_back(g, player, BOOKS + action - COURT_ACTIONS)
        award(t, g, 1 << player, int(t["court"]))
    elif action < HORSE_ACTIONS:
        quest = action - QUEST_ACTIONS
        give_back(g, player, QUEST)
        pay_quest(t, g, player, quest)
        g["quests"][player] = int(g["quests"][player]) & ~(1 << quest)
        award(t, g, 1 << player, int(t["shields"][quest]))
    else:
        ride = action - HORSE_ACTIONS
        give_back(g, player, HORSE + ride // NUM_PLACES)
        g["places"][player] = ride % NUM_PLACES


@jit
def pay_quest(t, g, player, quest):
    """Lay back the lowest sufficient card for each requirement. A card above the requirement shows that the player has
    none of the kinds between."""
    for virtue in range(NUM_VIRTUES):
        need = int(t["needs"][quest, virtue])
        if need > 0:
            kind = payment(hand(g, player), virtue, need)
            lay_back(g, player, kind)
            for lower in range(MAX_VALUE * virtue + need - 1, kind):
                g["excluded"][player] = int(g["excluded"][player]) | one_card(lower)


@jit
def award(t, g, players, points):
    """Give points to players (bits) at the same time, and record who reaches the goal with them."""
    order = 1
    for player in range(int(g["num_players"])):
        order = max(order, int(g["reached"][player]) + 1)
    for player in range(int(g["num_players"])):
        if players >> player & 1:
            g["scores"][player] = int(g["scores"][player]) + points
            if int(g["reached"][player]) == 0 and int(g["scores"][player]) >= goal(t, g):
                g["reached"][player] = order


@jit
def end_turn(t, g, player):
    """End a player's turn: unused action cards go back on display, except those of the tournament."""
    cards = int(g["actions"][player])
    tournament_cards = cards & DIGITS << DIGIT * TOURNAMENT
    g["actions"][player] = tournament_cards
    g["display"] += cards - tournament_cards
    tent = tent_of(g, player) + 1
    if tent < int(g["num_players"]):
        g["player"] = g["tents"][tent]
        return
    g["bidding"] = jousters(g)
    if int(g["bidding"]) == 0:
        end_round(t, g)
    else:
        g["phase"] = BID_PHASE
        next_bidder(g)


# --- the tournament ----------------------------------------------------------------------------------------------


@jit
def next_bidder(g):
    """Set the player to move: of those who still have to bid, the one with the earlier tent."""
    tent = 0
    while not int(g["bidding"]) >> int(g["tents"][tent]) & 1:
        tent += 1
    g["player"] = g["tents"][tent]


@jit
def bid(t, g, player, action):
    """Lay down a bid; the tournament is decided when all have bid."""
    g["bids"][player] = t["bids"][action - BID]
    if action == BID and popcount(jousters(g)) == 1:
        g["excluded"][player] = int(g["excluded"][player]) | ALL_BIDS  # the player holds no card that can be bid
    g["bidding"] = int(g["bidding"]) & ~(1 << player)
    if int(g["bidding"]) == 0:
        end_tournament(t, g)
    else:
        next_bidder(g)


@jit
def bid_sum(g, player):
    """Sum of the values of the cards that a player has bid."""
    total = 0
    for kind in range(BID_KINDS):
        total += count(int(g["bids"][player]), kind) * (kind % MAX_VALUE + 1)
    return total


@jit
def end_tournament(t, g):
    """End the tournament: the highest bid wins the prize, two equal bids win half of it each, and an empty bid wins
    nothing. All cards that were bid go back to the piles."""
    best, winners = 0, 0
    for player in range(int(g["num_players"])):
        total = bid_sum(g, player)
        if total > best:
            best, winners = total, 0
        if total == best and total > 0:
            winners |= 1 << player
    for player in range(int(g["num_players"])):
        for kind in range(BID_KINDS):
            for _ in range(count(int(g["bids"][player]), kind)):
                lay_back(g, player, kind)
        g["bids"][player] = 0
    if winners != 0:
        award(t, g, winners, int(t["prize"]) // popcount(winners))
    end_round(t, g)


# --- the end of a round ------------------------------------------------------------------------------------------


@jit
def end_round(t, g):
    """End a round: action cards go back. Then the game ends, or quests are filled up and tents are handed out again."""
    finished = int(g["round"]) == int(t["rounds"])
    for player in range(int(g["num_players"])):
        g["display"] += int(g["actions"][player])  # cards of the tournament
        g["actions"][player] = 0
        finished = finished or int(g["reached"][player]) > 0
    if finished:
        g["phase"] = OVER
        g["player"] = g["start_player"]
        return
    open_quests(g)
    pitch_tents(g)
    g["round"] += 1
    g["phase"] = CHOOSE_PHASE
    g["player"] = g["tents"][0]


@jit
def pitch_tents(g):
    """Hand out the tents: the player with the fewest points gets the first one; one lot settles the order of all
    players with equal points."""
    players = int(g["num_players"])
    tie = False
    for player in range(players):
        g["tents"][player] = player
        for other in range(player):
            tie = tie or int(g["scores"][other]) == int(g["scores"][player])
    if tie:
        shuffle(g["tents"], 0, players, random_bits(int(g["chance"]), int(g["lots"])), players - 1, -1)
        g["lots"] += 1
    for tent in range(1, players):  # insertion sort: equal players stay in the order of the lot
        player = int(g["tents"][tent])
        before = tent - 1
        while before >= 0 and int(g["scores"][int(g["tents"][before])]) > int(g["scores"][player]):
            g["tents"][before + 1] = g["tents"][before]
            before -= 1
        g["tents"][before + 1] = player


@jit
def ranking_key(t, g, player):
    """Number that ranks a player, the highest wins: most points win; of players with equal points, the first to reach
    the goal wins, or both if they reached it in one tournament."""
    reached = int(g["reached"][player])
    return (MAX_PLAYERS + 1) * int(g["scores"][player]) + (MAX_PLAYERS + 1 - reached if reached > 0 else 0)
