"""Run the fuzzers: `make fuzz`, or `python -m fuzz [options]` in the folder `tests/helpers`.

Each target has a process of its own, and as many run at once as there are cores, so that crashes and hangs are
distinguished from refused input. Exit code 1 if any input broke a promise; the command that repeats it is printed.
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
"""Time limit for one input; longer is a hang."""
MOST_SHOWN = 3
"""Maximum number of broken promises of a target that are printed."""


class HangError(Exception):
    """An input took too long."""


def fuzz(name: str, seed: int, numbers: range, current: Synchronized[int] | None = None) -> tuple[int, list[str]]:
    """Try inputs of one target.

    Args:
        name: Name of the target.
        seed: Seed of all inputs.
        numbers: Numbers of the inputs to try.
        current: Output: the number of the input that is being tried.

    Returns:
        The number of inputs that were accepted, and a report on each input that broke a promise.
    """

    def raise_hang(*_: Any) -> None:
        raise HangError(f"no answer within {SECONDS} s")

    num_taken, reports = 0, []
    previous_handler = signal.signal(signal.SIGALRM, raise_hang)
    try:
        with tempfile.TemporaryDirectory() as folder, TARGETS[name].open(Path(folder)) as attempt:
            for number in numbers:
                if current is not None:
                    current.value = number
                signal.setitimer(signal.ITIMER_REAL, SECONDS)
                try:
                    num_taken += attempt(Random(f"{seed}/{name}/{number}"))
                except Exception:
                    reports.append(f"{again(name, seed, number)}\n{traceback.format_exc()}")
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            if current is not None:
                current.value = numbers.stop
    finally:
        signal.signal(signal.SIGALRM, previous_handler)
    return num_taken, reports


def again(name: str, seed: int, number: int) -> str:
    """The command that repeats one input."""
    return f"python -m fuzz --seed {seed} --target {name!r} --only {number}"


def work(name: str, seed: int, count: int, current: Synchronized[int], pipe: Any) -> None:
    """Fuzz a target in this process, and send the result through a pipe."""
    pipe.send(fuzz(name, seed, range(count), current))


class Running(NamedTuple):
    """A target that is being fuzzed in a process of its own."""

    process: Any
    current: Synchronized[int]
    pipe: Any
    start: float


def start(name: str, seed: int, count: int) -> Running:
    """Start a process that tries this number of inputs of a target."""
    context = multiprocessing.get_context("spawn")
    pipe, sender = context.Pipe(duplex=False)
    current = context.Value("q", 0)
    process = context.Process(target=work, args=(name, seed, count, current, sender))
    process.start()
    sender.close()
    return Running(process, current, pipe, time.monotonic())


def finish(name: str, seed: int, running: Running) -> tuple[int, list[str]]:
    """The result of `fuzz` in a process. A process that died has broken a promise."""
    try:
        return running.pipe.recv()
    except EOFError:
        running.process.join()
        return 0, [
            f"{again(name, seed, running.current.value)}\nthe process ended with exit code {running.process.exitcode}"
        ]


def run(names: list[str], seed: int, inputs: int) -> bool:
    """Fuzz targets side by side, show progress and a table. Returns whether all promises were kept."""
    total_fraction = sum(TARGETS[name].fraction for name in names)
    counts = {name: max(1, round(inputs * TARGETS[name].fraction / total_fraction)) for name in names}
    waiting, running, num_tried, all_kept = list(names), {}, 0, True
    table = Table("target", "inputs", "taken", "refused", "broken", "seconds", title=f"seed {seed}")
    with TrainingBar() as bar:
        task = bar.add_task("fuzzing", total=sum(counts.values()), wins="")
        while waiting or running:
            while waiting and len(running) < available_cores():
                name = waiting.pop(0)
                running[name] = start(name, seed, counts[name])
            multiprocessing.connection.wait([job.pipe for job in running.values()], timeout=0.5)
            for name, job in list(running.items()):
                if job.pipe.poll():
                    num_taken, reports = finish(name, seed, job)
                    del running[name]
                    num_tried += job.current.value
                    all_kept &= not reports
                    for report in reports[:MOST_SHOWN]:
                        print(f"{report}\n", file=sys.stderr)
                    tried = job.current.value
                    counted = tried, num_taken, tried - num_taken - len(reports), len(reports)
                    seconds = f"{time.monotonic() - job.start:.0f}"
                    table.add_row(name, *(f"{number:,}" for number in counted), seconds)
            bar.update(task, completed=num_tried + sum(job.current.value for job in running.values()))
    Console().print(table)
    return all_kept


def main() -> int:
    parser = argparse.ArgumentParser("fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000, help="of all targets together (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    parser.add_argument("--job", nargs="+", choices=TARGETS, default=list(TARGETS), help="default: all")
    parser.add_argument("--only", type=int, help="try this input alone, in this process")
    options = parser.parse_args()
    if options.only is not None:
        reports = [
            report
            for name in options.job
            for report in fuzz(name, options.seed, range(options.only, options.only + 1))[1]
        ]
        print("\n".join(reports) or "kept all promises")
        return int(bool(reports))
    return int(not run(options.job, options.seed, options.inputs))
