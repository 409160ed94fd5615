"""A move as text and in parts: the only place that writes and reads its form, such as `hearts-7` or `swap:2:5`.

The text of a move doesn't depend on the position: each action has one for good.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from artus_env.games.royal.actions import CARD, SWAP, TRUMP, action_table
from artus_env.games.royal.components import Components

Kind = Literal["card", "trump", "decline", "swap"]

_FORM = re.compile(
    r"trump:(?P<suit>[a-z]+)|(?P<decline>decline)|swap:(?P<first>\d):(?P<second>\d)|(?P<card>[a-z]+(?:-\d+)?)",
    re.ASCII,
)


class TrickMove(NamedTuple):
    """A move in parts; those that its kind doesn't have are None."""

    kind: Kind
    card: str | None = None
    suit: str | None = None
    """Of the chip that is placed."""
    places: tuple[int, int] | None = None
    """Of the chips that are swapped, the smaller one first."""

    @property
    def text(self) -> str:
        """As `parse` reads it."""
        if self.places is not None:
            return f"swap:{self.places[0]}:{self.places[1]}"
        return f"trump:{self.suit}" if self.kind == "trump" else self.card or "decline"


def parse(text: str) -> TrickMove | None:
    """A move in parts; None if the text has no such form. Whether there is such a card, suit or place isn't asked."""
    form = _FORM.fullmatch(text)
    if form is None:
        return None
    if form["suit"]:
        return TrickMove("trump", suit=form["suit"])
    if form["first"]:
        return TrickMove("swap", places=(int(form["first"]), int(form["second"])))
    return TrickMove("decline") if form["decline"] else TrickMove("card", form["card"])


def parsed(text: str) -> TrickMove:
    """The parts of a move that was written here.

    Raises:
        ValueError: If the text has no such form.
    """
    move = parse(text)
    if move is None:
        raise ValueError(f"no move: {text!r}")
    return move


@lru_cache(maxsize=16)
def move_parts(components: Components) -> tuple[TrickMove, ...]:
    """The move of each action id."""
    moves = []
    for effect, number, places in action_table(components):
        if effect == CARD:
            moves.append(TrickMove("card", components.cards[number]))
        elif effect == TRUMP:
            moves.append(TrickMove("trump", suit=components.suits[number]))
        else:
            moves.append(TrickMove("swap", places=places) if effect == SWAP else TrickMove("decline"))
    return tuple(moves)


@lru_cache(maxsize=16)
def _actions(components: Components) -> dict[TrickMove | None, int]:
    return {move: action for action, move in enumerate(move_parts(components))}


def move_text(action: int, states: np.ndarray, components: Components, tables: np.ndarray) -> str:
    """An action in the words of the table, e.g. `hearts-7`."""
    return move_parts(components)[action].text


def parse_move(text: str, states: np.ndarray, components: Components, tables: np.ndarray) -> int | None:
    """The action that a text names, legal or not; None if it names none."""
    return _actions(components).get(parse(text))


def action_meaning(action: int, components: Components) -> str:
    """What an action id means on any table."""
    move = move_parts(components)[action]
    if move.places is not None:
        return f"swap the trump chips on places {move.places[0]} and {move.places[1]}"
    if move.suit is not None:
        return f"place the trump chip of {move.suit}"
    return f"play {move.card}" if move.card is not None else "place no trump chip"
