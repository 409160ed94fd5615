"""A second, slow reading of the rules on plain positions, to compare the environment with.

It shares no code with `artus_env` and is written from the rules alone: names and lists, no numbers of actions and no
sets of bits. `moves` lists the legal moves of a position, `play` gives the position after one, for which it
needs one thing from outside: the order of tents among equals, which is drawn by lot.
"""

from __future__ import annotations

from copy import deepcopy
from itertools import product

VIRTUES = ["sword", "lance", "dragon", "book"]
CARDS = ["sword-1", "sword-2", "lance-1", "lance-2", "dragon-1", "dragon-2", "book-1", "book-2"]
ACTIONS = [
    "exercise-sword",
    "exercise-lance",
    "exercise-dragon",
    "exercise-book",
    "artus",
    "tournament",
    "court",
    "quest",
]
ACTIONS += ["horse-2", "horse-3", "horse-4"]
QUESTS = {
    "forest-1": (["sword-2"], 3),
    "forest-2": (["sword-2", "dragon-1"], 5),
    "valley-1": (["lance-2"], 3),
    "valley-2": (["lance-1", "book-1"], 4),
    "lake-1": (["dragon-2"], 3),
    "lake-2": (["dragon-1", "lance-1"], 4),
    "moor-1": (["book-2"], 3),
    "moor-2": (["book-2", "sword-1"], 5),
    "ford-1": (["sword-1", "lance-1"], 4),
    "ford-2": (["sword-1", "lance-1", "dragon-1"], 6),
    "ruin-1": (["dragon-2", "lance-1"], 5),
    "ruin-2": (["dragon-1", "book-1", "lance-1"], 6),
    "tower-1": (["sword-1", "book-1"], 4),
    "tower-2": (["sword-2", "lance-1", "book-1"], 7),
}
GOAL = {2: 25, 3: 20, 4: 15}
CHOICES = {2: 4, 3: 3, 4: 3}


def hand(position, player):
    return position["start_cards"][player] + position["taken"][player]


def jousters(position):
    """Who holds a card of the tournament and is in Camelot, by tents."""
    return [
        player
        for player in position["tents"]
        if "tournament" in position["actions"][player] and position["places"][player] == "camelot"
    ]


# --- legal moves -----------------------------------------------------------------------------------------------------


def moves(position):
    """All legal moves of the player to move."""
    return {"choose": choosing, "act": acting, "bid": bidding, "over": lambda position: []}[position["phase"]](position)


def choosing(position):
    mine = position["actions"][position["turn"]]
    return [f"take:{card}" for card in position["display"] if card != "tournament" or card not in mine]


def acting(position):
    player = position["turn"]
    place, cards = position["places"][player], position["actions"][player]
    found = ["done"]
    for card in cards:
        if card.startswith("exercise") and place == "camelot":
            virtue = card.removeprefix("exercise-")
            found += [f"exercise:{virtue}-{value}" for value in position["piles"][virtue]]
        if card == "artus" and place == "camelot":
            found += [f"artus:{quest}" for quest in position["open_quests"]]
        if card == "court" and place != "camelot":
            found += [f"court:{virtue}" for virtue in hand(position, player) if virtue.startswith("book")]
        if card == "quest" and place != "camelot":
            here = [quest for quest in position["quests"][player] if quest.startswith(place)]
            found += [f"quest:{quest}" for quest in here if None not in payments(position, player, quest)]
        if card.startswith("horse"):
            found += [f"{card}:{other}" for other in within(position["ring"], place, int(card[-1]))]
    return found


def payments(position, player, quest):
    """The cheapest card in hand for each thing that a quest demands, None where there is none."""
    found = []
    for demand in QUESTS[quest][0]:
        virtue, lowest = demand.split("-")
        fitting = [card for card in hand(position, player) if card.startswith(virtue) and card[-1] >= lowest]
        found.append(min(fitting, default=None))
    return found


def within(ring, place, steps):
    """Places that are no further away, one step after the other both ways round."""
    found, up, down = [], place, place
    for _ in range(steps):
        up = ring[(ring.index(up) + 1) % 8]
        down = ring[ring.index(down) - 1]
        found += [up, down]
    return [other for other in found if other != place]


def bidding(position):
    cards = sorted(card for card in hand(position, position["turn"]) if card.startswith(("sword", "lance")))
    if len(jousters(position)) == 1:
        return [f"bid:{card}" for card in cards] or ["bid:nothing"]
    sets = set()
    for chosen in product([True, False], repeat=len(cards)):
        sets.add(tuple(card for card, taken in zip(cards, chosen, strict=True) if taken))
    return [f"bid:{'+'.join(sorted(bid, key=CARDS.index)) or 'nothing'}" for bid in sets]


# --- playing ---------------------------------------------------------------------------------------------------------


