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
REMOVE_NAME = """
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


def run_with(before: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", before + USE], cwd=PROJECT, capture_output=True, text=True, timeout=300,
        env={**os.environ, **environment},
    )  # fmt: skip


def test_the_name_of_a_variable_switches_to_plain_numba_without_a_word(tmp_path):
    process = run_with(ARTUS_PLAIN_NUMBA="1", NUMBA_CACHE_DIR=str(tmp_path))
    assert (process.stdout.split(), process.stderr) == (["True", "11"], "")
    assert not list(tmp_path.iterdir())
    assert run_with(ARTUS_PLAIN_NUMBA="0").stdout.split() == ["False", "11"]


@pytest.mark.parametrize("name", NAMES)
def test_without_a_name_plain_numba_compiles_and_one_line_says_so(name):
    process = run_with(REMOVE_NAME.format(name=name))
    assert process.stdout.split() == ["True", "11"], process.stderr
    assert re.fullmatch(r"artus_env: .*, so every process compiles the rules anew, with plain Numba\n", process.stderr)


def test_an_untested_version_of_numba_is_used_as_plain_numba():
    process = run_with("import numba; numba.version_info = numba.version_info._replace(short=(9, 9))\n")
    assert process.stdout.split() == ["True", "11"], process.stderr
    assert "hasn't been tried" in process.stderr
    assert process.stderr.count("\n") == 1


def test_only_the_folder_compiling_imports_numba():
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
        process = subprocess.run(
            [sys.executable, "-c", LANDING], cwd=PROJECT, capture_output=True, text=True, timeout=300,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), **environment},
        )  # fmt: skip
        assert process.returncode == 0, process.stderr
        return process.stdout

    types = run()
    assert "landing (int64, int64)" in types
    assert "# --- LINE" in types
    assert run() == types, "from disk"
    assert "$const" in run(NUMBA_DUMP_IR="1", NUMBA_CACHE_DIR=str(tmp_path / "other"))[len(types) :]
