"""`artus play` in a real browser: whole games by clicks, two people, reload, restart, phone, keyboard.

Screenshots are left in `screenshots/`.
"""

import json
import random
import re
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra play isn't installed")
pytest.importorskip("uvicorn", reason="the extra play isn't installed")

from artus_env import Game
from artus_training.play import view
from artus_training.play.command import seats
from artus_training.play.hosted import HostedGame
from artus_training.play.store import Store
from browsing import DESKTOP, PHONE, click_seat, link, marked_seats, press_one, shoot, step_of, unnamed, wait_for_step
from play_server import Serving, deal, serving, wait_until, without_looks


def play_one(page, hosted, rng):
    """One decision by clicks: card, figure, seat, `Play it`."""
    number = hosted.number
    step = wait_for_step(page, "seat", "card", "pile")
    while step != "confirm":
        if step == "card":
            cards = page.locator('#hand .card[aria-disabled="false"]')
            cards.nth(rng.randrange(cards.count())).click()
        elif step in ("seat", "figure"):
            click_seat(page, rng.choice(marked_seats(page)))
        else:
            options = page.locator("#options button")
            options.nth(rng.randrange(options.count())).click()
        step = step_of(page)
    page.click("#confirm")
    wait_until(lambda: hosted.number > number)


# --- whole games
# -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rules", "agents"), [("beginner", ["greedy"]), ("advanced", ["greedy", "random"])])
def test_a_whole_game_by_clicks(tmp_path, open_page, rules, agents):
    with serving(tmp_path / "games", rules, ["Ann"], agents) as (server, hosted):
        page, rng = open_page(link(server, hosted)), random.Random(3)
        decisions = 0
        while wait_for_step(page, "seat", "card", "pile", "over") != "over":
            play_one(page, hosted, rng)
            page.wait_for_function("() => document.body.dataset.step !== 'confirm'")
            decisions += 1
            if decisions in (3, 12, 25):
                shoot(page, f"{rules}-decision-{decisions}")
        assert hosted.game.over
        page.wait_for_selector("#end table")
        shoot(page, f"{rules}-end")
        rows = page.locator("#end tbody tr")
        assert rows.count() == len(hosted.seats)
        shown = {
            row.locator("th").inner_text().split("\n")[-1]: row.locator("td").nth(1).inner_text() for row in rows.all()
        }
        assert {name: int(points.replace("\N{MINUS SIGN}", "-")) for name, points in shown.items()} == dict(
            zip(hosted.names, hosted.game.scores, strict=True)
        )
        assert page.locator("#log li").count() == hosted.number
        with page.expect_download() as download:
            page.click("#save")
        assert Game.replay(Path(download.value.path()).read_text()) == hosted.game
        page.click("#again")
        page.wait_for_url(lambda url: url != link(server, hosted))
        assert wait_for_step(page, "seat", "wait")
        assert all(url.startswith(server.base) or url.startswith("data:") for url in page.outside), (
            "nothing comes from outside"
        )


# --- a game without a picture or page of its own
# ---------------------------------------------------------------------------


def test_a_whole_game_without_looks_by_buttons(tmp_path, open_page, monkeypatch):
    without_looks(monkeypatch)
    with serving(tmp_path / "games", "beginner", ["Ann"], ["greedy"]) as (server, hosted):
        page, rng = open_page(link(server, hosted)), random.Random(3)
        while wait_for_step(page, "choose", "confirm", "over") != "over":
            if len(hosted.game.moves()) == 1:
                assert page.inner_text("#prompt") == f"Play {hosted.game.moves()[0]}?", "there is nothing to choose"
                assert page.locator("#back").is_hidden()
            press_one(page, hosted, rng)
            if hosted.number == 20:
                shoot(page, "plain")
        shoot(page, "plain-end")
        assert page.locator("#log .chip").count() == hosted.number
        shown_moves = page.locator("#log .chip").all_inner_texts()
        assert shown_moves == [step.move for step in reversed(hosted.steps[1:])]
        assert page.locator("#end tbody tr").count() == 2
        assert page.locator("#hand").is_hidden()
        assert page.locator("#picture desc").text_content().rstrip() == hosted.game.render(0, hosted.names).rstrip()


