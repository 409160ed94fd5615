"""What a tournament says: win rates, prestige, duels, ratings, each with its uncertainty."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from openskill.models import PlackettLuce
from rich.box import SIMPLE
from rich.markup import escape
from rich.table import Table

from artus_env.engine.files import write_atomically
from artus_env.engine.match import seat_orders, win_shares
from artus_env.engine.wording import counted
from artus_training.tournament import Results

BOOTSTRAP_SAMPLES = 2000
DRAWN_AT_ONCE = 20  # of them, so that a million deals fit into memory
MAX_RATED_GAMES = 20_000
"""Ratings settle long before; openskill rates game by game in Python."""


@dataclass(frozen=True)
class Standing:
    """One agent's line of the table. Intervals are 95 %."""

    agent: str
    games: int
    wins: float
    """Mean part of the win; joint winners share it."""
    wins_low: float
    wins_high: float
    prestige: float
    prestige_low: float
    prestige_high: float
    rating: float
    """openskill's mu (Plackett-Luce; everybody starts at 25)."""
    rating_error: float
    """1.96 sigma."""


@dataclass(frozen=True)
class Standings:
    """The table of a tournament, best rating first, and the duels."""

    table: list[Standing]
    duels: np.ndarray
    """How often agent i has more prestige than agent j in the games of both, ties half: shape (K, K), NaN where they
    never met; in the order of the table."""
    duels_low: np.ndarray
    duels_high: np.ndarray


def standings(results: Results) -> Standings:
    """Work the table out.

    Intervals come from a paired bootstrap: deals are drawn with replacement, each with all its rotations and line-ups, every
    order around the table as often as it was played. Deals by which some orders are ahead of others don't count. A single
    deal has no interval (NaN).

    Raises:
        ValueError: If some line-up hasn't played a deal in each order yet.
    """
    names, lineups = results.settings.agents, results.settings.lineups()
    orders = len(seat_orders(results.settings.num_players))
    deals = min(len(scores) for scores in results.scores) // orders * orders
    if deals == 0:
        raise ValueError("some line-ups have not played in each order yet")
    count = len(names)
    wins, prestige = np.zeros((count, deals)), np.zeros((count, deals))
    better = np.zeros((count, count, deals))
    games, seats, met = np.zeros(count), np.zeros(count), np.zeros((count, count))
    for lineup, who in enumerate(lineups):
        scores = results.standing_scores(lineup)[:deals]
        shares = win_shares(scores)
        games[list(set(who))] += scores.shape[1]
        for place, agent in enumerate(who):
            wins[agent] += shares[:, :, place].sum(axis=1)
            prestige[agent] += results.scores[lineup][:deals, :, place].sum(axis=1)
            seats[agent] += scores.shape[1]
            for other_place, other in enumerate(who):
                if other != agent:
                    ahead, level = (
                        compare(scores[:, :, place], scores[:, :, other_place]) for compare in (np.greater, np.equal)
                    )
                    better[agent, other] += (ahead + level / 2).sum(axis=1)
                    met[agent, other] += scores.shape[1]
    wins, prestige = wins / seats[:, None], prestige / seats[:, None]
    with np.errstate(invalid="ignore"):
        better = better / met[:, :, None]

    rng = np.random.default_rng(results.settings.seed)
    everything = np.concatenate([wins, prestige, better.reshape(count * count, deals)])
    low, high = _intervals(everything, orders if deals > orders else 1, rng)
    prestige_low, prestige_high = low[count : 2 * count], high[count : 2 * count]
    low, high = low.clip(0, 1), high.clip(0, 1)
    wins_low, wins_high = low[:count], high[:count]
    duels_low, duels_high = (part[2 * count :].reshape(count, count) for part in (low, high))
    mu, sigma = ratings(results, deals, rng)

    order = np.argsort(-mu, kind="stable")
    table = [
        Standing(
            names[k], int(games[k] * deals), wins[k].mean(), wins_low[k], wins_high[k],
            prestige[k].mean(), prestige_low[k], prestige_high[k], mu[k], 1.96 * sigma[k],
        )
        for k in order
    ]  # fmt: skip
    square = np.ix_(order, order)
    return Standings(table, better.mean(axis=-1)[square], duels_low[square], duels_high[square])


