"""The environment for Stable-Baselines3, the training with it and its files, and evaluation."""

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
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

from artus_agents.neural import NeuralAgent, find_trained, infer
from artus_agents.saved import read_card
from artus_env import Batch, Game
from artus_env.engine.agents.names import find_agent
from artus_env.engine.agents.view import FORFEIT, View
from artus_training.arena.evaluate import evaluate, wilson_interval
from artus_training.arena.lineup import line_up
from artus_training.cli import main
from artus_training.learn import command
from artus_training.learn import runs as training
from artus_training.learn.checkpoints import read_checkpoint, save_checkpoint
from artus_training.learn.opponents import Opponent, end_round
from artus_training.learn.runs import alone_in_run
from artus_training.learn.sb3 import MODEL, Settings, Trainer
from artus_training.learn.sb3_env import SelfPlayVecEnv
from artus_training.learn.sb3_policy import draw, to_network
from artus_training.learn.settings import settings_to_dict, with_preset
from artus_training.progress import TrainingBar
from artus_training.usage import UsageError

BOTS = Path(__file__).parents[2] / "helpers" / "hostile_bots.py"

torch.set_num_threads(1)  # tests run side by side, and torch's threads spin while they wait


def random_actions(env, random):
    return (random.random(env.batch.mask.shape) * env.action_masks()).argmax(axis=1)


def first_legal(observation, mask):
    return int(mask.argmax())


def made(num_envs=32, **arguments):
    arguments.setdefault("stagger", False)
    return SelfPlayVecEnv(num_envs, **arguments)


# --- rewards of the learner ---


def test_a_lost_game_costs_the_learner_1_on_his_own_last_move_whoever_ended_it():
    env = made(64, opponents={"greedy": 1.0}, reward="win", seed=1)
    env.reset()
    random = np.random.default_rng(0)
    ended_by_learner, ended_by_another = 0, 0
    for _ in range(80):
        seat, start = env.seat.copy(), env.batch.states["start_player"].copy()
        _, rewards, dones, _ = env.step(random_actions(env, random))
        assert (rewards[~dones] == 0).all()
        final = env.batch.final_scores[dones]
        learner_scores = final[np.arange(len(final)), seat[dones]]
        np.testing.assert_array_equal(rewards[dones], np.sign(2 * learner_scores - final.sum(axis=1)))
        lost = dones & (rewards == -1)
        # The start player has the first turn, so the other one has the last.
        ended_by_learner += int((lost & (start != seat)).sum())
        ended_by_another += int((lost & (start == seat)).sum())
    assert ended_by_learner > 20
    assert ended_by_another > 20


def test_one_game_move_by_move_beside_the_single_game():
    env = made(1, rules="advanced", num_players=3, opponents={"random": 1.0}, reward="prestige", seed=4)
    env.fixed = [find_agent(first_legal)]
    observation = env.reset()
    game = Game(rules="advanced", num_players=3, seed=int(env.batch.seeds[0]))
    seat, total, rewards_paid = int(env.seat[0]), 0.0, []
    while not game.over:
        while not game.over and game.player != seat:
            game.play(int(game.mask().argmax()))
        if game.over:
            break
        np.testing.assert_array_equal(observation[0], game.observation())
        np.testing.assert_array_equal(env.action_masks()[0], game.mask())
        action = game.legal_actions()[-1]
        game.play(action)
        observation, rewards, dones, infos = env.step(np.array([action]))
        rewards_paid.append(float(rewards[0]))
        total += float(rewards[0])
    assert dones[0]
    margin = (game.scores[seat] - (sum(game.scores) - game.scores[seat]) / 2) / 100
    assert total == pytest.approx(margin, abs=1e-5)
    assert infos[0]["episode"]["r"] == pytest.approx(margin, abs=1e-5)
    assert infos[0]["episode"]["l"] == len(rewards_paid)
    np.testing.assert_array_equal(infos[0]["terminal_observation"], game.observation(seat))
    assert not infos[0]["TimeLimit.truncated"]


@pytest.mark.parametrize("num_players", [2, 4])
def test_prestige_rewards_of_an_episode_sum_to_the_margin(num_players):
    env = made(16, num_players=num_players, opponents={"random": 0.5, "greedy": 0.5}, reward="prestige")
    env.reset()
    random = np.random.default_rng(1)
    sums, finished = np.zeros(16), 0
    for _ in range(100):
        seat = env.seat.copy()
        _, rewards, dones, _ = env.step(random_actions(env, random))
        sums += rewards
        for i in np.flatnonzero(dones):
            final = env.batch.final_scores[i].astype(float)
            others_mean = np.delete(final, seat[i]).mean()
            assert sums[i] == pytest.approx((final[seat[i]] - others_mean) / 100, abs=1e-4)
            sums[i] = 0
            finished += 1
    assert finished >= 32


