"""Seats that a move's points come from, for the page. Only the rules compute the points themselves."""

from __future__ import annotations

from typing import Any

from artus_env.games.artus.components import Components
from artus_env.games.artus.notation import MoveParts
from artus_env.games.artus.page.picture import king_of, value_of


def scored_seats(position: dict[str, Any], move: MoveParts, components: Components) -> list[tuple[int, int]]:
    """Seats that the points of a move come from, with their values; empty if a scoring card brings its penalty.

    Args:
        position: The position before the move.
        move: A move of the player to move.
        components: The box.

    Returns:
        Pairs (seat, value), best value first; the values add up to the move's points, unless it brings a penalty.
    """
    values = seat_values(position, components)
    if move.kind == "move" and move.origin is not None:
        return [(move.origin, values[move.origin])]
    if move.kind == "ring" and move.target is not None:
        return [(move.target, values[move.target])]
    if move.kind not in ("score", "best"):
        return []
    knight_seats = sorted(knights_of(position, position["turn"]), key=lambda seat: (-values[seat], seat))
    effect = next(card.action for card in components.cards if card.name == move.card)
    if effect == "all":
        chosen = knight_seats
    elif effect == "reversed":
        return [(seat, -values[seat]) for seat in reversed(knight_seats)]
    elif effect == "colors":
        colours = [
            [seat for seat in knight_seats if values[seat] > 0],
            [seat for seat in knight_seats if values[seat] == 0],
            [seat for seat in knight_seats if values[seat] < 0],
        ]
        chosen = [seats[0] for seats in colours] if all(colours) else []
    elif effect == "carpet":
        on_carpet = [seat for seat in knight_seats if seat in components.carpet]
        chosen = on_carpet[:2] if len(on_carpet) >= 2 else []
    elif effect == "reds":
        below_zero = [seat for seat in knight_seats if values[seat] < 0]
        chosen = below_zero[:3] if len(below_zero) >= 3 else []
    else:
        chosen = knight_seats[:1]
    return [(seat, values[seat]) for seat in chosen]


def seat_values(position: dict[str, Any], components: Components) -> list[int]:
    """Points for a figure that leaves each seat; 0 for the King's seat."""
    king = king_of(position)
    return [0 if seat == king else value_of(seat, king, components) for seat in range(len(position["seats"]))]


def knights_of(position: dict[str, Any], player: int) -> list[int]:
    """Seats of a player's knights."""
    return [seat for seat, figure in enumerate(position["seats"]) if figure and figure.get("knight") == player]