def _intervals(by_deal: np.ndarray, orders: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """95 % intervals of means over deals: (K, D) -> two of shape (K,). Deal d was played in order d % orders."""
    deals = by_deal.shape[1]
    each = deals // orders
    means = []
    for _ in range(BOOTSTRAP_SAMPLES // DRAWN_AT_ONCE):
        times = rng.multinomial(each, np.full(each, 1 / each), size=(orders, DRAWN_AT_ONCE))
        means.append(by_deal @ times.transpose(2, 0, 1).reshape(deals, DRAWN_AT_ONCE).astype(np.float64) / deals)
    middle = by_deal.mean(axis=1)
    # Samples of n values spread as if around a mean that was known: by n - 1 instead of n too little.
    wider = math.sqrt(each / (each - 1)) if each > 1 else math.nan
    low, high = np.quantile(np.concatenate(means, axis=1), [0.025, 0.975], axis=1)
    return middle + wider * (low - middle), middle + wider * (high - middle)


def ratings(results: Results, deals: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """openskill ratings (mu, sigma), shapes (K,), from the games in drawn order.

    Agents don't learn, so there is no drift (tau = 0). Where an agent sits on several seats it gets the mean of what they
    would get.
    """
    model = PlackettLuce(tau=0.0)
    rated = [model.rating() for _ in results.settings.agents]
    lineups = results.settings.lineups()
    players = results.settings.num_players
    scores = [results.standing_scores(lineup)[:deals].reshape(-1, players) for lineup in range(len(lineups))]
    games = rng.permutation(len(lineups) * deals * players)[:MAX_RATED_GAMES]
    for game in games:
        lineup, row = divmod(int(game), deals * players)
        who, points = lineups[lineup], scores[lineup][row]
        ranks = [float((points > own).sum()) for own in points]
        new = model.rate([[rated[agent]] for agent in who], ranks=ranks)
        for agent in set(who):
            own = [new[place][0] for place, sitting in enumerate(who) if sitting == agent]
            mu, sigma = np.mean([one.mu for one in own]), np.mean([one.sigma for one in own])
            rated[agent] = model.rating(mu=float(mu), sigma=float(sigma))
    return np.array([one.mu for one in rated]), np.array([one.sigma for one in rated])


# --- showing ---------------------------------------------------------------------------------------------------------

HEAD = ("agent", "rating", "wins (95 %)", "prestige (95 %)", "games")


def rows(table: list[Standing]) -> list[tuple[str, ...]]:
    """The table as text, a row for each agent."""
    return [
        (
            line.agent,
            f"{line.rating:.1f} ± {line.rating_error:.1f}",
            f"{line.wins:.1%} {interval(100 * line.wins_low, 100 * line.wins_high)}",
            f"{line.prestige:.1f} {interval(line.prestige_low, line.prestige_high)}",
            f"{line.games:,}",
        )
        for line in table
    ]


def interval(low: float, high: float) -> str:
    """An interval as text."""
    return "(unknown)" if math.isnan(low) else f"({low:.1f}..{high:.1f})"


def terminal_table(results: Results, whole: Standings) -> Table:
    """The table for a terminal."""
    settings = results.settings
    title = f"{settings.rules}, {settings.num_players} players, {results.games:,} games, seed {settings.seed}"
    table = Table(title=title, box=SIMPLE)
    for number, name in enumerate(HEAD):
        table.add_column(name, justify="left" if number == 0 else "right", no_wrap=True)
    for row in rows(whole.table):
        table.add_row(*map(escape, row))
    return table


def markdown_table(whole: Standings) -> str:
    """The table for a Markdown page."""
    lines = [HEAD, ("---",) + ("---:",) * (len(HEAD) - 1), *rows(whole.table)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def duel_table(whole: Standings) -> str:
    """The duels for a Markdown page: how often the row's agent is ahead of the column's."""
    names = [line.agent for line in whole.table]
    lines = [("", *names), ("---",) + ("---:",) * len(names)]
    for name, row in zip(names, whole.duels, strict=True):
        lines.append((name, *("" if np.isnan(value) else f"{value:.1%}" for value in row)))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write_report(results: Results, whole: Standings, folder: Path, command: str) -> None:
    """Write `results.json`, `results.csv`, `report.md`, `ratings.png` and `duels.png` into a folder."""
    settings = results.settings
    data = {
        "settings": asdict(settings),
        "games": results.games,
        "table": [{name: known(value) for name, value in asdict(line).items()} for line in whole.table],
        "duels": [[known(float(value)) for value in row] for row in whole.duels],
        "forfeits": results.notes,
    }
    write_atomically(folder / "results.json", (json.dumps(data, indent=2, default=float) + "\n").encode())
    sheet = io.StringIO()
    writer = csv.DictWriter(sheet, list(asdict(whole.table[0])))
    writer.writeheader()
    writer.writerows(asdict(line) for line in whole.table)
    write_atomically(folder / "results.csv", sheet.getvalue().encode())
    draw_ratings(whole, folder / "ratings.png")
    draw_duels(whole, folder / "duels.png")
    lineups, deals = counted(len(settings.lineups()), "line-up"), counted(settings.deals, "deal", ",")
    forfeits = "\n".join(f"- {note}" for note in results.notes) or "None."
    write_atomically(
        folder / "report.md",
        f"""# Tournament: {settings.rules}, {settings.num_players} players

{results.games:,} games, {lineups}, {deals} each, every deal once in each rotation
of the seats and all orders around the table equally often, seed {settings.seed}. Played with

    {command}

{markdown_table(whole)}

Ratings are openskill's (Plackett-Luce, start 25), with 1.96 sigma; intervals of wins and prestige are from a bootstrap
over deals. An agent that is as good as the others wins {1 / settings.num_players:.0%}.

![Ratings](ratings.png)

## Duels

How often the agent of the row has more prestige than the agent of the column (ties half).

{duel_table(whole)}

![Duels](duels.png)

## Games given up

{forfeits}
""".encode(),
    )


def known(value: Any) -> Any:
    """JSON has no NaN: then None."""
    return None if isinstance(value, float) and math.isnan(value) else value


def short(name: str) -> str:
    """A name that fits beside a picture: a program's command line can be long."""
    return name if len(name) <= 24 else f"{name[:12]}...{name[-9:]}"


def draw_ratings(whole: Standings, path: Path) -> None:
    """Ratings as bars with intervals."""
    from matplotlib.figure import Figure

    names = [short(line.agent) for line in whole.table][::-1]
    figure = Figure(figsize=(7, 1.2 + 0.45 * len(names)), layout="constrained")
    axes = figure.subplots()
    mu = np.array([line.rating for line in whole.table][::-1])
    error = np.array([line.rating_error for line in whole.table][::-1])
    base = np.floor((mu - error).min() - 1)  # ratings have no natural zero
    labels = [f"{name}   {value:.1f}" for name, value in zip(names, mu, strict=True)]
    axes.barh(labels, mu - base, left=base, xerr=error, color="#88aacc", ecolor="#222222", capsize=4)
    axes.set_xlim(left=base)
    axes.set_xlabel("openskill rating (mu, bars: 1.96 sigma)")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=120)


def draw_duels(whole: Standings, path: Path) -> None:
    """Duels as a matrix."""
    from matplotlib.figure import Figure

    names = [short(line.agent) for line in whole.table]
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
    figure.savefig(path, dpi=120)
