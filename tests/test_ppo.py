"""The trainer: what each decision was worth, the gradient, and that training works and can be resumed."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

from artus_agents.neural import infer
from artus_agents.outlook import OUTLOOKS
from artus_agents.saved import load_agent, read_card
from artus_env.artus.components import MAX_PLAYERS as P
from artus_training.evaluate import evaluate
from artus_training.ppo import (
    LEARNER,
    CheckpointError,
    Settings,
    Trainer,
    estimate,
    fast_bfloat16,
    parse,
    policy_gradient,
    policy_gradient_torch,
    preset,
    read_checkpoint,
    train,
)

torch.set_num_threads(1)  # tests run side by side, and torch's threads spin while they wait

TINY = {
    "num_games": 64, "num_steps": 16, "batch_size": 256, "hidden": (32,), "threads": 1, "final_games": 0, "evaluate_every": 0,
}  # fmt: skip


def tiny(tmp_path, **settings):
    return Settings(**TINY | {"runs": tmp_path, "steps": 8 * 64 * 16} | settings)


# --- each seat's own trajectory ---


class Rollout:
    """One game of three players, as `estimate` wants it. Each step: (mover, value, rewards of the three, whether it ended)."""

    def __init__(self, steps):
        count = len(steps)
        self.mover = np.array([[step[0]] for step in steps], np.int8)
        self.learns = np.ones((count, 1), bool)
        self.reward = np.zeros((count, 1, P), np.float32)
        self.reward[:, 0, :3] = [step[2] for step in steps]
        self.done = np.array([[step[3]] for step in steps])
        self.value = np.zeros((P + count, 1, P), np.float32)
        self.value[P:, 0, 0] = [step[1] for step in steps]
        self.advantage = np.zeros((P + count, 1), np.float32)
        self.target = np.zeros((P + count, 1, P), np.float32)
        self.ready = np.zeros((P + count, 1), bool)
        self.pending = np.zeros((P, 1), np.int64)

    def estimate(self, carried_reward, carried, gamma, gae_lambda):
        estimate(
            np.array([3]), self.mover, self.learns, self.reward, self.done, self.value, carried_reward, carried, gamma,
            gae_lambda, self.advantage, self.target, self.ready, self.pending,
        )  # fmt: skip


def test_a_game_of_three_by_hand():
    """Seats 0, 1, 2, 0, 1 decide, and seat 1 ends the game. gamma = lambda = 1/2.

    Seat 0 is paid 1 - 2 + 3 = 2 until it decides again, then 4 + 5 = 9 to the end.
        second decision: 9 - 0.5 = 8.5;  first: 2 + 0.5 * 0.5 - 1 = 1.25, and 1.25 + 0.25 * 8.5 = 3.375
    Seat 1 is paid 10 until it decides again, then 1.  second: 1 - 2 = -1;  first: 10 + 1 - 4 = 7, 7 - 0.25 = 6.75
    Seat 2 is paid 7 after its only decision.  7 - 3 = 4
    """
    rollout = Rollout(
        [
            (0, 1.0, (1, 0, 0), False),
            (1, 4.0, (-2, 5, 0), False),
            (2, 3.0, (3, 2, 4), False),
            (0, 0.5, (4, 3, 2), False),
            (1, 2.0, (5, 1, 1), True),
        ]
    )
    rollout.estimate(np.zeros((P, 1)), np.zeros((P, 1), bool), 0.5, 0.5)
    np.testing.assert_allclose(rollout.advantage[P:, 0], [3.375, 6.75, 4, 8.5, -1])
    assert rollout.ready[P:].all()
    assert not rollout.ready[:P].any()
    assert (rollout.pending == -1).all()
    # Values: own first, then the next in turn. At seat 2's decision: seat 0 gets 3, then half of 9; seat 1 2 + 3, half of 1.
    np.testing.assert_allclose(rollout.target[P + 2, 0, :3], [7, 3 + 0.5 * 9, 5 + 0.5 * 1])
    assert np.isnan(rollout.target[P:, 0, 3]).all()


def test_an_open_decision_is_carried_over_with_what_it_was_paid():
    first = Rollout([(0, 1.0, (1, 0, 0), False), (1, 2.0, (10, 5, 0), False)])
    paid, carried = np.zeros((P, 1)), np.zeros((P, 1), bool)
    first.estimate(paid, carried, 1.0, 1.0)
    assert not first.ready.any()
    assert first.pending[:, 0].tolist() == [P, P + 1, -1, -1]
    assert paid[:, 0].tolist() == [11, 5, 0, 0]
    second = Rollout([(2, 0.0, (100, 0, 0), False), (0, 3.0, (7, 20, 0), True)])
    second.value[:2, 0, 0] = 1.0, 2.0
    carried[:2] = True
    second.estimate(paid, carried, 1.0, 1.0)
    assert second.ready[:, 0].tolist() == [True, True, False, False, True, True]
    # Seat 0: 11 + 100 until it decides again, then 7; seat 1: 5 + 20 to the end.
    np.testing.assert_allclose(second.advantage[:2, 0], [11 + 100 + 7 - 1, 5 + 20 - 2])
    assert (second.pending == -1).all()


def test_a_seat_that_does_not_learn_is_left_out():
    rollout = Rollout([(0, 1.0, (1, 0, 0), False), (1, 9.0, (2, 0, 0), False), (0, 1.0, (3, 0, 0), True)])
    rollout.learns[1] = False
    rollout.estimate(np.zeros((P, 1)), np.zeros((P, 1), bool), 1.0, 1.0)
    assert rollout.ready[P:, 0].tolist() == [True, False, True]
    np.testing.assert_allclose(rollout.advantage[[P, P + 2], 0], [1 + 2 + 3 - 1, 3 - 1])


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_opponents_hold_from_one_to_all_seats_but_one_and_move_on(tmp_path, num_players):
    """Over as many deals as there are seats each of them is theirs equally often."""
    shares = ("past=0.5", "greedy=0.25")
    trainer = Trainer(tiny(tmp_path, num_players=num_players, num_games=48, opponents=shares))
    counts = (trainer.seats != LEARNER).sum(axis=1)
    assert sorted(set(counts[:36])) == list(range(1, num_players))
    assert not counts[36:].any()
    held = np.zeros((48, num_players), int)
    for _ in range(num_players):
        theirs = trainer.seats[:, :num_players] != LEARNER
        assert (theirs.sum(axis=1) == counts).all()
        held += theirs
        trainer._seat_opponents(trainer.tables[0], np.arange(48))
    assert (held == counts[:, None]).all()


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_every_decision_is_learnt_from_once(tmp_path, num_players):
    trainer = Trainer(tiny(tmp_path, num_players=num_players, opponents=()))
    learnt, made = 0, 0
    for _ in range(6):
        trainer.collect()
        learnt += int(trainer.ready.sum())
        made += trainer.learns.size
        assert learnt + int((trainer.pending >= 0).sum()) == made
        trainer.update()


# --- the gradient ---


def decisions(outlook, size=200, actions=339):
    random = np.random.default_rng(1)
    logits = random.normal(size=(size, actions)).astype(np.float32)
    gates = random.normal(size=(size, OUTLOOKS if outlook else 0)).astype(np.float32)
    out = random.integers(-9, 10, (size, actions, OUTLOOKS) if outlook else (size, 1, 0), dtype=np.int8)
    mask = random.random((size, actions)) < 0.07
    chosen = random.integers(0, actions, size)
    mask[np.arange(size), chosen] = True
    bits = np.zeros((size, 8), np.uint64)
    for action in range(actions):
        bits[:, action // 64] |= mask[:, action].astype(np.uint64) << np.uint64(action % 64)
    old = (np.log(1 / mask.sum(1)) + random.normal(size=size) / 2).astype(np.float32)
    return logits, gates, out, mask, bits, chosen, old, random.normal(size=size).astype(np.float32)


@pytest.mark.parametrize("outlook", [True, False])
def test_the_gradient_is_that_of_the_clipped_loss(outlook):
    logits, gates, out, mask, bits, chosen, old, advantages = decisions(outlook)
    given = [torch.tensor(logits, requires_grad=True), torch.tensor(gates, requires_grad=True)]
    z = given[0] + (torch.tensor(out).float() / 10 * given[1][:, None]).sum(2) if outlook else given[0]
    log_probs = torch.log_softmax(z.masked_fill(~torch.tensor(mask), -1e9), 1)
    ratio = (log_probs[torch.arange(len(chosen)), torch.tensor(chosen)] - torch.tensor(old)).exp()
    scaled = torch.tensor(advantages)
    gain = torch.minimum(ratio * scaled, ratio.clamp(0.8, 1.2) * scaled)
    entropy = -(log_probs.exp() * log_probs).sum(1)
    (-gain - 0.01 * entropy).mean().backward()

    by_logits, by_gates, sums = np.empty_like(logits), np.empty_like(gates), np.zeros((1, 3))
    order = np.random.default_rng(2).permutation(len(chosen))  # decisions lie anywhere among those collected
    rows, collected = np.argsort(order), [part[order] for part in (bits, out, chosen, old, advantages)]
    policy_gradient(logits, gates, rows, *collected, 0.2, 0.01, by_logits, by_gates, sums, 0, len(rows))
    sums = sums[0]
    np.testing.assert_allclose(by_logits, given[0].grad, atol=1e-7)
    assert sums[0] == pytest.approx(float(entropy.sum().detach()), rel=1e-4)
    assert 20 < sums[2] < 180, "some decisions are clipped and some are not"
    if outlook:
        np.testing.assert_allclose(by_gates, given[1].grad, atol=1e-6)

    parts = [torch.tensor(part) for part in (bits.view(np.int64), out, chosen, old, advantages)]
    other = policy_gradient_torch(torch.tensor(logits), torch.tensor(gates), parts, 0.2, 0.01)
    np.testing.assert_allclose(other[0], by_logits, atol=1e-7)
    np.testing.assert_allclose(other[1], by_gates, atol=1e-6)
    np.testing.assert_allclose(other[2], sums, rtol=1e-3)


# --- training ---


def test_a_few_seconds_of_training_beat_random_and_the_untrained_network(tmp_path):
    settings = tiny(tmp_path, outlook=False, steps=150_000, num_games=128, learning_rate=3e-3, hidden=(64,))
    untrained = Trainer(settings)
    before = evaluate([untrained.agent(), "random"], games=400).win_rate
    assert train(settings)
    after = evaluate([f"ppo:{settings.agent}", "random"], games=400).win_rate
    assert before < 0.65
    assert after > 0.8


@pytest.mark.parametrize(
    "more", [{"opponents": ("past=0.3", "greedy=0.2"), "snapshot_every": 2}, {"also": ("advanced-3",)}, {"num_players": 4}]
)
def test_a_resumed_training_ends_with_the_same_agent(tmp_path, more):
    whole, parted = tiny(tmp_path / "whole", **more), tiny(tmp_path / "parted", **more)
    assert train(whole)
    trainer = Trainer(parted)
    for _ in range(3):
        trainer.collect()
        trainer.update()
    trainer.save()
    trainer.collect()  # and what came after the checkpoint is lost
    assert train(dataclasses.replace(parted, resume=True))
    assert whole.agent.read_bytes() == parted.agent.read_bytes()
    assert load_agent(whole.agent)[1]["steps"] == whole.steps


LONGER = {"steps": 60 * 64 * 16, "opponents": ("past=0.2",), "snapshot_every": 3}


def start(settings, *more):
    """`artus train` with these settings, in a process of its own, one thread."""
    words = ["--runs", settings.runs, "--steps", settings.steps, "--num-games", settings.num_games, "--num-steps"]
    words += [settings.num_steps, "--batch-size", settings.batch_size, "--hidden", *settings.hidden, "--threads", 1]
    words += ["--final-games", 0, "--evaluate-every", 0, "--snapshot-every", settings.snapshot_every]
    words += ["--final-reward", "None", "--opponents", *settings.opponents, *more]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    line = [sys.executable, "-m", "artus_training", "train", *map(str, words)]
    return subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(condition, process):
    end = time.monotonic() + 120
    while not condition():
        assert process.poll() is None, f"the training ended by itself: {process.communicate()}"
        assert time.monotonic() < end
        time.sleep(0.001)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    settings = tiny(tmp_path_factory.mktemp("whole"), **LONGER)
    assert train(settings)
    return settings.agent.read_bytes()


def test_killed_at_random_moments_it_ends_as_if_undisturbed(tmp_path, undisturbed):
    settings, moments = tiny(tmp_path, **LONGER), np.random.default_rng()
    seen = 0
    for _ in range(3):
        process = start(settings, *["--resume"] * settings.checkpoint.exists())
        before = seen
        wait_for(lambda least=before: updates(settings) > least, process)
        delay = moments.uniform(0, 0.3)
        time.sleep(delay)
        seen = updates(settings)  # so much is on the disk: the kill must not take it away
        process.kill()
        process.communicate()
        assert seen <= updates(settings) <= seen + 2, f"killed after {delay} s"
        assert not settings.agent.exists(), "killed too late to show anything"
    assert train(dataclasses.replace(settings, resume=True))
    assert settings.agent.read_bytes() == undisturbed


def updates(settings):
    return read_checkpoint(settings.checkpoint)["updates"] if settings.checkpoint.exists() else 0


def test_interrupted_it_saves_says_so_and_goes_on(tmp_path, undisturbed):
    settings = tiny(tmp_path, **LONGER)
    process = start(settings)
    wait_for(settings.checkpoint.exists, process)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 130
    assert f"--resume goes on from {settings.checkpoint}" in output
    assert not settings.agent.exists()
    process = start(settings, "--resume")
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert settings.agent.read_bytes() == undisturbed


@pytest.mark.skipif(not fast_bfloat16(), reason="this processor computes bfloat16 slowly")
def test_bfloat16_says_about_what_float32_says_and_learns(tmp_path):
    trainers = [Trainer(tiny(tmp_path, precision=precision, hidden=(64,))) for precision in ("float32", "bfloat16")]
    exact, short = (infer(trainer.network, trainer.tables[0].batch.observation, trainer.bfloat16) for trainer in trainers)
    for one, other in zip(exact, short, strict=True):
        assert one.dtype == other.dtype == torch.float32
        torch.testing.assert_close(other, one, atol=0.02, rtol=0.05)
    assert not all(torch.equal(one, other) for one, other in zip(exact, short, strict=True)), "it was bfloat16 indeed"
    settings = tiny(
        tmp_path, precision="bfloat16", outlook=False, steps=150_000, num_games=128, learning_rate=3e-3, hidden=(64,)
    )
    assert train(settings)
    assert evaluate([f"ppo:{settings.agent}", "random"], games=400).win_rate > 0.8


def test_a_checkpoint_that_does_not_fit_is_named(tmp_path):
    settings = tiny(tmp_path)
    with pytest.raises(CheckpointError, match=r"checkpoint\.pt doesn't exist"):
        read_checkpoint(settings.checkpoint)
    trainer = Trainer(settings)
    trainer.save()
    content = settings.checkpoint.read_bytes()
    for damaged in (content[: len(content) // 2], b"", b"something else"):
        settings.checkpoint.write_bytes(damaged)
        with pytest.raises(CheckpointError, match=r"checkpoint\.pt is damaged or no checkpoint"):
            read_checkpoint(settings.checkpoint)
    settings.checkpoint.write_bytes(content)
    other = Trainer(dataclasses.replace(settings, hidden=(16,)))
    with pytest.raises(CheckpointError, match=r"checkpoint\.pt doesn't fit these settings"):
        other.load(read_checkpoint(settings.checkpoint))
    state = read_checkpoint(settings.checkpoint)
    state["pool"] = other.pool
    assert state["pool"], "earlier selves play in this training"
    with pytest.raises(CheckpointError, match=r"checkpoint\.pt doesn't fit these settings"):
        Trainer(settings).load(state)


@pytest.mark.parametrize("opponents", [(), ("greedy=0.5",), ("greedy=0.25", "past=0.25")])
def test_a_training_goes_on_with_other_opponents(tmp_path, opponents):
    settings = tiny(tmp_path, num_games=8, opponents=("past=0.5",))
    trainer = Trainer(settings)
    trainer.collect()
    trainer.update()
    trainer.save()
    trainer = Trainer(dataclasses.replace(settings, opponents=opponents))
    trainer.load(read_checkpoint(settings.checkpoint))
    seated = (trainer.seats[:, :2] >= 0).any(axis=1)
    assert seated.sum() == (4 if opponents else 0)
    assert set(trainer.seats[seated].max(axis=1)) == set(range(len(opponents)))
    trainer.collect()
    assert np.isfinite(list(trainer.update().values())).all()


@pytest.mark.parametrize("rules", ["beginner", "advanced"])
@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_every_variant_has_a_preset(rules, num_players):
    settings = preset(rules, num_players)
    settings.check()
    assert (settings.rules, settings.num_players) == (rules, num_players)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stepps = 3", "there is no setting 'stepps'"),
        ("steps = 0.5", "steps must be like"),
        ("steps =", "mine.toml"),
        ("final_reward = 1", "final_reward must be like 'prestige', got 1"),
        ("steps = true", "steps must be like"),
        ("also = [3]", "also must hold texts"),
        ("hidden = [256.5]", "hidden must hold whole numbers"),
    ],
)
def test_faulty_presets_are_named(tmp_path, text, message):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        preset("beginner", 2, path)


@pytest.mark.parametrize("name", ["reward", "final_reward"])
def test_an_unknown_reward_is_refused_before_the_training(name):
    with pytest.raises(ValueError, match="reward must be one of win, margin, prestige, got 'fame'"):
        Settings(**{name: "fame"}).check()


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_seeds_have_a_range(seed):
    with pytest.raises(ValueError, match="seed must be in 0"):
        Settings(seed=seed).check()


def test_a_card_says_how_to_train_the_agent_again(tmp_path):
    settings = tiny(tmp_path, rules="advanced", num_players=3, steps=1024)
    assert train(settings)
    card = json.loads(settings.agent.with_suffix(".json").read_text())
    words = card["command"].split()
    assert words[:2] == ["artus", "train"]
    again = parse(words[2:])
    assert dataclasses.replace(again, runs=tmp_path) == settings


def test_the_command_on_a_card_needs_no_file_of_settings(tmp_path):
    toml = tmp_path / "mine.toml"
    toml.write_text('rules = "advanced"\nnum_players = 3\nsteps = 512\nhidden = [32]\nopponents = ["greedy=0.2"]\n')
    settings = dataclasses.replace(
        parse(["--preset", str(toml)]), runs=tmp_path, num_games=16, num_steps=16, evaluate_every=0, final_games=0, threads=1
    )
    assert train(settings)
    toml.unlink()
    again = parse(read_card(settings.agent)["command"].split()[2:])
    assert dataclasses.replace(again, runs=tmp_path) == dataclasses.replace(settings, preset=None)


def test_a_preset_that_says_the_variant_finds_its_checkpoint(tmp_path):
    toml = tmp_path / "mine.toml"
    toml.write_text('rules = "advanced"\nnum_players = 3\n')
    with pytest.raises(CheckpointError, match="ppo-advanced-3"):
        parse(["--preset", str(toml), "--resume", "--runs", str(tmp_path)])


def test_help_shows_the_defaults_of_the_variant(capsys):
    with pytest.raises(SystemExit):
        parse(["--rules", "beginner", "--num-players", "3", "--help"])
    assert f"(default: {preset('beginner', 3).steps})" in " ".join(capsys.readouterr().out.split())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_round_on_cuda(tmp_path):
    trainer = Trainer(tiny(tmp_path, device="cuda"))
    for _ in range(2):
        trainer.collect()
        figures = trainer.update()
    assert np.isfinite(list(figures.values())).all()
