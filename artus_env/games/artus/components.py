"""Contents of the box: wheel, seats, figures, cards. Data only; everything else follows from it.

Some facts about the cards are not in any public rule text and are reconstructed here; `RECONSTRUCTED` names them.
Owners of the box can correct them here, or at run time with `components=`, an argument of every class.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from artus_env.authoring import Box, shown

NUM_SEATS = 28
MAX_PLAYERS = 4
NUM_ROYALS = 4
NUM_KNIGHTS = {2: 5, 3: 5, 4: 4}
"""Knights of each player by number of players."""
MAX_KNIGHTS = max(NUM_KNIGHTS.values())
MAX_CARDS = 24
"""Maximum number of cards in a player's deck, limited by the state record."""
PILES = ("knight", "king", "scoring")
COLOURS = ("silver", "bronze")


class RuleSet(NamedTuple):
    """Numbers of cards in one rule set."""

    dealt_per_pile: int
    """Number of knight cards, and also of king cards, that a player is dealt."""
    cards_a_turn: int
    """Number of cards that a player plays in a turn, and then draws."""
    piles: tuple[str, ...]
    """Piles in use."""


RULE_SETS = {"beginner": RuleSet(2, 1, PILES[:2]), "advanced": RuleSet(3, 2, PILES)}
"""Rule sets by name. The state's `rule_set` is the index."""
RULES = tuple(RULE_SETS)
LONGEST_NAME = 32
"""Maximum length of a card's name."""
RULES_VERSION = 1
"""Written into records; raised when the same moves no longer give the same game."""


@dataclass(frozen=True)
class Card:
    """One kind of card. It moves a figure `low` to `high` steps; both are 0 if it moves no figure."""

    name: str
    pile: str  # the card's back: "knight", "king" or "scoring"
    action: str  # "knight" | "royal" | "ring" | "all" | "reversed" | "colors" | "carpet" | "reds" | "choice"
    low: int = 0
    high: int = 0
    backward: bool = False  # may also go the same number of steps backward
    colour: str | None = None  # which royals a king card is for; None: any
    penalty: int = 0  # prestige that a scoring card brings if its condition isn't met
    copies: int = 1  # number of these cards in a player's deck


CARDS = (
    Card("k1-4", "knight", "knight", 1, 4),
    Card("k2-5", "knight", "knight", 2, 5),
    Card("k3-6", "knight", "knight", 3, 6),
    Card("k4-7", "knight", "knight", 4, 7),
    Card("k5-7", "knight", "knight", 5, 7),
    Card("k6-8", "knight", "knight", 6, 8),
    Card("k7-9", "knight", "knight", 7, 9),
    Card("k1-5b", "knight", "knight", 1, 5, backward=True),
    Card("any4-8", "king", "royal", 4, 8),
    Card("silver1-7", "king", "royal", 1, 7, colour="silver"),
    Card("bronze1-7", "king", "royal", 1, 7, colour="bronze"),
    Card("any1-5b", "king", "royal", 1, 5, backward=True),
    Card("ring-silver", "king", "ring", colour="silver"),
    Card("ring-bronze", "king", "ring", colour="bronze"),
    Card("ring-any", "king", "ring", copies=2),
    Card("all", "scoring", "all"),
    Card("reversed", "scoring", "reversed"),
    Card("colors", "scoring", "colors", penalty=-15),
    Card("carpet", "scoring", "carpet", penalty=-25),
    Card("reds", "scoring", "reds", penalty=-50),
    Card("choice", "scoring", "choice", 1, 3),
)

WHEEL = (0, 10, 8, 7, 6, 5, 4, 3, 2, 1, -1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12, -13, -14, -15, 0, 0, 0)

RECONSTRUCTED = (
    "the knight cards `k4-7`, `k5-7` and `k6-8`",
    "the king card `bronze1-7`",
    "how many ring cards there are of each colour (one silver, one bronze, two for any prince)",
    "where the carpet lies relative to the crown seats",
)

