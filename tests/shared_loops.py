"""Loops that threads share, for the tests: in a file of their own, as pytest hides the code of its test modules."""

import numpy as np
from llvmlite import ir
from numba import types

from artus_env.engine.compiling import atomics
from artus_env.engine.compiling.atomics import load, pause
from artus_env.engine.compiling.handover import jit_shared
from artus_env.engine.compiling.jit import compile_as

BEGUN, TOLD = 0, 1


@jit_shared
def count_up(times, doer, fails, low, high, share):
    """Does each game once and says in which share; one may fail."""
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
def loop(post, bounds, together, low, high):
    for game in range(low, high):
        post[game] = bounds[game] + together


@jit_shared
def store(post, bounds, together, low, high):
    for game in range(low, high):
        post[game] = bounds[game] + together


@jit_shared
def work(_loop, argument_1, low_, low, high):
    for game in range(low, high):
        _loop[game] = argument_1[game] + low_


@jit_shared
def run(argument_0, _FAILED, _work, low, high):  # noqa: N803
    for game in range(low, high):
        argument_0[game] = _FAILED[game] + _work


@jit_shared
def meet(words, times, low, high, share):
    """The first share gives another thread time to begin the second one, which ends when it is told to."""
    if share == 0:
        for _ in range(1_000_000):
            if load(words, BEGUN):
                break
            pause()
    else:
        atomics.store(words, BEGUN, 1)
        while not load(words, TOLD):
            pause()
    times[low:high] += 1


def record_of(array):
    """The address of Numba's record of an array, which counts references; 0: nobody counts them."""
    return 0


def _record_of(context, builder, signature, arguments):
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.ptrtoint(array.meminfo, ir.IntType(64))


compile_as(record_of, lambda array: types.int64(array), _record_of)


@jit_shared
def look_at_records(seen, within, low, high):
    """Says of each game what records of arrays there are, of one and of one in a tuple in a tuple."""
    room = np.empty(2, np.int64)  # memory of its own: so references are counted here
    for game in range(low, high):
        room[0], room[1] = record_of(seen), record_of(within[0][0])
        seen[game] = room[0] | room[1]
