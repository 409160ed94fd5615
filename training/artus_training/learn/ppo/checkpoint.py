"""Save a training with its whole state, so that an interrupted training ends with the same agent."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from artus_agents.saved import Count, Point
from artus_env.engine.basics.wording import counted
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
"""Limit of rewards, values and log-probabilities in a checkpoint: their squares still fit into float32."""


@dataclass
class Progress:
    """Settings and progress of a training in its checkpoint."""

    settings: dict[str, Any]
    steps: Count
    updates: Count
    seconds: Annotated[float, Meta(ge=0)]
    pool: Count
    """Number of earlier selves."""
    ranks: Annotated[int, Meta(ge=1)] = 1
    """Processes that shared the training."""
    curve: list[Point] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)
    start: str = ""
    """See `Trainer.start`."""


def save(trainer: Trainer) -> None:
    """Write the checkpoint of a training, with the games of all ranks, in rank 0.

    Raises:
        FloatingPointError: If the network has diverged; the previous checkpoint is kept.
        OSError: If it can't be written; the previous checkpoint is kept.
    """
    kept = {name: as_tensor(part) for name, part in buffers_of(trainer).items()}
    of_ranks = trainer.ranks.gather(kept | {"order": trainer.order.get_state()})
    if not trainer.ranks.first:
        return
    tensors = named("network", trainer.network.state_dict())
    tensors |= named("optimizer", optimizer_tensors(trainer.optimizer))
    for index, weights in enumerate(trainer.pool):
        tensors |= named(f"pool.{index}", weights)
    for rank, buffers in enumerate(of_ranks):
        tensors |= named(name_of_buffers(rank), buffers)
    about = Progress(
        settings_to_dict(trainer.settings), trainer.steps, trainer.updates, trainer.seconds, len(trainer.pool),
        trainer.ranks.size,
    )  # fmt: skip
    said = vars(about) | {"curve": trainer.curve, "changes": trainer.changes, "start": trainer.start}
    save_checkpoint(trainer.settings.checkpoint, said, tensors)


def load(trainer: Trainer, about: Progress, tensors: Tensors) -> None:
    """Load a checkpoint (see `read_checkpoint`) into a new trainer.

    Raises:
        CheckpointError: If it doesn't fit the trainer's settings; the trainer must not be used then.
    """
    s, ranks = trainer.settings, trainer.ranks
    try:
        before = settings_from_dict(about.settings, s.checkpoint, Settings())
        changed = check_resumed(before, s, s.checkpoint, *FIXED, say=ranks.first)
    except ValueError as error:
        raise CheckpointError(str(error)) from error
    try:
        trainer.network.load_state_dict(take(tensors, "network", trainer.network.state_dict()))
        load_optimizer(trainer.optimizer, tensors, "optimizer")
        like = {name: value.cpu() for name, value in trainer.network.state_dict().items()}
        trainer.pool = [take(tensors, f"pool.{index}", like) for index in range(about.pool)] or trainer.pool
        if about.ranks == ranks.size:
            load_games(trainer, tensors, name_of_buffers(ranks.rank))
        else:
            trainer.begin_games(about.updates)
            changed["ranks"] = [about.ranks, ranks.size]
        if before.opponents != s.opponents:
            trainer.seat_all_opponents()
    except (ValueError, RuntimeError, TypeError, OverflowError) as error:
        raise CheckpointError(f"{s.checkpoint} doesn't fit: {' '.join(str(error).split())}") from error
    trainer.steps, trainer.updates, trainer.seconds = about.steps, about.updates, about.seconds
    trainer.curve, trainer.changes = [dataclasses.asdict(point) for point in about.curve], about.changes
    trainer.start = about.start
    if "ranks" in changed and ranks.first:
        print(
            f"{s.checkpoint} goes on with {counted(ranks.size, 'rank')} instead of {about.ranks}: network, optimizer, "
            "earlier selves and counters are kept, all games begin anew"
        )
    if changed:
        trainer.changes.append({"steps": trainer.steps, "settings": changed})


def load_games(trainer: Trainer, tensors: Tensors, prefix: str) -> None:
    """Load the games of one rank, and the state of its random minibatches, into a trainer.

    Raises:
        ValueError: If something is missing or invalid.
    """
    trainer.order.set_state(take(tensors, prefix, {"order": trainer.order.get_state()})["order"])
    for name, part in buffers_of(trainer).items():
        restore(part, tensors, prefix, name)
    check_buffers(trainer)
    for batch, _ in trainer.variants:
        batch.states[:] = checked_games(batch, batch.states)
        batch.refresh()


def name_of_buffers(rank: int) -> str:
    """Prefix of the names of a rank's buffers in a checkpoint."""
    return f"buffers.{rank}" if rank else "buffers"


def buffers_of(trainer: Trainer) -> dict[str, np.ndarray]:
    """All arrays that are kept from one round to the next, by name."""
    buffers = trainer.rollout.kept()
    buffers |= {"draws": trainer.draws, "opponent_keys": trainer.opponent_keys, "seats": trainer.holders}
    for index, (batch, _) in enumerate(trainer.variants):
        buffers |= {f"states.{index}": batch.states, f"seeds.{index}": batch.seeds}
    return buffers


def check_buffers(trainer: Trainer) -> None:
    """Raise a ValueError if the buffers from a checkpoint aren't safe for compiled loops."""
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
