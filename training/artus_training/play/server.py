"""The web server: pages for seats, and the few questions that they ask.

A seat's secret is a part of every address that concerns it, so that nothing can be seen or done without it. Answers
other than pages are JSON; what is refused gets a 4xx with `{"error": reason}` and changes nothing.

    GET  /seat/SECRET                page of a seat
    GET  /api/SECRET                 who plays, how things look, the log, what the seat sees now
    GET  /api/SECRET/events          what the seat sees after each further move, as server-sent events
    POST /api/SECRET/preview         {"number": .., "move": ..}: what a move would do
    POST /api/SECRET/move            the same: play it
    POST /api/SECRET/hint            {"number": ..}: the best moves, and what they are likely to lead to
    GET  /api/SECRET/review          a finished game, looked at again: chances to win, and where most was lost
    GET  /api/SECRET/at/NUMBER       what the seat saw of a finished game after so many moves
    POST /api/SECRET/undo            {"number": ..}: take back the last move, or agree to that
    POST /api/SECRET/resign          give the game up
    GET  /api/SECRET/placement       where the seat's person stands among the agents, in words, once the game is over
    POST /api/SECRET/again           another game with the same players, once this one is over
    GET  /api/SECRET/next            the seat's link in that game
    GET  /api/SECRET/lessons         the game in a few pictures
    GET  /games/GAME/FILE            a game's own script, and what it asks for
    GET  /record/SECRET.jsonl        the record of a finished game
    GET  /film/SECRET.html           the same as a page to step through
    GET  /host/SECRET                start page and all games, for the person who runs the server
    GET  /api/host/SECRET            all games and their links
    GET  /api/host/SECRET/choices    what can be set up: games, variants, levels
    POST /api/host/SECRET/person     {"game": .., "rules": .., "players": .., "name": ..}: where a person stands
    GET  /api/host/SECRET/GAME.svg   a picture of a game
    POST /api/host/SECRET/new        {"game": .., "rules": .., "seats": [{"name": ..} or {"level": ..}, ..]}: set it up
    POST /api/host/SECRET/again      {"name": ..}: deal a game again, with the same players
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from artus_env.engine.games import game_names
from artus_env.engine.texts import LANGUAGES, preferred, speaking
from artus_training.play import forecast, levels, of_game, placing, setting_up, sight
from artus_training.play.hosted import HostedGame, RefusedError, Seat
from artus_training.play.pages import PAGE
from artus_training.play.pages import page as page_of
from artus_training.play.phrases import say
from artus_training.play.store import Store, left_alone, new_secret, reason
from artus_training.play.thinking import Thinking
from artus_training.watch import film

LARGEST_BODY = 10_000
BODY_SECONDS = 10.0
MOST_STREAMS = 8
"""Streams of one seat, which may be open in several windows."""
MOST_STEPS = 60
"""Moves that a page is shown one after the other if it was away; beyond that it just sees the position as it is."""
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
    """All games of a folder, found by their secrets.

    Args:
        store: The folder.
        allowed: Names of agents that may start a program: those that were typed, not those in files.
    """

    def __init__(self, store: Store, allowed: Collection[str] = ()) -> None:
        self.store = store
        self.host_secret = store.host_secret()
        self.games: dict[str, HostedGame] = {}
        self._seats: dict[str, tuple[HostedGame, int]] = {}
        self._records: dict[str, HostedGame] = {}
        self.thinking = Thinking(allowed)
        self.stopping = False
        self.listening: dict[tuple[str, int], list[object]] = {}  # open streams of each seat, the oldest first
        self.pages: dict[str, StaticFiles] = {}  # the games' own scripts
        for path, content in store.read_all():
            try:
                self.add(HostedGame.load(store, path.stem, content))
            except Exception as error:  # whatever is wrong in one file, the other games are served
                left_alone(path, error)
        for hosted in self.games.values():
            if self.following(hosted) is None:
                hosted.next = ""  # it is gone, or was never one of these people's
            hosted.keep_result()  # unless that has been done

    def add(self, hosted: HostedGame) -> None:
        """Let a game be found. `start` lets its agents move, once the server runs.

        Raises:
            ValueError: If one of its secrets is another game's, or one is there twice.
        """
        secrets = [seat.secret for seat in hosted.seats if seat.secret is not None]
        if (
            len(set(secrets)) < len(secrets)
            or not self._seats.keys().isdisjoint(secrets)
            or hosted.record_secret in self._records
        ):
            raise ValueError("a secret of its links is another link's")
        definition = hosted.game.definition
        page = definition.page
        if page is not None and definition.name not in self.pages:
            self.pages[definition.name] = StaticFiles(directory=page)
        self.games[hosted.name] = hosted
        self._records[hosted.record_secret] = hosted
        for player, seat in enumerate(hosted.seats):
            if seat.secret is not None:
                self._seats[seat.secret] = hosted, player

    def stop(self) -> None:
        """End all streams."""
        self.stopping = True
        for hosted in self.games.values():
            hosted.notify()

    def secret_of(self, path: str) -> str | None:
        """The seat's secret in a path, if there is one."""
        return next((part for part in path.split("/")[:4] if part in self._seats or part == self.host_secret), None)

    def seat(self, secret: str) -> tuple[HostedGame, int]:
        """Whose secret it is.

        Raises:
            RefusedError: If it is nobody's.
        """
        if secret not in self._seats:
            raise RefusedError(404, "no-seat")
        return self._seats[secret]

    def of_record(self, secret: str) -> HostedGame:
        """The game whose record may be read with this.

        Raises:
            RefusedError: If there is none.
        """
        if secret not in self._records:
            raise RefusedError(404, "no-game")
        return self._records[secret]

    def following(self, hosted: HostedGame) -> HostedGame | None:
        """The game that was set up to follow this one: another one of its kind, with the same seats."""
        new = self.games.get(hosted.next)
        if new is None or new is hosted or new.game.definition is not hosted.game.definition:
            return None
        same = [(seat.name, seat.agent) for seat in new.seats] == [(seat.name, seat.agent) for seat in hosted.seats]
        return new if same else None

    def again(self, hosted: HostedGame) -> HostedGame:
        """Another game with the same players; they get new links.

        Raises:
            RefusedError: If the game isn't over, or the new one can't be kept.
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
            if hosted.next:  # a game that nobody would find
                self.store.remove(hosted.next)
            hosted.next = ""
            raise RefusedError(503, "not-kept", reason=reason(error)) from None
        self.add(new)
        self.thinking.start(new)
        hosted.notify()
        return new

    def deal(self, game: str, rules: str, seats: Sequence[Seat]) -> HostedGame:
        """A new game, which begins at once.

        Raises:
            RefusedError: If it can't be kept.
        """
        try:
            new = HostedGame.deal(self.store, rules, seats, game_name=game)
        except OSError as error:
            raise RefusedError(503, "not-kept", reason=reason(error)) from None
        self.add(new)
        self.thinking.start(new)
        return new


def same_seats(hosted: HostedGame) -> list[Seat]:
    """The same players for another game, with new links."""
    return [Seat(seat.name, seat.agent, None if seat.agent else new_secret()) for seat in hosted.seats]


def make_app(lobby: Lobby, local: bool) -> Starlette:
    """The ASGI application. `local`: it answers to this machine's own names only."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        for hosted in lobby.games.values():
            lobby.thinking.start(hosted)
        yield
        await lobby.thinking.close()

    def seated(
        answer: Callable[[Request, HostedGame, int], Awaitable[Response]],
    ) -> Callable[[Request], Awaitable[Response]]:
        """An endpoint for holders of a seat's secret."""

        async def endpoint(request: Request) -> Response:
            return await answer(request, *lobby.seat(request.path_params["secret"]))

        return endpoint

    async def page(request: Request, hosted: HostedGame, player: int) -> Response:
        return HTMLResponse(page_of("seat.html"))

    async def state(request: Request, hosted: HostedGame, player: int) -> Response:
        return JSONResponse({**sight.setup(hosted, player), "state": sight.seen(hosted, player)})

    async def events(request: Request, hosted: HostedGame, player: int) -> Response:
        given = request.headers.get("last-event-id") or request.query_params.get("after") or ""
        after = int(given) if given.isdecimal() and len(given) < 10 else -1
        return StreamingResponse(stream(lobby, hosted, player, after), media_type="text/event-stream")

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
        game = hosted.game
        found = await lobby.thinking.hint(hosted)
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
        return JSONResponse(sight.review(hosted, player, await lobby.thinking.review(hosted)))

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
        return JSONResponse({"lines": await asyncio.to_thread(placing.after_game, hosted, player)})

    async def again(request: Request, hosted: HostedGame, player: int) -> Response:
        await body(request)
        new = lobby.again(hosted)
        return JSONResponse({"link": f"/seat/{new.seats[player].secret}"})

    async def lessons(request: Request, hosted: HostedGame, player: int) -> Response:
        return JSONResponse({"pages": await asyncio.to_thread(sight.lessons, hosted)})

    async def following(request: Request, hosted: HostedGame, player: int) -> Response:
        new = lobby.following(hosted)
        if new is None:
            raise RefusedError(404, "no-next")
        return JSONResponse({"link": f"/seat/{new.seats[player].secret}"})

    async def game_file(request: Request) -> Response:
        files = lobby.pages.get(request.path_params["game"])
        if files is None:
            raise HTTPException(404)
        return await files.get_response(request.path_params["file"], request.scope)

    async def record(request: Request) -> Response:
        hosted = lobby.of_record(request.path_params["secret"])
        headers = {"Content-Disposition": f'attachment; filename="{hosted.game.definition.name}-{hosted.name}.jsonl"'}
        return Response(hosted.record() + "\n", media_type="application/jsonl", headers=headers)

    async def film_page(request: Request) -> Response:
        hosted = lobby.of_record(request.path_params["secret"])
        line = hosted.record()
        page = await asyncio.to_thread(film.page_of, line)
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
        return JSONResponse({"games": [listed(hosted) for hosted in reversed(lobby.games.values())]})

    async def choices(request: Request) -> Response:
        check_host(request)
        return JSONResponse({"games": await asyncio.to_thread(setting_up.choices)})

    async def person(request: Request) -> Response:
        check_host(request)
        asked = setting_up.read_person(await body(request, "game", "rules", "players", "name"))
        return JSONResponse({"lines": await asyncio.to_thread(placing.before_game, lobby.store, *asked)})

    async def game_picture(request: Request) -> Response:
        check_host(request)
        if request.path_params["game"] not in game_names():
            raise RefusedError(404, "no-game")
        drawn = await asyncio.to_thread(setting_up.picture, request.path_params["game"])
        return Response(drawn, media_type="image/svg+xml")

    async def set_up(request: Request) -> Response:
        check_host(request)
        game, rules, seats = setting_up.read(await body(request, "game", "rules", "seats"))
        await asyncio.to_thread(of_game.warm_up, game.name)
        return JSONResponse(listed(lobby.deal(game.name, rules, seats)))

    async def deal_again(request: Request) -> Response:
        check_host(request)
        name = (await body(request, "name"))["name"]
        if not isinstance(name, str) or name not in lobby.games:
            raise RefusedError(404, "no-game")
        hosted = lobby.games[name]
        return JSONResponse(listed(lobby.deal(hosted.game.definition.name, hosted.game.rules, same_seats(hosted))))

    async def front(request: Request) -> Response:
        return HTMLResponse(page_of("front.html"))

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
        Route("/games/{game}/{file:path}", game_file, methods=get),
        Route("/record/{secret}.jsonl", record, methods=get),
        Route("/film/{secret}.html", film_page, methods=get),
        Mount("/static", StaticFiles(directory=PAGE)),
    ]
    handlers = {RefusedError: refused, HTTPException: http_error, ClientDisconnect: gone}
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    app.router.redirect_slashes = False
    if local:
        app.add_middleware(OnlyThisMachine)
    app.add_middleware(Speaking)
    app.add_middleware(SafeHeaders)
    return app


