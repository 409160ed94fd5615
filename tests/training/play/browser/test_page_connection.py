"""The play page on bad lines, in many tabs and after a sleep: it keeps up, says when it can't, and catches up."""

import random
import socket
import threading
from contextlib import contextmanager, suppress

import pytest

pytest.importorskip("starlette", reason="the extra play isn't installed")
pytest.importorskip("uvicorn", reason="the extra play isn't installed")

from artus_training.play import server as server_module
from artus_training.play.command import seats
from artus_training.play.hosted import HostedGame
from artus_training.play.middleware import HEADERS
from artus_training.play.store import Store
from browsing import CHROMIUM, DESKTOP, PHONE, click_seat, link, marked_seats, press_one, shoot, step_of, wait_for_step
from play_server import Serving, serving, wait_until

SHOWN = "number => document.querySelectorAll('#log li').length === number"
CONNECTION = "() => document.querySelector('#connection').textContent"


class Line:
    """A TCP proxy to a server. Its connections can die without being closed, as behind a router that forgets them.

    Attributes:
        base: Its address, such as `http://127.0.0.1:40000`.
        dead: Whether it accepts new connections but forwards nothing.
    """

    def __init__(self, server):
        self.target, self.dead, self.living, self.sockets, self.threads = server.port, False, [], [], []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.base = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self._run(self._take_on)

    def cut(self):
        """Let all existing connections die."""
        for living in self.living:
            living.clear()

    def stop(self):
        for each in (self.listener, *self.sockets):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join(10)
            assert not thread.is_alive()
        for each in (self.listener, *self.sockets):
            each.close()

    def _run(self, *call):
        self.threads.append(threading.Thread(target=call[0], args=call[1:]))
        self.threads[-1].start()

    def _take_on(self):
        with suppress(OSError):
            while True:
                client_socket, _ = self.listener.accept()
                self.sockets.append(client_socket)
                server_socket, living = socket.create_connection(("127.0.0.1", self.target)), threading.Event()
                self.sockets.append(server_socket)
                if not self.dead:
                    living.set()
                self.living.append(living)
                self._run(self._forward, client_socket, server_socket, living)
                self._run(self._forward, server_socket, client_socket, living)

    @staticmethod
    def _forward(source, target, living):
        with suppress(OSError):
            while data := source.recv(65536):
                if living.is_set():
                    target.sendall(data)
            if living.is_set():
                target.shutdown(socket.SHUT_WR)


@contextmanager
def line_to(server):
    line = Line(server)
    try:
        yield line
    finally:
        line.stop()


def play_by_api(server, hosted):
    """Play the first legal move, directly on the server, not through a `Line`."""
    body = {"number": hosted.number, "move": hosted.game.moves()[0]}
    assert server.ask(f"/api/{hosted.seats[hosted.game.player].secret}/move", body)[0] == 200


def in_sight(page, selector):
    """Whether an element lies completely within the window."""
    box, window = page.locator(selector).bounding_box(), page.viewport_size
    return box["y"] >= 0 and box["y"] + box["height"] <= window["height"] and box["x"] >= 0


# --- many tabs
# ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [[6], [6, 2]], ids=["six tabs of one game", "eight tabs of two games"])
def test_all_seats_can_be_played_in_the_tabs_of_one_browser(tmp_path, open_page, monkeypatch, sizes):
    """A browser has six connections to a server, for all its tabs together."""
    monkeypatch.setattr(server_module, "HEARTBEAT", 2.0)
    for size in sizes:
        HostedGame.deal(Store(tmp_path), None, seats([f"Player {number}" for number in range(size)], []), 5, "magpies")
    server = Serving(tmp_path)
    try:
        tabs, context = [], None
        for hosted in server.lobby.games.values():
            for player in range(len(hosted.seats)):
                page = context.new_page() if context else open_page(link(server, hosted))
                context = page.context
                page.goto(link(server, hosted, player))
                tabs.append((hosted, player, page))
        rng = random.Random(3)
        for hosted in server.lobby.games.values():
            for _ in hosted.seats:
                (mover,) = (page for game, player, page in tabs if (game, player) == (hosted, hosted.game.player))
                mover.bring_to_front()  # Chromium rarely draws tabs in the background
                press_one(mover, hosted, rng)
            for game, _, page in tabs:
                page.wait_for_function(SHOWN, arg=game.number)
                assert not page.inner_text("#connection")
    finally:
        server.stop()


