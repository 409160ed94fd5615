"""Resigning: who has won, who plays on, and what is saved of the game."""

import json
import random
import threading

import pytest

pytest.importorskip("starlette", reason="the extra play isn't installed")
pytest.importorskip("uvicorn", reason="the extra play isn't installed")

from artus_env import Game
from artus_env.engine.contract.registry import game_names
from artus_training.cli import main as artus
from artus_training.play import agent_moves, view
from artus_training.play.command import seats
from artus_training.play.hosted import SUBSTITUTE, HostedGame, RefusedError
from artus_training.play.lobby import Lobby
from artus_training.play.store import Store
from play_server import Serving, deal, serving, wait_until


def play_on(hosted, moves, seed=0):
    """Play random moves for everybody, also for those who have resigned."""
    rng = random.Random(seed)
    for _ in range(moves):
        if hosted.over:
            break
        player = hosted.game.player
        by_agent = hosted.agent_of(player) is not None
        hosted.play(player, hosted.number, rng.choice(hosted.game.moves()), by_agent=by_agent)


def resign(server, hosted, player):
    return server.ask(f"/api/{hosted.seats[player].secret}/resign", {})


@pytest.mark.parametrize("name", game_names())
def test_of_two_players_the_other_one_wins(tmp_path, name):
    hosted = HostedGame.deal(Store(tmp_path), None, seats(["Ann", "Ben"], []), 5, name)
    play_on(hosted, 2)
    loser = hosted.game.player
    server = Serving(tmp_path)
    try:
        hosted = server.lobby.games[hosted.name]
        assert not hosted.over
        assert resign(server, hosted, loser) == (200, {"number": 2})
        assert hosted.over
        for player in range(2):
            state = server.ask(f"/api/{hosted.seats[player].secret}")[1]["state"]
            assert state["over"]["winners"] == [1 - loser]
            assert [(row["player"], row["rank"], row["resigned"]) for row in state["over"]["rows"]] == [
                (1 - loser, 1, False),
                (loser, 2, True),
            ]
            assert (state["turn"], state["moves"], state["undo"]) == (None, [], None)
            secret = hosted.seats[player].secret
            body = {"number": 2, "move": hosted.game.moves()[0]}
            assert server.ask(f"/api/{secret}/move", body)[0] == 409
            assert server.ask(f"/api/{secret}/at/1")[0] == 200
        assert resign(server, hosted, 1 - loser)[0] == 409, "it is over"
    finally:
        server.stop()
    (again,) = Lobby(Store(tmp_path)).games.values()
    assert again.over
    assert again.places == hosted.places
    assert [sat.resigned for sat in again.store.results()[0].seats] == [player == loser for player in range(2)]


def test_record_and_film_of_a_resigned_game_are_valid(tmp_path):
    with serving(tmp_path, "advanced", ["Ann"], ["greedy"]) as (server, hosted):
        wait_until(lambda: hosted.game.player == 0)
        assert server.ask(f"/record/{hosted.record_secret}.jsonl")[0] == 409
        assert resign(server, hosted, 0)[0] == 200
        status, record = server.ask(f"/record/{hosted.record_secret}.jsonl")
        assert status == 200
        assert Game.replay(record) == hosted.game
        assert not Game.replay(record).over
        status, film = server.ask(f"/film/{hosted.record_secret}.html")
        assert status == 200
        assert "Ann, greedy</title>" in film
        path = tmp_path / "resigned.jsonl"
        path.write_text(record)
        assert artus(["replay", str(path), "1", "--html", str(tmp_path / "film.html")]) == 0


def test_with_more_players_an_agent_plays_on_for_the_others(tmp_path):
    """The person who has resigned is last, however well the agent plays."""
    with serving(tmp_path, "beginner", ["Ann", "Ben"], ["greedy"]) as (server, hosted):
        wait_until(lambda: hosted.game.player in hosted.people)
        assert resign(server, hosted, 0)[0] == 200
        assert not hosted.over
        assert hosted.agent_of(0) == SUBSTITUTE
        secret = hosted.seats[0].secret
        wait_until(lambda: hosted.game.player == 1)
        state = server.ask(f"/api/{secret}")[1]["state"]
        assert (state["resigned"], state["over"], state["moves"]) == ([0], None, [])
        assert server.ask(f"/api/{secret}/review")[0] == server.ask(f"/api/{secret}/at/0")[0] == 409
        assert server.ask(f"/record/{hosted.record_secret}.jsonl")[0] == 409, "the others still hide their cards"
        body = {"number": hosted.number, "move": hosted.game.moves()[0]}
        for what in ("move", "preview", "hint", "undo"):
            body_of_request = body if what in ("move", "preview") else {"number": hosted.number}
            assert server.ask(f"/api/{secret}/{what}", body_of_request)[0] == 409, what
        assert resign(server, hosted, 0)[0] == 409
        rng = random.Random(1)
        while not hosted.over:
            wait_until(lambda: hosted.over or hosted.game.player == 1)
            if not hosted.over:
                body = {"number": hosted.number, "move": rng.choice(hosted.game.moves())}
                assert server.ask(f"/api/{hosted.seats[1].secret}/move", body)[0] == 200
        assert hosted.game.over
        assert hosted.places[0] == 3
        own_steps = [step for step in hosted.steps[1:] if step.player == 0]
        assert len(own_steps) > 10
        assert Game.replay(hosted.record()).over
        assert server.ask(f"/api/{secret}")[1]["state"]["over"]["rows"][-1]["resigned"]
        status, review = server.ask(f"/api/{secret}/review")
        assert status == 200
        assert review["lost"] is None, "the agent's moves don't count as theirs"


