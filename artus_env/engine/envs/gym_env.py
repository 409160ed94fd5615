"""A game as a Gymnasium environment: the user plays one seat, agents play the others."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import logger
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Discrete

from artus_env.engine.basics.numbers import action_number
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.rng import check_seed
from artus_env.engine.drawing.render import FRAME_THEME, PIXEL_MODES, RenderMode, Window, require, rgb_array
from artus_env.engine.envs.seats import SeatedGames
from artus_env.engine.play.batch import Batch
from artus_env.engine.play.rewards import RewardMode

ONLY_GAME = np.zeros(1, np.int64)  # the only game of the batch
NOTHING_TO_UNDO: AbstractContextManager[None] = nullcontext()


class GameEnv(gymnasium.Env[np.ndarray, np.int64]):
    """One seat of a game for Gymnasium. Each game has a subclass that describes it, see `artus_env.environments`.

    Args:
        rules, num_players, reward, components: The variant, as for `Batch`.
        seat: 0..num_players-1, or None: drawn for each episode.
        opponents: Name, agent or callable `(observation, action_mask) -> action`: one for all other seats, or a list
            for the seats clockwise from the user's.
        render_mode: None, "ansi" (`render` returns the position as text), "rgb_array" (as pixels) or "human" (a window
            shows it at each reset and step). Pixels and window need the extra `render`.
        scale_observation: Whether observations are small float32 numbers for networks (the observation times the game's
            `observation_scale`; `observation_space` has the bounds), instead of int8.
        game: Name of the game, or its definition; None: the game of the subclass, else the default one.

    Attributes:
        games: The game and its players.
    """

    game_name: ClassVar[str | None] = None
    """The game of a subclass."""
    metadata: dict[str, Any] = {"render_modes": ["human", "rgb_array", "ansi"], "render_fps": 2}

    def __init__(
        self,
        rules: str | None = None,
        num_players: int = 2,
        seat: int | None = None,
        opponents: Any = "random",
        reward: RewardMode = "win",
        components: Any = None,
        render_mode: RenderMode | None = None,
        game: str | Definition | None = None,
        scale_observation: bool = False,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(
                f"render_mode must be one of {', '.join(self.metadata['render_modes'])}, got {render_mode!r}"
            )
        require(render_mode)
        self.render_mode = render_mode
        self._window = Window(type(self).__name__, self.metadata["render_fps"])
        batch = Batch(
            1,
            rules=rules,
            num_players=num_players,
            seed=None,
            threads=1,
            autoreset=False,
            reward=reward,
            components=components,
            game=self.game_name if game is None else game,
            look=False,
        )
        self.games = SeatedGames(batch, seat, opponents, scale_observation)
        if render_mode in PIXEL_MODES:
            self.games.watch()
        self.observation_space = self.games.observation_space
        self.action_space = Discrete(batch.num_actions)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Deal a new game and let the opponents play until the seat is to move.

        Args:
            seed: Seed of the deal (the same as `Game(seed=seed)`), of the seat if it is drawn, of the opponents'
                decisions, and of all these in later episodes. None: continue the streams. A game that ends before the
                seat's first decision is skipped: the next deal follows, as if reset had been called again, and the
                reward of the skipped game is added to the reward of the first step.
            options: For this episode: `start_player` (0..), `seat` (0..), `position` (as from `Game.to_dict`).

        Returns:
            The observation, shape (F,), int8 or float32, and the info: `action_mask`, shape (A,), int8, `seat` and
            `skipped_games`, the number of skipped games, np.int64.

        Raises:
            TypeError: If the seed isn't a whole number or `options` isn't a dict.
            ValueError: If the seed or an option is unknown or doesn't fit.
            RuntimeError: If the seat has had no decision in 1,000 games in a row.
        """
        seed = None if seed is None else check_seed(seed)  # Gymnasium doesn't accept NumPy's numbers
        with self.games.all_or_nothing():
            self.games.deal(ONLY_GAME, [seed], options)
        super().reset(seed=seed)  # for wrappers and users: games don't use this generator
        if self.render_mode == "human":
            self.render()
        return self.games.observation()[0], self._info()

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Play an action, then the opponents' moves, until the seat is to move again or the game has ended.

        Returns:
            The observation, shape (F,), int8 or float32; the seat's reward for all these moves; whether the game has
            ended; False; the info, with `illegal_action` if an illegal action ended the game.

        Raises:
            ResetNeeded: After the end of an episode and before the first.
            TypeError: If the action isn't a whole number.
        """
        if self.games.ended[0]:
            raise ResetNeeded("the episode has ended (or none has begun): call reset() before step()")
        number = action_number(action)
        # -1 stands for a number that is no action: it may be too large for an array.
        batch_action = number if number in range(self.games.batch.num_actions) else -1
        with NOTHING_TO_UNDO if self.games.acts_at_once() else self.games.all_or_nothing():
            (reward,), (ended,), (illegal,) = self.games.act(np.array([batch_action]), ONLY_GAME)
        info = self._info()
        if illegal:
            info["illegal_action"] = np.asarray(number)[()]  # np.int64, unless it is too large for that
        if self.render_mode == "human":
            self.render()
        return self.games.observation()[0], float(reward), bool(ended), False, info

    def action_masks(self) -> np.ndarray:
        """Legal actions, in the form for sb3-contrib and `action_space.sample`: shape (A,), int8; all zeros after the
        end."""
        return self.games.mask()[0]

    def render(self) -> str | np.ndarray | None:
        """Return the position as the seat sees it, as text ("ansi") or as pixels ("rgb_array": shape (height, width,
        3), uint8), or show it in a window ("human")."""
        if self.render_mode is None:
            logger.warn("render() does nothing without a render_mode; give the environment one when you make it.")
            return None
        if self.render_mode == "ansi":
            return self.games.text(0)
        frame = rgb_array(self.games.svg(0, theme=FRAME_THEME))
        if self.render_mode == "rgb_array":
            return frame
        self._window.show(frame)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        self._window.close()

    def _info(self) -> dict[str, Any]:
        return {
            "action_mask": self.games.mask()[0],
            "seat": self.games.seat[0],
            "skipped_games": self.games.skipped[0],
        }
