"""What two ranks do for `test_ranks.py`.

`torchrun --nproc-per-node 2 two_ranks.py FOLDER cpu`, or `cuda`.
"""

import dataclasses
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from artus_env import Batch  # noqa: F401 # before torch: see `artus_agents`
from artus_training.learn.checkpoints import read_checkpoint
from artus_training.learn.ranks import joined
from artus_training.learn.ppo import Settings
from artus_training.learn.ppo.train import learn_to_the_end
from artus_training.learn.ppo import Trainer

import torch  # isort: skip

TINY = {
    "num_games": 64, "num_steps": 16, "batch_size": 256, "hidden": (32,), "threads": 1, "final_games": 0,
    "evaluate_every": 0, "opponents": ("past=0.2", "greedy=0.1"), "snapshot_every": 3, "precision": "float32",
}  # fmt: skip
ROUND = 64 * 16
STILL = {"learning_rate": 0.0, "max_grad_norm": 1e9}
"""A step changes nothing, and its gradient is left as it is."""
FINITE = {"steps": 24 * ROUND}


def play(trainer, rounds):
    for _ in range(rounds):
        trainer.collect()
        trainer.update()


def gradients(settings, ranks):
    """Those of a step in which rank 1 has half as many decisions, and of one in which it has none."""
    folder = settings.runs
    trainer = Trainer(dataclasses.replace(settings, **STILL), ranks)
    trainer.collect()
    raw = trainer.rollout.advantage.reshape(-1).copy()
    data, here = (trainer.rollout.decisions(device, ranks) for device in (trainer.device, torch.device("cpu")))
    ready = torch.from_numpy(np.flatnonzero(trainer.rollout.ready.reshape(-1)))
    kept = {"raw": torch.from_numpy(raw), "ready": ready, "observation": here.observation, "target": here.target}
    kept |= {f"choices.{name}": part for name, part in here.choices._asdict().items()}
    for name, rows in {"half": ready[:: 1 + ranks.rank], "none": ready[: len(ready) * (1 - ranks.rank)]}.items():
        trainer.learn(data, rows.to(trainer.device), 2.0, int(ranks.each(len(rows)).sum()))
        kept |= {f"{name}.rows": rows}
        kept |= {f"{name}.{weights}": part.grad.clone().cpu() for weights, part in trainer.network.named_parameters()}
    torch.save(kept, folder / f"gradients-{ranks.rank}.pt")
    values = np.arange(10, dtype=np.float32)
    assert ranks.mean_and_variance(values[: 10 * (1 - ranks.rank)]) == (values.mean(), values.var())


def rounds(settings, ranks):
    """Four in a row, and two and two."""
    whole = dataclasses.replace(settings, **FINITE, runs=settings.runs / "whole")
    trainer = Trainer(whole, ranks)
    play(trainer, 4)
    save(trainer)
    parted = dataclasses.replace(whole, runs=settings.runs / "parted")
    trainer = Trainer(parted, ranks)
    play(trainer, 2)
    save(trainer)
    trainer.collect()  # and what came after the checkpoint is lost
    trainer = Trainer(parted, ranks)
    load(trainer, *ranks.from_first(lambda: read_checkpoint(parted.checkpoint, Progress)))
    play(trainer, 2)
    save(trainer)


def stopped(settings, ranks):
    """All stop where one of them is interrupted, and go on to the end."""
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
    """Rank 0 alone says why; the others only end."""
    with pytest.raises(ZeroDivisionError if ranks.first else SystemExit):
        ranks.from_first(lambda: 1 / 0)


if __name__ == "__main__":
    with joined() as of_two:
        for part in (gradients, rounds, stopped, failing):
            part(Settings(**TINY, device=sys.argv[2], runs=Path(sys.argv[1])), of_two)
