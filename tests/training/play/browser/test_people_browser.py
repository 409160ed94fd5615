"""Resigning, and where people stand among the agents, in a real browser."""

import pytest

pytest.importorskip("starlette", reason="the extra play isn't installed")
pytest.importorskip("uvicorn", reason="the extra play isn't installed")

from artus_training.people import results as people
from artus_training.people.results import Result, Sat
from artus_training.play.hosted import SUBSTITUTE
from artus_training.play.store import Store
from browsing import DESKTOP, TOUCHED, link, shoot, unnamed
from play_server import serving, wait_until


@pytest.fixture(autouse=True)
def ratings(monkeypatch):
    """Fixed ratings of agents, instead of those in the ladder file, which change."""
    by_agent = {"random": 0.0, "greedy": 880.0, "lookahead": 1120.0, "ppo": 1930.0}
    two = ("artus", "beginner", 2)
    monkeypatch.setattr(people, "ratings_of", lambda game, *variant: by_agent if (game.name, *variant) == two else {})


def save_results(folder, wins, losses, agent="lookahead", name="Ann"):
    """Save results of some games that a person has won, and of some that they have lost."""
    store = Store(folder)
    for nth in range(wins + losses):
        place = 1 if nth < wins else 2
        sat = [Sat(name, None, 50, place), Sat("Medium", agent, 40, 3 - place)]
        store.write_result(f"{name}-{agent}-{nth}", Result(1, "artus", "beginner", f"2026-11-{nth + 1:02}", 70, sat))


def resign(page, press="click"):
    getattr(page.locator("#settings summary"), press)()
    getattr(page.locator("#resign"), press)()


@pytest.mark.parametrize(("screen", "language", "scheme"), [("desktop", "en", "light"), ("phone", "de", "dark")])
def test_a_person_resigns_sees_the_end_and_where_they_stand_and_looks_back(
    tmp_path,
    open_page,
    screen,
    language,
    scheme,
):
    save_results(tmp_path, 7, 5)
    options = {"locale": language, "color_scheme": scheme, **(TOUCHED if screen == "phone" else {"viewport": DESKTOP})}
    with serving(tmp_path, "beginner", ["Ann"], ["greedy"]) as (server, hosted):
        page = open_page(link(server, hosted), **options)
        page.wait_for_function("() => document.body.dataset.step !== 'wait'")
        for _ in range(3):  # in the middle of the game
            number = hosted.number
            if hosted.game.player == 0:
                body = {"number": number, "move": hosted.game.moves()[0]}
                server.ask(f"/api/{hosted.seats[0].secret}/move", body)
            wait_until(lambda: hosted.game.player == 0)
        page.wait_for_function("() => document.body.dataset.step !== 'wait'")
        press = "tap" if screen == "phone" else "click"
        resign(page, press)
        page.wait_for_selector("#resigning[open]")
        ends = {
            "en": "Resign? The game ends, and you have lost it.",
            "de": "Aufgeben? Die Partie endet, und du hast sie verloren.",
        }
        assert page.locator("#resigning p").first.text_content() == ends[language]
        assert page.evaluate("document.activeElement.id") == "stay", "Enter alone doesn't resign"
        assert not unnamed(page)
        shoot(page, f"resign-{screen}")
        getattr(page.locator("#stay"), press)()
        assert not hosted.over
        resign(page, press)
        getattr(page.locator("#leave"), press)()
        page.wait_for_selector("#end:visible #placement p")
        assert hosted.places == [2, 1]
        assert page.locator("#end h2").text_content() == {"en": "greedy has won", "de": "greedy hat gewonnen"}[language]
        assert (
            page.locator("#end tbody tr small").text_content().strip()
            == {"en": "resigned", "de": "aufgegeben"}[language]
        )
        stands = page.locator("#placement p").first.text_content()
        assert stands.startswith(
            {"en": "Ann, you stand between Medium (lookahead) and ppo", "de": "Ann, du stehst zwischen"}[language]
        )
        assert page.locator("#resign").is_hidden()
        page.locator(".steps input").fill("1")
        page.wait_for_function("() => document.querySelector('#end .told').textContent.startsWith('1 ')")
        page.locator("#placement").scroll_into_view_if_needed()
        shoot(page, f"resigned-{screen}")
        page.reload()
        page.wait_for_selector("#end:visible #placement p")


def test_with_more_people_the_others_play_on(tmp_path, open_page):
    with serving(tmp_path, "beginner", ["Ann", "Ben", "Cleo"]) as (server, hosted):
        ann, ben = (open_page(link(server, hosted, player)) for player in (0, 1))
        resign(ann)
        assert "an agent plays on for you" in ann.locator("#resigning p").first.text_content()
        ann.click("#leave")
        ann.wait_for_selector("#end:visible")
        assert ann.locator("#end h2").text_content() == "You have resigned"
        assert SUBSTITUTE in ann.locator("#end p").text_content()
        assert ann.locator("#options button, #hand button:not([aria-disabled=true])").count() == 0
        ben.wait_for_function(
            "() => document.querySelector('[data-player=\"0\"] small').textContent.startsWith('resigned')"
        )
        assert ben.locator("#end").is_hidden()
        assert ben.locator("#announce").text_content() != ""
        shoot(ann, "resigned-of-three")
        shoot(ben, "resigned-of-three-other")
        resign(ben)
        assert ben.locator("#resigning p").first.text_content().startswith("Resign? The game ends")
        ben.click("#leave")
        for page in (ann, ben):
            page.wait_for_selector("#end:visible table")
            assert page.locator("#end h2").text_content() == "Cleo has won"


@pytest.mark.parametrize(("screen", "language"), [("desktop", "en"), ("phone", "de")])
def test_the_start_page_says_where_who_sits_down_stands(tmp_path, start, screen, language):
    save_results(tmp_path, 7, 5)
    save_results(tmp_path, 2, 1, name="Ben")
    options = {"locale": language, **(TOUCHED if screen == "phone" else {"viewport": DESKTOP})}
    _, page = start(**options)
    place = page.locator(".stands").first
    page.fill(".seat input >> nth=0", "ann")
    page.keyboard.press("Tab")
    page.wait_for_function("() => document.querySelector('.stands').textContent")
    between = {
        "en": "Ann, you stand between Medium (lookahead) and ppo: rating ",
        "de": "Ann, du stehst zwischen Mittel (lookahead) und ppo: Wertung ",
    }
    assert place.text_content().startswith(between[language])
    place.scroll_into_view_if_needed()
    shoot(page, f"start-stands-{screen}")
    page.fill(".seat input >> nth=0", "Ben")
    page.keyboard.press("Tab")
    page.wait_for_function("() => document.querySelector('.stands').textContent.startsWith('Ben')")
    assert " 3 " in place.text_content()
    page.fill(".seat input >> nth=0", "Nobody")
    page.keyboard.press("Tab")
    page.wait_for_function("() => !document.querySelector('.stands').textContent")
    page.select_option(".seat select >> nth=0", "easy")
    assert place.text_content() == ""