HIDDEN = "Object.defineProperty(document, 'hidden', { value: true, configurable: true });"


def test_a_hidden_tab_without_a_stream_calls_its_player_and_catches_up_when_it_is_shown(
    tmp_path, open_page, monkeypatch
):  # fmt: skip
    with serving(tmp_path, "beginner", ["Ann", "Ben"]) as (server, hosted):
        waiting, moving = 1 - hosted.game.player, hosted.game.player
        monkeypatch.setattr(server_module, "HEARTBEAT", 1.0)
        context = open_page(link(server, hosted, moving)).context
        page = context.new_page()
        page.add_init_script(HIDDEN)
        page.goto(link(server, hosted, waiting))
        page.wait_for_selector("#picture svg")
        streams = server.lobby.listening[hosted.name, waiting]
        wait_until(lambda: not streams)
        assert not page.title().startswith("Your turn")
        play_by_api(server, hosted)
        page.wait_for_function("() => document.title.startsWith('Your turn')")
        wait_until(lambda: not streams)
        play_by_api(server, hosted)
        monkeypatch.setattr(server_module, "HEARTBEAT", 60.0)
        page.evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
        page.wait_for_function(SHOWN, arg=2)
        page.wait_for_timeout(100)
        assert len(streams) == 1, "this page keeps its stream"


def test_the_tabs_that_were_used_last_hold_three_streams(tmp_path, open_page):
    """No more than three, so that half of a browser's six connections are left for moves."""
    HostedGame.deal(Store(tmp_path), None, seats(["Ann", "Ben", "Cleo", "Dora", "Emil"], []), 5, "magpies")
    server = Serving(tmp_path)
    try:
        (hosted,) = server.lobby.games.values()
        first = open_page(link(server, hosted))
        for player in range(1, 5):
            page = first.context.new_page()
            page.goto(link(server, hosted, player))
            page.wait_for_selector("#picture svg")

        def holding():
            return [player for player in range(5) if server.lobby.listening.get((hosted.name, player))]

        wait_until(lambda: holding() == [2, 3, 4])
        first.click("#log")
        wait_until(lambda: holding() == [0, 3, 4])
    finally:
        server.stop()


# --- lines that die
# -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_page_on_a_dead_line_says_so_and_catches_up(tmp_path, open_page, monkeypatch, screen):
    """The connection is never closed: only its silence shows that it is dead."""
    monkeypatch.setattr(server_module, "HEARTBEAT", 0.6)
    with serving(tmp_path, "beginner", ["Ann", "Ben"]) as (server, hosted), line_to(server) as line:
        player = hosted.game.player
        touched = {"has_touch": True, "is_mobile": True, "device_scale_factor": 2} if screen is PHONE else {}
        page = open_page(link(line, hosted, player), viewport=screen, ask=False, **touched)
        page.wait_for_function("window.alive")  # now it knows how long a silence may last: until then it waits 10 s
        line.dead = True
        line.cut()
        click_seat(page, marked_seats(page)[0])
        page.wait_for_function(CONNECTION)
        assert page.inner_text("#connection") == "No connection to the server. Trying again…"
        page.wait_for_function("() => document.querySelector('#detail').textContent === \"The server doesn't answer.\"")
        assert hosted.number == 0
        assert step_of(page) == "seat", "a move that couldn't be sent can be chosen again"
        for top in (10_000, 0):
            page.evaluate("top => scrollTo({ top, behavior: 'instant' })", top)
            assert in_sight(page, "#connection")
            shoot(page, f"no-connection-{screen['width']}-{top}")
        play_by_api(server, hosted)
        play_by_api(server, hosted)
        line.dead = False
        page.wait_for_function(SHOWN, arg=2)
        page.wait_for_function(f"() => !({CONNECTION})()")
        click_seat(page, marked_seats(page)[0])
        wait_until(lambda: hosted.number == 3)
        page.wait_for_function(SHOWN, arg=3)


