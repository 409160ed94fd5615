"""Which extra (`pip install "artus-env[EXTRA]"`) installs a missing package, as a distribution's metadata say."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires

DISTRIBUTION = "artus-env"
"""What pip knows this project as."""
REQUIREMENT = re.compile(r"([\w.-]+).*;.*\bextra *== *['\"]([\w.-]+)['\"]")


def how_to_install(module: str, distribution: str = DISTRIBUTION, preferred: str = "") -> str | None:
    """The command that installs a missing module.

    Args:
        module: Its full name; its package is called like the part before the first dot.
        distribution: Whose extras to look at.
        preferred: The extra to name if it has the package, too; otherwise the smallest that has it.

    Returns:
        None if no extra has it.
    """
    package = _plain(module.partition(".")[0])
    extras = packages(distribution)
    having = [extra for extra in extras if package in extras[extra]]
    if not having:
        return None
    extra = preferred if preferred in having else min(having, key=lambda extra: len(extras[extra]))
    return f'pip install "{distribution}[{extra}]"'


def packages(distribution: str = DISTRIBUTION) -> dict[str, set[str]]:
    """The packages of every extra."""
    try:
        lines = requires(distribution) or []
    except PackageNotFoundError:  # run from the sources
        lines = []
    extras: dict[str, set[str]] = {}
    for match in map(REQUIREMENT.match, lines):
        if match:
            extras.setdefault(match[2], set()).add(_plain(match[1]))
    return extras


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
