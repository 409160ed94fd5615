"""Look up agents by name, build line-ups with one agent for each player, and read the entrants of a tournament."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from artus_agents.program import PYTHON
from artus_env import DEFAULT_GAME
from artus_env.agents import Agent, agent_names, find_agent, split_name
from artus_env.engine.basics.reading import shown, storable
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import find_game

_ONE_WORD = re.compile(r"([^=:/\\]+=)?program:\S+")
"""Matches a program whose command has one word."""
_TEAM = re.compile(r"([^=:/\\]{1,40})=(.+)", re.DOTALL)
"""Matches NAME=AGENT: an agent that plays under another name."""
BOT = "bot"
"""File name, with or without `.py`, of a bot that has a folder of its own."""


def find_player(agent: Any) -> Agent:
    """Like `find_agent`, but also takes the path of a saved agent (`*.safetensors`).

    Raises:
        ValueError: If there is no such agent, or its file is damaged.
        TypeError: If the argument is no agent at all.
    """
    return find_agent(in_full(agent) if isinstance(agent, str) else agent)


def in_full(name: str) -> str:
    """Turn the path of a saved agent into a name for `find_agent`; return all other names unchanged."""
    saved = name.endswith(".safetensors") and name.partition(":")[0] not in agent_names()
    return f"ppo:{name}" if saved else name


def line_up(
    agents: Sequence[Any],
    rules: str | None = None,
    num_players: int | None = None,
    components: Any = None,
    game: str | Definition = DEFAULT_GAME,
) -> list[Agent]:
    """Return one agent for each player: those given, or the first one and copies of the second. Starts programs.

    Args:
        agents: Names, paths of saved agents, or agents.
        rules, num_players, components, game: The variant; by default the game's first rule set, and as many players as
            agents, or as the game needs.

    Raises:
        ValueError: If there is no such game, an agent is unknown, can't play this variant or doesn't start, or their
            number doesn't fit.
        TypeError: If one is no agent at all.
    """
    check_quotes(agents)
    definition = find_game(game)
    if num_players is None:
        num_players = max(definition.min_players, len(agents))
    rules = definition.check_variant(rules, num_players)
    players = [find_player(agent) for agent in agents]
    if len(agents) not in (2, num_players):
        needed = f"{num_players} players need {num_players} agents"
        if num_players > 2:
            needed += ", or 2 (one against copies of the other)"
        raise ValueError(f"{needed}: {'name one more' if len(agents) == 1 else f'{len(agents)} are named'}")
    distinct = {
        agent if isinstance(agent, str) else id(agent): (agent, player)
        for agent, player in zip(agents, players, strict=True)
    }
    for agent, player in distinct.values():
        try:
            check_player(player, definition, rules, num_players, components)
        except ValueError as error:
            raise ValueError(f"agent {shown(name_of(agent))}: {error}") from error
    return players + players[1:2] * (num_players - len(players))


def check_quotes(words: Sequence[Any]) -> None:
    """Raise a ValueError if the command of a program was given without quotes: then its second word is taken for an
    agent."""
    for first, second in pairwise(words):
        if not isinstance(first, str) or not isinstance(second, str) or not _ONE_WORD.fullmatch(first):
            continue
        second_is_agent = second.partition(":")[0] in agent_names() or second.endswith(".safetensors")
        if not second_is_agent and Path(second).is_file():
            raise ValueError(f"the command of a program is one word: put it in quotes, as in '{first} {second}'")


def check_player(player: Agent, definition: Definition, rules: str, num_players: int, components: Any = None) -> None:
    """Raise a ValueError if an agent's `check_variant` says that it can't play a variant."""
    if hasattr(player, "check_variant"):
        player.check_variant(rules, num_players, definition.box(components), definition)


def name_of(agent: Any) -> str:
    """The agent itself if it is a name, else the name of its function or class."""
    if isinstance(agent, str):
        return agent
    return getattr(agent, "__name__", type(agent).__name__)


@dataclass
class Entrants:
    """The players of a tournament.

    Attributes:
        agents: Agents' names, by the names under which they play, in the order of the command line.
        from_folders: Names of the bots found in folders.
    """

    agents: dict[str, str] = field(default_factory=dict)
    from_folders: set[str] = field(default_factory=set)

    @property
    def named(self) -> dict[str, str]:
        """The agents whose name in the tournament isn't their own name, by the name in the tournament."""
        return {name: agent for name, agent in self.agents.items() if name != agent}

    def add(self, name: str, agent: str) -> None:
        """Add a player.

        Raises:
            ValueError: If the name is taken.
        """
        if name in self.agents:
            raise ValueError(f"two play under the name {shown(name)}: {shown(self.agents[name])} and {shown(agent)}")
        self.agents[name] = agent

    def drop_broken_bots(self, definition: Definition, rules: str | None, num_players: int) -> dict[str, str]:
        """Start every bot of a folder once, and drop each one that doesn't start or can't play.

        Returns:
            The name of each dropped bot, and the reason.
        """
        rules = definition.check_variant(rules, num_players)
        dropped = {}
        for name in sorted(self.from_folders):
            agent = find_agent(self.agents[name])
            try:
                check_player(agent, definition, rules, num_players)
            except ValueError as error:
                dropped[name] = str(error)
                del self.agents[name]
            finally:
                getattr(agent, "close", lambda: None)()
        return dropped


