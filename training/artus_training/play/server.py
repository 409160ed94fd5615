"""The web server: pages for seats, and their API.

Every address of a seat contains its secret, so that nothing can be seen or done without it. Answers other than pages
are JSON; a refused request gets a 4xx status with `{"error": reason}` and changes nothing.

    GET  /seat/SECRET                page of a seat
    GET  /api/SECRET                 players, appearance, the log, the seat's current view
    GET  /api/SECRET/events          the seat's view after each further move, as server-sent events; in between `alive`
    POST /api/SECRET/preview         {"number": .., "move": ..}: the effect of a move
    POST /api/SECRET/move            {"number": .., "move": ..}: play a move
    POST /api/SECRET/hint            {"number": ..}: the best moves and their expected results
    GET  /api/SECRET/review          analysis of a finished game: chances to win, and the worst lapse
    GET  /api/SECRET/at/NUMBER       the seat's view of a finished game after NUMBER moves
    POST /api/SECRET/undo            {"number": ..}: ask to take back the last move, or agree to it
    POST /api/SECRET/resign          give the game up
    GET  /api/SECRET/placement       the person's placement among the agents, in words, once the game is over
    POST /api/SECRET/again           another game with the same players, once this one is over
    GET  /api/SECRET/next            the seat's link in the game dealt by `again`
    GET  /api/SECRET/lessons         the rules in a few pictures
    GET  /static/VERSION/FILE        scripts and styles, cached permanently: VERSION is a hash of the contents
    GET  /static/VERSION/GAME/FILE   files of a game; GAME contains a hash, too
    GET  /record/SECRET.jsonl        the record of a finished game
    GET  /film/SECRET.html           the finished game as a page to step through
    GET  /host/SECRET                start page and all games, for the person who runs the server
    GET  /api/host/SECRET            all games and their links
    GET  /api/host/SECRET/choices    available choices: games, variants, levels
    POST /api/host/SECRET/person     {"game": .., "rules": .., "players": .., "name": ..}: a person's placement
    GET  /api/host/SECRET/GAME.svg   a picture of a game
    POST /api/host/SECRET/new        {"game": .., "rules": .., "seats": [{"name": ..} or {"level": ..}, ..]}: set it up
    POST /api/host/SECRET/again      {"name": ..}: deal a game again, with the same players
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from artus_env.engine.contract.registry import find_game, game_names
from artus_env.engine.drawing.translations import language
from artus_training.play import agent_moves, forecast, placements, start_page, strength, texts, tutorial, view
from artus_training.play.folder import Entry
from artus_training.play.hosted import HostedGame, RefusedError
from artus_training.play.lobby import Lobby, same_seats
from artus_training.play.middleware import CancelledRequests, OnlyThisMachine, RequestLanguage, SafeHeaders
from artus_training.play.pages import files_of, own_files, page
from artus_training.play.texts import say
from artus_training.replays import film

T = TypeVar("T")

LARGEST_BODY = 10_000
BODY_SECONDS = 10.0
MOST_CONNECTIONS = 500
"""Open connections beyond which requests get status 503: half of the open files that systems usually allow."""
MOST_STREAMS = 8
"""Streams per seat: a seat may be open in several windows."""
MOST_STEPS = 60
"""Maximum number of missed moves that a page is shown one by one; with more it shows only the current position."""
HEARTBEAT = 10.0
"""Seconds of silence after which a stream sends `alive`."""
COMPRESSION = 6
"""Level of gzip: 7 ms for a page of 300 kB; level 9 takes 12 ms for 1 % less."""


class Endpoints:
    """Handlers of all requests. They get a game and a player instead of a secret, and return a response or data for
    JSON.

    Args:
        lobby: The games.
    """

    def __init__(self, lobby: Lobby) -> None:
        self.lobby = lobby

    def routes(self) -> list[Route]:
        """All addresses with their handlers."""
        lobby = self.lobby
        find_seat, find_ended_seat = lobby.at_seat, lobby.at_seat_when_over
        find_record, check_host = lobby.of_record, lobby.of_host
        return [
            Route("/", self.front),
            get("/seat/{secret}", find_seat, self.seat),
            get("/host/{secret}", check_host, self.host),
            get("/api/host/{secret}", check_host, self.games),
            get("/api/host/{secret}/choices", check_host, self.choices),
            post("/api/host/{secret}/person", check_host, self.person, "game", "rules", "players", "name"),
            get("/api/host/{secret}/{game}.svg", check_host, self.picture),
            post("/api/host/{secret}/new", check_host, self.deal, "game", "rules", "seats"),
            post("/api/host/{secret}/again", check_host, self.deal_again, "name"),
            get("/api/{secret}", find_seat, self.state),
            Route("/api/{secret}/events", self.events),
            post("/api/{secret}/preview", find_seat, self.preview, "number", "move"),
            post("/api/{secret}/move", find_seat, self.move, "number", "move"),
            post("/api/{secret}/hint", find_seat, self.hint, "number"),
            post("/api/{secret}/undo", find_seat, self.undo, "number"),
            post("/api/{secret}/resign", find_seat, self.resign),
            get("/api/{secret}/placement", find_ended_seat, self.placement),
            post("/api/{secret}/again", find_seat, self.again),
            get("/api/{secret}/review", find_ended_seat, self.review),
            get("/api/{secret}/at/{number:int}", find_ended_seat, self.look_back),
            get("/api/{secret}/lessons", find_seat, self.lessons),
            get("/api/{secret}/next", find_seat, self.following),
            get("/record/{secret}.jsonl", find_record, self.record),
            get("/film/{secret}.html", find_record, self.film),
            Route("/static/{version}/{file}", self.file),
            Route("/static/{version}/{game}/{file:path}", self.file),
        ]

    # --- a seat ---

    async def seat(self, hosted: HostedGame, player: int) -> Response:
        return HTMLResponse(
            page("seat.html", everything=await self.state(hosted, player), files=files_of(hosted.game.definition))
        )

    async def state(self, hosted: HostedGame, player: int) -> dict[str, Any]:
        return {**view.setup(hosted, player), "state": view.seen(hosted, player)}

    async def events(self, request: Request) -> Response:
        hosted, player = await unless_gone(request, self.lobby.at_seat(request.path_params["secret"]))
        last_event = request.headers.get("last-event-id") or request.query_params.get("after") or ""
        after = int(last_event) if last_event.isdecimal() and len(last_event) < 10 else -1
        unbuffered = {"X-Accel-Buffering": "no"}  # else nginx delays events until its buffer is full
        return StreamingResponse(
            stream(self.lobby, hosted, player, after), headers=unbuffered, media_type="text/event-stream"
        )

    async def preview(self, hosted: HostedGame, player: int, number: Any, move: Any) -> dict[str, Any]:
        hosted.check_turn(player, number)
        return view.preview(hosted.game, hosted.check_move(move), hosted.names)

    async def move(self, hosted: HostedGame, player: int, number: Any, move: Any) -> dict[str, Any]:
        hosted.play(player, number, move)
        return {"number": hosted.number}

    async def hint(self, hosted: HostedGame, player: int, number: Any) -> dict[str, Any]:
        hosted.check_turn(player, number)
        hosted.ask_for_hint(player)
        game, key = hosted.game, hosted.key
        position = hosted.name, hosted.number, game.state.tobytes()
        secret = hosted.seats[player].secret
        prospects = await self.lobby.hints.do(position, lambda check: forecast.hint(game, key, check), secret)
        moves = []
        for prospect in prospects:
            action = game.action(prospect.move)
            description = view.described(game, action, hosted.names)
            reasons = view.reasons(game, action, hosted.names)
            moves.append({**description, "wins": prospect.wins, "lead": prospect.lead, "reasons": reasons})
        agent = strength.strongest(game.definition, game.rules, game.num_players)
        return {"number": number, "agent": agent, "games": forecast.DEALS, "moves": moves}

    async def undo(self, hosted: HostedGame, player: int, number: Any) -> dict[str, Any]:
        hosted.take_back(player, number)
        return {"number": hosted.number}

    async def resign(self, hosted: HostedGame, player: int) -> dict[str, Any]:
        hosted.resign(player)
        return {"number": hosted.number}

    async def again(self, hosted: HostedGame, player: int) -> dict[str, Any]:
        return {"link": f"/seat/{self.lobby.again(hosted).seats[player].secret}"}

    async def following(self, hosted: HostedGame, player: int) -> dict[str, Any]:
        new = self.lobby.games.following(Entry.of(hosted))
        if new is None:
            raise RefusedError(404, "no-next")
        return {"link": f"/seat/{new.seats[player].secret}"}

    async def lessons(self, hosted: HostedGame, player: int) -> dict[str, Any]:
        game = hosted.game
        key = "lessons", game.definition.name, game.rules, game.num_players
        return {
            "pages": await self._in_thread(key, lambda: tutorial.pages(game.definition, game.rules, game.components))
        }

    # --- a finished game ---

    async def placement(self, hosted: HostedGame, player: int) -> dict[str, Any]:
        key = "placement", hosted.name, player
        return {"lines": await self._in_thread(key, lambda: placements.after_game(hosted, player))}

    async def review(self, hosted: HostedGame, player: int) -> dict[str, Any]:
        games, moves = [step.game for step in hosted.steps], hosted.own_moves
        analysis = await self.lobby.reviews.do(
            hosted.name,
            lambda check: forecast.review(games, moves, hosted.people, hosted.key, check),
            hosted.seats[player].secret,
        )
        return view.review(hosted, player, analysis)

    async def look_back(self, hosted: HostedGame, player: int, number: int) -> dict[str, Any]:
        if number > hosted.number:
            raise RefusedError(404, "no-page")
        return view.seen(hosted, player, number)

    async def record(self, hosted: HostedGame) -> Response:
        headers = {"Content-Disposition": f'attachment; filename="{hosted.game.definition.name}-{hosted.name}.jsonl"'}
        return Response(hosted.record() + "\n", media_type="application/jsonl", headers=headers)

    async def film(self, hosted: HostedGame) -> Response:
        key = hosted.name, language()
        html = await self.lobby.films.do(key, lambda check: film.page_of(hosted.record(), check=check))
        name = f"{hosted.game.definition.name}-{hosted.name}.html"
        return HTMLResponse(html, headers={"Content-Disposition": f'attachment; filename="{name}"'})

    # --- the person who runs the server ---

    async def host(self) -> Response:
        return HTMLResponse(page("host.html"))

    async def games(self) -> dict[str, Any]:
        games = [listed(entry) for entry in reversed([*self.lobby.games.entries.values()])]
        return {"games": games, "warnings": [*map(str, self.lobby.games.notices)]}

    async def choices(self) -> dict[str, Any]:
        return {"games": await self._in_thread(("choices",), start_page.choices)}

    async def person(self, **request: Any) -> dict[str, Any]:
        name, variant = start_page.read_person(request)
        key = "person", name, variant
        return {"lines": await self._in_thread(key, lambda: placements.before_game(self.lobby.store, name, variant))}

    async def picture(self, game: str) -> Response:
        if game not in game_names():
            raise RefusedError(404, "no-game")
        svg = await self._in_thread(("picture", game), lambda: start_page.picture(game))
        return Response(svg, media_type="image/svg+xml")

    async def deal(self, **request: Any) -> dict[str, Any]:
        game, rules, seats = start_page.read(request)
        await self._in_thread(("warm up", game.name), lambda: agent_moves.warm_up(game.name))
        return listed(Entry.of(self.lobby.deal(game.name, rules, seats)))

    async def deal_again(self, name: Any) -> dict[str, Any]:
        if not isinstance(name, str):
            raise RefusedError(404, "no-game")
        hosted = await self.lobby.find(name)
        return listed(Entry.of(self.lobby.deal(hosted.game.definition.name, hosted.game.rules, same_seats(hosted))))

    # --- everybody ---

    async def front(self, request: Request) -> Response:
        return HTMLResponse(page("front.html"))

    async def file(self, request: Request) -> Response:
        address, page_files = request.path_params, own_files()
        files = self.lobby.page_files(address["game"]) if "game" in address else page_files
        if files is None or address["version"] != page_files.version or address["file"] not in files.contents:
            raise HTTPException(404)
        headers = {"Cache-Control": "public, max-age=31536000, immutable", "ETag": f'W/"{files.version}"'}
        if headers["ETag"] in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(files.contents[address["file"]], media_type=files.type_of(address["file"]), headers=headers)

    async def _in_thread(self, key: tuple[Any, ...], work: Callable[[], T]) -> T:
        """Run `work` in a thread and return its result, see `Workers.do`; `key` identifies the task."""
        return await self.lobby.helpers.do((*key, language()), lambda check: work())


Handler = Callable[..., Coroutine[Any, Any, Response | dict[str, Any]]]
Find = Callable[[str], Coroutine[Any, Any, tuple[Any, ...]]]
"""Looks up the secret in an address. Returns the first arguments of the handler, such as game and player."""


def endpoint(find: Find, handler: Handler, *keys: str) -> Callable[[Request], Awaitable[Response]]:
    """Turn a handler into a function of a request, as Starlette needs it.

    Args:
        find: See `Find`.
        handler: Called with what `find` returns, and with the other parts of the address and the values of the body by
            name.
        keys: Keys of the body, a JSON object; only for POST.
    """

    async def answer(request: Request) -> Response:
        values = {**request.path_params}
        lookup = find(values.pop("secret"))
        if request.method == "POST":
            first_arguments = await lookup
            values |= await body(request, *keys)
        else:
            first_arguments = await unless_gone(request, lookup)
        result = await unless_gone(request, handler(*first_arguments, **values))
        return result if isinstance(result, Response) else JSONResponse(result)

    return answer


def get(path: str, find: Find, handler: Handler) -> Route:
    """A route for GET; see `endpoint`."""
    return Route(path, endpoint(find, handler))


def post(path: str, find: Find, handler: Handler, *keys: str) -> Route:
    """A route for POST; see `endpoint`."""
    return Route(path, endpoint(find, handler, *keys), methods=["POST"])


def make_app(lobby: Lobby, local: bool, hosts: Collection[str] = ()) -> Starlette:
    """The ASGI application.

    Args:
        lobby: The games.
        local: Whether to refuse requests for host names other than this machine's own and `hosts`.
        hosts: Further host names to answer to, such as a proxy's; normalized by `host_name`.
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        lobby.agents.begin(lobby.games.loaded())
        yield
        await lobby.close()

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, RefusedError)
        return failed(request, error.status, str(error))

    async def gone(request: Request, error: Exception) -> Response:
        return Response(status_code=400)  # not read by anyone: the client has disconnected

    async def http_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return failed(request, error.status_code, error.detail, error.headers)

    handlers = {RefusedError: refused, HTTPException: http_error, ClientDisconnect: gone}
    app = Starlette(routes=Endpoints(lobby).routes(), lifespan=lifespan, exception_handlers=handlers)
    app.router.redirect_slashes = False
    app.add_middleware(GZipMiddleware, compresslevel=COMPRESSION)  # leaves event streams as they are
    if local:
        app.add_middleware(OnlyThisMachine, hosts=hosts)
    app.add_middleware(RequestLanguage)
    app.add_middleware(SafeHeaders)
    app.add_middleware(CancelledRequests, lobby=lobby)
    return app


