"""Reports of a tournament: on the terminal, as a Markdown page with pictures, and as data."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType

import numpy as np
from matplotlib.figure import Figure

from artus_env.engine.basics.wording import counted
from artus_env.engine.basics.writing import write_atomically
from artus_training.arena.explain import differences, neighbours, where_people_stand
from artus_training.arena.faults import faults_of
from artus_training.arena.ladder_file import ANCHOR, ANCHOR_RATING
from artus_training.arena.names import one_line_name, short_names, variant_name
from artus_training.arena.page import page
from artus_training.arena.people import Person
from artus_training.arena.results import Results
from artus_training.arena.standings import Standing, Standings, known_rows
from artus_training.tables import as_text, markdown_row, table

NOBODY: Mapping[str, str] = MappingProxyType({})
MOST_DIGITS = 6
"""With more digits behind the point, an interval is printed even if its ends look equal."""


def head(whole: Standings) -> tuple[str, ...]:
    """The head of the table."""
    certainty = "95 %" if whole.has_intervals else "too few deals"
    return "agent", f"rating ({scale(whole)})", f"wins ({certainty})", f"{whole.points} ({certainty})", "games"


def scale(whole: Standings) -> str:
    """The scale of ratings in short, such as `greedy = 1000`. An anchor in the middle of the table is named only in the
    remarks, as its name may be long."""
    return f"{ANCHOR if whole.anchor == ANCHOR else 'middle'} = {ANCHOR_RATING}"


def rows(whole: Standings) -> list[tuple[str, ...]]:
    """The table as text, a row for each agent."""
    constant = " (always)" if whole.has_intervals else ""
    return [
        (
            one_line_name(line.agent),
            f"{line.rating:z.0f}{interval(line.rating_low, line.rating_high, 0)}",
            f"{line.wins:.1%}{interval(line.wins_low, line.wins_high, times=100)}",
            f"{line.score:z.1f}{interval(line.score_low, line.score_high) or constant}",
            f"{line.games:,}",
        )
        for line in whole.table
    ]


def interval(low: float | None, high: float | None, digits: int = 1, times: int = 1) -> str:
    """Format an interval with its ends multiplied by `times`; empty if there is none.

    It has at least `digits` digits behind the point, and more if the ends would look equal.
    """
    if low is None or high is None:
        return ""
    ends = [f"{times * end:z.{digits}f}" for end in (low, high)]
    apart = ends[0] != ends[1] or digits > MOST_DIGITS
    return f" ({ends[0]}..{ends[1]})" if apart else interval(low, high, digits + 1, times)


def remarks(whole: Standings) -> list[str]:
    """Notes for readers of the table, one sentence each."""
    lines = [f"Ratings are Elo points, {scale(whole)}: with 400 more an agent is ahead in 10 of 11 duels."]
    if whole.anchor != ANCHOR:
        lines.append(
            f"{one_line_name(whole.anchor)}, in the middle of the table, has {ANCHOR_RATING}: {ANCHOR} doesn't play."
        )
    if not whole.has_intervals:
        lines.append(f"Only {counted(whole.deals, 'deal')} of each line-up; intervals need at least {whole.fewest}.")
    return lines


def print_table(results: Results, whole: Standings) -> None:
    """Print the table with a legend."""
    settings = results.settings
    variant = variant_name(settings.game, settings.rules, settings.num_players)
    print(f"{variant}, {results.games:,} games, seed {settings.seed}", "", sep="\n")
    agent, _, wins, *others = head(whole)
    rating = wins.replace("wins", "rating")  # the scale stands below
    shown = table([(agent, rating, wins, *others), *rows(whole)], numbers=range(1, 5))
    print(as_text(shown, "", *remarks(whole), *legend(whole)))


def legend(whole: Standings) -> list[str]:
    """Explanations of the columns, one line each."""
    in_brackets = ["In brackets: 95 % intervals."] if whole.has_intervals else []
    return [
        "wins: part of the games that the agent won; joint winners share a win.",
        f"{whole.points}: its mean at the end of the agent's games.",
        *in_brackets,
    ]


def markdown_table(whole: Standings) -> str:
    """The table for a Markdown page."""
    lines = [head(whole), ("---", *["---:"] * (len(head(whole)) - 1)), *rows(whole)]
    return "\n".join(map(markdown_row, lines))


def duel_table(whole: Standings) -> str:
    """The duels for a Markdown page: the share of games in which the row's agent is ahead of the column's."""
    names = [one_line_name(line.agent) for line in whole.table]
    lines = [("", *names), ("---", *["---:"] * len(names))]
    for name, *row in zip(names, *map(known_rows, (whole.duels, whole.duels_low, whole.duels_high)), strict=True):
        duels = zip(*row, strict=True)
        lines.append(
            (name, *("" if of is None else f"{of:.1%}{interval(low, high, times=100)}" for of, low, high in duels))
        )
    return "\n".join(map(markdown_row, lines))


def write_report(
    results: Results,
    whole: Standings,
    folder: Path,
    command: str,
    left_out: Mapping[str, str] = NOBODY,
    films: Sequence[tuple[str, str]] = (),
    placed: Sequence[Person] = (),
) -> None:
    """Write `report.html`, `report.md`, `results.json`, `results.csv`, `ratings.png` and `duels.png` into a folder.

    Args:
        results: All games.
        whole: Their table.
        folder: The folder of the report.
        command: The command that plays the tournament.
        left_out: Bots that didn't start, and why.
        films: Description of each game to watch, and its page below the folder.
        placed: People rated on the scale of this table.
    """
    settings = results.settings
    data = {
        "settings": asdict(settings),
        "games": results.games,
        "anchor": whole.anchor,
        "table": [asdict(line) for line in whole.table],
        "duels": known_rows(whole.duels),
        "duels_low": known_rows(whole.duels_low),
        "duels_high": known_rows(whole.duels_high),
        "forfeits": results.notes,
        "left_out": dict(left_out),
    }
    write_atomically(folder / "results.json", (json.dumps(data, indent=2) + "\n").encode())
    sheet = io.StringIO()
    writer = csv.DictWriter(sheet, list(asdict(whole.table[0])))
    writer.writeheader()
    writer.writerows(asdict(line) for line in whole.table)
    write_atomically(folder / "results.csv", sheet.getvalue().encode())
    draw_ratings(whole, folder / "ratings.png")
    draw_duels(whole, folder / "duels.png")
    lineups, deals = counted(len(settings.lineups()), "line-up"), counted(settings.deals, "deal", ",")
    found = faults_of(results.notes, settings.agents)
    faults = [f"- {one_line_name(str(fault))}" for fault in found]
    points = "\n".join(map(markdown_row, differences()))
    sure = "\n".join(f"- {line}" for line in neighbours(whole))
    stand = where_people_stand(whole, placed)
    lists = ["\n".join(f"- {line}" for line in lines) for lines in (stand.measured, stand.estimated)]
    people = "\n\n".join(filter(None, [stand.about, lists[0], stand.estimate, lists[1]]))
    watch = "\n".join(f"- [{why}]({place})" for why, place in films) or "None were made."
    absent = [f"- {one_line_name(f'{name} did not play: {reason}')}" for name, reason in left_out.items()]
    forfeits = "\n".join(absent + faults) or "None."
    write_atomically(
        folder / "report.md",
        f"""# Tournament: {variant_name(settings.game, settings.rules, settings.num_players)}

