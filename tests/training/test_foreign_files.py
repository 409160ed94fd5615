"""Files, names and terminals from elsewhere: what other systems write, and what is missing on this one."""

import os
import subprocess
import sys
from codecs import BOM_UTF8
from pathlib import Path

import pytest

from artus_env import Game
from artus_env.engine.basics.reading import decode
from artus_training.arena.evaluate import evaluate
from artus_training.arena.lineup import bots_in
from artus_training.cli import main
from artus_training.learn.settings import read_preset

ROOT = Path(__file__).parents[2]
SUITE = "tests/test_suite.py"
BOT = ROOT / "agents" / "examples" / "bot.py"
GAME = ROOT / "docs" / "game.jsonl"
SMALL = ("--game", "royal", "--games", "2")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("artus_training.arena.standings.BOOTSTRAP_SAMPLES", 200)


def bot(path, mode=0o644, before=b""):
    """The example bot at a path, with something before its first line."""
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(before + BOT.read_bytes())
    path.chmod(mode)
    return path


def run_artus(*arguments, script='exec "$@"', **options):
    command = ["sh", "-c", script, "sh", sys.executable, "-m", "artus_training", *arguments]
    return subprocess.run(command, capture_output=True, timeout=120, check=False, **options)


# --- byte order marks, blank lines ---


def test_a_byte_order_mark_is_no_part_of_a_file():
    assert decode(BOM_UTF8 + b"[1]", list[int]) == decode("\ufeff[1]", list[int]) == [1]
    Path("preset.toml").write_bytes(BOM_UTF8 + b"steps = 1000\r\n")
    assert read_preset(Path("preset.toml")) == {"steps": 1000}
    assert Game.replay(BOM_UTF8 + GAME.read_bytes()).over


@pytest.mark.parametrize(
    "content",
    [BOM_UTF8 + GAME.read_bytes(), GAME.read_bytes() + b"\n", b"\n \r\n" + GAME.read_bytes()],
    ids=["byte order mark", "blank line at the end", "blank lines in front"],
)
def test_a_file_of_records_may_have_a_byte_order_mark_and_blank_lines(content, capsys):
    Path("games.jsonl").write_bytes(content)
    count = len(GAME.read_bytes().splitlines())
    assert main(["replay", "games.jsonl", "--check"]) == 0
    assert capsys.readouterr().out == f"{count} game{'s' * (count > 1)} replayed to the recorded scores\n"


@pytest.mark.parametrize("flush", [True, False])
def test_a_bot_may_begin_with_a_byte_order_mark(flush):
    """Programs written in .NET begin with one, some of them before the first request."""
    mark = f"import sys; sys.stdout.buffer.write({BOM_UTF8!r})" + "; sys.stdout.flush()" * flush
    Path("bot.py").write_text(f"{mark}\n{BOT.read_text()}")
    result = evaluate(["program:./bot.py", "random"], games=2, game="royal")
    assert result.forfeits == 0, result.reason


# --- terminals ---


@pytest.mark.parametrize("arguments", [["tournament", "--help"], ["games"], ["rules"], ["--version"]])
@pytest.mark.parametrize("script", ['exec "$@" >&-', 'exec "$@" <&- >&- 2>&-'])
def test_closed_output_is_no_traceback(arguments, script):
    done = run_artus(*arguments, script=script)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("columns", [1, 5])
@pytest.mark.parametrize("command", ["tournament", "replay", "play"])
def test_help_ends_on_the_narrowest_terminal(command, columns):
    done = run_artus(command, "--help", env={**os.environ, "COLUMNS": str(columns)})
    assert done.returncode == 0
    assert b"usage: artus" in done.stdout
    wrong = run_artus(command, "--nonsense", env={**os.environ, "COLUMNS": str(columns)})
    assert wrong.returncode == 2
    assert wrong.stderr


def test_one_deal_has_no_interval_of_the_margin(capsys):
    assert main(["evaluate", "greedy", "random", "--game", "royal", "--games", "1"]) == 0
    output = capsys.readouterr().out
    assert "margin " in output
    assert "inf" not in output


# --- bots ---


