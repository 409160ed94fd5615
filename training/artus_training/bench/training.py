"""Measure the trainer's speed against the upper limit set by its network, and against Stable-Baselines3.

    artus bench --training

The upper limit ("ceiling") is the speed of this network on this machine if games, advantages and bookkeeping were free:
a forward pass and a drawn action for each decision, and in each epoch once more a forward pass, gradient and optimizer
step for each decision, on prepared data. All measurements run in this process, in turn; figures are medians of several
rounds.
"""

from __future__ import annotations

import dataclasses
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Literal

import numpy as np
import torch

from artus_agents.neural import draw_actions, infer
from artus_env.engine.basics.wording import counted
from artus_env.engine.compiling.quotas import available_cores
from artus_env.engine.contract.definition import Definition
from artus_training.learn import ppo, sb3
from artus_training.learn.rollout import Decisions
from artus_training.learn.settings import with_preset
from artus_training.progress import progress
from artus_training.tables import as_text, table

HIDDEN = (256, 256)
"""Widths of the hidden layers, for both trainers."""
BATCH_SIZE = 4096
"""Decisions in one gradient step, for both."""
EPOCHS = 2
"""Passes of an update over its decisions, for both."""
ROUNDS = 5
"""Rounds of each trainer and precision; the first of each isn't counted."""
SB3 = "Stable-Baselines3, float32"


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
    forward_time = (time.perf_counter() - start) / (s.num_steps * s.num_games)

    rows = torch.from_numpy(np.flatnonzero(rollout.ready)[: s.batch_size])
    batch = Decisions(rollout, trainer.returns_variance, trainer.device).minibatch(rows)
    steps = max(1, s.num_steps * s.num_games // s.batch_size)
    start = time.perf_counter()
    for _ in range(steps):
        value, _ = ppo.loss(trainer.network, batch, s)
        trainer.optimizer.zero_grad()
        value.backward()
        trainer.optimizer.step()
    update_time = (time.perf_counter() - start) / (steps * len(rows))
    return 1 / (forward_time + s.epochs * update_time)


def our_trainer(
    game: Definition, precision: Literal["float32", "bfloat16"], action_features: bool
) -> Callable[[], tuple[float, float]]:
    """A function that measures our trainer, with every seat learning. It returns the decisions per second, and the
    upper limit that its network alone sets."""
    s = dataclasses.replace(
        with_preset(ppo.Settings(game=game.name, rules=game.rules[-1], num_players=game.max_players)),
        hidden=HIDDEN, batch_size=BATCH_SIZE, epochs=EPOCHS,
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


def sb3_trainer(game: Definition, folder: Path) -> Callable[[], tuple[float, float]]:
    """A function that measures MaskablePPO with the same network, minibatch and epochs, in float32. It returns the
    decisions per second, and NaN in place of a limit."""
    s = dataclasses.replace(
        with_preset(sb3.Settings(game=game.name, rules=game.rules[-1], num_players=game.max_players)), hidden=HIDDEN,
        batch_size=BATCH_SIZE, epochs=EPOCHS, opponents=("past=1.0",), threads=0, runs=folder, steps=10**9,
    )  # fmt: skip
    trainer = sb3.Trainer(s)

    def run() -> tuple[float, float]:
        start, rounds = time.perf_counter(), 4
        for _ in range(rounds):
            trainer.play_and_learn()
        return rounds * s.num_games * s.num_steps / (time.perf_counter() - start), float("nan")

    return run


def measure(game: Definition) -> dict[str, tuple[float, float]]:
    """Median decisions per second of each trainer, and the upper limit of ours."""
    with tempfile.TemporaryDirectory() as folder:
        runs: dict[str, Callable[[], tuple[float, float]]] = {
            "ours, float32": our_trainer(game, "float32", True),
            "ours, bfloat16": our_trainer(game, "bfloat16", True),
            "ours, float32, no action features": our_trainer(game, "float32", False),
            "ours, bfloat16, no action features": our_trainer(game, "bfloat16", False),
            SB3: sb3_trainer(game, Path(folder)),
        }
        figures: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
        with progress("measuring") as show_progress:
            for count, (round_number, (name, run)) in enumerate(product(range(ROUNDS), runs.items()), 1):
                measured = run()
                if round_number:
                    figures[name].append(measured)
                show_progress(count / (ROUNDS * len(runs)))
    return {
        name: (statistics.median(rate for rate, _ in rounds), statistics.median(limit for _, limit in rounds))
        for name, rounds in figures.items()
    }


def show(game: Definition) -> None:
    """Measure, and print a table."""
    rates = measure(game)
    rows = [("", "trainer", "ceiling", "part", "x SB3")]
    for name, (rate, ceiling) in rates.items():
        limit = ("", "") if name == SB3 else (f"{ceiling:,.0f}", f"{rate / ceiling:.0%}")
        rows.append((name, f"{rate:,.0f}", *limit, f"{rate / rates[SB3][0]:.1f}"))
    about = (
        f"{game.name}, {game.rules[-1]}, {game.max_players} players, hidden {HIDDEN}, minibatch {BATCH_SIZE}, "
        f"{counted(EPOCHS, 'epoch')}, {counted(available_cores(), 'thread')}; medians"
    )
    legend = "trainer: decisions a second; ceiling: its network alone; part: trainer / ceiling; x SB3: times SB3's."
    print(as_text(about, "", table(rows, number_columns=range(1, 5)), "", legend))
