"""Positions as plain data, ready for JSON: which parts of the state record they show, in which form, and to whom.

A position is an object with a key for each *part*. By default the parts are the fields of the state record, in its
order: whole numbers in lists of their shape. A game may define its own parts: other keys, names instead of numbers,
lists instead of arrays that are padded with -1.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from artus_env.engine.basics.numbers import whole_number
from artus_env.engine.basics.reading import check_keys, check_names, list_of, one_of, shown, some_of

MOST = (1 << 53) - 1
"""The largest number in a position: all JSON readers represent it exactly."""

Bound = int | Callable[[np.void, Any], int]
"""A number, or a function of the state, as far as it has been read, and the components."""
Names = Sequence[str] | Callable[[Any], Sequence[str]]
"""Names in the order of their numbers, or a function of the components that returns them."""


class Form(Protocol):
    """Form in which a value of a state is written as plain data, and read again."""

    def write(self, value: Any, state: np.void, components: Any) -> Any:
        """Return plain data for a value."""

    def read(self, name: str, data: Any, state: np.void, components: Any) -> Any:
        """Return the value; messages call it `name`. Raises a ValueError that names the error in the data."""


def _names(names: Names, components: Any) -> Sequence[str]:
    return names(components) if callable(names) else names


@dataclass(frozen=True)
class Number:
    """A whole number within bounds."""

    low: Bound = 0
    high: Bound = MOST

    def write(self, value: Any, state: np.void, components: Any) -> int:
        """The number."""
        return int(value)

    def read(self, name: str, data: Any, state: np.void, components: Any) -> int:
        """The number."""
        low, high = (bound(state, components) if callable(bound) else bound for bound in (self.low, self.high))
        return whole_number(name, data, low, high)


SEAT = Number(0, lambda state, components: int(state["num_players"]) - 1)
"""Form of a player's number."""


@dataclass(frozen=True)
class Choice:
    """A number, written as its name."""

    names: Names

    def write(self, value: Any, state: np.void, components: Any) -> str:
        """The name."""
        return _names(self.names, components)[int(value)]

    def read(self, name: str, data: Any, state: np.void, components: Any) -> int:
        """The number."""
        return one_of(name, data, _names(self.names, components))


@dataclass(frozen=True)
class Each:
    """An array, written as a list of its values."""

    form: Form
    length: Bound

    def write(self, value: Any, state: np.void, components: Any) -> list[Any]:
        """The list."""
        return [self.form.write(part, state, components) for part in value]

    def read(self, name: str, data: Any, state: np.void, components: Any) -> list[Any]:
        """The values."""
        length = self.length(state, components) if callable(self.length) else self.length
        parts = enumerate(list_of(name, data, length))
        return [self.form.read(f"{name}[{k}]", part, state, components) for k, part in parts]


@dataclass(frozen=True)
class Members:
    """A set of bits, written as the list of its members in rising order: names, or numbers below a bound."""

    names: Names = ()
    below: Bound = 63

    def write(self, value: Any, state: np.void, components: Any) -> list[Any]:
        """The list."""
        names, bits = _names(self.names, components), int(value)
        members = [bit for bit in range(bits.bit_length()) if bits >> bit & 1]
        return [names[bit] for bit in members] if names else members

    def read(self, name: str, data: Any, state: np.void, components: Any) -> int:
        """The bits."""
        below = self.below(state, components) if callable(self.below) else self.below
        if names := _names(self.names, components):
            members = some_of(name, data, names)
        else:
            members = [whole_number(f"{name}[{k}]", bit, 0, below - 1) for k, bit in enumerate(list_of(name, data))]
        if sorted(set(members)) != members:
            raise ValueError(f"{name} must rise, got {shown(data)}")
        return sum(1 << bit for bit in members)


