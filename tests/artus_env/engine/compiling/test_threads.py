"""Number of threads that work on a batch: no more than quotas allow, and than pays while other programs run."""

import os
import re
import subprocess
import threading
import time

import numpy as np
import pytest

from artus_env.engine.compiling import quotas, threads
from artus_env.engine.compiling.jit import DISABLED
from artus_env.engine.compiling.pacing import LONG, LONGEST_PAUSE, MOST_CREDIT, PAUSE, Pace
from artus_env.engine.compiling.quotas import available_cores, cpu_quotas
from artus_env.engine.compiling.threads import run_shares, shares, threads_for
from artus_training.bench import interfaces, under_load
from artus_training.cli import main
from shared_loops import TOLD, count_up, loop, meet, named_error, run


def write(folder, **contents):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / name.replace("__", ".")).write_text(content + "\n")


@pytest.mark.parametrize(
    ("line", "folder", "files", "quota"),
    [
        ("0::/", "", {"cpu__max": "150000 100000"}, 1.5),
        ("0::/", "", {"cpu__max": "max 100000"}, np.inf),
        ("0::/a/b", "a", {"cpu__max": "200000 100000"}, 2.0),  # the quota of the parent group
        ("0::/docker/123", "", {"cpu__max": "50000 100000"}, 0.5),  # in a container that sees only its own group
        ("0::/a", "unified/a", {"cpu__max": "300000 100000"}, 3.0),
        ("4:cpu,cpuacct:/a", "cpu,cpuacct/a", {"cpu__cfs_quota_us": "400000", "cpu__cfs_period_us": "100000"}, 4.0),
        ("4:cpu:/a", "cpu/a", {"cpu__cfs_quota_us": "-1", "cpu__cfs_period_us": "100000"}, np.inf),
        ("4:cpu,cpuacct:/a", "cpu", {"cpu__cfs_quota_us": "100000", "cpu__cfs_period_us": "100000"}, 1.0),
        ("4:memory:/a", "memory/a", {"cpu__max": "100000 100000"}, np.inf),
        ("0::/", "", {"cpu__max": "nonsense"}, np.inf),
        ("0::/", "", {"cpu__max": "1 0"}, np.inf),
        ("nonsense", "", {}, np.inf),
    ],
)
def test_a_quota_of_any_control_group_counts(tmp_path, line, folder, files, quota):
    groups, mount_point = tmp_path / "cgroup", tmp_path / "mounted"
    groups.write_text(line + "\n")
    write(mount_point / folder, **files)
    assert min(cpu_quotas(groups, mount_point), default=np.inf) == quota


def test_systems_without_control_groups_have_no_quota(tmp_path):
    assert not list(cpu_quotas(tmp_path / "nothing", tmp_path))


@pytest.mark.parametrize(
    ("quota", "thread_limit", "cores"), [(np.inf, "", 8), (2.9, "", 2), (0.3, "", 1), (5, "3", 3), (2, "3", 2)]
)
def test_cores_are_those_of_the_quota_and_of_the_user(monkeypatch, quota, thread_limit, cores):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(8), raising=False)
    monkeypatch.setattr(quotas, "_process_quota", lambda: quota)
    monkeypatch.setenv("OMP_NUM_THREADS", thread_limit)
    assert available_cores() == cores


@pytest.mark.parametrize(
    ("games", "limit", "expected"), [(99, 0, 1), (199, 0, 1), (200, 0, 2), (5000, 0, 8), (5000, 3, 3), (0, 0, 1)]
)
def test_a_thread_must_have_enough_to_do(monkeypatch, games, limit, expected):
    monkeypatch.setattr(threads, "available_cores", lambda: 8)
    assert threads_for(games, 100, limit) == expected


@pytest.fixture
def clock(monkeypatch):
    """`time.perf_counter`, to be turned by hand."""
    now = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    return now


def measured_pace(seconds_per_game=1e-6):
    """The pace of a loop after its first calls, shared and alone; one thread takes `seconds_per_game`."""
    pace = Pace()
    decisions = []
    for seconds in (15.0, 600 * seconds_per_game):  # compiling it took 15 s
        decisions.append(pace.should_share(1000))
        pace.record_shared(1000, seconds)
    for seconds in (15.0, 1000 * seconds_per_game):
        decisions.append(pace.should_share(1000))
        pace.record_alone(1000, seconds)
    assert decisions == [True, True, False, False]
    assert pace.seconds_per_game == pytest.approx(seconds_per_game)
    return pace


def test_sharing_that_pays_goes_on(clock):
    pace = measured_pace()
    shared = 0
    for _ in range(1000):
        if pace.should_share(1000):
            shared += 1
            pace.record_shared(1000, 0.6e-3)
        else:
            pace.record_alone(1000, 1e-3)
    assert shared >= 995
    assert 0 < pace.credit <= MOST_CREDIT


