"""Text form of a move, such as `k3-6:12>17`, and its parts. Only this module reads and writes it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from artus_env.authoring import jit, next_action
from artus_env.games.artus.actions import BEST, DRAW, KNIGHT, MASK_WORDS, PLACE, RING, ROYAL, SLOTS, action_table
from artus_env.games.artus.components import PILES, Components
from artus_env.games.artus.rules import king_seat, knight_seat, landing, legal, royal_in_slot

NO_SEAT = -1
NO_CARD = -2
Kind = Literal["place", "draw", "move", "ring", "best", "score"]

_FORM = re.compile(
    r"@(?P<place>[0-9]{1,2})"
    r"|draw:(?P<draw>\w+)"
    r"|(?P<card>[^\s:@>]+)(?::(?:(?P<origin>[0-9]{1,2})>(?P<target>[0-9]{1,2})"
    r"|(?P<named>ring:)?(?P<ring>[0-9]{1,2})|(?P<best>best)))?"
)


class MoveParts(NamedTuple):
    """Parts of a move; None for parts that its kind doesn't have."""

    kind: Kind
    card: str | None = None
    pile: str | None = None
    """Pile of a draw."""
    origin: int | None = None
    """Seat that a figure leaves."""
    target: int | None = None
    """Seat that a figure goes to, or seat of the prince who gets a ring."""
    named: bool = False
    """Whether the text names the ring, because the card can also do other things."""

    @property
    def text(self) -> str:
        """Text form, which `parse` reads."""
        return {
            "place": f"@{self.target}",
            "draw": f"draw:{self.pile}",
            "move": f"{self.card}:{self.origin}>{self.target}",
            "ring": f"{self.card}:{'ring:' if self.named else ''}{self.target}",
            "best": f"{self.card}:best",
            "score": str(self.card),
        }[self.kind]


def parse(text: str) -> MoveParts | None:
    """Parts of a move; None if the text has another form. Whether the card and the seats exist isn't checked."""
    match = _FORM.fullmatch(text)
    if match is None:
        return None
    if match["place"]:
        return MoveParts("place", target=int(match["place"]))
    if match["draw"]:
        return MoveParts("draw", pile=match["draw"])
    if match["origin"]:
        return MoveParts("move", match["card"], origin=int(match["origin"]), target=int(match["target"]))
    if match["ring"]:
        return MoveParts("ring", match["card"], target=int(match["ring"]), named=match["named"] is not None)
    return MoveParts("best" if match["best"] else "score", match["card"])


def parsed(text: str) -> MoveParts:
    """Parts of a move that this module has written.

    Raises:
        ValueError: If the text has another form.
    """
    move = parse(text)
    if move is None:
        raise ValueError(f"no move: {text!r}")
    return move


def move_text(action: int, states: np.ndarray, components: Components, tables: np.ndarray) -> str:
    """A legal action of the player to move as text, e.g. `k3-6:12>17`: card, from seat > to seat."""
    meaning = action_table(components)[action]
    if meaning.effect == DRAW:
        return MoveParts("draw", pile=PILES[meaning.slot]).text
    origin, target = seats_of(tables, states, action)
    if meaning.effect == PLACE:
        return MoveParts("place", target=target).text
    card = components.cards[meaning.card]
    if meaning.effect == RING:
        return MoveParts("ring", card.name, target=target, named=card.action == "choice").text
    if origin >= 0:
        return MoveParts("move", card.name, origin=origin, target=target).text
    return MoveParts("best" if meaning.effect == BEST else "score", card.name).text


def parse_move(text: str, states: np.ndarray, components: Components, tables: np.ndarray) -> int | None:
    """Legal action of the player to move with this text; None if there is none."""
    move = parse(text)
    if move is None:
        return None
    if move.kind == "draw":  # draws are the last actions
        return len(action_table(components)) - len(PILES) + PILES.index(move.pile) if move.pile in PILES else None
    card = _cards_by_name(components).get(move.card, NO_CARD)
    target = NO_SEAT if move.target is None else move.target
    origin = target if move.kind == "ring" else NO_SEAT if move.origin is None else move.origin
    action = legal_action(tables, states, card, origin, target)
    return None if action < 0 else action


@lru_cache(maxsize=16)
def _cards_by_name(components: Components) -> dict[str | None, int]:
    """Index of each card by its name, as in `Action.card`; the key None stands for placing a knight."""
    return {None: -1} | {card.name: number for number, card in enumerate(components.cards)}


@jit
def seats_of(tables, states, action):
    """Origin and target of an action of the player to move, as seats; `NO_SEAT` if the action doesn't have them. For a
    ring both are the seat of the prince who gets it."""
    t, g = tables[0], states[0]
    effect, slot = int(t["actions"][action, 0]), int(t["actions"][action, 2])
    if effect == PLACE:
        return NO_SEAT, int(landing(king_seat(g), -slot))
    if effect == KNIGHT:
        origin = int(knight_seat(g, int(g["player"]), slot))
    elif effect in (ROYAL, RING):
        origin = int(g["royals"][royal_in_slot(g, slot)])
    else:
        return NO_SEAT, NO_SEAT
    return origin, int(landing(origin, int(t["actions"][action, 3])))


@jit
def legal_action(tables, states, card, origin, target):
    """Legal action of a card with this origin and target (see `seats_of`), -1 if there is none."""
    t = tables[0]
    words = np.empty(MASK_WORDS, np.uint64)
    legal(t, states[0], words)
    action = next_action(words, -1)
    while action >= 0:
        if t["actions"][action, 1] == card and seats_of(tables, states, action) == (origin, target):
            return action
        action = next_action(words, action)
    return -1


def action_meaning(action: int, components: Components) -> str:
    """Meaning of an action id in any position."""
    meaning = action_table(components)[action]
    if meaning.effect == DRAW:
        return f"draw from the {PILES[meaning.slot]} pile"
    if meaning.effect == PLACE:
        return f"place a knight {meaning.slot} behind the King"
    name = components.cards[meaning.card].name
    if meaning.effect == KNIGHT:
        return f"{name}: own knight {meaning.slot + 1} {_steps_text(meaning.steps)}"
    if meaning.effect == ROYAL:
        return f"{name}: {SLOTS[meaning.slot]} {_steps_text(meaning.steps)}"
    if meaning.effect == RING:
        return f"{name}: ring for {SLOTS[meaning.slot]}"
    return f"{name}: score the best own knight" if meaning.effect == BEST else name


def _steps_text(steps: int) -> str:
    return f"{steps} forward" if steps > 0 else f"{-steps} backward"