# --- seats, masks, opponents ---


def test_the_learner_sits_on_every_seat_in_turn():
    env = made(6, num_players=3, seed=2)
    env.reset()
    np.testing.assert_array_equal(env.seat, [0, 1, 2, 0, 1, 2])
    random = np.random.default_rng(0)
    seats = [[int(seat)] for seat in env.seat]
    while min(map(len, seats)) < 4:
        _, _, dones, _ = env.step(random_actions(env, random))
        for i in np.flatnonzero(dones):
            seats[i].append(int(env.seat[i]))
    assert seats[0][:4] == [0, 1, 2, 0]
    assert seats[2][:4] == [2, 0, 1, 2]


def test_masks_are_those_of_the_learner_after_reset_and_every_step():
    env = made(16, num_players=4, opponents={"greedy": 1.0}, stagger=True)
    assert is_masking_supported(env)
    observation = env.reset()
    random = np.random.default_rng(0)
    for _ in range(60):
        masks = get_action_masks(env).reshape(16, -1)
        np.testing.assert_array_equal(env.batch.player, env.seat)
        np.testing.assert_array_equal(observation, env.batch.observation)
        assert masks.any(axis=1).all()
        for i in (0, 9):
            check = Batch(1, num_players=4)
            check.states[0] = env.batch.states[i]
            check.refresh()
            np.testing.assert_array_equal(masks[i], check.mask[0])
        observation, _, _, _ = env.step(random_actions(env, random))


def test_an_illegal_action_raises_and_changes_nothing():
    env = made(4)
    env.reset()
    before = env.batch.states.copy()
    actions = env.action_masks().argmax(axis=1)
    actions[2] = env.action_masks()[2].argmin()
    with pytest.raises(ValueError, match="game 2"):
        env.step(actions)
    np.testing.assert_array_equal(env.batch.states, before)


def test_observations_are_not_overwritten_by_the_next_step():
    env = made(8)
    first = env.reset()
    copy = first.copy()
    env.step(env.action_masks().argmax(axis=1))
    np.testing.assert_array_equal(first, copy)


def test_tables_begin_staggered():
    env = made(64, stagger=True)
    env.reset()
    assert len(set(env.batch.states["played"][:, 0].tolist())) > 10


@pytest.mark.parametrize("game", ["artus", "magpies", "hoard"])
def test_staggered_games_may_end_at_any_time_and_count_only_if_the_learner_has_decided(game):
    env = made(256, game=game, num_players=3, opponents={"random": 0.5, "greedy": 0.5}, stagger=True)
    env.reset()
    assert not any(env.results.values()), "some games ended before the learner's first decision"
    random = np.random.default_rng(0)
    finished = 0
    for _ in range(60):
        _, rewards, dones, infos = env.step(random_actions(env, random))
        np.testing.assert_array_equal(env.batch.player, env.seat)
        assert set(rewards[dones].tolist()) <= {-0.5, 0.0, 0.25, 1.0}
        assert (rewards[~dones] == 0).all()
        for i in np.flatnonzero(dones):
            assert infos[i]["episode"]["r"] == rewards[i]
        finished += int(dones.sum())
    assert finished > 256
    assert all(env.results.values())


def test_the_same_seed_gives_the_same_games_and_reset_goes_on():
    def run(env):
        random = np.random.default_rng(0)
        arrays = [env.reset()]
        for _ in range(70):
            observation, rewards, *_ = env.step(random_actions(env, random))
            arrays += [observation, rewards]
        return arrays

    first, second = made(8, seed=3, stagger=True), made(8, seed=3, stagger=True)
    for one, other in zip(run(first), run(second), strict=True):
        np.testing.assert_array_equal(one, other)
    seeds = first.batch.seeds.copy()
    first.reset()
    assert not (first.batch.seeds == seeds).any()
    second.seed(3)
    np.testing.assert_array_equal(second.reset(), made(8, seed=3, stagger=True).reset())


def test_opponents_come_in_their_fractions():
    env = made(400, opponents={"past": 0.0, "random": 0.25, "greedy": 0.75})
    env.reset()
    assert env.kinds == ["random", "greedy"]
    assert 60 < int((env.kind == 0).sum()) < 140


class Marked(NeuralAgent):
    """A snapshot with a number, that plays the first legal action."""

    def __init__(self, number):
        self.number = number
        self.num_calls = 0

    def act(self, view):
        self.num_calls += 1
        return view.mask.argmax(axis=1)