def play(position, move, lot):
    """The position after a legal move.

    Args:
        lot: The order of tents among equals, if there is a lot to be drawn: all players in some order.
    """
    position = deepcopy(position)
    player = position["turn"]
    kind, _, what = move.partition(":")
    if kind == "take":
        position["display"].remove(what)
        add(position["actions"][player], what, ACTIONS)
        after_choosing(position)
    elif kind == "done":
        for card in [card for card in position["actions"][player] if card != "tournament"]:
            put_back(position, card)
        after_acting(position, lot)
    elif kind == "bid":
        position["bids"][player] = [] if what == "nothing" else what.split("+")
        position["bidding"].remove(player)
        after_bidding(position, lot)
    elif kind == "exercise":
        virtue, value = what.split("-")
        put_back(position, f"exercise-{virtue}")
        position["piles"][virtue].remove(int(value))
        add(position["taken"][player], what, CARDS)
    elif kind == "artus":
        put_back(position, "artus")
        position["open_quests"].remove(what)
        add(position["quests"][player], what, list(QUESTS))
    elif kind == "court":
        put_back(position, "court")
        lay_back(position, player, what)
        reward(position, [player], 2)
    elif kind == "quest":
        put_back(position, "quest")
        for demand, card in zip(QUESTS[what][0], payments(position, player, what), strict=True):
            lay_back(position, player, card)
            if card != demand:  # a 2 for a 1
                exclude(position, player, [demand])
        position["quests"][player].remove(what)
        reward(position, [player], QUESTS[what][1])
    else:
        put_back(position, kind)
        position["places"][player] = what
    return position


def add(cards, card, order):
    cards.append(card)
    cards.sort(key=order.index)


def put_back(position, card):
    position["actions"][position["turn"]].remove(card)
    add(position["display"], card, ACTIONS)


def lay_back(position, player, card):
    """Virtue cards go back to their pile, those that were taken openly first."""
    mine = position["taken"][player] if card in position["taken"][player] else position["start_cards"][player]
    mine.remove(card)
    virtue, value = card.split("-")
    position["piles"][virtue].append(int(value))
    position["piles"][virtue].sort()


def exclude(position, player, cards):
    for card in cards:
        if card not in position["excluded"][player]:
            add(position["excluded"][player], card, CARDS)


def reward(position, players, points):
    """Points for some players at one time."""
    turn = max(position["reached"]) + 1
    for player in players:
        position["points"][player] += points
        if position["points"][player] >= GOAL[position["num_players"]] and not position["reached"][player]:
            position["reached"][player] = turn


def next_in_tents(position):
    behind = position["tents"].index(position["turn"]) + 1
    return position["tents"][behind] if behind < len(position["tents"]) else None


def after_choosing(position):
    following = next_in_tents(position)
    if following is None:
        following = position["tents"][0]
        if len(position["actions"][following]) == CHOICES[position["num_players"]]:
            position["phase"] = "act"
    position["turn"] = following


def after_acting(position, lot):
    following = next_in_tents(position)
    if following is not None:
        position["turn"] = following
    elif jousters(position):
        position["phase"] = "bid"
        position["bidding"] = sorted(jousters(position))
        position["turn"] = jousters(position)[0]
    else:
        end_round(position, lot)


def after_bidding(position, lot):
    if position["bidding"]:
        (position["turn"],) = position["bidding"]
        return
    knights = jousters(position)
    sums = {player: sum(int(card[-1]) for card in position["bids"][player]) for player in knights}
    if len(knights) == 1 and not position["bids"][knights[0]]:
        exclude(position, knights[0], ["sword-1", "sword-2", "lance-1", "lance-2"])
    for player in knights:
        for card in position["bids"][player]:
            lay_back(position, player, card)
        position["bids"][player] = []
    winners = [player for player in knights if sums[player] == max(sums.values()) > 0]
    if winners:
        reward(position, winners, 2 // len(winners))
    end_round(position, lot)


def end_round(position, lot):
    for cards in position["actions"]:
        for card in cards:
            add(position["display"], card, ACTIONS)
        cards.clear()
    if any(position["reached"]) or position["round"] == 30:
        position["phase"], position["turn"] = "over", position["start_player"]
        return
    while len(position["open_quests"]) < 3 and position["quest_pile"]:
        add(position["open_quests"], position["quest_pile"].pop(0), list(QUESTS))
    points = position["points"]
    if len(set(points)) < len(points):
        position["lots"] += 1
    position["tents"] = sorted(range(len(points)), key=lambda player: (points[player], lot.index(player)))
    position["round"] += 1
    position["phase"], position["turn"] = "choose", position["tents"][0]


def winners(position):
    """Who wins a game that is over."""
    best = [player for player, points in enumerate(position["points"]) if points == max(position["points"])]
    first = min(position["reached"][player] for player in best)
    return [player for player in best if position["reached"][player] == first]
