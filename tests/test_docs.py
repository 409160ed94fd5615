"""The documents say what the code does: tables are generated, examples run, links lead somewhere."""

import re
from pathlib import Path

import pytest

from artus_env.games.artus import tables
from artus_training.cli import COMMANDS

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
README = (ROOT / "README.md").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_tables_are_up_to_date(page):
    text = page.read_text()
    assert tables.fill(text) == text, "run make docs"


def test_every_table_is_shown_somewhere():
    shown = {name for page in PAGES for name in re.findall(r"<!-- table: (\S+) -->", page.read_text())}
    assert shown == set(tables.TABLES)


def test_an_unknown_table_is_named():
    with pytest.raises(ValueError, match="there is no table 'crds'"):
        tables.fill("<!-- table: crds -->\n<!-- end -->")


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


def test_commands_of_the_readme_exist():
    named = set(re.findall(r"^artus ([a-z0-9-]+)", README, re.MULTILINE))
    assert named == set(COMMANDS) - {"train-all"}, "every command is in the README (train-all as make train)"
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"^make ([a-z]+)", README, re.MULTILINE)) <= targets