def test_the_pool_forgets_the_oldest_and_all_its_versions_play():
    env = made(64, opponents={"past": 1.0}, pool_size=3)
    with pytest.raises(RuntimeError, match="pool is empty"):
        env.reset()
    for number in range(5):
        env.add_snapshot(Marked(number))
    assert [agent.number for agent in env.snapshots()] == [2, 3, 4]
    env.reset()
    random = np.random.default_rng(0)
    for _ in range(40):
        env.step(random_actions(env, random))
    assert all(agent.num_calls for agent in env.snapshots())
    assert len(env.results["past"]) >= 64
    env.set_snapshots([Marked(number) for number in range(10, 15)])
    env.add_snapshot(Marked(15))
    assert [agent.number for agent in env.snapshots()] == [13, 14, 15]


@pytest.mark.parametrize(
    "arguments",
    [
        {"opponents": {}},
        {"opponents": {"random": -1.0}},
        {"opponents": {"nobody": 1.0}},
        {"pool_size": 0},
        {"num_players": 5},
    ],
)
def test_settings_that_can_not_be_are_refused(arguments):
    with pytest.raises(ValueError, match=r"opponents|nobody|pool_size|num_players"):
        made(**arguments)


# --- the trainer and its files ---

TINY = {
    "num_games": 8, "num_steps": 8, "batch_size": 32, "epochs": 1, "final_games": 0, "threads": 1, "hidden": (16,),
    "evaluate_every": 0,
}  # fmt: skip


def tiny(runs, **settings):
    """Settings with the trainer's defaults, as the command line has them."""
    return with_preset(Settings(), TINY | {"runs": str(runs)} | settings)


def train(settings):
    return training.train(Trainer, settings)


def parse(words):
    return command.parse(words, "sb3")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    settings = tiny(tmp_path_factory.mktemp("runs"), steps=256)
    assert train(settings)
    return settings


def fresh_model(settings):
    """The model that SB3 loads from a run."""
    return MaskablePPO.load(settings.folder / MODEL)


def read(settings):
    """Progress and tensors in the checkpoint of a training."""
    return read_checkpoint(settings.checkpoint)


def weights_of(policy):
    return {name: value.clone() for name, value in policy.state_dict().items()}


def middle_of_games(num_games, **arguments):
    batch = Batch(num_games, seed=1, **arguments)
    for _ in range(40):
        batch.step(batch.sample())
    return batch


def test_training_leaves_an_agent_that_sb3_and_the_evaluation_play_alike(trained):
    assert trained.agent == trained.runs / "sb3-beginner-2" / "agent.safetensors"
    model, agent = fresh_model(trained), find_trained(str(trained.agent))
    batch = middle_of_games(64)
    expected, _ = model.predict(batch.observation, action_masks=batch.mask, deterministic=True)
    played = agent.act(View(batch, None, np.zeros(64, np.uint64)))
    logits = infer(agent.network, batch.observation).logits.numpy()
    games = np.arange(64)
    # Of actions with equal logits each may be played.
    np.testing.assert_allclose(logits[games, played], logits[games, expected], atol=1e-5)
    assert (played == expected).mean() > 0.9
    result = evaluate([str(trained.agent), "random"], games=10)
    assert result.games == 10
    assert list(trained.folder.glob("tensorboard/events*"))
    assert not list(trained.folder.glob(".*"))


