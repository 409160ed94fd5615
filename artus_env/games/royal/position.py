"""Positions as JSON, and their checks.

Checked: every card occurs once, sizes of hands, trick and pile fit together, cards played since the last deal are in
the trick or the discards, and voids follow from them. Not checked: whether pawns and chips can get to their places.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import product
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
    marked,
    one_of,
    shown,
    some_of,
)
from artus_env.games.royal.actions import build_tables
from artus_env.games.royal.components import MAX_CARDS, MAX_HAND, MAX_SUITS, RULES, SUPER_TRUMPS, Components
from artus_env.games.royal.rules import add_to_trick, clear_trick, left_of
from artus_env.games.royal.state import GROUPS, KNIGHTS, OVER, PHASES, STATE, SWORD_PHASE, TRICK_PHASE

MAX_SHUFFLES = 10_000
"""Far more than a game can have, far fewer than the state's field can hold."""


@lru_cache(maxsize=16)
def tables_of(components: Components) -> np.ndarray:
    """Tables of a box, cached: shape (1,)."""
    return marked("royal", build_tables(components))


class CardSet:
    """A set of cards (see `state.GROUPS`) by name, in deck order."""

    def write(self, value: Any, state: np.void, components: Components) -> list[str]:
        """Names of the cards."""
        suit_cards = [
            f"{suit}-{bit + 1}"
            for suit, bits in zip(components.suits, value.tolist(), strict=False)
            for bit in range(components.values)
            if bits >> bit & 1
        ]
        return suit_cards + [
            name for name, count in zip(SUPER_TRUMPS, value[KNIGHTS:], strict=True) for _ in range(count)
        ]

    def read(self, name: str, data: Any, state: np.void, components: Components) -> list[int]:
        """The set of cards as a list of GROUPS numbers."""
        cards = [0] * GROUPS
        for kind, count in Counter(some_of(name, data, components.cards)).items():
            if count > components.copies[kind]:
                raise ValueError(f"{name}: {components.cards[kind]} can't be there {_times(count)}")
            suit, bit = divmod(kind, components.values)
            if suit < len(components.suits):
                cards[suit] |= 1 << bit
            else:
                cards[KNIGHTS + kind - components.values * len(components.suits)] = count
        return cards


class Chips:
    """Places of the chips, written as the suit on each place, null for an empty one."""

    def write(self, value: Any, state: np.void, components: Components) -> list[str | None]:
        """The suit of the chip on each place, None for an empty one."""
        suit_on = {int(place): suit for place, suit in zip(value, components.suits, strict=False)}
        return [suit_on.get(place) for place in range(1, len(components.suits) + 1)]

    def read(self, name: str, data: Any, state: np.void, components: Components) -> list[int]:
        """Place of each suit's chip. Each chip may occur once, and the lowest places are filled first."""
        places = [0] * MAX_SUITS
        for place, suit in enumerate(list_of(name, data, len(components.suits))):
            if suit is None:
                continue
            number = one_of(f"{name}[{place}]", suit, components.suits)
            if places[number]:
                raise ValueError(f"{name}: {suit} is there twice")
            if place and data[place - 1] is None:
                raise ValueError(f"{name}: place {place} is empty, so that {suit} can't be on place {place + 1}")
            places[number] = place + 1
        return places


class Trick:
    """The trick: each player in it with the card that they have just played."""

    def write(self, value: Any, state: np.void, components: Components) -> list[list[Any]]:
        """Pairs of player and card, in order of play."""
        players = [int(left_of(state, int(state["leader"]), nth)) for nth in range(int(state["in_trick"]))]
        return [[p, components.cards[int(state["played"][p, int(state["played_cards"][p]) - 1])]] for p in players]

    def read(self, name: str, data: Any, state: np.void, components: Components) -> None:
        """Put leader, trick and the numbers of played cards into the state."""
        n = int(state["num_players"])
        state["played"][n:] = -1
        state["played_cards"] = counts = (state["played"] >= 0).sum(1)
        cards = []
        for nth, entry in enumerate(list_of(name, data)):
            if not isinstance(entry, list) or len(entry) != 2:
                raise ValueError(f"{name}[{nth}] must be a list of player and card, got {shown(entry)}")
            player = SEAT.read(f"{name}[{nth}]: player", entry[0], state, components)
            cards.append((player, one_of(f"{name}[{nth}]: card", entry[1], components.cards)))
        leader = cards[0][0] if cards else int(state["player"])
        if len(cards) >= n or [player for player, _ in cards] != [(leader + k) % n for k in range(len(cards))]:
            raise ValueError(f"{name} must have cards of successive players, but not of all, got {shown(data)}")
        state["leader"] = leader
        clear_trick(state)
        for player, kind in cards:
            if not counts[player] or int(state["played"][player, counts[player] - 1]) != kind:
                raise ValueError(f"{name}: {components.cards[kind]} isn't the last card in played[{player}]")
            add_to_trick(tables_of(components)[0], state, player, kind)


