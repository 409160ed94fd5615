"""A server of games for the tests: the real one, on a free port of this machine, in a thread."""

import http.client
import json
import random
import threading
import time
from contextlib import contextmanager
from dataclasses import replace

from artus_env import DEFAULT_GAME
from artus_env.engine.contract import registry
from artus_training.play.command import seats
from artus_training.play.hosted import HostedGame
from artus_training.play.lobby import Lobby
from artus_training.play.server import Server, listen
from artus_training.play.store import Store


class Serving:
    """Games in a folder, served until `stop`.

    Attributes:
        base: URL of the server, e.g. `http://127.0.0.1:40000`.
        lobby: The games. Tests only read them.
    """

    def __init__(self, folder, port=0, games=(), allowed=(), hosts=()):
        self.lobby = Lobby(Store(folder), allowed)
        for hosted in games:
            self.lobby.add(hosted)
        self.listener = listen("127.0.0.1", port)
        self.port = self.listener.getsockname()[1]
        self.base = f"http://127.0.0.1:{self.port}"
        self.server = Server(self.lobby, True, hosts)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.listener]})
        self.thread.start()
        wait_until(lambda: self.server.started)

    def stop(self):
        self.server.should_exit = True
        self.thread.join(20)
        assert not self.thread.is_alive()
        self.listener.close()

    def ask(self, path, body=None, *, method=None, headers=(), raw=None):
        """Send a request. Returns (status, answer); the answer is parsed if it is JSON. `raw`: bytes to send instead of
        a JSON body."""
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        all_headers = {"Content-Type": "application/json"} if data is not None else {}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            method = method or ("GET" if data is None else "POST")
            connection.request(method, path, data, {**all_headers, **dict(headers)})
            response = connection.getresponse()
            content = response.read()
            self.headers = response.headers
        finally:
            connection.close()
        if response.headers.get_content_type() == "application/json":
            return response.status, json.loads(content)
        return response.status, content.decode()

    def events(self, secret, count=None, after=None, until=None):
        """The first `count` events of a seat's stream, or all events up to the first one for which `until` is true."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", f"/api/{secret}/events" + ("" if after is None else f"?after={after}"))
            response = connection.getresponse()
            events, event_type, deadline = [], "", time.monotonic() + 60
            while len(events) != count and not (until and events and until(events[-1])):
                line = response.readline().decode()
                assert line, "the stream has ended"
                assert time.monotonic() < deadline, f"waited in vain, got {[state['number'] for state in events]}"
                if line.startswith("event: "):
                    event_type = line[7:].strip()
                elif line.startswith("data: ") and not event_type:
                    events.append(json.loads(line[6:]))
                elif line == "\n":
                    event_type = ""
            return events
        finally:
            connection.close()


@contextmanager
def serving(folder, *arguments, **options):
    """A server with one game, dealt by `deal(folder, *arguments, **options)`. Yields the server and the hosted game."""
    hosted = deal(folder, *arguments, **options)
    server = Serving(folder)
    try:
        yield server, server.lobby.games[hosted.name]
    finally:
        server.stop()


def without_looks(monkeypatch):
    """Replace the default game with one that has no page, picture or sentences of its own for the play page."""
    bare = replace(registry.find_game(DEFAULT_GAME), sentences=None, browser=None, page=None, picture=None)
    monkeypatch.setattr(registry, "_load", lambda name: bare)


def deal(folder, rules, names, agents=(), seed=5):
    """A new game in a folder."""
    return HostedGame.deal(Store(folder), rules, seats(names, agents), seed)


@contextmanager
def serving_at(game, folder, people, agents=(), seed=5, until=lambda position: True, choose=None):
    """A server with a game, played up to a position for which `until` is true. Yields the server and the hosted game.

    Args:
        game: Name of the game.
        folder: Folder that keeps it.
        people, agents: Names of the players.
        seed: Seed of the first game; the next seeds follow until a game has such a position.
        until: Function of a position, including hidden information: whether to stop there.
        choose: Function of the game and a random generator that returns a move; None: random moves.
    """
    choose = choose or (lambda played, rng: rng.choice(played.moves()))
    for nth in range(seed, seed + 60):
        hosted = HostedGame.deal(Store(folder / str(nth)), None, seats(people, agents), nth, game)
        rng = random.Random(nth)
        while not hosted.game.over and not until(hosted.game.to_dict()):
            hosted.play(hosted.game.player, hosted.number, choose(hosted.game, rng))
        if until(hosted.game.to_dict()):
            break
    else:
        raise AssertionError("it doesn't happen")
    server = Serving(folder / str(nth))
    try:
        yield server, server.lobby.games[hosted.name]
    finally:
        server.stop()


def wait_until(holds, seconds=30):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)
