"""The start page: setting up games, dealing again, continuing games, and checking its requests."""

import json

import pytest

pytest.importorskip("starlette", reason="the extra play isn't installed")
pytest.importorskip("uvicorn", reason="the extra play isn't installed")

from artus_env.engine.contract.registry import find_game, game_names
from artus_training.people import results as people
from artus_training.play import command, start_page, strength
from artus_training.play.player_names import look
from artus_training.play.strength import INSTEAD_OF_MASTER
from play_server import Serving, serving, wait_until

PEOPLE = {"game": "artus", "rules": "beginner", "seats": [{"name": "Ann"}, {"name": "Ben"}]}


@pytest.fixture
def server(tmp_path):
    serving_server = Serving(tmp_path)
    yield serving_server
    serving_server.stop()


def host(server, what="", body=None):
    return server.ask(f"/api/host/{server.lobby.host_secret}{what}", body)


def test_every_game_can_be_chosen_in_every_variant(server):
    status, answer = host(server, "/choices")
    assert status == 200
    assert [each["name"] for each in answer["games"]] == list(game_names())
    for each in answer["games"]:
        game = find_game(each["name"])
        assert [rules["name"] for rules in each["rules"]] == list(game.rules)
        for rules in each["rules"]:
            assert [int(number) for number in rules["levels"]] == list(range(game.min_players, game.max_players + 1))
            assert all(list(agents) == ["easy", "medium", "hard", "master"] for agents in rules["levels"].values())
        status, drawn = host(server, f"/{each['name']}.svg")
        assert status == 200
        assert drawn.startswith("<svg")
        if game.page:
            assert each["about"].count(".") >= 2, "two sentences"


def test_a_game_is_set_up_and_its_agents_begin(server):
    seats = [{"level": "easy"}, {"name": "Ann"}, {"level": "easy"}, {"name": "Ann"}]
    status, answer = host(server, "/new", {"game": "royal", "rules": "standard", "seats": seats})
    assert status == 200
    assert [seat["name"] for seat in answer["seats"]] == ["Easy", "Ann", "Easy 2", "Ann 2"]
    assert [seat["agent"] for seat in answer["seats"]] == ["greedy", None, "greedy", None]
    hosted = server.lobby.games[answer["name"]]
    assert (hosted.game.definition.name, hosted.game.num_players) == ("royal", 4)
    wait_until(lambda: hosted.game.player in hosted.people)
    for player in hosted.people:
        assert server.ask(answer["seats"][player]["link"])[0] == 200
    assert host(server)[1]["games"][0]["name"] == hosted.name


def test_a_game_is_dealt_again_with_the_same_players_while_it_runs(tmp_path):
    with serving(tmp_path, "advanced", ["Ann", "Ben"], ["greedy"]) as (server, hosted):
        status, answer = host(server, "/again", {"name": hosted.name})
        assert status == 200
        again = server.lobby.games[answer["name"]]
        assert again is not hosted
        assert again.names == hosted.names
        assert again.game.rules == "advanced"
        assert {seat.secret for seat in again.seats} & {seat.secret for seat in hosted.seats} <= {None}
        assert again.game.first() != hosted.game.first(), "another deal"
        assert not hosted.game.over
        assert host(server, "/again", {"name": "another"})[0] == 404


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"game": "chess"}, "there is no such game"),
        ({"game": 5}, "there is no such game"),
        ({"game": ["artus"]}, "there is no such game"),
        ({"rules": "expert"}, "rules must be one of beginner, advanced"),
        ({"rules": 7}, "rules must be one of"),
        ({"rules": ["beginner"]}, "rules must be one of"),
        ({"seats": []}, "num_players must be 2..4, got 0"),
        ({"seats": [{"name": "A"}] * 5}, "num_players must be 2..4, got 5"),
        ({"seats": "Ann"}, "seats must be a list"),
        ({"seats": [{"name": "Ann"}, "Ben"]}, "seats must be a list"),
        ({"seats": [{"name": "Ann"}, {}]}, "seats must be a list"),
        ({"seats": [{"name": "Ann"}, {"name": "Ben", "level": "easy"}]}, "seats must be a list"),
        ({"seats": [{"name": "Ann"}, {"level": "program:./bot"}]}, "level must be one of easy, medium, hard, master"),
        ({"seats": [{"name": "Ann"}, {"level": ["easy"]}]}, "level must be one of"),
        ({"seats": [{"name": "Ann"}, {"agent": "greedy"}]}, "level must be one of"),
        ({"seats": [{"name": ""}, {"name": "Ben"}]}, "names have 1 to 24 printable letters"),
        ({"seats": [{"name": "A" * 25}, {"name": "Ben"}]}, "names have 1 to 24 printable letters"),
        ({"seats": [{"name": "A\n"}, {"name": "Ben"}]}, "names have 1 to 24 printable letters"),
        *(
            ({"seats": [{"name": unseen}, {"name": "Ben"}]}, "at least one of them visible")
            for unseen in ("\u3164", "\u115f", "\u2800", "\u0301\u0302", "\ufe0f", "\U000e0100", " \uffa0 ")
        ),
        ({"seats": [{"name": None}, {"name": "Ben"}]}, "names have 1 to 24 printable letters"),
        ({"seats": [{"level": "easy"}, {"level": "hard"}]}, "at least one person has to play"),
        ({"more": 1}, "an object with game, rules, seats"),
    ],
)
def test_what_cannot_be_set_up_is_refused_with_a_reason(server, tmp_path, change, reason):
    status, answer = host(server, "/new", {**PEOPLE, **change})
    assert status == 400
    assert reason in answer["error"]
    assert not server.lobby.games
    assert not list(tmp_path.glob("*.json"))


