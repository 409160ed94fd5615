"""Report of a tournament: `report.html`, one self-contained page with a sortable table, and `results.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType

import numpy as np

from artus_env.engine.basics.wording import counted
from artus_env.engine.basics.writing import write_atomically
from artus_training.arena.play import Results
from artus_training.arena.standings import Standings, rows_without_nan
from artus_training.arena.statistics import ANCHOR_RATING
from artus_training.people.results import Person
from artus_training.report.explain import People, differences, faults_of, neighbours, where_people_stand
from artus_training.report.table import head, remarks, rows
from artus_training.tables import one_line_name, variant_name
from artus_training.templates import templates_in

NOBODY: Mapping[str, str] = MappingProxyType({})
TEMPLATES = templates_in(Path(__file__).parent)


def write_report(
    results: Results,
    ranking: Standings,
    folder: Path,
    command: str,
    left_out: Mapping[str, str] = NOBODY,
    films: Sequence[tuple[str, str]] = (),
    placed: Sequence[Person] = (),
) -> None:
    """Write `report.html` and `results.json` into a folder.

    Args:
        results: All games.
        ranking: The table of these games.
        folder: The folder of the report.
        command: The command that plays the tournament.
        left_out: Bots that didn't start, with the reason of each.
        films: Games to watch: a description of each, and the path of its page in the folder.
        placed: People rated on the scale of this table.
    """
    data = {
        "settings": asdict(results.settings),
        "games": results.games,
        "anchor": ranking.anchor,
        "table": [asdict(line) for line in ranking.table],
        "duels": rows_without_nan(ranking.duels),
        "duels_low": rows_without_nan(ranking.duels_low),
        "duels_high": rows_without_nan(ranking.duels_high),
        "forfeits": results.notes,
        "left_out": dict(left_out),
    }
    write_atomically(folder / "results.json", (json.dumps(data, indent=2) + "\n").encode())
    html = page(results, ranking, command, left_out, films, where_people_stand(ranking, placed))
    write_atomically(folder / "report.html", html.encode())


def page(
    results: Results,
    ranking: Standings,
    command: str,
    left_out: Mapping[str, str],
    films: Sequence[tuple[str, str]],
    people: People,
) -> str:
    """Build the page; see `write_report` for the arguments."""
    settings = results.settings
    lineups, deals = counted(len(settings.lineups()), "line-up"), counted(settings.deals, "deal", ",")
    faults = [
        *(f"{name} didn't play: {reason}" for name, reason in left_out.items()),
        *map(str, faults_of(results.notes, settings.agents)),
    ]
    names = [one_line_name(line.agent) for line in ranking.table]
    sort_keys = [(line.agent, line.rating, line.wins, line.score, line.games) for line in ranking.table]
    return TEMPLATES.get_template("page.html").render(
        title=f"Tournament: {variant_name(settings.game, settings.rules, settings.num_players)}",
        about=f"{results.games:,} games, {lineups}, {deals} each, seed {settings.seed}; an agent as good as the others "
        f"wins {1 / settings.num_players:.0%}.",
        command=command,
        head=head(ranking),
        rows=[list(zip(*pair, strict=True)) for pair in zip(sort_keys, rows(ranking), strict=True)],
        remarks=" ".join(remarks(ranking)),
        ratings=_ratings(ranking, names),
        differences=differences(),
        neighbours=map(one_line_name, neighbours(ranking)),
        people=people,
        names=names,
        duels=_duels(ranking, names),
        films=films,
        faults=list(map(one_line_name, faults)),
    )


def _ratings(ranking: Standings, names: Sequence[str]) -> list[dict[str, str]]:
    """Each agent's rating and interval; places on the common scale are percentages of its width."""
    ends = [
        value
        for line in ranking.table
        for value in (line.rating, line.rating_low, line.rating_high)
        if value is not None
    ]
    low, high = min(ends), max(ends)
    padding = (high - low or 1) / 25
    low, high = low - padding, high + padding

    def position(value: float) -> str:
        return f"{100 * (value - low) / (high - low):.2f}%"

    ratings = []
    for name, line in zip(names, ranking.table, strict=True):
        rating = {
            "name": name, "text": f"{line.rating:z.0f}", "position": position(line.rating),
            "anchor": position(ANCHOR_RATING),
        }  # fmt: skip
        if line.rating_low is not None and line.rating_high is not None:
            width = 100 * (line.rating_high - line.rating_low) / (high - low)
            rating |= {"low": position(line.rating_low), "width": f"{width:.2f}%"}
        ratings.append(rating)
    return ratings


def _duels(ranking: Standings, names: Sequence[str]) -> list[list[dict[str, str] | None]]:
    """Cells of the matrix of duels, row ahead of column, from red (always behind) to blue; None: they never met."""

    def cell(row: int, column: int) -> dict[str, str] | None:
        value = ranking.duels[row, column]
        if np.isnan(value):
            return None
        ends = ranking.duels_low[row, column], ranking.duels_high[row, column]
        interval = "" if np.isnan(ends).any() else f" (95 %: {ends[0]:.0%} to {ends[1]:.0%})"
        return {
            "side": "ahead" if value >= 0.5 else "behind",
            "strength": f"{200 * abs(value - 0.5):.0f}%",
            "about": f"{names[row]} ahead of {names[column]}: {value:.1%}{interval}",
            "text": f"{value:.0%}",
        }

    return [[cell(row, column) for column in range(len(names))] for row in range(len(names))]
