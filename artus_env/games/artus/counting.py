"""Which figures a move's points come from, as the page shows it. What they come to is said by the rules alone."""

from __future__ import annotations

from typing import Any

from artus_env.games.artus.components import NUM_SEATS, Components
from artus_env.games.artus.moves import MoveParts


def counting(position: dict[str, Any], move: MoveParts, components: Components) -> list[tuple[int, int]]:
    """Seats and what each adds, for a move of the player to move; none where a scoring card brings its penalty.

    Args:
        position: Before the move.
        move: The move.
        components: The box.

    Returns:
        (seat, value), best value first; the values add up to the move's points, unless it brings a penalty.
    """
    seats, player = position["seats"], position["turn"]
    king = next(seat for seat, figure in enumerate(seats) if figure and "king" in figure)

    def worth(seat: int) -> int:
        return 0 if seat == king else components.wheel[(king - seat) % NUM_SEATS]

    if move.kind == "move" and move.origin is not None:
        return [(move.origin, worth(move.origin))]
    if move.kind == "ring" and move.target is not None:
        return [(move.target, worth(move.target))]
    if move.kind not in ("score", "best"):
        return []
    own = [seat for seat, figure in enumerate(seats) if figure and figure.get("knight") == player]
    own.sort(key=lambda seat: (-worth(seat), seat))
    effect = next(card.action for card in components.cards if card.name == move.card)
    if effect == "all":
        chosen = own
    elif effect == "reversed":
        return [(seat, -worth(seat)) for seat in reversed(own)]
    elif effect == "colors":
        colours = [
            [seat for seat in own if worth(seat) > 0],
            [seat for seat in own if worth(seat) == 0],
            [seat for seat in own if worth(seat) < 0],
        ]
        chosen = [some[0] for some in colours] if all(colours) else []
    elif effect == "carpet":
        there = [seat for seat in own if seat in components.carpet]
        chosen = there[:2] if len(there) >= 2 else []
    elif effect == "reds":
        there = [seat for seat in own if worth(seat) < 0]
        chosen = there[:3] if len(there) >= 3 else []
    else:
        chosen = own[:1]
    return [(seat, worth(seat)) for seat in chosen]
