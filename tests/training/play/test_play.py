"""`artus play` without a browser: who may see and do what, what survives, what is refused."""

import asyncio
import gzip
import json
import os
import posixpath
import random
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the extra play isn't installed")
pytest.importorskip("uvicorn", reason="the extra play isn't installed")

from artus_env import Game
from artus_env.engine.compiling import dispatch
from artus_env.engine.contract import registry
from artus_env.engine.drawing.text_picture import text_picture
from artus_env.games.artus.page import sentences
from artus_training.cli import main as artus
from artus_training.play import agent_moves, command, forecast, view
from artus_training.play import server as server_module
from artus_training.play.command import seats
from artus_training.play.hosted import HostedGame, RefusedError, Seat
from artus_training.play.lobby import Lobby
from artus_training.play.pages import PAGE, Files, files_of, static
from artus_training.play.store import Store
from play_server import Serving, deal, serving, wait_until, without_looks

BOTS = Path(__file__).parents[2] / "helpers" / "hostile_bots.py"

PEOPLE = ["Ann", "Ben", "Cleo"]


def play_on(hosted, moves, seed=0):
    """Let everybody play at random."""
    rng = random.Random(seed)
    for _ in range(moves):
        if hosted.game.over:
            break
        hosted.play(hosted.game.player, hosted.number, rng.choice(hosted.game.moves()))


