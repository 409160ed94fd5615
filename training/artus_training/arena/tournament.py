"""Tournaments: every line-up of agents, in many seating orders, thousands of games at once.

All line-ups play the same deals, each once in every rotation of the seats. The seating order changes from deal to deal.
The randomness of a decision depends only on (seed, line-up, deal, rotation). So results don't depend on the number of
games played at a time, and a tournament that was interrupted, or crashed, continues where it stopped and gives the same
table.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path

import numpy as np
from rich.console import RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from artus_env.engine.basics.writing import alone_in
from artus_training.arena.fingerprint import NO_AGENTS, NamedAgents
from artus_training.arena.lineup import check_all
from artus_training.arena.play import Block, Played, Playing, Results
from artus_training.arena.schedule import Settings, Unit, units_of
from artus_training.arena.standings import Tally
from artus_training.arena.store import Store
from artus_training.progress import Bar
from artus_training.tables import one_line_name, table
from artus_training.workers.units import Runner, worker_pool

SECONDS = 2.0
"""Shortest time between two redraws of the table."""


class Interrupted(KeyboardInterrupt):
    """Raised after Ctrl-C in a tournament; the games played so far are saved.

    Attributes:
        results: The results of these games.
    """

    def __init__(self, results: Results) -> None:
        super().__init__()
        self.results = results


def run(
    settings: Settings,
    folder: Path,
    records: Path | None = None,
    agents: NamedAgents = NO_AGENTS,
    workers: int = 1,
    ray: str | None = None,
    joined: tuple[Settings, Path] | None = None,
    runner: Runner | None = None,
) -> Results:
    """Play the missing games of a tournament and return all results. Shows progress; may be interrupted at any time.

    Args:
        settings: Settings of the tournament.
        folder: Folder of the results; a tournament there with the same settings is continued.
        records: Save every game as a line in this file.
        agents: Agents or functions behind some names; all others are found by name. Their code is part of the
            fingerprint, so an interrupted tournament can't be continued with other code. The attributes of an object
            aren't: put its parameters into its name.
        workers: Processes that play; the results don't depend on their number. With several, `agents` must be
            picklable.
        ray: Address of a Ray cluster that plays instead, see `workers.units.run_units`.
        joined: A tournament of the first agents, which the others join, and its folder: its games aren't played again.
            The result is the same as if all had played from the beginning.
        runner: Runs the units instead of `workers`, see `workers.units.worker_pool`.

    Raises:
        ValueError: If an agent is unknown, doesn't start or can't be sent, or the folder holds another tournament or a
            damaged one, or the joined tournament doesn't exist or doesn't fit.
        Interrupted: After Ctrl-C.
        WorkerError: After all other games are played and saved, if processes died again and again during some games.
        OSError: If a file can't be written. All games played are kept, and the same call continues from there.
    """
    unknown = set(agents) - set(settings.agents)
    if unknown:
        raise ValueError(
            f"agents are given that don't play: {' '.join(sorted(unknown))}; "
            f"the players are {' '.join(settings.agents)}"
        )
    playing = Playing(settings, dict(agents), records is not None)
    if joined is not None:
        _check_joined(settings, folder, records, *joined)
    with nullcontext(runner) if runner else worker_pool(workers, ray, playing) as runner:
        players = dict(zip(settings.agents, playing.players, strict=True))
        check_all(players, settings.definition, settings.rules, settings.num_players)
        with alone_in(folder, "playing this tournament"):
            store = Store(folder, settings, records, agents)
            if joined is not None:
                old_settings, old_folder = joined
                with alone_in(old_folder, "playing this tournament"):
                    old_agents = {name: agent for name, agent in agents.items() if name in old_settings.agents}
                    store.take_over(Store(old_folder, old_settings, None, old_agents))
            return _play(settings, playing, store, runner)


def _check_joined(
    settings: Settings, folder: Path, records: Path | None, old_settings: Settings, old_folder: Path
) -> None:
    """Raise a ValueError if agents can't join the tournament in `old_folder`; `folder` is for the new tournament."""
    if not (old_folder / "settings.json").exists():
        suggested = folder if (folder / "settings.json").exists() else "FOLDER"
        new_folder = ", and a new folder for all games with --out" if suggested == folder else ""
        raise ValueError(
            f"{old_folder} holds no tournament of {' '.join(old_settings.agents)} that others could join; name the "
            f"folder where it lies with --add-to {suggested}{new_folder}"
        )
    if records is not None:
        raise ValueError("no records can be kept when agents join: those of the games before are missing")
    if len(old_settings.agents) < settings.num_players:
        raise ValueError(
            f"to {len(old_settings.agents)} agents none can be added: with {settings.num_players} players they sat "
            "at a table more than once, and with one more they wouldn't"
        )


def _play(settings: Settings, playing: Playing, store: Store, runner: Runner) -> Results:
    """Play and save the missing deals; return all results."""
    total = store.played.size * settings.num_players
    units = units_of(settings, playing.players, store.played)
    ahead = {unit: store.ahead.pop(unit) for unit in units if unit in store.ahead}
    missing = [unit for unit in units if unit not in ahead]
    waiting: dict[int, Played] = {}
    tally = Tally(settings)
    for block in store.blocks:
        tally.add(block)
    try:
        with LiveTable(tally) as live:
            games_before = int(store.played.sum()) * settings.num_players
            task = live.add_task("playing", total=total, completed=games_before)
            for block, games in in_turn(units, ahead, runner(playing, missing, waiting=waiting)):
                store.append(block, games)
                live.add_block(block)
                live.update(task, advance=len(block) * settings.num_players)
    except KeyboardInterrupt:
        raise Interrupted(store.results()) from None
    finally:
        store.keep_ahead({**ahead, **{missing[number]: played for number, played in waiting.items()}})
    return store.results()


def in_turn(
    units: list[Unit], ahead: dict[Unit, Played], new_results: Iterable[tuple[Unit, Played]]
) -> Iterator[Played]:
    """Merge results in the order of the units.

    Args:
        units: All units of this run.
        ahead: Results that an interrupted run had saved before their turn; each is removed when it is used.
        new_results: Results of the other units, in their order; some may be missing.
    """
    remaining = iter(units)
    for unit, played in new_results:
        for next_unit in remaining:
            if next_unit == unit:
                break
            if next_unit in ahead:
                yield ahead.pop(next_unit)
        yield played
    for next_unit in remaining:
        if next_unit in ahead:
            yield ahead.pop(next_unit)


def rows_so_far(tally: Tally) -> list[tuple[str, str, str, str]]:
    """Rows of agent, rating, wins and games, best rating first. Only the final table has intervals, see `standings`."""
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
        self._drawn_at = 0.0
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
        if not self.disable and time.monotonic() - self._drawn_at >= SECONDS:
            self._table = self.table()
            self._drawn_at = time.monotonic()

    def table(self) -> Table:
        """The table; rich cuts it to the height of the terminal."""
        head = ("agent", "rating so far", "wins", "games")
        return table([head, *rows_so_far(self._tally)], number_columns=range(1, 4))