async def stream(lobby: Lobby, hosted: HostedGame, player: int, after: int) -> AsyncIterator[str]:
    """A seat's view after each move beyond number `after`, as server-sent events, until the server stops.

    A seat has at most `MOST_STREAMS` at a time. If there are more, the oldest ones end; their pages may be gone.
    """
    stream_id, open_streams = object(), lobby.listening.setdefault((hosted.name, player), [])
    open_streams.append(stream_id)
    if len(open_streams) > MOST_STREAMS:
        hosted.notify()
    try:
        yield "retry: 1000\n\n"
        last_sent: Any = (after, "", "", 0, frozenset(), 0) if after == hosted.number else None
        while not lobby.stopping and stream_id in open_streams[-MOST_STREAMS:]:
            changed, now = hosted.changed, hosted.number
            few_missed = 0 <= after <= now <= after + MOST_STEPS
            for number in range(after + 1, now) if few_missed else ():
                yield event(number, view.seen(hosted, player, number))
                await asyncio.sleep(0)  # let other tasks run: missed steps come all at once
            after = now
            current = (now, hosted.trouble, hosted.next, hosted.taken_back, hosted.agreed, len(hosted.resigned))
            if last_sent != current:
                last_sent = current
                yield event(now, view.seen(hosted, player, now))
                continue
            yield f"event: alive\ndata: {1000 * HEARTBEAT:.0f}\n\n"
            with suppress(TimeoutError):
                async with asyncio.timeout(HEARTBEAT):
                    await changed.wait()
    finally:
        open_streams.remove(stream_id)


