"""The "?" panel of each game answers ten questions about its rules.

The questions were written before the panels, see `help/`; the key `told` has the words of the panel that answer one.
"""

import json
import re
from pathlib import Path

import pytest

from artus_env.engine.contract.registry import find_game
from artus_env.engine.drawing.translations import LANGUAGES, speaking
from artus_training.play.tutorial import pages

QUESTIONS = {path.stem: json.loads(path.read_text()) for path in (Path(__file__).parent / "help").glob("*.json")}
VARIANTS = [(game, rules) for game in sorted(QUESTIONS) for rules in find_game(game).rules]


def lessons(game, rules):
    definition = find_game(game)
    return pages(definition, rules, definition.standard)


@pytest.mark.parametrize("game", sorted(QUESTIONS))
def test_the_panel_answers_ten_questions(game):
    text = " ".join(page["text"] for page in lessons(game, find_game(game).rules[-1])).lower()
    assert len(QUESTIONS[game]) == 10
    missing = [each["question"] for each in QUESTIONS[game] if each["told"] not in text]
    assert not missing


@pytest.mark.parametrize(("game", "rules"), VARIANTS)
def test_five_or_six_pages_in_every_language_each_with_a_picture_of_its_own(game, rules):
    panels = {}
    for language in LANGUAGES:
        with speaking(language):
            panels[language] = lessons(game, rules)
        assert 5 <= len(panels[language]) <= 6
        assert all(page["picture"].startswith("<svg") for page in panels[language])
        assert len({page["picture"] for page in panels[language]}) == len(panels[language])
        assert all(40 < len(page["text"]) < 420 for page in panels[language])
    for one, other in zip(panels["en"], panels["de"], strict=True):
        assert one["text"] != other["text"]
        moved = [re.findall(r'data-move="([^"]*)"', page["picture"]) for page in (one, other)]
        assert moved[0] == moved[1], "the same move in every language"


def test_what_plays_no_part_in_the_beginners_game_is_neither_shown_nor_spoken_of():
    for page in lessons("artus", "beginner"):
        assert "carpet" not in page["text"].lower()
        assert "scoring" not in page["text"].lower()
        assert 'class="carpet"' not in page["picture"]
    advanced = lessons("artus", "advanced")
    assert any("carpet" in page["text"] for page in advanced)
    assert all('class="carpet"' in page["picture"] for page in advanced)


def test_the_text_that_answers_a_question_stands_in_no_catalogue_by_chance():
    """Without the panels' pages the questions stay open: the answers aren't told by titles or by a page that is always
    there."""
    for game, questions in QUESTIONS.items():
        help_pages = lessons(game, find_game(game).rules[-1])
        telling = {
            next(i for i, page in enumerate(help_pages) if each["told"] in page["text"].lower()) for each in questions
        }
        assert len(telling) >= 4, "most pages answer a question"


@pytest.mark.parametrize("rules", find_game("artus").rules)
def test_the_first_picture_of_artus_shows_that_the_seat_counts_that_is_left(rules):
    """A knight goes from a green seat to a red one; the marked seat is the one that it leaves, with its value."""
    page = lessons("artus", rules)[0]
    ((mark,), origin, target) = (page["where"][name] for name in ("marks", "origin", "target"))
    assert mark["seat"] == origin != target
    assert mark["value"] > 6
    plates = re.findall(r'data-value="(-?\d+)"', page["picture"])
    assert int(plates[origin]) == mark["value"]
    assert int(plates[target]) < 0
