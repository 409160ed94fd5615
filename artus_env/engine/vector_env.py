"""Many games as one Gymnasium vector environment, without sub-environments: the whole batch moves at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import logger
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from artus_env.engine.batch import Batch
from artus_env.engine.definition import Definition
from artus_env.engine.numbers import action_numbers
from artus_env.engine.reading import shown
from artus_env.engine.render import FRAME_THEME, PIXEL_MODES, require, rgb_array
from artus_env.engine.seats import SeatedGames
from artus_env.engine.wording import counted


class GameVectorEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """One seat in each of N games for Gymnasium; a subclass names the game and describes it.

    It does what a `SyncVectorEnv` of N `GameEnv` does, with the same seeds the same games, apart from one thing: in the
    autoreset mode NEXT_STEP the mask that comes with the end of an episode is all ones, because the next action is
    ignored.

    Args:
        num_envs: N.
        rules, num_players, seat, opponents, reward, components, scale_observation: As for `GameEnv`.
        autoreset_mode: What happens when an episode ends. `NextStep`: the next step deals anew and ignores the action.
            `SameStep`: the same step deals anew; `final_obs` and `final_info` of its info tell of the end. `Disabled`:
            `reset` has to be called, where only some have ended with `options={"reset_mask": (N,) bool}`.
        render_mode: None, "ansi" (`render` returns the positions as text) or "rgb_array" (as pixels: needs the extra
            `render`).
    """

    batch_class: ClassVar[type[Batch]]

    def __init__(
        self,
        num_envs: int = 1,
        rules: str | None = None,
        num_players: int = 2,
        seat: int | None = None,
        opponents: Any = "random",
        reward: str = "win",
        components: Any = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        game: str | Definition | None = None,
        scale_observation: bool = False,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(
                f"render_mode must be one of {', '.join(self.metadata['render_modes'])}, got {render_mode!r}"
            )
        require(render_mode)
        self.render_mode = render_mode
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        # One thread: the learner needs the other cores more, and moving is a small part of a step (opponents choose,
        # too).
        batch = self.batch_class(
            num_envs, rules=rules, num_players=num_players, seed=None, threads=1, autoreset=False, reward=reward,
            components=components, game=game, look=False,
        )  # fmt: skip
        self._games = SeatedGames(batch, seat, opponents, scale_observation)
        if render_mode in PIXEL_MODES:
            self._games.watch()
        self.num_envs = num_envs
        self.single_observation_space = self._games.observation_space
        self.single_action_space = Discrete(batch.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._was_reset = False

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Deal new games and let the opponents play until the seats are to move.

        Args:
            seed: Game i gets seed + i; or a list with one for each game. None: go on with each game's stream.
            options: For all games: `start_player`, `seat`, `position` as for `GameEnv.reset`; `reset_mask`, shape (N,),
                bool: deal only these anew.

        Returns:
            The observations, shape (N, F), int8 or float32, and the infos: `action_mask`, shape (N, A), int8, and
            `seat`, shape (N,).

        Raises:
            ValueError: If an option is unknown or doesn't fit.
        """
        super().reset(seed=seed if isinstance(seed, int) else None)
        options = dict(options or {})
        which = _chosen(options.pop("reset_mask", None), self.num_envs)
        seeds: list[int | None] | None = None
        if isinstance(seed, (int, np.integer)):
            seeds = [int(seed) + int(game) for game in which]
        elif seed is not None:
            if len(seed) != self.num_envs:
                raise ValueError(f"seed must be one or a list of {self.num_envs}, got {len(seed)}")
            seeds = [seed[game] for game in which]
        self._games.deal(which, seeds, options)
        self._was_reset = True
        return self._games.observation(), self._infos(which)

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Play an action in every game, then the opponents' moves, until the seat is to move again or the game has
        ended.

        Args:
            actions: shape (N,), whole numbers.

        Returns:
            Observations, shape (N, F), int8 or float32; rewards, shape (N,), float64; terminations, shape (N,), bool;
            truncations, shape (N,), all false; the infos.

        Raises:
            ResetNeeded: Before the first reset; with autoreset disabled also if a game has ended.
            ValueError: If the actions have another shape or type.
        """
        games = self._games
        next_step = self.autoreset_mode == AutoresetMode.NEXT_STEP
        if not self._was_reset or (not next_step and games.ended.any()):
            raise ResetNeeded("an episode has ended (or none has begun): call reset() before step()")
        actions = action_numbers(actions, self.num_envs).astype(np.int64)

        stale = np.flatnonzero(games.ended)
        playing = np.flatnonzero(~games.ended)
        rewards = np.zeros(self.num_envs)
        illegal = np.zeros(self.num_envs, np.bool_)
        rewards[playing], _, illegal[playing] = games.act(actions[playing], playing)
        if len(stale):
            games.deal(stale)
        terminations = games.ended.copy()
        every = np.arange(self.num_envs)
        infos: dict[str, Any] = {}
        if self.autoreset_mode == AutoresetMode.SAME_STEP and terminations.any():
            over = np.flatnonzero(terminations)
            final_obs = np.full(self.num_envs, None, object)
            for game, observation in zip(over, games.observation()[over], strict=True):
                final_obs[game] = observation
            infos = {
                "final_obs": final_obs,
                "_final_obs": terminations.copy(),
                "final_info": self._infos(over, illegal, actions),
                "_final_info": terminations.copy(),
            }
            games.deal(over)
            illegal[:] = False
        infos |= self._infos(every, illegal, actions)
        return games.observation(), rewards, terminations, np.zeros(self.num_envs, np.bool_), infos

    def action_masks(self) -> np.ndarray:
        """The legal actions: shape (N, A), int8; after an episode's end all ones in NEXT_STEP, else all zeros."""
        return self._mask()

    def render(self) -> tuple[str, ...] | tuple[np.ndarray, ...] | None:
        """The position of each game as its seat sees it: as text, or as pixels, shape (height, width, 3), uint8."""
        if self.render_mode is None:
            logger.warn("render() does nothing without a render_mode; give the environment one when you make it.")
            return None
        games = range(self.num_envs)
        if self.render_mode == "ansi":
            return tuple(self._games.text(game) for game in games)
        return tuple(rgb_array(self._games.svg(game, theme=FRAME_THEME)) for game in games)

    def _mask(self) -> np.ndarray:
        mask = self._games.mask()
        if self.autoreset_mode == AutoresetMode.NEXT_STEP:
            mask[self._games.ended] = 1  # the next action is ignored, and nothing can be drawn from an empty mask
        return mask

    def _infos(
        self, which: np.ndarray, illegal: np.ndarray | None = None, actions: np.ndarray | None = None
    ) -> dict[str, Any]:
        """The infos of some games, as `VectorEnv._add_info` would collect them: `_key` says which games have a
        `key`."""
        there = np.zeros(self.num_envs, np.bool_)
        there[which] = True
        mask, seat = self._mask(), self._games.seat.copy()
        mask[~there], seat[~there] = 0, 0
        infos = {"action_mask": mask, "_action_mask": there, "seat": seat, "_seat": there.copy()}
        if illegal is not None and actions is not None and illegal.any():
            infos |= {"illegal_action": np.where(illegal, actions, 0), "_illegal_action": illegal.copy()}
        return infos


def _chosen(mask: Any, count: int) -> np.ndarray:
    """Indices of the games that `reset` shall deal anew."""
    if mask is None:
        return np.arange(count)
    given = np.asarray(mask)
    if given.shape != (count,) or given.dtype != np.bool_ or not given.any():
        raise ValueError(f"reset_mask must be {counted(count, 'boolean')}, not all false, got {shown(mask)}")
    return np.flatnonzero(given)
