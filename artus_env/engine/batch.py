"""Many games at once in preallocated arrays."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from artus_env.engine.definition import Definition
from artus_env.engine.game import illegal_move
from artus_env.engine.rewards import mode_index
from artus_env.engine.rng import check_seed, fresh_seed, next_seeds, seed_stream
from artus_env.engine.workers import available_cores, run_shares, shares

GAMES_PER_THREAD = 512
"""With fewer games a second thread costs more than it saves."""
GAMES_TO_SHARE_CHOICES = 4096
"""Choosing is a tenth of the work of a step, so that it takes more games until sharing it pays."""
_DEALS, _CHOICES = 0, 1  # purposes of the seed streams


class Batch:
    """N games of one variant, played in step. Each call works on all of them and returns the same arrays every time.

    Results depend on the seed of each game alone, not on the number of games or threads.

    Args:
        num_games: N.
        rules: "beginner" or "advanced".
        num_players: 2..4.
        seed: Seeds of all games derive from it; None: a random one.
        threads: Threads to share the work; None: one for every 512 games, at most one a core.
        autoreset: Deal a finished game anew at once (same-step autoreset). Otherwise it stays over: its mask is all
            zeros, its actions are ignored, its `done` stays true.
        reward: "win", "margin" or "prestige" (see `artus_env.engine.rewards`).
        components: A changed box.

    Attributes:
        player: Who is to move, shape (N,), int8.
        observation: What he sees, shape (N, F), int8.
        mask: What he may do, shape (N, A), int8.
        reward: Of the last step, shape (N, num_players), float32.
        done: Whether the last step ended the game, shape (N,), bool.
        final_scores: Scores of the last finished game, shape (N, num_players), int32.
        seeds: Seed of each current deal, shape (N,), uint64: `Game(seed=batch.seeds[i])` is the same deal as game i.
        legal_bits: The mask as bits, 64 actions a word, shape (N, words), uint64.
        tables: The box as compiled code sees it, read-only.
        states: The games themselves, shape (N,), a structured array. Call `refresh()` after writing to it.

    All arrays are overwritten by the next step; copy what must last.
    """

    definition: ClassVar[Definition]

    def __init__(
        self,
        num_games: int,
        *,
        rules: str = "beginner",
        num_players: int = 2,
        seed: int | None = 0,
        threads: int | None = None,
        autoreset: bool = True,
        reward: str = "win",
        components: Any = None,
    ) -> None:
        self.definition.check_variant(rules, num_players)
        if num_games < 1:
            raise ValueError(f"num_games must be at least 1, got {num_games}")
        if threads is not None and threads < 1:
            raise ValueError(f"threads must be at least 1, got {threads}")
        self.num_games = num_games
        self.rules = rules
        self.num_players = num_players
        self.threads = threads or max(1, min(available_cores(), num_games // GAMES_PER_THREAD))
        self._shares = shares(num_games, min(self.threads, num_games))
        self.autoreset = autoreset
        self.components = self.definition.standard if components is None else components
        self.reward_mode = reward
        self._mode = mode_index(reward)
        self.tables = self.definition.build_tables(self.components)
        self.num_actions = len(self.definition.action_table(self.components))
        self.observation_size = len(self.definition.observation_scale(self.components))

        self.states = np.zeros(num_games, self.definition.state_dtype)
        self.player = np.zeros(num_games, np.int8)
        self.observation = np.zeros((num_games, self.observation_size), np.int8)
        self.mask = np.zeros((num_games, self.num_actions), np.int8)
        self.reward = np.zeros((num_games, num_players), np.float32)
        self.done = np.zeros(num_games, np.bool_)
        self.final_scores = np.zeros((num_games, num_players), np.int32)
        self.legal_bits = np.zeros((num_games, self.definition.mask_words), np.uint64)
        self._actions = np.zeros(num_games, np.int64)
        root = fresh_seed() if seed is None else check_seed(seed)
        self.seeds = seed_stream(root, num_games, _DEALS)
        self._keys = seed_stream(root, num_games, _CHOICES)
        self.reset(self.seeds)

    def __len__(self) -> int:
        return self.num_games

    @property
    def scores(self) -> np.ndarray:
        """Prestige of each player now: shape (N, num_players), int32."""
        return self.states["scores"][:, : self.num_players]

    def reset(self, seeds: Any = None, start_players: Any = None, which: Any = None) -> None:
        """Deal games anew.

        Args:
            seeds: One seed, or one for each chosen game; None: the next of each game's stream.
            start_players: One player, or one for each chosen game; None or -1: drawn from the seed.
            which: The games to deal: indices or booleans; None: all.

        Raises:
            ValueError: If a shape or a value doesn't fit; nothing has changed then.
        """
        chosen = self._chosen(which)
        count = int(chosen.sum())
        starts = np.full(self.num_games, -1, np.int8)
        if start_players is not None:
            given = np.broadcast_to(np.asarray(start_players), (count,))
            if ((given < -1) | (given >= self.num_players)).any():
                raise ValueError(f"start_players must be in 0..{self.num_players - 1} (-1: drawn), got {given}")
            starts[chosen] = given
        if seeds is None:
            self.seeds[chosen] = next_seeds(self.seeds[chosen])
        else:
            given = np.asarray(seeds)
            if given.dtype.kind not in "iu" or (given.dtype.kind == "i" and (given < 0).any()):
                raise ValueError(f"seeds must be whole numbers in 0..2**64-1, got {given}")
            self.seeds[chosen] = np.broadcast_to(given.astype(np.uint64), (count,))
        self.done[chosen] = False
        self._run(
            self.definition.kernels.deal, self.tables, self.states, self.seeds, starts, chosen,
            self.num_players, self.definition.rules.index(self.rules),
        )  # fmt: skip
        self.refresh()

    def refresh(self) -> None:
        """Bring player, observation and mask up to date with `states`, after writing to it."""
        self._run(
            self.definition.kernels.look, self.tables, self.states, self.player, self.observation, self.mask, self.legal_bits
        )

    def sample(self) -> np.ndarray:
        """Legal actions drawn uniformly, each game from its own stream: shape (N,), int64; -1 for finished games."""
        kernels, arguments = self.definition.kernels, (self.legal_bits, self._keys, self._actions)
        if self.num_games < GAMES_TO_SHARE_CHOICES:
            kernels.sample(*arguments, 0, self.num_games)
        else:
            run_shares(kernels.sample, kernels.sample_shares, arguments, self._shares)
        return self._actions

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray]:
        """Play one action in every game.

        Args:
            actions: Shape (N,), whole numbers.

        Returns:
            reward, shape (N, num_players), float32, and done, shape (N,), bool: the batch's own arrays.

        Raises:
            ValueError: If an action is illegal; the message names game and move, and nothing has changed.
        """
        actions = np.asarray(actions)
        if actions.shape != (self.num_games,) or actions.dtype.kind not in "iu":
            raise ValueError(f"actions must be {self.num_games} whole numbers, got {actions.dtype} of shape {actions.shape}")
        if actions.dtype != np.int64:
            actions = actions.astype(np.int64)
        kernels = self.definition.kernels
        game = kernels.first_illegal(self.states, self.legal_bits, actions, self.num_actions)
        if game >= 0:
            raise ValueError(f"game {game}: {self._illegal(game, int(actions[game]))}")
        arguments = (
            self.tables, self.states, self.seeds, actions, self._mode, self.autoreset,
            self.player, self.observation, self.mask, self.legal_bits, self.reward, self.done, self.final_scores,
        )  # fmt: skip
        run_shares(kernels.step, kernels.step_shares, arguments, self._shares)
        return self.reward, self.done

    def points(self) -> np.ndarray:
        """Prestige that each legal action brings its player at once: shape (N, A), int16; 0 for illegal ones."""
        out = np.zeros((self.num_games, self.num_actions), np.int16)
        self._run(self.definition.kernels.points, self.tables, self.states, self.legal_bits, out)
        return out

    def text(self, game: int) -> str:
        """The table of one game as text."""
        return self.definition.render(self.states[game : game + 1], self.components)

    def _illegal(self, game: int, action: int) -> str:
        return illegal_move(self.definition, self.states[game : game + 1], self.components, self.tables, action)

    def _chosen(self, which: Any) -> np.ndarray:
        chosen = np.zeros(self.num_games, np.bool_)
        if which is None:
            chosen[:] = True
        else:
            try:
                chosen[np.asarray(which)] = True
            except IndexError as error:
                raise ValueError(
                    f"which must be indices below {self.num_games} or {self.num_games} booleans: {error}"
                ) from None
        return chosen

    def _run(self, loop: Any, *arguments: Any) -> None:
        loop(*arguments, 0, self.num_games)

    def __repr__(self) -> str:
        return f"Batch({self.num_games}, rules={self.rules!r}, num_players={self.num_players}, threads={self.threads})"
