"""Contents of the box: suits, super-trumps, the course, hand size. Data only; everything else follows from it.

Some facts about the course are in no public rule text and are reconstructed here; `RECONSTRUCTED` names them. Owners of
the box can correct them here, or at run time with `components=`, an argument of every class.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from artus_env.authoring import Box, is_whole, shown, whole_number

MAX_PLAYERS = 6
MAX_SUITS = 6
MAX_VALUE = 11
MAX_COPIES = 3
"""Maximum number of super-trumps of one kind."""
MAX_CARDS = MAX_SUITS * MAX_VALUE + 2 * MAX_COPIES
MAX_HAND = 12
MAX_FIELDS = 60
"""Limit of `fields`, because swords are the bits of one number."""
SUPER_TRUMPS = ("knight", "shield")
RULES = ("standard",)
RULES_VERSION = 1
"""Written into records; increased when the same moves no longer give the same game."""

RECONSTRUCTED = (
    "which fields carry swords",
    "that the 27 fields of the course include Artus, the last one",
)


@dataclass(frozen=True)
class Components(Box):
    """The box. The default is the published game as far as it is known (see `RECONSTRUCTED`).

    Attributes:
        suits: Names of the suits, in the order of the deck; each has a trump chip, and there is a place for every chip.
        values: Highest value of a card; each suit has one card of each value from 1 to this.
        knights, shields: Number of super-trumps of each kind.
        fields: Number of the last field, Artus; pawns start on field 0.
        swords: Fields with a sword; a player whose pawn lands there may place or swap trump chips.
        hand: Number of cards dealt to each player.

    Raises:
        TypeError, ValueError: If the parts don't fit together; the message names the part.
    """

    suits: tuple[str, ...] = ("hearts", "diamonds", "clubs", "spades", "flowers", "chalices")
    values: int = MAX_VALUE
    knights: int = MAX_COPIES
    shields: int = MAX_COPIES
    fields: int = 27
    swords: tuple[int, ...] = (4, 8, 12, 16, 20, 24)
    hand: int = 8

    def __post_init__(self) -> None:
        for name in ("suits", "swords"):  # accept lists; a frozen box must be hashable
            parts = getattr(self, name)
            if isinstance(parts, str) or not isinstance(parts, Iterable):
                raise ValueError(f"{name} must be a list, got {shown(parts)}")
            object.__setattr__(self, name, tuple(parts))
        for suit in self.suits:
            if not isinstance(suit, str) or not re.fullmatch("[a-z]{1,16}", suit) or suit in SUPER_TRUMPS:
                raise ValueError(f"suits: a name has 1 to 16 small letters and is no super-trump, got {shown(suit)}")
        if len(set(self.suits)) != len(self.suits) or not 2 <= len(self.suits) <= MAX_SUITS:
            raise ValueError(f"suits must be 2 to {MAX_SUITS} different names, got {shown(self.suits)}")
        for name, low, high in (
            ("values", 1, MAX_VALUE),
            ("knights", 0, MAX_COPIES),
            ("shields", 0, MAX_COPIES),
            ("fields", 1, MAX_FIELDS),
            ("hand", 1, MAX_HAND),
        ):
            whole_number(name, getattr(self, name), low, high)
        if any(not is_whole(field) or not 0 < field < self.fields for field in self.swords):
            raise ValueError(f"swords must be fields between 0 and {self.fields}, got {shown(self.swords)}")
        if list(self.swords) != sorted(set(self.swords)):
            raise ValueError(f"swords must be different fields in rising order, got {shown(self.swords)}")
        if self.hand * MAX_PLAYERS > len(self.deck):
            raise ValueError(
                f"hand: {MAX_PLAYERS} hands of {self.hand} need {self.hand * MAX_PLAYERS} cards, "
                f"there are {len(self.deck)}"
            )

    @cached_property
    def cards(self) -> tuple[str, ...]:
        """Names of all kinds of cards: the suits in order, each from 1 up, then knight and shield. The number of a kind
        is its index here."""
        return (*(f"{suit}-{value}" for suit in self.suits for value in range(1, self.values + 1)), *SUPER_TRUMPS)

    @cached_property
    def copies(self) -> tuple[int, ...]:
        """Number of cards of each kind."""
        return (1,) * (len(self.suits) * self.values) + (self.knights, self.shields)

    @cached_property
    def deck(self) -> tuple[int, ...]:
        """Kind of each card, in deck order."""
        return tuple(kind for kind, copies in enumerate(self.copies) for _ in range(copies))

    __hash__ = Box.__hash__


STANDARD = Components()