@dataclass(frozen=True)
class Row:
    """Numbers in an array that is padded with -1, written as the list of their names.

    Attributes:
        names: Names of the numbers.
        length: Length of the array.
        at_end: Whether the numbers stand at its end.
    """

    names: Names
    length: int
    at_end: bool = False

    def write(self, value: Any, state: np.void, components: Any) -> list[str]:
        """The names."""
        names = _names(self.names, components)
        return [names[number] for number in value.tolist() if number >= 0]

    def read(self, name: str, data: Any, state: np.void, components: Any) -> list[int]:
        """The array."""
        numbers = some_of(name, data, _names(self.names, components))
        if len(numbers) > self.length:
            raise ValueError(f"{name} has at most {self.length} parts, got {len(numbers)}")
        padding = [-1] * (self.length - len(numbers))
        return padding + numbers if self.at_end else numbers + padding


@dataclass(frozen=True)
class Part:
    """One key of a position.

    Attributes:
        key: The key.
        form: Form in which it is written and read.
        field: Field of the state; "": the field named like the key; None: no field: the form gets the state as the
            value, and writes the data into the state itself. Such parts are read last.
        by_seat: Whether it is a list with one value per player.
        hidden: (state, seat, viewer) -> whether the value is hidden from the viewer; `seat` is -1 unless `by_seat`.
        count: (state, seat, data, components) -> replacement for hidden data, computed from the state or these data.
            None: hidden data are null in a list by seats; otherwise the key is omitted.
    """

    key: str
    form: Form
    field: str | None = ""
    by_seat: bool = False
    hidden: Callable[[np.void, int, int], bool] | None = None
    count: Callable[[np.void, int, Any, Any], Any] | None = None


def from_others(state: np.void, seat: int, viewer: int) -> bool:
    """Whether the viewer isn't the player in that seat."""
    return seat != viewer


