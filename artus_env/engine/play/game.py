"""One game, for people and tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from artus_env.engine.basics.numbers import action_number, whole_number
from artus_env.engine.basics.reading import check_names, printable, shown
from artus_env.engine.contract import verbs
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import find_game
from artus_env.engine.contract.rng import check_seed, fresh_seed
from artus_env.engine.drawing.render import draw
from artus_env.engine.play import kernels
from artus_env.engine.play.kernels import ACTIONS, MOVES, OVER
from artus_env.engine.play.records import RecordError, read

NO_ARRAY = object()
INITIAL_MOVES = 126
"""Moves for which a new game has memory; the memory doubles when it is full."""
NOT_KNOWN = -1
"""Value at index `OVER` as long as it isn't known whether the game is over."""


class IllegalMoveError(ValueError):
    """A move that the rules don't allow. The game is unchanged; the message lists the legal moves.

    Attributes:
        action: The action id, or the text, of the move.
        legal: The ids of the legal actions; empty when the game is over.
        game: Index of the game in a batch, None for a single game.
    """

    action: int | str | None = None
    legal: tuple[int, ...] = ()
    game: int | None = None


def illegal_move(
    definition: Definition,
    states: np.ndarray,
    components: Any,
    tables: np.ndarray,
    action: int | str,
    game: int | None = None,
) -> IllegalMoveError:
    """Return the error for an illegal action id or text: it names the action, the player to move and the legal
    moves."""
    prefix = "" if game is None else f"game {game}: "
    legal = legal_actions(definition, states, components, tables)
    if kernels.over_one(tables, states):
        error = IllegalMoveError(f"{prefix}the game is over, {shown(action)} can't be played")
    else:
        num_actions = len(definition.action_table(components))
        moves = " ".join(definition.move_text(a, states, components, tables) for a in legal)
        if isinstance(action, str):
            action_text = printable(action)
        elif 0 <= action < num_actions:
            action_text = f"action {action} ({definition.action_meaning(action, components)})"
        else:
            action_text = f"action {shown(action)} (there are 0..{num_actions - 1})"
        player = int(states[0]["player"])
        error = IllegalMoveError(f"{prefix}{action_text} is illegal for player {player}; legal: {moves}")
    error.action, error.legal, error.game = action, tuple(legal), game
    return error


def legal_actions(definition: Definition, states: np.ndarray, components: Any, tables: np.ndarray) -> list[int]:
    """Legal actions of the player to move, in order of their ids."""
    mask = np.zeros(len(definition.action_table(components)), np.int8)
    kernels.mask_one(tables, states, np.zeros(definition.mask_words, np.uint64), mask)
    return np.flatnonzero(mask).tolist()


def copied(states: np.ndarray) -> np.ndarray:
    """Return a copy of states. NumPy would copy the record field by field, which takes five times as long."""
    return states.view(np.uint8).copy().view(states.dtype)


