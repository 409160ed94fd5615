"""A tournament on disk: nothing that was played is lost, and no other tournament is taken for it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from artus_env import DEFAULT_GAME
from artus_env.engine.basics.reading import decode, shown, storable
from artus_env.engine.basics.writing import write_atomically
from artus_training.arena.made_of import NO_AGENTS, Given, made_of
from artus_training.arena.playing import Played, Unit
from artus_training.arena.results import Block, Results, Settings

FORMAT = 4
"""Of the files that a tournament is kept in, and of the streams that its games are drawn from; raised whenever they
change."""
AHEAD = "ahead.jsonl"
READABLE = (2, 3, FORMAT)
"""Formats that can be read and played on: in the second one settings named no game, and no line had outcomes; up to the
third one line-ups had streams in another order."""


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
    game: str | None = None  # the default one

    def text(self) -> dict[str, Any]:
        """As it stands in the file."""
        return {name: value for name, value in vars(self).items() if name != "game" or value is not None}


@dataclass(frozen=True)
class Line:
    """A line of `blocks.jsonl`: a block, how long the file of records was then, and a checksum of all lines so far."""

    lineup: int
    first: int
    scores: list[list[list[int]]]
    given_up: list[list[int]]
    notes: list[str]
    records_end: int
    outcomes: list[list[list[int]]] | None = None  # where they aren't the scores
    checksum: str = ""

    @classmethod
    def of(cls, block: Block, records_end: int, before: str) -> Line:
        """Args: the block; how long the file of records is; what the checksum continues."""
        outcomes = None if np.array_equal(block.outcomes, block.scores) else block.outcomes.tolist()
        scores, given_up = block.scores.tolist(), block.given_up.tolist()
        line = cls(block.lineup, block.first, scores, given_up, block.notes, records_end, outcomes)
        return replace(line, checksum=line.summed(before))

    def text(self) -> dict[str, Any]:
        """As it stands in the file."""
        return {**self.content(), "checksum": self.checksum}

    def content(self) -> dict[str, Any]:
        """All but the checksum, as it stands in the file."""
        outcomes = self.outcomes is not None
        return {
            name: value for name, value in vars(self).items() if name != "checksum" and (name != "outcomes" or outcomes)
        }

    def summed(self, before: str) -> str:
        """The checksum that belongs to this line.

        Args:
            before: That of the line before.
        """
        return hashlib.sha256((before + json.dumps(self.content())).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Ahead:
    """A line of `ahead.jsonl`: a block that waits for one before it, and its records."""

    block: Line
    records: list[str]


class Store:
    """The results of a tournament on disk: `settings.json`, and `blocks.jsonl` with a line for each block of deals.

    Blocks are saved in the order of their units. Those that others have played meanwhile wait in memory; `ahead.jsonl`
    keeps them when the tournament is interrupted, until their turn has come.

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
        of = asdict(settings) | {
            "agents": list(settings.agents),
            "records": None if records is None else storable(str(records)),
        }
        settled = Settled(
            **of, made_of=made_of(settings.hash, settings.definition, settings.agents, agents), format=FORMAT
        )
        fresh = not about.exists()
        if fresh:
            if self.path.exists():
                raise ValueError(f"{folder} lacks settings.json; put it back, or delete the folder to play anew")
            if records is not None and records.is_file() and records.stat().st_size:
                raise ValueError(f"{records} doesn't hold the records of this tournament; give another --records file")
        else:
            settled = self._compare(about, settled)
        if records is not None:
            self._check_records(records)
        if fresh:
            write_atomically(about, (json.dumps(settled.text(), indent=2) + "\n").encode())
        self.played = np.zeros((len(settings.lineups()), settings.deals), np.bool_)
        """Which deals of each line-up are played: shape (line-ups, deals). One that no process survives leaves a gap,
        which is filled when the tournament goes on."""
        self.checksum = json.dumps(settled.text())  # the first line continues the settings
        self.blocks: list[Block] = []
        self._read()
        self.ahead = self._read_ahead()
        """Units whose turn hadn't come when the tournament was interrupted."""

    def _compare(self, about: Path, settled: Settled) -> Settled:
        """Refuse the folder of another tournament. Returns what is settled there."""
        try:
            there = decode(about.read_bytes(), Settled)
        except ValueError as error:
            raise ValueError(f"{about} is damaged ({error}); put it back, or delete the folder to play anew") from None
        lineups = range(len(self.settings.lineups()))
        other_streams = there.format < FORMAT and any(self.settings.stream(lineup) != lineup for lineup in lineups)
        if there.format not in READABLE or other_streams:
            raise ValueError(
                f"{self.folder} was written by another version of artus (format {there.format}, here {FORMAT}); "
                "give another --out, or delete it"
            )
        read = replace(there, format=FORMAT, game=there.game or DEFAULT_GAME)
        changed = ", ".join(
            f"{key} {shown(old)} -> {shown(new)}"
            for (key, old), new in zip(asdict(read).items(), asdict(settled).values(), strict=True)
            if old != new
        )
        if changed:
            raise ValueError(f"{self.folder} holds another tournament ({changed}); give another --out, or delete it")
        return there

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
                        block = self._checked(line, records_end, self.checksum)
                        if self._holds(block):
                            last = block.first + len(block) - 1
                            raise ValueError(
                                f"some of deals {block.first}..{last} of line-up {block.lineup} come twice"
                            )
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

    def _read_ahead(self) -> dict[Unit, Played]:
        """What `keep_ahead` has kept, and isn't among the blocks yet."""
        path = self.folder / AHEAD
        ahead: dict[Unit, Played] = {}
        for text in path.read_bytes().splitlines() if path.exists() else ():
            try:
                line = decode(text, Ahead)
                block = self._checked(line.block, 0, "".join(line.records))
            except ValueError as error:
                raise ValueError(f"{path} is damaged: {error}; delete it, and its games are played again") from None
            if not self._holds(block):
                ahead[Unit(block.lineup, block.first, len(block))] = block, line.records
        return ahead

    def _checked(self, line: Line, records_end: int, before: str) -> Block:
        """The block of a line.

        Args:
            records_end: Of the line before.
            before: What its checksum continues.

        Raises:
            ValueError: If it isn't one of this tournament.
        """
        players = self.settings.num_players
        if line.checksum != line.summed(before):
            raise ValueError("its checksum doesn't fit")
        lineups, all_deals = self.played.shape
        if not (0 <= line.lineup < lineups and 0 <= line.first < all_deals):
            raise ValueError(f"there is no deal {line.first} of line-up {line.lineup}")
        try:
            scores, given_up = np.array(line.scores, np.int32), np.array(line.given_up, np.int64)
            outcomes = scores if line.outcomes is None else np.array(line.outcomes, np.int32)
        except (ValueError, OverflowError) as error:
            raise ValueError(str(error)) from None
        deals = len(scores)
        if not 0 < deals <= all_deals - line.first:
            raise ValueError(f"{deals} deals are none or too many")
        if scores.shape != (deals, players, players) or given_up.shape != (deals, players):
            raise ValueError(f"scores of shape {scores.shape} and forfeits of shape {given_up.shape}")
        if outcomes.shape != scores.shape:
            raise ValueError(f"outcomes of shape {outcomes.shape} beside scores of shape {scores.shape}")
        if given_up.min() < -1 or given_up.max() >= players or line.records_end < records_end:
            raise ValueError("a number is out of range")
        return Block(line.lineup, line.first, scores, outcomes, given_up, line.notes)

    def _holds(self, block: Block) -> bool:
        """Whether some of its deals are saved."""
        return bool(self.played[block.lineup, block.first : block.first + len(block)].any())

    def _take(self, block: Block, checksum: str) -> None:
        self.blocks.append(block)
        self.played[block.lineup, block.first : block.first + len(block)] = True
        self.checksum = checksum

    def take_over(self, other: Store) -> None:
        """Save the games of a tournament that some agents have joined since. What is here already stays.

        Args:
            other: Its agents are the first ones of this tournament, and all its line-ups are among those here.
        """
        numbers = {who: number for number, who in enumerate(self.settings.lineups())}
        for block in other.blocks:
            lineup = numbers[other.settings.lineups()[block.lineup]]
            here = replace(block, lineup=lineup)
            if not self._holds(here):
                self.append(here, [])

    def append(self, block: Block, records: list[str]) -> None:
        """Save a block: first its records, then the line that makes it count."""
        records_end = 0
        if self.records is not None:
            with self.records.open("ab") as file:
                file.write("".join(record + "\n" for record in records).encode())
                file.flush()
                os.fsync(file.fileno())
                records_end = file.tell()
        line = Line.of(block, records_end, self.checksum)
        with self.path.open("ab") as file:
            file.write(written(line.text()))
            file.flush()
            os.fsync(file.fileno())
        self._take(block, line.checksum)

    def keep_ahead(self, ahead: Mapping[Unit, Played]) -> None:
        """Save units whose turn hasn't come, instead of those that were saved so before."""
        path = self.folder / AHEAD
        lines = [(Line.of(block, 0, "".join(records)), records) for block, records in ahead.values()]
        if lines:
            content = (written({"block": line.text(), "records": records}) for line, records in lines)
            write_atomically(path, b"".join(content))
        else:
            path.unlink(missing_ok=True)

    def results(self) -> Results:
        """All that is saved."""
        players = self.settings.num_players
        no_points = np.zeros((0, players, players), np.int32)
        none = Block(0, 0, no_points, no_points, np.zeros((0, players), np.int64), [])
        parts = [
            [none, *sorted((block for block in self.blocks if block.lineup == lineup), key=lambda block: block.first)]
            for lineup in range(len(self.played))
        ]
        return Results(
            self.settings,
            [np.concatenate([block.scores for block in part]) for part in parts],
            [np.concatenate([block.outcomes for block in part]) for part in parts],
            [np.concatenate([block.given_up for block in part]) for part in parts],
            [note for part in parts for block in part for note in block.notes],
        )


def written(line: dict[str, Any]) -> bytes:
    """A line of JSON."""
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def cut_file(path: Path, end: int) -> None:
    """Cut a file behind so many bytes."""
    if path.stat().st_size > end:
        with path.open("r+b") as file:
            file.truncate(end)
