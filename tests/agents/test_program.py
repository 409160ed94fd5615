"""Programs as agents: the protocol, and all faults of programs. Bots are in `hostile_bots.py`.

Time limits that a bot must miss are short; those that a bot must keep are long, for slow machines.
"""

import copy
import ctypes
import gc
import json
import os
import pickle
import re
import shlex
import signal
import subprocess
import sys
import textwrap
import threading
import time
import uuid
from contextlib import suppress
from pathlib import Path
from random import Random

import numpy as np
import pytest

from artus_agents import orphans, program
from artus_agents.program import FAILURES, MAX_ANSWER, Program, ProgramAgent, ProgramError
from artus_agents.simple import RandomAgent
from artus_env import Batch, Game
from artus_env.engine.agents.match import FORFEIT, Played, play_games
from artus_env.engine.agents.names import find_agent
from artus_env.engine.agents.view import View
from artus_env.engine.contract.rng import seed_stream
from artus_training import cli
from artus_training.arena.evaluate import evaluate
from artus_training.arena.lineup import line_up
from artus_training.arena.schedule import Settings
from artus_training.arena.standings import standings
from artus_training.arena.tournament import run
from artus_training.report.page import write_report

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "agents" / "examples"
BOTS = ROOT / "tests" / "helpers" / "hostile_bots.py"
PROTOCOL = ROOT / "docs" / "protocol.md"
LONG = 30.0  # seconds; a correct bot needs less than a hundredth of this
SHORT = 0.3


class Bot:
    """A bot of `hostile_bots.py`, with a tag in its command line by which its processes are found."""

    def __init__(self, kind: str, file: Path | str = "-") -> None:
        self.tag = f"tag-{uuid.uuid4().hex}"
        self.command = [sys.executable, "-I", "-S", str(BOTS), kind, str(file), self.tag]

    def agent(self, time_limit: float = LONG, start_limit: float = LONG) -> ProgramAgent:
        return ProgramAgent(self.command, time_limit, start_limit)

    def processes(self) -> set[int]:
        """Process ids of the bot, its launcher and its children, without those that have ended."""
        found = set()
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                with suppress(OSError):
                    if self.tag.encode() in (folder / "cmdline").read_bytes():
                        found.add(int(folder.name))
        return found


def wait_until(condition, seconds=LONG):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.01)


def view_of(batch: Batch) -> View:
    return View(batch, None, seed_stream(1, len(batch), 5))


def play(agent, count: int = 1, **variant) -> Played:
    """Play games in which the agent has seat 0 and random agents have the others."""
    batch = Batch(count, autoreset=False, **variant)
    agent_of_seat = np.ones((count, batch.num_players), np.int64)
    agent_of_seat[:, 0] = 0
    return play_games(batch, [agent, RandomAgent()], agent_of_seat, seed_stream(1, count, 5))


def failure(bot: Bot, **limits) -> str:
    """Let a bot forfeit its first game, check that all its processes have ended, and return the reason."""
    agent = bot.agent(**limits)
    (action,) = agent.act(view_of(Batch(1)))
    assert action == FORFEIT
    assert bot.processes() == set()
    assert "\n" not in agent.failure
    assert agent.failure.isprintable()
    return agent.failure


# --- good programs ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bot", ["bot.py", "bot.pl"])
@pytest.mark.parametrize(("rules", "num_players"), [("beginner", 2), ("advanced", 4)])
def test_examples_play_to_the_end_and_better_than_random(bot, rules, num_players):
    agent = find_agent(f"program:time=30 start=30 {shlex.quote(str(EXAMPLES / bot))}")
    played = play(agent, 8, rules=rules, num_players=num_players)
    assert played.reasons == {}
    assert played.wins()[:, 0].mean() > 0.6
    agent.close()


def test_examples_are_short_and_import_nothing_of_this_project():
    text = (EXAMPLES / "bot.py").read_text()
    assert "artus_" not in text
    assert len(text.splitlines()) <= 20


