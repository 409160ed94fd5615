"""All games that a server has, found by name or by secret, and the threads that work for its pages."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any

from artus_env.engine.compiling.quotas import available_cores
from artus_env.engine.contract.registry import find_game
from artus_training.play.agent_moves import AgentMoves
from artus_training.play.folder import Entry, Games
from artus_training.play.hosted import HostedGame, RefusedError, Seat
from artus_training.play.pages import Files, files_of
from artus_training.play.store import Store, new_secret, reason
from artus_training.play.workers import Workers


class Lobby:
    """All games of a folder, found by their secrets.

    Args:
        store: The folder.
        allowed: Names of agents that may start a program: only those from the command line, not those in files.
    """

    def __init__(self, store: Store, allowed: Collection[str] = ()) -> None:
        self.store = store
        self.host_secret = store.host_secret()
        self.agents = AgentMoves(allowed)
        self.games = Games(store, self.agents.wake)
        cores = max(1, available_cores() // 2)
        self.hints, self.reviews = Workers(cores, most_kept=64), Workers(cores, most_kept=64)
        self.films = Workers(most_kept=16)
        self.helpers = Workers(2)  # for short tasks
        self.loaders = Workers(most_jobs=10_000)  # after a restart all pages send requests at once
        self.stopping = False
        self.requests: set[asyncio.Task[Any]] = set()  # requests not answered yet
        self.listening: dict[tuple[str, int], list[object]] = {}  # open streams of each seat, oldest first
        for entry in [*self.games.entries.values()]:
            if entry.over and not store.has_result(entry.name):
                with suppress(RefusedError):  # already reported on stderr
                    self.games[entry.name]  # loading saves its result

    def add(self, hosted: HostedGame) -> None:
        """Add a new game; its agents move once the server runs.

        Raises:
            ValueError: If one of its secrets is another game's.
        """
        self.games.add(hosted)

    def stop(self) -> None:
        """End all streams and cancel requests that aren't answered yet."""
        self.stopping = True
        for hosted in self.games.loaded():
            hosted.notify()
        for task in self.requests:
            task.cancel()

    async def close(self) -> None:
        """End all threads; wait at most `GOODBYE_SECONDS` for agents."""
        for workers in (self.hints, self.reviews, self.films, self.helpers, self.loaders):
            workers.close()
        await self.agents.close()

    # --- finding games ---

    async def find(self, name: str) -> HostedGame:
        """A game by its name; if necessary it is loaded in a thread, not in the event loop.

        Raises:
            RefusedError: If there is none, or its file can't be used.
        """
        if name in self.games and not self.games.is_loaded(name):
            return await self.loaders.do(name, lambda check: self.games[name])
        return self.games[name]

    async def at_seat(self, secret: str) -> tuple[HostedGame, int]:
        """Game and player of a seat's secret.

        Raises:
            RefusedError: If it is unknown, or its game can't be loaded.
        """
        if secret not in self.games.seats:
            raise RefusedError(404, "no-seat")
        name, player = self.games.seats[secret]
        return await self.find(name), player

    async def at_seat_when_over(self, secret: str) -> tuple[HostedGame, int]:
        """Same as `at_seat`, but refuses games that aren't over."""
        hosted, player = await self.at_seat(secret)
        if not hosted.over:
            raise RefusedError(409, "not-over")
        return hosted, player

    async def of_record(self, secret: str) -> tuple[HostedGame]:
        """The finished game of a link to a record.

        Raises:
            RefusedError: If there is none, or it isn't over.
        """
        hosted = await self.find(self.games.records.get(secret, ""))
        if not hosted.over:
            raise RefusedError(409, "record")
        return (hosted,)

    async def of_host(self, secret: str) -> tuple[()]:
        """Refuse all but the person who runs the server.

        Raises:
            RefusedError: If it isn't their secret.
        """
        if secret != self.host_secret:
            raise RefusedError(404, "no-page")
        return ()

    def page_files(self, name: str) -> Files | None:
        """The files of a game's own page, by `Files.name`; None unless a game that uses them is in the folder."""
        game = name.rpartition("-")[0]
        served_games = {entry.game for entry in [*self.games.entries.values()]}
        files = files_of(find_game(game)) if game in served_games else None
        return files if files and files.name == name else None

    # --- new games ---

    def deal(self, game: str, rules: str, seats: Sequence[Seat]) -> HostedGame:
        """Deal a new game, which begins at once.

        Raises:
            RefusedError: If it can't be saved.
        """
        try:
            new = HostedGame.deal(self.store, rules, seats, game_name=game)
        except OSError as error:
            raise RefusedError(503, "not-kept", reason=reason(error)) from None
        self.add(new)
        return new

    def again(self, hosted: HostedGame) -> Entry:
        """Deal another game with the same players; they get new links.

        Raises:
            RefusedError: If the game isn't over, or the new one can't be saved.
        """
        if not hosted.over:
            raise RefusedError(409, "not-over")
        following = self.games.following(Entry.of(hosted))
        if following is not None:
            return following
        try:
            new = HostedGame.deal(
                self.store, hosted.game.rules, same_seats(hosted), game_name=hosted.game.definition.name
            )
            hosted.next = new.name
            hosted.save()
        except OSError as error:
            if hosted.next:  # no link leads to this game
                self.store.remove(hosted.next)
            hosted.next = ""
            raise RefusedError(503, "not-kept", reason=reason(error)) from None
        self.add(new)
        hosted.notify()
        return Entry.of(new)


def same_seats(hosted: HostedGame) -> list[Seat]:
    """The same players for another game, with new links."""
    return [Seat(seat.name, seat.agent, None if seat.agent else new_secret()) for seat in hosted.seats]
