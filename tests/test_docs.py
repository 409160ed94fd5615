"""The documents say what the code does: tables are generated, examples run, links lead somewhere."""

import re
from pathlib import Path

import pytest

from artus_env import DEFAULT_GAME
from artus_env.engine.documents import documents, fill
from artus_env.engine.games import find_game, game_modules
from artus_training.cli import COMMANDS

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
README = (ROOT / "README.md").read_text()
COMMAND_LINE = (ROOT / "docs" / "commands.md").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_tables_are_up_to_date(page):
    text = page.read_text()
    assert fill(text, find_game(DEFAULT_GAME)) == text, "run make docs"


def test_every_table_is_shown_somewhere():
    shown = {name for page in PAGES for name in re.findall(r"<!-- table: (\S+) -->", page.read_text())}
    own = [game for game, module in game_modules().items() if module.startswith("artus_env.") and game != DEFAULT_GAME]
    others = {f"{game}/{name}" for game in own for name in documents(find_game(game))}
    assert shown == set(documents(find_game(DEFAULT_GAME))) | others


def test_an_unknown_table_is_named():
    with pytest.raises(ValueError, match="there is no table 'crds'"):
        fill("<!-- table: crds -->\n<!-- end -->", find_game(DEFAULT_GAME))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


EXAMPLES = [
    (page.name, code) for page in PAGES for code in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
]


@pytest.mark.parametrize(("page", "code"), EXAMPLES, ids=[page for page, _ in EXAMPLES])
def test_examples_run(page, code):
    exec(compile(code, page, "exec"), {})


def test_what_examples_print_is_shown(capsys):
    shown = [
        (page.name, *found)
        for page in PAGES
        for found in re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", page.read_text(), re.DOTALL)
    ]
    assert "index.md" in [page for page, *_ in shown]
    for page, code, text in shown:
        exec(compile(code, page, "exec"), {})
        assert capsys.readouterr().out == text, page


def test_the_home_page_has_a_picture_the_two_commands_and_a_game_in_five_lines():
    page = (ROOT / "docs" / "index.md").read_text()
    before_links, _, _ = page.partition("| you want to")
    assert "](table.svg)" in before_links
    assert re.findall(r"^make ([a-z]+)", before_links, re.MULTILINE) == ["play", "train"]
    (code,) = re.findall(r"```python\n(.*?)```", before_links, re.DOTALL)
    assert len([line for line in code.splitlines() if line]) == 5


def test_every_command_is_described():
    named = set(re.findall(r"^artus ([a-z0-9-]+)", COMMAND_LINE, re.MULTILINE))
    assert named == set(COMMANDS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_exist(page):
    text = page.read_text()
    code = "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
    assert set(re.findall(r"^(?:\S*/)?artus ([a-z0-9-]+)", code, re.MULTILINE)) <= set(COMMANDS)
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"^make ([a-z]+)", code, re.MULTILINE)) <= targets


def test_the_readme_fits_on_two_screens():
    assert len(README.splitlines()) <= 120
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) == 4, "one example for each interface"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_line_is_too_long(page):
    """Generated tables aside."""
    written = re.sub(r"<!-- table: .*?<!-- end -->", "", page.read_text(), flags=re.DOTALL)
    assert not [line for line in written.splitlines() if len(line) > 120]
