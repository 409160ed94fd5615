"""What games are made of, as a hash: so that nobody goes on with, or adds to, what other code or agents have played."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import artus_agents
import artus_env
from artus_agents import WEIGHTS
from artus_env.agents import Agent, agent_factory, split_name
from artus_env.engine.agents.python_files import AgentFile
from artus_env.engine.compiling.sources import source_hash
from artus_env.engine.contract.definition import Definition

Given = Mapping[str, str | Agent | Callable[..., Any]]
"""Agents, their own names, or functions `(observation, action_mask) -> action`, by the names that they play under."""
NO_AGENTS: Given = MappingProxyType({})


def made_of(settings: str, of: Definition, names: Iterable[str], agents: Given = NO_AGENTS) -> str:
    """Hash of settings, and of what the game and the agents are made of: 16 hex digits.

    Our sources, the game's code and trained weights, the files that names mention, the modules of
    other packages' agents, the code of `agents`.
    """
    ours = Path(artus_agents.__path__[0])
    code = f"{source_hash(Path(artus_env.__path__[0]), ours)} {of.rules_hash}"
    digest = hashlib.sha256(f"{settings} {code}".encode())
    for path in [] if of.trained is None else sorted(Path(of.trained).rglob(f"*{WEIGHTS}")):
        digest.update(path.read_bytes())
    for name in names:
        agent = agents.get(name, name)
        if not isinstance(agent, str):
            made: Any = agent if inspect.isroutine(agent) else type(agent)
        else:
            made = inspect.getmodule(agent_factory(split_name(agent)[0]))
            for path in files_in(agent):
                digest.update(path.read_bytes())
        with suppress(OSError, TypeError):  # compiled, or typed at a prompt
            alias = f" = {agent}" if isinstance(agent, str) and agent != name else ""
            digest.update(f"{name}{alias} {inspect.getsource(made)}".encode(errors="surrogatepass"))
    return digest.hexdigest()[:16]


def files_in(agent: str) -> Iterator[Path]:
    """The files that the name of an agent mentions, as far as they exist.

    A factory that takes files says which: `files(argument)`, an attribute. Without it every word of the argument, and
    what follows its first colon, may be a file or a saved agent, except whole numbers. The name of an installed agent
    is never a file.
    """
    kind, argument = split_name(agent)
    factory = agent_factory(kind)
    if isinstance(factory, AgentFile):
        paths = [Path(kind)]
    elif hasattr(factory, "files"):
        paths = factory.files(argument)
    else:
        words = dict.fromkeys((argument, argument.partition(":")[2], *argument.split()))
        named = [word for word in words if word and not word.isdecimal()]
        paths = [path for word in named for path in (Path(word), Path(f"{word}{WEIGHTS}"))]
    for path in paths:
        with suppress(OSError, ValueError):  # a word of a command may be no path at all
            if path.is_file():
                yield path
