"""Whoever plays for the first time, in a browser: what things mean, by mouse, keyboard and long press; tips; names that
don't fit; what others have done."""

import random

import pytest

pytest.importorskip("starlette", reason="the extra play isn't installed")
pytest.importorskip("uvicorn", reason="the extra play isn't installed")

from artus_training.play.command import seats
from artus_training.play.hosted import HostedGame
from artus_training.play.store import Store
from browsing import DESKTOP, SMALL_PHONE, TOUCHED, link, shoot, step_of, unnamed
from play_server import Serving, wait_until

LONG = ["Maximiliane-Friederike", "ppo-search:256", "Cleo", "Dora"]
PHASES = {"artus": "play", "royal": "trick", "quest": "act"}

MEANINGS = {
    "artus": ["The table top. It turns", "The carpet: the card", "Rings. A prince with three", "Whenever he moves"],
    "royal": ["Pawn of A on field", "pawn lands here places", "The chip that lies farthest right", "first wins"],
    "quest": ["Camelot. Exercises", "Knight of A in ", "Sword-1: ", "tournament", "in the order of the tents"],
}
"""Some of the meanings that the arrow keys show on the board."""
MEANING_IS_SHOWN = """words => {
    const bubble = document.querySelector("#meaning");
    return !bubble.hidden && bubble.textContent.match(words);
}"""
CARDS = {"artus": r"You gain|Gain|Score|Give|Move", "royal": r"[Tt]rump|was led", "quest": r"Pays for quests"}


def game_at(folder, game, people, seed=5, until=lambda hosted: True, least=31):
    """A game between people, played at random up to a decision of the first person: (server, hosted)."""
    rules = "advanced" if game == "artus" else None
    hosted = HostedGame.deal(Store(folder), rules, seats(people, []), seed, game)
    rng = random.Random(2)

    def reached():
        position = hosted.game.to_dict()
        has_choice = hosted.game.player == 0 and len(hosted.game.moves()) > 1 and position["phase"] == PHASES[game]
        return hosted.number >= least and has_choice and until(hosted)

    while not reached():
        hosted.play(hosted.game.player, hosted.number, rng.choice(hosted.game.moves()))
    server = Serving(folder)
    return server, server.lobby.games[hosted.name]


def announced(page, number):
    """The texts that are announced while an arrow key is pressed `number` times."""
    texts = []
    for _ in range(number):
        page.keyboard.press("ArrowRight")
        texts.append(page.inner_text("#announce"))
    return texts


@pytest.mark.parametrize("game", PHASES)
def test_what_everything_means_is_told_to_the_keyboard(tmp_path, open_page, game):
    server, hosted = game_at(tmp_path, game, ["Ann", "Ben", "Cleo"])
    try:
        page = open_page(link(server, hosted))
        page.keyboard.press("Tab")  # the link to one's turn
        while page.evaluate("document.activeElement.id") != "picture":
            page.keyboard.press("Tab")
        texts = announced(page, page.locator("#picture [data-meaning]").count() + 3)
        assert [meaning for meaning in MEANINGS[game] if not any(meaning in text for text in texts)] == []
        page.keyboard.press("Home")
        assert page.inner_text("#announce") == texts[0]
        page.wait_for_function("text => document.querySelector('#meaning').textContent === text", arg=texts[0])
        assert page.locator("#meaning").is_visible()
        assert page.locator("#picture .looked").count() == 1
        page.keyboard.press("Tab")
        assert page.locator("#meaning").is_hidden()
        assert page.locator(".looked").count() == 0
        page.focus("#players")
        of_players = announced(page, page.locator("#players [title]").count())
        assert {"Ann", "Ben", "Cleo"} <= {*of_players}
        assert len({*of_players}) > 5
        for card in page.locator("#hand .card").all():
            card.focus()
            page.keyboard.press("Shift+Tab")
            page.keyboard.press("Tab")
            assert page.locator("#meaning").is_visible()
            page.wait_for_function(MEANING_IS_SHOWN, arg=CARDS[game])
        assert unnamed(page) == []
    finally:
        server.stop()


