"""The trainer: advantages of decisions, gradients of the loss, trainings and how they are resumed."""

import dataclasses
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from artus_agents.network import Output, Shape, fast_bfloat16
from artus_agents.neural import infer
from artus_agents.saved import load_agent, read_card
from artus_env.engine.agents.view import FORFEIT
from artus_env.engine.basics.writing import UNFINISHED
from artus_env.engine.contract.registry import find_game
from artus_env.games.artus.components import MAX_PLAYERS as P
from artus_env.games.artus.evaluation import NUM_ACTION_FEATURES
from artus_env.games.artus.state import OVER, STATE
from artus_training.arena.evaluate import evaluate
from artus_training.cli import main
from artus_training.learn import checkpoints, command
from artus_training.learn import runs as training
from artus_training.learn.cards import card
from artus_training.learn.checkpoints import read_checkpoint, save_checkpoint
from artus_training.learn.command import parse
from artus_training.learn.opponents import LEARNER, Opponent
from artus_training.learn.ppo import Settings, Trainer, estimate_advantages, loss
from artus_training.learn.rollout import Decisions, Rollout
from artus_training.learn.runs import alone_in_run
from artus_training.learn.settings import goals, settings_to_dict, variants_with_preset, with_preset
from artus_training.progress import TrainingBar
from artus_training.usage import UsageError

BOTS = Path(__file__).parents[2] / "helpers" / "hostile_bots.py"

torch.set_num_threads(1)  # tests run side by side, and torch's threads spin while they wait

TINY = {
    "num_games": 64, "num_steps": 16, "batch_size": 256, "hidden": (32,), "threads": 1, "final_games": 0,
    "evaluate_every": 0,
}  # fmt: skip


def saved(settings):
    """Progress and tensors in the checkpoint of a training."""
    return read_checkpoint(settings.checkpoint)


def train(settings):
    return training.train(Trainer, settings)


def loaded(settings):
    """A new trainer, which goes on from the checkpoint."""
    trainer = Trainer(settings)
    trainer.load()
    return trainer


def tiny(tmp_path, **settings):
    return Settings(**TINY | {"runs": tmp_path, "steps": 8 * 64 * 16} | settings)


# --- each seat's own trajectory ---


def rollout_of(steps):
    """One game of three players. Each step: (mover, value, rewards of the three, whether the game ended)."""
    rollout = Rollout.of(np.array([3]), len(steps), Shape(1, 1, P), 1)
    rollout.player[:, 0] = [step[0] for step in steps]
    rollout.learns[:] = True
    rollout.reward[:, 0, :3] = [step[2] for step in steps]
    rollout.done[:, 0] = [step[3] for step in steps]
    rollout.value[P:, 0, 0] = [step[1] for step in steps]
    return rollout


def test_a_game_of_three_by_hand():
    """Seats 0, 1, 2, 0, 1 decide, and seat 1 ends the game. gamma = lambda = 1/2.

    Seat 0 is paid 1 - 2 + 3 = 2 until it decides again, then 4 + 5 = 9 to the end.
        second decision: 9 - 0.5 = 8.5;  first: 2 + 0.5 * 0.5 - 1 = 1.25, and 1.25 + 0.25 * 8.5 = 3.375
    Seat 1 is paid 10 until it decides again, then 1.  second: 1 - 2 = -1;  first: 10 + 1 - 4 = 7, 7 - 0.25 = 6.75
    Seat 2 is paid 7 after its only decision.  7 - 3 = 4
    """
    rollout = rollout_of(
        [
            (0, 1.0, (1, 0, 0), False),
            (1, 4.0, (-2, 5, 0), False),
            (2, 3.0, (3, 2, 4), False),
            (0, 0.5, (4, 3, 2), False),
            (1, 2.0, (5, 1, 1), True),
        ]
    )
    estimate_advantages(rollout, 0.5, 0.5)
    np.testing.assert_allclose(rollout.advantage[P:, 0], [3.375, 6.75, 4, 8.5, -1])
    assert rollout.ready[P:].all()
    assert not rollout.ready[:P].any()
    assert (rollout.pending == -1).all()
    # The mover's value comes first, then those of the next seats in turn. After seat 2's decision seat 0 gets 3, then
    # half of 9; seat 1 gets 2 + 3, then half of 1.
    np.testing.assert_allclose(rollout.returns[P + 2, 0, :3], [7, 3 + 0.5 * 9, 5 + 0.5 * 1])
    assert np.isnan(rollout.returns[P:, 0, 3]).all()


def test_an_open_decision_is_carried_over_with_what_it_was_paid():
    first = rollout_of([(0, 1.0, (1, 0, 0), False), (1, 2.0, (10, 5, 0), False)])
    estimate_advantages(first, 1.0, 1.0)
    assert not first.ready.any()
    assert first.pending[:, 0].tolist() == [P, P + 1, -1, -1]
    assert first.carried_reward[:, 0].tolist() == [11, 5, 0, 0]
    second = rollout_of([(2, 0.0, (100, 0, 0), False), (0, 3.0, (7, 20, 0), True)])
    second.value[:2, 0, 0] = 1.0, 2.0
    second.carried[:2] = True
    second.carried_reward[:] = first.carried_reward
    estimate_advantages(second, 1.0, 1.0)
    assert second.ready[:, 0].tolist() == [True, True, False, False, True, True]
    # Seat 0: 11 + 100 until it decides again, then 7; seat 1: 5 + 20 to the end.
    np.testing.assert_allclose(second.advantage[:2, 0], [11 + 100 + 7 - 1, 5 + 20 - 2])
    assert (second.pending == -1).all()


