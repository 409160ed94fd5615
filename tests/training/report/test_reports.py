"""Tournaments of a class: teams, folders of bots, agents that join; and reports that say what the figures mean."""

import json
import os
import re
import shlex
import shutil
import sys
from dataclasses import asdict, replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from artus_agents.program import ProgramAgent
from artus_env.engine.agents.match import seat_orders
from artus_training.arena import play as playing
from artus_training.arena import schedule
from artus_training.arena.evaluate import wilson_interval
from artus_training.arena.lineup import read_entrants
from artus_training.arena.play import Block, Results
from artus_training.arena.schedule import Settings
from artus_training.arena.standings import Tally, standings
from artus_training.arena.statistics import POINTS_PER_UNIT, expected_score
from artus_training.arena.store import Store
from artus_training.arena.tournament import LiveTable, rows_so_far, run
from artus_training.cli import main
from artus_training.people import results as people
from artus_training.report import command
from artus_training.report.explain import faults_of, levels, neighbours, where_people_stand

ROOT = Path(__file__).parents[3]
BOT = ROOT / "agents" / "examples" / "bot.py"
TIME = 1.5
"""Seconds for a move of bots that hang."""
CHEATS = '{"type": "move", "move": "@99"}'
HOSTILE = ROOT / "tests/helpers/hostile_bots.py"


@pytest.fixture(autouse=True)
def few_samples(monkeypatch):
    monkeypatch.setattr("artus_training.arena.standings.BOOTSTRAP_SAMPLES", 200)


def hostile(path, *words):
    """Write a script that starts a faulty bot."""
    path.write_text(f"#!/bin/sh\nexec {shlex.join([sys.executable, str(HOSTILE), *words])}\n")
    path.chmod(0o755)


# --- who plays ---


