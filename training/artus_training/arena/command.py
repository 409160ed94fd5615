"""The commands `artus tournament` and `artus baseline`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from artus_env import DEFAULT_GAME
from artus_env.engine.games import find_game
from artus_training.arena.faults import faults_of
from artus_training.arena.filmed import Film, write_films
from artus_training.arena.names import variant_name
from artus_training.arena.report import markdown_table, print_table, write_report
from artus_training.arena.results import Results, Settings
from artus_training.arena.standings import standings
from artus_training.arena.teams import read_teams, shake_hands
from artus_training.arena.todo import ClusterError, UnitError
from artus_training.arena.tournament import Interrupted, Playing, run
from artus_training.options import Agents, Ray, options, read_options
from artus_training.progress import terminal
from artus_training.usage import UsageError

TOURNAMENTS = Path("runs/tournaments")
"""Where tournaments are kept that no other folder is given for."""
BASELINE = ("random", "greedy", "lookahead", "ismcts:1000", "ppo", "ppo-search:64")
"""The agents of `artus baseline`; `random` is the zero of their ratings."""


@options
class TournamentOptions:
    """Every line-up of some agents, everybody right behind everybody else equally often.

    Interrupt it at any time: the same command goes on where it stopped.
    """

    agents: Agents
    """Who plays: greedy ismcts:500, a bot under a name of its own (Owls=program:./bot), or a folder with bots
    (bots/)."""
    add: tuple[str, ...] = ()
    """These join the tournament that the others have played; only their games are played."""
    add_to: Path | None = None
    """Folder of that tournament, unless it is where the same command without these put it."""
    game: str = DEFAULT_GAME
    """What is played; `artus games` lists the games."""
    rules: str | None = None
    """Rule set; default: the game's first."""
    num_players: int | None = None
    """Players in a game; default: as few as the game takes."""
    games: int = 2000
    """Of each line-up, rounded up so that every way to sit comes equally often."""
    seed: int = 0
    """Of the deals and of the agents' choices."""
    out: Path | None = None
    """Folder for results and report; runs/tournaments/..., named after the settings, unless given."""
    records: Path | None = None
    """Keep every game as a line of JSON in this file."""
    workers: int = 1
    """Processes that play; the result is the same."""
    ray: Ray = None
    """Let a Ray cluster play: the one at this address, else one that runs here; the result is the same."""


def tournament(arguments: list[str], film: Film | None = None) -> int:
    """The command `artus tournament`.

    Args:
        arguments: Of the command line.
        film: Writes games that are worth seeing, for links in the report; None: there are none.
    """
    chosen = read_options(TournamentOptions, "artus tournament", arguments)
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
            results = run(
                settings, folder, chosen.records, teams.named, chosen.workers, chosen.ray,
                joined(chosen, settings),
            )  # fmt: skip
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
    with one_line():
        films = write_films(results, whole, folder, Playing(settings, teams.named, True).again, film) if film else []
        write_report(results, whole, folder, "artus tournament " + shlex.join(arguments), left_out, films)
    print(f"report: {folder / 'report.html'}")
    return 0


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
    """Tournaments of the agents that come along, for each variant; prints the tables as Markdown.

    Goes on where it stopped.
    """

    game: str = DEFAULT_GAME
    """What is played; `artus games` lists the games."""
    games: int = 1000
    """Of each line-up, rounded up so that every way to sit comes equally often."""
    agents: tuple[str, ...] = BASELINE
    """Who plays."""
    out: Path = Path("runs/baseline")
    """Folder for the results."""
    workers: int = 1
    """Processes that play; the result is the same."""
    ray: Ray = None
    """Let a Ray cluster play: the one at this address, else one that runs here; the result is the same."""


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
            title = f"**{variant_name(chosen.game, rules, players)}** ({results.games:,} games)"
            parts.append(f"{title}\n\n{markdown_table(standings(results))}")
    print("\n\n".join(parts))
    return 0
