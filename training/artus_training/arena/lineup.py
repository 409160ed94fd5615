"""Look up agents by name, and build line-ups with one agent for each player."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from artus_env import DEFAULT_GAME
from artus_env.agents import Agent, agent_names, find_agent
from artus_env.engine.basics.reading import shown
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import find_game

_ONE_WORD = re.compile(r"([^=:/\\]+=)?program:\S+")
"""Matches a program whose command has one word."""


def find_player(agent: Any) -> Agent:
    """Like `find_agent`, but also takes the path of a saved agent (`*.safetensors`).

    Raises:
        ValueError: If there is no such agent, or its file is damaged.
        TypeError: If the argument is no agent at all.
    """
    return find_agent(in_full(agent) if isinstance(agent, str) else agent)


def in_full(name: str) -> str:
    """Turn the path of a saved agent into a name for `find_agent`; return other names as they are."""
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
    found = [find_player(agent) for agent in agents]
    if len(agents) not in (2, num_players):
        needed = f"{num_players} players need {num_players} agents"
        if num_players > 2:
            needed += ", or 2 (one against copies of the other)"
        raise ValueError(f"{needed}: {'name one more' if len(agents) == 1 else f'{len(agents)} are named'}")
    named = {
        agent if isinstance(agent, str) else id(agent): (agent, player)
        for agent, player in zip(agents, found, strict=True)
    }
    for agent, player in named.values():
        try:
            check_player(player, definition, rules, num_players, components)
        except ValueError as error:
            raise ValueError(f"agent {shown(name_of(agent))}: {error}") from error
    return found + found[1:2] * (num_players - len(found))


def check_quotes(words: Sequence[Any]) -> None:
    """Raise a ValueError if the command of a program was given without quotes: it then ends after its first word."""
    for first, second in pairwise(words):
        if not isinstance(first, str) or not isinstance(second, str) or not _ONE_WORD.fullmatch(first):
            continue
        known = second.partition(":")[0] in agent_names() or second.endswith(".safetensors")
        if not known and Path(second).is_file():
            raise ValueError(f"the command of a program is one word: put it in quotes, as in '{first} {second}'")


def check_player(player: Agent, definition: Definition, rules: str, num_players: int, components: Any = None) -> None:
    """Raise a ValueError if an agent can't play a variant and knows that before the first game."""
    if hasattr(player, "check_variant"):
        player.check_variant(rules, num_players, definition.box(components), definition)


def name_of(agent: Any) -> str:
    """The agent itself if it is a name, else the name of its function or class."""
    if isinstance(agent, str):
        return agent
    return getattr(agent, "__name__", type(agent).__name__)
