"""How a tournament stands while it is played: a table on the terminal, with the time left."""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import permutations

import numpy as np
from rich.console import RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from artus_env.engine.match import standing_outcomes, wins_of
from artus_training.arena.columns import table
from artus_training.arena.elo import PRIOR
from artus_training.arena.names import one_line_name
from artus_training.arena.results import Block, Settings
from artus_training.arena.standings import ZERO, above, fit
from artus_training.progress import terminal

SECONDS = 2.0
"""The table is made anew so often at most."""


class Tally:
    """Wins, duels and games so far. Ratings have no intervals yet: see `standings`."""

    def __init__(self, settings: Settings) -> None:
        count = len(settings.agents)
        self.settings, self.lineups = settings, settings.lineups()
        self.wins, self.seats, self.games = np.zeros(count), np.zeros(count), np.zeros(count, np.int64)
        self.ahead, self.met = np.zeros((count, count)), np.zeros((count, count))

    def add(self, block: Block) -> None:
        """Count the games of a block."""
        who = self.lineups[block.lineup]
        outcomes = standing_outcomes(block.outcomes, block.given_up).reshape(-1, len(who))
        won = wins_of(outcomes)
        self.games[list(set(who))] += len(outcomes)
        for place, agent in enumerate(who):
            self.wins[agent] += won[:, place].sum()
            self.seats[agent] += len(outcomes)
        for one, other in permutations(range(len(who)), 2):
            if who[one] != who[other]:
                better = (outcomes[:, one] > outcomes[:, other]) + (outcomes[:, one] == outcomes[:, other]) / 2
                self.ahead[who[one], who[other]] += better.sum()
                self.met[who[one], who[other]] += len(outcomes)

    def ratings(self) -> np.ndarray:
        """Elo points, as `standings` fits them: shape (K,)."""
        names, deals = self.settings.agents, self.games.max() / self.settings.num_players
        with np.errstate(invalid="ignore"):
            duels = np.nan_to_num(self.ahead / self.met)
        zero = names.index(ZERO) if ZERO in names else None
        return above(zero, fit(deals * duels + PRIOR / len(names)))

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Agent, rating, wins, games, best rating first."""
        ratings = self.ratings()
        order = [agent for agent in np.argsort(-ratings, kind="stable") if self.games[agent]]
        return [
            (
                one_line_name(self.settings.agents[agent]),
                f"{ratings[agent]:z.0f}",
                f"{self.wins[agent] / self.seats[agent]:.1%}",
                f"{self.games[agent]:,}",
            )
            for agent in order
        ]


class LiveTable(Progress):
    """A bar with the time left, and below it how the tournament stands."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._table: Text | None = None
        self._made = 0.0
        console = terminal()
        super().__init__(
            BarColumn(bar_width=12), MofNCompleteColumn(), TextColumn("games"), TimeElapsedColumn(),
            TextColumn("left"), TimeRemainingColumn(),
            console=console, transient=True, disable=not console.is_terminal,
        )  # fmt: skip

    def get_renderables(self) -> Iterable[RenderableType]:
        """The bar, and the table."""
        yield from super().get_renderables()
        if self._table is not None:
            yield self._table

    def add_block(self, block: Block) -> None:
        """Count a block; make the table anew if the last one is some seconds old."""
        self._tally.add(block)
        if not self.disable and time.monotonic() - self._made >= SECONDS:
            self._table = self.table()
            self._made = time.monotonic()

    def table(self) -> Text:
        """The table, as far as the terminal has room for it."""
        most = max(1, self.console.height - 6)
        rows = self._tally.rows()
        lines = table(
            [("agent", "rating so far", "wins", "games"), *rows[:most]],
            names=[0], numbers=range(1, 4), width=self.console.width, colours=not self.console.no_color,
        )  # fmt: skip
        if len(rows) > most:
            lines.append(f"... and {len(rows) - most} more")
        return Text.from_ansi("\n".join(lines), no_wrap=True, overflow="crop")
