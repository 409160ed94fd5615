"""The processes that share a training: each plays and learns from games of its own, and all keep one network.

`torchrun` starts and numbers them; such a number is a *rank*. Small things are exchanged by gloo, between processors,
gradients on GPUs by nccl.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from textwrap import shorten
from typing import Any, TypeVar

import numpy as np
import torch
from torch import distributed

from artus_training.learn.checkpoints import Tensors
from artus_training.learn.runs import RunError
from artus_training.usage import Finished

PATIENCE = timedelta(hours=1)
"""So long the others wait for a rank, which rank 0 needs for evaluations. A rank that dies is noticed at once."""
T = TypeVar("T")


class RankError(RunError):
    """A training that can't begin or go on because of other processes. The message says which rank found out."""


class Ranks:
    """The processes of a training, as one of them sees them. All have to call the same methods in the same order.

    A process that trains alone is rank 0 of 1, and these methods give back what it has.

    Args:
        rank: The number of this process.
        size: How many there are.
        local_rank: Its number among those of its machine.
    """

    def __init__(self, rank: int = 0, size: int = 1, local_rank: int = 0) -> None:
        self.rank, self.size, self.local_rank = rank, size, local_rank

    @property
    def first(self) -> bool:
        """Whether this process reads, evaluates, writes and talks to people."""
        return self.rank == 0

    def device(self, kind: str) -> torch.device:
        """Where the network of this process computes.

        Args:
            kind: `cpu` or `cuda`.

        Raises:
            RankError: If this machine has fewer GPUs than processes.
        """
        if self.size == 1 or kind == "cpu":
            return torch.device(kind)
        if self.local_rank >= (there := torch.cuda.device_count()):
            raise RankError(f"{self}: device cuda needs a GPU for each process of a machine, and here are {there}")
        return torch.device(kind, self.local_rank)

    def from_first(self, make: Callable[[], T]) -> T:
        """What rank 0 makes, and nobody else.

        Raises:
            Finished: In the others, where rank 0 can't make it: it alone says why.
        """
        if self.size == 1:
            return make()
        made: Any = None
        failed: Exception | SystemExit | None = None
        if self.first:
            try:
                made = make()
            except (Exception, SystemExit) as error:
                failed = error
        told = [made, failed is None, failed.code if isinstance(failed, Finished) else 2]
        with self._together():
            distributed.broadcast_object_list(told)
        if failed:
            raise failed
        if not told[1]:
            raise Finished(told[2])
        return told[0]

    def each(self, *numbers: float) -> np.ndarray:
        """These numbers of every rank: shape (size, count of them), float64."""
        own = torch.tensor(numbers, dtype=torch.float64)
        every = [own]
        if self.size > 1:
            every = [torch.empty_like(own) for _ in range(self.size)]
            with self._together():
                distributed.all_gather(every, own)
        return torch.stack(every).numpy()

    def mean_and_variance(self, values: np.ndarray) -> tuple[Any, Any]:
        """Of one-dimensional values, over those of all ranks; at least one of them must have some."""
        if self.size == 1:
            return values.mean(), values.var()
        own = (values.mean(dtype=np.float64), values.var(dtype=np.float64)) if len(values) else (0.0, 0.0)
        count, means, variances = self.each(len(values), *own).T
        weights = count / count.sum()
        mean = weights @ means
        return values.dtype.type(mean), values.dtype.type(weights @ (variances + (means - mean) ** 2))

    def add(self, tensors: Iterable[torch.Tensor]) -> None:
        """Overwrite tensors with their sums over the ranks, the same bits everywhere."""
        self._as_one(tensors, distributed.all_reduce)

    def copy_first(self, tensors: Iterable[torch.Tensor]) -> None:
        """Overwrite tensors with those of rank 0."""
        self._as_one(tensors, lambda whole: distributed.broadcast(whole, 0))

    def gather(self, tensors: Tensors) -> list[Tensors]:
        """Tensors of all ranks, of the same names, types and shapes, in rank 0; nothing in the others."""
        if self.size == 1:
            return [tensors]
        every: list[Tensors] = [{} for _ in range(self.size)] if self.first else []
        with self._together():
            for name, own in tensors.items():
                for of in every:
                    of[name] = torch.empty_like(own)
                distributed.gather(own, [of[name] for of in every] or None)
        return every

    def leave(self) -> None:
        """Say that this process needs the others no more. Until then rank 0 may keep the others waiting, not longer
        than `PATIENCE`."""
        if self.size > 1 and distributed.is_initialized():
            distributed.destroy_process_group()

    def program(self, alone: str) -> str:
        """How a command is started in so many processes of one machine.

        Args:
            alone: How it is started in one: `artus train`.
        """
        launched = f"torchrun --standalone --nproc-per-node {self.size} -m artus_training"
        return alone if self.size == 1 else alone.replace("artus", launched)

    def __str__(self) -> str:
        return f"rank {self.rank} of {self.size}"

    @torch.no_grad()
    def _as_one(self, tensors: Iterable[torch.Tensor], do: Callable[[torch.Tensor], Any]) -> None:
        """One long message takes a fraction of the time of many short ones."""
        if self.size == 1:
            return
        parts = list(tensors)
        whole = torch.cat([part.reshape(-1) for part in parts])
        with self._together():
            do(whole)
        for part, new in zip(parts, whole.split([part.numel() for part in parts]), strict=True):
            part.copy_(new.view_as(part))

    @contextmanager
    def _together(self) -> Iterator[None]:
        """Says in one line what has gone wrong between processes."""
        try:
            yield
        except RuntimeError as error:
            why = shorten(str(error).rpartition("] ")[2], 100, placeholder=" ...")
            raise RankError(
                f"{self}: another rank has ended or doesn't answer ({why}); --resume goes on from the last checkpoint"
            ) from error


ALONE = Ranks()


@contextmanager
def joined() -> Iterator[Ranks]:
    """The processes that `torchrun` has started with this one, as long as it lasts; else this one alone.

    Raises:
        RankError: If they don't find each other; later, if one of them ends.
    """
    if not distributed.is_available() or not distributed.is_torchelastic_launched():
        yield ALONE
        return
    ranks = Ranks(*(int(os.environ[name]) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK")))

    def ended(*_: Any) -> None:
        raise RankError(f"{ranks}: torchrun ends all ranks; --resume goes on from the last checkpoint")

    previous = signal.signal(signal.SIGTERM, ended)
    try:
        with ranks._together():
            distributed.init_process_group(
                "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo", timeout=PATIENCE
            )
        yield ranks
    finally:
        signal.signal(signal.SIGTERM, previous)
        ranks.leave()
