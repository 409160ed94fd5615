"""The players that a command line names: agents, teams with names of their own, and folders of bots."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from artus_agents.program import PYTHON
from artus_env.agents import agent_names, find_agent, split_name
from artus_env.engine.basics.reading import shown, storable
from artus_env.engine.contract.definition import Definition
from artus_training.arena.lineup import check_player, check_quotes, in_full

_TEAM = re.compile(r"([^=:/\\]{1,40})=(.+)", re.DOTALL)
IN_FOLDER = "bot"
"""File name, with or without `.py`, of a bot that has a folder of its own."""


@dataclass
class Teams:
    """The players of a tournament.

    Attributes:
        agents: Agents' names by the names that they play under, in the order of the command line.
        from_folders: Names of the bots found in folders.
    """

    agents: dict[str, str] = field(default_factory=dict)
    from_folders: set[str] = field(default_factory=set)

    @property
    def named(self) -> dict[str, str]:
        """Agents that play under another name than their own."""
        return {name: agent for name, agent in self.agents.items() if name != agent}

    def add(self, name: str, agent: str) -> None:
        """Add a player.

        Raises:
            ValueError: If the name is taken.
        """
        if name in self.agents:
            raise ValueError(f"two play under the name {shown(name)}: {shown(self.agents[name])} and {shown(agent)}")
        self.agents[name] = agent


def read_teams(words: Sequence[str]) -> Teams:
    """Read agents (`greedy`, `program:./bot`), teams (`Owls=program:./bot`) and folders (`bots/`, all bots in them).

    The name of an installed agent means the agent even if a folder has the same name; `greedy/` and `./greedy` mean the
    folder.

    Raises:
        ValueError: If two play under one name, or there is no bot in a folder.
    """
    check_quotes(words)
    teams = Teams()
    for word in words:
        if not names_installed(word) and Path(word).is_dir():
            for name, bot in bots_in(Path(word)):
                teams.add(name, bot)
                teams.from_folders.add(name)
        elif word.endswith("/"):
            raise ValueError(f"there is no folder {shown(word)}")
        elif match := _TEAM.fullmatch(word):
            teams.add(storable(match[1].strip()), in_full(match[2]))
        else:
            teams.add(storable(word), word)
    return teams


def names_installed(word: str) -> bool:
    """Whether a word of the command line is the name of an installed agent, or of a team that it plays for."""
    match = _TEAM.fullmatch(word)
    return split_name(match[2] if match else word)[0] in agent_names()


def bots_in(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield name and agent of each bot in a folder.

    Bots are executable files, programs without execute permission (see `is_program`), Python files, and folders with
    such a file named `bot` or `bot.py`. A bot is named after its file or folder, without the suffix.

    Raises:
        ValueError: If there is no bot.
    """
    found = False
    for path in sorted(folder.iterdir()):
        files = [path / IN_FOLDER, path / f"{IN_FOLDER}{PYTHON}"] if path.is_dir() else [path]
        for file in files:
            if path.name.startswith((".", "_")) or not file.is_file():
                continue
            command = str(file if file.is_absolute() else Path(os.curdir) / file)
            if not (os.access(file, os.X_OK) or file.suffix == PYTHON or is_program(file)):
                continue
            found = True
            yield storable(path.stem), f"program:{shlex.quote(command if '/' in command else f'./{command}')}"
            break
    if not found:
        raise ValueError(f"{folder} holds no bot: no file that can be executed, and none that ends in {PYTHON}")


def is_program(file: Path) -> bool:
    """Whether a file looks like a script or a compiled program. It may lack execute permission: then starting it
    reports that."""
    try:
        with file.open("rb") as opened:
            return opened.read(4).startswith((b"#!", b"\x7fELF"))
    except OSError:  # an unreadable file is no bot
        return False


def shake_hands(teams: Teams, definition: Definition, rules: str | None, num_players: int) -> dict[str, str]:
    """Start every bot of a folder once, and remove bots that don't start or can't play.

    Returns:
        The name of each removed bot, and the reason.
    """
    rules = definition.check_variant(rules, num_players)
    left_out = {}
    for name in sorted(teams.from_folders):
        agent = find_agent(teams.agents[name])
        try:
            check_player(agent, definition, rules, num_players)
        except ValueError as error:
            left_out[name] = str(error)
            del teams.agents[name]
        finally:
            getattr(agent, "close", lambda: None)()
    return left_out


def check_all(players: Mapping[str, object], definition: Definition, rules: str, num_players: int) -> None:
    """Raise a ValueError that names all agents that can't play and know that before the first game.

    Args:
        players: Agents by the names that they play under.
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
