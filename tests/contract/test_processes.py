"""Batches that share work among threads, in forked and spawned children and under concurrent Python threads."""

import os

import numpy as np
import pytest

from artus_env import Batch
from artus_env.engine.compiling.jit import DISABLED
from artus_env.engine.compiling.threads import CACHE_LINE, scratch
from engine_play import run_script

pytestmark = pytest.mark.skipif(DISABLED, reason="plain Python starts no threads")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")
def test_forked_children_play_the_same_games():
    run_script("fork", NUMBA_NUM_THREADS="2")


def test_concurrent_python_threads_play_the_same_games():
    run_script("threads", NUMBA_NUM_THREADS="2")


def test_spawned_children_play_the_same_games():
    run_script("spawn", NUMBA_NUM_THREADS="2")


@pytest.mark.parametrize(("items", "dtype"), [(1, np.int8), (3, np.float64), (2, Batch(1).states.dtype)])
def test_no_two_shares_write_to_one_cache_line(items, dtype):
    memory = scratch(3, items, dtype)
    first_bytes = [memory[share].__array_interface__["data"][0] for share in range(3)]
    last_bytes = [first + items * memory.itemsize - 1 for first in first_bytes]
    assert all(later - earlier >= CACHE_LINE for earlier, later in zip(last_bytes, first_bytes[1:], strict=False))
