"""Loops that threads share, for the tests: in a file of their own, as pytest hides the code of its test modules."""

from artus_env.engine.compiling import intrinsics
from artus_env.engine.compiling.intrinsics import load, pause
from artus_env.engine.compiling.threads import jit_shared

BEGUN, TOLD = 0, 1


@jit_shared
def count_up(times, doer, fails, low, high, share):
    """Count each game once, and write the share that counted it; the game `fails` raises an error."""
    for game in range(low, high):
        times[game] += 1
        doer[game] = share
        if game == fails:
            raise ValueError("this game fails")


@jit_shared
def named_error(numbers, low, high):
    for game in range(low, high):
        if game == numbers[0]:
            raise IndexError("no game " + str(numbers[0]))


@jit_shared
def loop(post, bounds, thread, low, high):
    for game in range(low, high):
        post[game] = bounds[game] + thread


@jit_shared
def run(arguments, number, function, low, high):
    for game in range(low, high):
        arguments[game] = number[game] + function


@jit_shared
def meet(words, times, low, high, share):
    """The first share waits until another thread has begun the second share, which ends when `words[TOLD]` is set."""
    address = words.ctypes.data
    if share == 0:
        for _ in range(1_000_000):
            if load(address + 8 * BEGUN):
                break
            pause()
    else:
        intrinsics.store(address + 8 * BEGUN, 1)
        while not load(address + 8 * TOLD):
            pause()
    times[low:high] += 1