@pytest.mark.parametrize("num_players", [2, 3])
def test_the_exported_network_says_what_the_policy_says(trained, num_players):
    model, batch = fresh_model(trained), middle_of_games(16)
    network = to_network(model, num_players, 4)
    output = infer(network, batch.observation)
    with torch.no_grad():
        features = model.policy.extract_features(torch.from_numpy(batch.observation))
        logits, values = model.policy.action_net(features), model.policy.value_net(features)[:, 0]
    torch.testing.assert_close(output.logits, logits, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(output.values[:, 0], values, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(output.values.sum(dim=1), torch.zeros(16), atol=1e-5, rtol=0)  # rewards are zero-sum
    torch.testing.assert_close(
        output.values[:, 1:num_players], -values[:, None].expand(16, num_players - 1) / (num_players - 1)
    )
    assert (output.values[:, num_players:] == 0).all()
    before = output.logits.clone()
    with torch.no_grad():
        for parameter in model.policy.parameters():
            parameter.zero_()
    assert (infer(network, batch.observation).logits == before).all()  # a snapshot doesn't learn on


def test_the_policy_gives_what_the_stock_policy_gives(trained):
    policy = fresh_model(trained).policy
    batch = Batch(32, seed=1)
    observation, masks = torch.from_numpy(batch.observation), torch.from_numpy(batch.mask)
    actions = torch.from_numpy(batch.sample().copy())
    our_results = policy.evaluate_actions(observation, actions, masks)
    stock = MaskableActorCriticPolicy.evaluate_actions(policy, observation, actions, masks)
    for one, other in zip(our_results, stock, strict=True):
        torch.testing.assert_close(one.flatten(), other.flatten(), atol=1e-5, rtol=1e-5)
    drawn, values, log_probs = policy(observation, action_masks=batch.mask)
    assert batch.mask[np.arange(32), drawn.numpy()].all()
    evaluated = policy.evaluate_actions(observation, drawn, masks)
    torch.testing.assert_close(values, evaluated[0])
    torch.testing.assert_close(log_probs, evaluated[1])


def test_draw_follows_the_probabilities_and_never_takes_an_impossible_action():
    probabilities = torch.tensor([[0.0, 0.25, 0.0, 0.75, 0.0]]).repeat(4000, 1)
    counts = torch.bincount(draw(probabilities, torch.linspace(0, 1, 4000)), minlength=5)
    assert counts.tolist() == pytest.approx([0, 1000, 0, 3000, 0], abs=2)


def test_the_card_tells_how_to_train_the_same_agent(trained):
    card = read_card(trained.agent)
    assert card["variants"] == [["beginner", 2]]
    assert card["steps"] == 256
    assert card["threads"] == 1
    assert {"artus-env", "torch", "stable-baselines3", "sb3-contrib"} <= set(card["versions"])
    program, name, *arguments = shlex.split(card["command"])
    assert (program, name) == ("artus", "train-sb3")
    assert parse([*arguments, "--runs", str(trained.runs)]) == trained


def test_minutes_end_the_training_and_evaluations_are_not_among_them(tmp_path, monkeypatch):
    spent = []

    def timed(*arguments, **others):
        start = time.monotonic()
        result = evaluate(*arguments, **others)
        spent.append(time.monotonic() - start)
        return result

    monkeypatch.setattr(training, "evaluate", timed)
    limits = {"steps": 10**9, "minutes": 1 / 1200, "evaluate_every": 1}
    start = time.monotonic()
    opponents = {"evaluation_opponents": ("greedy", "random"), "final_opponents": ("greedy", "random")}
    settings = tiny(tmp_path, **limits, **opponents, games=2, final_games=4)
    assert train(settings)
    progress, card = read(settings)[0], read_card(settings.agent)
    assert 0.05 <= progress.seconds <= time.monotonic() - start - sum(spent)
    assert card["curve"] == [dataclasses.asdict(point) for point in progress.curve]
    steps = [point["steps"] for point in card["curve"]]
    assert steps == list(range(64, card["steps"] + 1, 64))
    for point in card["curve"]:
        assert set(point["wins"]) == set(point["margin"]) == {"beginner-2/greedy", "beginner-2/random"}
    assert [(result["against"], result["games"]) for result in card["strength"]] == [("greedy", 4), ("random", 4)]


def test_it_says_how_it_goes_and_is_evaluated_five_times(tmp_path, monkeypatch, capsys):
    """It prints the same figures as `artus train`, with the name of the run."""
    show = TrainingBar.show_figures
    monkeypatch.setattr(
        TrainingBar, "show_figures", lambda bar, text: show(bar, text) or bar.line(bar.status(bar.tasks[0]))
    )
    limits = {"steps": 12 * 64, "evaluate_every": 1000, "games": 2, "final_games": 2}
    opponents = {"evaluation_opponents": ("random",), "final_opponents": ("random",)}
    settings = tiny(tmp_path, name="mine", **limits, **opponents)
    assert train(settings)
    steps = [point["steps"] / settings.steps for point in read_card(settings.agent)["curve"]]
    assert len(steps) == 5
    assert all(fifth <= step < fifth + 1 / 6 for fifth, step in zip((0.2, 0.4, 0.6, 0.8, 1), steps, strict=True))
    printed = capsys.readouterr()
    assert "mine against random: beginner, 2 players, 2 games" in printed.out
    lines = printed.err.splitlines()
    assert sum(line.startswith("mine after ") and "decisions: won against random" in line for line in lines) == 5
    figures = r"mine \d+ %, \d:\d\d:\d\d left: "
    figures += r"\d+ decisions, [\d.]+( k)?/s, entropy ([\d.]+), KL [-\de.]+, explained variance [-\de.]+"
    entropies = [float(match[2]) for match in (re.fullmatch(figures, line) for line in lines) if match]
    assert len(entropies) == 12, lines
    assert all(0 < entropy < np.log(100) for entropy in entropies)  # of some dozens of legal actions
    assert len(set(entropies)) > 6  # of each update, not of the first; they may be rounded to the same


def test_torch_keeps_its_threads_whatever_an_evaluation_does(tmp_path, monkeypatch):
    """Without this, training was once five times as slow."""
    threads = []

    def evaluate_with_threads(*arguments, **others):
        torch.set_num_threads(2)
        return evaluate(*arguments, **others)

    monkeypatch.setattr(training, "evaluate", evaluate_with_threads)
    monkeypatch.setattr(MaskablePPO, "train", lambda model: threads.append(torch.get_num_threads()))
    try:
        assert train(tiny(tmp_path, steps=192, evaluate_every=1, games=2, evaluation_opponents=("random",)))
    finally:
        torch.set_num_threads(1)
    assert threads == [1, 1, 1]


def test_the_learning_rate_falls_with_steps_or_minutes_whichever_is_further(tmp_path):
    trainer = Trainer(tiny(tmp_path, steps=1024, minutes=1, learning_rate=0.5))
    for steps, seconds, rate in [(512, 0, 0.25), (512, 45, 0.125), (896, 45, 0.0625), (512, 60, 0.01)]:
        trainer.steps, trainer.seconds = steps, seconds
        assert trainer.play_and_learn()["learning_rate"] == pytest.approx(rate)
        assert trainer.model.policy.optimizer.param_groups[0]["lr"] == pytest.approx(rate)


def test_resume_goes_on_with_the_same_weights_steps_and_settings(trained, tmp_path):
    settings = parse(["--resume", "--runs", str(trained.runs), "--steps", "512"])
    assert (settings.num_games, settings.hidden, settings.steps, settings.resume) == (8, (16,), 512, True)
    before = read(trained)
    assert train(settings)
    after = read(settings)
    assert before[0].steps == 256
    assert after[0].steps == 512
    assert after[0].seconds > before[0].seconds > 0
    optimizer = [tensors["optimizer.0.step"] for _, tensors in (before, after)]
    assert optimizer[1] == 2 * optimizer[0]
    assert fresh_model(settings).num_timesteps == 512


def test_a_loaded_checkpoint_is_the_saved_one(trained):
    progress, tensors = read(trained)
    trainer = Trainer(trained)
    model, env = trainer.model, trainer.env
    with torch.no_grad():
        for parameter in model.policy.parameters():
            parameter.zero_()
    trainer.load()
    for name, value in model.policy.state_dict().items():
        torch.testing.assert_close(value, tensors[f"policy.{name}"])
    assert model.num_timesteps == trainer.steps == progress.steps >= 256
    assert trainer.updates == progress.updates == progress.steps // 64
    assert len(env.snapshots()) == progress.pool >= 1
    for index, agent in enumerate(env.snapshots()):
        for name, value in agent.network.state_dict().items():
            torch.testing.assert_close(value, tensors[f"pool.{index}.{name}"])
    env.reset()
    first = Trainer(trained).env
    first.reset()
    assert not (env.batch.seeds == first.batch.seeds).any(), "it would play the first games again"


def changed(position):
    return lambda content: content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: content[:-500], "is damaged"),
        (changed(-500), "is damaged: its checksum"),
        (lambda content: b"", "is damaged"),
        (lambda content: None, "doesn't exist"),
        (lambda content: content.replace(b'"artus":', b'"artuz":'), "is damaged or no checkpoint .*'artus'"),
        (lambda content: b"PK and something else" * 9, "is damaged or no checkpoint of this version"),
    ],
)
def test_a_damaged_checkpoint_is_named_and_nothing_is_loaded(trained, tmp_path, damage, message):
    trainer = Trainer(dataclasses.replace(trained, runs=tmp_path))
    path = trainer.settings.checkpoint
    content = damage(trained.checkpoint.read_bytes())
    if content is not None:
        path.parent.mkdir()
        path.write_bytes(content)
    check_refused(trainer, message)