def test_a_request_has_the_known_position_and_the_legal_moves(tmp_path):
    batch = Batch(1, rules="advanced", num_players=3, seed=4, autoreset=False)
    game = Game(rules="advanced", num_players=3, seed=int(batch.seeds[0]))
    agent = Bot("good_logging", tmp_path / "log").agent()
    for step in range(60):
        if step % 7 == 0:
            keys = seed_stream(step, 1, 5)
            assert agent.act(View(batch, None, keys)) == game.legal_actions()[0]
            request = json.loads((tmp_path / "log").read_text().splitlines()[-1])
            assert request["position"] == game.to_dict(game.player)
            assert request["moves"] == game.moves()
            assert request["points"] == batch.points()[0, game.legal_actions()].tolist()
            assert request["seed"] == keys[0] >> np.uint64(32)
        action = game.legal_actions()[step % len(game.legal_actions())]
        game.play(action)
        batch.step(np.array([action]))
    agent.close()


def test_requests_do_not_depend_on_hidden_information(tmp_path):
    batch = Batch(1, num_players=4, seed=4)
    agent = Bot("good_logging", tmp_path / "log").agent()
    for seed in range(3):
        batch.states[0] = Game.redeal(Game(num_players=4, seed=int(batch.seeds[0])), int(batch.player[0]), seed).state
        batch.refresh()
        agent.act(view_of(batch))
    agent.close()
    assert len(set((tmp_path / "log").read_text().splitlines()[:-1])) == 1


def test_a_game_keeps_its_number_and_no_other_game_has_it():
    batch, other = Batch(3, seed=1), Batch(3, seed=1)
    numbers = view_of(batch).games.tolist()
    batch.step(batch.sample())
    assert view_of(batch).games.tolist() == numbers
    assert View(batch, np.array([2, 0]), np.zeros(3, np.uint64)).games.tolist() == [numbers[2], numbers[0]]
    assert len({*numbers, *view_of(other).games.tolist(), *view_of(copy.deepcopy(batch)).games.tolist()}) == 9

    batch.reset(batch.seeds[1], which=[1])
    new_numbers = view_of(batch).games.tolist()
    assert [a == b for a, b in zip(numbers, new_numbers, strict=True)] == [True, False, True]

    while not batch.step(batch.sample())[1].any():
        pass
    is_new_game = batch.done.copy()
    assert ((view_of(batch).games != new_numbers) == is_new_game).all()


def test_a_program_may_end_by_itself_when_its_input_is_closed(tmp_path):
    agent = Bot("good_logging", tmp_path / "log").agent()
    agent.act(view_of(Batch(1)))
    agent.close()
    assert (tmp_path / "log").read_text().splitlines()[-1] == "goodbye"
    agent.close()  # a second call does nothing


def test_an_agent_starts_its_program_again_after_close():
    agent = Bot("good").agent()
    for _ in range(2):
        assert agent.act(view_of(Batch(1))) != FORFEIT
        agent.close()


def test_a_program_that_writes_much_to_stderr_is_not_blocked():
    agent = Bot("loud").agent()
    assert play(agent).reasons == {}
    agent.close()


# --- the specification -----------------------------------------------------------------------------------------------


def late_game() -> Game:
    """The game of the example in the specification: two players, each with two cards left."""
    game = Game(rules="beginner", num_players=2, seed=19)
    random = Random(19)
    while sum(len(cards) for cards in game.to_dict()["played"]) < 28:
        game.play(random.choice(game.moves()))
    return game


def test_the_example_in_the_specification_is_right(tmp_path, monkeypatch):
    text = re.search(r"```text\n(.*?)```", PROTOCOL.read_text(), re.DOTALL)[1]
    example = text.replace("\n  ", "").splitlines()
    requests, answers = ([line[2:] for line in example if line.startswith(mark)] for mark in "><")
    assert len(requests) == len(answers) >= 3

    (tmp_path / "script").write_text("\n".join(answers))
    batch = Batch(1, autoreset=False)
    batch.states[0] = late_game().state
    batch.refresh()
    monkeypatch.setattr("artus_env.engine.play.batch._new_numbers", iter([17]))
    agent = Bot("from_script", tmp_path / "script").agent(time_limit=5.0)
    played = play_games(batch, [agent, RandomAgent()], np.array([[0, 1]]), seed_stream(1, 1, 5))
    agent.close()
    actual_requests = (tmp_path / "script.heard").read_text().splitlines()
    assert actual_requests == requests, "the example should be:\n" + "\n".join(actual_requests)
    assert played.reasons == {}


