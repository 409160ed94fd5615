"""Positions as JSON: `to_dict` writes one, `from_dict` reads one and says what is wrong with it.

`from_dict` checks the accounting: every card once, hands, trick and pile of sizes that fit together, cards played since
the last deal that are in trick or discards, voids that follow from them. It doesn't ask whether pawns and chips could
have got to where they are.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from artus_env.engine.basics.numbers import whole_number
from artus_env.engine.basics.reading import check_keys, list_of, one_of, shown
from artus_env.engine.basics.wording import counted
from artus_env.engine.contract.registry import find_game
from artus_env.games.royal.components import MAX_CARDS, MAX_PLAYERS, RULES, SUPER_TRUMPS, Components
from artus_env.games.royal.rules import add_to_trick, clear_trick, put
from artus_env.games.royal.state import KNIGHTS, OVER, PHASES, STATE, SWORD_PHASE, TRICK_PHASE

GAME = "royal"
KEYS = (
    "game", "rules", "num_players", "start_player", "dealer", "phase", "turn", "fields", "trumps", "hands", "voids",
    "trick", "played", "discards", "pile", "chance", "shuffles",
)  # fmt: skip
MAX_CHANCE = (1 << 53) - 1
"""All readers of JSON keep numbers up to this one."""
MAX_SHUFFLES = 10_000
"""Far more than a game can have, far fewer than the state can count."""


# --- writing -----------------------------------------------------------------------------------------------------


def to_dict(state: np.void, components: Components, player: int | None = None) -> dict[str, Any]:
    """A position as plain data; with `player`, only what that player may know: other hands and the pile as counts, no
    `chance`."""
    n = int(state["num_players"])
    pile = [components.cards[kind] for kind in state["pile"][MAX_CARDS - int(state["pile_size"]) :]]
    played = [
        [components.cards[kind] for kind in cards[:count]]
        for cards, count in zip(state["played"][:n], state["played_cards"][:n], strict=True)
    ]
    in_trick = [(int(state["leader"]) + turn) % n for turn in range(int(state["in_trick"]))]
    chips = [(int(place), suit) for place, suit in zip(state["places"], components.suits, strict=False) if place]
    placed = [suit for _, suit in sorted(chips)]
    data = {
        "game": GAME,
        "rules": RULES[int(state["rule_set"])],
        "num_players": n,
        "start_player": int(state["start_player"]),
        "dealer": int(state["dealer"]),
        "phase": PHASES[int(state["phase"])],
        "turn": int(state["player"]),
        "fields": [int(field) for field in state["scores"][:n]],
        "trumps": [*placed, *[None] * (len(components.suits) - len(placed))],
        "hands": [
            names_of(state["hands"][p], components) if player in (None, p) else components.hand - len(played[p])
            for p in range(n)
        ],
        "voids": [
            [suit for number, suit in enumerate(components.suits) if int(state["voids"][p]) >> number & 1]
            for p in range(n)
        ],
        "trick": [[p, played[p][-1]] for p in in_trick],
        "played": played,
        "discards": names_of(state["discards"], components),
        "pile": pile if player is None else len(pile),
        "chance": int(state["chance"]),
        "shuffles": int(state["shuffles"]),
    }
    if player is not None:
        del data["chance"]
    return data


def names_of(cards: np.ndarray, components: Components) -> list[str]:
    """The cards of a set of cards (see `state.GROUPS`) by name, in deck order."""
    names = [
        f"{suit}-{value}"
        for number, suit in enumerate(components.suits)
        for value in range(1, components.values + 1)
        if int(cards[number]) >> value - 1 & 1
    ]
    return names + [name for number, name in enumerate(SUPER_TRUMPS) for _ in range(int(cards[KNIGHTS + number]))]


# --- reading -----------------------------------------------------------------------------------------------------


def from_dict(data: Any, components: Components) -> np.ndarray:
    """The position as a state: shape (1,), dtype `STATE`.

    Raises:
        ValueError: If anything is missing, unknown or doesn't add up; the message names it.
    """
    check_keys(data, KEYS)
    one_of("game", data["game"], (GAME,))
    states = np.zeros(1, STATE)
    state = states[0]
    n = whole_number("num_players", data["num_players"], 2, MAX_PLAYERS)
    state["num_players"] = n
    state["rule_set"] = one_of("rules", data["rules"], RULES)
    state["phase"] = one_of("phase", data["phase"], PHASES)
    for name, field in (("start_player", "start_player"), ("dealer", "dealer"), ("turn", "player")):
        state[field] = whole_number(name, data[name], 0, n - 1)
    state["chance"] = whole_number("chance", data["chance"], 0, MAX_CHANCE)
    state["shuffles"] = whole_number("shuffles", data["shuffles"], 0, MAX_SHUFFLES)
    _read_fields(data["fields"], state, components)
    _read_trumps(data["trumps"], state, components)
    _read_cards(data, state, components)
    _read_trick(data["trick"], state, components)
    _read_voids(data["voids"], state, components)
    return states


def _read_fields(fields: Any, state: np.void, components: Components) -> None:
    """Pawns: no two on one field, the start aside, and one on the last field just when the game is over."""
    last, over = components.fields, int(state["phase"]) == OVER
    places: dict[int, int] = {}
    for player, value in enumerate(list_of("fields", fields, int(state["num_players"]))):
        field = whole_number(f"fields[{player}]", value, 0, last)
        if field and field in places:
            raise ValueError(f"fields: the pawns of players {places[field]} and {player} both stand on field {field}")
        places[field] = player
        state["scores"][player] = field
    if over != (last in places):
        raise ValueError(f"fields: a pawn stands on field {last} when the game is over and only then, got {fields}")
    if int(state["phase"]) == SWORD_PHASE and fields[int(state["player"])] not in components.swords:
        raise ValueError(f"phase is sword, but the pawn of player {int(state['player'])} is on no sword: {fields}")


def _read_trumps(trumps: Any, state: np.void, components: Components) -> None:
    """Chips: each once, on the lowest places."""
    suits = components.suits
    for place, suit in enumerate(list_of("trumps", trumps, len(suits))):
        if suit is None:
            continue
        number = one_of(f"trumps[{place}]", suit, suits)
        if int(state["places"][number]):
            raise ValueError(f"trumps: {suit} is there twice")
        if place and trumps[place - 1] is None:
            raise ValueError(f"trumps: place {place} is empty, so that {suit} can't be on place {place + 1}")
        state["places"][number] = place + 1


def _read_cards(data: dict[str, Any], state: np.void, components: Components) -> None:
    """All cards: each where it may be, and in all as many as are in the box."""
    n, tables = int(state["num_players"]), find_game("royal").build_tables(components)[0]
    index = {card: kind for kind, card in enumerate(components.cards)}
    hands, played = (list_of(key, data[key], n) for key in ("hands", "played"))
    if any(type(cards) is int for cards in (*hands, data["pile"])):
        raise ValueError("hands and pile hold counts: this is what a player knows, not a whole position")
    hands = [_cards(f"hands[{player}]", cards, index) for player, cards in enumerate(hands)]
    played = [_cards(f"played[{player}]", cards, index) for player, cards in enumerate(played)]
    discards, pile = (_cards(key, data[key], index) for key in ("discards", "pile"))
    trick = []
    for nth, entry in enumerate(list_of("trick", data["trick"])):
        if not isinstance(entry, list) or len(entry) != 2:
            raise ValueError(f"trick[{nth}] must be a list of player and card, got {shown(entry)}")
        whole_number(f"trick[{nth}]: player", entry[0], 0, n - 1)
        trick += _cards(f"trick[{nth}]", entry[1:], index)
    have = Counter([*(kind for hand in hands for kind in hand), *trick, *discards, *pile])
    for kind, copies in enumerate(components.copies):
        if have[kind] != copies:
            raise ValueError(
                f"{components.cards[kind]} must be {_times(copies)} in hands, trick, discards and pile together, "
                f"got it {_times(have[kind])}"
            )
    over = Counter(kind for cards in played for kind in cards) - Counter(trick + discards)
    if over:
        raise ValueError(f"played: {components.cards[min(over)]} is neither in the trick nor in the discards")
    for player in range(n):
        if len(hands[player]) + len(played[player]) != components.hand:
            raise ValueError(
                f"player {player} must have {components.hand} cards in hands and played together, "
                f"got {len(hands[player])} and {len(played[player])}"
            )
    round_size = n * components.hand
    deals, rest = divmod(len(components.deck) - len(pile), round_size)
    if rest or not deals:
        sizes = range(len(components.deck) - round_size, -1, -round_size)
        raise ValueError(f"pile must have {' or '.join(map(str, sizes))} cards, got {len(pile)}")
    state["pile"] = state["played"] = -1
    state["pile"][MAX_CARDS - len(pile) :] = pile
    state["pile_size"] = len(pile)
    for player in range(n):
        state["played"][player, : len(played[player])] = played[player]
        state["played_cards"][player] = len(played[player])
        for kind in hands[player]:
            put(tables, state["hands"][player], kind)
    for kind in discards:
        put(tables, state["discards"], kind)


def _cards(name: str, cards: Any, index: dict[str, int]) -> list[int]:
    for card in list_of(name, cards):
        if not isinstance(card, str) or card not in index:
            raise ValueError(f"{name}: there is no card {shown(card)}; the cards are {_listed(index)}")
    return [index[card] for card in cards]


def _listed(index: dict[str, int]) -> str:
    suits = dict.fromkeys(card.partition("-")[0] for card in index if card not in SUPER_TRUMPS)
    values = (len(index) - len(SUPER_TRUMPS)) // len(suits)
    return f"{', '.join(f'{suit}-1 to {suit}-{values}' for suit in suits)}, {', '.join(SUPER_TRUMPS)}"


def _times(count: int) -> str:
    return {0: "nowhere", 1: "once", 2: "twice"}.get(count, f"{count} times")


def _read_trick(trick: list[Any], state: np.void, components: Components) -> None:
    """The trick: whose cards lie in it, who leads it, and who is to move."""
    n, turn, phase = int(state["num_players"]), int(state["player"]), int(state["phase"])
    start, first = int(state["start_player"]), (int(state["dealer"]) + 1) % n
    counts = [int(count) for count in state["played_cards"][:n]]
    if phase != TRICK_PHASE and trick:
        raise ValueError(f"phase is {PHASES[phase]}: trick must be empty, got {shown(trick)}")
    if phase == OVER and turn != start:
        raise ValueError(f"when the game is over turn is the start player, {start}, got {turn}")
    leader = trick[0][0] if trick else turn
    order = [(leader + seat) % n for seat in range(n)]
    if len(trick) >= n or [player for player, _ in trick] != order[: len(trick)]:
        raise ValueError(f"trick must have cards of players one after the other, not of all, got {shown(trick)}")
    if phase == TRICK_PHASE and turn != order[len(trick)]:
        raise ValueError(f"turn must be the player left of those in the trick, {order[len(trick)]}, got {turn}")
    tricks = counts[turn]
    for player in range(n):
        due = tricks + (player in order[: len(trick)])
        if counts[player] != due:
            raise ValueError(f"played[{player}] must have {counted(due, 'card')} at this point, got {counts[player]}")
    fewest, most = int(phase == OVER), components.hand - (phase != OVER)
    if not fewest <= tricks <= most:
        raise ValueError(f"played: {tricks} tricks of this deal can't be over in phase {PHASES[phase]}")
    if phase == TRICK_PHASE and not tricks and leader != first:
        raise ValueError(f"player {first}, left of the dealer, leads the first trick of a deal, got player {leader}")
    clear_trick(state)
    for player, card in trick:
        if components.cards[int(state["played"][player, counts[player] - 1])] != card:
            raise ValueError(f"trick: {card} isn't the last card in played[{player}]")
        add_to_trick(find_game("royal").build_tables(components)[0], state, player, components.cards.index(card))
    if phase == OVER:
        leader = start
    state["leader"] = first if phase == SWORD_PHASE and not tricks else leader


def _read_voids(voids: Any, state: np.void, components: Components) -> None:
    """Voids: just what the tricks since the deal have shown, whoever took them, and true of the hands.

    Chips may have been placed or swapped since a trick was taken, so that there may be several who could have taken it.
    """
    n, phase, in_trick = int(state["num_players"]), int(state["phase"]), int(state["in_trick"])
    marked = []
    for player, names in enumerate(list_of("voids", voids, n)):
        suits = [one_of(f"voids[{player}]", suit, components.suits) for suit in list_of(f"voids[{player}]", names)]
        if len(set(suits)) != len(suits):
            raise ValueError(f"voids[{player}]: a suit is there twice, got {shown(names)}")
        for suit in suits:
            if int(state["hands"][player, suit]):
                raise ValueError(f"voids[{player}]: player {player} has {components.suits[suit]} in hand")
        marked.append(sum(1 << suit for suit in suits))
    state["voids"][:n] = marked
    group = find_game("royal").build_tables(components)[0]["group"].tolist()
    played = state["played"][:n].tolist()
    seats = [[(leader + seat) % n for seat in range(n)] for leader in range(n)]
    ways = {((int(state["dealer"]) + 1) % n, (0,) * n)}  # who may lead next, and what has been shown by then
    for nth in range(int(state["played_cards"][int(state["player"])])):
        after = set()
        for leader, voids_before in ways:
            cards = [(player, played[player][nth]) for player in seats[leader]]
            shown_voids = _voids_after(voids_before, cards, group)
            if shown_voids and all(shown & ~known == 0 for shown, known in zip(shown_voids, marked, strict=True)):
                after |= {(taker, shown_voids) for taker in _takers(cards, group, state)}
        ways = after
    if not ways:
        raise ValueError("voids: whoever took the tricks of this deal, somebody who hasn't followed isn't marked")
    fresh = not int(state["played_cards"][int(state["player"])])
    taker = {TRICK_PHASE: int(state["leader"]), SWORD_PHASE: int(state["player"])}.get(phase)
    if taker is None:
        taker = state["scores"][:n].tolist().index(components.fields)
    ways = {(leader, shown) for leader, shown in ways if leader == taker or (fresh and phase == SWORD_PHASE)}
    if not ways:
        raise ValueError(f"player {taker} can't have taken the last trick")
    cards = [(player, played[player][int(state["played_cards"][player]) - 1]) for player in seats[taker][:in_trick]]
    led = int(state["led"])
    for player, kind in cards:
        if 0 <= led != group[kind] and not marked[player] >> led & 1:
            raise ValueError(
                f"voids: player {player} hasn't followed {components.suits[led]} and must be marked void of it"
            )
    if {_voids_after(shown, cards, group) for _, shown in ways}.isdisjoint({tuple(marked)}):
        raise ValueError("voids must be the suits that a player hasn't followed since the deal, got others")


def _voids_after(voids: tuple[int, ...], cards: list[tuple[int, int]], group: list[int]) -> tuple[int, ...] | None:
    """What is known after some cards of one trick; None if somebody played a suit that they had been without."""
    led = group[cards[0][1]] if cards else KNIGHTS
    after = list(voids)
    for player, kind in cards:
        if group[kind] < KNIGHTS and after[player] >> group[kind] & 1:
            return None
        if led < KNIGHTS and group[kind] != led:
            after[player] |= 1 << led
    return tuple(after)


def _takers(cards: list[tuple[int, int]], group: list[int], state: np.void) -> set[int]:
    """Who can have taken a trick: its highest card of the suit that was led, or of a suit whose chip is placed now; of
    super-trumps it is certain."""
    holder: tuple[int, int] | None = None
    for player, kind in cards:
        if group[kind] >= KNIGHTS and (holder is None or group[kind] != group[holder[1]]):
            holder = player, kind
    if holder is not None:
        return {holder[0]}
    highest: dict[int, tuple[int, int]] = {}
    for player, kind in cards:
        suit = group[kind]
        if suit == group[cards[0][1]] or int(state["places"][suit]):
            highest[suit] = max(highest.get(suit, (-1, -1)), (kind, player))
    return {player for _, player in highest.values()}
