"""The commands `artus tournament` and `artus baseline`."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from artus_env.games.artus.components import RULES
from artus_training.arena.report import markdown_table, print_table, write_report
from artus_training.arena.results import Settings
from artus_training.arena.standings import standings
from artus_training.arena.tournament import run
from artus_training.progress import terminal
from artus_training.usage import UsageError

BASELINE = ("random", "greedy", "lookahead", "ismcts:1000", "ppo", "ppo-search:64")
"""The agents of `artus baseline`; `random` is the zero of their ratings."""


def tournament(arguments: list[str]) -> int:
    """`artus tournament`."""
    parser = argparse.ArgumentParser(
        prog="artus tournament",
        description="Every line-up of some agents, in every order around the table. Interrupt it at any time: "
        "the same command goes on where it stopped.",
    )
    parser.add_argument("agents", nargs="+", metavar="AGENT", help="name or name:argument, e.g. greedy ismcts:500")
    parser.add_argument("--rules", choices=RULES, default="beginner")
    parser.add_argument("--num-players", type=int, choices=(2, 3, 4), default=2)
    parser.add_argument(
        "--games", type=int, default=2000, help="of each line-up, rounded up to all ways to sit (default %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--out", type=Path, help="folder for results and report (default: runs/tournaments/..., by settings)"
    )
    parser.add_argument("--records", type=Path, help="keep every game as a line of JSON in this file")
    chosen = parser.parse_args(arguments)
    try:
        with one_line():
            settings = Settings(tuple(chosen.agents), chosen.rules, chosen.num_players, chosen.games, chosen.seed)
            folder = chosen.out or Path("runs/tournaments") / f"{settings.rules}-{settings.num_players}-{settings.hash}"
            results = run(settings, folder, chosen.records)
    except KeyboardInterrupt:
        terminal().print("interrupted; the same command goes on from here")
        return 130
    whole = standings(results)
    print_table(results, whole)
    for note in results.notes[:20]:
        print(note)
    if len(results.notes) > 20:
        print(f"... {len(results.notes) - 20} more games given up, see the report")
    with one_line():
        write_report(results, whole, folder, "artus tournament " + shlex.join(arguments))
    print(f"report: {folder / 'report.md'}")
    return 0


@contextmanager
def one_line() -> Iterator[None]:
    """What the user can mend becomes one line."""
    try:
        yield
    except ValueError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        of = f"{error.filename}: " if error.filename else ""
        raise UsageError(
            f"{of}{error.strerror or error}; games that were played are kept; mend that and run the same command again"
        ) from None


def baseline(arguments: list[str]) -> int:
    """`artus baseline`: the table of the README, one tournament for each variant."""
    parser = argparse.ArgumentParser(
        prog="artus baseline",
        description="Tournaments of the agents that come along, for each variant; prints the tables as Markdown. "
        "Goes on where it stopped.",
    )
    parser.add_argument(
        "--games", type=int, default=1000, help="of each line-up, rounded up to all ways to sit (default %(default)s)"
    )
    parser.add_argument("--agents", nargs="+", default=BASELINE)
    parser.add_argument("--out", type=Path, default=Path("runs/baseline"))
    chosen = parser.parse_args(arguments)
    parts = []
    for rules in RULES:
        for players in (2, 3, 4):
            with one_line():
                settings = Settings(tuple(chosen.agents), rules, players, chosen.games)
                results = run(settings, chosen.out / f"{rules}-{players}-{settings.hash}")
            parts.append(
                f"**{rules}, {players} players** ({results.games:,} games)\n\n{markdown_table(standings(results))}"
            )
    print("\n\n".join(parts))
    return 0
