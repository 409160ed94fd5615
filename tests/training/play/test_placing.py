"""Results of people's games are saved, and people are told their placement among the agents."""

import json
import random
import stat
from dataclasses import replace

import pytest

pytest.importorskip("starlette", reason="the extra play isn't installed")
pytest.importorskip("uvicorn", reason="the extra play isn't installed")

from artus_env.engine.contract.registry import game_names
from artus_env.engine.drawing.translations import speaking
from artus_training.cli import main as artus
from artus_training.people import results as people
from artus_training.people.rating import NEEDED
from artus_training.people.results import RESULTS, Result, Sat
from artus_training.play import forecast, placements
from artus_training.play.command import seats
from artus_training.play.hosted import HostedGame
from artus_training.play.lobby import Lobby
from artus_training.play.store import Store
from play_server import Serving, deal, serving, wait_until

VARIANT = ("artus", "beginner", 2)
RATINGS = {"random": 0.0, "greedy": 800.0, "lookahead": 1100.0, "ppo": 1600.0}


@pytest.fixture(autouse=True)
def ratings(monkeypatch):
    """Only the agents of Artus with two players have ratings."""
    monkeypatch.setattr(
        people, "ratings_of", lambda game, *variant: RATINGS if (game.name, *variant) == VARIANT else {}
    )


def finish(hosted, seed=0):
    """Let everybody play at random to the end."""
    rng = random.Random(seed)
    while not hosted.over:
        hosted.play(hosted.game.player, hosted.number, rng.choice(hosted.game.moves()))


def save_results(store, wins, losses=0, agent="lookahead", name="Ann"):
    """Save results of some games that a person has won, and of some that they have lost."""
    for nth in range(wins + losses):
        place = 1 if nth < wins else 2
        sat = [Sat(name, None, 50, place), Sat("Medium", agent, 40, 3 - place)]
        store.write_result(f"{name}-{agent}-{nth}", Result(1, *VARIANT[:2], f"2026-11-{nth + 1:02}", 70, sat))


def placement(server, hosted, player=0):
    return server.ask(f"/api/{hosted.seats[player].secret}/placement")


# --- saved results ---


@pytest.mark.parametrize("name", game_names())
def test_every_finished_game_is_kept_with_how_it_ended(tmp_path, name):
    hosted = HostedGame.deal(Store(tmp_path), None, seats(["Ann", "Ben"], ["random"]), 3, name)
    assert hosted.store.results() == []
    finish(hosted)
    (result,) = hosted.store.results()
    assert result.variant == (name, hosted.game.rules, 3)
    assert result.moves == hosted.number
    assert [(sat.name, sat.agent) for sat in result.seats] == [(seat.name, seat.agent) for seat in hosted.seats]
    assert [sat.points for sat in result.seats] == hosted.game.scores
    assert [player for player, sat in enumerate(result.seats) if sat.place == 1] == hosted.game.winners
    assert result.date.endswith("+00:00")
    (path,) = (tmp_path / RESULTS).iterdir()
    assert path.stem == hosted.name
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_result_that_could_not_be_kept_is_kept_when_the_server_starts_again(tmp_path, monkeypatch, capsys):
    """After a full disk, or a crash right after the last move, the result can be computed from the game's file."""
    hosted = deal(tmp_path, "beginner", ["Ann"], ["random"])

    def full(*arguments):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Store, "write_result", full)
        finish(hosted)
    assert hosted.game.over
    assert hosted.store.results() == []
    assert "can't be kept, until the server starts again: No space left on device" in capsys.readouterr().err
    Lobby(Store(tmp_path))
    (result,) = Store(tmp_path).results()
    assert [sat.points for sat in result.seats] == hosted.game.scores
    before = (tmp_path / RESULTS / f"{hosted.name}.json").read_bytes()
    Lobby(Store(tmp_path))
    assert (tmp_path / RESULTS / f"{hosted.name}.json").read_bytes() == before, "the result isn't written twice"


def test_a_damaged_result_is_named_and_stays_as_it_is(tmp_path, capsys):
    hosted = deal(tmp_path, "beginner", ["Ann"], ["random"])
    finish(hosted)
    path = tmp_path / RESULTS / f"{hosted.name}.json"
    path.write_text("{")
    assert Lobby(Store(tmp_path)).store.results() == []
    assert f"{path} is left alone" in capsys.readouterr().err
    assert path.read_text() == "{"


