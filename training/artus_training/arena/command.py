"""The commands `artus tournament` and `artus baseline`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from tyro.conf import arg

from artus_env import DEFAULT_GAME
from artus_env.engine.basics.reading import storable
from artus_env.engine.contract.registry import find_game
from artus_training.arena.faults import faults_of
from artus_training.arena.filmed import Film, write_films
from artus_training.arena.names import variant_name
from artus_training.arena.people import Result, default_folder, on_the_scale_of, read_results
from artus_training.arena.playing import Playing
from artus_training.arena.report import markdown_table, print_table, write_report
from artus_training.arena.results import Results, Settings
from artus_training.arena.standings import standings
from artus_training.arena.teams import read_teams, shake_hands
from artus_training.arena.todo import ClusterError, UnitError
from artus_training.arena.tournament import Interrupted, run
from artus_training.arena.units import kept
from artus_training.options import Agents, Ray, options, read_options
from artus_training.progress import terminal
from artus_training.usage import UsageError

TOURNAMENTS = Path("runs/tournaments")
"""Where tournaments are kept that no other folder is given for."""
BASELINE = ("random", "greedy", "lookahead", "ismcts:1000", "ppo", "ppo-search:64")
"""The agents of `artus baseline`."""


@options
class TournamentOptions:
    """Let agents, or the bots of a class, play a tournament: a table with ratings, and a page that explains it.

    Everybody plays with everybody else, every deal from every seat. Interrupt it at any time: the same command goes on
    where it stopped.

        artus tournament greedy lookahead ismcts:200 --num-players 3
        artus tournament bots/ greedy --games 20
        artus tournament bots/ greedy --games 20 --add Late=program:./late
    """

    agents: Agents
    """Who plays: agents (greedy, ismcts:500), bots under a name of your choice (Owls=program:./bot), folders of bots
    (bots/)."""
    add: Annotated[tuple[str, ...], arg(metavar="AGENT ...")] = ()
    """Who joins the tournament that the others have played already: only their games are played."""
    add_to: Path | None = None
    """The folder of that tournament; unless given, where the same command without --add put it."""
    game: str = DEFAULT_GAME
    """The game that is played; `artus games` lists all."""
    rules: str | None = None
    """Its rule set; unless given, the game's first."""
    num_players: int | None = None
    """How many play a game; unless given, as few as it takes."""
    games: int = 2000
    """Games of each line-up (agents that sit together), rounded up so that everybody sits everywhere equally often."""
    seed: int = 0
    """Seed of the deals and of the agents' choices."""
    out: Path | None = None
    """The folder for results and report; unless given, one below runs/tournaments, named after the settings."""
    people: Path | None = None
    """The folder of `artus play` with games of people, for where they stand among these agents; unless given, that of
    `artus play`."""
    records: Path | None = None
    """A file that keeps every game, for `artus replay`."""
    workers: int = 1
    """How many processes play. The result is the same."""
    ray: Ray = None
    """Let a Ray cluster play: the one at this address, or one that runs here. The result is the same."""


def tournament(arguments: list[str], film: Film | None = None) -> int:
    """The command `artus tournament`.

    Args:
        arguments: Of the command line.
        film: Writes games that are worth seeing, for links in the report; None: there are none.
    """
    chosen = read_options(TournamentOptions, "artus tournament", arguments)
    with ExitStack() as processes:
        try:
            with one_line():
                definition = find_game(chosen.game)
                players = definition.min_players if chosen.num_players is None else chosen.num_players
                teams = read_teams((*chosen.agents, *chosen.add))
                left_out = shake_hands(teams, definition, chosen.rules, players)
                for name, reason in left_out.items():
                    print(f"{name} doesn't play: {reason}")
                settings = Settings(
                    tuple(teams.agents), chosen.rules or "", players, chosen.games, chosen.seed, chosen.game
                )
                folder = chosen.out or TOURNAMENTS / settings.folder_name
                playing = Playing(settings, teams.named, chosen.records is not None)
                do = processes.enter_context(kept(chosen.workers, chosen.ray, playing))
                results = run(settings, folder, chosen.records, teams.named, joined=joined(chosen, settings), do=do)
        except Interrupted as interrupted:
            print_so_far(interrupted.results)
            terminal().print("interrupted; the same command goes on from here")
            return 130
        except KeyboardInterrupt:
            terminal().print("interrupted before the first game")
            return 130
        whole = standings(results)
        print_table(results, whole)
        faults = faults_of(results.notes, settings.agents)
        if faults:
            print("", "Games given up:", *(f"  {fault}" for fault in faults), sep="\n")
        ratings = {teams.agents[line.agent]: line.rating for line in whole.table}
        variant = settings.game, settings.rules, settings.num_players
        placed = on_the_scale_of(ratings, variant, results_of_people(chosen.people))
        with one_line():
            films = write_films(results, whole, folder, teams.named, do, film) if film else []
            again = command_of(settings, (*chosen.agents, *chosen.add))
            write_report(results, whole, folder, again, left_out, films, placed)
    print(f"report: {folder / 'report.html'}")
    return 0


