"""The command line."""

import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from artus_env import DEFAULT_GAME, Game
from artus_env.engine.basics.wording import counted
from artus_env.engine.contract.registry import find_game
from artus_training.arena.evaluate import evaluate
from artus_training.cli import COMMANDS, main
from artus_training.games import aligned, tables_of
from artus_training.options import read_options
from artus_training.usage import Finished
from tools.tables import fill
from tools.tables import main as update_tables

ROOT = Path(__file__).parents[2]


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
    assert "there is no command 'dance'\n" in capsys.readouterr().err
    assert main(["tornament"]) == 2
    assert "there is no command 'tornament'; did you mean tournament?\n" in capsys.readouterr().err


@pytest.mark.parametrize("word", ["--version", "-V"])
def test_it_says_which_version_it_is(word, capsys):
    assert main([word]) == 0
    assert capsys.readouterr().out == f"artus {metadata.version('artus-env')}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_its_options_and_refuses_others(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main([command, "--help"]) == 0
    page = capsys.readouterr().out
    assert f"usage: artus {command}" in page
    assert f"\nExamples:\n    artus {command}" in page or command == "replay"  # which begins with a tournament
    assert "\x1b" not in page  # colours are for terminals
    assert max(map(len, page[page.index(" options ") :].splitlines())) <= 80
    assert main([command, "word", "--no-such-option"]) == 2
    printed = capsys.readouterr()
    assert "--no-such-option" in printed.err
    assert printed.out == ""


def test_the_list_of_commands_fits_the_terminal(capsys):
    main(["--help"])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


@dataclasses.dataclass
class Sample:
    """Fly a kite, in two lines
    --of the source.

    Examples:
        artus fly
        artus fly --wind 3
    """

    wind: int = 2
    """How strong the wind is, in words that take
    two lines of the source."""
    name: str | None = None
    """Name of the kite."""
    colours: tuple[str, ...] = ()
    """Which colours it has."""
    tail: bool = True
    """Give it a tail."""


def test_help_shows_the_text_and_the_default_of_every_option(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    with pytest.raises(Finished) as end:
        read_options(Sample, "artus fly", ["--help"])
    assert end.value.code == 0
    page = capsys.readouterr().out
    assert "\nFly a kite, in two lines --of the source.\n\nExamples:\n    artus fly\n    artus fly --wind 3\n" in page
    shown = " ".join(page.split())
    assert "--wind INT How strong the wind is, in words that take two lines of the source. (default: 2)" in shown
    assert "--name STR Name of the kite. (default: None)" in shown
    assert "Which colours it has. (default: )" in shown
    assert "--tail, --no-tail Give it a tail. (default: True)" in shown


def test_options_are_read_with_their_defaults():
    given = read_options(Sample, "artus fly", ["--colours", "red", "blue", "--no-tail"])
    assert given == Sample(2, None, ("red", "blue"), False)
    assert read_options(Sample, "artus fly", ["--name", "None"]) == Sample(name="None")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--wind", "strong"], "Error parsing --wind: invalid literal"), (["--wnid", "3"], "Perhaps you meant")],
)
def test_a_wrong_option_or_value_is_one_message_with_the_help_of_the_option(arguments, message, capsys):
    with pytest.raises(Finished) as end:
        read_options(Sample, "artus fly", arguments)
    assert end.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert "How strong the wind is" in printed.err


