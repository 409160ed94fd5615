"""Every extra, installed alone, does what the README says of it, and a command that needs another one names it.

What is installed is what `pyproject.toml` asks for and what that needs in turn; all other packages are hidden from a
fresh interpreter.
"""

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]

HIDE = """
import json, sys
from importlib.machinery import PathFinder
there, modules, work = json.load(sys.stdin)
find_spec, find_distributions = PathFinder.find_spec, PathFinder.find_distributions

def visible(name, path=None, target=None):
    return None if name.partition(".")[0] in modules else find_spec(name, path, target)

def installed(*context):
    return (found for found in find_distributions(*context) if found.name.lower().replace("_", "-").replace(".", "-") in
    there)

PathFinder.find_spec, PathFinder.find_distributions = visible, installed
"""
RUN = """
import contextlib, io
from artus_training.cli import main
results = []
for arguments in work:
    printed, complaint = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(complaint):
        try:
            code = main(arguments)
        except SystemExit as error:
            code = error.code
    results.append([code, printed.getvalue(), complaint.getvalue()])
print(json.dumps(results))
"""


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def installed_with(extra):
    """The distributions that come along with an extra ("": with none)."""
    wanted = [Requirement(text) for text in PROJECT["dependencies"] + (EXTRAS[extra] if extra else [])]
    there, seen = {"artus"}, set()
    while wanted:
        requirement = wanted.pop()
        name = plain(requirement.name)
        if str(requirement) in seen:
            continue
        seen.add(str(requirement))
        if name == "artus":
            wanted += [Requirement(text) for other in requirement.extras for text in EXTRAS[other]]
            continue
        there.add(name)
        try:
            needed = map(Requirement, requires(name) or [])
        except PackageNotFoundError:  # of another system
            continue
        for each in needed:
            if each.marker is None or any(each.marker.evaluate({"extra": of}) for of in ("", *requirement.extras)):
                wanted.append(each)
    return there


def python_with(extra, code, work=None):
    """Run code in an interpreter that has one extra. Returns what it prints."""
    there = installed_with(extra)
    hidden = [module for module, names in packages_distributions().items() if there.isdisjoint(map(plain, names))]
    assert "pytest" in hidden
    done = subprocess.run(
        [sys.executable, "-c", HIDE + code], input=json.dumps([sorted(there), hidden, work]),
        capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def artus_with(extra, *commands):
    """Run commands in an interpreter that has one extra. Returns exit code, output and complaint of each."""
    return json.loads(python_with(extra, RUN, commands))


@pytest.fixture
def record(tmp_path):
    from artus_env import Game

    game = Game(seed=1)
    for _ in range(3):
        game.play(game.moves()[0])
    path = tmp_path / "games.jsonl"
    path.write_text(game.record() + "\n")
    return str(path)


@pytest.mark.parametrize("extra", ["", "ppo", "train", "tournament", "play", "render"])
def test_a_command_that_lacks_an_extra_names_it(extra, record, tmp_path):
    agent = str(ROOT / "agents/artus_agents/trained/beginner-2.json")
    needed = [
        *((name, "train") for name in ("train", "train-all", "train-sb3", "compare", "bench-train")),
        (f"curves {agent}", "train"),
        ("tournament greedy random", "tournament"),
        ("baseline --agents greedy random", "tournament"),
        ("play --no-browser", "play"),
        ("evaluate ppo greedy", "ppo"),
        ("evaluate greedy ppo-search:2", "ppo"),
        (f"replay {record} --gif {tmp_path / 'x.gif'}", "render"),
    ]
    if extra == "play":
        needed.append(("play --no-browser --against ppo", "ppo"))
    if extra == "tournament":
        needed.append((f"tournament greedy ppo --games 2 --out {tmp_path / 'out'}", "ppo"))
    has = {extra, *(other for other in EXTRAS if installed_with(other) <= installed_with(extra))}
    lacking = [(command, other) for command, other in needed if other not in has]
    for (command, other), (code, _, complaint) in zip(
        lacking, artus_with(extra, *(command.split() for command, _ in lacking)), strict=True
    ):
        assert code == 2, command
        assert f"artus[{other}]" in complaint, command
        assert complaint.count("\n") == 1, command


def works(extra, *commands):
    for command, (code, _, complaint) in zip(commands, artus_with(extra, *commands), strict=True):
        assert code == 0, (command, complaint)


def test_without_any_extra(record, tmp_path):
    works(
        "",
        ["--help"],
        ["rules"],
        ["show", "--seed", "1"],
        ["evaluate", "greedy", "random", "--games", "2"],
        ["evaluate", "lookahead", "ismcts:2", "--games", "2"],
        ["replay", record, "--check"],
        ["replay", record, "--html", str(tmp_path / "game.html")],
        ["bench", "--help"],
    )
    assert (tmp_path / "game.html").exists()
    python_with("", "from artus_env import artus_v0, gymnasium_v0; artus_v0.env(); gymnasium_v0.ArtusEnv()")


def test_ppo_plays_trained_agents():
    works("ppo", ["evaluate", "ppo", "greedy", "--games", "2"], ["evaluate", "ppo-search:2", "random", "--games", "2"])


def test_train_has_all_that_trainers_need(tmp_path):
    picture = tmp_path / "curves.png"
    works(
        "train",
        *([name, "--help"] for name in ("train", "train-all", "train-sb3", "compare", "bench-train")),
        ["curves", str(ROOT / "agents/artus_agents/trained/beginner-2.json"), "--out", str(picture)],
        ["evaluate", "ppo", "greedy", "--games", "2"],
    )
    assert picture.exists()


def test_tournament_plays_tournaments(tmp_path):
    works(
        "tournament",
        ["tournament", "greedy", "random", "--games", "4", "--out", str(tmp_path / "one")],
        ["baseline", "--agents", "greedy", "random", "--games", "2", "--out", str(tmp_path / "all")],
    )
    assert (tmp_path / "one" / "report.md").exists()


def test_play_serves(tmp_path):
    """As far as listening; the tests of the server serve."""
    code = """
from artus_training.cli import main
from artus_training.play import command
command.serve = lambda lobby, listener, host: command.Server(lobby, local=True).config.load()
sys.exit(main(["play", "--no-browser", "--port", "0", "--games", work]))
"""
    assert "All games: http" in python_with("play", code, str(tmp_path))


def test_render_makes_frames_windows_and_films(record, tmp_path):
    works("render", ["replay", record, "--gif", str(tmp_path / "game.gif"), "--width", "200"])
    assert (tmp_path / "game.gif").exists()
    code = """
from artus_env import artus_v0
for mode in ("rgb_array", "human"):
    env = artus_v0.env(render_mode=mode)
    env.reset(seed=1)
    env.render()
    env.close()
"""
    python_with("render", code)


def test_notebooks_imports_what_the_notebooks_import():
    cells = [cell for path in (ROOT / "notebooks").glob("*.ipynb") for cell in json.loads(path.read_text())["cells"]]
    lines = "".join("".join(cell["source"]) + "\n" for cell in cells if cell["cell_type"] == "code").splitlines()
    imports = [line.strip() for line in lines if re.match(r"\s*(import|from) \w", line)]
    assert len(imports) > 10
    python_with("notebooks", "exec(work)", "\n".join(imports))


def test_docs_imports_every_module():
    code = """
import pkgutil
from importlib import import_module
for package in ("artus_env", "artus_agents", "artus_training"):
    for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
"""
    python_with("docs", code)
