"""Games on disk: one JSON file each, written atomically; the results of finished games; and the secret of the page that
lists the games.

The files contain the seats' secrets, so only their owner may read them.
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
from artus_training.people import results as people
from artus_training.play.texts import readable

VERSION = 1
LARGEST = 10_000_000
"""Maximum bytes of a game's file; real ones have a few thousand."""
HOST = "host.secret"
"""File with the secret of the page that lists the games."""
SECRET = re.compile(r"[A-Za-z0-9_-]{22}")


def new_secret() -> str:
    """128 random bits for a link that can't be guessed."""
    return secrets.token_urlsafe(16)


class Store:
    """A folder of games.

    Raises:
        OSError: If it can't be created or written to.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            pass  # fail now rather than during a game

    def write(self, name: str, data: dict[str, Any]) -> None:
        """Replace a game's file. After this returns, the game survives a power failure.

        Raises:
            OSError: If it can't be written; the old file is unchanged then.
        """
        self._write(f"{name}.json", json.dumps({"version": VERSION, **data}, separators=(",", ":")))

    def write_result(self, name: str, result: people.Result) -> None:
        """Save the result of a game in a file of its own, so that any number of servers can do so at once.

        Raises:
            OSError: If it can't be written.
        """
        (self.folder / people.RESULTS).mkdir(exist_ok=True, mode=0o700)
        self._write(f"{people.RESULTS}/{name}.json", json.dumps(asdict(result), separators=(",", ":")))

    def has_result(self, name: str) -> bool:
        """Whether there is a file with the result of a game, even a damaged one."""
        return (self.folder / people.RESULTS / f"{name}.json").exists()

    def results(self) -> list[people.Result]:
        """Results of all games, the oldest first. Unreadable files are reported on stderr and left alone."""
        return people.read_results(self.folder, left_alone)

    def time_written(self, name: str) -> float:
        """When a game's file was last written, in seconds since 1970.

        Raises:
            OSError: If there is none.
        """
        return self.path(name).stat().st_mtime

    def remove(self, name: str) -> None:
        """Remove a game's file, if it can be removed."""
        with suppress(OSError):
            self.path(name).unlink()

    def host_secret(self) -> str:
        """The secret of the page with all games: the same at every start, so that its link stays valid.

        Raises:
            OSError: If there is none yet and none can be written.
        """
        path = self.folder / HOST
        if path.is_file():
            with path.open(encoding="ascii", errors="replace") as file:
                secret = file.read(100).strip()
            if SECRET.fullmatch(secret):
                return secret
            warn(f"{readable(str(path), 1000)} holds no secret: the page with all games gets a new link")
        secret = new_secret()
        self._write(HOST, f"{secret}\n")
        return secret

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        write_atomically(path, text.encode(), mode=0o600)  # readable only by its owner
        with suppress(OSError, AttributeError):  # sync the folder's entry, where the system supports it
            folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def path(self, name: str) -> Path:
        """A game's file."""
        return self.folder / f"{name}.json"

    def read_all(self, complain: Callable[[Path, Exception], None]) -> Iterator[tuple[Path, bytes]]:
        """The files of all games, the oldest first. `complain` is called for unreadable ones."""
        for path in sorted(self.folder.glob("*.json")):
            try:
                yield path, self.read(path)
            except (OSError, ValueError) as error:
                complain(path, error)

    def read(self, path: Path) -> bytes:
        """Content of a game's file.

        Raises:
            OSError: If it can't be read.
            ValueError: If it is no file or too large.
        """
        if not path.is_file():
            raise ValueError("it is no file")
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise ValueError(f"it has more than {LARGEST} bytes")
        return content


def left_alone(path: Path, error: Exception) -> None:
    """Report on stderr that a file isn't used, and why."""
    warn(f"{readable(str(path), 1000)} is left alone: {reason(error)}")


def reason(error: Exception) -> str:
    """An error's message in one line, without file paths, which are private."""
    try:
        text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    except Exception:  # a custom error whose __str__ fails
        text = ""
    return readable(text, 300) or type(error).__name__


def warn(text: str) -> None:
    """Print a warning on stderr, if it still exists."""
    with suppress(OSError, ValueError):
        print(f"artus play: {text}", file=sys.stderr)
