"""Speed in decisions per second, one process, one line for each interface.

A decision is everything needed for one move: the mask and the observation of the player to move, a uniformly random
legal action, and the move itself; finished games are dealt again. Figures are medians of several runs. Machines are
noisy, so compare only lines of the same run.
"""

from __future__ import annotations

import math
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.error import DependencyNotInstalled

from artus_env import DEFAULT_GAME, Batch, Game, environments, warmup
from artus_env.engine.basics.wording import counted
from artus_env.engine.compiling.quotas import available_cores
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import find_game
from artus_env.engine.drawing.render import require, rgb_array
from artus_training.bench import under_load
from artus_training.options import read_options
from artus_training.tables import variant_name
from artus_training.usage import UsageError

MOST_BUSY = 64


class Variant(NamedTuple):
    """A variant, as the keyword arguments of batches, games and environments."""

    game: Definition
    rules: str
    num_players: int

    def __str__(self) -> str:
        return variant_name(self.game.name, self.rules, self.num_players)


def variants(game: Definition) -> list[Variant]:
    """All variants of a game; the last variant has the last rule set and the most players."""
    players = range(game.min_players, game.max_players + 1)
    return [Variant(game, rules, count) for rules in game.rules for count in players]


def median_rate(run: Callable[[], int], seconds: float, repeats: int = 5) -> float:
    """Median over `repeats` runs of the decisions per second; `run` returns the number of its decisions."""
    run()
    rates = []
    for _ in range(repeats):
        count, elapsed, start = 0, 0.0, time.perf_counter()
        while not count or elapsed < seconds / repeats:
            count += run()
            elapsed = time.perf_counter() - start
        rates.append(count / elapsed)
    return statistics.median(rates)


def batch_rate(num_games: int, threads: int, variant: Variant, seconds: float) -> float:
    """Decisions per second of a `Batch` with random actions."""
    batch = Batch(num_games, threads=threads, **variant._asdict())
    for _ in range(200):  # spread the games over all phases
        batch.step(batch.sample())

    def run() -> int:
        for _ in range(20):
            batch.step(batch.sample())
        return 20 * num_games

    return median_rate(run, seconds)


def fill_rate(num_games: int, variant: Variant, seconds: float) -> float:
    """Lower bound of a step's cost: filling observation and mask with constants."""
    batch = Batch(num_games, threads=1, **variant._asdict())

    def run() -> int:
        batch.observation.fill(1)
        batch.mask.fill(1)
        return num_games

    return median_rate(run, seconds)


def uniform(mask: np.ndarray, rng: np.random.Generator) -> int:
    """A random legal action, drawn the same way in all single-game loops."""
    legal = mask.nonzero()[0]
    return int(legal[int(rng.random() * len(legal))])


