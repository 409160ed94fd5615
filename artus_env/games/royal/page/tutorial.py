"""Topics that the "?" panel of the play page explains, each with the moves that show it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from artus_env.games.royal.components import Components
from artus_env.games.royal.page.tricks import LastMove, last_move, suit_of

Position = dict[str, Any]
Holds = Callable[[Position, str, Position], bool]


def tutorial(rules: str, components: Components) -> tuple[int, dict[str, Holds]]:
    """Number of players in the examples, and for each topic a function that checks whether a move shows it."""
    return 4, {
        "follow": _follows, "trumps": _trumped, "super": _supers, "swords": _places,
        "run": lambda before, move, after: _jumps(last_move(before, move, after, components)),
    }  # fmt: skip


def _follows(before: Position, move: str, after: Position) -> bool:
    """All have followed suit so far, and the trick isn't complete."""
    trick = after["trick"]
    return len(trick) == 3 and len({suit_of(card) for _, card in trick}) == 1


def _trumped(before: Position, move: str, after: Position) -> bool:
    """A trump is in a trick in which another suit was led."""
    trick, trumps = after["trick"], [suit for suit in after["trumps"] if suit]
    suits = [suit_of(card) for _, card in trick]
    return len(trick) == 3 and None not in suits and suits[0] not in trumps and any(suit in trumps for suit in suits)


def _supers(before: Position, move: str, after: Position) -> bool:
    """A knight and a shield are in the same trick."""
    return {"knight", "shield"} <= {card for _, card in after["trick"]}


def _jumps(last: LastMove) -> bool:
    """The pawn of the trick's winner passes over another one."""
    return (
        last.taker is not None and last.origin is not None and (last.target or 0) > last.origin + 1 and last.origin > 2
    )


def _places(before: Position, move: str, after: Position) -> bool:
    """A second chip is placed."""
    return move.startswith("trump:") and sum(suit is not None for suit in after["trumps"]) == 2
