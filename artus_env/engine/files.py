"""Writing files so that nothing is ever half there, and folders that belong to one process at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: then nothing keeps two processes apart
    fcntl = None  # type: ignore[assignment]

UNFINISHED = ".unfinished"
LOCK = "lock"


def write_atomically(path: Path, content: bytes | memoryview, mode: int = 0o666) -> None:
    """Write a file so that a reader, or whoever comes after a crash, finds the old content or the new, never a part.

    A process that is killed meanwhile leaves a file `.NAME.PID.unfinished`, which `alone_in` removes.

    Args:
        path: Its folder is made if it is missing.
        content: All of it.
        mode: Who may read and write it, less what the process's umask takes away.

    Raises:
        OSError: If it can't be written; the old file stands then.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}{UNFINISHED}")
    try:
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def alone_in(folder: Path, what: str) -> Iterator[None]:
    """Keep all other processes out of a folder that they, too, enter by this function.

    What killed processes have left unfinished there is removed: nobody else can be writing.

    Args:
        folder: Made if it is missing.
        what: Is done there, for the message: "playing this tournament".

    Raises:
        ValueError: If another process is in it; the message names folder and `what`.
        OSError: If the folder can't be made or written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("a") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ValueError(f"{folder}: another process is {what}") from None
        for left in folder.glob(f".*{UNFINISHED}"):
            left.unlink(missing_ok=True)
        yield
