"""Agents in Python files that aren't part of a package."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from artus_agents.program import ProgramAgent
from artus_agents.simple import GreedyAgent
from artus_env import Batch
from artus_env.engine.agents.names import find_agent, runs_program
from artus_env.engine.agents.view import View
from artus_training.arena.evaluate import evaluate
from artus_training.arena.fingerprint import fingerprint
from artus_training.cli import main
from artus_training.learn.settings import put_together

FILE = """
import numpy as np
from pathlib import Path

from artus_agents.simple import GreedyAgent
from beside import LAST

Path(__file__).with_name("was-run").touch()


class Cautious:
    \"""Takes as few points as possible.\"""

    def act(self, view):
        return np.where(view.mask, view.points, 1000).argmin(axis=1)


def last(observation, action_mask):
    return int(np.flatnonzero(action_mask)[LAST])


def bold():
    return GreedyAgent()


def _hidden():
    return None


cautious = Cautious()
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "beside.py").write_text("LAST = -1\n")
    path = tmp_path / "my_agent.py"
    path.write_text(FILE)
    return path


def batch_and_view():
    batch = Batch(5, seed=3)
    return batch, View(batch, None, np.arange(5, dtype=np.uint64))


def test_a_file_may_have_a_class_an_object_a_function_or_a_factory(file):
    batch, view = batch_and_view()
    fewest_points = np.where(batch.mask, view.points, 1000).argmin(axis=1)
    for name in ("Cautious", "cautious"):
        assert find_agent(f"{file}:{name}").act(view).tolist() == fewest_points.tolist()
    assert find_agent(f"{file}:last").act(view).tolist() == [np.flatnonzero(mask)[-1] for mask in batch.mask]
    assert isinstance(find_agent(f"{file}:bold"), GreedyAgent)


def test_a_program_may_be_a_file_of_python(file):
    assert isinstance(find_agent(f"program:python3 {file}"), ProgramAgent)


def test_evaluate_accepts_an_agent_file(file, capsys):
    assert main(["evaluate", f"{file}:Cautious", "greedy", "--games", "200"]) == 0
    output = capsys.readouterr().out
    assert f"{file}:Cautious against greedy: beginner, 2 players, 200 games" in " ".join(output.split())
    cautious_score, greedy_score = evaluate([f"{file}:Cautious", "greedy"], games=200).scores
    assert cautious_score < greedy_score - 50


def test_several_processes_find_an_agent_file(file):
    with_one_process, with_two_processes = (
        evaluate([f"{file}:last", "random"], games=400, workers=workers) for workers in (1, 2)
    )
    assert with_one_process == with_two_processes


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("my_agent.py", "my_agent.py needs the name of an agent behind it (my_agent.py:NAME); in it are: Cautious, "),
        ("my_agent.py:cautios", "there is no agent 'cautios' in my_agent.py; did you mean cautious or Cautious?"),
        ("missing.py:Cautious", "there is no file 'missing.py'"),
        ("broken.py:Cautious", "broken.py, line 2: ModuleNotFoundError: No module named 'nowhere'"),
        ("unfinished.py:Cautious", "unfinished.py, line 1: SyntaxError: '(' was never closed"),
        ("my_agent.py:Path", "agent 'my_agent.py:Path': this name leads to PosixPath('.'), which has no act(view)"),
    ],
)
def test_faulty_agent_files_are_reported_in_one_line(name, message, file, monkeypatch, capsys):
    monkeypatch.chdir(file.parent)
    (file.parent / "broken.py").write_text("import numpy\nimport nowhere\n")
    (file.parent / "unfinished.py").write_text("print(\n")
    assert main(["evaluate", name, "greedy"]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_preset_or_checkpoint_cannot_run_an_agent_file(file):
    """Only the command line may name an agent file, or a program: others may have written a preset or a checkpoint."""
    from artus_training.learn.ppo import Settings

    name = f"{file}:Cautious"
    assert runs_program(name)
    settings = {"opponents": [f"{name}=0.5"]}
    with pytest.raises(ValueError, match="starts a program; a file can't do that"):
        put_together(settings, file, {}, Settings())
    assert put_together(settings, file, settings, Settings()).opponents == (f"{name}=0.5",)
    assert not (file.parent / "was-run").exists()


def test_a_tournament_notices_that_the_file_has_changed(file):
    from artus_env.engine.contract.registry import find_game

    def current_fingerprint():
        return fingerprint("", find_game("artus"), [f"{file}:Cautious"])

    old_fingerprint = current_fingerprint()
    assert current_fingerprint() == old_fingerprint
    file.write_text(FILE.replace("1000", "999"))
    assert current_fingerprint() != old_fingerprint


def test_a_file_is_run_once_in_a_process(file):
    file.write_text(
        "print('running')\n\n\ndef first(observation, action_mask):\n    return int(action_mask.argmax())\n"
    )
    code = f"from artus_env.agents import find_agent\nfor _ in range(3): find_agent('{file}:first')"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "running\n"


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("raise SystemExit(3)", "Any", "my_agent.py, line 1: SystemExit: 3"),
        ("import sys\ndef made():\n    sys.exit(3)", "made", "my_agent.py:made' can't be made: SystemExit: 3"),
        (
            "import sys\ndef plays(observation, mask):\n    sys.exit(3)",
            "plays",
            "agent 0 of the line-up (CallableAgent): SystemExit: 3",
        ),
    ],
)
def test_no_agent_ends_the_command(text, name, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_agent.py").write_text(text)
    assert main(["evaluate", f"my_agent.py:{name}", "random", "--games", "2", "--game", "quest"]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_the_file_of_an_agent_may_have_a_name_that_is_not_utf_8(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"j\xf6rg.py")
    Path(name).write_text("def first(observation, mask):\n    return int(mask.argmax())\n")
    assert main(["evaluate", f"{name}:first", "random", "--games", "2", "--game", "quest"]) == 0
    assert "j\\udcf6rg.py:first against random" in capsys.readouterr().out