async def stream(lobby: Lobby, hosted: HostedGame, player: int, after: int) -> AsyncIterator[str]:
    """What a seat sees after each move beyond number `after`, as server-sent events, until the server stops.

    A seat has at most `MOST_STREAMS` at a time: the oldest, which nobody may be reading any more, end.
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
                await asyncio.sleep(0)  # the others' turn: steps that were missed come all at once
            after = now
            present = (now, hosted.trouble, hosted.next, hosted.taken_back, hosted.agreed, len(hosted.resigned))
            if told != present:
                told = present
                yield event(now, sight.seen(hosted, player, now))
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
            app = JSONResponse({"error": say("error.host")}, 421)
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


class Speaking:
    """Speaks each reader's language: the one that they have chosen on a page, else the one that their browser asks for.

    What is chosen is kept in a cookie, so that it holds for whatever a page asks for.
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


def listed(hosted: HostedGame) -> dict[str, Any]:
    """A game in the host's list."""
    game = hosted.game
    return {
        "name": hosted.name,
        "title": of_game.title_of(game.definition),
        "rules": of_game.rules_of(game),
        "over": hosted.over,
        "moves": hosted.number,
        "scored": [of_game.scored(game.definition, points) for points in game.scores],
        "turn": game.player,
        "trouble": hosted.trouble,
        "seats": [
            {"name": seat.name, "agent": seat.agent, "link": f"/seat/{seat.secret}" if seat.secret else None}
            for seat in hosted.seats
        ],
    }


def failed(request: Request, status: int, reason: str, headers: Any = None) -> Response:
    """Why something is refused: JSON for programs, a page for people who follow a link."""
    if not request.url.path.startswith("/api/") and "text/html" in request.headers.get("accept", ""):
        return HTMLResponse(page_of("front.html"), status, headers)
    return JSONResponse({"error": reason}, status, headers)
