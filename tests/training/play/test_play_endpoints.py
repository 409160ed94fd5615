"""The play server's handlers, called without a socket."""

import asyncio
import json
import random
import re

import pytest

pytest.importorskip("starlette", reason="the extra play isn't installed")
pytest.importorskip("uvicorn", reason="the extra play isn't installed")

from artus_training.play import server
from artus_training.play.command import seats
from artus_training.play.hosted import HostedGame, RefusedError
from artus_training.play.lobby import Lobby
from artus_training.play.server import Endpoints
from artus_training.play.store import Store


@pytest.fixture
def endpoints(tmp_path):
    return Endpoints(Lobby(Store(tmp_path)))


@pytest.fixture
def hosted(endpoints):
    """A new game of two people."""
    new = HostedGame.deal(endpoints.lobby.store, "beginner", seats(["Ann", "Ben"], []), 5)
    endpoints.lobby.add(new)
    return new


def play_to_the_end(hosted):
    rng = random.Random(0)
    while not hosted.over:
        hosted.play(hosted.game.player, hosted.number, rng.choice(hosted.game.moves()))


def refused(work):
    """HTTP status of the `RefusedError` that a coroutine raises."""
    with pytest.raises(RefusedError) as error:
        asyncio.run(work)
    return error.value.status


def test_the_list_of_addresses_is_complete(endpoints):
    listed = {tuple(line.split()[:2]) for line in server.__doc__.splitlines() if re.match(" +(GET|POST) ", line)}
    routes = {
        (next(iter(route.methods - {"HEAD"})), re.sub(r"\{(\w+)[^}]*\}", lambda part: part[1].upper(), route.path))
        for route in endpoints.routes()
    }
    assert listed == routes - {("GET", "/")}


def test_a_move_is_played_once_and_only_by_its_seat(endpoints, hosted):
    player, move = hosted.game.player, hosted.game.moves()[0]
    assert refused(endpoints.move(hosted, 1 - player, 0, move)) == 409
    assert asyncio.run(endpoints.move(hosted, player, 0, move)) == {"number": 1}
    assert refused(endpoints.move(hosted, player, 0, move)) == 409
    assert [step.move for step in hosted.steps] == ["", move]


@pytest.mark.parametrize(("number", "move", "status"), [(0, "nonsense", 422), (0, 7, 400), ("0", "@1", 400)])
def test_a_bad_move_is_refused(endpoints, hosted, number, move, status):
    assert refused(endpoints.move(hosted, hosted.game.player, number, move)) == status
    assert hosted.number == 0


def test_a_seat_gets_legal_moves_only_on_its_turn(endpoints, hosted):
    for player in range(2):
        state = asyncio.run(endpoints.state(hosted, player))["state"]
        assert [each["move"] for each in state["moves"]] == hosted.game.moves() * (player == hosted.game.player)


def test_secrets_lead_to_their_game_and_no_others_do(endpoints, hosted):
    lobby = endpoints.lobby
    for player, seat in enumerate(hosted.seats):
        assert asyncio.run(lobby.at_seat(seat.secret)) == (hosted, player)
    assert asyncio.run(lobby.of_host(lobby.host_secret)) == ()
    for find in (lobby.at_seat, lobby.of_record, lobby.of_host, lobby.find):
        assert refused(find("A" * 22)) == 404


def test_results_are_shown_when_the_game_is_over_and_not_before(endpoints, hosted):
    lobby, secret = endpoints.lobby, hosted.seats[0].secret
    assert refused(lobby.at_seat_when_over(secret)) == 409
    assert refused(lobby.of_record(hosted.record_secret)) == 409
    play_to_the_end(hosted)
    assert asyncio.run(lobby.at_seat_when_over(secret)) == (hosted, 0)
    assert asyncio.run(lobby.of_record(hosted.record_secret)) == (hosted,)
    assert asyncio.run(endpoints.look_back(hosted, 0, 3))["number"] == 3
    assert refused(endpoints.look_back(hosted, 0, hosted.number + 1)) == 404
    assert asyncio.run(endpoints.record(hosted)).body.decode() == hosted.record() + "\n"


def test_nothing_in_a_page_ends_its_script_or_becomes_markup(endpoints):
    name = "</script><b>Ann"
    hosted = HostedGame.deal(endpoints.lobby.store, "beginner", seats([name, "Ben"], []), 5)
    page = asyncio.run(endpoints.seat(hosted, 0)).body.decode()
    assert "<b>" not in page
    (brought,) = re.findall(r'<script type="application/json" id="everything">(.*?)</script>', page)
    assert json.loads(brought)["players"][0]["name"] == name


def test_another_game_has_the_same_players_and_new_links(endpoints, hosted):
    assert refused(endpoints.again(hosted, 0)) == 409
    play_to_the_end(hosted)
    assert refused(endpoints.following(hosted, 0)) == 404
    link = asyncio.run(endpoints.again(hosted, 0))
    assert asyncio.run(endpoints.following(hosted, 0)) == link
    new, player = asyncio.run(endpoints.lobby.at_seat(link["link"].removeprefix("/seat/")))
    assert (new.names, player) == (hosted.names, 0)
    assert new.seats[0].secret != hosted.seats[0].secret
