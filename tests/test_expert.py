"""Expert iteration: the same games whoever plays them, what they teach, and trainings that go on whatever happens."""

import dataclasses
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from artus_agents.neural import NeuralAgent, infer
from artus_agents.neural_search import Searched
from artus_agents.saved import load_agent, read_card
from artus_env import Batch
from artus_env.engine.agents.match import wins_of
from artus_env.engine.agents.names import find_agent
from artus_env.engine.agents.view import choose_actions
from artus_env.engine.contract.rng import seed_stream
from artus_training.arena.evaluate import evaluate
from artus_training.arena.units import kept, run_units
from artus_training.cli import main
from artus_training.learn.checkpoints import CheckpointError, read_checkpoint
from artus_training.learn.expert import selfplay
from artus_training.learn.expert.checkpoint import Progress, load_training, save_training
from artus_training.learn.expert.command import parse
from artus_training.learn.expert.games import no_decisions
from artus_training.learn.expert.gradient import Targets, cross_entropy_gradient
from artus_training.learn.expert.selfplay import DOUBT, SelfPlay, improved, packed, reward_for, unpacked
from artus_training.learn.expert.settings import Settings
from artus_training.learn.expert.train import train
from artus_training.learn.expert.trainer import Trainer
from artus_training.learn.ppo.settings import Settings as PpoSettings
from artus_training.learn.ppo.trainer import Trainer as PpoTrainer
from artus_training.learn.runs import alone_in_run

torch.set_num_threads(1)  # tests run side by side, and torch's threads spin while they wait

TINY = {
    "hidden": (32,), "num_games": 12, "evaluations": 8, "search_last": 6, "anchors": 3, "batch_size": 64, "rounds": 4,
    "window": 3, "threads": 1, "evaluate_every": 0, "final_games": 0, "precision": "float32",
}  # fmt: skip


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """A saved agent that knows nothing yet, but that its values are about wins."""
    settings = PpoSettings(reward="win", hidden=(32,), num_games=2, threads=1, runs=tmp_path_factory.mktemp("start"))
    PpoTrainer(settings).save_agent()
    return str(settings.agent)


@pytest.fixture
def tiny(tmp_path, start):
    """Makes settings of a tiny training."""
    return lambda **more: Settings(**TINY | {"start": start, "runs": tmp_path} | more)


def parts_of(games):
    """All that games are, as it can be compared."""
    about = games._replace(decisions=None)
    return about, {name: (part.dtype, part.shape, part.tobytes()) for name, part in games.decisions._asdict().items()}


def first_round(settings, run=run_units):
    trainer = Trainer(settings)
    return [games for _, games in run(trainer.work(0), trainer.units(0))]


@pytest.fixture(scope="module")
def others():
    """`run_units` by two other processes."""
    with kept(2) as run:
        yield run


# --- units ---


@pytest.mark.parametrize("more", [{}, {"play": "search"}, {"num_players": 3, "search_value": 0.5}])
def test_a_unit_is_the_same_whoever_plays_it(tiny, others, monkeypatch, more):
    monkeypatch.setattr(Settings, "unit_games", 5)
    settings = tiny(**more)
    here = first_round(settings)
    assert [(games.first, games.num_games) for games in here] == [(0, 5), (5, 5), (10, 2)]
    there = first_round(settings, others)
    torch.set_num_threads(2)
    try:
        by_threads = first_round(settings)
    finally:
        torch.set_num_threads(1)
    assert [*map(parts_of, here)] == [*map(parts_of, there)] == [*map(parts_of, by_threads)]
    other = first_round(dataclasses.replace(settings, seed=1))
    assert parts_of(here[0])[1]["observation"] != parts_of(other[0])[1]["observation"]


