"""Tricks of a position as `to_dict` gives it, for pictures and sentences: plain data that a player may see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from artus_env.games.royal.components import STANDARD, SUPER_TRUMPS, Components
from artus_env.games.royal.notation import TrickMove, parsed

Trick = Sequence[Sequence[Any]]
"""Pairs of player and card, in order of play."""


def suit_of(card: str) -> str | None:
    """The suit of a card, None for super-trumps."""
    return None if card in SUPER_TRUMPS else card.partition("-")[0]


def value_of(card: str) -> int:
    """The value of a card that has a suit."""
    return int(card.partition("-")[2])


def led_suit(trick: Trick) -> str | None:
    """The suit that has to be followed, None if there is none."""
    return suit_of(trick[0][1]) if trick else None


def holder(trick: Trick, trumps: Sequence[str | None]) -> int:
    """Which card of a trick, by its number there, takes it as it is (see `rules.beats`)."""
    best = 0
    for nth in range(1, len(trick)):
        if _beats(trick[nth][1], trick[best][1], led_suit(trick), trumps):
            best = nth
    return best


def _beats(card: str, held_by: str, led: str | None, trumps: Sequence[str | None]) -> bool:
    if card in SUPER_TRUMPS:
        return card != held_by
    if held_by in SUPER_TRUMPS:
        return False
    return _strength(card, led, trumps) > _strength(held_by, led, trumps)


def _strength(card: str, led: str | None, trumps: Sequence[str | None]) -> tuple[int, int]:
    suit = suit_of(card)
    place = trumps.index(suit) + 1 if suit in trumps else 0
    return (place, value_of(card)) if place or suit == led else (0, 0)


def playable(hand: Sequence[str], trick: Trick) -> set[str]:
    """Which cards of a hand may be played: those of the suit that was led, or any where there is none of it."""
    led = led_suit(trick)
    following = {card for card in hand if led is not None and suit_of(card) == led}
    return following or set(hand)


def destination(fields: Sequence[int], player: int) -> int:
    """The field that a player's pawn goes to when they win a trick: the next one without a pawn."""
    field = fields[player] + 1
    while field in fields:
        field += 1
    return field


class LastMove(NamedTuple):
    """A move that was played, as pictures and sentences show it."""

    player: int
    move: TrickMove
    trick: Trick  # the trick that the card completed, else empty
    taker: int | None  # who took it
    origin: int | None  # the fields that the taker's pawn left and went to
    target: int | None


def last_move(
    before: dict[str, Any], move: str, after: dict[str, Any] | None, components: Components = STANDARD
) -> LastMove:
    """What a move did, from the positions before and after it; `after` None: as far as it follows from `before`."""
    player, what = before["turn"], parsed(move)
    trick: Trick = [*before["trick"], [player, what.card]] if what.card else []
    if len(trick) < before["num_players"]:
        return LastMove(player, what, [], None, None, None)
    taker = trick[holder(trick, before["trumps"])][0]
    target = destination(before["fields"], taker) if after is None else after["fields"][taker]
    return LastMove(player, what, trick, taker, before["fields"][taker], target)
