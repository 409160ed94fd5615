"""A game as a PettingZoo AEC environment: one decision per step, and all agents terminate together."""

from __future__ import annotations

from copy import copy
from typing import Any, ClassVar

import numpy as np
from gymnasium import logger
from gymnasium.spaces import Box, Dict, Discrete
from pettingzoo.utils.env import AECEnv, AECIterable, AECIterator
from pettingzoo.utils.env_logger import EnvLogger

from artus_env.engine.basics.numbers import action_number
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import find_game
from artus_env.engine.contract.rng import check_seed, fresh_seed, next_seed
from artus_env.engine.drawing.render import FRAME_THEME, RenderMode, Window, require, rgb_array
from artus_env.engine.envs.options import read_options, read_position
from artus_env.engine.play.game import Game, IllegalMoveError
from artus_env.engine.play.rewards import ILLEGAL_REWARD, POINTS, RewardMode, mode_index

OPTIONS = ("start_player", "position")
SET_BY_RESET = frozenset(
    (
        "agents",
        "num_agents",
        "agent_selection",
        "rewards",
        "terminations",
        "truncations",
        "infos",
        "_cumulative_rewards",
    )
)
"""Attributes that don't exist before the first reset."""
SET_AT_END = SET_BY_RESET - {"num_agents"} | {"_skip_agent_selection"}
"""Attributes that a step of a terminated agent changes."""


