"""The processes that share a training: each plays and learns from its own games, and all have the same network.

`torchrun` starts these processes and numbers them; the number of a process is its *rank*. Data on CPUs is exchanged
with gloo, gradients on GPUs with nccl.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from textwrap import shorten
from typing import Any, TypeVar

import numpy as np
import torch
from torch import distributed

from artus_training.learn.checkpoints import Tensors
from artus_training.usage import Finished, UsageError

PATIENCE = timedelta(hours=1)
"""Longest wait for another rank; long because all wait for the evaluations of rank 0. A rank that dies is noticed at
once."""
T = TypeVar("T")


class Ranks:
    """Communication between the processes of a training. All must call the same methods in the same order.

    A process that trains alone is rank 0 of 1, and these methods return its own data.

    Args:
        rank: The number of this process.
        size: Number of processes.
        local_rank: The number of this process on its machine.
    """

    def __init__(self, rank: int = 0, size: int = 1, local_rank: int = 0) -> None:
        self.rank, self.size, self.local_rank = rank, size, local_rank

    @property
    def first(self) -> bool:
        """Whether this process is rank 0, which alone reads, evaluates, writes and prints."""
        return self.rank == 0

    def device(self, kind: str) -> torch.device:
        """The device of this process's network.

        Args:
            kind: `cpu` or `cuda`.

        Raises:
            UsageError: If this machine has fewer GPUs than processes.
        """
        if self.size == 1 or kind == "cpu":
            return torch.device(kind)
        if self.local_rank >= (gpus := torch.cuda.device_count()):
            raise UsageError(f"{self}: device cuda needs a GPU for each process of a machine, and here are {gpus}")
        return torch.device(kind, self.local_rank)

    def from_first(self, make: Callable[[], T]) -> T:
        """Call `make` in rank 0 only, and return its result in all ranks.

        Raises:
            Exception: In rank 0, any exception that `make` raises.
            Finished: In the other ranks, if `make` failed in rank 0: only rank 0 prints the reason.
        """
        if self.size == 1:
            return make()
        result: Any = None
        failure: Exception | SystemExit | None = None
        if self.first:
            try:
                result = make()
            except (Exception, SystemExit) as error:
                failure = error
        message = [result, failure is None, failure.code if isinstance(failure, Finished) else 2]
        with self._errors_in_one_line():
            distributed.broadcast_object_list(message)
        if failure:
            raise failure
        if not message[1]:
            raise Finished(message[2])
        return message[0]

    def gather_numbers(self, *numbers: float) -> np.ndarray:
        """Return the numbers that every rank passed: shape (size, number of arguments), float64."""
        numbers_here = torch.tensor(numbers, dtype=torch.float64)
        numbers_by_rank = [numbers_here]
        if self.size > 1:
            numbers_by_rank = [torch.empty_like(numbers_here) for _ in range(self.size)]
            with self._errors_in_one_line():
                distributed.all_gather(numbers_by_rank, numbers_here)
        return torch.stack(numbers_by_rank).numpy()

    def statistics(self, values: np.ndarray) -> tuple[int, float, float]:
        """Number, mean and variance of one-dimensional values over all ranks; all 0 if there are no values."""
        mean_and_variance = (values.mean(dtype=np.float64), values.var(dtype=np.float64)) if len(values) else (0.0, 0.0)
        count, means, variances = self.gather_numbers(len(values), *mean_and_variance).T
        total = count.sum()
        weights = count / max(1.0, total)
        mean = float(weights @ means)
        return int(total), mean, float(weights @ (variances + (means - mean) ** 2))

    def share_weights(self, network: torch.nn.Module) -> None:
        """Give all ranks the weights of rank 0, and average the gradients of all ranks in each later step: so all
        networks stay the same.

        Each rank has its own decisions in each minibatch, about as many as the other ranks.
        """
        if self.size == 1:
            return
        self.copy_first(network)
        parameters = list(network.parameters())
        num_missing = len(parameters)

        @torch.no_grad()
        def average(_: torch.Tensor) -> None:
            nonlocal num_missing
            num_missing -= 1
            if num_missing:  # one long message is much faster than many short ones
                return
            num_missing = len(parameters)
            gradients = [weights.grad for weights in parameters if weights.grad is not None]
            flat = torch.cat([gradient.reshape(-1) for gradient in gradients])
            with self._errors_in_one_line():
                distributed.all_reduce(flat)
            flat /= self.size
            for gradient, mean in zip(gradients, flat.split([part.numel() for part in gradients]), strict=True):
                gradient.copy_(mean.view_as(gradient))

        for weights in parameters:
            weights.register_post_accumulate_grad_hook(average)

    def copy_first(self, network: torch.nn.Module) -> None:
        """Overwrite a network's weights with those of rank 0, because different processors round differently."""
        for weights in network.parameters() if self.size > 1 else ():
            with self._errors_in_one_line():
                distributed.broadcast(weights.data, 0)

    def gather(self, tensors: Tensors) -> list[Tensors]:
        """Return the tensors of all ranks, by rank; in ranks other than 0 an empty list. All ranks must have the same
        names, types and shapes."""
        if self.size == 1:
            return [tensors]
        tensors_by_rank: list[Tensors] = [{} for _ in range(self.size)] if self.first else []
        with self._errors_in_one_line():
            for name, tensor in tensors.items():
                for gathered in tensors_by_rank:
                    gathered[name] = torch.empty_like(tensor)
                distributed.gather(tensor, [gathered[name] for gathered in tensors_by_rank] or None)
        return tensors_by_rank

    def leave(self) -> None:
        """Leave the group when this process doesn't need the other ranks any more. Until then, the others may have to
        wait for rank 0, at most `PATIENCE`."""
        if self.size > 1 and distributed.is_initialized():
            distributed.destroy_process_group()

    def program(self, alone: str) -> str:
        """Return a command line that runs a command in all ranks on one machine, by torchrun.

        Args:
            alone: The command line for one process: `artus train`.
        """
        launched = f"torchrun --standalone --nproc-per-node {self.size} -m artus_training"
        return alone if self.size == 1 else alone.replace("artus", launched)

    def __str__(self) -> str:
        return f"rank {self.rank} of {self.size}"

    @contextmanager
    def _errors_in_one_line(self) -> Iterator[None]:
        """Turn errors of the communication into messages of one line."""
        try:
            yield
        except RuntimeError as error:
            why = shorten(str(error).rpartition("] ")[2], 100, placeholder=" ...")
            raise UsageError(
                f"{self}: another rank has ended or doesn't answer ({why}); --resume goes on from the last checkpoint"
            ) from error


ALONE = Ranks()


@contextmanager
def joined() -> Iterator[Ranks]:
    """Join the processes that `torchrun` started; without `torchrun` yield `ALONE`.

    Raises:
        UsageError: If the processes don't find each other, or later if one of them ends.
    """
    if not distributed.is_available() or not distributed.is_torchelastic_launched():
        yield ALONE
        return
    ranks = Ranks(*(int(os.environ[name]) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK")))

    def stop(*_: Any) -> None:
        raise UsageError(f"{ranks}: torchrun ends all ranks; --resume goes on from the last checkpoint")

    previous = signal.signal(signal.SIGTERM, stop)
    try:
        with ranks._errors_in_one_line():
            distributed.init_process_group(
                "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo", timeout=PATIENCE
            )
        yield ranks
    finally:
        signal.signal(signal.SIGTERM, previous)
        ranks.leave()
