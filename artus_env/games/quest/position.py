"""Positions as JSON: `to_dict` writes one, `from_dict` reads one and says what is wrong with it.

`from_dict` checks the accounting: every virtue card, action card and quest once, numbers of cards that fit phase and
turn, bids that their players hold. It doesn't ask whether the points could have come about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from artus_env.authoring import check_keys, counted, list_of, one_of, shown, some_of, whole_number
from artus_env.games.quest.actions import BID_KINDS, in_digits
from artus_env.games.quest.components import (
    ACTIONS,
    CARDS,
    MAX_PLAYERS,
    MAX_VALUE,
    MIN_PLAYERS,
    OPEN_QUESTS,
    PLACES,
    QUESTS,
    START_CARDS,
    TOURNAMENT,
    VIRTUES,
    Components,
)
from artus_env.games.quest.hidden_information import hides_bid
from artus_env.games.quest.rules import ALL_BIDS, CAMELOT, DIGITS, LOW_KINDS, ONES, count, hand, jousters
from artus_env.games.quest.state import ACT_PHASE, BID_PHASE, CHOOSE_PHASE, OVER, PHASES, STATE

RULES = ("standard",)
KEYS = (
    "game", "rules", "num_players", "start_player", "round", "phase", "turn", "ring", "tents", "places", "points",
    "reached", "display", "actions", "piles", "start_cards", "taken", "excluded", "open_quests", "quest_pile", "quests",
    "bids", "bidding", "chance", "lots",
)  # fmt: skip
MAX_CHANCE = (1 << 53) - 1
"""All readers of JSON keep numbers up to this one."""
MAX_POINTS = 9_999


# --- writing -----------------------------------------------------------------------------------------------------


def to_dict(state: np.void, components: Components, player: int | None = None) -> dict[str, Any]:
    """A position as plain data; with `player`, only what that player may know.

    What they may not know: the others' starting cards, which are counts then, bids that aren't open, which are null,
    the quests in the pile, a count, and `chance`, which is left out.
    """
    n = int(state["num_players"])
    position = {
        "game": "quest",
        "rules": RULES[int(state["rule_set"])],
        "num_players": n,
        "start_player": int(state["start_player"]),
        "round": int(state["round"]),
        "phase": PHASES[int(state["phase"])],
        "turn": int(state["player"]),
        "ring": [PLACES[place] for place in np.argsort(state["spots"])],
        "tents": state["tents"][:n].tolist(),
        "places": [PLACES[place] for place in state["places"][:n]],
        "points": state["scores"][:n].tolist(),
        "reached": state["reached"][:n].tolist(),
        "display": _names(state["display"], ACTIONS),
        "actions": [_names(cards, ACTIONS) for cards in state["actions"][:n]],
        "piles": {
            virtue: [kind % MAX_VALUE + 1 for kind in _repeated(state["piles"]) if kind // MAX_VALUE == number]
            for number, virtue in enumerate(VIRTUES)
        },
        "start_cards": [_names(cards, CARDS) for cards in state["start_cards"][:n]],
        "taken": [_names(cards, CARDS) for cards in state["taken"][:n]],
        "excluded": [_names(kinds, CARDS) for kinds in state["excluded"][:n]],
        "open_quests": _members(state["open_quests"], QUESTS),
        "quest_pile": [QUESTS[quest] for quest in state["quest_pile"] if quest >= 0],
        "quests": [_members(quests, QUESTS) for quests in state["quests"][:n]],
        "bids": [_names(cards, CARDS) for cards in state["bids"][:n]],
        "bidding": [other for other in range(n) if int(state["bidding"]) >> other & 1],
        "chance": int(state["chance"]),
        "lots": int(state["lots"]),
    }
    if player is not None:
        for other in range(n):
            if other != player:
                position["start_cards"][other] = len(position["start_cards"][other])
            if hides_bid(state, other, player):
                position["bids"][other] = None
        position["quest_pile"] = len(position["quest_pile"])
        del position["chance"]
    return position


def _repeated(cards: Any) -> list[int]:
    """The kinds of the cards in a number, each as often as there are cards (see `state.DIGIT`)."""
    kinds = range(len(f"{int(cards):x}"))
    return [kind for kind in kinds for _ in range(count(int(cards), kind))]


def _names(cards: Any, names: Sequence[str]) -> list[str]:
    return [names[kind] for kind in _repeated(cards)]


def _members(bits: Any, names: Sequence[str]) -> list[str]:
    return [name for number, name in enumerate(names) if int(bits) >> number & 1]


# --- reading -----------------------------------------------------------------------------------------------------


def from_dict(data: Any, components: Components) -> np.ndarray:
    """The position as a state: shape (1,), dtype `STATE`.

    Raises:
        ValueError: If anything is missing, unknown or doesn't add up; the message names it.
    """
    check_keys(data, KEYS)
    states = np.zeros(1, STATE)
    state = states[0]
    one_of("game", data["game"], ("quest",))
    state["rule_set"] = one_of("rules", data["rules"], RULES)
    n = whole_number("num_players", data["num_players"], MIN_PLAYERS, MAX_PLAYERS)
    state["num_players"] = n
    state["start_player"] = whole_number("start_player", data["start_player"], 0, n - 1)
    state["phase"] = one_of("phase", data["phase"], PHASES)
    state["player"] = whole_number("turn", data["turn"], 0, n - 1)
    state["round"] = whole_number("round", data["round"], 1, components.rounds)
    state["lots"] = whole_number("lots", data["lots"], 0, int(state["round"]) - 1)
    state["chance"] = whole_number("chance", data["chance"], 0, MAX_CHANCE)
    for player, points in enumerate(list_of("points", data["points"], n)):
        state["scores"][player] = whole_number(f"points[{player}]", points, 0, MAX_POINTS)
    _read_places(data, state)
    _read_cards(data, state)
    _read_quests(data, state)
    _check_points(state, components)
    _check_actions(state, components)
    _check_virtues(state, components)
    _check_quests(state)
    _check_bids(state)
    return states


def _read_places(data: dict[str, Any], state: np.void) -> None:
    """Ring, knights, tents, and who still has to bid."""
    n = int(state["num_players"])
    ring = some_of("ring", list_of("ring", data["ring"], len(PLACES)), PLACES)
    if len(set(ring)) != len(PLACES) or ring[0] != CAMELOT:
        raise ValueError(f"ring must be all places once, from {PLACES[CAMELOT]} on, got {shown(data['ring'])}")
    state["spots"][ring] = range(len(PLACES))
    state["places"][:n] = some_of("places", list_of("places", data["places"], n), PLACES)
    tents = _players("tents", data["tents"], n)
    if sorted(tents) != list(range(n)):
        raise ValueError(f"tents must be all players once, got {shown(tents)}")
    state["tents"] = -1
    state["tents"][:n] = tents
    state["bidding"] = _bits("bidding", _players("bidding", data["bidding"], n))
    for player, order in enumerate(list_of("reached", data["reached"], n)):
        state["reached"][player] = whole_number(f"reached[{player}]", order, 0, n)


def _players(name: str, values: Any, n: int) -> list[int]:
    return [whole_number(f"{name}[{nth}]", value, 0, n - 1) for nth, value in enumerate(list_of(name, values))]


def _bits(name: str, numbers: Sequence[int]) -> int:
    """Different numbers in rising order as a set of bits."""
    if list(numbers) != sorted(set(numbers)):
        raise ValueError(f"{name}: each may stand there once, in the order of the box, got {shown(list(numbers))}")
    return sum(1 << number for number in numbers)


def _cards(name: str, values: Any, names: Sequence[str]) -> int:
    """Names of cards in the order of the box as a number (see `state.DIGIT`)."""
    numbers = some_of(name, values, names)
    if numbers != sorted(numbers):
        raise ValueError(f"{name} must be in the order of the box, got {shown(values)}")
    counts = [numbers.count(kind) for kind in range(len(names))]
    if max(counts) > DIGITS:
        raise ValueError(f"{name} has more cards of one kind than there are, got {shown(values)}")
    return in_digits(counts)


def _read_cards(data: dict[str, Any], state: np.void) -> None:
    """Action cards and virtue cards."""
    n = int(state["num_players"])
    state["display"] = _cards("display", data["display"], ACTIONS)
    for player, cards in enumerate(list_of("actions", data["actions"], n)):
        state["actions"][player] = _cards(f"actions[{player}]", cards, ACTIONS)
    piles = data["piles"]
    if not isinstance(piles, dict) or set(piles) != set(VIRTUES):
        raise ValueError(f"piles must be an object with {', '.join(VIRTUES)}, got {shown(piles)}")
    for virtue in VIRTUES:
        values = list_of(f"piles.{virtue}", piles[virtue])
        for value in values:
            whole_number(f"piles.{virtue}", value, 1, MAX_VALUE)
        if values != sorted(values):
            raise ValueError(f"piles.{virtue} must be rising values, got {shown(values)}")
        state["piles"] += _cards(f"piles.{virtue}", [f"{virtue}-{value}" for value in values], CARDS)
    for name in ("start_cards", "taken", "bids"):
        for player, cards in enumerate(list_of(name, data[name], n)):
            if cards is None or (isinstance(cards, int) and not isinstance(cards, bool)):
                raise ValueError(f"{name}[{player}] is what a player knows of it, not a whole position")
            state[name][player] = _cards(f"{name}[{player}]", cards, CARDS)
    for player, kinds in enumerate(list_of("excluded", data["excluded"], n)):
        state["excluded"][player] = _cards(f"excluded[{player}]", kinds, CARDS)
        if int(state["excluded"][player]) & ~ONES:
            raise ValueError(f"excluded[{player}]: each kind may stand there once, got {shown(kinds)}")


def _read_quests(data: dict[str, Any], state: np.void) -> None:
    n = int(state["num_players"])
    if isinstance(data["quest_pile"], int):
        raise ValueError("quest_pile is what a player knows of it, not a whole position")
    pile = some_of("quest_pile", data["quest_pile"], QUESTS)
    if len(pile) > len(QUESTS):
        raise ValueError(f"quest_pile: there are {len(QUESTS)} quests, got {len(pile)}")
    state["quest_pile"] = -1
    state["quest_pile"][len(QUESTS) - len(pile) :] = pile
    state["quest_pile_size"] = len(pile)
    state["open_quests"] = _bits("open_quests", some_of("open_quests", data["open_quests"], QUESTS))
    for player, quests in enumerate(list_of("quests", data["quests"], n)):
        name = f"quests[{player}]"
        state["quests"][player] = _bits(name, some_of(name, quests, QUESTS))


# --- what must fit -------------------------------------------------------------------------------------------------


def _check_points(state: np.void, components: Components) -> None:
    """Who has reached the goal, tents by points, and whether the game is over."""
    n, phase = int(state["num_players"]), int(state["phase"])
    points, reached = state["scores"][:n].tolist(), state["reached"][:n].tolist()
    goal = components.goals[n - MIN_PLAYERS]
    for player in range(n):
        if (points[player] >= goal) != (reached[player] > 0):
            raise ValueError(f"reached[{player}] doesn't fit {counted(points[player], 'point')}: the goal is {goal}")
    orders = sorted(order for order in reached if order)
    if sorted(set(orders)) != list(range(1, len(set(orders)) + 1)):
        raise ValueError(f"reached must count from 1 without a gap, got {reached}")
    most = max(Counter(orders).values(), default=1)
    if most > 2 or (most == 2 and phase != OVER):
        raise ValueError(f"reached: two can be equal after a tournament, when the game is over, got {reached}")
    if phase == OVER and not orders and int(state["round"]) < components.rounds:
        raise ValueError(f"phase can't be over: nobody has reached the goal, and it is round {int(state['round'])}")
    if phase == CHOOSE_PHASE and orders:
        raise ValueError("phase can't be choose: the game ends with the round in which somebody reaches the goal")
    if phase == OVER and int(state["player"]) != int(state["start_player"]):
        raise ValueError(f"when the game is over turn is the start player, {int(state['start_player'])}")
    tents = state["tents"][:n].tolist()
    if int(state["round"]) == 1 and tents[0] != int(state["start_player"]):
        raise ValueError(f"in the first round the start player has the first tent, got {tents}")
    by_tent = [points[player] for player in tents]
    if phase == CHOOSE_PHASE and by_tent != sorted(by_tent):
        raise ValueError(f"tents: fewest points come first, got {tents} with points {by_tent}")


def _check_actions(state: np.void, components: Components) -> None:
    """Whether action cards are complete and fit phase and turn."""
    n, phase, turn = int(state["num_players"]), int(state["phase"]), int(state["player"])
    wanted = components.display[n - MIN_PLAYERS]
    for kind, action in enumerate(ACTIONS):
        have = sum(count(int(cards), kind) for cards in (state["display"], *state["actions"][:n]))
        if have != wanted[kind]:
            raise ValueError(
                f"display and actions must have {counted(wanted[kind], 'card')} {action} together, got {have}"
            )
    choices = components.choices[n - MIN_PLAYERS]
    tents = state["tents"][:n].tolist()
    due = tents.index(turn)
    held = [len(_repeated(cards)) for cards in state["actions"][:n]]
    for tent, player in enumerate(tents):
        cards, tournament = held[player], count(int(state["actions"][player]), TOURNAMENT)
        if tournament > 1:
            raise ValueError(f"actions[{player}]: nobody takes a second tournament")
        if phase == CHOOSE_PHASE:
            expected = held[turn] + (tent < due)
            fits, wants = cards == expected and held[turn] < choices, f"{counted(expected, 'card')} (at most {choices})"
        elif phase == ACT_PHASE and tent > due:
            fits, wants = cards == choices, counted(choices, "card")
        elif phase == ACT_PHASE and tent == due:
            fits, wants = cards <= choices, f"at most {choices}"
        elif phase == OVER:
            fits, wants = cards == 0, "none"
        else:
            fits, wants = cards == tournament, "none but a tournament"
        if not fits:
            raise ValueError(
                f"actions[{player}] must be {wants} in phase {PHASES[phase]} with turn {turn}, got {cards}"
            )


def _check_virtues(state: np.void, components: Components) -> None:
    """Whether virtue cards are complete, and starting cards are none that are excluded."""
    n = int(state["num_players"])
    for kind, card in enumerate(CARDS):
        lying = (state["piles"], *state["start_cards"][:n], *state["taken"][:n])
        have = sum(count(int(cards), kind) for cards in lying)
        if have != components.copies[kind]:
            raise ValueError(
                f"{card} must be {counted(components.copies[kind], 'card')} in piles, start_cards and taken together, "
                f"got {have}"
            )
    for player in range(n):
        if len(_repeated(state["start_cards"][player])) > START_CARDS:
            raise ValueError(f"start_cards[{player}] are at most {START_CARDS}")
        excluded = int(state["excluded"][player])
        if excluded * DIGITS & int(state["start_cards"][player]):
            raise ValueError(f"start_cards[{player}] has a card that is excluded")
        # A requirement of 1 was paid with a 2, which shows that there is no 1; or there was nothing to bid.
        if excluded & ~LOW_KINDS and (excluded & ALL_BIDS != ALL_BIDS or excluded & ~(LOW_KINDS | ALL_BIDS)):
            raise ValueError(f"excluded[{player}]: no payment or bid shows that, got {_names(excluded, CARDS)}")


def _check_quests(state: np.void) -> None:
    n = int(state["num_players"])
    places = [int(quest) for quest in state["quest_pile"] if quest >= 0]
    for bits in (state["open_quests"], *state["quests"][:n]):
        places += [quest for quest in range(len(QUESTS)) if int(bits) >> quest & 1]
    if len(set(places)) != len(places):
        twice = next(quest for quest, count in Counter(places).items() if count > 1)
        raise ValueError(f"{QUESTS[twice]} is there twice, in open_quests, quest_pile and quests together")
    shown_quests, pile = int(state["open_quests"]).bit_count(), int(state["quest_pile_size"])
    full = shown_quests == OPEN_QUESTS or not pile
    if shown_quests > OPEN_QUESTS or (int(state["phase"]) == CHOOSE_PHASE and not full):
        raise ValueError(
            f"open_quests must be {OPEN_QUESTS} when a round begins, or all if the pile is empty, got {shown_quests}"
        )


def _check_bids(state: np.void) -> None:
    """Whether players who bid are in the tournament, and hold what they bid."""
    n, turn = int(state["num_players"]), int(state["player"])
    for player in range(n):
        for kind in range(len(CARDS)):
            cards = count(int(state["bids"][player]), kind)
            if cards and kind >= BID_KINDS:
                raise ValueError(f"bids[{player}]: {CARDS[kind]} can't be bid")
            if cards > count(int(hand(state, player)), kind):
                raise ValueError(f"bids[{player}]: player {player} doesn't hold so many {CARDS[kind]}")
    bidding, bidders = int(state["bidding"]), [player for player in range(n) if state["bids"][player]]
    if int(state["phase"]) != BID_PHASE:
        if bidding or bidders:
            raise ValueError(f"bidding and bids must be empty in phase {PHASES[int(state['phase'])]}")
        return
    joust = int(jousters(state))
    players = [int(player) for player in state["tents"][:n] if joust >> int(player) & 1]
    if not bidding or bidding & ~joust:
        raise ValueError(f"bidding must be some of those with a tournament card in Camelot, {sorted(players)}")
    if len(players) > 1 and bidding == 1 << players[0]:
        raise ValueError(f"bidding: player {players[0]} has the earlier tent and bids first")
    if turn != next(player for player in players if bidding >> player & 1):
        raise ValueError(f"turn must be the player of bidding with the earliest tent, got {turn}")
    for player in bidders:
        if not joust >> player & 1 or bidding >> player & 1:
            raise ValueError(f"bids[{player}] must be empty: player {player} has not bid")
