"""The ladder of a game: the measured figures of each agent, in a JSON file that comes with the game
(`Definition.ladder`).

`tools/ladder.py` writes it. Figures that weren't measured are missing in the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from artus_env.engine.basics.reading import decode, shown
from artus_training.arena.statistics import ANCHOR, ANCHOR_RATING

Fraction = Annotated[float, Meta(ge=0, le=1)]
Interval = tuple[float, float]


@dataclass
class BestResponse:
    """The best known response to an agent; see `artus exploit`."""

    role: Literal["response", "deviator", "coalition"]
    response: str
    gain: Annotated[float, Meta(ge=-1, le=1)]
    gain_95: Interval


@dataclass
class Entry:
    """One agent in one variant; None where a figure wasn't measured."""

    rules: str
    num_players: Annotated[int, Meta(ge=2, le=100)]
    agent: str
    rating: float | None = None
    rating_95: Interval | None = None
    wins: Fraction | None = None
    wins_95: Interval | None = None
    games: Annotated[int, Meta(ge=1)] | None = None
    responses: list[BestResponse] = field(default_factory=list)
    decisions: Annotated[float, Meta(gt=0)] | None = None
    """Decisions per second of processor time; for a program, per second on the clock."""


@dataclass
class Ladder:
    """All entries of a game, in the order of the table: by variant, the best rating first."""

    game: str
    entries: list[Entry] = field(default_factory=list)


def read_ladder(path: Path) -> Ladder:
    """Read a ladder from a file.

    Raises:
        ValueError: If the file is missing, damaged or no ladder, or its ratings have another scale; the message names
            the file and the problem.
    """
    try:
        ladder = decode(path.read_bytes(), Ladder)
    except OSError as error:
        raise ValueError(f"{path} can't be read: {error.strerror}") from error
    except ValueError as error:
        raise ValueError(f"{path} is damaged or no ladder: {error}") from None
    rating_of = {(entry.rules, entry.num_players, entry.agent): entry.rating for entry in ladder.entries}
    for (rules, num_players, _), rating in rating_of.items():
        anchor = rating_of.get((rules, num_players, ANCHOR))
        if rating is not None and anchor != ANCHOR_RATING:
            anchor_rating = "none" if anchor is None else f"{anchor:.0f}"
            raise ValueError(
                f"{path}: ratings have the scale {ANCHOR} = {ANCHOR_RATING}, but for {shown(rules)}, {num_players} "
                f"players, {ANCHOR} has {anchor_rating}: delete these ratings, and add the tournament again"
            )
    return ladder
