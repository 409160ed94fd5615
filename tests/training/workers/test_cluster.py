"""Ray: the results stay the same if machines join, leave or die, or the driver does."""

import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from jsonschema import ValidationError

from artus_env.engine.compiling.quotas import available_cores
from artus_training.arena import schedule, tournament
from artus_training.arena.evaluate import evaluate
from artus_training.arena.schedule import Settings
from artus_training.cli import main
from artus_training.learn import exploit
from artus_training.learn.exploit import RESPONSES, Search, check_seen, read_run_results
from artus_training.learn.exploit import Options as Response
from artus_training.workers.cluster import connected
from artus_training.workers.queue import TRIES, WorkerError
from artus_training.workers.units import run_units
from tests.training.workers.test_units import Made, Mortal, die

ROOT = Path(__file__).parents[3]
SECONDS = 300
"""Timeout, longer than anything here takes."""
SETTINGS = Settings(("greedy", "patient", "random"), games=320)
GAMES_AT_ONCE = 16
DRIVER = "import sys; from tests.training.workers.test_cluster import play; play(ray=sys.argv[1])"


class Patient:
    """Plays slowly, so that there is time for accidents."""

    pause = 0.01

    def act(self, view):
        time.sleep(self.pause)
        return np.where(view.mask, view.points, -1000).argmax(axis=1)


def play(ray=None):
    """Play a tournament of many small units in this folder."""
    schedule.unit_games = lambda agents: GAMES_AT_ONCE
    tournament.run(SETTINGS, Path("out"), Path("records.jsonl"), {"patient": Patient()}, ray=ray)


class Surroundings:
    """Work that returns the process that does a unit, and its environment."""

    def __init__(self):
        self.instance_id = str(uuid4())

    def __reduce__(self):
        return Surroundings, ()  # each process that gets it has a new instance

    def __call__(self, unit):
        time.sleep(0.2)
        return os.getpid(), self.instance_id, os.environ["OMP_NUM_THREADS"], available_cores()


class Machines:
    """A cluster on this machine: a head that does no work, and nodes with one CPU each."""

    def __init__(self):
        from ray.cluster_utils import Cluster

        self.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **SMALL})
        self.nodes = []

    @property
    def address(self):
        return self.cluster.address

    def add(self):
        self.nodes.append(self.cluster.add_node(num_cpus=1, **SMALL))

    def end_one(self):
        """Kill the processes of a node, and remove it."""
        self.cluster.remove_node(self.nodes.pop(), allow_graceful=False)


SMALL = {"object_store_memory": 80 << 20, "include_dashboard": False}


@pytest.fixture(scope="module")
def machines():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), *sys.path]))  # of drivers and machines: what agents need
        before = set(processes_of("ray"))
        machines = Machines()
        for _ in range(3):
            machines.add()
        yield machines
        machines.cluster.shutdown()
        wait_until(lambda: set(processes_of("ray")) <= before, "a process of the cluster is left")


def processes_of(*words):
    """Ids of the processes with all of these words in their command lines."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            line = (folder / "cmdline").read_bytes().decode(errors="replace") if folder.name.isdigit() else ""
        except OSError:
            continue
        if line and all(word in line for word in words):
            found.append(int(folder.name))
    return found


def wait_until(condition, otherwise):
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, otherwise
        time.sleep(0.05)


def start(folder, machines):
    """The tournament on the cluster, in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, machines.address], cwd=folder,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def drive(function, *arguments):
    """Call a function in a driver, and return its result. It is another process, because Ray sometimes crashes a
    process that disconnects."""
    for _ in range(TRIES):
        with ProcessPoolExecutor(1, get_context("spawn")) as process, suppress(BrokenProcessPool):
            return process.submit(function, *arguments).result(SECONDS)
    raise AssertionError(f"{TRIES} drivers have crashed")


def drive_units(work, units, address):
    """Units with their results, in the order of arrival, and the error that ends them or None."""
    done = []
    try:
        with connected(address):
            done.extend(run_units(work, units, ray=""))
    except (WorkerError, ValueError) as error:
        return done, error
    return done, None


def drive_mortal(folder, address):
    """`drive_units` with work that ends every process that loads it, except the driver."""
    return drive_units(Mortal(folder), range(1), address)


