"""The state of a PPO training as tensors, so that an interrupted training ends with the same agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch

from artus_agents.network import Network
from artus_env import Batch
from artus_training.learn.checkpoints import (
    Tensors,
    as_tensor,
    checked_games,
    load_optimizer,
    optimizer_tensors,
    restore,
    with_prefix,
    without_prefix,
)
from artus_training.learn.opponents import LEARNER, Opponents
from artus_training.learn.ranks import Ranks
from artus_training.learn.rollout import Rollout

LARGEST = 1e9
"""Limit of rewards, values and log-probabilities in a checkpoint: their squares still fit into float32."""
CARRIED_ARRAYS = ("observation", "legal", "action_features", "action", "logprob", "value")
"""Arrays of a rollout of which a checkpoint keeps the rows of carried-over decisions."""


class Trainer(Protocol):
    """The parts of `ppo.Trainer` that a checkpoint keeps."""

    ranks: Ranks
    network: Network
    optimizer: torch.optim.Adam
    opponents: Opponents
    rollout: Rollout
    minibatch_generator: torch.Generator
    draw_keys: np.ndarray
    opponent_keys: np.ndarray

    @property
    def variants(self) -> Sequence[tuple[Batch, slice]]:
        """The games of each variant, and their columns."""


def tensors_of(trainer: Trainer) -> Tensors:
    """All tensors of a checkpoint, with the games of all ranks; in ranks other than 0 an empty dictionary."""
    tensors_here = {name: as_tensor(part) for name, part in arrays_of(trainer).items()} | {
        "order": trainer.minibatch_generator.get_state()
    }
    tensors_by_rank = trainer.ranks.gather(tensors_here)
    if not tensors_by_rank:
        return {}
    tensors = with_prefix("network", trainer.network.state_dict())
    tensors |= with_prefix("optimizer", optimizer_tensors(trainer.optimizer))
    for index, weights in enumerate(trainer.opponents.pool):
        tensors |= with_prefix(f"pool.{index}", weights)
    for rank, arrays in enumerate(tensors_by_rank):
        tensors |= with_prefix(name_of(rank), arrays)
    return tensors


def load_tensors(trainer: Trainer, tensors: Tensors, num_selves: int) -> None:
    """Load network, optimizer and earlier selves into a new trainer.

    Args:
        trainer: The trainer.
        tensors: The tensors of a checkpoint.
        num_selves: Number of earlier selves.

    Raises:
        ValueError: If something is missing or doesn't fit; the trainer must not be used then.
    """
    trainer.network.load_state_dict(without_prefix(tensors, "network", trainer.network.state_dict()))
    load_optimizer(trainer.optimizer, tensors, "optimizer")
    templates = {name: value.cpu() for name, value in trainer.network.state_dict().items()}
    selves = [without_prefix(tensors, f"pool.{index}", templates) for index in range(num_selves)]
    trainer.opponents.pool = selves or trainer.opponents.pool


def load_games(trainer: Trainer, tensors: Tensors) -> None:
    """Load the games of a rank, and the state of its random minibatches, into a new trainer.

    Raises:
        ValueError: If something is missing or invalid; the trainer must not be used then.
    """
    prefix = name_of(trainer.ranks.rank)
    trainer.minibatch_generator.set_state(
        without_prefix(tensors, prefix, {"order": trainer.minibatch_generator.get_state()})["order"]
    )
    for name, part in arrays_of(trainer).items():
        restore(part, tensors, prefix, name)
    check_arrays(trainer)
    for batch, _ in trainer.variants:
        batch.states[:] = checked_games(batch, batch.states)
        batch.refresh()


def name_of(rank: int) -> str:
    """Prefix of the names of a rank's arrays in a checkpoint."""
    return f"games.{rank}"


def arrays_of(trainer: Trainer) -> dict[str, np.ndarray]:
    """All arrays that are kept from one round to the next, by name."""
    rollout = trainer.rollout
    arrays = {name: getattr(rollout, name)[: rollout.carried.shape[0]] for name in CARRIED_ARRAYS}
    arrays |= {"carried": rollout.carried, "carried_reward": rollout.carried_reward}
    arrays |= {"draws": trainer.draw_keys, "opponent_keys": trainer.opponent_keys, "seats": trainer.opponents.seats}
    for index, (batch, _) in enumerate(trainer.variants):
        arrays |= {f"states.{index}": batch.states, f"seeds.{index}": batch.seeds}
    return arrays


def check_arrays(trainer: Trainer) -> None:
    """Raise a ValueError if the arrays from a checkpoint aren't safe for compiled loops."""
    arrays = arrays_of(trainer)
    bits = np.unpackbits(arrays["legal"].copy().view(np.uint8), axis=-1, bitorder="little")
    action, num_actions = arrays["action"], trainer.network.shape.num_actions
    if bits[..., num_actions:].any() or ((action < 0) | (action >= num_actions)).any():
        raise ValueError("it has actions that don't exist")
    if not np.take_along_axis(bits, action[..., None], axis=-1)[arrays["carried"]].all():
        raise ValueError("it has decisions for illegal actions")
    for name in (*CARRIED_ARRAYS, "carried_reward"):
        if arrays[name].dtype.kind == "f" and (np.abs(arrays[name]) > LARGEST).any():
            raise ValueError(f"{name} has numbers that no training has")
    seats = trainer.opponents.seats
    if ((seats < LEARNER) | (seats > len(trainer.opponents.agents))).any():
        raise ValueError("it has opponents that don't exist")
