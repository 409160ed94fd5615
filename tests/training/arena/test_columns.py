"""What commands print fits the terminal: names are cut, numbers never are."""

import io
import re
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from artus_training import progress
from artus_training.arena.columns import table
from artus_training.arena.evaluate import Evaluation
from artus_training.arena.live import LiveTable
from artus_training.arena.report import print_table, rows
from artus_training.arena.results import Block, Results, Settings
from artus_training.arena.standings import Tally, standings
from artus_training.bench import interfaces
from artus_training.bench import training as bench_training
from artus_training.cli import main
from artus_training.learn import command, exploit
from artus_training.learn.exploit import Best, Kept, Response
from artus_training.learn.ppo import Settings as PpoSettings

LONG = tuple(f"program:./a-class/{team:_<15}/bot.py" for team in ("foxes", "owls", "hedgehogs"))
"""Names of 40 letters and as many different ones."""


def test_the_names_are_as_long_as_they_have_to_be():
    assert {len(name) for name in LONG} == {40}


@pytest.fixture(params=[60, 80])
def columns(request, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(request.param))
    return request.param


def fits(text, columns):
    """But for the lines below a table that say the names in full."""
    assert max(len(line) for line in text.splitlines() if " = " not in line) <= columns, text


def played(agents, deals=3000):
    rng = np.random.default_rng(0)
    settings = Settings(agents, games=2 * deals)
    scores = [
        rng.normal([120 + 30 * one, 120 + 30 * other], 60, (deals, 2, 2)).astype(np.int32)
        for one, other in settings.lineups()
    ]
    return Results(settings, scores, scores, [np.full(part.shape[:2], -1) for part in scores])


def test_standings_show_every_number(columns, capsys):
    results = played(LONG)
    whole = standings(results)
    print_table(results, whole)
    title, shown, legend = capsys.readouterr().out.split("\n\n", 2)
    fits(title + "\n" + shown, columns)
    for name, *cells in rows(whole):
        assert all(part in shown for cell in cells for part in cell.split(" "))
        assert f" = {name}" in legend
    for head in ("Ratings are", "wins:", "prestige:", "In brackets: 95 %"):
        assert head in legend
    fits(legend, columns)


def test_the_live_table_fits(columns):
    settings = played(LONG).settings
    tally = Tally(settings)
    for lineup in range(3):
        scores = np.tile([123456, 5], (1000, 2, 1)).astype(np.int32)
        tally.add(Block(lineup, 0, scores, scores, np.full((1000, 2), -1), []))
    shown = str(LiveTable(tally).table())
    fits(shown, columns)
    assert "100.0%" in shown
    assert "4,000" in shown


def test_an_evaluation_fits(columns):
    reason = "ended with exit code 1 in the middle of a game that it had nearly won"
    result = Evaluation(
        LONG, "artus", "advanced", 3, 100_000, 1234, 0.98765, (0.987, 0.988), (0.98765, 0.01, 0.002), (151.2, 8, -12.5),
        120.5, 3.2, 17, reason, sure=True,
    )  # fmt: skip
    shown, _, legend = str(result).partition("\n\n")
    fits(str(result), columns)
    assert all(number in legend for number in ("98.8%", "+151.2", "-12.5"))
    assert "sure: " in shown
    in_notebook = result._repr_markdown_().splitlines()
    assert in_notebook[:3] == [
        "| agent | wins | prestige |",
        "| --- | ---: | ---: |",
        f"| {LONG[0]} | 98.8% | +151.2 |",
    ]
    assert any(line.startswith("sure: ") for line in in_notebook)


def test_what_exploit_finds_fits(columns, tmp_path):
    kept = Kept(
        [Response(LONG[0], "coalition", LONG[1], 0.123, 0.567, 400)],
        [Best(LONG[0], "coalition", LONG[1], 0.1, 0.5, 2000, (0.05, 0.15))],
    )
    told = SimpleNamespace(game="artus", agent=LONG[0])
    search = SimpleNamespace(folder=tmp_path, told=told, rules="advanced", num_players=4)
    lines = list(exploit.report(search, kept))
    head = next(number for number, line in enumerate(lines) if line.startswith("to"))
    fits("\n".join(lines[head : head + 2]), columns)
    assert "56.7%" in lines[head + 1]