async def unless_gone(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Await some work, but cancel it when the client disconnects. The request's body must have been read before.

    Raises:
        ClientDisconnect: If the client disconnects first.
    """

    async def disconnection() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    task, disconnected = asyncio.ensure_future(work), asyncio.ensure_future(disconnection())
    try:
        await asyncio.wait({task, disconnected}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnect
        return task.result()
    finally:
        task.cancel()
        disconnected.cancel()


async def body(request: Request, *keys: str) -> dict[str, Any]:
    """The JSON object of a request, with exactly these keys.

    Raises:
        RefusedError: If the body is something else.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise RefusedError(415, "type")
    data = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                data += chunk
                if len(data) > LARGEST_BODY:
                    raise RefusedError(413, "large", n=LARGEST_BODY)
    except TimeoutError:
        raise RefusedError(408, "slow", seconds=f"{BODY_SECONDS:g}") from None
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        raise RefusedError(400, "json") from None
    if not isinstance(content, dict) or set(content) != set(keys):
        raise RefusedError(400, "keys", keys=", ".join(keys) or say("error.no-keys"))
    return content


def event(number: int, data: dict[str, Any]) -> str:
    return f"id: {number}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"


def listed(entry: Entry) -> dict[str, Any]:
    """A game in the host's list."""
    definition = find_game(entry.game)
    return {
        "name": entry.name,
        "title": texts.title_of(definition),
        "rules": texts.rules_of(definition, entry.rules),
        "over": entry.over,
        "moves": entry.moves,
        "scored": [texts.scored(definition, points) for points in entry.scores],
        "turn": entry.turn,
        "trouble": entry.trouble,
        "seats": [
            {"name": seat.name, "agent": seat.agent, "link": f"/seat/{seat.secret}" if seat.secret else None}
            for seat in entry.seats
        ],
    }


def failed(request: Request, status: int, reason: str, headers: Any = None) -> Response:
    """Answer to a refused request: JSON for programs, a page for people who follow a link."""
    if not request.url.path.startswith("/api/") and "text/html" in request.headers.get("accept", "").lower():
        return HTMLResponse(page("front.html"), status, headers)
    return JSONResponse({"error": reason}, status, headers)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens for connections.

    Raises:
        OSError: If it can't listen there.
    """
    listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    # Accepted connections inherit this option. Without it, the second packet of an answer waits until the client has
    # acknowledged the first one.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


class Server(uvicorn.Server):
    """Web server for all games of a lobby.

    Args:
        lobby: The games.
        local: Whether to refuse requests for host names other than this machine's own and `hosts`.
        hosts: Host names of a proxy in front of it.
    """

    def __init__(self, lobby: Lobby, local: bool, hosts: Collection[str] = ()) -> None:
        self._lobby = lobby
        super().__init__(
            uvicorn.Config(
                make_app(lobby, local, hosts), http="h11", loop="asyncio", ws="none", lifespan="on",
                log_level="error", access_log=False, server_header=False, proxy_headers=False,
                limit_concurrency=MOST_CONNECTIONS, timeout_graceful_shutdown=2,
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
