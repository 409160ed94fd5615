"""Which extra (`pip install "artus-env[EXTRA]"`) installs a package. The answers are those of `pyproject.toml`."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires

REQUIREMENT = re.compile(r"([\w.-]+).*;.*\bextra *== *['\"]([\w.-]+)['\"]")


def extra_with(module: str, preferred: str = "") -> str | None:
    """The extra that installs a missing module.

    Args:
        module: Its full name; its package is called like the part before the first dot.
        preferred: The extra to name if it has the package, too; otherwise the smallest that has it.

    Returns:
        None if no extra has it.
    """
    package = _plain(module.partition(".")[0])
    extras = packages()
    having = [extra for extra in extras if package in extras[extra]]
    if preferred in having:
        return preferred
    return min(having, key=lambda extra: len(extras[extra]), default=None)


def packages() -> dict[str, set[str]]:
    """The packages of every extra."""
    try:
        lines = requires("artus-env") or []
    except PackageNotFoundError:  # run from the sources
        lines = []
    extras: dict[str, set[str]] = {}
    for match in map(REQUIREMENT.match, lines):
        if match:
            extras.setdefault(match[2], set()).add(_plain(match[1]))
    return extras


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
