"""What a game hands to the engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from artus_env.engine.numbers import is_whole, whole_number
from artus_env.engine.reading import shown


@dataclass(frozen=True)
class Definition:
    """One game: its data types, its compiled loops and its text forms.

    A state record has the fields `player`, `phase`, `num_players`, `advanced` (number of the rule set) and `scores`.
    """

    name: str
    rules: tuple[str, ...]  # names of the rule sets
    rules_version: int
    min_players: int
    max_players: int
    standard: Any  # the standard components; they have hash, to_dict() and from_dict()
    components_type: type
    state_dtype: np.dtype
    over: int  # the phase of finished games
    mask_words: int
    build_tables: Callable[[Any], np.ndarray]
    action_table: Callable[[Any], tuple[Any, ...]]
    observation_bounds: Callable[[Any], tuple[np.ndarray, np.ndarray]]
    kernels: ModuleType
    move_text: Callable[[int, np.ndarray, Any, np.ndarray], str]
    action_meaning: Callable[[int, Any], str]
    actions_like: Callable[[str, Any], tuple[int, ...]]  # the actions whose text can be this one, legal or not
    render: Callable[..., str]
    picture: Callable[..., str]  # a position as from `to_dict` as SVG
    to_dict: Callable[..., dict[str, Any]]
    from_dict: Callable[..., np.ndarray]

    def box(self, components: Any) -> Any:
        """The given components, the standard ones for None.

        Raises:
            TypeError: If they are no components.
        """
        if components is not None and not isinstance(components, self.components_type):
            raise TypeError(f"components must be {self.components_type.__name__}, got {components!r}")
        return self.standard if components is None else components

    def check_variant(self, rules: str, num_players: int, start_player: int | None = None) -> None:
        """Raise a ValueError that says what is wrong with a variant's name, number of players or start player."""
        if rules not in self.rules:
            raise ValueError(f"rules must be one of {', '.join(self.rules)}, got {shown(rules)}")
        if not is_whole(num_players) or not self.min_players <= num_players <= self.max_players:
            raise ValueError(f"num_players must be {self.min_players}..{self.max_players}, got {shown(num_players)}")
        if start_player is not None:
            whole_number("start_player", start_player, 0, num_players - 1)