def test_a_seat_that_does_not_learn_is_left_out():
    rollout = rollout_of([(0, 1.0, (1, 0, 0), False), (1, 9.0, (2, 0, 0), False), (0, 1.0, (3, 0, 0), True)])
    rollout.learns[1] = False
    estimate_advantages(rollout, 1.0, 1.0)
    assert rollout.ready[P:, 0].tolist() == [True, False, True]
    np.testing.assert_allclose(rollout.advantage[[P, P + 2], 0], [1 + 2 + 3 - 1, 3 - 1])


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_opponents_hold_from_one_to_all_seats_but_one_and_move_on(tmp_path, num_players):
    """In as many deals as there are seats, opponents hold each seat equally often."""
    opponents = ("past=0.5", "greedy=0.25")
    trainer = Trainer(tiny(tmp_path, num_players=num_players, num_games=48, opponents=opponents))
    counts = (trainer.opponents.seats != LEARNER).sum(axis=1)
    assert sorted(set(counts[:36])) == list(range(1, num_players))
    assert not counts[36:].any()
    times_held = np.zeros((48, num_players), int)
    for _ in range(num_players):
        is_opponent = trainer.opponents.seats[:, :num_players] != LEARNER
        assert (is_opponent.sum(axis=1) == counts).all()
        times_held += is_opponent
        trainer.opponents.take_seats(0, np.arange(48))
    assert (times_held == counts[:, None]).all()


@pytest.mark.parametrize(
    ("game", "num_players"), [("artus", 2), ("artus", 3), ("artus", 4), ("magpies", 2), ("magpies", 6)]
)
def test_every_decision_is_learnt_from_once(tmp_path, game, num_players):
    trainer = Trainer(tiny(tmp_path, game=game, num_players=num_players, opponents=()))
    num_learnt, num_decisions = 0, 0
    for _ in range(6):
        trainer.collect()
        num_learnt += int(trainer.rollout.ready.sum())
        num_decisions += trainer.rollout.learns.size
        assert num_learnt + int((trainer.rollout.pending >= 0).sum()) == num_decisions
        trainer.update()


def test_decisions_without_a_choice_need_not_be_learnt_from(tmp_path):
    """Their rewards are credited to the decision before."""
    settings = {"num_steps": 64, "opponents": ()}
    trainers = [Trainer(tiny(tmp_path, forced=forced, **settings)) for forced in (True, False)]
    for trainer in trainers:
        trainer.collect()
    with_forced, without_forced = (trainer.rollout for trainer in trainers)
    legal = np.unpackbits(without_forced.legal[P:].view(np.uint8), axis=-1).sum(axis=-1)
    assert 0 < (legal == 1).sum() < legal.size / 4
    assert with_forced.learns.all()
    np.testing.assert_array_equal(without_forced.learns, legal > 1)
    np.testing.assert_array_equal(without_forced.reward, with_forced.reward)
    assert not without_forced.ready[P:][legal == 1].any()
    assert np.isfinite(list(trainers[1].update().values())).all()


def test_a_round_in_which_no_decision_is_finished_teaches_nothing(tmp_path):
    trainer = Trainer(tiny(tmp_path))
    trainer.collect()
    before = {name: value.clone() for name, value in trainer.network.state_dict().items()}
    trainer.rollout.ready[:] = False
    trainer._normalise()
    assert trainer.update() == {"given_up": 0}
    assert all(torch.equal(value, before[name]) for name, value in trainer.network.state_dict().items())
    trainer.collect()
    assert np.isfinite(list(trainer.update().values())).all()


# --- the loss ---


class Outputs(torch.nn.Module):
    """A network whose outputs are its weights."""

    def __init__(self, logits, gates, values):
        super().__init__()
        self.logits, self.gates, self.values = map(torch.nn.Parameter, (logits, gates, values))

    def forward(self, observation):
        return torch.cat([self.logits, self.gates, self.values], 1)

    def split(self, rows):
        parts = rows.split([self.logits.shape[1], self.gates.shape[1], self.values.shape[1]], 1)
        return Output(*parts)


@pytest.mark.parametrize("action_features", [True, False])
def test_the_loss_is_the_clipped_one_over_whole_rows_with_illegal_actions_masked(tmp_path, action_features):
    """`loss` handles legal actions only; computing it over dense rows gives the same loss and the same gradients."""
    random = np.random.default_rng(1)
    size, actions, num_features = 200, 339, NUM_ACTION_FEATURES if action_features else 0
    mask = random.random((size, actions)) < 0.07
    chosen = random.integers(0, actions, size)
    mask[np.arange(size), chosen] = True
    rollout = Rollout.of(np.array([2]), size - P, Shape(3, actions, P, num_action_features=num_features), 8)
    for action in range(actions):
        rollout.legal[:, 0, action // 64] |= mask[:, action].astype(np.uint64) << np.uint64(action % 64)
    rollout.action_features[:] = random.integers(-9, 10, rollout.action_features.shape)
    rollout.action[:, 0] = chosen
    rollout.logprob[:, 0] = np.log(1 / mask.sum(1)) + random.normal(size=size) / 4
    rollout.advantage[:, 0] = random.normal(size=size)
    rollout.returns[:, 0] = np.where(random.random((size, P)) < 0.3, np.nan, random.normal(size=(size, P)))
    rows = torch.from_numpy(random.permutation(size)[:150])
    batch = Decisions(rollout, 2.0, torch.device("cpu")).minibatch(rows)
    outputs = [torch.randn(150, width) / 5 for width in (actions, num_features, P)]
    settings = tiny(tmp_path, precision="float32", entropy=0.01, value_weight=0.3)
    network, dense = Outputs(*outputs), Outputs(*outputs)
    value, figures = loss(network, batch, settings)
    value.backward()

    z = dense.logits
    if action_features:
        z = z + (torch.tensor(rollout.action_features[:, 0])[rows].float() / 10 * dense.gates[:, None]).sum(2)
    log_probs = torch.log_softmax(z.masked_fill(~torch.tensor(mask)[rows], -1e9), 1)
    old, advantages = (torch.tensor(part[:, 0])[rows] for part in (rollout.logprob, rollout.advantage))
    ratio = (log_probs[torch.arange(150), torch.tensor(chosen)[rows]] - old).exp()
    clipped_gain = torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)
    entropy = -(log_probs.exp() * log_probs).sum(1)
    error = torch.nan_to_num(dense.values - torch.tensor(rollout.returns[:, 0])[rows])
    expected = (-clipped_gain - 0.01 * entropy + 0.3 * error.square().sum(1) / 2.0).mean()
    expected.backward()

    torch.testing.assert_close(value, expected)
    for name, weights in dense.named_parameters():
        if weights.numel():
            torch.testing.assert_close(network.get_parameter(name).grad, weights.grad, atol=1e-7, rtol=1e-4)
    torch.testing.assert_close(figures["entropy"], entropy.sum().detach(), rtol=1e-4, atol=0)
    assert 15 < figures["clip_fraction"] < 135, "some decisions are clipped and some are not"


