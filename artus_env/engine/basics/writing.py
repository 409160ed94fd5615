"""Writing files so that nothing is ever half there, and folders that belong to one process at a time."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows: then nothing keeps two processes apart
    fcntl = None  # type: ignore[assignment]

NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
"""How file systems say that they have none, some network ones among them; then, too, nothing keeps two processes
apart."""
UNFINISHED = ".unfinished"
LOCK = "lock"


def write_atomically(path: Path, content: bytes | memoryview, mode: int = 0o666, durable: bool = True) -> None:
    """Write a file so that a reader, or whoever comes after a crash, finds the old content or the new, never a part.

    A process that is killed meanwhile leaves a file `.NAME.PID.unfinished`, which `alone_in` removes.

    Args:
        path: Its folder is made if it is missing.
        content: All of it.
        mode: Permission bits, less the process's umask.
        durable: Wait until it is on the disk, so that it stands after a loss of power, too.

    Raises:
        OSError: If it can't be written; the old file stands then.
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
        unfinished.replace(os.path.realpath(path))  # a link goes on being one


def check_writable(path: Path) -> None:
    """Find out, before hours of work, whether `write_atomically` will be able to write a file.

    Args:
        path: Its folder is made if it is missing; what is in the file stays.

    Raises:
        OSError: If it can't be written.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not _is_device(path):
        with _unfinished(path) as unfinished:
            unfinished.touch()


def _is_device(path: Path) -> bool:
    """Whether there is something that can't be replaced, such as /dev/stdout."""
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def _unfinished(path: Path) -> Iterator[Path]:
    """A name beside a file for what is to become it. Errors name the file itself."""
    unfinished = Path(os.path.realpath(path)).with_name(f".{path.name}.{os.getpid()}{UNFINISHED}")
    try:
        with suppress(FileExistsError):  # no folder: writing says so
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
    """Keep all other processes out of a folder that they, too, enter by this function.

    What killed processes have left unfinished there is removed: nobody else can be writing. On Windows, and on file
    systems without locks, nothing keeps others out, and nothing is removed.

    Args:
        folder: Made if it is missing.
        what: Is done there, for the message: "playing this tournament".
        lock: The file that is locked, instead of one in the folder; where the folder itself may be moved it must lie
            outside.

    Raises:
        ValueError: If another process is in it; the message names folder and `what`.
        OSError: If the folder can't be made or written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (lock or folder / LOCK).open("a") as file:
        try:
            locked = _lock(file)
        except BlockingIOError:
            raise ValueError(f"{folder}: another process is {what}") from None
        for left in folder.glob(f".*{UNFINISHED}") if locked else ():
            left.unlink(missing_ok=True)
        yield


def _lock(file: IO[str]) -> bool:
    """Lock a file until it is closed. Returns whether this system can.

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
