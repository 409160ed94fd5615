"""The wheel of this project, and environments as users have them: with the wheel, one extra or none, and what it needs.

Nothing is downloaded. An environment gets links to packages that are installed here, exactly those that the wheel's
metadata ask for; then pip, which knows no index, installs the wheel and fails if anything is missing or has a version
outside the ranges. What this project's developers have besides isn't there.
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
        try:
            code = main(arguments)
        except SystemExit as error:
            code = error.code
    results.append([code, printed.getvalue(), complaint.getvalue()])
print(json.dumps(results))
"""


def build_wheel(folder: Path) -> Path:
    """Build the source distribution, and the wheel from what is in it. Returns the wheel."""
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
    """What is installed here of the packages that come along with a wheel and one of its extras ("": none)."""
    found: dict[str, Distribution] = {NAME: metadata_of(wheel)}
    todo, done = {(NAME, ""), (NAME, extra)}, set()
    while todo:
        name, extra = now = todo.pop()
        done.add(now)
        for requirement in map(Requirement, found[name].requires or []):
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                other = canonicalize_name(requirement.name)
                if other not in found:
                    found[other] = distribution(other)
                todo |= {(other, each) for each in ("", *requirement.extras)} - done
    del found[NAME]
    return list(found.values())


class Environment:
    """A virtual environment with the wheel, one of its extras and what they need, but no pip.

    Args:
        folder: Where to make it.
        wheel: See `build_wheel`.
        extra: "": none.
    """

    def __init__(self, folder: Path, wheel: Path, extra: str = "") -> None:
        venv.create(folder, symlinks=True)
        self.folder = folder
        self.commands = folder / "bin"
        self.python = self.commands / "python"
        (packages,) = folder.glob("lib/python*/site-packages")
        for package in packages_with(wheel, extra):
            link_into(packages, package)
        wanted = f"{NAME}[{extra}] @ {wheel.as_uri()}"
        pip = [sys.executable, "-m", "pip", "--python", str(self.python), "--quiet", "--disable-pip-version-check"]
        run([*pip, "install", "--no-index", wanted])

    def run(self, code: str, *arguments: str, cwd: Path | None = None) -> str:
        """Run code in a process of its own. Returns what it prints."""
        return run([str(self.python), "-I", "-c", code, *arguments], cwd=cwd)

    def artus(self, *commands: Sequence[str]) -> list[tuple[int, str, str]]:
        """Run commands one after the other, in one process. Returns exit code, output and complaint of each."""
        return json.loads(self.run(RUN_COMMANDS, json.dumps(commands)))


def link_into(packages: Path, package: Distribution) -> None:
    """Link everything that a package has on the path, its metadata included; commands are left out."""
    for name in {file.parts[0] for file in package.files or []} - {"..", "__pycache__"}:
        if not (packages / name).exists():  # a folder that several packages share is linked once
            (packages / name).symlink_to(Path(str(package.locate_file(name))))


def run(words: list[str], cwd: Path | None = None) -> str:
    """Run a command that has to succeed, without anybody's settings for Python or pip. Returns what it prints."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON"))}
    env = kept | {"PIP_CONFIG_FILE": os.devnull}
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{' '.join(words)[:200]}\n{done.stdout}\n{done.stderr}"
    return done.stdout
