"""The command `artus play`."""

from __future__ import annotations

import argparse
import socket
import string
import sys
import webbrowser
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from artus_env.engine.files import alone_in
from artus_env.engine.rng import check_seed
from artus_env.engine.wording import counted
from artus_training.arena.lineup import find_player, line_up
from artus_training.play import of_game
from artus_training.play.connections import Server
from artus_training.play.server import Lobby, loopback
from artus_training.play.store import Store, default_folder, new_secret
from artus_training.play.table import LONGEST_AGENT, LONGEST_NAME, LONGEST_TITLE, Seat, Table, fits
from artus_training.play.words import readable
from artus_training.usage import UsageError

PORT = 8128


def main(arguments: list[str]) -> int:
    """Serve games in the browser until Ctrl-C."""
    given = read(arguments)
    with ExitStack() as stack:
        try:
            store = Store(given.games)
            stack.enter_context(alone_in(store.folder, "serving the games in it"))
            lobby = Lobby(store, {*given.against, *given.allow})
        except OSError as error:
            raise UsageError(f"--games {given.games}: {error.strerror or error}") from None
        except ValueError as error:
            raise UsageError(f"{error}; --games names another folder") from None
        run(given, lobby)
    return 0


def run(given: argparse.Namespace, lobby: Lobby) -> None:
    """Listen, deal a game if one is wanted, say where it is and serve."""
    try:
        listener = socket.create_server((given.host, given.port), family=family(given.host))
    except OSError as error:
        raise UsageError(f"can't listen on {given.host}, port {given.port}: {error.strerror or error}") from None
    with listener:
        if not given.resume:
            dealt = seats(given.names, given.against)
            lobby.add(Table.deal(lobby.store, given.rules, dealt, given.seed, given.game))
        for name in {table.game.definition.name for table in lobby.tables.values()}:
            of_game.warm_up(name)
        base = f"http://{address(given.host)}:{listener.getsockname()[1]}"
        print(announcement(lobby, base, given), flush=True)
        if not given.no_browser:
            webbrowser.open(f"{base}{first_page(lobby, given)}")
        serve(lobby, listener, given.host)


def serve(lobby: Lobby, listener: socket.socket, host: str) -> None:
    """Serve until the process is told to stop."""
    with suppress(KeyboardInterrupt):  # how a server is ended
        Server(lobby, loopback(host)).run(sockets=[listener])


