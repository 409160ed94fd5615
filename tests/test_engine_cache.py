"""Compiled code is kept between processes, but never longer than the sources that it came from."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numba
import pytest

import artus_env
from artus_env.engine import jit

compiled_only = pytest.mark.skipif(jit.DISABLED, reason="nothing is compiled")

RUN_TWO_LOOPS = """
import numpy as np
import artus_env
from artus_env.artus import actions, kernels, state
assert artus_env.__file__.startswith({folder!r}), artus_env.__file__
states = np.zeros(1, state.STATE)
states["phase"] = 3  # over
nothing_legal = np.zeros((1, actions.MASK_WORDS), np.uint64)
print(kernels.describe(actions.build_tables(), states, 3)[1])  # a knight placed 3 behind the King, who is on seat 0
print(kernels.first_illegal(states, nothing_legal, np.array([17]), 339))  # finished games take any action
"""
"""Small loops, quickly compiled; the first calls rules of another file, the second has a number of another file in it."""


def run_python(code: str, folder: Path, **environment: str) -> list[str]:
    """Lines that a new process prints, with the package found in `folder` and nothing said about caches but `environment`."""
    kept = {key: value for key, value in os.environ.items() if key not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    environment = {**kept, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def replace_once(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def files_below(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


@compiled_only
def test_an_edited_rule_shows_in_the_next_process(tmp_path):
    """Numba alone would miss both edits: they are in other files than the loops that are looked up in the cache."""
    folder, cache = tmp_path / "project", tmp_path / "cache"
    shutil.copytree(Path(artus_env.__file__).parent, folder / "artus_env", ignore=shutil.ignore_patterns("__pycache__"))

    def run():
        return run_python(RUN_TWO_LOOPS.format(folder=str(folder)), folder, XDG_CACHE_HOME=str(cache))

    assert run() == ["25", "-1"]
    compiled = files_below(cache / "artus_env")
    assert any(name.endswith(".nbc") for name in compiled)

    assert run() == ["25", "-1"]
    assert files_below(cache / "artus_env") == compiled, "the second process compiled again"

    rules, state = folder / "artus_env/artus/rules.py", folder / "artus_env/artus/state.py"
    replace_once(rules, "    seat = origin + steps\n", "    seat = origin + steps + 1\n")
    assert run() == ["26", "-1"]

    replace_once(state, "PLAY_PHASE, DRAW_PHASE, OVER = range(4)", "PLAY_PHASE, DRAW_PHASE, OVER = 0, 1, 2, 9")
    assert run() == ["26", "0"]


LITTLE_USE = """
import numpy as np
from artus_env.engine import jit, rng
print(jit.cache_folder("artus_env"), rng.below(np.uint64(1 << 63), 10))
"""


@compiled_only
@pytest.mark.parametrize(
    "environment",
    [
        {"HOME": "/dev/null"},
        {"XDG_CACHE_HOME": "/dev/null/cache"},
        {"NUMBA_CACHE_DIR": "/dev/null/cache"},
    ],
    ids=lambda environment: " ".join(f"{key}={value}" for key, value in environment.items()),
)
def test_without_a_writable_folder_nothing_is_kept_and_all_works(environment):
    assert run_python(LITTLE_USE, Path(artus_env.__file__).parents[1], **environment) == ["None", "5"]


def test_without_a_home_nothing_is_kept(monkeypatch):
    """Containers run under user numbers that nobody has a name or a home for."""

    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(jit.config, "CACHE_DIR", "")
    monkeypatch.setattr(jit.Path, "home", no_home)
    assert jit.cache_folder.__wrapped__("artus_env") is None


def test_where_the_cache_is(monkeypatch, tmp_path):
    """`NUMBA_CACHE_DIR` first, as for all users of Numba, then the user's cache folder."""
    monkeypatch.setattr(jit.config, "CACHE_DIR", str(tmp_path))
    assert jit.cache_root() == tmp_path
    monkeypatch.setattr(jit.config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "/some/cache")
    assert jit.cache_root() == Path("/some/cache/artus_env")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert jit.cache_root() == Path("/home/somebody/.cache/artus_env")


def test_other_users_of_numba_keep_their_cache():
    """The package's folder is set only while its own functions are declared."""
    assert os.environ.get("NUMBA_CACHE_DIR", "") == numba.config.CACHE_DIR


def test_another_packages_compiled_code_depends_on_the_rules_and_on_itself(monkeypatch, tmp_path):
    """Agents inline the rules into loops of their own: an edit on either side must mean a new folder."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for package in (ours, theirs):
        (package / "deep").mkdir(parents=True)
        (package / "deep" / "module.py").write_text("ONE = 1")
    agents = ModuleType("agents")
    agents.__path__ = [str(theirs)]
    monkeypatch.setitem(sys.modules, "agents", agents)
    monkeypatch.setattr(jit.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(jit, "PACKAGE", ours)
    folder = jit.cache_folder.__wrapped__
    before = folder("agents")
    assert before.parent == tmp_path / "cache"
    assert before.is_dir()
    assert folder("agents") == before
    for package in (ours, theirs):
        (package / "deep" / "module.py").write_text("ONE = 2")
        assert folder("agents") != before
        (package / "deep" / "module.py").write_text("ONE = 1")
        assert folder("agents") == before
    (theirs / "other.py").touch()
    assert folder("agents") != before
