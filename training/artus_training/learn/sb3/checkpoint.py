"""Checkpoints of trainings with MaskablePPO: SB3 archives that also hold the data for `--resume`."""

from __future__ import annotations

import copy
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import torch
from msgspec import Meta
from sb3_contrib import MaskablePPO

from artus_agents.network import Network
from artus_agents.neural import NeuralAgent
from artus_agents.saved import Count, Point
from artus_training.learn.checkpoints import (
    CheckpointError,
    add_to_archive,
    load_optimizer,
    named,
    optimizer_tensors,
    read_archive,
    take,
)


@dataclass
class Progress:
    """Settings and progress of a training in its checkpoint."""

    settings: dict[str, Any]
    steps: Count
    seconds: Annotated[float, Meta(ge=0)]
    snapshots: Count
    """Number of earlier versions in the pool."""
    curve: list[Point] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)
    start: str = ""
    """See `Run.start`."""


def save_checkpoint(
    path: Path, model: MaskablePPO, about: Mapping[str, Any], snapshots: Sequence[NeuralAgent] = ()
) -> None:
    """Save a model and its pool of snapshots atomically.

    Args:
        path: An SB3 zip that `MaskablePPO.load` can read, too; `--resume` reads only our own files in it.
        model: The model with weights, optimizer and SB3's settings.
        about: All of `Progress` except `snapshots`.
        snapshots: The pool, oldest first.

    Raises:
        FloatingPointError: If the network has diverged; the previous checkpoint is kept.
        OSError: If it can't be written; the previous checkpoint is kept.
    """
    archive = io.BytesIO()
    model.save(archive, exclude=["_last_obs", "_last_episode_starts", "ep_info_buffer", "ep_success_buffer"])
    weights = {name: value.clone() for name, value in model.policy.state_dict().items()}  # some have several names
    tensors = named("policy", weights) | named("optimizer", optimizer_tensors(_adam(model.policy)))
    for index, agent in enumerate(snapshots):
        tensors |= named(f"snapshots.{index}", agent.network.state_dict())
    add_to_archive(path, archive, {**about, "snapshots": len(snapshots)}, tensors)


def load_checkpoint(path: Path, model: MaskablePPO, like: Network) -> tuple[Progress, list[NeuralAgent]]:
    """Load a checkpoint's weights, optimizer state and steps into a model. An error changes nothing.

    Args:
        path: The file.
        model: An untrained model with the same settings.
        like: A network with the same shape as those in the pool.

    Returns:
        The progress of the training, and the pool of snapshots, oldest first.

    Raises:
        CheckpointError: If the file is missing or damaged, or has another network.
    """
    about, tensors = read_archive(path, Progress)
    policy = copy.deepcopy(model.policy)
    try:
        weights = take(tensors, "policy", policy.state_dict())
        load_optimizer(_adam(policy), tensors, "optimizer")
        parts = [take(tensors, f"snapshots.{index}", like.state_dict()) for index in range(about.snapshots)]
    except (RuntimeError, ValueError, TypeError) as error:
        raise CheckpointError(f"{path} doesn't fit: {' '.join(str(error).split())}") from error
    snapshots = [NeuralAgent(copy.deepcopy(like), sample=True) for _ in parts]
    for agent, part in zip(snapshots, parts, strict=True):
        agent.network.load_state_dict(part)
    model.policy.load_state_dict(weights)
    load_optimizer(_adam(model.policy), tensors, "optimizer")
    model.num_timesteps = about.steps
    return about, snapshots


def _adam(policy: Any) -> torch.optim.Adam:
    assert isinstance(policy.optimizer, torch.optim.Adam)
    return policy.optimizer