def test_unfinished_games_are_no_results_and_moves_that_were_taken_back_change_nothing(tmp_path):
    hosted = deal(tmp_path, "beginner", ["Ann", "Ben"])
    hosted.play(hosted.game.player, 0, hosted.game.moves()[0])
    for player in (hosted.steps[-1].player, 1 - hosted.steps[-1].player):
        hosted.take_back(player, 1)
    assert hosted.taken_back == 1
    Lobby(Store(tmp_path))
    assert hosted.store.results() == []
    finish(hosted)
    (result,) = hosted.store.results()
    assert result.moves == hosted.number


def test_who_asks_for_a_hint_is_remembered_also_after_a_restart(tmp_path, monkeypatch):
    monkeypatch.setattr(
        forecast, "advice", lambda game, view, key, check: [forecast.Prospect(game.moves()[0], 0.5, 0.0)]
    )
    with serving(tmp_path, "beginner", ["Ann"], ["random"]) as (server, hosted):
        wait_until(lambda: hosted.game.player == 0)
        body = {"number": hosted.number}
        assert server.ask(f"/api/{hosted.seats[0].secret}/hint", body)[0] == 200
    monkeypatch.setattr(people, "ratings_of", lambda *variant: {"random": 0.0})
    hosted = Lobby(Store(tmp_path)).games[hosted.name]
    assert hosted.hinted == {0}
    finish(hosted)
    assert [sat.hinted for sat in hosted.store.results()[0].seats] == [True, False]
    assert placements.after_game(hosted, 0)[0].startswith("You asked for a hint")
    assert people.person(hosted.store.results(), "Ann", VARIANT, {"random": 0.0}).counted == 0


@pytest.mark.parametrize(
    "change",
    [
        {"hinted": [1]},
        {"hinted": [5]},
        {"hinted": "Ann"},
        {"resigned": [[1, 0]]},
        {"resigned": [[0, 99]]},
        {"resigned": [[0, -1]]},
        {"resigned": [[0, 0], [0, 0]]},
        {"resigned": [0]},
    ],
)
def test_a_games_file_that_says_what_cannot_be_is_left_alone(tmp_path, capsys, change):
    hosted = deal(tmp_path, "beginner", ["Ann"], ["random"])
    path = tmp_path / f"{hosted.name}.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    assert not Lobby(Store(tmp_path)).games
    assert "is left alone" in capsys.readouterr().err


def test_files_of_games_from_before_go_on(tmp_path):
    hosted = deal(tmp_path, "beginner", ["Ann"], ["random"])
    path = tmp_path / f"{hosted.name}.json"
    data = json.loads(path.read_text())
    del data["hinted"], data["resigned"]
    path.write_text(json.dumps(data))
    (again,) = Lobby(Store(tmp_path)).games.values()
    assert (again.hinted, again.resigned) == (frozenset(), {})


# --- after a game ---


def test_after_a_game_it_is_said_how_many_are_missing_and_then_where_somebody_stands(tmp_path):
    with serving(tmp_path, "beginner", ["Ann"], ["random"]) as (server, hosted):
        assert placement(server, hosted)[0] == 409, "the game isn't over"
    finish(hosted)
    server = Serving(tmp_path)
    try:
        status, answer = placement(server, hosted)
        assert status == 200
        assert answer == {"lines": ["Ann: 1 of 10 games count so far. After 9 more you are placed among the agents."]}
        save_results(hosted.store, 6, 3)
        status, answer = placement(server, hosted)
        assert answer["lines"][0].startswith("Ann, you stand between Medium (lookahead) and ppo: rating 1")
        assert answer["lines"][0].endswith(", by 10 games.")
        assert len(answer["lines"]) == 3
        assert answer["lines"][1].startswith("Better than Medium (lookahead): ")
        german = server.ask(f"/api/{hosted.seats[0].secret}/placement", headers={"Accept-Language": "de"})[1]["lines"]
        assert german[0].startswith("Ann, du stehst zwischen Mittel (lookahead) und ppo: Wertung 1")
        assert server.ask(f"/api/{'A' * 22}/placement")[0] == 404
    finally:
        server.stop()


def test_games_that_place_nobody_say_so(tmp_path):
    """Games among people only, and games with agents of unknown rating."""
    for folder, names, agents, reason in (
        ("people", ["Ann", "Ben"], [], "Only people played"),
        ("agents", ["Ann"], ["greedy", "random"], "No rating of these agents is known"),
    ):
        hosted = deal(tmp_path / folder, "beginner", names, agents)
        finish(hosted)
        (line,) = placements.after_game(hosted, 0)
        assert line.startswith(reason)
        assert len(hosted.store.results()) == 1, "its result is saved all the same"


