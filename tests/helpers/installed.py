"""The wheel of this project, and environments like those of users: with the wheel, one extra or none, and their
dependencies.

Nothing is downloaded. An environment gets links to installed packages, exactly those that the wheel's metadata require;
then pip, without an index, installs the wheel, and fails if a package is missing or its version is outside the ranges.
Packages that only developers of this project have aren't there.
"""

import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Sequence
from importlib.metadata import Distribution, PathDistribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
NAME = "artus-env"

RUN_COMMANDS = """
import contextlib, io, json, sys
from artus_training.cli import main
results = []
for arguments in json.loads(sys.argv[1]):
    printed, complaint = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(complaint):
        code = main(arguments)
    results.append([code, printed.getvalue(), complaint.getvalue()])
print(json.dumps(results))
"""


def build_wheel(folder: Path) -> Path:
    """Build the source distribution, and from it the wheel. Returns the path of the wheel."""
    build("sdist", ROOT, folder)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as sources:
        sources.extractall(folder, filter="data")
    build("wheel", folder / archive.name.removesuffix(".tar.gz"), folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


def build(target: str, sources: Path, folder: Path) -> None:
    run([sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)], cwd=sources)


def metadata_of(wheel: Path) -> PathDistribution:
    name, version = wheel.name.split("-")[:2]
    return PathDistribution(zipfile.Path(wheel, f"{name}-{version}.dist-info/"))


def packages_with(wheel: Path, extra: str = "") -> list[Distribution]:
    """The installed packages that a wheel and one of its extras ("": none) depend on."""
    found: dict[str, Distribution] = {NAME: metadata_of(wheel)}
    waiting, done = {(NAME, ""), (NAME, extra)}, set()
    while waiting:
        name, extra = entry = waiting.pop()
        done.add(entry)
        for requirement in map(Requirement, found[name].requires or []):
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                package = canonicalize_name(requirement.name)
                if package not in found:
                    found[package] = distribution(package)
                waiting |= {(package, package_extra) for package_extra in ("", *requirement.extras)} - done
    del found[NAME]
    return list(found.values())


class Environment:
    """A virtual environment with the wheel, one of its extras and their dependencies, but no pip.

    Args:
        folder: Where to make it.
        wheel: See `build_wheel`.
        extra: Name of the extra; "": none.
    """

    def __init__(self, folder: Path, wheel: Path, extra: str = "") -> None:
        venv.create(folder, symlinks=True)
        self.folder = folder
        self.commands = folder / "bin"
        self.python = self.commands / "python"
        (packages,) = folder.glob("lib/python*/site-packages")
        for package in packages_with(wheel, extra):
            link_into(packages, package)
        requirement = f"{NAME}[{extra}] @ {wheel.as_uri()}"
        pip = [sys.executable, "-m", "pip", "--python", str(self.python), "--quiet", "--disable-pip-version-check"]
        run([*pip, "install", "--no-index", requirement])

    def run(self, code: str, *arguments: str, cwd: Path | None = None) -> str:
        """Run code in a process of its own. Returns what it prints."""
        return run([str(self.python), "-I", "-c", code, *arguments], cwd=cwd)

    def artus(self, *commands: Sequence[str]) -> list[tuple[int, str, str]]:
        """Run `artus` commands one after the other, in one process. Returns for each its exit code, stdout and
        stderr."""
        return json.loads(self.run(RUN_COMMANDS, json.dumps(commands)))


def link_into(packages: Path, package: Distribution) -> None:
    """Link all importable files of a package and its metadata, but not its commands."""
    for name in {file.parts[0] for file in package.files or []} - {"..", "__pycache__"}:
        if not (packages / name).exists():  # a folder that several packages share is linked once
            (packages / name).symlink_to(Path(str(package.locate_file(name))))


def run(words: list[str], cwd: Path | None = None) -> str:
    """Run a command that has to succeed, without the user's settings for Python or pip. Returns what it prints."""
    other_variables = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON"))}
    env = other_variables | {"PIP_CONFIG_FILE": os.devnull}
    process = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert process.returncode == 0, f"{' '.join(words)[:200]}\n{process.stdout}\n{process.stderr}"
    return process.stdout
