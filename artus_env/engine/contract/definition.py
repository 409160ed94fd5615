"""What a game hands to the engine."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from artus_env.engine.basics.numbers import is_whole, whole_number
from artus_env.engine.basics.reading import shown
from artus_env.engine.basics.wording import did_you_mean
from artus_env.engine.compiling.sources import code_hash, values_hash
from artus_env.engine.contract import verbs
from artus_env.engine.contract.positions import plain_lines


def any_action(move: str, components: Any) -> None:
    # What stands for `Definition.actions_like` where a game can't tell quickly which actions a text may mean. (As a
    # docstring it would be that attribute's, too.)
    return None


class DocTable(NamedTuple):
    """A table for the documentation."""

    head: Sequence[Any]
    rows: Sequence[Sequence[Any]]
    below: Sequence[str] = ()
    """Paragraphs."""


@dataclass(frozen=True, kw_only=True)
class Definition:
    """One game: its data types, its verbs and its text forms. To make one is to make its verbs known.

    Attributes:
        name: As in `game="..."`, file names and records: small letters, digits and hyphens.
        title: As people call it.
        rules: Names of the rule sets; the first is the default.
        rules_version: Changes when a record would no longer replay to the same game.
        min_players, max_players: How many can play.
        score: What the points of the score are called; also the reward mode that pays them as they
            come.
        verbs: Modules or objects with the game's verbs (see `artus_env.engine.contract.verbs`).
        standard: The standard components. They are hashable, are read by the functions below, and have `hash`: up
            to 64 hexadecimal digits that tell them from all others, which are of the same class.
        state_dtype: The record of one game (see `artus_env.engine.contract.verbs` for the fields that it must have).
        build_tables: components -> what compiled code knows of the box: shape (1,), a structured dtype that no other
            game has, read-only.
        action_table: components -> one entry for each action id.
        observation_bounds: components -> lowest and highest value of each feature: shapes (F,), int8.
        observation_scale: components -> factors that make small floats of the features, most of them within -1..1:
            shape (F,), float32; None: by the bounds, all within -1..1.
        to_dict: (state, components, player) -> the position as plain data; for a player only what they may know.
        from_dict: (data, components) -> the state of a position: shape (1,). Raises a ValueError that names the fault.
        move_text: (action, states, components, tables) -> the text of a legal action, unique among the legal ones.
        render: (states, components, player, names) -> the position as text; None: the position, part by part.
        picture: (position, components, ...) -> a position as SVG, see `artus_env.engine.drawing.render.draw`; None: its
            text is drawn.
        colours: theme ("light" or "dark") -> the flat colours of its pictures, as `#rrggbb`: a film keeps them as they
            are.
        action_meaning: (action, components) -> what an action means in any position.
        actions_like: (move, components) -> the actions whose text can be this one; None: it may be any.
        evaluation_weight: What `evaluate` is given as the weight of what a player holds.
        evaluation_deals: In how many deals `lookahead` judges an action: 1 where `evaluate` looks at nothing hidden.
        search_turns: How many more turns of the searching player the policy plays before `ppo-search` judges what it
            tries; None: it grows a tree, and judges every position that it reaches there.
        action_feature_gates: What ten units of each action feature add to the logit of an action before a policy has
            learned: one number for each, or none for zeros.
        sentences, browser, page: For the page in the browser (see `artus_training.play.of_game`): sentences about
            moves, data for a script, the folder with that script. None: moves are chosen from a list.
        trained: Folder with the trained agents that come with the game; None: there are none.
        presets: Folder with settings for trainings, a file for each variant; None: there are none.
        ladder: File with what was measured of each agent (see `artus_training.arena.ladder_file`); None: nothing was.
        doc_tables: Tables for the documentation by name, each a function without arguments that returns a `DocTable`,
            beside those that every game has (see `artus_training.watch.doc_tables`).
        reconstructed: Facts about the box that no public text states.
    """

    name: str
    title: str
    rules: tuple[str, ...] = ("standard",)
    rules_version: int = 1
    min_players: int = 2
    max_players: int
    score: str
    verbs: tuple[Any, ...]
    standard: Any
    state_dtype: np.dtype
    build_tables: Callable[[Any], np.ndarray]
    action_table: Callable[[Any], Sequence[Any]]
    observation_bounds: Callable[[Any], tuple[np.ndarray, np.ndarray]]
    observation_scale: Callable[[Any], np.ndarray] | Any = None
    to_dict: Callable[..., dict[str, Any]]
    from_dict: Callable[..., np.ndarray]
    move_text: Callable[[int, np.ndarray, Any, np.ndarray], str]
    render: Callable[..., str] | Any = None
    picture: Callable[..., str] | None = None
    colours: Callable[[str], Sequence[str]] = lambda theme: ()
    action_meaning: Callable[[int, Any], str] = lambda action, components: f"action {action}"
    actions_like: Callable[[str, Any], Sequence[int] | None] = any_action
    evaluation_weight: float = 0.0
    evaluation_deals: int = 1
    search_turns: int | None = None
    action_feature_gates: tuple[float, ...] = ()
    sentences: Any = None
    browser: Any = None
    page: Any = None
    trained: Any = None
    presets: Any = None
    ladder: Any = None
    doc_tables: Any = None
    reconstructed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        tables = self.build_tables(self.standard)
        verbs.register(self.name, tables.dtype, self.verbs)
        missing = {"player", "num_players", "rule_set", "scores"} - set(self.state_dtype.names or ())
        if missing:
            raise ValueError(f"{self.name}: the state record lacks the fields {', '.join(sorted(missing))}")
        if not re.fullmatch("[0-9a-f]{1,64}", self.standard.hash):
            raise ValueError(f"{self.name}: hash must be 1 to 64 hexadecimal digits, got {shown(self.standard.hash)}")
        actions, most = len(self.action_table(self.standard)), 64 * self.mask_words
        if actions > most:
            raise ValueError(
                f"{self.name}: {actions} actions need more words than mask_words says, which are for {most}"
            )
        if self.action_feature_gates and len(self.action_feature_gates) != self.num_action_features:
            raise ValueError(
                f"{self.name}: action_feature_gates must be {self.num_action_features} numbers, one for each feature"
            )
        defaults = {"observation_scale": self._scale_by_bounds, "render": self._render_plainly}
        for name, function in defaults.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, function)

    def _scale_by_bounds(self, components: Any) -> np.ndarray:
        low, high = (bounds.astype(np.float32) for bounds in self.observation_bounds(components))
        return 1 / np.maximum(1, np.maximum(np.abs(low), np.abs(high)))

    def _render_plainly(
        self, states: np.ndarray, components: Any, player: int | None = None, names: Sequence[str] | None = None
    ) -> str:
        return "\n".join(plain_lines(self.to_dict(states[0], components, player), names))

    @property
    def components_type(self) -> type:
        """The class of all components."""
        return type(self.standard)

    @cached_property
    def num_action_features(self) -> int:
        """Numbers that the verb `action_features` tells of an action."""
        return int(verbs.as_python(verbs.num_action_features, self.build_tables(self.standard)[0]))

    @property
    def rules_hash(self) -> str:
        """Hash of the code of the verbs, and of the values that they take from elsewhere: 16 hex digits."""
        functions = verbs.functions_of(self.build_tables(self.standard).dtype)
        codes = [code_hash(module) for module in sorted({function.__module__ for function in functions})]
        return hashlib.sha256(repr((codes, values_hash(*functions))).encode()).hexdigest()[:16]

    @cached_property
    def mask_words(self) -> int:
        """Words of 64 bits that a set of actions takes."""
        return int(verbs.as_python(verbs.mask_words, self.build_tables(self.standard)[0]))

    def box(self, components: Any) -> Any:
        """The given components, the standard ones for None.

        Raises:
            TypeError: If they are no components.
        """
        if components is not None and not isinstance(components, self.components_type):
            raise TypeError(f"components must be {self.components_type.__name__}, got {components!r}")
        return self.standard if components is None else components

    def check_variant(self, rules: str | None, num_players: int, start_player: int | None = None) -> str:
        """The name of the rule set: the first one for None.

        Raises:
            ValueError: If there is no such rule set, number of players or start player; the message says what there is.
        """
        if rules is None:
            rules = self.rules[0]
        if rules not in self.rules:
            guess = did_you_mean(rules, self.rules)
            raise ValueError(f"rules must be one of {', '.join(self.rules)}, got {shown(rules)}{guess}")
        if not is_whole(num_players) or not self.min_players <= num_players <= self.max_players:
            raise ValueError(f"num_players must be {self.min_players}..{self.max_players}, got {shown(num_players)}")
        if start_player is not None:
            whole_number("start_player", start_player, 0, num_players - 1)
        return rules
