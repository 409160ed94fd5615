"""Play deals of a line-up. Worker processes import this module, so it imports little and starts fast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from artus_env import Batch, Game
from artus_env.agents import FORFEIT, Agent, fair_seats, find_agent, play_games, seat_orders, standing_outcomes, wins_of
from artus_env.agents import Played as PlayedGames
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.rng import seed_stream
from artus_training.arena.fingerprint import fingerprint
from artus_training.arena.schedule import Settings, Unit

_DEALS, _KEYS = range(200, 202)  # seed streams of the deals and of the agents' choices


@dataclass(frozen=True)
class Match:
    """The conditions under which a line-up plays.

    Attributes:
        definition, rules, num_players, components: The variant.
        agents, names: The different agents, and their names for messages.
        seed: Seed of the deals and of the agents' choices.
        deal_stream, key_stream: The seed's streams for deals and for choices.
        lineup: The agent of each of the P members, as an index into `agents`.
        orders: Seating orders, see `seat_orders`.
    """

    definition: Definition
    rules: str
    num_players: int
    components: Any
    agents: Sequence[Agent]
    names: Sequence[str]
    seed: int
    deal_stream: int
    key_stream: int
    lineup: Sequence[int]
    orders: np.ndarray


class PlayedDeals(NamedTuple):
    """Results of D deals, each played by P members in P rotations of the seats; deal d in rotation r is game d * P +
    r."""

    scores: np.ndarray
    """Points at the end: shape (D, P, P), int32: deal, rotation, member of the line-up."""
    outcomes: np.ndarray
    """Values that rank the players (see `Batch.outcomes`), shaped like `scores`."""
    given_up: np.ndarray
    """The member that gave the game up, -1: none; shape (D, P), int64."""
    agent_of_seat: np.ndarray
    """The agent on each seat of each game: shape (D * P, P)."""
    seeds: np.ndarray
    """Seed of each game: shape (D * P,)."""
    games: PlayedGames
    """The same results by game and seat; also the reasons of games given up, and all actions."""

    @property
    def wins(self) -> np.ndarray:
        """Each member's share of the win: shape (D, P, P), float64."""
        return wins_of(standing_outcomes(self.outcomes, self.given_up))


def play_deals(match: Match, first: int, deals: int) -> PlayedDeals:
    """Play deals `first..first + deals - 1`, each in all rotations."""
    num_players, num_games = match.num_players, deals * match.num_players
    batch = Batch(
        num_games, rules=match.rules, num_players=num_players, autoreset=False, components=match.components,
        game=match.definition,
    )  # fmt: skip
    batch.reset(np.repeat(seed_stream(match.seed, deals, match.deal_stream, first), num_players))
    # The seat of each member of the line-up.
    seat_of_member = fair_seats(np.arange(first, first + deals), match.orders).reshape(-1, num_players)
    agent_of_seat = np.array(match.lineup)[np.argsort(seat_of_member, axis=1)]
    keys = seed_stream(match.seed, num_games, match.key_stream, first * num_players)
    played = play_games(batch, match.agents, agent_of_seat, keys, match.names)
    scores, outcomes = (
        np.take_along_axis(by_seat, seat_of_member, axis=1).astype(np.int32).reshape(deals, num_players, num_players)
        for by_seat in (played.scores, played.outcomes)
    )
    given_up = member_on(played.forfeits, seat_of_member).reshape(deals, num_players)
    return PlayedDeals(scores, outcomes, given_up, agent_of_seat, batch.seeds, played)


def member_on(chosen_seat: np.ndarray, seat_of_member: np.ndarray) -> np.ndarray:
    """The member of the line-up that has the chosen seat in each of n games: shape (n,); -1: none.

    Args:
        chosen_seat: shape (n,); -1: none.
        seat_of_member: shape (n, P).
    """
    return np.where(chosen_seat < 0, -1, np.argmax(seat_of_member == chosen_seat[:, None], axis=1))


