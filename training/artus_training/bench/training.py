"""Measure the trainer's speed against the upper limit set by its network, and against Stable-Baselines3.

    artus bench --training

The upper limit ("ceiling") is the speed of this network on this machine if games, advantages and bookkeeping were free:
a forward pass and a drawn action for each decision, and forward pass, gradient and optimizer step for each decision of
each epoch, on prepared data. All measurements run in this process, in turn; figures are medians of several rounds.
"""

from __future__ import annotations

import dataclasses
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from artus_agents.neural import draw_actions, infer
from artus_env import DEFAULT_GAME
from artus_env.engine.basics.wording import counted
from artus_env.engine.compiling.quotas import available_cores
from artus_env.engine.contract.registry import find_game
from artus_training.arena.columns import filled, table
from artus_training.learn import ppo, sb3
from artus_training.learn.rollout import Decisions
from artus_training.learn.settings import with_preset
from artus_training.lines import progress


@dataclass
class Settings:
    """Parameters of the measurement."""

    game: str = DEFAULT_GAME
    """The game to learn; `artus games` lists all."""
    rules: str = ""
    """Its rule set; unless given, the game's last."""
    num_players: int = 0
    """Number of players; 0: the maximum."""
    hidden: tuple[int, ...] = (256, 256)
    """Widths of the hidden layers, for both trainers."""
    batch_size: int = 4096
    """Decisions in one gradient step, for both."""
    epochs: int = 2
    """Passes of an update over its decisions, for both."""
    rounds: int = 5
    """Rounds of each trainer and precision; the first of each isn't counted."""
    sb3: bool = True
    """Measure Stable-Baselines3, too."""
    threads: int = 0
    """Torch threads, for both; 0: one per core."""

    def __post_init__(self) -> None:
        """Fill in the variant. Raises a ValueError if there is no such game."""
        definition = find_game(self.game)
        self.rules = self.rules or definition.rules[-1]
        self.num_players = self.num_players or definition.max_players


