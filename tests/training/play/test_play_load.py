"""The play server under load: many games in its folder, hints and films that nobody waits for, copied files."""

import asyncio
import gc
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from contextlib import ExitStack

import pytest

pytest.importorskip("starlette", reason="the extra play isn't installed")
pytest.importorskip("uvicorn", reason="the extra play isn't installed")

from artus_env import Game
from artus_training.play import folder, forecast, texts, workers
from artus_training.play.hosted import RefusedError
from artus_training.play.lobby import Lobby
from artus_training.play.server import film
from artus_training.play.store import Store
from artus_training.play.workers import AbandonedError, Workers
from play_server import Serving, deal, serving, wait_until

PEOPLE = ["Ann", "Ben", "Cleo"]


def finish(hosted):
    while not hosted.over:
        hosted.play(hosted.game.player, hosted.number, hosted.game.moves()[0])


def ask(server, stack, method, path, body=None):
    """A connection that has sent a request. It can be closed before the answer arrives."""
    data = json.dumps(body).encode() if body is not None else b""
    heads = f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n" if data else ""
    connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=30))
    connection.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{heads}\r\n".encode() + data)
    return connection


def move(server, hosted):
    body = {"number": hosted.number, "move": hosted.game.moves()[0]}
    return server.ask(f"/api/{hosted.seats[hosted.game.player].secret}/move", body)


@pytest.fixture
def slow_hints(monkeypatch):
    """Make hints wait until the first returned event is set; the returned list has an item for each begun hint."""
    go_on, begun = threading.Event(), []

    def slow(game, key, check):
        begun.append(game)
        while not go_on.wait(0.01):
            check()
        return [forecast.Prospect(game.moves()[0], 0.5, 0.0)]

    monkeypatch.setattr(forecast, "hint", slow)
    yield go_on, begun
    go_on.set()


# --- games are loaded on demand --------------------------------------------------------------------------------------


def test_no_game_is_replayed_or_has_a_thread_until_somebody_looks_at_it(tmp_path, monkeypatch):
    running = [deal(tmp_path, "beginner", ["Ann"], ["greedy"], seed) for seed in range(6)]
    ended = [deal(tmp_path, "beginner", ["Ann"], ["random"], seed) for seed in range(2)]
    for hosted in ended:
        finish(hosted)
    replayed, replay = [], Game.replay
    monkeypatch.setattr(Game, "replay", lambda record: (replayed.append(1), replay(record))[-1])
    threads = threading.active_count()
    server = Serving(tmp_path)
    try:
        listed = server.ask(f"/api/host/{server.lobby.host_secret}")[1]["games"]
        assert not replayed
        by_name = {game["name"]: game for game in listed}
        for hosted in [*running, *ended]:
            game = by_name.pop(hosted.name)
            assert (game["moves"], game["title"], game["rules"]) == (hosted.number, "Artus", "beginner")
            assert game["over"] is hosted.over is (hosted in ended)
            assert game["turn"] == (None if hosted.over else hosted.game.player)
            assert game["scored"] == [texts.scored(hosted.game.definition, points) for points in hosted.game.scores]
        assert not by_name
        assert not server.lobby.games.loaded()
        assert threading.active_count() == threads + 1, "the server's own"
        first = next(hosted for hosted in running if hosted.game.player == 1)
        assert server.ask(f"/api/{first.seats[0].secret}")[0] == 200
        assert len(replayed) == 1
        served = server.lobby.games[first.name]
        wait_until(lambda: served.game.player == 0)  # the agent has moved
    finally:
        server.stop()