@dataclass(frozen=True)
class Block:
    """Results of D deals of one line-up."""

    lineup: int
    first: int
    """Number of the first deal."""
    scores: np.ndarray
    """As in `PlayedDeals`: shape (D, P, P), int32."""
    outcomes: np.ndarray
    """As in `PlayedDeals`: shape (D, P, P), int32."""
    given_up: np.ndarray
    """As in `PlayedDeals`: shape (D, P), int64."""
    notes: list[str]
    """A line for each game that an agent gave up, with the reason."""

    def __len__(self) -> int:
        return len(self.scores)


@dataclass
class Results:
    """All games of a tournament, for each line-up as in `PlayedDeals`.

    Arrays are in the order of the line-up, not of the seats; `artus_env.agents.fair_seats` gives the seats.
    """

    settings: Settings
    scores: list[np.ndarray]
    """Points at the end, for each line-up shape (deals, P, P), int32."""
    outcomes: list[np.ndarray]
    """Values that rank the players (see `Batch.outcomes`), shaped like `scores`."""
    given_up: list[np.ndarray]
    """The member of the line-up that gave the game up, -1: none; for each line-up shape (deals, P), int64."""
    notes: list[str] = field(default_factory=list)
    """A line for each game that an agent gave up, with the reason; sorted by line-up and deal."""

    def standing_outcomes(self, lineup: int) -> np.ndarray:
        """Outcomes for ranking: a player who gave up is behind all others. Shape (deals, P, P), float64."""
        return standing_outcomes(self.outcomes[lineup], self.given_up[lineup])

    @property
    def games(self) -> int:
        """Number of games."""
        return sum(scores.shape[0] * scores.shape[1] for scores in self.scores)


Played = tuple[Block, list[str]]
"""The result of a unit, as `Store.append` saves it: the block, and the record of each game if records are kept."""


class Playing:
    """Plays units of a tournament. The arguments alone are pickled, so each process looks up the agents by name itself.

    Args:
        settings: The tournament.
        agents: Agents or functions behind some names.
        keep_records: Whether to return the record of each game.
    """

    def __init__(self, settings: Settings, agents: dict[str, Any], keep_records: bool) -> None:
        self.settings, self.agents, self.keep_records = settings, agents, keep_records

    def __reduce__(self) -> tuple[Any, ...]:
        return Playing, (self.settings, self.agents, self.keep_records)

    @cached_property
    def players(self) -> list[Agent]:
        """The agents, in the order of the settings."""
        return [find_agent(self.agents.get(name, name)) for name in self.settings.agents]

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the settings, the game and the agents."""
        return fingerprint(self.settings.hash, self.settings.definition, self.settings.agents, self.agents)

    def __call__(self, unit: Unit) -> Played:
        """Play a unit."""
        return play_block(self.settings, self.players, *unit, keep_records=self.keep_records)


def play_block(
    settings: Settings, agents: list[Agent], lineup: int, first: int, deals: int, keep_records: bool = False
) -> Played:
    """Play deals `first..first + deals - 1` of a line-up in all rotations. All line-ups play the same deals."""
    players = settings.num_players
    match = Match(
        settings.definition, settings.rules, players, None, agents, settings.agents, settings.seed, _DEALS,
        _KEYS + settings.stream(lineup), settings.lineups()[lineup], seat_orders(players),
    )  # fmt: skip
    played = play_deals(match, first, deals)
    notes = []
    for game, reason in sorted(played.games.reasons.items()):
        seat, (deal, rotation) = int(played.games.forfeits[game]), divmod(game, players)
        name = settings.agents[played.agent_of_seat[game, seat]]
        notes.append(f"{name} gave up deal {first + deal}, rotation {rotation}, as player {seat}: {reason}")
    block = Block(lineup, first, played.scores, played.outcomes, played.given_up, notes)
    return block, write_records(match, played) if keep_records else []


def write_records(match: Match, played: PlayedDeals) -> list[str]:
    """Return the record of each game."""
    records = []
    for game, seed in enumerate(played.seeds):
        replayed = Game(match.rules, match.num_players, int(seed), game=match.definition)
        for actions in played.games.actions:
            if actions[game] == FORFEIT:
                break
            replayed.play(int(actions[game]))
        records.append(replayed.record([match.names[agent] for agent in played.agent_of_seat[game]]))
    return records