def test_the_specification_names_the_limits():
    text = PROTOCOL.read_text()
    defaults = ProgramAgent("true")
    for words in (f"{defaults.time_limit:g} seconds", f"{defaults.start_limit:g} seconds", f"{MAX_ANSWER:,} bytes"):
        assert words in text


# --- programs that fail ----------------------------------------------------------------------------------------------


def test_silent_from_the_start():
    assert failure(Bot("silent"), start_limit=SHORT) == f"did not start: no answer within {SHORT} s"


def test_hanging_in_a_move():
    start = time.monotonic()
    assert failure(Bot("hangs"), time_limit=SHORT) == f"no answer within {SHORT} s"
    assert time.monotonic() - start < LONG / 2  # long before the bot would have answered


def test_late():
    assert failure(Bot("late"), time_limit=SHORT) == f"no answer within {SHORT} s"


def test_crashing_at_start():
    assert failure(Bot("crashes_at_start")) == "did not start: ended with exit code 1 (stderr: no time?[31m?to play)"


def test_crashing_in_a_move():
    assert failure(Bot("crashes")) == "ended with exit code 1 (stderr: LookupError: forgot the rules)"


def test_ended_by_a_signal():
    assert failure(Bot("kills_itself")) == "was ended by SIGSEGV"


def test_endless_output_without_a_newline():
    assert failure(Bot("no_newline")).startswith(f"wrote more than {MAX_ANSWER} bytes for one answer: 'xxx")


def test_endless_lines():
    assert failure(Bot("endless_lines")).startswith("wrote more than ")


def test_endless_blank_lines():
    assert failure(Bot("endless_blank_lines"), time_limit=SHORT) == f"no answer within {SHORT} s"


def test_two_answers_to_one_request():
    assert failure(Bot("two_answers")).startswith("wrote more than one line for one answer")


def test_an_answer_without_a_request(tmp_path):
    agent = Bot("talks_unasked", tmp_path / "out").agent()
    batch = Batch(1)
    assert agent.act(view_of(batch)) != FORFEIT
    wait_until((tmp_path / "out").exists)
    assert agent.act(view_of(batch)) == FORFEIT
    assert agent.failure.startswith("wrote without being asked")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"@3", "answered '@3' instead of"),
        (b'{"type": "move", "move": ', "instead of"),
        (b"\xff\xfe{}", "instead of"),
        (b"[" * 50_000, "instead of"),
        (b"9" * 50_000, "instead of"),
        (b"[]", "answered '[]' instead of"),
        (b"null", "answered 'null' instead of"),
        (b'"@3"', "answered '\"@3\"' instead of"),
        (b'{"move": "@3"}', "instead of"),
        (b'{"type": "move"}', "instead of"),
        (b'{"type": "move", "move": 3}', "instead of"),
        (b'{"type": "move", "move": ["@3"]}', "instead of"),
        (b'{"type": ["move"], "move": "@3"}', "instead of"),
        (b'{"type": "hello", "protocol": 1}', "instead of"),
        (b'{"type": "move", "move": ' + b"[" * 500 + b"]" * 500 + b"}", "instead of"),
        (b'{"type": "move", "move": "k3-6:12>17"}', "illegal move 'k3-6:12>17'"),
        (b'{"type": "move", "move": ""}', "illegal move ''"),
        (b'{"type": "move", "move": "@3\\u001b[31m\\n"}', "illegal move '@3\\x1b[31m\\n'"),
        (b'{"type": "move", "move": "@3\\ud800"}', "instead of"),  # half of a surrogate pair
        (b'{"type": "move", "move": "' + b"x" * 50_000 + b'"}', "illegal move 'xxx"),
        (b'{"type": "move", "move": "@3", "why": ' + b"[" * 5_000 + b"]" * 5_000 + b"}", "nested too deep"),
    ],
)
def test_nonsense(answer, reason, tmp_path):
    (tmp_path / "answer").write_bytes(answer)
    actual_reason = failure(Bot("says", tmp_path / "answer"))
    assert reason in actual_reason
    assert len(actual_reason) < 300


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"{}", "did not start: answered '{}' instead of"),
        (b'{"type": "hello"}', "did not start: answered"),
        (b'{"type": "hello", "protocol": 2}', "did not start: speaks protocol 2, not 1"),
        (b'{"type": "hello", "protocol": ' + b"9" * 3_000 + b"}", "did not start: "),
        (b'{"type": "hello", "protocol": -' + b"9" * 1_000 + b"}", "did not start: "),
        (b'{"type": "hello", "protocol": true}', "did not start: answered"),
        (b'{"type": "hello", "protocol": 1.0}', "did not start: answered"),
        (b'{"type": "hello", "protocol": NaN}', "did not start: answered"),
    ],
)
def test_a_wrong_hello(answer, reason, tmp_path):
    (tmp_path / "answer").write_bytes(answer)
    actual_reason = failure(Bot("greets_with", tmp_path / "answer"))
    assert actual_reason.startswith(reason)
    assert len(actual_reason) < 300