def files(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def secret_of(hosted, player):
    return hosted.seats[player].secret


# --- links -----------------------------------------------------------------------------------------------------------


def test_every_person_has_a_link_of_his_own_that_nobody_can_guess(tmp_path):
    games = [deal(tmp_path, "advanced", PEOPLE, ["greedy"]) for _ in range(50)]
    secrets = [seat.secret for hosted in games for seat in hosted.seats if seat.secret] + [
        hosted.record_secret for hosted in games
    ]
    assert len(set(secrets)) == 50 * 4
    assert all(len(secret) == 22 for secret in secrets), "128 bits in base 64"
    assert all(hosted.seats[3].secret is None for hosted in games), "an agent has none"


@pytest.mark.parametrize("what", ["", "/events", "/next"])
@pytest.mark.parametrize("secret", ["", "x", "A" * 22, "None", "..%2f", "0"])
def test_without_a_secret_nothing_is_seen(tmp_path, secret, what):
    with serving(tmp_path, "beginner", ["Ann"], ["greedy"]) as (server, hosted):
        status, answer = server.ask(f"/api/{secret}{what}")
        assert status == 404
        assert "error" in answer
        assert server.ask("/")[0] == 200
        assert secret_of(hosted, 0) not in server.ask("/")[1]


def test_a_wrong_link_leads_to_a_page_that_says_so(tmp_path):
    with serving(tmp_path, "beginner", ["Ann"], ["greedy"]) as (server, hosted):
        for path in ("/seat/wrong", "/host/wrong"):
            status, page = server.ask(path, headers={"Accept": "text/html"})
            assert status == 404
            assert "without the right link" in page
            assert "without the right link" in server.ask(path, headers={"Accept": "Text/HTML"})[1]
        assert server.ask(f"/host/{server.lobby.host_secret}")[0] == 200
        _, games = server.ask(f"/api/host/{server.lobby.host_secret}")
        assert games["games"][0]["seats"][0]["link"] == f"/seat/{secret_of(hosted, 0)}"


def test_addresses_with_secrets_are_told_to_nobody_and_kept_nowhere(tmp_path):
    with serving(tmp_path, "beginner", ["Ann"], ["greedy"]) as (server, hosted):
        scripts = f"{static()}/seat.js"
        for path in (f"/seat/{secret_of(hosted, 0)}", f"/api/{secret_of(hosted, 0)}", scripts, "/nowhere"):
            server.ask(path)
            assert server.headers["Referrer-Policy"] == "no-referrer"
            assert (server.headers["Cache-Control"] == "no-store") == (path != scripts)
            assert "default-src 'self'" in server.headers["Content-Security-Policy"]
            assert server.headers["Access-Control-Allow-Origin"] is None, "other sites' pages may read nothing"


# --- what is hidden stays hidden
# ---------------------------------------------------------------------------------------


def everything_said(hosted, player, number=None):
    """All data that the server sends to a seat about the current position, as JSON."""
    data = [view.setup(hosted, player), view.seen(hosted, player)]
    if hosted.game.player == player and not hosted.game.over:
        data += [view.preview(hosted.game, action, hosted.names) for action in hosted.game.legal_actions()]
        data.append(forecast.hint(hosted.game, 1))
    return json.dumps(data)


@pytest.mark.parametrize("rules", ["beginner", "advanced"])
@pytest.mark.parametrize("moves", [3, 20, 33, 50])
def test_all_that_a_seat_is_told_is_the_same_whatever_it_cannot_know(tmp_path, rules, moves):
    """Redeal everything that a player doesn't know: data for their page, previews and hint stay exactly the same."""
    hosted = deal(tmp_path, rules, PEOPLE)
    play_on(hosted, moves)
    for player in range(3):
        answers = set()
        for seed in range(4):
            position = hosted.game.redeal(player, seed).to_dict()
            answers.add(
                everything_said(HostedGame("x", hosted.seats, Game.from_dict(position), hosted.store, 1, "s"), player)
            )
        assert len(answers) == 1


def test_every_step_shows_a_player_his_own_hand_and_backs_of_the_others(tmp_path):
    with serving(tmp_path, "advanced", PEOPLE) as (server, hosted):
        play_on(hosted, 45)
        for player in range(3):
            for state in server.events(secret_of(hosted, player), 46 - 10, after=9):
                game = hosted.steps[state["number"]].game
                assert state["position"] == game.to_dict(player)
                others = [hand for owner, hand in enumerate(state["position"]["hands"]) if owner != player]
                assert all(set(hand) == {"knight", "king", "scoring"} for hand in others)
                assert bool(state["moves"]) == (state["number"] == 45 and game.player == player)


def test_drawn_cards_are_named_in_the_log_of_who_drew_them_only(tmp_path):
    hosted = deal(tmp_path, "beginner", PEOPLE[:2])
    play_on(hosted, 24)
    draws = [number for number, step in enumerate(hosted.steps) if step.move.startswith("draw:")]
    assert len(draws) > 3
    for number in draws:
        step = hosted.steps[number]
        pile = step.move.partition(":")[2]
        name = hosted.steps[number - 1].game.to_dict()["piles"][step.player][pile][0]
        card = next(card for card in step.game.components.cards if card.name == name)
        own_text, other_text = (
            view.log_entry(hosted, number, player, number)["text"] for player in (step.player, 1 - step.player)
        )
        assert own_text == f"{other_text} It is “{sentences.card_title(card)}”."
        assert other_text == f"draws a {pile} card."
        assert sentences.card_title(card) not in json.dumps(view.seen(hosted, 1 - step.player, number)["last"])


def test_a_preview_tells_nothing_of_a_card_to_be_drawn(tmp_path):
    hosted = deal(tmp_path, "beginner", PEOPLE[:2])
    while not hosted.game.moves()[0].startswith("draw:"):
        play_on(hosted, 1)
    for action in hosted.game.legal_actions():
        preview = view.preview(hosted.game, action, hosted.names)
        assert preview["picture"] is None
        assert {key: preview[key] for key in ("origin", "target", "points", "card")} == {
            "origin": None, "target": None, "points": 0, "card": None,
        }  # fmt: skip


def test_the_record_shows_all_hands_and_is_there_only_at_the_end(tmp_path):
    with serving(tmp_path, "beginner", PEOPLE[:2]) as (server, hosted):
        play_on(hosted, 20)
        path = f"/record/{hosted.record_secret}.jsonl"
        status, answer = server.ask(path)
        assert status == 409
        assert "when the game is over" in answer["error"]
        assert hosted.record_secret not in server.ask(f"/api/{secret_of(hosted, 0)}")[1]["state"].values()
        play_on(hosted, 1000)
        status, record = server.ask(path)
        assert status == 200
        assert "attachment" in server.headers["Content-Disposition"]
        game = Game.replay(record)
        assert game.over
        assert json.loads(record)["players"] == ["Ann", "Ben"]
        assert server.ask(f"/api/{secret_of(hosted, 1)}")[1]["state"]["over"]["record"] == hosted.record_secret
        assert server.ask("/record/guess.jsonl")[0] == 404


# --- choices that others don't see
# ---------------------------------------------------------------------------


@pytest.mark.parametrize("bare", [False, True], ids=["with its looks", "by its text"])
def test_what_others_choose_in_secret_is_in_no_log_stream_or_picture(tmp_path, monkeypatch, bare):
    """Also if the action that was chosen is the one that others see in place of every hidden action."""
    if bare:
        without_looks(monkeypatch)
    with serving(tmp_path, "advanced", PEOPLE) as (server, hosted):
        play_on(hosted, 30)
        verbs, first_step = (
            dispatch._games[hosted.game.definition.build_tables(hosted.game.components).dtype],
            hosted.steps[1],
        )
        hidden = lambda t, g, action, viewer: action if viewer == int(g["player"]) else first_step.action  # noqa: E731
        monkeypatch.setitem(verbs, "public_action", hidden)
        for player in range(3):
            log = server.ask(f"/api/{secret_of(hosted, player)}")[1]["log"]
            states = server.events(secret_of(hosted, player), 30, after=0)
            for step, state, entry in zip(hosted.steps[1:], states, log, strict=True):
                last, is_mover = state["last"], step.player == player
                assert last["entry"] == entry
                assert entry["move"] == last["move"] == (step.move if is_mover else None)
                if not is_mover:
                    assert set(last) == {"player", "move", "text", "points", "gains", "entry", "opened"}
                    gain = f": {sentences.plus(entry['points'])}" if entry["points"] else ""
                    assert entry["text"] == f"chooses something in secret{gain}."
                    assert "data-move" not in state["picture"]
                    assert step.move not in json.dumps(state)


def test_a_secret_choice_is_in_the_log_when_it_has_been_opened_and_not_before(tmp_path):
    """Magpies reveals the bids of a round when all have bid. In the stream, lines with these bids replace old ones."""
    hosted = HostedGame.deal(Store(tmp_path), None, command.seats(PEOPLE, []), 5, "magpies")
    play_on(hosted, 8)
    for player in range(3):
        lines = []
        for number in range(1, 9):
            last = view.seen(hosted, player, number)["last"]
            lines.append(last["entry"])
            for line in last["opened"]:
                lines[line["number"] - 1] = line["entry"]
            moves = [line["move"] for line in lines]
            secret = number - number % 3
            for nth, (move, step) in enumerate(zip(moves, hosted.steps[1:], strict=False)):
                assert move == (step.move if nth < secret or step.player == player else None)
            assert [line["number"] - 1 for line in last["opened"]] == [
                nth
                for nth in range(secret - 3, number - 1)
                if number == secret and hosted.steps[nth + 1].player != player
            ]
        assert view.setup(hosted, player)["log"] == lines
        assert {line["text"] for line in lines if line["move"] is None} == {"chooses something in secret."}


def test_a_choice_that_is_never_opened_is_never_told(tmp_path, monkeypatch):
    magpies = registry.find_game("magpies")
    verbs = dispatch._games[magpies.build_tables(magpies.standard).dtype]
    monkeypatch.setitem(verbs, "is_revealed", dispatch.DEFAULTS["is_revealed"])
    hosted = HostedGame.deal(Store(tmp_path), None, command.seats(PEOPLE, []), 5, "magpies")
    play_on(hosted, 1000)
    assert hosted.game.over
    for player in range(3):
        log = view.setup(hosted, player)["log"]
        assert [line["move"] for line in log] == [
            step.move if step.player == player else None for step in hosted.steps[1:]
        ]
        assert not any(view.seen(hosted, player, number)["last"]["opened"] for number in range(1, len(hosted.steps)))


# --- games without a picture or page of their own
# -----------------------------------------------------------------------------


def test_a_game_without_looks_is_played_by_its_text_and_its_moves(tmp_path, monkeypatch):
    without_looks(monkeypatch)
    with serving(tmp_path, "beginner", ["Ann"], ["greedy"], seed=1) as (server, hosted):
        secret, rng = secret_of(hosted, 0), random.Random(1)
        everything = server.ask(f"/api/{secret}")[1]
        assert (everything["script"], everything["worded"]) == (None, False)
        styles = [path for path in linked(server.ask(f"/seat/{secret}")[1]) if path.endswith(".css")]
        assert styles == [f"{static()}/play.css"]
        assert [player["badge"] for player in everything["players"]] == [view.badge(0), view.badge(1)]
        state = everything["state"]
        while not state["over"]:
            if not state["moves"]:
                state = server.events(secret, after=state["number"], until=lambda each: each["moves"] or each["over"])
                state = state[-1]
                continue
            assert state["moves"] == [{"move": move, "label": move} for move in hosted.game.moves()]
            assert state["position"] is None
            chosen = {"number": state["number"], "move": rng.choice(hosted.game.moves())}
            previewed = server.ask(f"/api/{secret}/preview", chosen)[1]
            assert previewed == {"move": chosen["move"], "label": chosen["move"], "picture": None}, (
                "the page gets no preview"
            )
            assert server.ask(f"/api/{secret}/move", chosen)[0] == 200
            last = server.events(secret, 1, after=state["number"])[0]["last"]
            gain = f": {sentences.plus(last['points'])}" if last["points"] else ""
            assert last["text"] == f"plays {chosen['move']}{gain}."
            state = server.ask(f"/api/{secret}")[1]["state"]
        assert state["over"]["sources"] == []
        assert [row["points"] for row in state["over"]["rows"]] == sorted(hosted.game.scores, reverse=True)


def test_a_text_becomes_a_picture_with_every_word_in_its_column_and_marks_on_what_is_new():
    picture = text_picture("ab  cd\n<e> f\tg\x1b\n", "ab  ce\n<e> f")
    words = re.findall(r'<text x="(\d+)" y="([\d.]+)" textLength="(\d+)">([^<]*)</text>', picture)
    assert [(int(x), word) for x, _, _, word in words] == [
        (18, "ab"), (18 + 4 * 9, "cd"), (18, "&lt;e&gt;"), (18 + 4 * 9, "f"), (18 + 8 * 9, "g")
    ]  # fmt: skip
    marks = re.findall(r'<rect class="new" x="(\d+)" y="(\d+)" width="(\d+)"', picture)
    assert [tuple(map(int, mark)) for mark in marks] == [(50, 18, 26), (86, 38, 17)]
    assert "\x1b" not in picture
    assert "new" not in re.sub(r"<style>.*</style>", "", text_picture("ab", None))


def test_six_badges_can_be_read_and_told_apart():
    badges = [view.badge(player) for player in range(6)]
    for part in (r'd="([^"]*)"', r'<path [^>]*fill="([^"]*)"', r">(\w)</text>"):
        assert len({re.search(part, badge)[1] for badge in badges}) == 6
    for look in view.BADGES:
        assert contrast(look.colour, look.ink) >= 4.5


def contrast(one, other):
    """The contrast of two colours as WCAG 2 defines it."""

    def light(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


OF_A_GAME = re.compile(
    r"\b(knights?|kings?|princes?|rings?|royals?|wheel|crowns?|carpet|beginner|advanced|prestige|quests?)\b"
)


def test_the_page_knows_no_game():
    """Texts and pictures of a game are in the game's folder."""
    for path in PAGE.parent.rglob("*"):
        if path.suffix in {".py", ".js", ".html", ".css"}:
            text = path.read_text(encoding="utf-8")
            assert not OF_A_GAME.findall(text.lower()), path
            assert "artus_env.games" not in text, path


def test_a_games_own_files_are_served_and_no_others(tmp_path):
    with serving(tmp_path, "beginner", PEOPLE[:2]) as (server, hosted):
        everything = server.ask(f"/api/{secret_of(hosted, 0)}")[1]
        script = f"{static()}/{everything['script']}"
        folder = script.rpartition("/")[0]
        for name, type_ in (("page.js", "text/javascript"), ("page.css", "text/css")):
            assert server.ask(f"{folder}/{name}")[0] == 200
            assert server.headers.get_content_type() == type_
        for path in ("../sentences.py", "%2e%2e/sentences.py", "/etc/passwd", "", "nothing.js"):
            assert server.ask(f"{folder}/{path}")[0] == 404
        for path in ("another/page.js", "another-0123456789ab/page.js", "artus/page.js"):
            assert server.ask(f"{static()}/{path}")[0] == 404
        assert server.ask(script, {})[0] == 405


# --- what is refused
# ---------------------------------------------------------------------------------------------------

LONG = "9" * 20_000


def test_nobody_moves_for_another_seat(tmp_path):
    with serving(tmp_path, "advanced", PEOPLE) as (server, hosted):
        before = files(tmp_path)
        mover = hosted.game.player
        for player in {0, 1, 2} - {mover}:
            for what, more in (("move", {"move": hosted.game.moves()[0]}), ("preview", {"move": "@9"}), ("hint", {})):
                status, answer = server.ask(f"/api/{secret_of(hosted, player)}/{what}", {"number": 0, **more})
                assert status == 409
                assert answer == {"error": f"it isn't your turn: {PEOPLE[mover]} is to move"}
        assert files(tmp_path) == before
        assert hosted.number == 0
        assert (
            server.ask(f"/api/{secret_of(hosted, mover)}/move", {"number": 0, "move": hosted.game.moves()[0]})[0] == 200
        )
        assert hosted.number == 1
        assert files(tmp_path) != before


@pytest.mark.parametrize(
    ("request_", "status", "reason"),
    [
        (("move", {"number": 0, "move": "k3-6:1>5"}), 422, "is illegal for player"),
        (("move", {"number": 0, "move": "@0"}), 422, "legal: "),
        (("move", {"number": 0, "move": ""}), 422, "illegal"),
        (("move", {"number": 0, "move": "\u0000\ud800"}), 400, "must be a text"),
        (("move", {"number": 0, "move": 17}), 400, "must be a text"),
        (("move", {"number": 0, "move": None}), 400, "must be a text"),
        (("move", {"number": 0, "move": "@" * 101}), 400, "must be a text"),
        (("move", {"number": 1, "move": "@9"}), 409, "0 moves played, this was meant for 1"),
        (("move", {"number": -1, "move": "@9"}), 409, "meant for -1"),
        (("move", {"number": "0", "move": "@9"}), 400, "number must be"),
        (("move", {"number": True, "move": "@9"}), 400, "number must be"),
        (("move", {"number": 0.0, "move": "@9"}), 400, "number must be"),
        (("move", {"move": "@9"}), 400, "an object with number, move"),
        (("move", {"number": 0, "move": "@9", "player": 1}), 400, "an object with number, move"),
        (("move", [0, "@9"]), 400, "an object"),
        (("preview", {"number": 0, "move": "all"}), 422, "illegal"),
        (("hint", {"number": 4}), 409, "meant for 4"),
        (("hint", {}), 400, "an object with number"),
        (("again", {}), 409, "isn't over yet"),
        (("nonsense", {}), 404, "Not Found"),
    ],
)
def test_bad_requests_get_a_reason_and_change_nothing(tmp_path, request_, status, reason):
    with serving(tmp_path, "advanced", PEOPLE) as (server, hosted):
        before, state = files(tmp_path), server.ask(f"/api/{secret_of(hosted, hosted.game.player)}")
        what, body = request_
        answered, answer = server.ask(f"/api/{secret_of(hosted, hosted.game.player)}/{what}", body)
        assert (answered, list(answer)) == (status, ["error"])
        assert reason in answer["error"]
        assert files(tmp_path) == before
        assert server.ask(f"/api/{secret_of(hosted, hosted.game.player)}") == state


@pytest.mark.parametrize(
    ("raw", "type_", "status"),
    [
        (b"", "application/json", 400),
        (b"{", "application/json", 400),
        (b"\xff\xfe", "application/json", 400),
        (b"[" * 9000, "application/json", 400),
        (f'{{"number":{LONG}}}'.encode(), "application/json", 413),
        (f'{{"number":{LONG[:9000]},"move":"@9"}}'.encode(), "application/json", 400),
        (b'{"number":0,"move":"@9"}', "text/plain", 415),
        (b"number=0&move=@9", "application/x-www-form-urlencoded", 415),
    ],
)
def test_bodies_that_are_no_json_are_refused(tmp_path, raw, type_, status):
    with serving(tmp_path, "advanced", PEOPLE) as (server, hosted):
        path = f"/api/{secret_of(hosted, hosted.game.player)}/move"
        answered, answer = server.ask(path, raw=raw, headers={"Content-Type": type_})
        assert (answered, list(answer)) == (status, ["error"])
        assert hosted.number == 0


def test_wrong_methods_and_files_outside_are_refused(tmp_path):
    with serving(tmp_path, "advanced", PEOPLE) as (server, hosted):
        secret = secret_of(hosted, 0)
        assert server.ask(f"/api/{secret}/move")[0] == 405
        assert server.ask(f"/api/{secret}", {})[0] == 405
        assert server.ask(f"/api/{secret}/events", method="DELETE")[0] == 405
        for path in ("../command.py", "%2e%2e/command.py", "/etc/passwd", "", "seat.js/"):
            assert server.ask(f"/static/{path}")[0] == 404
            assert server.ask(f"{static()}/{path}")[0] == 404


def test_a_move_that_is_sent_twice_is_played_once(tmp_path):
    with serving(tmp_path, "beginner", PEOPLE[:2]) as (server, hosted):
        body = {"number": 0, "move": hosted.game.moves()[0]}
        secret = secret_of(hosted, hosted.game.player)
        assert [server.ask(f"/api/{secret}/move", body)[0] for _ in range(2)] == [200, 409]
        assert hosted.number == 1


# --- playing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "agents"), [("beginner", ["greedy"]), ("advanced", ["random", "lookahead", "ismcts:20"])]
)
def test_a_whole_game_against_agents(tmp_path, rules, agents):
    with serving(tmp_path, rules, ["Ann"], agents) as (server, hosted):
        secret, rng = secret_of(hosted, 0), random.Random(1)
        state = server.ask(f"/api/{secret}")[1]["state"]
        while not state["over"]:
            if not state["moves"]:
                state = server.events(secret, after=state["number"], until=lambda each: each["moves"] or each["over"])[
                    -1
                ]
                continue
            chosen = rng.choice(state["moves"])
            seen = server.ask(f"/api/{secret}/preview", {"number": state["number"], "move": chosen["move"]})[1]
            assert server.ask(f"/api/{secret}/move", {"number": state["number"], "move": chosen["move"]})[0] == 200
            states = server.events(secret, 1, after=state["number"])
            assert states[0]["number"] == state["number"] + 1
            last = states[0]["last"]
            assert (last["move"], last["points"], last["refuge"]) == (
                chosen["move"],
                chosen["points"],
                chosen["refuge"],
            )
            assert seen["points"] == chosen["points"]
            state = server.ask(f"/api/{secret}")[1]["state"]
        rows = state["over"]["rows"]
        assert [row["points"] for row in rows] == sorted(hosted.game.scores, reverse=True)
        assert all(row["points"] == sum(row["parts"]) for row in rows)
        assert server.ask(f"/api/{secret}/move", {"number": hosted.number, "move": "all"}) == (
            409,
            {"error": "the game is over"},
        )


def test_a_new_game_that_its_table_cannot_name_is_not_left_behind(tmp_path, monkeypatch):
    """The disk fills up between the two files that a new game takes."""
    lobby = Lobby(Store(tmp_path))
    lobby.add(hosted := deal(tmp_path, "beginner", PEOPLE[:2]))
    while not hosted.game.over:
        play_on(hosted, 1)
    save = HostedGame.save

    def full(self):
        if self is hosted:
            raise OSError(28, "No space left on device")
        save(self)

    monkeypatch.setattr(HostedGame, "save", full)
    with pytest.raises(RefusedError, match="can't be kept on disk: No space left"):
        lobby.again(hosted)
    assert [path.stem for path in tmp_path.glob("*.json")] == [hosted.name]
    assert hosted.next == ""


def test_after_the_end_the_same_people_can_play_again_with_new_links(tmp_path):
    with serving(tmp_path, "beginner", PEOPLE[:2]) as (server, hosted):
        play_on(hosted, 1000)
        assert server.ask(f"/api/{secret_of(hosted, 1)}/next")[0] == 404
        _, own_answer = server.ask(f"/api/{secret_of(hosted, 0)}/again", {})
        assert server.ask(f"/api/{secret_of(hosted, 0)}/again", {})[1] == own_answer, (
            "a second request sets up no second game"
        )
        assert server.ask(f"/api/{secret_of(hosted, 1)}")[1]["state"]["next"] is True
        _, other_answer = server.ask(f"/api/{secret_of(hosted, 1)}/next")
        new = server.lobby.games[hosted.next]
        assert [own_answer["link"], other_answer["link"]] == [f"/seat/{seat.secret}" for seat in new.seats]
        assert new.names == hosted.names
        assert not {seat.secret for seat in new.seats} & {seat.secret for seat in hosted.seats}


def test_the_server_answers_while_an_agent_thinks(tmp_path, monkeypatch):
    class Slow:
        def act(self, view):
            time.sleep(1.5)
            return np.array([int(np.flatnonzero(view.mask[0])[0])])

    monkeypatch.setattr(agent_moves, "find_player", lambda name: Slow())
    with serving(tmp_path, "beginner", ["Ann"], ["greedy"], seed=1) as (server, hosted):
        if hosted.game.player == 0:
            table_move(server, hosted)
        assert hosted.game.player == 1
        began = time.perf_counter()
        for _ in range(5):
            assert server.ask(f"/api/{secret_of(hosted, 0)}")[0] == 200
        assert time.perf_counter() - began < 1
        wait_until(lambda: hosted.game.player == 0)


def table_move(server, hosted):
    player = hosted.game.player
    body = {"number": hosted.number, "move": hosted.game.moves()[0]}
    assert server.ask(f"/api/{secret_of(hosted, player)}/move", body)[0] == 200


@pytest.mark.parametrize("answer", [-1, 10_000, "x"])
def test_an_agent_that_fails_is_named_and_the_server_goes_on(tmp_path, monkeypatch, answer):
    class Broken:
        failure = "no idea"

        def act(self, view):
            return np.array([int(answer)])

    monkeypatch.setattr(agent_moves, "find_player", lambda name: Broken())
    with serving(tmp_path, "beginner", ["Ann"], ["greedy"], seed=1) as (server, hosted):
        if hosted.game.player == 0:
            table_move(server, hosted)
        wait_until(lambda: hosted.trouble)
        state = server.ask(f"/api/{secret_of(hosted, 0)}")[1]["state"]
        assert state["trouble"].startswith("greedy can't move: ")
        assert not state["moves"]


@pytest.mark.parametrize(
    "answer",
    [
        lambda: np.array([1.0]),
        lambda: np.array([[0]]),
        lambda: np.array([0, 0]),
        lambda: [],
        lambda: [10**5000],
        lambda: [None],
        lambda: "\ud800\x1b[2J" * 1000,
        lambda: sys.exit("the end"),
        lambda: next(iter([])),
        lambda: fail(MuteError()),
        lambda: fail("\ud800\x1b[2J" * 1000),
    ],
)
def test_whatever_an_agent_answers_the_server_goes_on_and_says_so_in_one_line(tmp_path, monkeypatch, answer, capsys):
    class Odd:
        def act(self, view):
            return answer()

    monkeypatch.setattr(agent_moves, "find_player", lambda name: Odd())
    with serving(tmp_path, "beginner", ["Ann"], ["greedy"], seed=1) as (server, hosted):
        if hosted.game.player == 0:
            table_move(server, hosted)
        wait_until(lambda: hosted.trouble)
        trouble = server.ask(f"/api/{secret_of(hosted, 0)}")[1]["state"]["trouble"]
        assert trouble.startswith("greedy can't move: ")
        assert trouble.isprintable()
        assert len(trouble) <= 500
        assert f"artus play: {hosted.name}: {trouble}\n" in capsys.readouterr().err
        assert server.thread.is_alive()


def fail(reason):
    raise reason if isinstance(reason, Exception) else ValueError(reason)


class MuteError(Exception):
    """An error whose text can't be computed."""

    def __str__(self):
        raise ValueError


def test_an_agent_that_fails_for_a_moment_is_asked_again(tmp_path, monkeypatch, capsys):
    instances = []

    class Sometimes:
        def __init__(self):
            instances.append(self)

        def act(self, view):
            if len(instances) < 4:
                raise OSError(24, "Too many open files", "/home/ann/secret")
            return np.array([int(np.flatnonzero(view.mask[0])[0])])

    monkeypatch.setattr(agent_moves, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(agent_moves, "find_player", lambda name: Sometimes())
    with serving(tmp_path, "beginner", ["Ann"], ["greedy"], seed=1) as (server, hosted):
        if hosted.game.player == 0:
            table_move(server, hosted)
        number = hosted.number
        wait_until(lambda: hosted.number > number)
        wait_until(lambda: not hosted.trouble)
        error = capsys.readouterr().err
        assert error == f"artus play: {hosted.name}: greedy can't move: Too many open files; trying again\n", (
            "reported only once"
        )
        assert len(instances) == 4, "each attempt has a new agent"


def test_the_server_goes_on_when_its_terminal_is_gone(tmp_path, monkeypatch):
    class Gone:
        def write(self, text):
            raise OSError(5, "Input/output error")

    hosted = deal(tmp_path, "beginner", PEOPLE[:2])
    monkeypatch.setattr(sys, "stderr", Gone())
    agent_moves.complain(hosted, "trouble.move", name="Ann", reason="it fails")
    assert hosted.trouble == "Ann can't move: it fails; trying again"


def test_a_full_disk_holds_an_agent_up_and_its_move_is_played_when_there_is_room_again(tmp_path, monkeypatch):
    full, played, choices = [True], [], []
    play, choose, write = HostedGame.play, agent_moves.AgentThread.choose, Store.write

    def write_if_there_is_room(*args):
        if full[0]:
            raise OSError(28, "No space left on device")
        write(*args)

    hosted = deal(tmp_path, "beginner", ["Ann"], ["random"], seed=1)
    if hosted.game.player == 0:
        play_on(hosted, 1)
    monkeypatch.setattr(agent_moves, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(Store, "write", write_if_there_is_room)
    monkeypatch.setattr(HostedGame, "play", lambda *args, **keys: (played.append(args), play(*args, **keys)))
    monkeypatch.setattr(agent_moves.AgentThread, "choose", lambda *args: (choices.append(args), choose(*args))[-1])
    server = Serving(tmp_path)
    try:
        (served,) = server.lobby.games.values()
        secret = secret_of(served, 0)
        wait_until(lambda: len(played) > 2)
        assert served.number == hosted.number
        trouble = server.ask(f"/api/{secret}")[1]["state"]["trouble"]
        assert trouble == "random can't move: the game can't be kept on disk: No space left on device; trying again"
        full[0] = False
        state = server.events(secret, after=hosted.number, until=lambda each: each["number"] > hosted.number)[-1]
        wait_until(lambda: not served.trouble)
        assert state["number"] == hosted.number + 1
        assert len(choices) == 1, "the agent isn't asked twice for the same move"
    finally:
        server.stop()


def test_pauses_between_attempts_grow_up_to_a_minute(tmp_path, monkeypatch):
    pauses = []

    async def sleep(seconds):
        pauses.append(seconds)
        if len(pauses) == 10:
            raise asyncio.CancelledError

    async def attempt():
        raise OSError

    monkeypatch.setattr(asyncio, "sleep", sleep)
    trying = agent_moves.AgentMoves()._persist(deal(tmp_path, "beginner", PEOPLE), "trouble.game", attempt)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(trying)
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60]


# --- programs --------------------------------------------------------------------------------------------------------


def test_no_program_that_only_a_file_names_is_started(tmp_path, capsys):
    started = tmp_path / "started"
    agent = f"program:touch {started}"
    hosted = deal(tmp_path / "games", "beginner", ["Ann"], [agent], seed=1)
    server = Serving(tmp_path / "games")
    try:
        served = server.lobby.games[hosted.name]
        wait_until(lambda: served.trouble)
        hint = f"artus play --allow 'program:touch {started}'"
        assert served.trouble == (
            f"the file of this game names a program to start, {agent}. Programs are started only if they are "
            "named on the "
            f"command line: {hint}"
        )
        assert hint in capsys.readouterr().err
        if served.game.player == 0:
            table_move(server, served)
        state = server.ask(f"/api/{secret_of(served, 0)}")[1]["state"]
        assert state["trouble"] == served.trouble
        play_on(served, 1000)
        again = server.ask(f"/api/{secret_of(served, 0)}/again", {})[1]["link"].rpartition("/")[2]
        following = server.lobby.games[server.lobby.games.seats[again][0]]
        wait_until(lambda: following.trouble)
        assert "--allow" in following.trouble, "another game with the same players may use the same program"
    finally:
        server.stop()
    assert not started.exists()


@pytest.mark.parametrize("name", ["wrapped:./bot", "program:time=1 ./bot", "program:./bot.safetensors"])
def test_programs_are_known_by_what_starts_them_whatever_they_are_called(tmp_path, monkeypatch, name):
    hosted = HostedGame.deal(Store(tmp_path), "beginner", [Seat("Ann", None, "A" * 22), Seat("greedy", name)], 1)
    monkeypatch.setattr(agent_moves, "find_player", lambda name: pytest.fail("it was made"))
    monkeypatch.setattr("artus_env.engine.agents.names.entry_points", lambda group: [Wrapped()])
    Wrapped.name = name.partition(":")[0]
    with pytest.raises(agent_moves.NotAllowedError):
        agent_moves.AgentThread(hosted, {"wrapped:./other", "wrapped", "program"}).choose(name, 1, hosted.game, 1)


class Wrapped:
    """An entry point of another package."""

    runs_program = True

    def load(self):
        return self


@pytest.mark.skipif(sys.platform != "linux", reason="programs can play on Linux only")
def test_a_program_that_is_named_on_the_command_line_goes_on_with_its_game(tmp_path):
    bot = tmp_path / "bot.py"
    bot.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    hello = asked['type'] == 'hello'\n"
        "    answer = {'type': 'hello', 'protocol': 1} if hello else {'type': 'move', 'move': asked['moves'][0]}\n"
        "    print(json.dumps(answer), flush=True)\n"
    )
    agent = f"program:{sys.executable} {bot}"
    hosted = deal(tmp_path / "games", "beginner", ["Ann"], [agent], seed=1)
    if hosted.game.player == 0:
        play_on(hosted, 1)
    server = Serving(tmp_path / "games", allowed=[agent])
    try:
        served = server.lobby.games[hosted.name]
        wait_until(lambda: served.number > hosted.number)
        assert served.trouble == ""
    finally:
        server.stop()


def test_agents_that_may_start_programs_are_those_on_the_command_line(tmp_path, monkeypatch):
    allowed = []
    monkeypatch.setattr(command, "Lobby", lambda store, names: allowed.append(names))
    monkeypatch.setattr(command, "run", lambda plan, lobby: None)
    starts = f"program:{sys.executable} {BOTS} good"
    line = ["play", "--games", str(tmp_path), "--against", starts, "--allow", "program:./b", "program:./c"]
    assert artus(line) == 0
    assert allowed == [{starts, "program:./b", "program:./c"}]


def test_agents_play_the_same_after_a_restart_as_without(tmp_path):
    """An agent's randomness depends only on the game's key and the number of the move."""
    games = []
    for name, restart in (("a", False), ("b", True)):
        folder = tmp_path / name
        hosted = HostedGame.deal(Store(folder), "beginner", [Seat("Ann", None, "A" * 22), Seat("r", "random")], 3)
        hosted.key = 77
        hosted.save()
        server = Serving(folder)
        for _ in range(12):
            hosted = server.lobby.games[hosted.name]
            wait_until(lambda: hosted.game.player == 0)  # noqa: B023
            table_move(server, hosted)
            if restart:
                server.stop()
                server = Serving(folder)
        hosted = server.lobby.games[hosted.name]
        wait_until(lambda: hosted.game.player == 0)  # noqa: B023
        server.stop()
        games.append(hosted.game.actions_played)
    assert games[0] == games[1]


# --- taking back -----------------------------------------------------------------------------------------------------


def test_the_last_move_is_taken_back_when_all_people_agree(tmp_path):
    with serving(tmp_path, "beginner", ["Ann", "Ben", "Cleo"]) as (server, hosted):
        mover, move = hosted.game.player, hosted.game.moves()[3]
        secrets, others = [secret_of(hosted, player) for player in range(3)], [p for p in range(3) if p != mover]
        assert server.ask(f"/api/{secrets[mover]}/undo", {"number": 0})[0] == 409, "nothing was played yet"
        first = hosted.game
        table_move_of(server, hosted, move)
        assert server.ask(f"/api/{secrets[others[0]]}/undo", {"number": 1})[0] == 409, "it wasn't their move"
        assert server.ask(f"/api/{secrets[mover]}")[1]["state"]["undo"] == {"may": True, "asks": None, "agreed": False}
        assert server.ask(f"/api/{secrets[mover]}/undo", {"number": 0})[0] == 409, "the request is for another position"
        assert server.ask(f"/api/{secrets[mover]}/undo", {"number": 1}) == (200, {"number": 1})
        assert server.ask(f"/api/{secrets[others[0]]}")[1]["state"]["undo"]["asks"] == mover
        assert server.ask(f"/api/{secrets[others[0]]}/undo", {"number": 1}) == (200, {"number": 1})
        assert hosted.number == 1, "not all have agreed"
        assert server.ask(f"/api/{secrets[others[1]]}/undo", {"number": 1}) == (200, {"number": 0})
        assert hosted.game == first
        assert hosted.taken_back == 1
        assert server.ask(f"/api/{secrets[mover]}")[1]["log"] == []
        table_move_of(server, hosted, hosted.game.moves()[5])
        assert len(server.ask(f"/api/{secrets[mover]}")[1]["log"]) == 1
    again = Lobby(Store(tmp_path)).games[hosted.name]
    assert [step.move for step in again.steps[1:]] == [hosted.steps[1].move], "the same as in the file"


def table_move_of(server, hosted, move):
    body = {"number": hosted.number, "move": move}
    assert server.ask(f"/api/{secret_of(hosted, hosted.game.player)}/move", body)[0] == 200


def test_playing_on_ends_the_question_whether_to_take_back(tmp_path):
    with serving(tmp_path, "beginner", PEOPLE[:2]) as (server, hosted):
        mover = hosted.game.player
        table_move_of(server, hosted, hosted.game.moves()[0])
        assert server.ask(f"/api/{secret_of(hosted, mover)}/undo", {"number": 1})[0] == 200
        table_move_of(server, hosted, hosted.game.moves()[0])
        assert not hosted.agreed
        assert server.ask(f"/api/{secret_of(hosted, 1 - mover)}/undo", {"number": 1})[0] == 409
        assert hosted.number == 2


def test_what_has_shown_something_hidden_or_was_answered_by_an_agent_stays(tmp_path):
    """Moves that can't be taken back: a drawn card, a move of an agent, the last move of a game."""
    hosted, rng = deal(tmp_path / "people", "beginner", PEOPLE[:2]), random.Random(1)
    stays, goes = 0, 0
    while not hosted.game.over:
        assert hosted.last_can_be_taken_back == (hosted.number > 0 and not hosted.steps[-1].move.startswith("draw:"))
        stays, goes = stays + (not hosted.last_can_be_taken_back), goes + hosted.last_can_be_taken_back
        hosted.play(hosted.game.player, hosted.number, rng.choice(hosted.game.moves()))
    assert min(stays, goes) > 10
    assert not hosted.last_can_be_taken_back
    with serving(tmp_path / "agents", "beginner", ["Ann"], ["greedy"]) as (server, hosted):
        wait_until(lambda: hosted.game.player == 0)
        number = hosted.number
        table_move_of(server, hosted, hosted.game.moves()[0])
        wait_until(lambda: hosted.number > number + 1 and hosted.game.player == 0)
        assert not hosted.last_can_be_taken_back
        assert server.ask(f"/api/{secret_of(hosted, 0)}/undo", {"number": hosted.number})[0] == 409


# --- hints -----------------------------------------------------------------------------------------------------------


def test_a_hint_says_what_the_strongest_agent_would_play_and_what_comes_of_it(tmp_path):
    with serving(tmp_path, "advanced", ["Ann"], ["greedy"], seed=1) as (server, hosted):
        wait_until(lambda: hosted.game.player == 0)
        secret, number = secret_of(hosted, 0), hosted.number
        status, hint = server.ask(f"/api/{secret}/hint", {"number": number})
        assert status == 200
        assert (hint["agent"], hint["games"]) == ("ppo-search:64", forecast.DEALS)
        assert len(hint["moves"]) == forecast.SHOWN
        assert len({move["move"] for move in hint["moves"]} & set(hosted.game.moves())) == 3
        for move in hint["moves"]:
            assert 0 <= move["wins"] <= 1
            assert -300 < move["lead"] < 300
        others = [round(move["wins"], 2) for move in hint["moves"][1:]]
        assert others == sorted(others, reverse=True)
        assert server.ask(f"/api/{secret}/hint", {"number": number})[1] == hint, "a second hint is the same"
        assert hosted.number == number


def test_what_a_move_leads_to_is_told_apart():
    """In a position near the end, one move certainly wins and another one certainly loses."""
    for seed in range(40):
        game, rng = Game("beginner", 2, seed), random.Random(seed)
        while len(game.to_dict()["hands"][0] + game.to_dict()["hands"][1]) > 1 or game.to_dict()["phase"] != "play":
            game.play(rng.choice(game.moves()))
        ends = {}
        for move in game.moves():
            last, player = game.clone(), game.player
            last.play(move)
            ends[move] = last.winners == [player], last.scores[player] - last.scores[1 - player]
        if len({wins for wins, _ in ends.values()}) == 2:
            break
    prospects = forecast.prospects(game, [game.action(move) for move in ends], 1, deals=3)
    assert {each.move: (each.wins == 1, each.lead) for each in prospects} == ends


def test_a_finished_game_is_looked_at_again(tmp_path):
    with serving(tmp_path, "beginner", PEOPLE[:2]) as (server, hosted):
        secret = secret_of(hosted, 0)
        assert server.ask(f"/api/{secret}/review")[0] == server.ask(f"/api/{secret}/at/0")[0] == 409
    play_on(hosted, 1000)
    server = Serving(tmp_path)
    try:
        hosted = server.lobby.games[hosted.name]
        status, review = server.ask(f"/api/{secret}/review")
        assert status == 200
        assert review["scores"] == [step.game.scores for step in hosted.steps]
        assert review["numbers"][0] == 0
        assert review["numbers"][-1] == hosted.number
        assert len(review["chances"]) == len(review["numbers"])
        assert all(sum(chances) == pytest.approx(1) for chances in review["chances"])
        assert [chance == 1 for chance in review["chances"][-1]] == [
            player in hosted.game.winners for player in range(2)
        ]
        lapse = review["lost"]
        if lapse:
            assert hosted.steps[lapse["number"] + 1].player == 0
            assert lapse["other"] > lapse["was"]
            assert lapse["played"] != lapse["better"]
        for number in (0, 7, hosted.number):
            assert server.ask(f"/api/{secret}/at/{number}")[1] == view.seen(hosted, 0, number)
        assert server.ask(f"/api/{secret}/at/{hosted.number + 1}")[0] == 404
        status, page = server.ask(f"/film/{hosted.record_secret}.html")
        assert status == 200
        assert "Artus, beginner: Ann, Ben</title>" in page
        assert server.ask(f"/film/{secret}.html")[0] == 404
    finally:
        server.stop()


# --- on disk ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("moves", [0, 7, 31, 1000])
def test_games_go_on_after_a_restart(tmp_path, moves):
    hosted = deal(tmp_path, "advanced", PEOPLE, ["greedy"])
    play_on(hosted, moves)
    (again,) = Lobby(Store(tmp_path)).games.values()
    assert again.game == hosted.game
    assert again.game.actions_played == hosted.game.actions_played
    assert again.seats == hosted.seats
    for player in range(3):
        assert view.setup(again, player) == view.setup(hosted, player)
        assert view.seen(again, player) == view.seen(hosted, player)
    if hosted.game.over:
        assert again.record() == hosted.record()


def test_each_game_of_a_folder_goes_on_as_what_it_is(tmp_path, monkeypatch):
    usual = registry.find_game("artus")
    page = shutil.copytree(usual.page, tmp_path / "page")
    texts = json.loads((page / "texts" / "en.json").read_text()) | {"title": "Another Game", "score": "gold"}
    (page / "texts" / "en.json").write_text(json.dumps(texts))
    another = replace(usual, name="another", title="Another Game", score="gold", rules=usual.rules[:1], page=page)
    monkeypatch.setattr(registry, "_load", {"artus": usual, "another": another}.__getitem__)
    lobby = Lobby(Store(tmp_path))
    for name in ("artus", "another"):
        hosted = HostedGame.deal(lobby.store, None, command.seats(PEOPLE[:2], []), game_name=name)
        play_on(hosted, 1000 if name == "another" else 3)
    lobby = Lobby(Store(tmp_path))
    by_game = {hosted.game.definition.name: hosted for hosted in lobby.games.values()}
    assert [by_game[name].game.definition for name in ("artus", "another")] == [usual, another]
    setup = view.setup(by_game["another"], 0)
    assert [setup[key] for key in ("game", "title", "score", "rules")] == ["another", "Another Game", "gold", ""]
    assert view.setup(by_game["artus"], 0)["rules"] == "beginner"
    assert [lobby.page_files(files_of(game).name) for game in (usual, another)] == [files_of(usual), files_of(another)]
    assert lobby.page_files("royal") is None
    assert lobby.games[lobby.again(by_game["another"]).name].game.definition is another
    plan = command.read(["--game", "another"])
    assert (plan.game, plan.rules) == ("another", usual.rules[0])
    assert "Another Game, Ann, Ben (new)" in command.announcement(lobby, "http://localhost", plan)


def test_files_are_readable_by_their_owner_alone(tmp_path):
    deal(tmp_path / "new", "beginner", PEOPLE[:2])
    (path,) = (tmp_path / "new").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_the_page_with_all_games_has_the_same_link_after_a_restart_and_its_owner_alone_can_read_it(tmp_path):
    secret = Lobby(Store(tmp_path)).host_secret
    assert Lobby(Store(tmp_path)).host_secret == secret
    (path,) = tmp_path.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"\xff" * 1000, b"short", b"../../../../etc/passwd\n\n"])
