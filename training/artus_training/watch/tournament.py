"""The command `artus tournament`, whose report links to films of some games."""

from __future__ import annotations

from artus_training.arena.command import tournament
from artus_training.watch.film import write_html


def main(arguments: list[str]) -> int:
    """See `artus_training.arena.command.tournament`."""
    return tournament(arguments, write_html)
