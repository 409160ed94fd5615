"""Positions as JSON: `to_dict` writes one, `from_dict` reads one and says what is wrong with it.

`from_dict` checks the accounting: every card and figure once, ring sums, hand and pile sizes that fit phase, turn and
`left`. It doesn't ask whether the scores or the rings could have come about.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from artus_env.authoring import check_keys, counted, list_of, one_of, shown, whole_number
from artus_env.games.artus.components import (
    COLOURS,
    MAX_PLAYERS,
    NUM_KNIGHTS,
    NUM_SEATS,
    PILES,
    RULE_SETS,
    RULES,
    Components,
)
from artus_env.games.artus.state import DRAW_PHASE, OVER, PHASES, PLACE_PHASE, PLAY_PHASE, STATE

KEYS = ("rules", "num_players", "start_player", "phase", "turn", "left", "seats", "hands", "piles", "played", "scores")
MAX_SCORE = 100_000


def to_dict(state: np.void, components: Components, player: int | None = None) -> dict[str, Any]:
    """A position as plain data; with `player`, only what that player may know.

    What he may not know is given as counts for each back: the other hands, and all piles, his own included.
    """
    n = int(state["num_players"])
    seats: list[dict[str, Any] | None] = [None] * NUM_SEATS
    for owner in range(n):
        for seat in range(NUM_SEATS):
            if int(state["knights"][owner]) >> seat & 1:
                seats[seat] = {"knight": owner}
    for royal in range(4):
        kind = "king" if royal == int(state["king"]) else "prince"
        seats[int(state["royals"][royal])] = {kind: COLOURS[royal // 2], "rings": int(state["rings"][royal])}
    hidden = player is not None
    return {
        "rules": RULES[int(state["rule_set"])],
        "num_players": n,
        "start_player": int(state["start_player"]),
        "phase": PHASES[int(state["phase"])],
        "turn": int(state["player"]),
        "left": int(state["left"]),
        "seats": seats,
        "hands": [
            _backs(_hand(state, components, p), components) if hidden and p != player else _hand(state, components, p)
            for p in range(n)
        ],
        "piles": [
            {pile: len(cards) if hidden else cards for pile, cards in _piles(state, components, p).items()}
            for p in range(n)
        ],
        "played": [[components.cards[card].name for card in state["history"][p] if card >= 0] for p in range(n)],
        "scores": [int(score) for score in state["scores"][:n]],
    }


def _hand(state: np.void, components: Components, player: int) -> list[str]:
    return [card.name for position, card in enumerate(components.deck) if int(state["hands"][player]) >> position & 1]


def _backs(hand: list[str], components: Components) -> dict[str, int]:
    back = {card.name: card.pile for card in components.cards}
    return {pile: sum(back[name] == pile for name in hand) for pile in PILES}


def _piles(state: np.void, components: Components, player: int) -> dict[str, list[str]]:
    cards = [(components.cards[card]) for card in state["piles"][player] if card >= 0]
    return {pile: [card.name for card in cards if card.pile == pile] for pile in PILES}


def from_dict(data: Any, components: Components) -> np.ndarray:
    """The position as a state: shape (1,), dtype `STATE`.

    Raises:
        ValueError: If anything is missing, unknown or doesn't add up; the message names it.
    """
    check_keys(data, KEYS)
    states = np.zeros(1, STATE)
    state = states[0]
    n = whole_number("num_players", data["num_players"], 2, MAX_PLAYERS)
    state["num_players"] = n
    state["rule_set"] = one_of("rules", data["rules"], RULES)
    state["phase"] = one_of("phase", data["phase"], PHASES)
    state["start_player"] = whole_number("start_player", data["start_player"], 0, n - 1)
    state["player"] = whole_number("turn", data["turn"], 0, n - 1)
    state["left"] = whole_number("left", data["left"], 0, 2)
    for player, score in enumerate(list_of("scores", data["scores"], n)):
        state["scores"][player] = whole_number(f"scores[{player}]", score, -MAX_SCORE, MAX_SCORE)
    _read_seats(data["seats"], state)
    _read_cards(data, state, components)
    _check_course(state, components)
    return states


def _read_seats(seats: Any, state: np.void) -> None:
    n = int(state["num_players"])
    royals: dict[str, list[tuple[int, int]]] = {colour: [] for colour in COLOURS}
    kings = []
    for seat, figure in enumerate(list_of("seats", seats, NUM_SEATS)):
        name = f"seats[{seat}]"
        if figure is None:
            continue
        if not isinstance(figure, dict):
            raise ValueError(f"{name} must be null or a figure, got {shown(figure)}")
        if set(figure) == {"knight"}:
            owner = whole_number(f"{name}: knight", figure["knight"], 0, n - 1)
            state["knights"][owner] |= 1 << seat
        elif set(figure) in ({"prince", "rings"}, {"king", "rings"}):
            king = "king" in figure
            colour = figure["king" if king else "prince"]
            one_of(f"{name}: colour", colour, COLOURS)
            rings = figure["rings"]
            if type(rings) is not int or (rings != 3 if king else rings not in (1, 2)):
                raise ValueError(
                    f"{name}: a {'king has 3 rings' if king else 'prince has 1 or 2 rings'}, got {shown(rings)}"
                )
            if king:
                kings.append(seat)
            royals[colour].append((seat, rings))
        else:
            raise ValueError(f'{name}: a figure is {{"knight": player}}, {{"prince": colour, "rings": 1 or 2}} '
                                f'or {{"king": colour, "rings": 3}}, got {shown(figure)}')  # fmt: skip
    if len(kings) != 1:
        raise ValueError(f"there must be exactly one king, got {len(kings)}" + (f" on seats {kings}" if kings else ""))
    for index, colour in enumerate(COLOURS):
        if len(royals[colour]) != 2:
            raise ValueError(f"there must be two {colour} royals (princes and king), got {len(royals[colour])}")
        for nth, (seat, rings) in enumerate(royals[colour]):
            royal = 2 * index + nth
            state["royals"][royal], state["rings"][royal] = seat, rings
            if rings == 3:
                state["king"] = royal


def _read_cards(data: dict[str, Any], state: np.void, components: Components) -> None:
    n = int(state["num_players"])
    index = {card.name: number for number, card in enumerate(components.cards)}
    state["piles"] = state["history"] = -1
    hands, piles, played = (list_of(key, data[key], n) for key in ("hands", "piles", "played"))
    full = [card for card in components.deck if card.pile in RULE_SETS[RULES[int(state["rule_set"])]].piles]
    for player in range(n):
        if isinstance(hands[player], dict):
            raise ValueError(f"hands[{player}] are counts: this is what a player knows, not a whole position")
    for player in range(n):
        hand = _cards(hands[player], f"hands[{player}]", index)
        out = _cards(played[player], f"played[{player}]", index)
        if not isinstance(piles[player], dict) or set(piles[player]) != set(PILES):
            raise ValueError(f"piles[{player}] must be an object with {', '.join(PILES)}, got {shown(piles[player])}")
        left = {pile: _cards(piles[player][pile], f"piles[{player}].{pile}", index) for pile in PILES}
        for pile, cards in left.items():
            for name in cards:
                if components.cards[index[name]].pile != pile:
                    raise ValueError(f"piles[{player}].{pile}: {name} is no {pile} card")
        have = Counter(hand + out + [name for cards in left.values() for name in cards])
        wanted = Counter(card.name for card in full)
        for name in sorted(set(have) | set(wanted), key=lambda name: index[name]):
            if have[name] != wanted[name]:
                raise ValueError(
                    f"player {player} must have {name} {_times(wanted[name])} in hand, piles and played cards "
                    "together, "
                    f"got it {_times(have[name])}"
                )
        state["hands"][player], state["played"][player] = _card_set(hand, components), _card_set(out, components)
        state["history"][player, : len(out)] = [index[name] for name in out]
        end = 0
        for number, pile in enumerate(PILES):
            cards = left[pile]
            end += components.pile_sizes[number]
            state["pile_sizes"][player, number] = len(cards)
            state["piles"][player, end - len(cards) : end] = [index[name] for name in cards]


def _card_set(names: list[str], components: Components) -> int:
    """Cards as a set of places in the deck; copies fill from the first."""
    deck = [card.name for card in components.deck]
    return sum(1 << deck.index(name) + nth for name, count in Counter(names).items() for nth in range(count))


def _cards(cards: Any, name: str, index: dict[str, int]) -> list[str]:
    for card in list_of(name, cards):
        if not isinstance(card, str) or card not in index:
            raise ValueError(f"{name}: there is no card {shown(card)}; the cards are {' '.join(index)}")
    return list(cards)


def _times(count: int) -> str:
    return {0: "nowhere", 1: "once", 2: "twice"}.get(count, f"{count} times")


def _check_course(state: np.void, components: Components) -> None:
    """Whether figures, hands and piles fit phase, turn and `left`."""
    n, start, turn = (int(state[name]) for name in ("num_players", "start_player", "player"))
    phase, left, rules = int(state["phase"]), int(state["left"]), RULE_SETS[RULES[int(state["rule_set"])]]
    a_turn = rules.a_turn
    knights = [int(board).bit_count() for board in state["knights"][:n]]
    if phase == PLACE_PHASE:
        order = [(start - 1 - place) % n for place in range(n)]  # counter-clockwise, the start player last
        due = order.index(turn)
        rounds = knights[start]
        expected = {player: rounds + (place < due) for place, player in enumerate(order)}
        if rounds >= NUM_KNIGHTS[n]:
            raise ValueError(
                f"phase is place, but player {start}, who places last, has all his {NUM_KNIGHTS[n]} knights"
            )
        _expect_left(left, (1,), "place")
    else:
        expected = dict.fromkeys(range(n), NUM_KNIGHTS[n])
    for player in range(n):
        if knights[player] != expected[player]:
            raise ValueError(
                f"player {player} must have {counted(expected[player], 'knight')} on the table, got {knights[player]}"
            )

    hand_size = 2 * rules.dealt
    total = components.deck_size(rules)
    draws = total - hand_size
    played = [int(cards).bit_count() for cards in state["played"][:n]]
    if phase == OVER:
        _expect_left(left, (0,), "over")
        if turn != start:
            raise ValueError(f"when the game is over turn is the start player, {start}, got {turn}")
        rounds = total // a_turn
        in_turn = drawn_in_turn = 0
    elif phase == PLAY_PHASE:
        _expect_left(left, range(1, a_turn + 1), "play")
        in_turn, drawn_in_turn = a_turn - left, 0
        rounds = (played[turn] - in_turn) // a_turn
    elif phase == DRAW_PHASE:
        _expect_left(left, range(1, a_turn + 1), "draw")
        in_turn, drawn_in_turn = a_turn, a_turn - left
        rounds = played[turn] // a_turn - 1
    else:
        rounds = in_turn = drawn_in_turn = 0
    if rounds < 0:
        raise ValueError(
            f"player {turn} has played too few cards ({played[turn]}) for phase {PHASES[phase]}, left {left}"
        )
    for player in range(n):
        place = (player - start) % n
        turns = rounds + (phase != PLACE_PHASE and place < (turn - start) % n)
        mover = player == turn
        plays = a_turn * turns + (in_turn if mover else 0)
        drawn = min(a_turn * turns, draws) + (drawn_in_turn if mover else 0)
        if mover and phase == DRAW_PHASE and drawn + left > draws:
            raise ValueError(f"phase is draw, but player {player} has no cards left to draw")
        if mover and phase == PLAY_PHASE and plays + left > total:
            raise ValueError(f"phase is play, but player {player} has no cards left to play")
        sizes = [int(size) for size in state["pile_sizes"][player]]
        _expect_count(player, "played cards", played[player], plays)
        _expect_count(player, "cards in hand", int(state["hands"][player]).bit_count(), hand_size + drawn - plays)
        _expect_count(player, "cards in the piles", sum(sizes), draws - drawn)
        for pile in (0, 1):
            most = components.pile_sizes[pile] - rules.dealt
            if sizes[pile] > most:
                raise ValueError(
                    f"player {player}: {rules.dealt} cards of the {PILES[pile]} pile are dealt, "
                    f"so that at most {most} can lie there, got {sizes[pile]}"
                )


def _expect_left(left: int, allowed: Any, phase: str) -> None:
    if left not in allowed:
        raise ValueError(f"left must be {' or '.join(map(str, allowed))} in phase {phase}, got {left}")


def _expect_count(player: int, what: str, count: int, expected: int) -> None:
    if count != expected:
        raise ValueError(f"player {player} must have {expected} {what} at this point of the game, got {count}")
