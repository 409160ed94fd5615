"""A badge for each player of a game that brings none of its own."""

from __future__ import annotations

from artus_env.engine.wording import letter_of

BADGES = (
    ("#0a6cb0", "#ffffff", "M-18-19H18V3C18 13 9 19 0 23C-9 19-18 13-18 3Z"),
    ("#e08c10", "#26221e", "M-13-19H13Q19-19 19-13V13Q19 19 13 19H-13Q-19 19-19 13V-13Q-19-19-13-19Z"),
    ("#26221e", "#ffffff", "M0-24L22 0L0 24L-22 0Z"),
    ("#f0b6d4", "#26221e", "M-11-20H11L23 0L11 20H-11L-23 0Z"),
    ("#0b7a5c", "#ffffff", "M0-21A21 21 0 1 1 0 21A21 21 0 1 1 0-21Z"),
    ("#d9d24b", "#26221e", "M0-23L24 18H-24Z"),
)
"""Colour, colour of the letter and outline of each player's badge: any one of them and the letter tell who it is."""


def badge(player: int) -> str:
    """A player's badge as an `<svg>`."""
    fill, ink, outline = BADGES[player]
    letter, y = letter_of(player), 13.6 if player == 5 else 8.6  # a triangle has its room below the middle
    return (
        f'<svg viewBox="-26 -26 52 52"><path d="{outline}" fill="{fill}" stroke="currentColor" stroke-width="1.8" '
        f'stroke-linejoin="round"/><text y="{y}" font-size="24" font-weight="700" text-anchor="middle" '
        f'fill="{ink}">{letter}</text></svg>'
    )
