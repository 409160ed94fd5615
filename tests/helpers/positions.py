"""Positions of Artus drawn on one line, for tests that read like the rule they check.

A drawing names the 28 seats clockwise from seat 0, with a bar before each further crown seat (7, 14, 21):

    Ks .  .  A  B  .  .  | b1 .  .  A  .  .  .  | s2 .  B  A  B  A  .  | b1 .  .  B  A  .  B

`A`..`D` are knights of players 0..3, `s1` is a silver prince with one ring, `b2` a bronze one with two, `Ks` and `Kb`
the King, `.` an empty seat.
"""

from __future__ import annotations

import random
from collections import Counter

KNIGHT_CARDS = ["k1-4", "k2-5", "k3-6", "k4-7", "k5-7", "k6-8", "k7-9", "k1-5b"]
KING_CARDS = ["any4-8", "silver1-7", "bronze1-7", "any1-5b", "ring-silver", "ring-bronze", "ring-any", "ring-any"]
SCORING_CARDS = ["all", "reversed", "colors", "carpet", "reds", "choice"]
BACKS = {"knight": KNIGHT_CARDS, "king": KING_CARDS, "scoring": SCORING_CARDS}
DECK = KNIGHT_CARDS + KING_CARDS + SCORING_CARDS
BACK = {card: back for back, cards in BACKS.items() for card in cards}

PLATES = [0, 10, 8, 7, 6, 5, 4, 3, 2, 1, -1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12, -13, -14, -15, 0, 0, 0]
"""Plates of the wheel from the crown backward (counter-clockwise)."""
YELLOW = [27, 26, 25]
"""The three yellow plates, counted the same way; the first is the one right in front of the King."""


# --- prospects -------------------------------------------------------------------------------------------------------


def prospects(position: dict, player: int) -> list[int]:
    """The result of `evaluation.prospects`, from the plain data of a position.

    Returns:
        The player's score; value of their seats; value of the others' seats; points that their remaining cards would
        bring; the same for the others; points of the best card in their hand; points of the next player's best
        remaining card. Then, for each opponent except the last: value of their seats, points of their remaining cards,
        points of the following opponent's best card. 0 for missing opponents.
    """
    players = position["num_players"]
    cards = [left_to_play(position, who) for who in range(players)]
    others = [(player + turn) % players for turn in range(1, players)]  # in turn order
    seats = [sum(knights_on(position, who)) for who in others]
    sums = [card_sum(position, who, cards[who]) for who in others]
    best = [max((brought(position, who, card) for card in cards[who]), default=0) for who in others]
    by_opponent = [number for k in range(len(others) - 1) for number in (seats[k], sums[k], best[k + 1])]
    return [
        position["scores"][player],
        sum(knights_on(position, player)),
        sum(seats),
        card_sum(position, player, cards[player]),
        sum(sums),
        max((brought(position, player, card) for card in position["hands"][player]), default=0),
        best[0],
        *by_opponent,
        *(6 - len(by_opponent)) * [0],
    ]


def left_to_play(position: dict, player: int) -> list[str]:
    """Cards that a player hasn't played yet, in hand or in piles."""
    cards = list(DECK if position["rules"] == "advanced" else KNIGHT_CARDS + KING_CARDS)
    for card in position["played"][player]:
        cards.remove(card)
    return cards


def values_of(position: dict, counts) -> list[int]:
    """Values of the seats with figures for which `counts` is true."""
    king = next(seat for seat, figure in enumerate(position["seats"]) if figure and "king" in figure)
    return [PLATES[(king - seat) % 28] for seat, figure in enumerate(position["seats"]) if figure and counts(figure)]


def knights_on(position: dict, player: int) -> list[int]:
    return values_of(position, lambda figure: figure.get("knight") == player)


def card_sum(position: dict, player: int, cards: list[str]) -> int:
    """Points that cards would bring a player now: the knight cards with different knights, any other card by itself."""
    knights = sorted(knights_on(position, player), reverse=True)
    knight_cards = [card for card in cards if BACK[card] == "knight"]
    return sum(knights[: len(knight_cards)]) + sum(
        brought(position, player, card) for card in cards if card not in knight_cards
    )