def test_a_game_that_nobody_looks_at_is_forgotten_with_its_thread_and_goes_on_later(tmp_path, monkeypatch):
    monkeypatch.setattr(folder, "KEPT", 1)
    names = [deal(tmp_path, "beginner", ["Ann"], ["greedy"], seed).name for seed in range(5)]
    server = Serving(tmp_path)
    try:
        num_threads, references, logs = threading.active_count(), [], []
        for name in names:
            log, game = played_in(server, name)
            logs.append(log)
            references.append(game)

        def forgotten():
            gc.collect()
            return [reference() is None for reference in references] == [True] * 4 + [False]

        wait_until(forgotten)
        wait_until(lambda: threading.active_count() <= num_threads + 1)
        for name, log in zip(names, logs, strict=True):
            seat = server.lobby.games.entries[name].seats[0]
            assert server.ask(f"/api/{seat.secret}")[1]["log"] == log
    finally:
        server.stop()


def played_in(server, name):
    """Play a move and let the agent answer. Returns the log after that, and a weak reference to the game."""
    hosted = server.lobby.games[name]
    wait_until(lambda: hosted.game.player == 0)
    assert move(server, hosted)[0] == 200
    wait_until(lambda: hosted.game.player == 0)
    return server.ask(f"/api/{hosted.seats[0].secret}")[1]["log"], weakref.ref(hosted)


def test_a_game_is_one_object_as_long_as_anybody_holds_it(tmp_path, monkeypatch):
    monkeypatch.setattr(folder, "KEPT", 1)
    first_name, other_name = (deal(tmp_path, "beginner", PEOPLE[:2]).name for _ in range(2))
    games = Lobby(Store(tmp_path)).games
    first_game = games[first_name]
    assert games[other_name] is not first_game
    assert games[first_name] is first_game


def test_a_question_whether_to_take_back_outlives_a_restart_and_pages_go_on(tmp_path):
    """The number of moves taken back is kept: pages ignore states in which it is smaller than before."""
    hosted = deal(tmp_path, "beginner", PEOPLE[:2])
    for agreeing in ([0, 1], [0]):
        mover = hosted.game.player
        hosted.play(mover, 0, hosted.game.moves()[0])
        for nth in agreeing:
            hosted.take_back((mover + nth) % 2, 1)
    (again,) = Lobby(Store(tmp_path)).games.values()
    assert (again.number, again.taken_back, again.agreed) == (1, 1, {mover})
    again.take_back(1 - mover, 1)
    (again,) = Lobby(Store(tmp_path)).games.values()
    assert (again.number, again.taken_back, again.agreed) == (0, 2, set())


def test_files_from_before_say_by_their_result_whether_they_are_over(tmp_path):
    running, ended = (deal(tmp_path, "beginner", ["Ann"], ["random"], seed) for seed in (1, 2))
    finish(ended)
    for hosted in (running, ended):
        path = tmp_path / f"{hosted.name}.json"
        data = json.loads(path.read_text())
        for key in ("turn", "revision", "taken_back", "agreed"):
            del data[key]
        path.write_text(json.dumps(data))
    games = Lobby(Store(tmp_path)).games
    assert {name: entry.over for name, entry in games.entries.items()} == {running.name: False, ended.name: True}
    assert games.entries[running.name].turn is None, "unknown before the game is loaded"
    assert games[running.name].game == running.game
    assert games.entries[running.name].turn == running.game.player


# --- two files with one secret ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("old", [False, True], ids=["of now", "from before"])
def test_of_a_game_and_an_older_copy_the_game_is_served_and_the_host_is_told(tmp_path, capsys, old):
    hosted = deal(tmp_path, "beginner", PEOPLE[:2])
    path = tmp_path / f"{hosted.name}.json"
    copy = tmp_path / f"{hosted.name}-backup.json"
    assert copy < path, "this file is read first"
    hosted.play(hosted.game.player, 0, hosted.game.moves()[0])
    shutil.copy(path, copy)
    hosted.play(hosted.game.player, 1, hosted.game.moves()[0])
    if old:
        for each in (copy, path):
            data = json.loads(each.read_text())
            del data["revision"]
            each.write_text(json.dumps(data))
        path.touch()
    else:
        copy.touch()
    server = Serving(tmp_path)
    try:
        assert server.ask(f"/api/{hosted.seats[0].secret}")[1]["state"]["number"] == 2
        answer = server.ask(f"/api/host/{server.lobby.host_secret}")[1]
        assert [game["name"] for game in answer["games"]] == [hosted.name]
        (warning,) = answer["warnings"]
        assert warning.startswith(f"{copy.name} isn't used: it has the same links as {path.name}, which is newer.")
        assert warning in capsys.readouterr().err
    finally:
        server.stop()


