"""Sentences about moves of a game that brings none of its own, and text from elsewhere made fit to be shown."""

from __future__ import annotations

from artus_training.play.phrases import say


def readable(text: str, most: int) -> str:
    """Text from elsewhere as it can be shown: one line, printable, not long."""
    text = "".join(letter if letter.isprintable() else "?" for letter in text[: most + 1])
    return text if len(text) <= most else f"{text[: most - 1]}…"


def signed(points: int) -> str:
    """Points won or lost, with their sign, a true minus among them."""
    return f"+{points}" if points > 0 else f"\N{MINUS SIGN}{-points}" if points < 0 else "0"


def played(move: str | None, points: int) -> str:
    """What somebody has done, to be read after their name. `move` None: it isn't to be seen."""
    gain = say("played.points", points=signed(points)) if points else say("played.nothing")
    return say("played.secret", points=gain) if move is None else say("played.move", move=move, points=gain)
