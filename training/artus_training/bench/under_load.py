"""Speed of several threads relative to one while other programs use the cores: `artus bench --busy 2`.

Several threads must never be much slower than one thread, whatever else runs. Measurements of both alternate, so that
they meet the same load.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from typing import NamedTuple

from artus_env import Batch
from artus_env.engine.contract.definition import Definition
from artus_training.arena.evaluate import evaluate

BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"
ROUNDS = 9
EVALUATED = 256
"""Games of an evaluation, enough to use several threads."""


class Compared(NamedTuple):
    name: str
    one: float
    """Units of work per second with one thread."""
    default: float
    """Units of work per second with the default number of threads."""
    ratio: float
    """Median over rounds of default / one."""


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """Run this many processes that only compute; they end with this one at the latest."""
    busy = [subprocess.Popen([sys.executable, "-I", "-S", "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


@contextmanager
def one_thread() -> Iterator[None]:
    """Set OMP_NUM_THREADS=1 for this process. All threads see it, so no other thread may start threads in the
    meantime."""
    old_value = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        yield
    finally:
        if old_value is None:
            del os.environ["OMP_NUM_THREADS"]
        else:
            os.environ["OMP_NUM_THREADS"] = old_value


def measure(game: Definition, seconds: float) -> Iterator[Compared]:
    """Compare engine, search and evaluation; with torch installed also training and an evaluation with a network.

    Args:
        game: The game.
        seconds: Approximate time per line.
    """
    for games in (1024, 4096):
        yield compare(f"Batch, {games} games", partial(batch_work, game, games), seconds)
    yield compare("ismcts:20, 64 games", partial(evaluation_work, game, "ismcts:20", 64), seconds)
    yield compare(f"lookahead, {EVALUATED} games", partial(evaluation_work, game, "lookahead", EVALUATED), seconds)
    if find_spec("torch") and find_spec("safetensors"):
        if game.trained is not None:
            yield compare(f"ppo, {EVALUATED} games", partial(evaluation_work, game, "ppo", EVALUATED), seconds)
        yield compare("training", partial(training_work, game), seconds)


def compare(name: str, make: Callable[[], Callable[[], int]], seconds: float) -> Compared:
    """Do the same work alternately with one thread and with the default number. `make` is called once under each
    setting and returns a function that does the work."""
    with one_thread():
        work_alone = make()
        work_alone()
    work_default = make()
    for _ in range(5):
        work_default()  # compile, and adapt to the cores that are free
    rates: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        with one_thread():
            rate_alone = rate(work_alone, seconds / ROUNDS / 2)
        rates.append((rate_alone, rate(work_default, seconds / ROUNDS / 2)))
    rates_alone, default_rates = zip(*rates, strict=True)
    ratio = statistics.median(default_rate / rate_alone for rate_alone, default_rate in rates)
    return Compared(name, statistics.median(rates_alone), statistics.median(default_rates), ratio)


def rate(work: Callable[[], int], seconds: float) -> float:
    """Units of work per second."""
    done, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds or not done:
        done += work()
    return done / elapsed


def batch_work(game: Definition, games: int) -> Callable[[], int]:
    """A function that plays random moves in a batch, and returns their number."""
    batch = Batch(games, rules=game.rules[-1], num_players=game.min_players, game=game)

    def work() -> int:
        for _ in range(10):
            batch.step(batch.sample())
        return 10 * games

    return work


def evaluation_work(game: Definition, agent: str, games: int) -> Callable[[], int]:
    """A function that evaluates an agent, and returns the number of games."""

    def work() -> int:
        return evaluate([agent, "random"], games=games, batch_size=games, game=game).games

    return work


def training_work(game: Definition) -> Callable[[], int]:
    """A function that trains for a round, and returns the number of decisions."""
    from artus_training.learn import ppo
    from artus_training.learn.settings import with_preset

    variant = ppo.Settings(game=game.name, rules=game.rules[0], num_players=game.min_players)
    trainer = ppo.Trainer(with_preset(variant, {"num_games": 512, "num_steps": 16}))

    def work() -> int:
        trainer.play_and_learn()
        return 512 * 16

    return work
