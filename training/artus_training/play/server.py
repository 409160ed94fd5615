"""The web server: pages for seats, and their API.

Every address of a seat contains its secret, so that nothing can be seen or done without it. Answers other than pages
are JSON; a refused request gets a 4xx status with `{"error": reason}` and changes nothing.

    GET  /seat/SECRET                page of a seat
    GET  /api/SECRET                 players, appearance, the log, the seat's current view
    GET  /api/SECRET/events          the seat's view after each further move, as server-sent events; in between `alive`
    POST /api/SECRET/preview         {"number": .., "move": ..}: the effect of a move
    POST /api/SECRET/move            the same: play it
    POST /api/SECRET/hint            {"number": ..}: the best moves and their expected results
    GET  /api/SECRET/review          analysis of a finished game: chances to win, and the worst lapse
    GET  /api/SECRET/at/NUMBER       the seat's view of a finished game after NUMBER moves
    POST /api/SECRET/undo            {"number": ..}: take back the last move, or agree to that
    POST /api/SECRET/resign          give the game up
    GET  /api/SECRET/placement       the person's placement among the agents, in words, once the game is over
    POST /api/SECRET/again           another game with the same players, once this one is over
    GET  /api/SECRET/next            the seat's link in that game
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
import ipaddress
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from html import escape
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from artus_env.engine.compiling.quotas import available_cores
from artus_env.engine.contract.registry import find_game, game_names
from artus_env.engine.drawing.translations import LANGUAGES, language, preferred, speaking
from artus_training.play import forecast, levels, of_game, placing, setting_up, sight, tutorial
from artus_training.play.folder import Entry, Games
from artus_training.play.hosted import HostedGame, RefusedError, Seat
from artus_training.play.pages import Files, embedded, files_of, own_files
from artus_training.play.pages import page as page_of
from artus_training.play.phrases import say
from artus_training.play.store import Store, new_secret, reason
from artus_training.play.thinking import Thinking
from artus_training.play.workers import Workers
from artus_training.replays import film

T = TypeVar("T")

LARGEST_BODY = 10_000
BODY_SECONDS = 10.0
MOST_STREAMS = 8
"""Streams per seat: a seat may be open in several windows."""
MOST_STEPS = 60
"""Maximum number of missed moves that a page is shown one by one; with more it shows only the current position."""
HEARTBEAT = 10.0
"""Seconds of silence after which a stream sends `alive`."""
COMPRESSION = 6
"""Level of gzip: 7 ms for a page of 300 kB; level 9 takes 12 ms for 1 % less."""
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",  # addresses contain secrets
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class Lobby:
    """All games of a folder, found by their secrets.

    Args:
        store: The folder.
        allowed: Names of agents that may start a program: only those from the command line, not those in files.
    """

    def __init__(self, store: Store, allowed: Collection[str] = ()) -> None:
        self.store = store
        self.host_secret = store.host_secret()
        self.thinking = Thinking(allowed)
        self.games = Games(store, self.thinking.wake)
        cores = max(1, available_cores() // 2)
        self.hints, self.reviews = Workers(cores, kept=64), Workers(cores, kept=64)
        self.films = Workers(kept=16)
        self.helpers = Workers(2)  # for short tasks
        self.loaders = Workers(most_jobs=10_000)  # after a restart all pages send requests at once
        self.stopping = False
        self.requests: set[asyncio.Task[Any]] = set()  # requests not answered yet
        self.listening: dict[tuple[str, int], list[object]] = {}  # open streams of each seat, oldest first
        self._pages: dict[str, Files] = {}  # the games' own files, by folder name
        for entry in [*self.games.entries.values()]:
            if entry.over and not store.has_result(entry.name):
                with suppress(KeyError):  # already reported on stderr
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
        await self.thinking.close()

    def secret_of(self, path: str) -> str | None:
        """The seat's or the host's secret in a path, None if there is none."""
        return next(
            (part for part in path.split("/")[:4] if part in self.games.seats or part == self.host_secret), None
        )

    def seat(self, secret: str) -> tuple[str, int]:
        """Game name and player of a seat's secret.

        Raises:
            RefusedError: If it is unknown.
        """
        if secret not in self.games.seats:
            raise RefusedError(404, "no-seat")
        return self.games.seats[secret]

    def game(self, name: str) -> HostedGame:
        """A game by its name, loaded if necessary.

        Raises:
            RefusedError: If there is none, or its file can't be used.
        """
        if name not in self.games:
            raise RefusedError(404, "no-game")
        try:
            return self.games[name]
        except KeyError:
            raise RefusedError(404, "damaged") from None

    def page_files(self, name: str) -> Files | None:
        """The files of a game's own page, by the name of their folder; None if no game in the folder has them."""
        if name not in self._pages:
            game = name.rpartition("-")[0]
            served = {entry.game for entry in [*self.games.entries.values()]}
            files = files_of(find_game(game)) if game in served else None
            if files is None or files.name != name:
                return None
            self._pages[name] = files
        return self._pages[name]

    def following(self, hosted: HostedGame) -> Entry | None:
        """The game that was set up to follow this one: another one of its kind, with the same seats."""
        return self.games.following(Entry.of(hosted))

    def again(self, hosted: HostedGame) -> Entry:
        """Deal another game with the same players; they get new links.

        Raises:
            RefusedError: If the game isn't over, or the new one can't be saved.
        """
        if not hosted.over:
            raise RefusedError(409, "not-over")
        following = self.following(hosted)
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


