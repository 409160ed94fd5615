"""Each game is played from the start page to its end in a browser: on a desktop and on a phone, in German and English,
by mouse, by thumb and by the keyboard alone. Screenshots are left in `screenshots/`."""

import json

import pytest

pytest.importorskip("starlette", reason="the extra play isn't installed")
pytest.importorskip("uvicorn", reason="the extra play isn't installed")

from artus_training.play import forecast
from artus_training.play import hosted as hosting
from browsing import DESKTOP, TOUCHED, shoot, step_of, unnamed
from play_server import Serving, deal, wait_until

SCREENS = {"desktop": {"viewport": DESKTOP}, "phone": TOUCHED}
LOCALES = {"English": "en-GB", "German": "de-DE"}
GAMES = {
    ("artus", "desktop", "German", "mouse"): 1,
    ("artus", "phone", "English", "keyboard"): 1,
    ("royal", "desktop", "English", "keyboard"): 1,
    ("royal", "phone", "German", "thumb"): 1,
    ("quest", "desktop", "English", "mouse"): 3,  # against three the fewest points win
    ("quest", "phone", "German", "keyboard"): 3,
}
"""Whole games, with the number of agents. Each game is played on both screens, in both languages, and with the keyboard
alone."""
EASY = {"English": "Easy", "German": "Leicht"}
VERDICTS = {
    "English": ("You have won", "{} has won", "{} share the victory"),
    "German": ("Du hast gewonnen", "{} hat gewonnen", "{} teilen sich den Sieg"),
}

TO_PRESS = """() => {
    const within = "#options button:not(.barred), #picture .halo:not(.chosen), #hand .card:not([aria-disabled=true])";
    const confirm = document.querySelector("#confirm:not([hidden])");
    for (const each of confirm ? [confirm] : document.querySelectorAll(within)) {
        for (const block of [null, "nearest", "start", "center"]) {
            if (block) each.scrollIntoView({ block, behavior: "instant" });
            const box = each.getBoundingClientRect();
            const x = box.left + box.width / 2, y = box.top + box.height / 2;
            if (box.width && each.contains(document.elementFromPoint(x, y))) return [x, y];
        }
    }
    return null;
}"""
"""JavaScript: the point at which the first choice can be clicked, one that nothing covers; scrolls if necessary."""

TO_CHOOSE = """() => {
    const sort = document.querySelector("#options button") ? "#options button" : "#hand button";
    const all = [...document.querySelectorAll(sort)];
    const number = 1 + all.findIndex((each) => !each.matches(".barred, [aria-disabled=true]"));
    if (number > 9) all[number - 1].focus();
    return number;
}"""
"""JavaScript: the number of the first possible choice. If it has no key of its own, it gets the focus, as by Tab."""


def begin(page, game, agents, way):
    """Choose a game and the number of players on the start page, and deal."""
    if way != "keyboard":
        press = "tap" if way == "thumb" else "click"
        getattr(page.locator(f'[data-kind="{game}"]'), press)()
        getattr(page.locator(f'.pick:has([name=count][value="{agents + 1}"])'), press)()
        page.fill(".seat input >> nth=0", "Wilhelmine")
        getattr(page.locator("#deal"), press)()
    else:
        choices = {"game": game, "count": str(agents + 1)}
        page.locator("#language").focus()
        while page.evaluate("document.activeElement.id") != "deal":
            page.keyboard.press("Tab")
            name = page.evaluate("document.activeElement.name")
            for _ in range(6):
                if name in choices and page.evaluate("document.activeElement.value") != choices[name]:
                    page.keyboard.press("ArrowDown")
            if page.evaluate("document.activeElement.matches('.seat input:not([hidden])')"):
                page.keyboard.press("Control+A")
                page.keyboard.type("Wilhelmine")
        page.keyboard.press("Enter")
    page.wait_for_url("**/seat/*", timeout=120_000)
    page.wait_for_selector("#picture svg")


def decide(page, way, number):
    """Make one decision: take the first choice offered, confirm it, and wait until the log has a line for it."""
    for _ in range(8):
        if page.locator("#log li").count() > number:
            return
        if way != "keyboard":
            place = page.evaluate(TO_PRESS)
            assert place, f"nothing can be pressed: {step_of(page)}"
            (page.touchscreen.tap if way == "thumb" else page.mouse.click)(*place)
        elif step_of(page) == "confirm":
            # Where nothing was chosen, because only one move is legal, nothing has the focus.
            page.wait_for_function("() => ['confirm', '', 'board'].includes(document.activeElement.id)")
            page.keyboard.press("Enter")
        else:
            first = page.evaluate(TO_CHOOSE)
            page.keyboard.press(str(first) if first <= 9 else "Enter")
        if step_of(page) == "wait":
            page.wait_for_function("number => document.querySelectorAll('#log li').length > number", arg=number)
            return
    raise AssertionError(f"it leads nowhere: {step_of(page)}")


