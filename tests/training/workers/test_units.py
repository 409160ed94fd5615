"""Units of work have the same results whichever processes do them or die, and no process stays behind."""

import ctypes
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from artus_env.engine.compiling.quotas import available_cores
from artus_training.arena.evaluate import evaluate
from artus_training.arena.schedule import Settings, Unit, unit_games, units_of
from artus_training.arena.tournament import run
from artus_training.cli import main
from artus_training.workers import processes
from artus_training.workers.queue import (
    AHEAD,
    TRIES,
    Lost,
    PackedWork,
    UnitQueue,
    WorkerError,
    announcement,
    unit_function,
)
from artus_training.workers.units import in_order, run_units, worker_pool

ROOT = Path(__file__).parents[3]


def gone():
    """Whether no child process of this process is left."""
    return not multiprocessing.active_children()


def square(unit):
    time.sleep(0.3 if unit == 0 else 0)  # others overtake it
    return unit**2


def die(folder, unit):
    """Unit 3 ends the process that does it, as many times as the folder's name says; each time it leaves a file
    there."""
    deaths = len(list(folder.iterdir()))
    if unit == 3 and deaths < int(folder.name):
        (folder / str(deaths)).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return unit, os.getpid()


def complain(unit):
    if unit == 2:
        raise LookupError("nobody knows")
    return unit


class OddError(Exception):
    """An exception that can be pickled, but not unpickled."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def complain_oddly(unit):
    raise OddError(unit, unit)


def surroundings(unit):
    return os.getpid(), os.environ["OMP_NUM_THREADS"], available_cores()


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_the_units(workers):
    units = range(40)
    assert AHEAD * workers < 40, "the slow first one holds the others up"
    assert list(run_units(square, units, workers)) == [(unit, unit**2) for unit in units]
    assert gone()


@pytest.mark.parametrize("workers", [1, 2])
def test_nothing_to_do(workers):
    assert list(run_units(square, [], workers)) == []


def test_a_process_that_is_killed_is_replaced(tmp_path):
    folder = tmp_path / str(TRIES - 1)
    folder.mkdir()
    results = [result for _, result in run_units(partial(die, folder), range(10), 2)]
    assert [unit for unit, _ in results] == list(range(10))
    assert len(list(folder.iterdir())) == TRIES - 1
    assert os.getpid() not in {process for _, process in results}
    assert gone()


def test_a_unit_that_ends_every_process_is_named_when_all_others_are_done(tmp_path):
    folder = tmp_path / "100"
    folder.mkdir()
    done = []
    with pytest.raises(WorkerError, match=rf"^3 has ended {TRIES} processes, the last one with exit code -9$"):
        done.extend(unit for unit, _ in run_units(partial(die, folder), range(10), 2))
    assert len(list(folder.iterdir())) == TRIES
    assert gone()


def test_what_is_found_twice_or_in_any_order_comes_once_and_in_order():
    queue = UnitQueue(4)
    found = [(2, "c"), (0, "a"), (2, "C"), (0, "A"), (1, Lost("is gone")), (3, "d"), (1, "b")]
    waiting = {}
    in_turn = in_order(found, "ABCD", queue, waiting)
    assert [next(in_turn), next(in_turn)] == [("A", "a"), ("B", Lost("is gone"))]
    assert waiting == {2: "c"}
    assert list(in_turn) == [("C", "c"), ("D", "d")]
    assert waiting == {}


def after_others(folder, unit):
    """Unit 0 is done when unit 3 is begun."""
    (folder / str(unit)).touch()
    while unit == 0 and not (folder / "3").exists():
        time.sleep(0.01)
    return unit


def test_results_that_wait_for_an_earlier_one_can_be_kept(tmp_path):
    waiting = {}
    results = run_units(partial(after_others, tmp_path), range(5), 2, waiting=waiting)
    assert next(results) == (0, 0)
    results.close()
    assert {1: 1, 2: 2}.items() <= waiting.items()


class Made:
    """Work whose fingerprint differs in each process."""

    @property
    def fingerprint(self):
        return str(os.getpid())

    def __call__(self, unit):
        return unit


def test_a_worker_with_another_fingerprint_does_not_play():
    with pytest.raises(WorkerError, match=r"agents is [0-9]+ here, but [0-9]+ where they were sent from"):
        list(run_units(Made(), range(3), 2))
    assert gone()


@pytest.mark.parametrize("command", ["evaluate", "tournament"])
def test_workers_with_other_code_are_one_line(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for module in ("evaluate", "play"):
        monkeypatch.setattr(f"artus_training.arena.{module}.fingerprint", lambda *_: "something else")
    assert main([command, "greedy", "random", "--games", "2", "--workers", "2"]) == 2
    error = capsys.readouterr().err
    assert "here, but something else where they were sent from" in error
    assert error.count("\n") == 1


def test_what_can_not_be_loaded_is_refused():
    refusal = unit_function(PackedWork(b"damaged", ""))(0)
    assert isinstance(refusal, WorkerError)
    assert str(refusal).startswith("a worker can't load this (UnpicklingError: ")


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_is_raised_where_its_result_would_come(workers):
    results = run_units(complain, range(5), workers)
    assert [next(results), next(results)] == [(0, 0), (1, 1)]
    with pytest.raises(LookupError, match="nobody knows") as raised:
        next(results)
    assert workers == 1 or raised.value.__notes__ == ["in 2"]
    assert gone()


def test_an_error_that_cannot_be_sent_is_told():
    with pytest.raises(RuntimeError, match=r"^OddError: 0 and 0\n"):
        list(run_units(complain_oddly, range(2), 2))


class Fickle:
    """Can be sent, but not read."""

    def __reduce__(self):
        return int, ("nothing",)


def answer_oddly(unit):
    return [Fickle(), lambda: None][unit]


@pytest.mark.parametrize(
    ("unit", "message"),
    [
        (0, r"^a result can't be read here \(ValueError: invalid literal .*\)"),
        (1, r"^a result can't be sent \((AttributeError|PicklingError): .*lambda.*\)"),
    ],
)
def test_a_result_that_can_not_be_sent_is_an_error_of_its_unit(unit, message):
    with pytest.raises(WorkerError, match=message) as raised:
        list(run_units(answer_oddly, [unit], 2))
    assert raised.value.__notes__ == [f"in {unit}"]
    assert gone()


class Mortal:
    """Work whose loading elsewhere ends the process, as often as the folder's name says; see `die`."""

    def __init__(self, folder, owner=None):
        self.folder, self.owner = folder, owner or os.getpid()
        if self.owner != os.getpid():
            die(folder, 3)

    def __reduce__(self):
        return Mortal, (self.folder, self.owner)

    def __call__(self, unit):
        return unit


