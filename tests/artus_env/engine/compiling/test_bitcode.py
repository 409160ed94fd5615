"""Where Numba is another version, or lacks a name that isn't public, everything works with plain Numba."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import artus_env
from artus_env.engine.compiling import jit

PROJECT = Path(artus_env.__file__).parents[1]
USE = """
import numpy as np
from artus_env.engine.compiling import jit
from artus_env.engine.contract import bits, rng
@jit.jit
def played(words):
    return bits.size(words) + rng.below(np.uint64(1 << 63), 10)
print(jit.bitcode is None, played(np.full(2, 7, np.uint64)))
"""
NAMES = jit.bitcode.NAMES + jit.bitcode.IMPORTED if jit.bitcode else ()
WITHOUT = """
import numba.core.caching, numba.core.codegen, numba.core.compiler, numba.core.serialize
owner, _, attribute = {name!r}.partition(".")
modules = [
    module for module in (numba.core.caching, numba.core.codegen, numba.core.compiler, numba.core.serialize)
    if hasattr(module, owner)
]
assert modules
had = getattr(modules[0], owner)
assert not attribute or hasattr(had, attribute)
for module in modules:
    delattr(module, owner)
    if attribute:
        setattr(module, owner, type(owner, (), {{}}))  # one that lacks it
from artus_env.engine.compiling import jit
for module in modules:
    setattr(module, owner, had)  # Numba needs it itself
"""

pytestmark = pytest.mark.skipif(not jit.bitcode, reason="plain Numba compiles, or none")


def use(before: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", before + USE], cwd=PROJECT, capture_output=True, text=True, timeout=300,
        env={**os.environ, **environment},
    )  # fmt: skip


def test_the_name_of_a_variable_switches_to_plain_numba_without_a_word(tmp_path):
    done = use(ARTUS_PLAIN_NUMBA="1", NUMBA_CACHE_DIR=str(tmp_path))
    assert (done.stdout.split(), done.stderr) == (["True", "11"], "")
    assert not list(tmp_path.iterdir())
    assert use(ARTUS_PLAIN_NUMBA="0").stdout.split() == ["False", "11"]


@pytest.mark.parametrize("name", NAMES)
def test_without_a_name_plain_numba_compiles_and_one_line_says_so(name):
    done = use(WITHOUT.format(name=name))
    assert done.stdout.split() == ["True", "11"], done.stderr
    assert re.fullmatch(r"artus_env: .*, so every process compiles the rules anew, with plain Numba\n", done.stderr)


def test_another_version_isnt_believed():
    done = use("import numba; numba.version_info = numba.version_info._replace(short=(9, 9))\n")
    assert done.stdout.split() == ["True", "11"], done.stderr
    assert "hasn't been tried" in done.stderr
    assert done.stderr.count("\n") == 1


def test_one_room_alone_knows_numba():
    pattern = re.compile(r"import (numba|llvmlite)|from (numba|llvmlite)")
    for folder in ("artus_env", "agents", "training"):
        for path in (PROJECT / folder).rglob("*.py"):
            if pattern.search(path.read_text()):
                assert path.parent.name == "compiling", path


LANDING = """
from artus_env.games.artus.rules import landing
assert landing(3, 4) == 7
landing.inspect_types()
"""


def test_numba_shows_what_it_has_compiled(tmp_path):
    def run(**environment):
        done = subprocess.run(
            [sys.executable, "-c", LANDING], cwd=PROJECT, capture_output=True, text=True, timeout=300,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), **environment},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    types = run()
    assert "landing (int64, int64)" in types
    assert "# --- LINE" in types
    assert run() == types, "from disk"
    assert "$const" in run(NUMBA_DUMP_IR="1", NUMBA_CACHE_DIR=str(tmp_path / "other"))[len(types) :]
