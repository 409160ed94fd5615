"""Catalogues of texts: the same keys, placeholders and forms in every language, no missing and no unused text."""

import json
import re
from pathlib import Path

import pytest

from artus_env.engine.contract.registry import find_game, game_names
from artus_env.engine.drawing.translations import LANGUAGES, Texts, language, preferred, read_catalogue, speaking

ROOT = Path(__file__).parents[3]
SHELL = ROOT / "training/artus_training/play"
GAMES = [name for name in game_names() if find_game(name).page and (find_game(name).page / "texts").is_dir()]
FOLDERS = {"the play page": SHELL / "texts"} | {name: find_game(name).page / "texts" for name in GAMES}
PLACE = re.compile(r"\{(\w+)\}")


def forms(entry):
    return entry if isinstance(entry, dict) else {"text": entry}


@pytest.mark.parametrize("folder", FOLDERS.values(), ids=FOLDERS)
def test_every_language_says_the_same(folder):
    """The same keys in the same order, the same values in each text, and no text is empty."""
    catalogues = {name: json.loads((folder / f"{name}.json").read_text()) for name in LANGUAGES}
    assert {path.stem for path in folder.iterdir()} == {*LANGUAGES}
    first, *others = catalogues.values()
    for other in others:
        assert list(other) == list(first)
        for key, entry in first.items():
            assert all(text.strip() for text in forms(other[key]).values()), key
            first_places, other_places = (
                {place for text in forms(either).values() for place in PLACE.findall(text)}
                for either in (entry, other[key])
            )
            assert first_places == other_places, key


def sources(name):
    """Code in which texts are looked up by their keys."""
    if name in GAMES:
        folder = find_game(name).page.parent
        return [*folder.rglob("*.py"), *folder.glob("page/*.js")]
    return [*SHELL.glob("*.py"), *SHELL.glob("page/*.js"), *SHELL.glob("page/*.html")]


KEY = r"[\w-]+(?:\.[\w-]+)*"
"""Literal keys are whole strings; keys that are put together begin or end with a literal part."""


@pytest.mark.parametrize("name", FOLDERS)
def test_no_text_is_left_over(name):
    """The code contains each key: as a whole, or its beginning up to a dot, to which the code appends the rest."""
    code = "\n".join(path.read_text() for path in sources(name))
    if name in GAMES:
        code += "\n".join(path.read_text() for path in sources("the play page"))  # asks for title, score, rules, help
    literals = {*re.findall(rf"[\"'`{{]({KEY})[\"'`}}]", code)}
    parts = {*re.findall(rf"[\"'`]({KEY})\.[$\"'`{{]", code)} | {*re.findall(rf"[\"'`]({KEY}\.)", code)}
    stems = {part.rstrip(".") for part in parts}
    for key in read_catalogue(FOLDERS[name] / "en.json"):
        pieces = key.split(".")
        begins = {".".join(pieces[:end]) for end in range(1, len(pieces))}
        assert key in literals or begins & stems, f"{name}: {key} is unused"


def test_the_language_is_that_of_the_block():
    assert language() == "en"
    with speaking("de"):
        assert language() == "de"
        with speaking("en"):
            assert language() == "en"
        assert language() == "de"
    assert language() == "en"
    with pytest.raises(ValueError, match=r"^language must be one of en, de, got 'fr'$"), speaking("fr"):
        pass


@pytest.mark.parametrize(
    ("accepted", "language_name"),
    [
        ("", "en"), ("de", "de"), ("de-AT,de;q=0.9,en;q=0.8", "de"), ("fr,en;q=0.7,de;q=0.9", "de"), ("fr", "en"),
        ("en-GB,de", "en"), ("de;q=0", "en"), ("de;q=x,en", "en"), (",;;q=,\0", "en"), ("DE", "de"), ("*", "en"),
        ("de;q=nan", "en"),
        ("de; q=0.9, EN;Q=0.1", "de"),
    ],
)  # fmt: skip
def test_a_browser_says_which_language_it_likes(accepted, language_name):
    assert preferred(accepted) == language_name


def test_texts_have_values_and_forms(tmp_path):
    (tmp_path / "en.json").write_text('{"one": "{name} has {n}", "many": {"one": "{n} card", "other": "{n} cards"}}')
    say = Texts(tmp_path)
    assert say("one", name="{n}", n=3) == "{n} has 3", "a value isn't searched for placeholders"
    assert [say("many", n=number) for number in (0, 1, 2)] == ["0 cards", "1 card", "2 cards"]
    with speaking("de"):
        assert say("many", n=1) == "1 card", "a language without a catalogue is replaced"
    with pytest.raises(KeyError):
        say("two")
    with pytest.raises(KeyError):
        say("one", name="Ann")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "must be an object with texts, got list"),
        ('{"a": 1}', "a must be a text, or texts as one and other"),
        ('{"a": {"one": "x"}}', "a must be a text, or texts as one and other"),
        ('{"a": {"one": "x", "other": 2}}', "a must be a text, or texts as one and other"),
    ],
)
def test_a_catalogue_with_a_fault_is_named(tmp_path, content, message):
    (tmp_path / "en.json").write_text(content)
    with pytest.raises(ValueError, match=message):
        read_catalogue(tmp_path / "en.json")
