"""Report of a tournament: `report.html`, one self-contained page with a sortable table, and `results.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from html import escape
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

NOBODY: Mapping[str, str] = MappingProxyType({})
TEMPLATE = Path(__file__).with_name("page.html")


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
    header = {
        "title": f"Tournament: {variant_name(settings.game, settings.rules, settings.num_players)}",
        "about": f"{results.games:,} games, {lineups}, {deals} each, seed {settings.seed}; an agent as good as the "
        f"others wins {1 / settings.num_players:.0%}.",
    }
    faults = [
        *(f"{name} didn't play: {reason}" for name, reason in left_out.items()),
        *map(str, faults_of(results.notes, settings.agents)),
    ]
    parts = {
        **{name: escape(text) for name, text in header.items()},
        "command": escape(command),
        "table": _table(ranking, head(ranking), rows(ranking)),
        "remarks": escape(" ".join(remarks(ranking))),
        "ratings": _ratings(ranking),
        "duels": _duels(ranking),
        "differences": "".join(f"<tr><td>{points}</td><td>{part}</td></tr>" for points, part in differences()),
        "neighbours": _list(neighbours(ranking)),
        "people": _people(people),
        "films": _films(films),
        "faults": _list(faults) or "<p>None.</p>",
    }
    text = TEMPLATE.read_text(encoding="utf-8")
    template_parts = text.split("{{")
    return template_parts[0] + "".join(
        parts[name] + rest for name, _, rest in (template_part.partition("}}") for template_part in template_parts[1:])
    )


def _list(lines: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(one_line_name(line))}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


def _table(ranking: Standings, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The table; `data-value` of each cell is its sort key."""
    heads = "".join(
        f'<th aria-sort="{"descending" if column == 1 else "none"}"><button>{escape(text)}</button></th>'
        for column, text in enumerate(head)
    )
    body = ""
    for line, row in zip(ranking.table, rows, strict=True):
        values = (line.agent, line.rating, line.wins, line.score, line.games)
        cells = "".join(
            f'<td data-value="{escape(str(value))}">{escape(text)}</td>'
            for value, text in zip(values, row, strict=True)
        )
        body += f"<tr>{cells}</tr>"
    return f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody>"


def _ratings(ranking: Standings) -> str:
    """Ratings as points with their intervals, on one scale."""
    ends = [
        value
        for line in ranking.table
        for value in (line.rating, line.rating_low, line.rating_high)
        if value is not None
    ]
    low, high = min(ends), max(ends)
    padding = (high - low or 1) / 25
    low, high = low - padding, high + padding

    def position(value: float) -> float:
        return 100 * (value - low) / (high - low)

    rows = ""
    for line in ranking.table:
        marks = f'<i class="anchor" style="left:{position(ANCHOR_RATING):.2f}%"></i>'
        if line.rating_low is not None and line.rating_high is not None:
            left, right = position(line.rating_low), position(line.rating_high)
            marks += f'<i class="range" style="left:{left:.2f}%;width:{right - left:.2f}%"></i>'
        marks += f'<i class="dot" style="left:{position(line.rating):.2f}%"></i>'
        name = escape(one_line_name(line.agent))
        rows += f'<dt title="{name}">{name}</dt><dd><span class="track">{marks}</span><b>{line.rating:z.0f}</b></dd>'
    return rows


def _duels(ranking: Standings) -> str:
    """The duels as a matrix, from red (always behind) to blue (always ahead)."""
    names = [escape(one_line_name(line.agent)) for line in ranking.table]
    head = "".join(f'<th scope="col"><span>{name}</span></th>' for name in names)
    body = ""
    for row, name in enumerate(names):
        cells = ""
        for column in range(len(names)):
            value = ranking.duels[row, column]
            if np.isnan(value):
                cells += "<td></td>"
                continue
            ends = ranking.duels_low[row, column], ranking.duels_high[row, column]
            interval = "" if np.isnan(ends).any() else f" (95 %: {ends[0]:.0%} to {ends[1]:.0%})"
            side = "ahead" if value >= 0.5 else "behind"
            about = f"{name} ahead of {names[column]}: {value:.1%}{interval}"
            cells += f'<td class="{side}" style="--much:{200 * abs(value - 0.5):.0f}%" title="{about}">{value:.0%}</td>'
        body += f'<tr><th scope="row">{name}</th>{cells}</tr>'
    return f"<thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody>"


def _people(people: People) -> str:
    estimate = f"<p>{escape(people.estimate)}</p>" if people.estimate else ""
    return f"<p>{escape(people.about)}</p>{_list(people.measured)}{estimate}{_list(people.estimated)}"


def _films(films: Sequence[tuple[str, str]]) -> str:
    items = "".join(f'<li><a href="{escape(path)}">{escape(description)}</a></li>' for description, path in films)
    return f"<ul>{items}</ul>" if items else "<p>None were made.</p>"
