"""Games in which the user plays one seat: common code of the Gymnasium environments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box

from artus_env.engine.agents.names import find_agent
from artus_env.engine.agents.view import FORFEIT, Agent, choose_actions, type_name, with_agent_name
from artus_env.engine.basics.numbers import whole_number
from artus_env.engine.contract.rng import check_seed, drawn_seats, fresh_seed, next_seeds, seed_stream
from artus_env.engine.drawing.render import draw
from artus_env.engine.envs.options import read_options, read_position
from artus_env.engine.envs.undo import Undo
from artus_env.engine.play.batch import Batch
from artus_env.engine.play.choosers import UNIFORM, chooser_of, play_on
from artus_env.engine.play.game import IllegalMoveError
from artus_env.engine.play.rewards import ILLEGAL_REWARD

OPTIONS = ("start_player", "seat", "position")
MOST_SKIPPED = 1000
"""Most games in a row that may end before a seat's first decision."""
_OPPONENTS = 2  # purpose of the seed streams; the batch uses 0 and 1


class SeatedGames:
    """N games; in each the user plays one seat and agents play the others.

    The user only sees games in which the seat is to move, or which have ended. A game that ends before its seat's first
    decision is skipped: the next one is dealt. A game depends on its seed and on the actions played in it, not on the
    other games.

    Args:
        batch: The games, without autoreset.
        seat: 0..num_players-1, or None: drawn for each deal.
        opponents: Name, agent or callable: one for all other seats, or a list for the seats clockwise from the user's.
        scale: Whether observations are float32, times the game's `observation_scale`, instead of int8.

    Attributes:
        observation_space: Observation space of one game.
        seat: The user's seat: shape (N,), int64.
        ended: Whether a game has ended or was truncated, or none was dealt yet: shape (N,), bool.
        skipped: Number of games skipped by the last call of `deal`; zeros after `act`: shape (N,), int64.

    Raises:
        ValueError: If there is no such seat or agent, or the number of opponents is wrong.
    """

    def __init__(self, batch: Batch, seat: int | None, opponents: Any, scale: bool = False) -> None:
        if seat is not None:
            whole_number("seat", seat, 0, batch.num_players - 1)
        num_opponents = batch.num_players - 1
        if isinstance(opponents, (list, tuple)) and len(opponents) != num_opponents:
            raise ValueError(f"opponents must be one for all or a list of {num_opponents}, got {len(opponents)}")
        single = not isinstance(opponents, (list, tuple))
        opponent_list = [opponents] if single else opponents
        self.agents: list[Agent] = [find_agent(agent) for agent in opponent_list]
        self._names = [name if isinstance(name, str) else type_name(name) for name in opponent_list]
        # Index in `agents` of each opponent, clockwise from the seat.
        self._agent_of_opponent = np.zeros(num_opponents, np.int64) if single else np.arange(num_opponents)
        self.batch = batch
        self.fixed_seat = seat
        self.seat = np.zeros(len(batch), np.int64)
        self.ended = np.ones(len(batch), np.bool_)
        self._agent_of_seat = np.full((len(batch), batch.num_players), -1)  # indices into `agents`, -1: the user
        self.skipped = np.zeros(len(batch), np.int64)
        self._pending_rewards = np.zeros(len(batch))  # the seat's rewards since its last decision
        self._skipped_rewards = np.zeros(len(batch))  # rewards of skipped games
        self._has_skipped = False  # whether `skipped` or `_skipped_rewards` has non-zeros
        choosers = [chooser_of(agent) for agent in self.agents]
        self._compiled = None not in choosers  # whether compiled code can play for all opponents
        self._chooser_of_agent = np.array([-1 if chooser is None else chooser for chooser in choosers])
        uniform = set(choosers) == {UNIFORM}  # the usual start: then nothing else needs compiling
        self._choosers = None if uniform else np.zeros((len(batch), batch.num_players), np.int64)  # by seat
        self._keys = seed_stream(fresh_seed(), len(batch), _OPPONENTS)
        self._last_actions: np.ndarray | None = None  # by game, -1: none yet; None: not recorded
        self._last_states: np.ndarray | None = None  # the states before those actions
        self._undo: Undo | None = None
        self._scale = batch.definition.observation_scale(batch.components) if scale else None
        low, high = batch.definition.observation_bounds(batch.components)
        self.observation_space: Box[Any] = (
            Box(low, high, dtype=np.int8)
            if self._scale is None
            else Box(low * self._scale, high * self._scale, dtype=np.float32)
        )
        batch.done[:], batch.mask[:] = True, 0  # nothing is dealt yet

    def deal(
        self, which: np.ndarray, seeds: Sequence[int | None] | None = None, options: Mapping[str, Any] | None = None
    ) -> None:
        """Deal games and let the opponents play until the seat is to move.

        If a game ends before that, the next deal of its stream follows with the same options, as if this had been
        called again without a seed. The seat's rewards for such games are added to the reward of its next action.

        Args:
            which: The games: rising indices, shape (n,).
            seeds: The seed of the deals and the opponents of each of these games; None: continue its streams.
            options: For all these games: `start_player`, `seat`, `position`.

        Raises:
            ValueError: If a seed or an option doesn't fit, and nothing has changed; or if the seat has no decision left
                from the position on.
            RuntimeError: If a seat has had no decision in `MOST_SKIPPED` games in a row.
        """
        batch = self.batch
        given_options = read_options(options, OPTIONS)
        start_player = given_options.get("start_player")
        batch.definition.check_variant(batch.rules, batch.num_players, start_player)
        if "seat" in given_options:
            whole_number("seat", given_options["seat"], 0, batch.num_players - 1)
        states = None
        if "position" in given_options:
            states = read_position(
                given_options["position"], batch.definition, batch.components, batch.rules, batch.num_players
            )
        deal_seeds = next_seeds(batch.seeds[which])
        for k, seed in enumerate(seeds or ()):
            if seed is not None:
                deal_seeds[k] = check_seed(seed)
        for k, seed in enumerate(seeds or ()):
            if seed is not None:
                self._keys[which[k]] = seed_stream(seed, 1, _OPPONENTS)[0]

        seat = given_options.get("seat", self.fixed_seat)
        if self._has_skipped:
            self.skipped[:] = 0
            self._skipped_rewards[which] = 0
        self._begin(which, deal_seeds, seat, start_player, states)
        while (ended_games := which[self.ended[which]]).size:
            if states is not None:
                raise ValueError("position: the game ends before the seat has a decision")
            if self.skipped[ended_games].max() == MOST_SKIPPED:
                stuck_seat = self.seat[ended_games[self.skipped[ended_games].argmax()]]
                raise RuntimeError(
                    f"{batch.definition.name}: seat {stuck_seat} has had no decision in {MOST_SKIPPED} games in a row"
                )
            self._has_skipped = True
            self.skipped[ended_games] += 1
            self._skipped_rewards[ended_games] += self._pending_rewards[ended_games]
            self._begin(ended_games, next_seeds(batch.seeds[ended_games]), seat, start_player)

    def _begin(
        self,
        which: np.ndarray,
        deal_seeds: np.ndarray,
        seat: int | None,
        start_player: int | None,
        states: np.ndarray | None = None,
    ) -> None:
        """Deal games with these seeds, or set them to this state, and play until the seat is to move or the game is
        over."""
        batch = self.batch
        batch.reset(deal_seeds, start_player, which, look=False)
        if states is not None:
            batch.states[which] = states
        self.seat[which] = drawn_seats(deal_seeds, batch.num_players) if seat is None else seat
        self._agent_of_seat[which] = -1
        for k, agent in enumerate(self._agent_of_opponent):
            seats = (self.seat[which] + 1 + k) % batch.num_players
            self._agent_of_seat[which, seats] = agent
            if self._choosers is not None:
                self._choosers[which, seats] = self._chooser_of_agent[agent]
        self._pending_rewards[which] = 0
        if self._last_actions is not None:
            self._last_actions[which] = -1
        if not self._compiled:  # compiled code refreshes by itself
            batch.refresh(which)
        self._let_others_play(which)
        self.ended[which] = batch.done[which]

    def act(self, actions: np.ndarray, which: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Play an action for the seat of each game, then the opponents' actions, until the seat is to move or the game
        has ended.

        An illegal action ends its game with a reward of -1. The rewards of skipped games are added.

        Args:
            actions: The user's action in each of the games `which`: shape (n,), int64.
            which: The games, none of them ended: rising indices, shape (n,).

        Returns:
            The seat's reward for all these moves, shape (n,), float64; whether the game has ended, shape (n,), bool;
            whether an illegal action ended it, shape (n,), bool.
        """
        batch = self.batch
        if self._compiled:
            # Compiled code makes all changes in one call, which an interrupt can't divide.
            reward, is_illegal = self._play_on(actions, which)
            has_ended = self.ended[which]
        else:
            # Like `play_on`, for opponents without compiled code. Legality is checked here, because one illegal action
            # would make `Batch.step` reject all games.
            is_action = (actions >= 0) & (actions < batch.num_actions)
            is_legal = is_action & (batch.mask[which, np.where(is_action, actions, 0)] != 0)
            legal_games = which[is_legal]
            self._play(actions[is_legal], legal_games)
            self._let_others_play(legal_games)
            is_illegal = ~is_legal
            self.ended[which] = has_ended = batch.done[which] | is_illegal
            reward = np.where(is_illegal, ILLEGAL_REWARD, self._pending_rewards[which])
            self._pending_rewards[which] = 0
            if is_illegal.any():
                batch.done[which[is_illegal]] = True
                batch.mask[which[is_illegal]] = 0  # in the batch these games aren't over
        if self._has_skipped:
            reward += self._skipped_rewards[which]
            self._skipped_rewards[which] = 0
            self.skipped[:] = 0
            self._has_skipped = bool(self._skipped_rewards.any())
        return reward, has_ended, is_illegal

    def observation(self) -> np.ndarray:
        """Observations of the seats: shape (N, F), int8, or float32 if they are scaled; a fresh array. Also after the
        end."""
        if self._scale is None:
            return self.batch.observation.copy()
        return self.batch.observation * self._scale

    def mask(self) -> np.ndarray:
        """Legal actions of the seats: shape (N, A), int8, a fresh array; zeros after the end."""
        return self.batch.mask.copy()

    def text(self, game: int) -> str:
        """The position as the seat sees it."""
        batch = self.batch
        return batch.definition.render(batch.states[game : game + 1], batch.components, int(self.seat[game]))

    def all_or_nothing(self, *owners: Any) -> Undo:
        """Context manager: an error or an interrupt in the block restores these games, and the attributes of the
        owners."""
        if self._undo is None:
            batch = self.batch
            arrays = (
                batch.states, batch.seeds, batch.done, self.seat, self.ended, self.skipped, self._agent_of_seat,
                self._pending_rewards, self._skipped_rewards, self._keys, self._choosers, self._last_actions,
                self._last_states,
            )  # fmt: skip
            self._undo = Undo([array for array in arrays if array is not None], derive=self._refresh_views)
        self._undo.owners = owners
        return self._undo

    def _refresh_views(self) -> None:
        """Compute observations and masks, after everything else has been undone."""
        batch = self.batch
        self._has_skipped = bool(self.skipped.any() or self._skipped_rewards.any())
        batch.refresh()
        ended_games = np.flatnonzero(batch.done)
        if len(ended_games):
            batch.observation[ended_games] = batch.observe(self.seat[ended_games], ended_games)
            batch.mask[ended_games] = 0

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_undo": None}  # it refers to the arrays of these games, not of a copy

    def watch(self) -> None:
        """Remember each game's last move from now on, so that pictures can show it."""
        self._last_states = np.zeros_like(self.batch.states)
        self._last_actions = np.full(len(self.batch), -1)
        self._undo = None

    def svg(self, game: int, **options: Any) -> str:
        """Draw the position as the seat sees it, with the last move since `watch` was called."""
        batch, seat, action = self.batch, int(self.seat[game]), -1
        if self._last_actions is not None:
            action = int(self._last_actions[game])
        before = None if self._last_states is None or action < 0 else self._last_states[game : game + 1]
        return draw(batch.definition, batch.states[game : game + 1], batch.components, seat, before, action, **options)

    def acts_at_once(self) -> bool:
        """Whether `act` is a single compiled call, which an interrupt can't divide."""
        return self._compiled and not self._has_skipped

    def _play_on(self, actions: np.ndarray | None, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Play the seats' actions (None: the others begin), then those of the opponents, all in compiled code.

        Returns:
            The seats' rewards, shape (n,), float64; whether each action was illegal, shape (n,), bool.
        """
        rewards, is_illegal = np.empty(len(which)), np.empty(len(which), np.bool_)
        play_on(
            self.batch.fields, self.seat, self._choosers, self._keys, self._pending_rewards, self.ended,
            actions is not None, which if actions is None else actions, which, is_illegal, rewards,
            self._last_states, self._last_actions,
        )  # fmt: skip
        return rewards, is_illegal

    def _let_others_play(self, which: np.ndarray) -> None:
        batch = self.batch
        if self._compiled:
            self._play_on(None, which)
            return
        games = which
        while len(games := games[(batch.player[games] != self.seat[games]) & ~batch.done[games]]):
            actions = choose_actions(batch, self.agents, self._agent_of_seat, self._keys, games, self._names)
            if (actions == FORFEIT).any():
                failures = {getattr(agent, "failure", "") for agent in self.agents} - {""}
                raise RuntimeError(f"an opponent gave its game up: {'; '.join(sorted(failures)) or 'no reason given'}")
            try:
                self._play(actions, games)
            except IllegalMoveError as error:
                raise with_agent_name(error, batch, self.agents, self._agent_of_seat, self._names) from None
        ended_games = which[batch.done[which]]
        if len(ended_games):  # after the end the batch has the start player's view
            batch.observation[ended_games] = batch.observe(self.seat[ended_games], ended_games)

    def _play(self, actions: np.ndarray, which: np.ndarray) -> None:
        if self._last_actions is not None and self._last_states is not None:
            self._last_states[which] = self.batch.states[which]
            self._last_actions[which] = actions
        reward, _ = self.batch.step(actions, None if len(which) == len(self.batch) else which)
        self._pending_rewards[which] += reward[which, self.seat[which]]