def test_units_of_later_rounds_are_other_games_with_newer_weights(tiny):
    trainer = Trainer(tiny())
    trainer.round(first_round(tiny()))
    (unit,) = trainer.units(1)
    assert (unit.version, unit.first, unit.num_games) == (1, 12, 12)
    games = trainer.work(1)(unit)
    assert (games.version, games.first) == (1, 12)
    assert parts_of(games)[1]["observation"] != parts_of(first_round(tiny())[0])[1]["observation"]


def test_who_has_other_weights_or_settings_plays_nothing(tiny):
    trainer = Trainer(tiny())
    (unit,) = trainer.units(0)
    for other in (unit._replace(version=1), unit._replace(made_of="0" * 16)):
        with pytest.raises(ValueError, match="is of another training than what plays it: made of"):
            trainer.work(0)(other)


def played_by_the_policy(settings):
    """The games of the first round, played again: the state before each decision, what is seen and who moves there, and
    each player's part of the win."""
    policy = NeuralAgent(Trainer(settings).network, sample=True)
    s, n = settings, settings.num_games
    batch = Batch(n, game=s.game, rules=s.rules, num_players=s.num_players, autoreset=False)
    batch.reset(seed_stream(s.seed, n, selfplay._DEALS))
    keys, holders = seed_stream(s.seed, n, selfplay._DRAWS), np.zeros((n, s.num_players), np.int64)
    seen = [[] for _ in range(n)]
    while not batch.over.all():
        for game in np.flatnonzero(~batch.over):
            legal = tuple(np.flatnonzero(batch.mask[game]))
            seen[game].append((batch.observation[game].tobytes(), legal, int(batch.player[game])))
        which = np.flatnonzero(~batch.over)
        batch.step(choose_actions(batch, [policy], holders, keys, which), which)
    return seen, wins_of(batch.outcomes)


@pytest.mark.parametrize(("num_players", "search_last"), [(2, 6), (3, 10), (2, 0)])
def test_the_last_decisions_are_searched_and_some_before_them_kept_to_the_start(tiny, num_players, search_last):
    settings = tiny(num_players=num_players, search_last=search_last, num_games=4)
    (games,) = first_round(settings)
    seen, wins = played_by_the_policy(settings)
    of, expected, before = games.decisions, {}, {}
    for game, decisions in enumerate(seen):
        begin = max(0, len(decisions) - search_last) if search_last else 0
        for number, (observation, legal, player) in enumerate(decisions):
            if len(legal) > 1:
                result = [(num_players * wins[game, (player + k) % num_players] - 1) / (num_players - 1)
                          for k in range(num_players)]  # fmt: skip
                (expected if number >= begin else before)[observation] = legal, result
    assert games.steps == sum(map(len, seen))
    assert of.searched.sum() == len(expected)
    assert (~of.searched).sum() <= 4 * settings.anchors
    if search_last:
        assert (~of.searched).sum() > 2 * settings.anchors
    for row in range(of.size):
        known = expected if of.searched[row] else before
        legal, result = known[of.observation[row].tobytes()]
        entries = slice(of.first[row], of.first[row + 1])
        assert tuple(of.action[entries]) == legal
        assert of.policy[entries].astype(float).sum() == pytest.approx(1, abs=2e-3)
        np.testing.assert_allclose(of.values[row, :num_players].astype(float), result, atol=1e-3)
        assert np.isnan(of.values[row, num_players:]).all()
    anchored = ~of.searched
    said = infer(unpacked(Trainer(settings).anchor, settings.shape()), of.observation[anchored])
    for row, logits, gates in zip(np.flatnonzero(anchored), said.logits, said.gates, strict=True):
        entries = slice(of.first[row], of.first[row + 1])
        action_features = torch.from_numpy(of.action_features[entries]).float()
        policy = torch.softmax(logits[of.action[entries].astype(int)] + 0.1 * (action_features @ gates), 0)
        np.testing.assert_allclose(of.policy[entries].astype(float), policy.numpy(), atol=2e-3)
    assert (of.gain[anchored] == 0).all()
    assert of.gain[of.searched].astype(float).mean() > 0, "a search thinks that it plays better"