def test_a_damaged_secret_of_the_page_with_all_games_is_replaced(tmp_path, content, capsys):
    (tmp_path / "host.secret").write_bytes(content)
    secret = Lobby(Store(tmp_path)).host_secret
    assert len(secret) == 22
    assert str(tmp_path / "host.secret") in capsys.readouterr().err
    assert Lobby(Store(tmp_path)).host_secret == secret


@pytest.mark.parametrize("name", ["artus", "royal", "quest"])
def test_what_a_hint_expects_depends_on_nothing_hidden(name):
    """Hints are the same for all deals that the player to move can't tell apart."""
    game, rng = Game(game=name, num_players=3, seed=4), random.Random(4)
    for _ in range(25):
        game.play(rng.choice(game.moves()))
    actions = game.legal_actions()[:2]
    expected = forecast.prospects(game, actions, key=1, deals=4)
    others = [game.redeal(game.player, seed) for seed in range(3)]
    assert any(other != game for other in others)
    assert [forecast.prospects(other, actions, key=1, deals=4) for other in others] == [expected] * 3


def test_one_server_at_a_time_serves_a_folder(tmp_path, capsys, monkeypatch):
    """Two servers would overwrite each other's files, and confirmed moves would be lost."""
    line = ["play", "--no-browser", "--port", "0", "--games", str(tmp_path), "--against", "greedy"]
    served = []

    def serve(lobby, listener, host, hosts):
        served.append(lobby)
        assert artus(line) == 2
        assert len(list(tmp_path.glob("*.json"))) == 1, "it has dealt no game"

    monkeypatch.setattr(command, "serve", serve)
    monkeypatch.setattr(agent_moves, "warm_up", lambda name: None)
    assert artus(line) == 0
    assert (
        f"{tmp_path}: another process is serving the games in it; --games names another folder"
        in capsys.readouterr().err
    )
    assert len(served) == 1


