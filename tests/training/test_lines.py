"""Long commands say how they go where no terminal is. The clock is turned by hand."""

import io
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from artus_training import lines
from artus_training.arena.live import LiveTable
from artus_training.arena.results import Settings
from artus_training.arena.standings import Tally
from artus_training.cli import main
from artus_training.lines import Lines, pieces, progress
from artus_training.progress import TrainingBar

ROOT = Path(__file__).parents[2]
SUITE = "tests/test_suite.py"


@pytest.fixture
def clock(monkeypatch):
    """A clock that tests turn; nobody else looks at it."""
    hands = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(lines, "time", SimpleNamespace(monotonic=lambda: hands.now))
    monkeypatch.setattr(lines, "TICK", 3600.0)
    return hands


def test_a_line_every_ten_seconds_says_the_time_left_also_while_nothing_comes(clock):
    said = []
    line = Lines("playing", said.append)
    for _ in range(30):
        clock.now += 1
        line.tick()
    assert said == ["playing 0 %, after 0:00:10", "playing 0 %, after 0:00:20", "playing 0 %, after 0:00:30"]
    line.show(0.25)
    line.tick()
    assert len(said) == 3
    clock.now += 10
    line.tick()
    line.tick()
    assert said[3:] == ["playing 25 %, 0:02:00 left"]


def test_what_was_done_before_tells_nothing_of_the_time_left(clock):
    said = []
    line = Lines("playing", said.append)
    line.begin(0.5)
    clock.now += 60
    line.show(0.6)
    line.tick()
    assert said == ["playing 60 %, 0:04:00 left"]


def test_somebody_looks_at_the_clock_while_the_work_goes_on(clock, monkeypatch):
    monkeypatch.setattr(lines, "TICK", 0.001)
    said, printed = [], threading.Event()

    def say(text):
        said.append(text)
        printed.set()

    with Lines("playing", say):
        clock.now += 10
        assert printed.wait(60)
    assert said == ["playing 0 %, after 0:00:10"]
    assert not [thread for thread in threading.enumerate() if thread.name == "progress"]


def test_a_tournament_says_how_it_goes(clock, capsys):
    with LiveTable(Tally(Settings(("greedy", "random"), "", 2, 100, 0, "artus"))) as live:
        task = live.add_task("playing", total=200, completed=100)
        clock.now += 20
        live.update(task, advance=20)
        live._lines.tick()
    assert capsys.readouterr().err == "playing 60 %, 0:01:20 left\n"


def test_a_training_says_its_figures_in_the_line(clock, capsys):
    with TrainingBar() as bar:
        task = bar.add_task("mine", total=1.0, completed=0.2, wins="")
        clock.now += 9
        bar.update(task, completed=0.4)
        bar.say("entropy 1.5")
        clock.now += 1
        bar.say("entropy 1.2")
    assert capsys.readouterr().err == "mine 40 %, 0:00:30 left: entropy 1.2\n"


def test_pieces_of_work_add_up():
    seen = []
    for piece in pieces(seen.append, 4):
        piece(0.5)
        piece(1.0)
    assert seen == [0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0]


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_gets_one_line_that_changes(terminal, clock, monkeypatch):
    screen = io.StringIO()
    screen.isatty = lambda: terminal
    monkeypatch.setattr(sys, "stderr", screen)
    with progress("playing") as show:
        clock.now += 5
        show(0.5)
    shown = f"\r{'playing 50 %, 0:00:05 left':<79}\r\r{'':<79}\r"
    assert screen.getvalue() == (shown if terminal else "")


def test_a_notebook_gets_none_and_a_process_that_only_knows_notebooks_does(monkeypatch):
    began = []
    monkeypatch.setattr(Lines, "__enter__", lambda line: began.append(line) or line)
    monkeypatch.setattr(Lines, "__exit__", lambda *_: None)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setitem(sys.modules, "ipykernel", SimpleNamespace())
    for shell, lines_of_it in ((None, 1), (SimpleNamespace(kernel=1), 1), (SimpleNamespace(), 2)):
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda shell=shell: shell))
        with progress("playing") as show:
            show(0.5)
        assert len(began) == lines_of_it


@pytest.mark.parametrize(
    ("arguments", "label"),
    [
        (["evaluate", "greedy", "random", "--games", "4"], "playing"),
        (["tournament", "greedy", "random", "--games", "4", "--people", "nobody"], "playing"),
        (["ladder", "ladder.json", "--seconds", "0"], "measuring speeds"),
    ],
)
def test_every_command_that_plays_has_such_lines(arguments, label, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels = []
    monkeypatch.setattr(Lines, "__exit__", lambda line, *_: labels.append(line.label))
    monkeypatch.setattr(Lines, "__enter__", lambda line: line)
    assert main(arguments) == 0
    assert label in labels


def test_the_suite_runs_without_xdist():
    """Marks that group tests are known without it."""
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "-q", "--collect-only", SUITE]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "INTERNALERROR" not in done.stdout + done.stderr