def test_sharing_that_loses_costs_a_twentieth_at_the_most(clock):
    pace = measured_pace()
    shared, begin, work = 0, clock[0], 0.0
    for _ in range(20_000):
        work += 1e-3
        if pace.should_share(1000):
            shared += 1
            clock[0] += 30e-3  # a neighbour keeps one of the threads from its core
            pace.record_shared(1000, 30e-3)
        else:
            clock[0] += 1e-3
            pace.record_alone(1000, 1e-3)
    assert shared > 10  # it is tried again and again
    assert clock[0] - begin < 1.06 * work


def test_sharing_is_found_again_soon_after_other_programs_have_ended(clock):
    pace = measured_pace()
    for _ in range(100):
        pace.should_share(1000)
        pace.record_shared(1000, 10.0)
    assert not pace.should_share(1000)
    clock[0] += LONGEST_PAUSE
    assert pace.should_share(1000)
    pace.record_shared(1000, 0.5e-3)
    assert pace.should_share(1000)


def test_one_stall_among_many_gains_is_forgiven_and_a_loss_is_paid_for_in_full(clock):
    pace = measured_pace()
    for _ in range(round(MOST_CREDIT / 0.5e-3)):
        assert pace.should_share(1000)
        pace.record_shared(1000, 0.5e-3)
    assert pace.should_share(1000)
    pace.record_shared(1000, 1e-3 + 0.9 * MOST_CREDIT)
    assert pace.should_share(1000)
    pace.record_shared(1000, 1e-3 + 0.1 * MOST_CREDIT + 2e-3)
    assert not pace.should_share(1000)
    assert pace.resume_time == pytest.approx(clock[0] + PAUSE * 2e-3)


def test_long_work_is_always_shared(clock):
    pace = measured_pace(seconds_per_game=1.5 * LONG / 1000)
    assert pace.should_share(1000)
    pace.record_shared(1000, 100.0)
    assert pace.should_share(1000)
    assert not pace.should_share(1)


def test_one_thread_never_has_to_do_work_alone_that_takes_several_long(clock):
    """Nobody waits sixteen times as long for the first move of a long search on sixteen cores."""
    pace = Pace()
    for _ in range(1000):
        assert pace.should_share(1)
        pace.record_shared(1, 2 * LONG)


starts_threads = pytest.mark.skipif(DISABLED, reason="plain Python starts no threads")


@pytest.fixture
def crew(monkeypatch):
    """Threads between which every loop is shared, however many cores there are."""
    new_crew = threads.Crew()
    monkeypatch.setattr(Pace, "should_share", lambda self, games: True)
    monkeypatch.setattr(threads, "_crew", new_crew)
    yield new_crew
    new_crew.end()


@starts_threads
@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_each_game_is_done_once_however_many_share_it(crew, count):
    for games in (7, 1000, 1001):
        times, doer = np.zeros(games, np.int64), np.full(games, -1)
        for call in range(1, 200):
            run_shares(count_up, (times, doer, -1), shares(games, count))
            assert (times == call).all()
        assert (doer == np.repeat(np.arange(count), np.diff(shares(games, count)))).all()
    assert len(crew._threads) == count - 1


@starts_threads
def test_a_share_that_takes_long_is_waited_for_and_an_interrupt_comes_after_it(monkeypatch, crew):
    naps = []

    def sleep(seconds):
        naps.append(seconds)
        if len(naps) == 2:
            raise KeyboardInterrupt
        if len(naps) == 5:
            words[TOLD] = 1

    monkeypatch.setattr(threads.time, "sleep", sleep)
    for _ in range(20):  # the caller waits if it has got the first share
        words, times = np.zeros(2, np.int64), np.zeros(1000, np.int64)
        timer = threading.Timer(1.0, words.__setitem__, (TOLD, 1))
        timer.start()
        try:
            run_shares(meet, (words, times), shares(1000, 2))
        except KeyboardInterrupt:
            break
        finally:
            timer.cancel()
            assert (times == 1).all()
    assert len(naps) >= 5
    run_shares(meet, (words, times), shares(1000, 2))
    assert (times == 2).all()


@starts_threads
@pytest.mark.parametrize("count", [1, 2])
def test_the_error_of_a_share_arrives_and_the_next_loop_runs(crew, count):
    for failing_game in (3, 999):
        times, doer = np.zeros(1000, np.int64), np.full(1000, -1)
        with pytest.raises(ValueError, match="this game fails"):
            run_shares(count_up, (times, doer, failing_game), shares(1000, count))
        run_shares(count_up, (times, doer, -1), shares(1000, count))
        assert times[failing_game] == 2


