"""What all tests share. A stranger's game is installed, and windows that they open stay in memory. What users install
is built once and installed once, for all tests."""

import os
import sys
from functools import cache
from pathlib import Path

import pytest

from installed import Environment, build_wheel

STRANGER = str(Path(__file__).parent / "stranger")
"""A folder as `pip install` would fill it: the module of a game and the file that names its entry point."""

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
sys.path.insert(0, STRANGER)
os.environ["PYTHONPATH"] = os.pathsep.join([STRANGER, *filter(None, [os.environ.get("PYTHONPATH")])])


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def environment_with(wheel, tmp_path_factory):
    """A function that makes the environment with one extra ("": none), once."""
    return cache(lambda extra: Environment(tmp_path_factory.mktemp("environment"), wheel, extra))