def test_a_move_that_cannot_be_kept_is_not_played(tmp_path, monkeypatch):
    hosted = deal(tmp_path, "beginner", PEOPLE[:2])
    before = files(tmp_path)

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(RefusedError, match="No space left on device") as refused:
        hosted.play(hosted.game.player, 0, hosted.game.moves()[0])
    assert refused.value.status == 503
    assert hosted.number == 0
    assert files(tmp_path) == before, "no half-written file either"
    monkeypatch.undo()
    play_on(hosted, 1)
    assert hosted.number == 1


def changed(**parts):
    """A function that replaces parts of a stored game."""
    return lambda data: json.dumps({**json.loads(data), **parts}).encode()


def changed_seat(**parts):
    """A function that replaces parts of the first seat of a stored game."""

    def change(data):
        stored = json.loads(data)
        stored["seats"][0] = {**stored["seats"][0], **parts}
        return json.dumps(stored).encode()

    return change


BOT = {"name": "greedy", "agent": "greedy", "secret": None}


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-9],
        lambda data: b"[]",
        lambda data: b"[" * 100_000,
        lambda data: b"\xff" * 100,
        lambda data: data + b" " * 20_000_000,
        lambda data: data.replace(b'"version":1', b'"version":9'),
        lambda data: data.replace(b'"version":1', b'"version":true'),
        lambda data: data.replace(b'"key":', b'"kez":'),
        lambda data: re.sub(rb'"key":\d+', b'"key":1e999', data),
        lambda data: re.sub(rb'"key":\d+', b'"key":1e4', data),
        lambda data: re.sub(rb'"key":\d+', b'"key":' + b"9" * 9000, data),
        changed(key=-1),
        changed(key=1 << 64),
        changed(key=True),
        changed(key="7"),
        changed(share=None),
        changed(share=["x"]),
        changed(share="x/../../y"),
        changed(next=None),
        changed(next=7),
        changed(record=None),
        changed(record=[]),
        changed(record={}),
        changed(seats=None),
        changed(seats=[]),
        changed(seats=["Ann", "Ben"]),
        changed(seats=[BOT, BOT]),
        changed_seat(name=None),
        changed_seat(name=7),
        changed_seat(name=""),
        changed_seat(name="   "),
        changed_seat(name="\u3164"),
        changed_seat(name="x" * 28),
        changed_seat(name="a\nb"),
        changed_seat(name="\x1b[2J"),
        changed_seat(name="\u202eAnn"),
        changed_seat(name="\ud800"),
        changed_seat(secret=None),
        changed_seat(secret=["x"]),
        changed_seat(secret={"x": 1}),
        changed_seat(secret=""),
        changed_seat(secret="host"),
        changed_seat(secret="A" * 21 + "/"),
        changed_seat(secret="A" * 23),
        changed_seat(agent="random"),
        changed_seat(agent=["random"], secret=None),
        changed_seat(agent="", secret=None),
        changed_seat(agent="ppo:\x1b[2J", secret=None),
        changed_seat(agent="ppo:" + "x" * 100_000, secret=None),
        lambda data: data.replace(b'"moves":["', b'"moves":["@0","'),
        lambda data: data.replace(b'"moves":["', b'"moves":[null,"'),
        lambda data: data.replace(b'"scores":[', b'"scores":[1e300,'),
        lambda data: data.replace(b'"position":{', b'"position":{"seats":[],"x":{'),
        lambda data: re.sub(rb'"position":{.*?},"moves"', b'"position":[1],"moves"', data),
        lambda data: data.replace(b'"name":', b'"nome":', 1),
        lambda data: data.replace(b'"game":"artus"', b'"game":"another"'),
        lambda data: data.replace(b'"game":"artus"', b'"game":["artus"]'),
    ],
)
def test_a_damaged_file_is_named_and_left_alone_and_the_others_are_served(tmp_path, damage, capsys):
    hosted, other = (deal(tmp_path, "beginner", PEOPLE[:2]) for _ in range(2))
    play_on(hosted, 5)
    path = tmp_path / f"{hosted.name}.json"
    path.write_bytes(damage(path.read_bytes()))
    damaged = path.read_bytes()
    games = Lobby(Store(tmp_path)).games
    with suppress(RefusedError):  # faults that only a replay finds are reported when the game is loaded
        games[hosted.name]
    assert list(games) == [other.name]
    assert [path.name in str(notice) for notice in games.notices] == [True]
    (complaint,) = capsys.readouterr().err.splitlines()
    assert complaint.startswith(f"artus play: {path} is left alone: ")
    assert complaint.isprintable()
    assert len(complaint) < len(str(path)) + 500
    assert path.read_bytes() == damaged


