"""Positions as plain data for games that want no form of their own: the fields of the state record by name.

A field has whole numbers, in any shape; the first dimension may be the seats. A set of cards may be a number, bit c for
card c.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from artus_env.engine.basics.numbers import whole_number
from artus_env.engine.basics.reading import check_keys, check_names, list_of, one_of, shown

MOST = (1 << 53) - 1
"""The largest number in a position: all readers of JSON keep it."""


class PlainPositions:
    """Writes and reads the positions of a game: `to_dict` and `from_dict` of its `Definition`.

    Args:
        game: Its name, which positions have as `game`.
        rules: Names of its rule sets: `rules` of a position is one of them, in place of the field `rule_set`.
        state_dtype: The state record.
            A field whose first dimension is that of `scores` has a part for each seat, and positions have as many
            parts as there are players.
        sets: Fields whose numbers are sets of cards, which are written as lists.
        hidden: Fields that are left out of what a player knows; where there is a part for each seat, the player's own
            is there, and the others are null.
        counted: Those of the hidden fields of which a player knows how many: the cards of all sets, or the sum of all
            numbers, stands in place of what is left out.
        common: Fields that have no part for each seat, though their first dimension is as long.
        fault: (states, components) -> what is wrong with a position, "" if nothing; begins with the name of a field.
            The state has shape (1,); each field has been checked by itself.

    Raises:
        ValueError: If a field has other numbers than whole ones, or what is said of the fields doesn't fit.
    """

    def __init__(
        self,
        game: str,
        rules: Sequence[str],
        state_dtype: np.dtype,
        sets: Sequence[str] = (),
        hidden: Sequence[str] = (),
        fault: Callable[[np.ndarray, Any], str] = lambda states, components: "",
        *,
        counted: Sequence[str] = (),
        common: Sequence[str] = (),
    ) -> None:
        self.game = game
        self.rules = tuple(rules)
        self.state_dtype = state_dtype
        self.sets = frozenset(sets)
        self.hidden = frozenset(hidden)
        self.counted = frozenset(counted)
        self.fault = fault
        self.fields = [name for name in state_dtype.names or () if name != "rule_set"]
        self.keys = ("game", "rules", *self.fields)
        self.seats = state_dtype["scores"].shape[0]
        self.by_seat = {name for name in self.fields if state_dtype[name].shape[:1] == (self.seats,)} - set(common)
        for name in self.fields:
            if state_dtype[name].base.kind not in "iu":
                raise ValueError(f"{game}: {name} must be whole numbers, not {state_dtype[name].base}")
        for name in (*sets, *hidden, *counted, *common):
            if name not in self.fields:
                raise ValueError(f"{game}: there is no field {name}")
        for name in counted:
            if name not in self.hidden:
                raise ValueError(f"{game}: {name} is counted, but not hidden")

    def to_dict(self, state: np.void, components: Any, player: int | None = None) -> dict[str, Any]:
        """A position as plain data; with `player`, only what they may know."""
        players = int(state["num_players"])
        data: dict[str, Any] = {"game": self.game, "rules": self.rules[int(state["rule_set"])]}
        for name in self.fields:
            secret = player is not None and name in self.hidden
            left = self._count if name in self.counted else lambda name, value: None
            if name in self.by_seat:
                data[name] = [
                    left(name, value) if secret and seat != player else self._plain(name, value)
                    for seat, value in enumerate(state[name][:players])
                ]
            elif not secret:
                data[name] = self._plain(name, state[name])
            elif name in self.counted:
                data[name] = self._count(name, state[name])
        return data

    def _plain(self, name: str, value: Any) -> int | list[Any]:
        if np.ndim(value):
            return [self._plain(name, part) for part in value]
        bits = int(value)
        return [bit for bit in range(bits.bit_length()) if bits >> bit & 1] if name in self.sets else bits

    def _count(self, name: str, value: Any) -> int:
        return sum(number.bit_count() if name in self.sets else number for number in map(int, np.ravel(value)))

    def from_dict(self, data: Any, components: Any) -> np.ndarray:
        """The position as a state: shape (1,).

        Raises:
            ValueError: If anything is missing, unknown or doesn't fit; the message names it.
        """
        check_keys(data, self.keys)
        one_of("game", data["game"], (self.game,))
        rule_set = one_of("rules", data["rules"], self.rules)
        players = whole_number("num_players", data["num_players"], 2, self.seats)
        whole_number("player", data["player"], 0, players - 1)
        states = np.zeros(1, self.state_dtype)
        state = states[0]
        state["rule_set"] = rule_set
        for name in self.fields:
            shape = state[name].shape
            if name in self.by_seat:
                state[name][:players] = self._numbers(name, name, data[name], (players, *shape[1:]))
            else:
                state[name] = self._numbers(name, name, data[name], shape)
        wrong = self.fault(states, components)
        if wrong:
            raise ValueError(wrong)
        return states

    def _numbers(self, field: str, name: str, value: Any, shape: tuple[int, ...]) -> Any:
        """The values of a field, or of a part of it, from plain data: lists of this shape."""
        if not shape:
            return self._number(field, name, value)
        parts = list_of(name, value, shape[0])
        return [self._numbers(field, f"{name}[{k}]", part, shape[1:]) for k, part in enumerate(parts)]

    def _number(self, field: str, name: str, value: Any) -> int:
        """The value of a field from plain data; messages call it by `name`."""
        bounds = np.iinfo(self.state_dtype[field].base)
        if field not in self.sets:
            return whole_number(name, value, max(int(bounds.min), -MOST), min(int(bounds.max), MOST))
        if not isinstance(value, list):
            raise ValueError(f"{name} must be a list, got {shown(value)}")
        bits = [whole_number(f"{name}[{k}]", bit, 0, bounds.bits - 2) for k, bit in enumerate(value)]
        if sorted(set(bits)) != bits:
            raise ValueError(f"{name} must rise, got {shown(value)}")
        return sum(1 << bit for bit in bits)


def plain_lines(position: dict[str, Any], names: Sequence[str] | None = None) -> list[str]:
    """A position as text, a line for each of its parts.

    Args:
        position: As from `to_dict`.
        names: Who plays, instead of "player 0", ...

    Raises:
        ValueError: If `names` doesn't name every player.
    """
    players = int(position["num_players"])
    if names is not None:
        check_names("names", names, players)
    seats = [f"players: {' · '.join(names)}"] if names else []
    parts = ((key, value if isinstance(value, str) else json.dumps(value)) for key, value in position.items())
    return [*seats, *(f"{key}: {text}" for key, text in parts)]
