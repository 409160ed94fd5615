"""View that agents get of games, and the choice of actions for a whole batch.

An agent is any object with `act(view) -> actions`; a bare callable `(observation, action_mask) -> action` works, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np

from artus_env.engine.basics.numbers import action_number, action_numbers
from artus_env.engine.basics.reading import shown
from artus_env.engine.contract.rng import following_keys, key_bits
from artus_env.engine.play import kernels
from artus_env.engine.play.batch import Batch
from artus_env.engine.play.game import IllegalMoveError

FORFEIT = -1
"""Action by which an agent resigns, for example because its external program has died. An attribute `failure` (text) of
the agent has the reason; if reasons differ between games, `failures` (text by number, see `View.games`) has them."""


class AgentError(ValueError):
    """An agent broke its interface, for example by returning no actions; the message names the agent."""


class View:
    """An agent's view of the games in which it is to move: n games of one variant.

    It contains nothing that is hidden from the players to move. Agents that look ahead get their states from `redeal`.

    Attributes:
        player: The players to move, shape (n,), int8. Like all arrays here, it is valid during the call only.
        keys: 64 random bits for each decision, shape (n,), uint64. They depend only on the game and the number of the
            decision: an agent that takes all its randomness from them plays the same in any batch.
        rules: Name of the rule set.
        num_players: Number of players.
        components: The components of the games.
        tables: The components as compiled code sees them, read-only; together with the states of `redeal`, compiled
            code needs nothing else (see `artus_env.engine.contract.verbs`).
        definition: The definition of the game.
    """

    def __init__(self, batch: Batch, which: np.ndarray | None, keys: np.ndarray) -> None:
        """Make a view of the games `which` (indices, shape (n,)) of a batch, or of all games; `keys` has shape (N,)."""
        self._batch = batch
        self._which = slice(None) if which is None else which
        self._keys = keys
        self.player = batch.player[self._which].copy()
        self.keys = keys[self._which]
        self.rules = batch.rules
        self.num_players = batch.num_players
        self.components = batch.components
        self.tables = batch.tables
        self.definition = batch.definition

    def __len__(self) -> int:
        return len(self.player)

    def part(self, which: np.ndarray) -> View:
        """Return a view of some of these games: distinct indices, shape (k,)."""
        return View(self._batch, np.arange(len(self._batch))[self._which][which], self._keys)

    # Computed on first access: an agent doesn't pay for arrays that it doesn't use.

    @cached_property
    def observation(self) -> np.ndarray:
        """Observations of the players to move: shape (n, F), int8."""
        return self._batch.observation[self._which]

    @cached_property
    def mask(self) -> np.ndarray:
        """Legal actions of the players to move: shape (n, A), int8. Each game has at least one."""
        return self._batch.mask[self._which]

    @cached_property
    def legal_bits(self) -> np.ndarray:
        """The mask as bits, 64 actions per word: shape (n, words), uint64."""
        return self._batch.legal_bits[self._which].copy()  # a copy: `Batch.step` uses the original for its checks

    @cached_property
    def points(self) -> np.ndarray:
        """Points that each legal action earns at once: shape (n, A), int16; 0 for illegal ones."""
        points = np.empty((len(self), self._batch.num_actions), np.int16)
        kernels.points(self.tables, self._states, self.legal_bits, points, 0, len(self))
        return points

    @cached_property
    def games(self) -> np.ndarray:
        """A number for each game, the same for all its decisions and different from other games': shape (n,), int64.

        For agents with memory. It reveals nothing about the deal.
        """
        return self._batch.numbers[self._which]

    @cached_property
    def _states(self) -> np.ndarray:
        states = self._batch.states
        # `take`, because indexing would take ten times as long.
        return states if isinstance(self._which, slice) else states.take(self._which)

    def known(self) -> np.ndarray:
        """Knowledge of the players to move, as states without hidden parts: shape (n,), the state dtype.

        In these states other hands are empty and the cards of all piles are unknown, so the games can't be continued
        from them: use `redeal` for that.
        """
        states = self._states.copy()
        kernels.hide(self.tables, states, self.player, 0, len(self))
        return states

    def redeal(self, seeds: np.ndarray) -> np.ndarray:
        """Return new states, with everything that is hidden from the player to move resampled: shape (n,), the state
        dtype.

        Every deal that fits the player's knowledge is equally likely. The same seeds give the same states, whatever the
        true state is.

        Args:
            seeds: shape (n,), uint64.

        Raises:
            ValueError: If the shape is wrong; compiled code would read beyond the array.
        """
        seeds = np.asarray(seeds, np.uint64)
        if seeds.shape != (len(self),):
            raise ValueError(f"seeds must be {len(self)} numbers, got shape {seeds.shape}")
        states = self._states.copy()
        kernels.redeal(self.tables, states, seeds, self.player, 0, len(self))
        return states


@runtime_checkable
class Agent(Protocol):
    """A player. It may be asked about any number of games at once, and about other games the next time.

    An optional attribute `games_at_once` is its preferred number of games per call: some seconds of work on any
    machine.
    """

    def act(self, view: View) -> np.ndarray:
        """Return one legal action for each game of the view: shape (n,), whole numbers."""
        ...


class CallableAgent:
    """An agent from a function `(observation, action_mask) -> action` of one game: shapes (F,) and (A,), int8."""

    def __init__(self, function: Callable[[np.ndarray, np.ndarray], int]) -> None:
        self.function = function

    def act(self, view: View) -> np.ndarray:
        """Call the function for each game.

        Raises:
            ValueError: If it returns anything but a whole number.
        """
        return np.array([self._action(view.observation[i], view.mask[i]) for i in range(len(view))])

    def _action(self, observation: np.ndarray, mask: np.ndarray) -> int:
        action = self.function(observation, mask)
        try:
            return action_number(action)
        except TypeError:
            raise ValueError(f"{type_name(self)} must return one whole number, got {shown(action)}") from None


def type_name(agent: Any) -> str:
    """Name of an agent for which the caller gave none: the name of its function or class."""
    named_object = agent.function if isinstance(agent, CallableAgent) else agent
    return str(getattr(named_object, "__name__", type(named_object).__name__))


def agent_title(index: int, agents: Sequence[Agent], names: Sequence[str] | None) -> str:
    """Title of an agent in messages: its place in the line-up, from 0, and its name or type."""
    return f"agent {index} of the line-up ({names[index] if names else type_name(agents[index])})"


def with_agent_name(
    error: IllegalMoveError,
    batch: Batch,
    agents: Sequence[Agent],
    agent_of_seat: np.ndarray,
    names: Sequence[str] | None,
) -> IllegalMoveError:
    """Return a copy of an error whose message names the agent that chose the illegal action.

    Args:
        error: From `Batch.step`, about an action that `choose_actions` returned.
        batch, agents, agent_of_seat, names: The arguments of that call of `choose_actions`.
    """
    index = int(agent_of_seat[error.game, batch.player[error.game]])
    error_with_agent = IllegalMoveError(f"{agent_title(index, agents, names)}: {error}")
    error_with_agent.action, error_with_agent.legal, error_with_agent.game = error.action, error.legal, error.game
    return error_with_agent


def choose_actions(
    batch: Batch,
    agents: Sequence[Agent],
    agent_of_seat: np.ndarray,
    keys: np.ndarray,
    which: np.ndarray | None = None,
    names: Sequence[str] | None = None,
) -> np.ndarray:
    """Choose one action for each game, by the agent that is to move there.

    Args:
        batch: The games; the games that get an action must not be over.
        agents: The agents.
        agent_of_seat: Agent of each seat: shape (N, num_players), indices into `agents`; -1: no agent, action 0.
        keys: A key for each game's decisions, shape (N,), uint64; changed in place.
        which: Choose only for these games: distinct indices, shape (n,); None: all.
        names: Names of the agents in messages; None: the names of their types.

    Returns:
        The actions: shape (N,), or (n,) with `which`, int64.

    Raises:
        AgentError: If an agent returns no array of that shape, or tries to exit Python.
    """
    games = np.arange(len(batch)) if which is None else which
    agent_to_move = agent_of_seat[games, batch.player[games]]
    actions = np.zeros(len(games), np.int64)
    decision_bits = np.zeros(len(batch), np.uint64)
    decision_bits[games] = key_bits(keys[games])
    for index, agent in enumerate(agents):
        indices = np.flatnonzero(agent_to_move == index)
        if len(indices):
            is_whole_batch = which is None and len(indices) == len(batch)
            try:
                answer = agent.act(View(batch, None if is_whole_batch else games[indices], decision_bits))
            except SystemExit as error:
                raise AgentError(f"{agent_title(index, agents, names)}: SystemExit: {error}") from error
            try:
                actions[indices] = action_numbers(answer, len(indices))
            except (TypeError, ValueError) as error:
                raise AgentError(f"{agent_title(index, agents, names)}: {error}") from None
    keys[games] = following_keys(keys[games])
    return actions
