"""Fingerprint of code, weights and agents: a tournament never mixes results of different versions."""

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

NamedAgents = Mapping[str, str | Agent | Callable[..., Any]]
"""Agents, names of agents, or functions `(observation, action_mask) -> action`, by the names they play under."""
NO_AGENTS: NamedAgents = MappingProxyType({})


def fingerprint(settings: str, definition: Definition, names: Iterable[str], agents: NamedAgents = NO_AGENTS) -> str:
    """Compute the fingerprint of settings, a game and agents: 16 hex digits.

    It covers the sources of this project, the game's code and trained weights, the files that agents' names mention,
    the modules of agents from other packages, and the code of `agents`.
    """
    agents_folder = Path(artus_agents.__path__[0])
    code = f"{source_hash(Path(artus_env.__path__[0]), agents_folder)} {definition.rules_hash}"
    digest = hashlib.sha256(f"{settings} {code}".encode())
    for path in [] if definition.trained is None else sorted(Path(definition.trained).rglob(f"*{WEIGHTS}")):
        digest.update(path.read_bytes())
    for name in names:
        agent = agents.get(name, name)
        if not isinstance(agent, str):
            source: Any = agent if inspect.isroutine(agent) else type(agent)
        else:
            source = inspect.getmodule(agent_factory(split_name(agent)[0]))
            for path in files_in(agent):
                digest.update(path.read_bytes())
        with suppress(OSError, TypeError):  # its source isn't in a file: compiled, or typed at a prompt
            alias = f" = {agent}" if isinstance(agent, str) and agent != name else ""
            digest.update(f"{name}{alias} {inspect.getsource(source)}".encode(errors="surrogatepass"))
    return digest.hexdigest()[:16]


def files_in(agent: str) -> Iterator[Path]:
    """Yield the existing files that the name of an agent mentions.

    A factory that takes files may list them with an attribute `files(argument)`. Without it each of the following is
    tried as the path of a file and of a saved agent: the whole argument, the part after its first colon, and each of
    its words; whole numbers are skipped. The name of an installed agent is never a file.
    """
    kind, argument = split_name(agent)
    factory = agent_factory(kind)
    if isinstance(factory, AgentFile):
        paths = [Path(kind)]
    elif hasattr(factory, "files"):
        paths = factory.files(argument)
    else:
        words = dict.fromkeys((argument, argument.partition(":")[2], *argument.split()))
        candidates = [word for word in words if word and not word.isdecimal()]
        paths = [path for word in candidates for path in (Path(word), Path(f"{word}{WEIGHTS}"))]
    for path in paths:
        with suppress(OSError, ValueError):  # a word of a command may be no path at all
            if path.is_file():
                yield path
