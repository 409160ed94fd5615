"""Default badges for the players of a game without its own."""

from __future__ import annotations

from artus_env.engine.basics.wording import letter_of
from artus_env.engine.drawing.svg import BADGES


def badge(player: int) -> str:
    """A player's badge as an `<svg>`."""
    look = BADGES[player]
    return (
        f'<svg viewBox="-26 -26 52 52"><path d="{look.outline}" fill="{look.colour}" stroke="currentColor" '
        f'stroke-width="1.8" stroke-linejoin="round"/><text y="{look.middle + 8.6:g}" font-size="24" '
        f'font-weight="700" text-anchor="middle" fill="{look.ink}">{letter_of(player)}</text></svg>'
    )
