"""Compiled code is kept between processes, but never longer than the sources that it came from."""

import importlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numba
import pytest

import artus_env
from artus_env.engine.compiling import cache, jit, sources

compiled_only = pytest.mark.skipif(not jit.bitcode, reason="nothing is compiled, or nothing kept")

RUN_TWO_LOOPS = """
import numpy as np
import artus_env
from artus_env.engine.play import kernels
from artus_env.engine.contract import rng
from artus_env.games.artus.definition import ARTUS
assert artus_env.__file__.startswith({folder!r}), artus_env.__file__
states = np.zeros(1, ARTUS.state_dtype)
states["phase"] = 3  # over
print(kernels.over_one(ARTUS.build_tables(ARTUS.standard), states), rng.below(np.uint64(1 << 63), 10))
"""
"""Two small functions, which compile quickly. The first is the engine's and calls a rule of the game, into which a
constant from a third file is compiled."""

FOLDERS_OF_ALL_MODULES = """
import sys
import artus_env
from artus_env.engine.compiling import cache
from artus_env.games.artus.definition import ARTUS
for name in sorted(name for name in sys.modules if name.startswith("artus_env.")):
    functions = [value for value in vars(sys.modules[name]).values() if hasattr(value, "py_func")]
    if any(function.__module__ == name for function in functions):
        print(name, cache.cache_folder(name).name, cache.cache_folder(name, ARTUS.verbs[0].__name__).name)
"""


PROJECT = Path(artus_env.__file__).parents[1]
LIBRARIES = os.pathsep.join(str(PROJECT / part) for part in ("", "agents", "training"))


