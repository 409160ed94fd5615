"""Several processes that share a training: their common results, and how they stop and continue together."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

import two_ranks
from artus_agents.saved import read_card
from artus_training.learn.checkpoints import read_checkpoint, save_checkpoint
from artus_training.learn.ppo import Settings, Trainer, loss
from artus_training.learn.ranks import ALONE, Ranks, joined
from artus_training.learn.rollout import Minibatch
from artus_training.learn.runs import train
from artus_training.usage import UsageError
from two_ranks import FINITE, ROUND, STILL, TINY

SECONDS = 300
"""Timeout, longer than anything here takes."""


ONE_MACHINE = ("--standalone", "--nproc-per-node", "2")


def start(*words, launched=ONE_MACHINE, **variables):
    """Start two ranks of a program with these arguments, or one of them."""
    line = [sys.executable, "-m", "torch.distributed.run", *map(str, (*launched, *words))]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"} | variables
    return subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def start_on_one_gpu(*words):
    """Start two ranks that share a GPU, each as if on its own machine: nccl allows one process per machine and GPU."""
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = str(free.getsockname()[1])
    nodes = []
    for node in ("0", "1"):
        launched = (
            "--nnodes", "2", "--node-rank", node, "--nproc-per-node", "1", "--master-addr", "127.0.0.1",
            "--master-port", port,
        )  # fmt: skip
        nodes.append(
            start(*words, launched=launched, NCCL_HOSTID=node, NCCL_SOCKET_IFNAME="lo", GLOO_SOCKET_IFNAME="lo")
        )
    return nodes


def ended(process):
    """Wait for the end of a process, and return its output and its errors."""
    try:
        return process.communicate(timeout=SECONDS)
    finally:
        process.terminate()  # ends its ranks as well, if the test has failed


NEEDS_CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
DEVICES = ("cpu", pytest.param("cuda", marks=NEEDS_CUDA))


@pytest.fixture(scope="module")
def done_on(tmp_path_factory):
    """A function that returns the folder with the results of two ranks on a device."""

    @cache
    def folder_of(device):
        folder = tmp_path_factory.mktemp(device)
        words = (two_ranks.__file__, folder, device)
        for process in [start(*words)] if device == "cpu" else start_on_one_gpu(*words):
            _, errors = ended(process)
            assert process.returncode == 0, errors
        return folder

    return folder_of


@pytest.fixture(scope="module")
def done(done_on):
    return done_on("cpu")


# --- common results ---


@pytest.fixture(scope="module", params=DEVICES)
def parts(request, done_on):
    folder = done_on(request.param)
    return [torch.load(folder / f"gradients-{rank}.pt") for rank in range(2)]


def test_advantages_are_normalised_over_all_ranks(parts):
    raw, normalised = (torch.cat([part[name] for part in parts]) for name in ("raw", "normalised"))
    assert len(parts[0]["raw"]) != len(parts[1]["raw"])
    torch.testing.assert_close(normalised, (raw - raw.mean()) / raw.std(correction=0), atol=1e-5, rtol=1e-5)
    assert abs(float(parts[0]["normalised"].mean())) > 1e-4, "those of one rank alone are not"


@pytest.mark.parametrize("step", ["half", "none"])
def test_all_ranks_learn_from_the_mean_of_their_losses(parts, step, tmp_path):
    """Also in a step in which one rank has no decisions."""
    alone = Trainer(Settings(**TINY, **STILL, runs=tmp_path))
    alone.optimizer.zero_grad()
    sum(loss(alone.network, Minibatch(*part[f"{step}.batch"]), alone.settings)[0] for part in parts).div(2).backward()
    for name, weights in alone.network.named_parameters():
        gradients = [part[f"{step}.{name}"] for part in parts]
        assert torch.equal(*gradients)
        torch.testing.assert_close(gradients[0], weights.grad, atol=1e-6, rtol=1e-4)
        assert weights.grad.any()


def test_every_rank_deals_other_games_and_so_does_a_new_beginning(tmp_path):
    settings = Settings(**TINY, also=("advanced-3",), runs=tmp_path)
    trainer, seeds = Trainer(settings), []
    trainer.num_games //= 2  # as if there were two ranks
    for rank, updates in ((0, 0), (1, 0), (0, 1), (1, 1)):
        trainer.ranks = Ranks(rank, 2)
        trainer.begin_games(updates)
        seeds += [of.batch.seeds for of in trainer.variants]
    assert len(np.unique(np.concatenate(seeds))) == 128


def test_games_that_can_not_be_divided_among_the_ranks_are_refused():
    Settings(**TINY).check(2)
    with pytest.raises(ValueError, match="num_games must be a multiple of the 3 ranks, got 64"):
        Settings(**TINY).check(3)
    with pytest.raises(ValueError, match="one for each variant in each of the 64 ranks, got 64"):
        Settings(**TINY, also=("advanced-3",)).check(64)


def test_one_process_is_alone_and_gets_back_what_it_has():
    with joined() as ranks:
        assert ranks is ALONE
    values = np.random.default_rng(0).normal(size=100).astype(np.float32)
    assert ALONE.statistics(values) == (100, pytest.approx(values.mean()), pytest.approx(values.var()))
    assert ALONE.gather_numbers(1, 2.5).tolist() == [[1, 2.5]]
    assert (ALONE.program("artus train"), Ranks(1, 2).program("artus train")) == (
        "artus train",
        "torchrun --standalone --nproc-per-node 2 -m artus_training train",
    )


@NEEDS_CUDA
def test_more_ranks_than_gpus_of_their_machine_are_refused(tmp_path):
    process = start(
        *("-m", "artus_training", "train", "--device", "cuda", "--runs", tmp_path),
        launched=("--standalone", "--nproc-per-node", torch.cuda.device_count() + 1),
    )
    _, errors = ended(process)
    assert process.returncode == 1
    assert "device cuda needs a GPU for each process of a machine, and here are" in errors


# --- stop and continue ---


def saved(folder):
    return read_checkpoint(Settings(runs=folder).checkpoint)


@pytest.mark.parametrize("device", DEVICES)
def test_a_training_of_two_ranks_that_is_resumed_goes_on_bit_for_bit(done_on, device):
    done = done_on(device)
    (whole, tensors), (parted, others) = saved(done / "whole"), saved(done / "parted")
    assert (whole.ranks, whole.steps) == (parted.ranks, parted.steps) == (2, 4 * ROUND)
    assert "games.1.states.0" in tensors
    assert not torch.equal(tensors["games.1.states.0"], tensors["games.0.states.0"])
    assert tensors.keys() == others.keys()
    for name, tensor in tensors.items():
        # A position that was read has its sets in the order of their members; num_action_features of illegal actions
        # are anything.
        assert name.endswith(("states.0", "action_features")) or torch.equal(tensor, others[name]), name


def test_a_number_of_updates_that_no_run_has_is_refused(done, tmp_path):
    progress, tensors = saved(done / "parted")
    settings = Settings(**TINY, runs=tmp_path, resume=True)
    changed = vars(progress) | {"updates": 10**18, "settings": progress.settings | {"runs": str(tmp_path)}, "curve": []}
    save_checkpoint(settings.checkpoint, changed, tensors)
    with pytest.raises(UsageError, match="doesn't fit"):
        Trainer(settings).load()


def test_another_number_of_ranks_begins_new_games_and_says_so(done, capsys):
    settings = Settings(**TINY, steps=6 * ROUND, runs=done / "whole", resume=True)
    assert train(Trainer, settings)
    message = (
        "goes on with 1 rank instead of 2: network, optimizer, earlier selves and counters are kept, all games begin"
    )
    assert message in capsys.readouterr().out
    progress, tensors = saved(done / "whole")
    assert (progress.ranks, progress.steps, progress.updates) == (1, 6 * ROUND, 6)
    assert "games.1.states.0" not in tensors
    card = read_card(settings.agent)
    assert card["ranks"] == 1
    assert card["changes"][-1]["settings"]["ranks"] == [2, 1]


def children(process):
    """Ids of the ranks of a launcher, by rank."""
    found = {}
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and f"\nPPid:\t{process.pid}\n" in (folder / "status").read_text():
                variables = (folder / "environ").read_text().split("\0")
                found |= {int(text[5:]): int(folder.name) for text in variables if text.startswith("RANK=")}
        except OSError:
            continue
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
def test_when_a_rank_is_killed_the_others_end_and_resume_goes_on_bit_for_bit(done, tmp_path):
    settings = Settings(**TINY, **FINITE, runs=tmp_path)
    words = ["-m", "artus_training", "train", "--runs", tmp_path, "--set", "final_reward="]
    for name, value in (TINY | FINITE).items():
        words += ["--set", f"{name}={value if isinstance(value, str) else json.dumps(value)}"]
    process = start(*words)
    end = time.monotonic() + SECONDS
    while not (settings.checkpoint.exists() and saved(tmp_path)[0].updates >= 3):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)
    ranks = children(process)
    os.kill(ranks[1], signal.SIGKILL)
    _, errors = ended(process)
    assert process.returncode == 1
    assert "artus train: rank 0 of 2: " in errors
    assert "--resume goes on from the last checkpoint" in errors
    assert not any(Path("/proc", str(rank)).exists() for rank in ranks.values())
    assert not settings.agent.exists(), "killed too late to show anything"
    process = start(*words, "--resume")
    _, errors = ended(process)
    assert process.returncode == 0, errors
    card = read_card(settings.agent)
    assert (card["ranks"], card["changes"]) == (2, [])
    undisturbed = Settings(runs=done / "undisturbed")
    assert settings.agent.read_bytes() == undisturbed.agent.read_bytes()