def test_closing_stdout():
    assert failure(Bot("closes_stdout")) == "closed its output"


def test_closing_stdin():
    agent = Bot("closes_stdin").agent()
    assert agent.act(view_of(Batch(2))).tolist().count(FORFEIT) == 1  # it could still answer the first request
    assert agent.failure == "closed its input"
    agent.close()


@pytest.mark.parametrize("kind", ["ignores_sigterm", "stops_itself"])
def test_bots_that_can_only_be_killed(kind):
    assert failure(Bot(kind), time_limit=SHORT) == f"no answer within {SHORT} s"


def test_children_that_keep_the_pipes_open():
    assert failure(Bot("dies_with_child")) == "ended with exit code 3"


def test_endless_output_on_stderr():
    assert failure(Bot("floods_stderr"), time_limit=SHORT).startswith(f"no answer within {SHORT} s (stderr: ")


def test_a_bot_that_stops_reading():
    bot = Bot("deaf")
    program = Program(bot.command)
    program.ask({}, LONG)
    with pytest.raises(ProgramError, match=r"no answer within 0\.3 s"):
        program.ask({"more than a pipe holds": "x" * 10_000_000}, SHORT)
    program.kill()
    assert bot.processes() == set()


@pytest.mark.parametrize(
    ("name", "mode", "text", "reason"),
    [
        ("absent", None, "", "No such file or directory"),
        ("not_executable", 0o644, "#!/bin/sh\n", "Permission denied"),
        ("no_interpreter", 0o755, "#!/no/such/interpreter\n", "No such file or directory"),
        ("no_program", 0o755, "print(1)\n", "Exec format error"),
    ],
)
def test_commands_that_can_not_be_started(name, mode, text, reason, tmp_path):
    path = tmp_path / name
    if mode:
        path.write_text(text)
        path.chmod(mode)
    agent = ProgramAgent([str(path)])
    assert agent.act(view_of(Batch(1))) == FORFEIT
    assert agent.failure == f"did not start: ended with exit code 127 (stderr: {path}: {reason})"


def test_a_command_line_that_is_too_long():
    agent = ProgramAgent(["x" * 10_000_000])
    assert agent.act(view_of(Batch(1))) == FORFEIT
    assert agent.failure.startswith("did not start: could not be started")
    assert "Argument list too long" in agent.failure


@pytest.mark.parametrize("command", [["./nothere"], Bot("silent").command, Bot("crashes_at_start").command])
def test_a_program_that_does_not_start_is_refused_before_the_first_game(command, tmp_path, capsys):
    name = f"program:start=1 {shlex.join(command)}"
    for arguments in (
        ["evaluate", name, "greedy"],
        ["tournament", "greedy", name, "--out", str(tmp_path / "out"), "--games", "2"],
        ["play", "--against", name],
        ["train", "--opponents", f"{name}=0.5", "--runs", str(tmp_path)],
    ):
        assert cli.main(arguments) == 2
        error = capsys.readouterr().err
        assert "did not start: " in error
        assert command[0] in error
        assert error.count("\n") == 1
    assert not any(tmp_path.iterdir())


def test_a_program_is_started_before_the_first_game_and_plays_on():
    bot = Bot("good")
    (agent, _) = line_up([bot.agent(), "random"], "beginner")
    processes = bot.processes()
    assert processes
    assert agent.act(view_of(Batch(1))) != FORFEIT
    assert bot.processes() == processes
    agent.close()


