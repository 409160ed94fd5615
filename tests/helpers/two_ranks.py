"""Script of two ranks for `test_ranks.py`.

`torchrun --nproc-per-node 2 two_ranks.py FOLDER cpu`, or `cuda`.
"""

import dataclasses
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from artus_env import Batch  # noqa: F401 # before torch: see `artus_agents`
from artus_training.learn.ppo import Settings, Trainer, loss
from artus_training.learn.ranks import joined
from artus_training.learn.rollout import Decisions
from artus_training.learn.runs import learn_to_the_end

import torch  # isort: skip

TINY = {
    "num_games": 64, "num_steps": 16, "batch_size": 256, "hidden": (32,), "threads": 1, "final_games": 0,
    "evaluate_every": 0, "opponents": ("past=0.2", "greedy=0.1"), "snapshot_every": 3, "precision": "float32",
}  # fmt: skip
ROUND = 64 * 16
STILL = {"learning_rate": 0.0, "max_grad_norm": 1e9}
"""Settings with which a step changes no weights and doesn't clip the gradient."""
FINITE = {"steps": 24 * ROUND}


def play(trainer, rounds):
    for _ in range(rounds):
        trainer.collect()
        trainer.update()


def gradients(settings, ranks):
    """Save the gradients of two steps: in one, rank 1 has half as many decisions as rank 0; in the other, none."""
    folder = settings.runs
    trainer = Trainer(dataclasses.replace(settings, **STILL), ranks)
    normalise, trainer._normalise = trainer._normalise, lambda: None
    trainer.collect()
    rollout = trainer.rollout
    tensors = {"raw": torch.from_numpy(rollout.advantage[rollout.ready])}
    normalise()
    tensors |= {"normalised": torch.from_numpy(rollout.advantage[rollout.ready])}
    decisions = Decisions(rollout, 2.0, trainer.device)
    ready = torch.from_numpy(np.flatnonzero(rollout.ready))
    for name, rows in {"half": ready[:: 1 + ranks.rank], "none": ready[: len(ready) * (1 - ranks.rank)]}.items():
        batch = decisions.minibatch(rows)
        trainer.optimizer.zero_grad()
        loss(trainer.network, batch, trainer.settings)[0].backward()
        tensors |= {f"{name}.batch": tuple(part.cpu() if torch.is_tensor(part) else part for part in batch)}
        parameters = trainer.network.named_parameters()
        tensors |= {f"{name}.{weights}": parameter.grad.clone().cpu() for weights, parameter in parameters}
    torch.save(tensors, folder / f"gradients-{ranks.rank}.pt")
    values = np.arange(10, dtype=np.float32)
    statistics = ranks.statistics(values[: 10 * (1 - ranks.rank)])
    assert statistics == (10, pytest.approx(values.mean()), pytest.approx(values.var()))


def rounds(settings, ranks):
    """Train four rounds without interruption, and two plus two rounds with a checkpoint between them."""
    uninterrupted = dataclasses.replace(settings, **FINITE, runs=settings.runs / "whole")
    trainer = Trainer(uninterrupted, ranks)
    play(trainer, 4)
    trainer.save()
    resumed = dataclasses.replace(uninterrupted, runs=settings.runs / "parted")
    trainer = Trainer(resumed, ranks)
    play(trainer, 2)
    trainer.save()
    trainer.collect()  # lost, because it came after the checkpoint
    trainer = Trainer(resumed, ranks)
    trainer.load()
    play(trainer, 2)
    trainer.save()


def stopped(settings, ranks):
    """All ranks stop when one of them is interrupted; then they train to the end."""
    settings = dataclasses.replace(settings, **FINITE, runs=settings.runs / "undisturbed")
    trainer = Trainer(settings, ranks)
    interrupted = threading.Event()
    if not ranks.first:
        interrupted.set()
    assert not learn_to_the_end(trainer, interrupted)
    assert trainer.steps == 0
    assert learn_to_the_end(trainer, threading.Event())
    if ranks.first:
        trainer.save_agent()


def failing(settings, ranks):
    """An error on rank 0: it raises this error, and the other ranks exit."""
    with pytest.raises(ZeroDivisionError if ranks.first else SystemExit):
        ranks.from_first(lambda: 1 / 0)


if __name__ == "__main__":
    with joined() as of_two:
        for part in (gradients, rounds, stopped, failing):
            part(Settings(**TINY, device=sys.argv[2], runs=Path(sys.argv[1])), of_two)