@pytest.mark.parametrize(
    ("name", "forge", "message"),
    [
        (
            "policy.action_net.bias",
            lambda part: part[:-1].clone(),
            r"policy\.action_net\.bias must be .* got .*float32",
        ),
        ("policy.action_net.bias", None, r"policy\.action_net\.bias must be .* got nothing"),
        ("policy.value_net.weight", lambda part: part.double(), r"policy\.value_net\.weight must be .* got .*float64"),
        ("optimizer.0.exp_avg", lambda part: part[:1].clone(), r"optimizer\.0\.exp_avg must be"),
        ("optimizer.0.exp_avg_sq", lambda part: part - 1, r"optimizer\.0 is invalid: it has negative numbers"),
        ("pool.0.head.bias", None, r"pool\.0\.head\.bias must be .* got nothing"),
    ],
)
def test_a_checkpoint_that_was_made_up_is_refused_though_its_checksum_fits(trained, tmp_path, name, forge, message):
    settings = dataclasses.replace(trained, runs=tmp_path)
    progress, tensors = read(trained)
    part = tensors.pop(name)
    if forge:
        tensors[name] = forge(part)
    save_checkpoint(settings.checkpoint, dataclasses.asdict(progress), tensors)
    with pytest.raises(UsageError, match=rf"checkpoint\.safetensors doesn't fit: {message}"):
        Trainer(settings).load()


