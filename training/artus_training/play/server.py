"""The web server: pages for seats, and the few questions that they ask.

A seat's secret is a part of every address that concerns it, so that nothing can be seen or done without it. Answers
other than pages are JSON; what is refused gets a 4xx with `{"error": reason}` and changes nothing.

    GET  /seat/SECRET                page of a seat
    GET  /api/SECRET                 who plays, how things look, the log, what the seat sees now
    GET  /api/SECRET/events          what the seat sees after each further move, as server-sent events
    POST /api/SECRET/preview         {"number": .., "move": ..}: what a move would do
    POST /api/SECRET/move            the same: play it
    POST /api/SECRET/hint            {"number": ..}: what ismcts would play, and how sure it is
    POST /api/SECRET/again           another game with the same players, once this one is over
    GET  /api/SECRET/next            the seat's link in that game
    GET  /games/GAME/FILE            a game's own script, and what it asks for
    GET  /record/SHARE.jsonl         the record of a finished game
    GET  /host/SECRET                page with all games, for the person who runs the server
    GET  /api/host/SECRET            all games and their links
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from artus_training.play import of_game, sight
from artus_training.play.store import Store, left_alone, new_secret, reason
from artus_training.play.table import RefusedError, Seat, Table
from artus_training.play.thinking import HINT_SIMULATIONS, Thinking

PAGE = Path(__file__).parent / "page"
LARGEST_BODY = 10_000
BODY_SECONDS = 10.0
MOST_STREAMS = 8
"""Streams of one seat, which may be open in several windows."""
MOST_STEPS = 60
"""Moves that a page is shown one after the other if it was away; beyond that it just sees the table as it is."""
HEARTBEAT = 15.0
"""Seconds after which a silent stream says that it is alive."""
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",  # addresses hold secrets
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class Lobby:
    """All tables of a folder, found by their secrets.

    Args:
        store: The folder.
        allowed: Names of agents that may start a program: those that were typed, not those in files.
    """

    def __init__(self, store: Store, allowed: Collection[str] = ()) -> None:
        self.store = store
        self.host_secret = store.host_secret()
        self.tables: dict[str, Table] = {}
        self._seats: dict[str, tuple[Table, int]] = {}
        self._shares: dict[str, Table] = {}
        self.thinking = Thinking(allowed)
        self.stopping = False
        self.listening: dict[tuple[str, int], list[object]] = {}  # open streams of each seat, the oldest first
        self.pages: dict[str, StaticFiles] = {}  # the games' own scripts
        for path, content in store.read_all():
            try:
                self.add(Table.load(store, path.stem, content))
            except Exception as error:  # whatever is wrong in one file, the other games are served
                left_alone(path, error)
        for table in self.tables.values():
            if self.following(table) is None:
                table.next = ""  # it is gone, or was never one of these people's

    def add(self, table: Table) -> None:
        """Let a table be found. `start` lets its agents move, once the server runs.

        Raises:
            ValueError: If one of its secrets is another table's, or one is there twice.
        """
        secrets = [seat.secret for seat in table.seats if seat.secret is not None]
        if (
            len(set(secrets)) < len(secrets)
            or not self._seats.keys().isdisjoint(secrets)
            or table.share in self._shares
        ):
            raise ValueError("a secret of its links is another link's")
        definition = table.game.definition
        page = definition.page
        if page is not None and definition.name not in self.pages:
            self.pages[definition.name] = StaticFiles(directory=page)
        self.tables[table.name] = table
        self._shares[table.share] = table
        for player, seat in enumerate(table.seats):
            if seat.secret is not None:
                self._seats[seat.secret] = table, player

    def stop(self) -> None:
        """End all streams."""
        self.stopping = True
        for table in self.tables.values():
            table.notify()

    def secret_of(self, path: str) -> str | None:
        """The seat's secret in a path, if there is one."""
        return next((part for part in path.split("/")[:4] if part in self._seats or part == self.host_secret), None)

    def seat(self, secret: str) -> tuple[Table, int]:
        """Whose secret it is.

        Raises:
            RefusedError: If it is nobody's.
        """
        if secret not in self._seats:
            raise RefusedError(404, "there is no such seat: the link is wrong, or its game is kept in another folder")
        return self._seats[secret]

    def shared(self, share: str) -> Table:
        """The table whose record may be read with this.

        Raises:
            RefusedError: If there is none.
        """
        if share not in self._shares:
            raise RefusedError(404, "there is no such game")
        return self._shares[share]

    def following(self, table: Table) -> Table | None:
        """The game that was set up to follow this one: another one of its kind, with the same seats."""
        new = self.tables.get(table.next)
        if new is None or new is table or new.game.definition is not table.game.definition:
            return None
        same = [(seat.name, seat.agent) for seat in new.seats] == [(seat.name, seat.agent) for seat in table.seats]
        return new if same else None

    def again(self, table: Table) -> Table:
        """Another game with the same players; they get new links.

        Raises:
            RefusedError: If the game isn't over, or the new one can't be kept.
        """
        if not table.game.over:
            raise RefusedError(409, "the game isn't over yet")
        following = self.following(table)
        if following is not None:
            return following
        seats = [Seat(seat.name, seat.agent, None if seat.agent else new_secret()) for seat in table.seats]
        try:
            new = Table.deal(self.store, table.game.rules, seats, game_name=table.game.definition.name)
            table.next = new.name
            table.save()
        except OSError as error:
            if table.next:  # a game that nobody would find
                self.store.remove(table.next)
            table.next = ""
            raise RefusedError(503, f"the game can't be kept on disk: {reason(error)}") from None
        self.add(new)
        self.thinking.start(new)
        table.notify()
        return new


