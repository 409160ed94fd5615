"""Atomic writing of files, and folders that only one process uses at a time."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows: processes can't lock each other out
    fcntl = None  # type: ignore[assignment]

NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
"""Errors of file systems without locks, such as some network ones: processes can't lock each other out there."""
UNFINISHED = ".unfinished"
LOCK = "lock"


def write_atomically(path: Path, content: bytes | memoryview, mode: int = 0o666, durable: bool = True) -> None:
    """Write a file so that a reader, even after a crash, finds the old content or the new, never a part.

    A killed process leaves a file `.NAME.PID.unfinished`, which `alone_in` removes.

    Args:
        path: Its folder is created if it is missing.
        content: The whole content.
        mode: Permission bits, minus the process's umask.
        durable: Wait until the content is on the disk, so that it survives a power failure.

    Raises:
        OSError: If it can't be written; the old file stays.
    """
    if _is_device(path):
        path.write_bytes(content)
        return
    with _unfinished(path) as unfinished:
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        unfinished.replace(os.path.realpath(path))  # a symbolic link stays a link


def check_writable(path: Path) -> None:
    """Check, before hours of work, that `write_atomically` will be able to write a file.

    Args:
        path: Its folder is created if it is missing; the content of an existing file stays.

    Raises:
        OSError: If it can't be written.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not _is_device(path):
        with _unfinished(path) as unfinished:
            unfinished.touch()


def _is_device(path: Path) -> bool:
    """Whether the path exists and can't be replaced, such as /dev/stdout."""
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def _unfinished(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the folder of a file. Errors name the file, not the temporary path."""
    unfinished = Path(os.path.realpath(path)).with_name(f".{path.name}.{os.getpid()}{UNFINISHED}")
    try:
        with suppress(FileExistsError):  # a file in place of the folder: writing raises the error
            unfinished.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield unfinished
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


@contextmanager
def alone_in(folder: Path, what: str, lock: Path | None = None) -> Iterator[None]:
    """Keep all other processes that use this function out of a folder.

    Unfinished files that killed processes left in it are removed: no other process can be writing there. On Windows,
    and on file systems without locks, other processes aren't kept out and nothing is removed.

    Args:
        folder: Created if it is missing.
        what: The activity in the folder, for the message: "playing this tournament".
        lock: The file to lock, instead of one in the folder; must lie outside the folder if the folder may be moved.

    Raises:
        ValueError: If another process is in the folder; the message contains folder and `what`.
        OSError: If the folder can't be created or written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (lock or folder / LOCK).open("a") as file:
        try:
            locked = _lock(file)
        except BlockingIOError:
            raise ValueError(f"{folder}: another process is {what}") from None
        for leftover in folder.glob(f".*{UNFINISHED}") if locked else ():
            leftover.unlink(missing_ok=True)
        yield


def _lock(file: IO[str]) -> bool:
    """Lock a file until it is closed. Returns whether the system supports locks.

    Raises:
        BlockingIOError: If another process has locked it.
    """
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in NO_LOCKS:
            return False
        raise
    return True