# --- training ---


def test_a_few_seconds_of_training_beat_random_and_the_untrained_network(tmp_path):
    settings = tiny(tmp_path, action_features=False, steps=150_000, num_games=128, learning_rate=3e-3, hidden=(64,))
    untrained = Trainer(settings)
    before = evaluate([untrained.agent(), "random"], games=400).win_rate
    assert train(settings)
    after = evaluate([f"ppo:{settings.agent}", "random"], games=400).win_rate
    assert before < 0.65
    assert after > 0.8


@pytest.mark.parametrize(
    "more",
    [
        {"opponents": ("past=0.3", "greedy=0.2"), "snapshot_every": 2},
        {"also": ("advanced-3",)},
        {"num_players": 4},
        {"forced": False},
        {"game": "magpies", "num_players": 6, "also": ("standard-2",), "opponents": ("past=0.3", "greedy=0.2")},
    ],
)
def test_a_resumed_training_ends_with_the_same_agent(tmp_path, more):
    uninterrupted, interrupted = tiny(tmp_path / "whole", **more), tiny(tmp_path / "parted", **more)
    assert train(uninterrupted)
    trainer = Trainer(interrupted)
    for _ in range(3):
        trainer.collect()
        trainer.update()
    trainer.save()
    trainer.collect()  # and what came after the checkpoint is lost
    assert train(dataclasses.replace(interrupted, resume=True))
    assert uninterrupted.agent.read_bytes() == interrupted.agent.read_bytes()
    assert json.loads(uninterrupted.agent.with_suffix(".json").read_text())["steps"] == uninterrupted.steps


def test_a_few_seconds_teach_a_game_of_six_that_nobody_here_knows(tmp_path):
    settings = dataclasses.replace(
        parse(["--game", "magpies", "--num-players", "6", "--runs", str(tmp_path)]),
        **TINY | {"num_games": 256, "num_steps": 32, "hidden": (64,), "steps": 200_000, "batch_size": 1024},
    )
    trainer = Trainer(settings)
    while trainer.progress < 1:
        trainer.collect()
        trainer.update()
    assert trainer.network.shape.num_action_features == 0
    result = evaluate([trainer.agent(), "random"], game="magpies", num_players=6, games=300)
    assert result.win_rate > 0.4, "among equals it would be a sixth"
    trainer.save_agent()
    card = json.loads((tmp_path / "magpies-ppo-standard-6" / "agent.json").read_text())
    assert (card["game"], card["variants"]) == ("magpies", [["standard", 6]])
    assert card["components"] == find_game("magpies").standard.hash
    settings_from_card = parse(shlex.split(card["command"])[2:])
    assert dataclasses.replace(settings_from_card, runs=tmp_path) == settings


def test_a_checkpoint_of_another_game_is_refused(tmp_path):
    Trainer(tiny(tmp_path)).save()
    artus_settings, magpies_settings = tiny(tmp_path), tiny(tmp_path, game="magpies")
    assert magpies_settings.folder == tmp_path / "magpies-ppo-standard-2"
    magpies_settings.folder.mkdir()
    magpies_settings.checkpoint.write_bytes(artus_settings.checkpoint.read_bytes())
    with pytest.raises(UsageError, match="belongs to a run with game 'artus', not 'magpies'"):
        Trainer(magpies_settings).load()
    with pytest.raises(ValueError, match=r"checkpoint\.safetensors belongs in .*/ppo-beginner-2$"):
        parse(["--game", "magpies", "--resume", "--runs", str(tmp_path)])


def test_a_checkpoint_from_when_there_was_one_game_goes_on(tmp_path, capsys):
    """Settings in such a checkpoint name no game, and call the reward `points` by the game's name for its score."""
    uninterrupted, interrupted = tiny(tmp_path / "whole"), tiny(tmp_path / "parted")
    assert train(uninterrupted)
    trainer = Trainer(interrupted)
    trainer.collect()
    trainer.update()
    trainer.save()
    progress, tensors = saved(interrupted)
    del progress.settings["game"], progress.settings["forced"]
    progress.settings |= {"reward": "prestige", "final_reward": "prestige"}
    save_checkpoint(interrupted.checkpoint, dataclasses.asdict(progress), tensors)
    capsys.readouterr()
    resumed = parse(["--resume", "--runs", str(interrupted.runs), "--set", "final_reward="])
    assert (resumed.game, resumed.reward) == ("artus", "points")
    assert train(resumed)
    assert "other settings: final_reward 'points' -> ''" in capsys.readouterr().out
    assert uninterrupted.agent.read_bytes() == interrupted.agent.read_bytes()


