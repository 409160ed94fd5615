"""The HTML pages, Jinja templates with texts in the reader's language, and their scripts and styles."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from mimetypes import guess_type
from pathlib import Path
from typing import Any

from artus_env.engine.drawing.translations import LANGUAGES, language
from artus_training.play.texts import say
from artus_training.templates import templates_in

PAGE = Path(__file__).parent / "page"
SERVER_ONLY = ("error.", "placing.", "trouble.", "warning.")
"""Key prefixes of texts that only the server uses: pages don't include them."""
LEFT_OUT = {
    "seat.html": (*SERVER_ONLY, "front.", "host.", "level.", "played.", "start."),
    "host.html": (*SERVER_ONLY, "front.", "played."),
}
"""Key prefixes that a page doesn't include."""
PYTHON = (".py", ".pyc")
"""Python files in a game's page folder, not served to browsers."""
TYPES = {".css": "text/css", ".js": "text/javascript"}
"""Media types that don't depend on the machine's settings: browsers refuse scripts of another type."""


class Files:
    """The files of a folder, read once and kept in memory.

    Browsers may cache them for ever: addresses contain `version`, which changes with any file.

    Args:
        folder: The folder.
        game: Name of the game that it belongs to; "" for the play page's own.

    Attributes:
        contents: Contents of the files, by path within the folder.
        version: Hash of `contents`.
        name: Name of the folder in addresses, relative to the play page's folder; "" for the play page's folder itself.
    """

    def __init__(self, folder: Path, game: str = "") -> None:
        paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix not in PYTHON)
        self.contents = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
        self.version = sha256(repr(self.contents).encode()).hexdigest()[:12]
        self.name = f"{game}-{self.version}" if game else ""

    def address(self, file: str) -> str:
        """Address of a file, relative to the play page's own files."""
        return f"{self.name}/{file}"

    @staticmethod
    def type_of(file: str) -> str:
        """Media type of a file."""
        return TYPES.get(Path(file).suffix) or guess_type(file)[0] or "application/octet-stream"


@cache
def own_files() -> Files:
    """The play page's own files."""
    return Files(PAGE)


@cache
def _game_files(folder: Path, game: str) -> Files:
    return Files(folder, game)


def files_of(definition: Any) -> Files | None:
    """A game's own files, None if it has none."""
    return _game_files(definition.page, definition.name) if definition.page else None


def static() -> str:
    """Address of the play page's own files."""
    return f"/static/{own_files().version}"


_TEMPLATES = templates_in(PAGE)


def page(name: str, **values: Any) -> str:
    """A page in the current language, with texts for its scripts; `values` are for its template."""
    texts = say.without(*LEFT_OUT.get(name, SERVER_ONLY))
    return _TEMPLATES.get_template(name).render(
        values, say=say, texts=texts, language=language(), languages=LANGUAGES, static=static()
    )
