"""A stranger's game, tests/stranger/magpies.py, of which the project knows nothing: learnt, rated and served like ours.

What holds for its rules is tested with those of all other games, in tests/contract.
"""

import json
import os
import subprocess
import sys
from importlib.metadata import entry_points

import pytest
import torch

from artus_env import Game
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import find_game, game_names
from artus_training.arena.evaluate import evaluate
from artus_training.arena.schedule import Settings as TournamentSettings
from artus_training.arena.tournament import run
from artus_training.learn.ppo import Settings, Trainer
from artus_training.learn.runs import train
from artus_training.play.command import seats
from artus_training.play.hosted import HostedGame
from artus_training.play.store import Store
from play_server import Serving, wait_until

torch.set_num_threads(1)

QUICK = {
    "game": "magpies", "num_games": 256, "num_steps": 16, "batch_size": 1024, "hidden": (64,), "threads": 1,
    "steps": 60 * 256 * 16, "evaluate_every": 0, "final_games": 0, "opponents": (), "precision": "float32",
}  # fmt: skip
"""A training of seconds."""


def artus(*arguments, cwd):
    """What a command prints."""
    done = subprocess.run(
        [sys.executable, "-m", "artus_training", *map(str, arguments)],
        cwd=cwd, env=os.environ, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    """An agent that was trained for some seconds."""
    runs = tmp_path_factory.mktemp("runs")
    settings = Settings(**QUICK, runs=runs)
    assert train(Trainer, settings)
    return settings.agent


def test_it_is_found_through_its_entry_point():
    (entry,) = (entry for entry in entry_points(group="artus.games") if entry.name == "magpies")
    assert isinstance(entry.load(), Definition)
    assert "magpies" in game_names()
    assert find_game("magpies").picture is None


def test_a_new_process_finds_it():
    code = "from artus_env import Game; print(Game(game='magpies', seed=1).moves())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == str(Game(game="magpies", seed=1).moves())


def test_training_of_seconds_learns_it(agent):
    """Random players win half of the games; always bidding the highest card wins more than nine of ten."""
    assert agent.exists()
    result = evaluate([str(agent), "random"], game="magpies", games=400, seed=1)
    assert result.win_rate > 0.8, result


def test_its_network_searches(agent):
    result = evaluate([f"ppo-search:16:{agent}", "random"], game="magpies", games=60, seed=2)
    assert result.win_rate > 0.75, result


def test_a_saved_agent_plays_no_other_game(agent):
    with pytest.raises(ValueError, match="magpies"):
        evaluate([str(agent), "random"], games=2)


def test_it_is_rated_in_a_tournament(agent, tmp_path):
    settings = TournamentSettings(("random", f"ppo:{agent}", "ismcts:20"), game="magpies", num_players=3, games=60)
    with pytest.raises(ValueError, match="2"):  # the agent was trained for two players
        run(settings, tmp_path / "three")
    settings = TournamentSettings(("random", f"ppo:{agent}", "ismcts:20"), game="magpies", games=60)
    results = run(settings, tmp_path / "two", records=tmp_path / "records.jsonl")
    assert sum(len(scores) * 2 for scores in results.scores) == 3 * 60
    for line in (tmp_path / "records.jsonl").read_text().splitlines()[:5]:
        record = json.loads(line)
        assert record["game"] == "magpies"
        assert Game.replay(line).over


@pytest.mark.slow
def test_the_commands_take_it(agent, tmp_path):
    assert "magpies" in artus("games", cwd=tmp_path)
    assert "jewels" in artus("evaluate", agent, "random", "--game", "magpies", "--games", 20, cwd=tmp_path)
    line_up = ("random", "greedy", "lookahead")
    printed = artus("tournament", *line_up, "--game", "magpies", "--games", 20, cwd=tmp_path)
    assert "lookahead" in printed
    assert "hands" in artus("show", "--game", "magpies", cwd=tmp_path)


def test_it_is_played_on_the_server(tmp_path):
    """By a person and an agent, over the web, to the end."""
    hosted = HostedGame.deal(Store(tmp_path), "standard", seats(["Ann"], ["greedy"]), 5, "magpies")
    server = Serving(tmp_path)
    try:
        hosted = server.lobby.games[hosted.name]
        player, secret = next((number, seat.secret) for number, seat in enumerate(hosted.seats) if seat.agent is None)
        for _ in range(100):
            wait_until(lambda: hosted.game.over or hosted.game.player == player)
            if hosted.game.over:
                break
            move = {"number": hosted.number, "move": hosted.game.moves()[-1]}
            assert server.ask(f"/api/{secret}/move", move)[0] == 200
        assert hosted.game.over
        assert Game.replay(hosted.game.record()) == hosted.game
    finally:
        server.stop()
