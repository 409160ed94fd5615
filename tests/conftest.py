"""Set-up for all tests: installs a game by a stranger, and opens windows in memory only. The wheel is built once.

`make test` runs tests in several processes. Compiling takes most of the time, so tests that compile the same code run
in one process.
"""

import os
import sys
import tempfile
from contextlib import chdir
from functools import cache
from pathlib import Path

import pytest

from installed import Environment, build_wheel

HERE = Path(__file__).parent
STRANGER = str(HERE / "stranger")
"""A folder as `pip install` would fill it: the module of a game and the file that names its entry point."""

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
# The user's games and settings (of matplotlib, say) stay out of the tests. Compiled code is kept where it always is.
EMPTY = tempfile.TemporaryDirectory(prefix="artus-tests-")
os.environ["XDG_DATA_HOME"] = os.environ["XDG_CONFIG_HOME"] = EMPTY.name
sys.path.insert(0, STRANGER)
os.environ["PYTHONPATH"] = os.pathsep.join([STRANGER, *filter(None, [os.environ.get("PYTHONPATH")])])
os.environ.pop("COLUMNS", None)  # which workers of pytest-xdist have
# Loops that share work among threads would wait for other tests, and be compiled for each game; tests of them ask for
# threads.
os.environ.setdefault("OMP_NUM_THREADS", "1")

CONTRACT = HERE / "contract"
ALONE = ("test_notebooks.py", "test_play_browser.py")
"""Files whose tests take long and have nothing in common."""
LONG = (*ALONE, "test_cluster.py", "test_site.py", "test_reports.py", "test_cache.py", "test_play.py", "test_access.py")
"""Files that take long: they begin before others, so that no process is left with one of them in the end."""
MARKED = {
    HERE / path: mark
    for path, mark in {
        "training/play/browser": "browser",
        "training/workers/test_cluster.py": "cluster",
        "training/workers/test_units.py": "slow",
        "docs/test_notebooks.py": "docs",
        "docs/test_site.py": "docs",
        "artus_env/engine/compiling/test_bitcode.py": "slow",
        "artus_env/engine/play/test_interrupts.py": "slow",
        "contract/test_planted_faults.py": "slow",
        "contract/test_processes.py": "slow",
        "install": "slow",
        "test_fuzz.py": "slow",
        "training/learn/test_ranks.py": "slow",
        "training/new_game": "slow",
        "training/play/test_play_load.py": "slow",
        "training/test_foreign_files.py": "slow",
    }.items()
}
"""What `make test` leaves out as a whole: folders and files with their marks. Single tests have theirs in place."""


def mark_of(path):
    """The mark of a whole file or folder, if it has one."""
    return next((MARKED[part] for part in (path, *path.parents) if part in MARKED), None)


def pytest_ignore_collect(collection_path, config):
    """Import no file whose tests are all left out: `-m "not slow and not browser"`, say."""
    return f"not {mark_of(collection_path)}" in config.option.markexpr.split(" and ") or None


@pytest.hookimpl(tryfirst=True)  # pytest and pytest-xdist read marks and groups in the same hook
def pytest_collection_modifyitems(items):
    """Mark tests, say which of them belong together, and sort them: first those that compile, last the browser's."""
    for item in items:
        if mark := mark_of(item.path):
            item.add_marker(mark)
        if item.path.name not in ALONE:
            item.add_marker(pytest.mark.xdist_group(group_of(item)))
    items.sort(
        key=lambda item: (mark_of(item.path) == "browser", item.path.parent != CONTRACT, item.path.name not in LONG)
    )


def group_of(item):
    """The game of a test that every game has to pass; `wheel` if it needs that; else its file."""
    if item.path.parent == CONTRACT and hasattr(item, "callspec"):
        from every_game import GAMES

        for value in item.callspec.params.values():
            name = str(value).partition("-")[0]
            if name in GAMES:
                return name
    return "wheel" if "wheel" in item.fixturenames else item.nodeid.partition("::")[0]


@pytest.fixture(scope="session", autouse=True)
def empty_folder_of_fixtures(tmp_path_factory):
    """The current folder of fixtures that several tests share, so that none of them sees the user's files."""
    with chdir(tmp_path_factory.mktemp("shared")):
        yield


@pytest.fixture(autouse=True)
def empty_folder(empty_folder_of_fixtures, tmp_path_factory, monkeypatch):
    """The current folder of each test: a new, empty one."""
    monkeypatch.chdir(tempfile.mkdtemp(dir=tmp_path_factory.getbasetemp()))


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def environment_with(wheel, tmp_path_factory):
    """A function that makes the environment with one extra ("": none), once."""
    return cache(lambda extra: Environment(tmp_path_factory.mktemp("environment"), wheel, extra))
