"""What commands print fits the terminal: names are wrapped, numbers are never cut."""

import io
import re
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from artus_training import progress
from artus_training.arena.evaluate import Evaluation
from artus_training.arena.play import Block, Results
from artus_training.arena.schedule import Settings
from artus_training.arena.standings import Tally, standings
from artus_training.arena.tournament import LiveTable
from artus_training.bench import interfaces
from artus_training.bench import training as bench_training
from artus_training.cli import main
from artus_training.learn import command, exploit
from artus_training.learn.exploit import Best, Response, RunResults
from artus_training.learn.ppo import Settings as PpoSettings
from artus_training.report.table import print_table, rows
from artus_training.tables import as_text, table

LONG = tuple(f"program:./a-class/{team:_<15}/bot.py" for team in ("foxes", "owls", "hedgehogs"))
"""Names of 40 letters and as many different ones."""


@pytest.fixture(params=[60, 80])
def columns(request, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(request.param))
    return request.param


def fits(text, columns):
    assert max(map(len, text.splitlines())) <= columns, text


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
    ranking = standings(results)
    print_table(results, ranking)
    printed = capsys.readouterr().out
    fits(printed, columns)
    _, shown, legend = printed.split("\n\n", 2)
    for name, *cells in rows(ranking):
        assert all(part in shown for cell in cells for part in cell.split(" "))
        assert name in "".join(line.split("  ")[0].strip() for line in shown.splitlines())
    for head in ("Ratings are", "wins:", "prestige:", "In brackets: 95 %"):
        assert head in legend


def test_the_live_table_fits(columns):
    settings = played(LONG).settings
    tally = Tally(settings)
    for lineup in range(3):
        scores = np.tile([123456, 5], (1000, 2, 1)).astype(np.int32)
        tally.add(Block(lineup, 0, scores, scores, np.full((1000, 2), -1), []))
    shown = as_text(LiveTable(tally).table())
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
    results = RunResults(
        [Response(LONG[0], "coalition", LONG[1], 0.123, 0.567, 400)],
        [Best(LONG[0], "coalition", LONG[1], 0.1, 0.5, 2000, (0.05, 0.15))],
    )
    options = SimpleNamespace(game="artus", agent=LONG[0])
    search = SimpleNamespace(folder=tmp_path, options=options, rules="advanced", num_players=4)
    _, shown, *_ = exploit.report(search, results)
    fits(shown, columns)
    assert "56.7%" in shown


def test_the_list_of_games_fits(columns, capsys):
    assert main(["games"]) == 0
    fits(capsys.readouterr().out, columns)


@pytest.mark.parametrize("game", ["artus", "royal", "quest"])
def test_tables_of_rules_fit(game, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["rules", "--game", game]) == 0
    fits(capsys.readouterr().out, 80)


def test_benchmarks_fit(columns, capsys, monkeypatch):
    figures = (12345678.0, 23456789.0)
    rates = dict.fromkeys(("ours, bfloat16, no action features", LONG[0], bench_training.SB3), figures)
    monkeypatch.setattr(bench_training, "measure", lambda _: rates)
    assert main(["bench", "--training"]) == 0
    lines = [(LONG[0] + LONG[1], 123_456_789.0), ("AEC env(), ratio", 1.5)]
    monkeypatch.setattr(interfaces, "measure", lambda *_: iter(lines))
    fits(shown := capsys.readouterr().out, columns)
    assert "12,345,678" in shown
    assert "ceiling: " in shown
    assert main(["bench"]) == 0
    shown = capsys.readouterr().out
    assert f" 123,456,789 /s {LONG[0]}" in shown
    assert " 1.50    AEC" in shown


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
        bar.show_figures("1.23 M decisions, 123 k/s, entropy 1.23, KL 0.0123, explained variance 0.789")
        bar.line(f"{name} after 1.2 M decisions: won against greedy 84%, lookahead 51%")
        bar.refresh()
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue())
    fits("\n".join(re.split(r"[\r\n]+", plain)), columns)
    assert "greedy 84%, lookahead 51%" in " ".join(plain.split())
    assert " 40%" in plain


TABLE = [("agent", "rating (x = 0)", "about"), ("a" * 30, "1234 (1200..1300)", "some words [that] say more")]


def test_names_are_wrapped_before_intervals_go_below_their_numbers(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    assert as_text(
        "Some words above the table that are too long for one line of it", table(TABLE, number_columns=[1])
    ) == (
        "Some words above the table that are too long for one line of\n"
        "it\n"
        "agent                  rating (x = 0)  about\n"
        "aaaaaaaaaaaaaaaaaa  1234 (1200..1300)  some words [that] say\n"
        "aaaaaaaaaaaa                           more"
    )
    monkeypatch.setenv("COLUMNS", "36")
    assert as_text(table(TABLE, number_columns=[1])).splitlines() == [
        "                 rating",
        "agent           (x = 0)  about",
        "aaaaaaaaa          1234  some words",
        "aaaaaaaaa  (1200..1300)  [that] say",
        "aaaaaaaaa                more",
        "aaa",
    ]
    monkeypatch.setenv("COLUMNS", "5")
    assert "(1200..1300)" in as_text(table(TABLE, number_columns=[1]))
    monkeypatch.delenv("COLUMNS")  # no terminal: a row is a line
    assert len(as_text(table([*TABLE, ("b" * 1000, "1", "")])).splitlines()) == 3


def test_colours_are_for_terminals(monkeypatch):
    assert "\x1b" not in as_text(table(TABLE))  # pytest reads along, which is no terminal
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[1m" in as_text(table(TABLE))
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in as_text(table(TABLE))