def ceiling(trainer: ppo.Trainer) -> float:
    """Decisions per second of the network alone, on prepared data."""
    s, rollout = trainer.settings, trainer.rollout
    row = len(rollout.carried)
    bits = np.arange(s.num_games, dtype=np.uint64) << np.uint64(50)
    start = time.perf_counter()
    with torch.autocast(trainer.device.type, torch.bfloat16, enabled=s.bfloat16):  # as the trainer does
        for _ in range(s.num_steps):
            output = infer(trainer.network, rollout.observation[row], s.bfloat16)
            draw_actions(output, rollout.legal[row], rollout.action_features[row], bits, True, trainer.threads)
    forward = (time.perf_counter() - start) / (s.num_steps * s.num_games)

    rows = torch.from_numpy(np.flatnonzero(rollout.ready)[: s.batch_size])
    batch = Decisions(rollout, trainer.variance, trainer.device).minibatch(rows)
    steps = max(1, s.num_steps * s.num_games // s.batch_size)
    start = time.perf_counter()
    for _ in range(steps):
        value, _ = ppo.loss(trainer.network, batch, s)
        trainer.optimizer.zero_grad()
        value.backward()
        trainer.optimizer.step()
    update = (time.perf_counter() - start) / (steps * len(rows))
    return 1 / (forward + s.epochs * update)


def ours(
    settings: Settings, precision: Literal["float32", "bfloat16"], action_features: bool
) -> Callable[[], tuple[float, float]]:
    """A measurement of our trainer, with every seat learning: (decisions per second, upper limit of the network
    alone)."""
    s = dataclasses.replace(
        with_preset(ppo.Settings(game=settings.game, rules=settings.rules, num_players=settings.num_players)),
        hidden=settings.hidden, batch_size=settings.batch_size, epochs=settings.epochs, threads=settings.threads,
        precision=precision, action_features=action_features, opponents=(), evaluate_every=0,
    )  # fmt: skip
    trainer = ppo.Trainer(s)

    def run() -> tuple[float, float]:
        torch.set_num_threads(trainer.threads)
        start = time.perf_counter()
        trainer.play_and_learn()
        rate = s.num_steps * s.num_games / (time.perf_counter() - start)
        return rate, ceiling(trainer)

    return run


def stable_baselines(settings: Settings, folder: Path) -> Callable[[], tuple[float, float]]:
    """A measurement of MaskablePPO with the same network, minibatch and epochs, in float32."""
    s = dataclasses.replace(
        with_preset(sb3.Settings(game=settings.game, rules=settings.rules, num_players=settings.num_players)),
        hidden=settings.hidden, batch_size=settings.batch_size, epochs=settings.epochs, opponents=("past=1.0",),
        threads=settings.threads or available_cores(), runs=folder, steps=10**9,
    )  # fmt: skip
    trainer = sb3.Trainer(s)

    def run() -> tuple[float, float]:
        start, rounds = time.perf_counter(), 4
        for _ in range(rounds):
            trainer.play_and_learn()
        return rounds * s.num_games * s.num_steps / (time.perf_counter() - start), float("nan")

    return run


def measure(settings: Settings) -> dict[str, dict[str, float]]:
    """Decisions per second of each trainer, and the upper limit of each of ours."""
    if settings.rounds < 1:
        raise ValueError(f"rounds must be at least 1, got {settings.rounds}")
    with tempfile.TemporaryDirectory() as folder:
        runs: dict[str, Callable[[], tuple[float, float]]] = {
            "ours, float32": ours(settings, "float32", True),
            "ours, bfloat16": ours(settings, "bfloat16", True),
            "ours, float32, no action features": ours(settings, "float32", False),
            "ours, bfloat16, no action features": ours(settings, "bfloat16", False),
        }
        if settings.sb3:
            runs["Stable-Baselines3, float32"] = stable_baselines(settings, Path(folder))
        figures: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
        with progress("measuring") as show:
            for done, (number, (name, run)) in enumerate(product(range(settings.rounds), runs.items()), 1):
                measured = run()
                if number or settings.rounds == 1:
                    figures[name].append(measured)
                show(done / (settings.rounds * len(runs)))
    results: dict[str, dict[str, float]] = {}
    for name, measured_rounds in figures.items():
        rate = statistics.median(rate for rate, _ in measured_rounds)
        results[name] = {"steps_per_second": rate}
        if name.startswith("ours"):
            results[name]["ceiling"] = statistics.median(limit for _, limit in measured_rounds)
            results[name]["part_of_ceiling"] = statistics.median(rate / limit for rate, limit in measured_rounds)
    if settings.sb3:
        base = results["Stable-Baselines3, float32"]["steps_per_second"]
        for result in results.values():
            result["times_sb3"] = result["steps_per_second"] / base
    return results


def show(settings: Settings) -> dict[str, dict[str, float]]:
    """Measure, print a table, and return its figures (see `measure`)."""
    results = measure(settings)
    threads = counted(settings.threads or available_cores(), "thread")
    about = (
        f"{settings.game}, {settings.rules}, {settings.num_players} players, hidden {settings.hidden}, "
        f"minibatch {settings.batch_size}, {counted(settings.epochs, 'epoch')}, {threads}; medians"
    )
    print(*filled([about]), "", sep="\n")
    rows = [("", "trainer", "ceiling", "part", "x SB3")]
    for name, result in results.items():
        cells: dict[str, Any] = {key: f"{value:,.0f}" for key, value in result.items()}
        part, times = result.get("part_of_ceiling"), result.get("times_sb3")
        rows.append(
            (
                name, cells["steps_per_second"], cells.get("ceiling", ""),
                "" if part is None else f"{part:.0%}", "" if times is None else f"{times:.1f}",
            )
        )  # fmt: skip
    print(*table(rows, names=[0], numbers=range(1, 5)), "", sep="\n")
    legend = "trainer: decisions a second; ceiling: its network alone; part: trainer / ceiling; x SB3: times SB3's."
    print(*filled([legend]), sep="\n")
    return results