def test_processes_that_die_before_they_begin_do_not_count_against_their_units(tmp_path):
    folder = tmp_path / str(TRIES - 1)
    folder.mkdir()
    assert [unit for unit, _ in run_units(Mortal(folder), range(1), 2)] == [0]
    assert len(list(folder.iterdir())) == TRIES - 1
    folder = folder.rename(tmp_path / "100")
    with pytest.raises(WorkerError, match=rf"^{TRIES} processes have ended before they began, exit code -9$"):
        list(run_units(Mortal(folder), range(1), 2))
    assert gone()


def test_what_cannot_be_sent_is_refused():
    with pytest.raises(ValueError, match=r"can't be sent to other processes .* play with one worker"):
        list(run_units(lambda unit: unit, range(2), 2))
    assert gone()


def process_id(unit):
    return os.getpid()


def test_processes_that_are_kept_do_one_piece_of_work_after_the_other(tmp_path):
    folder = tmp_path / "1"
    folder.mkdir()
    with worker_pool(2) as run:
        assert list(run(square, range(10))) == [(unit, unit**2) for unit in range(10)]
        first = {process.pid for process in multiprocessing.active_children()}
        assert {result for _, result in run(process_id, range(20))} <= first
        with pytest.raises(LookupError, match="nobody knows"):
            list(run(complain, range(5)))
        assert [result[0] for _, result in run(partial(die, folder), range(10))] == list(range(10))
        second = {process.pid for process in multiprocessing.active_children()}
        assert len(first) == len(second) == 2
        assert first != second, "one was killed"
        assert list(run(square, [])) == []
        stopped = run(square, range(100))
        next(stopped)
        stopped.close()
        assert list(run(square, range(3))) == [(0, 0), (1, 1), (2, 4)], "nothing of what was left comes now"
    assert gone()


