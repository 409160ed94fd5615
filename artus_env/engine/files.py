"""Writing files so that nothing is ever half there."""

from __future__ import annotations

import os
from pathlib import Path


def write_atomically(path: Path, content: bytes | memoryview, mode: int = 0o666) -> None:
    """Write a file so that a reader, or whoever comes after a crash, finds the old content or the new, never a part.

    Args:
        path: Its folder is made if it is missing.
        content: All of it.
        mode: Who may read and write it, less what the process's umask takes away.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