def test_a_page_that_is_behind_says_so_as_long_as_it_cannot_catch_up(tmp_path, open_page, monkeypatch):
    """`alive` messages of the stream don't clear that message."""
    monkeypatch.setattr(server_module, "HEARTBEAT", 0.5)
    with serving(tmp_path, "beginner", ["Ann", "Ben"]) as (server, hosted):
        play_by_api(server, hosted)
        mover = hosted.steps[-1].player
        page = open_page(link(server, hosted))
        page.wait_for_function(SHOWN, arg=1)
        secret = hosted.seats[0].secret
        page.route(f"**/api/{secret}", lambda route: route.abort())
        for player in (mover, 1 - mover):  # both agree
            body = {"number": hosted.number}
            assert server.ask(f"/api/{hosted.seats[player].secret}/undo", body)[0] == 200
        page.wait_for_function(f"() => ({CONNECTION})().startsWith('The server doesn')")
        page.evaluate(
            """() => {
                window.told = [];
                new MutationObserver(() => window.told.push(document.querySelector("#connection").textContent))
                    .observe(document.querySelector("#connection"), { childList: true });
            }"""
        )
        page.wait_for_timeout(1500)  # three `alive` messages
        assert page.evaluate("window.told.includes('')") is False
        page.unroute(f"**/api/{secret}")
        page.wait_for_function(SHOWN, arg=0)
        page.wait_for_function(f"() => !({CONNECTION})()")


WAKING = [
    "window.dispatchEvent(new Event('online'))",
    "document.dispatchEvent(new Event('visibilitychange'))",
    "document.dispatchEvent(new Event('resume'))",
    "window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))",
]


def close_idle(server):
    """Close connections without a request, which the page would use again; returns the number of open connections."""
    connections = [*server.server.server_state.connections]
    for connection in connections:
        if connection.cycle is None or connection.cycle.response_complete:
            server.server.servers[0].get_loop().call_soon_threadsafe(connection.transport.close)
    return len(connections)


def test_a_page_that_wakes_up_connects_anew_at_once(tmp_path, open_page, monkeypatch):
    """The page connects anew even if its connection seems to be alive."""
    monkeypatch.setattr(server_module, "HEARTBEAT", 600.0)
    with serving(tmp_path, "beginner", ["Ann", "Ben"]) as (server, hosted), line_to(server) as line:
        page = open_page(link(line, hosted))
        for streams, woken in enumerate(WAKING, 1):  # the server never learns that the earlier connections are dead
            wait_until(lambda: close_idle(server) == streams)  # noqa: B023
            page.wait_for_timeout(
                500
            )  # until the browser knows that they are closed: otherwise it would use one of them again
            line.cut()
            play_by_api(server, hosted)
            page.evaluate(woken)
            page.wait_for_function(SHOWN, arg=hosted.number, timeout=10_000)
            play_by_api(server, hosted)
            page.wait_for_function(SHOWN, arg=hosted.number, timeout=10_000)


def test_a_page_that_the_browser_freezes_holds_no_stream_and_goes_on_later(tmp_path, open_page):
    with serving(tmp_path, "beginner", ["Ann", "Ben"]) as (server, hosted):
        page = open_page(link(server, hosted))
        wait_until(lambda: server.lobby.listening.get((hosted.name, 0)))
        page.evaluate("document.dispatchEvent(new Event('freeze'))")
        wait_until(lambda: not server.lobby.listening.get((hosted.name, 0)))
        play_by_api(server, hosted)
        page.evaluate("document.dispatchEvent(new Event('resume'))")
        page.wait_for_function(SHOWN, arg=1)
        play_by_api(server, hosted)
        page.wait_for_function(SHOWN, arg=2)


def test_a_page_from_the_back_forward_cache_goes_on(tmp_path, chromium, monkeypatch):
    """Other browsers keep pages with `no-store` in the back-forward cache; Chromium doesn't."""
    monkeypatch.setitem(HEADERS, "Cache-Control", "no-cache")
    browser = chromium.browser_type.launch(
        executable_path=CHROMIUM, args=["--no-sandbox"], ignore_default_args=["--disable-back-forward-cache"]
    )
    try:
        with serving(tmp_path, "beginner", ["Ann", "Ben"]) as (server, hosted):
            page = browser.new_page()
            page.goto(link(server, hosted))
            page.wait_for_selector("#picture svg")
            page.evaluate("addEventListener('pageshow', ({ persisted }) => (window.restored = persisted))")
            page.goto(server.base)
            wait_until(lambda: not server.lobby.listening.get((hosted.name, 0)))
            play_by_api(server, hosted)
            page.evaluate("history.back()")
            page.wait_for_function("() => window.restored")
            page.wait_for_function(SHOWN, arg=1)
            play_by_api(server, hosted)
            page.wait_for_function(SHOWN, arg=2)
    finally:
        browser.close()


