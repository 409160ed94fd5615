"""Tournaments: every line-up of agents, in every order around the table, thousands of games at once.

All line-ups play the same deals, each once in every rotation of the seats, and from deal to deal in another order. Every
decision draws its randomness from (seed, line-up, deal, rotation) alone. So results don't depend on how many games are played
side by side, and a tournament that was interrupted, however rudely, goes on where it stopped and ends with the same table.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import math
import os
import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import combinations, combinations_with_replacement
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

import artus_agents
from artus_agents import WEIGHTS
from artus_env import Batch, Game
from artus_env.artus.components import RULES, RULES_VERSION, STANDARD
from artus_env.engine.agents import FORFEIT, Agent, agent_factory, find_agent
from artus_env.engine.files import alone_in, write_atomically
from artus_env.engine.jit import PACKAGE, source_hash
from artus_env.engine.match import Played, play_games, seat_orders, seatings, standing_scores, win_shares
from artus_env.engine.rng import check_seed, seed_stream
from artus_training.cli import UsageError
from artus_training.progress import progress, terminal

BLOCK_SECONDS = 2.0
"""How much work lies between two saves."""
MAX_BLOCK_GAMES = 4096
Given = Mapping[str, Agent | Callable[..., Any]]
"""Agents and functions `(observation, action_mask) -> action` by the names that they play under."""
NO_AGENTS: Given = MappingProxyType({})
_DEALS, _KEYS = range(200, 202)  # purposes of the seed streams


@dataclass(frozen=True)
class Settings:
    """What is played. Together with the agents themselves it determines the result."""

    agents: tuple[str, ...]
    """Names, `name` or `name:argument`; each once."""
    rules: str = "beginner"
    num_players: int = 2
    games: int = 2000
    """Games of each line-up, rounded up so that every way to sit comes equally often: with P players to a multiple of P!"""
    seed: int = 0

    def __post_init__(self) -> None:
        Game.definition.check_variant(self.rules, self.num_players)
        if len(set(self.agents)) != len(self.agents) or len(self.agents) < 2:
            raise ValueError(f"a tournament needs two or more different agents, got {' '.join(self.agents) or 'none'}")
        if self.games < 1:
            raise ValueError(f"games must be at least 1, got {self.games}")

    @property
    def deals(self) -> int:
        """Deals of each line-up; each is played once for each rotation of the seats."""
        ways = math.factorial(self.num_players)
        return -(-self.games // ways) * ways // self.num_players

    def lineups(self) -> list[tuple[int, ...]]:
        """Who sits together, as indices into `agents`: different ones while there are enough, else at least two."""
        numbers = range(len(self.agents))
        if len(self.agents) >= self.num_players:
            return list(combinations(numbers, self.num_players))
        return [who for who in combinations_with_replacement(numbers, self.num_players) if len(set(who)) > 1]

    @property
    def hash(self) -> str:
        """Tells tournaments apart."""
        whole = {**asdict(self), "rules_version": RULES_VERSION, "components": STANDARD.hash}
        return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:12]


@dataclass
class Results:
    """All games that were played: for each line-up, deals x rotations x seats.

    Where the agents sit is written in `artus_env.engine.match.seatings`; arrays are in the order of the line-up, not of
    the seats.
    """

    settings: Settings
    scores: list[np.ndarray]
    """Prestige, for each line-up shape (deals, P, P), int32: deal, rotation, place in the line-up."""
    given_up: list[np.ndarray]
    """Place in the line-up of who gave the game up, -1: nobody; for each line-up shape (deals, P), int64."""
    notes: list[str] = field(default_factory=list)
    """A line for each game that an agent gave up: which, and why."""

    def standing_scores(self, lineup: int) -> np.ndarray:
        """Scores to rank by: who gave up stands behind everybody. Shape (deals, P, P), float64."""
        return standing_scores(self.scores[lineup], self.given_up[lineup])

    @property
    def games(self) -> int:
        """Number of games."""
        return sum(scores.shape[0] * scores.shape[1] for scores in self.scores)


class Store:
    """The results of a tournament on disk: `settings.json`, and `blocks.jsonl` with a line for each block of deals.

    A block is there when its whole line is; what a killed process wrote of another is cut off.
    """

    def __init__(self, folder: Path, settings: Settings, records: Path | None, agents: Given = NO_AGENTS) -> None:
        self.folder, self.settings, self.records = folder, settings, records
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "blocks.jsonl"
        about = folder / "settings.json"
        settled = {**asdict(settings), "made_of": made_of(settings, agents), "records": records and str(records)}
        whole = json.loads(json.dumps(settled))
        if not about.exists() and records is not None and records.exists() and records.stat().st_size:
            raise ValueError(f"{records} doesn't hold the records of this tournament; give another --records file")
        if about.exists():
            there = json.loads(about.read_text())
            if there != whole:
                changed = ", ".join(
                    f"{key} {there.get(key)!r} -> {whole.get(key)!r}" for key in whole if there.get(key) != whole[key]
                )
                raise ValueError(f"{folder} holds another tournament ({changed}); give another --out, or delete it")
        else:
            write_atomically(about, (json.dumps(whole, indent=2) + "\n").encode())
        self.blocks = list(self._read())

    def _read(self) -> Iterator[dict[str, Any]]:
        """Whole blocks; the file and the records are cut behind the last of them."""
        end = records_end = 0
        counts = [0] * len(self.settings.lineups())
        if self.path.exists():
            with self.path.open("rb") as file:
                for line in file:
                    try:
                        block = json.loads(line) if line.endswith(b"\n") else None
                    except json.JSONDecodeError:
                        block = None
                    if block is None or block["first"] != counts[block["lineup"]]:
                        break
                    counts[block["lineup"]] += len(block["scores"])
                    end += len(line)
                    records_end = block["records_end"]
                    yield block
            with self.path.open("r+b") as file:
                file.truncate(end)
        if self.records is not None:
            size = self.records.stat().st_size if self.records.exists() else 0
            if size < records_end:
                raise ValueError(f"{self.records} lacks games of this tournament; delete {self.folder} to play again")
            if size:
                with self.records.open("r+b") as file:
                    file.truncate(records_end)

    def append(self, block: dict[str, Any], records: list[str]) -> None:
        """Save a block: first its records, then the line that makes it count."""
        if self.records is not None:
            self.records.parent.mkdir(parents=True, exist_ok=True)
            with self.records.open("ab") as file:
                file.write("".join(record + "\n" for record in records).encode())
                file.flush()
                os.fsync(file.fileno())
                block["records_end"] = file.tell()
        with self.path.open("ab") as file:
            file.write(json.dumps(block, separators=(",", ":")).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.blocks.append(block)

    def done(self) -> list[int]:
        """How many deals of each line-up are played."""
        counts = [0] * len(self.settings.lineups())
        for block in self.blocks:
            counts[block["lineup"]] += len(block["scores"])
        return counts

    def results(self) -> Results:
        """All that is saved."""
        players = self.settings.num_players
        scores: list[list[Any]] = [[] for _ in self.settings.lineups()]
        given_up: list[list[Any]] = [[] for _ in scores]
        for block in self.blocks:
            scores[block["lineup"]] += block["scores"]
            given_up[block["lineup"]] += block["forfeits"]
        return Results(
            self.settings,
            [np.array(part, np.int32).reshape(-1, players, players) for part in scores],
            [np.array(part, np.int64).reshape(-1, players) for part in given_up],
            [note for block in self.blocks for note in block["notes"]],
        )


def made_of(settings: Settings, agents: Given) -> str:
    """Hash of what the agents are made of: 16 hex digits.

    Our sources and trained weights, the files that names mention, the modules of other packages' agents, the code of `agents`.
    """
    ours = Path(artus_agents.__path__[0])
    digest = hashlib.sha256(f"{settings.hash} {source_hash(PACKAGE, ours)}".encode())
    for path in sorted(ours.rglob("*.safetensors")):
        digest.update(path.read_bytes())
    for name in settings.agents:
        if name in agents:
            agent = agents[name]
            code: Any = agent if inspect.isroutine(agent) else type(agent)
        else:
            kind, _, argument = name.partition(":")
            code = inspect.getmodule(agent_factory(kind))
            for path in files_in(argument):
                digest.update(path.read_bytes())
        with suppress(OSError, TypeError):  # compiled, or typed at a prompt
            digest.update(f"{name} {inspect.getsource(code)}".encode())
    return digest.hexdigest()[:16]


def files_in(argument: str) -> Iterator[Path]:
    """The files that the argument of a name mentions: a saved agent with or without suffix, behind a number or not; words of a
    command."""
    for text in dict.fromkeys((argument, argument.partition(":")[2], *argument.split())):
        for path in (Path(text), Path(f"{text}{WEIGHTS}")):
            with suppress(OSError, ValueError):  # a command may be no path at all
                if path.is_file():
                    yield path


def run(settings: Settings, folder: Path, records: Path | None = None, agents: Given = NO_AGENTS) -> Results:
    """Play what is missing of a tournament and return all of it. Shows progress; may be interrupted at any time.

    Args:
        settings: What is played.
        folder: Where results are kept; a tournament that lies there with the same settings goes on.
        records: Keep every game as a line in this file.
        agents: Agents or functions behind some names; all others are found by name. Their code is part of the tournament, so
            that one that was interrupted doesn't go on with other code. What was set in an object isn't seen: let its name
            say it.

    Raises:
        ValueError: If an agent is unknown, or the folder holds another tournament.
    """
    unknown = set(agents) - set(settings.agents)
    if unknown:
        raise ValueError(
            f"agents are given that don't play: {' '.join(sorted(unknown))}; those who do: {' '.join(settings.agents)}"
        )
    players = [find_agent(agents.get(name, name)) for name in settings.agents]
    for agent in players:
        if hasattr(agent, "check_variant"):
            agent.check_variant(settings.rules, settings.num_players, STANDARD)
    with alone_in(folder, "playing this tournament"):
        return _play(settings, players, Store(folder, settings, records, agents))


def _play(settings: Settings, players: list[Agent], store: Store) -> Results:
    """Play what is missing."""
    lineups = settings.lineups()
    total = len(lineups) * settings.deals * settings.num_players
    seconds_per_game = [0.0] * len(lineups)
    with progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("games"),
        TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
    ) as bar:  # fmt: skip
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
            bar.update(task, advance=count * settings.num_players, description=block_text(settings, block))
    return store.results()


def block_text(settings: Settings, block: dict[str, Any]) -> str:
    """How the newest block went, for the progress line."""
    scores = standing_scores(np.array(block["scores"]), np.array(block["forfeits"]))
    shares = win_shares(scores).mean(axis=(0, 1))
    who = settings.lineups()[block["lineup"]]
    return ", ".join(f"{escape(settings.agents[agent])} {share:.0%}" for agent, share in zip(who, shares, strict=True))


def block_deals(seconds_per_game: float, players: int) -> int:
    """How many deals to play side by side: few until it is known how long they take."""
    games = BLOCK_SECONDS / seconds_per_game if seconds_per_game else 16
    return max(1, int(min(games, MAX_BLOCK_GAMES)) // players)


def play_block(
    settings: Settings, agents: list[Agent], lineup: int, first: int, count: int, keep: bool = False
) -> tuple[dict[str, Any], list[str]]:
    """Play deals `first..first + count - 1` of a line-up in all rotations.

    Returns:
        What `Store.append` saves, and the record of each game if they are to be kept.
    """
    players = settings.num_players
    who = settings.lineups()[lineup]
    deal_seeds = seed_stream(settings.seed, first + count, _DEALS)[first:]  # all line-ups play the same deals
    keys = seed_stream(settings.seed, (first + count) * players, _KEYS + lineup)[first * players :]
    batch = Batch(count * players, rules=settings.rules, num_players=players, autoreset=False)
    batch.reset(np.repeat(deal_seeds, players))
    sits = seatings(np.arange(first, first + count), seat_orders(players)).reshape(-1, players)
    seats = np.array(who)[np.argsort(sits, axis=1)]  # the agent on each seat
    played = play_games(batch, agents, seats, keys, settings.agents)
    notes = []
    for game, reason in sorted(played.reasons.items()):
        seat = int(played.forfeits[game])
        name = settings.agents[seats[game, seat]]
        notes.append(f"{name} gave up deal {first + game // players}, rotation {game % players}, as player {seat}: {reason}")
    block = {
        "lineup": lineup,
        "first": first,
        "scores": np.take_along_axis(played.scores, sits, axis=1).reshape(count, players, players).tolist(),
        "forfeits": places_of(played.forfeits, sits).reshape(count, players).tolist(),
        "notes": notes,
        "records_end": 0,
    }
    return block, write_records(settings, played, batch.seeds, seats) if keep else []


def places_of(seat: np.ndarray, sits: np.ndarray) -> np.ndarray:
    """Who sits there: the place in the line-up of a seat for each of n games, -1: none.

    Args:
        seat: shape (n,); -1: none.
        sits: The seat of each place: shape (n, P).
    """
    return np.where(seat < 0, -1, np.argmax(sits == seat[:, None], axis=1))


def write_records(settings: Settings, played: Played, seeds: np.ndarray, seats: np.ndarray) -> list[str]:
    """The record of each game."""
    records = []
    for game, seed in enumerate(seeds):
        replayed = Game(rules=settings.rules, num_players=settings.num_players, seed=int(seed))
        for actions in played.actions:
            if actions[game] == FORFEIT:
                break
            replayed.play(int(actions[game]))
        records.append(replayed.record([settings.agents[agent] for agent in seats[game]]))
    return records


# --- command line ------------------------------------------------------------------------------------------------------


def main(arguments: list[str]) -> int:
    """`artus tournament`."""
    from artus_training.standings import print_table, standings, write_report

    parser = argparse.ArgumentParser(
        prog="artus tournament",
        description="Every line-up of some agents, in every order around the table. Interrupt it at any time: "
        "the same command goes on where it stopped.",
    )
    parser.add_argument("agents", nargs="+", metavar="AGENT", help="name or name:argument, e.g. greedy ismcts:500")
    parser.add_argument("--rules", choices=RULES, default="beginner")
    parser.add_argument("--num-players", type=int, choices=(2, 3, 4), default=2)
    parser.add_argument(
        "--games", type=int, default=2000, help="of each line-up, rounded up to all ways to sit (default %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="folder for results and report (default: runs/tournaments/..., by settings)")
    parser.add_argument("--records", type=Path, help="keep every game as a line of JSON in this file")
    chosen = parser.parse_args(arguments)
    try:
        settings = Settings(tuple(chosen.agents), chosen.rules, chosen.num_players, chosen.games, check_seed(chosen.seed))
        folder = chosen.out or Path("runs/tournaments") / f"{settings.rules}-{settings.num_players}-{settings.hash}"
        results = run(settings, folder, chosen.records)
    except ValueError as error:
        raise UsageError(str(error)) from None
    except KeyboardInterrupt:
        terminal().print("interrupted; the same command goes on from here")
        return 130
    whole = standings(results)
    print_table(results, whole)
    for note in results.notes[:20]:
        print(note)
    if len(results.notes) > 20:
        print(f"... {len(results.notes) - 20} more games given up, see the report")
    write_report(results, whole, folder, "artus tournament " + shlex.join(arguments))
    print(f"report: {folder / 'report.md'}")
    return 0


def baseline(arguments: list[str]) -> int:
    """`artus baseline`: the table of the README, one tournament for each variant."""
    from artus_training.standings import markdown_table, standings

    parser = argparse.ArgumentParser(
        prog="artus baseline",
        description="Tournaments of the agents that come along, for each variant; prints the tables as Markdown. "
        "Goes on where it stopped.",
    )
    parser.add_argument(
        "--games", type=int, default=1000, help="of each line-up, rounded up to all ways to sit (default %(default)s)"
    )
    parser.add_argument("--agents", nargs="+", default=["greedy", "lookahead", "ismcts:1000", "ppo", "ppo-search:64"])
    parser.add_argument("--out", type=Path, default=Path("runs/baseline"))
    chosen = parser.parse_args(arguments)
    parts = []
    for rules in RULES:
        for players in (2, 3, 4):
            settings = Settings(tuple(chosen.agents), rules, players, chosen.games)
            try:
                results = run(settings, chosen.out / f"{rules}-{players}-{settings.hash}")
            except ValueError as error:
                raise UsageError(str(error)) from None
            parts.append(f"**{rules}, {players} players** ({results.games:,} games)\n\n{markdown_table(standings(results))}")
    print("\n\n".join(parts))
    return 0