def test_a_program_that_fails_in_a_game_forfeits_only_its_games(capsys):
    assert cli.main(["evaluate", f"program:{shlex.join(Bot('crashes').command)}", "greedy", "--games", "2"]) == 0
    output = " ".join(capsys.readouterr().out.split())  # lines are wrapped at the width of the terminal
    assert "given up: 2 games, the first because: ended with exit code 1 (stderr: " in output


def test_progress_ends_though_games_are_given_up():
    fractions = []
    result = evaluate([Bot("crashes").agent(), "random"], games=2, progress=fractions.append)
    assert result.reason == "ended with exit code 1 (stderr: LookupError: forgot the rules)"
    assert fractions[-1] == 1


# --- what a failure costs --------------------------------------------------------------------------------------------


def test_one_crash_costs_one_game(tmp_path):
    agent = Bot("crashes_once", tmp_path / "crashed").agent()
    played = play(agent, 4)
    agent.close()
    assert (played.forfeits == 0).sum() == 1
    assert list(played.reasons.values()) == ["ended with exit code 1 (stderr: LookupError: forgot the rules)"]


def test_a_program_without_a_hello_is_started_only_a_few_times():
    start = time.monotonic()
    played = play(Bot("silent").agent(start_limit=SHORT), 200)
    assert time.monotonic() - start < LONG
    reasons = list(played.reasons.values())
    assert reasons[:3] == [f"did not start: no answer within {SHORT} s"] * 3
    assert set(reasons[3:]) == {"not started again after 3 starts in a row without a hello"}
    assert (played.forfeits == 0).all()


def test_a_program_that_always_fails_is_started_only_a_few_times():
    reasons = list(play(Bot("hangs").agent(time_limit=0.02), 200).reasons.values())
    assert reasons[:FAILURES] == ["no answer within 0.02 s"] * FAILURES
    assert len(reasons) == 200
    assert set(reasons[FAILURES:]) == {"not started again after 10 failures in a row without a legal move between them"}


def test_a_tournament_goes_on_and_reports_each_game_given_up(tmp_path, monkeypatch):
    bot = Bot("crashes_once", tmp_path / "crashed")
    (tmp_path / "mybot").write_text(f"#!/bin/sh\nexec {shlex.join(bot.command)}\n")
    (tmp_path / "mybot").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    name = "program:time=30 ./mybot"
    results = run(Settings((name, "greedy"), games=20), tmp_path / "tournament")
    assert results.games == 20
    assert len(results.notes) == 1
    assert results.notes[0].startswith(f"{name} gave up deal ")
    assert results.notes[0].endswith(": ended with exit code 1 (stderr: LookupError: forgot the rules)")
    write_report(results, standings(results), tmp_path, "artus tournament")
    fault = f"<li>{name}: 1 game: ended with exit code 1 (stderr: LookupError: forgot the rules)</li>"
    assert fault in (tmp_path / "report.html").read_text()
    gc.collect()
    assert bot.processes() == set()


# --- no process remains ----------------------------------------------------------------------------------------------


@pytest.fixture(params=[True, False], ids=["namespace", "no_namespace"])
def in_namespace(request, monkeypatch) -> bool:
    """Whether programs run in PID namespaces of their own. `True` is skipped where the system doesn't allow them."""
    if request.param and not program.namespaces_allowed():
        pytest.skip("this system doesn't let programs have PID namespaces")
    monkeypatch.setattr(program, "namespaces_allowed", lambda: request.param)
    return request.param


