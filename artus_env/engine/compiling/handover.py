"""How a compiled loop over a batch is handed to threads: shares of it lie open, and whoever is free takes the next one.

The thread that has the work opens it and takes shares itself until none is left. A thread that is late finds nothing to
do and costs nothing; nobody waits but for shares that somebody is at. A loop that several threads may run has one
machine code, with which the thread that has the work runs it alone as well.

A *post* is an array of words (int64) through which threads work together on one loop at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.callconv import excinfo_ptr_t

from artus_env.engine.compiling.atomics import WORD, fetch_add, load, pause, store, word_pointer
from artus_env.engine.compiling.jit import DISABLED, borrowed, compile_as, jit

CACHE_LINE = 64
"""Bytes that a processor's cores hand to each other as one."""
_LINE = CACHE_LINE // 8
OPEN, DONE, FAILED, JOB = 0, _LINE, 2 * _LINE, 3 * _LINE
"""Words of a post: shares of the job that is open (how many there are times `_SHARES`, and how many of them are taken);
how many are done; the error of a share that failed, as Numba describes it in two words, or 0; behind that the job: its
code, bounds of shares, arguments."""
JOB_WORDS = 1024
POST_WORDS = JOB + JOB_WORDS
"""Behind them for each thread whether it sleeps, a cache line apart."""
OWN = 0
"""In place of the word of a thread that serves: the thread whose job it is."""
_SHARES = 1 << 32
_CLOSED = -1 << 40
SPINS = 5000
"""How often a thread looks whether work has come before it sleeps: less than a millisecond. To wake one takes tens of
microseconds, half a step of 1 024 games; a thread that spins keeps others from their cores."""


def sleeps(worker: int) -> int:
    """The word of a post that says whether a thread sleeps."""
    return POST_WORDS + worker * _LINE


def new_post(workers: int) -> np.ndarray:
    """A post for so many threads beside the one that brings the work: shape (words,), int64."""
    return np.zeros(POST_WORDS + workers * _LINE, np.int64)


@jit
def work(post, word):
    """Do shares of jobs that come to a post, until none has come for a while; of an own job, until all are done if that
    is soon.

    Args:
        post: The post.
        word: `OWN`, or the word of a thread that serves: it says afterwards that this thread sleeps.

    Returns: whether all shares are done; of a thread that serves, whether there may come more.
    """
    spun = 0
    while spun < SPINS:
        state = load(post, OPEN)
        if state < 0:
            return False
        if state % _SHARES < state // _SHARES:
            claim = fetch_add(post, OPEN, 1)
            if claim % _SHARES < claim // _SHARES:
                call_job(post, claim % _SHARES)
                fetch_add(post, DONE, 1)
            spun = 0
        elif word == OWN and load(post, DONE) == state // _SHARES:
            return True
        pause()
        spun += 1
    if word == OWN:
        return False
    store(post, word, 1)
    return True


def close(post: np.ndarray) -> None:
    """Tell the threads that serve a post to end."""
    post[OPEN] = _CLOSED


def closed_post() -> np.ndarray:
    """A post that nobody serves for long."""
    post = new_post(0)
    close(post)
    return post


# --- jobs: a loop, its arguments and bounds, in words of a post -----------------------------------------------------


def put_job(loop: Any, post: np.ndarray, bounds: np.ndarray, arguments: tuple[Any, ...]) -> None:
    """Write a job to a post."""
    raise NotImplementedError


def call_job(post: np.ndarray, share: int) -> None:
    """Do one share of the job of a post. If it fails, `FAILED` says how."""
    raise NotImplementedError


def propagate(post: np.ndarray) -> None:
    """Raise the error that `FAILED` describes."""
    raise NotImplementedError


@jit
def raise_failure(post):
    """Raise what a share of the last job of a post raised, if one did."""
    if load(post, FAILED):
        propagate(post)


_RUN = """
def run(post, bounds, together, {arguments}):
    _put_job(_loop, post, bounds, ({arguments},))
    _store(post, _FAILED, 0)
    if together:
        _store(post, _DONE, 0)
        _store(post, _OPEN, (len(bounds) - 1) * _SHARES + 1)
    _call_job(post, 0)
    if not together:
        return True
    _fetch_add(post, _DONE, 1)
    return _work(post, _OWN)
"""
"""For each loop with its own arguments: Numba takes microseconds to look at a tuple of them that Python hands in."""


def jit_shared(function: Callable[..., Any]) -> Callable[..., Any]:
    """Like `jit`, for a loop `function(*arguments, low, high)` that `workers.run_shares` runs. A last argument `share`
    that it may have is the number of the share.

    Its attribute `run` is compiled instead of it when Python runs it: `run(post, bounds, together, *arguments)`. With
    `together` that does all shares, the first one itself and the others with those who serve the post, and returns
    whether all are done. Otherwise it does the first share, and the post is nobody else's. `raise_failure` then raises
    what a share raised.

    Raises:
        ValueError: If the function has values of a function around it: what is kept on disk for one loop would run for
            another one.
    """
    if function.__closure__:
        raise ValueError(f"{function.__qualname__} must take all its values as arguments, or from its module")
    compiled: Any = jit(function)
    if DISABLED:
        return function
    code = function.__code__
    count = code.co_argcount - 2 - ("share" in code.co_varnames[: code.co_argcount])
    source = _RUN.format(arguments=", ".join(f"argument_{place}" for place in range(count)))
    made = {"_loop": compiled, **_NAMES_OF_RUN}
    exec(compile(source, code.co_filename, "exec"), made)  # the file: it is kept as long as the loop is
    run = made["run"]
    run.__module__, run.__qualname__ = function.__module__, f"{function.__qualname__}.run"
    compiled.run = jit(run)
    return cast(Callable[..., Any], compiled)


