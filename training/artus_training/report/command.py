"""The command `artus tournament`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from tyro.conf import arg

from artus_env import DEFAULT_GAME
from artus_env.engine.basics.reading import storable
from artus_env.engine.contract.registry import find_game
from artus_training.arena.lineup import read_entrants
from artus_training.arena.play import Playing, Results
from artus_training.arena.schedule import Settings
from artus_training.arena.standings import standings
from artus_training.arena.tournament import Interrupted, run
from artus_training.options import Agents, Ray, read_options
from artus_training.people.results import Result, default_folder, on_the_scale_of, read_results
from artus_training.progress import terminal
from artus_training.report.explain import faults_of
from artus_training.report.films import write_films
from artus_training.report.page import write_report
from artus_training.report.table import print_table
from artus_training.usage import UsageError, shown_in_one_line
from artus_training.workers.units import worker_pool

TOURNAMENTS = Path("runs/tournaments")
"""Default folder of tournaments."""


@dataclass
class Options:
    """Let agents, or the bots of a class, play a tournament: a table with ratings, and a page that explains it.

    All agents play against all others, every deal from every seat. You can interrupt it at any time: the same command
    continues where it stopped.

    Examples:
        artus tournament greedy lookahead ismcts:200 --num-players 3
        artus tournament bots/ greedy --games 20
        artus tournament bots/ greedy --games 20 --add Late=program:./late
    """

    agents: Agents
    """The players: agents (greedy, ismcts:500), bots under a name of your choice (Owls=program:./bot), folders of bots
    (bots/)."""
    add: Annotated[tuple[str, ...], arg(metavar="AGENT ...")] = ()
    """Agents that join a tournament which the others have already played: only the new games are played."""
    add_to: Path | None = None
    """The folder of that tournament; unless given, the one of the same command without --add."""
    game: str = DEFAULT_GAME
    """The game that is played; `artus games` lists all."""
    rules: str | None = None
    """Its rule set; unless given, the game's first."""
    num_players: int | None = None
    """Number of players; unless given, the fewest that the game allows."""
    games: int = 2000
    """Games per line-up (a set of agents that play together), rounded up so that each agent has each seat equally
    often."""
    seed: int = 0
    """Seed of the deals and of the agents' choices."""
    out: Path | None = None
    """The folder for results and report; unless given, one below runs/tournaments, named after the settings."""
    records: Path | None = None
    """A file that keeps every game, for `artus replay`."""
    workers: int = 1
    """Number of processes that play. It doesn't change the result."""
    ray: Ray = None
    """Let a Ray cluster play: the one at this address, or one that runs here. It doesn't change the result."""


def main(arguments: list[str]) -> int:
    """The command `artus tournament`."""
    chosen = read_options(Options, "artus tournament", arguments)
    with ExitStack() as processes:
        try:
            with errors_in_one_line():
                definition = find_game(chosen.game)
                players = definition.min_players if chosen.num_players is None else chosen.num_players
                entrants = read_entrants((*chosen.agents, *chosen.add))
                left_out = entrants.drop_broken_bots(definition, chosen.rules, players)
                for name, reason in left_out.items():
                    print(f"{name} doesn't play: {reason}")
                settings = Settings(
                    tuple(entrants.agents), chosen.rules or "", players, chosen.games, chosen.seed, chosen.game
                )
                folder = chosen.out or TOURNAMENTS / settings.folder_name
                playing = Playing(settings, entrants.named, chosen.records is not None)
                runner = processes.enter_context(worker_pool(chosen.workers, chosen.ray, playing))
                results = run(
                    settings, folder, chosen.records, entrants.named, joined=joined(chosen, settings), runner=runner
                )
        except Interrupted as interrupted:
            print_so_far(interrupted.results)
            terminal().print("interrupted; the same command goes on from here")
            return 130
        except KeyboardInterrupt:
            terminal().print("interrupted before the first game")
            return 130
        ranking = standings(results)
        print_table(results, ranking)
        faults = faults_of(results.notes, settings.agents)
        if faults:
            print("", "Games given up:", *(f"  {fault}" for fault in faults), sep="\n")
        ratings = {entrants.agents[line.agent]: line.rating for line in ranking.table}
        variant = settings.game, settings.rules, settings.num_players
        rated_people = on_the_scale_of(ratings, variant, results_of_people())
        with errors_in_one_line():
            films = write_films(results, ranking, folder, entrants.named, runner)
            command = command_of(settings, (*chosen.agents, *chosen.add))
            write_report(results, ranking, folder, command, left_out, films, rated_people)
    print(f"report: {folder / 'report.html'}")
    return 0


def command_of(settings: Settings, agents: Sequence[str]) -> str:
    """The command that plays a tournament, without options that don't change the result (folders, processes, Ray)."""
    options = {
        "--game": settings.game,
        "--rules": settings.rules,
        "--num-players": settings.num_players,
        "--games": settings.games,
        "--seed": settings.seed,
    }
    words = ["artus", "tournament", *agents, *(str(word) for option in options.items() for word in option)]
    return storable(shlex.join(words))


def results_of_people() -> list[Result]:
    """Read the results of people's games on this machine; an empty list for a user without a home folder."""
    try:
        folder = default_folder()
    except ValueError:
        return []
    return read_results(folder, report_unused)


def report_unused(path: Path, error: Exception) -> None:
    """Report that the result of a game isn't used, and why."""
    terminal().print(f"{path} is left alone: {error}", markup=False, highlight=False)


def joined(chosen: Options, settings: Settings) -> tuple[Settings, Path] | None:
    """The tournament that agents join, and its folder; None if no agent joins one."""
    if not chosen.add:
        if chosen.add_to is not None:
            raise ValueError("--add-to names the tournament that agents join: name them with --add")
        return None
    new_agents = set(read_entrants(chosen.add).agents)
    old_settings = replace(settings, agents=tuple(name for name in settings.agents if name not in new_agents))
    return old_settings, chosen.add_to or TOURNAMENTS / old_settings.folder_name


def print_so_far(results: Results) -> None:
    """Print the table of an interrupted tournament, if all agents have played enough games for one."""
    try:
        print_table(results, standings(results))
    except ValueError as error:
        print(f"no table yet: {error}")


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Turn errors that the user can fix into messages of one line."""
    try:
        with shown_in_one_line(ValueError):
            yield
    except OSError as error:
        subject = f"{error.filename}: " if error.filename else ""
        raise UsageError(
            f"{subject}{error.strerror or error}; games that were played are kept; fix that and run the same command "
            "again"
        ) from None