def blocks(folder):
    path = folder / "out" / "blocks.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def left_by(folder):
    return (folder / "out" / "blocks.jsonl").read_bytes(), (folder / "records.jsonl").read_bytes()


def test_whatever_dies_a_tournament_comes_out_the_same_to_the_byte(machines, tmp_path, monkeypatch):
    alone, many = tmp_path / "alone", tmp_path / "many"
    alone.mkdir()
    many.mkdir()
    monkeypatch.chdir(alone)
    monkeypatch.setattr(schedule, "unit_games", schedule.unit_games)  # put back after the test
    monkeypatch.setattr(Patient, "pause", 0.0)  # in this process: the same results, sooner
    play()
    units = blocks(alone)
    assert units >= 60

    driver = start(many, machines)

    def reached(count):
        wait_until(lambda: blocks(many) >= count or driver.poll() is not None, f"{count} blocks are not there")
        assert driver.poll() is None, driver.communicate()

    reached(1)
    wait_until(lambda: processes_of("ray::"), "nobody works")
    os.kill(processes_of("ray::_do")[0], signal.SIGKILL)
    reached(units // 6)
    machines.end_one()
    reached(units // 4)
    machines.add()
    reached(units // 3)
    driver.kill()
    assert driver.communicate()[0] == "", "what Ray says of deaths isn't the driver's output"
    assert 0 < blocks(many) < units

    driver = start(many, machines)
    output, errors = driver.communicate(timeout=SECONDS)
    assert driver.returncode == 0, errors
    assert output == ""
    assert left_by(many) == left_by(alone)
    wait_until(lambda: not processes_of("ray::_do"), "a worker goes on")


def test_a_unit_that_kills_every_worker_is_named_when_all_others_are_done(machines, tmp_path):
    folder = tmp_path / "100"
    folder.mkdir()
    done, error = drive(drive_units, partial(die, folder), range(10), machines.address)
    assert isinstance(error, WorkerError)
    assert str(error) == f"3 has ended {TRIES} processes, the last one with WorkerCrashedError"
    assert [unit for unit, _ in done] == [0, 1, 2, 4, 5, 6, 7, 8, 9]
    # Ray may lose the notice that a process has begun, if it dies in that moment: this counts as a start that failed.
    assert len(list(folder.iterdir())) >= TRIES


def test_workers_that_die_before_they_begin_do_not_count_against_their_units(machines, tmp_path):
    folder = tmp_path / str(TRIES)
    folder.mkdir()
    assert drive(drive_mortal, folder, machines.address) == ([(0, 0)], None)
    assert len(list(folder.iterdir())) == TRIES


BOT = """
import time
from pathlib import Path
def bot(observation, action_mask):
    Path("begun").touch()
    time.sleep(0.05)
    return int(action_mask.argmax())
"""


def evaluating(folder, address):
    """Start an evaluation of a slow bot that only this folder has, and wait until it has begun to play. Returns the
    process."""
    (folder / "bot.py").write_text(BOT)
    words = ["evaluate", "bot.py:bot", "random", "--games", "10000", "--ray", address]
    driver = subprocess.Popen(
        [sys.executable, "-m", "artus_training", *words], cwd=folder,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_until(lambda: (folder / "begun").exists() or driver.poll() is not None, "nobody plays")
    return driver


def test_a_driver_that_is_asked_to_end_says_one_line(machines, tmp_path):
    """And its workers have played in its folder, where relative names of files mean the same."""
    driver = evaluating(tmp_path, machines.address)
    driver.terminate()
    output, errors = driver.communicate(timeout=SECONDS)
    assert output == ""
    assert re.fullmatch(r"(playing 0 %, .+\n)*artus evaluate: interrupted\n", errors)  # a line after 10 s
    assert driver.returncode == 128 + signal.SIGTERM


def test_a_head_that_has_gone_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), *sys.path]))
    machines = Machines()
    machines.add()
    address = machines.address
    driver = evaluating(tmp_path, address)
    machines.cluster.remove_node(machines.cluster.head_node, allow_graceful=False)
    output, errors = driver.communicate(timeout=SECONDS)
    machines.cluster.shutdown()
    assert driver.returncode == 2
    assert output == ""
    pattern = rf"artus evaluate: the head of the Ray cluster at {re.escape(address)} has gone \(.*\); start it, .*\n"
    assert re.fullmatch(pattern, errors.splitlines(keepends=True)[-1]), errors  # Ray may print more before it


