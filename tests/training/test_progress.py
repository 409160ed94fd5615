"""Long commands say how they go where no terminal is. The clock is turned by hand."""

import io
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from artus_training.arena.schedule import Settings
from artus_training.arena.standings import Tally
from artus_training.arena.tournament import LiveTable
from artus_training.cli import main
from artus_training.progress import Bar, TrainingBar, progress, progress_of_pieces

ROOT = Path(__file__).parents[2]
SUITE = "tests/test_suite.py"


@pytest.fixture
def clock(monkeypatch):
    """A clock that tests turn; nobody else looks at it."""
    hands = SimpleNamespace(now=1000.0)
    monkeypatch.setattr("rich.console.monotonic", lambda: hands.now)
    return hands


def status(bar):
    return bar.status(bar.tasks[0])


def test_a_line_has_the_time_left_and_the_time_so_far_while_nothing_comes(clock):
    bar = Bar()
    task = bar.add_task("playing", total=1.0)
    clock.now += 30
    assert status(bar) == "playing 0 %, after 0:00:30"
    bar.update(task, completed=0.25)
    clock.now += 10
    assert status(bar) == "playing 25 %, 0:02:00 left"


def test_what_was_done_before_tells_nothing_of_the_time_left(clock):
    bar = Bar()
    task = bar.add_task("playing", total=1.0, completed=0.5)
    clock.now += 60
    bar.update(task, completed=0.6)
    assert status(bar) == "playing 60 %, 0:04:00 left"


def test_lines_are_printed_while_the_work_goes_on(monkeypatch):
    monkeypatch.setattr("artus_training.progress.SECONDS", 0.001)
    printed = threading.Event()
    monkeypatch.setattr(Bar, "line", lambda bar, text: text.startswith("playing 0 %, after 0:0") and printed.set())
    with progress("playing"):
        assert printed.wait(60)
    assert not [thread for thread in threading.enumerate() if thread.name == "progress"]


def test_a_tournament_says_how_it_goes(clock):
    live = LiveTable(Tally(Settings(("greedy", "random"), "", 2, 100, 0, "artus")))
    task = live.add_task("playing", total=200, completed=100)
    clock.now += 20
    live.update(task, advance=20)
    assert status(live) == "playing 60 %, 0:01:20 left"


def test_a_training_says_its_figures_in_the_line(clock):
    bar = TrainingBar()
    task = bar.add_task("mine", total=1.0, completed=0.2, wins="")
    clock.now += 10
    bar.update(task, completed=0.4)
    bar.show_figures("entropy 1.2")
    assert status(bar) == "mine 40 %, 0:00:30 left: entropy 1.2"


def test_pieces_of_work_add_up():
    fractions = []
    for piece in progress_of_pieces(fractions.append, 4):
        piece(0.5)
        piece(1.0)
    assert fractions == [0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0]


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_gets_a_bar_that_is_gone_at_the_end(terminal, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    screen = io.StringIO()
    screen.isatty = lambda: terminal
    monkeypatch.setattr(sys, "stderr", screen)
    with progress("playing") as show:
        show(0.5)
    shown = screen.getvalue()
    assert ("playing" in shown and " 50%" in shown and shown.endswith("\x1b[2K")) if terminal else shown == ""


def test_a_notebook_gets_none_and_a_process_that_only_knows_notebooks_does(monkeypatch):
    monkeypatch.setattr("artus_training.progress.SECONDS", 0.001)
    monkeypatch.setitem(sys.modules, "ipykernel", SimpleNamespace())
    for shell, prints in ((SimpleNamespace(kernel=1), False), (None, True), (SimpleNamespace(), True)):
        screen = io.StringIO()
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda shell=shell: shell))
        with progress("playing"):
            deadline = time.monotonic() + (60 if prints else 0.1)
            while not screen.getvalue() and time.monotonic() < deadline:
                time.sleep(0.01)
        assert bool(screen.getvalue()) == prints


@pytest.mark.parametrize(
    ("arguments", "label"),
    [
        (["evaluate", "greedy", "random", "--games", "4"], "playing"),
        (["tournament", "greedy", "random", "--games", "4"], "playing"),
    ],
)
def test_every_command_that_plays_has_such_lines(arguments, label, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels = []
    add_task = Bar.add_task
    monkeypatch.setattr(
        Bar, "add_task", lambda bar, label, **more: labels.append(label) or add_task(bar, label, **more)
    )
    assert main(arguments) == 0
    assert label in labels


def test_the_suite_runs_without_xdist():
    """Marks that group tests are known without it."""
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "-q", "--collect-only", SUITE]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "INTERNALERROR" not in done.stdout + done.stderr