def test_what_is_no_file_of_a_game_at_all_keeps_no_server_from_starting(tmp_path, capsys):
    hosted = deal(tmp_path, "beginner", PEOPLE[:2])
    os.mkfifo(tmp_path / "1-pipe.json")
    (tmp_path / "2-folder.json").mkdir()
    (tmp_path / "3-nowhere.json").symlink_to(tmp_path / "nothing")
    (tmp_path / "4-endless.json").symlink_to("/dev/zero")
    (tmp_path / "5\n\x1b[2J.json").write_text("x")
    assert list(Lobby(Store(tmp_path)).games) == [hosted.name]
    complaints = capsys.readouterr().err.splitlines()
    assert len(complaints) == 5
    assert all(line.isprintable() for line in complaints)


def test_of_two_files_with_the_same_secret_the_first_is_served(tmp_path, capsys):
    hosted = deal(tmp_path, "beginner", PEOPLE[:2])
    data = json.loads((tmp_path / f"{hosted.name}.json").read_text())
    copies = {
        "copy": data,
        "seat": {**data, "share": "S" * 22},
        "share": {**data, "seats": deal(tmp_path / "other", "beginner", PEOPLE[:2]).seats},
        "twice": {**data, "share": "T" * 22, "seats": [{"name": name, "secret": "D" * 22} for name in PEOPLE[:2]]},
    }
    for name, copy in copies.items():
        (tmp_path / f"z-{name}.json").write_text(json.dumps(copy, default=asdict))
    lobby = Lobby(Store(tmp_path))
    assert list(lobby.games) == [hosted.name]
    assert lobby.games.seats[secret_of(hosted, 0)] == (hosted.name, 0)
    assert len(capsys.readouterr().err.splitlines()) == 4