def brought(position: dict, player: int, card: str) -> int:
    """The most that a card would bring a player now."""
    values = knights_on(position, player)
    red = sorted((value for value in values if value < 0), reverse=True)
    colour = next((name for name in ("silver", "bronze") if card.removeprefix("ring-").startswith(name)), None)
    princes = values_of(position, lambda figure: "prince" in figure and colour in (None, figure["prince"]))
    kings = values_of(position, lambda figure: "king" in figure and colour in (None, figure["king"]))
    if BACK[card] == "knight":
        return max(values, default=0)
    if BACK[card] == "king":
        return max(princes if card.startswith("ring") else princes + kings)
    if card in ("all", "reversed"):
        return sum(values) if card == "all" else -sum(values)
    if card == "reds":
        return sum(red[:3]) if len(red) >= 3 else -50
    if card == "colors":
        green = [value for value in values if value > 0]
        return max(green) + red[0] if green and red and 0 in values else -15
    if card == "carpet":
        king = next(seat for seat, figure in enumerate(position["seats"]) if figure and "king" in figure)
        seats = [s for s, figure in enumerate(position["seats"]) if figure and figure.get("knight") == player]
        on_carpet = sorted((PLATES[(king - s) % 28] for s in seats if s in (0, 1, 2, 14, 15, 16)), reverse=True)
        return sum(on_carpet[:2]) if len(on_carpet) >= 2 else -25
    return max([*values, *princes, *kings])  # choice


# --- the round table ------------------------------------------------------------------------------------------------


def seats(drawing: str) -> list[dict | None]:
    """The seats of a position from its drawing."""
    tokens = drawing.replace("|", " ").split()
    assert len(tokens) == 28, f"{len(tokens)} seats drawn"
    return [_figure(token) for token in tokens]


def _figure(token: str) -> dict | None:
    colours = {"s": "silver", "b": "bronze"}
    if token == ".":
        return None
    if token in "ABCD":
        return {"knight": "ABCD".index(token)}
    if token[0] == "K":
        return {"king": colours[token[1]], "rings": 3}
    return {"prince": colours[token[0]], "rings": int(token[1])}


def drawing(position: dict) -> str:
    """The drawing of a position, in the form that `tidy` returns."""
    return tidy(" ".join(map(_token, position["seats"])))


def _token(figure: dict | None) -> str:
    if figure is None:
        return "."
    if "knight" in figure:
        return "ABCD"[figure["knight"]]
    return f"K{figure['king'][0]}" if "king" in figure else f"{figure['prince'][0]}{figure['rings']}"


def tidy(drawing: str) -> str:
    """A drawing with even spaces and bars."""
    tokens = [f"{token:<2}" for token in drawing.replace("|", " ").split()]
    return " | ".join(" ".join(tokens[crown : crown + 7]) for crown in (0, 7, 14, 21))


def around(king: str, king_seat: int = 0, **figures: list[int]) -> str:
    """A drawing from the values of the figures' seats, e.g. `around("Kb", s2=[3], A=[5, 4])`. A value of 0 means the
    next free yellow plate, counted from the King."""
    tokens = ["."] * 28
    tokens[king_seat] = king
    yellow = iter(YELLOW)
    for figure, values in figures.items():
        for value in values:
            seat = (king_seat - (PLATES.index(value) if value else next(yellow))) % 28
            assert tokens[seat] == ".", f"two figures on {value}"
            tokens[seat] = figure
    return tidy(" ".join(tokens))


# --- the course of the game ----------------------------------------------------------------------------------------


def counts(
    rules: str, players: int, start: int, phase: str, turn: int, left: int, rounds: int
) -> list[tuple[int, int]]:
    """For each player (number of cards played, number of cards drawn) after `rounds` whole rounds and this turn's
    decisions so far."""
    cards_a_turn, all_draws = (1, 12) if rules == "beginner" else (2, 16)
    result = []
    for player in range(players):
        had_turn = phase in ("play", "draw") and (player - start) % players < (turn - start) % players
        played = cards_a_turn * (rounds + had_turn)
        drawn = min(played, all_draws)
        if player == turn and phase == "play":
            played += cards_a_turn - left
        elif player == turn and phase == "draw":
            played += cards_a_turn
            drawn += cards_a_turn - left
        result.append((played, drawn))
    return result


