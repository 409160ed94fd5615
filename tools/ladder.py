"""Add results to the ladder of a game, a table with all its agents. All other entries of the table are kept.

    python tools/ladder.py artus_env/games/artus/ladder.json --tournaments runs/tournaments/*

`python tools/tables.py docs/strength.md` writes the table into a page.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from artus_agents.program import ProgramAgent
from artus_env import DEFAULT_GAME, Batch
from artus_env.agents import play_games
from artus_env.engine.basics.reading import decode
from artus_env.engine.basics.wording import counted
from artus_env.engine.basics.writing import write_atomically
from artus_env.engine.contract.registry import find_game
from artus_env.engine.contract.rng import seed_stream
from artus_training.arena.ladder import BestResponse, Entry, Fraction, Interval, Ladder, read_ladder
from artus_training.arena.lineup import line_up
from artus_training.arena.schedule import unit_games
from artus_training.arena.statistics import ANCHOR, ANCHOR_RATING
from artus_training.learn.exploit import title
from artus_training.progress import progress

RESULTS = "results.json"
Result = TypeVar("Result")

# --- input files ---


@dataclass
class Line:
    """An agent in the table of a tournament."""

    agent: str
    games: int
    wins: Fraction
    rating: float
    wins_low: Fraction | None = None
    wins_high: Fraction | None = None
    rating_low: float | None = None
    rating_high: float | None = None


@dataclass
class TournamentVariant:
    """The variant of a tournament."""

    rules: str
    num_players: int
    game: str = DEFAULT_GAME


@dataclass
class Tournament:
    """The fields of a tournament's `results.json` that the ladder needs."""

    settings: TournamentVariant
    table: list[Line]
    anchor: str | None = None
    """None: written by a version whose ratings had another scale."""


@dataclass
class Best:
    """A best response in the result of `artus exploit`."""

    agent: str
    role: str
    name: str
    gain: float
    gain_95: Interval


@dataclass
class Exploit:
    """The fields of the `result.json` of `artus exploit` that the ladder needs."""

    game: str
    rules: str
    num_players: int
    best: list[Best]


def read(path: Path, file_type: type[Result]) -> Result:
    """Read a file of results. Raises a ValueError that names the file if it is missing or damaged."""
    try:
        return decode(path.read_bytes(), file_type)
    except OSError as error:
        raise ValueError(f"{path} can't be read: {error.strerror}") from error
    except ValueError as error:
        raise ValueError(f"{path} is damaged or something else: {error}") from None


def interval_of(low: float | None, high: float | None) -> Interval | None:
    """The interval with these ends; None if one of them is None."""
    return None if low is None or high is None else (low, high)


def tournament_entries(path: Path, game: str) -> list[Entry]:
    """Read one entry for each agent of a tournament.

    Raises:
        ValueError: If the file is damaged, another game was played, or the ratings have another scale.
    """
    tournament = read(path / RESULTS, Tournament)
    check_game(path, tournament.settings.game, game)
    if tournament.anchor is None:
        raise ValueError(
            f"{path} is of an earlier version, whose ratings have another scale: play the tournament again"
        )
    if tournament.anchor != ANCHOR:
        raise ValueError(
            f"{path}: {ANCHOR} must have the rating {ANCHOR_RATING}, but {tournament.anchor} has it: "
            f"let {ANCHOR} play, too"
        )
    rules, players = tournament.settings.rules, tournament.settings.num_players
    return [
        Entry(
            rules,
            players,
            line.agent,
            line.rating,
            interval_of(line.rating_low, line.rating_high),
            line.wins,
            interval_of(line.wins_low, line.wins_high),
            line.games,
        )
        for line in tournament.table
    ]


def exploit_entries(path: Path, game: str) -> list[Entry]:
    """Read one entry for each agent in a result of `artus exploit`, with its best responses.

    Raises:
        ValueError: If the file is damaged, or another game was played.
    """
    result = read(path / "result.json", Exploit)
    check_game(path, result.game, game)
    entries: dict[str, Entry] = {}
    for best in result.best:
        entry = entries.setdefault(best.agent, Entry(result.rules, result.num_players, best.agent))
        response = {"role": best.role, "response": title(best.name), "gain": best.gain, "gain_95": best.gain_95}
        entry.responses.append(decode(json.dumps(response), BestResponse))
    return list(entries.values())


def check_game(path: Path, file_game: str, ladder_game: str) -> None:
    """Raise a ValueError unless a file is about the ladder's game."""
    if file_game != ladder_game:
        raise ValueError(f"{path} is of the game {file_game}, this ladder of {ladder_game}")


# --- the ladder ---

TOURNAMENT_FIGURES = ("rating", "rating_95", "wins", "wins_95", "games")
"""Figures of one tournament, which replace each other together: an old interval doesn't fit a new rating."""


