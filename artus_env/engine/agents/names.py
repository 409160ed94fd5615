"""Agents by name: `name` or `name:argument`.

Names are looked up among the entry points of the group `artus.agents`, to which any installed package can add its own:
an entry point is an agent, or is called with the argument (or without) and returns one. `my_agent.py:Cautious` works
without a package: it names a class, a function or an agent in a file.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from inspect import Signature, signature
from typing import Any

from artus_env.engine.agents.python_files import AgentFile, file_and_name
from artus_env.engine.agents.view import Agent, CallableAgent
from artus_env.engine.basics.extras import how_to_install
from artus_env.engine.basics.reading import shown
from artus_env.engine.basics.wording import did_you_mean

GROUP = "artus.agents"


def agent_names() -> list[str]:
    """Names of all installed agents."""
    return sorted({entry.name for entry in entry_points(group=GROUP)})


def split_name(agent: str) -> tuple[str, str]:
    """Split an agent's name into the name for `agent_factory` and the argument: the text after the colon, usually
    empty."""
    file_parts = file_and_name(agent)
    if file_parts is not None:
        return file_parts
    name, _, argument = agent.partition(":")
    return name, argument


def agent_factory(name: str) -> Callable[..., Any]:
    """Return what an agent's name stands for: the object of an installed entry point, or of a Python file. Usually it
    is a factory: called without arguments, or with the text after the colon, it makes an agent.

    Raises:
        ValueError: If the name doesn't exist; the message suggests similar names and lists the installed ones.
        ModuleNotFoundError: If a package that the agent needs isn't installed; a note names the extra that contains it.
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

    The user has to name such an agent; a name that was read from a file must not be trusted. A factory that runs its
    argument has an attribute `runs_program = True`. An unknown name starts nothing.
    """
    base_name, _ = split_name(name)
    exists = base_name in agent_names() or file_and_name(base_name) is not None
    return exists and getattr(agent_factory(base_name), "runs_program", False) is True


def find_agent(agent: str | Agent | Callable[..., Any]) -> Agent:
    """Return the agent with this name (`name` or `name:argument`), or make one from an agent or callable.

    Raises:
        ValueError: If the name doesn't exist (the message lists the installed ones), or doesn't accept the argument.
        TypeError: If the argument is neither a name, an agent nor a callable, or its name leads to something else.
    """
    if isinstance(agent, str):
        name, argument = split_name(agent)
        candidate: Any = agent_factory(name)
        if isinstance(candidate, AgentFile):
            candidate, argument = candidate(argument), ""
        if not _is_agent(candidate):
            try:
                candidate = candidate(argument) if argument else candidate()
            except TypeError as error:
                raise ValueError(f"agent {shown(agent)} can't be made: {error}") from error
            except SystemExit as error:
                raise ValueError(f"agent {shown(agent)} can't be made: SystemExit: {error}") from error
        elif argument:
            raise ValueError(f"agent {name!r} takes no argument, got {shown(argument)}")
    else:
        candidate = agent
    if not isinstance(candidate, type):
        if isinstance(candidate, Agent):
            return candidate
        if callable(candidate):
            return CallableAgent(candidate)
    if isinstance(agent, str):
        raise TypeError(
            f"agent {shown(agent)}: this name leads to {shown(candidate)}, which has no act(view) and is no function"
        )
    raise TypeError(
        f"an agent is a name, has act(view), or is callable as (observation, action_mask), got {shown(candidate)}"
    )


def _is_agent(entry_object: Any) -> bool:
    """Whether the object of an entry point is an agent rather than a factory: it has `act`, or requires two
    arguments."""
    if isinstance(entry_object, type):
        return False
    if isinstance(entry_object, Agent):
        return True
    try:
        call_signature = signature(entry_object)
    except (TypeError, ValueError):  # not callable, or without a signature
        return False
    return [_accepts(call_signature, count) for count in range(3)] == [False, False, True]


def _accepts(call_signature: Signature, count: int) -> bool:
    """Whether a function with this signature can be called with `count` arguments."""
    try:
        call_signature.bind(*[None] * count)
    except TypeError:
        return False
    return True