def check(state: np.void, components: Components) -> None:
    """Check that pawns, cards, trick and voids fit together.

    Raises:
        ValueError: If not; the message names the fault.
    """
    state["pile_size"] = (state["pile"] >= 0).sum()
    _check_fields(state, components)
    _check_cards(state, components)
    _check_trick(state, components)
    _check_voids(state, components)


def _check_fields(state: np.void, components: Components) -> None:
    """Check the pawns: no two on one field, except the start, and one on the last field exactly if the game is over."""
    n, last, phase = int(state["num_players"]), components.fields, int(state["phase"])
    fields = state["scores"][:n].tolist()
    for field, count in Counter(fields).items():
        if field and count > 1:
            both = [player for player in range(n) if fields[player] == field]
            raise ValueError(f"fields: the pawns of players {both[0]} and {both[1]} both stand on field {field}")
    if (phase == OVER) != (last in fields):
        raise ValueError(f"fields: a pawn stands on field {last} when the game is over and only then, got {fields}")
    if phase == SWORD_PHASE and fields[int(state["player"])] not in components.swords:
        raise ValueError(f"phase is sword, but the pawn of player {int(state['player'])} is on no sword: {fields}")


def _check_cards(state: np.void, components: Components) -> None:
    """Check that the cards are those of the box, and that hands and pile have possible sizes."""
    n, names = int(state["num_players"]), components.cards
    counts = state["played_cards"][:n].tolist()
    played = [state["played"][p][: counts[p]].tolist() for p in range(n)]
    trick = [played[left_of(state, int(state["leader"]), nth)][-1] for nth in range(int(state["in_trick"]))]
    sets = [CardSet().write(cards, state, components) for cards in (*state["hands"][:n], state["discards"])]
    pile = [kind for kind in state["pile"].tolist() if kind >= 0]
    found = Counter(name for cards in sets for name in cards) + Counter(names[kind] for kind in trick + pile)
    for name, copies in zip(names, components.copies, strict=True):
        if found[name] != copies:
            raise ValueError(
                f"{name} must be {_times(copies)} in hands, trick, discards and pile together, got it "
                f"{_times(found[name])}"
            )
    open_cards = Counter(sets[-1]) + Counter(names[kind] for kind in trick)
    if extra := Counter(names[kind] for cards in played for kind in cards) - open_cards:
        raise ValueError(f"played: {min(extra)} is neither in the trick nor in the discards")
    for player in range(n):
        if len(sets[player]) + counts[player] != components.hand:
            raise ValueError(
                f"player {player} must have {components.hand} cards in hands and played together, "
                f"got {len(sets[player])} and {counts[player]}"
            )
    num_dealt = n * components.hand
    sizes = range(len(components.deck) - num_dealt, -1, -num_dealt)
    if len(pile) not in sizes:
        raise ValueError(f"pile must have {' or '.join(map(str, sizes))} cards, got {len(pile)}")


def _times(count: int) -> str:
    return {0: "nowhere", 1: "once", 2: "twice"}.get(count, f"{count} times")


def _check_trick(state: np.void, components: Components) -> None:
    """Check the trick: its leader, the number of cards that each player has played, and the player to move."""
    n, turn, phase, in_trick = (int(state[name]) for name in ("num_players", "player", "phase", "in_trick"))
    start, leader, first_leader = int(state["start_player"]), int(state["leader"]), (int(state["dealer"]) + 1) % n
    counts = state["played_cards"][:n].tolist()
    if phase != TRICK_PHASE and in_trick:
        raise ValueError(f"phase is {PHASES[phase]}: trick must be empty, got {counted(in_trick, 'card')}")
    if phase == OVER and turn != start:
        raise ValueError(f"when the game is over turn is the start player, {start}, got {turn}")
    order = [(leader + seat) % n for seat in range(n)]
    if phase == TRICK_PHASE and turn != order[in_trick]:
        raise ValueError(f"turn must be the player left of those in the trick, {order[in_trick]}, got {turn}")
    tricks = counts[turn]
    for player in range(n):
        expected = tricks + (player in order[:in_trick])
        if counts[player] != expected:
            raise ValueError(
                f"played[{player}] must have {counted(expected, 'card')} at this point, got {counts[player]}"
            )
    fewest_tricks, most_tricks = int(phase == OVER), components.hand - (phase != OVER)
    if not fewest_tricks <= tricks <= most_tricks:
        raise ValueError(f"played: {tricks} tricks of this deal can't be over in phase {PHASES[phase]}")
    if phase == TRICK_PHASE and not tricks and leader != first_leader:
        raise ValueError(
            f"player {first_leader}, left of the dealer, leads the first trick of a deal, got player {leader}"
        )
    if phase == OVER:
        state["leader"] = start
    elif phase == SWORD_PHASE and not tricks:
        state["leader"] = first_leader


