"""Many games against opponents as one Stable-Baselines3 `VecEnv`, in one process."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvStepReturn

from artus_agents.neural import NeuralAgent
from artus_agents.simple import RandomAgent
from artus_env import Batch
from artus_env.agents import Agent, choose_actions, wins_of
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.rng import check_seed, seed_stream
from artus_env.engine.envs.undo import Undo
from artus_training.arena.lineup import find_player
from artus_training.learn.opponents import Opponent
from artus_training.learn.settings import PAST

LEARNER = -1
RESULTS_KEPT = 500
PROBES = 64
"""Random games that `longest_game_length` plays."""
_DEALS, _OPPONENTS, _KEYS = range(10, 13)  # seed streams of the deals, the choice of opponents, and moves


class SelfPlayVecEnv(VecEnv):
    """One learner in N games; all other players are part of the environment.

    Each step plays the learner's action in every game, then the opponents' actions until the learner is to move in all
    games. The reward is the learner's, up to its next decision: if an opponent's move ends a game, the learner's
    last action gets the -1 of the lost game. After each game the learner moves one seat further.

    Args:
        num_envs: N.
        rules, num_players, reward, components, game: As for `Batch`.
        opponents: Fraction of the games against each opponent, by agent name; `past` stands for the pool of snapshots.
            All other seats of a game have opponents of one kind. If an opponent gives up, random moves are played for
            it (see `Opponent`).
        pool_size: Number of snapshots that are kept; a new one replaces the oldest.
        stagger: Begin each game at a random position, so that the games aren't all in the same phase.
        seed: Seed of deals, opponents and their decisions.

    Attributes:
        batch: The games.
        seat: The learner's seat in each game, shape (N,), int8.
        kind: Kind of opponents in each game: shape (N,), int64, indices into `kinds`.
        kinds: The opponents' names; `past`, if there are snapshots, comes last.
        fixed: Opponents other than snapshots.
        results: The learner's last results against each kind of opponent: 1 won, 1/w shared by w players, 0 lost.

    Raises:
        ValueError: If a fraction is negative, all are zero, or an opponent or variant is unknown.
    """

    def __init__(
        self,
        num_envs: int,
        *,
        rules: str | None = None,
        num_players: int = 2,
        reward: str = "win",
        components: Any = None,
        opponents: Mapping[str, float] | None = None,
        pool_size: int = 4,
        stagger: bool = True,
        seed: int = 0,
        game: str | Definition | None = None,
    ) -> None:
        opponents = {"random": 1.0} if opponents is None else opponents
        if not opponents or min(opponents.values()) < 0 or sum(opponents.values()) <= 0:
            raise ValueError(f"opponents need fractions of at least 0, and one above, got {dict(opponents)}")
        if pool_size < 1:
            raise ValueError(f"pool_size must be at least 1, got {pool_size}")
        # One thread: the games take little time, and torch needs the other cores.
        self.batch = Batch(
            num_envs,
            rules=rules,
            num_players=num_players,
            reward=reward,
            components=components,
            threads=1,
            autoreset=False,
            game=game,
        )
        # `past` is last, because the agents of its pool come after all others
        self.kinds = sorted((kind for kind, fraction in opponents.items() if fraction), key=PAST.__eq__)
        self._fractions = np.cumsum([opponents[kind] for kind in self.kinds]) / sum(opponents.values())
        self._fractions[-1] = 1  # exactly, in spite of rounding
        self.fixed: list[Agent] = [Opponent(kind, find_player(kind)) for kind in self.kinds if kind != PAST]
        self.pool: list[NeuralAgent] = []
        self.pool_size = pool_size
        self._oldest = 0  # place in the pool

        self.stagger = stagger
        self.seat = np.zeros(num_envs, np.int8)
        self.kind = np.zeros(num_envs, np.int64)
        self._agent_of_seat = np.zeros((num_envs, num_players), np.int64)  # index into `fixed` + `pool`, or LEARNER
        self._pending = np.zeros(num_envs, np.float32)  # the learner's reward since its last decision
        self._decided = np.zeros(num_envs, np.bool_)  # whether the learner has made a decision in this game
        self._return = np.zeros(num_envs, np.float64)
        self._length = np.zeros(num_envs, np.int64)
        self._rewards = np.zeros(num_envs, np.float32)  # this and the next two are returned by the current step
        self._dones = np.zeros(num_envs, np.bool_)
        self._infos: list[dict[str, Any]] = []
        self._actions = np.zeros(num_envs, np.int64)
        self.results: dict[str, deque[float]] = {kind: deque(maxlen=RESULTS_KEPT) for kind in self.kinds}
        self._seed(seed)

        low, high = self.batch.definition.observation_bounds(self.batch.components)
        self.render_mode = None  # VecEnv's constructor reads it
        super().__init__(num_envs, spaces.Box(low, high, dtype=np.int8), spaces.Discrete(self.batch.num_actions))

    def _seed(self, seed: int) -> None:
        self._undo: Undo | None = None
        self._deals: np.ndarray | None = seed_stream(
            check_seed(seed), self.batch.num_games, _DEALS
        )  # seeds of the next reset
        self._keys = seed_stream(seed, self.batch.num_games, _KEYS)
        self._random = np.random.default_rng([seed, _OPPONENTS])

    # --- opponents ---

    def add_snapshot(self, agent: NeuralAgent) -> None:
        """Add a version of the learner to the pool; if the pool is full, it replaces the oldest."""
        if len(self.pool) < self.pool_size:
            self.pool.append(agent)
        else:
            self.pool[self._oldest] = agent
            self._oldest = (self._oldest + 1) % self.pool_size

    def set_snapshots(self, agents: Sequence[NeuralAgent]) -> None:
        """Replace the pool by agents, oldest first; only the newest `pool_size` are kept."""
        self.pool = list(agents[-self.pool_size :])
        self._oldest = 0

    def snapshots(self) -> list[NeuralAgent]:
        """The pool, oldest first."""
        return self.pool[self._oldest :] + self.pool[: self._oldest]

    def _seat_players(self, games: np.ndarray) -> None:
        """Choose the opponents of these games, for all seats but the learner's."""
        kinds = np.searchsorted(self._fractions, self._random.random(len(games)), side="right")
        agent_of_seat = np.repeat(kinds[:, None], self.batch.num_players, axis=1)
        snapshots = kinds == len(self.fixed)
        if snapshots.any():
            if not self.pool:
                raise RuntimeError("the pool is empty: add_snapshot comes before the first game against `past`")
            agent_of_seat[snapshots] += self._random.integers(
                0, len(self.pool), size=agent_of_seat[snapshots].shape
            )  # a snapshot for each seat
        agent_of_seat[np.arange(len(games)), self.seat[games]] = LEARNER
        self.kind[games] = kinds
        self._agent_of_seat[games] = agent_of_seat

    # --- the games ---

    def reset(self) -> np.ndarray:
        """Deal all games and let the opponents play until the learner is to move.

        If `seed()` was called since the last reset, its seed determines the deals; else each game gets its next deal.

        Returns:
            The learner's observations (N, F), int8.
        """
        with self._all_or_nothing():
            return self._reset()

    def _all_or_nothing(self) -> Undo:
        """A context manager that restores the games after an error or an interrupt in its block."""
        if self._undo is None:
            batch = self.batch
            arrays = (
                batch.states, batch.seeds, batch.reward, batch.done, batch.final_scores, batch.final_outcomes,
                self.seat, self.kind, self._agent_of_seat, self._pending, self._decided, self._return, self._length,
                self._keys,
            )  # fmt: skip
            self._undo = Undo(arrays, (self,), self._restore_derived)
        self._random_state = self._random.bit_generator.state
        return self._undo

    def _restore_derived(self) -> None:
        """Restore derived data after the arrays are restored."""
        self._random.bit_generator.state = self._random_state
        self.batch.refresh()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_undo": None}  # it refers to these arrays, and a copy has its own

    def _reset(self) -> np.ndarray:
        if self._seeds[0] is not None:
            self._seed(self._seeds[0])
        self._reset_seeds()
        self._reset_options()
        self.batch.reset(self._deals)
        self._deals = None
        self.seat[:] = np.arange(self.num_envs) % self.batch.num_players
        if self.stagger:
            self._play_random_moves()
        self._pending[:] = self._return[:] = self._length[:] = 0
        self._decided[:] = False
        self._seat_players(np.arange(self.num_envs))
        self._infos = [{} for _ in range(self.num_envs)]
        self._let_opponents_play()
        return self.batch.observation.copy()

    def _play_random_moves(self) -> None:
        """Play a random number of random moves in each game; a game that ends is dealt again and continues."""
        most_moves = longest_game_length(self.batch)
        random_agents = np.zeros((self.num_envs, self.batch.num_players), np.int64)
        num_moves = self._random.integers(0, most_moves, self.num_envs)
        for step in range(most_moves):
            games = np.flatnonzero(num_moves > step)
            _, done = self.batch.step(
                choose_actions(self.batch, [RandomAgent()], random_agents, self._keys, games), games
            )
            if done[games].any():
                self.batch.reset(which=games[done[games]])

    def step_async(self, actions: np.ndarray) -> None:
        """Store the learner's actions, shape (N,), for `step_wait`."""
        self._actions = np.asarray(actions, np.int64)

    def step_wait(self) -> VecEnvStepReturn:
        """Play the learner's actions, then the opponents' until the learner is to move in all games.

        Returns:
            observations (N, F), int8; rewards (N,), float32; dones (N,), bool; and for each game an info, which has the
            keys `terminal_observation` and `episode` (return, length and opponents) if a game ended there.

        Raises:
            ValueError: If an action is illegal; nothing has changed.
        """
        with self._all_or_nothing():
            return self._step()

    def _step(self) -> VecEnvStepReturn:
        self._dones = np.zeros(self.num_envs, np.bool_)
        self._rewards = np.zeros(self.num_envs, np.float32)
        self._infos = [{} for _ in range(self.num_envs)]
        self._decided[:] = True
        self._play(self._actions, np.arange(self.num_envs))
        self._let_opponents_play()
        unfinished = ~self._dones
        self._rewards[unfinished] = self._pending[unfinished]
        self._return[unfinished] += self._pending[unfinished]
        self._length[unfinished] += 1
        self._pending[unfinished] = 0
        return self.batch.observation.copy(), self._rewards, self._dones, self._infos

    def _let_opponents_play(self) -> None:
        while len(waiting := np.flatnonzero(self.batch.player != self.seat)):
            agents = [*self.fixed, *self.pool]
            self._play(choose_actions(self.batch, agents, self._agent_of_seat, self._keys, waiting), waiting)

    def _play(self, actions: np.ndarray, games: np.ndarray) -> None:
        """Play one action in each of these games; settle and redeal games that end. A game that ends before the
        learner's first decision isn't counted."""
        reward, done = self.batch.step(actions, games)
        self._pending[games] += reward[games, self.seat[games]]
        over = games[done[games]]
        if len(over):
            self._settle(over[self._decided[over]])
            self._pending[over] = 0
            self._decided[over] = False
            self.seat[over] = (self.seat[over] + 1) % self.batch.num_players
            self.batch.reset(which=over)
            self._seat_players(over)

    def _settle(self, over: np.ndarray) -> None:
        """Pay the learner the rest of its reward for games that have ended, also if an opponent made the last move."""
        self._dones[over] = True
        self._rewards[over] = self._pending[over]
        won = wins_of(self.batch.final_outcomes[over])[np.arange(len(over)), self.seat[over]]
        last_observations = self.batch.observe(self.seat[over], over)
        self.results = {kind: results.copy() for kind, results in self.results.items()}
        for game, win, last_observation in zip(over.tolist(), won.tolist(), last_observations, strict=True):
            kind = self.kinds[self.kind[game]]
            self.results[kind].append(win)
            self._infos[game] = {
                "terminal_observation": last_observation,
                "TimeLimit.truncated": False,
                "episode": {
                    "r": float(self._return[game] + self._pending[game]),
                    "l": int(self._length[game]) + 1,
                    "opponents": kind,
                },
            }
        self._pending[over] = self._return[over] = self._length[over] = 0

    # --- the rest of the VecEnv interface ---

    def action_masks(self) -> np.ndarray:
        """The learner's legal actions: shape (N, A), int8; overwritten by the next step."""
        return self.batch.mask

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Call a method that works on all games at once.

        For `action_masks` without indices the list has one array for all games: `get_action_masks` turns it into one
        array (1, N, A) with a single copy, which sb3-contrib reshapes later.
        """
        result = getattr(self, method_name)(*method_args, **method_kwargs)
        if method_name == "action_masks" and indices is not None:
            return [result[index] for index in self._get_indices(indices)]
        return [result]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Get an attribute: a list with the same value for each game."""
        value = getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute for all games; they can't differ."""
        if indices is not None and len(list(self._get_indices(indices))) != self.num_envs:
            raise NotImplementedError("the games of a SelfPlayVecEnv share all attributes")
        setattr(self, attr_name, value)

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Always False: no game has a wrapper."""
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


def longest_game_length(batch: Batch) -> int:
    """Number of decisions in the longest of `PROBES` random games of a batch's variant."""
    games = Batch(
        PROBES,
        rules=batch.rules,
        num_players=batch.num_players,
        threads=1,
        autoreset=False,
        components=batch.components,
        game=batch.definition,
    )
    decisions = 0
    while not games.done.all():
        games.step(games.sample())
        decisions += 1
    return decisions
