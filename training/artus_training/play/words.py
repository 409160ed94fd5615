"""Default sentences about moves, for games without their own, and external text made safe to display."""

from __future__ import annotations

from artus_training.play.phrases import say


def readable(text: str, most: int) -> str:
    """External text for display: one line, printable, at most `most` characters."""
    text = "".join(letter if letter.isprintable() else "?" for letter in text[: most + 1])
    return text if len(text) <= most else f"{text[: most - 1]}…"


def signed(points: int) -> str:
    """Points won or lost, with their sign (a true minus)."""
    return f"+{points}" if points > 0 else f"\N{MINUS SIGN}{-points}" if points < 0 else "0"


def played(move: str | None, points: int) -> str:
    """A player's move, to be read after their name. `move` None: it is hidden."""
    gain = say("played.points", points=signed(points)) if points else say("played.nothing")
    return say("played.secret", points=gain) if move is None else say("played.move", move=move, points=gain)
