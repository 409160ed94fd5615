"""Which module imports which, read from the sources: imports never go round in a circle, and never upwards.

Every import counts, wherever it is: in a function and for type checkers alone, too, because readers have to follow it
all the same. A package that is imported for the sake of one of its modules counts as that module alone.
"""

import ast
import json
import re
import textwrap
from graphlib import CycleError, TopologicalSorter
from itertools import product
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = {
    "artus_env": ROOT / "artus_env",
    "artus_agents": ROOT / "agents/artus_agents",
    "artus_training": ROOT / "training/artus_training",
}
SUBPACKAGES = {
    "workers": (),
    "arena": ("workers",),
    "people": ("arena",),
    "replays": (),
    "report": ("workers", "arena", "people", "replays"),
    "learn": ("workers", "arena"),
    "play": ("arena", "people", "replays"),
    "bench": ("arena", "learn"),
    "new_game": (),
}
"""Subpackages of artus_training, and the subpackages that each of them may import."""
PPO, SB3 = ("ppo", "rollout", "state"), ("sb3", "sb3_env", "sb3_policy")
"""Modules of the two trainers."""


def name_of(package, folder, path):
    parts = path.relative_to(folder).with_suffix("").parts
    return ".".join((package, *(parts[:-1] if parts[-1] == "__init__" else parts)))


SOURCES = {name_of(package, folder, path): path for package, folder in FOLDERS.items() for path in folder.rglob("*.py")}


def imports_of(module, path, modules):
    """The modules among `modules` that this one imports."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            names = {f"{source}.{alias.name}" for alias in node.names}
            found |= {name if name in modules else source for name in names}
    return found & set(modules) - {module}


IMPORTS = {module: imports_of(module, path, SOURCES) for module, path in SOURCES.items()}


def circle_in(graph):
    """The modules of a circle, first and last the same; None if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return None


def arrows(graph, source, target):
    """The imports from modules below `source` of modules below `target`."""

    def below(module, package):
        return module == package or module.startswith(f"{package}.")

    return {
        f"{module} -> {imported}"
        for module, all_imported in graph.items()
        for imported in all_imported
        if below(module, source) and below(imported, target)
    }


def test_there_is_no_circle():
    assert circle_in(IMPORTS) is None


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("artus_env", "artus_agents"),
        ("artus_env", "artus_training"),
        ("artus_agents", "artus_training"),
        ("artus_env.engine", "artus_env.games"),
        *((f"artus_training.{package}", "artus_training.cli") for package in SUBPACKAGES),
        *(
            (f"artus_training.{package}", f"artus_training.{other}")
            for package, may_import in SUBPACKAGES.items()
            for other in SUBPACKAGES
            if other != package and other not in may_import
        ),
        *((f"artus_training.learn.{ours}", f"artus_training.learn.{theirs}") for ours, theirs in product(PPO, SB3)),
        *((f"artus_training.learn.{theirs}", f"artus_training.learn.{ours}") for ours, theirs in product(PPO, SB3)),
    ],
)
def test_no_arrow_goes_from_below_to_above(source, target):
    assert not arrows(IMPORTS, source, target)


def test_nothing_that_is_installed_imports_the_tools():
    """They aren't installed."""
    for package in ("artus_env", "artus_agents", "artus_training"):
        for module, path in SOURCES.items():
            if module.partition(".")[0] == package:
                assert not re.search(r"^\s*(from|import) tools\b", path.read_text(), re.MULTILINE), path


def test_what_subpackages_of_training_share_imports_none_of_them():
    names = {module.split(".")[1] for module in SOURCES if module.startswith("artus_training.")}
    for module in names - {*SUBPACKAGES, "__main__", "cli"}:
        assert not any(
            arrows(IMPORTS, f"artus_training.{module}", f"artus_training.{package}") for package in SUBPACKAGES
        )


PUBLIC = {"artus_env", *(f"artus_env.{name}" for name in (
    "agents", "authoring", "environments", "openspiel", "pictures", "testing",
    "artus_v0", "royal_v0", "quest_v0", "auction_v0",
))}  # fmt: skip
"""What other programs may import, `auction_v0` after reading docs/adding-a-game.md."""
WRITTEN_WITH = {"artus_env.authoring", "artus_env.pictures"}
"""What games are written with."""
FENCE = re.compile(r"^( *)```py(?:thon)?\n(.*?)^ *```", re.MULTILINE | re.DOTALL)


