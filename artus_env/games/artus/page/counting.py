"""Figures that a move's points come from, for the page. Only the rules compute the points themselves."""

from __future__ import annotations

from typing import Any

from artus_env.games.artus.components import Components
from artus_env.games.artus.notation import MoveParts
from artus_env.games.artus.page.picture import king_of, value_of


def counting(position: dict[str, Any], move: MoveParts, components: Components) -> list[tuple[int, int]]:
    """Seats and the value of each, for a move of the player to move; empty if a scoring card brings its penalty.

    Args:
        position: Before the move.
        move: The move.
        components: The box.

    Returns:
        Pairs (seat, value), best value first; the values add up to the move's points, unless it brings a penalty.
    """
    worth = worths(position, components)
    if move.kind == "move" and move.origin is not None:
        return [(move.origin, worth[move.origin])]
    if move.kind == "ring" and move.target is not None:
        return [(move.target, worth[move.target])]
    if move.kind not in ("score", "best"):
        return []
    own = sorted(knights_of(position, position["turn"]), key=lambda seat: (-worth[seat], seat))
    effect = next(card.action for card in components.cards if card.name == move.card)
    if effect == "all":
        chosen = own
    elif effect == "reversed":
        return [(seat, -worth[seat]) for seat in reversed(own)]
    elif effect == "colors":
        colours = [
            [seat for seat in own if worth[seat] > 0],
            [seat for seat in own if worth[seat] == 0],
            [seat for seat in own if worth[seat] < 0],
        ]
        chosen = [some[0] for some in colours] if all(colours) else []
    elif effect == "carpet":
        on_carpet = [seat for seat in own if seat in components.carpet]
        chosen = on_carpet[:2] if len(on_carpet) >= 2 else []
    elif effect == "reds":
        below_zero = [seat for seat in own if worth[seat] < 0]
        chosen = below_zero[:3] if len(below_zero) >= 3 else []
    else:
        chosen = own[:1]
    return [(seat, worth[seat]) for seat in chosen]


def worths(position: dict[str, Any], components: Components) -> list[int]:
    """Value of each seat for a figure that leaves it; 0 for the King's."""
    king = king_of(position)
    return [0 if seat == king else value_of(seat, king, components) for seat in range(len(position["seats"]))]


def knights_of(position: dict[str, Any], player: int) -> list[int]:
    """Seats of a player's knights."""
    return [seat for seat, figure in enumerate(position["seats"]) if figure and figure.get("knight") == player]
