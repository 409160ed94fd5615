"""Games on disk: one JSON file each, written whole or not at all.

They hold the seats' secrets, so that nobody but their owner may read them.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from artus_env.engine.files import write_atomically

VERSION = 1


def default_folder() -> Path:
    """Where games lie if nothing else is said: in the user's data folder."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "artus" / "games"


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
        content = json.dumps({"version": VERSION, **data}, separators=(",", ":")).encode()
        write_atomically(self.folder / f"{name}.json", content, mode=0o600)  # only its owner may read it
        with suppress(OSError, AttributeError):  # the folder's entry, where the system knows such a thing
            folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def read_all(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        """All games, the oldest first. A file that is damaged or of another version is named on stderr and left alone."""
        for path in sorted(self.folder.glob("*.json")):
            try:
                data = json.loads(path.read_text(encoding="utf-8"))
                if not isinstance(data, dict) or data.get("version") != VERSION:
                    raise ValueError(f"it has no version {VERSION}")
            except (OSError, ValueError, RecursionError) as error:
                warn(path, error)
                continue
            yield path, data


def warn(path: Path, error: Exception) -> None:
    """Say that a file can't be used."""
    print(f"artus play: {path} is left alone: {error}", file=sys.stderr)