def key_of(entry: Entry) -> tuple[str, int, str]:
    """The key of an entry: rules, number of players, agent."""
    return entry.rules, entry.num_players, entry.agent


def merged(ladder: Ladder, new_entries: Iterable[Entry]) -> Ladder:
    """Return a ladder with new results added, in the order of the table."""
    entries = {key_of(entry): entry for entry in ladder.entries}
    for entry in new_entries:
        key = key_of(entry)
        from_tournament = TOURNAMENT_FIGURES if entry.rating is not None else ()
        measured = {
            name: value for name, value in vars(entry).items() if name in from_tournament or value not in (None, [])
        }
        entries[key] = dataclasses.replace(entries.get(key, entry), **measured)
    variants = list(find_game(ladder.game).rules)
    order = sorted(
        entries.values(),
        key=lambda entry: (
            variants.index(entry.rules), entry.num_players, -np.inf if entry.rating is None else -entry.rating,
            entry.agent,
        ),
    )  # fmt: skip
    return Ladder(ladder.game, order)


def decisions_per_second(entry: Entry, game: str, seconds: float) -> float:
    """Measure an agent's decisions per second in whole games, with as many games at a time as the agent prefers.

    The time is this process's processor time, so that other work on the machine hardly changes it. A program computes
    in a process of its own or waits for a server, so its time is measured on the clock.
    """
    (player, *_) = line_up([entry.agent] * 2, entry.rules, entry.num_players, game=game)

    def play(count: int, seed: int) -> int:
        batch = Batch(count, rules=entry.rules, num_players=entry.num_players, autoreset=False, game=game)
        batch.reset(seed_stream(seed, count, 0))
        agent_of_seat = np.zeros((count, entry.num_players), np.int64)
        played = play_games(batch, [player], agent_of_seat, seed_stream(seed, count, 1))
        return sum(int((actions >= 0).sum()) for actions in played.actions)

    play(1, 0)  # to compile and warm up
    program = isinstance(player, ProgramAgent)
    clock, games = (time.perf_counter, 1) if program else (time.process_time, unit_games([player]))
    decided, start = 0, clock()
    while decided == 0 or clock() - start < seconds:
        decided += play(games, decided)
    return decided / (clock() - start)


def write(ladder: Ladder, path: Path) -> None:
    """Write the file of a ladder."""
    write_atomically(path, (json.dumps(asdict(ladder), indent=1) + "\n").encode())


def update(path: Path, game: str, tournaments: Iterable[Path], exploits: Iterable[Path], seconds: float) -> str:
    """Add results to the file of a ladder, and return a line about them. For the arguments see `main`."""
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"seconds must be at least 0 and finite, got {seconds}")
    definition = find_game(game)
    ladder = read_ladder(path) if path.exists() else Ladder(game)
    check_game(path, ladder.game, game)
    tournament_results = [entry for folder in tournaments for entry in tournament_entries(folder, game)]
    new_entries = [*tournament_results, *[entry for folder in exploits for entry in exploit_entries(folder, game)]]
    for entry in [*ladder.entries, *new_entries]:
        definition.check_variant(entry.rules, entry.num_players)
    ladder = merged(ladder, new_entries)
    write(ladder, path)
    tournament_keys = {key_of(entry) for entry in tournament_results}
    to_measure = [
        entry for entry in ladder.entries if seconds and (key_of(entry) in tournament_keys or entry.decisions is None)
    ]
    with progress("measuring speeds") as show:
        for done, entry in enumerate(to_measure, 1):
            entry.decisions = decisions_per_second(entry, game, seconds)
            write(ladder, path)
            show(done / len(to_measure))
    speeds = f" and {counted(len(to_measure), 'speed')}" if seconds else ""
    return f"{path}: {counted(len(new_entries), 'result')}{speeds}; {len(ladder.entries)} in all"


def main(arguments: list[str]) -> int:
    """Run the script; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ladder", type=Path, help="file with the ladder; created if it is missing")
    parser.add_argument("--game", default=DEFAULT_GAME, help="game of the ladder")
    parser.add_argument(
        "--tournaments", type=Path, nargs="*", default=[], metavar="FOLDER",
        help="tournaments in which greedy plays, for ratings and wins",
    )  # fmt: skip
    parser.add_argument(
        "--exploits", type=Path, nargs="*", default=[], metavar="FOLDER",
        help="folders of artus exploit, for the best known responses",
    )  # fmt: skip
    parser.add_argument(
        "--seconds", type=float, default=0.0,
        help="seconds to measure the speed of each agent of these tournaments, and of each agent in the file whose "
        "speed isn't known yet; 0: measure none. Each speed is saved at once; to continue after an interrupt, leave "
        "out the tournaments",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    try:
        print(update(options.ladder, options.game, options.tournaments, options.exploits, options.seconds))
    except (ValueError, TypeError) as error:
        print(f"ladder: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
