"""Each game is played from the start page in a browser: on a desktop and on a phone, in German and English, by mouse,
by thumb and by the keyboard alone. Screenshots are left in `screenshots/`."""

import pytest

pytest.importorskip("starlette", reason="the extra play isn't installed")
pytest.importorskip("uvicorn", reason="the extra play isn't installed")
pytest.importorskip("playwright", reason="playwright isn't installed")

from play_server import Serving, wait_until
from test_play_browser import (  # noqa: F401
    CHROMIUM,
    DESKTOP,
    TOUCHED,
    chromium,
    shoot,
    step_of,
    unnamed,
    wait_for_step,
)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed (Debian: apt-get install chromium)")
WAYS = {
    "desktop, English, keyboard": ({"viewport": DESKTOP}, "en-GB", "keyboard"),
    "desktop, German, mouse": ({"viewport": DESKTOP}, "de-DE", "mouse"),
    "phone, German, thumb": (TOUCHED, "de-DE", "thumb"),
}
SETTLED = ["wait", "over"]


@pytest.fixture
def start(tmp_path, chromium):  # noqa: F811
    """Opens the start page of an empty folder: (server, page)."""
    server, faults = Serving(tmp_path), []
    contexts = []

    def open_(**options):
        context = chromium.new_context(reduced_motion="reduce", **options)
        contexts.append(context)
        context.add_init_script("localStorage.setItem('play-pace', '\"0\"')")
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(f"{server.base}/host/{server.lobby.host_secret}")
        page.wait_for_selector("#setup:visible", timeout=60_000)
        return server, page

    yield open_
    for context in contexts:
        context.close()
    server.stop()
    assert not faults


def begin(page, game, way):
    """Choose a game on the start page, and deal."""
    if way != "keyboard":
        press = "tap" if way == "thumb" else "click"
        getattr(page.locator(f'[data-kind="{game}"]'), press)()
        page.fill(".seat input >> nth=0", "Wilhelmine")
        getattr(page.locator("#deal"), press)()
    else:
        page.locator("#language").focus()
        page.keyboard.press("Tab")
        while page.evaluate("document.activeElement.value") != game:
            page.keyboard.press("ArrowDown")
        while page.evaluate("document.activeElement.id") != "deal":
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.matches('.seat input:not([hidden])')"):
                page.keyboard.press("Control+A")
                page.keyboard.type("Wilhelmine")
        page.keyboard.press("Enter")
    page.wait_for_url("**/seat/*", timeout=120_000)
    page.wait_for_selector("#picture svg")


def decide(page, way):
    """One decision: the first of all that is offered, until it is confirmed."""
    press = {"keyboard": None, "mouse": "click", "thumb": "tap"}[way]
    for _ in range(8):
        step = step_of(page)
        if step in SETTLED:
            return
        if step == "confirm":
            if press:
                getattr(page.locator("#confirm"), press)()
            else:
                # Where nothing was chosen, because only one move is legal, nothing has the focus.
                page.wait_for_function("() => ['confirm', '', 'board'].includes(document.activeElement.id)")
                page.keyboard.press("Enter")
            return
        choices = page.locator("#options button:not(.barred), #hand .card:not([aria-disabled=true])")
        if press:
            getattr(choices.first, press)()
        else:
            first = page.evaluate(
                """() => {
                const options = document.querySelectorAll("#options button, #hand button");
                const within = document.querySelectorAll("#options button").length ? "#options button" : "#hand button";
                const all = [...document.querySelectorAll(within)];
                return 1 + all.findIndex((each) => !each.matches(".barred, [aria-disabled=true]"));
                }"""
            )
            if 1 <= first <= 9:
                page.keyboard.press(str(first))
            else:
                choices.first.focus()
                page.keyboard.press("Enter")
        page.wait_for_timeout(20)
    raise AssertionError(f"it leads nowhere: {step_of(page)}")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("game", ["artus", "royal", "quest"])
def test_each_game_is_played_from_the_start_page(start, game, way):
    options, locale, hand = WAYS[way]
    server, page = start(locale=locale, **options)
    assert unnamed(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= options["viewport"]["width"]
    shoot(page, f"start-{locale}-{options['viewport']['width']}")
    begin(page, game, hand)
    (hosted,) = server.lobby.games.values()
    assert hosted.game.definition.name == game
    assert hosted.names == ["Wilhelmine", "Leicht" if locale == "de-DE" else "Easy"]
    decisions = 0
    while not hosted.game.over and decisions < 24:
        wait_until(lambda: hosted.game.over or hosted.game.player == 0)
        if hosted.game.over:
            break
        number = hosted.number
        page.wait_for_function("number => document.querySelectorAll('#log li').length >= number", arg=number)
        page.wait_for_function("() => !['wait', undefined].includes(document.body.dataset.step)")
        decide(page, hand)
        wait_until(lambda: hosted.number > number)  # noqa: B023
        decisions += 1
    assert decisions == 24
    shoot(page, f"{game}-{locale}-{options['viewport']['width']}")


def test_the_host_deals_again_and_goes_on_with_a_kept_game(start, tmp_path):
    """While games run; the page's link works after a restart, too."""
    server, page = start(locale="en-GB", viewport=DESKTOP)
    page.locator('[data-kind="artus"]').click()
    page.get_by_label("3 players").check()
    page.select_option(".seat select >> nth=1", "person")
    page.fill(".seat input >> nth=0", "Ann")
    page.fill(".seat input >> nth=1", "Ben")
    page.select_option(".seat select >> nth=2", "medium")
    assert page.locator(".seat small >> nth=2").inner_text() == "lookahead"
    page.click("#deal")
    page.wait_for_selector(".game")
    (first,) = server.lobby.games.values()
    assert first.names == ["Ann", "Ben", "Medium"]
    links = page.locator(".game a").evaluate_all("all => all.map(each => each.pathname)")
    assert links == [f"/seat/{first.seats[player].secret}" for player in (0, 1)]
    page.click(f'[data-again="{first.name}"]')
    page.wait_for_function("() => document.querySelectorAll('#running .game').length === 2")
    assert len(server.lobby.games) == 2
    assert [hosted.names for hosted in server.lobby.games.values()] == [first.names] * 2
    address = page.url
    server.stop()
    again = Serving(tmp_path, port=server.port)
    try:
        page.goto(address)
        page.wait_for_selector(".game")
        assert page.locator("#running .game").count() == 2
        page.goto(f"{again.base}{links[0]}")
        page.wait_for_selector("#picture svg")
    finally:
        again.stop()


def test_somebody_has_to_play(start):
    server, page = start(locale="en-GB", viewport=DESKTOP)
    page.select_option(".seat select >> nth=0", "hard")
    page.click("#deal")
    assert page.inner_text("#said") == "At least one person has to play."
    page.select_option(".seat select >> nth=0", "person")
    page.fill(".seat input >> nth=0", "")
    page.click("#deal")
    page.wait_for_function("() => document.querySelector('#said').textContent.includes('printable letters')")
    assert not server.lobby.games
