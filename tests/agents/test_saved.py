"""Saved agents: they are loaded as they were saved, and all other files are refused."""

import dataclasses
import hashlib
import json
import os
import pickle
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
import torch
from safetensors.torch import load, save

from artus_agents import saved
from artus_agents.network import Network, Shape
from artus_agents.neural import NeuralAgent, TrainedAgent, find_trained, infer, trained, view_action_features
from artus_agents.saved import add_to_card, load_agent, read_card, save_agent, write_atomically
from artus_env import NUM_ACTIONS, OBSERVATION_SIZE, Batch
from artus_env.engine.agents.names import find_agent
from artus_env.engine.agents.view import View
from artus_env.engine.contract.registry import find_game, game_names
from artus_env.engine.contract.rng import seed_stream
from artus_env.games.artus.components import STANDARD, Components
from artus_env.games.artus.definition import ARTUS
from artus_training.arena.evaluate import evaluate
from artus_training.arena.lineup import line_up
from artus_training.cli import main

torch.set_num_threads(1)  # tests run side by side, and torch's threads spin while they wait

CARD = {"variants": [["beginner", 2], ["advanced", 3]], "components": STANDARD.hash}
GOOD_CARD = b'{"format": 1, "variants": [["beginner", 2]], "components": "a0", "weights": "b0"}'
DTYPES = [torch.float32, torch.bfloat16]


def network(seed=0, hidden=(16, 8), action_features=True):
    """A network with random weights."""
    torch.manual_seed(seed)
    new_network = Network(Shape.of(ARTUS, STANDARD, hidden, action_features))
    for parameter in new_network.parameters():
        parameter.data += torch.randn(parameter.shape) / 10
    return new_network


@pytest.fixture
def agent(tmp_path):
    """The path of a saved agent."""
    path = tmp_path / "agent.safetensors"
    save_agent(path, network(), CARD)
    return path


def have_equal_weights(saved_network, loaded_network, dtype=torch.float32):
    """Whether two networks have the same weights, compared in this dtype."""
    pairs = zip(saved_network.state_dict().values(), loaded_network.state_dict().values(), strict=True)
    return all(torch.equal(a.to(dtype).float(), b.float()) for a, b in pairs)


def test_bfloat16_batches_have_few_sizes_and_the_same_results():
    """oneDNN keeps compiled code for each size: without padding, training took 5 MB more memory every minute."""
    new_network, sizes = network(), set()
    new_network.trunk[0].register_forward_pre_hook(lambda _, inputs: sizes.add(len(inputs[0])))
    observation = np.random.default_rng(0).integers(0, 2, (2048, OBSERVATION_SIZE)).astype(np.int8)
    all_outputs = infer(new_network, observation, bfloat16=True)
    for count in [*range(1, 70), *range(1024, 2048, 9)]:
        outputs = infer(new_network, observation[:count], bfloat16=True)
        for rows, all_rows in zip(outputs, all_outputs, strict=True):
            torch.testing.assert_close(rows, all_rows[:count], rtol=0.02, atol=0.02)
    assert sizes == {*range(1, 33), *range(34, 65, 2), 68, 72, *range(1024, 2049, 64)}


def test_padded_rows_in_bfloat16_have_no_gradient():
    new_network = network()
    observation = torch.from_numpy(np.random.default_rng(0).integers(0, 2, (33, OBSERVATION_SIZE)).astype(np.int8))
    gradients = []
    for rows in (observation, torch.cat([observation, observation[:1]])):  # 34 rows need no padding
        new_network.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            outputs = new_network(rows)
        assert len(outputs) == len(rows)
        outputs[:33].float().square().sum().backward()
        gradients.append([weights.grad.clone() for weights in new_network.parameters()])
    for pair in zip(*gradients, strict=True):
        torch.testing.assert_close(*pair, rtol=0.02, atol=0.02)


def rewrite(path, content, **changes):
    """Replace the weights of an agent, and change its card so that the checksum fits."""
    path.write_bytes(content)
    card = json.loads(path.with_suffix(".json").read_bytes())
    card |= {"weights": hashlib.sha256(content).hexdigest(), **changes}
    path.with_suffix(".json").write_text(json.dumps(card))


def check_refused(path, message, file="agent.safetensors"):
    """Check that loading an agent raises an error with this message, which names the file."""
    with pytest.raises(ValueError, match=message) as caught:
        load_agent(path)
    assert str(path.with_name(file)) in str(caught.value)
    assert len(str(caught.value)) < 2000


