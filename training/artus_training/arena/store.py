"""Save tournaments on disk: no game is lost, and tournaments are never mixed up."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from artus_env.engine.basics.reading import decode, shown, storable
from artus_env.engine.basics.writing import write_atomically
from artus_training.arena.fingerprint import NO_AGENTS, NamedAgents, fingerprint
from artus_training.arena.play import Block, Played, Results
from artus_training.arena.schedule import Settings, Unit

FORMAT = 4
"""Version of the tournament's files and of the random streams of its games; raised whenever they change."""
AHEAD = "ahead.jsonl"


@dataclass(frozen=True)
class SavedSettings:
    """Content of `settings.json`: the settings of the tournament in a folder."""

    agents: list[str]
    rules: str
    num_players: int
    games: int
    seed: int
    made_of: str
    """Fingerprint of code, weights and agents."""
    records: str | None
    format: int = 0  # missing in the first version
    game: str = ""


@dataclass(frozen=True)
class Line:
    """A line of `blocks.jsonl`: a block, the length of the file of records after it, and a checksum of all lines up to
    this one."""

    lineup: int
    first: int
    scores: list[list[list[int]]]
    given_up: list[list[int]]
    notes: list[str]
    records_end: int
    outcomes: list[list[list[int]]] | None = None  # None: equal to the scores
    checksum: str = ""

    @classmethod
    def of(cls, block: Block, records_end: int, previous: str) -> Line:
        """Build the line of a block.

        Args:
            block: The block.
            records_end: Length of the file of records.
            previous: Checksum of the line before.
        """
        outcomes = None if np.array_equal(block.outcomes, block.scores) else block.outcomes.tolist()
        scores, given_up = block.scores.tolist(), block.given_up.tolist()
        line = cls(block.lineup, block.first, scores, given_up, block.notes, records_end, outcomes)
        return replace(line, checksum=line.checksum_after(previous))

    def text(self) -> dict[str, Any]:
        """All fields as saved in the file."""
        return {**self.content(), "checksum": self.checksum}

    def content(self) -> dict[str, Any]:
        """All fields but the checksum, as saved in the file."""
        outcomes = self.outcomes is not None
        return {
            name: value for name, value in vars(self).items() if name != "checksum" and (name != "outcomes" or outcomes)
        }

    def checksum_after(self, previous: str) -> str:
        """Compute the checksum of this line.

        Args:
            previous: Checksum of the line before.
        """
        return hashlib.sha256((previous + json.dumps(self.content())).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Ahead:
    """A line of `ahead.jsonl`: a block that waits for an earlier one, and its records."""

    block: Line
    records: list[str]


class Store:
    """The results of a tournament on disk: `settings.json`, and `blocks.jsonl` with a line for each block of deals.

    Blocks are saved in the order of their units. Blocks that are finished before an earlier one wait in memory; when
    the tournament is interrupted, `ahead.jsonl` keeps them until the earlier ones are saved.

    A block counts if its whole line is in the file; an incomplete line, left by a killed process or a full disk, is cut
    off. The checksum of every line also covers the lines before it, so a changed, removed or moved line is detected.

    Raises:
        ValueError: If the folder holds another tournament, or a damaged one; the message explains how to continue.
        OSError: If the files can't be read or written.
    """

    def __init__(self, folder: Path, settings: Settings, records: Path | None, agents: NamedAgents = NO_AGENTS) -> None:
        self.folder, self.settings, self.records = folder, settings, records
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "blocks.jsonl"
        settings_path = folder / "settings.json"
        fields = asdict(settings) | {
            "agents": list(settings.agents),
            "records": None if records is None else storable(str(records)),
        }
        saved_settings = SavedSettings(
            **fields, made_of=fingerprint(settings.hash, settings.definition, settings.agents, agents), format=FORMAT
        )
        is_new = not settings_path.exists()
        if is_new:
            if self.path.exists():
                raise ValueError(f"{folder} lacks settings.json; put it back, or delete the folder to play anew")
            if records is not None and records.is_file() and records.stat().st_size:
                raise ValueError(f"{records} doesn't hold the records of this tournament; give another --records file")
        else:
            saved_settings = self._compare(settings_path, saved_settings)
        if records is not None:
            self._check_records(records)
        if is_new:
            write_atomically(settings_path, (json.dumps(asdict(saved_settings), indent=2) + "\n").encode())
        self.played = np.zeros((len(settings.lineups()), settings.deals), np.bool_)
        """Whether each deal of each line-up is played: shape (line-ups, deals), bool. A deal during which every process
        died leaves a gap, which is filled when the tournament is continued."""
        self.checksum = json.dumps(asdict(saved_settings))  # the checksum of the first line covers the settings
        self.blocks: list[Block] = []
        self._read()
        self.ahead = self._read_ahead()
        """Units that waited for earlier ones when the tournament was interrupted."""

    def _compare(self, path: Path, expected: SavedSettings) -> SavedSettings:
        """Raise a ValueError if the folder holds another tournament. Returns the content of its `settings.json`."""
        try:
            saved = decode(path.read_bytes(), SavedSettings)
        except ValueError as error:
            raise ValueError(f"{path} is damaged ({error}); put it back, or delete the folder to play anew") from None
        if saved.format != FORMAT:
            raise ValueError(
                f"{self.folder} was written by another version of artus (format {saved.format}, here {FORMAT}); "
                "give another --out, or delete it"
            )
        changed = ", ".join(
            f"{key} {shown(old)} -> {shown(new)}"
            for (key, old), new in zip(asdict(saved).items(), asdict(expected).values(), strict=True)
            if old != new
        )
        if changed:
            raise ValueError(f"{self.folder} holds another tournament ({changed}); give another --out, or delete it")
        return saved

    def _check_records(self, records: Path) -> None:
        """Check before the first game that records can be saved there."""
        if records.exists() and not records.is_file():
            raise ValueError(f"--records needs a file, but {records} is none")
        if records.resolve().parent == self.folder.resolve():
            raise ValueError(f"--records {records} would lie among the tournament's own files; give another folder")
        records.parent.mkdir(parents=True, exist_ok=True)
        records.open("ab").close()

    def _read(self) -> None:
        """Read all complete blocks; cut off what follows them in the file and in the records."""
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
        """Read the units that `keep_ahead` saved and that aren't among the blocks yet."""
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

    def _checked(self, line: Line, records_end: int, previous: str) -> Block:
        """Return the block of a line after checking it.

        Args:
            line: The line.
            records_end: `records_end` of the line before.
            previous: Checksum of the line before, or other text that this line's checksum covers.

        Raises:
            ValueError: If it is no valid block of this tournament.
        """
        players = self.settings.num_players
        if line.checksum != line.checksum_after(previous):
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
        """Whether some of a block's deals are saved already."""
        return bool(self.played[block.lineup, block.first : block.first + len(block)].any())

    def _take(self, block: Block, checksum: str) -> None:
        self.blocks.append(block)
        self.played[block.lineup, block.first : block.first + len(block)] = True
        self.checksum = checksum

    def take_over(self, other: Store) -> None:
        """Copy the games of an earlier tournament, which new agents have joined; skip blocks that are saved already.

        Args:
            other: The earlier tournament. Its agents are the first ones of this tournament, and all its line-ups exist
                here.
        """
        lineup_numbers = {members: number for number, members in enumerate(self.settings.lineups())}
        for block in other.blocks:
            lineup = lineup_numbers[other.settings.lineups()[block.lineup]]
            renumbered = replace(block, lineup=lineup)
            if not self._holds(renumbered):
                self.append(renumbered, [])

    def append(self, block: Block, records: list[str]) -> None:
        """Save a block: first its records, then its line, so that a block in the file is complete."""
        records_end = 0
        if self.records is not None:
            with self.records.open("ab") as file:
                file.write("".join(record + "\n" for record in records).encode())
                file.flush()
                os.fsync(file.fileno())
                records_end = file.tell()
        line = Line.of(block, records_end, self.checksum)
        with self.path.open("ab") as file:
            file.write(json_line(line.text()))
            file.flush()
            os.fsync(file.fileno())
        self._take(block, line.checksum)

    def keep_ahead(self, ahead: Mapping[Unit, Played]) -> None:
        """Save units that wait for earlier ones, instead of those that were saved before."""
        path = self.folder / AHEAD
        lines = [(Line.of(block, 0, "".join(records)), records) for block, records in ahead.values()]
        if lines:
            content = (json_line({"block": line.text(), "records": records}) for line, records in lines)
            write_atomically(path, b"".join(content))
        else:
            path.unlink(missing_ok=True)

    def results(self) -> Results:
        """All saved results."""
        players = self.settings.num_players
        no_points = np.zeros((0, players, players), np.int32)
        no_deals = Block(0, 0, no_points, no_points, np.zeros((0, players), np.int64), [])
        blocks_by_lineup = [
            [
                no_deals,
                *sorted((block for block in self.blocks if block.lineup == lineup), key=lambda block: block.first),
            ]
            for lineup in range(len(self.played))
        ]
        return Results(
            self.settings,
            [np.concatenate([block.scores for block in blocks]) for blocks in blocks_by_lineup],
            [np.concatenate([block.outcomes for block in blocks]) for blocks in blocks_by_lineup],
            [np.concatenate([block.given_up for block in blocks]) for blocks in blocks_by_lineup],
            [note for blocks in blocks_by_lineup for block in blocks for note in block.notes],
        )


def json_line(line: dict[str, Any]) -> bytes:
    """Encode a line of JSON."""
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def cut_file(path: Path, end: int) -> None:
    """Shorten a file to at most `end` bytes."""
    if path.stat().st_size > end:
        with path.open("r+b") as file:
            file.truncate(end)