def test_processes_get_ready_for_the_first_work_before_it_begins():
    with worker_pool(2, first_work=square) as run:
        ready = {process.pid for process in multiprocessing.active_children()}
        assert len(ready) == 2
        assert list(run(square, range(10))) == [(unit, unit**2) for unit in range(10)]
        assert {result for _, result in run(process_id, range(20))} <= ready
    assert gone()


def test_what_is_only_announced_is_refused():
    """A process that gets ready mustn't do work whose fingerprint hasn't been compared."""
    refusal = unit_function(announcement(Made()))(0)
    assert isinstance(refusal, WorkerError)
    assert "the fingerprint of the game and the agents is" in str(refusal)


def test_work_that_can_not_be_sent_is_refused_before_anything_starts():
    with (
        pytest.raises(ValueError, match="can't be sent to other processes"),
        worker_pool(2, first_work=lambda unit: unit),
    ):
        pass
    assert gone()


def test_one_process_is_kept_without_ado():
    with worker_pool() as run:
        assert list(run(process_id, range(2))) == [(0, os.getpid()), (1, os.getpid())]
    with pytest.raises(ValueError, match="either some workers or a Ray cluster"), worker_pool(2, ""):
        pass


@pytest.mark.parametrize("workers", [0, -1, 10**9])
def test_an_impossible_number_of_workers_is_refused(workers):
    with pytest.raises(ValueError, match=f"workers must be at least 1 and at most 256, got {workers}"):
        evaluate(["random", "random"], workers=workers)


