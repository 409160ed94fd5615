"""Many games as one Gymnasium vector environment, without sub-environments: the whole batch moves at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from gymnasium import logger
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from artus_env.engine.basics.numbers import action_numbers, whole_number
from artus_env.engine.basics.reading import shown
from artus_env.engine.basics.wording import counted
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.rng import check_seed
from artus_env.engine.drawing.render import FRAME_THEME, PIXEL_MODES, require, rgb_array
from artus_env.engine.envs.options import read_options
from artus_env.engine.envs.seats import OPTIONS, SeatedGames
from artus_env.engine.play.batch import Batch
from artus_env.engine.play.rewards import RewardMode

REFUSED_BY_CALL = ("reset", "step", "close")
"""Methods of the whole environment, which `call` refuses."""
RESULT_PER_GAME = ("action_masks", "render")
"""Methods with a result for each game."""
NAMES_OF_SINGLE = {"observation_space": "single_observation_space", "action_space": "single_action_space"}
"""Names that attributes of a single game have in this environment."""


class GameVectorEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """One seat in each of N games for Gymnasium. Each game has a subclass that describes it, see
    `artus_env.environments`.

    It behaves like a `SyncVectorEnv` of N `GameEnv`, with the same games for the same seeds, apart from two things: in
    the autoreset mode NEXT_STEP the mask at the end of an episode is all ones, because the next action is ignored; and
    a `reset` of some games returns the infos of all games, so that its masks fit the next step.

    Args:
        num_envs: N.
        rules, num_players, seat, opponents, reward, components, scale_observation, game: As for `GameEnv`.
        autoreset_mode: The effect of the end of an episode. `NextStep`: the next step deals a new game and ignores the
            action. `SameStep`: the same step deals a new game; its info describes the end in `final_obs` and
            `final_info`. `Disabled`: `reset` has to be called, with `options={"reset_mask": (N,) bool}` if only some
            games have ended.
        render_mode: None, "ansi" (`render` returns the positions as text) or "rgb_array" (as pixels: needs the extra
            `render`).
        max_episode_steps: Truncate an episode after this many steps, as Gymnasium's `TimeLimit` does; None or -1:
            never.

    Attributes:
        games: The games and their players.
    """

    game_name: ClassVar[str | None] = None
    """The game of a subclass."""
    metadata: dict[str, Any] = {"render_modes": ["rgb_array", "ansi"], "render_fps": 2}

    def __init__(
        self,
        num_envs: int = 1,
        rules: str | None = None,
        num_players: int = 2,
        seat: int | None = None,
        opponents: Any = "random",
        reward: RewardMode = "win",
        components: Any = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        render_mode: Literal["ansi", "rgb_array"] | None = None,
        game: str | Definition | None = None,
        scale_observation: bool = False,
        max_episode_steps: int | None = None,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(
                f"render_mode must be one of {', '.join(self.metadata['render_modes'])}, got {render_mode!r}"
            )
        require(render_mode)
        self.render_mode = render_mode
        self.max_episode_steps: int | None = None
        if max_episode_steps is not None and max_episode_steps != -1:
            self.max_episode_steps = whole_number("max_episode_steps", max_episode_steps, 1)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        # One thread: the learner needs the other cores more, and moves are a small part of a step (opponents choose,
        # too).
        batch = Batch(
            num_envs, rules=rules, num_players=num_players, seed=None, threads=1, autoreset=False, reward=reward,
            components=components, game=self.game_name if game is None else game, look=False,
        )  # fmt: skip
        self.games = SeatedGames(batch, seat, opponents, scale_observation)
        if render_mode in PIXEL_MODES:
            self.games.watch()
        self.num_envs = num_envs
        self.single_observation_space = self.games.observation_space
        self.single_action_space = Discrete(batch.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._was_reset = False
        self._steps = np.zeros(num_envs, np.int64)  # in each game's episode
        self._attributes: dict[str, tuple[Any, ...]] = {}  # attributes added by `set_attr`: a value for each game

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Deal new games and let the opponents play until the seats are to move.

        Args:
            seed: Game i gets seed + i; or a list with one for each game. None: continue each game's stream.
            options: For all games: `start_player`, `seat`, `position` as for `GameEnv.reset`; `reset_mask`, shape (N,),
                bool: deal only these games.

        Returns:
            The observations, shape (N, F), int8 or float32, and the infos: `action_mask`, shape (N, A), int8, `seat`
            and `skipped_games`, shapes (N,), int64; all of them for all games.

        Raises:
            TypeError: If a seed isn't a whole number or `options` isn't a dict.
            ValueError: If a seed or an option is unknown or doesn't fit.
            RuntimeError: If a seat has had no decision in 1,000 games in a row.
        """
        given_options = read_options(options, (*OPTIONS, "reset_mask"))
        which = _games_to_deal(given_options.pop("reset_mask", None), self.num_envs)
        seeds: list[int | None] | None = None
        if isinstance(seed, (list, tuple, np.ndarray)):
            if len(seed) != self.num_envs:
                raise ValueError(f"seed must be one number or a list of {self.num_envs}, got {len(seed)}")
            seeds = [seed[game] for game in which]
        first_seed = None if seed is None or seeds else check_seed(seed)
        if first_seed is not None:
            seeds = [first_seed + int(game) for game in which]
        with self.games.all_or_nothing(self):
            self.games.deal(which, seeds, given_options)
            super().reset(seed=first_seed)
            self._steps = self._steps.copy()  # an interrupt restores the old ones
            self._steps[which] = 0
            self._was_reset = True
        return self.games.observation(), self._infos(np.arange(self.num_envs))

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Play an action in every game, then the opponents' moves, until the seat is to move again or the game has
        ended.

        Args:
            actions: shape (N,), whole numbers.

        Returns:
            Observations, shape (N, F), int8 or float32; rewards, shape (N,), float64; terminations, shape (N,), bool;
            truncations, shape (N,), bool, all false without `max_episode_steps`; the infos.

        Raises:
            ResetNeeded: Before the first reset; with autoreset disabled also if a game has ended.
            TypeError: If the actions aren't whole numbers.
            ValueError: If there are more or fewer than N actions.
        """
        games = self.games
        next_step = self.autoreset_mode == AutoresetMode.NEXT_STEP
        if not self._was_reset or (not next_step and games.ended.any()):
            raise ResetNeeded("an episode has ended (or none has begun): call reset() before step()")
        actions = action_numbers(actions, self.num_envs).astype(np.int64)

        with self.games.all_or_nothing(self):
            return self._step(actions)

    def _step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        games = self.games
        ended_games = np.flatnonzero(games.ended)
        running_games = np.flatnonzero(~games.ended)
        rewards = np.zeros(self.num_envs)
        is_illegal, terminations, truncations = np.zeros((3, self.num_envs), np.bool_)
        rewards[running_games], terminations[running_games], is_illegal[running_games] = games.act(
            actions[running_games], running_games
        )
        if self.max_episode_steps is not None:
            self._steps = self._steps.copy()  # an interrupt restores the old ones
            self._steps[running_games] += 1
            self._steps[ended_games] = 0
            truncations[running_games] = self._steps[running_games] >= self.max_episode_steps
            games.ended |= truncations
        if len(ended_games):
            games.deal(ended_games)
        has_ended = terminations | truncations
        all_games = np.arange(self.num_envs)
        infos: dict[str, Any] = {}
        if self.autoreset_mode == AutoresetMode.SAME_STEP and has_ended.any():
            finished_games = np.flatnonzero(has_ended)
            final_obs = np.full(self.num_envs, None, object)
            for game, observation in zip(finished_games, games.observation()[finished_games], strict=True):
                final_obs[game] = observation
            infos = {
                "final_obs": final_obs,
                "_final_obs": has_ended.copy(),
                "final_info": self._infos(finished_games, is_illegal, actions),
                "_final_info": has_ended.copy(),
            }
            games.deal(finished_games)
            self._steps = np.where(has_ended, 0, self._steps)
            is_illegal[:] = False
        infos |= self._infos(all_games, is_illegal, actions)
        return games.observation(), rewards, terminations, truncations, infos

    def action_masks(self) -> np.ndarray:
        """Legal actions: shape (N, A), int8. After an episode's end all ones in NEXT_STEP; else all zeros, unless it
        was truncated."""
        return self._mask()

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method for each game, or get an attribute of each: N results, as from `SyncVectorEnv.call`.

        Raises:
            AttributeError: If there is no such method or attribute.
            ValueError: For `reset`, `step` and `close`.
        """
        if name in REFUSED_BY_CALL:
            raise ValueError(f"call {name}() of the environment itself, not through call()")
        if name in self._attributes:
            game_values = self._attributes[name]
            return tuple(value(*args, **kwargs) if callable(value) else value for value in game_values)
        value = getattr(self, NAMES_OF_SINGLE.get(name, name))
        if callable(value):
            value = value(*args, **kwargs)
        return tuple(value) if name in RESULT_PER_GAME and value is not None else (value,) * self.num_envs

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """An attribute of each game, as from `SyncVectorEnv.get_attr`: N values.

        Raises:
            AttributeError: If there is no such attribute.
        """
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute for each game, for `get_attr` and `call`. All games share the attributes of the environment
        itself.

        Args:
            values: A list or tuple with N values, or one value for all.

        Raises:
            ValueError: If the number of values is wrong, or they differ where all games share the attribute.
        """
        game_values = tuple(values) if isinstance(values, (list, tuple)) else (values,) * self.num_envs
        if len(game_values) != self.num_envs:
            raise ValueError(f"{name} must be one value or a list of {self.num_envs}, got {len(game_values)}")
        own_name = NAMES_OF_SINGLE.get(name, name)
        if name in self._attributes or not hasattr(self, own_name):
            self._attributes[name] = game_values
        elif any(value is not game_values[0] and value != game_values[0] for value in game_values):
            raise ValueError(f"{name} is the same for all games: give one value")
        else:
            setattr(self, own_name, game_values[0])

    def render(self) -> tuple[str, ...] | tuple[np.ndarray, ...] | None:
        """Return the position of each game as its seat sees it: as text, or as pixels, shape (height, width, 3),
        uint8."""
        if self.render_mode is None:
            logger.warn("render() does nothing without a render_mode; give the environment one when you make it.")
            return None
        games = range(self.num_envs)
        if self.render_mode == "ansi":
            return tuple(self.games.text(game) for game in games)
        return tuple(rgb_array(self.games.svg(game, theme=FRAME_THEME)) for game in games)

    def _mask(self) -> np.ndarray:
        mask = self.games.mask()
        if self.autoreset_mode == AutoresetMode.NEXT_STEP:
            mask[self.games.ended] = 1  # the next action is ignored, and sampling needs a mask that isn't empty
        return mask

    def _infos(
        self, which: np.ndarray, is_illegal: np.ndarray | None = None, actions: np.ndarray | None = None
    ) -> dict[str, Any]:
        """Return the infos of some games in the form of `VectorEnv._add_info`: `_key` marks the games that have a
        `key`."""
        is_included = np.zeros(self.num_envs, np.bool_)
        is_included[which] = True
        mask, seat, skipped = self._mask(), self.games.seat.copy(), self.games.skipped.copy()
        if len(which) < self.num_envs:
            mask[~is_included], seat[~is_included], skipped[~is_included] = 0, 0, 0
        infos = {
            "action_mask": mask, "_action_mask": is_included, "seat": seat, "_seat": is_included.copy(),
            "skipped_games": skipped, "_skipped_games": is_included.copy(),
        }  # fmt: skip
        if is_illegal is not None and actions is not None and is_illegal.any():
            infos |= {"illegal_action": np.where(is_illegal, actions, 0), "_illegal_action": is_illegal.copy()}
        return infos


def _games_to_deal(mask: Any, count: int) -> np.ndarray:
    """Indices of the games that `reset` deals again."""
    if mask is None:
        return np.arange(count)
    is_chosen = np.asarray(mask)
    if is_chosen.shape != (count,) or is_chosen.dtype != np.bool_ or not is_chosen.any():
        raise ValueError(f"reset_mask must be {counted(count, 'boolean')}, not all false, got {shown(mask)}")
    return np.flatnonzero(is_chosen)