LONGER = {"steps": 60 * 64 * 16, "opponents": ("past=0.2",), "snapshot_every": 3}


def start(settings, *more):
    """Start `artus train` with these settings and one thread in another process."""
    words = ["--runs", settings.runs, "--steps", settings.steps, "--num-games", settings.num_games, "--threads", 1]
    words += ["--hidden", *settings.hidden, "--set", "final_games=0", "--set", "evaluate_every=0"]
    words += ["--opponents", *settings.opponents, *more]
    for name in ("num_steps", "batch_size", "snapshot_every", "final_reward"):
        words += ["--set", f"{name}={getattr(settings, name)}"]
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


@pytest.mark.slow
def test_killed_at_random_moments_it_ends_as_if_undisturbed(tmp_path, undisturbed):
    settings, moments = tiny(tmp_path, **LONGER), np.random.default_rng()
    saved_updates = 0
    for _ in range(3):
        process = start(settings, *["--resume"] * settings.checkpoint.exists())
        updates_before = saved_updates
        wait_for(lambda least=updates_before: updates(settings) > least, process)
        delay = moments.uniform(0, 0.3)
        time.sleep(delay)
        process.send_signal(signal.SIGSTOP)  # else it would go on while the checkpoint is read
        saved_updates = updates(settings)  # so much is on the disk: the kill must not take it away
        process.kill()
        process.communicate()
        assert saved_updates <= updates(settings) <= saved_updates + 2, f"killed after {delay} s"
        assert not settings.agent.exists(), "killed too late to show anything"
    assert train(dataclasses.replace(settings, resume=True))
    assert settings.agent.read_bytes() == undisturbed


def updates(settings):
    return saved(settings)[0].updates if settings.checkpoint.exists() else 0


@pytest.mark.slow
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
    exact, short = (
        infer(trainer.network, trainer.variants[0].batch.observation, trainer.settings.bfloat16) for trainer in trainers
    )
    for one, other in zip(exact, short, strict=True):
        assert one.dtype == other.dtype == torch.float32
        torch.testing.assert_close(other, one, atol=0.02, rtol=0.05)
    assert not all(torch.equal(one, other) for one, other in zip(exact, short, strict=True)), "it was bfloat16 indeed"
    settings = tiny(
        tmp_path,
        precision="bfloat16",
        action_features=False,
        steps=150_000,
        num_games=128,
        learning_rate=3e-3,
        hidden=(64,),
    )
    assert train(settings)
    assert evaluate([f"ppo:{settings.agent}", "random"], games=400).win_rate > 0.8


