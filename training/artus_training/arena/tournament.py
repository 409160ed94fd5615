"""Tournaments: every line-up of agents, in every order around the table, thousands of games at once.

All line-ups play the same deals, each once in every rotation of the seats, and from deal to deal in another order.
Every decision draws its randomness from (seed, line-up, deal, rotation) alone. So results don't depend on how many
games are played side by side, and a tournament that was interrupted, however rudely, goes on where it stopped and ends
with the same table.
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
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from itertools import combinations, combinations_with_replacement
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

import artus_agents
import artus_env
from artus_agents import WEIGHTS
from artus_env import DEFAULT_GAME, Batch, Game
from artus_env.engine.agents import FORFEIT, Agent, agent_factory, find_agent
from artus_env.engine.files import alone_in, write_atomically
from artus_env.engine.games import find_game
from artus_env.engine.match import Played, play_games, seat_orders, seatings, standing_scores, win_shares
from artus_env.engine.reading import decode, shown
from artus_env.engine.rng import check_seed, seed_stream
from artus_env.engine.sources import source_hash
from artus_env.games.artus.components import RULES, RULES_VERSION, STANDARD
from artus_training.arena.evaluate import MOST_GAMES
from artus_training.progress import progress, terminal
from artus_training.usage import UsageError

BLOCK_SECONDS = 2.0
"""How much work lies between two saves."""
MAX_BLOCK_GAMES = 4096
"""In a tournament: their scores fit into memory, and intervals are long narrower than anybody needs."""
FORMAT = 2
"""Of the files that a tournament is kept in; raised whenever they change."""
BASELINE = ("random", "greedy", "lookahead", "ismcts:1000", "ppo", "ppo-search:64")
"""The agents of `artus baseline`; `random` is the zero of their ratings."""
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
    """Games of each line-up, rounded up so that every way to sit comes equally often: with P players to a multiple of
    P!"""
    seed: int = 0

    def __post_init__(self) -> None:
        find_game(DEFAULT_GAME).check_variant(self.rules, self.num_players)
        if len(set(self.agents)) != len(self.agents) or len(self.agents) < 2:
            raise ValueError(f"a tournament needs two or more different agents, got {' '.join(self.agents) or 'none'}")
        if self.games < 1:
            raise ValueError(f"games must be at least 1, got {shown(self.games)}")
        check_seed(self.seed)
        agents, seats = len(self.agents), self.num_players
        lineups = math.comb(agents, seats) if agents >= seats else math.comb(agents + seats - 1, seats) - agents
        if lineups * self.deals * seats > MOST_GAMES:
            raise ValueError(
                f"{lineups:,} line-ups of {shown(self.games)} games are too many: a tournament has at most "
                f"{MOST_GAMES:,} games"
            )

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
    """Place in the line-up of the agent that gave the game up, -1: none; for each line-up shape (deals, P), int64."""
    notes: list[str] = field(default_factory=list)
    """A line for each game that an agent gave up: which, and why."""

    def standing_scores(self, lineup: int) -> np.ndarray:
        """Scores to rank by: who gave up stands behind everybody. Shape (deals, P, P), float64."""
        return standing_scores(self.scores[lineup], self.given_up[lineup])

    @property
    def games(self) -> int:
        """Number of games."""
        return sum(scores.shape[0] * scores.shape[1] for scores in self.scores)


@dataclass(frozen=True)
class Block:
    """How D deals of one line-up went."""

    lineup: int
    first: int
    """Number of the first deal."""
    scores: np.ndarray
    """As in `Results`: shape (D, P, P), int32."""
    given_up: np.ndarray
    """As in `Results`: shape (D, P), int64."""
    notes: list[str]

    def __len__(self) -> int:
        return len(self.scores)


@dataclass(frozen=True)
class Settled:
    """`settings.json`: the tournament that a folder holds."""

    agents: list[str]
    rules: str
    num_players: int
    games: int
    seed: int
    made_of: str
    records: str | None
    format: int = 1  # the first one didn't say


@dataclass(frozen=True)
class Line:
    """A line of `blocks.jsonl`: a block, how long the file of records was then, and a checksum of all lines so far."""

    lineup: int
    first: int
    scores: list[list[list[int]]]
    given_up: list[list[int]]
    notes: list[str]
    records_end: int
    checksum: str = ""

    def summed(self, before: str) -> str:
        """The checksum that belongs to this line.

        Args:
            before: That of the line before.
        """
        content = {name: value for name, value in vars(self).items() if name != "checksum"}
        return hashlib.sha256((before + json.dumps(content)).encode()).hexdigest()[:16]


class Store:
    """The results of a tournament on disk: `settings.json`, and `blocks.jsonl` with a line for each block of deals.

    A block is there when its whole line is; what a killed process, or a full disk, left of another is cut off. Every
    line has a checksum that continues the one before, so that none is changed, taken out or moved unnoticed.

    Raises:
        ValueError: If the folder holds another tournament, or a damaged one; the message says what to do.
        OSError: If the files can't be read or written.
    """

    def __init__(self, folder: Path, settings: Settings, records: Path | None, agents: Given = NO_AGENTS) -> None:
        self.folder, self.settings, self.records = folder, settings, records
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "blocks.jsonl"
        about = folder / "settings.json"
        of = asdict(settings) | {"agents": list(settings.agents), "records": None if records is None else str(records)}
        settled = Settled(**of, made_of=made_of(settings, agents), format=FORMAT)
        fresh = not about.exists()
        if fresh:
            if self.path.exists():
                raise ValueError(f"{folder} lacks settings.json; put it back, or delete the folder to play anew")
            if records is not None and records.is_file() and records.stat().st_size:
                raise ValueError(f"{records} doesn't hold the records of this tournament; give another --records file")
        else:
            self._compare(about, settled)
        if records is not None:
            self._check_records(records)
        if fresh:
            write_atomically(about, (json.dumps(asdict(settled), indent=2) + "\n").encode())
        self.counts = [0] * len(settings.lineups())
        self.checksum = json.dumps(asdict(settled))  # the first line continues the settings
        self.blocks: list[Block] = []
        self._read()

    def _compare(self, about: Path, settled: Settled) -> None:
        """Refuse the folder of another tournament."""
        try:
            there = decode(about.read_bytes(), Settled)
        except ValueError as error:
            raise ValueError(f"{about} is damaged ({error}); put it back, or delete the folder to play anew") from None
        if there.format != settled.format:
            raise ValueError(
                f"{self.folder} was written by another version of artus (format {there.format}, here {FORMAT}); "
                "give another --out, or delete it"
            )
        changed = ", ".join(
            f"{key} {shown(old)} -> {shown(new)}"
            for (key, old), new in zip(asdict(there).items(), asdict(settled).values(), strict=True)
            if old != new
        )
        if changed:
            raise ValueError(f"{self.folder} holds another tournament ({changed}); give another --out, or delete it")

    def _check_records(self, records: Path) -> None:
        """See before the first game whether records can be kept there."""
        if records.exists() and not records.is_file():
            raise ValueError(f"--records needs a file, but {records} is none")
        if records.resolve().parent == self.folder.resolve():
            raise ValueError(f"--records {records} would lie among the tournament's own files; give another folder")
        records.parent.mkdir(parents=True, exist_ok=True)
        records.open("ab").close()

    def _read(self) -> None:
        """Take up all whole blocks; cut the file and the records behind the last of them."""
        end = records_end = 0
        if self.path.exists():
            with self.path.open("rb") as file:
                for number, text in enumerate(file, 1):
                    if not text.endswith(b"\n"):
                        break
                    try:
                        line = decode(text, Line)
                        block = self._checked(line, records_end)
                    except ValueError as error:
                        raise ValueError(
                            f"{self.path}, line {number} is damaged: {error}; put the file back as it was, or "
                            "delete this line "
                            "and all behind it, whose games are then played again"
                        ) from None
                    self._take(block, line.checksum)
                    end += len(text)
                    records_end = line.records_end
            cut_file(self.path, end)
        if self.records is not None:
            if self.records.stat().st_size < records_end:
                raise ValueError(f"{self.records} lacks games of this tournament; delete {self.folder} to play again")
            cut_file(self.records, records_end)

    def _checked(self, line: Line, records_end: int) -> Block:
        """The block of a line that follows those that were read.

        Raises:
            ValueError: If it can't be the next one.
        """
        players = self.settings.num_players
        if line.checksum != line.summed(self.checksum):
            raise ValueError("its checksum doesn't fit")
        if not 0 <= line.lineup < len(self.counts) or line.first != self.counts[line.lineup]:
            raise ValueError(f"deal {line.first} of line-up {line.lineup} doesn't follow")
        try:
            scores, given_up = np.array(line.scores, np.int32), np.array(line.given_up, np.int64)
        except (ValueError, OverflowError) as error:
            raise ValueError(str(error)) from None
        deals = len(scores)
        if not 0 < deals <= self.settings.deals - line.first:
            raise ValueError(f"{deals} deals are none or too many")
        if scores.shape != (deals, players, players) or given_up.shape != (deals, players):
            raise ValueError(f"scores of shape {scores.shape} and forfeits of shape {given_up.shape}")
        if given_up.min() < -1 or given_up.max() >= players or line.records_end < records_end:
            raise ValueError("a number is out of range")
        return Block(line.lineup, line.first, scores, given_up, line.notes)

    def _take(self, block: Block, checksum: str) -> None:
        self.blocks.append(block)
        self.counts[block.lineup] += len(block)
        self.checksum = checksum

    def append(self, block: Block, records: list[str]) -> None:
        """Save a block: first its records, then the line that makes it count."""
        records_end = 0
        if self.records is not None:
            with self.records.open("ab") as file:
                file.write("".join(record + "\n" for record in records).encode())
                file.flush()
                os.fsync(file.fileno())
                records_end = file.tell()
        line = Line(block.lineup, block.first, block.scores.tolist(), block.given_up.tolist(), block.notes, records_end)
        checksum = line.summed(self.checksum)
        with self.path.open("ab") as file:
            file.write(json.dumps({**vars(line), "checksum": checksum}, separators=(",", ":")).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._take(block, checksum)

    def done(self) -> list[int]:
        """How many deals of each line-up are played."""
        return list(self.counts)

    def results(self) -> Results:
        """All that is saved."""
        players = self.settings.num_players
        scores: list[list[np.ndarray]] = [[np.zeros((0, players, players), np.int32)] for _ in self.counts]
        given_up: list[list[np.ndarray]] = [[np.zeros((0, players), np.int64)] for _ in self.counts]
        for block in self.blocks:
            scores[block.lineup].append(block.scores)
            given_up[block.lineup].append(block.given_up)
        return Results(
            self.settings,
            [np.concatenate(part) for part in scores],
            [np.concatenate(part) for part in given_up],
            [note for block in self.blocks for note in block.notes],
        )


def cut_file(path: Path, end: int) -> None:
    """Cut a file behind so many bytes."""
    if path.stat().st_size > end:
        with path.open("r+b") as file:
            file.truncate(end)


def made_of(settings: Settings, agents: Given) -> str:
    """Hash of what the agents are made of: 16 hex digits.

    Our sources and trained weights, the files that names mention, the modules of other packages' agents, the code of
    `agents`.
    """
    ours = Path(artus_agents.__path__[0])
    digest = hashlib.sha256(f"{settings.hash} {source_hash(Path(artus_env.__path__[0]), ours)}".encode())
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
    """The files that the argument of a name mentions: a saved agent with or without suffix, behind a number or not;
    words of a command."""
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
    shares = win_shares(standing_scores(block.scores, block.given_up)).mean(axis=(0, 1))
    who = [settings.agents[agent] for agent in settings.lineups()[block.lineup]]
    return ", ".join(f"{name} {share:.0%}" for name, share in zip(short_names(who, 13), shares, strict=True))


def short_names(names: list[str], width: int) -> list[str]:
    """Names cut in the middle to a width, each still different from the others: a program's command line can be
    long."""
    short = [shortened(name, width) for name in names]
    alike = Counter(short)
    return [
        text if alike[text] == 1 else f"{shortened(name, width - len(f'#{number}'))}#{number}"
        for number, (name, text) in enumerate(zip(names, short, strict=True), 1)
    ]


def shortened(name: str, width: int) -> str:
    """A name that has at most so many letters."""
    left = width - 3
    return name if len(name) <= width else f"{name[: -(-left // 2)]}...{name[len(name) - left // 2 :]}"


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
    batch = Batch(count * players, rules=settings.rules, num_players=players, autoreset=False)
    batch.reset(np.repeat(deal_seeds, players))
    sits = seatings(np.arange(first, first + count), seat_orders(players)).reshape(-1, players)
    seats = np.array(who)[np.argsort(sits, axis=1)]  # the agent on each seat
    played = play_games(batch, agents, seats, keys, settings.agents)
    notes = []
    for game, reason in sorted(played.reasons.items()):
        seat = int(played.forfeits[game])
        name = settings.agents[seats[game, seat]]
        notes.append(
            f"{name} gave up deal {first + game // players}, rotation {game % players}, as player {seat}: {reason}"
        )
    scores = np.take_along_axis(played.scores, sits, axis=1).astype(np.int32).reshape(count, players, players)
    given_up = places_of(played.forfeits, sits).reshape(count, players)
    block = Block(lineup, first, scores, given_up, notes)
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


# --- command line
# ------------------------------------------------------------------------------------------------------


def main(arguments: list[str]) -> int:
    """`artus tournament`."""
    from artus_training.arena.standings import print_table, standings, write_report

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
    parser.add_argument(
        "--out", type=Path, help="folder for results and report (default: runs/tournaments/..., by settings)"
    )
    parser.add_argument("--records", type=Path, help="keep every game as a line of JSON in this file")
    chosen = parser.parse_args(arguments)
    try:
        with one_line():
            settings = Settings(tuple(chosen.agents), chosen.rules, chosen.num_players, chosen.games, chosen.seed)
            folder = chosen.out or Path("runs/tournaments") / f"{settings.rules}-{settings.num_players}-{settings.hash}"
            results = run(settings, folder, chosen.records)
    except KeyboardInterrupt:
        terminal().print("interrupted; the same command goes on from here")
        return 130
    whole = standings(results)
    print_table(results, whole)
    for note in results.notes[:20]:
        print(note)
    if len(results.notes) > 20:
        print(f"... {len(results.notes) - 20} more games given up, see the report")
    with one_line():
        write_report(results, whole, folder, "artus tournament " + shlex.join(arguments))
    print(f"report: {folder / 'report.md'}")
    return 0


@contextmanager
def one_line() -> Iterator[None]:
    """What the user can mend becomes one line."""
    try:
        yield
    except ValueError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        of = f"{error.filename}: " if error.filename else ""
        raise UsageError(
            f"{of}{error.strerror or error}; games that were played are kept; mend that and run the same command again"
        ) from None


def baseline(arguments: list[str]) -> int:
    """`artus baseline`: the table of the README, one tournament for each variant."""
    from artus_training.arena.standings import markdown_table, standings

    parser = argparse.ArgumentParser(
        prog="artus baseline",
        description="Tournaments of the agents that come along, for each variant; prints the tables as Markdown. "
        "Goes on where it stopped.",
    )
    parser.add_argument(
        "--games", type=int, default=1000, help="of each line-up, rounded up to all ways to sit (default %(default)s)"
    )
    parser.add_argument("--agents", nargs="+", default=BASELINE)
    parser.add_argument("--out", type=Path, default=Path("runs/baseline"))
    chosen = parser.parse_args(arguments)
    parts = []
    for rules in RULES:
        for players in (2, 3, 4):
            with one_line():
                settings = Settings(tuple(chosen.agents), rules, players, chosen.games)
                results = run(settings, chosen.out / f"{rules}-{players}-{settings.hash}")
            parts.append(
                f"**{rules}, {players} players** ({results.games:,} games)\n\n{markdown_table(standings(results))}"
            )
    print("\n\n".join(parts))
    return 0