def make_app(lobby: Lobby, local: bool) -> Starlette:
    """The ASGI application. `local`: it answers to this machine's own names only."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        for table in lobby.tables.values():
            lobby.thinking.start(table)
        yield
        await lobby.thinking.close()

    def seated(
        answer: Callable[[Request, Table, int], Awaitable[Response]],
    ) -> Callable[[Request], Awaitable[Response]]:
        """An endpoint for holders of a seat's secret."""

        async def endpoint(request: Request) -> Response:
            return await answer(request, *lobby.seat(request.path_params["secret"]))

        return endpoint

    async def page(request: Request, table: Table, player: int) -> Response:
        return FileResponse(PAGE / "seat.html")

    async def state(request: Request, table: Table, player: int) -> Response:
        return JSONResponse({**sight.setup(table, player), "state": sight.seen(table, player)})

    async def events(request: Request, table: Table, player: int) -> Response:
        given = request.headers.get("last-event-id") or request.query_params.get("after") or ""
        after = int(given) if given.isdecimal() and len(given) < 10 else -1
        return StreamingResponse(stream(lobby, table, player, after), media_type="text/event-stream")

    async def preview(request: Request, table: Table, player: int) -> Response:
        asked = await body(request, "number", "move")
        table.check_turn(player, asked["number"])
        return JSONResponse(sight.preview(table.game, table.check_move(asked["move"]), table.names))

    async def move(request: Request, table: Table, player: int) -> Response:
        asked = await body(request, "number", "move")
        table.play(player, asked["number"], asked["move"])
        return JSONResponse({"number": table.number})

    async def hint(request: Request, table: Table, player: int) -> Response:
        asked = await body(request, "number")
        table.check_turn(player, asked["number"])
        game = table.game
        best, searched = await lobby.thinking.hint(table)
        tried = [{**sight.described(game, game.action(move), table.names), "share": share} for move, share in best]
        return JSONResponse(
            {"number": asked["number"], "searched": searched, "tries": HINT_SIMULATIONS, "moves": tried}
        )

    async def again(request: Request, table: Table, player: int) -> Response:
        await body(request)
        new = lobby.again(table)
        return JSONResponse({"link": f"/seat/{new.seats[player].secret}"})

    async def following(request: Request, table: Table, player: int) -> Response:
        new = lobby.following(table)
        if new is None:
            raise RefusedError(404, "no other game was set up")
        return JSONResponse({"link": f"/seat/{new.seats[player].secret}"})

    async def game_file(request: Request) -> Response:
        files = lobby.pages.get(request.path_params["game"])
        if files is None:
            raise HTTPException(404)
        return await files.get_response(request.path_params["file"], request.scope)

    async def record(request: Request) -> Response:
        table = lobby.shared(request.path_params["share"])
        headers = {"Content-Disposition": f'attachment; filename="{table.game.definition.name}-{table.name}.jsonl"'}
        return Response(table.record() + "\n", media_type="application/jsonl", headers=headers)

    def check_host(request: Request) -> None:
        if request.path_params["secret"] != lobby.host_secret:
            raise RefusedError(404, "there is no such page")

    async def host_page(request: Request) -> Response:
        check_host(request)
        return FileResponse(PAGE / "host.html")

    async def host(request: Request) -> Response:
        check_host(request)
        return JSONResponse({"games": [listed(table) for table in reversed(lobby.tables.values())]})

    async def front(request: Request) -> Response:
        return FileResponse(PAGE / "front.html")

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, RefusedError)
        return failed(request, error.status, str(error))

    async def gone(request: Request, error: Exception) -> Response:
        return Response(status_code=400)  # nobody reads it: they have hung up

    async def http_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return failed(request, error.status_code, error.detail, error.headers)

    get, post = ["GET"], ["POST"]
    routes = [
        Route("/", front, methods=get),
        Route("/seat/{secret}", seated(page), methods=get),
        Route("/host/{secret}", host_page, methods=get),
        Route("/api/host/{secret}", host, methods=get),
        Route("/api/{secret}", seated(state), methods=get),
        Route("/api/{secret}/events", seated(events), methods=get),
        Route("/api/{secret}/preview", seated(preview), methods=post),
        Route("/api/{secret}/move", seated(move), methods=post),
        Route("/api/{secret}/hint", seated(hint), methods=post),
        Route("/api/{secret}/again", seated(again), methods=post),
        Route("/api/{secret}/next", seated(following), methods=get),
        Route("/games/{game}/{file:path}", game_file, methods=get),
        Route("/record/{share}.jsonl", record, methods=get),
        Mount("/static", StaticFiles(directory=PAGE)),
    ]
    handlers = {RefusedError: refused, HTTPException: http_error, ClientDisconnect: gone}
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    app.router.redirect_slashes = False
    if local:
        app.add_middleware(OnlyThisMachine)
    app.add_middleware(SafeHeaders)
    return app