def last_round(rules: str, hand: int, left: int) -> int:
    """The latest round in which a player has `hand` cards in hand, with `left` of them still to play in this turn."""
    cards_a_turn, dealt, draws, rounds = (1, 4, 12, 16) if rules == "beginner" else (2, 6, 16, 11)
    for number in range(rounds - 1, -1, -1):
        if dealt + min(cards_a_turn * number, draws) - cards_a_turn * number - (cards_a_turn - left) == hand:
            return number
    raise AssertionError(f"nobody has {hand} cards in hand with {left} to play")


def position(
    table: str,
    hand: list[str] | None = None,
    *,
    rules: str = "beginner",
    players: int | None = None,
    start: int = 0,
    phase: str = "play",
    turn: int = 0,
    left: int | None = None,
    rounds: int | None = None,
    hands: dict[int, list[str]] | None = None,
    piles: dict[int, dict[str, list[str]]] | None = None,
    scores: list[int] | None = None,
    shuffle: random.Random | None = None,
) -> dict:
    """A whole position from a drawing and the cards that a test needs; all other cards go where the rules allow.

    Args:
        hand: Cards that the player to move holds. Without `rounds` they are the whole hand, as late as possible in the
            game.
        left: Number of cards still to play or draw; the full number of the turn if not given.
        rounds: Number of whole rounds that have been played.
        hands: Cards that players must hold, by player.
        piles: Cards that must lie on top of players' piles, the next one first, by player and back.
        shuffle: Random generator that places the other cards; None: always the same order.
    """
    figures = seats(table)
    owners = [figure["knight"] for figure in figures if figure and "knight" in figure]
    players = players or max(1, *owners) + 1
    cards_a_turn = 1 if rules == "beginner" else 2
    if left is None:
        left = {"place": 1, "over": 0}.get(phase, cards_a_turn)
    hands = dict(hands or {})
    if hand is not None:
        hands[turn] = hand
    if rounds is None:
        rounds = last_round(rules, len(hands[turn]), left) if phase == "play" else 0
        if phase == "over":
            rounds = 16 if rules == "beginner" else 11
    stacks = []
    for player, (played, drawn) in enumerate(counts(rules, players, start, phase, turn, left, rounds)):
        stacks.append(
            _cards(
                rules, played, drawn, hands.get(player, []), (piles or {}).get(player, {}), shuffle or random.Random(0)
            )
        )
    return {
        "rules": rules,
        "num_players": players,
        "start_player": start,
        "phase": phase,
        "turn": turn,
        "left": left,
        "seats": figures,
        "hands": [stack[0] for stack in stacks],
        "piles": [stack[1] for stack in stacks],
        "played": [stack[2] for stack in stacks],
        "scores": list(scores or [0] * players),
    }


def _cards(rules, played, drawn, hand, tops, shuffle):
    """One player's (hand, piles, played cards), with the wanted cards in hand and on top of the piles, and all others
    where the rules allow."""
    backs = ("knight", "king") if rules == "beginner" else ("knight", "king", "scoring")
    dealt = 2 if rules == "beginner" else 3
    other_cards = Counter(card for back in backs for card in BACKS[back])
    other_cards.subtract(hand)
    other_cards.subtract(card for cards in tops.values() for card in cards)
    assert min(other_cards.values()) >= 0, "a card is wanted twice"
    in_piles = list(other_cards.elements())
    shuffle.shuffle(in_piles)
    # Cards that have left the piles, besides the wanted hand: enough with the backs that are dealt first, then any.
    out_of_piles = []
    num_needed = 2 * dealt + drawn - len(hand)
    back_counts = Counter(BACK[card] for card in hand)
    for back in ("knight", "king"):
        num_missing = max(0, dealt - back_counts[back])
        out_of_piles += [card for card in in_piles if BACK[card] == back][:num_missing]
    for card in out_of_piles:
        in_piles.remove(card)
    assert len(out_of_piles) <= num_needed, "more cards are dealt than this hand leaves room for"
    while len(out_of_piles) < num_needed:
        out_of_piles.append(in_piles.pop())
    shuffle.shuffle(out_of_piles)
    played_cards, also_in_hand = out_of_piles[:played], out_of_piles[played:]
    assert len(played_cards) == played, "these hands are too large at this point of the game"
    stacks = {back: [*tops.get(back, []), *(card for card in in_piles if BACK[card] == back)] for back in BACKS}
    return sorted([*hand, *also_in_hand], key=DECK.index), stacks, played_cards