# --- hints and reviews -----------------------------------------------------------------------------------------------


def test_while_hints_are_worked_out_others_move_and_agents_answer(tmp_path, slow_hints):
    """Also the agent of a game in which somebody has asked."""
    asking = [deal(tmp_path, "beginner", ["Ann"], ["greedy"], seed) for seed in (1, 2, 3)]
    server = Serving(tmp_path)
    try:
        games = [server.lobby.games[hosted.name] for hosted in asking]
        with ExitStack() as stack:
            for hosted in games:
                wait_until(lambda: hosted.game.player == 0)  # noqa: B023
                ask(server, stack, "POST", f"/api/{hosted.seats[0].secret}/hint", {"number": hosted.number})
            wait_until(lambda: slow_hints[1])
            for hosted in games:
                number = hosted.number
                assert move(server, hosted)[0] == 200
                wait_until(lambda: hosted.number > number + 1)  # noqa: B023
    finally:
        slow_hints[0].set()
        server.stop()


def test_a_seat_has_one_hint_at_a_time(tmp_path, slow_hints):
    go_on, begun = slow_hints
    with serving(tmp_path, "beginner", ["Ann", "Ben"], seed=1) as (server, hosted), ExitStack() as stack:
        player = hosted.game.player
        secret = hosted.seats[player].secret
        first = ask(server, stack, "POST", f"/api/{secret}/hint", {"number": 0})
        wait_until(lambda: len(begun) == 1)
        assert move(server, hosted)[0] == move(server, hosted)[0] == 200
        assert hosted.game.player == player
        second = ask(server, stack, "POST", f"/api/{secret}/hint", {"number": 2})
        assert first.recv(65536).startswith(b"HTTP/1.1 409 ")
        wait_until(lambda: len(begun) == 2)
        go_on.set()
        assert second.recv(65536).startswith(b"HTTP/1.1 200 ")


# --- films and other work --------------------------------------------------------------------------------------------


def test_a_film_is_drawn_once_for_each_language(tmp_path, monkeypatch):
    calls, page_of = [], film.page_of
    monkeypatch.setattr(film, "page_of", lambda *args, **options: (calls.append(1), page_of(*args, **options))[-1])
    finish(deal(tmp_path, "beginner", ["Ann"], ["random"]))
    server = Serving(tmp_path)
    try:
        (hosted,) = server.lobby.games.values()
        path = f"/film/{hosted.record_secret}.html"
        pages = [server.ask(path, headers={"Accept-Language": language})[1] for language in ("en", "de", "en", "de")]
        assert pages[:2] == pages[2:]
        assert pages[0] != pages[1]
        assert len(calls) == 2
    finally:
        server.stop()


def test_films_that_were_left_are_not_drawn_and_hold_nothing_up(tmp_path, monkeypatch):
    begun_films, ended_films = [], []

    def slow(line, check):
        begun_films.append(line)
        try:
            while True:
                check()
                time.sleep(0.01)
        finally:
            ended_films.append(line)

    monkeypatch.setattr(film, "page_of", slow)
    for seed in range(10):
        finish(deal(tmp_path, "beginner", ["Ann"], ["random"], seed))
    server = Serving(tmp_path)
    try:
        with ExitStack() as stack:
            for hosted in server.lobby.games.values():
                ask(server, stack, "GET", f"/film/{hosted.record_secret}.html")
            wait_until(lambda: begun_films)
            body = {"game": "artus", "rules": "beginner", "seats": [{"name": "Ann"}, {"name": "Ben"}]}
            assert server.ask(f"/api/host/{server.lobby.host_secret}/new", body)[0] == 200
        wait_until(lambda: ended_films)
        wait_until(lambda: not server.lobby.films._jobs)
        assert len(begun_films) < 10
    finally:
        server.stop()


