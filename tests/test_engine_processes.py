"""Batches that share work among threads, in forked and spawned children and under concurrent Python threads."""

import os

import pytest

from artus_env.engine.jit import DISABLED
from engine_play import run_script

pytestmark = pytest.mark.skipif(DISABLED, reason="plain Python starts no threads")

layers = pytest.mark.parametrize("layer", ["default", "workqueue"])
"""OpenMP, where there is one, kills a forked child that uses its parent's threads; the workqueue layer aborts when two
Python threads use it at once."""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")
@layers
def test_forked_children_play_the_same_games(layer):
    run_script("fork", NUMBA_THREADING_LAYER=layer, NUMBA_NUM_THREADS="2")


@layers
def test_concurrent_python_threads_play_the_same_games(layer):
    run_script("threads", NUMBA_THREADING_LAYER=layer, NUMBA_NUM_THREADS="2")


def test_spawned_children_play_the_same_games():
    run_script("spawn", NUMBA_NUM_THREADS="2")
