"""Settings of a tournament, and the results of its games."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass, field
from itertools import combinations, combinations_with_replacement

import numpy as np

from artus_env import DEFAULT_GAME
from artus_env.agents import seat_orders, standing_outcomes
from artus_env.engine.basics.reading import shown
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import find_game
from artus_env.engine.contract.rng import check_seed
from artus_training.arena.evaluate import MOST_GAMES


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
        """Agents that play together, as indices into `agents`: all different if there are enough, else at least two
        different ones."""
        numbers = range(len(self.agents))
        if len(self.agents) >= self.num_players:
            return list(combinations(numbers, self.num_players))
        return [who for who in combinations_with_replacement(numbers, self.num_players) if len(set(who)) > 1]

    def stream(self, lineup: int) -> int:
        """Number of a line-up's random stream; it doesn't change when more agents are appended."""
        who = self.lineups()[lineup]
        if len(set(who)) < len(who):
            return lineup
        return sum(math.comb(agent, place) for place, agent in enumerate(who, 1))

    @property
    def hash(self) -> str:
        """Hash of everything that distinguishes tournaments: 12 hex digits."""
        of = self.definition
        whole = {**asdict(self), "rules_version": of.rules_version, "components": of.standard.hash}
        return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:12]

    @property
    def folder_name(self) -> str:
        """Default name of the tournament's folder."""
        game = "" if self.game == DEFAULT_GAME else f"{self.game}-"
        return f"{game}{self.rules}-{self.num_players}-{self.hash}"


def ways_to_sit(players: int) -> int:
    """Number of seatings that are fair to all members of a line-up: each seating order in each rotation."""
    return len(seat_orders(players)) * players


@dataclass
class Results:
    """All games played: for each line-up, deals x rotations x members.

    Arrays are in the order of the line-up, not of the seats; `artus_env.agents.fair_seats` gives the seats.
    """

    settings: Settings
    scores: list[np.ndarray]
    """Points at the end, for each line-up shape (deals, P, P), int32: deal, rotation, place in the line-up."""
    outcomes: list[np.ndarray]
    """Values that rank the players (see `Batch.outcomes`), shaped like `scores`."""
    given_up: list[np.ndarray]
    """Place in the line-up of the agent that gave the game up, -1: none; for each line-up shape (deals, P), int64."""
    notes: list[str] = field(default_factory=list)
    """A line for each game that an agent gave up, with the reason; sorted by line-up and deal."""

    def standing_outcomes(self, lineup: int) -> np.ndarray:
        """Outcomes for ranking: a player who gave up is behind all others. Shape (deals, P, P), float64."""
        return standing_outcomes(self.outcomes[lineup], self.given_up[lineup])

    @property
    def games(self) -> int:
        """Number of games."""
        return sum(scores.shape[0] * scores.shape[1] for scores in self.scores)


@dataclass(frozen=True)
class Block:
    """Results of D deals of one line-up."""

    lineup: int
    first: int
    """Number of the first deal."""
    scores: np.ndarray
    """As in `Results`: shape (D, P, P), int32."""
    outcomes: np.ndarray
    """As in `Results`: shape (D, P, P), int32."""
    given_up: np.ndarray
    """As in `Results`: shape (D, P), int64."""
    notes: list[str]

    def __len__(self) -> int:
        return len(self.scores)