def read_entrants(words: Sequence[str]) -> Entrants:
    """Read agents (`greedy`, `program:./bot`), teams (`Owls=program:./bot`) and folders (`bots/`, all bots in them).

    The name of an installed agent means the agent even if a folder has the same name; `greedy/` and `./greedy` mean the
    folder.

    Raises:
        ValueError: If two agents have one name, or there is no bot in a folder.
    """
    check_quotes(words)
    entrants = Entrants()
    for word in words:
        if not names_installed(word) and Path(word).is_dir():
            for name, bot in bots_in(Path(word)):
                entrants.add(name, bot)
                entrants.from_folders.add(name)
        elif word.endswith("/"):
            raise ValueError(f"there is no folder {shown(word)}")
        elif match := _TEAM.fullmatch(word):
            entrants.add(storable(match[1].strip()), in_full(match[2]))
        else:
            entrants.add(storable(word), word)
    return entrants


def names_installed(word: str) -> bool:
    """Whether a word of the command line is the name of an installed agent, or of a team that it plays for."""
    match = _TEAM.fullmatch(word)
    return split_name(match[2] if match else word)[0] in agent_names()


def bots_in(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield name and agent of each bot in a folder.

    Bots are executable files, programs without execute permission (see `is_program`), Python files, and folders that
    contain such a file with the name `bot` or `bot.py`. A bot is named after its file or folder, without the suffix.

    Raises:
        ValueError: If there is no bot.
    """
    bot_found = False
    for path in sorted(folder.iterdir()):
        files = [path / BOT, path / f"{BOT}{PYTHON}"] if path.is_dir() else [path]
        for file in files:
            if path.name.startswith((".", "_")) or not file.is_file():
                continue
            command = str(file if file.is_absolute() else Path(os.curdir) / file)
            if not (os.access(file, os.X_OK) or file.suffix == PYTHON or is_program(file)):
                continue
            bot_found = True
            yield storable(path.stem), f"program:{shlex.quote(command if '/' in command else f'./{command}')}"
            break
    if not bot_found:
        raise ValueError(f"{folder} holds no bot: no file that can be executed, and none that ends in {PYTHON}")


def is_program(file: Path) -> bool:
    """Whether a file looks like a script or a compiled program. It may lack execute permission; an attempt to start it
    then reports that."""
    try:
        with file.open("rb") as opened:
            return opened.read(4).startswith((b"#!", b"\x7fELF"))
    except OSError:  # an unreadable file is no bot
        return False


def check_all(players: Mapping[str, object], definition: Definition, rules: str, num_players: int) -> None:
    """Raise a ValueError that names all agents whose `check_variant` says that they can't play.

    Args:
        players: Agents by the names under which they play.
        definition, rules, num_players: The variant.
    """
    faults = []
    for name, player in players.items():
        try:
            check_player(player, definition, rules, num_players)  # type: ignore[arg-type]
        except ValueError as error:
            faults.append(str(error) if name.startswith("program:") else f"{name}: {error}")
    if faults:
        raise ValueError("; ".join(faults))
