"""How agents see games, and how they choose for a whole batch.

An agent is any object with `act(view) -> actions`; a bare callable `(observation, action_mask) -> action` will do too.
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
"""The action with which an agent gives a game up, for example because the program behind it has died. If the agent has
an attribute `failure` (text), it says why; where that differs from game to game, `failures` (text by number, see
`View.games`)."""


class AgentError(ValueError):
    """An agent has done what no agent may do; the message names it."""


class View:
    """What an agent sees of the games in which it is to move: n games of one variant.

    It holds nothing that the players to move may not know. Agents that look ahead get their states from `redeal`.

    Attributes:
        player: Who is to move, shape (n,), int8. Like all arrays here it is valid during the call only.
        keys: 64 random bits for each decision, shape (n,), uint64. They depend on the game and the number of the
            decision alone: an agent that takes all its randomness from them plays the same in any company.
        rules: Name of the rule set.
        num_players: How many play.
        components: The box.
        tables: The box as compiled code sees it, read-only; with the states of `redeal` all that compiled code
            needs (see `artus_env.engine.contract.verbs`).
        definition: The game.
    """

    def __init__(self, batch: Batch, which: np.ndarray | None, keys: np.ndarray) -> None:
        """The games `which` (indices, shape (n,)) of a batch, or all of them; `keys` has shape (N,)."""
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
        """The view of some of these games: different indices, shape (k,)."""
        return View(self._batch, np.arange(len(self._batch))[self._which][which], self._keys)

    # Gathered when asked for: an agent that needs only some of it doesn't pay for the rest.

    @cached_property
    def observation(self) -> np.ndarray:
        """What the players to move see: shape (n, F), int8."""
        return self._batch.observation[self._which]

    @cached_property
    def mask(self) -> np.ndarray:
        """What they may do: shape (n, A), int8. Each game has at least one legal action."""
        return self._batch.mask[self._which]

    @cached_property
    def legal_bits(self) -> np.ndarray:
        """The mask as bits, 64 actions a word: shape (n, words), uint64."""
        return self._batch.legal_bits[self._which].copy()  # what `Batch.step` checks must not be written to

    @cached_property
    def points(self) -> np.ndarray:
        """Points that each legal action brings at once: shape (n, A), int16; 0 for illegal ones."""
        points = np.empty((len(self), self._batch.num_actions), np.int16)
        kernels.points(self.tables, self._states, self.legal_bits, points, 0, len(self))
        return points

    @cached_property
    def games(self) -> np.ndarray:
        """A number for each game, the same in all its decisions and in no other game's: shape (n,), int64.

        For agents that remember. It tells nothing about the deal.
        """
        return self._batch.numbers[self._which]

    @cached_property
    def _states(self) -> np.ndarray:
        states = self._batch.states
        return (
            states if isinstance(self._which, slice) else states.take(self._which)
        )  # indexing would take ten times as long

    def known(self) -> np.ndarray:
        """What the players to move know, as states without the rest: shape (n,), the state dtype.

        Other hands are empty there and the cards of all piles unknown, so nothing can be drawn or played on from them;
        for that there is `redeal`.
        """
        states = self._states.copy()
        kernels.hide(self.tables, states, self.player, 0, len(self))
        return states

    def redeal(self, seeds: np.ndarray) -> np.ndarray:
        """New states in which all that the player to move doesn't know is drawn anew: shape (n,), the state dtype.

        Uniform over the deals that fit what they know; the same for the same seeds, whatever the truth is.

        Args:
            seeds: shape (n,), uint64.

        Raises:
            ValueError: If the shape is another; compiled code would read beyond it.
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

    `games_at_once`, if it has such an attribute, is how many games it likes to be asked about at a time: some seconds
    of work, whatever the machine.
    """

    def act(self, view: View) -> np.ndarray:
        """One legal action for each game of the view: shape (n,), whole numbers."""
        ...


class CallableAgent:
    """An agent from a function `(observation, action_mask) -> action` of one game: shapes (F,) and (A,), int8."""

    def __init__(self, function: Callable[[np.ndarray, np.ndarray], int]) -> None:
        self.function = function

    def act(self, view: View) -> np.ndarray:
        """What the function returned for each game.

        Raises:
            ValueError: If that is no whole number.
        """
        return np.array([self._action(view.observation[i], view.mask[i]) for i in range(len(view))])

    def _action(self, observation: np.ndarray, mask: np.ndarray) -> int:
        action = self.function(observation, mask)
        try:
            return action_number(action)
        except TypeError:
            raise ValueError(f"{type_name(self)} must return one whole number, got {shown(action)}") from None


def type_name(agent: Any) -> str:
    """What an agent is called that was given no name: like its function or its class."""
    made_of = agent.function if isinstance(agent, CallableAgent) else agent
    return str(getattr(made_of, "__name__", type(made_of).__name__))


def agent_title(index: int, agents: Sequence[Agent], names: Sequence[str] | None) -> str:
    """An agent as messages name it: by its place in the line-up, from 0, and its name or type."""
    return f"agent {index} of the line-up ({names[index] if names else type_name(agents[index])})"


def blamed(
    error: IllegalMoveError, batch: Batch, agents: Sequence[Agent], holders: np.ndarray, names: Sequence[str] | None
) -> IllegalMoveError:
    """The error of `Batch.step` about an action of `choose_actions`, with the agent that chose it (arguments as
    there)."""
    index = int(holders[error.game, batch.player[error.game]])
    named = IllegalMoveError(f"{agent_title(index, agents, names)}: {error}")
    named.action, named.legal, named.game = error.action, error.legal, error.game
    return named


def choose_actions(
    batch: Batch,
    agents: Sequence[Agent],
    holders: np.ndarray,
    keys: np.ndarray,
    which: np.ndarray | None = None,
    names: Sequence[str] | None = None,
) -> np.ndarray:
    """One action for each game, from the agent whose move it is.

    Args:
        batch: The games, those asked about not over.
        agents: Who plays.
        holders: Which agent holds each seat: shape (N, num_players), indices into `agents`; -1: nobody, action 0.
        keys: A key for each game's decisions, shape (N,), uint64; moved on to the next in place.
        which: Ask about these games alone: different indices, shape (n,); None: all.
        names: What messages call the agents; None: like their types.

    Returns:
        shape (N,) or (n,), int64.

    Raises:
        AgentError: If an agent returns no array of that shape, or wants to end Python.
    """
    games = np.arange(len(batch)) if which is None else which
    movers = holders[games, batch.player[games]]
    actions = np.zeros(len(games), np.int64)
    bits = np.zeros(len(batch), np.uint64)
    bits[games] = key_bits(keys[games])
    for index, agent in enumerate(agents):
        asked = np.flatnonzero(movers == index)
        if len(asked):
            everybody = which is None and len(asked) == len(batch)
            try:
                chosen = agent.act(View(batch, None if everybody else games[asked], bits))
            except SystemExit as error:
                raise AgentError(f"{agent_title(index, agents, names)}: SystemExit: {error}") from error
            try:
                actions[asked] = action_numbers(chosen, len(asked))
            except (TypeError, ValueError) as error:
                raise AgentError(f"{agent_title(index, agents, names)}: {error}") from None
    keys[games] = following_keys(keys[games])
    return actions