def test_the_next_game_is_one_with_the_same_seats_or_none(tmp_path):
    """A file's `next` is used only if it names another game with the same seats."""
    others = {
        "nowhere": None,
        "other people": deal(tmp_path, "beginner", ["Ann", "Eve"]),
        "fewer": deal(tmp_path, "beginner", PEOPLE[:1], ["greedy"]),
        "an agent": deal(tmp_path, "beginner", PEOPLE[:1], ["Ben:agent"]),
        "the same": deal(tmp_path, "beginner", PEOPLE[:2]),
    }
    games = {}
    for what, other in others.items():
        hosted = games[what] = deal(tmp_path, "beginner", PEOPLE[:2])
        play_on(hosted, 1000)
        hosted.next = other.name if other else "nowhere"
        hosted.save()
    games["itself"] = hosted = deal(tmp_path, "beginner", PEOPLE[:2])
    play_on(hosted, 1000)
    hosted.next = hosted.name
    hosted.save()
    server = Serving(tmp_path)
    try:
        for what, hosted in games.items():
            secret = secret_of(hosted, 1)
            goes_on = what == "the same"
            assert server.ask(f"/api/{secret}")[1]["state"]["next"] is goes_on, what
            status, answer = server.ask(f"/api/{secret}/next")
            assert status == (200 if goes_on else 404), what
            if goes_on:
                assert answer == {"link": f"/seat/{secret_of(others[what], 1)}"}
            else:
                assert server.ask(f"/api/{secret}/again", {})[0] == 200, "a new one can be set up"
    finally:
        server.stop()


def test_games_with_agents_of_very_long_names_go_on(tmp_path):
    """An agent's name is what the user typed, which may be a long command line."""
    agent = f"ppo:{'folder/' * 20}agent.safetensors"
    hosted = deal(tmp_path, "beginner", ["Ann"], [agent])
    assert hosted.names == ["Ann", f"{agent[:39]}…"]
    (again,) = Lobby(Store(tmp_path)).games.values()
    assert again.names == hosted.names
    assert again.seats[1].agent == agent
    twice = deal(tmp_path / "twice", "beginner", ["Ann"], [agent, agent])
    assert twice.names == ["Ann", f"{agent[:39]}…", f"{agent[:39]}… 2"]
    (again,) = Lobby(Store(tmp_path / "twice")).games.values()
    assert again.names == twice.names


# --- words -----------------------------------------------------------------------------------------------------------


def test_the_log_is_in_plain_language(tmp_path):
    """The log of a game that contains every kind of move."""
    hosted = deal(tmp_path, "advanced", ["Ann", "Ben"], seed=11)
    play_on(hosted, 1000, seed=4)
    log = " ".join(f"{hosted.names[entry['player']]} {entry['text']}" for entry in view.setup(hosted, 0)["log"])
    for sentence in (
        r"(Ann|Ben) places a knight on seat \d+, worth \W?\d+\.",
        r"(Ann|Ben) moves a knight from seat \d+ to seat \d+ with “Knight \d.\d( ±)?”: \W?\d+\.",
        r"(Ann|Ben)'s knight there has to go to seat \d+\.",
        r"The (silver|bronze) prince there has to go to seat \d+\.",
        r"moves the King from seat \d+ to seat \d+ with “[^”]+”: 0\.",
        r"The table turns with the King\.",
        r"gives a ring to the (silver|bronze) prince on seat \d+ with “Ring: any”: \W?\d+\.",
        r"scores with “Carpet”: \W?\d+\.",
        r"draws a scoring card\.",
    ):
        assert re.search(sentence, log), sentence


def test_a_coronation_is_told(tmp_path):
    for seed in range(20):
        hosted = deal(tmp_path, "advanced", ["Ann", "Ben"], seed=seed)
        play_on(hosted, 1000, seed=seed)
        log = view.setup(hosted, 0)["log"]
        for before, step, entry in zip(hosted.steps, hosted.steps[1:], log, strict=False):
            crowned = "ring" in step.move and before.game.state["king"] != step.game.state["king"]
            assert crowned == ("he is crowned King" in entry["text"])
            if crowned:
                return
    pytest.fail("no coronation in 20 games")


def test_options_say_what_a_move_brings_and_whom_it_displaces(tmp_path):
    hosted = deal(tmp_path, "advanced", PEOPLE)
    play_on(hosted, 30)
    for option in view.moves(hosted.game, hosted.names):
        after = hosted.game.clone()
        assert after.play(option["move"]) == option["points"] or option["kind"] == "draw"
        if option["refuge"] is not None:
            assert f"has to go to seat {option['refuge']}" in option["label"]
            sitting = hosted.game.to_dict()["seats"][option["target"]]
            assert after.to_dict()["seats"][option["refuge"]] == sitting


def test_every_card_has_a_title_a_text_and_a_face(tmp_path):
    cards = view.setup(deal(tmp_path, "advanced", PEOPLE), 0)["cards"]
    assert len(cards) == 21
    assert len({card["title"] for card in cards.values()}) == 21
    assert len({card["text"] for card in cards.values()}) == 21
    assert all("<path" in card["face"] for card in cards.values())


# --- the page --------------------------------------------------------------------------------------------------------


def linked(page):
    """Addresses of all files in a page's head."""
    return re.findall(r'<(?:link|script)[^>]* (?:href|src)="(/[^"]*)"', page)


def first_load(server, secret):
    """All files that a seat's page loads at first, compressed for transfer: {path: (bytes sent, text)}."""

    def fetch(path):
        request = urllib.request.Request(server.base + path, headers={"Accept-Encoding": "gzip, deflate, br"})
        with urllib.request.urlopen(request) as answer:
            data = answer.read()
            assert answer.headers["Content-Encoding"] == "gzip" or len(data) < 500
            assert answer.headers["Vary"] == "Accept-Encoding" or len(data) < 500
            return len(data), (gzip.decompress(data) if answer.headers["Content-Encoding"] else data).decode()

    page = f"/seat/{secret}"
    found = {page: fetch(page)}
    return found | {path: fetch(path) for path in linked(found[page][1])}


@pytest.mark.parametrize("game", ["artus", "quest", "royal"])
def test_the_first_load_is_small_and_nothing_comes_from_outside(tmp_path, game):
    """Less than 80 kB compressed and 200 kB in all, with a log of 60 moves."""
    hosted = HostedGame.deal(Store(tmp_path), None, seats(["Ann", "Ben"], []), 5, game)
    play_on(hosted, 60)
    server = Serving(tmp_path)
    try:
        loaded = first_load(server, secret_of(hosted, 0))
    finally:
        server.stop()
    for path, (_, text) in loaded.items():
        outside = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"'\\]*", text)) - {"http://www.w3.org/2000/svg"}
        assert not outside, path
    sent, total = sum(each for each, _ in loaded.values()), sum(len(text.encode()) for _, text in loaded.values())
    print(f"{game}: first load with a log of 60 moves: {sent} bytes sent, {total} in all")
    assert sent < 80_000
    assert total < 200_000