def test_where_the_search_plays_games_go_another_way_and_are_as_long(tiny):
    (games,) = first_round(tiny(play="search"))
    (others,) = first_round(tiny())
    assert games.steps == others.steps
    searched, theirs = (
        {row.tobytes() for row in of.observation[of.searched]} for of in (games.decisions, others.decisions)
    )
    assert len(searched & theirs) >= TINY["num_games"] / 2, "they begin where the policy has led to"
    assert searched != theirs


@pytest.mark.parametrize(("game", "num_players"), [("royal", 3), ("quest", 2), ("magpies", 6)])
def test_other_games_are_played_as_well(tmp_path, game, num_players):
    settings = Settings(
        **TINY | {"anchors": 0, "num_games": 4}, game=game, num_players=num_players, start=None, runs=tmp_path,
        evaluation_opponents=(), final_opponents=(),
    )  # fmt: skip
    settings.check()
    assert train(dataclasses.replace(settings, rounds=2))
    assert settings.agent.parent.name.startswith(f"{game}-expert-")
    _, card = load_agent(settings.agent)
    assert (card["game"], card["settings"]["reward"]) == (game, "win")
    find_agent(f"ppo-search:4:{settings.agent}")


# --- what they teach ---


def test_the_policy_that_a_search_recommends_by_hand():
    prior = np.array([[0.5, 0.25, 0.25, 0]])
    found = Searched(np.array([0]), np.array([[3, 1, 0, 0]], np.int32), np.array([[2.4, 0.1, 0, 0]], np.float32))
    better = improved(prior, found, 10)
    position = (0.5 * 0.8 + 0.25 * 0.1) / 0.75
    worth = np.array([(2.4 + DOUBT * position) / (3 + DOUBT), (0.1 + DOUBT * position) / (1 + DOUBT), position])
    expected = prior[0, :3] * np.exp(10 * worth)
    expected /= expected.sum()
    np.testing.assert_allclose(better.policy[0], [*expected, 0])
    assert better.value == pytest.approx(expected @ worth)
    assert better.gain == pytest.approx((expected - prior[0, :3]) @ worth)
    assert better.gain > 0.04


def test_a_search_that_has_tried_nothing_recommends_what_there_was():
    prior = np.array([[0.7, 0, 0.3]])
    better = improved(prior, Searched(np.array([0]), np.zeros((1, 3), np.int32), np.zeros((1, 3), np.float32)), 10)
    np.testing.assert_allclose(better.policy, prior)
    assert better.gain == 0


@pytest.mark.parametrize("num_action_features", [0, 3])
def test_the_gradient_is_that_of_the_cross_entropy(num_action_features):
    random, rows, actions = np.random.default_rng(1), 60, 50
    logits = torch.tensor(random.normal(size=(rows, actions)), dtype=torch.float32, requires_grad=True)
    gates = torch.tensor(random.normal(size=(rows, num_action_features)), dtype=torch.float32, requires_grad=True)
    counts = random.integers(2, 9, rows)
    first = np.concatenate([[0], np.cumsum(counts)])
    action = np.concatenate([np.sort(random.choice(actions, count, replace=False)) for count in counts])
    action_features = random.integers(-9, 10, (len(action), num_action_features)).astype(np.int8)
    policy = np.concatenate([random.dirichlet(np.ones(count)) for count in counts]).astype(np.float32)
    searched = random.random(rows) < 0.5
    weights = random.random(rows).astype(np.float32)
    loss, divergences, agreements = 0, [], []
    for row in range(rows):
        part = slice(first[row], first[row + 1])
        known = torch.tensor(action_features[part]).float() @ gates[row] / 10
        log_probs = torch.log_softmax(logits[row, action[part]] + known, 0)
        wanted = torch.tensor(policy[part])
        loss = loss - weights[row] * (wanted * log_probs).sum()
        divergences.append(float((wanted * (wanted.log() - log_probs.detach())).sum()))
        agreements.append(int(log_probs.argmax()) == int(wanted.argmax()))
    loss.backward()

    order = random.permutation(rows)
    targets = Targets(first, action.astype(np.int16), action_features, policy, searched)
    by_logits, by_gates = np.full((rows, actions), 7, np.float32), np.full((rows, num_action_features), 7, np.float32)
    sums = np.zeros((2, 3))
    said = logits.detach().numpy()[order], gates.detach().numpy()[order]
    cross_entropy_gradient(*said, order, targets, weights[order], by_logits, by_gates, sums)
    np.testing.assert_allclose(by_logits, logits.grad.numpy()[order], atol=1e-6)
    if num_action_features:
        np.testing.assert_allclose(by_gates, gates.grad.numpy()[order], atol=1e-5)
    for kind in range(2):
        of = searched == bool(kind)
        np.testing.assert_allclose(sums[kind], [of.sum(), np.sum(np.array(divergences)[of]),
                                                np.sum(np.array(agreements)[of])], rtol=1e-4)  # fmt: skip