async def stream(lobby: Lobby, table: Table, player: int, after: int) -> AsyncIterator[str]:
    """What a seat sees after each move beyond number `after`, as server-sent events, until the server stops.

    A seat has at most `MOST_STREAMS` at a time: the oldest, which nobody may be reading any more, end.
    """
    mark, listening = object(), lobby.listening.setdefault((table.name, player), [])
    listening.append(mark)
    if len(listening) > MOST_STREAMS:
        table.notify()
    try:
        yield "retry: 1000\n\n"
        told: Any = (after, "", "") if after == table.number else None
        while not lobby.stopping and mark in listening[-MOST_STREAMS:]:
            changed, now = table.changed, table.number
            fits = 0 <= after <= now <= after + MOST_STEPS
            for number in range(after + 1, now) if fits else ():
                yield event(number, sight.seen(table, player, number))
                await asyncio.sleep(0)  # the others' turn: steps that were missed come all at once
            after = now
            if told != (now, table.trouble, table.next):
                told = (now, table.trouble, table.next)
                yield event(now, sight.seen(table, player, now))
                continue
            try:
                async with asyncio.timeout(HEARTBEAT):
                    await changed.wait()
            except TimeoutError:
                yield ": still here\n\n"
    finally:
        listening.remove(mark)


class OnlyThisMachine:
    """Refuses requests to a server of this machine that name another one.

    A page from elsewhere could otherwise let its own name point to this machine, and read what is here.
    """

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        app = self.app
        if scope["type"] == "http" and not loopback(
            host_name(dict(scope["headers"]).get(b"host", b"").decode("latin-1"))
        ):
            app = JSONResponse(
                {"error": "this server answers to this machine's own names only, such as localhost"}, 421
            )
        await app(scope, receive, send)


def host_name(header: str) -> str:
    """What a Host header names, without a port."""
    return header[1:].partition("]")[0] if header.startswith("[") else header.partition(":")[0]


def loopback(host: str) -> bool:
    """Whether a name or address is this machine's own, which no other can reach."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


class SafeHeaders:
    """Adds `HEADERS` to every answer."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def send_more(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    *message["headers"],
                    *((k.lower().encode(), v.encode()) for k, v in HEADERS.items()),
                ]
            await send(message)

        await self.app(scope, receive, send_more if scope["type"] == "http" else send)


async def body(request: Request, *keys: str) -> dict[str, Any]:
    """The JSON object that was sent, with just these keys.

    Raises:
        RefusedError: If it isn't that.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise RefusedError(415, "the body must be application/json")
    data = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                data += chunk
                if len(data) > LARGEST_BODY:
                    raise RefusedError(413, f"the body has more than {LARGEST_BODY} bytes")
    except TimeoutError:
        raise RefusedError(408, f"the body didn't come within {BODY_SECONDS:g} s") from None
    try:
        asked = json.loads(data)
    except (ValueError, RecursionError):
        raise RefusedError(400, "the body isn't JSON") from None
    if not isinstance(asked, dict) or set(asked) != set(keys):
        raise RefusedError(400, f"the body must be an object with {', '.join(keys) or 'no keys'}")
    return asked


def event(number: int, data: dict[str, Any]) -> str:
    return f"id: {number}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"


def listed(table: Table) -> dict[str, Any]:
    """A game in the host's list."""
    game = table.game
    return {
        "name": table.name,
        "title": game.definition.title,
        "score": game.definition.score,
        "rules": of_game.rules_of(game),
        "over": game.over,
        "moves": table.number,
        "scores": game.scores,
        "turn": game.player,
        "trouble": table.trouble,
        "seats": [
            {"name": seat.name, "agent": seat.agent, "link": f"/seat/{seat.secret}" if seat.secret else None}
            for seat in table.seats
        ],
    }


def failed(request: Request, status: int, reason: str, headers: Any = None) -> Response:
    """Why something is refused: JSON for programs, a page for people who follow a link."""
    if not request.url.path.startswith("/api/") and "text/html" in request.headers.get("accept", ""):
        text = (PAGE / "front.html").read_text(encoding="utf-8")
        return Response(text, status, headers, media_type="text/html")
    return JSONResponse({"error": reason}, status, headers)
