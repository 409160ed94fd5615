"""Find the extra (`pip install "artus-env[EXTRA]"`) that installs a missing package, in a distribution's metadata."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires

DISTRIBUTION = "artus-env"
"""Name of this project for pip."""
REQUIREMENT = re.compile(r"([\w.-]+).*;.*\bextra *== *['\"]([\w.-]+)['\"]")


def how_to_install(module: str, distribution: str = DISTRIBUTION, preferred: str = "") -> str | None:
    """Return the command that installs a missing module.

    Args:
        module: Full name of the module; the part before the first dot is taken as the name of its package.
        distribution: The distribution whose extras are searched.
        preferred: The extra to name if it contains the package; otherwise the smallest extra that contains it.

    Returns:
        The command, or None if no extra contains the package.
    """
    package = _plain(module.partition(".")[0])
    extras = packages(distribution)
    suitable = [extra for extra in extras if package in extras[extra]]
    if not suitable:
        return None
    extra = preferred if preferred in suitable else min(suitable, key=lambda extra: len(extras[extra]))
    return f'pip install "{distribution}[{extra}]"'


def packages(distribution: str = DISTRIBUTION) -> dict[str, set[str]]:
    """Names of the packages in each extra, by the extra's name."""
    try:
        lines = requires(distribution) or []
    except PackageNotFoundError:  # not installed: run from the sources
        lines = []
    extras: dict[str, set[str]] = {}
    for match in map(REQUIREMENT.match, lines):
        if match:
            extras.setdefault(match[2], set()).add(_plain(match[1]))
    return extras


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
