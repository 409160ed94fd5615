"""Every text of the play page comes from a catalogue, and the page speaks its reader's language."""

import json
import random
import re
from xml.etree import ElementTree

import pytest

pytest.importorskip("starlette", reason="the extra play isn't installed")
pytest.importorskip("uvicorn", reason="the extra play isn't installed")

from artus_env import Game
from artus_env.engine.drawing import translations
from artus_env.engine.drawing.svg import shortened
from artus_training.replays import film
from browsing import at, link, shoot
from play_server import Serving, wait_until

GAMES = ["artus", "royal", "quest"]
NAMES = ["Ann", "Ben"]

ALL_TEXTS = """() => {
    const said = [document.title];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode()); ) {
        if (!node.parentElement.closest("script, style, kbd, noscript")) said.push(node.data);
    }
    for (const each of document.querySelectorAll("[aria-label], [title], [alt], [placeholder], [data-preview]")) {
        for (const name of ["aria-label", "title", "alt", "placeholder", "data-preview"]) {
            if (each.hasAttribute(name)) said.push(each.getAttribute(name));
        }
    }
    return said.filter((text) => text.trim());
}"""
"""All texts of a page, including those for screen readers only."""


BRACKETED = {"extra_http_headers": {"Accept-Language": "xx"}}


@pytest.fixture
def bracketed(monkeypatch):
    """A language whose texts are the English ones in brackets: text without brackets isn't from a catalogue."""
    real_catalogue = translations.Texts.catalogue

    def mark(text):
        return f"⟦{text}⟧"

    def catalogue(self):
        if translations.language() != "xx":
            return real_catalogue(self)
        with translations.speaking("en"):
            english = real_catalogue(self)
        return {
            key: {form: mark(text) for form, text in entry.items()} if isinstance(entry, dict) else mark(entry)
            for key, entry in english.items()
        }

    monkeypatch.setitem(translations.LANGUAGES, "xx", "Xx")
    monkeypatch.setattr(translations.Texts, "catalogue", catalogue)


def outside_catalogues(texts, names=()):
    """What remains of texts after removing everything in brackets, names, signs and numbers."""
    remaining = []
    for text in texts:
        before = None
        while before != text:  # brackets may be nested
            before, text = text, "".join(_unbracketed(text))
        for name in sorted([*names, *translations.LANGUAGES.values()], key=len, reverse=True):
            text = text.replace(name, "")
        words = [word for word in text.split() if sum(letter.isalpha() for letter in word) > 1]
        if words:
            remaining.append(" ".join(words))
    return remaining


def _unbracketed(text):
    depth = 0
    for letter in text:
        depth += letter == "⟦"
        if depth <= 0:
            yield letter
        depth -= letter == "⟧"


@pytest.mark.parametrize("game", GAMES)
def test_no_text_of_a_seats_page_stands_outside_the_catalogues(tmp_path, open_page, bracketed, game):
    """Checked for a person who places, plays, chooses, confirms or waits, and at the end of the game."""
    for moves in (0, 14, 31, 60, 10_000):
        hosted = at(tmp_path / str(moves), game, moves)
        server = Serving(tmp_path / str(moves))
        try:
            hosted = server.lobby.games[hosted.name]
            for player in range(2):
                page = open_page(link(server, hosted, player), **BRACKETED)
                texts = page.evaluate(ALL_TEXTS)
                assert len(texts) > 30
                assert outside_catalogues(texts, NAMES) == []
                for _ in range(4):
                    if page.evaluate("document.body.dataset.step") in ("confirm", "wait", "over"):
                        break
                    page.keyboard.press("1")
                    assert outside_catalogues(page.evaluate(ALL_TEXTS), NAMES) == []
            assert "⟦" in page.title()
        finally:
            server.stop()


def test_no_text_of_other_pages_stands_outside_the_catalogues(tmp_path, chromium, bracketed):
    at(tmp_path, "artus", 9, agents=["greedy"])
    at(tmp_path, "quest", 10_000)
    server = Serving(tmp_path)
    context = chromium.new_context(**BRACKETED)
    try:
        page = context.new_page()
        page.goto(f"{server.base}/host/{server.lobby.host_secret}")
        page.wait_for_selector(".game")
        test_games = ["Magpies", "Hoard"]  # the tests' own games have no catalogues
        assert outside_catalogues(page.evaluate(ALL_TEXTS), [*NAMES, "greedy", *test_games]) == []
        page.goto(f"{server.base}/seat/wrong")
        assert outside_catalogues(page.evaluate(ALL_TEXTS)) == []
    finally:
        context.close()
        server.stop()


