"""Topics that the "?" panel of the play page explains, each with the moves that show it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from artus_env.games.quest.components import Components
from artus_env.games.quest.page.deeds import deed

Position = dict[str, Any]
Holds = Callable[[Position, str, Position], bool]
"""Function that checks whether a move shows a topic: from the position before it, its text, the position after it."""


def tutorial(rules: str, components: Components) -> tuple[int, dict[str, Holds]]:
    """Number of players in the examples, and for each topic a function that checks whether a move shows it."""
    return 3, TOPICS


def _joust(before: Position, move: str, after: Position) -> bool:
    last = deed(before, move, after)
    return len(last.bids) > 1 and any(last.prizes.values())


TOPICS: dict[str, Holds] = {
    "round": lambda before, move, after: move.startswith("take:") and len(before["display"]) < 11,
    "camelot": lambda before, move, after: move.startswith("exercise:"),
    "ride": lambda before, move, after: move.startswith("horse-3:") and len(deed(before, move, after).way) == 4,
    "quest": lambda before, move, after: move.startswith("quest:"),
    "joust": _joust,
    "end": lambda before, move, after: move.startswith("artus:") and before["round"] > 1,
}
