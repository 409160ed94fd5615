"""Games of a tournament to watch: typical ones of the best agents, and the greatest surprises."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from artus_env.agents import wins_of
from artus_training.arena.fingerprint import NamedAgents
from artus_training.arena.play import Playing, Results
from artus_training.arena.schedule import Unit
from artus_training.arena.standings import Standings
from artus_training.arena.statistics import expected_score
from artus_training.progress import progress
from artus_training.replays.film import write_html
from artus_training.tables import one_line_name
from artus_training.workers.units import Runner

TYPICAL, SURPRISES = 2, 3
FOLDER = "films"


class Pick(NamedTuple):
    """A selected game, and the reason for the selection."""

    reason: str
    lineup: int
    deal: int
    rotation: int


def typical(results: Results, ranking: Standings) -> Iterator[Pick]:
    """Pick typical games of the line-up with the best agents: those whose lead is nearest to the median."""
    names = results.settings.agents
    rating = {line.agent: line.rating for line in ranking.table}
    lineups = results.settings.lineups()
    best = max(range(len(lineups)), key=lambda number: sum(rating[names[agent]] for agent in lineups[number]))
    members = lineups[best]
    strongest = int(np.argmax([rating[names[agent]] for agent in members]))
    scores = results.scores[best].astype(float)
    # With two players this is the lead; with more players it puts the games into the same order.
    lead = 2 * scores[:, :, strongest] - scores.sum(axis=2)
    lead[results.given_up[best] >= 0] = np.nan
    for game in nearest(lead, TYPICAL):
        yield Pick(f"typical: {' against '.join(one_line_name(names[agent]) for agent in members)}", best, *game)


def nearest(lead: np.ndarray, count: int) -> list[tuple[int, int]]:
    """Deal and rotation of the games whose lead is nearest to the median, at most one game per deal."""
    if np.isnan(lead).all():
        return []
    distance = np.nan_to_num(np.abs(lead - np.nanmedian(lead)), nan=np.inf)
    deals = np.argsort(distance.min(axis=1), kind="stable")[:count]
    return [(int(deal), int(distance[deal].argmin())) for deal in deals if np.isfinite(distance[deal].min())]


def surprising(results: Results, ranking: Standings) -> Iterator[Pick]:
    """Pick games that the weakest agent won, with the greatest differences in rating: of each line-up the game with the
    greatest lead."""
    names = results.settings.agents
    rating = {line.agent: line.rating for line in ranking.table}
    surprises = []
    for lineup, members in enumerate(results.settings.lineups()):
        outcomes, given_up = results.standing_outcomes(lineup), results.given_up[lineup]
        if not len(outcomes):
            continue
        strength = np.array([rating[names[agent]] for agent in members])
        weakest, strongest = int(strength.argmin()), int(strength.argmax())
        gap = float(strength[strongest] - strength[weakest])
        upset = (wins_of(outcomes)[:, :, weakest] == 1) & (given_up < 0)
        if gap <= 0 or not upset.any():
            continue
        scores = results.scores[lineup].astype(float)
        lead = np.where(upset, scores[:, :, weakest] - scores[:, :, strongest], -np.inf)
        deal, rotation = np.unravel_index(int(lead.argmax()), lead.shape)
        winner, loser = one_line_name(names[members[weakest]]), one_line_name(names[members[strongest]])
        reason = f"surprise: {winner} wins against {loser}, which is ahead in {expected_score(gap):.0%} of their duels"
        surprises.append((gap, Pick(reason, lineup, int(deal), int(rotation))))
    yield from (pick for _, pick in sorted(surprises, key=lambda pair: -pair[0])[:SURPRISES])


def write_films(
    results: Results, ranking: Standings, folder: Path, agents: NamedAgents, runner: Runner
) -> list[tuple[str, str]]:
    """Replay the selected games, and write a page for each.

    Args:
        results, ranking: The games of the tournament, and its table.
        folder: Folder of the report.
        agents: Agents or functions behind some names.
        runner: Runs the units that replay the games.

    Returns:
        Description and path, relative to the folder, of each page. A game that ends differently when it is
        replayed is left out; this may happen with agents that have a time limit.
    """
    picks = [*typical(results, ranking), *surprising(results, ranking)]
    playing = Playing(results.settings, dict(agents), keep_records=True)
    played = runner(playing, [Unit(pick.lineup, pick.deal, 1) for pick in picks])
    pages = []
    with progress("making films") as show:
        for number, (pick, (_, (block, records))) in enumerate(zip(picks, played, strict=True), 1):
            if (block.scores[0] == results.scores[pick.lineup][pick.deal]).all():
                path = Path(FOLDER) / f"{number}.html"
                write_html(folder / path, records[pick.rotation])
                pages.append((pick.reason, str(path)))
            show(number / len(picks))
    return pages