def test_the_host_page_notices_a_dead_line(tmp_path, chromium):
    with serving(tmp_path, "beginner", ["Ann", "Ben"]) as (server, _), line_to(server) as line:
        context = chromium.new_context(viewport=DESKTOP)
        try:
            page = context.new_page()
            page.clock.install()
            page.goto(f"{line.base}/host/{server.lobby.host_secret}")
            page.wait_for_selector(".game")
            page.wait_for_selector("#setup:visible")
            line.dead = True
            line.cut()
            page.click("#deal")
            assert page.inner_text("#said") == "Setting up…"
            page.evaluate("AbortSignal.timeout = () => AbortSignal.abort()")  # those 30 seconds are over
            page.clock.run_for(10_000)
            page.wait_for_selector("#trouble:visible")
            assert page.inner_text("#trouble") == "The server doesn't answer. Trying again…"
            page.wait_for_selector("#deal:enabled")
            assert page.inner_text("#said") == "The server doesn't answer."
        finally:
            context.close()


# --- slow lines
# ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_page_says_that_it_is_loading(tmp_path, chromium, screen):
    """The page doesn't show empty boxes while it loads."""
    with serving(tmp_path, "beginner", ["Ann", "Ben"]) as (server, hosted):
        context, held_requests = chromium.new_context(viewport=screen), []
        try:
            page = context.new_page()
            page.route("**/page.js", lambda route: held_requests.append(route))
            page.goto(link(server, hosted), wait_until="commit")
            page.wait_for_selector("#loading:visible")
            assert page.inner_text("#loading") == "Loading…"
            assert page.inner_text("h1").startswith("Artus")
            page.wait_for_selector("main", state="hidden")  # once the style sheet has arrived
            shoot(page, f"loading-{screen['width']}")
            wait_until(lambda: page.evaluate("true") and held_requests)
            held_requests[0].continue_()
            page.wait_for_selector("#picture svg")
            assert page.locator("#loading").count() == 0
            assert page.locator("main").is_visible()
        finally:
            context.close()


def test_a_page_whose_game_does_not_load_says_so(tmp_path, chromium):
    with serving(tmp_path, "beginner", ["Ann", "Ben"]) as (server, hosted):
        context = chromium.new_context(viewport=DESKTOP)
        try:
            page = context.new_page()
            page.route("**/page.js", lambda route: route.abort())
            page.goto(link(server, hosted))
            page.wait_for_function("() => document.querySelector('#loading').textContent !== 'Loading…'")
            assert "page.js" in page.inner_text("#loading")
        finally:
            context.close()


def test_the_start_page_says_that_it_is_loading_and_asks_again(tmp_path, chromium):
    """The server takes a while for the list of games to choose from, and its first answer may be lost."""
    with serving(tmp_path, "beginner", ["Ann", "Ben"]) as (server, _):
        context, requests = chromium.new_context(viewport=DESKTOP), []

        def lose_the_first(route):
            requests.append(route)
            route.abort() if len(requests) == 1 else route.continue_()

        try:
            page = context.new_page()
            page.clock.install()
            page.route("**/choices", lose_the_first)
            page.goto(f"{server.base}/host/{server.lobby.host_secret}")
            page.wait_for_selector(".game")
            assert page.inner_text("#loading") == "Loading…"
            assert page.locator("#setup").is_hidden()
            page.clock.run_for(10_000)
            page.wait_for_selector("#setup:visible")
            assert page.locator("#loading").count() == 0
        finally:
            context.close()


def test_a_reload_fetches_the_page_and_nothing_else(tmp_path, open_page):
    """The browser has kept the page's scripts and styles, and the page contains what the seat sees."""
    with serving(tmp_path, "beginner", ["Ann", "Ben"]) as (server, hosted):
        page = open_page(link(server, hosted))
        urls, fetched_urls = {}, []

        def answered(event):
            urls[event["requestId"]] = event["response"]["url"]

        def loaded(event):
            if event["encodedDataLength"]:
                fetched_urls.append(urls[event["requestId"]])

        network = page.context.new_cdp_session(page)
        network.send("Network.enable")
        network.on("Network.responseReceived", answered)
        network.on("Network.loadingFinished", loaded)
        page.reload()
        wait_for_step(page, "seat", "wait")
        assert fetched_urls == [link(server, hosted)]
