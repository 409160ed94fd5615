"""Compiled code on disk: a file for each function and each set of types that it was called with.

Numba's own cache trusts its files: a truncated one ends every program that meets it, and its index and data can
disagree when a process was killed or two wrote at once. Here each file stands alone, says what it holds and carries a
checksum, so that a damaged one is as good as none. Nothing here ends a program: what can't be read is compiled again,
what can't be written is compiled by the next process, too.
"""

from __future__ import annotations

import hashlib
import pickle
import re
import shutil
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from artus_env.engine.basics.writing import UNFINISHED, write_atomically
from artus_env.engine.compiling.sources import digest

KEPT_FOLDERS = 120
"""How many folders stay, those used last. Each state of the sources has one for each module with compiled functions and
each game that they were compiled for."""
RECENT = 24 * 3600.0
"""Seconds for which nothing that was used or written is removed, so that many versions can be used side by side."""
FOLDER_NAME = re.compile("[0-9a-f]{16}")
_CHECKSUM_BYTES = hashlib.sha256().digest_size
_warned = False


class KeptCode(NullCache):
    """What a compiled function asks for its code, in place of Numba's own cache.

    Args:
        function: The plain function; its source is a file.
        folder: Where the files for a signature lie, None: they aren't kept. The folder changes with the code that is
            compiled into the function; it may vanish at any time.
        values: Hash of the values that are compiled into the function for a signature.
        rebuild: What makes a result of what its `_reduce` returned.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        folder: Callable[[Any], Path | None],
        values: Callable[[Any], str],
        rebuild: Callable[..., CompileResult] = CompileResult._rebuild,
    ) -> None:
        code = function.__code__
        cells = tuple(cell.cell_contents for cell in function.__closure__ or ())
        self._folder = folder
        self._values = values
        self._name = re.sub(r"[^\w.]", "_", f"{function.__module__}.{function.__qualname__}")[-100:]
        self._about = (rebuild.__module__, digest(code), dumps(cells) if cells else b"")
        self._rebuild = rebuild

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        """The code for some types, None if there is none that is sound."""
        folder = self._folder(sig)
        if folder is None:
            return None
        key = self._key(sig, target_context.codegen())
        with suppress(Exception):  # of another version of LLVM, say
            content = self._path(folder, key).read_bytes()
            checksum, data = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
            if hashlib.sha256(data).digest() == checksum:
                kept_key, reduced = pickle.loads(data)
                if kept_key == key:
                    target_context.refresh()
                    return self._rebuild(target_context, *reduced)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code for some types: a `CompileResult`."""
        folder = self._folder(sig)
        if folder is None or data.library.has_dynamic_globals:  # addresses of this process
            return
        key = self._key(sig, data.codegen)
        content = dumps((key, data._reduce()))
        try:
            write_atomically(self._path(folder, key), hashlib.sha256(content).digest() + content, durable=False)
        except OSError as error:
            warn_not_kept(folder, error)

    def _key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return (sig, codegen.magic_tuple(), self._values(sig), *self._about)

    def _path(self, folder: Path, key: tuple[Any, ...]) -> Path:
        return folder / f"{self._name}-{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"


def warn_not_kept(folder: Path | str, error: Exception) -> None:
    """Warn once in a process, not once for each function."""
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
    """Remove what nobody uses any more: files that killed writers left in a folder, and its neighbours that were used
    longest ago. A process that runs on code from a removed folder goes on and makes the folder again when it compiles
    more.

    Args:
        folder: One in use. Its neighbours are removed only if they are named like it; the time of a folder is its last
            use.
    """
    long_ago = time.time() - RECENT
    with suppress(OSError):
        for left in folder.glob(f".*{UNFINISHED}"):
            if left.stat().st_mtime < long_ago:
                left.unlink()
    with suppress(OSError):
        folders = [path for path in folder.parent.iterdir() if FOLDER_NAME.fullmatch(path.name) and path.is_dir()]
        last_use = {path: path.stat().st_mtime for path in folders}
        for path in sorted(folders, key=lambda path: last_use[path], reverse=True)[KEPT_FOLDERS:]:
            if last_use[path] < long_ago:
                shutil.rmtree(path, ignore_errors=True)