def test_teams_have_names_and_folders_have_bots(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bots" / "owls").mkdir(parents=True)
    shutil.copy(BOT, "bots/owls/bot.py")
    shutil.copy(BOT, "bots/foxes.py")
    Path("bots/foxes.py").chmod(0o644)
    hostile(Path("bots/rooks"), "good")
    for other in ("README.md", ".hidden.py", "_shared.py"):
        Path("bots", other).write_text("no bot")
    teams = read_entrants(["greedy", "Cats=program:time=2 ./cats --deep", "bots/", "kept.py:Mine"])
    assert teams.agents == {
        "greedy": "greedy",
        "Cats": "program:time=2 ./cats --deep",
        "foxes": "program:bots/foxes.py",
        "owls": "program:bots/owls/bot.py",
        "rooks": "program:bots/rooks",
        "kept.py:Mine": "kept.py:Mine",
    }
    assert teams.from_folders == {"foxes", "owls", "rooks"}
    assert set(teams.named) == {"Cats", "foxes", "owls", "rooks"}
    with pytest.raises(ValueError, match="two play under the name 'owls': "):
        read_entrants(["bots", "owls=greedy"])
    Path("empty").mkdir()
    with pytest.raises(ValueError, match="empty holds no bot: no file that can be executed"):
        read_entrants(["empty"])


def test_a_file_whose_name_is_not_utf_8_plays_and_results_and_records_may_have_such_names(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    odd = os.fsdecode(b"J\xf6rg")
    Path("bots").mkdir()
    shutil.copy(BOT, f"bots/{odd}.py")
    shutil.copy(BOT, "direct.py")
    words = ["tournament", "bots/", f"program:{sys.executable} direct.py", f"Z{odd}=greedy", "--game", "quest"]
    words += ["--games", "2", "--out", odd, "--records", f"{odd}.jsonl"]
    for _ in range(2):  # and goes on
        assert main(words) == 0
    capsys.readouterr()
    settings = json.loads(Path(odd, "settings.json").read_text(encoding="utf-8"))
    assert settings["agents"] == [r"J\udcf6rg", f"program:{sys.executable} direct.py", r"ZJ\udcf6rg"]
    for name in ("report.html", "results.json"):
        assert r"J\udcf6rg" in Path(odd, name).read_text(encoding="utf-8").replace("\\\\", "\\")
    assert main(["replay", f"{odd}.jsonl"]) == 0
    assert main(["replay", f"{odd}.jsonl", "1", "--html", f"{odd}.html"]) == 0
    assert r"J\udcf6rg" in capsys.readouterr().out


def test_bots_that_do_not_start_stop_the_command_with_all_reasons(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    hostile(tmp_path / "tired", "crashes_at_start")
    assert main(["tournament", "Owls=program:./no-such-bot", "greedy", "Cats=program:./tired", "--games", "2"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "Owls: './no-such-bot' did not start: ended with exit code 127" in error
    assert "Cats: './tired' did not start: ended with exit code 1 (stderr: no time?[31m?to play)" in error
    assert not list(tmp_path.glob("runs/tournaments/*/blocks.jsonl"))


def faults_in(folder):
    """The list of faults on a report's page."""
    faults = (folder / "report.html").read_text().partition("<h2>Faults</h2>")[2]
    return [unescape(line) for line in re.findall("<li>(.*?)</li>", faults, re.DOTALL)]


def table_of(folder):
    return json.loads(Path(folder, "results.json").read_text())["table"]


@pytest.mark.slow
def test_a_class_of_thirty_bots_plays_in_one_command_and_every_fault_is_named_once(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    bots = tmp_path / "bots"
    bots.mkdir()
    for number in range(23):
        shutil.copy(BOT, bots / f"good-{number:02}.py")
    hostile(bots / "asleep", "crashes_at_start")
    (bots / "typo.py").write_text("import jsn\n")
    hostile(bots / "forgetful", "crashes")
    hostile(bots / "killed", "kills_itself")
    hostile(bots / "chatty", "two_answers")
    hostile(bots / "shut", "closes_stdout")
    (tmp_path / "answer").write_text(CHEATS)
    hostile(bots / "cheat", "says", str(tmp_path / "answer"))
    assert len(list(bots.iterdir())) == 30
    assert main(["tournament", "bots/", "--game", "magpies", "--games", "2", "--out", "out"]) == 0
    shown = capsys.readouterr().out
    faults = {
        "asleep didn't play: ": "ended with exit code 1",
        "typo didn't play: ": "No module named 'jsn'",
        "forgetful: ": "LookupError: forgot the rules",
        "killed: ": "was ended by SIGSEGV",
        "chatty: ": "wrote more than one line for one answer",
        "shut: ": "closed its output",
        "cheat: ": "illegal move '@99'",
    }
    lines = faults_in(tmp_path / "out")
    assert len(lines) == len(faults), lines
    for name, reason in faults.items():
        assert [reason in line for line in lines if line.startswith(name)] == [True], (name, lines)
    (told,) = (line for line in lines if line.startswith("forgetful: "))
    assert re.match(r"forgetful: \d\d games, some of them because it wasn't started again: ended with exit", told)
    assert "asleep doesn't play: " in shown
    table = json.loads((tmp_path / "out" / "results.json").read_text())["table"]
    assert len(table) == 28
    assert {line["agent"] for line in table[-5:]} == {"forgetful", "killed", "chatty", "shut", "cheat"}


@pytest.mark.slow
def test_a_class_plays_artus_and_what_hangs_floods_or_cannot_start_is_named_once(tmp_path, monkeypatch, capsys):
    """Every way to fail beside copies of the example; as few deals as there can be. With 15 copies, a class of thirty,
    it takes 43 seconds of processor time and finds the same."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ProgramAgent.__init__, "__defaults__", ("", TIME, 10.0))  # bots of a folder have five seconds
    bots = tmp_path / "bots"
    bots.mkdir()
    for number in range(5):
        shutil.copy(BOT, bots / f"good-{number:02}.py")
    (tmp_path / "answer").write_text(CHEATS)
    (bots / "typo.py").write_text("import jsn\n")
    (bots / "lost").write_text("#!/usr/bin/env pythn\n")
    (bots / "lost").chmod(0o755)
    (bots / "stiff").write_text("#!/bin/sh\nexec ./somewhere\n")  # nobody has let it be executed
    (bots / "README").write_text("This is no bot.\n")
    kinds = {
        "asleep": "crashes_at_start", "dumb": "silent", "forgetful": "crashes", "finale": "crashes_at_the_end",
        "killed": "kills_itself", "chatty": "two_answers", "shut": "closes_stdout", "cheat": "says",
        "hung": "hangs", "slow": "slow", "endless": "endless_lines", "babble": "no_newline",
    }  # fmt: skip
    arguments = {"says": [str(tmp_path / "answer")], "slow": [str(TIME + 1)]}
    for name, kind in kinds.items():
        hostile(bots / name, kind, *arguments.get(kind, []))
    assert len([path for path in bots.iterdir() if path.name != "README"]) == 20
    assert main(["tournament", "bots/", "--games", "2", "--out", "out"]) == 0
    shown = capsys.readouterr().out
    lines = faults_in(tmp_path / "out")
    left_out = {
        "asleep": "ended with exit code 1", "typo": "No module named 'jsn'", "lost": "pythn",
        "stiff": "ermission denied", "dumb": "no answer within 10 s",
    }  # fmt: skip
    failed = {
        "forgetful": "forgot the rules", "finale": "no cards to divide by", "killed": "was ended by SIGSEGV",
        "chatty": "wrote more than one line", "shut": "closed its output", "cheat": "illegal move '@99'",
        "hung": f"no answer within {TIME} s", "slow": f"no answer within {TIME} s",
        "endless": "wrote more than one line", "babble": "",
    }  # fmt: skip
    assert len(lines) == len(left_out) + len(failed), lines
    for name, reason in left_out.items():
        assert [reason in line for line in lines if line.startswith(f"{name} didn't play: ")] == [True], lines
        assert f"{name} doesn't play: " in shown
    for name, reason in failed.items():
        assert [reason in line for line in lines if line.startswith(f"{name}: ")] == [True], lines
        pattern = rf"{name}: \d+ games?(, some of them because it wasn't started again)?: "
        assert any(re.match(pattern, line) for line in lines), lines
    assert not any("good-" in line for line in lines)


def test_faults_are_one_where_only_numbers_and_quotes_differ():
    notes = [
        "a b gave up deal 3, rotation 0, as player 1: illegal move 'x'",
        "a gave up deal 3, rotation 0, as player 1: no answer within 5 s",
        "a b gave up deal 4, rotation 1, as player 0: illegal move 'y'... (stderr: line 7)",
        "a b gave up deal 5, rotation 1, as player 0: illegal move 'z'",
        "a b gave up deal 6, rotation 0, as player 0: not started again after 10 failures in a row",
    ]
    for order in (notes, notes[-1:] + notes[:-1]):
        assert [str(fault) for fault in faults_of(order, ["a", "a b"])] == [
            "a: 1 game: no answer within 5 s",
            "a b: 3 games, some of them because it wasn't started again: illegal move 'x'",
            "a b: 1 game: illegal move 'y'... (stderr: line 7)",
        ]


# --- check-bot ---


def test_check_bot_plays_a_game_aloud(tmp_path, capsys):
    assert main(["check-bot", f"{sys.executable} {BOT}"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("hello: answered after ")
    assert sum(line.startswith("bot: @") for line in lines) == 5
    assert sum(line.startswith("player 1: @") for line in lines) == 5
    assert re.fullmatch(r"nothing is wrong: \d+ moves, the slowest after [\d.]+ s of 5 s", lines[-1])


@pytest.mark.parametrize(
    ("words", "wrong", "advice"),
    [
        (["crashes_at_start"], "did not start: ended with exit code 1", "It has crashed"),
        (["crashes"], "move 1 of the bot: ended with exit code 1 (stderr: LookupError: forgot", "It has crashed"),
        (["two_answers"], "wrote more than one line for one answer", "Answer each request with one line"),
        (["says", "answer"], "illegal move '@99'", "one of the request's `moves`"),
        (["hangs"], "no answer within 0.5 s", "print(..., flush=True)"),
    ],
)
def test_check_bot_says_what_is_wrong_and_what_helps(words, wrong, advice, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("answer").write_text(CHEATS)
    hostile(tmp_path / "bot", *words)
    assert main(["check-bot", f"program:time=0.5 {tmp_path / 'bot'}"]) == 1
    output = capsys.readouterr().out
    assert wrong in output
    assert advice in output


@pytest.mark.parametrize(
    ("text", "mode", "advice"),
    [
        ("#!/bin/sh\n", 0o644, "chmod +x"),
        ("print(1)\n", 0o755, "The first line must say what runs it"),
        ("#!/usr/bin/env pythn\n", 0o755, "The first line names a program that isn't here. Is it spelt right"),
        ("#!/no/such/python\n", 0o755, "If it is, the first line names a program that isn't here."),
        (None, 0, "Is the path right?"),
    ],
)
def test_check_bot_says_why_a_file_does_not_start(text, mode, advice, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        Path("bot").write_text(text)
        Path("bot").chmod(mode)
    assert main(["check-bot", "./bot"]) == 1
    assert advice in capsys.readouterr().out


# --- agents that join ---


def test_agents_that_join_play_only_their_own_games_and_the_table_is_the_same(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    agents, options = ["greedy", "lookahead", "random"], ["--games", "60", "--num-players", "3"]
    assert main(["tournament", *agents, *options]) == 0
    played = []
    monkeypatch.setattr(playing, "play_block", count_games(played, playing.play_block))
    assert main(["tournament", *agents, *options, "--add", "ismcts:1", "ismcts:2"]) == 0
    assert sum(played) == 9 * 60 + 5 * 3, "nine of ten line-ups, and five games for films"
    (grown,) = (
        path.parent for path in tmp_path.glob("runs/tournaments/*/results.json") if "ismcts" in path.read_text()
    )
    assert main(["tournament", *agents, "ismcts:1", "ismcts:2", *options, "--out", "whole"]) == 0
    assert table_of(grown) == table_of("whole")


def count_games(played, play_block):
    def counting(settings, agents, lineup, first, count, keep_records=False):
        played.append(count * settings.num_players)
        return play_block(settings, agents, lineup, first, count, keep_records)

    return counting


def test_what_cannot_be_joined_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for words, message in [
        (["greedy", "random", "--add", "lookahead"], "holds no tournament of greedy random that others could join"),
        (["greedy", "random", "--add-to", "x"], "--add-to names the tournament that agents join"),
        (["greedy", "random", "--add", "random"], "two play under the name 'random'"),
    ]:
        assert main(["tournament", *words]) == 2
        assert message in capsys.readouterr().err
    assert main(["tournament", "greedy", "random", "--num-players", "3", "--games", "6", "--out", "three"]) == 0
    words = ["greedy", "random", "--num-players", "3", "--games", "6", "--add", "lookahead", "--add-to", "three"]
    assert main(["tournament", *words]) == 2
    assert "to 2 agents none can be added" in capsys.readouterr().err


# --- while it runs ---


def test_interrupting_prints_the_standings(tmp_path, monkeypatch, capsys):
    append, blocks = Store.append, []

    def interrupted(store, block, records):
        append(store, block, records)
        blocks.append(block)
        if len(blocks) == 6:
            raise KeyboardInterrupt

    monkeypatch.setattr(Store, "append", interrupted)
    words = ["tournament", "greedy", "lookahead", "ismcts:1", "--games", "2000", "--out", str(tmp_path)]
    assert main(words) == 130
    output = capsys.readouterr()
    assert "interrupted; the same command goes on from here" in output.err
    for name in ("greedy", "lookahead", "ismcts:1"):
        assert re.search(rf"^{name} +-?\d+ ", output.out, re.MULTILINE), output.out


def test_the_live_table_counts_what_the_last_one_shows(tmp_path):
    settings = Settings(("greedy", "random", "lookahead"), num_players=2, games=60)
    results = run(settings, tmp_path)
    tally = Tally(settings)
    for block in Store(tmp_path, settings, None).blocks:
        tally.add(block)
    assert rows_so_far(tally) == [
        (line.agent, f"{line.rating:z.0f}", f"{line.wins:.1%}", f"{line.games:,}") for line in standings(results).table
    ]
    live = LiveTable(tally)
    assert live.table().row_count == 3


# --- ratings ---


def simulated(strengths, deals, rng, players=2):
    """A tournament between agents of known ratings; games are independent. The order of the players at the end is drawn
    by Plackett and Luce's model."""
    names = tuple(f"agent-{number}" for number in range(len(strengths)))
    settings = Settings(names, num_players=players, games=deals * players, seed=int(rng.integers(2**32)))
    outcomes = []
    for members in settings.lineups():
        drawn = strengths[list(members)] / POINTS_PER_UNIT + rng.gumbel(size=(settings.deals, players, players))
        outcomes.append(drawn.argsort(axis=2).argsort(axis=2).astype(np.int32))
    given_up = [np.full(each.shape[:2], -1) for each in outcomes]
    return Results(settings, outcomes, outcomes, given_up)


STRENGTHS = np.array([-200.0, -40.0, 0.0, 120.0, 400.0])


@pytest.mark.slow
@pytest.mark.parametrize(("players", "deals"), [(2, 100), (2, 10), (3, 10), (4, 12)])
def test_intervals_hold_known_strengths_as_often_as_they_promise(players, deals):
    """120 tournaments. With four players twelve deals are the fewest that have intervals, and the weakest agent wins
    2 % of its games: an interval that ignores how many games a deal has would be several times too wide for it."""
    rng = np.random.default_rng(7)
    count = len(STRENGTHS)
    settings = simulated(STRENGTHS, deals, rng, players).settings
    assert settings.deals == deals
    weights = np.exp(STRENGTHS / POINTS_PER_UNIT)
    chances = [weights[list(who)] / weights[list(who)].sum() for who in settings.lineups()]
    wins = [
        np.mean([each[who.index(k)] for who, each in zip(settings.lineups(), chances, strict=True) if k in who])
        for k in range(count)
    ]
    duels = 1 / (1 + np.exp((STRENGTHS[None, :] - STRENGTHS[:, None]) / POINTS_PER_UNIT))
    coverage = {"wins": [], "duels": [], "ratings": []}
    widths = np.zeros(count)
    for _ in range(120):
        ranking = standings(simulated(STRENGTHS, deals, rng, players))
        order = [int(line.agent.removeprefix("agent-")) for line in ranking.table]
        anchor = STRENGTHS[int(ranking.anchor.removeprefix("agent-"))]
        for agent, line in zip(order, ranking.table, strict=True):
            coverage["wins"].append(line.wins_low <= wins[agent] <= line.wins_high)
            widths[agent] += (line.wins_high - line.wins_low) / 120
            if line.agent != ranking.anchor:
                coverage["ratings"].append(line.rating_low <= STRENGTHS[agent] - anchor + 1000 <= line.rating_high)
        true = duels[np.ix_(order, order)][np.triu_indices(count, 1)]
        low, high = (ends[np.triu_indices(count, 1)] for ends in (ranking.duels_low, ranking.duels_high))
        coverage["duels"] += ((low <= true) & (true <= high)).tolist()
    coverage_rates = {name: float(np.mean(each)) for name, each in coverage.items()}
    games = ranking.table[0].games
    independent = [np.subtract(*wilson_interval(rate, games)[::-1]) for rate in wins]
    print(", ".join(f"{name} {part:.1%}" for name, part in coverage_rates.items()), np.round(widths / independent, 2))
    assert 0.93 <= coverage_rates["wins"] <= 0.98
    assert 0.93 <= coverage_rates["duels"] <= 0.98
    assert 0.925 <= coverage_rates["ratings"] <= 0.995
    assert (widths < 1.5 * np.array(independent)).all()


def test_an_agent_that_loses_every_game_widens_nobody_elses_interval():
    """How far below the others it stands isn't known; who of the others is better is."""
    rng, strengths = np.random.default_rng(5), np.array([0.0, 100.0, 200.0, -9000.0])
    names = ("greedy", "lookahead", "ppo", "random")

    def widths(count):
        played = simulated(strengths[:count], 100, rng)
        ranking = standings(replace(played, settings=replace(played.settings, agents=names[:count])))
        assert ranking.anchor == "greedy"
        return {line.agent: (line.rating_high or 0) - (line.rating_low or 0) for line in ranking.table}

    widths_alone, widths_among = widths(3), widths(4)
    assert widths_among["random"] > 500
    for name in ("lookahead", "ppo"):
        assert widths_among[name] < 1.2 * widths_alone[name] < 120


@pytest.mark.slow
def test_every_file_is_the_same_whoever_plays(tmp_path, monkeypatch):
    """`--workers`, the folder and how the command is spelt change no byte, nor do agents that join later."""
    monkeypatch.chdir(tmp_path)
    two, game = ["tournament", "greedy", "random"], ["--games", "40", "--game", "royal"]
    assert main([*two, "lookahead", *game, "--out", "one"]) == 0
    assert main([*two, "lookahead", *game, "--out=two", "--workers", "2", "--seed", "0"]) == 0
    assert main([*two, *game, "--out", "before"]) == 0
    assert main([*two, *game, "--out", "joined", "--add", "lookahead", "--add-to", "before"]) == 0
    files = {folder: {path.relative_to(folder): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}
             for folder in ("one", "two", "joined")}  # fmt: skip
    assert len(files["one"]) > 8
    assert [name for name, content in files["one"].items() if files["two"][name] != content] == []
    different = [str(name) for name, content in files["one"].items() if files["joined"][name] != content]
    assert set(different) <= {"blocks.jsonl"}, "in which order games were saved"
    command = (
        "artus tournament greedy random lookahead --game royal --rules standard --num-players 2 --games 40 --seed 0"
    )
    assert command in Path("one/report.html").read_text()


def test_games_given_up_are_in_the_order_of_line_ups_and_deals(tmp_path):
    settings = Settings(("greedy", "random", "lookahead"), games=8)
    store, points = Store(tmp_path, settings, None), np.zeros((2, 2, 2), np.int32)
    blocks = [
        Block(lineup, first, points, points, np.zeros((2, 2), np.int64), [f"{lineup} {first}"])
        for lineup in range(3)
        for first in (0, 2)
    ]
    for block in reversed(blocks):
        store.append(block, [])
    assert store.results().notes == ["0 0", "0 2", "1 0", "1 2", "2 0", "2 2"]


@pytest.mark.slow
def test_two_hundred_orders_of_the_same_games_give_the_same_table(tmp_path, monkeypatch):
    monkeypatch.setattr("artus_training.arena.standings.BOOTSTRAP_SAMPLES", 20)
    monkeypatch.setattr(schedule, "unit_games", lambda agents: 20)
    settings = Settings(("greedy", "random", "lookahead", "ismcts:1"), games=400)
    run(settings, tmp_path)
    store = Store(tmp_path, settings, None)
    assert len(store.blocks) > 20
    table, duels = standings(store.results()).table, standings(store.results()).duels
    rng = np.random.default_rng(1)
    for _ in range(200):
        store.blocks = [store.blocks[k] for k in rng.permutation(len(store.blocks))]
        reordered = standings(store.results())
        assert reordered.table == table
        np.testing.assert_array_equal(reordered.duels, duels)


# --- what a report says ---


class Page(HTMLParser):
    """What a page loads, where it leads, and whether every element is closed."""

    VOID = {"meta", "br"}

    def __init__(self, text):
        super().__init__()
        self.loads, self.links, self.open, self.words = [], [], [], []
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("src", "srcset") or (name == "href" and tag == "link"):
                self.loads.append(value)
            elif name == "href":
                self.links.append(value)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_the_page_needs_nothing_else_and_links_to_films(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["tournament", "<b>=greedy", "random", "lookahead", "--games", "60", "--out", "out"]) == 0
    text = Path("out/report.html").read_text()
    page = Page(text)
    assert page.loads == []
    assert "http" not in re.sub(r"http-equiv", "", text)
    assert "{{" not in text
    assert len(page.links) >= 3
    for link in page.links:
        assert Path("out", link).read_text().startswith("<!doctype html>")
    assert "<b>" in "".join(page.words)
    assert any(word.startswith("typical: ") for word in page.words)
    assert any(word.startswith("surprise: ") for word in page.words)


def test_the_report_says_what_a_difference_means_and_how_sure_it_is():
    assert [round(expected_score(points), 2) for points in (0, 100, 400, -400)] == [0.5, 0.64, 0.91, 0.09]
    rng = np.random.default_rng(3)
    sure = standings(simulated(np.array([0.0, 400.0]), 200, rng))
    (sentence,) = neighbours(sure)
    assert re.fullmatch(
        r"agent-1 is \d{3} points above agent-0: ahead in 9\d% of their duels\. It was ahead in 9\d% of them "
        r"\(95 %: \d\d% to 9\d%\): sure to be better\.",
        sentence,
    )
    (sentence,) = neighbours(standings(simulated(np.array([0.0, 5.0]), 40, rng)))
    assert sentence.endswith(": who is better isn't sure. More games would tell.")
    (sentence,) = neighbours(standings(simulated(np.array([0.0, 100.0]), 4, rng)))
    assert sentence.endswith(". Too few deals to say how sure that is.")
    assert levels(sure) == []


def test_levels_name_agents_whose_way_to_play_people_know(tmp_path):
    ranking = standings(run(Settings(("lookahead", "random", "greedy"), games=60), tmp_path))
    assert [line.split(" ")[1] for line in levels(ranking)] == ["random", "greedy", "lookahead"]


def keep(folder, wins, losses, agent="greedy", name="Ann", rules="beginner"):
    """Games of a person that `artus play` has kept in a folder."""
    (folder / people.RESULTS).mkdir(parents=True, exist_ok=True)
    for nth in range(wins + losses):
        person_place = 1 if nth < wins else 2
        seats = [people.Sat(name, None, 50, person_place), people.Sat("Easy", agent, 40, 3 - person_place)]
        result = people.Result(1, "artus", rules, "2026-11-25", 70, seats)
        (folder / people.RESULTS / f"{name}-{agent}-{rules}-{nth}.json").write_text(json.dumps(asdict(result)))


@pytest.mark.parametrize("kept", ["nothing", "too few", "another variant", "another agent of that name"])
def test_without_games_of_people_a_report_says_that_it_estimates_and_from_what(tmp_path, monkeypatch, kept):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    agents = ["greedy", "random", "lookahead"]
    if kept == "too few":
        keep(people.default_folder(), 5, 4)
    elif kept == "another variant":
        keep(people.default_folder(), 6, 6, rules="advanced")
    elif kept == "another agent of that name":
        keep(people.default_folder(), 6, 6)
        agents[0] = f"greedy=program:{sys.executable} {BOT}"
    assert main(["tournament", *agents, "--games", "4", "--out", "out"]) == 0
    text = Path("out/report.html").read_text()
    assert "Where people would stand" in text
    assert "No person is placed here: nobody has 10 games kept on this machine" in text
    assert "What follows is an estimate, from what some of these agents do, and nothing measured." in text
    assert "Measured, from games of people" not in text
    assert "lookahead tries all its moves of a turn" in text


def test_games_of_people_place_them_in_a_report_without_their_names(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    keep(people.default_folder(), 9, 3)
    keep(people.default_folder(), 1, 9, name="Ben")
    (people.default_folder() / people.RESULTS / "damaged.json").write_text("{")
    assert main(["tournament", "greedy", "random", "lookahead", "--games", "60", "--out", "out"]) == 0
    assert "damaged.json is left alone" in "".join(capfd.readouterr()).replace("\n", "")
    table = {line["agent"]: line["rating"] for line in json.loads(Path("out/results.json").read_text())["table"]}
    text = Path("out/report.html").read_text()
    assert "Measured, from games of people that are kept on this machine" in text
    assert "Ann" not in text
    assert "Ben" not in text.replace("Bench", "")
    found = re.findall(r"(\d+) \(95 %: (-?\d+) to (\d+)\): a person, by (\d+) games; (\w+ \w+(?: and \w+)?)", text)
    assert [int(games) for *_, games, _ in found] == [10, 12], "the weaker one first"
    assert table["random"] < int(found[0][0]) < table["greedy"] < int(found[1][0])
    assert found[0][4] == "between random and greedy"
    assert "Beside that an estimate" in text


def test_beyond_all_agents_somebody_stands_above_or_below(tmp_path):
    ranking = standings(run(Settings(("greedy", "random"), games=40), tmp_path))
    keep(tmp_path / "games", 12, 0)
    keep(tmp_path / "games", 0, 12, agent="random", name="Ben")
    ratings = {line.agent: line.rating for line in ranking.table}
    results = people.read_results(tmp_path / "games", None)
    placed = people.on_the_scale_of(ratings, ("artus", "beginner", 2), results)
    below, above = where_people_stand(ranking, placed).measured
    assert below.endswith("by 12 games; below random.")
    assert above.endswith("by 12 games; above greedy.")
    alone = standings(simulated(np.array([0.0, 400.0]), 20, np.random.default_rng(1)))
    assert "None of the agents that an estimate needs plays here: random, greedy" in where_people_stand(alone, []).about


def test_orders_stay_as_they_were():
    """A tournament plays each deal in every rotation, and agents that join change no stream of the others."""
    before, after = (Settings(tuple("abcdef"[:count]), num_players=3) for count in (5, 6))
    streams = {tuple(before.agents[k] for k in who): before.stream(n) for n, who in enumerate(before.lineups())}
    grown = {tuple(after.agents[k] for k in who): after.stream(n) for n, who in enumerate(after.lineups())}
    assert sorted(grown.values()) == list(range(20))
    assert {who: grown[who] for who in streams} == streams
    assert len(seat_orders(3)) == 2
    assert Path("runs/tournaments") == command.TOURNAMENTS