def uniform_rows(mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random legal action for each row of masks: shape (n, A) -> (n,). Faster than the step itself, unlike a
    cumulative sum of the masks."""
    legal = np.flatnonzero(mask.view(np.bool_))
    first = np.searchsorted(legal, np.arange(len(mask) + 1) * mask.shape[1])
    return legal[rng.integers(first[:-1], first[1:])] % mask.shape[1]


def game_rate(variant: Variant, seconds: float) -> float:
    """Decisions per second of a `Game` with random actions."""
    rng = np.random.default_rng(0)

    def run() -> int:
        game = Game(seed=int(rng.integers(1 << 32)), **variant._asdict())
        count = 0
        while not game.over:
            game.observation()
            game.play(uniform(game.mask(), rng))
            count += 1
        return count

    return median_rate(run, seconds)


def aec_rate(env: Any, seconds: float) -> float:
    """Decisions per second of an AEC environment: `last`, a uniform legal choice, `step`."""
    rng = np.random.default_rng(0)

    def run() -> int:
        env.reset(seed=int(rng.integers(1 << 31)))
        count = 0
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            over = terminated or truncated
            env.step(None if over else uniform(observation["action_mask"], rng))
            count += not over
        return count

    return median_rate(run, seconds)


def gymnasium_rate(variant: Variant, seconds: float) -> float:
    """Decisions per second of the one seat that plays; those of the random opponents are not counted."""
    env = gymnasium.make("artus_env:Artus-v0", **variant._asdict())
    rng = np.random.default_rng(0)

    def run() -> int:
        _, info = env.reset(seed=int(rng.integers(1 << 31)))
        count, over = 0, False
        while not over:
            _, _, terminated, truncated, info = env.step(uniform(info["action_mask"], rng))
            over = terminated or truncated
            count += 1
        return count

    return median_rate(run, seconds)


def vector_rate(num_envs: int, variant: Variant, seconds: float) -> float:
    """Decisions per second of the seats that play, one in each environment; those of the random opponents are not
    counted."""
    envs = gymnasium.make_vec("artus_env:Artus-v0", num_envs=num_envs, **variant._asdict())
    rng = np.random.default_rng(0)
    _, info = envs.reset(seed=0)

    def run() -> int:
        nonlocal info
        for _ in range(10):
            _, _, _, _, info = envs.step(uniform_rows(info["action_mask"], rng))
        return 10 * num_envs

    return median_rate(run, seconds)


def picture_rate(frames: bool, variant: Variant, seconds: float) -> float:
    """Pictures per second of a position in the middle of a game: as SVG, or as pixels."""
    finished = Game(seed=0, **variant._asdict())
    rng = np.random.default_rng(0)
    while not finished.over:
        finished.play(uniform(finished.mask(), rng))
    game = finished.first()
    for action in finished.actions_played[: len(finished.actions_played) // 2]:
        game.play(action)

    def run() -> int:
        svg = game.svg(theme="light")
        if frames:
            rgb_array(svg)
        return 1

    return median_rate(run, seconds)


def connect_four(raw: bool) -> Any | None:
    """PettingZoo's connect_four for comparison, or None if it isn't installed."""
    try:
        from pettingzoo.classic import connect_four_v3
    except ImportError:
        return None
    return connect_four_v3.raw_env() if raw else connect_four_v3.env()


def measure(game: Definition, seconds: float, sizes: tuple[int, ...] = (1024, 4096)) -> Iterator[tuple[str, float]]:
    """Yield name and decisions per second of each interface, as soon as they are measured."""
    largest_variant = variants(game)[-1]
    threads = [1, 2] if available_cores() > 1 else [1]
    for num_games in sizes:
        yield f"fill both buffers, {num_games} games", fill_rate(num_games, largest_variant, seconds)
        for variant in variants(game):
            for count in threads:
                name = f"Batch, {variant}, {num_games} games, {counted(count, 'thread')}"
                yield name, batch_rate(num_games, count, variant, seconds)
    yield f"Game, {largest_variant}", game_rate(largest_variant, seconds)
    for raw in (False, True):
        name = "raw_env()" if raw else "env()"
        make_env = environments.raw_env if raw else environments.env
        our_rate = aec_rate(make_env(**largest_variant._asdict()), seconds)
        yield f"AEC {name}, {largest_variant}", our_rate
        their_env = connect_four(raw)
        if their_env is not None:
            rate = aec_rate(their_env, seconds)
            yield f"AEC {name}, PettingZoo's connect_four", rate
            yield f"AEC {name}, ratio", our_rate / rate
    yield f"Gymnasium env, {largest_variant}", gymnasium_rate(largest_variant, seconds)
    yield f"Gymnasium VectorEnv, 1024 envs, {largest_variant}", vector_rate(1024, largest_variant, seconds)
    yield "pictures of a position as SVG", picture_rate(False, largest_variant, seconds)
    try:
        require("rgb_array")
    except DependencyNotInstalled:
        return
    yield "pictures of a position as pixels (rgb_array)", picture_rate(True, largest_variant, seconds)


@dataclass
class Options:
    """Measure the decisions per second of every interface, in one process.

    Examples:
        artus bench
        artus bench --busy 2
        artus bench --training
    """

    game: str = DEFAULT_GAME
    """The game that is played; `artus games` lists all."""
    seconds: float = 1.0
    """Seconds per line."""
    busy: int | None = None
    """Compare several threads with one instead, while this many other processes keep the cores busy: 0, 1, ..."""
    training: bool = False
    """Measure the trainer instead, with its upper limit and Stable-Baselines3."""


def main(arguments: list[str]) -> int:
    """The command `artus bench`."""
    chosen = read_options(Options, "artus bench", arguments)
    if chosen.busy is not None and not 0 <= chosen.busy <= MOST_BUSY:
        raise UsageError(f"--busy must be in 0..{MOST_BUSY}, got {chosen.busy}")
    if not 0 < chosen.seconds < math.inf:
        raise UsageError(f"--seconds must be more than 0 and finite, got {chosen.seconds}")
    try:
        game = find_game(chosen.game)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if chosen.training and chosen.busy is not None:
        raise UsageError("give --training or --busy, not both")
    start = time.perf_counter()
    warmup()
    cores = counted(available_cores(), "core")
    print(f"{platform.machine()}, {cores}, Python {platform.python_version()}, Numba {version('numba')}")
    print(f"compiled or loaded in {time.perf_counter() - start:.1f} s\n")
    if chosen.training:
        from artus_training.bench import training  # needs torch and Stable-Baselines3

        training.show(game)
    elif chosen.busy is not None:
        show_under_load(game, chosen.busy, chosen.seconds)
    else:
        one_by_one(game, chosen.seconds)
    return 0


def one_by_one(game: Definition, seconds: float) -> None:
    """Print the rate of each interface."""
    for name, rate in measure(game, seconds):
        print(f"{rate:>12.2f}    {name}" if "ratio" in name else f"{rate:>12,.0f} /s {name}", flush=True)


def show_under_load(game: Definition, count: int, seconds: float) -> None:
    """Print the speed of several threads relative to one."""
    print(f"beside {count} busy processes; medians of {under_load.ROUNDS} rounds, units of work a second\n")
    print(f"{'':<24} {'one thread':>12} {'default':>12} {'ratio':>7}")
    with under_load.busy_processes(count):
        for line in under_load.measure(game, seconds):
            print(f"{line.name:<24} {line.one:>12,.0f} {line.default:>12,.0f} {line.ratio:>7.2f}", flush=True)