def read(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line.

    Raises:
        UsageError: If something doesn't fit together.
    """
    parser = argparse.ArgumentParser(
        "artus play",
        description="Play in the browser, people with or without agents. Each person gets a link; keep yours to "
        "yourself: anybody who has it sees your hand and plays for you. Games are kept on disk: when the server is "
        "started again, all links go on working.",
    )
    parser.add_argument("--game", default=of_game.default_game(), help="which game (default: %(default)s)")
    parser.add_argument("--rules", help="its rule set (default: the game's first)")
    parser.add_argument(
        "--against", nargs="*", metavar="AGENT", help="agents to play against (default: lookahead if you are alone)"
    )
    parser.add_argument("--people", type=int, help="how many people play (default: as many as --names, or 1)")
    parser.add_argument("--names", nargs="+", metavar="NAME", help="what they are called")
    parser.add_argument("--seed", type=int, help="the deal (default: a random one)")
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on; 0.0.0.0 lets in the network (default: %(default)s)"
    )
    parser.add_argument("--port", type=int, default=PORT, help="0: any that is free (default: %(default)s)")
    parser.add_argument(
        "--games", type=Path, default=None, help=f"folder in which games are kept (default: {default_folder()})"
    )
    parser.add_argument(
        "--resume", action="store_true", help="only go on with the games in the folder, deal no new one"
    )
    parser.add_argument(
        "--allow", nargs="+", default=[], metavar="AGENT",
        help="agents of kept games that are programs, such as 'program:./mybot': "
        "a program is started only if you name it",
    )  # fmt: skip
    parser.add_argument("--no-browser", action="store_true", help="only print the links")
    given = parser.parse_args(arguments)
    given.games = given.games or default_folder()
    try:
        game = of_game.find(given.game)
    except ValueError as error:
        raise UsageError(str(error)) from None
    people = len(given.names or ()) or 1 if given.people is None else given.people
    if given.names and len(given.names) != people:
        raise UsageError(f"--names names {len(given.names)} people, --people says {people}")
    given.names = given.names or [f"Player {letter}" for letter in string.ascii_uppercase[: max(people, 0)]]
    if not all(fits(name, LONGEST_NAME) for name in given.names):
        raise UsageError(f"names have 1 to {LONGEST_NAME} printable letters")
    if given.against is None:
        given.against = ["lookahead"] * (game.min_players - 1) if people == 1 else []
    if not all(fits(agent, LONGEST_AGENT) for agent in given.against):
        raise UsageError(f"agents' names have 1 to {LONGEST_AGENT} printable letters")
    if people < 1 or not game.min_players <= people + len(given.against) <= game.max_players:
        agents, allowed = counted(len(given.against), "agent"), f"{game.min_players} to {game.max_players}"
        raise UsageError(f"{allowed} play, at least one of them a person: {people} and {agents} don't fit")
    given.rules = game.rules[0] if given.rules is None else given.rules
    if not 0 <= given.port < 1 << 16:
        raise UsageError(f"--port must be in 0..65535, got {given.port}")
    try:
        game.check_variant(given.rules, people + len(given.against))
        if given.seed is not None:
            check_seed(given.seed)
        if given.against:  # does each of them exist, and play this variant?
            everybody = [*given.against, *["random"] * people]
            line_up(everybody, given.rules, len(everybody))
        for agent in given.allow:
            find_player(agent)
    except (ValueError, TypeError) as error:
        raise UsageError(str(error)) from None
    return given


def seats(names: Sequence[str], agents: Sequence[str]) -> list[Seat]:
    """People first, then agents; equal names are numbered."""
    told = [*names, *(readable(agent, LONGEST_TITLE) for agent in agents)]
    final = [f"{name} {told[:i].count(name) + 1}" if told.count(name) > 1 else name for i, name in enumerate(told)]
    return [
        Seat(name, None, new_secret()) if player < len(names) else Seat(name, agents[player - len(names)])
        for player, name in enumerate(final)
    ]


def announcement(lobby: Lobby, base: str, given: argparse.Namespace) -> str:
    """What is served, and all links."""
    lines = []
    for table in lobby.tables.values():
        if table.game.over:
            continue
        state = "new" if not table.number else f"after {counted(table.number, 'move')}"
        variant = filter(None, [table.game.definition.title, of_game.rules_of(table.game)])
        lines.append(f"{', '.join([*variant, *table.names])} ({state})")
        width = max(len(table.names[player]) for player in table.people)
        lines += [
            f"  {table.names[player]:<{width}}  {base}/seat/{table.seats[player].secret}" for player in table.people
        ]
    if not lines:
        lines.append(f"There is no running game in {given.games}.")
    lines.append(f"All games: {base}/host/{lobby.host_secret}")
    if not loopback(given.host):
        lines.append("Others in your network can reach this server; without a link they can see and do nothing.")
    lines.append(
        f"Games are kept in {given.games}. Ctrl-C stops the server. Start it again, with --resume or a new game, "
        "and all links work as before."
    )
    return "\n".join(lines)


def first_page(lobby: Lobby, given: argparse.Namespace) -> str:
    """The page to open: the only person's seat, or the list of all games."""
    table = next(reversed(lobby.tables.values()), None)
    if given.resume or table is None or len(table.people) > 1:
        return f"/host/{lobby.host_secret}"
    return f"/seat/{table.seats[table.people[0]].secret}"


def family(host: str) -> Any:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def address(host: str) -> str:
    """How other machines call this one, in a link."""
    if host in ("", "0.0.0.0", "::"):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(("192.0.2.1", 9))  # sends nothing: only asks which of our addresses would be used
                return str(probe.getsockname()[0])
            except OSError:
                return socket.gethostname()
    return f"[{host}]" if ":" in host else host


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
