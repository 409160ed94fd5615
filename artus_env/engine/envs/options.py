"""Options of the environments' `reset(options=...)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from artus_env.engine.basics.reading import printable, shown
from artus_env.engine.contract.definition import Definition
from artus_env.engine.play import kernels


def read_options(options: Mapping[str, Any] | None, known: Sequence[str]) -> dict[str, Any]:
    """Return the given options, without those set to None.

    Raises:
        TypeError: If they aren't a mapping.
        ValueError: If there is an unknown option, or both a position and a start player.
    """
    if options is not None and not isinstance(options, Mapping):
        raise TypeError(f"options must be a dict with some of {', '.join(known)}, got {shown(options)}")
    unknown = [printable(str(name)) for name in options or {} if name not in known]
    if unknown:
        raise ValueError(f"options: {', '.join(unknown)} unknown; there are {', '.join(known)}")
    given_options = {name: value for name, value in (options or {}).items() if value is not None}
    if "position" in given_options and "start_player" in given_options:
        raise ValueError("options: start_player and position exclude each other, a position knows who started")
    return given_options


def read_position(position: Any, definition: Definition, components: Any, rules: str, num_players: int) -> np.ndarray:
    """Return a position as a state: shape (1,), the state dtype.

    Raises:
        ValueError: If the position is invalid, of another variant, or at the end of a game.
    """
    states = definition.from_dict(position, components)
    variant = definition.rules[int(states[0]["rule_set"])], int(states[0]["num_players"])
    if variant != (rules, num_players):
        raise ValueError(
            f"position: it belongs to {variant[0]} with {variant[1]} players, this is {rules} with {num_players}"
        )
    if kernels.over_one(definition.build_tables(components), states):
        raise ValueError("position: the game is over there")
    return states
