"""What TensorBoard is told of a training, and its learning curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from torch.utils.tensorboard import SummaryWriter

from artus_training.arena.evaluate import Evaluation
from artus_training.learn.cards import point


def log_of(folder: Path, resumed_at: int | None) -> closing[SummaryWriter]:
    """Where the figures of a training are written.

    Args:
        folder: Of the run.
        resumed_at: The steps of the checkpoint that it goes on from: what was written after it is dropped. None: it is
            a new one.
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