def test_a_checkpoint_that_does_not_fit_is_named(tmp_path):
    settings = tiny(tmp_path)
    with pytest.raises(UsageError, match=r"checkpoint\.safetensors doesn't exist"):
        saved(settings)
    trainer = Trainer(settings)
    trainer.save()
    content = settings.checkpoint.read_bytes()
    for damaged in (content[: len(content) // 2], b"", b"something else"):
        settings.checkpoint.write_bytes(damaged)
        with pytest.raises(UsageError, match=r"checkpoint\.safetensors is damaged"):
            saved(settings)
    settings.checkpoint.write_bytes(content)
    for changes in ({"hidden": (16,)}, {"seed": 1}, {"num_games": 32}, {"action_features": False}):
        other = Trainer(dataclasses.replace(settings, **changes))
        with pytest.raises(
            UsageError, match=rf"checkpoint\.safetensors belongs to a run with {next(iter(changes))} .*--resume"
        ):
            other.load()


def test_no_flipped_bit_goes_unnoticed(tmp_path):
    settings = tiny(tmp_path, num_games=4)
    Trainer(settings).save()
    content = settings.checkpoint.read_bytes()
    random = np.random.default_rng(0)
    for place in [*range(120), *random.integers(0, len(content), 280), *range(-70, 0)]:
        changed = bytearray(content)
        changed[place] ^= 1 << int(random.integers(8))
        settings.checkpoint.write_bytes(changed)
        with pytest.raises(UsageError, match=r"checkpoint\.safetensors is damaged"):
            saved(settings)


def over(states):
    """The states as those of games that are over."""
    states.view(STATE)["phase"] = OVER


def noise(part):
    part[...] = np.random.default_rng(1).integers(0, 256, part.shape)


@pytest.mark.parametrize(
    ("name", "forge"),
    [
        ("network.head.bias", lambda part: part.fill_(torch.nan)),
        ("network.head.bias", lambda part: part[:-1]),
        ("network.head.bias", lambda part: part.double()),
        ("network.head.bias", None),
        ("optimizer.0.exp_avg", lambda part: part[:1].clone()),
        ("optimizer.0.exp_avg", lambda part: part.double()),
        ("optimizer.0.exp_avg_sq", lambda part: part.fill_(torch.inf)),
        ("optimizer.0.exp_avg_sq", lambda part: part - 1),
        ("optimizer.0.step", lambda part: part.reshape(1)),
        ("optimizer.0.step", None),
        ("pool.0.head.bias", lambda part: part.fill_(-torch.inf)),
        ("pool.0.head.bias", None),
        ("games.0.value", lambda part: part.fill_(torch.nan)),
        ("games.0.value", lambda part: part[:, :1].clone()),
        ("games.0.action", lambda part: part.fill_(339)),
        ("games.0.action", lambda part: part.fill_(-1)),
        ("games.0.action", lambda part: (part + 1) % 339),
        ("games.0.legal", lambda part: part.fill_(-1)),
        ("games.0.legal", lambda part: part.fill_(0)),
        ("games.0.carried", lambda part: part.fill_(2)),
        ("games.0.seats", lambda part: part.fill_(7)),
        ("games.0.seats", lambda part: part.fill_(-2)),
        ("games.0.draws", None),
        ("games.0.order", lambda part: part[:8].clone()),
        ("games.0.order", lambda part: part.fill_(255)),
        ("games.0.seeds.0", lambda part: part[:3].clone()),
        ("games.0.states.0", lambda part: part[:-1].clone()),
        ("games.0.states.0", lambda part: part.fill_(0)),
        ("games.0.states.0", lambda part: part.fill_(255)),
        ("games.0.states.0", lambda part: noise(part.numpy())),
        ("games.0.states.0", lambda part: over(part.numpy())),
    ],
)
def test_a_checkpoint_that_was_made_up_is_refused_though_its_checksum_fits(tmp_path, monkeypatch, name, forge):
    """Compiled loops don't check the arrays that come from a file."""
    settings = tiny(tmp_path, num_games=8)
    trainer = Trainer(settings)
    trainer.collect()
    trainer.update()
    trainer.save()
    progress, tensors = saved(settings)
    assert name in tensors
    part = tensors.pop(name)
    if forge:
        changed = forge(part)
        tensors[name] = part if changed is None else changed  # some change it where it is
    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "not_finite", lambda _: "")
        save_checkpoint(settings.checkpoint, dataclasses.asdict(progress), tensors)
    with pytest.raises(
        UsageError,
        match=rf"checkpoint\.safetensors.*({re.escape(name)}|actions|opponents|possible|0 or 1|RNG|mt19937|negative)",
    ):
        Trainer(settings).load()


@pytest.mark.parametrize("opponents", [(), ("greedy=0.5",), ("greedy=0.25", "past=0.25")])
def test_a_training_goes_on_with_other_opponents(tmp_path, opponents):
    settings = tiny(tmp_path, num_games=8, opponents=("past=0.5",))
    trainer = Trainer(settings)
    trainer.collect()
    trainer.update()
    trainer.save()
    trainer = Trainer(dataclasses.replace(settings, opponents=opponents))
    trainer.load()
    seated = (trainer.opponents.seats[:, :2] >= 0).any(axis=1)
    assert seated.sum() == (4 if opponents else 0)
    assert set(trainer.opponents.seats[seated].max(axis=1)) == set(range(len(opponents)))
    trainer.collect()
    assert np.isfinite(list(trainer.update().values())).all()


# --- runs, opponents, limits ---


def test_a_second_training_leaves_the_first_alone(tmp_path):
    """The command refuses, and names the options that continue that training or begin another run."""
    settings = tiny(tmp_path, steps=2048)
    assert train(settings)
    agent, files = settings.agent.read_bytes(), sorted(settings.folder.rglob("*"))
    with pytest.raises(
        UsageError, match=r"ppo-beginner-2 holds a run already: --resume goes on with it, --name NAME begins another"
    ):
        train(dataclasses.replace(settings, seed=1))
    assert sorted(settings.folder.rglob("*")) == files
    assert settings.agent.read_bytes() == agent
    other = dataclasses.replace(settings, seed=1, name="second")
    assert train(other)
    assert other.agent == tmp_path / "second" / "agent.safetensors"
    assert other.agent.read_bytes() != agent
    assert settings.agent.read_bytes() == agent
    assert parse(["--resume", "--name", "second", "--runs", str(tmp_path)]).seed == 1


@pytest.mark.parametrize("name", ["a/b", "..", ".hidden", "/tmp"])
def test_the_name_of_a_run_is_that_of_a_folder(name, tmp_path):
    with pytest.raises(ValueError, match="name must be the name of a folder"):
        train(tiny(tmp_path, name=name))


def test_a_run_that_was_killed_in_its_first_round_can_be_resumed(tmp_path, monkeypatch):
    settings = tiny(tmp_path, steps=2048, seed=2)
    alone = dataclasses.replace(settings, name="alone")
    assert train(alone)
    with monkeypatch.context() as patch:
        patch.setattr(training, "learn_to_the_end", killed)
        with pytest.raises(KeyboardInterrupt):
            train(settings)
    assert train(parse(["--resume", "--seed", "2", "--runs", str(tmp_path)]))
    assert settings.agent.read_bytes() == alone.agent.read_bytes()
    with pytest.raises(UsageError, match="belongs to a run with seed 2, not 1; leave --resume out"):
        train(parse(["--resume", "--seed", "1", "--runs", str(tmp_path)]))


def test_every_training_is_evaluated_five_times(tmp_path, monkeypatch, capsys):
    """Even if `evaluate_every` is large; and lines with the run's name show its progress."""
    show = TrainingBar.show_figures
    monkeypatch.setattr(
        TrainingBar, "show_figures", lambda bar, text: show(bar, text) or bar.line(bar.status(bar.tasks[0]))
    )
    settings = tiny(
        tmp_path, steps=12 * 512, evaluate_every=1000, games=2, evaluation_opponents=("random",), name="mine"
    )
    assert train(settings)
    steps = [point["steps"] / settings.steps for point in read_card(settings.agent)["curve"]]
    assert len(steps) == 5
    assert all(fifth <= step < fifth + 1 / 6 for fifth, step in zip((0.2, 0.4, 0.6, 0.8, 1), steps, strict=True))
    lines = capsys.readouterr().err.splitlines()
    assert sum(line.startswith("mine after ") and "decisions: won against random" in line for line in lines) == 5
    figures = r"mine \d+ %, \d:\d\d:\d\d left: "
    figures += r"[\d.]+ k decisions, [\d.]+ [kM]/s, entropy [\d.]+, KL [-\de.]+, explained variance [-\de.]+"
    assert any(re.fullmatch(figures, line) for line in lines), lines


def killed(*_):
    raise KeyboardInterrupt


def test_variants_that_are_learnt_together_name_the_folder(tmp_path):
    folders = [tiny(tmp_path, also=also).folder for also in ((), ("advanced-2",), ("beginner-3", "beginner-4"))]
    assert [folder.name for folder in folders] == [
        "ppo-beginner-2", "ppo-beginner-2+advanced-2", "ppo-beginner-2+beginner-3+beginner-4",
    ]  # fmt: skip


def test_a_run_that_is_prolonged_keeps_the_agent_that_it_had_and_says_what_changed(tmp_path, capsys):
    settings = tiny(tmp_path, steps=2048)
    assert train(settings)
    before = settings.agent.read_bytes()
    capsys.readouterr()
    assert train(dataclasses.replace(settings, steps=4096, resume=True))
    assert "goes on with other settings: steps 2048 -> 4096" in capsys.readouterr().out
    old_agent = settings.agent.with_name("agent-2048.safetensors")
    assert old_agent.read_bytes() == before
    assert load_agent(old_agent)[1]["steps"] == 2048
    assert read_card(settings.agent)["changes"] == [{"steps": 2048, "settings": {"steps": [2048, 4096]}}]


def test_a_run_has_room_for_one_process(tmp_path, capsys):
    settings = tiny(tmp_path)
    with alone_in_run(settings.folder):
        assert main(["train", "--runs", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"artus train: {settings.folder}: another process is training there\n"
    assert not settings.checkpoint.exists()


def test_a_card_says_where_a_single_deal_tells_nothing():
    """The spread between deals would be infinite, which JSON can't express."""
    result = evaluate(["greedy", "random"], games=2)
    fields = {"command": "", "settings": {}, "steps": 1, "seconds": 1.0, "curve": ()}
    agent_card = card("artus", [("beginner", 2)], **fields, strength=[result])
    assert agent_card["strength"][0]["margin_95"] is None
    json.dumps(agent_card, allow_nan=False)


def test_resuming_a_finished_run_keeps_what_was_measured_of_its_agent(tmp_path):
    settings = tiny(tmp_path, final_opponents=("random",), final_games=4)
    assert train(settings)
    measured = read_card(settings.agent)["strength"]
    assert [result["against"] for result in measured] == ["random"]
    assert train(dataclasses.replace(settings, resume=True, final_games=0))
    assert read_card(settings.agent)["strength"] == measured


def test_the_command_that_trains_all_says_in_one_line_that_a_folder_is_in_use(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with alone_in_run(Path("runs/ppo-beginner-2")):
        assert main(["train-all"]) == 2
    assert capsys.readouterr().err == "artus train-all: runs/ppo-beginner-2: another process is training there\n"


PROGRAM = "program:touch sprung"


@pytest.mark.parametrize("name", ["evaluation_opponents", "final_opponents", "opponents"])
def test_no_file_can_start_a_program(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    value = f"{PROGRAM}=0.5" if name == "opponents" else PROGRAM
    settings = dataclasses.replace(tiny(tmp_path), **{name: (value,)})
    (tmp_path / "mine.toml").write_text(f'{name} = ["{value}"]')
    save_checkpoint(
        settings.checkpoint,
        {"settings": settings_to_dict(settings), "steps": 0, "updates": 0, "seconds": 0, "pool": 0},
        {},
    )
    for words in (["--resume", "--runs", str(tmp_path)], ["--preset", "mine.toml"]):
        with pytest.raises(ValueError, match=f"{name} has '{PROGRAM}', which starts a program; a file can't do that"):
            parse(words)
        for others in ("greedy=0.5", value):
            assert getattr(parse([*words, "--set", f"{name}={others}"]), name) == (others,)
    assert not (tmp_path / "sprung").exists()
    with pytest.raises(ValueError, match="starts a program"):
        with_preset(Settings(preset=tmp_path / "mine.toml"))


class Moody:
    """Gives up some decisions, or plays illegal actions."""

    failure = "it was tired"

    def __init__(self, action):
        self.action = action

    def act(self, view):
        return np.where(view.keys % 7 == 0, self.action, view.mask.argmax(axis=1))


@pytest.mark.parametrize(("action", "reason"), [(FORFEIT, "it was tired"), (400, "illegal action 400")])
def test_an_opponent_that_gives_up_does_not_end_the_training(tmp_path, capsys, action, reason):
    trainer = Trainer(tiny(tmp_path, opponents=("greedy=0.5",)))
    trainer.opponents.agents = [Opponent("bot", Moody(action))]
    for _ in range(2):
        trainer.collect()
        assert trainer.update()["given_up"] > 10
    message = f"opponent bot gave a game up ({reason}): random moves are played in its place"
    assert capsys.readouterr().err.splitlines() == [message], "once"


@pytest.mark.skipif(sys.platform != "linux", reason="programs play on Linux only")
def test_an_opponent_that_never_plays_stops_the_training_with_its_name(tmp_path, capsys):
    bot = f"program:{sys.executable} {BOTS} crashes"
    words = ["--num-games", "16", "--set", "num_steps=8", "--hidden", "16", "--opponents", f"{bot}=0.5"]
    assert main(["train", "--runs", str(tmp_path), *words]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith(f"artus train: opponent {bot} gives up every game: ended with exit code ")


def test_a_full_disk_leaves_the_last_checkpoint_and_resume_goes_on(tmp_path, monkeypatch, undisturbed):
    settings = tiny(tmp_path, **LONGER)
    writes = iter(range(100))

    def full_after_a_while(_):
        if next(writes) == 20:
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full_after_a_while)
        patch.setattr(training, "SAVING_PART", np.inf)  # a checkpoint every round, however long it takes
        with pytest.raises(OSError, match="No space left"):
            train(settings)
    assert updates(settings) == 19  # the first one holds none
    assert train(dataclasses.replace(settings, resume=True))
    assert settings.agent.read_bytes() == undisturbed


def test_checkpoints_take_a_tenth_of_the_time_at_most(tmp_path, monkeypatch):
    class Clock:
        ticks = 0

        def monotonic(self):
            self.ticks += 1  # so a round takes one second, and so does a checkpoint
            return self.ticks

    written = []
    monkeypatch.setattr(training, "time", Clock())
    monkeypatch.setattr(Trainer, "save", lambda trainer: written.append(trainer.updates))
    assert train(tiny(tmp_path, steps=12 * 64 * 16))
    assert written == [0, 1, 11, 12], "where it begins and ends, after a first round, and after ten seconds"


@pytest.mark.slow
def test_what_a_killed_training_left_half_written_is_removed(tmp_path):
    settings = tiny(tmp_path, steps=2048)
    script = """
import os, signal, sys
from artus_training.learn import command
writes = iter(range(9))
os.fsync = lambda _: next(writes) and os.kill(os.getpid(), signal.SIGKILL)
command.main(sys.argv[1:])
"""
    words = [
        "--runs",
        tmp_path,
        "--num-games",
        64,
        "--set",
        "num_steps=16",
        "--hidden",
        32,
        "--threads",
        1,
        "--set",
        "evaluate_every=0",
    ]
    words += ["--set", "final_games=0", "--steps", 2048]
    process = subprocess.run([sys.executable, "-c", script, *map(str, words)], timeout=120)
    assert process.returncode == -signal.SIGKILL
    assert list(settings.folder.glob(f".*{UNFINISHED}"))
    assert train(parse(["--resume", "--runs", str(tmp_path)]))
    assert not list(settings.folder.glob(".*"))


def test_a_training_that_diverges_keeps_the_checkpoint_before(tmp_path):
    settings = tiny(tmp_path)
    trainer = Trainer(settings)
    trainer.save()
    before = settings.checkpoint.read_bytes()
    with torch.no_grad():
        trainer.network.head.bias[3] = torch.nan
    with pytest.raises(UsageError, match=r"network\.head\.bias has numbers that are not finite: .* diverged"):
        trainer.save()
    assert settings.checkpoint.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--hidden", "1000000000"], "hidden: a network may have 100,000,000 weights"),
        (["--hidden", *["1"] * 50], "hidden needs the widths of 1..32 layers"),
        (["--num-games", "1000000000"], "num_games 1000000000 and num_steps 32 need .* GB of memory"),
        (["--set", "num_steps=1000000000"], "num_games 2048 and num_steps 1000000000 need .* GB of memory"),
        (["--set", "games=1000000000"], "games can't be 1000000000: Expected `int` <= 10000000"),
        (["--set", "final_games=1000000000"], "final_games can't be 1000000000: Expected `int` <= 10000000"),
        (["--threads", "1000000"], "threads can't be 1000000: Expected `int` <= 1024"),
    ],
)
def test_sizes_that_no_machine_has_are_refused_before_memory_is_asked_for(tmp_path, words, message):
    with pytest.raises(UsageError, match=message):
        command.main([*words, "--runs", str(tmp_path)])
    assert not list(tmp_path.iterdir())


def test_a_place_for_runs_that_is_a_file_is_refused_by_name(tmp_path):
    (tmp_path / "runs").write_text("mine")
    with pytest.raises(OSError, match="runs"):
        train(tiny(tmp_path / "runs"))
    assert (tmp_path / "runs").read_text() == "mine"


@pytest.mark.parametrize("rules", ["beginner", "advanced"])
@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_every_variant_has_a_preset(rules, num_players):
    settings = with_preset(Settings(rules=rules, num_players=num_players))
    settings.check()
    assert (settings.rules, settings.num_players) == (rules, num_players)


def test_a_game_without_presets_has_default_settings_and_is_told_so(tmp_path, capsys, monkeypatch):
    settings = parse(["--game", "magpies", "--num-players", "5"])
    assert (settings.rules, settings.num_players, settings.final_reward, settings.forced) == (
        "standard",
        5,
        "win",
        False,
    )
    settings.check()
    monkeypatch.setattr(command, "train", lambda kind, settings, ranks: True)
    assert main(["train", "--game", "magpies", "--num-players", "5", "--runs", str(tmp_path)]) == 0
    message = "magpies has no preset for standard with 5 players: settings that aren't given have their defaults\n"
    assert capsys.readouterr().out == message
    assert main(["train", "--runs", str(tmp_path)]) == 0
    assert capsys.readouterr().out == ""


def test_a_preset_may_name_the_game(tmp_path):
    toml = tmp_path / "mine.toml"
    toml.write_text('game = "magpies"\nnum_players = 6\nsteps = 512\n')
    settings = parse(["--preset", str(toml)])
    assert (settings.game, settings.rules, settings.num_players, settings.steps) == ("magpies", "standard", 6, 512)


def test_train_all_trains_what_has_goals_or_else_what_has_presets(tmp_path, monkeypatch, capsys):
    trainings = command.All().trainings()
    assert [(run.rules, run.num_players) for run in trainings] == [("beginner", 2), ("advanced", 2)]
    assert [run.final_reward for run in trainings] == ["win", "win"]
    existing = dataclasses.replace(trainings[1], runs=tmp_path)
    existing.folder.mkdir()
    existing.checkpoint.touch()
    assert main(["train-all", "--runs", str(tmp_path)]) == 2
    assert "ppo-advanced-2 holds a run already: --resume goes on with it, --runs FOLDER" in capsys.readouterr().err
    assert [run.resume for run in command.All(runs=tmp_path, resume=True).trainings()] == [False, True]
    definition = trainings[0].definition
    for run in trainings:
        assert goals(definition, run.rules, 2) == {"random": 0.99, "greedy": 0.9, "lookahead": 0.6}
    assert len(variants_with_preset(definition)) == 6
    assert main(["train-all", "--game", "magpies"]) == 2
    assert "magpies has no presets: train its variants one by one" in capsys.readouterr().err
    (tmp_path / "standard-3.toml").write_text("steps = 77\nepochs = 3\n")
    monkeypatch.setitem(vars(find_game("magpies")), "presets", tmp_path)
    (only,) = command.All("magpies").trainings()
    assert (only.game, only.num_players, only.epochs, only.steps) == ("magpies", 3, 3, command.SHORT)
    assert goals(only.definition, "standard", 3) == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('game = "magpie"', "there is no game 'magpie'; did you mean magpies"),
        ("stepps = 3", "there is no setting 'stepps'"),
        ("steps = 0.5", "steps can't be 0.5: Expected `int`, got `float`"),
        ("steps =", "mine.toml"),
        ("final_reward = 1", "final_reward can't be 1: Expected `str`, got `int`"),
        ("steps = true", "steps can't be True: Expected `int`, got `bool`"),
        ("also = [3]", "also can't be .*: Expected `str`, got `int`"),
        ("a = " + "[" * 5000 + "]" * 5000, "brackets are nested too deep"),
        ("steps = " + "9" * 5000, r"mine\.toml: .*digits"),
        ("hidden = [" + "1, " * 100_000 + "]", "hidden has 100000 items, at most 64"),
        ("hidden = [256.5]", "hidden can't be .*: Expected `int`, got `float`"),
    ],
)
def test_faulty_presets_are_named(tmp_path, text, message):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        with_preset(Settings(preset=path))


@pytest.mark.parametrize("name", ["reward", "final_reward"])
def test_an_unknown_reward_is_refused_before_the_training(name):
    with pytest.raises(ValueError, match="reward must be one of win, margin, prestige, got 'fame'"):
        Settings(**{name: "fame"}).check()


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_seeds_have_a_range(seed):
    with pytest.raises(ValueError, match="seed can't be"):
        Settings(seed=seed).check()


def test_a_card_says_how_to_train_the_agent_again(tmp_path):
    settings = tiny(tmp_path, rules="advanced", num_players=3, steps=1024)
    assert train(settings)
    card = json.loads(settings.agent.with_suffix(".json").read_text())
    words = shlex.split(card["command"])
    assert words[:2] == ["artus", "train"]
    settings_from_card = parse(words[2:])
    assert dataclasses.replace(settings_from_card, runs=tmp_path) == settings


def test_the_command_on_a_card_needs_no_file_of_settings(tmp_path):
    toml = tmp_path / "mine.toml"
    toml.write_text('rules = "advanced"\nnum_players = 3\nsteps = 512\nhidden = [32]\nopponents = ["greedy=0.2"]\n')
    settings = dataclasses.replace(
        parse(["--preset", str(toml)]),
        runs=tmp_path,
        num_games=16,
        num_steps=16,
        evaluate_every=0,
        final_games=0,
        threads=1,
    )
    assert train(settings)
    toml.unlink()
    settings_from_card = parse(shlex.split(read_card(settings.agent)["command"])[2:])
    assert dataclasses.replace(settings_from_card, runs=tmp_path) == dataclasses.replace(settings, preset=None)


def test_a_preset_that_says_the_variant_finds_its_checkpoint(tmp_path):
    toml = tmp_path / "mine.toml"
    toml.write_text('rules = "advanced"\nnum_players = 3\n')
    with pytest.raises(UsageError, match="ppo-advanced-3"):
        parse(["--preset", str(toml), "--resume", "--runs", str(tmp_path)])


def test_a_zero_is_given():
    settings = parse(
        ["--steps", "7", "--seed", "0", "--threads", "0", "--set", "final_games=0", "--set", "pool_size=3"]
    )
    assert (settings.steps, settings.seed, settings.threads) == (7, 0, 0)
    assert (settings.final_games, settings.pool_size) == (0, 3)
    assert not settings.resume


def test_every_setting_can_be_given_and_values_are_those_of_toml(tmp_path):
    words = ["--set", "gamma=0.5", "--set", 'also=["advanced-3", "beginner-4"]', "--set", "precision=float32"]
    settings = parse([*words, "--set", "evaluation-opponents=random", "--set", "forced=false"])
    assert (settings.gamma, settings.also) == (0.5, ("advanced-3", "beginner-4"))
    assert (settings.precision, settings.evaluation_opponents, settings.forced) == ("float32", ("random",), False)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("gama=0.5", "--set needs KEY=VALUE with one of these keys: game, .*; got 'gama=0.5'"),
        ("gamma", "--set needs KEY=VALUE"),
        ("gamma=much", "the command line: gamma can't be 'much': Expected `float`, got `str`"),
        ("gamma=2", "the command line: gamma can't be 2: Expected `float` <= 1"),
    ],
)
def test_a_setting_that_is_wrong_is_named(word, message):
    with pytest.raises(ValueError, match=message):
        parse(["--set", word])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.filterwarnings("ignore:Attempting to run cuBLAS")  # of torch 2.11, in the thread that goes backward
def test_a_round_on_cuda(tmp_path):
    trainer = Trainer(tiny(tmp_path, device="cuda"))
    for _ in range(2):
        trainer.collect()
        figures = trainer.update()
    assert np.isfinite(list(figures.values())).all()
