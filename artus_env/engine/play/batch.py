"""Many games at once in preallocated arrays."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from artus_env.engine.basics.numbers import action_numbers, are_whole, whole_number
from artus_env.engine.basics.reading import shown
from artus_env.engine.basics.wording import counted
from artus_env.engine.compiling.threads import run_shares, shares, threads_for
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import find_game
from artus_env.engine.contract.rng import check_seed, fresh_seed, next_seeds, seed_stream
from artus_env.engine.drawing.render import GRID_GAMES, draw, grid
from artus_env.engine.play import kernels
from artus_env.engine.play.choosers import play_out
from artus_env.engine.play.game import illegal_move
from artus_env.engine.play.kernels import Games
from artus_env.engine.play.rewards import RewardMode, mode_index, reward_modes

GAMES_PER_THREAD = 512
"""With fewer games a second thread costs more than it saves."""
GAMES_TO_SHARE_CHOICES = 4096
"""Choosing is 10 % of the work of a step, so sharing it pays only with more games."""
_DEALS, _CHOICES = 0, 1  # purposes of the seed streams
_UNNUMBERED = -1
_new_numbers = itertools.count(1)


class Batch:
    """N games of one variant, played in step. Each call works on all of them and returns the same arrays every time.

    Results depend only on the seed of each game, not on the number of games or threads.

    Args:
        num_games: N.
        rules: Name of the rule set; None: the game's first one.
        num_players: Number of players.
        seed: The seeds of all games derive from it; None: a random one.
        threads: The most threads to use; fewer if sharing doesn't pay (see `artus_env.engine.compiling.threads`). None:
            one for every 512 games, at most one per core.
        autoreset: Deal a new game as soon as one is finished (same-step autoreset). Otherwise it stays over: its mask
            is all zeros, its actions are ignored, its `done` stays true.
        reward: "win", "margin" or "points" (see `artus_env.engine.play.rewards`).
        components: Components other than the standard ones.
        game: Name of the game, or its definition; None: the default one.
        look: Whether to compute player, observation and mask of the first deal; otherwise `refresh` or `reset` does it.

    Attributes:
        definition: The definition of the game.
        player: The players to move, shape (N,), int8.
        observation: Their observations, shape (N, F), int8.
        mask: Their legal actions, shape (N, A), int8.
        reward: Rewards of the last step, shape (N, num_players), float32.
        done: Whether the last step ended the game, shape (N,), bool.
        final_scores: Scores of the last finished game, shape (N, num_players), int32.
        final_outcomes: Values that ranked its players (see `outcomes`), shape (N, num_players), int32.
        seeds: Seed of each current deal, shape (N,), uint64: `Game(seed=batch.seeds[i])` is the same deal as game i.
        legal_bits: The mask as bits, 64 actions per word, shape (N, words), uint64.
        tables: The components as compiled code sees them, read-only.
        states: The games themselves, shape (N,), a structured array. Call `refresh()` after writing to it.
        fields: All these arrays and the variant in the form for compiled loops: the fields of
            `artus_env.engine.play.kernels.Games`, as a plain tuple.

    The next step overwrites all arrays; copy an array to keep it.
    """

    def __init__(
        self,
        num_games: int,
        *,
        rules: str | None = None,
        num_players: int = 2,
        seed: int | None = 0,
        threads: int | None = None,
        autoreset: bool = True,
        reward: RewardMode = "win",
        components: Any = None,
        game: str | Definition | None = None,
        look: bool = True,
    ) -> None:
        self.definition = find_game(game)
        self.rules = self.definition.check_variant(rules, num_players)
        self.num_games = num_games = whole_number("num_games", num_games, 1)
        if threads is not None:
            threads = whole_number("threads", threads, 1)
        self.num_players = num_players
        self.threads = threads or threads_for(num_games, GAMES_PER_THREAD)
        self._shares = shares(num_games, min(self.threads, num_games))
        self._shares_of_choices = self._shares if num_games >= GAMES_TO_SHARE_CHOICES else shares(num_games, 1)
        if not isinstance(autoreset, (bool, np.bool_)):
            raise TypeError(f"autoreset must be True or False, got {shown(autoreset)}")
        self.autoreset = bool(autoreset)
        self.components = self.definition.box(components)
        mode = mode_index(reward, self.definition.score)
        self.tables = self.definition.build_tables(self.components)
        self.num_actions = len(self.definition.action_table(self.components))
        self.observation_size = len(self.definition.observation_bounds(self.components)[0])

        self.states = np.zeros(num_games, self.definition.state_dtype)
        self.player = np.zeros(num_games, np.int8)
        self.observation = np.zeros((num_games, self.observation_size), np.int8)
        self.mask = np.zeros((num_games, self.num_actions), np.int8)
        self.reward = np.zeros((num_games, num_players), np.float32)
        self.done = np.zeros(num_games, np.bool_)
        self.final_scores = np.zeros((num_games, num_players), np.int32)
        self.final_outcomes = np.zeros((num_games, num_players), np.int32)
        self.legal_bits = np.zeros((num_games, self.definition.mask_words), np.uint64)
        self._all_games = np.arange(num_games)
        self._play_markers = np.full(num_games, kernels.PLAYS, np.int8)  # in place of start players: nothing is dealt
        self._actions = np.zeros(num_games, np.int64)
        root = fresh_seed() if seed is None else check_seed(seed)
        self.seeds = seed_stream(root, num_games, _DEALS)
        self._numbers = np.full(num_games, _UNNUMBERED)
        self._numbered_seeds = self.seeds.copy()  # a game keeps its number as long as it has this seed
        self._keys = seed_stream(root, num_games, _CHOICES)
        self.fields = self._make_fields(mode)
        self.reset(self.seeds, look=look)

    def __len__(self) -> int:
        return self.num_games

    @property
    def reward_mode(self) -> str:
        """Reward mode from the next step on: "win", "margin" or the name of the score. Can be set.

        Raises:
            ValueError: If there is no such mode.
        """
        return reward_modes(self.definition.score)[Games(*self.fields).reward_mode]

    @reward_mode.setter
    def reward_mode(self, mode: str) -> None:
        self.fields = tuple(Games(*self.fields)._replace(reward_mode=mode_index(mode, self.definition.score)))

    @property
    def scores(self) -> np.ndarray:
        """Current points of each player: shape (N, num_players), int32."""
        return self.states["scores"][:, : self.num_players]

    @property
    def outcomes(self) -> np.ndarray:
        """Values that rank the players at the end, highest first; equal values share a place: shape (N, num_players),
        int32.

        They are the scores in most games. Before the end they show which player is ahead.
        """
        out = np.empty((self.num_games, self.num_players), np.int32)
        self._run(kernels.outcomes, self.tables, self.states, out)
        return out

    @property
    def over(self) -> np.ndarray:
        """Whether each game is over (never with autoreset): shape (N,), bool."""
        out = np.empty(self.num_games, np.bool_)
        self._run(kernels.over, self.tables, self.states, out)
        return out

    @property
    def numbers(self) -> np.ndarray:
        """A number for each game, unique in this process and new with each deal: shape (N,), int64."""
        new_games = np.flatnonzero((self._numbers == _UNNUMBERED) | (self._numbered_seeds != self.seeds))
        self._numbers[new_games] = [next(_new_numbers) for _ in new_games]
        self._numbered_seeds[new_games] = self.seeds[new_games]
        return self._numbers

    def reset(self, seeds: Any = None, start_players: Any = None, which: Any = None, look: bool = True) -> None:
        """Deal new games.

        Args:
            seeds: One seed, or one for each chosen game; None: the next of each game's stream.
            start_players: One player, or one for each chosen game; None or -1: drawn from the seed.
            which: The games to deal: indices, in the order of the seeds and start players, or booleans; None: all.
            look: Whether to compute player, observation and mask as well; otherwise call `refresh`, or `play_on`, which
                writes them itself.

        Raises:
            ValueError: If a shape or a value doesn't fit; nothing has changed then.
        """
        games = self._chosen_games(which)
        starts = np.full(len(games), kernels.DRAWN, np.int8)
        if start_players is not None:
            players = np.asarray(start_players)
            if not are_whole(start_players) or ((players < -1) | (players >= self.num_players)).any():
                raise ValueError(
                    f"start_players must be in 0..{self.num_players - 1} (-1: drawn), got {shown(start_players)}"
                )
            starts[:] = _value_per_game("start_players", players, len(games))
        if seeds is None:
            deal_seeds = next_seeds(self.seeds[games])
        else:
            deal_seeds = np.array(_value_per_game("seeds", _as_seeds(seeds), len(games)))
        self._numbers[games] = _UNNUMBERED  # an interrupt here is harmless: the old deals get new numbers
        if look:
            self._share(kernels.step, (self.fields, starts, deal_seeds.view(np.int64), games), len(games), self._shares)
        else:
            kernels.deal(self.fields, starts, deal_seeds.view(np.int64), games)

    def refresh(self, which: Any = None) -> None:
        """Compute player, observation and mask again after writing to `states`; `which` as for `reset`."""
        kernels.look(self.fields, self._chosen_games(which))

    def observe(self, players: Any, which: Any = None) -> np.ndarray:
        """Observation of any player, to move or not: shape (N, F), int8, a fresh array.

        Args:
            players: One player, or one for each game (each chosen game, with `which`).
            which: As for `reset`; the result then has shape (n, F).

        Raises:
            ValueError: If there is no such player.
        """
        games = self._chosen_games(which)
        viewers = np.asarray(players)
        if not are_whole(players) or ((viewers < 0) | (viewers >= self.num_players)).any():
            raise ValueError(f"players must be in 0..{self.num_players - 1}, got {shown(players)}")
        out = np.empty((len(games), self.observation_size), np.int8)
        viewers = np.array(_value_per_game("players", viewers, len(games)), np.int64)
        kernels.observe_chosen(self.tables, self.states, games, viewers, out)
        return out

    def sample(self) -> np.ndarray:
        """Draw legal actions uniformly, each game from its own stream: shape (N,), int64; -1 for finished games."""
        arguments = self.tables, self.legal_bits, self._keys, self._actions
        self._share(kernels.sample, arguments, self.num_games, self._shares_of_choices)
        return self._actions

    def step(self, actions: Any, which: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Play one action in every game, or in some of them.

        Args:
            actions: Shape (N,), whole numbers; with `which` one for each chosen game.
            which: The games to play: distinct indices, in the order of the actions, or booleans; None: all. In the
                other games nothing changes, including `reward` and `done`.

        Returns:
            reward, shape (N, num_players), float32, and done, shape (N,), bool: the batch's own arrays.

        Raises:
            IllegalMoveError: If an action is illegal; the message names game and move, and nothing has changed.
            TypeError: If the actions aren't whole numbers; nothing has changed.
            ValueError: If the actions have another shape; nothing has changed.
        """
        games = self._all_games if which is None else self._chosen_games(which)
        actions = action_numbers(actions, len(games))
        if actions is not self._actions:  # the only type for which the loops are compiled
            actions = np.require(actions, np.int64, ("C", "A", "W"))
        illegal_index = kernels.first_illegal(self.fields, actions, games)
        if illegal_index >= 0:
            game = int(games[illegal_index])
            states = self.states[game : game + 1]
            raise illegal_move(self.definition, states, self.components, self.tables, int(actions[illegal_index]), game)
        self._share(kernels.step, (self.fields, self._play_markers, actions, games), len(games), self._shares)
        return self.reward, self.done

    def _share(self, loop: Any, arguments: tuple[Any, ...], count: int, shares: np.ndarray) -> None:
        """Run a loop over `count` games, with threads if these are all games. A single share runs without the code that
        distributes work, which takes half a second to compile."""
        if count < self.num_games or len(shares) == 2:
            loop(*arguments, 0, count)
        else:
            run_shares(loop, arguments, shares)

    def _run(self, loop: Any, *arguments: Any) -> None:
        loop(*arguments, 0, self.num_games)

    def _make_fields(self, mode: int) -> tuple[Any, ...]:
        games = Games(
            tables=self.tables,
            states=self.states,
            seeds=self.seeds,
            player=self.player,
            observation=self.observation,
            mask=self.mask,
            legal_bits=self.legal_bits,
            reward=self.reward,
            done=self.done,
            final_scores=self.final_scores,
            final_outcomes=self.final_outcomes,
            num_players=int(self.num_players),
            rule_set=self.definition.rules.index(self.rules),
            reward_mode=mode,
            autoreset=self.autoreset,
        )
        return tuple(games)

    def play_out(self, choosers: np.ndarray, keys: np.ndarray, actions: np.ndarray) -> None:
        """Play many decisions of every game, without autoreset: see `artus_env.engine.play.choosers.play_out`."""
        try:
            self._share(play_out, (self.fields, choosers, keys, actions), self.num_games, self._shares)
        finally:
            self.refresh()

    def points(self) -> np.ndarray:
        """Points that each legal action earns its player at once: shape (N, A), int16; 0 for illegal ones."""
        out = np.zeros((self.num_games, self.num_actions), np.int16)
        self._run(kernels.points, self.tables, self.states, self.legal_bits, out)
        return out

    def text(self, game: int) -> str:
        """The position of one game as text."""
        return self.definition.render(self.states[game : game + 1], self.components)

    def svg(self, game: int, player: int | None = None, **options: Any) -> str:
        """The position of one game as a picture (options as for `Game.svg`); with `player`, as that player sees it."""
        viewer = None if player is None else whole_number("player", player, 0, self.num_players - 1)
        return draw(self.definition, self.states[game : game + 1], self.components, viewer, **options)

    def _repr_html_(self) -> str:
        num_shown = min(self.num_games, GRID_GAMES)
        return grid([self.svg(game, layout="table") for game in range(num_shown)], self.num_games - num_shown)

    def _chosen_games(self, which: Any) -> np.ndarray:
        """Indices of the chosen games, in the given order."""
        if which is None:
            return self._all_games
        selection = np.asarray(which)
        try:
            games = self._all_games[selection if selection.size else selection.astype(np.int64)].reshape(-1)
        except IndexError as error:
            raise ValueError(
                f"which must be indices below {self.num_games} or {counted(self.num_games, 'boolean')}: {error}"
            ) from None
        if len(np.unique(games)) != len(games):
            raise ValueError(f"which names a game twice: {shown(which)}")
        return games

    def __getstate__(self) -> dict[str, Any]:
        state = {key: value for key, value in self.__dict__.items() if key not in ("tables", "fields")}
        return {**state, "_mode": Games(*self.fields).reward_mode}

    def __setstate__(self, state: dict[str, Any]) -> None:
        mode = state.pop("_mode")
        self.__dict__.update(state)
        self._numbers = np.full(self.num_games, _UNNUMBERED)  # from here on they are different games
        self.tables = self.definition.build_tables(self.components)  # a copied array would not be read-only
        self.fields = self._make_fields(mode)

    def __repr__(self) -> str:
        variant = f"game={self.definition.name!r}, rules={self.rules!r}, num_players={self.num_players}"
        return f"Batch({self.num_games}, {variant}, threads={self.threads})"


def _as_seeds(seeds: Any) -> np.ndarray:
    """Return seeds as an array, uint64. NumPy would convert lists of small and large ones to floats."""
    numbers = np.asarray(seeds, None if hasattr(seeds, "dtype") else object)
    if numbers.dtype.kind == "O":
        return np.array([check_seed(seed) for seed in numbers.flat], np.uint64).reshape(numbers.shape)
    if numbers.dtype.kind not in "iu":
        raise TypeError(f"seed must be a whole number in 0..2**64-1, got {shown(seeds)}")
    if numbers.dtype.kind == "i" and (numbers < 0).any():
        raise ValueError(f"seed must be a whole number in 0..2**64-1, got {shown(seeds)}")
    return numbers.astype(np.uint64)


def _value_per_game(name: str, values: np.ndarray, count: int) -> np.ndarray:
    """Return one value for each of `count` games, from `count` values or a single one."""
    if values.shape not in ((), (1,), (count,)):
        raise ValueError(f"{name} must be one number or {count}, got shape {values.shape}")
    return np.broadcast_to(values, (count,))