def command_of(settings: Settings, agents: Sequence[str]) -> str:
    """The command that plays a tournament: without folders and what computes it, which change no result."""
    options = {
        "--game": settings.game,
        "--rules": settings.rules,
        "--num-players": settings.num_players,
        "--games": settings.games,
        "--seed": settings.seed,
    }
    words = ["artus", "tournament", *agents, *(str(word) for option in options.items() for word in option)]
    return storable(shlex.join(words))


def results_of_people(folder: Path | None) -> list[Result]:
    """The results in a folder of games, None: the user's. A user without a home folder has none."""
    try:
        there = folder or default_folder()
    except ValueError:
        return []
    return read_results(there, left_alone)


def left_alone(path: Path, error: Exception) -> None:
    """Say that a file with the end of somebody's game isn't used, and why."""
    terminal().print(f"{path} is left alone: {error}", markup=False, highlight=False)


def joined(chosen: TournamentOptions, settings: Settings) -> tuple[Settings, Path] | None:
    """The tournament that some agents join, and its folder; None if nobody does."""
    if not chosen.add:
        if chosen.add_to is not None:
            raise ValueError("--add-to names the tournament that agents join: name them with --add")
        return None
    new = set(read_teams(chosen.add).agents)
    before = replace(settings, agents=tuple(name for name in settings.agents if name not in new))
    return before, chosen.add_to or TOURNAMENTS / before.folder_name


def print_so_far(results: Results) -> None:
    """The table of a tournament that was interrupted, if all have played a little."""
    try:
        print_table(results, standings(results))
    except ValueError as error:
        print(f"no table yet: {error}")


@contextmanager
def one_line() -> Iterator[None]:
    """What the user can mend becomes one line."""
    try:
        yield
    except (ValueError, UnitError, ClusterError) as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        of = f"{error.filename}: " if error.filename else ""
        raise UsageError(
            f"{of}{error.strerror or error}; games that were played are kept; mend that and run the same command again"
        ) from None


@options
class BaselineOptions:
    """Let the agents that come along play a tournament in every variant of a game, and print the tables.

    Into a file or a pipe they are printed as Markdown. Interrupt it at any time: the same command goes on where it
    stopped.

        artus baseline --games 120 --workers 2
        artus baseline --agents random greedy lookahead
    """

    game: str = DEFAULT_GAME
    """The game that is played; `artus games` lists all."""
    games: int = 1000
    """Games of each line-up (agents that sit together), rounded up so that everybody sits everywhere equally often."""
    agents: tuple[str, ...] = BASELINE
    """Who plays."""
    out: Path = Path("runs/baseline")
    """The folder for the results."""
    workers: int = 1
    """How many processes play. The result is the same."""
    ray: Ray = None
    """Let a Ray cluster play: the one at this address, or one that runs here. The result is the same."""


def baseline(arguments: list[str]) -> int:
    """The command `artus baseline`: the table of the README, one tournament for each variant."""
    chosen = read_options(BaselineOptions, "artus baseline", arguments)
    with one_line():
        definition = find_game(chosen.game)
    parts = []
    for rules in definition.rules:
        for players in range(definition.min_players, definition.max_players + 1):
            with one_line():
                settings = Settings(chosen.agents, rules, players, chosen.games, game=chosen.game)
                results = run(settings, chosen.out / settings.folder_name, workers=chosen.workers, ray=chosen.ray)
            if sys.stdout.isatty():
                print_table(results, standings(results))
                print()
                continue
            title = f"**{variant_name(chosen.game, rules, players)}** ({results.games:,} games)"
            parts.append(f"{title}\n\n{markdown_table(standings(results))}")
    if parts:
        print("\n\n".join(parts))
    return 0