def run_python(code: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a Python process in which `agent` runs the command `arguments` and `act()` lets it choose."""
    start = f"""
        import os, signal, sys
        from artus_agents import program
        from artus_agents.program import FORFEIT, ProgramAgent
        from artus_env import Batch
        from artus_env.engine.agents.view import View
        from artus_env.engine.contract.rng import seed_stream

        def act():
            return agent.act(View(Batch(1), None, seed_stream(1, 1, 5)))

        program.namespaces_allowed = lambda: {program.namespaces_allowed()}
        agent = ProgramAgent(sys.argv[1:])
    """
    code = textwrap.dedent(start) + textwrap.dedent(code)
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", code, *arguments], stdin=pipe, stdout=pipe, text=True)


def test_a_program_ends_when_its_agent_is_deleted(in_namespace):
    bot = Bot("good_parent")
    agent = bot.agent()
    agent.act(view_of(Batch(1)))
    assert len(bot.processes()) == 4 + in_namespace  # launcher, the namespace's first process, bot, two children
    del agent
    assert bot.processes() == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    "end", ["sys.exit()", "raise KeyboardInterrupt", "os.kill(os.getpid(), 15)", "os.kill(os.getpid(), 9)"]
)
def test_a_program_ends_with_our_process(end, in_namespace):
    bot = Bot("good_parent")
    code = f"act(); print('playing', flush=True); sys.stdin.read(); {end}"
    with run_python(code, *bot.command) as python:
        assert python.stdout.readline() == "playing\n"
        assert len(bot.processes() - {python.pid}) == 4 + in_namespace
        python.stdin.close()
    assert python.returncode != 0 or end == "sys.exit()"
    wait_until(lambda: not bot.processes())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dies_with_child", "kills_launcher", "stops_launcher", "hides_from_launcher"])
def test_a_program_that_attacks_its_launcher_ends_with_all_its_children(kind, in_namespace):
    bot = Bot(kind)
    agent = bot.agent(time_limit=1.0)
    agent.act(view_of(Batch(1)))
    agent.close()
    wait_until(lambda: not bot.processes())
    assert agent.failure or kind == "hides_from_launcher"


def test_a_program_in_a_namespace_sees_no_process_outside(in_namespace, tmp_path):
    agent = Bot("lists_processes", tmp_path / "seen").agent()
    agent.act(view_of(Batch(1)))
    agent.close()
    report = json.loads((tmp_path / "seen").read_text())
    assert (report["parent"] == 1) == in_namespace
    assert (report["seen"] == [1, report["own"]]) == in_namespace


def adopts_orphans() -> bool:
    """Whether this process adopts its orphaned descendants."""
    flag = ctypes.c_int()
    ctypes.CDLL(None).prctl(orphans.PR_GET_CHILD_SUBREAPER, ctypes.byref(flag))
    return bool(flag.value)


def test_orphans_of_others_are_left_alone(monkeypatch):
    """While programs run without a namespace, we adopt all orphans, not only those of programs."""
    monkeypatch.setattr(program, "namespaces_allowed", lambda: False)
    assert not adopts_orphans()
    killer, good = Bot("kills_launcher"), Bot("good")
    killer_agent, good_agent = killer.agent(time_limit=1.0), good.agent()
    assert good_agent.act(view_of(Batch(1))) != FORFEIT
    good_processes = good.processes()
    assert adopts_orphans()
    stranger = int(subprocess.check_output(["/bin/sh", "-c", "setsid sleep 600 >/dev/null & echo $!"]))
    try:
        assert killer_agent.act(view_of(Batch(1))) == FORFEIT
        assert killer.processes() == set()
        assert good.processes() == good_processes
        assert os.waitpid(stranger, os.WNOHANG) == (0, 0)  # it is our child now and still runs
        assert adopts_orphans()
        good_agent.close()
        assert not adopts_orphans()
    finally:
        os.kill(stranger, signal.SIGKILL)
        os.waitpid(stranger, 0)


def test_programs_of_a_child_process_are_left_alone(monkeypatch):
    monkeypatch.setattr(program, "namespaces_allowed", lambda: False)
    killer, good = Bot("kills_launcher"), Bot("good")
    with run_python(
        "act(); print('playing', flush=True); sys.stdin.read(); assert act() != FORFEIT", *good.command
    ) as python:
        assert python.stdout.readline() == "playing\n"
        good_processes = good.processes()
        agent = killer.agent(time_limit=1.0)
        assert agent.act(view_of(Batch(1))) == FORFEIT
        assert killer.processes() == set()
        assert good.processes() == good_processes
    assert python.returncode == 0


def test_many_children_are_found_by_few_scans():
    """Many children, and a long chain of descendants: a scan for each of thousands would take minutes."""
    code = """
        from artus_agents import launcher
        launcher.libc.prctl(launcher.PR_SET_CHILD_SUBREAPER, 1)
        ready, done = os.pipe()
        for _ in range(40):
            if os.fork() == 0:
                os.write(done, b"x")
                signal.pause()
        deep = 40
        while deep and os.fork() == 0:
            os.setsid()
            os.write(done, b"x")
            deep -= 1
        if deep < 40:
            signal.pause()
        for _ in range(80):
            os.read(ready, 1)
        looks, look = [], launcher.descendants
        launcher.descendants = lambda ancestor: looks.append(look(ancestor)) or looks[-1]
        launcher.kill_children()
        assert len(looks[0]) == 80
        assert len(looks) < 20, len(looks)
    """
    with run_python(code, "true") as python:
        pass
    assert python.returncode == 0


def test_a_program_plays_on_when_the_thread_that_started_it_ends():
    bot = Bot("good")
    agent = bot.agent()
    thread = threading.Thread(target=lambda: agent.act(view_of(Batch(1))))
    thread.start()
    thread.join()
    processes = bot.processes()
    assert agent.act(view_of(Batch(1))) != FORFEIT
    assert bot.processes() == processes
    agent.close()


def test_threads_share_one_program():
    bot = Bot("good")
    agent = bot.agent()
    agent.act(view_of(Batch(1)))
    processes = bot.processes()
    results = {}
    threads = [
        threading.Thread(target=lambda count=count: results.update({count: play(agent, count).reasons}))
        for count in range(1, 5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {1: {}, 2: {}, 3: {}, 4: {}}
    assert bot.processes() == processes
    agent.close()


def test_a_forked_process_gets_a_program_of_its_own():
    bot = Bot("good")
    code = """
        act()
        program = agent._program
        child = os.fork()
        assert act() != FORFEIT
        if child == 0:
            sys.exit(7 if agent._program is not program else 8)  # what Python does at exit doesn't touch the parent's
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert act() != FORFEIT and agent._program is program
    """
    with run_python(code, *bot.command) as python:
        pass
    assert python.returncode == 0
    wait_until(lambda: not bot.processes())


@pytest.mark.parametrize("make_copy", [copy.copy, copy.deepcopy, lambda agent: pickle.loads(pickle.dumps(agent))])
def test_a_copy_has_a_program_of_its_own(make_copy):
    bot = Bot("good")
    agent = bot.agent(time_limit=20, start_limit=25)
    agent.act(view_of(Batch(1)))
    processes = bot.processes()
    copied_agent = make_copy(agent)
    assert copied_agent.act(view_of(Batch(1))) != FORFEIT
    assert len(bot.processes() - processes) == len(processes)
    assert (copied_agent.command, copied_agent.time_limit, copied_agent.start_limit) == (agent.command, 20, 25)
    agent.close()
    assert len(bot.processes()) == len(processes)
    assert not bot.processes() & processes
    copied_agent.close()


def test_an_interrupted_conversation_is_not_continued():
    bot = Bot("hangs")
    agent = bot.agent()

    def interrupt(*_):
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 1.0)
        with pytest.raises(KeyboardInterrupt):
            agent.act(view_of(Batch(1)))
    finally:
        signal.signal(signal.SIGALRM, previous)
    assert bot.processes() == set()


# --- names -----------------------------------------------------------------------------------------------------------


def test_command_lines():
    agent = find_agent("program:./mybot --flag 'two words'")
    assert (agent.command, agent.time_limit, agent.start_limit) == (["./mybot", "--flag", "two words"], 5, 10)
    agent = find_agent("program:time=0.5 start=60 python3 bot.py time=7")
    assert (agent.command, agent.time_limit, agent.start_limit) == (["python3", "bot.py", "time=7"], 0.5, 60)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("program", "needs a command line"),
        ("program:time=3", "needs a command line"),
        ("program:'./mybot", "no closing quotation"),
        ("program:tiem=3 ./mybot", "no setting 'tiem', only time and start"),
        ("program:time=soon ./mybot", "a number of seconds, got 'soon'"),
        ("program:time=0 ./mybot", "more than 0"),
        ("program:time=nan ./mybot", "more than 0"),
        ("program:start=inf ./mybot", "at most 86400 seconds"),
    ],
)
def test_wrong_command_lines(name, reason):
    with pytest.raises(ValueError, match=reason):
        find_agent(name)
