"""Trainings that go on from saved weights: `--start`."""

import dataclasses
import json
import shlex
from functools import partial

import numpy as np
import pytest
import torch

from artus_agents.network import Network
from artus_agents.neural import infer, trained
from artus_agents.saved import load_agent, read_card, save_agent
from artus_env import Batch
from artus_env.engine.contract.registry import find_game, game_names
from artus_training.cli import main
from artus_training.learn import sb3
from artus_training.learn.command import parse
from artus_training.learn.ppo import Settings, Trainer
from artus_training.learn.runs import train
from artus_training.learn.start import find_start

torch.set_num_threads(1)  # tests run side by side, and torch's threads spin while they wait

TINY = {
    "num_games": 64, "num_steps": 16, "batch_size": 256, "threads": 1, "final_games": 0, "evaluate_every": 0,
    "steps": 2 * 64 * 16,
}  # fmt: skip
TINY_SB3 = {
    "num_games": 8, "num_steps": 16, "batch_size": 64, "steps": 256, "threads": 1, "final_games": 0,
    "opponents": ("past=1.0",), "evaluate_every": 0,
}  # fmt: skip
WITH_TRAINED = [
    (name, rules) for name in game_names() if find_game(name).trained is not None for rules in find_game(name).rules
]


def weights_equal(ours, theirs):
    return all(torch.equal(part, theirs[name]) for name, part in ours.items())


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A small agent, and its settings."""
    settings = Settings(**TINY, hidden=(32,), seed=5, runs=tmp_path_factory.mktemp("saved"))
    assert train(Trainer, settings)
    return settings


@pytest.mark.parametrize(("game", "rules"), WITH_TRAINED)
def test_a_training_of_any_game_begins_with_the_agent_that_comes_with_it(tmp_path, game, rules):
    network, card = trained(rules, 2, game)
    settings = Settings(
        **TINY, game=game, rules=rules, hidden=network.shape.hidden, start="ppo", runs=tmp_path,
        opponents=("past=0.5",), pool_size=1,
    )  # fmt: skip
    trainer = Trainer(settings)
    begun = find_start(settings, trainer.network.shape).weights  # with rows for what the agent wasn't told yet
    shared = [name for name in begun if name.startswith("trunk")]
    assert all(torch.equal(begun[name], network.state_dict()[name]) for name in shared)
    assert weights_equal(trainer.network.state_dict(), begun)
    assert weights_equal(trainer.opponents.pool[0], begun)
    assert not trainer.optimizer.state
    assert trainer.start == card["weights"]
    trainer.collect()
    trainer.update()
    assert not weights_equal(trainer.network.state_dict(), begun)
    assert weights_equal(trained(rules, 2, game)[0].state_dict(), network.state_dict())
    assert weights_equal(trainer.opponents.pool[0], begun), "what the training began with isn't trained"


@pytest.mark.parametrize("name", ["ppo:{}", "{}"])
def test_a_saved_agent_is_named_as_elsewhere(tmp_path, saved, name):
    settings = dataclasses.replace(saved, start=name.format(saved.agent), runs=tmp_path, seed=6)
    assert weights_equal(Trainer(settings).network.state_dict(), load_agent(saved.agent)[0].state_dict())


def test_an_agent_may_begin_narrower_than_it_is_trained(tmp_path):
    """The wider network plays like the narrow one at first, and its new hidden units learn."""
    narrow = trained("beginner", 2)[0]
    settings = Settings(**TINY, start="ppo", hidden=(288, 320), seed=6, runs=tmp_path)
    trainer = Trainer(settings)
    observations = torch.from_numpy(Batch(64, seed=1).observation)
    with torch.no_grad():
        our_output, their_output = (network.split(network(observations)) for network in (trainer.network, narrow))
    old_gates = our_output.gates[:, : narrow.shape.num_action_features]  # the agent didn't know the other features
    for part, expected in zip((our_output.logits, old_gates, our_output.values), their_output, strict=True):
        torch.testing.assert_close(part, expected, rtol=1e-4, atol=1e-4)
    assert weights_equal(find_start(settings, trainer.network.shape).weights, trainer.network.state_dict())
    for _ in range(2):
        trainer.collect()
        trainer.update()
    after = trainer.network.state_dict()
    assert after["trunk.2.weight"][:256, 256:].any()
    assert after["head.weight"][:, 256:].any()


def test_the_card_says_what_a_training_has_begun_with_and_how_to_repeat_it(tmp_path, saved):
    settings = dataclasses.replace(saved, start=f"ppo:{saved.agent}", runs=tmp_path, seed=6)
    assert train(Trainer, settings)
    card = read_card(settings.agent)
    assert card["start"] == read_card(saved.agent)["weights"]
    assert card["settings"]["start"] == f"ppo:{saved.agent}"
    assert dataclasses.replace(parse(shlex.split(card["command"])[2:]), runs=tmp_path) == settings
    assert "start" not in read_card(saved.agent)


def test_resumed_it_goes_on_though_what_it_began_with_is_gone(tmp_path, saved):
    start_agent = tmp_path / "kept.safetensors"
    for suffix in (".safetensors", ".json"):
        start_agent.with_suffix(suffix).write_bytes(saved.agent.with_suffix(suffix).read_bytes())
    settings = dataclasses.replace(saved, start=f"ppo:{start_agent}", seed=6, steps=4 * 64 * 16)
    uninterrupted, interrupted = (dataclasses.replace(settings, runs=tmp_path / name) for name in ("whole", "parted"))
    assert train(Trainer, uninterrupted)
    trainer = Trainer(interrupted)
    for _ in range(2):
        trainer.collect()
        trainer.update()
    trainer.save()
    start_agent.unlink()
    assert train(Trainer, parse(["--resume", "--runs", str(interrupted.runs)]))
    assert interrupted.agent.read_bytes() == uninterrupted.agent.read_bytes()
    assert read_card(interrupted.agent)["start"] == read_card(uninterrupted.agent)["start"]


def test_a_run_may_begin_with_the_agent_of_the_run_beside_it(tmp_path, saved):
    first = dataclasses.replace(saved, runs=tmp_path)
    assert train(Trainer, first)
    before = read_card(first.agent)["weights"]
    second = dataclasses.replace(first, seed=6, name="second", start=str(first.agent))
    assert train(Trainer, second)
    assert read_card(second.agent)["start"] == before != read_card(second.agent)["weights"]
    assert read_card(first.agent)["weights"] == before


@pytest.mark.parametrize("command", ["train", "train-sb3"])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--start", "greedy"], "start must be ppo, ppo:PATH or the path of a saved agent, got 'greedy'"),
        (["--start", "ppo:nowhere"], "nowhere.json doesn't exist: a saved agent has a card beside its weights"),
        (["--start", "{}", "--hidden", "32", "16"], "hidden [32], expected [32, 16]"),
        (["--start", "{}", "--hidden", "16"], "hidden [32], expected [16]"),
        (["--start", "{}", "--game", "quest", "--hidden", "32"], "plays the game artus, this training is for quest"),
        (["--start", "ppo", "--game", "magpies"], "no trained agent comes with magpies for standard with 2 players"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line_before_anything_is_written(
    tmp_path, saved, capsys, command, words, message
):
    assert main([command, *(word.format(saved.agent) for word in words), "--runs", str(tmp_path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"artus {command}: ")
    assert message in line
    assert not list(tmp_path.iterdir())


def test_a_training_without_action_features_begins_with_no_agent_that_has_one(tmp_path, saved):
    settings = dataclasses.replace(saved, start=str(saved.agent), action_features=False)
    needed = find_game("artus").num_action_features
    with pytest.raises(
        ValueError, match=rf"has another network than this training: num_action_features {needed}, expected 0$"
    ):
        Trainer(settings)
    shape = dataclasses.replace(load_agent(saved.agent)[0].shape, num_action_features=needed - 1)
    with pytest.raises(ValueError, match=rf"num_action_features {needed}, expected {needed - 1}$"):
        find_start(settings, shape)


@pytest.mark.parametrize("num_known", [1, 3])
def test_an_agent_that_was_told_less_says_the_same_and_learns_the_rest(tmp_path, saved, num_known):
    needed = find_game("artus").num_action_features
    shape = dataclasses.replace(load_agent(saved.agent)[0].shape, num_action_features=num_known)
    network = Network(shape, gates=(1.0, 0.5, -0.5)[:num_known])
    with torch.no_grad():
        network.head.weight.normal_(generator=torch.Generator().manual_seed(num_known))
    save_agent(tmp_path / "old.safetensors", network, read_card(saved.agent))
    trainer = Trainer(dataclasses.replace(saved, start=str(tmp_path / "old.safetensors"), runs=tmp_path))
    observation = Batch(64, num_players=2, seed=1).observation
    our_output, their_output = infer(trainer.network, observation), infer(network, observation)
    assert torch.equal(our_output.logits, their_output.logits)
    assert torch.equal(our_output.values, their_output.values)
    assert torch.equal(our_output.gates[:, :num_known], their_output.gates)
    assert our_output.gates.shape[1] == needed
    assert not our_output.gates[:, num_known:].any()
    trainer.collect()
    trainer.update()
    assert infer(trainer.network, observation).gates[:, num_known:].any()


# --- Stable-Baselines3 ---


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """An agent without action features, as SB3 trains them."""
    settings = Settings(
        **TINY, hidden=(32,), action_features=False, num_players=3, runs=tmp_path_factory.mktemp("plain")
    )
    assert train(Trainer, settings)
    return settings.agent


def test_sb3_goes_on_with_the_same_policy_and_the_own_value(tmp_path, plain):
    settings = sb3.Settings(**TINY_SB3, hidden=(32,), num_players=3, start=str(plain), runs=tmp_path)
    trainer = sb3.Trainer(settings)
    observation = Batch(32, num_players=3, seed=1).observation
    our_output, their_output = (
        partial(infer, network)(observation) for network in (trainer.trained(), load_agent(plain)[0])
    )
    torch.testing.assert_close(our_output.logits, their_output.logits, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(our_output.values[:, 0], their_output.values[:, 0], atol=1e-5, rtol=1e-5)
    assert np.ptp(their_output.logits.numpy()) > 1e-3, "not only zeros"
    assert weights_equal(trainer.env.snapshots()[0].network.state_dict(), trainer.trained().state_dict())


def test_sb3_writes_it_into_the_card(tmp_path, plain):
    settings = sb3.Settings(**TINY_SB3, hidden=(32,), num_players=3, start=str(plain), runs=tmp_path)
    assert train(sb3.Trainer, settings)
    card = json.loads(settings.agent.with_suffix(".json").read_text())
    assert card["start"] == read_card(plain)["weights"]
    assert f"--set start={plain}" in card["command"]
    assert train(sb3.Trainer, dataclasses.replace(settings, resume=True, steps=512))
    assert read_card(settings.agent)["start"] == card["start"]


def test_sb3_knows_no_action_features(tmp_path, capsys):
    assert main(["train-sb3", "--start", "ppo", "--runs", str(tmp_path)]) == 2
    assert (
        f"num_action_features {trained('beginner', 2)[0].shape.num_action_features}, expected 0"
        in capsys.readouterr().err
    )
