"""Settings of a tournament, and its schedule: line-ups, deals, and work units (see `workers.units`)."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, combinations_with_replacement
from typing import NamedTuple

import numpy as np

from artus_env import DEFAULT_GAME
from artus_env.agents import Agent, seat_orders
from artus_env.engine.basics.reading import shown
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import find_game
from artus_env.engine.contract.rng import check_seed

MOST_GAMES = 10_000_000
"""Limit for memory: the results of a game take about 200 bytes."""
GAMES_AT_ONCE = 64
"""Games at a time for agents without the attribute `games_at_once`."""


@dataclass(frozen=True)
class Settings:
    """Settings of a tournament. Together with the agents themselves they determine the result."""

    agents: tuple[str, ...]
    """Names without duplicates: `name` or `name:argument`."""
    rules: str = ""
    """Name of the rule set; empty: the game's first."""
    num_players: int = 2
    games: int = 2000
    """Games of each line-up, rounded up so that every seating occurs equally often (see `ways_to_sit`)."""
    seed: int = 0
    game: str = DEFAULT_GAME

    def __post_init__(self) -> None:
        rules = self.definition.check_variant(self.rules or None, self.num_players)
        object.__setattr__(self, "rules", rules)
        if len(set(self.agents)) != len(self.agents) or len(self.agents) < 2:
            raise ValueError(f"a tournament needs two or more different agents, got {' '.join(self.agents) or 'none'}")
        if self.games < 1:
            raise ValueError(f"games must be at least 1, got {shown(self.games)}")
        check_seed(self.seed)
        agents, players = len(self.agents), self.num_players
        lineups = math.comb(agents, players) if agents >= players else math.comb(agents + players - 1, players) - agents
        if lineups * self.deals * players > MOST_GAMES:
            raise ValueError(
                f"{lineups:,} line-ups of {shown(self.games)} games are too many: a tournament has at most "
                f"{MOST_GAMES:,} games"
            )

    @property
    def definition(self) -> Definition:
        """The game."""
        return find_game(self.game)

    @property
    def deals(self) -> int:
        """Deals of each line-up; each is played once for each rotation of the seats."""
        ways = ways_to_sit(self.num_players)
        return -(-self.games // ways) * ways // self.num_players

    def lineups(self) -> list[tuple[int, ...]]:
        """All sets of agents that play together, as indices into `agents`. All members are different if there are
        enough agents, else at least two are."""
        agent_indices = range(len(self.agents))
        if len(self.agents) >= self.num_players:
            return list(combinations(agent_indices, self.num_players))
        return [
            members
            for members in combinations_with_replacement(agent_indices, self.num_players)
            if len(set(members)) > 1
        ]

    def stream(self, lineup: int) -> int:
        """Number of the random stream of line-up number `lineup`; it stays when more agents are appended."""
        members = self.lineups()[lineup]
        if len(set(members)) < len(members):
            return lineup
        return sum(math.comb(agent, place) for place, agent in enumerate(members, 1))

    @property
    def hash(self) -> str:
        """Hash of everything that distinguishes tournaments: 12 hex digits."""
        definition = self.definition
        data = {**asdict(self), "rules_version": definition.rules_version, "components": definition.standard.hash}
        return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:12]

    @property
    def folder_name(self) -> str:
        """Default name of the tournament's folder."""
        game = "" if self.game == DEFAULT_GAME else f"{self.game}-"
        return f"{game}{self.rules}-{self.num_players}-{self.hash}"


def ways_to_sit(players: int) -> int:
    """Number of seatings that are fair to all members of a line-up: each seating order in each rotation."""
    return len(seat_orders(players)) * players


class Unit(NamedTuple):
    """Deals `first..first + deals - 1` of line-up number `lineup`, which are played and saved together."""

    lineup: int
    first: int
    deals: int


def unit_games(agents: Sequence[Agent]) -> int:
    """Number of games in a unit, from the agents' `games_at_once`. They take some seconds. The number is the same on
    all machines."""
    return max(1, min(int(getattr(agent, "games_at_once", GAMES_AT_ONCE)) for agent in agents))


def units_of(settings: Settings, players: list[Agent], played: np.ndarray) -> list[Unit]:
    """Units of the deals that aren't played yet, ordered so that all line-ups advance evenly.

    A unit is saved as a whole. It is one deal, unless all agents prefer more games at a time (`games_at_once`).

    Args:
        settings: The tournament.
        players: The agents, in the order of the settings.
        played: See `Store.played`.
    """
    units = []
    for lineup, members in enumerate(settings.lineups()):
        agents = [players[agent] for agent in members]
        fast = all(hasattr(agent, "games_at_once") for agent in agents)
        size = max(1, unit_games(agents) // settings.num_players) if fast else 1
        for start in range(0, settings.deals, size):
            missing = start + np.flatnonzero(~played[lineup, start : start + size])
            for deals in np.split(missing, np.flatnonzero(np.diff(missing) > 1) + 1):
                if len(deals):
                    units.append(Unit(lineup, int(deals[0]), len(deals)))
    return sorted(units, key=lambda unit: (unit.first, unit.lineup))