def same_seats(hosted: HostedGame) -> list[Seat]:
    """The same players for another game, with new links."""
    return [Seat(seat.name, seat.agent, None if seat.agent else new_secret()) for seat in hosted.seats]


def make_app(lobby: Lobby, local: bool, hosts: Collection[str] = ()) -> Starlette:
    """The ASGI application.

    Args:
        lobby: The games.
        local: Whether it answers only to this machine's own names and to `hosts`.
        hosts: Further host names to answer to, such as a proxy's; normalized by `host_name`.
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        lobby.thinking.begin(lobby.games.loaded())
        yield
        await lobby.close()

    async def loaded(request: Request, name: str) -> HostedGame:
        """A game; if necessary it is loaded in a thread, not in the event loop."""
        if lobby.games.is_loaded(name):
            return lobby.game(name)
        loading = lobby.loaders.do(name, lambda check: lobby.game(name))
        return await (unless_gone(request, loading) if request.method == "GET" else loading)

    async def of_record(request: Request) -> HostedGame:
        """The finished game of a link to a record.

        Raises:
            RefusedError: If there is none, or it isn't over.
        """
        hosted = await loaded(request, lobby.games.records.get(request.path_params["secret"], ""))
        if not hosted.over:
            raise RefusedError(409, "record")
        return hosted

    def seated(
        answer: Callable[[Request, HostedGame, int], Awaitable[Response]],
    ) -> Callable[[Request], Awaitable[Response]]:
        """An endpoint for holders of a seat's secret."""

        async def endpoint(request: Request) -> Response:
            name, player = lobby.seat(request.path_params["secret"])
            return await answer(request, await loaded(request, name), player)

        return endpoint

    async def helped(request: Request, key: tuple[Any, ...], work: Callable[[], T]) -> T:
        """Run a short task in a thread and return its result; see `Workers.do`."""
        return await unless_gone(request, lobby.helpers.do((*key, language()), lambda check: work()))

    async def page(request: Request, hosted: HostedGame, player: int) -> Response:
        everything = {**sight.setup(hosted, player), "state": sight.seen(hosted, player)}
        parts = {name: escape(everything[name]) for name in ("title", "rules")}
        files = files_of(hosted.game.definition)
        return HTMLResponse(
            page_of("seat.html", **parts, everything=embedded(everything), game=files.links() if files else "")
        )

    async def state(request: Request, hosted: HostedGame, player: int) -> Response:
        return JSONResponse({**sight.setup(hosted, player), "state": sight.seen(hosted, player)})

    async def events(request: Request, hosted: HostedGame, player: int) -> Response:
        given = request.headers.get("last-event-id") or request.query_params.get("after") or ""
        after = int(given) if given.isdecimal() and len(given) < 10 else -1
        unbuffered = {"X-Accel-Buffering": "no"}  # else nginx delays events until its buffer is full
        return StreamingResponse(
            stream(lobby, hosted, player, after), headers=unbuffered, media_type="text/event-stream"
        )

    async def preview(request: Request, hosted: HostedGame, player: int) -> Response:
        asked = await body(request, "number", "move")
        hosted.check_turn(player, asked["number"])
        return JSONResponse(sight.preview(hosted.game, hosted.check_move(asked["move"]), hosted.names))

    async def move(request: Request, hosted: HostedGame, player: int) -> Response:
        asked = await body(request, "number", "move")
        hosted.play(player, asked["number"], asked["move"])
        return JSONResponse({"number": hosted.number})

    async def hint(request: Request, hosted: HostedGame, player: int) -> Response:
        asked = await body(request, "number")
        hosted.check_turn(player, asked["number"])
        hosted.ask_for_hint(player)
        game, key = hosted.game, hosted.key
        position = hosted.name, hosted.number, game.state.tobytes()
        work = lobby.hints.do(position, lambda check: forecast.hint(game, key, check), hosted.seats[player].secret)
        found = await unless_gone(request, work)
        moves = []
        for each in found:
            action = game.action(each.move)
            about = sight.described(game, action, hosted.names)
            why = sight.reasons(game, action, hosted.names)
            moves.append({**about, "wins": each.wins, "lead": each.lead, "reasons": why})
        agent = levels.strongest(game.definition, game.rules, game.num_players)
        return JSONResponse({"number": asked["number"], "agent": agent, "games": forecast.DEALS, "moves": moves})

    async def review(request: Request, hosted: HostedGame, player: int) -> Response:
        if not hosted.over:
            raise RefusedError(409, "not-over")
        games, moves = [step.game for step in hosted.steps], hosted.own_moves
        work = lobby.reviews.do(
            hosted.name,
            lambda check: forecast.review(games, moves, hosted.people, hosted.key, check),
            hosted.seats[player].secret,
        )
        return JSONResponse(sight.review(hosted, player, await unless_gone(request, work)))

    async def look_back(request: Request, hosted: HostedGame, player: int) -> Response:
        if not hosted.over:
            raise RefusedError(409, "not-over")
        number = request.path_params["number"]
        if number > hosted.number:
            raise RefusedError(404, "no-page")
        return JSONResponse(sight.seen(hosted, player, number))

    async def take_back(request: Request, hosted: HostedGame, player: int) -> Response:
        hosted.take_back(player, (await body(request, "number"))["number"])
        return JSONResponse({"number": hosted.number})

    async def resign(request: Request, hosted: HostedGame, player: int) -> Response:
        await body(request)
        hosted.resign(player)
        return JSONResponse({"number": hosted.number})

    async def placement(request: Request, hosted: HostedGame, player: int) -> Response:
        if not hosted.over:
            raise RefusedError(409, "not-over")
        lines = await helped(request, ("placement", hosted.name, player), lambda: placing.after_game(hosted, player))
        return JSONResponse({"lines": lines})

    async def again(request: Request, hosted: HostedGame, player: int) -> Response:
        await body(request)
        new = lobby.again(hosted)
        return JSONResponse({"link": f"/seat/{new.seats[player].secret}"})

    async def lessons(request: Request, hosted: HostedGame, player: int) -> Response:
        game = hosted.game
        work = "lessons", game.definition.name, game.rules, game.num_players
        made = await helped(request, work, lambda: tutorial.pages(game.definition, game.rules, game.components))
        return JSONResponse({"pages": made})

    async def following(request: Request, hosted: HostedGame, player: int) -> Response:
        new = lobby.following(hosted)
        if new is None:
            raise RefusedError(404, "no-next")
        return JSONResponse({"link": f"/seat/{new.seats[player].secret}"})

    async def file(request: Request) -> Response:
        asked, own = request.path_params, own_files()
        files = lobby.page_files(asked["game"]) if "game" in asked else own
        if files is None or asked["version"] != own.version or asked["file"] not in files.contents:
            raise HTTPException(404)
        headers = {"Cache-Control": "public, max-age=31536000, immutable", "ETag": f'W/"{files.version}"'}
        if headers["ETag"] in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(files.contents[asked["file"]], media_type=files.type_of(asked["file"]), headers=headers)

    async def record(request: Request) -> Response:
        hosted = await of_record(request)
        headers = {"Content-Disposition": f'attachment; filename="{hosted.game.definition.name}-{hosted.name}.jsonl"'}
        return Response(hosted.record() + "\n", media_type="application/jsonl", headers=headers)

    async def film_page(request: Request) -> Response:
        hosted = await of_record(request)
        work = lobby.films.do((hosted.name, language()), lambda check: film.page_of(hosted.record(), check=check))
        page = await unless_gone(request, work)
        name = f"{hosted.game.definition.name}-{hosted.name}.html"
        return HTMLResponse(page, headers={"Content-Disposition": f'attachment; filename="{name}"'})

    def check_host(request: Request) -> None:
        if request.path_params["secret"] != lobby.host_secret:
            raise RefusedError(404, "no-page")

    async def host_page(request: Request) -> Response:
        check_host(request)
        return HTMLResponse(page_of("host.html"))

    async def host(request: Request) -> Response:
        check_host(request)
        games = [listed(entry) for entry in reversed([*lobby.games.entries.values()])]
        return JSONResponse({"games": games, "warnings": [*map(str, lobby.games.notices)]})

    async def choices(request: Request) -> Response:
        check_host(request)
        return JSONResponse({"games": await helped(request, ("choices",), setting_up.choices)})

    async def person(request: Request) -> Response:
        check_host(request)
        asked = setting_up.read_person(await body(request, "game", "rules", "players", "name"))
        work = helped(request, ("person", *asked), lambda: placing.before_game(lobby.store, *asked))
        return JSONResponse({"lines": await work})

    async def game_picture(request: Request) -> Response:
        check_host(request)
        game = request.path_params["game"]
        if game not in game_names():
            raise RefusedError(404, "no-game")
        drawn = await helped(request, ("picture", game), lambda: setting_up.picture(game))
        return Response(drawn, media_type="image/svg+xml")

    async def set_up(request: Request) -> Response:
        check_host(request)
        game, rules, seats = setting_up.read(await body(request, "game", "rules", "seats"))
        await helped(request, ("warm up", game.name), lambda: of_game.warm_up(game.name))
        return JSONResponse(listed(Entry.of(lobby.deal(game.name, rules, seats))))

    async def deal_again(request: Request) -> Response:
        check_host(request)
        name = (await body(request, "name"))["name"]
        if not isinstance(name, str) or name not in lobby.games:
            raise RefusedError(404, "no-game")
        hosted = await loaded(request, name)
        new = lobby.deal(hosted.game.definition.name, hosted.game.rules, same_seats(hosted))
        return JSONResponse(listed(Entry.of(new)))

    async def front(request: Request) -> Response:
        return HTMLResponse(page_of("front.html"))

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, RefusedError)
        return failed(request, error.status, str(error))

    async def gone(request: Request, error: Exception) -> Response:
        return Response(status_code=400)  # not read by anyone: the client has disconnected

    async def http_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return failed(request, error.status_code, error.detail, error.headers)

    get, post = ["GET"], ["POST"]
    routes = [
        Route("/", front, methods=get),
        Route("/seat/{secret}", seated(page), methods=get),
        Route("/host/{secret}", host_page, methods=get),
        Route("/api/host/{secret}", host, methods=get),
        Route("/api/host/{secret}/choices", choices, methods=get),
        Route("/api/host/{secret}/person", person, methods=post),
        Route("/api/host/{secret}/{game}.svg", game_picture, methods=get),
        Route("/api/host/{secret}/new", set_up, methods=post),
        Route("/api/host/{secret}/again", deal_again, methods=post),
        Route("/api/{secret}", seated(state), methods=get),
        Route("/api/{secret}/events", seated(events), methods=get),
        Route("/api/{secret}/preview", seated(preview), methods=post),
        Route("/api/{secret}/move", seated(move), methods=post),
        Route("/api/{secret}/hint", seated(hint), methods=post),
        Route("/api/{secret}/undo", seated(take_back), methods=post),
        Route("/api/{secret}/resign", seated(resign), methods=post),
        Route("/api/{secret}/placement", seated(placement), methods=get),
        Route("/api/{secret}/again", seated(again), methods=post),
        Route("/api/{secret}/review", seated(review), methods=get),
        Route("/api/{secret}/at/{number:int}", seated(look_back), methods=get),
        Route("/api/{secret}/lessons", seated(lessons), methods=get),
        Route("/api/{secret}/next", seated(following), methods=get),
        Route("/record/{secret}.jsonl", record, methods=get),
        Route("/film/{secret}.html", film_page, methods=get),
        Route("/static/{version}/{file}", file, methods=get),
        Route("/static/{version}/{game}/{file:path}", file, methods=get),
    ]
    handlers = {RefusedError: refused, HTTPException: http_error, ClientDisconnect: gone}
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    app.router.redirect_slashes = False
    app.add_middleware(GZipMiddleware, compresslevel=COMPRESSION)  # leaves event streams as they are
    if local:
        app.add_middleware(OnlyThisMachine, hosts=hosts)
    app.add_middleware(Speaking)
    app.add_middleware(SafeHeaders)
    app.add_middleware(UntilStopped, lobby=lobby)
    return app


