"""How agents see games, how they are found by name, and how they choose for a whole batch.

An agent is any object with `act(view) -> actions`; a bare callable `(observation, action_mask) -> action` will do too.
Names are `name` or `name:argument`. They are looked up among the entry points of the group `artus.agents`, which any
installed package can join: the entry point is called with the argument (or nothing) and returns the agent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from typing import Any, Protocol, runtime_checkable

import numpy as np

from artus_env.engine.batch import Batch
from artus_env.engine.rng import following_keys, key_bits

GROUP = "artus.agents"


class View:
    """What an agent sees of the games in which it is to move: n games of one variant.

    It holds nothing that the players to move may not know. Agents that look ahead get their states from `redeal`.

    Attributes:
        observation: shape (n, F), int8. Valid during the call only, like all arrays here.
        mask: shape (n, A), int8. Each game has at least one legal action.
        player: Who is to move, shape (n,), int8.
        keys: 64 random bits for each decision, shape (n,), uint64. They depend on the game and the number of the
            decision alone: an agent that takes all its randomness from them plays the same in any company.
        rules, num_players: The variant.
        components: The box.
        tables: The box as compiled code sees it, read-only; with the states of `redeal` all that the loops in
            `definition.kernels` need.
        definition: The game.
    """

    def __init__(self, batch: Batch, which: np.ndarray | None, keys: np.ndarray) -> None:
        """The games `which` (indices, shape (n,)) of a batch, or all of them; `keys` has shape (N,)."""
        every = which is None
        self._states = batch.states if every else batch.states[which]
        self._legal = batch.legal_bits if every else batch.legal_bits[which]
        self.observation = batch.observation if every else batch.observation[which]
        self.mask = batch.mask if every else batch.mask[which]
        self.player = batch.player if every else batch.player[which]
        self.keys = keys if every else keys[which]
        self.rules = batch.rules
        self.num_players = batch.num_players
        self.components = batch.components
        self.tables = batch.tables
        self.definition = batch.definition
        self._points: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.player)

    @property
    def points(self) -> np.ndarray:
        """Prestige that each legal action brings at once: shape (n, A), int16; 0 for illegal ones."""
        if self._points is None:
            self._points = np.empty(self.mask.shape, np.int16)
            self.definition.kernels.points(self.tables, self._states, self._legal, self._points, 0, len(self))
        return self._points

    def redeal(self, seeds: np.ndarray) -> np.ndarray:
        """New states in which all that the player to move doesn't know is drawn anew: shape (n,), the state dtype.

        Uniform over the deals that fit what he knows; the same for the same seeds, whatever the truth is.

        Args:
            seeds: shape (n,), uint64.
        """
        states = self._states.copy()
        self.definition.kernels.redeal(self.tables, states, np.asarray(seeds, np.uint64), self.player, 0, len(self))
        return states


@runtime_checkable
class Agent(Protocol):
    """A player. It may be asked about any number of games at once, and about other games the next time."""

    def act(self, view: View) -> np.ndarray:
        """One legal action for each game of the view: shape (n,), whole numbers."""
        ...


class CallableAgent:
    """An agent from a function `(observation, action_mask) -> action` of one game: shapes (F,) and (A,), int8."""

    def __init__(self, function: Callable[[np.ndarray, np.ndarray], int]) -> None:
        self.function = function

    def act(self, view: View) -> np.ndarray:
        return np.array([self.function(view.observation[i], view.mask[i]) for i in range(len(view))], np.int64)


def agent_names() -> list[str]:
    """Names of all agents that are installed."""
    return sorted({entry.name for entry in entry_points(group=GROUP)})


def find_agent(agent: str | Agent | Callable[..., Any]) -> Agent:
    """An agent from its name (`name` or `name:argument`), or from an agent or callable itself.

    Raises:
        ValueError: If there is no such name; the message lists those there are.
        TypeError: If it is neither a name, an agent nor a callable.
    """
    if isinstance(agent, str):
        name, _, argument = agent.partition(":")
        for entry in entry_points(group=GROUP):
            if entry.name == name:
                made = entry.load()(argument) if argument else entry.load()()
                if not isinstance(made, Agent):
                    raise TypeError(f"agent {agent!r}: {entry.value} gave {type(made).__name__}, which has no act(view)")
                return made
        raise ValueError(f"there is no agent {name!r}; installed are: {', '.join(agent_names()) or 'none'}")
    if isinstance(agent, Agent) and not isinstance(agent, type):
        return agent
    if callable(agent):
        return CallableAgent(agent)
    raise TypeError(f"an agent is a name, has act(view), or is callable as (observation, action_mask), got {agent!r}")


def choose_actions(batch: Batch, agents: Sequence[Agent], seats: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """One action for each game, from the agent whose move it is.

    Args:
        batch: The games, none of them over.
        agents: Who plays.
        seats: Which agent sits where: shape (N, num_players), indices into `agents`; -1: nobody, his action is 0.
        keys: A key for each game's decisions, shape (N,), uint64; moved on to the next in place.

    Returns:
        shape (N,), int64.

    Raises:
        ValueError: If an agent returns no array of that shape.
    """
    sitting = seats[np.arange(len(batch)), batch.player]
    actions = np.zeros(len(batch), np.int64)
    bits = key_bits(keys)
    for index, agent in enumerate(agents):
        which = np.flatnonzero(sitting == index)
        if len(which):
            view = View(batch, None if len(which) == len(batch) else which, bits)
            chosen = np.asarray(agent.act(view))
            if chosen.shape != which.shape or chosen.dtype.kind not in "iu":
                raise ValueError(
                    f"{type(agent).__name__}.act must return {len(which)} whole numbers, "
                    f"got {chosen.dtype} of shape {chosen.shape}"
                )
            actions[which] = chosen
    keys[:] = following_keys(keys)
    return actions