def test_beyond_all_agents_it_says_so(tmp_path):
    store = Store(tmp_path)
    save_results(store, 12, agent="ppo")
    save_results(store, 0, 12, agent="random", name="Ben")
    with speaking("en"):
        best, worst = (placements.before_game(store, name, VARIANT) for name in ("ann", "BEN"))
    assert best[0].startswith("Ann, you stand above ppo, the strongest agent with a known rating: rating ")
    assert best[1:] == ["Better than ppo: 99\N{NO-BREAK SPACE}% sure."]
    assert worst[0].startswith("Ben, you stand below random, the weakest agent with a known rating: rating ")
    assert worst[1:] == ["Weaker than random: 99\N{NO-BREAK SPACE}% sure."]


# --- on the start page ---


def ask_of(server, name, **change):
    body = {"game": "artus", "rules": "beginner", "players": 2, "name": name, **change}
    return server.ask(f"/api/host/{server.lobby.host_secret}/person", body)


def test_of_who_sits_down_it_is_said_where_they_stand(tmp_path):
    save_results(Store(tmp_path), 3, 2)
    save_results(Store(tmp_path), 1, 9, name="Ben")
    server = Serving(tmp_path)
    try:
        assert ask_of(server, "ann")[1]["lines"] == [
            "Ann: 5 of 10 games count so far. After 5 more you are placed among the agents."
        ]
        assert ask_of(server, "Ben")[1]["lines"][0].startswith("Ben, you stand between ")
        assert ask_of(server, "Cleo") == (200, {"lines": []})
        assert ask_of(server, "Ann", players=3) == (200, {"lines": []}), "another variant"
        for change, reason in (
            ({"game": "chess"}, "there is no such game"),
            ({"rules": "expert"}, "rules must be one of"),
            ({"players": 9}, "num_players must be 2..4"),
            ({"players": "2"}, "num_players must be 2..4"),
            ({"name": ""}, "names have 1 to 24"),
            ({"name": 5}, "names have 1 to 24"),
            ({"more": 1}, "an object with game, rules, players, name"),
        ):
            status, answer = ask_of(server, **{"name": "Ann", **change})
            assert status == 400
            assert reason in answer["error"]
        assert server.ask(f"/api/host/{'A' * 22}/person", {})[0] == 404
    finally:
        server.stop()


# --- on the terminal ---


def test_the_command_prints_where_everybody_stands(tmp_path, capsys):
    store = Store(tmp_path)
    save_results(store, 6, 6)
    save_results(store, 2, name="Bartholomew the Younger")
    among = [Sat("Cleo", None, 5, 1), Sat("Ann", None, 3, 2), Sat("Dan", None, 1, 3)]
    store.write_result("among", Result(1, "royal", "standard", "2026-11-25", 70, among))
    store.write_result("gone", replace(store.results()[0], game="chess"))
    assert artus(["play", "--results", "--games", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    lines = printed.splitlines()
    assert max(map(len, lines[:-2])) <= 80
    assert lines[0].split() == ["name", "game,", "rules,", "players", "kept", "count", "won", "rating", "(95", "%)"]
    row = next(line for line in lines if line.startswith("Ann ") and "artus, beginner, 2" in line)
    assert row.split()[4:7] == ["12", "12", "6"]
    after = lines[lines.index(row) + 1 :]
    assert after[0].strip() in ("between lookahead and ppo", "between greedy and lookahead")
    assert after[1].startswith("  better than ")
    assert "8 more until a placement" in printed
    assert printed.count("no agent of this variant has a known rating") == 3 + 1
    assert f"Kept in {tmp_path / RESULTS}, on this machine only." in printed


def test_the_command_says_when_there_is_nothing_and_what_does_not_fit(tmp_path, capsys):
    assert artus(["play", "--results", "--games", str(tmp_path / "none")]) == 0
    assert capsys.readouterr().out == f"No game that is over is kept in {tmp_path / 'none'}.\n"
    assert not (tmp_path / "none").exists()
    assert artus(["play", "--results", "--against", "greedy"]) == 2
    assert "--results" in capsys.readouterr().err
    assert NEEDED == 10