def test_after_a_restart_the_agent_still_plays_for_them(tmp_path):
    hosted = deal(tmp_path, "beginner", ["Ann", "Ben", "Cleo"])
    play_on(hosted, 4)
    hosted.resign(hosted.game.player)
    (gone,) = hosted.resigned
    server = Serving(tmp_path)
    try:
        (again,) = server.lobby.games.values()
        assert again.resigned == {gone: 4}
        wait_until(lambda: again.number > 4 and again.game.player != gone)
    finally:
        server.stop()


@pytest.mark.parametrize(
    ("names", "agents", "leaving", "over", "places"),
    [
        (["Ann", "Ben", "Cleo"], [], [2], False, None),
        (["Ann", "Ben", "Cleo"], [], [2, 0], True, [2, 1, 3]),  # the last remaining player has won
        (["Ann", "Ben"], ["greedy", "random"], [1], False, None),
        (["Ann", "Ben"], ["greedy", "random"], [1, 0], True, [3, 4]),  # only agents are left
        (["Ann"], ["greedy", "random"], [0], True, [3]),
    ],
)
def test_it_ends_when_nobody_is_left_who_would_go_on(tmp_path, names, agents, leaving, over, places):
    hosted = deal(tmp_path, "beginner", names, agents)
    play_on(hosted, 20)
    for player in leaving:
        assert not hosted.over
        hosted.resign(player)
    assert hosted.over == over
    assert bool(hosted.store.results()) == over
    if over:
        assert hosted.places[: len(places)] == places
        assert min(hosted.places) == 1
        with pytest.raises(RefusedError):
            hosted.resign(0)


def test_an_agent_that_thinks_when_the_game_ends_plays_no_move_more(tmp_path, monkeypatch, capsys):
    was_asked, go_on, choose = threading.Event(), threading.Event(), agent_moves.AgentThread.choose

    def slow(*arguments):
        was_asked.set()
        assert go_on.wait(30)
        return choose(*arguments)

    monkeypatch.setattr(agent_moves.AgentThread, "choose", slow)
    hosted = deal(tmp_path, "beginner", ["Ann"], ["greedy"])
    while hosted.game.player == 0:
        play_on(hosted, 1)
    number = hosted.number
    server = Serving(tmp_path)
    try:
        (hosted,) = server.lobby.games.values()
        assert was_asked.wait(30)
        assert resign(server, hosted, 0)[0] == 200
        go_on.set()
        wait_until(lambda: hosted not in server.lobby.agents._threads)
        assert hosted.number == number
        assert hosted.places == [2, 1]
        assert hosted.trouble == ""
    finally:
        go_on.set()
        server.stop()
    assert "can't move" not in capsys.readouterr().err


def test_the_stream_tells_that_somebody_has_resigned(tmp_path):
    with serving(tmp_path, "beginner", ["Ann", "Ben", "Cleo"]) as (server, hosted):
        timer = threading.Timer(0.5, lambda: resign(server, hosted, 2))
        timer.start()
        states = server.events(hosted.seats[0].secret, until=lambda state: state["resigned"])
        timer.join()
        assert states[-1]["resigned"] == [2]


def test_those_who_have_resigned_are_not_asked_whether_a_move_is_taken_back(tmp_path):
    hosted = deal(tmp_path, "beginner", ["Ann", "Ben", "Cleo"])
    mover = hosted.game.player
    hosted.play(mover, 0, hosted.game.moves()[0])
    others = [player for player in range(3) if player not in (mover, hosted.game.player)]
    following = hosted.game.player
    hosted.resign(others[0])
    assert view.undo(hosted, others[0]) is None
    with pytest.raises(RefusedError):
        hosted.take_back(others[0], 1)
    hosted.take_back(mover, 1)
    hosted.take_back(following, 1)
    assert hosted.number == 0


def test_a_full_disk_leaves_the_game_as_it_was(tmp_path, monkeypatch):
    with serving(tmp_path, "beginner", ["Ann", "Ben"]) as (server, hosted):

        def full(*arguments):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(server.lobby.store, "write", full)
        monkeypatch.setattr(hosted.store, "write", full)
        status, answer = resign(server, hosted, 0)
        assert (status, answer["error"]) == (503, "the game can't be kept on disk: No space left on device")
        assert not hosted.over
        assert not hosted.resigned
        assert server.ask(f"/api/{hosted.seats[0].secret}/resign", {"number": 0})[0] == 400


def test_a_game_can_be_played_again_after_somebody_has_resigned(tmp_path):
    with serving(tmp_path, "beginner", ["Ann", "Ben"]) as (server, hosted):
        assert server.ask(f"/api/{hosted.seats[0].secret}/again", {})[0] == 409
        assert resign(server, hosted, 1)[0] == 200
        status, answer = server.ask(f"/api/{hosted.seats[0].secret}/again", {})
        assert status == 200
        assert not server.lobby.games[hosted.next].resigned
        listed = server.ask(f"/api/host/{server.lobby.host_secret}")[1]["games"]
        assert [each["over"] for each in listed] == [False, True]
        assert answer["link"].startswith("/seat/")
    assert json.loads((tmp_path / f"{hosted.name}.json").read_text())["resigned"] == [[1, 0]]
