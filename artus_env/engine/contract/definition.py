"""Definition of a game: everything that the engine needs from it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from artus_env.engine.basics.numbers import is_whole, whole_number
from artus_env.engine.basics.reading import shown
from artus_env.engine.basics.wording import did_you_mean
from artus_env.engine.compiling import dispatch
from artus_env.engine.compiling.sources import code_hash, values_hash
from artus_env.engine.contract import verbs
from artus_env.engine.contract.layout import Feature, Layout
from artus_env.engine.contract.page import Browser, Sentences
from artus_env.engine.contract.positions import Positions, plain_lines
from artus_env.engine.contract.state import marked


class HasHash(Protocol):
    """Components: any hashable object with a `hash` that differs from the hashes of all other components of its
    game."""

    @property
    def hash(self) -> str:
        """Up to 64 hexadecimal digits."""


class DocTable(NamedTuple):
    """A table for the documentation."""

    head: Sequence[Any]
    rows: Sequence[Sequence[Any]]
    below: Sequence[str] = ()
    """Paragraphs below the table."""


def observation_table(rows: Sequence[Sequence[object]]) -> DocTable:
    """Make a table from the lines of `Layout.rows`."""
    several = any(" x " in str(size) for _, size, *_ in rows)
    meaning = "meaning (of the first)" if several else "meaning"
    return DocTable(["index", "size", "block", "range", "scale", "as floats", meaning], rows)


@dataclass(frozen=True, kw_only=True)
class Definition:
    """One game: its data types, its verbs and its text forms. Making a definition registers its verbs.

    Functions take the components as `Any`: each game has its own class of them, known only to its own functions.

    Attributes:
        name: Name in `game="..."`, file names and records: small letters, digits and hyphens.
        title: Name for people.
        description: Course of the game and how to win, in a few sentences; part of its environments' docstrings.
        rules: Names of the rule sets; the first is the default.
        rules_version: Changes when a record would no longer replay to the same game.
        min_players, max_players: Allowed numbers of players.
        score: Name of the score's points; also of the reward mode that pays them move by move.
        verbs: Modules or objects with the game's verbs (see `artus_env.engine.contract.verbs`); if several have a verb,
            the first one counts.
        standard: The standard components: a hashable object with an attribute `hash`, up to 64 hexadecimal digits that
            distinguish it from all other components of the game. These are objects of the same class.
        state_dtype: Record of one game (see `artus_env.engine.contract.verbs` for its required fields).
        build_tables: components -> data about them for compiled code: shape (1,), a structured dtype. The definition
            adds a field named after the game, by which compiled code distinguishes games, makes the tables read-only,
            and caches those of recent components.
        action_table: components -> one entry for each action id.
        max_actions: Largest number of actions of any components; None: the number of the standard ones.
        features: components -> blocks of an observation in order: names, sizes, bounds, scales and meanings.
        positions: Converts states to plain data, without hidden parts if it is for a player, and back.
        move_text: (action, states, components, tables) -> text of a legal action, unique among the legal ones.
        render: (states, components, player, names) -> position as text; None: one line for each part of the position.
        picture: (position, components, ...) -> position as SVG, see `artus_env.engine.drawing.render.draw`; None: its
            text is drawn.
        colours: theme ("light" or "dark") -> flat colours of its pictures, as `#rrggbb`, which stay exact in a film.
        action_meaning: (action, components) -> meaning of an action in any position.
        parse_move: (text, states, components, tables) -> action of the player to move with this text, legal or not;
            None if there is none. Without this function the text is compared with the texts of all legal actions.
        evaluation_weight: Weight of a player's holdings in `evaluate`.
        evaluation_deals: Number of deals in which `lookahead` evaluates an action: 1 if `evaluate` uses nothing hidden.
        search_turns: Number of further turns of the searching player that the policy plays before `ppo-search`
            evaluates an action; None: it grows a tree and evaluates every position reached in it.
        action_feature_gates: Change of an action's logit, in an untrained policy, by ten units of each action feature:
            one number for each feature; empty: all are 0.
        sentences, browser, page: For the page in the browser (see `artus_env.engine.contract.page`): sentences about
            moves, data for a script, the folder with that script. None: moves are chosen from a list.
        trained: Folder with the trained agents that come with the game; None: there are none.
        presets: Folder with training settings, a file for each variant; None: there are none.
        ladder: File with measurements of each agent (see `artus_training.arena.ladder`); None: there are none.
        doc_tables: Tables for the documentation by name, each a function without arguments that returns a `DocTable`,
            in addition to the tables of every game (see `artus_training.games`).
        reconstructed: Facts about the components that no public text states.
        layout: components -> blocks of an observation with their places; derived from `features`.
    """

    name: str
    title: str
    description: str = ""
    rules: tuple[str, ...] = ("standard",)
    rules_version: int = 1
    min_players: int = 2
    max_players: int
    score: str
    verbs: tuple[object, ...]
    standard: HasHash
    state_dtype: np.dtype
    build_tables: Callable[[Any], np.ndarray]
    action_table: Callable[[Any], Sequence[object]]
    max_actions: int | None = None
    features: Callable[[Any], Sequence[Feature]]
    positions: Positions
    move_text: Callable[[int, np.ndarray, Any, np.ndarray], str]
    render: Callable[..., str] = None  # type: ignore[assignment]  # set in __post_init__
    picture: Callable[..., str] | None = None
    colours: Callable[[str], Sequence[str]] = lambda theme: ()
    action_meaning: Callable[[int, Any], str] = lambda action, components: f"action {action}"
    parse_move: Callable[[str, np.ndarray, Any, np.ndarray], int | None] | None = None
    evaluation_weight: float = 0.0
    evaluation_deals: int = 1
    search_turns: int | None = None
    action_feature_gates: tuple[float, ...] = ()
    sentences: Sentences | None = None
    browser: Browser | None = None
    page: Path | None = None
    trained: Path | None = None
    presets: Path | None = None
    ladder: Path | None = None
    doc_tables: Mapping[str, Callable[[], DocTable]] | None = None
    reconstructed: tuple[str, ...] = ()
    layout: Callable[[Any], Layout] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "build_tables", lru_cache(maxsize=16)(partial(self._tables, self.build_tables)))
        verbs.register(self.name, self.build_tables(self.standard).dtype, self.verbs, self.mask_words)
        missing = {"player", "num_players", "rule_set", "scores"} - set(self.state_dtype.names or ())
        if missing:
            raise ValueError(f"{self.name}: the state record lacks the fields {', '.join(sorted(missing))}")
        if not re.fullmatch("[0-9a-f]{1,64}", self.standard.hash):
            raise ValueError(f"{self.name}: hash must be 1 to 64 hexadecimal digits, got {shown(self.standard.hash)}")
        if self.action_feature_gates and len(self.action_feature_gates) != self.num_action_features:
            raise ValueError(
                f"{self.name}: action_feature_gates must be {self.num_action_features} numbers, one for each feature"
            )
        if self.render is None:
            object.__setattr__(self, "render", self._render_plainly)
        object.__setattr__(self, "layout", lru_cache(maxsize=16)(lambda components: Layout(self.features(components))))

    def _tables(self, build: Callable[[Any], np.ndarray], components: Any) -> np.ndarray:
        """Return the tables from the game's own `build_tables`, adapted to the engine."""
        num_actions, limit = len(self.action_table(components)), 64 * self.mask_words
        if num_actions > limit:
            raise ValueError(f"{self.name}: these components make {num_actions} actions, at most {limit} are possible")
        return marked(self.name, build(components))

    def to_dict(self, state: np.void, components: Any, player: int | None = None) -> dict[str, Any]:
        """Return a position as plain data; with `player`, only the parts that they may know."""
        return self.positions.to_dict(state, components, player)

    def from_dict(self, data: Any, components: Any) -> np.ndarray:
        """Return the position as a state: shape (1,). Raises a ValueError that names the error."""
        return self.positions.from_dict(data, components)

    def observation_bounds(self, components: Any) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest value of each feature: shapes (F,), int8, read-only."""
        return self.layout(components).bounds

    def observation_scale(self, components: Any) -> np.ndarray:
        """Factors that scale an observation to small floats: shape (F,), float32, a fresh array."""
        return self.layout(components).scale

    def _render_plainly(
        self, states: np.ndarray, components: Any, player: int | None = None, names: Sequence[str] | None = None
    ) -> str:
        return "\n".join(plain_lines(self.to_dict(states[0], components, player), names))

    @property
    def components_type(self) -> type:
        """Class of all components of the game."""
        return type(self.standard)

    @cached_property
    def num_action_features(self) -> int:
        """Number of features that the verb `action_features` writes for an action."""
        return int(dispatch.as_python(verbs.num_action_features, self.build_tables(self.standard)[0]))

    @property
    def rules_hash(self) -> str:
        """Hash of the code of the verbs and of the values that they take from elsewhere: 16 hex digits."""
        functions = dispatch.functions_of(self.build_tables(self.standard).dtype)
        codes = [code_hash(module) for module in sorted({function.__module__ for function in functions})]
        return hashlib.sha256(repr((codes, values_hash(*functions))).encode()).hexdigest()[:16]

    @cached_property
    def mask_words(self) -> int:
        """Number of 64-bit words in a set of actions."""
        return -(-(self.max_actions or len(self.action_table(self.standard))) // 64)

    def box(self, components: Any) -> Any:
        """Return the given components, or the standard ones for None.

        Raises:
            TypeError: If they aren't components of this game.
        """
        if components is not None and not isinstance(components, self.components_type):
            raise TypeError(f"components must be {self.components_type.__name__}, got {components!r}")
        return self.standard if components is None else components

    def check_variant(self, rules: str | None, num_players: int, start_player: int | None = None) -> str:
        """Return the name of the rule set: the first one for None.

        Raises:
            ValueError: If there is no such rule set, number of players or start player; the message lists the valid
                ones.
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