def look_back(page, hosted, language, way):
    """Check the end panel: the winner, all scores, the charts, and looking back step by step."""
    page.wait_for_selector("#end table")
    alone, other, several = VERDICTS[language]
    winners = [hosted.names[player] for player in hosted.game.winners]
    verdict = alone if winners == ["Wilhelmine"] else other.format(*winners)
    if len(winners) > 1:
        verdict = several.format({"English": " and ", "German": " und "}[language].join(winners))
    assert page.inner_text("#end h2") == verdict
    rows = page.locator("#end tbody tr").evaluate_all("all => all.map(row => [...row.children].map(e => e.innerText))")
    shown = {row[1].split("\n")[-1]: int(row[2].replace("\N{MINUS SIGN}", "-")) for row in rows}
    assert shown == dict(zip(hosted.names, hosted.game.scores, strict=True))
    points = [hosted.game.scores[hosted.names.index(name)] for name in shown]
    assert points == sorted(points, reverse=True)

    def press(selector):
        if way == "keyboard":
            page.focus(selector)
            page.keyboard.press("Enter")
        else:
            getattr(page.locator(selector), "tap" if way == "thumb" else "click")()

    picture, told = page.inner_html("#picture"), page.inner_text("#end .told")
    assert told.startswith(str(hosted.number))
    press("#end .steps button >> nth=0")
    page.wait_for_function("before => document.querySelector('#picture').innerHTML !== before", arg=picture)
    assert page.inner_text("#end .told").startswith(str(hosted.number - 1))
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#end .told").startswith(str(hosted.number - 2))
    page.click("#log li >> nth=0")
    assert page.inner_text("#end .told").startswith(str(hosted.number))
    press("#review")
    page.wait_for_selector("#end figure >> nth=1", timeout=120_000)
    for label in page.locator("#end .chart").evaluate_all("all => all.map(each => each.ariaLabel)"):
        assert all(name in label for name in hosted.names), "the last values of the chart, for screen readers"
    lines = page.locator("#end .chart >> nth=0 >> polyline:not(.under)")
    assert lines.count() == len(hosted.names)
    assert lines.first.get_attribute("points").count(",") == hosted.number + 1
    assert unnamed(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]


@pytest.mark.parametrize(("game", "screen", "language", "way"), GAMES, ids=map(" ".join, GAMES))
def test_a_whole_game_from_the_start_page(start, monkeypatch, game, screen, language, way):
    """No options on the command line are needed."""
    monkeypatch.setattr(hosting, "fresh_seed", lambda: 5)
    monkeypatch.setattr(forecast, "POSITIONS", 6)  # otherwise the charts would take most of the time
    monkeypatch.setattr(forecast, "DEALS_OF_POSITION", 3)
    monkeypatch.setattr(forecast, "TURNS", 1)
    deal, agents = hosting.HostedGame.deal, GAMES[game, screen, language, way]
    monkeypatch.setattr(hosting.HostedGame, "deal", lambda *args, **options: deal(*args, **{"seed": 5, **options}))
    server, page = start(ask=way != "mouse", locale=LOCALES[language], **SCREENS[screen])
    width = page.viewport_size["width"]
    assert unnamed(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    shoot(page, f"start-{language}-{width}")
    begin(page, game, agents, way)
    (hosted,) = server.lobby.games.values()
    assert hosted.game.definition.name == game
    numbered = [EASY[language], *(f"{EASY[language]} {number}" for number in range(2, agents + 1))]
    assert hosted.names == ["Wilhelmine", *numbered]
    decisions = 0
    while not hosted.game.over:
        wait_until(lambda: hosted.game.over or hosted.game.player == 0)
        if hosted.game.over:
            break
        number = hosted.number
        page.wait_for_function(
            """number => document.querySelectorAll('#log li').length >= number
            && !['wait', undefined].includes(document.body.dataset.step)""",
            arg=number,
        )
        decide(page, way, number)
        decisions += 1
        if decisions == 24:
            shoot(page, f"{game}-{language}-{width}")
    assert decisions > 25
    look_back(page, hosted, language, way)
    shoot(page, f"{game}-{language}-{width}-end")


def test_all_is_played_in_every_way():
    for game in ("artus", "royal", "quest"):
        screens_and_ways = {part for run in GAMES if run[0] == game for part in run[1:]}
        assert {*SCREENS, *LOCALES, "keyboard"} < screens_and_ways
    assert {way for *_, way in GAMES} == {"mouse", "thumb", "keyboard"}


def test_the_host_deals_again_and_goes_on_with_a_kept_game(start, tmp_path):
    """Checked while games are running; the page's link also works after a restart."""
    server, page = start(locale="en-GB", viewport=DESKTOP)
    page.locator('[data-kind="artus"]').click()
    page.get_by_label("3 players").check()
    page.select_option(".seat select >> nth=1", "person")
    page.fill(".seat input >> nth=0", "Ann")
    page.fill(".seat input >> nth=1", "Ben")
    page.select_option(".seat select >> nth=2", "medium")
    assert page.locator(".seat small:not(.stands) >> nth=2").inner_text() == "lookahead"
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


def test_the_start_page_warns_of_files_that_are_not_used(tmp_path, chromium):
    hosted = deal(tmp_path, "beginner", ["Ann", "Ben"])
    text = (tmp_path / f"{hosted.name}.json").read_text()
    (tmp_path / f"{hosted.name}-backup.json").write_text(text)
    data = json.loads(text)
    data["seats"][0]["secret"], data["seats"][1]["secret"], data["share"] = "A" * 22, "B" * 22, "C" * 22
    data["record"]["moves"], data["record"]["scores"] = ["@0"], [0, 0]
    del data["turn"]
    (tmp_path / "from-before.json").write_text(json.dumps(data))
    server = Serving(tmp_path)
    try:
        page = chromium.new_page()
        page.goto(f"{server.base}/host/{server.lobby.host_secret}")
        page.wait_for_selector("#warnings li")
        assert page.locator("#warnings li").all_inner_texts() == [
            f"{hosted.name}-backup.json isn't used: it has the same links as {hosted.name}.json, which is newer. "
            "Delete one of them, or move it out of the folder."
        ]
        assert "1 move played" in page.locator('[data-game="from-before"]').inner_text()
    finally:
        server.stop()
