"""Tournaments: every line-up of agents, in many seating orders, thousands of games at once.

All line-ups play the same deals, each once in every rotation of the seats, and from deal to deal in another order.
Every decision draws its randomness from (seed, line-up, deal, rotation) alone. So results don't depend on how many
games are played side by side, and a tournament that was interrupted, however rudely, goes on where it stopped and ends
with the same table.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from artus_env import Batch, Game
from artus_env.engine.agents import FORFEIT, Agent, find_agent
from artus_env.engine.files import alone_in
from artus_env.engine.match import Played, fair_seats, play_games, seat_orders, standing_outcomes, wins_of
from artus_env.engine.rng import seed_stream
from artus_training.arena.lineup import check_player
from artus_training.arena.names import short_names
from artus_training.arena.results import Block, Results, Settings
from artus_training.arena.store import NO_AGENTS, Given, Store
from artus_training.progress import progress

BLOCK_SECONDS = 2.0
"""How much work lies between two saves."""
MAX_BLOCK_GAMES = 4096
"""In a tournament: their scores fit into memory, and intervals are long narrower than anybody needs."""
_DEALS, _KEYS = range(200, 202)  # purposes of the seed streams


def run(settings: Settings, folder: Path, records: Path | None = None, agents: Given = NO_AGENTS) -> Results:
    """Play what is missing of a tournament and return all of it. Shows progress; may be interrupted at any time.

    Args:
        settings: What is played.
        folder: Where results are kept; a tournament that lies there with the same settings goes on.
        records: Keep every game as a line in this file.
        agents: Agents or functions behind some names; all others are found by name. Their code is part of the
            tournament, so that one that was interrupted doesn't go on with other code. What was set in an object isn't
            seen: let its name say it.

    Raises:
        ValueError: If an agent is unknown, or the folder holds another tournament, or a damaged one.
        OSError: If something can't be written. What was played stays, and the same call goes on from there.
    """
    unknown = set(agents) - set(settings.agents)
    if unknown:
        raise ValueError(
            f"agents are given that don't play: {' '.join(sorted(unknown))}; those who do: {' '.join(settings.agents)}"
        )
    players = [find_agent(agents.get(name, name)) for name in settings.agents]
    for agent in players:
        check_player(agent, settings.definition, settings.rules, settings.num_players)
    with alone_in(folder, "playing this tournament"):
        return _play(settings, players, Store(folder, settings, records, agents))


def _play(settings: Settings, players: list[Agent], store: Store) -> Results:
    """Play what is missing."""
    lineups = settings.lineups()
    total = len(lineups) * settings.deals * settings.num_players
    seconds_per_game = [0.0] * len(lineups)
    with progress(
        BarColumn(bar_width=12), MofNCompleteColumn(), TextColumn("games"),
        TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(), TextColumn("{task.description}", markup=False),
    ) as bar:  # fmt: skip
        room = bar.console.width - 2 * len(str(total)) - len("  bar of 12  / games 0:00:00 left 0:00:00 ")
        done = store.done()
        task = bar.add_task("playing", total=total, completed=sum(done) * settings.num_players)
        while min(done) < settings.deals:
            lineup = int(np.argmin(done))
            count = min(block_deals(seconds_per_game[lineup], settings.num_players), settings.deals - done[lineup])
            start = time.perf_counter()
            block, kept = play_block(settings, players, lineup, done[lineup], count, keep=store.records is not None)
            seconds_per_game[lineup] = (time.perf_counter() - start) / (count * settings.num_players)
            store.append(block, kept)
            done[lineup] += count
            bar.update(
                task, advance=count * settings.num_players, description=block_text(settings, block)[: max(room, 0)]
            )
    return store.results()


def block_text(settings: Settings, block: Block) -> str:
    """How the newest block went, for the progress line."""
    wins = wins_of(standing_outcomes(block.outcomes, block.given_up)).mean(axis=(0, 1))
    who = [settings.agents[agent] for agent in settings.lineups()[block.lineup]]
    return ", ".join(f"{name} {part:.0%}" for name, part in zip(short_names(who, 13), wins, strict=True))


def block_deals(seconds_per_game: float, players: int) -> int:
    """How many deals to play side by side: few until it is known how long they take."""
    games = BLOCK_SECONDS / seconds_per_game if seconds_per_game else 16
    return max(1, int(min(games, MAX_BLOCK_GAMES)) // players)


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
    keys = seed_stream(settings.seed, count * players, _KEYS + lineup, first * players)
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
