"""Compiled code on disk: one file per function and set of argument types.

Numba's own cache trusts its files: a truncated file crashes every program that reads it, and its index and data can
disagree after a process was killed or two wrote at once. It also checks only the file of the compiled function. Here
each file stands alone and contains its key and a checksum, so that a damaged file is treated as missing. No error here
ends a program: unreadable code is compiled again, and code that can't be written is compiled again by the next process.

A folder's name is a hash of all code that can end up in its files: the function's module with its imports, and the
modules with the verbs of the game that it was compiled for. So an edited rule always means a new folder, and an edited
picture, comment or docstring doesn't. The key of a file contains a hash of the values that were compiled in: constants
that a module takes from a file, from the environment or from another package.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba import config as numba_config

from artus_env.engine.basics.writing import UNFINISHED, write_atomically
from artus_env.engine.compiling.sources import VERSIONS, code_hash

KEPT_FOLDERS = 120
"""Number of folders to keep, the most recently used ones. Every version of the source code makes one folder per pair
of a module with compiled functions and a game."""
RECENT = 24 * 3600.0
"""Seconds for which used or written files stay, so that many versions can be used side by side."""
FOLDER_NAME = re.compile("[0-9a-f]{16}")
_CHECKSUM_BYTES = hashlib.sha256().digest_size
config: Any = numba_config  # its attributes are set at run time
_warned = False


def cache_root() -> Path:
    """Folder with compiled code and nothing else: below `NUMBA_CACHE_DIR` if that is set, else below the user's cache
    folder."""
    return Path(config.CACHE_DIR or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "artus_env"


def numba_variables() -> list[str]:
    """Environment variables `NUMBA_*` that affect generated code."""
    ignored = ("NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS")  # they don't affect generated code
    return sorted(
        f"{name}={value}" for name, value in os.environ.items() if name.startswith("NUMBA_") and name not in ignored
    )


@cache
def cache_folder(*modules: str) -> Path | None:
    """Return the folder with the compiled code of a module's functions. None if that code isn't known (see
    `code_hash`), or, with a warning, if the folder can't be created.

    Args:
        modules: Name of the module, and names of the modules with the verbs compiled into its functions.
    """
    codes = [code_hash(name) for name in modules]
    if None in codes:
        return None
    try:
        folder = cache_root() / hashlib.sha256(repr((VERSIONS, numba_variables(), codes)).encode()).hexdigest()[:16]
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home folder
        warn_not_kept(config.CACHE_DIR or "the user's cache folder", error)
        return None
    with suppress(OSError):  # the folder may be another user's and read-only
        os.utime(folder)  # time of last use
        tidy(folder)
    return folder


def read(folder: Path, name: str, key: str) -> bytes | None:
    """Return the code saved for a function under a key; None if it is missing or damaged."""
    try:
        content = _path(folder, name, key).read_bytes()
    except OSError:
        return None
    checksum, data = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
    key_bytes = key.encode()
    is_intact = hashlib.sha256(data).digest() == checksum and data.startswith(key_bytes)
    return data[len(key_bytes) :] if is_intact else None


def write(folder: Path, name: str, key: str, data: bytes) -> None:
    """Save the code of a function under a key; warn if that fails."""
    content = key.encode() + data
    try:
        write_atomically(_path(folder, name, key), hashlib.sha256(content).digest() + content, durable=False)
    except OSError as error:
        warn_not_kept(folder, error)


def _path(folder: Path, name: str, key: str) -> Path:
    plain_name = re.sub(r"[^\w.]", "_", name)[-100:]
    return folder / f"{plain_name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.nbc"


def warn_not_kept(folder: Path | str, error: Exception) -> None:
    """Warn once per process, not once for each function."""
    global _warned
    if _warned:
        return
    _warned = True
    reason = getattr(error, "strerror", None) or error
    warnings.warn(
        f"compiled code can't be kept in {folder} ({reason}): every start will compile it again, which takes "
        "about a minute; "
        "NUMBA_CACHE_DIR names another folder",
        RuntimeWarning,
        stacklevel=2,
    )


def tidy(folder: Path) -> None:
    """Remove unused files: files that killed writers left in a folder, and the folders next to it that were used
    longest ago. A process that runs code from a removed folder continues, and creates the folder again if it compiles
    more.

    Args:
        folder: A folder in use. Of its siblings, only those named like cache folders (16 hex digits) may be removed. A
            folder's modification time says when it was last used.
    """
    long_ago = time.time() - RECENT
    with suppress(OSError):
        for leftover in folder.glob(f".*{UNFINISHED}"):
            if leftover.stat().st_mtime < long_ago:
                leftover.unlink()
    with suppress(OSError):
        folders = [path for path in folder.parent.iterdir() if FOLDER_NAME.fullmatch(path.name) and path.is_dir()]
        last_use = {path: path.stat().st_mtime for path in folders}
        for path in sorted(folders, key=lambda path: last_use[path], reverse=True)[KEPT_FOLDERS:]:
            if last_use[path] < long_ago:
                shutil.rmtree(path, ignore_errors=True)