class Game:
    """One game: deal, look, move; copy, save and replay at any point.

    Args:
        rules: Name of the rule set; None: the game's first one.
        num_players: Number of players.
        seed: Seed of the deal; None: a random one.
        start_player: The player who starts; None: drawn from the seed.
        components: Components other than the standard ones.
        game: Name of the game, or its definition; None: the default one.

    Attributes:
        definition: The definition of the game.
        tables: The components as compiled code sees them: shape (1,), read-only.

    Example:
        >>> from artus_env import Game
        >>> game = Game(num_players=4, seed=7)
        >>> while not game.over:
        ...     game.play(game.moves()[0])
        >>> Game.replay(game.record()) == game
        True
    """

    def __init__(
        self,
        rules: str | None = None,
        num_players: int = 2,
        seed: int | None = None,
        start_player: int | None = None,
        components: Any = None,
        *,
        game: str | Definition | None = None,
    ) -> None:
        definition = find_game(game)
        rules = definition.check_variant(rules, num_players, start_player)
        seed = fresh_seed() if seed is None else check_seed(seed)
        states = np.zeros(1, definition.state_dtype)
        tables = definition.build_tables(definition.box(components))
        start = kernels.DRAWN if start_player is None else int(start_player)
        kernels.deal_one(tables, states, np.uint64(seed), start, int(num_players), definition.rules.index(rules))
        self._begin(definition, states, components, seed)
        self._past[OVER] = False

    def _begin(self, definition: Definition, states: np.ndarray, components: Any, seed: int | None) -> None:
        """Make `states` the first position of this game."""
        self.definition = definition
        self.components = definition.box(components)
        self.seed = seed
        self._states = states
        self._num_players = int(states[0]["num_players"])
        self._past = NOTHING_PLAYED.copy()  # written by compiled code
        self._is_exposed = False  # whether the record has been handed out
        self._player = states["player"]  # a view of the record, ten times as fast to read
        self._first = copied(states)
        self.tables = definition.build_tables(self.components)
        self._legal = np.zeros(definition.mask_words, np.uint64)
        self._num_actions = len(definition.action_table(self.components))
        self._observation_size = len(definition.observation_bounds(self.components)[0])
        self._checked_mask: Any = NO_ARRAY  # the arrays that `play_and_look` has checked
        self._checked_observation: Any = NO_ARRAY

    # --- looking ---

    @property
    def states(self) -> np.ndarray:
        """The record of the game, as the only row of an array: shape (1,). Writing to it changes the game."""
        self._is_exposed = True
        return self._states

    @property
    def state(self) -> np.void:
        """The record of the game, the row of `states`."""
        return self.states[0]

    @property
    def rules(self) -> str:
        """Name of the rule set."""
        return self.definition.rules[int(self._states[0]["rule_set"])]

    @property
    def num_players(self) -> int:
        """Number of players."""
        return self._num_players

    @property
    def player(self) -> int:
        """The player to move; the start player when the game is over."""
        return int(self._player[0])

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        over = self._past.item(OVER)
        if over == NOT_KNOWN or self._is_exposed:
            over = self._past[OVER] = kernels.over_one(self.tables, self._states)
        return over == 1

    @property
    def scores(self) -> list[int]:
        """Points of each player."""
        return [int(score) for score in self._states[0]["scores"][: self.num_players]]

    @property
    def outcomes(self) -> list[int]:
        """Values that rank the players at the end, highest first; equal values share a place. In most games these are
        the scores."""
        return [int(verbs.ranking_key(self.tables[0], self._states[0], player)) for player in range(self.num_players)]

    @property
    def winners(self) -> list[int]:
        """The players in the lead, at the end the winners: several if they share the win."""
        outcomes = self.outcomes
        return [player for player, outcome in enumerate(outcomes) if outcome == max(outcomes)]

    @property
    def num_played(self) -> int:
        """Number of actions played since the first position."""
        return self._past.item(MOVES)

    @property
    def actions_played(self) -> tuple[int, ...]:
        """Action ids played since the first position."""
        return tuple(self._past[ACTIONS:][: self.num_played].tolist())

    def mask(self) -> np.ndarray:
        """Legal actions of the player to move: shape (A,), int8, a fresh array; all zeros when over."""
        mask = np.empty(self._num_actions, np.int8)
        kernels.mask_one(self.tables, self._states, self._legal, mask)
        return mask

    def observation(self, player: int | None = None) -> np.ndarray:
        """Observation of a player (default: the player to move): shape (F,), int8, a fresh array."""
        viewer = self.player if player is None else self._check_player(player)
        out = np.empty(self._observation_size, np.int8)
        kernels.observe_one(self.tables, self._states, viewer, out)
        return out

    def legal_actions(self) -> list[int]:
        """Legal action ids of the player to move, in rising order."""
        return np.flatnonzero(self.mask()).tolist()

    def moves(self) -> list[str]:
        """Legal moves of the player to move as text, in order of their action ids."""
        return [self.move(action) for action in self.legal_actions()]

    def move(self, action: int) -> str:
        """Return the text of a legal action; nothing is played.

        Raises:
            IllegalMoveError: If it isn't legal.
            TypeError: If it isn't a whole number.
        """
        return self.definition.move_text(self._legal_number(action), self._states, self.components, self.tables)

    def action(self, move: str) -> int:
        """Return the action id of a legal move.

        Raises:
            IllegalMoveError: If it isn't legal now, or isn't a move at all.
            TypeError: If it isn't a text.
        """
        if not isinstance(move, str):
            raise TypeError(f"a move is a text, got {shown(move)}")
        parse, position = self.definition.parse_move, (self._states, self.components, self.tables)
        candidates = self.legal_actions() if parse is None else [parse(move, *position)]
        for action in candidates:
            # The text must be exactly the action's own: a parser may also accept `07` for 7.
            if action is not None and self._is_legal(action) and self.definition.move_text(action, *position) == move:
                return action
        raise self._illegal(move)

    def is_seen(self, action: int, viewer: int, now: Game | None = None) -> bool:
        """Whether a player sees which legal action the player to move takes, or only that an action is chosen.

        Args:
            now: The same game later on: a secret choice may have been revealed by then.

        Raises:
            IllegalMoveError: If it isn't legal.
            TypeError: If it isn't a whole number.
        """
        number, t, g = self._legal_number(action), self.tables[0], self._states[0]
        later = None if now is None else now._states[0]
        return verbs.is_seen(t, g, number, self._check_player(viewer), self._num_actions, later)

    def public_action(self, action: int, viewer: int) -> int:
        """Action id that a player sees for a legal action of the player to move: another one if part of it is hidden
        from them.

        Raises:
            IllegalMoveError: If it isn't legal.
            TypeError: If it isn't a whole number.
        """
        number = self._legal_number(action)
        return int(verbs.public_action(self.tables[0], self._states[0], number, self._check_player(viewer)))

    # --- moving ---

    def play(self, move: str | int) -> int:
        """Play a move given as text, such as `bid:7`, or as an action id. Returns the points that it earned.

        Raises:
            IllegalMoveError: If it isn't legal; the game is unchanged.
            TypeError: If it is neither a text nor a whole number; the game is unchanged.
        """
        action = self.action(move) if isinstance(move, str) else action_number(move)
        if not 0 <= action < self._num_actions:
            raise self._illegal(action)
        points: int = kernels.play_one(self.tables, self._states, self._legal, self._past, action)
        if points <= kernels.ILLEGAL:
            if points == kernels.ILLEGAL:
                raise self._illegal(action)
            self._grow_past()
            return self.play(action)
        return points

    def play_and_look(self, action: int, mask: np.ndarray, observation: np.ndarray) -> tuple[int, int, bool]:
        """`play`, and the mask and observation of the next player, in one compiled call instead of three: for loops.

        Args:
            action: An action id; an int is the fastest.
            mask: Overwritten with the next player's mask: shape (A,), int8, contiguous; zeros when the game is over.
            observation: Overwritten with their observation: shape (F,), int8, contiguous. Pass the same arrays each
                time: new ones are checked first.

        Returns:
            The points that the action earned, the next player to move, whether the game is over.

        Raises:
            IllegalMoveError: If it isn't legal; the game is unchanged.
            TypeError: If it isn't a whole number; the game is unchanged.
            ValueError: If an array doesn't fit; the game is unchanged.
        """
        if action.__class__ is not int:
            action = action_number(action)
        if not 0 <= action < self._num_actions:
            raise self._illegal(action)
        if mask is not self._checked_mask:
            _check_buffer("mask", mask, self._num_actions)
            self._checked_mask = mask
        if observation is not self._checked_observation:
            _check_buffer("observation", observation, self._observation_size)
            self._checked_observation = observation
        points, player, over = kernels.play_and_look_one(
            self.tables, self._states, self._legal, self._past, action, mask, observation
        )
        if points <= kernels.ILLEGAL:
            if points == kernels.ILLEGAL:
                raise self._illegal(action)
            self._grow_past()
            return self.play_and_look(action, mask, observation)
        return points, player, over

    def pay(self, mode: int, scores: np.ndarray, reward: np.ndarray) -> None:
        """Write the rewards since the given scores, including those for the end of the game if it is over.

        Args:
            mode: Number of the reward mode (see `artus_env.engine.play.rewards`).
            scores: Shape (players,), int64; updated to the current scores.
            reward: Overwritten: shape (players,), float64.
        """
        kernels.pay_one(self.tables, self._states, mode, scores, self.over, reward)

    # --- copies, positions, records ---

    def clone(self) -> Self:
        """An independent copy with the same past."""
        copy = self.from_state(self.definition, copied(self._states), self.components, self.seed)
        copy._first = copied(self._first)
        copy._past = self._past.copy()
        return copy

    __copy__ = clone

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.clone()

    def __reduce__(self) -> tuple[Any, ...]:
        return self._restore, (
            self.definition,
            self._states,
            self._first,
            list(self.actions_played),
            self.components,
            self.seed,
        )

    @classmethod
    def _restore(
        cls,
        definition: Definition,
        states: np.ndarray,
        first: np.ndarray,
        actions: list[int],
        components: Any,
        seed: int | None,
    ) -> Self:
        """Unpickle a game."""
        game = cls.from_state(definition, states, components, seed)
        game._first = first
        game._past = _past_of(actions)
        return game

    def __eq__(self, other: object) -> bool:
        """Whether two games are at the same position, hidden cards included, with the same box."""
        if not isinstance(other, Game):
            return NotImplemented
        if self.definition is not other.definition or self.components != other.components:
            return False
        # Records may differ where players see no difference: in the places of two equal figures.
        return self._states.tobytes() == other._states.tobytes() or self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def redeal(self, player: int, seed: int) -> Self:
        """Return a new game at this position, with everything that is hidden from `player` resampled.

        Uniform over the deals that fit what they know, and the same for the same seed, whatever the true state is.
        """
        states = copied(self._states)
        kernels.redeal(
            self.tables,
            states,
            np.array([check_seed(seed)], np.uint64),
            np.array([self._check_player(player)], np.int8),
            0,
            1,
        )
        return self.from_state(self.definition, states, self.components)

    def to_dict(self, player: int | None = None) -> dict[str, Any]:
        """Return the position as plain data; with `player`, only the parts that they may know."""
        viewer = None if player is None else self._check_player(player)
        return self.definition.to_dict(self._states[0], self.components, viewer)

    @classmethod
    def from_dict(
        cls, position: dict[str, Any], components: Any = None, *, game: str | Definition | None = None
    ) -> Self:
        """Return the game that begins at a position.

        Args:
            position: As from `to_dict`.
            components: Components other than the standard ones.
            game: Name of the game; None: the name under the key `game` of the position, else the default one.

        Raises:
            ValueError: If the position is invalid; the message names the error.
        """
        game_name = position.get("game") if isinstance(position, dict) else None
        definition = find_game(game_name if game is None and isinstance(game_name, str) else game)
        components = definition.box(components)
        return cls.from_state(definition, definition.from_dict(position, components), components)

    @classmethod
    def from_state(
        cls, definition: Definition, states: np.ndarray, components: Any = None, seed: int | None = None
    ) -> Self:
        """Return the game that begins at a state: shape (1,), the definition's `state_dtype`. The state isn't copied or
        checked."""
        game = cls.__new__(cls)
        game._begin(definition, states, components, seed)
        return game

    def record(self, players: list[str] | None = None) -> str:
        """Return the whole game as one line of JSON: first position, names of the players, all moves, scores (see
        `records`).

        Raises:
            ValueError: If `players` doesn't name every player.
        """
        if players is not None:
            check_names("players", players, self.num_players)
        replayed = self.first()
        moves = []
        for action in self.actions_played:
            moves.append(replayed.move(action))
            replayed.play(action)
        return json.dumps(
            {
                "game": self.definition.name,
                "rules_version": self.definition.rules_version,
                "components": self.components.hash,
                "seed": self.seed,
                # Lone surrogates, as in file names that aren't UTF-8, are replaced: no reader accepts them.
                "players": players and [name.encode(errors="replace").decode() for name in players],
                "position": self.first().to_dict(),
                "moves": moves,
                "scores": self.scores,
            },
            separators=(",", ":"),
        )

    @classmethod
    def replay(cls, record: str | bytes, components: Any = None, *, game: str | Definition | None = None) -> Self:
        """Return the game of a record, played to its end.

        Args:
            record: One line of JSON, as from `record`.
            components: Components other than the standard ones.
            game: Name of the game, or its definition if it isn't installed; None: the name in the record.

        Raises:
            RecordError: If it can't be replayed: it is damaged, of another game, box or rules version, or contains an
                illegal move or wrong scores.
            ValueError: If there is no game with the given name.
        """
        data = read(record)
        if game is None:
            try:
                definition = find_game(data.game)
            except ValueError as error:
                raise RecordError(f"game: {error}") from None
        else:
            definition = find_game(game)
        components = definition.box(components)
        for key, found, expected in (
            ("game", data.game, definition.name),
            ("rules_version", data.rules_version, definition.rules_version),
            ("components", data.components, components.hash),
        ):
            if found != expected:
                raise RecordError(f"{key} is {shown(found)}, but this is {expected!r}")
        try:
            replayed = cls.from_dict(data.position, components, game=definition)
        except ValueError as error:
            raise RecordError(f"position: {error}") from None
        replayed.seed = data.seed
        for number, move in enumerate(data.moves):
            try:
                replayed.play(move)
            except ValueError as error:
                raise RecordError(f"move {number + 1} of {len(data.moves)}: {error}") from None
        if replayed.scores != data.scores:
            raise RecordError(f"the scores at the end are {replayed.scores}, but the record says {shown(data.scores)}")
        return replayed

    def first(self) -> Self:
        """Return the game at its first position, as if nothing had been played."""
        return self.from_state(self.definition, copied(self._first), self.components, self.seed)

    # --- showing ---

    def render(self, player: int | None = None, names: Sequence[str] | None = None) -> str:
        """Return the position as text; with `player`, only that player's hand is open.

        Args:
            player: The viewer; None: all hands are open.
            names: Names of the players, instead of "player 0", ...

        Raises:
            ValueError: If there is no such player, or `names` doesn't name every player.
        """
        viewer = None if player is None else self._check_player(player)
        return self.definition.render(self._states, self.components, viewer, names)

    __str__ = render

    def svg(self, player: int | None = None, **options: Any) -> str:
        """Draw the position with the last move, as `player` sees it.

        Args:
            options: `theme` ("auto", "light" or "dark"), `layout` ("wide" or "table"), `names` (of the players),
                `note`.

        Returns:
            One `<svg>` element, for a page or as a file.
        """
        viewer = None if player is None else self._check_player(player)
        actions = self.actions_played
        if not actions:
            return draw(self.definition, self._states, self.components, viewer, **options)
        before = self.first()
        for action in actions[:-1]:
            before.play(action)
        return draw(self.definition, self._states, self.components, viewer, before._states, actions[-1], **options)

    _repr_html_ = svg

    def __repr__(self) -> str:
        status = "over" if self.over else f"player {self.player} to move"
        variant = f"game={self.definition.name!r}, rules={self.rules!r}, num_players={self.num_players}"
        return f"Game({variant}, {status}, scores={self.scores})"

    def _grow_past(self) -> None:
        """Double the memory for recorded moves."""
        self._past = np.concatenate([self._past, np.zeros(len(self._past), np.int64)])

    def _check_player(self, player: int) -> int:
        return whole_number("player", player, 0, self.num_players - 1)

    def _legal_number(self, action: Any) -> int:
        """Return a legal action id as an int; raise as `move` does."""
        number = action_number(action)
        if not self._is_legal(number):
            raise self._illegal(number)
        return number

    def _is_legal(self, action: int) -> bool:
        return 0 <= action < self._num_actions and self.mask()[action] == 1

    def _illegal(self, move: int | str) -> IllegalMoveError:
        return illegal_move(self.definition, self._states, self.components, self.tables, move)


def _check_buffer(name: str, array: Any, size: int) -> None:
    """Check an array before compiled code writes to it: if it were too small, the memory behind it would be
    overwritten."""
    fits = isinstance(array, np.ndarray) and array.dtype == np.int8 and array.shape == (size,)
    if not fits or not array.flags.c_contiguous or not array.flags.writeable:
        got = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        raise ValueError(f"{name} must be a writable and contiguous array of shape ({size},), int8, got {got}")


def _past_of(actions: list[int]) -> np.ndarray:
    """Return the past of a game in which these actions were played (see `kernels.MOVES`)."""
    return np.array([len(actions), NOT_KNOWN, *actions, *[0] * INITIAL_MOVES], np.int64)


NOTHING_PLAYED = _past_of([])
