"""The command `artus play`."""

from __future__ import annotations

import re
import socket
import sys
import webbrowser
from collections.abc import Collection, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from artus_env import DEFAULT_GAME
from artus_env.engine.basics.wording import counted
from artus_env.engine.basics.writing import alone_in
from artus_env.engine.contract.registry import find_game
from artus_env.engine.contract.rng import check_seed
from artus_training.arena.ladder import read_ladder
from artus_training.arena.lineup import find_player, line_up
from artus_training.options import read_options
from artus_training.people.results import default_folder, read_results
from artus_training.play import agent_moves, placements
from artus_training.play.hosted import LONGEST_AGENT, LONGEST_NAME, LONGEST_TITLE, HostedGame, Seat
from artus_training.play.lobby import Lobby
from artus_training.play.middleware import host_name, loopback
from artus_training.play.player_names import fits, unique
from artus_training.play.server import Server, listen
from artus_training.play.store import Store, left_alone, new_secret
from artus_training.play.texts import readable, rules_of
from artus_training.usage import UsageError

PORT = 8128
HOST_NAME = re.compile(r"(?:[\w-]+\.)*[\w-]+\.?|\[[0-9a-fA-F:.]+\]", re.ASCII)
"""A host name or an IP address; IPv6 in brackets, as in URLs."""
GAME_OPTIONS = ("game", "rules", "against", "names", "seed")
"""Options that describe a game. Without any of them, games are set up on the start page."""


@dataclass
class Options:
    """Play in the browser, people with or without agents.

    Alone, it opens a page on which games are set up; with any of --game, --rules, --against, --names and --seed it
    deals that game at once. Each person gets a link; keep yours private: anyone with your link can see your hand and
    play for you. Games are kept on disk: when the server is started again, all links still work.

    Examples:
        artus play
        artus play --against lookahead ppo
        artus play --names Ann Ben --against ppo --host 0.0.0.0
        artus play --results
    """

    game: str = DEFAULT_GAME
    """The game that is played; `artus games` lists all."""
    rules: str | None = None
    """Its rule set; unless given, the game's first."""
    against: tuple[str, ...] | None = None
    """Agents to play against; unless given, lookahead if you are alone."""
    names: tuple[str, ...] = ()
    """Names of the people; unless given, you alone are Player A."""
    seed: int | None = None
    """Seed of the deal; unless given, a random one."""
    host: str = "127.0.0.1"
    """Address to listen on. 0.0.0.0 lets in the network."""
    port: int = PORT
    """Port to listen on. 0: any free one."""
    allow_host: tuple[str, ...] = ()
    """Host names of a proxy in front of the server, such as games.example."""
    games: Path | None = None
    """Folder for the games; unless given, artus/games in the user's data folder."""
    results: bool = False
    """Print the placement of all people among the agents, and serve nothing."""
    allow: tuple[str, ...] = ()
    """Agents of kept games that are programs, such as 'program:./mybot': a program is started only if you name it."""
    browser: bool = True
    """Open the page, besides printing the links."""


class Plan(NamedTuple):
    """Checked options."""

    game: str
    rules: str
    names: list[str]
    """Names of the people."""
    against: list[str]
    seed: int | None
    host: str
    port: int
    proxy_hosts: tuple[str, ...]
    """Host names of a proxy in front of the server."""
    games: Path
    deals_game: bool
    """Whether to deal a game, besides continuing those in the folder."""
    allow: tuple[str, ...]
    browser: bool


def main(arguments: list[str]) -> int:
    """Serve games in the browser until Ctrl-C, or print placements."""
    options = read_options(Options, "artus play", arguments)
    if options.results:
        if describes_game(options):
            raise UsageError(f"--results deals no game: leave out {', '.join(f'--{name}' for name in GAME_OPTIONS)}")
        folder = folder_of(options)
        try:
            print(placements.table(read_results(folder, left_alone), folder))
        except ValueError as error:  # a game's ladder is invalid
            raise UsageError(str(error)) from None
        return 0
    plan = planned(options)
    with ExitStack() as stack:
        try:
            store = Store(plan.games)
            stack.enter_context(alone_in(store.folder, "serving the games in it"))
            lobby = Lobby(store, {*plan.against, *plan.allow})
        except OSError as error:
            raise UsageError(f"--games {plan.games}: {error.strerror or error}") from None
        except ValueError as error:
            raise UsageError(f"{error}; --games names another folder") from None
        run(plan, lobby)
    return 0


def run(plan: Plan, lobby: Lobby) -> None:
    """Listen, deal a game if one is described, print the links and serve."""
    try:
        listener = listen(plan.host, plan.port)
    except OSError as error:
        raise UsageError(f"can't listen on {plan.host}, port {plan.port}: {error.strerror or error}") from None
    with listener:
        if plan.deals_game:
            new_seats = seats(plan.names, plan.against)
            lobby.add(HostedGame.deal(lobby.store, plan.rules, new_seats, plan.seed, plan.game))
        for name in {entry.game for entry in lobby.games.entries.values()}:
            agent_moves.warm_up(name)
        base = f"http://{address(plan.host)}:{listener.getsockname()[1]}"
        print(announcement(lobby, base, plan), flush=True)
        if plan.browser:
            webbrowser.open(f"{base}{first_page(lobby, plan)}")
        serve(lobby, listener, plan.host, plan.proxy_hosts)


