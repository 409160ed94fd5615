"""ASGI middleware of the server: safe headers, the language, allowed host names, answers when the server stops."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Collection
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from artus_env.engine.drawing.translations import LANGUAGES, preferred, speaking
from artus_training.play.lobby import Lobby
from artus_training.play.texts import say

HEADERS = {
    "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",  # addresses contain secrets
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class CancelledRequests:
    """Answers with 503 the requests that `Lobby.stop` cancels."""

    def __init__(self, app: Any, lobby: Lobby) -> None:
        self.app = app
        self.lobby = lobby

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        task = asyncio.current_task()
        if scope["type"] != "http" or task is None:
            return await self.app(scope, receive, send)

        async def send_more(message: Any) -> None:
            self.lobby.requests.discard(task)  # the request's answer has begun
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
            requested_host = host_name(dict(scope["headers"]).get(b"host", b"").decode("latin-1"))
            if not loopback(requested_host) and requested_host not in self.hosts:
                app = JSONResponse({"error": say("error.host")}, 421)
        await app(scope, receive, send)


def host_name(header: str) -> str:
    """The name or address in a Host header: without port and final dot, in lower case."""
    name = header[1:].partition("]")[0] if header.startswith("[") else header.partition(":")[0]
    return name.lower().removesuffix(".")


def loopback(host: str) -> bool:
    """Whether a host name or address is a loopback address, which no other machine can reach."""
    host = host.lower().removesuffix(".")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class RequestLanguage:
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