def code_of(path):
    """The Python code of a module, a page or a notebook, piece by piece."""
    if path.suffix == ".ipynb":
        cells = json.loads(path.read_text())["cells"]
        return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    if path.suffix == ".md":
        return [textwrap.dedent(match[1] + match[2]) for match in FENCE.finditer(path.read_text())]
    return [path.read_text()]


def taken(code):
    """The modules of artus_env that some code imports, wherever it does."""
    found = set()
    for line in re.findall(r"^[> ]*((?:from|import) artus_env\b.*)", code, re.MULTILINE):
        words = line.replace(",", " ").replace("(", " ").split()
        inside = [f"artus_env.{word}" for word in words[3:]] if words[:2] == ["from", "artus_env"] else []
        found |= {words[1], *(module for module in inside if module in SOURCES)}
    return found


OUTSIDE = [
    *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "notebooks").glob("*.ipynb"),
    *(ROOT / "examples").glob("*.py"), *(ROOT / "agents/examples").glob("*.py"),
    *(ROOT / "tests/stranger").glob("*.py"),
]  # fmt: skip


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: path.name)
def test_what_users_read_imports_only_what_is_public(path):
    assert set().union(*map(taken, code_of(path))) <= PUBLIC


def test_imports_of_pages_are_found():
    found = [taken(code) for name in ("docs/agents.md", "notebooks/05-royal.ipynb", "tests/stranger/hoard.py")
             for code in code_of(ROOT / name)]  # fmt: skip
    assert {"artus_env", "artus_env.agents", "artus_env.royal_v0", "artus_env.authoring"} <= set().union(*found)
    assert taken("from artus_env import Game, royal_v0") == {"artus_env", "artus_env.royal_v0"}
    assert taken(">>> import artus_env.engine.play") == {"artus_env.engine.play"}


@pytest.mark.parametrize("game", ["artus", "royal", "quest"])
def test_games_are_written_with_what_strangers_have(game):
    """The three games here import the public modules for authors and their own package, like anybody's game."""
    package = f"artus_env.games.{game}"
    own = {module for module in SOURCES if module == package or module.startswith(f"{package}.")}
    for module in own:
        assert IMPORTS[module] - own <= WRITTEN_WITH, module


SAMPLE = {
    "a/__init__.py": "",
    "a/one.py": "from a import two\n",
    "a/two.py": "def later():\n    import a.deep.three\n",
    "a/deep/__init__.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .three import name\n",
    "a/deep/three.py": "from .. import one\nfrom os import path\nimport numpy\n",
}


def test_imports_are_found_wherever_they_stand(tmp_path):
    modules = {}
    for file, text in SAMPLE.items():
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        modules[name_of("a", tmp_path / "a", path)] = path
    graph = {module: imports_of(module, path, modules) for module, path in modules.items()}
    assert graph == {
        "a": set(),
        "a.one": {"a.two"},
        "a.two": {"a.deep.three"},
        "a.deep": {"a.deep.three"},
        "a.deep.three": {"a.one"},
    }
    assert set(circle_in(graph)) == {"a.one", "a.two", "a.deep.three"}
    assert arrows(graph, "a.deep", "a.one") == {"a.deep.three -> a.one"}
    assert circle_in({"a": {"b"}, "b": {"c"}, "c": set()}) is None


def private(name):
    return name.startswith("_") and not name.endswith("_")


def private_names(tree):
    """Private attributes and methods of a module's own classes, and its private functions and values."""
    own = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    own |= {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    own |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return {name for name in own if private(name)}


def test_no_module_uses_private_names_of_another():
    """Apart from the package that works with private names of Numba."""
    modules = {module: path for module, path in SOURCES.items() if ".compiling." not in module}
    trees = {module: ast.parse(path.read_text()) for module, path in modules.items()}
    names = {module: private_names(tree) for module, tree in trees.items()}
    ours = set().union(*names.values())
    used = {
        f"{module}: {ast.unparse(node)}"
        for module, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in ours - names[module] and ast.unparse(node.value) != "self"
    }
    assert not used
