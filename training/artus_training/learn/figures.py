"""Figures of a training: on the terminal, in TensorBoard, and as its learning curve."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from torch.utils.tensorboard import SummaryWriter

from artus_training.arena.evaluate import Evaluation
from artus_training.learn.cards import point

EVALUATIONS = 5
"""Evaluations of each training that has at least this number of updates, evenly spread; there are none if
`evaluate_every` is 0."""


def evaluation_due(before: float, after: float) -> bool:
    """Whether a training has finished another of its `EVALUATIONS` equal parts.

    Args:
        before, after: Fraction of the training that was done before and after a round, 0..1.
    """
    return int(before * EVALUATIONS) < int(after * EVALUATIONS)


def figures_text(steps: int, figures: Mapping[str, float]) -> str:
    """Figures of a round of PPO, in less than 80 letters.

    Args:
        steps: Decisions so far.
        figures: `steps_per_second`, and any of `entropy`, `approx_kl` and `explained_variance`.
    """
    text = f"{in_short(steps)} decisions, {in_short(figures['steps_per_second'])}/s"
    labels = {"entropy": "entropy", "approx_kl": "KL", "explained_variance": "explained variance"}
    return ", ".join([text, *(f"{name} {figures[key]:.3g}" for key, name in labels.items() if key in figures)])


def in_short(number: float) -> str:
    """A number with three digits: `1.23 M`."""
    if number >= 999_500:
        return f"{number / 1e6:.3g} M"
    return f"{number / 1e3:.3g} k" if number >= 999.5 else f"{number:.3g}"


def wins_text(results: Sequence[Evaluation]) -> str:
    """The agent's win rate against each opponent: `greedy 84%, lookahead 51%`."""
    return ", ".join(f"{result.agents[1]} {result.win_rate:.0%}" for result in results)


def print_strength(results: Sequence[Evaluation], name: str) -> None:
    """Print the final evaluations of a run's agent, under the name of the run."""
    for result in results:
        print("", dataclasses.replace(result, agents=(name, *result.agents[1:])), sep="\n")


def log_of(folder: Path, resumed_at: int | None) -> closing[SummaryWriter]:
    """Open the log for the figures of a training.

    Args:
        folder: The run's folder.
        resumed_at: Steps of the checkpoint that the run resumes from: later entries are dropped. None: a new run.
    """
    return closing(SummaryWriter(str(folder / "tensorboard"), purge_step=resumed_at))


def write_figures(log: SummaryWriter, figures: Mapping[str, float], steps: int) -> None:
    """Log the figures of a round."""
    for name, value in figures.items():
        log.add_scalar(f"train/{name}", value, steps)


def add_point(
    log: SummaryWriter, curve: list[dict[str, Any]], steps: int, seconds: float, results: Sequence[Evaluation]
) -> None:
    """Add a point to the learning curve, and log it. Arguments as for `cards.point`."""
    curve.append(point(steps, seconds, results))
    for name, value in curve[-1]["wins"].items():
        log.add_scalar(f"wins/{name}", value, steps)