@pytest.mark.slow
@pytest.mark.parametrize("command", [name for name, command in COMMANDS.items() if not command.extra])
def test_help_of_what_needs_no_extra_imports_no_torch(command):
    code = f"import sys; from artus_training.cli import main; main([{command!r}, '--help']); "
    result = run_python(code + "assert not {'torch', 'matplotlib'} & set(sys.modules)")
    assert result.returncode == 0, result.stderr


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
        (["evaluate", "greedy", "random", "--rules", "begginer"], "got 'begginer'; did you mean beginner?"),
        (["evaluate", "greedy", "random", "--game", "queste"], "no game 'queste'; did you mean quest?"),
        (["train", "--reward", "prestig"], "got 'prestig'; did you mean prestige?"),
        (["rules", "card"], "there is no table 'card'; did you mean cards?"),
        (["evaluate", "greedy", "random", "--num-players", "9"], "num_players must be 2..4"),
        (["evaluate", "greedy", "random", "--games", "0"], "must be at least 1"),
        (["evaluate", "missing.safetensors", "random"], "missing.json doesn't exist"),
        (["train", "--num-players", "9"], "num_players must be 2..4"),
        (["train", "--opponents", "nobody=1"], "there is no agent 'nobody'"),
        (["train", "--opponents", "greedy"], "opponents are NAME=FRACTION"),
        (["train", "--preset", "missing.toml"], "preset missing.toml: No such file"),
        (["train", "--set", "device=tpu"], "device can't be 'tpu': "),
        (["train", "--set", "also=beginner"], "also takes RULES-PLAYERS"),
        (["train-sb3", "--num-players", "9"], "num_players must be 2..4"),
        (["curves", "missing.json"], "missing.json doesn't exist"),
        (["train", "--steps", "0"], "steps can't be 0: Expected `int` >= 1"),
        (["train", "--resume", "--runs", "/nonexistent"], "checkpoint.safetensors doesn't exist"),
        (["train", "--num-games", "1" + "0" * 15], "num_games 1000000000000000 and num_steps 32 need"),
        (["train-sb3", "--num-games", "1" + "0" * 15], "num_games 1000000000000000 and num_steps 16 need"),
        (["train", "--hidden", "1" + "0" * 9, "1" + "0" * 9], "hidden: a network may have 100,000,000 weights"),
        (["bench", "--training", "--busy", "1"], "give --training or --busy, not both"),
        (["bench", "--seconds", "0"], "--seconds must be more than 0 and finite, got 0.0"),
        (["bench", "--seconds", "-1"], "--seconds must be more than 0 and finite, got -1.0"),
        (["bench", "--seconds", "nan"], "--seconds must be more than 0 and finite, got nan"),
        (["show", "--player", "9"], "player must be in 0..1, got 9"),
        (["show", "--seed", "-1"], "seed must be a whole number in 0..2**64-1, got -1"),
        (["evaluate", "greedy", "a\nb\x1b[31m"], "there is no agent"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(arguments, message, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("number", "noun", "form", "said"),
    [
        (0, "move", "", "0 moves"),
        (1, "move", "", "1 move"),
        (2, "move", "", "2 moves"),
        (1200, "game", ",", "1,200 games"),
    ],
)
def test_one_thing_is_counted_as_one(number, noun, form, said):
    assert counted(number, noun, form) == said


def test_results_and_pictures_count_one_thing_as_one():
    result = dataclasses.replace(evaluate(["greedy", "random"], games=2), games=1, forfeits=1, reason="tired")
    assert "2 players, 1 game, seed" in str(result)
    assert str(result).endswith("given up: 1 game, the first because: tired")
    game = Game(rules="advanced", seed=1)
    while min(min(sizes) for sizes in game.state["pile_sizes"][:2].tolist()) != 1:
        game.play(game.moves()[-1])
    assert "<title>1 card in the " in game.svg()
    assert "<title>1 cards" not in game.svg()


TINY = "--num-games 8 --hidden 8 --steps 1 --set num_steps=8 --set batch_size=32 --set evaluate_every=0"
TINY += " --set final_games=0"
CARD = ROOT / "artus_env/games/artus/trained/beginner-2.json"
WRITING_FILES = [
    "replay games.jsonl --html",
    "replay games.jsonl --gif",
    f"curves {CARD} --out",
    "tournament greedy random --games 2 --out out --records",
]
WRITING_FOLDERS = [
    "tournament greedy random --games 2 --out",
    f"train {TINY} --runs",
    "train-sb3 --steps 1 --runs",
    "play --no-browser --port 0 --games",
]
READING = ["show", "replay", "curves", "train --preset"]
PLACES = [
    *((command, place) for command in WRITING_FILES for place in ("folder.gif", "file/below.gif", "x" * 300 + ".gif")),
    *((command, place) for command in WRITING_FOLDERS for place in ("file", "file/below", "x" * 300)),
    *((command, place) for command in READING for place in ("folder.gif", "file/below", "missing", "x" * 300)),
]


@pytest.mark.parametrize(("command", "place"), PLACES, ids=lambda value: value[:60])
def test_an_unusable_place_is_one_line_and_exit_code_2(command, place, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "docs/game.jsonl", "games.jsonl")
    Path("folder.gif").mkdir()
    Path("file").touch()
    assert main([*command.split(), place]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"artus {command.split()[0]}: ")
    assert error.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "out") == [
        "file",
        "folder.gif",
        "games.jsonl",
    ]
    assert not list(Path("folder.gif").iterdir())