def test_the_list_of_games_fits(columns, capsys):
    assert main(["games"]) == 0
    fits(capsys.readouterr().out, columns)


@pytest.mark.parametrize("game", ["artus", "royal", "quest"])
def test_tables_of_rules_fit(game, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["rules", "--game", game]) == 0
    fits(capsys.readouterr().out, 80)


def test_benchmarks_fit(columns, capsys, monkeypatch):
    figures = dict.fromkeys(("steps_per_second", "ceiling"), 12345678.0) | {"part_of_ceiling": 0.9, "times_sb3": 5}
    monkeypatch.setattr(
        bench_training, "measure", lambda _: {"ours, bfloat16, no action features": figures, LONG[0]: figures}
    )
    assert main(["bench", "--training"]) == 0
    lines = [(LONG[0] + LONG[1], 123_456_789.0), ("AEC env(), ratio", 1.5)]
    monkeypatch.setattr(interfaces, "measure", lambda *_: iter(lines))
    assert main(["bench"]) == 0
    shown = capsys.readouterr().out
    fits(shown, columns)
    assert "12,345,678" in shown
    assert "123,456,789 /s" in shown
    assert "ceiling: " in shown


def test_trained_agents_fit(columns, capsys, monkeypatch):
    strength = [{"against": name, "wins": 0.5, "wins_95": [0.4, 0.6], "margin": -123.4} for name in LONG]
    monkeypatch.setattr(command, "train", lambda *_: True)
    monkeypatch.setattr(command, "read_card", lambda _: {"strength": strength})
    assert command.train_all([PpoSettings(rules="advanced", num_players=4)])
    fits(capsys.readouterr().out, columns)


def test_what_a_training_says_fits(columns, monkeypatch):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=columns, color_system=None)
    monkeypatch.setattr(progress, "terminal", lambda: console)
    name = "a-run-with-a-name-of-forty-letters-in-all"
    with progress.TrainingBar() as bar:
        task = bar.add_task(name, total=1.0, wins="greedy 84%, lookahead 51%")
        bar.update(task, completed=0.4)
        bar.say("1.23 M decisions, 123 k/s, entropy 1.23, KL 0.0123, explained variance 0.789")
        bar.line(f"{name} after 1.2 M decisions: won against greedy 84%, lookahead 51%")
        bar.refresh()
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue())
    fits("\n".join(re.split(r"[\r\n]+", plain)), columns)
    assert "greedy 84%, lookahead 51%" in " ".join(plain.split())
    assert " 40%" in plain


def test_names_give_way_before_intervals_and_these_before_words():
    made = [("agent", "rating (x = 0)", "about"), ("a" * 30, "1234 (1200..1300)", "some words that say more about it")]
    wide, cut, below, wrapped = (
        table(made, names=[0], numbers=[1], texts=[2], width=width, colours=False) for width in (100, 70, 57, 40)
    )
    assert wide == [
        "agent                                      rating  about",
        "                                          (x = 0)",
        f"{'a' * 30}  1234 (1200..1300)  some words that say more about it",
    ]
    assert cut[2] == "aaaaaaa...aaaaaa  1234 (1200..1300)  some words that say more about it"
    assert cut[-1] == f"aaaaaaa...aaaaaa = {'a' * 30}"
    assert below[2:4] == ["aaa...aa          1234  some words that say more about it", "          (1200..1300)"]
    assert wrapped[2:5] == [
        "aaa...aa          1234  some words that", "          (1200..1300)  say more about", f"{'':24}it",
    ]  # fmt: skip


def test_colours_are_for_terminals(monkeypatch):
    made = [("agent", "wins"), ("a", "50% (40..60)")]
    assert "\x1b[1m" in table(made, numbers=[1], colours=True)[0]
    assert "\x1b[2m(40..60)\x1b[0m" in table(made, numbers=[1], colours=True)[1], table(made, numbers=[1], colours=True)
    assert "\x1b" not in "".join(table(made, numbers=[1]))  # pytest reads along, which is no terminal
    monkeypatch.setattr("sys.stdout", SimpleNamespace(isatty=lambda: True))
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b" in "".join(table(made, numbers=[1]))
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in "".join(table(made, numbers=[1]))
