"""Tricks of a position as `to_dict` gives it, for pictures and sentences: plain data that a player may see.

The rules decide which card beats which, which cards may be played and where a pawn goes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from artus_env.authoring import is_in, partial_state
from artus_env.games.royal import rules
from artus_env.games.royal.actions import MASK_WORDS
from artus_env.games.royal.components import SUPER_TRUMPS, Components
from artus_env.games.royal.notation import TrickMove, parsed
from artus_env.games.royal.position import CardSet, Chips, tables_of
from artus_env.games.royal.state import STATE, TRICK_PHASE

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


def takes_from(trick: Trick, trumps: Sequence[str | None], components: Components) -> Callable[[str, str], bool]:
    """Return a function of two cards, which says whether the first takes a trick from the second, its holder so far."""
    tables, suit = tables_of(components)[0], led_suit(trick)
    state = partial_state(STATE)
    state["places"] = Chips().read("trumps", list(trumps), state, components)
    led = -1 if suit is None else components.suits.index(suit)
    kind_of = components.cards.index
    return lambda card, other: bool(rules.beats(tables, state, kind_of(card), kind_of(other), led))


def winning_index(trick: Trick, trumps: Sequence[str | None], components: Components) -> int:
    """Index of the card that takes a trick so far."""
    beats, best = takes_from(trick, trumps, components), 0
    for nth in range(1, len(trick)):
        if beats(trick[nth][1], trick[best][1]):
            best = nth
    return best


def playable(hand: Sequence[str], trick: Trick, components: Components) -> set[str]:
    """Cards of a hand that may be played."""
    suit, words = led_suit(trick), np.zeros(MASK_WORDS, np.uint64)
    led = -1 if suit is None else components.suits.index(suit)
    state = partial_state(STATE, phase=TRICK_PHASE, led=led)
    state["hands"][0] = CardSet().read("hand", list(hand), state, components)
    rules.legal(tables_of(components)[0], state, words)
    return {card for kind, card in enumerate(components.cards) if is_in(words, kind)}


def destination(fields: Sequence[int], player: int, components: Components) -> int:
    """Field that a player's pawn goes to when they win a trick."""
    state = partial_state(STATE, num_players=len(fields), scores=list(fields))
    return int(rules.landing(tables_of(components)[0], state, player))


class LastMove(NamedTuple):
    """A move that was played, as pictures and sentences show it."""

    player: int
    move: TrickMove
    trick: Trick  # the trick that the card completed, else empty
    taker: int | None  # winner of this trick
    origin: int | None  # field that the taker's pawn left
    target: int | None  # field that it reached


def last_move(before: dict[str, Any], move: str, after: dict[str, Any] | None, components: Components) -> LastMove:
    """The effect of a move, from the positions before and after it. Where `after` is None, the effect is what follows
    from `before`."""
    player, parts = before["turn"], parsed(move)
    trick: Trick = [*before["trick"], [player, parts.card]] if parts.card else []
    if len(trick) < before["num_players"]:
        return LastMove(player, parts, [], None, None, None)
    taker = trick[winning_index(trick, before["trumps"], components)][0]
    target = destination(before["fields"], taker, components) if after is None else after["fields"][taker]
    return LastMove(player, parts, trick, taker, before["fields"][taker], target)