def middle_of_games(rules="beginner", num_players=2, count=200):
    """A view of games after some random moves."""
    batch = Batch(count, rules=rules, num_players=num_players, seed=3, threads=1)
    for _ in range(30):
        batch.step(batch.sample())
    return View(batch, None, seed_stream(0, count))


# --- saving and loading
# ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("action_features", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_saved_network_comes_back(tmp_path, dtype, action_features):
    new_network = network(1, (24,), action_features)
    save_agent(tmp_path / "agent.safetensors", new_network, CARD, dtype)
    loaded, card = load_agent(tmp_path / "agent.safetensors")
    assert loaded.shape == new_network.shape == Shape.of(ARTUS, STANDARD, (24,), action_features)
    assert have_equal_weights(new_network, loaded, dtype)
    assert all(value.dtype == torch.float32 for value in loaded.state_dict().values())
    assert not any(parameter.requires_grad for parameter in loaded.parameters())
    assert {name: card[name] for name in CARD} == CARD
    assert sorted(tmp_path.iterdir()) == [tmp_path / "agent.json", tmp_path / "agent.safetensors"]


def test_entries_are_added_to_a_card_once_and_the_rest_stays(agent):
    before = read_card(agent)
    for _ in range(2):
        add_to_card(agent, "exploitability", [{"gain": 0.1}, {"gain": 0.2}])
    assert load_agent(agent)[1] == before | {"exploitability": [{"gain": 0.1}, {"gain": 0.2}]}


