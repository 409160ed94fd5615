"""A slow reference implementation of the rules, to compare the environment with.

It shares no code with `artus_env` and is written from the rules alone, on positions as plain data: with names and lists
instead of action ids and bit sets. `moves` lists the legal moves of a position, `play` gives the position after a move.
`play` can't know lots, so it gets the order of players with equal points as an argument.
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
    """Players who have a tournament card and are in Camelot, in the order of tents."""
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
    own_actions = position["actions"][position["turn"]]
    return [f"take:{card}" for card in position["display"] if card != "tournament" or card not in own_actions]


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
            quests_here = [quest for quest in position["quests"][player] if quest.startswith(place)]
            found += [f"quest:{quest}" for quest in quests_here if None not in payments(position, player, quest)]
        if card.startswith("horse"):
            found += [f"{card}:{other}" for other in within(position["ring"], place, int(card[-1]))]
    return found


def payments(position, player, quest):
    """The lowest card in hand that meets each demand of a quest; None for a demand that no card meets."""
    found = []
    for demand in QUESTS[quest][0]:
        virtue, lowest = demand.split("-")
        fitting = [card for card in hand(position, player) if card.startswith(virtue) and card[-1] >= lowest]
        found.append(min(fitting, default=None))
    return found


def within(ring, place, steps):
    """Places that are at most this number of steps away, either way round the ring."""
    found, forward, backward = [], place, place
    for _ in range(steps):
        forward = ring[(ring.index(forward) + 1) % 8]
        backward = ring[ring.index(backward) - 1]
        found += [forward, backward]
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
        lot: All players, in the order that the lot gives to those with equal points.
    """
    position = deepcopy(position)
    player = position["turn"]
    kind, _, target = move.partition(":")
    if kind == "take":
        position["display"].remove(target)
        add(position["actions"][player], target, ACTIONS)
        after_choosing(position)
    elif kind == "done":
        for card in [card for card in position["actions"][player] if card != "tournament"]:
            put_back(position, card)
        after_acting(position, lot)
    elif kind == "bid":
        position["bids"][player] = [] if target == "nothing" else target.split("+")
        position["bidding"].remove(player)
        after_bidding(position, lot)
    elif kind == "exercise":
        virtue, value = target.split("-")
        put_back(position, f"exercise-{virtue}")
        position["piles"][virtue].remove(int(value))
        add(position["taken"][player], target, CARDS)
    elif kind == "artus":
        put_back(position, "artus")
        position["open_quests"].remove(target)
        add(position["quests"][player], target, list(QUESTS))
    elif kind == "court":
        put_back(position, "court")
        lay_back(position, player, target)
        reward(position, [player], 2)
    elif kind == "quest":
        put_back(position, "quest")
        for demand, card in zip(QUESTS[target][0], payments(position, player, target), strict=True):
            lay_back(position, player, card)
            if card != demand:  # a 2 for a 1
                exclude(position, player, [demand])
        position["quests"][player].remove(target)
        reward(position, [player], QUESTS[target][1])
    else:
        put_back(position, kind)
        position["places"][player] = target
    return position


def add(cards, card, order):
    cards.append(card)
    cards.sort(key=order.index)


def put_back(position, card):
    position["actions"][position["turn"]].remove(card)
    add(position["display"], card, ACTIONS)


def lay_back(position, player, card):
    """Virtue cards go back to their pile, those that were taken openly first."""
    cards = position["taken"][player] if card in position["taken"][player] else position["start_cards"][player]
    cards.remove(card)
    virtue, value = card.split("-")
    position["piles"][virtue].append(int(value))
    position["piles"][virtue].sort()


def exclude(position, player, cards):
    for card in cards:
        if card not in position["excluded"][player]:
            add(position["excluded"][player], card, CARDS)


def reward(position, players, points):
    """Give points to these players at the same time."""
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
    """Winners of a finished game."""
    best = [player for player, points in enumerate(position["points"]) if points == max(position["points"])]
    first = min(position["reached"][player] for player in best)
    return [player for player in best if position["reached"][player] == first]
