"""Windows that the tests open stay in memory. What users install is built once and installed once, for all tests."""

import os
from functools import cache

import pytest

from installed import Environment, build_wheel

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def environment_with(wheel, tmp_path_factory):
    """A function that makes the environment with one extra ("": none), once."""
    return cache(lambda extra: Environment(tmp_path_factory.mktemp("environment"), wheel, extra))