def without_policy(settings):
    """A training that begins with the values of `ppo`, and likes all actions alike."""
    trainer = Trainer(settings)
    head, shape = trainer.network.head, trainer.network.shape
    with torch.no_grad():
        for part in (head.weight, head.bias):
            part[: shape.num_actions] = part[shape.num_actions + shape.players :] = 0
    trainer.anchor = trainer.versions[0] = packed(trainer.network)
    return trainer


def play(trainer, rounds):
    """The figures of some rounds."""
    figures = []
    for number in range(trainer.version, trainer.version + rounds):
        figures.append(trainer.round([trainer.work(number)(unit) for unit in trainer.units(number)]))
    return figures


LEARNING = {
    "start": "ppo", "hidden": (256, 256), "num_games": 64, "evaluations": 32, "search_last": 12, "certainty": 30.0,
    "batch_size": 128, "epochs": 3, "window": 6, "learning_rate": 1e-3, "rounds": 12,
}  # fmt: skip


def test_a_few_rounds_teach_what_the_search_finds_also_in_games_not_learnt_from_and_win_games(tiny):
    settings = tiny(**LEARNING, anchors=0)
    trainer = without_policy(settings)
    figures = play(trainer, 6)
    first, last = figures[0], figures[-1]
    assert last["fresh_searched_kl"] < 0.8 * first["fresh_searched_kl"]
    assert last["fresh_searched_agreement"] > first["fresh_searched_agreement"] + 0.2
    assert first["predicted_gain"] > 0.03
    result = evaluate([trainer.agent(), NeuralAgent(unpacked(trainer.anchor, settings.shape()))], games=600)
    assert result.win_rate > 0.65


def test_anchors_hold_the_policy_where_nothing_is_searched(tiny):
    held, free = (
        play(without_policy(tiny(**LEARNING, anchors=8, anchor_weight=weight)), 3)[-1]["fresh_anchored_kl"]
        for weight in (1.0, 0.0)
    )
    assert 0 <= held < free / 2


# --- which games are taken ---


def test_games_of_weights_that_are_too_old_are_dropped_and_counted(tiny):
    trainer = Trainer(tiny(window=2))
    (games,) = first_round(tiny())
    dropped = [trainer.round([games._replace(version=version)])["dropped"] for version in (0, 1, 0, 3, 1)]
    assert dropped == [0, 0, 24, 12, 12], "after two rounds version 0 is too old, whenever it comes"
    assert trainer.dropped == sum(dropped)
    assert [each.version for each in trainer.games] == [3]