def test_a_checkpoint_without_settings_is_named_and_nothing_is_loaded(trained, tmp_path):
    trainer = Trainer(dataclasses.replace(trained, runs=tmp_path))
    progress, tensors = read(trained)
    without_settings = {name: value for name, value in dataclasses.asdict(progress).items() if name != "settings"}
    save_checkpoint(trainer.settings.checkpoint, without_settings, tensors)
    check_refused(trainer, "is damaged or no checkpoint .* missing required field `settings`")


def check_refused(trainer, message):
    before = weights_of(trainer.model.policy)
    with pytest.raises(UsageError, match=rf"checkpoint\.safetensors {message}"):
        trainer.load()
    for name, value in trainer.model.policy.state_dict().items():
        torch.testing.assert_close(value, before[name])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hidden": (24,)}, r"belongs to a run with hidden \[16\], not \[24\]; leave --resume out"),
        ({"seed": 5}, "belongs to a run with seed 0, not 5"),
        ({"rules": "advanced"}, "belongs to a run with rules 'beginner', not 'advanced'"),
        ({"num_players": 3}, "belongs to a run with num_players 2, not 3"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused(trained, tmp_path, changes, message):
    other = tiny(tmp_path, resume=True, steps=512, **changes)
    other.folder.mkdir(parents=True)
    other.checkpoint.write_bytes(trained.checkpoint.read_bytes())
    with pytest.raises(UsageError, match=rf"checkpoint\.safetensors {message}"):
        train(other)


def test_a_save_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    trainer = Trainer(tiny(tmp_path))
    trainer.save()
    path = trainer.settings.checkpoint
    before = path.read_bytes()

    def full(_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    trainer.steps = 64
    with pytest.raises(OSError, match="no space left"):
        trainer.save()
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.slow
def test_ctrl_c_saves_and_resume_goes_on(tmp_path):
    command = [sys.executable, "-m", "artus_training", "train-sb3", "--runs", str(tmp_path), "--steps", "100000000"]
    command += ["--num-games", "8", "--set", "num_steps=8", "--set", "batch_size=32", "--hidden", "16"]
    folder = tmp_path / "sb3-beginner-2"
    checkpoint = folder / "checkpoint.safetensors"
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=dict(os.environ)
    )
    try:
        deadline = time.monotonic() + 60
        while not checkpoint.exists() or not read_checkpoint(checkpoint)[0].steps:
            assert time.monotonic() < deadline
            assert process.poll() is None, process.communicate()[0]
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()  # if the test fails, its warning would fail the next one too
    assert process.returncode == 130, output
    assert "--resume goes on" in output
    assert not list(folder.glob("agent*"))
    steps = read_checkpoint(checkpoint)[0].steps
    assert steps > 0
    assert steps % 64 == 0  # whole rounds
    settings = parse(["--resume", "--runs", str(tmp_path), "--steps", str(steps + 64), "--set", "final_games=0"])
    assert train(settings)
    assert read_card(settings.agent)["steps"] == steps + 64


# --- runs and opponents ---


def test_a_second_training_leaves_the_first_alone(tmp_path):
    first = tiny(tmp_path, steps=128)
    assert train(first)
    agent = first.agent.read_bytes()
    second = dataclasses.replace(first, seed=2)
    with pytest.raises(UsageError, match="sb3-beginner-2 holds a run already: --resume"):
        train(second)
    second = dataclasses.replace(second, name="second")
    run_until_it_learns(second)
    assert not second.agent.exists()
    assert train(parse(["--resume", "--seed", "2", "--runs", str(tmp_path), "--name", "second"]))
    assert read_card(second.agent)["settings"]["seed"] == 2
    assert first.agent.read_bytes() == agent != second.agent.read_bytes()


def test_another_game_is_learnt_in_a_folder_of_its_own(tmp_path):
    """Six players, whose games end after different numbers of decisions."""
    words = ["--game", "magpies", "--num-players", "6", "--runs", str(tmp_path)]
    settings = dataclasses.replace(parse(words), steps=256, **TINY)
    assert settings.opponents == ("random=0.05", "greedy=0.5", "past=0.45")
    assert train(settings)
    assert settings.folder == tmp_path / "magpies-sb3-standard-6"
    assert read(settings)[0].settings["game"] == "magpies"
    assert json.loads(settings.agent.with_suffix(".json").read_text())["game"] == "magpies"
    resumed = parse([*words, "--resume", "--steps", "512"])
    assert (resumed.rules, resumed.hidden, resumed.steps) == ("standard", (16,), 512)
    assert train(resumed)
    other = dataclasses.replace(settings, game="artus", rules="beginner", num_players=2)
    other.folder.mkdir()
    other.checkpoint.write_bytes(settings.checkpoint.read_bytes())
    with pytest.raises(
        ValueError, match=r"sb3-beginner-2/checkpoint\.safetensors belongs in .*/magpies-sb3-standard-6"
    ):
        parse(["--resume", "--runs", str(tmp_path)])
    with pytest.raises(UsageError, match="belongs to a run with game 'magpies', not 'artus'"):
        train(dataclasses.replace(other, resume=True))


def test_a_run_has_room_for_one_process(tmp_path):
    settings = tiny(tmp_path, steps=128)
    with (
        alone_in_run(settings.folder),
        pytest.raises(UsageError, match="sb3-beginner-2: another process is training there"),
    ):
        train(settings)
    assert not settings.checkpoint.exists()


def test_a_checkpoint_cannot_start_a_program(trained, tmp_path):
    settings = dataclasses.replace(
        trained, runs=tmp_path, evaluation_opponents=("program:touch sprung",), opponents=("program:a b=1=0.5",)
    )
    progress, tensors = read(trained)
    progress.settings = settings_to_dict(settings)
    save_checkpoint(settings.checkpoint, dataclasses.asdict(progress), tensors)
    resume = ["--resume", "--runs", str(tmp_path)]
    with pytest.raises(
        ValueError, match=r"checkpoint\.safetensors: opponents has 'program:a b=1', which starts a program"
    ):
        parse(resume)
    with pytest.raises(
        ValueError,
        match=r"checkpoint\.safetensors: evaluation_opponents has 'program:touch sprung', which starts a program",
    ):
        parse([*resume, "--opponents", "greedy=1"])
    others = 'evaluation_opponents=["greedy", "program:a b=1"]'
    assert parse([*resume, "--set", others]).opponents == settings.opponents


def test_an_opponent_that_gives_up_does_not_end_the_training(capsys):
    class GivesUp:
        failure = "it was tired"

        def act(self, view):
            return np.where(view.keys % 7 == 0, FORFEIT, view.mask.argmax(axis=1))

    env = made(64, opponents={"greedy": 1.0}, seed=1)
    env.fixed = [Opponent("bot", GivesUp())]
    env.reset()
    random = np.random.default_rng(0)
    for _ in range(40):
        env.step(random_actions(env, random))
    assert env.results["greedy"]
    message = "opponent bot gave a game up (it was tired): random moves are played in its place"
    assert capsys.readouterr().err.splitlines() == [message]
    assert end_round(env.fixed) > 20
    assert end_round(env.fixed) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="programs play on Linux only")
