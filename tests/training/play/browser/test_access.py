"""An accessibility checker, axe-core, finds no serious fault on any page, light and dark."""

import pytest

pytest.importorskip("starlette", reason="the extra play isn't installed")
pytest.importorskip("uvicorn", reason="the extra play isn't installed")
pytest.importorskip("axe_playwright_python", reason="axe-playwright-python isn't installed")

from axe_playwright_python.sync_playwright import Axe

from browsing import DESKTOP, PHONE, at, link
from play_server import Serving

SERIOUS = {"serious", "critical"}


def faults(page):
    """The serious faults that axe finds: name of the rule, the rule itself, and the first element that breaks it."""
    violations = Axe().run(page).response["violations"]
    serious = [violation for violation in violations if violation["impact"] in SERIOUS]
    return [(fault["id"], fault["help"], fault["nodes"][0]["html"][:150]) for fault in serious]


@pytest.fixture
def open_at(chromium):
    contexts = []

    def open_(address, **options):
        context = chromium.new_context(reduced_motion="reduce", **options)
        contexts.append(context)
        context.add_init_script("localStorage.setItem('play-pace', '\"0\"')")
        page = context.new_page()
        page.goto(address)
        return page

    yield open_
    for context in contexts:
        context.close()


def test_a_fault_would_be_found(open_at):
    page = open_at("about:blank")
    page.set_content('<html lang="en"><title>x</title><main><h1>x</h1><button></button><p style="color:#ccc">pale</p>')
    assert {rule for rule, *_ in faults(page)} == {"button-name", "color-contrast"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("game", ["artus", "royal", "quest", "magpies"])
def test_a_seats_page_has_no_serious_fault(tmp_path, open_at, game, scheme):
    """Checked while a person chooses, confirms and reads the \"?\" panel, and at the end of the game."""
    for moves in (26, 10_000):
        folder = tmp_path / str(moves)
        hosted = at(folder, game, moves)
        server = Serving(folder)
        try:
            hosted = server.lobby.games[hosted.name]
            player = 0 if hosted.game.over else hosted.game.player
            page = open_at(link(server, hosted, player), color_scheme=scheme, viewport=DESKTOP)
            page.wait_for_selector("#picture svg")
            assert faults(page) == []
            if not hosted.game.over:
                page.keyboard.press("1")
                assert faults(page) == []
                page.click("#settings summary")
                page.click("#resign")
                page.wait_for_selector("#resigning[open]")
                assert faults(page) == []
                page.click("#stay")
            if page.locator("#ask-help").is_visible():
                page.click("#ask-help")
                page.wait_for_selector("#help section", timeout=60_000)
                assert faults(page) == []
            elif hosted.game.over:
                page.click("#review")
                page.wait_for_selector("#end figure", timeout=120_000)
                assert faults(page) == []
        finally:
            server.stop()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_other_pages_have_no_serious_fault(tmp_path, open_at, scheme):
    """The start page, the page without a link, and a film."""
    at(tmp_path, "artus", 9, agents=["greedy"])
    over = at(tmp_path, "artus", 10_000)
    server = Serving(tmp_path)
    try:
        for viewport in (DESKTOP, PHONE):
            page = open_at(
                f"{server.base}/host/{server.lobby.host_secret}", color_scheme=scheme, viewport=viewport, locale="de-DE"
            )
            page.wait_for_selector("#setup:visible", timeout=60_000)
            page.wait_for_selector(".game")
            assert faults(page) == []
        page.goto(f"{server.base}/seat/wrong")
        assert faults(page) == []
        _, film = server.ask(f"/film/{over.record_secret}.html")
        (tmp_path / "film.html").write_text(film)
        page.goto((tmp_path / "film.html").as_uri())
        page.wait_for_selector("#picture svg")
        assert faults(page) == []
    finally:
        server.stop()