@pytest.mark.parametrize("game", PHASES)
def test_what_is_pressed_for_long_says_what_it_means(tmp_path, open_page, game):
    """Meanings are shown on a long press, and for things in the picture under the mouse."""
    things = {
        "artus": [
            ("[data-plate] path >> nth=4", "table top"),
            ('[data-figure="king"]', "The King"),
            (".ring", "Rings"),
        ],
        "royal": [("[data-pawn]", "Pawn of"), ('[data-chip][data-place="1"]', "farthest right")],
        "quest": [('[data-place="camelot"] text', "Exercises"), ("[data-display]", "on display")],
    }
    server, hosted = game_at(tmp_path, game, ["Ann", "Ben"])
    try:
        page, mouse = open_page(link(server, hosted), **TOUCHED), open_page(link(server, hosted))
        fingers = page.context.new_cdp_session(page)
        for selector, meaning in things[game]:
            for each in (page, mouse):
                thing = each.locator(f"#picture {selector}").first
                thing.evaluate("thing => thing.scrollIntoView({ block: 'start', behavior: 'instant' })")
                box = thing.bounding_box()
                x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
                if selector == ".ring":
                    x = box["x"] + 1  # the middle of a ring is open
                if each is mouse:
                    mouse.mouse.move(x, y)
                else:
                    fingers.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
                each.wait_for_function(MEANING_IS_SHOWN, arg=meaning)
                if each is page:
                    fingers.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        card = page.locator("#hand .card").first.bounding_box()
        point = {"x": card["x"] + card["width"] / 2, "y": card["y"] + card["height"] / 2}
        fingers.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
        page.wait_for_function(MEANING_IS_SHOWN, arg=CARDS[game])
    finally:
        server.stop()


