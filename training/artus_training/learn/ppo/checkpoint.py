"""A training on disk: all that its next rounds depend on, so that one that was stopped ends with the same agent."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from artus_agents.saved import Count, Point
from artus_training.learn.checkpoints import (
    CheckpointError,
    Tensors,
    as_tensor,
    checked_games,
    load_optimizer,
    named,
    optimizer_tensors,
    restore,
    save_checkpoint,
    take,
)
from artus_training.learn.ppo.seating import LEARNER
from artus_training.learn.ppo.settings import FIXED, Settings
from artus_training.learn.ppo.trainer import Trainer
from artus_training.learn.settings import check_resumed, settings_from_dict, settings_to_dict

LARGEST = 1e9
"""Of rewards, values and log-probabilities in a checkpoint: their squares still fit into float32."""


@dataclass
class Progress:
    """How far a training has come, as its checkpoint says it."""

    settings: dict[str, Any]
    steps: Count
    updates: Count
    seconds: Annotated[float, Meta(ge=0)]
    pool: Count
    """Number of earlier selves."""
    curve: list[Point] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)


def save(trainer: Trainer) -> None:
    """Write the checkpoint of a training.

    Raises:
        FloatingPointError: If the network has diverged. The checkpoint before stands.
        OSError: If it can't be written. Likewise.
    """
    tensors = named("network", trainer.network.state_dict())
    tensors |= named("optimizer", optimizer_tensors(trainer.optimizer))
    for index, weights in enumerate(trainer.pool):
        tensors |= named(f"pool.{index}", weights)
    buffers = {name: as_tensor(part) for name, part in buffers_of(trainer).items()}
    tensors |= named("buffers", buffers | {"order": trainer.order.get_state()})
    about = Progress(
        settings_to_dict(trainer.settings), trainer.steps, trainer.updates, trainer.seconds, len(trainer.pool)
    )
    said = vars(about) | {"curve": trainer.curve, "changes": trainer.changes}
    save_checkpoint(trainer.settings.checkpoint, said, tensors)


def load(trainer: Trainer, about: Progress, tensors: Tensors) -> None:
    """Put a checkpoint (see `read_checkpoint`) into a trainer that has not been used yet.

    Raises:
        CheckpointError: If it doesn't fit the trainer's settings; the trainer must not be used then.
    """
    s = trainer.settings
    try:
        before = settings_from_dict(about.settings, s.checkpoint, Settings())
        changed = check_resumed(before, s, s.checkpoint, *FIXED)
    except ValueError as error:
        raise CheckpointError(str(error)) from error
    try:
        trainer.network.load_state_dict(take(tensors, "network", trainer.network.state_dict()))
        load_optimizer(trainer.optimizer, tensors, "optimizer")
        like = {name: value.cpu() for name, value in trainer.network.state_dict().items()}
        trainer.pool = [take(tensors, f"pool.{index}", like) for index in range(about.pool)] or trainer.pool
        trainer.order.set_state(take(tensors, "buffers", {"order": trainer.order.get_state()})["order"])
        for name, part in buffers_of(trainer).items():
            restore(part, tensors, name)
        check_buffers(trainer)
        for batch, _ in trainer.variants:
            batch.states[:] = checked_games(batch, batch.states)
            batch.refresh()
        if before.opponents != s.opponents:
            trainer.seat_all_opponents()
    except (ValueError, RuntimeError, TypeError) as error:
        raise CheckpointError(f"{s.checkpoint} doesn't fit: {' '.join(str(error).split())}") from error
    trainer.steps, trainer.updates, trainer.seconds = about.steps, about.updates, about.seconds
    trainer.curve, trainer.changes = [dataclasses.asdict(point) for point in about.curve], about.changes
    if changed:
        trainer.changes.append({"steps": trainer.steps, "settings": changed})


def buffers_of(trainer: Trainer) -> dict[str, np.ndarray]:
    """All arrays that live on from one round to the next, by name."""
    buffers = trainer.rollout.kept()
    buffers |= {"draws": trainer.draws, "opponent_keys": trainer.opponent_keys, "seats": trainer.holders}
    for index, (batch, _) in enumerate(trainer.variants):
        buffers |= {f"states.{index}": batch.states, f"seeds.{index}": batch.seeds}
    return buffers


def check_buffers(trainer: Trainer) -> None:
    """Raise a ValueError if compiled loops can't take what a checkpoint has put into the buffers."""
    kept = trainer.rollout.kept()
    bits = np.unpackbits(kept["legal"].copy().view(np.uint8), axis=-1, bitorder="little")
    action, num_actions = kept["action"], trainer.network.shape.num_actions
    if bits[..., num_actions:].any() or ((action < 0) | (action >= num_actions)).any():
        raise ValueError("it has actions that there are not")
    if not np.take_along_axis(bits, action[..., None], axis=-1)[kept["carried"]].all():
        raise ValueError("it has decisions for illegal actions")
    for name, buffer in kept.items():
        if buffer.dtype.kind == "f" and (np.abs(buffer) > LARGEST).any():
            raise ValueError(f"{name} has numbers that no training has")
    if ((trainer.holders < LEARNER) | (trainer.holders > len(trainer.fixed_agents))).any():
        raise ValueError("it has opponents that there are not")
