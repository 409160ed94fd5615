"""Positions as JSON, and their checks.

Checked: cards and figures are complete, princes have one or two rings and the King three, and hands and piles fit
phase, turn and `left`. Not checked: whether scores and rings can be reached.
"""

from __future__ import annotations

from collections import Counter
from itertools import accumulate
from typing import Any

import numpy as np

from artus_env.authoring import (
    SEAT,
    Choice,
    Number,
    Part,
    Positions,
    Row,
    counted,
    from_others,
    list_of,
    one_of,
    shown,
    some_of,
    whole_number,
)
from artus_env.games.artus.components import (
    COLOURS,
    MAX_CARDS,
    NUM_KNIGHTS,
    NUM_SEATS,
    PILES,
    RULE_SETS,
    RULES,
    Components,
)
from artus_env.games.artus.state import DRAW_PHASE, OVER, PHASES, PLACE_PHASE, PLAY_PHASE, STATE

MAX_SCORE = 100_000


def _names(components: Components) -> list[str]:
    return [card.name for card in components.cards]


class Figures:
    """Figures on the seats: knights, princes and the King."""

    def write(self, value: Any, state: np.void, components: Components) -> list[dict[str, Any] | None]:
        """A figure or null for each seat."""
        seats: list[dict[str, Any] | None] = [None] * NUM_SEATS
        for owner, board in enumerate(state["knights"][: int(state["num_players"])].tolist()):
            for seat in range(NUM_SEATS):
                if board >> seat & 1:
                    seats[seat] = {"knight": owner}
        for royal in range(4):
            kind = "king" if royal == int(state["king"]) else "prince"
            seats[int(state["royals"][royal])] = {kind: COLOURS[royal // 2], "rings": int(state["rings"][royal])}
        return seats

    def read(self, name: str, data: Any, state: np.void, components: Components) -> None:
        """Put the figures into the state."""
        royals: dict[str, list[tuple[int, int]]] = {colour: [] for colour in COLOURS}
        for seat, figure in enumerate(list_of(name, data, NUM_SEATS)):
            path, keys = f"{name}[{seat}]", set(figure) if isinstance(figure, dict) else None
            if keys == {"knight"}:
                owner = SEAT.read(f"{path}: knight", figure["knight"], state, components)
                state["knights"][owner] |= 1 << seat
            elif keys in ({"prince", "rings"}, {"king", "rings"}):
                is_king = "king" in figure
                colour = COLOURS[one_of(f"{path}: colour", figure["king" if is_king else "prince"], COLOURS)]
                low, high = (3, 3) if is_king else (1, 2)
                rings = whole_number(
                    f"{path}: rings of a {'king' if is_king else 'prince'}", figure["rings"], low, high
                )
                royals[colour].append((seat, rings))
            elif figure is not None:
                raise ValueError(f'{path} must be null, {{"knight": player}}, {{"prince": colour, "rings": 1 or 2}} '
                                 f'or {{"king": colour, "rings": 3}}, got {shown(figure)}')  # fmt: skip
        for colour, colour_royals in royals.items():
            if len(colour_royals) != 2:
                raise ValueError(f"there must be two {colour} royals (princes and king), got {len(colour_royals)}")
        all_royals = [royal for colour_royals in royals.values() for royal in colour_royals]
        state["royals"], state["rings"] = np.transpose(all_royals)
        kings = np.flatnonzero(state["rings"] == 3)
        if len(kings) != 1:
            raise ValueError(f"there must be exactly one king, got {len(kings)}")
        state["king"] = kings[0]


class Hand:
    """A set of cards: bits of the deck in the state, names in JSON. n copies of a card are its first n places in the
    deck."""

    def write(self, value: Any, state: np.void, components: Components) -> list[str]:
        """Names of the cards in the set, in deck order."""
        return [card.name for place, card in enumerate(components.deck) if int(value) >> place & 1]

    def read(self, name: str, data: Any, state: np.void, components: Components) -> int:
        """The set of the named cards, as bits of the deck."""
        cards = some_of(name, data, _names(components))
        return sum(1 << place for place in _places(name, cards, components))


def _places(name: str, cards: list[int], components: Components) -> list[int]:
    """Places of cards in the deck; n copies of a card are its first n places."""
    deck = [components.cards.index(card) for card in components.deck]
    for card, count in Counter(cards).items():
        if count > deck.count(card):
            raise ValueError(f"{name}: {components.cards[card].name} can't be there {_times(count)}")
    return [deck.index(card) + nth for card, count in Counter(cards).items() for nth in range(count)]


class Piles:
    """A player's piles, in JSON as the list of cards of each pile, the next card to draw first."""

    def write(self, value: Any, state: np.void, components: Components) -> dict[str, list[str]]:
        """Names of the cards by pile."""
        cards = [components.cards[card] for card in value.tolist() if card >= 0]
        return {pile: [card.name for card in cards if card.pile == pile] for pile in PILES}

    def read(self, name: str, data: Any, state: np.void, components: Components) -> list[int]:
        """The player's row of the state's `piles`: each pile at the end of its part."""
        if not isinstance(data, dict) or set(data) != set(PILES):
            raise ValueError(f"{name} must be an object with {', '.join(PILES)}, got {shown(data)}")
        row = [-1] * MAX_CARDS
        for pile, size, end in zip(PILES, components.pile_sizes, accumulate(components.pile_sizes), strict=True):
            cards = some_of(f"{name}.{pile}", data[pile], _names(components))
            for card in cards:
                if components.cards[card].pile != pile:
                    raise ValueError(f"{name}.{pile}: {components.cards[card].name} is no {pile} card")
            if len(cards) > size:
                raise ValueError(f"{name}.{pile} has at most {size} cards, got {len(cards)}")
            row[end - len(cards) : end] = cards
        return row


def _backs(state: np.void, seat: int, hand: list[str], components: Components) -> dict[str, int]:
    """Number of cards in a hand with each back."""
    pile_of = {card.name: card.pile for card in components.cards}
    return {pile: sum(pile_of[name] == pile for name in hand) for pile in PILES}


def check(state: np.void, components: Components) -> None:
    """Check that each player has all their cards, and that figures, hands and piles fit phase, turn and `left`.

    Raises:
        ValueError: If not; the message names the fault.
    """
    n, rules = int(state["num_players"]), RULE_SETS[RULES[int(state["rule_set"])]]
    state["piles"][n:] = state["history"][n:] = -1
    deck_counts = Counter(card.name for card in components.deck if card.pile in rules.piles)
    for player in range(n):
        history = [card for card in state["history"][player].tolist() if card >= 0]
        pile = [card for card in state["piles"][player].tolist() if card >= 0]
        hand = Hand().write(state["hands"][player], state, components)
        player_counts = Counter([*hand, *(components.cards[card].name for card in history + pile)])
        for name in _names(components):
            if player_counts[name] != deck_counts[name]:
                raise ValueError(
                    f"player {player} must have {name} {_times(deck_counts[name])} in hand, piles and played cards "
                    f"together, got it {_times(player_counts[name])}"
                )
        state["played"][player] = sum(1 << place for place in _places("played", history, components))
        backs = [components.cards[card].pile for card in pile]
        state["pile_sizes"][player] = [backs.count(back) for back in PILES]
    _check_course(state, components)


def _times(count: int) -> str:
    return {0: "nowhere", 1: "once", 2: "twice"}.get(count, f"{count} times")


def _check_course(state: np.void, components: Components) -> None:
    """Check that figures, hands and piles fit phase, turn and `left`."""
    n, start, turn = (int(state[name]) for name in ("num_players", "start_player", "player"))
    phase, left, rules = int(state["phase"]), int(state["left"]), RULE_SETS[RULES[int(state["rule_set"])]]
    cards_a_turn = rules.cards_a_turn
    knights = [int(board).bit_count() for board in state["knights"][:n]]
    if phase == PLACE_PHASE:
        order = [(start - 1 - place) % n for place in range(n)]  # counter-clockwise, the start player last
        mover_place = order.index(turn)
        rounds = knights[start]
        expected = {player: rounds + (place < mover_place) for place, player in enumerate(order)}
        if rounds >= NUM_KNIGHTS[n]:
            raise ValueError(f"phase is place, but player {start}, who places last, has all {NUM_KNIGHTS[n]} knights")
        _expect_left(left, (1,), "place")
    else:
        expected = dict.fromkeys(range(n), NUM_KNIGHTS[n])
    for player in range(n):
        if knights[player] != expected[player]:
            raise ValueError(
                f"player {player} must have {counted(expected[player], 'knight')} on the table, got {knights[player]}"
            )

    hand_size = 2 * rules.dealt_per_pile
    deck_size = components.deck_size(rules)
    total_draws = deck_size - hand_size
    played = [int(cards).bit_count() for cards in state["played"][:n]]
    if phase == OVER:
        _expect_left(left, (0,), "over")
        if turn != start:
            raise ValueError(f"when the game is over turn is the start player, {start}, got {turn}")
        rounds = deck_size // cards_a_turn
        played_in_turn = drawn_in_turn = 0
    elif phase == PLAY_PHASE:
        _expect_left(left, range(1, cards_a_turn + 1), "play")
        played_in_turn, drawn_in_turn = cards_a_turn - left, 0
        rounds = (played[turn] - played_in_turn) // cards_a_turn
    elif phase == DRAW_PHASE:
        _expect_left(left, range(1, cards_a_turn + 1), "draw")
        played_in_turn, drawn_in_turn = cards_a_turn, cards_a_turn - left
        rounds = played[turn] // cards_a_turn - 1
    else:
        rounds = played_in_turn = drawn_in_turn = 0
    if rounds < 0:
        raise ValueError(
            f"player {turn} has played too few cards ({played[turn]}) for phase {PHASES[phase]}, left {left}"
        )
    for player in range(n):
        place = (player - start) % n
        turns = rounds + (phase != PLACE_PHASE and place < (turn - start) % n)
        to_move = player == turn
        expected_played = cards_a_turn * turns + (played_in_turn if to_move else 0)
        expected_drawn = min(cards_a_turn * turns, total_draws) + (drawn_in_turn if to_move else 0)
        if to_move and phase == DRAW_PHASE and expected_drawn + left > total_draws:
            raise ValueError(f"phase is draw, but player {player} has no cards left to draw")
        if to_move and phase == PLAY_PHASE and expected_played + left > deck_size:
            raise ValueError(f"phase is play, but player {player} has no cards left to play")
        sizes = [int(size) for size in state["pile_sizes"][player]]
        _expect_count(player, "played cards", played[player], expected_played)
        _expect_count(
            player,
            "cards in hand",
            int(state["hands"][player]).bit_count(),
            hand_size + expected_drawn - expected_played,
        )
        _expect_count(player, "cards in the piles", sum(sizes), total_draws - expected_drawn)
        for pile in (0, 1):
            max_size = components.pile_sizes[pile] - rules.dealt_per_pile
            if sizes[pile] > max_size:
                raise ValueError(
                    f"player {player}: {rules.dealt_per_pile} cards of the {PILES[pile]} pile are dealt, "
                    f"so that at most {max_size} can lie there, got {sizes[pile]}"
                )


def _expect_left(left: int, allowed: Any, phase: str) -> None:
    if left not in allowed:
        raise ValueError(f"left must be {' or '.join(map(str, allowed))} in phase {phase}, got {left}")


def _expect_count(player: int, card_group: str, count: int, expected: int) -> None:
    if count != expected:
        raise ValueError(f"player {player} must have {expected} {card_group} at this point of the game, got {count}")


POSITIONS = Positions(
    "artus",
    RULES,
    STATE,
    [
        Part("start_player", SEAT),
        Part("phase", Choice(PHASES)),
        Part("turn", SEAT, "player"),
        Part("left", Number(0, 2)),
        Part("seats", Figures(), None),
        Part("hands", Hand(), by_seat=True, hidden=from_others, count=_backs),
        Part("piles", Piles(), by_seat=True, hidden=lambda state, seat, viewer: True,
             count=lambda state, seat, cards_by_pile, components: {
                 pile: len(cards) for pile, cards in cards_by_pile.items()
             }),
        Part("played", Row(_names, MAX_CARDS), "history", by_seat=True),
        Part("scores", Number(-MAX_SCORE, MAX_SCORE), by_seat=True),
    ],
    check=check,
    named=False,
)  # fmt: skip
"""Form of positions in records and requests."""
