"""Games on disk: one JSON file each, written whole or not at all, how those that are over have ended, and the secret of
the page that lists them.

They hold the seats' secrets, so that nobody but their owner may read them.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from artus_env.engine.basics.writing import write_atomically
from artus_training.arena import people
from artus_training.play.words import readable

VERSION = 1
LARGEST = 10_000_000
"""Bytes of a game's file; real ones have some thousands."""
HOST = "host.secret"
SECRET = re.compile(r"[A-Za-z0-9_-]{22}")


def new_secret() -> str:
    """128 random bits for a link that nobody can guess."""
    return secrets.token_urlsafe(16)


class Store:
    """A folder of games.

    Raises:
        OSError: If it can't be made or written to.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            pass  # now rather than in the middle of a game

    def write(self, name: str, data: dict[str, Any]) -> None:
        """Replace a game's file. When this returns, the game would survive a loss of power.

        Raises:
            OSError: If it can't be written; the old file stands then.
        """
        self._write(f"{name}.json", json.dumps({"version": VERSION, **data}, separators=(",", ":")))

    def write_result(self, name: str, result: people.Result) -> None:
        """Keep how a game has ended, in a file of its own: any number of servers may keep some at once.

        Raises:
            OSError: If it can't be written.
        """
        (self.folder / people.RESULTS).mkdir(exist_ok=True, mode=0o700)
        self._write(f"{people.RESULTS}/{name}.json", json.dumps(asdict(result), separators=(",", ":")))

    def has_result(self, name: str) -> bool:
        """Whether there is a file, be it damaged, with how a game has ended."""
        return (self.folder / people.RESULTS / f"{name}.json").exists()

    def results(self) -> list[people.Result]:
        """How games have ended, the oldest first. A file that can't be read is named on stderr and left alone."""
        return people.read_results(self.folder, left_alone)

    def changed(self, name: str) -> float:
        """When a game's file was written last, in seconds since 1970.

        Raises:
            OSError: If there is none.
        """
        return self.path(name).stat().st_mtime

    def remove(self, name: str) -> None:
        """Remove a game's file, if it can be removed."""
        with suppress(OSError):
            self.path(name).unlink()

    def host_secret(self) -> str:
        """The secret of the page with all games: the same at every start, so that its link goes on working.

        Raises:
            OSError: If there is none yet and none can be written.
        """
        path = self.folder / HOST
        if path.is_file():
            with path.open(encoding="ascii", errors="replace") as file:
                kept = file.read(100).strip()
            if SECRET.fullmatch(kept):
                return kept
            warn(f"{readable(str(path), 1000)} holds no secret: the page with all games gets a new link")
        fresh = new_secret()
        self._write(HOST, f"{fresh}\n")
        return fresh

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        write_atomically(path, text.encode(), mode=0o600)  # only its owner may read it
        with suppress(OSError, AttributeError):  # the folder's entry, where the system knows such a thing
            folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def path(self, name: str) -> Path:
        """A game's file."""
        return self.folder / f"{name}.json"

    def read_all(self, complain: Callable[[Path, Exception], None]) -> Iterator[tuple[Path, bytes]]:
        """The files of all games, the oldest first. `complain` is told which can't be read, and why."""
        for path in sorted(self.folder.glob("*.json")):
            try:
                yield path, self.read(path)
            except (OSError, ValueError) as error:
                complain(path, error)

    def read(self, path: Path) -> bytes:
        """A game's file.

        Raises:
            OSError: If it can't be read.
            ValueError: If it is no file of a game.
        """
        if not path.is_file():
            raise ValueError("it is no file")
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise ValueError(f"it has more than {LARGEST} bytes")
        return content


def left_alone(path: Path, error: Exception) -> None:
    """Say that a file isn't used, and why."""
    warn(f"{readable(str(path), 1000)} is left alone: {reason(error)}")


def reason(error: Exception) -> str:
    """What an error says, in one line and without the places of files, which are nobody else's business."""
    try:
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    except Exception:  # an error of somebody's own that can't say what it is
        said = ""
    return readable(said, 300) or type(error).__name__


def warn(text: str) -> None:
    """Say on stderr what needs somebody's attention, if there still is a terminal."""
    with suppress(OSError, ValueError):
        print(f"artus play: {text}", file=sys.stderr)
