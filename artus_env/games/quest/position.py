"""Positions as JSON, and their checks.

Checked: every virtue card, action card and quest occurs once, numbers of cards fit phase and turn, and players hold the
cards that they bid. Not checked: whether the points can be reached.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from artus_env.authoring import (
    SEAT,
    Choice,
    Members,
    Number,
    Part,
    Positions,
    Row,
    counted,
    from_others,
    list_of,
    shown,
    some_of,
)
from artus_env.games.quest.actions import BID_KINDS, in_digits
from artus_env.games.quest.components import (
    ACTIONS,
    CARDS,
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
from artus_env.games.quest.fast import DIGITS, LOW_KINDS
from artus_env.games.quest.hidden_information import hides_bid
from artus_env.games.quest.rules import ALL_BIDS, CAMELOT, count, hand, jousters
from artus_env.games.quest.state import ACT_PHASE, BID_PHASE, CHOOSE_PHASE, OVER, PHASES, STATE

RULES = ("standard",)
MAX_POINTS = 9_999


def _card_kinds(cards: Any) -> list[int]:
    """Kind of each card in a set of cards (see `state.DIGIT`)."""
    kinds = range(len(f"{int(cards):x}"))
    return [kind for kind in kinds for _ in range(count(int(cards), kind))]


@dataclass(frozen=True)
class Cards:
    """A set of cards: a number in the state (see `state.DIGIT`), in JSON their names in the order of the box.

    Attributes:
        names: Names of the kinds.
        max_copies: Maximum number of cards of one kind.
    """

    names: Sequence[str]
    max_copies: int = DIGITS

    def write(self, value: Any, state: np.void, components: Components) -> list[str]:
        """Names of the cards."""
        return [self.names[kind] for kind in _card_kinds(value)]

    def read(self, name: str, data: Any, state: np.void, components: Components) -> int:
        """The number."""
        kinds = some_of(name, data, self.names)
        if kinds != sorted(kinds):
            raise ValueError(f"{name} must be in the order of the box, got {shown(data)}")
        counts = [kinds.count(kind) for kind in range(len(self.names))]
        if max(counts) > self.max_copies:
            raise ValueError(
                f"{name} can have at most {counted(self.max_copies, 'card')} of one kind, got {shown(data)}"
            )
        return in_digits(counts)


class Piles:
    """The piles of virtue cards: a set of cards in the state (see `state.DIGIT`), in JSON the values of the cards of
    each virtue."""

    def write(self, value: Any, state: np.void, components: Components) -> dict[str, list[int]]:
        """Values by virtue."""
        kinds = [divmod(kind, MAX_VALUE) for kind in _card_kinds(value)]
        return {name: [value + 1 for virtue, value in kinds if virtue == n] for n, name in enumerate(VIRTUES)}

    def read(self, name: str, data: Any, state: np.void, components: Components) -> int:
        """The number."""
        if not isinstance(data, dict) or set(data) != set(VIRTUES):
            raise ValueError(f"{name} must be an object with {', '.join(VIRTUES)}, got {shown(data)}")
        cards = 0
        for virtue in VIRTUES:
            values = enumerate(list_of(f"{name}.{virtue}", data[virtue]))
            read = [Number(1, MAX_VALUE).read(f"{name}.{virtue}[{k}]", value, state, components) for k, value in values]
            names = [f"{virtue}-{value}" for value in read]
            cards += Cards(CARDS).read(f"{name}.{virtue}", names, state, components)
        return cards


class Ring:
    """Positions of the places in the ring, written as the places in the order of the ring, from Camelot on."""

    def write(self, value: Any, state: np.void, components: Components) -> list[str]:
        """The places."""
        return [PLACES[place] for place in np.argsort(value)]

    def read(self, name: str, data: Any, state: np.void, components: Components) -> np.ndarray:
        """Position of each place."""
        ring = some_of(name, list_of(name, data, len(PLACES)), PLACES)
        if len(set(ring)) != len(PLACES) or ring[0] != CAMELOT:
            raise ValueError(f"{name} must be all places once, from {PLACES[CAMELOT]} on, got {shown(data)}")
        return np.argsort(ring)


# --- checks --------------------------------------------------------------------------------------------------------


def check(state: np.void, components: Components) -> None:
    """Check that points, cards, quests and bids fit together.

    Raises:
        ValueError: If not; the message names the fault.
    """
    n = int(state["num_players"])
    state["quest_pile_size"] = (state["quest_pile"] >= 0).sum()
    state["tents"][n:] = -1
    if sorted(state["tents"][:n]) != list(range(n)):
        raise ValueError(f"tents must be all players once, got {state['tents'][:n].tolist()}")
    _check_points(state, components)
    _check_actions(state, components)
    _check_virtues(state, components)
    _check_quests(state)
    _check_bids(state)


def _check_points(state: np.void, components: Components) -> None:
    """Check who has reached the goal, the order of tents by points, and whether the game is over."""
    n, phase = int(state["num_players"]), int(state["phase"])
    points, reached = state["scores"][:n].tolist(), state["reached"][:n].tolist()
    goal = components.goals[n - MIN_PLAYERS]
    for player in range(n):
        if (points[player] >= goal) != (reached[player] > 0):
            raise ValueError(f"reached[{player}] doesn't fit {counted(points[player], 'point')}: the goal is {goal}")
    orders = sorted(order for order in reached if order)
    if sorted(set(orders)) != list(range(1, len(set(orders)) + 1)):
        raise ValueError(f"reached must count from 1 without a gap, got {reached}")
    num_equal = max(Counter(orders).values(), default=1)
    if num_equal > 2 or (num_equal == 2 and phase != OVER):
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
    """Check that action cards are complete and fit phase and turn."""
    n, phase, turn = int(state["num_players"]), int(state["phase"]), int(state["player"])
    display_counts = components.display[n - MIN_PLAYERS]
    for kind, action in enumerate(ACTIONS):
        total = sum(count(int(cards), kind) for cards in (state["display"], *state["actions"][:n]))
        if total != display_counts[kind]:
            raise ValueError(
                f"display and actions must have {counted(display_counts[kind], 'card')} {action} together, got {total}"
            )
    choices = components.choices[n - MIN_PLAYERS]
    tents = state["tents"][:n].tolist()
    mover_tent = tents.index(turn)
    card_counts = [len(_card_kinds(cards)) for cards in state["actions"][:n]]
    for tent, player in enumerate(tents):
        cards, tournament = card_counts[player], count(int(state["actions"][player]), TOURNAMENT)
        if tournament > 1:
            raise ValueError(f"actions[{player}]: nobody takes a second tournament")
        if phase == CHOOSE_PHASE:
            expected = card_counts[turn] + (tent < mover_tent)
            is_valid = cards == expected and card_counts[turn] < choices
            expected_text = f"{counted(expected, 'card')} (at most {choices})"
        elif phase == ACT_PHASE and tent > mover_tent:
            is_valid, expected_text = cards == choices, counted(choices, "card")
        elif phase == ACT_PHASE and tent == mover_tent:
            is_valid, expected_text = cards <= choices, f"at most {choices}"
        elif phase == OVER:
            is_valid, expected_text = cards == 0, "none"
        else:
            is_valid, expected_text = cards == tournament, "none but a tournament"
        if not is_valid:
            raise ValueError(
                f"actions[{player}] must be {expected_text} in phase {PHASES[phase]} with turn {turn}, got {cards}"
            )


def _check_virtues(state: np.void, components: Components) -> None:
    """Check that virtue cards are complete, and that no starting card is of an excluded kind."""
    n = int(state["num_players"])
    for kind, card in enumerate(CARDS):
        fields = (state["piles"], *state["start_cards"][:n], *state["taken"][:n])
        total = sum(count(int(cards), kind) for cards in fields)
        if total != components.copies[kind]:
            raise ValueError(
                f"{card} must be {counted(components.copies[kind], 'card')} in piles, start_cards and taken together, "
                f"got {total}"
            )
    for player in range(n):
        if len(_card_kinds(state["start_cards"][player])) > START_CARDS:
            raise ValueError(f"start_cards[{player}] are at most {START_CARDS}")
        excluded = int(state["excluded"][player])
        if excluded * DIGITS & int(state["start_cards"][player]):
            raise ValueError(f"start_cards[{player}] has a card that is excluded")
        # A player who paid a 2 for a requirement of 1 has no 1; or the player had no card to bid.
        if excluded & ~LOW_KINDS and (excluded & ALL_BIDS != ALL_BIDS or excluded & ~(LOW_KINDS | ALL_BIDS)):
            names = Cards(CARDS).write(excluded, state, components)
            raise ValueError(f"excluded[{player}]: no payment or bid shows that, got {names}")


def _check_quests(state: np.void) -> None:
    """Check that no quest occurs twice, and that enough quests lie open."""
    n = int(state["num_players"])
    all_quests = [int(quest) for quest in state["quest_pile"] if quest >= 0]
    for bits in (state["open_quests"], *state["quests"][:n]):
        all_quests += [quest for quest in range(len(QUESTS)) if int(bits) >> quest & 1]
    if len(set(all_quests)) != len(all_quests):
        repeated_quest = next(quest for quest, count in Counter(all_quests).items() if count > 1)
        raise ValueError(f"{QUESTS[repeated_quest]} is there twice, in open_quests, quest_pile and quests together")
    shown_quests, pile = int(state["open_quests"]).bit_count(), int(state["quest_pile_size"])
    is_full = shown_quests == OPEN_QUESTS or not pile
    if shown_quests > OPEN_QUESTS or (int(state["phase"]) == CHOOSE_PHASE and not is_full):
        raise ValueError(
            f"open_quests must be {OPEN_QUESTS} when a round begins, or all if the pile is empty, got {shown_quests}"
        )


def _check_bids(state: np.void) -> None:
    """Check that players who bid are in the tournament and hold the cards that they bid."""
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
    jousting = int(jousters(state))
    players = [int(player) for player in state["tents"][:n] if jousting >> int(player) & 1]
    if not bidding or bidding & ~jousting:
        raise ValueError(f"bidding must be some of those with a tournament card in Camelot, {sorted(players)}")
    if len(players) > 1 and bidding == 1 << players[0]:
        raise ValueError(f"bidding: player {players[0]} has the earlier tent and bids first")
    if turn != next(player for player in players if bidding >> player & 1):
        raise ValueError(f"turn must be the player of bidding with the earliest tent, got {turn}")
    for player in bidders:
        if not jousting >> player & 1 or bidding >> player & 1:
            raise ValueError(f"bids[{player}] must be empty: player {player} has not bid")


def _length(state: np.void, seat: int, data: list[str], components: Components) -> int:
    return len(data)


POSITIONS = Positions(
    "quest",
    RULES,
    STATE,
    [
        Part("start_player", SEAT),
        Part("round", Number(1, lambda state, components: components.rounds)),
        Part("phase", Choice(PHASES)),
        Part("turn", SEAT, "player"),
        Part("ring", Ring(), "spots"),
        Part("tents", SEAT, by_seat=True),
        Part("places", Choice(PLACES), by_seat=True),
        Part("points", Number(0, MAX_POINTS), "scores", by_seat=True),
        Part("reached", Number(0, lambda state, components: int(state["num_players"])), by_seat=True),
        Part("display", Cards(ACTIONS)),
        Part("actions", Cards(ACTIONS), by_seat=True),
        Part("piles", Piles()),
        Part("start_cards", Cards(CARDS), by_seat=True, hidden=from_others, count=_length),
        Part("taken", Cards(CARDS), by_seat=True),
        Part("excluded", Cards(CARDS, max_copies=1), by_seat=True),
        Part("open_quests", Members(QUESTS)),
        Part("quest_pile", Row(QUESTS, len(QUESTS), at_end=True), hidden=from_others, count=_length),
        Part("quests", Members(QUESTS), by_seat=True),
        Part("bids", Cards(CARDS), by_seat=True, hidden=hides_bid),
        Part("bidding", Members(below=lambda state, components: int(state["num_players"]))),
        Part("chance", Number(), hidden=from_others),
        Part("lots", Number(0, lambda state, components: int(state["round"]) - 1)),
    ],
    check=check,
)
"""Form of positions in records and requests."""
