"""Loops that threads share, for the tests: in a file of their own, as pytest hides the code of its test modules."""

from artus_env.engine.atomics import load, pause, store
from artus_env.engine.handover import jit_shared

BEGUN, TOLD = 0, 1


@jit_shared
def count_up(times, doer, fails, low, high, share):
    """Does each game once and says in which share; one may fail."""
    for game in range(low, high):
        times[game] += 1
        doer[game] = share
        if game == fails:
            raise ValueError


@jit_shared
def meet(words, times, low, high, share):
    """The first share gives another thread time to begin the second one, which ends when it is told to."""
    if share == 0:
        for _ in range(1_000_000):
            if load(words, BEGUN):
                break
            pause()
    else:
        store(words, BEGUN, 1)
        while not load(words, TOLD):
            pause()
    times[low:high] += 1
