"""Play a part of a tournament. Worker processes import this module, so it imports little and starts fast."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from artus_env import Batch, Game
from artus_env.agents import FORFEIT, Agent, fair_seats, find_agent, play_games, seat_orders
from artus_env.agents import Played as PlayedGames
from artus_env.engine.contract.rng import seed_stream
from artus_training.arena.made_of import made_of
from artus_training.arena.results import Block, Settings

_DEALS, _KEYS = range(200, 202)  # purposes of the seed streams


class Unit(NamedTuple):
    """Deals of one line-up that are played and saved together."""

    lineup: int
    first: int
    deals: int


Played = tuple[Block, list[str]]
"""The result of a unit, as `Store.append` saves it: the block, and the record of each game if records are kept."""


class Playing:
    """Plays units of a tournament. Pickled as its arguments, so each process looks up the agents by name itself.

    Args:
        settings: The tournament.
        agents: Agents or functions behind some names.
        keep: Whether to return the record of each game.
    """

    def __init__(self, settings: Settings, agents: dict[str, Any], keep: bool) -> None:
        self.settings, self.agents, self.keep = settings, agents, keep

    def __reduce__(self) -> tuple[Any, ...]:
        return Playing, (self.settings, self.agents, self.keep)

    @cached_property
    def players(self) -> list[Agent]:
        """The agents, in the order of the settings."""
        return [find_agent(self.agents.get(name, name)) for name in self.settings.agents]

    @property
    def made_of(self) -> str:
        """Fingerprint of the settings, the game and the agents."""
        return made_of(self.settings.hash, self.settings.definition, self.settings.agents, self.agents)

    def __call__(self, unit: Unit) -> Played:
        """Play a unit."""
        return play_block(self.settings, self.players, *unit, keep=self.keep)


def play_block(
    settings: Settings, agents: list[Agent], lineup: int, first: int, count: int, keep: bool = False
) -> Played:
    """Play deals `first..first + count - 1` of a line-up in all rotations."""
    players = settings.num_players
    who = settings.lineups()[lineup]
    deal_seeds = seed_stream(settings.seed, count, _DEALS, first)  # all line-ups play the same deals
    keys = seed_stream(settings.seed, count * players, _KEYS + settings.stream(lineup), first * players)
    batch = Batch(count * players, rules=settings.rules, num_players=players, autoreset=False, game=settings.definition)
    batch.reset(np.repeat(deal_seeds, players))
    seats = fair_seats(np.arange(first, first + count), seat_orders(players)).reshape(-1, players)
    holders = np.array(who)[np.argsort(seats, axis=1)]  # the agent on each seat
    played = play_games(batch, agents, holders, keys, settings.agents)
    notes = []
    for game, reason in sorted(played.reasons.items()):
        seat = int(played.forfeits[game])
        name = settings.agents[holders[game, seat]]
        notes.append(
            f"{name} gave up deal {first + game // players}, rotation {game % players}, as player {seat}: {reason}"
        )
    scores, outcomes = (
        np.take_along_axis(by_seat, seats, axis=1).astype(np.int32).reshape(count, players, players)
        for by_seat in (played.scores, played.outcomes)
    )
    given_up = places_of(played.forfeits, seats).reshape(count, players)
    block = Block(lineup, first, scores, outcomes, given_up, notes)
    return block, write_records(settings, played, batch.seeds, holders) if keep else []


def places_of(seat: np.ndarray, seats: np.ndarray) -> np.ndarray:
    """Place in the line-up of one seat for each of n games; -1: none.

    Args:
        seat: shape (n,); -1: none.
        seats: The seat of each place: shape (n, P).
    """
    return np.where(seat < 0, -1, np.argmax(seats == seat[:, None], axis=1))


def write_records(settings: Settings, played: PlayedGames, seeds: np.ndarray, holders: np.ndarray) -> list[str]:
    """Return the record of each game."""
    records = []
    for game, seed in enumerate(seeds):
        replayed = Game(settings.rules, settings.num_players, int(seed), game=settings.definition)
        for actions in played.actions:
            if actions[game] == FORFEIT:
                break
            replayed.play(int(actions[game]))
        records.append(replayed.record([settings.agents[agent] for agent in holders[game]]))
    return records