def test_games_of_another_training_or_of_the_future_are_refused(tiny):
    trainer = Trainer(tiny())
    (games,) = first_round(tiny())
    (others,) = first_round(tiny(evaluations=9))
    for wrong in (others, games._replace(version=1)):
        with pytest.raises(ValueError, match=r"games 0\.\.11 are of another training: made of"):
            trainer.round([wrong])
    assert not trainer.games


def test_actors_that_are_ahead_play_with_the_weights_before(tiny):
    trainer = Trainer(tiny(ahead=1))
    for version in (0, 0, 1, 2):
        number = trainer.version
        (games,) = [trainer.work(number)(unit) for unit in trainer.units(number)]
        assert games.version == version
        trainer.round([games])
    assert sorted(trainer.versions) == [3, 4]


def test_a_round_without_decisions_teaches_nothing(tiny):
    trainer = Trainer(tiny())
    (games,) = first_round(tiny())
    before = packed(trainer.network)
    trainer.round([games._replace(decisions=no_decisions(trainer.network.shape))])
    assert (packed(trainer.network), trainer.version) == (before, 1)


# --- a whole training ---


@pytest.mark.parametrize("more", [{}, {"ahead": 1, "play": "search"}])
def test_the_agent_is_the_same_whoever_plays_and_if_it_is_resumed(tiny, tmp_path, more):
    settings = tiny(num_games=10, **more)
    runs = [dataclasses.replace(settings, runs=tmp_path / name) for name in ("one", "two", "parted")]
    assert train(runs[0])
    assert train(dataclasses.replace(runs[1], workers=2))
    trainer = Trainer(runs[2])
    for number in range(2):
        trainer.round([trainer.work(number)(unit) for unit in trainer.units(number)])
    save_training(trainer)
    assert train(dataclasses.replace(runs[2], resume=True))
    agents = {each.agent.read_bytes() for each in runs}
    assert len(agents) == 1
    drawn = tmp_path / "drawn"
    assert train(dataclasses.replace(runs[0], runs=drawn, seed=1))
    assert Settings(runs=drawn).agent.read_bytes() not in agents


def launched(settings, *more):
    """`artus train-expert` with these settings, in a process of its own."""
    words = []
    for name in TINY.keys() | {"runs", "start"}:
        value = getattr(settings, name)
        words += [f"--{name.replace('_', '-')}", *map(str, value if isinstance(value, tuple) else [value])]
    line = [sys.executable, "-m", "artus_training", "train-expert", *words, *more]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def rounds_on_disk(settings):
    return read_checkpoint(settings.checkpoint, Progress)[0].version if settings.checkpoint.exists() else 0


def wait_for(condition, process):
    end = time.monotonic() + 240
    while not condition():
        assert process.poll() is None, f"the training ended by itself: {process.communicate()}"
        assert time.monotonic() < end
        time.sleep(0.01)


def test_killed_it_goes_on_and_ends_as_if_undisturbed(tiny, tmp_path):
    settings = tiny(rounds=30)
    whole = dataclasses.replace(settings, runs=tmp_path / "whole")
    assert train(whole)
    process = launched(settings)
    wait_for(lambda: rounds_on_disk(settings) >= 3, process)
    process.kill()
    process.communicate()
    done = rounds_on_disk(settings)
    assert 3 <= done < 30
    assert not settings.agent.exists(), "killed too late to show anything"
    assert train(dataclasses.replace(settings, resume=True))
    assert settings.agent.read_bytes() == whole.agent.read_bytes()


def test_interrupted_it_says_so_and_goes_on(tiny):
    settings = tiny(rounds=100_000)
    process = launched(settings)
    wait_for(lambda: rounds_on_disk(settings) >= 1, process)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 130
    assert f"of 100,000 rounds; --resume goes on from {settings.checkpoint}" in output
    done = rounds_on_disk(settings)
    resumed = parse(["--resume", "--runs", str(settings.runs), "--rounds", str(done + 1)])
    assert dataclasses.replace(resumed, rounds=100_000) == dataclasses.replace(settings, resume=True)
    assert train(resumed)
    assert rounds_on_disk(settings) == done + 1
    assert read_card(settings.agent)["changes"][0]["settings"] == {"rounds": [100_000, done + 1]}