@pytest.mark.parametrize("page", ["seat", "host"])
def test_a_pages_head_names_all_scripts_that_it_needs(tmp_path, page):
    """Otherwise the browser finds each script only in the one that imports it, one round trip after the other."""
    with serving(tmp_path, "beginner", PEOPLE[:2]) as (server, hosted):
        secret = server.lobby.host_secret if page == "host" else secret_of(hosted, 0)
        addresses = linked(server.ask(f"/{page}/{secret}")[1])
        scripts = {path: server.ask(path)[1] for path in addresses if path.endswith(".js")}
    for path, script in scripts.items():
        for imported in re.findall(r'^(?:import|export) [^"]*"([^"]+)";$', script, re.MULTILINE):
            assert posixpath.normpath(posixpath.join(posixpath.dirname(path), imported)) in addresses
    assert len(addresses) == len(set(addresses))


def test_scripts_and_styles_are_kept_by_browsers_until_they_change(tmp_path):
    folder = tmp_path / "page"
    folder.mkdir()
    (folder / "page.js").write_text("1")
    first = Files(folder, "game")
    assert Files(folder, "game").version == first.version
    (folder / "page.js").write_text("2")
    assert Files(folder, "game").version != first.version, "what is in them"
    (folder / "page.js").rename(folder / "other.js")
    assert Files(folder, "game").version != first.version, "what they are called"
    with serving(tmp_path / "games", "beginner", PEOPLE[:2]) as (server, hosted):
        game = files_of(hosted.game.definition)
        for path in (f"{static()}/seat.js", f"{static()}/{game.address('page.js')}"):
            status, script = server.ask(path)
            assert (status, server.headers["Cache-Control"]) == (200, "public, max-age=31536000, immutable")
            assert server.headers["Content-Encoding"] is None, "for clients that don't accept gzip"
            headers = {"If-None-Match": server.headers["ETag"]}
            assert server.ask(path, headers=headers) == (304, "")
            assert server.ask(path, headers={"If-None-Match": '"0"'}) == (200, script)
        for path in (f"/static/{'0' * 12}/seat.js", f"{static()}/artus-{'0' * 12}/page.js", "/static/seat.js"):
            assert server.ask(path)[0] == 404, "of another version"
            assert server.headers["Cache-Control"] == "no-store"


def test_a_page_brings_what_its_seat_sees(tmp_path):
    """The page contains the same data as the API: no request is needed before the first move."""
    with serving(tmp_path, "advanced", PEOPLE[:2]) as (server, hosted):
        play_on(hosted, 9)
        for player in (0, 1):
            page = server.ask(f"/seat/{secret_of(hosted, player)}")[1]
            (brought,) = re.findall(r'<script type="application/json" id="everything">(.*?)</script>', page)
            assert json.loads(brought) == server.ask(f"/api/{secret_of(hosted, player)}")[1]


def test_a_stream_is_never_compressed_and_says_that_it_is_alive(tmp_path, monkeypatch):
    """Each event is sent at once, also if the client accepts gzip; `alive` events interrupt long silences."""
    monkeypatch.setattr(server_module, "HEARTBEAT", 0.05)
    with serving(tmp_path, "beginner", PEOPLE[:2]) as (server, hosted):
        ask = f"GET /api/{secret_of(hosted, 0)}/events HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n"
        with connect(server, ask) as connection:
            heard = b""
            while heard.count(b"event: alive\ndata: 50\n\n") < 3:
                heard += connection.recv(65536)
        assert b"content-encoding" not in heard.lower()
        assert heard.index(b"id: 0\n") < heard.index(b"event: alive\n")


def play_on_by_api(server, hosted, moves):
    while hosted.number < moves:
        wait_until(lambda: hosted.game.player == 0)
        table_move(server, hosted)


def test_the_stream_tells_every_move_once_and_in_order(tmp_path):
    with serving(tmp_path, "beginner", PEOPLE[:2]) as (server, hosted):
        play_on(hosted, 9)
        secret = secret_of(hosted, 0)
        assert [state["number"] for state in server.events(secret, 6, after=3)] == [4, 5, 6, 7, 8, 9]
        assert [state["number"] for state in server.events(secret, 1)] == [9], (
            "a page without a position gets only the current one"
        )
        assert [state["number"] for state in server.events(secret, 1, after=99)] == [9]
        threading.Timer(0.3, table_move, (server, hosted)).start()
        assert [state["number"] for state in server.events(secret, 1, after=9)] == [10], (
            "an up-to-date page gets every new move"
        )
        assert [state["number"] for state in server.events(secret, 1, after="x")] == [10]


# --- many clients at once, slow clients, and clients that disconnect
# ---------------------------------------------------------------------


def connect(server, text=""):
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    connection.sendall(text.encode())
    return connection


def get(path):
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"


def test_more_connections_than_allowed_are_refused_until_others_close(tmp_path, monkeypatch):
    monkeypatch.setattr(server_module, "MOST_CONNECTIONS", 5)
    with serving(tmp_path, "beginner", PEOPLE[:2]) as (server, hosted):
        path = f"/api/{secret_of(hosted, 0)}"
        with ExitStack() as stack:
            for _ in range(5):
                stack.enter_context(connect(server))
            wait_until(lambda: len(server.server.server_state.connections) == 5)
            assert server.ask(path)[0] == 503
        wait_until(lambda: not server.server.server_state.connections)
        assert server.ask(path)[0] == 200


def test_a_body_that_does_not_come_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(server_module, "BODY_SECONDS", 0.1)
    with serving(tmp_path, "beginner", PEOPLE[:2]) as (server, hosted):
        head = (
            f"POST /api/{secret_of(hosted, 0)}/move HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        )
        with connect(server, f"{head}Content-Length: 30\r\n\r\n{{") as connection:
            assert connection.recv(100).startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:8128", 200),
        ("127.0.0.1", 200),
        ("127.0.0.1:1", 200),
        ("[::1]:8128", 200),
        ("localhost.", 200),
        ("localhost.:8128", 200),
        ("127.0.0.1.", 200),
        ("games.example", 421),
        ("games.example:8128", 421),
        ("localhost.games.example", 421),
        ("127.0.0.1.games.example", 421),
        ("0.0.0.0", 421),
        ("", 421),
    ],
)
def test_a_server_of_this_machine_answers_to_no_other_name(tmp_path, host, status):
    """A foreign page can let its own host name point here, and the browser takes this server for a part of its site."""
    with serving(tmp_path, "beginner", PEOPLE[:2]) as (server, hosted):
        for path in ("/", f"/api/{secret_of(hosted, 0)}", f"{static()}/seat.js"):
            assert server.ask(path, headers={"Host": host})[0] == status
        assert server.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("games.example", 200),
        ("GAMES.example.:443", 200),
        ("localhost", 200),
        ("www.games.example", 421),
        ("x", 421),
    ],
)
def test_behind_a_proxy_the_server_answers_to_the_names_that_it_was_given(tmp_path, host, status):
    plan = command.read(["--allow-host", "Games.Example.", "[2001:db8::1]"])
    assert plan.proxy_hosts == ("games.example", "2001:db8::1")
    server = Serving(tmp_path, hosts=plan.proxy_hosts)
    try:
        assert server.ask("/", headers={"Host": host})[0] == status
    finally:
        server.stop()


def test_streams_pass_through_a_proxy_at_once(tmp_path):
    """Without this header, nginx delays an answer until it has 4 kB of it."""
    with (
        serving(tmp_path, "beginner", PEOPLE[:2]) as (server, hosted),
        connect(server, get(f"/api/{secret_of(hosted, 0)}/events")) as stream,
    ):
        assert b"x-accel-buffering: no\r\n" in stream.recv(4096).lower()


def test_an_address_of_version_6_may_have_brackets(tmp_path, monkeypatch):
    assert [command.read(["--host", host]).host for host in ("[::1]", "::1", "localhost.")] == [
        "::1",
        "::1",
        "localhost",
    ]
    served = []
    monkeypatch.setattr(command, "serve", lambda lobby, listener, host, hosts: served.append((listener.family, host)))
    line = ["play", "--no-browser", "--port", "0", "--games", str(tmp_path), "--host", "[::1]"]
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    assert artus(line) == 0
    assert served == [(socket.AF_INET6, "::1")]
    assert command.loopback("localhost.")


def test_the_type_of_a_body_may_be_written_in_capitals(tmp_path):
    with serving(tmp_path, "beginner", PEOPLE[:2]) as (server, hosted):
        body = json.dumps({"number": 0, "move": hosted.game.moves()[0]}).encode()
        heads = {"Content-Type": "Application/JSON; charset=UTF-8"}
        path = f"/api/{secret_of(hosted, hosted.game.player)}/move"
        assert server.ask(path, raw=body, headers=heads) == (200, {"number": 1})


def test_a_server_of_the_network_answers_to_any_name(tmp_path):
    lobby = Lobby(Store(tmp_path))
    server = server_module.Server(lobby, local=False)
    assert "OnlyThisMachine" not in {each.cls.__name__ for each in server.config.app.user_middleware}
    assert "OnlyThisMachine" in {
        each.cls.__name__ for each in server_module.Server(lobby, True).config.app.user_middleware
    }


def test_a_seat_has_so_many_streams_and_the_newest_stay(tmp_path):
    with serving(tmp_path, "beginner", PEOPLE[:2]) as (server, hosted), ExitStack() as stack:
        key = hosted.name, 0
        streams = []
        for number in range(20):
            streams.append(stack.enter_context(connect(server, get(f"/api/{secret_of(hosted, 0)}/events"))))
            wait_until(lambda: len(server.lobby.listening.get(key, [])) == min(number + 1, 8))  # noqa: B023
        other = stack.enter_context(connect(server, get(f"/api/{secret_of(hosted, 1)}/events")))
        wait_until(lambda: len(server.lobby.listening.get((hosted.name, 1), [])) == 1)
        table_move(server, hosted)
        for stream in [*streams[-8:], other]:
            heard = b""
            while b"id: 1\n" not in heard:
                heard += stream.recv(65536)


