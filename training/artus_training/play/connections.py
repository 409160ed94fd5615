"""Connection limits of the server: number of connections, time for a request, and shutdown.

A connection that has used a seat's link belongs to that seat, all others to the client's IP address. When there are too
many, the longest silent one is closed: of the same seat, or of the address with the most connections. So open
connections of one client can't lock out a seat.
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
"""Maximum time of an open connection without a complete request."""
BACKLOG = 64
"""Connections accepted at a time before excess ones are closed: far below the limit of open files."""


class Crowd:
    """All connections.

    Args:
        secret_of: Returns the seat's secret in a path, None without a known one.
    """

    def __init__(self, secret_of: Callable[[str], str | None]) -> None:
        self.secret_of = secret_of
        self._seats: dict[Connection, str] = {}  # longest silent first
        self._strangers: dict[Connection, str] = {}  # with the client's address

    def heard(self, connection: Connection, secret: str | None) -> None:
        """Record a new connection or a request, with a seat's secret or without."""
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
        """Record a closed connection."""
        self._seats.pop(connection, None)
        self._strangers.pop(connection, None)


class Connection(H11Protocol):
    """Closes itself unless a complete request arrives in time, even if it sends bytes slowly."""

    def __init__(self, *arguments: Any, crowd: Crowd, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._crowd = crowd
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        with suppress(OSError):  # else the second part of an answer waits for an acknowledgement
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
        """Close the connection now."""
        self._crowd.left(self)
        self.transport.abort()

    def _settle(self) -> None:
        """Run the clock while no request is being answered."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._disarm()
        elif self._deadline is None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(REQUEST_SECONDS, self.abort)

    def _disarm(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None


class Server(uvicorn.Server):
    """Web server for all games of a lobby.

    Args:
        lobby: The games.
        local: Whether it answers only to this machine's own names and to `hosts`.
        hosts: Host names of a proxy in front of it.
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
        """Ignore a second Ctrl-C: the first one ends the server and the agents' programs within seconds."""
        if not self.should_exit:
            super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close open streams first: they never end by themselves."""
        self._lobby.stop()
        await super().shutdown(sockets)