{results.games:,} games, {lineups}, {deals} each, every deal once in each rotation
of the seats and everybody right behind everybody else equally often, seed {settings.seed}. The command is

    {command}

{markdown_table(whole)}

{" ".join(remarks(whole))}

Ratings follow from all duels at once (Bradley and Terry's model), as if every agent had also won one deal and lost one,
shared evenly among all. They belong to this field of agents. Where one agent lost all duels against the others, they
say how far apart it is at least.

All intervals are 95 %, and go by how much deals differ. What never happened may still happen, so wins and duels of 0
and 100 % have an interval, too. An agent that is as good as the others wins {1 / settings.num_players:.0%}.

![Ratings](ratings.png)

## What a difference means

| points more | ahead in |
| ---: | ---: |
{points}

{sure}

### Where people would stand

{people}

## Duels

How often the agent of the row is ahead of the agent of the column at the end (ties half).

{duel_table(whole)}

![Duels](duels.png)

## Games to watch

{watch}

## Games given up

Each fault once, with the games that it cost; `results.json` has every game.

{forfeits}
""".encode(),
    )
    made = page(results, whole, head(whole), rows(whole), remarks(whole), command, found, left_out, films, stand)
    write_atomically(folder / "report.html", made.encode())


def draw_ratings(whole: Standings, path: Path) -> None:
    """Draw ratings as points with their intervals."""
    table = whole.table[::-1]
    figure = Figure(figsize=(7, 1.2 + 0.45 * len(table)), layout="constrained")
    axes = figure.subplots()
    rating = np.array([line.rating for line in table])
    ends = np.array([(line.rating_low, line.rating_high) for line in table], dtype=float).T
    error = np.nan_to_num(np.abs(ends - rating))
    axes.errorbar(rating, range(len(table)), xerr=error, fmt="o", color="#336699", ecolor="#222222", capsize=4)
    axes.axvline(ANCHOR_RATING, color="#aaaaaa", linewidth=0.8, zorder=0)
    axes.set_yticks(
        range(len(table)),
        [f"{name}   {value:z.0f}" for name, value in zip(picture_names(table), rating, strict=True)],
    )
    axes.set_xlabel(f"rating (Elo points, {scale(whole)}" + (", 95 %)" if whole.has_intervals else ")"))
    axes.spines[["top", "right"]].set_visible(False)
    save(figure, path)


def save(figure: Figure, path: Path) -> None:
    """Write a picture atomically."""
    image = io.BytesIO()
    figure.savefig(image, dpi=120)
    write_atomically(path, image.getbuffer())


def picture_names(table: list[Standing]) -> list[str]:
    """Names short enough for a picture, with `$` escaped because it would begin a formula."""
    return [name.replace("$", r"\$") for name in short_names([one_line_name(line.agent) for line in table], 24)]


def draw_duels(whole: Standings, path: Path) -> None:
    """Draw duels as a matrix."""
    names = picture_names(whole.table)
    side = 1.8 + 0.75 * len(names)
    figure = Figure(figsize=(side + 1.2, side), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(whole.duels, cmap="RdBu", vmin=0, vmax=1)
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right")
    axes.set_yticks(range(len(names)), names)
    for row, column in np.ndindex(whole.duels.shape):
        value = whole.duels[row, column]
        if not np.isnan(value):
            shade = "white" if abs(value - 0.5) > 0.3 else "black"
            axes.text(column, row, f"{value:.0%}", ha="center", va="center", color=shade)
    axes.set_title("row is ahead of column")
    figure.colorbar(image, ax=axes, format=lambda value, _: f"{value:.0%}", shrink=0.8)
    save(figure, path)