@pytest.mark.parametrize("command", ["replay", "show"])
def test_what_stands_in_files_of_others_is_no_reason_for_a_traceback(command, tmp_path, capsys):
    game = (ROOT / "docs/game.jsonl").read_text()
    for content in (
        "", "null", "[" * 3000, "[" * 3000 + "]" * 3000, "1" + "0" * 5000, "\x00", "x" * 3_000_000,
        *(
            f'{game[:-2]},"{key}":{value}}}'
            for key in ("scores", "position", "players")
            for value in ("5", "null", "[7]")
        ),
    ):  # fmt: skip
        path = tmp_path / "file.jsonl"
        path.write_text(content)
        for options in (
            ([], ["1", "--at", "0"], ["--check"], ["--html", str(tmp_path / "x.html")])
            if command == "replay"
            else ([],)
        ):
            code = main([command, str(path), *options])
            error = capsys.readouterr().err
            assert (code, error.count("\n")) in ((0, 0), (2, 1)), content
            assert len(error) < 500


def run_artus(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "artus_training", *arguments], stderr=subprocess.PIPE, timeout=120, **options
    )


@pytest.mark.parametrize("arguments", [["rules"], ["--help"], ["show", "--help"]])
def test_nobody_who_reads_on_is_no_error(arguments):
    """For example `artus rules | head -1`. The exit code is that of a process ended by SIGPIPE."""
    reading, writing = os.pipe()
    os.close(reading)
    done = run_artus(*arguments, stdout=writing)
    os.close(writing)
    assert done.stderr == b""
    assert done.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_is_one_line_and_exit_code_2():
    with Path("/dev/full").open("w") as full:
        done = run_artus("rules", stdout=full)
    assert done.stderr == b"artus rules: No space left on device\n"
    assert done.returncode == 2


@pytest.mark.parametrize("arguments", [["show", "-"], ["replay", str(ROOT / "docs/game.jsonl"), "1"]])
def test_a_closed_standard_input_is_no_traceback(arguments):
    script = 'exec "$@" <&-'
    done = subprocess.run(
        ["sh", "-c", script, "sh", sys.executable, "-m", "artus_training", *arguments], capture_output=True, timeout=120
    )
    assert done.returncode == (2 if arguments[0] == "show" else 0)
    assert done.stderr == (b"artus show: -: standard input is closed\n" if arguments[0] == "show" else b"")