def test_work_is_limited_shared_and_ended_when_nobody_waits():
    ended = []

    async def run_all():
        pool, go_on = Workers(most_kept=2), threading.Event()

        def slow(check):
            try:
                while not go_on.wait(0.01):
                    check()
            except AbandonedError:
                ended.append(1)
                raise
            return 1

        requests = [asyncio.ensure_future(pool.do(key, slow)) for key in range(workers.MOST_JOBS)]
        await asyncio.sleep(0)
        with pytest.raises(RefusedError, match="too much to do"):
            await pool.do("one more", slow)
        second_request = asyncio.ensure_future(pool.do(0, slow))
        await asyncio.sleep(0.05)
        requests[0].cancel()
        await asyncio.sleep(0.05)
        assert not ended, "another request waits for it"
        second_request.cancel()
        while not ended:
            await asyncio.sleep(0.01)
        for task in requests[3:]:
            task.cancel()
        await asyncio.gather(*requests[3:], return_exceptions=True)
        go_on.set()
        assert await asyncio.gather(*requests[1:3]) == [1, 1]
        assert await pool.do(1, lambda check: 2) == 1, "the result was cached"
        await pool.do("a", lambda check: 3)
        await pool.do("b", lambda check: 4)
        assert await pool.do(1, lambda check: 5) == 5, "the oldest result was dropped"
        with pytest.raises(RuntimeError, match="it raised SystemExit"):
            await pool.do("exit", lambda check: sys.exit("the end"))
        pool.close()

    asyncio.run(run_all())
    assert len(ended) == 1


WAITING = """
import sys, time
from artus_training import cli
from artus_training.play import forecast, tutorial
from artus_training.replays import film
def slow(*arguments, **options):
    print("begun", flush=True)
    time.sleep(600)
film.page_of = forecast.hint = forecast.review = tutorial.pages = slow
cli.run()
"""


@pytest.mark.parametrize("what", ["film", "hint", "review", "lessons", "body", "events"])
def test_the_server_ends_at_once_whatever_is_waited_for(tmp_path, what):
    """Ctrl-C: within seconds, with exit code 0, and without a word on stderr."""
    hosted = deal(tmp_path, "beginner", ["Ann", "Ben"])
    if what in ("film", "review"):
        finish(hosted)
    secret = hosted.seats[hosted.game.player].secret
    head = "Host: localhost\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n"
    request = {
        "film": f"GET /film/{hosted.record_secret}.html HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "hint": f'POST /api/{secret}/hint HTTP/1.1\r\n{head}{{"number":0}}',
        "body": f"POST /api/{secret}/hint HTTP/1.1\r\nExpect: 100-continue\r\n{head}",
    }.get(what, f"GET /api/{secret}/{what} HTTP/1.1\r\nHost: localhost\r\n\r\n")
    line = ["play", "--no-browser", "--port", "0", "--games", str(tmp_path)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-c", WAITING, *line], **pipes)
    try:
        while not (found := re.search(r"http://127\.0\.0\.1:(\d+)/host/", text := process.stdout.readline())):
            assert text, process.stderr.read()
        with socket.create_connection(("127.0.0.1", int(found[1])), timeout=60) as connection:
            connection.sendall(request.encode())
            if what == "events":
                assert connection.recv(1000).startswith(b"HTTP/1.1 200 ")
            elif what == "body":
                assert connection.recv(1000).startswith(b"HTTP/1.1 100 "), "it is waited for"
            else:
                while "begun" not in (text := process.stdout.readline()):
                    assert text
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 0
        assert process.stderr.read() == ""
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def test_reviews_and_films_of_the_past_are_not_kept_for_ever():
    lobby_work = Workers(most_kept=3)

    async def many():
        for nth in range(10):
            await lobby_work.do(nth, lambda check: Game)
        lobby_work.close()

    asyncio.run(many())
    assert len(lobby_work._kept) == 3