def serve(lobby: Lobby, listener: socket.socket, host: str, proxy_hosts: Collection[str] = ()) -> None:
    """Serve until the process is interrupted."""
    with suppress(KeyboardInterrupt):  # the normal end of a server
        Server(lobby, loopback(host), proxy_hosts).run(sockets=[listener])


def read(arguments: Sequence[str]) -> Plan:
    """Read and check the options of a command line."""
    return planned(read_options(Options, "artus play", arguments))


def planned(options: Options) -> Plan:
    """Check the options and fill in defaults.

    Raises:
        UsageError: If the options don't fit together.
    """
    try:
        game = find_game(options.game)
        if game.ladder:
            read_ladder(Path(game.ladder))  # check now: needed after games
    except ValueError as error:
        raise UsageError(str(error)) from None
    names = list(options.names) or ["Player A"]
    people = len(names)
    if not all(fits(name, LONGEST_NAME) for name in names):
        raise UsageError(f"names have 1 to {LONGEST_NAME} printable letters, at least one of them visible")
    default_agents = ["lookahead"] * (game.min_players - 1) if people == 1 else []
    against = default_agents if options.against is None else list(options.against)
    if not all(fits(agent, LONGEST_AGENT) for agent in against):
        raise UsageError(f"agents' names have 1 to {LONGEST_AGENT} printable letters")
    if not game.min_players <= people + len(against) <= game.max_players:
        allowed = f"{game.min_players} to {game.max_players}"
        raise UsageError(f"{allowed} play, not {', '.join(names)} and {counted(len(against), 'agent')}")
    rules = game.rules[0] if options.rules is None else options.rules
    for host in options.allow_host:
        if not HOST_NAME.fullmatch(host):
            raise UsageError(f"--allow-host takes names such as games.example, without https:// and port, got {host!r}")
    if not 0 <= options.port < 1 << 16:
        raise UsageError(f"--port must be in 0..65535, got {options.port}")
    try:
        game.check_variant(rules, people + len(against))
        if options.seed is not None:
            check_seed(options.seed)
        if against:  # check that all exist and play this variant
            agents = [*against, *["random"] * people]
            line_up(agents, rules, len(agents), game=game)
        for agent in options.allow:
            find_player(agent)
    except (ValueError, TypeError) as error:
        raise UsageError(str(error)) from None
    return Plan(
        options.game,
        rules,
        names,
        against,
        options.seed,
        options.host.removeprefix("[").removesuffix("]").removesuffix("."),
        options.port,
        tuple(map(host_name, options.allow_host)),
        folder_of(options),
        describes_game(options),
        options.allow,
        options.browser,
    )


def folder_of(options: Options) -> Path:
    """The folder for the games.

    Raises:
        UsageError: If it isn't given and the user has no home folder.
    """
    try:
        return options.games or default_folder()
    except ValueError as error:
        raise UsageError(f"{error} with --games") from None


def describes_game(options: Options) -> bool:
    """Whether a game is described on the command line."""
    defaults = Options()
    return any(getattr(options, name) != getattr(defaults, name) for name in GAME_OPTIONS)


def seats(names: Sequence[str], agents: Sequence[str]) -> list[Seat]:
    """Seats with unique names, people first, then agents."""
    unique_names = unique([*names, *(readable(agent, LONGEST_TITLE) for agent in agents)])
    return [
        Seat(name, None, new_secret()) if player < len(names) else Seat(name, agents[player - len(names)])
        for player, name in enumerate(unique_names)
    ]


def announcement(lobby: Lobby, base: str, plan: Plan) -> str:
    """Text for the terminal: the games served, and all links."""
    lines = []
    for entry in lobby.games.entries.values():
        if entry.over:
            continue
        state = "new" if not entry.moves else f"after {counted(entry.moves, 'move')}"
        definition = find_game(entry.game)
        variant = [definition.title, rules_of(definition, entry.rules)]
        names = [seat.name for seat in entry.seats]
        lines.append(f"{', '.join([*filter(None, variant), *names])} ({state})")
        people = [seat for seat in entry.seats if seat.secret is not None]
        width = max(len(seat.name) for seat in people)
        lines += [f"  {seat.name:<{width}}  {base}/seat/{seat.secret}" for seat in people]
    if not lines:
        lines.append(f"There is no running game in {plan.games}.")
    lines.append(f"Set up games, and see all of them: {base}/host/{lobby.host_secret}")
    if not loopback(plan.host):
        lines.append("Others in your network can reach this server; without a link they can see and do nothing.")
    lines.append(
        f"Games are kept in {plan.games}. Ctrl-C stops the server. Start it again, and all links work as before."
    )
    return "\n".join(lines)


def first_page(lobby: Lobby, plan: Plan) -> str:
    """The page to open: the only person's seat, or the start page."""
    entry = next(reversed(lobby.games.entries.values()), None)
    people = [seat for seat in entry.seats if seat.secret is not None] if entry else []
    if not plan.deals_game or len(people) != 1:
        return f"/host/{lobby.host_secret}"
    return f"/seat/{people[0].secret}"


def address(host: str) -> str:
    """This machine's address for links, as seen from other machines."""
    if host in ("", "0.0.0.0", "::"):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(("192.0.2.1", 9))  # sends nothing: only selects one of our addresses
                return str(probe.getsockname()[0])
            except OSError:
                return socket.gethostname()
    return f"[{host}]" if ":" in host else host


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