def test_machines_with_other_code_do_not_play(machines):
    done, error = drive(drive_units, Made(), range(3), machines.address)
    assert isinstance(error, WorkerError)
    assert re.search(r"is [0-9]+ here, but [0-9]+ where", str(error))
    assert done == []


def test_each_worker_has_one_thread_and_keeps_what_it_was_sent(machines):
    done, error = drive(drive_units, Surroundings(), range(12), machines.address)
    assert error is None
    surroundings = [result for _, result in done]
    assert {(threads, cores) for _, _, threads, cores in surroundings} == {("1", 1)}
    assert (
        len({process for process, *_ in surroundings})
        == len({(process, made) for process, made, *_ in surroundings})
        > 1
    )


def test_an_evaluation_on_a_cluster_is_the_same(machines):
    evaluation = partial(evaluate, ["ppo", "greedy"], num_players=3, games=36, seed=2, batch_size=8)
    assert drive(partial(evaluation, ray=machines.address)) == evaluation()


def test_an_evaluation_until_sure_stops_at_the_same_game_on_a_cluster(machines):
    evaluation = partial(evaluate, ["greedy", "lookahead"], num_players=3, games=2000, seed=3, until_sure=True)
    alone = evaluation()
    assert alone.sure
    assert alone.games < 1000
    assert drive(partial(evaluation, batch_size=35, ray=machines.address)) == alone


def find_response(runs, address):
    """The best of three responses that need no training, and the results of all three."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exploit, "train", lambda kind, settings: True)
        patch.setattr(exploit, "finished", lambda settings: True)
        patch.setattr(Search, "responses", lambda *arguments: ["random", "ppo", "ismcts:2"])
        search = Search.of(Response("greedy", games=60, runs=runs, ray=address))
        (best,) = exploit.exploit(search)
        return best, read_run_results(search.folder / RESPONSES)


def test_a_cluster_finds_the_same_best_response(machines, tmp_path):
    best, results = find_response(tmp_path / "alone", None)
    assert drive(find_response, tmp_path / "many", machines.address) == (best, results)
    assert best.name == "ppo"
    assert len(results.responses) == 3


def test_a_cluster_that_does_not_see_the_run_is_refused_before_anything_is_trained(machines, tmp_path):
    check_seen(tmp_path, machines.address)
    with pytest.raises(
        ValueError, match=r"machines don't see .*/elsewhere: --runs names a folder that all of them share"
    ):
        check_seen(tmp_path / "elsewhere", machines.address)


def test_no_cluster_for_responses_is_said_before_anything_is_trained(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(exploit, "train", lambda kind, settings: pytest.fail("it was trained"))
    assert main(["exploit", "greedy", "--ray", "127.0.0.1:1", "--runs", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert "there is no Ray cluster at 127.0.0.1:1" in error
    assert error.count("\n") == 1


def test_where_there_is_no_cluster_it_is_said():
    with pytest.raises(WorkerError, match=r"^there is no Ray cluster at 127\.0\.0\.1:1: .*refused$"):
        evaluate(["greedy", "random"], games=2, ray="127.0.0.1:1")


def test_workers_or_a_cluster_but_not_both():
    with pytest.raises(ValueError, match="either some workers or a Ray cluster can play, not both"):
        evaluate(["greedy", "random"], games=2, workers=2, ray="")


PAGE = (ROOT / "docs" / "cluster.md").read_text()


def test_the_cluster_file_of_the_page_is_one_of_ray_s_launcher():
    import yaml
    from ray.autoscaler._private.util import prepare_config, validate_config

    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    validate_config(prepare_config(yaml.safe_load(text)))
    with pytest.raises(ValidationError, match="head_start_ray_command"):
        validate_config(
            prepare_config(yaml.safe_load(text.replace("head_start_ray_commands", "head_start_ray_command")))
        )
