"""Topics that the "?" panel of the play page explains, each with the moves that show it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from artus_env.games.artus.components import RULE_SETS, Components
from artus_env.games.artus.notation import parsed
from artus_env.games.artus.page.picture import king_of, last_move, value_of

Position = dict[str, Any]
Holds = Callable[[Position, str, Position], bool]
"""Function that checks whether a move shows a topic: from the position before it, its text, the position after it."""


def tutorial(rules: str, components: Components) -> tuple[int, dict[str, Holds]]:
    """Number of players in the examples, and for each topic of the variant a function that checks whether a move shows
    it."""
    topics: dict[str, Holds] = {
        "leave": lambda before, move, after: _moved(before, move, after, components),
        "turn": _turns,
        "rings": _crowns,
        "push": lambda before, move, after: last_move(before, move, after, components).refuge is not None,
        "scoring": lambda before, move, after: parsed(move).card == "carpet" and after["scores"] > before["scores"],
        f"round.{rules}": lambda before, move, after: parsed(move).kind == "place",
    }
    if "scoring" not in RULE_SETS[rules].piles:
        del topics["scoring"]
    return 2, topics


def _moved(before: Position, move: str, after: Position, components: Components) -> bool:
    """A knight moves forward from a green seat to a free red one: the seat that it leaves counts, not the new one."""
    last = last_move(before, move, after, components)
    if last.origin is None or last.target is None or last.refuge is not None or before["turn"] != 0:
        return False
    knight = "knight" in before["seats"][last.origin]
    return knight and last.forward and last.points > 6 and value_of(last.target, king_of(before), components) < -3


def _turns(before: Position, move: str, after: Position) -> bool:
    origin = parsed(move).origin
    return origin is not None and "king" in before["seats"][origin]


def _crowns(before: Position, move: str, after: Position) -> bool:
    target = parsed(move).target
    ring = parsed(move).kind == "ring" and target is not None
    return ring and before["seats"][target].get("rings") == 2