def test_each_process_has_one_thread(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS")
    processes_seen = {result for _, result in run_units(surroundings, range(8), 2)}
    assert {(threads, cores) for _, threads, cores in processes_seen} == {("1", 1)}
    assert "OMP_NUM_THREADS" not in os.environ


def test_starting_a_process_changes_nothing_that_other_threads_see(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS")
    during = []
    monkeypatch.setattr(
        processes.SPAWN, "Process", lambda **_: SimpleNamespace(start=lambda: during.append(dict(os.environ)))
    )
    processes._Process()
    assert during == [dict(os.environ)]


def test_whoever_stops_listening_leaves_no_process():
    results = run_units(square, range(100), 2)
    next(results)
    results.close()
    assert gone()


SCRIPT = """
import sys
from functools import partial
from pathlib import Path
from tests.training.workers.test_units import hang
from artus_training.workers.units import run_units
if __name__ == "__main__":
    list(run_units(partial(hang, Path(sys.argv[1]), sys.argv[2]), range(2), 2))
"""


def hang(folder, how, unit):
    """Create a file named after the process, and never return."""
    print("an agent prints", flush=True)
    (folder / str(os.getpid())).touch()
    while True:
        if how == "compiled":
            ctypes.CDLL(None).pause()
        elif how == "sleep":
            time.sleep(1000)


def gone_soon(processes):
    """Wait until none of them is left."""
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{process}").exists() for process in processes):
        assert time.monotonic() < deadline, "a worker goes on"
        time.sleep(0.01)


@pytest.mark.parametrize("how", ["compiled", "sleep", "python"])
def test_workers_end_with_a_driver_that_is_killed(how, tmp_path):
    """Whatever they do, and their driver's pipe ends with them; what agents print never was in it."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    pids = tmp_path / "pids"
    pids.mkdir()
    path = os.pathsep.join([str(ROOT), *sys.path])
    driver = subprocess.Popen(
        [sys.executable, script, pids, how], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    while len(workers := list(pids.iterdir())) < 2:
        assert driver.poll() is None
        time.sleep(0.01)
    driver.kill()
    assert driver.communicate(timeout=30)[0] == b""
    gone_soon([worker.name for worker in workers])


SLEEPY = """
import os, time
from pathlib import Path
def sleepy(observation, action_mask):
    Path("pids", str(os.getpid())).touch()
    time.sleep(1000)
"""


def heed_signals():
    """Handle signals as in a terminal, because the process that runs the tests may ignore some."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


@pytest.mark.parametrize(
    ("command", "number", "output", "line"),
    [
        ("evaluate", signal.SIGINT, "", "artus evaluate: interrupted"),
        ("evaluate", signal.SIGHUP, "", "artus evaluate: interrupted"),
        ("tournament", signal.SIGTERM, "no table yet: some line-ups have not played in each order yet\n",
         "interrupted; the same command goes on from here"),
    ],
)  # fmt: skip
def test_signals_to_the_whole_group_end_a_command_and_its_workers_with_one_line(
    command, number, output, line, tmp_path
):
    """Ctrl-C in a terminal, `timeout`, batch systems and a closed terminal send signals to the whole process group."""
    (tmp_path / "bot.py").write_text(SLEEPY)
    (tmp_path / "pids").mkdir()
    words = [command, "bot.py:sleepy", "random", "--workers", "2"]
    driver = subprocess.Popen(
        [sys.executable, "-m", "artus_training", *words], cwd=tmp_path, start_new_session=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed_signals,
    )  # fmt: skip
    while len(workers := list((tmp_path / "pids").iterdir())) < 2:
        assert driver.poll() is None, driver.communicate()
        time.sleep(0.01)
    os.killpg(driver.pid, number)
    assert driver.communicate(timeout=60) == (output, f"{line}\n")
    assert driver.returncode == 128 + number
    gone_soon([worker.name for worker in workers])


# --- tournaments and evaluations -----------------------------------------------------------------------------------

SETTINGS = Settings(("random", "greedy", "lookahead"), "beginner", 2, 40, seed=4)


def played(folder, workers):
    """Everything that a tournament leaves in a folder."""
    run(SETTINGS, folder / "out", folder / "records.jsonl", workers=workers)
    return (folder / "out" / "blocks.jsonl").read_bytes(), (folder / "records.jsonl").read_bytes()


def test_a_tournament_by_several_processes_is_the_same_to_the_byte(tmp_path, monkeypatch):
    monkeypatch.setattr("artus_training.arena.schedule.unit_games", lambda agents: 10)
    alone = played(tmp_path, 1)
    shutil.rmtree(tmp_path / "out")
    (tmp_path / "records.jsonl").unlink()
    assert played(tmp_path, 2) == alone
    # What a killed one left is taken up, by however many.
    lines = (tmp_path / "out" / "blocks.jsonl").read_bytes().splitlines(keepends=True)
    assert len(lines) > 8
    (tmp_path / "out" / "blocks.jsonl").write_bytes(b"".join(lines[:5]) + lines[5][:40])
    assert played(tmp_path, 2) == alone
    assert gone()


def test_units_are_of_fixed_size_and_fit_what_was_played_in_other_pieces():
    class Slow:
        games_at_once = 10

    settings = Settings(("a", "b", "c"), "beginner", 2, 24)
    players = [Slow(), Slow(), SimpleNamespace()]
    assert unit_games(players) == 10
    assert unit_games(players[2:]) == 64
    players[2].games_at_once = 10_000
    played = np.zeros((3, 12), np.bool_)
    played[1, :7] = played[1, 8] = played[2] = True  # one of the second line-up's deals was lost
    assert units_of(settings, players, played) == [
        Unit(0, 0, 5), Unit(0, 5, 5), Unit(1, 7, 1), Unit(1, 9, 1), Unit(0, 10, 2), Unit(1, 10, 2),
    ]  # fmt: skip


@pytest.mark.parametrize("agents", [["greedy", "random", "lookahead"], ["ppo", "greedy"]])
def test_an_evaluation_by_several_processes_is_the_same(agents):
    alone = evaluate(agents, num_players=3, games=36, seed=2)
    assert evaluate(agents, num_players=3, games=36, seed=2, workers=2, batch_size=8) == alone
