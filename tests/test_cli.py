"""The command line."""

import dataclasses
import subprocess
import sys

import pytest

from artus_env import Game
from artus_env.engine.wording import counted
from artus_training.cli import COMMANDS, main
from artus_training.evaluate import evaluate


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("arguments", [["--help"], ["-h"]])
def test_help_lists_every_command(arguments, capsys):
    assert main(arguments) == 0
    output = capsys.readouterr().out
    assert all(command in output for command in COMMANDS)


def test_help_imports_nothing_heavy():
    code = "import sys; from artus_training.cli import main; main(['--help']); "
    code += "assert not {'torch', 'numba', 'numpy', 'artus_env'} & set(sys.modules)"
    result = run_python(code)
    assert result.returncode == 0, result.stderr


def test_no_command_and_unknown_commands_are_wrong_usage(capsys):
    assert main([]) == 2
    assert main(["dance"]) == 2
    assert "there is no command 'dance'" in capsys.readouterr().err


def test_evaluate_prints_the_result(capsys):
    assert main(["evaluate", "greedy", "random", "--rules", "advanced", "--num-players", "3", "--games", "30"]) == 0
    output = capsys.readouterr().out
    assert "greedy against 2 x random: advanced, 3 players, 30 games" in output
    assert "95 %" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "greedi", "random"], "there is no agent 'greedi'"),
        (["evaluate", "greedy:9", "random"], "GreedyAgent() takes no arguments"),
        (["evaluate", "greedy", "random", "--rules", "expert"], "rules must be one of"),
        (["evaluate", "greedy", "random", "--num-players", "9"], "num_players must be 2..4"),
        (["evaluate", "greedy", "random", "--games", "0"], "must be at least 1"),
        (["evaluate", "missing.safetensors", "random"], "missing.json doesn't exist"),
        (["train", "--num-players", "9"], "num_players must be 2..4"),
        (["train", "--opponents", "nobody=1"], "there is no agent 'nobody'"),
        (["train", "--opponents", "greedy"], "opponents are NAME=SHARE"),
        (["train", "--preset", "missing.toml"], "preset missing.toml: No such file"),
        (["train", "--device", "tpu"], "device must be cpu or cuda"),
        (["train", "--also", "beginner"], "also takes RULES-PLAYERS"),
        (["train-sb3", "--num-players", "9"], "num_players must be 2..4"),
        (["curves", "missing.json"], "missing.json doesn't exist"),
        (["compare", "--minutes", "0"], "minutes must be more than 0"),
        (["train", "--steps", "0"], "steps must be at least 1"),
        (["train", "--resume", "--runs", "/nonexistent"], "checkpoint.pt doesn't exist"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(arguments, message, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_without_the_train_extra_evaluate_works_and_train_says_what_to_install():
    code = "import sys; sys.modules |= dict.fromkeys(['torch', 'stable_baselines3', 'sb3_contrib', 'tyro', 'rich']); "
    code += "from artus_training.cli import main; "
    code += "assert main(['evaluate', 'greedy', 'random', '--games', '2']) == 0; sys.exit(main(['train']))"
    result = run_python(code)
    assert result.returncode == 2
    assert "pip install 'artus[train]'" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("number", "noun", "form", "said"),
    [(0, "move", "", "0 moves"), (1, "move", "", "1 move"), (2, "move", "", "2 moves"), (1200, "game", ",", "1,200 games")],
)
def test_one_thing_is_counted_as_one(number, noun, form, said):
    assert counted(number, noun, form) == said


def test_results_and_pictures_count_one_thing_as_one():
    result = dataclasses.replace(evaluate(["greedy", "random"], games=2), games=1, forfeits=1)
    assert "2 players, 1 game, seed" in str(result)
    assert str(result).endswith("given up: 1 game")
    game = Game(rules="advanced", seed=1)
    while min(min(sizes) for sizes in game.state["pile_sizes"][:2].tolist()) != 1:
        game.play(game.moves()[-1])
    assert "<title>1 card in the " in game.svg()
    assert "<title>1 cards" not in game.svg()