@pytest.mark.parametrize("game", GAMES)
def test_no_text_of_a_films_pictures_stands_outside_the_catalogues(bracketed, game):
    """Checked in both layouts, with all hands and as one player sees it. The notation of moves and cards is allowed."""
    rng, full_game = random.Random(4), Game("advanced" if game == "artus" else None, 3, 5, game=game)
    while not full_game.over:
        full_game.play(rng.choice(full_game.moves()))
    people, line = ["Ann", "Ben", "Cleo"], full_game.record(["Ann", "Ben", "Cleo"])
    notation = [
        *json.loads(line)["moves"],
        *(card.name for card in getattr(full_game.components, "cards", ()) if game == "artus"),
    ]
    with translations.speaking("xx"):
        game, texts = full_game.first(), set()
        for count, action in enumerate(full_game.actions_played):
            game.play(action)
            if count % 8 and not game.over:
                continue
            for layout, player in (("wide", None), ("wide", 1), ("table", None)):
                root = ElementTree.fromstring(game.svg(player, names=people, layout=layout))
                texts |= {element.text for element in root.iter() if element.text and not element.tag.endswith("style")}
        assert len(texts) > 80
        assert outside_catalogues(texts, [*people, *notation, *map(_shortened, notation)]) == []
        assert outside_catalogues(film.moves_in_words(line, None), people) == [], "and the list of moves"


def _shortened(move):
    return shortened(move, 22)  # in the middle of the round table


def test_a_film_goes_at_three_moves_a_second_and_tells_no_result_in_its_title():
    game, rng = Game("beginner", 2, 5), random.Random(1)
    while not game.over:
        game.play(rng.choice(game.moves()))
    for language in ("en", "de"):
        with translations.speaking(language):
            page = film.page_of(game.record(["Ann", "Ben"]))
        title = re.search("<title>(.*?)</title>", page)[1]
        assert title == {"en": "Artus, beginner: Ann, Ben", "de": "Artus, Einsteiger: Ann, Ben"}[language]
        assert '<option value="333" selected>' in page
        assert f'lang="{language}"' in page
    assert film.FPS == 3


@pytest.mark.parametrize(("width", "view_box"), [(1280, "0 0 1216 688"), (390, "36 36 616 616")], ids=["wide", "phone"])
def test_a_film_draws_the_table_alone_on_a_phone_and_leaves_names_as_they_are(chromium, tmp_path, width, view_box):
    game, rng = Game("beginner", 2, 5), random.Random(1)
    while not game.over:
        game.play(rng.choice(game.moves()))
    film.write_html(tmp_path / "film.html", game.record(["Maximiliane-Friederike", "ppo-search:256"]))
    context = chromium.new_context(viewport={"width": width, "height": 800})
    try:
        page = context.new_page()
        page.goto(f"{(tmp_path / 'film.html').as_uri()}#40")
        assert page.get_attribute("#picture svg", "viewBox") == view_box
        page.keyboard.press("End")
        scores = [str(score).replace("-", "\N{MINUS SIGN}") for score in game.scores]
        assert page.inner_text("#scores") == f"Maximiliane-Friederike {scores[0]} · ppo-search:256 {scores[1]}"
        assert page.inner_text("#status").startswith(f"{len(game.actions_played)} of {len(game.actions_played)}: ")
    finally:
        context.close()


@pytest.mark.parametrize("game", GAMES)
def test_the_page_speaks_the_browsers_language_until_another_one_is_chosen(tmp_path, open_page, game):
    hosted = at(tmp_path, game, 31)
    server = Serving(tmp_path)
    try:
        hosted = server.lobby.games[hosted.name]
        player = hosted.game.player
        page = open_page(link(server, hosted, player), locale="de-AT")
        assert page.get_attribute("html", "lang") == "de"
        assert page.title().startswith("Dein Zug")
        assert page.inner_text("#story h2") == "Was bisher geschah"
        german = page.inner_text("#log")
        shoot(page, f"{game}-german")
        page.click("#settings summary")
        page.select_option("#language", "en")
        page.wait_for_function("() => document.documentElement.lang === 'en'")
        page.wait_for_selector("#picture svg")
        assert page.title().startswith("Your turn")
        english = page.inner_text("#log")
        assert len(english.splitlines()) == len(german.splitlines())
        assert english != german
        other = open_page(link(server, hosted, 1 - player), locale="de-AT")
        number = hosted.number
        page.keyboard.press("Escape")
        body = {"number": number, "move": hosted.game.moves()[0]}
        assert server.ask(f"/api/{hosted.seats[player].secret}/move", body)[0] == 200
        wait_until(lambda: hosted.number > number)
        for each in (page, other):
            each.wait_for_function("number => document.querySelectorAll('#log li').length > number", arg=number)
        first = [each.inner_text("#log li:first-child p") for each in (page, other)]
        assert first[0] != first[1], "both pages show the move in their own language"
    finally:
        server.stop()