_ACTIONS_BY_PILE = {
    "knight": ("knight",),
    "king": ("royal", "ring"),
    "scoring": ("all", "reversed", "colors", "carpet", "reds", "choice"),
}


@dataclass(frozen=True)
class Components(Box):
    """The box. The default is the published game as far as it is known (see `RECONSTRUCTED`).

    Attributes:
        wheel: Value of a seat by its distance behind the King (0..27); the crown plate, distance 0, must be 0.
            Positive values are green, negative red, the zeros other than the crown plate yellow.
        carpet: Seats on the carpet. They are fixed; the wheel turns above them.
        crown_seats: Seats of the royals at the deal: the King (silver), a bronze prince, a silver prince, a bronze
            prince.
        cards: The deck of each player, in deck order.

    Raises:
        ValueError: If the parts don't fit together; the message names the part.
    """

    wheel: tuple[int, ...] = WHEEL
    carpet: tuple[int, ...] = (0, 1, 2, 14, 15, 16)
    crown_seats: tuple[int, ...] = (0, 7, 14, 21)
    cards: tuple[Card, ...] = CARDS

    def __post_init__(self) -> None:
        for name in ("wheel", "carpet", "crown_seats"):  # accept lists and arrays; a frozen box must be hashable
            object.__setattr__(self, name, _whole_numbers(name, getattr(self, name)))
        cards = tuple(self.cards) if isinstance(self.cards, Iterable) else (self.cards,)
        if not all(isinstance(card, Card) for card in cards):
            raise ValueError(f"cards needs Card objects, got {shown(self.cards)}")
        object.__setattr__(self, "cards", cards)
        if len(self.wheel) != NUM_SEATS or self.wheel[0] != 0 or any(not -100 <= value <= 100 for value in self.wheel):
            raise ValueError(
                f"wheel needs {NUM_SEATS} values in -100..100 and 0 for the crown plate, got {shown(self.wheel)}"
            )
        _check_seats("carpet", self.carpet)
        _check_seats("crown_seats", self.crown_seats)
        if len(self.crown_seats) != NUM_ROYALS:
            raise ValueError(f"crown_seats needs {NUM_ROYALS} seats, got {shown(self.crown_seats)}")
        for card in self.cards:
            _check_card(card)
        names = [card.name for card in self.cards]
        if len(set(names)) != len(names):
            raise ValueError(f"cards: each name may occur only once (use copies=), got {shown(names)}")
        scoring = [card.action for card in self.cards if card.pile == "scoring" and card.action != "choice"]
        if len(set(scoring)) != len(scoring):
            raise ValueError(f"cards: each scoring action may occur only once (use copies=), got {shown(scoring)}")
        order = [PILES.index(card.pile) for card in self.cards]
        if order != sorted(order):
            raise ValueError("cards: knight cards come first, then king cards, then scoring cards")
        sizes = self.pile_sizes
        dealt = max(rules.dealt_per_pile for rules in RULE_SETS.values())
        if min(sizes[:2]) < dealt:
            raise ValueError(
                f"cards: at least {dealt} knight and {dealt} king cards are dealt, got {sizes[0]} and {sizes[1]}"
            )
        if sum(sizes) > MAX_CARDS:
            raise ValueError(f"cards: at most {MAX_CARDS} a player, got {shown(sum(sizes))}")
        for name, rules in RULE_SETS.items():
            if self.deck_size(rules) % rules.cards_a_turn:
                raise ValueError(
                    f"cards: {name} players play {rules.cards_a_turn} a turn, so their number of cards must be a "
                    f"multiple of it, got {self.deck_size(rules)}"
                )

    @cached_property
    def deck(self) -> tuple[Card, ...]:
        """All cards of one player, each copy separately, in deck order."""
        return tuple(card for card in self.cards for _ in range(card.copies))

    @cached_property
    def pile_sizes(self) -> tuple[int, int, int]:
        """Number of knight, king and scoring cards a player has."""
        knight, king, scoring = (sum(card.copies for card in self.cards if card.pile == pile) for pile in PILES)
        return knight, king, scoring

    def deck_size(self, rules: RuleSet) -> int:
        """Number of cards in a player's deck in this rule set."""
        return sum(self.pile_sizes[: len(rules.piles)])

    __hash__ = Box.__hash__

    def replace(self, **changes: Any) -> Components:
        """A copy with other parts. `cards` may be a dict of name -> changed fields, e.g. `{"k4-7": {"high": 8}}`."""
        cards = changes.get("cards")
        if isinstance(cards, dict):
            unknown = sorted(set(cards) - {card.name for card in self.cards})
            if unknown:
                raise ValueError(f"cards: no card is called {', '.join(unknown)}")
            try:
                changes["cards"] = tuple(replace(card, **cards.get(card.name, {})) for card in self.cards)
            except TypeError as error:
                raise ValueError(f"cards: {error}") from None
        return replace(self, **changes)

    @classmethod
    def parts(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """The same parts, with the cards as `Card` objects."""
        return {**data, "cards": tuple(Card(**card) for card in data["cards"])}


def _whole_numbers(name: str, values: Any) -> tuple[int, ...]:
    try:
        numbers: list[Any] = (
            [values] if isinstance(values, (str, Mapping)) else list(values)
        )  # a text doesn't count as a list, even if it is empty
        if not any(isinstance(value, bool) for value in numbers):
            return tuple(operator.index(value) for value in numbers)
    except TypeError:
        pass
    raise ValueError(f"{name} needs whole numbers, got {shown(values)}")


def _check_seats(name: str, seats: tuple[int, ...]) -> None:
    if len(set(seats)) != len(seats) or any(not 0 <= seat < NUM_SEATS for seat in seats):
        raise ValueError(f"{name} needs different seats in 0..{NUM_SEATS - 1}, got {shown(seats)}")


def _check_card(card: Card) -> None:
    name = card.name
    if not isinstance(name, str) or not name.isprintable() or not re.fullmatch(r"[^\s:@>]+", name) or name == "draw":
        raise ValueError(f"cards: {shown(name)} can't be a card's name: moves are written with it (`name:12>17`)")
    if len(name) > LONGEST_NAME:
        raise ValueError(f"cards: a card's name has at most {LONGEST_NAME} letters, got {shown(name)}")
    for field in ("low", "high", "penalty", "copies"):
        if type(getattr(card, field)) is not int:
            raise ValueError(f"card {card.name}: {field} must be a whole number, got {shown(getattr(card, field))}")
    if type(card.backward) is not bool:
        raise ValueError(f"card {card.name}: backward must be true or false, got {shown(card.backward)}")
    if card.pile not in PILES or card.action not in _ACTIONS_BY_PILE[card.pile]:
        raise ValueError(f"card {card.name}: a {shown(card.pile)} card can't have the action {shown(card.action)}")
    moves_figure = card.action in ("knight", "royal", "choice")
    # Steps in both directions must lead to different seats, or a move's text (from > to) would be ambiguous.
    limit = (NUM_SEATS - 1) // 2 if card.backward else NUM_SEATS - 1
    if moves_figure and not 1 <= card.low <= card.high <= limit:
        raise ValueError(f"card {card.name}: steps must be in 1..{limit}, got {shown(card.low)}..{shown(card.high)}")
    if not moves_figure and (card.low or card.high or card.backward):
        raise ValueError(f"card {card.name}: a card that moves nothing has no steps")
    if card.colour not in (None, *COLOURS):
        raise ValueError(f"card {card.name}: colour must be silver, bronze or None, got {shown(card.colour)}")
    if card.colour is not None and card.action not in ("royal", "ring", "choice"):
        raise ValueError(f"card {card.name}: only cards for princes and the King have a colour")
    if card.penalty and card.action not in ("colors", "carpet", "reds"):
        raise ValueError(f"card {card.name}: {card.action} cards have no penalty")
    if not -100 <= card.penalty <= 100 or card.copies < 1:
        raise ValueError(f"card {card.name}: needs a penalty in -100..100 and at least one copy")


STANDARD = Components()
