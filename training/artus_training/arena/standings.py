"""What a tournament says: win rates, prestige, duels, ratings, each with its uncertainty."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

import choix
import numpy as np
from matplotlib.figure import Figure
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from artus_env.engine.files import write_atomically
from artus_env.engine.match import seat_orders, win_shares
from artus_env.engine.wording import counted
from artus_training.arena.evaluate import wilson_interval
from artus_training.arena.tournament import Results, short_names

BOOTSTRAP_SAMPLES = 2000
SAMPLES_AT_ONCE = 20
"""How many are drawn at a time, so that they fit into memory."""
MOST_DRAWN = 20_000
"""Of more deals of an order neighbours are drawn together: it says the same, and millions take seconds."""
FEWEST_DEALS = 10
"""With fewer, samples of them are too much alike to say how far off a mean may be."""
POINTS = 400 / math.log(10)
"""Elo points in a unit of Bradley and Terry's model."""
PRIOR = 1
"""Deals that every agent is thought to have won, and as many lost, before the first one: shared evenly among all
agents."""
ZERO = "random"
"""The agent whose rating is 0 where it plays."""
MEAN = "mean"


@dataclass(frozen=True)
class Standing:
    """One agent's line of the table. Intervals are 95 %; None where there are too few deals for one."""

    agent: str
    games: int
    wins: float
    """Mean part of the win; joint winners share it."""
    wins_low: float | None
    wins_high: float | None
    prestige: float
    prestige_low: float | None
    """None also where the agent had the same prestige in all deals."""
    prestige_high: float | None
    rating: float
    """Elo points (see `fit`) above `Standings.zero`."""
    rating_low: float | None
    """Of the difference to `Standings.zero`; that agent itself has no interval."""
    rating_high: float | None


@dataclass(frozen=True)
class Standings:
    """The table of a tournament, best rating first, and the duels."""

    table: list[Standing]
    duels: np.ndarray
    """How often agent i has more prestige than agent j in the games of both, ties half: shape (K, K), NaN where they
    never met; in the order of the table."""
    duels_low: np.ndarray
    """95 % intervals: NaN where there are too few deals."""
    duels_high: np.ndarray
    zero: str
    """What has the rating 0: the agent `random` where it plays, else `mean`, the mean of all agents."""
    deals: int
    """Deals of each line-up that count."""


def standings(results: Results) -> Standings:
    """Work the table out. It doesn't depend on the order in which games were played.

    Intervals come from a paired bootstrap: deals are drawn with replacement, each with all its rotations and line-ups,
    every order around the table as often as it was played. Deals by which some orders are ahead of others don't count.
    Fewer than `FEWEST_DEALS` have no intervals.

    Raises:
        ValueError: If some line-up hasn't played a deal in each order yet.
    """
    names = results.settings.agents
    count = len(names)
    orders = len(seat_orders(results.settings.num_players))
    deals = min(len(scores) for scores in results.scores) // orders * orders
    if deals == 0:
        raise ValueError("some line-ups have not played in each order yet")
    wins, prestige, better, games = by_deal(results, deals)
    figures = np.concatenate([wins, prestige, better.reshape(count * count, deals)])
    means = figures.mean(axis=1)
    duels = means[2 * count :].reshape(count, count)
    zero = names.index(ZERO) if ZERO in names else None
    rating = above(zero, fit(deals * np.nan_to_num(duels) + PRIOR / count))

    low, high = np.full((2, len(figures) + count), np.nan)
    if deals >= FEWEST_DEALS:
        rng = np.random.default_rng(results.settings.seed)
        samples = resample(figures, orders, rng)
        again = np.nan_to_num(samples[2 * count :].T.reshape(-1, count, count))
        # What the prior says is as uncertain as what was played: else agents that never lose had ratings without a
        # width.
        prior = rng.gamma(PRIOR / count, size=again.shape)
        ratings = [above(zero, fit(duel, near=rating)) for duel in deals * again + prior]
        low, high = interval_of(
            np.concatenate([means, rating]), np.concatenate([samples, np.transpose(ratings)]), deals // orders
        )
        fractions = np.r_[:count, 2 * count : len(figures)]
        low[fractions], high[fractions] = never_certain(means[fractions], low[fractions], high[fractions], deals)
        nothing = [count + k for k in range(count) if np.ptp(prestige[k]) == 0]
        if zero is not None:
            nothing.append(len(figures) + zero)
        low[nothing] = high[nothing] = np.nan

    order = np.argsort(-rating, kind="stable")
    table = [
        Standing(
            names[k], int(games[k]),
            float(means[k]), known(low[k]), known(high[k]),
            float(means[count + k]), known(low[count + k]), known(high[count + k]),
            float(rating[k]), known(low[len(figures) + k]), known(high[len(figures) + k]),
        )
        for k in order
    ]  # fmt: skip
    square = np.ix_(order, order)
    duels_low, duels_high = (ends[2 * count : len(figures)].reshape(count, count) for ends in (low, high))
    return Standings(table, duels[square], duels_low[square], duels_high[square], MEAN if zero is None else ZERO, deals)


