"""The server's connections: how many there may be, how long one may take to ask for something, how all of them end.

A connection that asks with a seat's link belongs to that seat, all others to the machine that they come from. Where
there are too many, the one that was silent for longest is closed, of a seat's own or of the machine's that has most:
nobody can shut out a seat by holding connections open.
"""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from artus_training.play.server import Lobby, make_app

MOST_OF_A_SEAT = 24
MOST_STRANGERS = 128
REQUEST_SECONDS = 10.0
"""How long a connection may be open without a whole request."""
BACKLOG = 64
"""Connections that are taken on at a time, before those too many are closed: far fewer than a process may have files
open."""


class Crowd:
    """All connections.

    Args:
        secret_of: The seat's secret that a path has, if it is a known one.
    """

    def __init__(self, secret_of: Callable[[str], str | None]) -> None:
        self.secret_of = secret_of
        self._seats: dict[Connection, str] = {}  # the one that was silent for longest comes first
        self._strangers: dict[Connection, str] = {}  # with the machine's address

    def heard(self, connection: Connection, secret: str | None) -> None:
        """A connection is new or has asked for something, with a seat's secret or without."""
        self.left(connection)
        if secret is not None:
            self._seats[connection] = secret
            mates = [each for each, other in self._seats.items() if other == secret]
            if len(mates) > MOST_OF_A_SEAT:
                mates[0].abort()
        else:
            self._strangers[connection] = connection.client[0] if connection.client else ""
            if len(self._strangers) > MOST_STRANGERS:
                ((most, _),) = Counter(self._strangers.values()).most_common(1)
                next(each for each, machine in self._strangers.items() if machine == most).abort()

    def left(self, connection: Connection) -> None:
        """A connection is closed."""
        self._seats.pop(connection, None)
        self._strangers.pop(connection, None)


class Connection(H11Protocol):
    """A connection that is closed if it asks for nothing, however slowly it does so."""

    def __init__(self, *arguments: Any, crowd: Crowd, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._crowd = crowd
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        with suppress(OSError):  # or answers in two parts wait for the other side's acknowledgement
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._crowd.heard(self, None)
        self._settle()

    def connection_lost(self, exc: Exception | None) -> None:
        self._crowd.left(self)
        self._disarm()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        before = self.scope
        super().handle_events()
        if self.scope is not before:
            self._crowd.heard(self, self._crowd.secret_of(self.scope["path"]))
        self._settle()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._settle()

    def abort(self) -> None:
        """Close it now."""
        self._crowd.left(self)
        self.transport.abort()

    def _settle(self) -> None:
        """The clock runs as long as nothing is being answered."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._disarm()
        elif self._deadline is None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(REQUEST_SECONDS, self.abort)

    def _disarm(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None


class Server(uvicorn.Server):
    """A server of all games of a lobby.

    Args:
        lobby: The games.
        local: Whether only this machine is to reach it; then its pages have no other names than this machine's own and
            `hosts`.
        hosts: Names of a proxy in front of it.
    """

    def __init__(self, lobby: Lobby, local: bool, hosts: Collection[str] = ()) -> None:
        self._lobby = lobby
        crowd = Crowd(lobby.secret_of)
        super().__init__(
            uvicorn.Config(
                make_app(lobby, local, hosts), http=partial(Connection, crowd=crowd),  # type: ignore[arg-type]
                loop="asyncio", log_level="error", access_log=False, ws="none", lifespan="on",
                timeout_graceful_shutdown=2,
                server_header=False, proxy_headers=False, backlog=BACKLOG,
            )
        )  # fmt: skip

    def handle_exit(self, sig: int, frame: Any) -> None:
        """A second Ctrl-C changes nothing: the first ends the server within seconds, and the agents' programs with
        it."""
        if not self.should_exit:
            super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close open streams first: they would never end by themselves."""
        self._lobby.stop()
        await super().shutdown(sockets)