def test_steps_that_were_missed_hold_nobody_up(tmp_path):
    """Other tasks run between any two events."""
    hosted = deal(tmp_path, "beginner", PEOPLE[:2])
    lobby = Lobby(Store(tmp_path))
    play_on(hosted, 40)
    turns = []

    async def other():
        while True:
            turns.append(1)
            await asyncio.sleep(0)

    async def listen():
        beside = asyncio.ensure_future(other())
        before = []
        async for chunk in server_module.stream(lobby, hosted, 0, 0):
            if chunk.startswith("id: "):
                before.append(len(turns))
            if chunk.startswith("id: 40\n"):
                break
        beside.cancel()
        return before

    before = asyncio.run(listen())
    assert len(before) == 40
    assert all(earlier < later for earlier, later in pairwise(before))


def test_many_hints_for_one_position_are_one_search(tmp_path, monkeypatch):
    searched, hint, go_on = [], forecast.hint, threading.Event()

    def slow(*arguments):
        searched.append(1)
        assert go_on.wait(30)
        return hint(*arguments)

    monkeypatch.setattr(forecast, "hint", slow)
    with serving(tmp_path, "beginner", PEOPLE[:2]) as (server, hosted), ExitStack() as stack:
        body = json.dumps({"number": 0})
        ask = f"POST /api/{secret_of(hosted, hosted.game.player)}/hint HTTP/1.1\r\nHost: localhost\r\n"
        ask += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        asking = [stack.enter_context(connect(server, ask)) for _ in range(24)]
        wait_until(lambda: len(server.server.server_state.tasks) == len(asking))
        go_on.set()
        assert all(connection.recv(100).startswith(b"HTTP/1.1 200 ") for connection in asking)
        assert len(searched) == 1


def test_streams_that_are_closed_leave_nothing_behind(tmp_path):
    with serving(tmp_path, "beginner", PEOPLE[:2]) as (server, hosted):
        loop = server.server.servers[0].get_loop()
        assert server.ask("/")[0] == 200
        wait_until(lambda: not server.server.server_state.connections)
        before = len(asyncio.all_tasks(loop))
        for _ in range(5):
            server.events(secret_of(hosted, 0), 1)
        wait_until(lambda: len(asyncio.all_tasks(loop)) == before, 5)
        assert server.lobby.listening == {(hosted.name, 0): []}


def test_short_answers_are_sent_at_once(tmp_path):
    """Without this setting the second packet of an answer waits 40 ms for the acknowledgement of the first."""
    with serving(tmp_path, "beginner", PEOPLE[:2]) as (server, _), connect(server):
        wait_until(lambda: server.server.server_state.connections)
        (connection,) = server.server.server_state.connections
        assert connection.transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_who_hangs_up_within_a_body_is_no_error(tmp_path, capfd):
    with serving(tmp_path, "beginner", PEOPLE[:2]) as (server, hosted):
        head = (
            f"POST /api/{secret_of(hosted, 0)}/move HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        )
        with connect(server, f"{head}Content-Length: 30\r\n\r\n{{"):
            wait_until(lambda: server.server.server_state.tasks)
        wait_until(lambda: not server.server.server_state.tasks)
    assert capfd.readouterr().err == ""


# --- the command -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--game", "chess"], "there is no game 'chess'"),
        (["--rules", "expert"], "rules must be one of beginner, advanced, got 'expert'"),
        (["--against", "greedi"], "there is no agent 'greedi'"),
        (["--against", "greedy", "greedy", "greedy", "greedy"], "2 to 4 play"),
        (["--names", "Ann", "Ben", "Cleo", "Dora", "Eve"], "2 to 4 play, not Ann, Ben, Cleo, Dora, Eve and 0 agents"),
        (["--against"], "2 to 4 play, not Player A and 0 agents"),
        (["--names", "x" * 25], "names have 1 to 24 printable letters"),
        (["--names", "a\nb"], "names have 1 to 24 printable letters"),
        (["--names", "  "], "names have 1 to 24 printable letters"),
        (["--against", "program:./a\nb"], "agents' names have 1 to 1000 printable letters"),
        (["--against", f"program:{'x' * 1000}"], "agents' names have 1 to 1000 printable letters"),
        (["--allow", "greedi"], "there is no agent 'greedi'"),
        (["--names", "\u3164"], "at least one of them visible"),
        (["--allow-host", "https://games.example"], "--allow-host takes names such as games.example"),
        (["--allow-host", "games.example:443"], "without https:// and port, got 'games.example:443'"),
        (["--port", "99999"], "--port must be in 0..65535"),
        (["--seed", "-1"], "seed must be"),
        (["--games", "/proc/nowhere"], "--games /proc/nowhere"),
        (["--host", "203.0.113.1", "--port", "0"], "can't listen on 203.0.113.1"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert artus(["play", "--no-browser", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_without_the_play_extra_it_says_what_to_install():
    code = "import sys; sys.modules['starlette'] = None; sys.modules['uvicorn'] = None; "
    code += "from artus_training.cli import main; sys.exit(main(['play', '--no-browser']))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert result.returncode == 2
    assert 'pip install "artus-env[play]"' in result.stderr


def test_a_port_that_is_taken_is_named(capsys, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as occupied:
        port = str(occupied.getsockname()[1])
        assert artus(["play", "--no-browser", "--port", port, "--games", str(tmp_path)]) == 2
    assert f"can't listen on 127.0.0.1, port {port}" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.json")), "no game was dealt in vain"


def test_it_binds_to_loopback_unless_told_otherwise():
    plan = command.read(["--rules", "advanced", "--against", "lookahead", "ismcts:500"])
    assert plan.host == "127.0.0.1"
    assert command.loopback(plan.host)
    assert (plan.rules, plan.against, plan.names) == ("advanced", ["lookahead", "ismcts:500"], ["Player A"])
    assert command.read(["--host", "0.0.0.0"]).host == "0.0.0.0"
    assert [command.loopback(host) for host in ("::1", "localhost", "0.0.0.0", "::", "10.0.0.1")] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert command.address("::1") == "[::1]"


def test_seats_are_named(tmp_path):
    people = command.seats(["Ann", "Ben"], ["greedy", "greedy"])
    assert [seat.name for seat in people] == ["Ann", "Ben", "greedy", "greedy 2"]
    assert [seat.agent for seat in people] == [None, None, "greedy", "greedy"]


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_the_command_serves_and_goes_on_where_it_was(tmp_path, end):
    def start(*arguments):
        line = [sys.executable, "-m", "artus_training", "play", "--no-browser", "--port", "0", "--games", str(tmp_path)]
        process = subprocess.Popen([*line, *arguments], stdout=subprocess.PIPE, text=True)
        text = ""
        while "Games are kept in" not in text:
            line = process.stdout.readline()
            assert line, text
            text += line
        return process, text

    process, text = start("--rules", "advanced", "--against", "greedy", "random", "--names", "Ann")
    try:
        (link,) = re.findall(r"http://127\.0\.0\.1:\d+/seat/\S+", text)
        assert "Artus, advanced, Ann, greedy, random (new)" in text
        api = link.replace("/seat/", "/api/")
        state = answered_when_mine(api)
        move = {"number": state["number"], "move": state["moves"][0]["move"]}
        request = urllib.request.Request(f"{api}/move", json.dumps(move).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request):
            pass
        state = answered_when_mine(api)
    finally:
        process.send_signal(end)
        process.wait(20)
        process.stdout.close()
    process, text = start()
    try:
        (again,) = re.findall(r"http://127\.0\.0\.1:\d+/seat/\S+", text)
        assert again.rpartition("/")[2] == link.rpartition("/")[2], "the link is still the same"
        assert answered_when_mine(again.replace("/seat/", "/api/")) == state
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


def test_nobody_waits_for_an_agent_that_thinks_when_the_server_is_stopped(tmp_path):
    seed = next(seed for seed in range(20) if Game(seed=seed).player == 1)
    words = ["--no-browser", "--port", "0", "--games", str(tmp_path), "--against", "ismcts:600s", "--seed", str(seed)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-m", "artus_training", "play", *words], **pipes)
    try:
        text = ""
        while "Games are kept in" not in text:
            line = process.stdout.readline()
            assert line, "the server has ended"
            text += line
        (link,) = re.findall(r"http://127\.0\.0\.1:\d+/seat/\S+", text)
        with urllib.request.urlopen(link.replace("/seat/", "/api/")) as answer:
            assert not json.load(answer)["state"]["moves"], "it is the agent's turn"
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)  # impatient people press Ctrl-C twice
        assert process.wait(60) == 0
        assert "Traceback" not in process.stderr.read()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


ENDING = """
import atexit, sys
from artus_training import cli
class Kept:
    def __del__(self):
        print("taken apart", flush=True)
kept = Kept()
atexit.register(print, "exit function")
if sys.argv.pop() == "thinking":
    import asyncio, time
    from artus_env import Game
    from artus_training.play.agent_moves import AgentThread
    async def think():
        asyncio.ensure_future(AgentThread(type("Hosted", (), {"game": Game()})()).ask(time.sleep, 600))
        await asyncio.sleep(0)
    asyncio.run(think())
sys.argv.append("--version")
cli.run()
"""


@pytest.mark.parametrize(("thinks", "taken_apart"), [("thinking", False), ("waiting", True)])
def test_python_is_not_taken_apart_beneath_an_agent_that_thinks(thinks, taken_apart):
    ended = subprocess.run([sys.executable, "-c", ENDING, thinks], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "exit function" in ended.stdout
    assert ("taken apart" in ended.stdout) == taken_apart


def answered_when_mine(api):
    """The seat's state once it is to move."""
    for _ in range(200):
        with urllib.request.urlopen(api) as answer:
            state = json.load(answer)["state"]
        if state["moves"]:
            return state
        time.sleep(0.05)
    raise AssertionError("it never was this seat's turn")


def test_tables_need_no_running_loop(tmp_path):
    """Tables are made before the server runs, and used in the server's event loop."""
    hosted = deal(tmp_path, "beginner", PEOPLE[:2])

    async def wait_and_play():
        waiting = asyncio.ensure_future(hosted.changed.wait())
        await asyncio.sleep(0)
        play_on(hosted, 1)
        return await asyncio.wait_for(waiting, 5)

    assert asyncio.run(wait_and_play())
