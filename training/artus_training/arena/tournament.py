"""Tournaments: every line-up of agents, in many seating orders, thousands of games at once.

All line-ups play the same deals, each once in every rotation of the seats, and from deal to deal in another order.
Every decision draws its randomness from (seed, line-up, deal, rotation) alone. So results don't depend on how many
games are played side by side, and a tournament that was interrupted, however rudely, goes on where it stopped and ends
with the same table.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from artus_env import Batch, Game
from artus_env.engine.agents import FORFEIT, Agent, find_agent
from artus_env.engine.files import alone_in
from artus_env.engine.match import Played, fair_seats, play_games, seat_orders
from artus_env.engine.rng import seed_stream
from artus_training.arena.live import LiveTable, Tally
from artus_training.arena.made_of import NO_AGENTS, Given, made_of
from artus_training.arena.results import Block, Results, Settings
from artus_training.arena.store import Store
from artus_training.arena.teams import check_all
from artus_training.arena.units import check_workers, run_units, unit_games

_DEALS, _KEYS = range(200, 202)  # purposes of the seed streams


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in a tournament; what was played is saved.

    Attributes:
        results: All that was played.
    """

    def __init__(self, results: Results) -> None:
        super().__init__()
        self.results = results


class Unit(NamedTuple):
    """Deals of one line-up that are played, and saved, together."""

    lineup: int
    first: int
    deals: int


def run(
    settings: Settings,
    folder: Path,
    records: Path | None = None,
    agents: Given = NO_AGENTS,
    workers: int = 1,
    ray: str | None = None,
    joined: tuple[Settings, Path] | None = None,
) -> Results:
    """Play what is missing of a tournament and return all of it. Shows progress; may be interrupted at any time.

    Args:
        settings: What is played.
        folder: Where results are kept; a tournament that lies there with the same settings goes on.
        records: Keep every game as a line in this file.
        agents: Agents or functions behind some names; all others are found by name. Their code is part of the
            tournament, so that one that was interrupted doesn't go on with other code. What was set in an object isn't
            seen: let its name say it.
        workers: Processes that play; what they play doesn't depend on it. With several, `agents` must be such as can be
            sent to other processes.
        ray: Address of a Ray cluster that plays instead, see `units.run_units`.
        joined: A tournament of the first agents, which the others join, and its folder: its games aren't played again.
            The result is the same as if all had played from the beginning.

    Raises:
        ValueError: If an agent is unknown, doesn't start or can't be sent, or the folder holds another tournament, or a
            damaged one, or the tournament that is joined isn't there or doesn't fit.
        Interrupted: After Ctrl-C.
        UnitError: When all others are played and saved, if some games have ended one process after the other.
        OSError: If something can't be written. What was played stays, and the same call goes on from there.
    """
    unknown = set(agents) - set(settings.agents)
    if unknown:
        raise ValueError(
            f"agents are given that don't play: {' '.join(sorted(unknown))}; those who do: {' '.join(settings.agents)}"
        )
    check_workers(workers, ray)
    playing = Playing(settings, dict(agents), records is not None)
    if joined is not None:
        _check_joined(settings, records, *joined)
    players = dict(zip(settings.agents, playing.players, strict=True))
    check_all(players, settings.definition, settings.rules, settings.num_players)
    with alone_in(folder, "playing this tournament"):
        store = Store(folder, settings, records, agents)
        if joined is not None:
            before, there = joined
            with alone_in(there, "playing this tournament"):
                given = {name: agent for name, agent in agents.items() if name in before.agents}
                store.take_over(Store(there, before, None, given))
        return _play(settings, playing, store, workers, ray)


def _check_joined(settings: Settings, records: Path | None, before: Settings, there: Path) -> None:
    """Raise a ValueError if some agents can't join the tournament in a folder."""
    if not (there / "settings.json").exists():
        raise ValueError(f"{there} holds no tournament of {' '.join(before.agents)} that others could join")
    if records is not None:
        raise ValueError("no records can be kept when agents join: those of the games before are missing")
    if len(before.agents) < settings.num_players:
        raise ValueError(
            f"to {len(before.agents)} agents none can be added: with {settings.num_players} players they sat at a "
            "table more than once, and with one more they wouldn't"
        )