def _check_voids(state: np.void, components: Components) -> None:
    """Check that the voids fit the hands, and that they follow exactly from the tricks since the deal, for some
    possible winners of these tricks.

    Chips may have been placed or swapped since a trick was taken, so that several players may have taken it.
    """
    n, phase, in_trick = int(state["num_players"]), int(state["phase"]), int(state["in_trick"])
    marked_voids = state["voids"][:n].tolist()
    for player, suit in product(range(n), range(len(components.suits))):
        if marked_voids[player] >> suit & 1 and int(state["hands"][player, suit]):
            raise ValueError(f"voids[{player}]: player {player} has {components.suits[suit]} in hand")
    group = tables_of(components)[0]["group"].tolist()
    played = state["played"][:n].tolist()
    orders = [[(leader + seat) % n for seat in range(n)] for leader in range(n)]  # of play, by leader
    histories = {((int(state["dealer"]) + 1) % n, (0,) * n)}  # possible next leaders, with the voids so far
    for nth in range(int(state["played_cards"][int(state["player"])])):
        next_histories = set()
        for leader, voids_before in histories:
            cards = [(player, played[player][nth]) for player in orders[leader]]
            new_voids = _voids_after(voids_before, cards, group)
            if new_voids and all(after & ~allowed == 0 for after, allowed in zip(new_voids, marked_voids, strict=True)):
                next_histories |= {(taker, new_voids) for taker in _takers(cards, group, state)}
        histories = next_histories
    if not histories:
        raise ValueError(
            "voids: a player who hasn't followed suit since the deal isn't marked, whoever took the tricks"
        )
    is_new_deal = not int(state["played_cards"][int(state["player"])])
    taker = {TRICK_PHASE: int(state["leader"]), SWORD_PHASE: int(state["player"])}.get(phase)
    if taker is None:
        taker = state["scores"][:n].tolist().index(components.fields)
    histories = {
        (leader, voids) for leader, voids in histories if leader == taker or (is_new_deal and phase == SWORD_PHASE)
    }
    if not histories:
        raise ValueError(f"player {taker} can't have taken the last trick")
    cards = [(player, played[player][int(state["played_cards"][player]) - 1]) for player in orders[taker][:in_trick]]
    led = int(state["led"])
    for player, kind in cards:
        if 0 <= led != group[kind] and not marked_voids[player] >> led & 1:
            raise ValueError(
                f"voids: player {player} hasn't followed {components.suits[led]} and must be marked void of it"
            )
    if {_voids_after(voids, cards, group) for _, voids in histories}.isdisjoint({tuple(marked_voids)}):
        raise ValueError("voids must be the suits that a player hasn't followed since the deal, got others")


def _voids_after(voids: tuple[int, ...], cards: list[tuple[int, int]], group: list[int]) -> tuple[int, ...] | None:
    """Voids after some cards of one trick; None if a player played a suit in which they had a void."""
    led = group[cards[0][1]] if cards else KNIGHTS
    after = list(voids)
    for player, kind in cards:
        if group[kind] < KNIGHTS and after[player] >> group[kind] & 1:
            return None
        if led < KNIGHTS and group[kind] != led:
            after[player] |= 1 << led
    return tuple(after)


def _takers(cards: list[tuple[int, int]], group: list[int], state: np.void) -> set[int]:
    """Possible winners of a trick: players of the highest card of the led suit, or of any suit whose chip is placed
    now. With super-trumps in the trick there is only one."""
    super_trump: tuple[int, int] | None = None
    for player, kind in cards:
        if group[kind] >= KNIGHTS and (super_trump is None or group[kind] != group[super_trump[1]]):
            super_trump = player, kind
    if super_trump is not None:
        return {super_trump[0]}
    highest: dict[int, tuple[int, int]] = {}
    for player, kind in cards:
        suit = group[kind]
        if suit == group[cards[0][1]] or int(state["places"][suit]):
            highest[suit] = max(highest.get(suit, (-1, -1)), (kind, player))
    return {player for _, player in highest.values()}


POSITIONS = Positions(
    "royal",
    RULES,
    STATE,
    [
        Part("start_player", SEAT),
        Part("dealer", SEAT),
        Part("phase", Choice(PHASES)),
        Part("turn", SEAT, "player"),
        Part("fields", Number(0, lambda state, components: components.fields), "scores", by_seat=True),
        Part("trumps", Chips(), "places"),
        Part("hands", CardSet(), by_seat=True, hidden=from_others,
             count=lambda state, seat, hand, components: components.hand - int(state["played_cards"][seat])),
        Part("voids", Members(lambda components: components.suits), by_seat=True),
        Part("trick", Trick(), None),
        Part("played", Row(lambda components: components.cards, MAX_HAND), by_seat=True),
        Part("discards", CardSet()),
        Part("pile", Row(lambda components: components.cards, MAX_CARDS, at_end=True), hidden=from_others,
             count=lambda state, seat, pile, components: int(state["pile_size"])),
        Part("chance", Number(), hidden=from_others),
        Part("shuffles", Number(0, MAX_SHUFFLES)),
    ],
    check=check,
)  # fmt: skip
"""Form of positions in records and requests."""