def test_nothing_is_added_where_it_does_not_fit_or_cannot_be_written(agent, monkeypatch):
    before = read_card(agent)
    with pytest.raises(ValueError, match=r"agent.json: game must be a list, got 'artus'"):
        add_to_card(agent, "game", [{}])

    def full(path, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(saved, "write_atomically", full)
    with pytest.raises(ValueError, match=r"agent.json can't be written: No space left on device"):
        add_to_card(agent, "exploitability", [{}])
    assert read_card(agent) == before


@pytest.mark.parametrize("action_features", [True, False])
def test_an_old_card_without_a_game_belongs_to_artus(tmp_path, action_features):
    """Such a card names no game, and its `network` only says whether there are action features."""
    shape = dataclasses.replace(
        Shape.of(ARTUS, STANDARD, (24,)), num_action_features=saved.FIRST_ACTION_FEATURES if action_features else 0
    )
    network, path = Network(shape), tmp_path / "agent.safetensors"
    save_agent(path, network, CARD)
    card = read_card(path)
    del card["game"], card["network"]["players"], card["network"]["num_action_features"]
    card["network"]["action_features"] = action_features
    path.with_suffix(".json").write_text(json.dumps(card))
    loaded, card = load_agent(path)
    assert loaded.shape == network.shape
    assert have_equal_weights(network, loaded)
    assert saved.game_of(card) == "artus"


def test_an_agent_of_another_game_is_refused(tmp_path):
    path = tmp_path / "agent.safetensors"
    save_agent(path, network(), CARD | {"game": "whist", "settings": {"reward": "win"}})
    assert read_card(path)["game"] == "whist"
    with pytest.raises(ValueError, match="this agent was trained for the game whist, not for artus"):
        find_agent(f"ppo:{path}").act(middle_of_games())
    with pytest.raises(ValueError, match=r"agent\.json: there is no game 'whist'"):
        find_agent(f"ppo-search:4:{path}")


def test_a_game_that_is_not_installed_is_named_where_an_older_card_relies_on_it(agent):
    card = read_card(agent)
    sizes = {name: card["network"][name] for name in ("observation_size", "num_actions", "hidden")}
    rewrite(agent, agent.read_bytes(), game="whist", network=sizes | {"action_features": True})
    check_refused(agent, "there is no game 'whist'", "agent.json")


@pytest.mark.parametrize("changes", [{"players": 5}, {"num_action_features": 14}])
def test_an_agent_for_more_players_or_action_features_never_plays(tmp_path, changes):
    """Compiled loops would read beyond the rows of its output."""
    path = tmp_path / "agent.safetensors"
    shape = Shape.of(ARTUS, STANDARD, (8,))
    save_agent(path, Network(dataclasses.replace(shape, **changes)), CARD | {"settings": {"reward": "win"}})
    for name in (f"ppo:{path}", f"ppo-search:4:{path}"):
        with pytest.raises(ValueError, match=r"this network has values for . players .* artus has 4 and at most 13"):
            find_agent(name).act(middle_of_games())


def test_the_message_names_a_game_without_trained_agents():
    untrained = dataclasses.replace(ARTUS, trained=None)
    with pytest.raises(ValueError, match=r"no trained agent comes with artus for beginner with 2 players.*ppo:PATH"):
        trained("beginner", 2, untrained)


def test_bfloat16_files_have_half_the_size(agent, tmp_path):
    bfloat16_path = tmp_path / "half.safetensors"
    save_agent(bfloat16_path, network(), CARD, torch.bfloat16)
    assert bfloat16_path.stat().st_size == pytest.approx(agent.stat().st_size / 2, rel=0.05)


def test_a_loaded_agent_plays_like_the_one_that_was_saved(agent):
    view = middle_of_games()
    expected = NeuralAgent(network()).act(view)
    assert len(set(expected.tolist())) > 20
    for path in (agent, agent.with_suffix(".json"), agent.with_suffix("")):
        np.testing.assert_array_equal(find_agent(f"ppo:{path}").act(view), expected)


def test_a_bare_path_may_hold_a_colon(agent):
    folder = agent.parent / "C:"
    folder.mkdir()
    for path in (agent, agent.with_suffix(".json")):
        path.rename(folder / path.name)
    view = middle_of_games()
    (loaded_agent, _) = line_up([str(folder / agent.name), "random"], "beginner")
    np.testing.assert_array_equal(loaded_agent.act(view), NeuralAgent(network()).act(view))


def test_weights_are_plain_safetensors_and_the_card_is_plain_json(agent):
    weights = load(agent.read_bytes())
    assert {name: tuple(value.shape) for name, value in weights.items()} == {
        "trunk.0.weight": (16, OBSERVATION_SIZE), "trunk.0.bias": (16,), "trunk.2.weight": (8, 16),
        "trunk.2.bias": (8,),
        "head.weight": (384, 8), "head.bias": (384,),  # 339 actions, 4 values, 13 gates, rounded up
    }  # fmt: skip
    card = json.loads(agent.with_suffix(".json").read_text())
    shape = {"observation_size": OBSERVATION_SIZE, "num_actions": NUM_ACTIONS, "players": 4, "hidden": [16, 8]}
    shape["num_action_features"] = 13
    checksum = hashlib.sha256(agent.read_bytes()).hexdigest()
    assert card == {"format": 1, "game": "artus", **CARD, "network": shape, "weights": checksum} == read_card(agent)


def test_saving_again_replaces_the_agent(agent):
    save_agent(agent, network(7), CARD | {"steps": 5})
    loaded, card = load_agent(agent)
    assert have_equal_weights(network(7), loaded)
    assert card["steps"] == 5


# --- nothing is executed
# -----------------------------------------------------------------------------------------------


class Trap:
    """Creates a file when it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return open, (self.path, "w")


@pytest.mark.parametrize("writer", ["pickle", "torch.save"])
def test_a_pickle_is_refused_and_not_executed(agent, tmp_path, writer):
    if writer == "pickle":
        content = pickle.dumps(Trap(tmp_path / "sprung"))
    else:
        torch.save({"head.bias": Trap(tmp_path / "sprung")}, tmp_path / "file")
        content = (tmp_path / "file").read_bytes()
    rewrite(agent, content)
    check_refused(agent, "holds no weights")
    agent.with_suffix(".json").write_bytes(content)
    check_refused(agent, "damaged or no card", "agent.json")
    assert not (tmp_path / "sprung").exists()
    opened_file = (
        pickle.loads(content) if writer == "pickle" else torch.load(tmp_path / "file", weights_only=False)["head.bias"]
    )
    opened_file.close()
    assert (tmp_path / "sprung").exists()  # the trap works


# --- damage
# ------------------------------------------------------------------------------------------------------------

OFFSETS = [0, 1, 7, 8, 9, 60, 500, 1000, 10_000, -100, -1]
"""Byte offsets within the length of the header, within the header, and within the numbers."""


@pytest.mark.parametrize("offset", OFFSETS)
def test_truncated_weights(agent, offset):
    content = agent.read_bytes()[:offset]
    agent.write_bytes(content)
    check_refused(agent, rf"is damaged or not the file that its card describes.*\({len(content)} bytes\)")
    rewrite(agent, content)
    check_refused(agent, "holds no weights")


@pytest.mark.parametrize("offset", [0, 1, 20, 200, -1])
def test_a_truncated_card(agent, offset):
    card = agent.with_suffix(".json")
    card.write_bytes(card.read_bytes().strip()[:offset])
    check_refused(agent, "damaged or no card", "agent.json")


@pytest.mark.parametrize("offset", OFFSETS[:-1])
def test_a_flipped_byte(agent, offset):
    content = bytearray(agent.read_bytes())
    content[offset] ^= 255
    agent.write_bytes(content)
    check_refused(agent, "is damaged or not the file that its card describes")


def test_any_damaged_header_raises_a_value_error(agent):
    """Even where the checksum has been made to fit."""
    content = agent.read_bytes()
    header_end = 8 + int.from_bytes(content[:8], "little")
    random = np.random.default_rng(0)
    refusals = 0
    for _ in range(150):
        damaged = bytearray(content)
        for _ in range(random.integers(1, 4)):
            damaged[random.integers(header_end)] = random.choice([*b' 0129"{}[],:FBIU', *random.integers(0, 256, 4)])
        rewrite(agent, bytes(damaged))
        try:
            load_agent(agent)  # some changes do no harm, such as that of a blank
        except ValueError as error:
            assert str(agent) in str(error)  # noqa: PT017  # not all of them are refused
            refusals += 1
    assert refusals > 100


def test_missing_files(agent, tmp_path):
    check_refused(tmp_path / "nobody.safetensors", "doesn't exist: a saved agent has a card", "nobody.json")
    card = agent.with_suffix(".json").read_bytes()
    agent.with_suffix(".json").unlink()
    check_refused(agent, "doesn't exist: a saved agent has a card", "agent.json")
    agent.with_suffix(".json").write_bytes(card)
    agent.unlink()
    check_refused(agent, "doesn't exist")
    agent.mkdir()
    check_refused(agent, "can't be read: Is a directory")


def test_the_card_of_another_file(agent, tmp_path):
    other = tmp_path / "other.safetensors"
    save_agent(other, network(9), CARD)
    agent.with_suffix(".json").write_bytes(other.with_suffix(".json").read_bytes())
    check_refused(agent, "not the file that its card describes")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "damaged or no card"),
        (b"null", "Expected `object`, got `null`"),
        (b"[1, 2]", "Expected `object`, got `array`"),
        (b"{}", "format must be 1, got None"),
        (b'{"format": 2}', "format must be 1, got 2"),
        (b'{"format": 1}', "missing required field `variants`"),
        (b'{"format": 1, "variants": []}', r"length >= 1 - at `\$\.variants`"),
        (b'{"format": 1, "variants": [["beginner", "2"]]}', r"Expected `int`, got `str` - at `\$\.variants"),
        (b'{"format": 1, "variants": [["beginner", 2, 3]]}', r"length 2, got 3 - at `\$\.variants"),
        (
            b'{"format": 1, "variants": [["beginner", 2]], "components": 5}',
            r"Expected `str`, got `int` - at `\$\.components`",
        ),
        (
            b'{"format": 1, "variants": [["beginner\\n", 2]], "components": "a0", "weights": "b0"}',
            "Expected `str` matching regex",
        ),
        (
            b'{"format": 1, "variants": [["beginner", 2]], "components": "a0\\n", "weights": "b0"}',
            "Expected `str` matching regex",
        ),
        (b'{"format": 1, "variants": [["beginner", 2]], "components": "a0"}', "missing required field `weights`"),
        (b'{"format": 1, "variants": [["beginner", 2]], "components": "a0", "weights": "b0"}', "network must say"),
        (GOOD_CARD[:-1] + b', "curve": 5}', r"Expected `array`, got `int` - at `\$\.curve`"),
        (GOOD_CARD[:-1] + b', "curve": [{"steps": 1, "seconds": 2, "margin": {}}]}', "missing required field `wins`"),
        (
            GOOD_CARD[:-1] + b', "curve": [{"steps": 1, "seconds": 2, "wins": {"x": 1}, "margin": {}}]}',
            "matching regex",
        ),
        (GOOD_CARD[:-1] + b', "steps": -1}', r"`int` >= 0 - at `\$\.steps`"),
        (GOOD_CARD[:-1] + b', "strength": [{}]}', "missing required field `against`"),
        (GOOD_CARD[:-1] + b', "settings": 3}', r"Expected `object`, got `int` - at `\$\.settings`"),
        (b"\xff\xfe\x00", "damaged or no card"),
        (b"[" * 100_000, "damaged or no card"),
        (b'{"format": ' + b"9" * 5000 + b"}", "damaged or no card"),
        (b'{"cells": [], "metadata": {}, "nbformat": 4}', "format must be 1, got None"),
    ],
    ids=lambda value: str(value)[:70],
)
def test_foreign_json(agent, content, message):
    agent.with_suffix(".json").write_bytes(content)
    check_refused(agent, message, "agent.json")


@pytest.mark.parametrize(
    "changes",
    [
        {"observation_size": 10**9},
        {"num_actions": 10**15},
        {"hidden": [10**6]},
        {"hidden": [50_000, 50_000]},
        {"hidden": [1] * 100_000},
        {"hidden": []},
        {"hidden": [0]},
        {"hidden": [-5]},
        {"hidden": [16, True]},
        {"hidden": [16.0, 8]},
        {"hidden": "16"},
        {"hidden": None},
        {"hidden": 16},
        {"action_features": 1},
        {"num_action_features": None},
        {"num_action_features": True},
        {"num_action_features": -1},
        {"num_action_features": 10**15},
        {"players": None},
        {"players": 0},
        {"players": 10**15},
    ],
    ids=str,
)
def test_absurd_sizes_are_refused_before_any_network_is_made(agent, changes, monkeypatch):
    monkeypatch.setattr(saved, "Network", None)
    card = read_card(agent)
    rewrite(agent, agent.read_bytes(), network=card["network"] | changes)
    check_refused(
        agent, "network must say observation_size, num_actions, players, hidden and num_action_features", "agent.json"
    )


@pytest.mark.parametrize("sizes", [None, [], "big", {}, {"hidden": [4]}])
def test_a_card_without_sizes(agent, sizes):
    rewrite(agent, agent.read_bytes(), network=sizes)
    check_refused(agent, "network must say observation_size", "agent.json")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "head.bias",
            torch.zeros(5),
            r"head\.bias must be numbers of shape \(384,\), got torch\.float32 of shape \(5,\)",
        ),
        ("head.bias", torch.zeros(384, 1), r"head\.bias must be numbers of shape \(384,\)"),
        ("head.bias", torch.zeros(()), r"head\.bias must be numbers of shape \(384,\)"),
        ("head.bias", torch.zeros(384, dtype=torch.int64), r"got torch\.int64"),
        ("head.bias", torch.zeros(384, dtype=torch.bool), r"got torch\.bool"),
        ("head.bias", None, r"head\.bias must be numbers of shape \(384,\), got nothing"),
        ("head.weight", torch.zeros(8, NUM_ACTIONS), r"head\.weight must be"),
        ("head.bias", torch.zeros(384, dtype=torch.float8_e4m3fn), r"got torch\.float8_e4m3fn"),
        (
            "head.bias",
            torch.full((384,), 1e300, dtype=torch.float64),
            r"head\.bias has numbers that are not finite in float32",
        ),
        ("head.bias", torch.tensor([torch.nan] + [0.0] * 383), r"head\.bias has numbers that are not finite"),
        ("head.bias", torch.tensor([0.0] * 383 + [-torch.inf]), r"head\.bias has numbers that are not finite"),
        ("more", torch.zeros(3), "numbers that no part of the network takes: more"),
    ],
)
def test_weights_that_are_not_those_of_the_network(agent, name, value, message):
    weights = load(agent.read_bytes())
    weights[name] = value
    if value is None:
        del weights[name]
    rewrite(agent, save(weights))
    check_refused(agent, message)


def test_weights_of_another_network(agent, tmp_path):
    for other in (network(0, (16, 9)), network(0, (16, 8, 8))):
        save_agent(tmp_path / "other.safetensors", other, CARD)
        rewrite(agent, (tmp_path / "other.safetensors").read_bytes())
        check_refused(agent, "must be numbers of shape|no part of the network")


# --- interrupted saving
# --------------------------------------------------------------------------------------------


def test_the_old_agent_stays_when_the_disk_is_full_for_the_weights(agent, tmp_path, monkeypatch):
    def full(_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        save_agent(agent, network(5), CARD)
    assert have_equal_weights(network(), load_agent(agent)[0])
    assert sorted(tmp_path.iterdir()) == [agent.with_suffix(".json"), agent]


def test_old_and_new_are_never_mixed_when_the_disk_is_full_for_the_card(agent, tmp_path, monkeypatch):
    files = iter(["weights", "card"])

    def full(_):
        if next(files) == "card":
            raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        save_agent(agent, network(5), CARD | {"steps": 5})
    assert sorted(tmp_path.iterdir()) == [agent.with_suffix(".json"), agent]
    try:
        loaded, _ = load_agent(agent)
    except ValueError as error:
        assert "not the file that its card describes" in str(error)  # noqa: PT017
    else:
        assert have_equal_weights(network(), loaded)


def test_a_reader_never_finds_a_part_of_a_file(tmp_path):
    path = tmp_path / "file"
    write_atomically(path, b"old" * 1000)
    write_atomically(path, memoryview(b"new"))
    assert path.read_bytes() == b"new"
    with pytest.raises(TypeError):
        write_atomically(path, "text")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


KILLED_WHILE_WRITING = """
import os, random, signal, sys, time
from pathlib import Path
from artus_agents.saved import write_atomically
path, contents = Path(sys.argv[1]), [b"a" * 5_000_000, b"b" * 3_000_000]
write_atomically(path, contents[0])
draw = random.Random(0)
for _ in range(25):
    child = os.fork()
    if child == 0:
        while True:
            for content in contents[::-1]:
                write_atomically(path, content)
    time.sleep(draw.uniform(0, 0.03))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert path.read_bytes() in contents
print("whole")
"""


@pytest.mark.slow
def test_killed_while_writing_leaves_the_old_file_or_the_new(tmp_path):
    command = [sys.executable, "-c", KILLED_WHILE_WRITING, str(tmp_path / "file")]
    process = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert process.stdout == "whole\n", process.stderr


# --- playing
# ------------------------------------------------------------------------------------------------------------


def test_an_agent_plays_all_its_variants_and_no_other(agent):
    player = find_agent(f"ppo:{agent}")
    for rules, num_players in (("beginner", 2), ("advanced", 3)):
        assert len(player.act(middle_of_games(rules, num_players))) == 200
        player.check_variant(rules, num_players, STANDARD)
    message = "trained for beginner with 2 players or advanced with 3 players, not for advanced with 2 players"
    with pytest.raises(ValueError, match=message):
        player.act(middle_of_games("advanced", 2))
    with pytest.raises(ValueError, match=message):
        line_up([f"ppo:{agent}", "random"], "advanced")


@pytest.mark.parametrize(("size", "number"), [("num_actions", 8), ("num_actions", 400), ("observation_size", 8)])
@pytest.mark.parametrize("kind", ["ppo", "ppo-search:4"])
def test_a_network_of_other_sizes_never_plays(tmp_path, kind, size, number):
    """Compiled loops would read and write beyond the rows of its output."""
    sizes = {"observation_size": OBSERVATION_SIZE, "num_actions": NUM_ACTIONS} | {size: number}
    path = tmp_path / "agent.safetensors"
    save_agent(path, Network(Shape(**sizes, players=4, hidden=(8,))), CARD | {"settings": {"reward": "win"}})
    player = find_agent(f"{kind}:{path}")
    with pytest.raises(ValueError, match=f"this network takes .* this box has {OBSERVATION_SIZE} and {NUM_ACTIONS}"):
        player.act(middle_of_games())
    with pytest.raises(ValueError, match="this network takes"):
        line_up([player, "random"], "beginner", 2)


def test_an_agent_of_another_box_is_refused(agent):
    other_box = Components(wheel=(0, 11, *STANDARD.wheel[2:]))
    with pytest.raises(ValueError, match=f"trained for the box {STANDARD.hash}, not for {other_box.hash}"):
        line_up([f"ppo:{agent}", "random"], "beginner", components=other_box)
    batch = Batch(2, components=other_box)
    with pytest.raises(ValueError, match="trained for the box"):
        find_agent(f"ppo:{agent}").act(View(batch, None, seed_stream(0, 2)))


def test_an_agent_that_samples_draws_from_its_policy():
    num_games = 3000
    batch = Batch(num_games, seed=2, threads=1)
    batch.reset(np.full(num_games, batch.seeds[0], np.uint64))
    view = View(batch, None, seed_stream(1, num_games))
    output = infer(network(), view.observation[:1])
    logits = output.logits[0] + (output.gates[0] / 10 * torch.from_numpy(view_action_features(view)[0]).float()).sum(
        dim=1
    )
    logits[torch.from_numpy(view.mask[0]) == 0] = -torch.inf
    expected = torch.softmax(logits, dim=0).numpy()
    actions = NeuralAgent(network(), sample=True).act(view)
    np.testing.assert_allclose(np.bincount(actions, minlength=NUM_ACTIONS) / num_games, expected, atol=0.03)
    np.testing.assert_array_equal(actions, NeuralAgent(network(), sample=True).act(view))
    assert set(NeuralAgent(network()).act(view).tolist()) == {int(expected.argmax())}


def test_evaluate_takes_a_saved_agent_by_name_or_path(agent, capsys):
    result = evaluate([f"ppo:{agent}", "random"], games=20)
    assert result.games == 20
    assert result.forfeits == 0
    assert result.win_rates == evaluate([str(agent), "random"], games=20).win_rates
    assert main(["evaluate", str(agent), "random", "--games", "20"]) == 0
    assert f"{agent} against random: beginner, 2 players, 20 games" in " ".join(capsys.readouterr().out.split())


def test_commands_report_a_faulty_agent_in_one_line(agent, capsys):
    agent.write_bytes(b"damaged")
    assert main(["evaluate", f"ppo:{agent}", "random"]) == 2
    assert main(["evaluate", str(agent.with_name("nobody.safetensors")), "random"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert "agent.safetensors is damaged" in lines[0]
    assert "nobody.json doesn't exist" in lines[1]


@pytest.mark.parametrize("single", [True, False])
def test_a_saved_agent_is_an_opponent_in_gymnasium(agent, single):
    name = f"ppo:{agent}"
    env = gymnasium.make("artus_env:Artus-v0", opponents=name if single else [name])
    observation, info = env.reset(seed=3)
    terminated, decisions = False, 0
    while not terminated:
        observation, reward, terminated, _, info = env.step(env.action_space.sample(info["action_mask"]))
        decisions += 1
    assert observation.shape == (OBSERVATION_SIZE,)
    assert reward in (-1, 0, 1)
    assert decisions > 10
    env.close()


def test_opponents_of_another_variant_are_refused_in_gymnasium(agent):
    env = gymnasium.make("artus_env:Artus-v0", rules="advanced", opponents=f"ppo:{agent}")

    def reset_until_the_opponent_moves_first():
        for seed in range(20):
            env.reset(seed=seed)

    with pytest.raises(ValueError, match="trained for beginner with 2 players or advanced with 3 players"):
        reset_until_the_opponent_moves_first()
    env.close()


TRAINED = [definition for definition in map(find_game, game_names()) if definition.trained is not None]
"""Games that come with trained agents."""


@pytest.mark.parametrize(
    ("game", "rules", "num_players"),
    [
        (definition.name, rules, num_players)
        for definition in TRAINED
        for rules in definition.rules
        for num_players in range(definition.min_players, definition.max_players + 1)
    ],
)
def test_an_agent_for_every_variant_comes_with_the_package(game, rules, num_players):
    _, card = trained(rules, num_players, game)
    assert (rules, num_players) in saved.variants_of(card)
    assert card["command"].startswith("artus train ")
    assert not {"runs", "resume"} & set(card["settings"])  # paths of the machine that trained it
    batch = Batch(8, rules=rules, num_players=num_players, seed=1, game=game)
    for _ in range(20):
        batch.step(batch.sample())
    actions = find_agent("ppo").act(View(batch, None, seed_stream(1, 8)))
    assert (batch.mask[np.arange(8), actions] == 1).all()


def test_agents_that_come_with_the_package_are_small():
    for definition in TRAINED:
        files = list(definition.trained.glob("*.safetensors"))
        assert files
        assert max(path.stat().st_size for path in files) <= 2_000_000


def test_ppo_without_a_path_is_the_agent_that_comes_with_the_package():
    assert isinstance(find_trained(""), TrainedAgent)
    assert isinstance(find_agent("ppo"), TrainedAgent)