def test_without_the_hosts_link_nothing_is_set_up(server):
    for what, body in (("/new", PEOPLE), ("/again", {"name": "x"}), ("/choices", None), ("/artus.svg", None)):
        assert server.ask(f"/api/host/{'A' * 22}{what}", body)[0] == 404
    assert host(server, "/chess.svg")[0] == 404
    assert not server.lobby.games


def test_a_full_disk_is_named(server, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(server.lobby.store, "write", full)
    status, answer = host(server, "/new", PEOPLE)
    assert (status, answer["error"]) == (503, "the game can't be kept on disk: No space left on device")
    assert not server.lobby.games


def test_levels_rise_and_the_strongest_agent_plays_where_one_was_trained():
    for name in game_names():
        game = find_game(name)
        for rules in game.rules:
            for number in range(game.min_players, game.max_players + 1):
                levels = strength.levels(game, rules, number)
                trained = game.trained is not None
                assert levels["master"] == ("ppo-search:64" if trained else INSTEAD_OF_MASTER)


def test_alone_the_command_deals_nothing_and_opens_the_start_page(tmp_path):
    assert not command.read([]).deals_game
    for arguments in (["--rules", "beginner"], ["--seed", "2"], ["--names", "Ann"], ["--against", "greedy"]):
        assert command.read(arguments).deals_game
    assert not command.read(["--port", "0", "--games", str(tmp_path)]).deals_game


def test_a_game_that_brings_nothing_is_offered_by_its_names(server):
    (magpies,) = [each for each in host(server, "/choices")[1]["games"] if each["name"] == "magpies"]
    assert (magpies["title"], magpies["about"], magpies["players"]) == ("Magpies", "", [2, 3, 4, 5, 6])
    assert json.dumps(magpies).count("standard") == 2


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["A", "A", "A 2"], ["A", "A 3", "A 2"]),
        (["A", "A", "A", "A 2", "A 3"], ["A", "A 4", "A 5", "A 2", "A 3"]),
        (["A 2", "A", "A"], ["A 2", "A", "A 3"]),
        (["Ann", "ann ", "ANN"], ["Ann", "ann  2", "ANN 3"]),
        (["Ann", "Ann\ufe0f", "Ann\u3164"], ["Ann", "Ann\ufe0f 2", "Ann\u3164 3"]),
        (["Max", "Мах", "Ｍax", "Μax"], ["Max", "Мах 2", "Ｍax 3", "Μax 4"]),  # noqa: RUF001
        (["Zoe", "Zoë"], ["Zoe", "Zoë"]),
    ],
)
def test_names_of_a_game_are_unique_on_the_page_and_on_the_command_line(names, expected):
    variant = {"game": "magpies", "rules": "standard"}
    _, _, seats = start_page.read({**variant, "seats": [{"name": name} for name in names]})
    assert [seat.name for seat in seats] == expected
    assert [seat.name for seat in command.seats(names, [])] == expected
    assert len({look(name) for name in expected}) == len({people.key(name) for name in expected}) == len(expected)


def test_a_persons_name_and_that_of_a_level_differ():
    _, _, seats = start_page.read({**PEOPLE, "seats": [{"level": "easy"}, {"name": "Easy"}]})
    assert [seat.name for seat in seats] == ["Easy", "Easy 2"]
