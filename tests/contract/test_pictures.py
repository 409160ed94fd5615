"""Arguments that every picture accepts or refuses, and the pictures of a batch in a notebook."""

import pytest

from artus_env.testing.variants import Variant, variants_of
from every_game import GAMES
from svgs import parsed, texts

variants_with_pictures = pytest.mark.parametrize(
    "variant", [variants_of(game)[0] for game in GAMES if variants_of(game)[0].definition.picture], ids=str
)


@variants_with_pictures
def test_names_and_notes_are_text(variant: Variant):
    names = ["<script>alert('x')</script>", 'tab\tand\x00\ud800 & "quotes"']
    svg = variant.new_game(4).svg(names=names, note="<b>")
    assert "<script" not in svg
    svg_texts = texts(parsed(svg))
    assert any(text.startswith("<script>") for text in svg_texts)
    assert "<b>" in svg_texts


@variants_with_pictures
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"theme": "pink"}, "theme must be one of"),
        ({"layout": "long"}, "layout one of"),
        ({"names": ["a"]}, "names must name 2 players"),
        ({"player": 2}, r"player must be in 0\.\.1"),
    ],
    ids=["theme", "layout", "names", "player"],
)
def test_wrong_arguments_are_named(variant: Variant, arguments: dict, message: str):
    with pytest.raises(ValueError, match=message):
        variant.new_game(0).svg(**arguments)


@variants_with_pictures
def test_a_batch_shows_pictures_in_a_notebook(variant: Variant):
    html = variant.new_batch(20)._repr_html_()
    assert html.count("<svg") == 12
    assert "8 more games" in html
