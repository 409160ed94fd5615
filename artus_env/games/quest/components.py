"""Contents of the box: virtues, action cards, quests, goals. Data only; everything else follows from it.

Some facts are in no public rule text and are reconstructed here; `RECONSTRUCTED` names them. Owners of the box can
correct them here, or at run time with `components=`, an argument of every class.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, TypeVar

from artus_env.authoring import Box, convert, shown, whole_number

T = TypeVar("T")

MIN_PLAYERS, MAX_PLAYERS = 2, 4
VIRTUES = ("sword", "lance", "dragon", "book")
MAX_VALUE = 2
CARDS = tuple(f"{virtue}-{value}" for virtue in VIRTUES for value in range(1, MAX_VALUE + 1))
"""Kinds of virtue cards; the number of a kind is its index here: MAX_VALUE * virtue + value - 1."""
START_CARDS = 2
"""Number of virtue cards that each player starts with."""
PLACES = ("camelot", "forest", "valley", "lake", "moor", "ford", "ruin", "tower")
QUESTS_AT_PLACE = 2
QUESTS = tuple(f"{place}-{number}" for place in PLACES[1:] for number in range(1, QUESTS_AT_PLACE + 1))
OPEN_QUESTS = 3
HORSES = (2, 3, 4)
ACTIONS = (
    *(f"exercise-{virtue}" for virtue in VIRTUES),
    "artus",
    "tournament",
    "court",
    "quest",
    *(f"horse-{steps}" for steps in HORSES),
)
"""Kinds of action cards, in the order of the box."""
EXERCISE, ARTUS, TOURNAMENT, COURT, QUEST, HORSE = 0, 4, 5, 6, 7, 8
"""Indices into `ACTIONS`; `EXERCISE` and `HORSE` are the first of several kinds."""
MAX_POINTS = 99
"""Maximum of points and rounds in a box."""
MAX_NUM_BIDS = 180
"""Maximum number of different bids, that is, sets of sword and lance cards, in a box."""
RULES_VERSION = 1
"""Written into records; raised when the same moves no longer give the same game."""

RECONSTRUCTED = (
    "the names of the places but forest, valley and lake",
    "where each quest lies, what it demands and what it brings",
    "how many virtue cards there are of each kind",
    "how far the fourth horse goes (3)",
)


@dataclass(frozen=True)
class Quest:
    """Demands and points of a quest.

    Attributes:
        needs: For each of `VIRTUES`, the lowest value of the card that has to be laid back; 0: no card.
        points: Number of shields that the quest brings.
    """

    needs: tuple[int, int, int, int]
    points: int


_SMALL = (1, 1, 1, 1, 1, 2, 1, 2, 1, 1, 1)
_LARGE = (1, 1, 1, 1, 2, 2, 2, 2, 1, 2, 1)


@dataclass(frozen=True)
class Components(Box):
    """The box. The default is the published game as far as it is known (see `RECONSTRUCTED`).

    Attributes:
        copies: Number of virtue cards of each kind, in the order of `CARDS`.
        display: Number of action cards of each kind on display with 2, 3 and 4 players, in the order of `ACTIONS`.
        choices: Number of action cards that a player takes in a round, with 2, 3 and 4 players.
        goals: Points that end the game with the round in which a player reaches them, with 2, 3 and 4 players.
        quests: In the order of `QUESTS`.
        rounds: Maximum number of rounds in a game.
        court: Points for a book card that is laid back at court.
        prize: Points for winning a tournament; after a draw each player gets half of them.

    Raises:
        ValueError: If the parts don't fit together; the message names the part.
    """

    copies: tuple[int, ...] = (3, 2, 3, 2, 2, 2, 2, 2)
    display: tuple[tuple[int, ...], ...] = (_SMALL, _SMALL, _LARGE)
    choices: tuple[int, int, int] = (4, 3, 3)
    goals: tuple[int, int, int] = (25, 20, 15)
    quests: tuple[Quest, ...] = (
        Quest((2, 0, 0, 0), 3),
        Quest((2, 0, 1, 0), 5),
        Quest((0, 2, 0, 0), 3),
        Quest((0, 1, 0, 1), 4),
        Quest((0, 0, 2, 0), 3),
        Quest((0, 1, 1, 0), 4),
        Quest((0, 0, 0, 2), 3),
        Quest((1, 0, 0, 2), 5),
        Quest((1, 1, 0, 0), 4),
        Quest((1, 1, 1, 0), 6),
        Quest((0, 1, 2, 0), 5),
        Quest((0, 1, 1, 1), 6),
        Quest((1, 0, 0, 1), 4),
        Quest((2, 1, 0, 1), 7),
    )
    rounds: int = 30
    court: int = 2
    prize: int = 2

    def __post_init__(self) -> None:
        variants = MAX_PLAYERS - MIN_PLAYERS + 1
        self._set("copies", _numbers("copies", self.copies, len(CARDS), 0, 5))
        rows = _list("display", self.display, variants)
        self._set("display", tuple(_numbers("display", row, len(ACTIONS), 0, 4) for row in rows))
        self._set("choices", _numbers("choices", self.choices, variants, 1, 6))
        self._set("goals", _numbers("goals", self.goals, variants, 1, MAX_POINTS))
        for quest in _list("quests", self.quests, len(QUESTS)):
            if not isinstance(quest, Quest):
                raise ValueError(f"quests needs Quest objects, got {shown(quest)}")
            if not any(_numbers("quests: needs", quest.needs, len(VIRTUES), 0, MAX_VALUE)):
                raise ValueError(f"quests: each one must demand a card, got {shown(quest)}")
            whole_number("quests: points", quest.points, 1, MAX_POINTS)
        self._set("quests", tuple(self.quests))
        whole_number("rounds", self.rounds, 1, MAX_POINTS)
        whole_number("court", self.court, 0, MAX_POINTS)
        whole_number("prize", self.prize, 0, MAX_POINTS)
        if self.prize % 2:
            raise ValueError(f"prize must be even, because two may share it, got {self.prize}")
        bids = prod(copies + 1 for copies in self.copies[:4])
        if not all(self.copies[:4]) or bids > MAX_NUM_BIDS:
            raise ValueError(
                f"copies: there must be swords and lances of each value, for at most {MAX_NUM_BIDS} bids, got {bids}"
            )
        if sum(self.copies) < MAX_PLAYERS * START_CARDS:
            raise ValueError(f"copies: {MAX_PLAYERS} players start with {START_CARDS} cards each, got {self.copies}")
        for number, (cards, choices) in enumerate(zip(self.display, self.choices, strict=True)):
            players = MIN_PLAYERS + number
            if cards[TOURNAMENT] > 2:
                raise ValueError(f"display: at most two can meet in a tournament, got {cards[TOURNAMENT]} of its cards")
            # The last player to choose must find a card other than a second tournament.
            if sum(cards) - (cards[TOURNAMENT] == 2) < players * choices:
                raise ValueError(f"display: too few cards for {players} players who take {choices} each, got {cards}")

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)  # accept lists; a frozen box must be hashable

    @cached_property
    def cards(self) -> tuple[int, ...]:
        """Kind of each virtue card, in the order of the box."""
        return tuple(kind for kind, copies in enumerate(self.copies) for _ in range(copies))

    __hash__ = Box.__hash__

    @classmethod
    def parts(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """The same parts, with the quests as `Quest` objects."""
        return {**data, "quests": tuple(convert(quest, Quest) for quest in data["quests"])}


def _list(name: str, values: Iterable[T], length: int) -> tuple[T, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable) or len(found := tuple(values)) != length:
        raise ValueError(f"{name} must be a list of {length}, got {shown(values)}")
    return found


def _numbers(name: str, values: Iterable[int], length: int, low: int, high: int) -> tuple[int, ...]:
    return tuple(whole_number(name, value, low, high) for value in _list(name, values, length))


STANDARD = Components()
