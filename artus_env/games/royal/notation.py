"""Text form of a move, such as `hearts-7` or `swap:2:5`, and its parts. Only this module reads and writes it.

The text of an action is the same in every position.
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
    """Parts of a move; None for parts that its kind doesn't have."""

    kind: Kind
    card: str | None = None
    suit: str | None = None
    """Suit of the chip that is placed."""
    places: tuple[int, int] | None = None
    """Places of the chips that are swapped, the smaller one first."""

    @property
    def text(self) -> str:
        """Text form, which `parse` reads."""
        if self.places is not None:
            return f"swap:{self.places[0]}:{self.places[1]}"
        return f"trump:{self.suit}" if self.kind == "trump" else self.card or "decline"


def parse(text: str) -> TrickMove | None:
    """Parts of a move; None if the text has another form. Whether the card, suit or place exists isn't checked."""
    match = _FORM.fullmatch(text)
    if match is None:
        return None
    if match["suit"]:
        return TrickMove("trump", suit=match["suit"])
    if match["first"]:
        return TrickMove("swap", places=(int(match["first"]), int(match["second"])))
    return TrickMove("decline") if match["decline"] else TrickMove("card", match["card"])


def parsed(text: str) -> TrickMove:
    """Parts of a move whose text this module has written.

    Raises:
        ValueError: If the text has another form.
    """
    move = parse(text)
    if move is None:
        raise ValueError(f"no move: {text!r}")
    return move


@lru_cache(maxsize=16)
def move_parts(components: Components) -> tuple[TrickMove, ...]:
    """Parts of the move of each action id."""
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
    """The action id of each move."""
    return {move: action for action, move in enumerate(move_parts(components))}


def move_text(action: int, states: np.ndarray, components: Components, tables: np.ndarray) -> str:
    """Text of an action, e.g. `hearts-7`."""
    return move_parts(components)[action].text


def parse_move(text: str, states: np.ndarray, components: Components, tables: np.ndarray) -> int | None:
    """Action with this text, legal or not; None if there is none."""
    return _actions(components).get(parse(text))


def action_meaning(action: int, components: Components) -> str:
    """Meaning of an action id in any position."""
    move = move_parts(components)[action]
    if move.places is not None:
        return f"swap the trump chips on places {move.places[0]} and {move.places[1]}"
    if move.suit is not None:
        return f"place the trump chip of {move.suit}"
    return f"play {move.card}" if move.card is not None else "place no trump chip"