def test_a_strangers_game_by_buttons(tmp_path, open_page):
    """A game with secret bids, of which only the rules are installed: it has no page of its own."""
    folder = tmp_path / "games"
    HostedGame.deal(Store(folder), None, seats(["Ann"], ["greedy"]), 5, "magpies")
    server = Serving(folder)
    try:
        (hosted,) = server.lobby.games.values()
        page, rng = open_page(link(server, hosted)), random.Random(3)
        while wait_for_step(page, "choose", "confirm", "over") != "over":
            press_one(page, hosted, rng)
        assert page.locator("#end tbody tr").count() == 2
        assert page.locator("#picture desc").text_content().rstrip() == hosted.game.render(0, hosted.names).rstrip()
    finally:
        server.stop()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_game_without_looks_is_played_on_a_phone(tmp_path, open_page, monkeypatch, scheme):
    without_looks(monkeypatch)
    with at_a_card(tmp_path) as (server, hosted):
        phone = {"viewport": PHONE, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
        page = open_page(link(server, hosted), color_scheme=scheme, **phone)
        shoot(page, f"plain-phone-{scheme}")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        for button in page.locator("#options button, #actions button:visible").all():
            box = button.bounding_box()
            assert box["height"] >= 40
            assert box["width"] >= 40
        assert page.locator("#hint").bounding_box()["y"] < PHONE["height"] - 40, "without scrolling"
        press_one(page, hosted, random.Random(1), tap=True)


def test_a_game_without_looks_is_played_with_the_keyboard_and_hinted_at(tmp_path, open_page, monkeypatch):
    without_looks(monkeypatch)
    with at_a_card(tmp_path) as (server, hosted):
        page, number, moves = open_page(link(server, hosted)), hosted.number, hosted.game.moves()
        page.keyboard.press("h")
        page.wait_for_selector("#advice button", timeout=120_000)
        advised = page.locator("#advice button").first
        assert advised.locator("span").inner_text() == advised.get_attribute("data-move")
        page.keyboard.press("2")
        assert wait_for_step(page, "confirm")
        assert page.inner_text("#prompt") == f"Play {moves[1]}?"
        page.keyboard.press("Escape")
        assert wait_for_step(page, "choose")
        advised.click()
        assert wait_for_step(page, "confirm")
        page.wait_for_function("() => document.activeElement.id === 'confirm'")
        page.keyboard.press("Enter")
        wait_until(lambda: hosted.number > number)
        assert hosted.steps[number + 1].move in moves


def test_where_only_one_move_is_legal_it_is_played_if_that_is_wanted(tmp_path, open_page):
    hosted = deal(tmp_path, "beginner", ["Ann", "Ben"])
    rng = random.Random(1)
    while len(hosted.game.moves()) > 1 or hosted.game.player != 0:
        hosted.play(hosted.game.player, hosted.number, rng.choice(hosted.game.moves()))
    server = Serving(tmp_path)
    try:
        hosted, number = server.lobby.games[hosted.name], hosted.number
        page = open_page(link(server, hosted))
        page.wait_for_timeout(300)
        assert hosted.number == number
        page.click("#settings summary")
        page.check("#forced")
        wait_until(lambda: hosted.number > number)
    finally:
        server.stop()


@pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_six_players_fit_on_the_page(tmp_path, open_page, monkeypatch, screen):
    without_looks(monkeypatch)
    names = ["Ann", "Benedict the Younger", "Cleo", "Dora", "Emil", "Wilhelmina of Orange"]
    with serving(tmp_path, "beginner", ["Ann", "Ben"]) as (server, hosted):

        def six(route):
            begin, answer, end = re.split(r'(?<=id="everything">)(.*?)(?=</script>)', route.fetch().text())
            answer = json.loads(answer)
            answer["players"] = [
                {"name": name, "agent": None, "badge": view.badge(number)} for number, name in enumerate(names)
            ]
            answer["state"]["scores"] = [0, -5, 17, 120, 3, -12]
            route.fulfill(body=begin + json.dumps(answer).replace("<", "\\u003c") + end, content_type="text/html")

        context = open_page(link(server, hosted), viewport=screen).context
        context.route("**/seat/*", six)
        page = context.new_page()
        page.goto(link(server, hosted))
        page.wait_for_selector('.player[data-player="5"]')
        shoot(page, f"plain-six-{screen['width']}")
        assert page.evaluate("document.documentElement.scrollWidth") <= screen["width"]
        boxes = [page.locator(f'.player[data-player="{number}"]').bounding_box() for number in range(6)]
        for number, box in enumerate(boxes):
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= screen["width"]
            points = page.locator(f'.player[data-player="{number}"] .points').bounding_box()
            assert points["x"] + points["width"] <= box["x"] + box["width"]
        assert page.locator("#options, #prompt").first.bounding_box()["y"] < screen["height"], "without scrolling"


# --- choosing
# ----------------------------------------------------------------------------------------------------------


SCORING = {"all", "reversed", "colors", "carpet", "reds"}
"""Cards that leave nothing to choose."""


@contextmanager
def at_a_card(tmp_path, agents=("greedy",), scoring=False, **options):
    """A game in which the next decision is Ann's, about a card; `scoring`: she holds one of `SCORING`. (server,
    hosted)."""
    hosted = deal(tmp_path, "advanced", ["Ann", "Ben"], agents, **options)
    rng = random.Random(2)

    def reached():
        position = hosted.game.to_dict()
        return (
            position["phase"] == "play" and position["turn"] == 0 and (not scoring or SCORING & {*position["hands"][0]})
        )

    while not reached():
        hosted.play(hosted.game.player, hosted.number, rng.choice(hosted.game.moves()))
    server = Serving(tmp_path)
    try:
        yield server, server.lobby.games[hosted.name]
    finally:
        server.stop()


def test_a_choice_can_be_taken_back_until_it_is_confirmed(tmp_path, open_page):
    with at_a_card(tmp_path) as (server, hosted):
        page, number = open_page(link(server, hosted)), hosted.number
        assert step_of(page) == "card"
        figures = page.locator("#picture [data-figure]").evaluate_all(
            "all => all.map(each => each.dataset.seat).join()"
        )
        card = page.locator('#hand .card[data-card^="k"]').first
        card.click()
        assert card.get_attribute("aria-pressed") == "true"
        assert step_of(page) == "figure"
        own_seats = [seat for seat, figure in enumerate(hosted.game.to_dict()["seats"]) if figure == {"knight": 0}]
        assert sorted(marked_seats(page)) == own_seats, "a knight card allows the own knights"
        shoot(page, "choosing-a-figure")
        click_seat(page, own_seats[0])
        assert step_of(page) == "seat"
        moves = [
            move
            for move in hosted.game.moves()
            if move.startswith(f"{card.get_attribute('data-card')}:{own_seats[0]}>")
        ]
        assert sorted(marked_seats(page)) == sorted(int(move.partition(">")[2]) for move in moves)
        shoot(page, "choosing-a-seat")
        click_seat(page, int(moves[0].partition(">")[2]))
        page.wait_for_selector("#picture.preview [data-move]")
        assert page.locator("[data-move]").get_attribute("data-move") == moves[0]
        shoot(page, "preview")
        for step in ("seat", "figure", "card"):
            page.click("#back") if step != "figure" else page.keyboard.press("Escape")
            assert step_of(page) == step
        assert page.locator("#back").is_hidden()
        seats = page.locator("#picture [data-figure]").evaluate_all("all => all.map(each => each.dataset.seat).join()")
        assert seats == figures, "the position is as it was"
        assert hosted.number == number


def test_a_scoring_card_that_waits_can_be_read_and_taken_back(tmp_path, open_page):
    """A choice is taken back by the button, by Esc or by the card itself."""
    with at_a_card(tmp_path, scoring=True) as (server, hosted):
        page, number = open_page(link(server, hosted)), hosted.number
        name = next(card for card in hosted.game.to_dict()["hands"][0] if card in SCORING)
        card = page.locator(f'#hand [data-card="{name}"]').first
        ways = (lambda: page.click("#back"), lambda: page.keyboard.press("Escape"), card.click)
        for take_back in ways:
            card.click()
            page.wait_for_selector("#picture.preview")
            assert step_of(page) == "confirm"
            title, _, text = card.get_attribute("aria-label").partition(". ")
            assert page.inner_text("#prompt").startswith(f"{title}: ")
            assert page.inner_text("#detail") == text
            shoot(page, "scoring-card")
            take_back()
            assert step_of(page) == "card"
            assert page.locator("#back").is_hidden()
            assert card.get_attribute("aria-pressed") == "false"
        card.click()
        other = page.locator(f'#hand .card:not([data-card="{name}"])').first
        other.click()
        assert other.get_attribute("aria-pressed") == "true", "another card instead"
        assert hosted.number == number


def test_the_last_card_of_the_game_can_be_taken_back(tmp_path, open_page):
    """Also if the card is a scoring card: then there is nothing to choose at all."""
    rng = random.Random(1)
    for seed in range(50):
        hosted = deal(tmp_path / str(seed), "advanced", ["Ann", "Ben"], seed=seed)
        while len(hosted.game.moves()) > 1 or hosted.game.moves()[0] not in SCORING:
            hosted.play(hosted.game.player, hosted.number, rng.choice(hosted.game.moves()))
            if hosted.game.over:
                break
        if not hosted.game.over:
            break
    server = Serving(tmp_path / str(seed))
    try:
        page = open_page(link(server, hosted, hosted.game.player))
        page.locator("#hand .card").click()
        assert wait_for_step(page, "confirm")
        page.keyboard.press("Escape")
        assert step_of(page) == "card"
    finally:
        server.stop()


def test_what_cannot_be_is_said_and_changes_nothing(tmp_path, open_page):
    with at_a_card(tmp_path) as (server, hosted):
        page, number = open_page(link(server, hosted)), hosted.number
        click_seat(page, 3)
        assert page.inner_text("#detail") == "Choose a card first."
        page.locator('#hand .card[data-card^="k"]').first.click()
        wrong = next(seat for seat in range(28) if seat not in marked_seats(page))
        click_seat(page, wrong)
        assert f"seat {wrong} isn\N{RIGHT SINGLE QUOTATION MARK}t among the marked ones" in page.inner_text("#detail")
        assert "marked ones" in page.inner_text("#announce"), "screen readers are told, too"
        for player, move, status in ((0, "k3-6:1>2", 422), (0, 5, 400), (1, hosted.game.moves()[0], 409)):
            answer = page.evaluate(
                """async ([secret, body]) => {
                const answer = await fetch(`/api/${secret}/move`,
                    {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
                return [answer.status, (await answer.json()).error];
                }""",
                [hosted.seats[player].secret, {"number": number, "move": move}],
            )
            assert answer[0] == status
            assert answer[1]
        assert hosted.number == number
        assert step_of(page) == "figure"


def test_a_hint_can_be_asked_for_and_taken(tmp_path, open_page):
    with at_a_card(tmp_path) as (server, hosted):
        page = open_page(link(server, hosted))
        page.click("#hint")
        page.wait_for_selector("#advice button", timeout=120_000)
        best = page.locator("#advice button").first
        told = best.locator("small").inner_text()
        assert re.fullmatch(r"wins \d+ of 100 · about (\d+ prestige (ahead|behind)|level)(; [^;]+){1,2}", told)
        move = best.get_attribute("data-move")
        assert move in hosted.game.moves()
        shoot(page, "hint")
        best.click()
        page.wait_for_selector("#picture.preview")
        number = hosted.number
        page.click("#confirm")
        wait_until(lambda: hosted.number > number)
        assert hosted.steps[number + 1].move == move


def test_moves_are_animated_with_points_and_displacements(tmp_path, open_page):
    """A move that displaces a figure and brings points: both figures move, points rise and the count jumps."""
    with at_a_card(tmp_path) as (server, hosted):
        page = open_page(link(server, hosted), pace=1000, reduced_motion="no-preference")
        page.evaluate(
            """() => {
            window.animated = [];
            const real = Element.prototype.animate;
            Element.prototype.animate = function (...all) {
                window.animated.push(this.dataset.figure ? `figure ${this.dataset.seat}` : "other");
                return real.apply(this, all);
            };
            }"""
        )
        chosen = next(
            each for each in view.moves(hosted.game, hosted.names) if each["refuge"] is not None and each["points"] > 0
        )
        page.click(f'#hand [data-card="{chosen["card"]}"]')
        click_seat(page, chosen["origin"])
        click_seat(page, chosen["target"])
        page.click("#confirm")
        page.wait_for_selector("#floats .gain")
        assert page.inner_text("#floats .gain") == f"+{chosen['points']}"
        page.wait_for_timeout(200)
        shoot(page, "animation")
        animated = page.evaluate("window.animated")
        assert {f"figure {chosen['target']}", f"figure {chosen['refuge']}"} <= set(animated)
        assert int(page.inner_text(".player.you .points")) == chosen["points"]


def test_who_wants_less_motion_gets_none(tmp_path, open_page):
    with at_a_card(tmp_path) as (server, hosted):
        page = open_page(link(server, hosted), pace=450)
        page.evaluate("() => { window.animated = 0; Element.prototype.animate = () => { window.animated += 1; }; }")
        play_one(page, hosted, random.Random(0))
        wait_for_step(page, "card", "pile", "wait")
        assert page.evaluate("window.animated") == 0


def test_what_can_be_clicked_in_the_picture_is_listed_for_the_keyboard_only(tmp_path, open_page):
    """The list is also shown on request."""
    with at_a_card(tmp_path) as (server, hosted):
        page = open_page(link(server, hosted))
        card = page.locator('#hand .card[data-card^="k"]').first
        listed = page.locator("#options button:visible")
        card.click()
        assert step_of(page) == "figure"
        assert marked_seats(page)
        assert listed.count() == 0
        page.click("#list")
        assert listed.count() == len(marked_seats(page))
        assert page.get_attribute("#list", "aria-expanded") == "true"
        page.click("#list")
        assert listed.count() == 0
        page.keyboard.press("Tab")
        assert listed.count() == len(marked_seats(page))
        assert page.locator("#list").is_hidden(), "with the keyboard the list is always shown"
        listed.first.focus()
        page.keyboard.press("Enter")
        assert step_of(page) == "seat"
        assert listed.count() == len(marked_seats(page))
        click_seat(page, marked_seats(page)[0])
        page.click("#back")
        assert step_of(page) == "seat"
        assert listed.count() == 0, "folded again for the mouse"


# --- several people
# ------------------------------------------------------------------------------------------------------


def test_two_people_play_and_cannot_see_each_others_hands(tmp_path, open_page):
    with serving(tmp_path, "advanced", ["Ann", "Ben"]) as (server, hosted):
        pages = [open_page(link(server, hosted, player)) for player in (0, 1)]
        answers = [[], []]
        for player, page in enumerate(pages):
            page.on("response", lambda answer, player=player: answers[player].append(answer))
        rng = random.Random(4)
        for _ in range(24):
            mover = hosted.game.player
            play_one(pages[mover], hosted, rng)
            for page in pages:
                page.wait_for_function(
                    "number => document.querySelectorAll('#log li').length === number", arg=hosted.number
                )
        for player, page in enumerate(pages):
            position = hosted.game.to_dict()
            shown_cards = page.locator("#hand .card").evaluate_all("all => all.map(each => each.dataset.card)")
            assert shown_cards == position["hands"][player]
            other = page.locator(f'.player[data-player="{1 - player}"]')
            backs = hosted.game.to_dict(player)["hands"][1 - player]
            assert other.locator(".backs .back").count() == sum(backs.values())
            assert not other.locator("[data-card]").count()
            heard = [json.loads(text) for text in page.evaluate("window.heard")]
            assert len(heard) >= 24
            for answer in answers[player]:
                if "/events" not in answer.url and answer.ok and "json" in answer.headers.get("content-type", ""):
                    heard.append(answer.json())
            states = [state.get("state", state) for state in heard]
            for state in states:
                if "position" in state:
                    assert isinstance(state["position"]["hands"][1 - player], dict)
                    assert all(isinstance(count, int) for pile in state["position"]["piles"] for count in pile.values())
            text = json.dumps(heard) + page.content()
            assert hosted.seats[1 - player].secret not in text
            assert hosted.record_secret not in text
            shoot(page, f"two-people-{'AB'[player]}")
        players_who_drew = {step.player for step in hosted.steps if step.move.startswith("draw:")}
        for player in players_who_drew:
            assert "It is “" in pages[player].inner_text("#log")


# --- messages in any order
# -----------------------------------------------------------------------------------------


def test_state_log_and_picture_change_together(tmp_path, open_page):
    """Moves arrive late, twice, out of order or not at all, and the log that is fetched afterwards is newer than all of
    them."""
    with serving(tmp_path, "beginner", ["Ann", "Ben"]) as (server, hosted):
        secret = hosted.seats[0].secret
        page = open_page(link(server, hosted))
        page.evaluate("window.deaf = true")
        rng = random.Random(7)

        def play(count):
            for _ in range(count):
                move = rng.choice(hosted.game.moves())
                body = {"number": hosted.number, "move": move}
                status, _ = server.ask(f"/api/{hosted.seats[hosted.game.player].secret}/move", body)
                assert status == 200

        def hear(*numbers):
            for number in numbers:
                page.evaluate("data => window.hear(data)", json.dumps(view.seen(hosted, 0, number)))

        def shown():
            """Number of moves in the log, and the last move according to the log and to the picture."""
            moves = page.locator("#picture [data-move]")
            log = page.locator("#log li").all_inner_texts()
            return len(log), [moves.first.get_attribute("data-move")] if moves.count() else []

        lost_requests, fetched_requests = [], []  # requests for the log while the line is down, and after
        down = True

        def lose(route):
            (lost_requests if down else fetched_requests).append(route)
            route.abort() if down else route.continue_()

        page.route(f"**/api/{secret}", lose)
        play(5)
        hear(1)
        assert shown() == (1, [hosted.steps[1].move])
        hear(3, 4)  # 2 never comes
        page.wait_for_function("() => document.querySelector('#connection').textContent")
        assert shown() == (1, [hosted.steps[1].move]), "as long as the log can't be fetched the page stays as it is"
        assert lost_requests
        down = False
        # An `alive` message of the stream empties #connection, too, so wait for the log to change.
        page.wait_for_function("() => document.querySelectorAll('#log li').length > 1")
        assert shown() == (5, [hosted.steps[5].move]), "everything in the answer, at once"
        hear(5, 4, 5, 2, 5)
        assert shown() == (5, [hosted.steps[5].move])
        assert len(fetched_requests) == 1
        play(1)
        hear(5, 6, 6)
        assert shown() == (6, [hosted.steps[6].move])
        turn = "Place a knight on a free seat" if hosted.game.player == 0 else "Ben is to move"
        assert page.inner_text("#prompt") == turn
        page.evaluate("window.deaf = false")
        play(hosted.game.player + 1)  # until it is Ann's turn, or she has moved
        page.wait_for_function("number => document.querySelectorAll('#log li').length === number", arg=hosted.number)


def test_a_preview_that_comes_late_shows_nothing_old(tmp_path, open_page):
    """In the meantime somebody with the same link has played the move of the preview."""
    with at_a_card(tmp_path) as (server, hosted):
        page, number = open_page(link(server, hosted)), hosted.number
        held = []
        page.route("**/preview", lambda route: held.append(route))
        page.locator('#hand .card[data-card^="k"]').first.click()
        for _ in range(2):
            click_seat(page, marked_seats(page)[0])
        page.wait_for_function("() => document.body.dataset.step === 'confirm'")
        wait_until(
            lambda: page.evaluate("true") and held
        )  # Playwright passes the browser's events on only during calls
        move = json.loads(held[0].request.post_data)["move"]
        status, _ = server.ask(f"/api/{hosted.seats[0].secret}/move", {"number": number, "move": move})
        assert status == 200
        page.wait_for_function("number => document.querySelectorAll('#log li').length > number", arg=number)
        wait_for_step(page, "card", "pile", "wait")
        with page.expect_response("**/preview"):
            held[0].continue_()
        page.evaluate("() => new Promise(requestAnimationFrame)")
        assert page.inner_text("#log li:first-child p").startswith(hosted.names[hosted.steps[-1].player])
        assert "This is how it would be" not in page.inner_text("#detail")
        assert "the game has gone on" not in page.inner_text("#detail"), "no request is sent for an old position"


# --- interruptions
# -------------------------------------------------------------------------------------------------------


def test_a_page_can_be_reloaded_in_mid_game(tmp_path, open_page):
    with serving(tmp_path, "beginner", ["Ann"], ["greedy"]) as (server, hosted):
        page, rng = open_page(link(server, hosted)), random.Random(5)
        for _ in range(8):
            play_one(page, hosted, rng)
        step = wait_for_step(page, "card", "pile")
        before = [page.inner_text(part) for part in ("#players", "#hand", "#log", "#prompt")]
        if step == "card":
            page.locator("#hand .card").first.click()  # a choice that isn't confirmed is given up
        page.reload()
        assert wait_for_step(page, "card", "pile") == step
        assert [page.inner_text(part) for part in ("#players", "#hand", "#log", "#prompt")] == before
        play_one(page, hosted, rng)


def test_the_server_can_be_restarted_in_mid_game(tmp_path, open_page):
    hosted = deal(tmp_path, "advanced", ["Ann"], ["greedy"])
    server = Serving(tmp_path)
    try:
        hosted = server.lobby.games[hosted.name]
        page, rng = open_page(link(server, hosted)), random.Random(6)
        for _ in range(7):
            play_one(page, hosted, rng)
        wait_for_step(page, "card", "pile")
        hand, played = page.inner_text("#hand"), hosted.game.actions_played
        server.stop()
        page.wait_for_function("() => document.querySelector('#connection').textContent")
        shoot(page, "server-gone")
        page.evaluate("document.querySelector('#hand .card, #options button').click()")
        server = Serving(tmp_path, port=server.port)
        hosted = server.lobby.games[hosted.name]
        page.wait_for_function("() => !document.querySelector('#connection').textContent", timeout=60_000)
        assert hosted.game.actions_played[: len(played)] == played
        assert page.inner_text("#hand") == hand
        if page.locator("#back").is_visible():
            page.click("#back")
        for _ in range(3):
            play_one(page, hosted, rng)
    finally:
        server.stop()


def test_a_page_whose_link_is_no_longer_valid_says_so_and_stops_asking(tmp_path, open_page):
    with serving(tmp_path / "one", "beginner", ["Ann", "Ben"]) as (server, hosted):
        page = open_page(link(server, hosted))
        server.stop()
        page.wait_for_function("() => document.querySelector('#connection').textContent.includes('Trying again')")
        other = Serving(tmp_path / "another folder", port=server.port)
        try:
            page.wait_for_function("() => document.querySelector('#connection').textContent.includes('no such seat')")
            num_requests = len(page.outside)
            page.clock.install()
            page.clock.run_for(60_000)
            assert len(page.outside) == num_requests
        finally:
            other.stop()


# --- phones, keyboards, screen readers
# ------------------------------------------------------------------------------------------------


def test_a_phone_shows_it_all_and_is_played_with_a_thumb(tmp_path, open_page):
    with at_a_card(tmp_path) as (server, hosted):
        page = open_page(link(server, hosted), viewport=PHONE, has_touch=True, is_mobile=True, device_scale_factor=2)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        shoot(page, "phone")
        for each in page.locator("#hand .card, #actions button:visible").all():
            box = each.bounding_box()
            assert box["width"] >= 40
            assert box["height"] >= 40
            assert box["y"] + box["height"] <= PHONE["height"], "without scrolling"
        number = hosted.number
        page.locator('#hand .card[data-card^="k"]').first.tap()
        click_seat(page, marked_seats(page)[0], tap=True)
        shoot(page, "phone-choosing")
        click_seat(page, marked_seats(page)[0], tap=True)
        page.wait_for_selector("#picture.preview")
        shoot(page, "phone-preview")
        assert page.locator("#confirm").bounding_box()["y"] < PHONE["height"] - 40
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        page.tap("#confirm")
        wait_until(lambda: hosted.number > number)


@pytest.mark.parametrize("screen", [PHONE, {"width": 375, "height": 667}], ids=["844", "667"])
def test_a_hint_covers_no_seat_on_a_phone(tmp_path, open_page, screen):
    """A hint covers no seat when it appears or is tried out; the whole board and all buttons stay on the screen."""
    with at_a_card(tmp_path) as (server, hosted):
        page = open_page(link(server, hosted), viewport=screen, has_touch=True, is_mobile=True, device_scale_factor=2)

        def look(name):
            shoot(page, f"{name}-{screen['height']}")
            board, panel = page.locator("#picture svg").bounding_box(), page.locator("#turn").bounding_box()
            assert board["y"] >= -1
            assert board["y"] + board["height"] <= panel["y"] + 1
            for button in page.locator("#advice button:visible, #actions button:visible").all():
                box = button.bounding_box()
                assert box["y"] + box["height"] <= screen["height"]
                assert box["height"] >= 40

        page.tap("#hint")
        page.wait_for_selector("#advice button", timeout=120_000)
        look("phone-hint")
        page.locator("#advice button").first.tap()
        page.wait_for_selector("#picture.preview")
        look("phone-hint-tried")
        while step_of(page) != "card":
            page.tap("#back")
        look("phone-hint-again")


def test_it_can_be_played_with_the_keyboard_alone(tmp_path, open_page):
    with at_a_card(tmp_path) as (server, hosted):
        page = open_page(link(server, hosted))
        number = hosted.number
        for _ in range(5):
            if wait_for_step(page, "card", "pile", "figure", "seat", "branch", "confirm") == "confirm":
                break
            page.keyboard.press("1")
        page.wait_for_selector("#picture.preview")
        page.wait_for_function("() => document.activeElement.id === 'confirm'")
        page.keyboard.press("Enter")
        wait_until(lambda: hosted.number > number)
        # By Tab, as with a screen reader: everything that can be pressed can be reached.
        wait_for_step(page, "card", "pile")
        page.focus("body")
        reached = set()
        for _ in range(40):
            page.keyboard.press("Tab")
            reached.add(
                page.evaluate(
                    "document.activeElement.dataset.card || document.activeElement.id || document.activeElement.tagName"
                )
            )
        assert {*hosted.game.to_dict()["hands"][0], "hint", "log"} <= reached


def test_everything_has_a_name_for_screen_readers(tmp_path, open_page):
    with at_a_card(tmp_path) as (server, hosted):
        page = open_page(link(server, hosted))
        assert page.get_by_role("button", name="Hint").count() == 1
        for card in hosted.game.to_dict()["hands"][0]:
            label = page.locator(f'#hand [data-card="{card}"]').first.get_attribute("aria-label")
            assert len(label.split()) > 5, "title and what it does"
        card = page.locator('#hand .card[data-card^="k"]').first
        card.focus()
        page.keyboard.press("Tab")
        card.press("Enter")
        assert page.get_by_role("button", name="Your knight on seat").count() >= 4
        assert unnamed(page) == []
        tree = page.locator("#board").aria_snapshot()
        assert "King on seat" in page.locator("#picture svg desc").text_content()
        assert "img" in tree
        assert page.locator("[aria-live=polite]").count() == 1


def test_dark_and_light_screens(tmp_path, open_page):
    with at_a_card(tmp_path) as (server, hosted):
        for scheme in ("light", "dark"):
            page = open_page(link(server, hosted), color_scheme=scheme)
            shoot(page, scheme)
            colour = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
            assert (sum(map(int, colour[4:-1].split(","))) > 384) == (scheme == "light")


def test_the_host_sees_all_games_and_links(tmp_path, open_page, chromium):
    with serving(tmp_path, "beginner", ["Ann", "Ben"], ["greedy"]) as (server, hosted):
        context = chromium.new_context(viewport=DESKTOP)
        try:
            page = context.new_page()
            page.goto(f"{server.base}/host/{server.lobby.host_secret}")
            page.wait_for_selector(".game")
            links = page.locator(".game a").evaluate_all("all => all.map(each => each.href)")
            assert links == [link(server, hosted, 0), link(server, hosted, 1)]
            shoot(page, "host")
            page.goto(f"{server.base}/seat/wrong")
            assert "without the right link" in page.inner_text("body")
        finally:
            context.close()


def test_the_host_page_says_what_is_wrong(tmp_path, chromium):
    """While the server doesn't answer it asks again; when its link isn't valid any more it says so and stops asking."""
    with serving(tmp_path, "beginner", ["Ann", "Ben"]) as (server, hosted):
        context = chromium.new_context(viewport=DESKTOP)
        try:
            page, requests, faults = context.new_page(), [], []
            page.on("request", lambda request: requests.append(request.url))
            page.on("pageerror", lambda error: faults.append(str(error)))
            page.clock.install()
            page.goto(f"{server.base}/host/{server.lobby.host_secret}")
            page.wait_for_selector(".game")
            assert page.locator("#trouble").is_hidden()
            page.route("**/api/host/*", lambda route: route.abort())
            page.clock.run_for(10_000)
            page.wait_for_selector("#trouble:visible")
            assert page.inner_text("#trouble") == "The server doesn't answer. Trying again…"
            page.unroute("**/api/host/*")
            move = {"number": 0, "move": hosted.game.moves()[0]}
            assert server.ask(f"/api/{hosted.seats[hosted.game.player].secret}/move", move)[0] == 200
            page.clock.run_for(10_000)
            page.wait_for_selector("#trouble", state="hidden")
            assert "1 move played" in page.inner_text(".game")
            server.lobby.host_secret = "another"
            page.clock.run_for(10_000)
            page.wait_for_selector("#trouble:visible")
            assert "no longer valid" in page.inner_text("#trouble")
            shoot(page, "host-link-invalid")
            count = len(requests)
            page.clock.run_for(60_000)
            assert len(requests) == count
            assert page.locator(".game").count() == 1, "the links of the seats still lead somewhere"
            assert not faults
        finally:
            context.close()