class Positions:
    """Conversion of a game's positions to plain data and back: `to_dict` and `from_dict` of its `Definition`.

    Args:
        game: Name of the game, in positions under the key `game`.
        rules: Names of its rule sets: `rules` of a position is one of them, in place of the field `rule_set`.
        state_dtype: The state record.
        parts: The keys after `game`, `rules` and `num_players`, in order. None: the fields of the state; a field with
            the same first dimension as `scores` has a part for each seat. The next four arguments are for this case.
        sets: Fields whose numbers are sets of cards (bit c: card c); they are written as lists.
        hidden: Fields that are omitted for a player; of a field with a part for each seat, the player's own part is
            shown, and the others are null.
        counted: Hidden fields whose count a player knows: the number of cards in all sets, or the sum of all numbers,
            replaces the omitted value.
        common: Fields without a part for each seat, although their first dimension has that size.
        check: (state, components) -> raises a ValueError that names the error in a position whose parts are each valid.
            It may also fill in fields that follow from the others.
        named: Whether positions have the key `game`.

    Raises:
        ValueError: If a field has numbers other than whole ones, or the arguments don't fit the fields.
    """

    def __init__(
        self,
        game: str,
        rules: Sequence[str],
        state_dtype: np.dtype,
        parts: Sequence[Part] | None = None,
        *,
        sets: Sequence[str] = (),
        hidden: Sequence[str] = (),
        counted: Sequence[str] = (),
        common: Sequence[str] = (),
        check: Callable[[np.void, Any], None] = lambda state, components: None,
        named: bool = True,
    ) -> None:
        self.game = game
        self.rules = tuple(rules)
        self.state_dtype = state_dtype
        self.seats = state_dtype["scores"].shape[0]
        self.check = check
        fields = [name for name in state_dtype.names or () if name not in ("rule_set", "num_players")]
        for name in (*sets, *hidden, *counted, *common):
            if name not in fields:
                raise ValueError(f"{game}: there is no field {name}")
        for name in counted:
            if name not in hidden:
                raise ValueError(f"{game}: {name} is counted, but not hidden")
        if parts is None:
            parts = [self._part(name, name in sets, name in hidden, name in counted, name in common) for name in fields]
        self.parts = tuple(parts)
        self.head = ("game", "rules", "num_players") if named else ("rules", "num_players")
        self.keys = (*self.head, *(part.key for part in parts))

    def _part(self, name: str, is_set: bool, is_hidden: bool, is_counted: bool, is_common: bool) -> Part:
        """Return the default part for a field of the state."""
        dtype = self.state_dtype[name]
        if dtype.base.kind not in "iu":
            raise ValueError(f"{self.game}: {name} must be whole numbers, not {dtype.base}")
        if name == "player":
            return Part(name, SEAT)
        bounds = np.iinfo(dtype.base)
        low, high = max(int(bounds.min), -MOST), min(int(bounds.max), MOST)
        form: Form = Members(below=bounds.bits - 1) if is_set else Number(low, high)
        by_seat = dtype.shape[:1] == (self.seats,) and not is_common
        for length in reversed(dtype.shape[by_seat:]):
            form = Each(form, length)
        return Part(
            name,
            form,
            by_seat=by_seat,
            hidden=from_others if is_hidden else None,
            count=(lambda state, seat, data, components: _total(data, is_set)) if is_counted else None,
        )

    def to_dict(self, state: np.void, components: Any, player: int | None = None) -> dict[str, Any]:
        """Return a position as plain data; with `player`, only the parts that they may know."""
        players = int(state["num_players"])
        head = {"game": self.game, "rules": self.rules[int(state["rule_set"])], "num_players": players}
        data: dict[str, Any] = {key: head[key] for key in self.head}
        for part in self.parts:
            value = state if part.field is None else state[part.field or part.key]
            if part.by_seat:
                data[part.key] = [
                    self._known_data(part, value[seat], state, components, seat, player) for seat in range(players)
                ]
            elif (known_data := self._known_data(part, value, state, components, -1, player)) is not None:
                data[part.key] = known_data
        return data

    def _known_data(
        self, part: Part, value: Any, state: np.void, components: Any, seat: int, player: int | None
    ) -> Any:
        """Return a value as plain data as far as a player knows it; None: not at all."""
        data = part.form.write(value, state, components)
        if player is None or part.hidden is None or not part.hidden(state, seat, player):
            return data
        return part.count(state, seat, data, components) if part.count else None

    def from_dict(self, data: Any, components: Any) -> np.ndarray:
        """Return the position as a state: shape (1,).

        Raises:
            ValueError: If anything is missing, unknown or doesn't fit; the message names it.
        """
        check_keys(data, self.keys)
        if "game" in self.keys:
            one_of("game", data["game"], (self.game,))
        states = np.zeros(1, self.state_dtype)
        state = states[0]
        state["rule_set"] = one_of("rules", data["rules"], self.rules)
        players = whole_number("num_players", data["num_players"], 2, self.seats)
        state["num_players"] = players
        for part in sorted(self.parts, key=lambda part: part.field is None):
            form = Each(part.form, players) if part.by_seat else part.form
            value = form.read(part.key, data[part.key], state, components)
            if part.field is not None and part.by_seat:
                state[part.field or part.key][:players] = value
            elif part.field is not None:
                state[part.field or part.key] = value
        self.check(state, components)
        return states


def _total(data: Any, is_set: bool) -> int:
    """Number of cards in nested lists of cards, or sum of the numbers in nested lists."""
    if not isinstance(data, list):
        return 1 if is_set else int(data)
    return sum(_total(part, is_set) for part in data)


def plain_lines(position: dict[str, Any], names: Sequence[str] | None = None) -> list[str]:
    """Return a position as text, one line for each of its parts.

    Args:
        position: As from `to_dict`.
        names: Names of the players, instead of "player 0", ...

    Raises:
        ValueError: If `names` doesn't name every player.
    """
    players = int(position["num_players"])
    if names is not None:
        check_names("names", names, players)
    name_lines = [f"players: {' · '.join(names)}"] if names else []
    parts = ((key, value if isinstance(value, str) else json.dumps(value)) for key, value in position.items())
    return [*name_lines, *(f"{key}: {text}" for key, text in parts)]