async def stream(lobby: Lobby, hosted: HostedGame, player: int, after: int) -> AsyncIterator[str]:
    """A seat's view after each move beyond number `after`, as server-sent events, until the server stops.

    A seat has at most `MOST_STREAMS` at a time: beyond that the oldest streams end, which may have no reader any more.
    """
    mark, listening = object(), lobby.listening.setdefault((hosted.name, player), [])
    listening.append(mark)
    if len(listening) > MOST_STREAMS:
        hosted.notify()
    try:
        yield "retry: 1000\n\n"
        told: Any = (after, "", "", 0, frozenset(), 0) if after == hosted.number else None
        while not lobby.stopping and mark in listening[-MOST_STREAMS:]:
            changed, now = hosted.changed, hosted.number
            fits = 0 <= after <= now <= after + MOST_STEPS
            for number in range(after + 1, now) if fits else ():
                yield event(number, sight.seen(hosted, player, number))
                await asyncio.sleep(0)  # let other tasks run: missed steps come all at once
            after = now
            present = (now, hosted.trouble, hosted.next, hosted.taken_back, hosted.agreed, len(hosted.resigned))
            if told != present:
                told = present
                yield event(now, sight.seen(hosted, player, now))
                continue
            yield f"event: alive\ndata: {1000 * HEARTBEAT:.0f}\n\n"
            with suppress(TimeoutError):
                async with asyncio.timeout(HEARTBEAT):
                    await changed.wait()
    finally:
        listening.remove(mark)