def test_an_opponent_that_never_plays_stops_the_training_with_its_name_and_a_checkpoint(tmp_path, capsys):
    words = ["--runs", tmp_path, "--steps", 128, "--num-games", 8, "--hidden", 16]
    words += ["--set", "num_steps=8", "--set", "batch_size=32"]
    bot = f"program:{sys.executable} {BOTS} crashes"
    assert main(["train-sb3", *map(str, words), "--opponents", f"{bot}=1.0"]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith(f"artus train-sb3: opponent {bot} gives up every game: ended with exit code ")
    assert parse(["--resume", "--runs", str(tmp_path), "--opponents", "greedy=1.0"]).steps == 128


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--hidden", "1000000000"], "hidden: a network may have 100,000,000 weights"),
        (["--num-games", "1000000000"], "num_games 1000000000 and num_steps 16 need .* GB of memory"),
        (["--set", "num_steps=1000000000"], "num_games 512 and num_steps 1000000000 need .* GB of memory"),
        (["--set", "final_games=1000000000"], "final_games can't be 1000000000: Expected `int` <= 10000000"),
        (["--threads", "1000000"], "threads can't be 1000000: Expected `int` <= 1024"),
        (["--seed", "4294967296"], r"seed must be in 0\.\.4294967295, got 4294967296"),
    ],
)
def test_sizes_that_no_machine_has_are_refused_before_memory_is_asked_for(tmp_path, words, message):
    with pytest.raises(UsageError, match=message):
        command.main_sb3([*words, "--runs", str(tmp_path)])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", [["--start", "x"], ["--name", "x"], ["--opponents", "x=0.5"]])