@pytest.mark.parametrize("screen", [DESKTOP, SMALL_PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("game", PHASES)
def test_long_names_are_shortened_where_a_word_ends(tmp_path, open_page, game, screen):
    server, hosted = game_at(tmp_path, game, LONG)
    try:
        page = open_page(link(server, hosted), viewport=screen)
        shoot(page, f"{game}-names-{screen['width']}")
        shown_names = page.locator("#players strong")
        for name, each in zip(LONG, shown_names.all(), strict=True):
            text = each.inner_text()
            assert each.get_attribute("title") == name
            assert each.evaluate("each => each.scrollWidth <= each.clientWidth")
            if text != name:
                begin, _, end = text.partition("…")
                assert len(begin) > 0
                assert name.startswith(begin)
                assert end == (":256" if ":" in name else ""), "the number that tells agents apart stays"
        if screen is DESKTOP:
            assert shown_names.all_inner_texts() == LONG
        assert page.evaluate("document.documentElement.scrollWidth") <= screen["width"]
    finally:
        server.stop()


def test_a_name_is_cut_behind_a_word_before_it_is_cut_within_one(tmp_path, open_page):
    server, hosted = game_at(tmp_path, "artus", ["Ann", "Ben"])
    try:
        page = open_page(link(server, hosted))
        fitted = """async ([text, width]) => {
            const { fit } = await import(document.querySelector("link[href$='/parts.js']").href);
            const each = document.createElement("p");
            each.style.cssText = `font: 16px monospace; white-space: nowrap; overflow: hidden; width: ${width}ch`;
            each.textContent = text;
            document.body.append(each);
            fit(each);
            return each.textContent;
        }"""
        cases = {
            ("Maximiliane-Friederike", 22): "Maximiliane-Friederike",
            ("Maximiliane-Friederike", 18): "Maximiliane…",
            ("Maximiliane-Friederike", 8): "Maximil…",
            ("ppo-search:256", 12): "ppo…:256",
            ("ppo-search:256", 6): "p…:256",
            ("Wilhelmine von Oranien", 20): "Wilhelmine von…",
        }
        assert {case: page.evaluate(fitted, list(case)) for case in cases} == cases
    finally:
        server.stop()


def test_tips_take_one_line_on_a_low_phone_and_cover_nothing(tmp_path, open_page):
    """The tip about choosing a seat: it can be opened, and dismissed for good."""
    hosted = HostedGame.deal(Store(tmp_path), "beginner", seats(["Ann", "Ben"], []), 5, "artus")
    server = Serving(tmp_path)
    try:
        hosted = server.lobby.games[hosted.name]
        page = open_page(link(server, hosted, hosted.game.player), **TOUCHED)
        tip = page.locator("#tip")
        shoot(page, "phone-tip")
        assert tip.is_visible()
        assert tip.bounding_box()["height"] <= 44
        covered = """() => [...document.querySelectorAll("#picture .halo")].filter((halo) => {
            const box = halo.getBoundingClientRect();
            const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
            return !halo.contains(top);
        }).length"""
        assert page.locator("#picture .halo").count() > 20
        assert page.evaluate(covered) == 0
        page.tap("#tip summary")
        assert tip.bounding_box()["height"] > 44
        assert page.locator("#tip summary").evaluate("each => each.scrollWidth <= each.clientWidth"), "all can be read"
        page.tap("#tip button")
        assert tip.is_hidden()
        page.reload()
        page.wait_for_selector("#picture .halo")
        assert tip.is_hidden()
    finally:
        server.stop()


@pytest.mark.parametrize("game", PHASES)
def test_the_focus_stays_at_the_board_after_a_move(tmp_path, open_page, game):
    """With mouse and keyboard, also after a button was pressed that has disappeared since."""
    server, hosted = game_at(tmp_path, game, ["Ann", "Ben"])
    focused = "document.activeElement.id"
    try:
        page, number = open_page(link(server, hosted)), hosted.number
        for _ in range(6):
            if step_of(page) == "confirm":
                break
            page.keyboard.press("Tab")
            choices = page.locator("#options button:visible:not(.barred), #hand .card[aria-disabled=false]")
            choices.first.focus()
            page.keyboard.press("Enter")
            page.wait_for_function("document.activeElement !== document.body")
        page.wait_for_function("() => document.activeElement.id === 'confirm'")
        page.keyboard.press("Escape")
        assert page.evaluate(f"document.activeElement === document.body ? '' : {focused}") != "", "the focus isn't lost"
        for _ in range(6):
            if step_of(page) == "confirm":
                break
            page.keyboard.press("1")
        if step_of(page) != "confirm":
            return
        page.wait_for_function("() => document.activeElement.id === 'confirm'")
        page.keyboard.press("Enter")
        wait_until(lambda: hosted.number > number)
        page.wait_for_function("number => document.querySelectorAll('#log li').length > number", arg=number)
        assert page.evaluate(focused) == "board"
    finally:
        server.stop()


def others_marks(page):
    return page.locator("#picture [data-mover]").evaluate_all("all => all.map(each => each.dataset.mover)")


@pytest.mark.parametrize("game", PHASES)
def test_what_others_have_done_is_drawn_until_one_acts(tmp_path, open_page, game):
    """Several moves of a player are numbered: `C1`, `C2`."""

    def others_have_moved(hosted):
        own_move = max(n for n, step in enumerate(hosted.steps) if step.player == 0)
        steps = hosted.steps[own_move + 1 :]
        if game == "royal":  # a pawn has moved, and a card of the next trick was played
            fields = [step.game.scores for step in hosted.steps[own_move:]]
            return fields[0] != fields[-1] and hosted.game.to_dict()["trick"]
        return len(steps) > 3 and any(">" in step.move or step.move.startswith("horse") for step in steps)

    server, hosted = game_at(tmp_path, game, ["Ann", "Ben", "Cleo"], until=others_have_moved, least=12)
    try:
        page = open_page(link(server, hosted))
        marks = others_marks(page)
        shoot(page, f"{game}-trails")
        assert marks
        assert {mark[0] for mark in marks} <= set("BC") | ({"A"} if game == "royal" else set())
        letters = [mark[0] for mark in marks]
        assert all(len(mark) == 1 + (letters.count(mark[0]) > 1) for mark in marks)
        assert page.locator("#picture .trail-way").count() >= 1
        if game != "royal":
            lines, groups = page.locator("#log li"), page.locator("#log li:not(.same)")
            assert groups.count() < lines.count(), "lines of a turn are one group"
        number = hosted.number
        move = hosted.game.moves()[0]
        assert server.ask(f"/api/{hosted.seats[0].secret}/move", {"number": number, "move": move})[0] == 200
        page.wait_for_function("number => document.querySelectorAll('#log li').length > number", arg=number)
        if hosted.game.player != 0:
            page.wait_for_function("() => document.body.dataset.step === 'wait'")
            assert others_marks(page) == []
    finally:
        server.stop()


@pytest.mark.parametrize("game", PHASES)
def test_a_line_of_the_log_points_at_its_place(tmp_path, open_page, game):
    """With the mouse and with the arrow keys. Lines that have a place mark it, and no mark stays afterwards."""
    server, hosted = game_at(tmp_path, game, ["Ann", "Ben", "Cleo"])
    try:
        page = open_page(link(server, hosted))
        pointed = page.locator("#picture .counted, #picture .pointed")
        page.focus("#log")
        has_place = []
        for _ in range(min(25, hosted.number)):
            page.keyboard.press("ArrowDown")
            assert page.evaluate("document.activeElement.matches('#log li')")
            has_place.append(pointed.count() > 0)
        assert sum(has_place) > len(has_place) // 3
        if game == "royal":
            assert all(has_place), "a card, a field or a chip"
            assert page.locator("#picture .past").count() == 1, "a trick that isn't on the table any more"
            texts = page.locator("#picture .past svg").count()
            assert texts >= 2, "cards and who played them"
        page.focus("#hint")
        assert pointed.count() == 0
        page.hover("#log li >> nth=0")
        page.hover("h1")
        assert pointed.count() == 0
    finally:
        server.stop()
