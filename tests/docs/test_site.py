"""The documentation site: builds without a warning, leaves nothing public out, and links lead somewhere."""

import fcntl
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
from bs4 import BeautifulSoup

import artus_env
from artus_env.games.artus.components import RECONSTRUCTED

ROOT = Path(__file__).parents[2]
BUILD = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", "-b", "html", "docs"]
# Leave functions out of the contents: copying them into every menu and removing them takes 40 % of the time.
BUILD += ["-D", "toc_object_entries=0"]


class Site:
    """A built site: its folder, and every page by its path, but for the listings of sources."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        paths = [path.relative_to(folder).as_posix() for path in folder.rglob("*.html")]
        self.pages = {
            path: BeautifulSoup((folder / path).read_text(), "html.parser")
            for path in paths
            if not path.startswith("_modules")
        }
        self.ids = {path: {tag["id"] for tag in page.find_all(id=True)} for path, page in self.pages.items()}


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Site:
    """The site as `make docs` builds it, but for functions in the contents of pages; once, however many test."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    with (shared / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "site" / "objects.inv").exists():
            build = subprocess.run([*BUILD, shared / "site"], cwd=ROOT, capture_output=True, text=True)
            assert build.returncode == 0, build.stderr
    return Site(shared / "site")


def words(tag) -> str:
    return " ".join(tag.get_text().split())


@pytest.mark.parametrize("page", sorted(path.stem for path in ROOT.glob("docs/*.md") if path.stem != "index"))
def test_every_page_can_be_reached_from_every_other(site, page):
    menu = {link["href"] for link in site.pages["index.html"].select(".sidebar-tree a")}
    assert f"{page}.html" in menu


def test_the_reference_has_every_public_name(site):
    described = site.ids["reference/artus_env.html"]
    names = {f"artus_env.{name}" for name in artus_env.__all__}
    for thing in (artus_env.Game, artus_env.Batch, artus_env.Components):
        members = {name for name, _ in inspect.getmembers(thing) if not name.startswith("_")}
        names |= {f"artus_env.{thing.__name__}.{name}" for name in members - {"definition"}}
    assert names <= described, sorted(names - described)


@pytest.mark.parametrize("folder", ["artus_env", "agents/artus_agents", "training/artus_training"])
def test_the_reference_has_every_module(site, folder):
    top = (ROOT / folder).parent
    for path in (ROOT / folder).rglob("*.py"):
        name = ".".join(path.relative_to(top).with_suffix("").parts).removesuffix(".__init__")
        if path.name != "__main__.py" and "template" not in path.parts:
            assert f"module-{name}" in site.ids[f"reference/{name}.html"]


def test_links_lead_somewhere(site):
    dead = []
    for path, page in site.pages.items():
        targets = {tag["href"] for tag in page.find_all("a", href=True)} | {
            tag["src"] for tag in page.find_all("img", src=True)
        }
        for target in targets:
            file, _, anchor = unquote(target).partition("#")
            if "://" in target or target.startswith("data:"):
                continue
            file_path = (site.folder / path).parent / file if file else site.folder / path
            page_path = file_path.resolve().relative_to(site.folder.resolve()).as_posix()
            if not file_path.is_file() or (anchor and anchor not in site.ids.get(page_path, {anchor})):
                dead.append(f"{path}: {target}")
    assert not dead


@pytest.mark.parametrize("path", sorted(ROOT.glob("notebooks/*.ipynb")), ids=lambda path: path.stem)
def test_tables_that_notebooks_print_are_tables(site, path):
    """Every one of them, in its order, and no line of a table stands somewhere as text."""
    cells = json.loads(path.read_text())["cells"]
    printed = [
        "".join(output.get("data", {}).get("text/markdown", "")) for cell in cells for output in cell.get("outputs", ())
    ]
    heads = [text.partition("\n")[0] for text in printed if text.startswith("| ")]
    page = site.pages[f"notebooks/{path.stem}.html"]
    shown_heads = [[words(cell) for cell in table.select("thead th")] for table in page.select("div.cell_output table")]
    assert shown_heads == [[cell.strip() for cell in head.strip("| ").split("|")] for head in heads]
    assert not [words(tag) for tag in page.select("article p, article li") if words(tag).startswith("| ")]


def test_the_rules_say_what_is_reconstructed(site):
    section = words(site.pages["artus.html"].find(id="what-is-reconstructed"))
    assert all(fact.replace("`", "") in section for fact in RECONSTRUCTED)
    rows = [words(row) for row in site.pages["artus.html"].select("#sources tr")]
    assert sum(row.endswith("reconstructed") for row in rows) == len(RECONSTRUCTED)


def test_code_that_names_something_links_to_it(site):
    links = {words(link): link["href"] for link in site.pages["agents.html"].select("article a")}
    assert links["View"] == "reference/artus_env.agents.html#artus_env.agents.View"
    assert links["artus_agents.simple.GreedyAgent"].endswith("#artus_agents.simple.GreedyAgent")