async def unless_gone(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Await some work, but cancel it when the client disconnects. The request's body must have been read before.

    Raises:
        ClientDisconnect: If the client disconnects first.
    """

    async def hung_up() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(hung_up())
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()


class UntilStopped:
    """Answers with 503 the requests that `Lobby.stop` cancels."""

    def __init__(self, app: Any, lobby: Lobby) -> None:
        self.app = app
        self.lobby = lobby

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        task = asyncio.current_task()
        if scope["type"] != "http" or task is None:
            return await self.app(scope, receive, send)

        async def send_more(message: Any) -> None:
            self.lobby.requests.discard(task)  # its answer has begun
            await send(message)

        self.lobby.requests.add(task)
        try:
            await self.app(scope, receive, send_more)
        except asyncio.CancelledError:
            if not self.lobby.stopping or task not in self.lobby.requests:
                raise
            await Response(status_code=503)(scope, receive, send)
        finally:
            self.lobby.requests.discard(task)


class OnlyThisMachine:
    """Refuses requests for host names other than this machine's own and `hosts`.

    Otherwise a foreign web page could point its own host name to this machine and read data here (DNS rebinding).
    """

    def __init__(self, app: Any, hosts: Collection[str] = ()) -> None:
        self.app = app
        self.hosts = frozenset(hosts)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        app = self.app
        if scope["type"] == "http":
            named = host_name(dict(scope["headers"]).get(b"host", b"").decode("latin-1"))
            if not loopback(named) and named not in self.hosts:
                app = JSONResponse({"error": say("error.host")}, 421)
        await app(scope, receive, send)


def host_name(header: str) -> str:
    """The name or address in a Host header: without port and final dot, in lower case."""
    name = header[1:].partition("]")[0] if header.startswith("[") else header.partition(":")[0]
    return name.lower().removesuffix(".")


def loopback(host: str) -> bool:
    """Whether a name or address is a loopback one, which no other machine can reach."""
    host = host.lower().removesuffix(".")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Speaking:
    """Sets the language of each request: the reader's choice on a page, else the browser's preference.

    The choice is stored in a cookie, so that it applies to all requests of a page.
    """

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        request = Request(scope)
        chosen = request.cookies.get("language", "")
        with speaking(chosen if chosen in LANGUAGES else preferred(request.headers.get("accept-language", ""))):
            await self.app(scope, receive, send)


class SafeHeaders:
    """Adds `HEADERS` to every answer, without replacing existing ones."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def send_more(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, send_more if scope["type"] == "http" else send)


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
        asked = json.loads(data)
    except (ValueError, RecursionError):
        raise RefusedError(400, "json") from None
    if not isinstance(asked, dict) or set(asked) != set(keys):
        raise RefusedError(400, "keys", keys=", ".join(keys) or say("error.no-keys"))
    return asked


def event(number: int, data: dict[str, Any]) -> str:
    return f"id: {number}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"


def listed(entry: Entry) -> dict[str, Any]:
    """A game in the host's list."""
    definition = find_game(entry.game)
    return {
        "name": entry.name,
        "title": of_game.title_of(definition),
        "rules": of_game.rules_of(definition, entry.rules),
        "over": entry.over,
        "moves": entry.moves,
        "scored": [of_game.scored(definition, points) for points in entry.scores],
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
        return HTMLResponse(page_of("front.html"), status, headers)
    return JSONResponse({"error": reason}, status, headers)