def start_python(code: str, folder: Path = PROJECT, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in a new process that imports the package from `folder`; only `environment` sets folders of caches."""
    inherited = {key: value for key, value in os.environ.items() if key not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    environment = {**inherited, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def run_python(code: str, folder: Path = PROJECT, **environment: str) -> list[str]:
    """The words that a new process prints; it must succeed and print nothing on stderr."""
    process = start_python(code, folder, **environment)
    assert (process.returncode, process.stderr) == (0, "")
    return process.stdout.split()


def compiled_files(cache: Path) -> list[Path]:
    return sorted(cache.rglob("*.nbc"))


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

    assert run() == ["True", "5"]
    compiled = files_below(cache / "artus_env")
    assert any(name.endswith(".nbc") for name in compiled)

    assert run() == ["True", "5"]
    assert files_below(cache / "artus_env") == compiled, "the second process compiled again"

    rules, state = folder / "artus_env/games/artus/rules.py", folder / "artus_env/games/artus/state.py"
    replace_once(rules, 'return int(g["phase"]) == OVER', 'return int(g["phase"]) == OVER - 1')
    assert run() == ["False", "5"]

    replace_once(state, "PLAY_PHASE, DRAW_PHASE, OVER = range(4)", "PLAY_PHASE, DRAW_PHASE, OVER = 0, 1, 2, 4")
    assert run() == ["True", "5"]


@pytest.mark.slow
@compiled_only
def test_an_edited_docstring_comment_picture_or_text_compiles_nothing_anew(tmp_path):
    """Compiled code doesn't depend on comments and docstrings, nor on modules that are never compiled."""
    folder, cache = tmp_path / "project", tmp_path / "cache"
    package = folder / "artus_env"
    shutil.copytree(Path(artus_env.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    loops = RUN_TWO_LOOPS.format(folder=str(folder))
    assert run_python(loops, folder, XDG_CACHE_HOME=str(cache)) == ["True", "5"]
    before = run_python(FOLDERS_OF_ALL_MODULES, folder, XDG_CACHE_HOME=str(cache))
    files = files_below(cache)
    assert {"artus_env.engine.play.kernels", "artus_env.games.artus.rules"} <= set(before)

    replace_once(package / "games/artus/rules.py", "Whether all hands are played.", "Whether nobody has a card left.")
    replace_once(package / "engine/play/kernels.py", "Whether the game has ended.", "Whether it is over.")
    for path in ("engine/contract/rng.py", "engine/contract/bits.py", "games/artus/state.py"):
        (package / path).write_text(f"# A note.\n\n{(package / path).read_text()}")
    for path in (
        "games/artus/page/picture.py",
        "games/artus/terminal.py",
        "games/artus/position.py",
        "engine/drawing/text_picture.py",
    ):
        (package / path).write_text(f"{(package / path).read_text()}\n\ndef more():\n    return 1\n")
    assert run_python(FOLDERS_OF_ALL_MODULES, folder, XDG_CACHE_HOME=str(cache)) == before
    assert run_python(loops, folder, XDG_CACHE_HOME=str(cache)) == ["True", "5"]
    assert files_below(cache) == files


LITTLE_USE = """
import numpy as np
from artus_env.engine.compiling import cache
from artus_env.engine.contract import rng
print(cache.cache_folder("artus_env.engine.contract.rng"), rng.below(np.uint64(1 << 63), 10))
"""


@pytest.mark.slow
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
def test_without_a_folder_nothing_is_kept_and_all_works(environment):
    process = start_python(LITTLE_USE, **environment)
    assert process.stdout.split() == ["None", "5"]
    assert process.stderr.count("RuntimeWarning: compiled code can't be kept") == 1


def test_without_a_home_nothing_is_kept(monkeypatch):
    """Containers run under user ids without a name or a home folder."""

    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(cache.config, "CACHE_DIR", "")
    monkeypatch.setattr(cache.Path, "home", no_home)
    monkeypatch.setattr(cache, "_warned", False)
    with pytest.warns(
        RuntimeWarning, match="can't be kept in the user's cache folder .Could not determine home directory"
    ):
        assert cache.cache_folder.__wrapped__("artus_env.engine.contract.rng") is None


def test_where_the_cache_is(monkeypatch, tmp_path):
    """`NUMBA_CACHE_DIR` comes first, as for all users of Numba, then the user's cache folder; compiled code lies in the
    folder `artus_env` below it."""
    monkeypatch.setattr(cache.config, "CACHE_DIR", str(tmp_path))
    assert cache.cache_root() == tmp_path / "artus_env"
    monkeypatch.setattr(cache.config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "/some/cache")
    assert cache.cache_root() == Path("/some/cache/artus_env")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert cache.cache_root() == Path("/home/somebody/.cache/artus_env")


def test_other_users_of_numba_keep_their_cache():
    """Importing the package doesn't change the cache folder of other code that uses Numba."""
    assert os.environ.get("NUMBA_CACHE_DIR", "") == numba.config.CACHE_DIR


def test_another_packages_compiled_code_depends_on_the_rules_and_on_itself(monkeypatch, tmp_path):
    """Agents inline the rules into loops of their own: an edit of anything that is imported there must mean a new
    folder, and an edit of anything else mustn't."""
    modules = {
        "ours/__init__.py": "",
        "ours/rules.py": "ONE = 1",
        "theirs/__init__.py": "",
        "theirs/deep/__init__.py": "",
        "theirs/deep/numbers.py": "ONE = 1",
        "theirs/loops.py": "from ours import rules\nfrom .deep import numbers\nfrom . import near\n",
        "theirs/near.py": "from .deep.far import ONE\n",
        "theirs/deep/far.py": "from ..beside import ONE\n",
        "theirs/beside.py": "ONE = 1",
        "theirs/other.py": "ONE = 1",
        "foreign.py": "ONE = 1",
    }
    for name, text in modules.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f'"""What it is."""\n{text}')
    for package in ("ours", "theirs", "theirs.deep"):
        monkeypatch.delitem(sys.modules, package, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(sources, "OWN_PACKAGE", "ours")
    monkeypatch.setattr(sources, "_BEGUN", time.time() + 3600)  # as if each edit came before the process

    def code_hash() -> str:
        sources.content.cache_clear()
        return sources.code_hash.__wrapped__("theirs.loops")

    before = code_hash()
    for name in modules:
        (tmp_path / name).write_text(f'"""What it is."""\n{modules[name]}\nTWO = 2\n')
        imported = name not in ("theirs/other.py", "foreign.py")
        if (tmp_path / name).name != "__init__.py":
            assert (code_hash() != before) == imported, name
        (tmp_path / name).write_text(f'"""Explained."""\n# noted\n{modules[name]}')
        assert code_hash() == before, name
        (tmp_path / name).write_text(f'"""What it is."""\n{modules[name]}')


GAME = {
    "__init__.py": "",
    "rules.py": """
from artus_env.engine.compiling.jit import jit

@jit
def points(n):
    return n + 1
""",
    "loops.py": """
from artus_env.engine.compiling.jit import jit
from .rules import points

@jit
def play(n):
    return points(n)
""",
}
"""A package of somebody's own, with relative imports."""
MORE, LESS = "return n + 100", "return n + 1\n"


def play(folder: Path, edit: str = "pass", **environment: str) -> list[str]:
    """Result of a compiled loop of `GAME`, and of the rule as plain Python, in a new process that may edit the rule
    after importing it."""
    return run_in(folder, f"import game.loops as of; {edit}; print(of.play(0), of.points.py_func(0))", **environment)


def run_in(folder: Path, code: str, **environment: str) -> list[str]:
    """`run_python` with the modules in a folder, and with the cache in that folder."""
    paths = f"{folder}{os.pathsep}{PROJECT}"
    return run_python(code, folder, PYTHONPATH=paths, NUMBA_CACHE_DIR=str(folder / "cache"), **environment)


@pytest.fixture
def game(tmp_path):
    """A folder that contains the package `GAME`."""
    (tmp_path / "game").mkdir()
    for name, text in GAME.items():
        (tmp_path / "game" / name).write_text(text)
    return tmp_path


@compiled_only
def test_an_edited_rule_of_a_game_with_relative_imports_shows_in_the_next_process(game):
    assert play(game) == ["1", "1"]
    replace_once(game / "game/rules.py", LESS, MORE)
    assert play(game) == ["100", "100"]


@pytest.mark.slow
@compiled_only
def test_a_rule_that_is_edited_while_a_process_runs_is_not_taken_for_the_one_that_runs(game):
    """The process may have imported the rule before the edit or after it. So its compiled code isn't saved, and no
    saved code is used."""
    edit = "import pathlib; file = pathlib.Path(of.__file__).with_name('rules.py'); file.write_text({!r})"
    edited_rules = GAME["rules.py"].replace(LESS, MORE)
    assert play(game, edit.format(edited_rules)) == ["1", "1"]
    assert not compiled_files(game / "cache")
    assert play(game) == ["100", "100"]
    assert play(game, edit.format(GAME["rules.py"])) == ["100", "100"]
    assert play(game) == ["1", "1"]


@pytest.mark.slow
@compiled_only
def test_a_script_is_compiled_each_time(tmp_path):
    """The running code of a script isn't known, also if the script is run as a module."""
    run_as = "import runpy; runpy.run_{}({!r}, run_name='__main__')"
    script = tmp_path / "script.py"
    for number in ("1", "100"):
        script.write_text(GAME["rules.py"].replace("n + 1", f"n + {number}") + "print(points(0))")
        for code in (run_as.format("path", str(script)), run_as.format("module", "script")):
            assert run_in(tmp_path, code) == [number]
    assert not compiled_files(tmp_path)


@pytest.mark.slow
@compiled_only
def test_what_numba_is_told_of_how_to_compile_is_part_of_the_code(game):
    """A run with bounds checks neither uses nor replaces the code of runs without them."""
    assert play(game) == ["1", "1"]
    num_files = len(compiled_files(game / "cache"))
    assert play(game, NUMBA_BOUNDSCHECK="1") == ["1", "1"]
    assert len(compiled_files(game / "cache")) == 2 * num_files
    assert play(game, NUMBA_NUM_THREADS="1") == ["1", "1"]
    assert len(compiled_files(game / "cache")) == 2 * num_files


DATA = {
    "__init__.py": "",
    "foreign.py": "FACTOR = 1\n",
    "other.py": "import os\nOFFSET = int(os.environ.get('OFFSET', '0'))\n",
    "rules.py": """
import json, pathlib
from enum import IntEnum
import numpy as np
from artus_env.engine.compiling.jit import jit
import foreign
from . import other

BOX = json.loads(pathlib.Path(__file__).with_name("cards.json").read_text())
HAND = BOX["hand"]
TABLE = np.array(BOX["table"])
PAIR = (tuple(BOX["table"]), 0)
Seat = IntEnum("Seat", {"FIRST": BOX["hand"]})

@jit
def points(x, more=HAND):
    return x + HAND + 10 * TABLE[0] + 100 * PAIR[0][0] + 1000 * Seat.FIRST + 10000 * more
""",
    "loops.py": """
from artus_env.engine.compiling.jit import jit
from .rules import points, foreign, other

@jit
def play(x):
    return (points(x) + other.OFFSET) * foreign.FACTOR
""",
    "cards.json": '{"hand": 1, "table": [1]}',
}
"""A package whose rules have constants that come from a file, the environment and another package."""
POINTS = 11111


@pytest.mark.slow
@compiled_only
def test_values_from_elsewhere_that_have_changed_show_in_the_next_process(tmp_path):
    """The values are compiled in although no source file of the package contains them; compiled code and plain Python
    agree."""
    (tmp_path / "game").mkdir()
    for name, text in DATA.items():
        (tmp_path / ("" if name == "foreign.py" else "game") / name).write_text(text)

    def played(**environment):
        code = (
            "import game.loops as of; print(of.play(0), (of.points.py_func(0) + of.other.OFFSET) * of.foreign.FACTOR)"
        )
        compiled, plain = run_in(tmp_path, code, **environment)
        assert compiled == plain
        return int(compiled)

    assert played() == POINTS
    files = compiled_files(tmp_path)
    assert played() == POINTS
    assert compiled_files(tmp_path) == files, "the second process compiled again"
    assert played(OFFSET="5") == POINTS + 5
    (tmp_path / "game/cards.json").write_text('{"hand": 2, "table": [1]}')
    assert played() == POINTS + 1 + 1000 + 10000
    (tmp_path / "game/cards.json").write_text('{"hand": 2, "table": [3]}')
    assert played() == POINTS + 1 + 1000 + 10000 + 20 + 200
    (tmp_path / "foreign.py").write_text("FACTOR = 2\n")
    assert played() == 2 * (POINTS + 1 + 1000 + 10000 + 20 + 200)


def test_modules_that_import_each_other_have_values_to_hash(monkeypatch, tmp_path):
    (tmp_path / "one.py").write_text("import other\nNUMBER = 1\ndef f(x):\n    return one.NUMBER + other.one.NUMBER\n")
    (tmp_path / "other.py").write_text("import one, other\n")
    monkeypatch.syspath_prepend(tmp_path)
    one = importlib.import_module("one")
    one.one = one
    try:
        before = sources.values_hash(one.f)
        monkeypatch.setattr(one, "NUMBER", 2)
        assert sources.values_hash(one.f) != before
    finally:
        del sys.modules["one"], sys.modules["other"]


EXTRA = """
from artus_env.engine.compiling.jit import jit
SCALE = 10.0

@jit
def margin_scale(t, g):
    return SCALE
"""
PLAY_WITH_EXTRA = """
from dataclasses import replace
import extra
from magpies import MAGPIES
from artus_env import Batch
from artus_env.engine.compiling.dispatch import functions_of
game = replace(MAGPIES, verbs=(extra, *MAGPIES.verbs))
batch = Batch(1, seed=3, reward="margin", game=game, threads=1)
total = 0
while True:
    reward, done = batch.step(batch.mask.argmax(axis=1))
    if done[0]: break
print(abs(reward[0]).max(), game.rules_hash)
"""


@pytest.mark.slow
@compiled_only
@pytest.mark.parametrize("place", ["first", "last"])
def test_an_edited_verb_of_a_second_module_shows_in_the_next_process(tmp_path, place):
    """Also if the edited module isn't the first one with verbs, and no other module imports it."""
    code = PLAY_WITH_EXTRA
    if place == "last":
        verbs = "(SimpleNamespace(**{k: v for k, v in vars(MAGPIES.verbs[0]).items() if k != 'margin_scale'}), extra)"
        code = "from types import SimpleNamespace\n" + code.replace("(extra, *MAGPIES.verbs)", verbs)
    (tmp_path / "extra.py").write_text(EXTRA)
    paths = os.pathsep.join([str(tmp_path), str(PROJECT), str(PROJECT / "tests/stranger")])

    def run():
        return run_python(code, tmp_path, PYTHONPATH=paths, NUMBA_CACHE_DIR=str(tmp_path / "cache"))

    before, hash_before = run()
    assert run() == [before, hash_before]
    replace_once(tmp_path / "extra.py", "SCALE = 10.0", "SCALE = 20.0")
    after, hash_after = run()
    assert float(after) == pytest.approx(float(before) / 2)
    assert hash_after != hash_before


@pytest.mark.slow
@compiled_only
def test_sources_with_a_time_in_the_future_are_compiled_once(game):
    """The clock was set back after the files were written: that is no edit."""
    for path in (game / "game").iterdir():
        os.utime(path, (time.time() + 3600,) * 2)
    assert play(game) == ["1", "1"]
    files = files_below(game / "cache")
    assert files
    assert play(game) == ["1", "1"]
    assert files_below(game / "cache") == files
    hashes = "from artus_env.engine.compiling.sources import code_hash; print(code_hash('game.rules'))"
    code_hash = run_in(game, hashes)
    for path in (game / "game").iterdir():
        os.utime(path, (time.time() - 3600,) * 2)
    assert run_in(game, hashes) == code_hash != ["None"], "a tournament goes on when the clock is right again"


SMALL_LOOPS = RUN_TWO_LOOPS.format(folder=str(PROJECT))


@pytest.fixture(scope="module")
def filled_cache(tmp_path_factory):
    """A cache with the compiled code of `SMALL_LOOPS`."""
    cache = tmp_path_factory.mktemp("filled")
    assert run_python(SMALL_LOOPS, NUMBA_CACHE_DIR=str(cache)) == ["True", "5"]
    assert len(compiled_files(cache)) >= 2
    return cache


def flip_a_bit(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.slow
@compiled_only
@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:10],
        lambda content: content[:-1],
        lambda content: content[: len(content) // 2],
        flip_a_bit,
        lambda content: b"no compiled code",
    ],
    ids=["empty", "start", "without the end", "half", "one bit", "another file"],
)
def test_damaged_compiled_code_is_compiled_again(damage, filled_cache, tmp_path):
    """Half a file used to end every program in EOFError or UnpicklingError until the folder was deleted by hand."""
    cache = tmp_path / "cache"
    shutil.copytree(filled_cache, cache)
    intact_sizes = [path.stat().st_size for path in compiled_files(cache)]
    for path in compiled_files(cache):
        path.write_bytes(damage(path.read_bytes()))
    damaged_times = [path.stat().st_mtime_ns for path in compiled_files(cache)]

    assert run_python(SMALL_LOOPS, NUMBA_CACHE_DIR=str(cache)) == ["True", "5"]
    assert [path.stat().st_mtime_ns for path in compiled_files(cache)] != damaged_times
    files = files_below(cache)
    assert [path.stat().st_size for path in compiled_files(cache)] == pytest.approx(intact_sizes, rel=0.1)
    assert run_python(SMALL_LOOPS, NUMBA_CACHE_DIR=str(cache)) == ["True", "5"]
    assert files_below(cache) == files, "the process after compiled again"


OTHER_BITCODE = """
from artus_env.engine.compiling import bitcode
def refuse(*_):
    raise RuntimeError("LLVM can't read this")
bitcode.llvm.parse_bitcode = refuse
"""


@pytest.mark.slow
@compiled_only
def test_what_another_llvm_has_written_is_compiled_again(game):
    assert play(game) == ["1", "1"]
    loops = game / "game/loops.py"
    loops.write_text(loops.read_text() + "\n@jit\ndef play_on(n):\n    return points(n)\n")
    assert run_in(game, OTHER_BITCODE + "import game.loops as of; print(of.play_on(0))") == ["1"]


@pytest.mark.slow
@compiled_only
def test_code_for_other_types_is_never_taken(filled_cache, tmp_path):
    """A file contains its key, so that its name alone doesn't decide."""
    cache = tmp_path / "cache"
    shutil.copytree(filled_cache, cache)
    files = compiled_files(cache)
    contents = [path.read_bytes() for path in files]
    for path, content in zip(files, contents[1:] + contents[:1], strict=True):
        path.write_bytes(content)
    assert run_python(SMALL_LOOPS, NUMBA_CACHE_DIR=str(cache)) == ["True", "5"]


FULL_DISK = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # as on a full disk, every write fails and files can still be made
"""


@pytest.mark.slow
@compiled_only
def test_on_a_full_disk_all_works_with_one_warning(filled_cache, tmp_path):
    resource = pytest.importorskip("resource")
    assert resource.RLIMIT_FSIZE
    process = start_python(FULL_DISK + SMALL_LOOPS, NUMBA_CACHE_DIR=str(tmp_path))
    assert (process.returncode, process.stdout.split()) == (0, ["True", "5"]), process.stderr
    assert process.stderr.count("Warning") == 1
    assert f"RuntimeWarning: compiled code can't be kept in {tmp_path}" in process.stderr
    assert "File too large" in process.stderr
    assert not any(path.is_file() for path in tmp_path.rglob("*"))
    assert run_python(FULL_DISK + SMALL_LOOPS, NUMBA_CACHE_DIR=str(filled_cache)) == ["True", "5"], (
        "what is there can be read"
    )


@compiled_only
def test_long_compiling_is_announced_once_and_only_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(jit, "ANNOUNCED_AFTER", 0)
    for terminal, announced in ((False, ""), (True, f"{jit.ANNOUNCEMENT}\n")):
        monkeypatch.setattr(jit, "_announced", False)
        monkeypatch.setattr(sys.stderr, "isatty", lambda terminal=terminal: terminal)
        for result in (1, 2):
            assert jit._compile(lambda result=result: result) == result
        assert capsys.readouterr().err == announced


COUNTS = """
import numba
from numba.core import event
counted = []
class Counting(event.Listener):
    def on_start(self, about): counted.append(about)
    def on_end(self, about): pass
event.register("numba:compile", Counting())
from artus_training.cli import main
main({arguments})
print("compiled", len(counted))
"""


@pytest.mark.slow
@compiled_only
@pytest.mark.parametrize(
    "arguments", [["rules"], ["rules", "--game", "quest"], ["games"], ["--help"], ["evaluate", "--help"]]
)
def test_commands_that_play_nothing_compile_nothing(tmp_path, arguments):
    printed = run_python(COUNTS.format(arguments=arguments), PYTHONPATH=LIBRARIES, NUMBA_CACHE_DIR=str(tmp_path))
    assert printed[-2:] == ["compiled", "0"]
    assert not compiled_files(tmp_path)


SNAPSHOTS = """
import os, sys
import numba, llvmlite.binding.ffi, numba.core.event
import numba.core.compiler, numba.core.typed_passes, numba.core.codegen, numba.core.caching, numba.core.callconv
import numba.core.dispatcher, numba.extending, numba.core.registry
{first}
numba.njit(lambda x: x + 1)(1)  # Numba sets itself up
def snapshot():
    seen = {{}}
    for name, module in sorted(sys.modules.items()):
        if name.partition(".")[0] in ("numba", "llvmlite", "torch") and module is not None:
            for key, value in vars(module).items():
                seen[name, key] = value
                if isinstance(value, type) and value.__module__ == name:
                    seen.update({{(name, key, each): part for each, part in vars(value).items()}})
    return seen
def listeners():
    ours = {{kind: list(each) for kind, each in numba.core.event._registered.items()}}
    return [list(llvmlite.binding.ffi.lib._lock._cblist), ours]
before, lists, environment = snapshot(), listeners(), dict(os.environ)
import artus_env, artus_agents
batch = artus_env.Batch(64, threads=2)
batch.step(batch.sample())
after = snapshot()
changed = [key for key, value in before.items() if after[key] is not value and key[-1] != "__warningregistry__"]
new = [key for key in after if key[:2] in before and key not in before]
added = [key for key in new if key[-1] != "__slotnames__"]  # Python's, of a class that was pickled
print(changed, added, listeners() == lists, dict(os.environ) == environment, sep="\\n")
"""


@pytest.mark.slow
@compiled_only
@pytest.mark.parametrize("first", ["", "import torch"])
def test_importing_and_playing_changes_nothing_of_numba_llvmlite_torch_or_the_environment(first):
    process = start_python(SNAPSHOTS.format(first=first), PYTHONPATH=LIBRARIES, NUMBA_CACHE_DIR=numba.config.CACHE_DIR)
    assert process.stdout.splitlines() == ["[]", "[]", "True", "True"], process.stderr


KILLED_WHILE_WRITING = """
import os, pathlib, signal
pathlib.Path.replace = lambda path, target: os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
@compiled_only
@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed otherwise there")
def test_a_process_that_is_killed_while_it_writes_leaves_nothing_that_harms(tmp_path):
    assert start_python(KILLED_WHILE_WRITING + SMALL_LOOPS, NUMBA_CACHE_DIR=str(tmp_path)).returncode < 0
    (unfinished,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert unfinished.name.endswith(".unfinished")
    assert run_python(SMALL_LOOPS, NUMBA_CACHE_DIR=str(tmp_path)) == ["True", "5"]
    assert unfinished.exists(), "its writer could still be at work"
    two_days_ago = time.time() - 2 * cache.RECENT
    os.utime(unfinished, (two_days_ago, two_days_ago))
    files = compiled_files(tmp_path)
    for path in files:
        if path.parent != unfinished.parent:
            path.unlink()  # so that the folder of the one that was left is used again
    assert run_python(SMALL_LOOPS, NUMBA_CACHE_DIR=str(tmp_path)) == ["True", "5"]
    assert not unfinished.exists()
    assert compiled_files(tmp_path) == files


REMOVED_MEANWHILE = """
import shutil
import numba
from artus_env.engine.compiling import cache, tables
from artus_env.games.artus.definition import ARTUS
game = tables.game_of(numba.from_dtype(ARTUS.build_tables(ARTUS.standard).dtype))
for modules in (("artus_env.engine.play.kernels", *game.modules), ("artus_env.engine.contract.rng",)):
    shutil.rmtree(cache.cache_folder(*modules))
"""


@pytest.mark.slow
@compiled_only
def test_a_folder_may_vanish_under_a_process_that_uses_it(filled_cache, tmp_path):
    cache = tmp_path / "cache"
    shutil.copytree(filled_cache, cache)
    assert run_python(REMOVED_MEANWHILE + SMALL_LOOPS, NUMBA_CACHE_DIR=str(cache)) == ["True", "5"]
    assert [path.name for path in compiled_files(cache)] == [path.name for path in compiled_files(filled_cache)]


def folder_used(path: Path, days_ago: float) -> Path:
    path.mkdir()
    (path / "a.nbc").touch()
    last_use = time.time() - days_ago * 24 * 3600
    os.utime(path, (last_use, last_use))
    return path


@compiled_only
def test_the_folders_used_last_are_kept(tmp_path):
    root = tmp_path / "artus_env"
    root.mkdir()
    versions = [folder_used(root / f"{number:016x}", days_ago=number + 2) for number in range(cache.KEPT_FOLDERS + 9)]
    other_folders = [folder_used(tmp_path / "0123456789abcdef", 99), folder_used(root / "notes", 99)]
    (in_use,) = run_python(
        "from artus_env.engine.compiling import cache; print(cache.cache_folder('artus_env.engine.contract.rng'))",
        NUMBA_CACHE_DIR=str(tmp_path),
    )
    latest_versions = versions[: cache.KEPT_FOLDERS - 1]
    assert sorted(root.iterdir()) == sorted([*latest_versions, root / "notes", Path(in_use)])
    assert all((path / "a.nbc").exists() for path in other_folders)


def test_no_folder_used_today_is_removed(tmp_path):
    """Many checkouts work side by side on a shared machine."""
    versions = [folder_used(tmp_path / f"{number:016x}", days_ago=0.5) for number in range(cache.KEPT_FOLDERS + 20)]
    cache.tidy(versions[0])
    assert sorted(tmp_path.iterdir()) == versions
    folder_used(tmp_path / f"{9999:016x}", days_ago=2)
    cache.tidy(versions[0])
    assert sorted(tmp_path.iterdir()) == versions


@compiled_only
def test_the_time_of_a_folder_is_its_last_use(filled_cache):
    folders = list((filled_cache / "artus_env").iterdir())
    for folder in folders:
        os.utime(folder, (1, 1))
    assert run_python(SMALL_LOOPS, NUMBA_CACHE_DIR=str(filled_cache)) == ["True", "5"]
    used_folders = [folder for folder in folders if folder.stat().st_mtime > time.time() - 3600]
    assert len(used_folders) >= 2, "those of the functions that were called"


@compiled_only
def test_functions_without_a_file_are_compiled_each_time(tmp_path):
    """Functions typed in at the prompt have no source file that could be compared."""
    code = "from artus_env.engine.compiling.jit import jit; print(jit(lambda n: n + 1)(1))"
    assert run_python(code, NUMBA_CACHE_DIR=str(tmp_path)) == ["2"]


CLOSURES = """
from artus_env.engine.compiling.jit import jit

def adder(number):
    return jit(lambda n: n + number)

print(adder(1)(1), adder(2)(1))
"""


@pytest.mark.slow
@compiled_only
def test_functions_that_differ_in_what_they_enclose_do_not_share_code(tmp_path):
    (tmp_path / "closures.py").write_text(CLOSURES)
    for _ in range(2):
        assert run_python(
            "import sys; sys.path.insert(0, '.'); import closures",
            tmp_path,
            PYTHONPATH=f"{PROJECT}",
            NUMBA_CACHE_DIR=str(tmp_path / "cache"),
        ) == ["2", "3"]
    assert len(compiled_files(tmp_path)) == 2
