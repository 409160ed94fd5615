"""Report of a tournament as one self-contained HTML page: a sortable table, ratings, duels, films, faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

import numpy as np

from artus_training.arena.explain import People, differences, neighbours
from artus_training.arena.faults import Fault
from artus_training.arena.ladder_file import ANCHOR_RATING
from artus_training.arena.names import one_line_name, variant_name
from artus_training.arena.results import Results
from artus_training.arena.standings import Standings

TEMPLATE = Path(__file__).with_name("report.html")


def page(
    results: Results,
    whole: Standings,
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    remarks: Sequence[str],
    command: str,
    faults: Sequence[Fault],
    left_out: Mapping[str, str],
    films: Sequence[tuple[str, str]],
    stand: People,
) -> str:
    """Build the page.

    Args:
        results, whole: The tournament.
        head, rows: Its table as text.
        remarks: Sentences below the table.
        command: The command that plays the tournament.
        faults: Faults of agents, from games that were given up.
        left_out: Bots that didn't start, and why.
        films: Description and address of each film.
        stand: Sentences about people's places.
    """
    settings = results.settings
    given = {
        "title": f"Tournament: {variant_name(settings.game, settings.rules, settings.num_players)}",
        "about": f"{results.games:,} games, seed {settings.seed}; an agent as good as the others wins "
        f"{1 / settings.num_players:.0%}.",
    }
    parts = {
        **{name: escape(text) for name, text in given.items()},
        "command": escape(command),
        "table": _table(whole, head, rows),
        "remarks": escape(" ".join(remarks)),
        "ratings": _ratings(whole),
        "duels": _duels(whole),
        "differences": "".join(f"<tr><td>{points}</td><td>{part}</td></tr>" for points, part in differences()),
        "neighbours": _list(neighbours(whole)),
        "people": _people(stand),
        "films": _films(films),
        "faults": _list([*(f"{name} didn't play: {reason}" for name, reason in left_out.items()), *map(str, faults)])
        or "<p>None.</p>",
    }
    text = TEMPLATE.read_text(encoding="utf-8")
    pieces = text.split("{{")
    return pieces[0] + "".join(parts[name] + rest for name, _, rest in (piece.partition("}}") for piece in pieces[1:]))


def _list(lines: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(one_line_name(line))}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


def _table(whole: Standings, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The table; `data-value` of each cell is its sort key."""
    heads = "".join(
        f'<th aria-sort="{"descending" if column == 1 else "none"}"><button>{escape(text)}</button></th>'
        for column, text in enumerate(head)
    )
    body = ""
    for line, row in zip(whole.table, rows, strict=True):
        values = (line.agent, line.rating, line.wins, line.score, line.games)
        cells = "".join(
            f'<td data-value="{escape(str(value))}">{escape(text)}</td>'
            for value, text in zip(values, row, strict=True)
        )
        body += f"<tr>{cells}</tr>"
    return f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody>"


def _ratings(whole: Standings) -> str:
    """Ratings as points with their intervals, on one scale."""
    ends = [
        value for line in whole.table for value in (line.rating, line.rating_low, line.rating_high) if value is not None
    ]
    low, high = min(ends), max(ends)
    room = (high - low or 1) / 25
    low, high = low - room, high + room

    def at(value: float) -> float:
        return 100 * (value - low) / (high - low)

    rows = ""
    for line in whole.table:
        marks = f'<i class="anchor" style="left:{at(ANCHOR_RATING):.2f}%"></i>'
        if line.rating_low is not None and line.rating_high is not None:
            left, right = at(line.rating_low), at(line.rating_high)
            marks += f'<i class="range" style="left:{left:.2f}%;width:{right - left:.2f}%"></i>'
        marks += f'<i class="dot" style="left:{at(line.rating):.2f}%"></i>'
        name = escape(one_line_name(line.agent))
        rows += f'<dt title="{name}">{name}</dt><dd><span class="track">{marks}</span><b>{line.rating:z.0f}</b></dd>'
    return rows


def _duels(whole: Standings) -> str:
    """The duels as a matrix, from red (always behind) to blue (always ahead)."""
    names = [escape(one_line_name(line.agent)) for line in whole.table]
    head = "".join(f'<th scope="col"><span>{name}</span></th>' for name in names)
    body = ""
    for row, name in enumerate(names):
        cells = ""
        for column in range(len(names)):
            value = whole.duels[row, column]
            if np.isnan(value):
                cells += "<td></td>"
                continue
            ends = whole.duels_low[row, column], whole.duels_high[row, column]
            interval = "" if np.isnan(ends).any() else f" (95 %: {ends[0]:.0%} to {ends[1]:.0%})"
            side = "ahead" if value >= 0.5 else "behind"
            about = f"{name} ahead of {names[column]}: {value:.1%}{interval}"
            cells += f'<td class="{side}" style="--much:{200 * abs(value - 0.5):.0f}%" title="{about}">{value:.0%}</td>'
        body += f'<tr><th scope="row">{name}</th>{cells}</tr>'
    return f"<thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody>"


def _people(stand: People) -> str:
    between = f"<p>{escape(stand.estimate)}</p>" if stand.estimate else ""
    return f"<p>{escape(stand.about)}</p>{_list(stand.measured)}{between}{_list(stand.estimated)}"


def _films(films: Sequence[tuple[str, str]]) -> str:
    items = "".join(f'<li><a href="{escape(place)}">{escape(why)}</a></li>' for why, place in films)
    return f"<ul>{items}</ul>" if items else "<p>None were made.</p>"
