"""A move as text and in parts: the only place that writes and reads its form, such as `k3-6:12>17`."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Kind = Literal["place", "draw", "move", "ring", "best", "score"]

_FORM = re.compile(
    r"@(?P<place>\d+)"
    r"|draw:(?P<draw>\w+)"
    r"|(?P<card>[^\s:@>]+)(?::(?:(?P<origin>\d+)>(?P<target>\d+)|(?P<named>ring:)?(?P<ring>\d+)|(?P<best>best)))?"
)


class MoveParts(NamedTuple):
    """A move in parts; those that its kind doesn't have are None."""

    kind: Kind
    card: str | None = None
    pile: str | None = None
    """Of a draw."""
    origin: int | None = None
    """Seat that a figure leaves."""
    target: int | None = None
    """Seat that a figure goes to, or on which the prince sits who gets a ring."""
    named: bool = False
    """Whether a ring is one of several things that the card can do, so that the text says it."""

    @property
    def text(self) -> str:
        """As `parse` reads it."""
        return {
            "place": f"@{self.target}",
            "draw": f"draw:{self.pile}",
            "move": f"{self.card}:{self.origin}>{self.target}",
            "ring": f"{self.card}:{'ring:' if self.named else ''}{self.target}",
            "best": f"{self.card}:best",
            "score": str(self.card),
        }[self.kind]


def parse(text: str) -> MoveParts | None:
    """A move in parts; None if the text has no such form. Whether there is such a card or seat isn't asked."""
    form = _FORM.fullmatch(text)
    if form is None:
        return None
    if form["place"]:
        return MoveParts("place", target=int(form["place"]))
    if form["draw"]:
        return MoveParts("draw", pile=form["draw"])
    if form["origin"]:
        return MoveParts("move", form["card"], origin=int(form["origin"]), target=int(form["target"]))
    if form["ring"]:
        return MoveParts("ring", form["card"], target=int(form["ring"]), named=form["named"] is not None)
    return MoveParts("best" if form["best"] else "score", form["card"])


def parsed(text: str) -> MoveParts:
    """The parts of a move that was written here.

    Raises:
        ValueError: If the text has no such form.
    """
    move = parse(text)
    if move is None:
        raise ValueError(f"no move: {text!r}")
    return move
