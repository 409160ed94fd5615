"""How agents see games, how they are found by name, and how they choose for a whole batch.

An agent is any object with `act(view) -> actions`; a bare callable `(observation, action_mask) -> action` will do too.
Names are `name` or `name:argument`. They are looked up among the entry points of the group `artus.agents`, which any
installed package can join: the entry point is an agent, or is called with the argument (or nothing) and returns one.
`my_agent.py:Cautious` is the same without a package: a class, a function or an agent in a file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from importlib.metadata import entry_points
from inspect import Signature, signature
from typing import Any, Protocol, runtime_checkable

import numpy as np

from artus_env.engine import kernels
from artus_env.engine.agent_files import AgentFile, file_and_name
from artus_env.engine.batch import Batch
from artus_env.engine.extras import how_to_install
from artus_env.engine.game import IllegalMoveError
from artus_env.engine.numbers import action_number, action_numbers
from artus_env.engine.reading import shown
from artus_env.engine.rng import following_keys, key_bits
from artus_env.engine.wording import did_you_mean

GROUP = "artus.agents"
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
            needs (see `artus_env.engine.verbs`).
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
        kernels.conceal(self.tables, states, self.player, 0, len(self))
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


def agent_names() -> list[str]:
    """Names of all agents that are installed."""
    return sorted({entry.name for entry in entry_points(group=GROUP)})


def split_name(agent: str) -> tuple[str, str]:
    """An agent's name as `agent_factory` knows it, and its argument: what follows the colon, mostly nothing."""
    in_file = file_and_name(agent)
    if in_file is not None:
        return in_file
    name, _, argument = agent.partition(":")
    return name, argument


def agent_factory(name: str) -> Callable[..., Any]:
    """What stands behind a name: mostly called without arguments, or with what follows the colon, to make an agent.

    Raises:
        ValueError: If there is no such name; the message lists those there are, the nearest first.
        ModuleNotFoundError: If a package that it needs isn't installed; a note names the extra that has it.
    """
    for entry in entry_points(group=GROUP):
        if entry.name == name:
            try:
                factory: Callable[..., Any] = entry.load()
            except ModuleNotFoundError as error:
                command = how_to_install(error.name or "", entry.dist.name) if entry.dist else None
                if command is not None:
                    error.add_note(f"the agent {name!r} needs it: {command}")
                raise
            return factory
    if file_and_name(name):
        return AgentFile(name)
    names = agent_names()
    guess = did_you_mean(name, names) or ";"
    raise ValueError(f"there is no agent {shown(name)}{guess} installed are: {', '.join(names) or 'none'}")


def runs_program(name: str) -> bool:
    """Whether an agent of this name would start a program that its argument names, or run a file.

    The user has to name such an agent; a name that comes from a file must not be believed. A factory that starts what
    its argument says has an attribute `runs_program = True`. An unknown name starts nothing.
    """
    kind, _ = split_name(name)
    known = kind in agent_names() or file_and_name(kind) is not None
    return known and getattr(agent_factory(kind), "runs_program", False) is True


def find_agent(agent: str | Agent | Callable[..., Any]) -> Agent:
    """An agent from its name (`name` or `name:argument`), or from an agent or callable itself.

    Raises:
        ValueError: If there is no such name (the message lists those there are), or it can't take the argument.
        TypeError: If it is neither a name, an agent nor a callable.
    """
    if isinstance(agent, str):
        name, argument = split_name(agent)
        made: Any = agent_factory(name)
        if isinstance(made, AgentFile):
            made, argument = made(argument), ""
        if not _plays(made):
            try:
                made = made(argument) if argument else made()
            except TypeError as error:
                raise ValueError(f"agent {shown(agent)} can't be made: {error}") from error
            except SystemExit as error:
                raise ValueError(f"agent {shown(agent)} can't be made: SystemExit: {error}") from error
        elif argument:
            raise ValueError(f"agent {name!r} takes no argument, got {shown(argument)}")
    else:
        made = agent
    if not isinstance(made, type):
        if isinstance(made, Agent):
            return made
        if callable(made):
            return CallableAgent(made)
    if isinstance(agent, str):
        raise TypeError(
            f"agent {shown(agent)}: what it names gave {shown(made)}, which has no act(view) and is no function"
        )
    raise TypeError(
        f"an agent is a name, has act(view), or is callable as (observation, action_mask), got {shown(made)}"
    )


def _plays(named: Any) -> bool:
    """Whether an entry point names an agent, rather than what makes one: it has `act`, or must be given two
    arguments."""
    if isinstance(named, type):
        return False
    if isinstance(named, Agent):
        return True
    try:
        takes = signature(named)
    except (TypeError, ValueError):  # not callable, or it doesn't tell
        return False
    return [_binds(takes, count) for count in range(3)] == [False, False, True]


def _binds(takes: Signature, count: int) -> bool:
    """Whether so many arguments will do."""
    try:
        takes.bind(*[None] * count)
    except TypeError:
        return False
    return True


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