_NAMES_OF_RUN = {
    "_put_job": put_job, "_call_job": call_job, "_store": store, "_fetch_add": fetch_add, "_work": work,
    "_OPEN": OPEN, "_DONE": DONE, "_FAILED": FAILED, "_OWN": OWN, "_SHARES": _SHARES,
}  # fmt: skip
_JOB = ir.FunctionType(ir.VoidType(), [WORD.as_pointer(), WORD])


def _typing_of_put(loop: Any, post: Any, bounds: Any, arguments: Any) -> Any:
    loop.dispatcher.callee.compile(_types_of_share(loop, arguments))
    return types.void(loop, post, bounds, arguments)


def _types_of_share(loop: Any, arguments: Any) -> tuple[Any, ...]:
    numbers = loop.dispatcher.py_func.__code__.co_argcount - len(arguments)
    return (*arguments.types, *[types.int64] * numbers)


def _put_job(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    """Write the address of a function that reads the arguments from the post, and the arguments, each to a word."""
    loop, post, *held = signature.args
    packer = context.get_arg_packer(held)
    flat = packer.as_arguments(builder, values[2:])
    if len(flat) >= JOB_WORDS:
        raise ValueError(f"the arguments of {loop.dispatcher} take {len(flat)} words, {JOB_WORDS} at most")
    first = word_pointer(context, builder, post, values[1], WORD(JOB))
    job = ir.Function(builder.module, _JOB, builder.module.get_unique_name("job"))
    job.linkage = "internal"
    builder.store(builder.ptrtoint(job, WORD), first)
    for place, value in enumerate(flat, 1):
        if context.get_abi_sizeof(value.type) > np.dtype(np.int64).itemsize:
            raise ValueError(f"an argument of {loop.dispatcher} has parts of more than a word: {value.type}")
        builder.store(value, _at(builder, first, place, value.type))
    _define_job(context, job, loop, packer, [value.type for value in flat], held)
    return context.get_dummy_value()


def _at(builder: Any, first: Any, place: int, kind: ir.Type) -> Any:
    return builder.bitcast(builder.gep(first, [WORD(place)]), kind.as_pointer())


def _define_job(context: Any, job: Any, loop: Any, packer: Any, kinds: list[ir.Type], held: list[Any]) -> None:
    builder = ir.IRBuilder(job.append_basic_block())
    first, share = job.args
    flat = [builder.load(_at(builder, first, place, kind)) for place, kind in enumerate(kinds, 1)]
    bounds, arguments = packer.from_arguments(builder, tuple(flat))
    array = context.make_array(held[0])(context, builder, bounds)
    low = builder.gep(array.data, [share])
    high = builder.gep(low, [WORD(1)])
    # Whoever opened the job may give it up while a share of it runs, and with it Numba's records of these arrays, which
    # count references. Python's arrays live as long as any share.
    arguments = borrowed(context, builder, held[1], arguments)
    parts = [builder.extract_value(arguments, i) for i in range(len(held[1]))]
    typed = _types_of_share(loop, held[1])
    given = [*parts, builder.load(low), builder.load(high), share][: len(typed)]
    result = loop.dispatcher.callee.overloads[typed]
    context.active_code_library.add_linking_library(result.library)
    status, _ = context.call_internal_no_propagate(builder, result.fndesc, result.signature, given)
    with builder.if_then(status.is_error, likely=False):
        error = builder.gep(first, [WORD(FAILED - JOB)])
        builder.store(builder.ptrtoint(status.excinfoptr, WORD), builder.gep(error, [WORD(1)]))
        builder.store(builder.zext(status.code, WORD), error)
    builder.ret_void()


def _typing_of_call(post: Any, share: Any) -> Any:
    return types.void(post, types.int64)


def _call_job(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    first = word_pointer(context, builder, signature.args[0], values[0], WORD(JOB))
    job = builder.inttoptr(builder.load(first), _JOB.as_pointer())
    builder.call(job, [first, values[1]])
    return context.get_dummy_value()


def _propagate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    error = word_pointer(context, builder, signature.args[0], values[0], WORD(FAILED))
    code = builder.trunc(builder.load(error), ir.IntType(32))
    pointer = builder.load(builder.gep(error, [WORD(1)]))
    convention = context.call_conv
    status = convention._get_return_status(builder, code, builder.inttoptr(pointer, excinfo_ptr_t))
    convention.return_status_propagate(builder, status)
    return context.get_dummy_value()


compile_as(put_job, _typing_of_put, _put_job)
compile_as(call_job, _typing_of_call, _call_job)
compile_as(propagate, lambda post: types.void(post), _propagate)
