"""Run the fuzzers: `make fuzz`, or `python -m fuzz [options]` in the folder `tests/helpers`.

A process for each target, two at a time, so that one that crashes or hangs is told from one that is refused. Exit code
1 if any input broke a promise; the command that tries it again is printed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import multiprocessing.connection
import signal
import sys
import tempfile
import time
import traceback
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from artus_env.engine.compiling.quotas import available_cores
from artus_training.progress import TrainingBar
from fuzz.targets import TARGETS

SECONDS = 30
"""For one input; more is a hang."""
MOST_SHOWN = 3
"""Broken promises of a target that are shown whole."""


class HangError(Exception):
    """An input took too long."""


def fuzz(name: str, seed: int, numbers: range, at: Synchronized[int] | None = None) -> tuple[int, list[str]]:
    """Try inputs of one target.

    Args:
        name: Name of the target.
        seed: Seed of all inputs.
        numbers: Numbers of the inputs to try.
        at: Written to: the number that is being tried.

    Returns:
        How many were taken, and a report on each that broke a promise.
    """

    def too_long(*_: Any) -> None:
        raise HangError(f"no answer within {SECONDS} s")

    taken, broken = 0, []
    before = signal.signal(signal.SIGALRM, too_long)
    try:
        with tempfile.TemporaryDirectory() as folder, TARGETS[name].open(Path(folder)) as attempt:
            for number in numbers:
                if at is not None:
                    at.value = number
                signal.setitimer(signal.ITIMER_REAL, SECONDS)
                try:
                    taken += attempt(Random(f"{seed}/{name}/{number}"))
                except Exception:
                    broken.append(f"{again(name, seed, number)}\n{traceback.format_exc()}")
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            if at is not None:
                at.value = numbers.stop
    finally:
        signal.signal(signal.SIGALRM, before)
    return taken, broken


def again(name: str, seed: int, number: int) -> str:
    return f"python -m fuzz --seed {seed} --target {name!r} --only {number}"


def work(name: str, seed: int, count: int, at: Synchronized[int], answer: Any) -> None:
    answer.send(fuzz(name, seed, range(count), at))


class Running(NamedTuple):
    """A target that is being fuzzed in a process of its own."""

    process: Any
    at: Synchronized[int]
    answer: Any
    start: float


def start(name: str, seed: int, count: int) -> Running:
    context = multiprocessing.get_context("spawn")
    answer, sender = context.Pipe(duplex=False)
    at = context.Value("q", 0)
    process = context.Process(target=work, args=(name, seed, count, at, sender))
    process.start()
    sender.close()
    return Running(process, at, answer, time.monotonic())


def finish(name: str, seed: int, running: Running) -> tuple[int, list[str]]:
    """What `fuzz` returned; a process that died has broken a promise."""
    try:
        return running.answer.recv()
    except EOFError:
        running.process.join()
        return 0, [
            f"{again(name, seed, running.at.value)}\nthe process ended with exit code {running.process.exitcode}"
        ]


def run(names: list[str], seed: int, inputs: int) -> bool:
    """Fuzz targets side by side, show progress and a table. Returns whether all promises were kept."""
    whole = sum(TARGETS[name].fraction for name in names)
    counts = {name: max(1, round(inputs * TARGETS[name].fraction / whole)) for name in names}
    waiting, running, tried, kept = list(names), {}, 0, True
    table = Table("target", "inputs", "taken", "refused", "broken", "seconds", title=f"seed {seed}")
    with TrainingBar() as bar:
        task = bar.add_task("fuzzing", total=sum(counts.values()), wins="")
        while waiting or running:
            while waiting and len(running) < available_cores():
                name = waiting.pop(0)
                running[name] = start(name, seed, counts[name])
            multiprocessing.connection.wait([each.answer for each in running.values()], timeout=0.5)
            for name, each in list(running.items()):
                if each.answer.poll():
                    taken, broken = finish(name, seed, each)
                    del running[name]
                    tried += each.at.value
                    kept &= not broken
                    for report in broken[:MOST_SHOWN]:
                        print(f"{report}\n", file=sys.stderr)
                    figures = each.at.value, taken, each.at.value - taken - len(broken), len(broken)
                    table.add_row(name, *(f"{figure:,}" for figure in figures), f"{time.monotonic() - each.start:.0f}")
            bar.update(task, completed=tried + sum(each.at.value for each in running.values()))
    Console().print(table)
    return kept


def main() -> int:
    parser = argparse.ArgumentParser("fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000, help="of all targets together (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    parser.add_argument("--target", nargs="+", choices=TARGETS, default=list(TARGETS), help="default: all")
    parser.add_argument("--only", type=int, help="try this input alone, in this process")
    chosen = parser.parse_args()
    if chosen.only is not None:
        broken = [
            report
            for name in chosen.target
            for report in fuzz(name, chosen.seed, range(chosen.only, chosen.only + 1))[1]
        ]
        print("\n".join(broken) or "kept all promises")
        return int(bool(broken))
    return int(not run(chosen.target, chosen.seed, chosen.inputs))