def by_deal(results: Results, deals: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What the first D deals brought K agents.

    Returns:
        Mean part of the win (K, D), mean prestige (K, D), how often agent i was ahead of agent j, ties half (K, K, D;
        NaN where they never met), and the number of games in all (K,).
    """
    count = len(results.settings.agents)
    wins, prestige, better = np.zeros((count, deals)), np.zeros((count, deals)), np.zeros((count, count, deals))
    games, seats, met = np.zeros(count), np.zeros(count), np.zeros((count, count))
    for lineup, who in enumerate(results.settings.lineups()):
        scores = results.standing_scores(lineup)[:deals]
        shares = win_shares(scores)
        games[list(set(who))] += deals * scores.shape[1]
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
    with np.errstate(invalid="ignore"):
        return wins / seats[:, None], prestige / seats[:, None], better / met[:, :, None], games


def fit(ahead: np.ndarray, near: np.ndarray | None = None) -> np.ndarray:
    """Ratings by Bradley and Terry's model, all duels at once: shape (K, K) -> (K,).

    An agent that is 400 points above another is ahead of it in 10 of 11 duels, in the mean over all duels of the table.

    Args:
        ahead: How many duels agent i has won against agent j, ties half. All positive: nobody is infinitely stronger,
            and those who never met are as good as each other. The diagonal doesn't count.
        near: Ratings to start the search at.
    """
    wins = ahead * ~np.eye(len(ahead), dtype=bool)
    start = None if near is None else near / POINTS
    return POINTS * choix.ilsr_pairwise_dense(wins, initial_params=start, max_iter=10_000, tol=1e-6)


def above(zero: int | None, rating: np.ndarray) -> np.ndarray:
    """Ratings as differences to that of one agent, or to their mean: shape (K,)."""
    return rating - (rating.mean() if zero is None else rating[zero])


def resample(figures: np.ndarray, orders: int, rng: np.random.Generator) -> np.ndarray:
    """Means over deals that were drawn with replacement: (F, D) -> (F, samples). Deal d was played in order d %
    orders."""
    each = figures.shape[1] // orders
    together = -(-each // MOST_DRAWN)
    each //= together
    figures = figures[:, : each * together * orders].reshape(len(figures), each, together, orders).mean(axis=2)
    means = []
    for _ in range(BOOTSTRAP_SAMPLES // SAMPLES_AT_ONCE):
        times = rng.multinomial(each, np.full(each, 1 / each), size=(SAMPLES_AT_ONCE, orders))
        means.append(np.tensordot(figures, times / (each * orders), axes=([1, 2], [2, 1])))
    return np.concatenate(means, axis=1)


def interval_of(middle: np.ndarray, samples: np.ndarray, each: int) -> tuple[np.ndarray, np.ndarray]:
    """95 % intervals: two of shape (F,), from estimates (F,) and what they are for samples of the deals (F, samples).

    Args:
        middle, samples: The estimates.
        each: Deals of each order. Samples of n values spread as if around a mean that was known: by n - 1 instead of n
            too little.
    """
    wider = math.sqrt(each / (each - 1))
    low, high = np.quantile(samples, [0.025, 0.975], axis=1)
    return middle + wider * (low - middle), middle + wider * (high - middle)


def never_certain(mean: np.ndarray, low: np.ndarray, high: np.ndarray, deals: int) -> tuple[np.ndarray, np.ndarray]:
    """Intervals of fractions that leave room for what didn't happen in any of the deals.

    What never happened in n deals may still happen in a few of a hundred, by Wilson's interval of 0 in n: no upper end
    is below that, no lower end above the rest. Samples of deals that all went the same way are all the same; there the
    room is taken to both sides.
    """
    unseen = wilson_interval(0.0, deals)[1]
    low = np.minimum(low, np.minimum(mean, 1 - unseen)).clip(0, 1)
    high = np.maximum(high, np.maximum(mean, unseen)).clip(0, 1)
    same = high - low < 1e-9
    return np.where(same, mean * (1 - unseen), low), np.where(same, mean + (1 - mean) * unseen, high)


# --- showing ---------------------------------------------------------------------------------------------------------

MOST_DIGITS = 6
"""Behind the point, of an interval whose ends are as good as the same."""
SHORTEST_NAME = 8
"""Letters of a name that are left at least, even if a table gets too wide."""


def head(whole: Standings) -> tuple[str, ...]:
    """The head of the table."""
    certainty = "95 %" if whole.deals >= FEWEST_DEALS else "too few deals"
    return "agent", f"rating ({whole.zero} = 0)", f"wins ({certainty})", f"prestige ({certainty})", "games"


def rows(whole: Standings) -> list[tuple[str, ...]]:
    """The table as text, a row for each agent."""
    constant = " (always)" if whole.deals >= FEWEST_DEALS else ""
    return [
        (
            one_line_name(line.agent),
            f"{line.rating:z.0f}{interval(line.rating_low, line.rating_high, 0)}",
            f"{line.wins:.1%}{interval(line.wins_low, line.wins_high, times=100)}",
            f"{line.prestige:z.1f}{interval(line.prestige_low, line.prestige_high) or constant}",
            f"{line.games:,}",
        )
        for line in whole.table
    ]


def interval(low: float | None, high: float | None, digits: int = 1, times: int = 1) -> str:
    """An interval, with its ends multiplied, as text; nothing where there is none.

    There are at least so many digits behind the point, and enough to tell its ends apart.
    """
    if low is None or high is None:
        return ""
    ends = [f"{times * end:z.{digits}f}" for end in (low, high)]
    apart = ends[0] != ends[1] or digits > MOST_DIGITS
    return f" ({ends[0]}..{ends[1]})" if apart else interval(low, high, digits + 1, times)


def remarks(whole: Standings) -> list[str]:
    """What a reader of the table must know, a sentence in each line."""
    lines = ["Ratings are Elo points: with 400 more an agent is ahead in 10 of 11 duels."]
    if whole.zero == MEAN:
        lines.append(f"0 is the mean of these agents, since {ZERO} doesn't play.")
    if whole.deals < FEWEST_DEALS:
        lines.append(f"Only {counted(whole.deals, 'deal')} of each line-up; intervals need at least {FEWEST_DEALS}.")
    return lines


def print_table(results: Results, whole: Standings) -> None:
    """The table on the terminal. Where it is too wide names are cut in the middle, and listed below; numbers never
    are."""
    settings = results.settings
    title = f"{settings.rules}, {settings.num_players} players, {results.games:,} games, seed {settings.seed}"
    cells = rows(whole)
    names = [row[0] for row in cells]

    def table(names: list[str]) -> Table:
        made = Table(title=title, box=SIMPLE, show_edge=False, padding=(0, 1, 0, 0), pad_edge=False)
        for number, text in enumerate(head(whole)):
            made.add_column(text.replace(" (", "\n("), justify="left" if number == 0 else "right", no_wrap=True)
        for name, row in zip(names, cells, strict=True):
            made.add_row(*map(escape, (name, *row[1:])))
        return made

    console = Console()
    longest = max(map(len, names))
    too_wide = Measurement.get(console, console.options.update(width=10**6), table(names)).maximum - console.width
    cut = short_names(names, max(longest - max(too_wide, 0), SHORTEST_NAME))
    missing = longest - max(map(len, cut))
    Console(width=console.width + max(0, too_wide - missing)).print(table(cut))
    legend = [f"{short} = {name}" for short, name in zip(cut, names, strict=True) if short != name]
    print("", *legend, *remarks(whole), sep="\n")


def markdown_table(whole: Standings) -> str:
    """The table for a Markdown page."""
    lines = [head(whole), ("---", *["---:"] * (len(head(whole)) - 1)), *rows(whole)]
    return "\n".join(map(markdown_row, lines))


def duel_table(whole: Standings) -> str:
    """The duels for a Markdown page: how often the row's agent is ahead of the column's."""
    names = [one_line_name(line.agent) for line in whole.table]
    lines = [("", *names), ("---", *["---:"] * len(names))]
    for name, *row in zip(names, *map(known_rows, (whole.duels, whole.duels_low, whole.duels_high)), strict=True):
        duels = zip(*row, strict=True)
        lines.append(
            (name, *("" if of is None else f"{of:.1%}{interval(low, high, times=100)}" for of, low, high in duels))
        )
    return "\n".join(map(markdown_row, lines))


def markdown_row(cells: tuple[str, ...]) -> str:
    """A row of a Markdown table. Names may hold the character that parts its cells."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def write_report(results: Results, whole: Standings, folder: Path, command: str) -> None:
    """Write `results.json`, `results.csv`, `report.md`, `ratings.png` and `duels.png` into a folder."""
    settings = results.settings
    data = {
        "settings": asdict(settings),
        "games": results.games,
        "zero": whole.zero,
        "table": [asdict(line) for line in whole.table],
        "duels": known_rows(whole.duels),
        "duels_low": known_rows(whole.duels_low),
        "duels_high": known_rows(whole.duels_high),
        "forfeits": results.notes,
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
    forfeits = "\n".join(f"- {note}" for note in results.notes) or "None."
    write_atomically(
        folder / "report.md",
        f"""# Tournament: {settings.rules}, {settings.num_players} players

{results.games:,} games, {lineups}, {deals} each, every deal once in each rotation
of the seats and all orders around the table equally often, seed {settings.seed}. Played with

    {command}

{markdown_table(whole)}

{" ".join(remarks(whole))}

Ratings follow from all duels at once (Bradley and Terry's model), as if every agent had also won one deal and lost one,
shared evenly among all. They belong to this field of agents. Where one agent lost all duels against the others, they
say how far apart it is at least.

All intervals are 95 %, from a bootstrap over deals. What never happened may still happen, so wins and duels of 0 and
100 % have an interval, too. An agent that is as good as the others wins {1 / settings.num_players:.0%}.

![Ratings](ratings.png)

## Duels

How often the agent of the row has more prestige than the agent of the column (ties half).

{duel_table(whole)}

![Duels](duels.png)

## Games given up

{forfeits}
""".encode(),
    )


def known(value: float) -> float | None:
    """NaN is unequal to itself, and JSON has none: then None."""
    return None if math.isnan(value) else float(value)


def known_rows(values: np.ndarray) -> list[list[float | None]]:
    """`known` for a matrix."""
    return [[known(value) for value in row] for row in values.tolist()]


def one_line_name(name: str) -> str:
    """A name in one line."""
    return "".join(letter if letter.isprintable() else " " for letter in name)


def draw_ratings(whole: Standings, path: Path) -> None:
    """Ratings as points with their intervals."""
    table = whole.table[::-1]
    figure = Figure(figsize=(7, 1.2 + 0.45 * len(table)), layout="constrained")
    axes = figure.subplots()
    rating = np.array([line.rating for line in table])
    ends = np.array([(line.rating_low, line.rating_high) for line in table], dtype=float).T
    error = np.nan_to_num(np.abs(ends - rating))
    axes.errorbar(rating, range(len(table)), xerr=error, fmt="o", color="#336699", ecolor="#222222", capsize=4)
    axes.axvline(0, color="#aaaaaa", linewidth=0.8, zorder=0)
    axes.set_yticks(
        range(len(table)),
        [f"{name}   {value:z.0f}" for name, value in zip(picture_names(table), rating, strict=True)],
    )
    axes.set_xlabel(f"rating (Elo points, {whole.zero} = 0" + (", 95 %)" if whole.deals >= FEWEST_DEALS else ")"))
    axes.spines[["top", "right"]].set_visible(False)
    save(figure, path)


def save(figure: Figure, path: Path) -> None:
    """Write a picture; never half of one."""
    image = io.BytesIO()
    figure.savefig(image, dpi=120)
    write_atomically(path, image.getbuffer())


def picture_names(table: list[Standing]) -> list[str]:
    """Names that fit beside a picture, in which $ would begin a formula."""
    return [name.replace("$", r"\$") for name in short_names([one_line_name(line.agent) for line in table], 24)]


def draw_duels(whole: Standings, path: Path) -> None:
    """Duels as a matrix."""
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