def test_an_interruption_while_others_play_ahead_ends_them_too(tiny):
    before, children = threading.active_count(), set(multiprocessing.active_children())
    settings = tiny(rounds=100_000, ahead=1, workers=2)

    def interrupt():
        while rounds_on_disk(settings) < 2:
            time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    assert not train(settings)
    interrupting.join()
    assert threading.active_count() == before
    assert set(multiprocessing.active_children()) == children


def test_a_training_that_began_with_nothing_goes_on(tiny, tmp_path):
    settings = tiny(start=None, anchors=0)
    trainer = Trainer(settings)
    play(trainer, 1)
    save_training(trainer)
    resumed = parse(["--resume", "--runs", str(tmp_path)])
    assert resumed == dataclasses.replace(settings, resume=True)
    load_training(again := Trainer(resumed), *read_checkpoint(settings.checkpoint, Progress))
    assert (again.version, again.start) == (1, "")


def test_a_resumed_training_drops_what_other_code_has_played(tiny, capsys):
    settings = tiny()
    trainer = Trainer(settings)
    trainer.round(first_round(settings))
    save_training(trainer)
    about, tensors = read_checkpoint(settings.checkpoint, Progress)
    about.made_of = "0" * 16
    trainer = Trainer(settings)
    load_training(trainer, about, tensors)
    assert "goes on without its 12 games: they were played by other code (0000000000000000)" in capsys.readouterr().out
    assert (trainer.games, trainer.dropped, trainer.version) == ([], 12, 1)


@pytest.mark.parametrize(
    ("name", "forge"),
    [
        ("network.head.bias", lambda part: part[:-1].clone()),
        ("anchor.head.bias", lambda part: part.double()),
        ("versions.1.head.bias", None),
        ("optimizer.0.step", None),
        ("games.0.action", lambda part: part.fill_(339)),
        ("games.0.action", lambda part: part.fill_(-1)),
        ("games.0.action", lambda part: part[:-1].clone()),
        ("games.0.first", lambda part: part.fill_(0)),
        ("games.0.first", lambda part: part.neg()),
        ("games.0.first", lambda part: part * 1000),
        ("games.0.policy", lambda part: part.fill_(torch.nan)),
        ("games.0.values", lambda part: part.fill_(torch.inf)),
        ("games.0.observation", lambda part: part[:, :-1].clone()),
        ("games.0.action_features", None),
        ("games.0.searched", lambda part: part.fill_(2)),
    ],
)
def test_a_checkpoint_that_was_made_up_is_refused_though_its_checksum_fits(tiny, name, forge):
    settings = tiny()
    trainer = Trainer(settings)
    trainer.round(first_round(settings))
    save_training(trainer)
    about, tensors = read_checkpoint(settings.checkpoint, Progress)
    part = tensors.pop(name)
    if forge:
        changed = forge(part)
        tensors[name] = part if changed is None else changed
    with pytest.raises(
        CheckpointError, match=rf"checkpoint\.pt.*({re.escape(name)}|decisions have|0 or 1|lacks version|negative)"
    ):
        load_training(Trainer(settings), about, tensors)


