"""The package as users get it: the wheel has all that is used and nothing else, and works in an empty environment."""

import re
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from installed import NAME, ROOT, metadata_of, run

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PACKAGES = {"artus_env": ROOT, "artus_agents": ROOT / "agents", "artus_training": ROOT / "training"}
README = (ROOT / "README.md").read_text()


@pytest.fixture(scope="module")
def names(wheel):
    """The files in the wheel, without those that describe it."""
    with zipfile.ZipFile(wheel) as content:
        return {name for name in content.namelist() if not name.startswith("artus_env-")}


def test_the_wheel_has_every_file_of_the_packages_and_no_other(names):
    files = {
        str(path.relative_to(folder))
        for package, folder in PACKAGES.items()
        for path in (folder / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert names == files


@pytest.mark.parametrize(
    "pattern",
    [
        "artus_env/py.typed",
        "artus_agents/py.typed",
        "artus_training/py.typed",
        "trained/*.safetensors",
        "trained/*.json",
        "presets/*.toml",
        "fonts/*.ttf",
        "page/*.html",
        "page/*.js",
        "page/*.css",
    ],
)
def test_what_is_no_code_comes_along(names, pattern):
    assert [name for name in names if Path("/", name).match(pattern)]


def test_the_wheel_holds_nothing_but_code_and_what_it_reads(names):
    names = [name for name in names if not name.startswith("artus_training/new_game/template/")]  # a package to write
    kinds = {Path(name).suffix for name in names}
    assert kinds <= {".py", ".typed", ".json", ".safetensors", ".toml", ".ttf", ".txt", ".html", ".js", ".css"}
    assert not [name for name in names if re.search(r"(^|/)(tests?|conftest|test_\w+|docs|notebooks)(/|\.py$)", name)]


def test_licences_come_along(wheel):
    with zipfile.ZipFile(wheel) as content:
        licences = {name.partition("/licenses/")[2] for name in content.namelist() if "/licenses/" in name}
    assert licences == {"LICENSE", "artus_env/engine/drawing/fonts/OFL.txt"}


def test_extras_refer_to_this_project(wheel):
    """`artus` on the package index is somebody else's: an extra that named it would install that."""
    about = metadata_of(wheel)
    assert about.metadata["Name"] == NAME == PROJECT["name"]
    assert "artus" not in {Requirement(text).name for text in about.requires}
    assert set(about.metadata.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])
    everything = {text.partition(";")[0] for text in about.requires if "extra ==" in text}
    assert everything == {text.partition(";")[0] for text in about.requires if "extra == 'all'" in text}


def test_the_citation_names_this_version():
    lines = (ROOT / "CITATION.cff").read_text().splitlines()
    assert f"version: {PROJECT['version']}" in lines


def test_torch_has_one_version():
    """Another one than that in the Makefile, which is installed first, would replace it by gigabytes."""
    files = ["Makefile", "constraints.txt", "pyproject.toml", "examples/requirements.txt"]
    versions = [re.findall(r"\btorch==([\d.]+)", (ROOT / name).read_text()) for name in files]
    assert versions == [versions[0]] * len(files)
    assert len(versions[0]) == 1


EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("call", [r"\bGame\(", r"\bBatch\(", r"\.env\(|pettingzoo\.make\(", r"\bgymnasium\.make\("])
def test_the_readme_has_an_example_of_each_interface(call):
    assert [code for code in EXAMPLES if re.search(call, code)]


def test_examples_of_the_readme_run_without_extras(environment_with, tmp_path):
    environment = environment_with("")
    for code in EXAMPLES:
        environment.run(code, cwd=tmp_path)
    assert not list(tmp_path.iterdir())


def test_an_environment_has_nothing_that_the_wheel_does_not_ask_for(environment_with):
    find = "import sys; from importlib.util import find_spec; print([name for name in sys.argv[1:] if find_spec(name)])"
    names = ["numpy", "pytest", "hatchling", "pip", "packaging", "torch", "starlette", "PIL", "matplotlib"]
    assert environment_with("").run(find, *names) == "['numpy']\n"


def test_the_code_comes_from_the_wheel(environment_with, tmp_path):
    environment = environment_with("")
    imports = "; ".join(f"import {package}; print({package}.__file__)" for package in PACKAGES)
    for path in environment.run(imports, cwd=tmp_path).split():
        assert Path(path).is_relative_to(environment.folder)


def test_the_command_is_installed(environment_with):
    artus = str(environment_with("").commands / "artus")
    assert "usage: artus COMMAND" in run([artus, "--help"])
    assert "beginner, 2 players, 2 games" in run([artus, "evaluate", "greedy", "random", "--games", "2"])