def test_names_that_no_checkpoint_can_keep_are_refused_before_training(tmp_path, words):
    odd = os.fsdecode(b"\xf6")
    words = [word.replace("x", odd) for word in words]
    with pytest.raises(UsageError, match="isn't UTF-8 and can't be kept: rename the file"):
        command.main_sb3([*words, "--runs", str(tmp_path)])
    assert not list(tmp_path.iterdir())


def test_a_run_may_lie_in_a_folder_whose_name_is_not_utf_8():
    assert settings_to_dict(Settings(runs=Path(os.fsdecode(b"r\xf6"))))["runs"] == r"r\udcf6"


def run_until_it_learns(settings):
    """Start a training that is killed in its first round."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MaskablePPO, "train", stop)
        with pytest.raises(KeyboardInterrupt):
            train(settings)


def stop(_):
    raise KeyboardInterrupt


# --- evaluation ---


def test_an_evaluation_can_be_repeated_whatever_the_batch_size():
    def run(**changes):
        return evaluate(["greedy", "random", "greedy"], **{"games": 50, "seed": 3, "rules": "advanced", **changes})

    first = run()
    assert first == run(batch_size=7)
    assert first != run(seed=4)
    assert first.games == 54  # 50, rounded up to a multiple of the six seatings
    assert first.num_players == 3


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_paired_deals_make_equals_exactly_equal(num_players):
    result = evaluate([first_legal, first_legal], num_players=num_players, games=8 * num_players)
    assert result.win_rate == pytest.approx(1 / num_players)
    assert result.margin == pytest.approx(0)
    assert result.margin_error == pytest.approx(0)


def test_greedy_against_itself_is_even():
    result = evaluate(["greedy", "greedy"], games=600)
    low, high = result.interval
    assert low < 0.5 < high


def test_one_agent_meets_copies_of_the_other():
    result = evaluate(["greedy", "random"], num_players=4, games=40)
    assert result.agents == ("greedy", "random", "random", "random")
    assert sum(result.win_rates) == pytest.approx(1)
    assert "greedy against 3 x random" in str(result)
    assert "\nrandom, 3 behind    0.0%" in str(result)


def test_progress_rises_to_1():
    done = []
    evaluate(["greedy", "random"], games=20, batch_size=8, progress=done.append)
    assert done == sorted(done)
    assert done[-1] == pytest.approx(1)


def test_wilson_interval():
    assert wilson_interval(0.5, 100) == pytest.approx((0.4038, 0.5962), abs=1e-4)
    assert wilson_interval(1.0, 1000) == pytest.approx((0.99617, 1.0), abs=1e-4)
    assert wilson_interval(0.0, 10)[0] == 0


@pytest.mark.parametrize(
    ("agents", "num_players", "message"),
    [
        (["greedi", "random"], 2, "no agent 'greedi'"),
        (["greedy"] * 3, 4, "4 players need 4 agents"),
        (["greedy"], None, "2 players need 2 agents: name one more"),
        (["greedy"], 3, "3 players need 3 agents, or 2 .*: name one more"),
        (["ppoo"], None, "no agent 'ppoo'; did you mean ppo"),
        (["greedy", "random"], 7, "num_players must be"),
        (["nothing.safetensors", "random"], 2, r"nothing\.json doesn't exist"),
    ],
)
def test_line_ups_that_can_not_be_are_refused(agents, num_players, message):
    with pytest.raises(ValueError, match=message):
        line_up(agents, "beginner", num_players)


@pytest.mark.parametrize(
    "size", [{"games": 10**9}, {"batch_size": 10**9}, {"games": 0}, {"batch_size": -1}, {"games": 10**9999}]
)
def test_too_many_games_are_refused_before_memory_is_taken(size):
    (name,) = size
    with pytest.raises(ValueError, match=f"^{name} must be at least 1 and at most"):
        evaluate(["random", "random"], **size)


def test_an_agent_of_another_variant_is_refused_before_the_first_game(trained):
    with pytest.raises(ValueError, match="trained for beginner with 2 players, not for advanced"):
        line_up([str(trained.agent), "random"], "advanced")