def _play(settings: Settings, playing: Playing, store: Store, workers: int, ray: str | None) -> Results:
    """Play what is missing."""
    total = store.played.size * settings.num_players
    units = units_of(settings, playing.players, store.played)
    tally = Tally(settings)
    for block in store.blocks:
        tally.add(block)
    try:
        with LiveTable(tally) as live:
            task = live.add_task("", total=total, completed=int(store.played.sum()) * settings.num_players)
            for _, (block, kept) in run_units(playing, units, workers, ray):
                store.append(block, kept)
                live.add_block(block)
                live.update(task, advance=len(block) * settings.num_players)
    except KeyboardInterrupt:
        raise Interrupted(store.results()) from None
    return store.results()


class Playing:
    """Plays units of a tournament; other processes find the agents anew, by their names.

    Args:
        settings: What is played.
        agents: Agents or functions behind some names.
        keep: Whether the record of each game is wanted.
    """

    def __init__(self, settings: Settings, agents: dict[str, Any], keep: bool) -> None:
        self.settings, self.agents, self.keep = settings, agents, keep

    def __reduce__(self) -> tuple[Any, ...]:
        return Playing, (self.settings, self.agents, self.keep)

    @cached_property
    def players(self) -> list[Agent]:
        """Who plays."""
        return [find_agent(self.agents.get(name, name)) for name in self.settings.agents]

    @property
    def made_of(self) -> str:
        """Hash of what plays what."""
        return made_of(self.settings.hash, self.settings.definition, self.settings.agents, self.agents)

    def __call__(self, unit: Unit) -> tuple[Block, list[str]]:
        """What `Store.append` saves."""
        return play_block(self.settings, self.players, *unit, keep=self.keep)

    def again(self, lineup: int, deal: int) -> tuple[Block, list[str]]:
        """A deal of a line-up in all rotations, with its records."""
        return self(Unit(lineup, deal, 1))


def units_of(settings: Settings, players: list[Agent], played: np.ndarray) -> list[Unit]:
    """What is left to play when some deals of each line-up are played: all line-ups come on evenly.

    Args:
        played: See `Store.played`.
    """
    units = []
    for lineup, who in enumerate(settings.lineups()):
        size = max(1, unit_games([players[agent] for agent in who]) // settings.num_players)
        for start in range(0, settings.deals, size):
            missing = start + np.flatnonzero(~played[lineup, start : start + size])
            for deals in np.split(missing, np.flatnonzero(np.diff(missing) > 1) + 1):
                if len(deals):
                    units.append(Unit(lineup, int(deals[0]), len(deals)))
    return sorted(units, key=lambda unit: (unit.first, unit.lineup))


def play_block(
    settings: Settings, agents: list[Agent], lineup: int, first: int, count: int, keep: bool = False
) -> tuple[Block, list[str]]:
    """Play deals `first..first + count - 1` of a line-up in all rotations.

    Returns:
        What `Store.append` saves, and the record of each game if they are to be kept.
    """
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
    """The place in the line-up of a seat for each of n games, -1: none.

    Args:
        seat: shape (n,); -1: none.
        seats: The seat of each place: shape (n, P).
    """
    return np.where(seat < 0, -1, np.argmax(seats == seat[:, None], axis=1))


def write_records(settings: Settings, played: Played, seeds: np.ndarray, holders: np.ndarray) -> list[str]:
    """The record of each game."""
    records = []
    for game, seed in enumerate(seeds):
        replayed = Game(settings.rules, settings.num_players, int(seed), game=settings.definition)
        for actions in played.actions:
            if actions[game] == FORFEIT:
                break
            replayed.play(int(actions[game]))
        records.append(replayed.record([settings.agents[agent] for agent in holders[game]]))
    return records