# --- settings ---


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--evaluations", "1"], "evaluations must be in 2..100000, got 1"),
        (["--window", "1", "--ahead", "1"], "window must be in 2..1000, got 1"),
        (["--ahead", "2"], "ahead must be in 0..1, got 2"),
        (["--search-value", "1.5"], "search_value must be in 0..1, got 1.5"),
        (["--certainty", "nan"], "certainty must be at least 0, got nan"),
        (["--num-games", "0"], "num_games must be in 1..1000000, got 0"),
        (["--start", "None"], "a training without start has no policy to stay near to: anchors must be 0"),
        (["--workers", "2", "--ray"], "either some workers or a Ray cluster can play, not both"),
        (["--final-opponents", "grdy"], "there is no agent 'grdy'"),
        (["--hidden", "8"], "has another network than this training: hidden [256, 256], expected [8]"),
        (["--game", "magpies"], "no trained agent comes with magpies"),
        (["--preset", "nowhere.toml"], "preset nowhere.toml: No such file"),
        (["--search-last", "100000000000000000000"], "search_last must be in 0..1000000"),
    ],
)
def test_settings_that_can_not_be_are_refused_before_anything_is_written(tmp_path, capsys, words, message):
    assert main(["train-expert", *words, "--runs", str(tmp_path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("artus train-expert: ")
    assert message in line
    assert not list(tmp_path.iterdir())


def test_values_about_points_are_no_start(tmp_path, start, capsys):
    path = tmp_path / "points.safetensors"
    path.write_bytes(Path(start).read_bytes())
    card = read_card(Path(start))
    card["settings"] |= {"reward": "points", "final_reward": None}
    path.with_suffix(".json").write_text(json.dumps(card))
    assert main(["train-expert", "--start", str(path), "--hidden", "32", "--runs", str(tmp_path)]) == 2
    assert "has values about points, this training needs them about win" in capsys.readouterr().err


def test_a_card_says_how_to_train_the_agent_again(tiny, tmp_path, start):
    settings = tiny(rounds=1, final_opponents=("start", "random"), final_games=20)
    assert train(settings)
    card = read_card(settings.agent)
    words = card["command"].split()
    assert words[:2] == ["artus", "train-expert"]
    assert dataclasses.replace(parse(words[2:]), runs=tmp_path) == settings
    assert card["start"] == read_card(Path(start))["weights"]
    assert [result["against"] for result in card["strength"]] == ["start", "random"]


def test_a_preset_can_be_a_file_or_come_with_the_game(tmp_path, monkeypatch, start):
    toml = tmp_path / "expert-standard-3.toml"
    toml.write_text('rounds = 7\nplay = "search"\nanchors = 0\n')
    assert parse(["--preset", str(toml)]).rounds == 7
    definition = Settings(game="magpies").definition
    monkeypatch.setitem(vars(definition), "presets", tmp_path)
    made = parse(["--game", "magpies", "--num-players", "3"])
    assert (made.rounds, made.play, made.anchors) == (7, "search", 0)
    assert parse(["--game", "magpies"]).rounds == Settings().rounds
    toml.write_text("roundz = 7")
    with pytest.raises(ValueError, match="there is no setting 'roundz'"):
        parse(["--preset", str(toml)])


def test_no_file_can_start_a_program(tiny, tmp_path):
    settings = tiny(final_opponents=("program:touch sprung",))
    save_training(Trainer(settings))
    with pytest.raises(ValueError, match="final_opponents has 'program:touch sprung', which starts a program"):
        parse(["--resume", "--runs", str(tmp_path)])


def test_a_run_has_room_for_one_process(tiny, capsys):
    settings = tiny()
    with alone_in_run(settings.folder):
        assert main(["train-expert", "--runs", str(settings.runs)]) == 2
    assert capsys.readouterr().err == f"artus train-expert: {settings.folder}: another process is training there\n"


def test_reward_of_shared_wins():
    assert reward_for(np.array([1, 0.5, 0]), 2).tolist() == [1, 0, -1]
    np.testing.assert_allclose(reward_for(np.array([1, 0.5, 1 / 3, 0]), 3), [1, 0.25, 0, -0.5])


def test_work_travels_with_its_weights(tiny):
    trainer = Trainer(tiny())
    work = trainer.work(0)
    kind, arguments = work.__reduce__()
    assert kind is SelfPlay
    assert arguments[1:] == (0, trainer.anchor, trainer.anchor)