@pytest.mark.parametrize(
    ("mode", "before"),
    [(0o644, b""), (0o755, b"import json\n"), (0o755, BOM_UTF8), (0o644, b"#!/no/such/python\n")],
    ids=["no execute permission", "no first line", "byte order mark", "neither"],
)
def test_a_file_of_python_plays_wherever_it_is_named(mode, before, capsys):
    """A Python file plays in the same way in a folder of bots, as a single agent and in check-bot."""
    path = bot(Path("bots", "mine.py"), mode, before)
    ((name, agent),) = bots_in(Path("bots"))
    assert (name, agent) == ("mine", "program:bots/mine.py")
    assert main(["check-bot", str(path), "--game", "royal"]) == 0
    assert main(["tournament", "bots/", f"Mine=program:{path}", *SMALL, "--out", "out"]) == 0
    assert "Games given up" not in capsys.readouterr().out


def test_a_first_line_with_the_line_end_of_windows_starts_a_bot():
    path = bot(Path("bots", "mine.py"))
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    path.chmod(0o755)
    assert evaluate([f"program:{path}", "random"], games=2, game="royal").forfeits == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["check-bot", "python3", "bots/mine.py"], "put it in quotes, as in artus check-bot 'python3 bots/mine.py'"),
        (["check-bot", "python3", "-u", "bots/mine.py"], "as in artus check-bot 'python3 -u bots/mine.py'"),
        (
            ["check-bot", "--num-players", "3", "python3", "bots/mine.py"],
            "as in artus check-bot 'python3 bots/mine.py'",
        ),
        (["check-bot", "bots/"], "bots/ is a folder; name the bot in it that plays"),
        (["check-bot"], "name the command that starts the bot"),
        (["tournament", "Owls=program:python3", "bots/mine.py", "greedy"], "as in 'Owls=program:python3 bots/mine.py'"),
        (["evaluate", "program:python3", "bots/mine.py"], "as in 'program:python3 bots/mine.py'"),
        (["tournament", "Owls=program:./bots", "greedy"], "./bots is a folder"),
        (["tournament", "nobots/", "greedy"], "there is no folder 'nobots/'"),
    ],
)
def test_what_is_wrong_with_the_name_of_a_bot_is_said_in_a_line(words, message, capsys):
    bot(Path("bots", "mine.py"))
    assert main(words) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_joining_a_tournament_in_a_folder_of_its_own_names_add_to(capsys):
    words = ["tournament", "greedy", "random", *SMALL]
    assert main([*words, "--out", "out"]) == 0
    assert main([*words, "--out", "out", "--add", "lookahead"]) == 2
    error = capsys.readouterr().err
    assert "name the folder where it lies with --add-to out, and a new folder for all games with --out" in error
    assert main([*words, "--add", "lookahead"]) == 2
    assert "with --add-to FOLDER\n" in capsys.readouterr().err
    assert main([*words, "--add", "lookahead", "--add-to", "out", "--out", "grown"]) == 0


# --- code of others ---


@pytest.mark.parametrize(
    "code",
    [
        "raise SystemExit(3)\n",
        "import sys\ndef Mine():\n    sys.exit(3)\n",
        "class Mine:\n    def act(self, view):\n        raise SystemExit(3)\n",
    ],
    ids=["import", "factory", "act"],
)
@pytest.mark.parametrize("command", ["evaluate", "tournament"])
def test_an_agent_does_not_end_the_command_with_its_own_exit_code(command, code, capsys):
    Path("agent.py").write_text(code)
    assert main([command, "./agent.py:Mine", "random", *SMALL]) == 2
    error = capsys.readouterr().err
    assert "SystemExit" in error
    assert error.count("\n") == 1


def test_a_command_that_code_of_a_game_ends_is_one_line(monkeypatch, capsys):
    def ends(arguments):
        raise SystemExit(3)

    monkeypatch.setattr("artus_training.games.rules", ends)
    assert main(["rules"]) == 2
    assert capsys.readouterr().err == "artus rules: code of an agent or a game ended the process: SystemExit(3)\n"


@pytest.mark.parametrize(
    "error",
    [
        ValueError("the maximum allowed number of players is 4"),
        RuntimeError("a bot tried to allocate seats twice"),
        OverflowError("Python int too large to convert to C long"),
    ],
)
def test_only_a_lack_of_memory_is_called_so(error, monkeypatch):
    def fails(arguments):
        raise error

    monkeypatch.setattr("artus_training.games.rules", fails)
    with pytest.raises(type(error), match=str(error)):
        main(["rules"])


def test_the_tests_know_their_marks_without_pytest_xdist():
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "-p", "no:cacheprovider", "--collect-only", "-q"]
    done = subprocess.run([*command, SUITE], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout


def test_a_line_about_a_file_says_which_bytes_its_name_has(capsys):
    assert main(["replay", "games-J\udcf6rg.jsonl"]) == 2
    assert "games-J\\udcf6rg.jsonl" in capsys.readouterr().err
