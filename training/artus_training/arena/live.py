"""Live table of a running tournament on the terminal, with the time left."""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np
from rich.console import RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from artus_training.arena.names import one_line_name
from artus_training.arena.results import Block
from artus_training.arena.standings import Tally
from artus_training.progress import Bar
from artus_training.tables import table

SECONDS = 2.0
"""Shortest time between two redraws of the table."""


def rows(tally: Tally) -> list[tuple[str, str, str, str]]:
    """Agent, rating, wins and games, best rating first. Only the final table has intervals, see `standings`."""
    _, ratings = tally.ratings()
    order = [agent for agent in np.argsort(-ratings, kind="stable") if tally.games[agent]]
    return [
        (
            one_line_name(tally.settings.agents[agent]),
            f"{ratings[agent]:z.0f}",
            f"{tally.wins[agent].sum() / tally.seats[agent]:.1%}",
            f"{tally.games[agent]:,}",
        )
        for agent in order
    ]


class LiveTable(Bar):
    """Progress bar with the time left, and the current table below it; without a terminal it prints lines."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._table: Table | None = None
        self._made = 0.0
        super().__init__(
            BarColumn(bar_width=12), MofNCompleteColumn(), TextColumn("games"), TimeElapsedColumn(),
            TextColumn("left"), TimeRemainingColumn(),
        )  # fmt: skip

    def get_renderables(self) -> Iterable[RenderableType]:
        """The bar, and the table."""
        yield from super().get_renderables()
        if self._table is not None:
            yield self._table

    def add_block(self, block: Block) -> None:
        """Count a block; redraw the table if it is older than `SECONDS`."""
        self._tally.add(block)
        if not self.disable and time.monotonic() - self._made >= SECONDS:
            self._table = self.table()
            self._made = time.monotonic()

    def table(self) -> Table:
        """The table; rich cuts it to the height of the terminal."""
        return table([("agent", "rating so far", "wins", "games"), *rows(self._tally)], numbers=range(1, 4))