@starts_threads
@pytest.mark.parametrize("count", [1, 2])
def test_an_error_with_a_text_made_at_run_time_arrives(crew, count):
    with pytest.raises(IndexError, match="no game 700"):
        run_shares(named_error, (np.array([700]),), shares(1000, count))


@starts_threads
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("loop", [loop, run], ids=lambda loop: loop.__name__)
def test_loops_and_arguments_may_have_any_name(crew, loop, count):
    post, bounds = np.zeros(1000, np.int64), np.ones(1000, np.int64)
    run_shares(loop, (post, bounds, 2), shares(1000, count))
    assert (post == 3).all()


@starts_threads
def test_an_interrupt_between_two_calls_of_python_leaves_nothing_locked(monkeypatch, crew):

    def interrupted():
        raise KeyboardInterrupt

    times, doer = np.zeros(1000, np.int64), np.full(1000, -1)
    with monkeypatch.context() as patched:
        patched.setattr(threads.time, "perf_counter", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run_shares(count_up, (times, doer, -1), shares(1000, 2))
        assert not crew.lock.locked()
        patched.setattr(threads.Crew, "_finish", lambda self: interrupted())
        with pytest.raises(KeyboardInterrupt):
            crew.run(count_up.run, (times, doer, -1), shares(1000, 2))
    times[:] = 0
    run_shares(count_up, (times, doer, -1), shares(1000, 2))
    assert (times == 1).all()


@starts_threads
def test_where_the_system_gives_no_thread_one_does_all_and_the_next_call_tries_again(monkeypatch, crew):

    def start(self):
        raise RuntimeError("can't start new thread")

    times, doer = np.zeros(1000, np.int64), np.full(1000, -1)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", start)
        run_shares(count_up, (times, doer, -1), shares(1000, 2))
    assert not crew._threads
    run_shares(count_up, (times, doer, -1), shares(1000, 2))
    assert (times == 2).all()
    assert len(crew._threads) == 1


@starts_threads
def test_more_shares_than_there_may_be_threads_are_all_done(monkeypatch, crew):
    monkeypatch.setattr(threads, "MOST_THREADS", 2)
    times, doer = np.zeros(1000, np.int64), np.full(1000, -1)
    run_shares(count_up, (times, doer, -1), shares(1000, 6))
    assert (times == 1).all()
    assert set(doer) == set(range(6))
    assert len(crew._threads) == 1


@starts_threads
def test_threads_without_work_take_no_time(crew):
    times, doer = np.zeros(1000, np.int64), np.full(1000, -1)
    for _ in range(10):
        run_shares(count_up, (times, doer, -1), shares(1000, 2))
    begin = time.process_time()
    time.sleep(0.5)
    assert time.process_time() - begin < 0.25


@starts_threads
def test_a_batch_plays_the_same_games_however_often_sharing_is_given_up(monkeypatch):
    from artus_env import Batch

    batches = [Batch(1024, threads=threads) for threads in (1, 2)]
    decisions = iter([False, True, True] * 20)
    monkeypatch.setattr(Pace, "should_share", lambda self, games: next(decisions))
    for _ in range(60):
        actions = batches[0].sample().copy()
        for batch in batches:
            batch.step(actions)
        assert batches[0].states.tobytes() == batches[1].states.tobytes()


def test_the_benchmark_compares_one_thread_with_the_default_beside_busy_processes(monkeypatch, capsys):
    monkeypatch.setattr(
        under_load, "measure", lambda game, seconds: iter([under_load.Compared("Batch", 10.0, 18.0, 1.8)])
    )
    monkeypatch.setattr(interfaces, "warmup", lambda: None)
    assert main(["bench", "--busy", "1"]) == 0
    assert re.search(r"^Batch +10 +18 +1\.80$", capsys.readouterr().out, re.MULTILINE)
    assert main(["bench", "--busy", "-1"]) == 2


def test_busy_processes_compute_and_are_gone_afterwards(monkeypatch):
    started = []
    real = subprocess.Popen

    class Popen(real):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            started.append(self)

    monkeypatch.setattr(under_load.subprocess, "Popen", Popen)
    with under_load.busy_processes(2):
        assert [process.poll() for process in started] == [None, None]
    assert all(process.returncode for process in started)


def test_one_thread_is_a_setting_that_passes(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    with under_load.one_thread():
        assert available_cores() == 1
    assert os.environ["OMP_NUM_THREADS"] == "2"


def test_work_is_counted_and_compared():
    cores_used = []

    def make():
        cores_used.append(available_cores())
        return lambda: 5

    line = under_load.compare("nothing", make, 0.01)
    assert cores_used == [1, available_cores()]
    assert line.one > 0
    assert line.ratio > 0
