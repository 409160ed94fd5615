"""The table of a tournament as text, and on the terminal."""

from __future__ import annotations

from artus_env.engine.basics.wording import counted
from artus_training.arena.play import Results
from artus_training.arena.standings import Standings
from artus_training.arena.statistics import ANCHOR, ANCHOR_RATING
from artus_training.tables import as_text, markdown_row, one_line_name, table, variant_name

MOST_DIGITS = 6
"""With more digits behind the point, an interval is printed even if its ends look equal."""


def head(ranking: Standings) -> tuple[str, ...]:
    """The head of the table."""
    certainty = "95 %" if ranking.has_intervals else "too few deals"
    return "agent", f"rating ({scale(ranking)})", f"wins ({certainty})", f"{ranking.points} ({certainty})", "games"


def scale(ranking: Standings) -> str:
    """The scale of ratings in short, such as `greedy = 1000`. An anchor in the middle of the table is named only in the
    remarks, as its name may be long."""
    return f"{ANCHOR if ranking.anchor == ANCHOR else 'middle'} = {ANCHOR_RATING}"


def rows(ranking: Standings) -> list[tuple[str, ...]]:
    """The table as text, a row for each agent."""
    constant = " (always)" if ranking.has_intervals else ""
    return [
        (
            one_line_name(line.agent),
            f"{line.rating:z.0f}{interval(line.rating_low, line.rating_high, 0)}",
            f"{line.wins:.1%}{interval(line.wins_low, line.wins_high, times=100)}",
            f"{line.score:z.1f}{interval(line.score_low, line.score_high) or constant}",
            f"{line.games:,}",
        )
        for line in ranking.table
    ]


def interval(low: float | None, high: float | None, digits: int = 1, times: int = 1) -> str:
    """Format an interval with its ends multiplied by `times`; empty if there is none.

    The ends have at least `digits` digits behind the point, and more if they would look equal.
    """
    if low is None or high is None:
        return ""
    ends = [f"{times * end:z.{digits}f}" for end in (low, high)]
    ends_differ = ends[0] != ends[1] or digits > MOST_DIGITS
    return f" ({ends[0]}..{ends[1]})" if ends_differ else interval(low, high, digits + 1, times)


def remarks(ranking: Standings) -> list[str]:
    """Notes below the table, one sentence each."""
    sentences = [f"Ratings are Elo points, {scale(ranking)}: with 400 more an agent is ahead in 10 of 11 duels."]
    if ranking.anchor != ANCHOR:
        sentences.append(
            f"{one_line_name(ranking.anchor)}, in the middle of the table, has {ANCHOR_RATING}: {ANCHOR} doesn't play."
        )
    if not ranking.has_intervals:
        sentences.append(
            f"Only {counted(ranking.deals, 'deal')} of each line-up; intervals need at least {ranking.fewest_deals}."
        )
    return sentences


def print_table(results: Results, ranking: Standings) -> None:
    """Print the table with a legend."""
    settings = results.settings
    variant = variant_name(settings.game, settings.rules, settings.num_players)
    print(f"{variant}, {results.games:,} games, seed {settings.seed}", "", sep="\n")
    agent, _, wins, *other_heads = head(ranking)
    rating = wins.replace("wins", "rating")  # the scale stands below
    results_table = table([(agent, rating, wins, *other_heads), *rows(ranking)], number_columns=range(1, 5))
    print(as_text(results_table, "", *remarks(ranking), *legend(ranking)))


def legend(ranking: Standings) -> list[str]:
    """Explanations of the columns, one line each."""
    in_brackets = ["In brackets: 95 % intervals."] if ranking.has_intervals else []
    return [
        "wins: part of the games that the agent won; joint winners share a win.",
        f"{ranking.points}: its mean at the end of the agent's games.",
        *in_brackets,
    ]


def markdown_table(ranking: Standings) -> str:
    """The table in Markdown, for a notebook."""
    lines = [head(ranking), ("---", *["---:"] * (len(head(ranking)) - 1)), *rows(ranking)]
    return "\n".join(map(markdown_row, lines))