def test_letters_that_a_terminal_lacks_are_written_as_numbers(tmp_path):
    path = tmp_path / "games.jsonl"
    game = (ROOT / "docs/game.jsonl").read_text()
    path.write_text(game.replace("lookahead", "Zo\u00eb"))
    done = run_artus("replay", str(path), stdout=subprocess.PIPE, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert b"Zo\\xeb 68" in done.stdout
    assert done.returncode == 0


def test_an_interrupt_is_one_line(monkeypatch, capsys):
    def interrupted(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("artus_training.games.rules", interrupted)
    assert main(["rules"]) == 130
    assert capsys.readouterr().err == "artus rules: interrupted\n"


ENDED = """
import os, signal, sys
from artus_training import cli
from artus_training import games as about
for each in (signal.SIGTERM, signal.SIGHUP):  # who runs the tests may ignore some
    signal.signal(each, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
def rules(arguments):
    try:
        os.kill(os.getpid(), number)
    finally:  # as `timeout` sends it to the process and to its group
        os.kill(os.getpid(), number)
        print("cleared up")
number, ignored = (int(word) for word in sys.argv[1:])
about.rules = rules
if ignored:
    signal.signal(ignored, signal.SIG_IGN)
sys.exit(cli.main(["rules"]))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("ignored", [0, signal.SIGINT])
def test_what_ends_a_process_ends_a_command_as_ctrl_c_does(number, ignored):
    """Also where Ctrl-C is ignored, as in a shell's background."""
    words = [sys.executable, "-c", ENDED, str(number), str(int(ignored))]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("cleared up\n", "artus rules: interrupted\n")
    assert done.returncode == 128 + number


def test_a_signal_that_is_ignored_stays_ignored():
    """By `nohup`."""
    words = [sys.executable, "-c", ENDED, str(int(signal.SIGHUP)), str(int(signal.SIGHUP))]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("cleared up\n", "")


@pytest.mark.parametrize("make", [lambda: np.empty(1 << 50), lambda: np.empty(1 << 62), lambda: torch.empty(1 << 50)])
def test_too_little_memory_is_one_line_and_exit_code_2(make, monkeypatch, capsys):
    monkeypatch.setattr("artus_training.games.rules", lambda arguments: make())
    assert main(["rules"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("artus rules: there is not enough memory: ")
    assert error.count("\n") == 1


def test_other_errors_are_not_hidden(monkeypatch):
    for error in (
        ValueError("a fault of ours"),
        RuntimeError("a fault of ours"),
        ModuleNotFoundError("no", name="nobody"),
    ):

        def faulty(arguments, error=error):
            raise error

        monkeypatch.setattr("artus_training.games.rules", faulty)
        with pytest.raises(type(error)):
            main(["rules"])


@pytest.fixture
def no_home(monkeypatch, tmp_path):
    """A user whom the system doesn't know, as containers start them."""

    def unknown(user):
        raise KeyError(f"getpwuid(): uid not found: {user}")

    for name in ("HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # what isn't compiled yet is kept somewhere
    monkeypatch.setattr("pwd.getpwuid", unknown)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_needs_no_home_folder(command, no_home, capsys):
    assert main([command, "--help"]) == 0
    assert "usage: artus" in capsys.readouterr().out


def test_a_home_folder_is_looked_up_only_where_games_are_kept(no_home, tmp_path, capsys):
    for words in ([], ["--results"]):
        assert main(["play", "--no-browser", *words]) == 2
        error = capsys.readouterr().err
        assert error == "artus play: this user has no home folder for the games of people: name a folder with --games\n"
    assert main(["play", "--results", "--games", str(tmp_path)]) == 0
    words = ["tournament", "greedy", "random", "--games", "2", "--game", "quest", "--out", str(tmp_path / "out")]
    assert main(words) == 0


def test_a_strange_answer_is_taken_for_the_next_move(monkeypatch, capsys):
    answers = iter(["--5", "\u00b2", "9" * 5000, "q"])
    monkeypatch.setattr("builtins.input", lambda _: next(answers))
    assert main(["replay", str(ROOT / "docs/game.jsonl"), "1"]) == 0
    assert "move 3 of 168" in capsys.readouterr().out


# --- other games, of other packages: `magpies` of the folder `stranger` ----------------------------------------------


def test_games_lists_what_is_installed(capsys):
    assert main(["games"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split("  ")[0] == "game"
    rows = {line.split()[0]: line for line in lines}
    assert set(rows) >= {DEFAULT_GAME, "magpies"}
    assert rows["magpies"].split() == ["magpies", "Magpies", "2", "to", "6", "standard"]
    for rules in find_game(DEFAULT_GAME).rules:
        assert rules in rows[DEFAULT_GAME]


def test_rules_shows_all_tables_of_a_game_or_those_that_are_named(capsys):
    assert main(["rules"]) == 0
    printed = capsys.readouterr().out
    for name, make in tables_of(find_game(DEFAULT_GAME)).items():
        assert f"{name}\n\n{aligned(make())}\n" in printed
    assert main(["rules", "rewards", "spec", "--game", "magpies"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("rewards\n\nreward=           paid")
    assert "jewels or points  every move" in printed
    assert "own jewels - mean of the others\n" in printed
    assert "players      2 to 6\n" in printed
    assert "observation  Box(0, " in printed


def test_tables_fills_files(tmp_path, capsys):
    page, other = tmp_path / "page.md", tmp_path / "other.md"
    marked = "Before\n<!-- table: {} -->\nold\n<!-- end -->\nafter\n"
    page.write_text(marked.format("rewards") + marked.format("magpies/actions"))
    other.write_text("No tables.\n")
    assert update_tables([str(page), str(other)]) == 0
    filled = page.read_text()
    assert filled == fill(filled, find_game(DEFAULT_GAME))
    assert "old" not in filled
    assert "| `prestige` or `points` | every move |" in filled
    assert "| 19 | action 19 |" in filled
    assert filled.count("after\n") == filled.count("Before\n") == 2
    assert other.read_text() == "No tables.\n"
    page.write_text(marked.format("magpies/rewards"))
    assert update_tables([str(page)]) == 0
    assert "| `jewels` or `points` | every move |" in page.read_text()


@pytest.mark.parametrize("players", [2, 5])
def test_other_games_are_evaluated(players, capsys):
    named = ["greedy", "random", "--game", "magpies", "--num-players", str(players), "--games", "20"]
    assert main(["evaluate", *named]) == 0
    printed = capsys.readouterr().out
    assert f": Magpies, standard, {players} players, 20 games, seed 0\n" in printed
    assert re.search(r"^agent +wins +jewels$", printed, re.MULTILINE)
    assert len(printed.splitlines()) == 5 + players
    assert "prestige" not in printed


def test_other_games_are_shown(tmp_path, capsys):
    assert main(["show", "--game", "magpies", "--seed", "3", "--json"]) == 0
    position = capsys.readouterr().out
    assert json.loads(position)["round"] > 0
    (tmp_path / "position.json").write_text(position)
    outputs = []
    for where in ([str(tmp_path / "position.json")], ["--seed", "3", "--game", "magpies"]):
        assert main(["show", *where]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    assert "\nmoves: bid:" in outputs[0]
    assert main(["show", str(tmp_path / "position.json"), "--player", "1"]) == 0
    assert capsys.readouterr().out != outputs[0]


def test_other_games_are_replayed_and_filmed_with_what_a_player_saw(tmp_path, capsys):
    """Bids are face down until all have bid: no other player's of the last round may be found in what a player sees,
    where it ends too early."""
    game = Game(game="magpies", num_players=3, seed=5)
    while sum(game.scores) < 4 or len(game.actions_played) % 3 < 2:
        game.play(game.moves()[-1])
    secret = len(game.actions_played) - len(game.actions_played) % 3
    games, page, film = (tmp_path / name for name in ("games.jsonl", "game.html", "game.gif"))
    games.write_text(game.record(["Ann", "Bob", "Cleo"]) + "\n")
    assert main(["replay", str(games)]) == 0
    count = len(game.actions_played)
    assert f"Magpies, standard, 3 players, {count} moves: Ann {game.scores[0]}, Bob" in capsys.readouterr().out
    for player in (None, 1):
        options = [] if player is None else ["--player", str(player)]
        assert main(["replay", str(games), "1", "--html", str(page), "--gif", str(film), *options]) == 0
        text = page.read_text()
        title = text[text.index("<title>") : text.index("</title>")]
        assert "Magpies" in title
        assert f"Ann {game.scores[0]}" not in title, "it gives the result away"
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])
        replayed = game.first()
        for number, (action, said) in enumerate(zip(game.actions_played, data["moves"], strict=True)):
            mover, move = replayed.player, replayed.move(action)
            points = replayed.play(action)
            text_seen = f"{move} +{points}" if points else move
            hidden = player not in (None, mover) and number >= secret
            assert said == f"{('Ann', 'Bob', 'Cleo')[mover]} {'chooses something in secret' if hidden else text_seen}"
        with Image.open(film) as picture:
            assert picture.n_frames > 2
            assert len(picture.convert("RGB").getcolors(1 << 16)) > 2


@pytest.mark.parametrize(
    "command",
    ["evaluate a b", "tournament a b", "show", "rules", "bench"],
)
def test_a_game_that_is_not_installed_is_named_in_one_line(command, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("README.md").touch()
    assert main([*command.split(), "--game", "magpie"]) == 2
    error = capsys.readouterr().err
    assert "there is no game 'magpie'; did you mean magpies? installed are: " in error
    assert error.count("\n") == 1


def test_a_record_of_an_unknown_game_is_listed(tmp_path, capsys):
    path = tmp_path / "games.jsonl"
    path.write_text(Game(seed=1).record().replace(f'"game":"{DEFAULT_GAME}"', '"game":"chess"') + "\n")
    assert main(["replay", str(path)]) == 0
    assert "unknown game 'chess', 2 players, 0 moves: player 0 0, player 1 0" in capsys.readouterr().out
    assert main(["replay", str(path), "1"]) == 2
    assert "there is no game 'chess'" in capsys.readouterr().err