class GameAEC(AECEnv[str, dict[str, np.ndarray], int]):
    """One game for PettingZoo. Each game has a subclass that describes it, see `artus_env.environments`.

    Turn order and legality are checked here: PettingZoo's wrappers for that cost more than the game itself.

    Args:
        rules, num_players, components: The variant, as for `Game`.
        reward: "win", "margin" or "points" (see `artus_env.engine.play.rewards`).
        render_mode: None, "ansi" (`render` returns the position as text), "rgb_array" (as pixels) or "human" (a window
            shows it at each reset and step). Pixels and window need the extra `render`.
        game: Name of the game, or its definition; None: the game of the subclass, else the default one.
        raise_illegal: Raise `IllegalMoveError` on an illegal action and leave the game unchanged, instead of ending it.

    Attributes:
        game: The game itself, from the first reset on.
        has_updated: Whether the loop over `agent_iter` has called `step`, or `reset`, in its current round.
    """

    game_name: ClassVar[str | None] = None
    """The game of a subclass."""
    metadata: dict[str, Any] = {
        "render_modes": ["human", "rgb_array", "ansi"],
        "is_parallelizable": False,
        "render_fps": 2,
    }
    game: Game

    def __init__(
        self,
        rules: str | None = None,
        num_players: int = 2,
        reward: RewardMode = "win",
        components: Any = None,
        render_mode: RenderMode | None = None,
        *,
        raise_illegal: bool = False,
        game: str | Definition | None = None,
    ) -> None:
        super().__init__()
        self.definition = definition = find_game(self.game_name if game is None else game)
        self.rules = definition.check_variant(rules, num_players)
        self.metadata = {"name": f"{definition.name}_v0", **self.metadata}
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(
                f"render_mode must be one of {', '.join(self.metadata['render_modes'])}, got {render_mode!r}"
            )
        self.num_players = num_players
        self.reward_mode = reward
        self.components = definition.box(components)
        require(render_mode)
        self.render_mode = render_mode
        self._window = Window(self.metadata["name"], self.metadata["render_fps"])
        self._mode = mode_index(reward, definition.score)
        self._raise_illegal = raise_illegal

        low, high = definition.observation_bounds(self.components)
        self._num_actions = len(definition.action_table(self.components))
        self.possible_agents = [f"player_{player}" for player in range(num_players)]
        self.observation_spaces = {
            agent: Dict(
                {"observation": Box(low, high, dtype=np.int8), "action_mask": Box(0, 1, (self._num_actions,), np.int8)}
            )
            for agent in self.possible_agents
        }
        self.action_spaces = {agent: Discrete(self._num_actions) for agent in self.possible_agents}
        self.state_space = Box(np.tile(low, num_players), np.tile(high, num_players), dtype=np.int8)

        self._player_of_agent = {agent: player for player, agent in enumerate(self.possible_agents)}
        self._seed: int | None = None  # seed of the last deal
        self._reward = np.zeros(num_players)
        self._was_reset = False
        self._ended = True  # no agent may act: before the first reset, and from the end of a game to the next reset
        self.has_updated = False  # whether the loop over `agent_iter` has called `step` or `reset`

    # --- PettingZoo's API ---

    def observation_space(self, agent: str) -> Dict:
        """Dict of `observation` and `action_mask`; the same object every time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """The action ids; the same object every time."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game.

        Args:
            seed: Seed of the deal, the same deal as `Game(seed=seed)`. None: the next of the stream of deals, which
                begins at the last given seed, or at a random one if there was none.
            options: `start_player`: the player who starts, 0.. (default: drawn from the seed). `position`: a position
                as plain data (`Game.to_dict`) to begin at, instead of a deal.

        Raises:
            TypeError: If the seed isn't a whole number or `options` isn't a dict; the environment is unchanged.
            ValueError: If the seed or an option is unknown or doesn't fit; the environment is unchanged.
        """
        # PettingZoo's api_test sends an option of this name, to check that reset accepts options.
        given_options = read_options(options, (*OPTIONS, "options"))
        given_options.pop("options", None)
        if seed is not None:
            deal_seed = check_seed(seed)
        else:
            deal_seed = fresh_seed() if self._seed is None else int(next_seed(np.uint64(self._seed)))
        if "position" in given_options:
            states = read_position(
                given_options["position"], self.definition, self.components, self.rules, self.num_players
            )
            game = Game.from_state(self.definition, states, self.components)
        else:
            game = Game(
                self.rules,
                self.num_players,
                deal_seed,
                given_options.get("start_player"),
                self.components,
                game=self.definition,
            )

        agents = self.possible_agents
        agent_to_move, mask = agents[game.player], game.mask()
        infos = {agent: self._waiting_info() for agent in agents} | {agent_to_move: {"action_mask": mask.copy()}}
        self._set_together(
            game=game,
            _seed=deal_seed,
            agents=agents[:],
            rewards=dict.fromkeys(agents, 0.0),
            _cumulative_rewards=dict.fromkeys(agents, 0.0),
            _scores=np.array(game.scores),  # at the last reward
            _paid_moves=0,  # moves of the game at the last reward
            terminations=dict.fromkeys(agents, False),
            truncations=dict.fromkeys(agents, False),
            infos=infos,
            _skip_agent_selection=None,
            agent_selection=agent_to_move,
            _mask=mask,
            _observation=game.observation(),
            _was_reset=True,
            has_updated=True,
            _ended=False,
        )
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        """Play an action of `agent_selection`; None for a terminated agent.

        An illegal action ends the game for all: -1 for its player, 0 for the others, and the player's info has it as
        `illegal_action`.

        Raises:
            IllegalMoveError: With `raw_env`, if the action is illegal; nothing has changed.
            TypeError: If the action of a living agent isn't a whole number; nothing has changed.
            ValueError: If a terminated agent acts.
            AssertionError: Before the first reset.
        """
        if self._ended:
            self._step_after_end(action)
            return
        number = action if action.__class__ is int else action_number(action)
        agent, game = self.agent_selection, self.game
        try:
            _, player, over = game.play_and_look(number, self._mask, self._observation)
            self._update(agent, player, over)
        except IllegalMoveError:
            if self._raise_illegal:
                raise
            self._end_illegally(agent, number)
        except BaseException:  # an interrupt; the game may already have moved
            self._update(agent, game.player, game.over)
            raise
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """Return an agent's `observation`, shape (F,), and `action_mask`, shape (A,), int8, fresh arrays.

        The mask is all zeros unless it is the agent's turn.
        """
        if not self._was_reset:
            EnvLogger.error_observe_before_reset()
        if agent == self.agent_selection and not self._ended:  # computed by the last step
            return {"observation": self._observation.copy(), "action_mask": self._mask.copy()}
        return {"observation": self.game.observation(self._player_of_agent[agent]), **self._waiting_info()}

    def state(self) -> np.ndarray:
        """Return the observations of all players in their order, concatenated: shape (num_players * F,), int8.

        Together they show every hand, but not the order of the piles.
        """
        if not self._was_reset:
            EnvLogger.error_state_before_reset()
        return np.concatenate([self.game.observation(player) for player in range(self.num_players)])

    def render(self) -> str | np.ndarray | None:
        """Return the position with all hands open, as text ("ansi") or as pixels ("rgb_array": shape (height, width,
        3), uint8), or show it in a window ("human")."""
        if not self._was_reset:
            EnvLogger.error_render_before_reset()
        if self.render_mode is None:
            logger.warn("render() does nothing without a render_mode; give the environment one when you make it.")
            return None
        if self.render_mode == "ansi":
            return self.game.render()
        frame = rgb_array(self.game.svg(theme=FRAME_THEME))
        if self.render_mode == "rgb_array":
            return frame
        self._window.show(frame)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        self._window.close()

    def agent_iter(self, max_iter: int = 2**63) -> AECIterable[str, dict[str, np.ndarray], int]:
        """Yield the agent to act until no agent is left; call `step` once in every round."""
        if not self._was_reset:
            EnvLogger.error_agent_iter_before_reset()
        return _CheckedIterable(self, max_iter)

    # --- between decisions ---

    def _waiting_info(self) -> dict[str, Any]:
        """Info of an agent that isn't to move."""
        return {"action_mask": np.zeros(self._num_actions, np.int8)}

    def _set_together(self, **values: Any) -> None:
        """Set attributes all at once: no interrupt can come between two of them."""
        self.__dict__.update(values)

    def _update(self, agent: str, player: int, over: bool) -> None:
        """Update the attributes from the game. Nothing changes if they are up to date.

        Args:
            agent: The previously selected agent.
            player: The player to move now.
            over: Whether the game has ended.
        """
        if over or self._mode == POINTS:  # otherwise there are no rewards yet
            self._pay(agent)
        if over:
            self.terminations = dict.fromkeys(self.agents, True)
            self._ended = True
        following = self.possible_agents[player]
        if following != agent:
            self.infos[agent] = self._waiting_info()
            self.agent_selection = following
        self.infos[following] = {"action_mask": self._mask.copy()}
        self.has_updated = True

    def _pay(self, agent: str) -> None:
        """Pay the rewards for the last move, by `agent`, unless they have been paid."""
        moves = self.game.num_played
        if moves == self._paid_moves:
            return
        reward, scores = self._reward, self._scores.copy()
        self.game.pay(self._mode, scores, reward)
        rewards = dict(zip(self.possible_agents, reward.tolist(), strict=True))
        cumulative = self._cumulative_rewards | {agent: 0.0}
        for receiver, amount in rewards.items():
            cumulative[receiver] += amount
        self._set_together(rewards=rewards, _cumulative_rewards=cumulative, _scores=scores, _paid_moves=moves)

    def _end_illegally(self, agent: str, action: int) -> None:
        rewards = dict.fromkeys(self.agents, 0.0) | {agent: ILLEGAL_REWARD}
        self._set_together(
            rewards=rewards,
            _cumulative_rewards=self._cumulative_rewards | {agent: ILLEGAL_REWARD},
            terminations=dict.fromkeys(self.agents, True),
            infos=self.infos | {agent: {**self._waiting_info(), "illegal_action": np.asarray(action)[()]}},
            has_updated=True,
            _ended=True,
        )

    def _step_after_end(self, action: int | None) -> None:
        if not self._was_reset:
            EnvLogger.error_step_before_reset()
        if self.agents:
            # PettingZoo deletes the agent from several lists and dicts in turn. It gets copies, which replace the
            # originals all at once.
            stand_in: Any = AECEnv.__new__(AECEnv)
            stand_in.__dict__ = {name: copy(getattr(self, name)) for name in SET_AT_END}
            stand_in._was_dead_step(action)
            self._set_together(**stand_in.__dict__, has_updated=True)
        else:
            self.has_updated = True
            EnvLogger.warn_step_after_terminated_truncated()

    def __getattr__(self, name: str) -> Any:
        """Called only for missing attributes: those set by `reset`, before the first reset."""
        if name in SET_BY_RESET:
            raise AttributeError(f"{name} cannot be accessed before reset")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class _CheckedIterable(AECIterable[str, dict[str, np.ndarray], int]):
    env: GameAEC

    def __iter__(self) -> _CheckedIterator:
        self.env.has_updated = True  # an interrupted loop may begin again
        return _CheckedIterator(self.env, self.max_iter)


class _CheckedIterator(AECIterator[str, dict[str, np.ndarray], int]):
    env: GameAEC

    def __next__(self) -> str:
        agent = super().__next__()
        if not self.env.has_updated:
            raise AssertionError("need to call step() or reset() in a loop over `agent_iter`")
        self.env.has_updated = False
        return agent
