"""Tournaments: fair, repeatable, impossible to spoil by interrupting them."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import chdir
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from artus_env import DEFAULT_GAME, Game
from artus_env.engine.agents.match import fair_seats, seat_orders
from artus_env.engine.agents.names import GROUP, find_agent
from artus_env.engine.basics.writing import alone_in
from artus_env.engine.contract import registry
from artus_env.engine.contract.registry import find_game
from artus_training.arena.fingerprint import files_in, fingerprint
from artus_training.arena.lineup import read_entrants
from artus_training.arena.play import Results, member_on, play_block
from artus_training.arena.schedule import Settings, Unit, units_of, ways_to_sit
from artus_training.arena.standings import fraction_intervals, interval_of, resample, standings
from artus_training.arena.store import Line, Store
from artus_training.arena.tournament import Interrupted, run
from artus_training.cli import main
from artus_training.report.page import write_report
from artus_training.report.table import markdown_table, print_table, remarks
from artus_training.workers.units import run_units


@pytest.fixture(autouse=True)
def few_samples(monkeypatch):
    """Ratings are fitted to each sample of the deals. A tenth of the samples is enough to see whether intervals are
    right."""
    monkeypatch.setattr("artus_training.arena.standings.BOOTSTRAP_SAMPLES", 200)


def test_every_lineup_of_different_agents_while_there_are_enough():
    assert Settings(("a", "b", "c"), num_players=2).lineups() == [(0, 1), (0, 2), (1, 2)]
    assert Settings(("a", "b"), num_players=3).lineups() == [(0, 0, 1), (0, 1, 1)]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_fair_seats_are_all_ways_to_sit_equally_often(players):
    orders = seat_orders(players)
    ways = fair_seats(np.arange(2 * len(orders)), orders).reshape(-1, players)
    assert Counter(map(tuple, ways.tolist())) == dict.fromkeys(permutations(range(players)), 2)
    assert (fair_seats(np.arange(1, 4), orders) == fair_seats(np.arange(4), orders)[1:]).all()


@pytest.mark.parametrize(("players", "count"), [(2, 1), (3, 2), (4, 6), (5, 4), (6, 10), (7, 6), (8, 14), (9, 8)])
def test_in_the_orders_everybody_sits_right_behind_everybody_else_equally_often(players, count):
    orders = seat_orders(players)
    assert len(orders) == count
    assert (orders[:, 0] == 0).all()
    assert (np.sort(orders) == np.arange(players)).all()
    behind = Counter()
    for seats in orders:
        places = np.argsort(seats).tolist()
        behind.update(zip(places, places[1:] + places[:1], strict=True))
    assert behind == dict.fromkeys(permutations(range(players), 2), count // (players - 1))


def test_games_of_a_line_up_are_rounded_up_to_all_ways_to_sit():
    assert [ways_to_sit(players) for players in range(2, 7)] == [2, 6, 24, 20, 60]
    assert Settings(("a", "b"), num_players=4, games=25).deals == 12


def test_places_of_seats():
    seats = np.array([[2, 0, 1], [0, 2, 1], [1, 0, 2]])
    assert member_on(np.array([2, 1, -1], np.int8), seats).tolist() == [0, 2, -1]


def test_everybody_sits_behind_everybody_and_keeps_his_own_scores(tmp_path):
    """With three or more players rotations are not enough: an agent would always move right before the same other
    one."""
    settings = Settings(("greedy", "random", "lookahead"), "advanced", 3, games=7)
    results = run(settings, tmp_path / "t", tmp_path / "games.jsonl")
    records = [json.loads(line) for line in (tmp_path / "games.jsonl").read_text().splitlines()]
    assert len(records) == results.games == 12  # of all six ways to sit
    assert set(Counter(tuple(record["players"]) for record in records).values()) == {2}
    for record, by_place in zip(records, results.scores[0].reshape(-1, 3).tolist(), strict=True):
        by_agent = dict(zip(record["players"], record["scores"], strict=True))
        assert [by_agent[name] for name in settings.agents] == by_place


@pytest.mark.parametrize("num_players", [2, 3])
def test_a_block_does_not_depend_on_its_size(num_players):
    settings = Settings(("random", "greedy", "lookahead"), "advanced", num_players)
    agents = [find_agent(name) for name in settings.agents]
    one_block, _ = play_block(settings, agents, 0, 0, 6)
    parts = [play_block(settings, agents, 0, first, 3)[0] for first in (0, 3)]
    assert (one_block.scores == np.concatenate([part.scores for part in parts])).all()


def test_each_deal_is_played_in_each_rotation(tmp_path):
    settings = Settings(("greedy", "random"), games=8)
    run(settings, tmp_path / "t", tmp_path / "games.jsonl")
    lines = (tmp_path / "games.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    assert len(records) == 8
    for first, second in zip(records[0::2], records[1::2], strict=True):
        assert first["seed"] == second["seed"]
        assert (first["players"], second["players"]) == (["greedy", "random"], ["random", "greedy"])
    for line in lines:
        Game.replay(line)


def test_interrupted_and_continued_is_the_same(tmp_path):
    """Also where a block was cut off in the middle of its line."""
    settings = Settings(("greedy", "random", "lookahead"), games=60)
    undisturbed = run(settings, tmp_path / "whole", tmp_path / "whole.jsonl")
    run(settings, tmp_path / "cut", tmp_path / "cut.jsonl")
    blocks = (tmp_path / "cut" / "blocks.jsonl").read_bytes()
    for end in (len(blocks) // 2, len(blocks) // 5, 10, 0):
        (tmp_path / "cut" / "blocks.jsonl").write_bytes(blocks[:end])
        continued = run(settings, tmp_path / "cut", tmp_path / "cut.jsonl")
        assert standings(continued).table == standings(undisturbed).table
        records, expected_records = (
            (tmp_path / name).read_text().splitlines() for name in ("cut.jsonl", "whole.jsonl")
        )
        assert sorted(records) == sorted(expected_records)


@pytest.mark.slow
def test_killed_and_continued_is_the_same(tmp_path):
    """SIGKILL at some moment of a process of its own."""
    command = [sys.executable, "-m", "artus_training", "tournament", "random", "greedy", "lookahead", "--games", "3000"]
    process = subprocess.Popen(
        [*command, "--out", str(tmp_path / "killed")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ,
    )
    path = tmp_path / "killed" / "blocks.jsonl"
    end = time.monotonic() + 60
    # A whole line, for a kill in the middle of the first one leaves no block behind.
    while not (path.exists() and b"\n" in path.read_bytes()) and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    settings = Settings(("random", "greedy", "lookahead"), games=3000)
    before = Store(tmp_path / "killed", settings, None).played.sum()
    assert 0 < before < 3 * settings.deals
    continued = run(settings, tmp_path / "killed")
    assert standings(continued).table == standings(run(settings, tmp_path / "whole")).table


class Slow:
    """Plays the first legal action. If a file is given, the game is interrupted as soon as something is saved there."""

    def __init__(self, saved=None):
        self.saved = saved

    def act(self, view):
        time.sleep(0.001)
        if self.saved is not None and self.saved.exists() and self.saved.read_bytes():
            raise KeyboardInterrupt
        return view.mask.argmax(axis=1)


SLOW = Settings(("slow", "random", "greedy"), games=6, seed=1)


def play_slow(folder, saved=None, runner=None):
    """Play a tournament with a slow agent. Returns its results, and the content of its files of blocks and of
    records."""
    results = run(SLOW, folder / "t", folder / "games.jsonl", {"slow": Slow(saved)}, runner=runner)
    return results, (folder / "t" / "blocks.jsonl").read_bytes(), (folder / "games.jsonl").read_bytes()


def begin_again(folder):
    shutil.rmtree(folder / "t")
    (folder / "games.jsonl").unlink()


def test_each_deal_of_slow_agents_is_saved(tmp_path):
    """Interrupted after the first deal, the tournament continues with the second one and ends as if undisturbed."""
    whole, *files = play_slow(tmp_path)
    begin_again(tmp_path)
    with pytest.raises(Interrupted) as interrupted:
        play_slow(tmp_path, tmp_path / "t" / "blocks.jsonl")
    assert interrupted.value.results.games == 2  # one deal from both seats
    continued, *files_then = play_slow(tmp_path)
    assert files_then == files
    assert standings(continued).table == standings(whole).table


@pytest.mark.parametrize("slow", ["program:./bot", "ismcts:2s", "bot.py:Bot", "ismcts:16000", "ismcts:1000000"])
def test_a_unit_with_a_slow_agent_is_one_deal(slow, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("bot.py").write_text("class Bot:\n    def act(self, view):\n        pass\n")
    players = [find_agent(name) for name in ("greedy", slow)]
    units = units_of(Settings(("greedy", slow), games=6), players, np.zeros((1, 3), np.bool_))
    assert units == [Unit(0, 0, 1), Unit(0, 1, 1), Unit(0, 2, 1)]


def test_what_others_have_played_ahead_is_kept_when_a_tournament_is_interrupted(tmp_path):
    whole, *files = play_slow(tmp_path)
    begin_again(tmp_path)
    ahead, units_played = tmp_path / "t" / "ahead.jsonl", []

    def third_before_second(work, units, *, waiting):
        yield units[0], work(units[0])
        waiting[2] = work(units[2])
        raise KeyboardInterrupt

    def the_others(work, units, *, waiting):
        units_played.extend(units)
        return run_units(work, units, waiting=waiting)

    for count in (1, 2):
        with pytest.raises(Interrupted):
            play_slow(tmp_path, runner=third_before_second)
        assert ahead.read_text().count("\n") == count
    text = ahead.read_text()
    ahead.write_text(text.replace('"records_end":0', '"records_end":1', 1))
    with pytest.raises(ValueError, match=r"ahead.jsonl is damaged: its checksum doesn't fit; delete it"):
        play_slow(tmp_path)
    ahead.write_text(text)
    continued, *files_then = play_slow(tmp_path, runner=the_others)
    assert len(units_played) == 7 - 4  # two units are among the blocks, two were ahead
    assert files_then == files
    assert standings(continued).table == standings(whole).table
    assert not ahead.exists()
    ahead.write_text(text)  # as if the process had been killed before it was deleted
    assert play_slow(tmp_path)[1:] == tuple(files)


def test_a_folder_of_another_tournament_is_refused(tmp_path):
    run(Settings(("greedy", "random"), games=2), tmp_path / "t")
    with pytest.raises(ValueError, match=r"holds another tournament \(games 2 -> 4"):
        run(Settings(("greedy", "random"), games=4), tmp_path / "t")


def test_another_file_of_records_is_left_alone(tmp_path):
    (tmp_path / "games.jsonl").write_text("the games of somebody else\n")
    with pytest.raises(ValueError, match="doesn't hold the records of this tournament"):
        run(Settings(("greedy", "random"), games=2), tmp_path / "t", tmp_path / "games.jsonl")
    assert (tmp_path / "games.jsonl").read_text() == "the games of somebody else\n"


@pytest.mark.parametrize(
    "content", ["[1, 2]", "{}", "null", '{"agents": 3', '{"agents": ["greedy"], "games": "4"}', "\xff"]
)
def test_damaged_settings_are_refused_in_one_line(content, tmp_path, capsys):
    out = tmp_path / "t"
    run(Settings(("greedy", "random"), games=2), out)
    (out / "settings.json").write_bytes(content.encode("latin-1"))
    assert main(["tournament", "greedy", "random", "--games", "2", "--out", str(out)]) == 2
    error = capsys.readouterr().err
    assert f"{out / 'settings.json'} is damaged (" in error
    assert error.count("\n") == 1
    assert (out / "settings.json").read_bytes() == content.encode("latin-1")


def test_a_folder_of_an_earlier_format_is_refused(tmp_path):
    settings = Settings(("greedy", "random"), games=2)
    run(settings, tmp_path / "t")
    about = json.loads((tmp_path / "t" / "settings.json").read_text())
    del about["format"]
    (tmp_path / "t" / "settings.json").write_text(json.dumps(about))
    with pytest.raises(ValueError, match="written by another version of artus"):
        run(settings, tmp_path / "t")


@pytest.fixture
def other_game(monkeypatch):
    """A second game: the default one under other names."""
    definition = find_game(DEFAULT_GAME)
    other = replace(
        definition, name="other", title="Another Game", rules=("short", "long"), score="coins", max_players=3
    )
    monkeypatch.setattr(registry, "_load", {DEFAULT_GAME: definition, "other": other}.__getitem__)
    return other


@pytest.mark.slow
def test_a_tournament_names_its_game(other_game, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    command = ["tournament", "greedy", "random", "--game", "other", "--games", "20"]
    assert main([*command, "--records", "games.jsonl"]) == 0
    printed = capsys.readouterr().out
    assert "Another Game, short, 2 players, 20 games" in " ".join(printed.split())
    assert "coins" in printed
    (folder,) = Path("runs/tournaments").iterdir()
    assert folder.name == Settings(("greedy", "random"), games=20, game="other").folder_name
    assert folder.name.startswith("other-short-2-")
    assert json.loads((folder / "settings.json").read_text())["game"] == "other"
    assert json.loads((folder / "results.json").read_text())["settings"]["game"] == "other"
    report = (folder / "report.html").read_text()
    assert "<h1>Tournament: Another Game, short, 2 players</h1>" in report
    assert "coins (95 %)" in report
    assert {json.loads(line)["game"] for line in Path("games.jsonl").read_text().splitlines()} == {"other"}
    assert main(["tournament", "greedy", "random", "--games", "20", "--out", str(folder)]) == 2
    assert "holds another tournament (rules 'short' -> 'beginner'" in capsys.readouterr().err


FEWEST_WIN = """
import json, sys
from dataclasses import replace
from pathlib import Path
import numpy as np
from artus_env import DEFAULT_GAME
from artus_env.engine.contract import registry
from artus_training.arena.evaluate import evaluate
from artus_training.arena.schedule import Settings
from artus_training.arena.standings import standings
from artus_training.arena.tournament import run

of = registry.find_game(DEFAULT_GAME)

class Verbs:
    def ranking_key(t, g, player):
        return -int(g["scores"][player])

fewest = replace(of, name="fewest", verbs=(Verbs, *of.verbs))
result = evaluate(["greedy", "random"], games=2, game=fewest)
assert result.scores[0] > result.scores[1] and result.win_rate == 0, result
registry._load = {DEFAULT_GAME: of, "fewest": fewest}.__getitem__
settings = Settings(("greedy", "random"), games=2, game="fewest")
for _ in range(2):  # played, then read
    results = run(settings, Path(sys.argv[1]))
    table = standings(results).table
    assert [(line.agent, line.wins) for line in table] == [("random", 1), ("greedy", 0)], table
    assert table[0].score < table[1].score
    assert (results.outcomes[0] == -results.scores[0]).all()
line = json.loads((Path(sys.argv[1]) / "blocks.jsonl").read_text())
assert np.array_equal(line["outcomes"], -np.array(line["scores"]))
"""


def test_who_wins_is_what_ranks_the_players_of_a_game_not_the_score(tmp_path):
    """The games run as plain Python: compiling takes longer than playing two games."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-c", FEWEST_WIN, str(tmp_path / "t")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_lost_settings_are_missed(tmp_path):
    settings = Settings(("greedy", "random"), games=2)
    run(settings, tmp_path / "t")
    (tmp_path / "t" / "settings.json").unlink()
    with pytest.raises(ValueError, match="/t lacks settings"):
        run(settings, tmp_path / "t")


@pytest.fixture(scope="module")
def three_blocks(tmp_path_factory):
    """The folder of a tournament that has a line for each of three line-ups."""
    folder = tmp_path_factory.mktemp("tournament") / "t"
    run(Settings(("greedy", "random", "lookahead"), games=16), folder)
    assert len((folder / "blocks.jsonl").read_text().splitlines()) == 3
    return folder


def open_damaged(folder, tmp_path, lines):
    """The error of a tournament that finds these lines in its file, which must stay as it was."""
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "settings.json").write_bytes((folder / "settings.json").read_bytes())
    path = tmp_path / "t" / "blocks.jsonl"
    path.write_bytes(b"".join(lines))
    with pytest.raises(ValueError) as fault:  # noqa: PT011, the message is what is tested
        run(Settings(("greedy", "random", "lookahead"), games=16), tmp_path / "t")
    assert path.read_bytes() == b"".join(lines)
    return str(fault.value)


def a_digit_changed(line):
    index = line.index(b"[[[") + 3
    return line[:index] + (b"8" if line[index : index + 1] != b"8" else b"9") + line[index + 1 :]


@pytest.mark.parametrize(
    ("damage", "number"),
    [
        (lambda lines: [lines[0], a_digit_changed(lines[1]), lines[2]], 2),
        (lambda lines: [lines[0], lines[1], a_digit_changed(lines[2])], 3),
        (lambda lines: [a_digit_changed(lines[0]), *lines[1:]], 1),
        (lambda lines: [lines[0], lines[1].replace(b'"lineup":1', b'"lineup":2'), lines[2]], 2),
        (lambda lines: [lines[0], lines[2]], 2),  # one taken out
        (lambda lines: [lines[0], lines[2], lines[1]], 2),
        (lambda lines: [lines[0], lines[0], *lines[1:]], 2),
        (lambda lines: [lines[0], lines[1][:40] + b"\n", lines[2]], 2),
        (lambda lines: [lines[0], b"\n", *lines[1:]], 2),
        (lambda lines: [lines[0], b"[1, 2]\n", lines[2]], 2),
        (lambda lines: [lines[0], b"\x00" * 50 + b"\n", lines[2]], 2),
    ],
)
def test_a_damaged_line_is_named_and_nothing_is_cut(damage, number, three_blocks, tmp_path):
    lines = (three_blocks / "blocks.jsonl").read_bytes().splitlines(keepends=True)
    message = open_damaged(three_blocks, tmp_path, damage(lines))
    assert message.startswith(f"{tmp_path / 't' / 'blocks.jsonl'}, line {number} is damaged: ")
    assert "put the file back as it was, or delete this line and all behind it" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"scores": [[[1, 2]]]}, "scores of shape (1, 1, 2)"),
        ({"scores": [[[1, 2], [3]]]}, "inhomogeneous"),
        ({"scores": [[[1, 2], [3, 2**40]]]}, "out of bounds"),
        ({"scores": []}, "0 deals are none or too many"),
        ({"scores": [[[1, 2], [3, 4]]] * 99, "given_up": [[-1, -1]] * 99}, "99 deals are none or too many"),
        ({"scores": [[[1.5, 2], [3, 4]]]}, "Expected `int`, got `float`"),
        ({"scores": [[[True, 2], [3, 4]]]}, "Expected `int`, got `bool`"),
        ({"scores": [[[1, 2], [3, 4]]], "given_up": [[2, -1]]}, "out of range"),
        ({"scores": [[[1, 2], [3, 4]]], "given_up": [[-1]]}, "forfeits of shape (1, 1)"),
        ({"lineup": 7}, "there is no deal 0 of line-up 7"),
        ({"lineup": -3}, "there is no deal 0 of line-up -3"),
        ({"first": 8}, "there is no deal 8 of line-up 0"),
        ({"first": -1}, "there is no deal -1 of line-up 0"),
        ({"first": 1}, "8 deals are none or too many"),
        ({"records_end": -1}, "out of range"),
        ({"notes": [3]}, "Expected `str`, got `int`"),
        ({"outcomes": [[[1, 2]]]}, "outcomes of shape (1, 1, 2) beside scores of shape"),
        ({"outcomes": [[[1, 2], [3]]]}, "inhomogeneous"),
    ],
)
def test_a_line_that_fits_its_checksum_must_still_make_sense(change, fault, three_blocks, tmp_path):
    first = (three_blocks / "blocks.jsonl").read_bytes().splitlines()[0]
    line = Line(**json.loads(first) | change)
    before = json.dumps(json.loads((three_blocks / "settings.json").read_text()))
    forged = json.dumps({**vars(line), "checksum": line.checksum_after(before)})
    assert fault in open_damaged(three_blocks, tmp_path, [forged.encode() + b"\n"])


def test_after_a_damaged_line_was_deleted_the_tournament_goes_on(three_blocks, tmp_path):
    settings = Settings(("greedy", "random", "lookahead"), games=16)
    undisturbed = run(settings, three_blocks)
    (tmp_path / "t").mkdir()
    for name in ("settings.json", "blocks.jsonl"):
        (tmp_path / "t" / name).write_bytes((three_blocks / name).read_bytes())
    lines = (tmp_path / "t" / "blocks.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "t" / "blocks.jsonl").write_bytes(lines[0])
    assert standings(run(settings, tmp_path / "t")).table == standings(undisturbed).table


@pytest.mark.slow
def test_a_full_disk_stops_in_one_line_and_the_same_command_goes_on(tmp_path):
    """No file may get longer than a few kilobytes; then the limit is gone. Half a line may have been written."""
    settings, records_path = Settings(("greedy", "lookahead"), games=1200), Path("games.jsonl")
    undisturbed = run(settings, tmp_path / "whole", tmp_path / "whole.jsonl")
    arguments = ["tournament", "greedy", "lookahead", "--games", "1200", "--out", "t", "--records", str(records_path)]
    two_thirds = (tmp_path / "whole.jsonl").stat().st_size * 2 // 3  # of three blocks
    limited = (
        "import resource, sys\n"
        "from artus_training.cli import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))\n"
        "sys.exit(main(sys.argv[2:]))"
    )
    for limit in (10, 4000, two_thirds):
        command = [sys.executable, "-c", limited, str(limit), *arguments]
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=os.environ)
        assert ended.returncode == 2, ended.stderr
        assert ended.stderr.count("\n") == 1
        assert "File too large" in ended.stderr
        assert "run the same command again" in ended.stderr
    with chdir(tmp_path):
        assert Store(Path("t"), settings, records_path).played.any()
        continued = run(settings, Path("t"), records_path)
    assert standings(continued).table == standings(undisturbed).table
    assert sorted((tmp_path / records_path).read_text().splitlines()) == sorted(
        (tmp_path / "whole.jsonl").read_text().splitlines()
    )


def test_a_changed_agent_does_not_go_on_with_an_old_tournament(tmp_path):
    bot = tmp_path / "bot"
    bot.write_text("one")
    settings = Settings(("greedy", f"program:{bot}"), games=2)
    Store(tmp_path / "t", settings, None)
    bot.write_text("two")
    with pytest.raises(ValueError, match="holds another tournament"):
        Store(tmp_path / "t", settings, None)


def test_only_one_process_plays_into_a_folder(tmp_path):
    with (
        alone_in(tmp_path / "t", "playing this tournament"),
        pytest.raises(ValueError, match="another process is playing"),
    ):
        run(Settings(("greedy", "random"), games=2), tmp_path / "t")


class Quitter:
    """Gives every game up at its first decision."""

    failure = "had enough"

    def act(self, view):
        return np.full(len(view), -1)


def test_who_gives_up_has_lost_and_the_report_says_why(tmp_path):
    settings = Settings(("greedy", "quitter"), games=20)
    results = run(settings, tmp_path / "t", agents={"quitter": Quitter()})
    ranking = standings(results)
    assert [(line.agent, line.wins) for line in ranking.table] == [("greedy", 1.0), ("quitter", 0.0)]
    assert ranking.duels[0, 1] == 1
    write_report(results, ranking, tmp_path / "t", "artus tournament ...")
    report = (tmp_path / "t" / "report.html").read_text()
    assert report.count("<li>quitter: 20 games: had enough</li>") == 1
    notes = json.loads((tmp_path / "t" / "results.json").read_text())["forfeits"]
    assert len(notes) == 20
    assert sum("as player 1: had enough" in note for note in notes) == 10


def test_agents_that_are_given_need_a_name_that_plays(tmp_path):
    with pytest.raises(ValueError, match="agents are given that don't play: quiter"):
        run(Settings(("greedy", "quitter"), games=2), tmp_path / "t", agents={"quiter": Quitter()})
    assert not (tmp_path / "t").exists()


def test_a_tournament_does_not_go_on_with_other_code(tmp_path):
    settings = Settings(("greedy", "mine"), games=2)
    run(settings, tmp_path / "t", agents={"mine": Quitter()})

    class Other(Quitter):
        failure = "another reason"

    with pytest.raises(ValueError, match="holds another tournament"):
        run(settings, tmp_path / "t", agents={"mine": Other()})


def test_agents_of_other_packages_and_trained_weights_count_as_well(tmp_path, monkeypatch):
    module = tmp_path / "cautious.py"
    monkeypatch.syspath_prepend(tmp_path)
    entry = EntryPoint("cautious", "cautious:Cautious", GROUP)
    monkeypatch.setattr("artus_env.engine.agents.names.entry_points", lambda group: [entry, *entry_points(group=group)])
    package = tmp_path / "package"
    package.mkdir()
    definition = replace(find_game(DEFAULT_GAME), trained=package)
    monkeypatch.setattr("artus_training.arena.schedule.find_game", lambda name: definition)
    settings = Settings(("greedy", "cautious"), games=2)
    fingerprints = []
    for choice, weights in (("argmax", b"1"), ("argmin", b"1"), ("argmax", b"2"), ("argmax", b"1")):
        module.write_text(f"class Cautious:\n    def act(self, view):\n        return view.mask.{choice}(axis=1)\n")
        (package / "beginner-2.safetensors").write_bytes(weights)
        fingerprints.append(fingerprint(settings.hash, definition, settings.agents))
    assert len(set(fingerprints)) == 3
    assert fingerprints[0] == fingerprints[3]


def test_saved_agents_count_however_they_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    saved = tmp_path / "my agents" / "one.safetensors"
    saved.parent.mkdir()
    for path in (saved, saved.with_suffix(".json"), Path("64.safetensors")):
        path.touch()
    for path in (saved, saved.with_suffix(".json"), saved.with_suffix("")):
        for kind in ("ppo:", "ppo:sample:", "ppo-search:64:", "ppo-endgame:64:"):
            assert list(files_in(f"{kind}{path}")) == [saved], f"{kind}{path}"
    assert list(files_in("ppo:64")) == [Path("64.safetensors")]
    assert list(files_in("ppo:" + "x" * 5000)) == []


def test_words_of_a_command_count_as_files_as_the_shell_splits_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("python3", "my bot.py", "weights"):
        Path(name).touch()
    assert list(files_in("program:time=2 python3 'my bot.py' weights")) == [Path("my bot.py"), Path("weights")]
    assert list(files_in("program:'./my bot.py'")) == [Path("my bot.py")]


@pytest.mark.parametrize(
    "agent",
    ["greedy", "ismcts:1000", "ppo", "ppo:sample", "ppo-search:64", "program:python3 ./bot", "code.py:Cautious"],
)
def test_files_named_like_agents_or_their_settings_do_not_count(agent, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("code.py").write_text("def Cautious(observation, action_mask):\n    return int(action_mask.argmax())\n")
    before = fingerprint("", find_game(DEFAULT_GAME), [agent])
    kind, _, argument = agent.partition(":")
    for word in {agent, kind, "ppo", "64", "1000", "sample", "python3", argument} - {"", "code.py"}:
        if "/" not in word:
            Path(word).write_text("no agent")
            Path(f"{word}.safetensors").write_text("no agent")
    assert fingerprint("", find_game(DEFAULT_GAME), [agent]) == before


def test_an_argument_of_another_package_may_be_a_file_but_a_number_is_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    entry = EntryPoint("mine", "artus_agents.simple:GreedyAgent", GROUP)
    monkeypatch.setattr("artus_env.engine.agents.names.entry_points", lambda group: [entry, *entry_points(group=group)])
    for name in ("mine", "64", "weights", "net.safetensors"):
        Path(name).touch()
    assert list(files_in("mine:64")) == []
    assert list(files_in("mine:64:weights")) == [Path("weights")]
    assert list(files_in("mine:net")) == [Path("net.safetensors")]


def test_a_folder_named_like_an_agent_is_played_only_where_a_path_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("greedy", "Owls=greedy", "ismcts:200", "others"):
        Path(folder).mkdir()
        (Path(folder) / "train.py").write_text("open('was-run', 'w')")
    assert read_entrants(["greedy", "Owls=greedy", "ismcts:200"]).agents == {
        "greedy": "greedy", "Owls": "greedy", "ismcts:200": "ismcts:200",
    }  # fmt: skip
    for path in ("greedy/", "./greedy", str(tmp_path / "greedy"), "others", "./ismcts:200", "Owls=greedy/"):
        teams = read_entrants([path])
        assert list(teams.agents) == ["train"], path
        assert teams.from_folders == {"train"}


def test_a_file_named_like_an_agent_does_not_stop_its_tournament(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    command = ["tournament", "random", "greedy", "--games", "4", "--out", "t"]
    assert main(command) == 0
    Path("greedy").write_text("notes")
    Path("random").mkdir()
    assert main(command) == 0
    assert "doesn't play" not in capsys.readouterr().out


def test_functions_play_and_their_code_counts_as_well(tmp_path):
    settings = Settings(("greedy", "mine"), games=2)
    first = run(settings, tmp_path / "t", agents={"mine": lambda observation, mask: int(mask.argmax())})
    assert (first.given_up[0] == -1).all()
    with pytest.raises(ValueError, match="holds another tournament"):
        run(settings, tmp_path / "t", agents={"mine": lambda observation, mask: int(mask.nonzero()[0][-1])})


# --- what the games say ----------------------------------------------------------------------------------------------


def results_of(agents, *by_lineup, players=2, **settings):
    """Results from the scores of each line-up: shapes (deals, P, P)."""
    scores = [np.array(part, np.int32) for part in by_lineup]
    settings = Settings(agents, num_players=players, games=len(scores[0]) * players, **settings)
    return Results(settings, scores, scores, [np.full(part.shape[:2], -1) for part in scores])


def drawn_results(agents, strength, deals, players=3, seed=0):
    """Results of agents whose scores are drawn from normal distributions with these means."""
    rng = np.random.default_rng(seed)
    lineups = Settings(agents, num_players=players).lineups()
    means = [np.array([strength[agent] for agent in who]) for who in lineups]
    return results_of(agents, *(rng.normal(mean, 10, (deals, players, players)) for mean in means), players=players)


def ratings(whole):
    return {line.agent: line.rating for line in whole.table}


def test_standings_of_known_results():
    """Ten deals, two agents: one wins three games of four, ties the last; the intervals hold the mean."""
    ranking = standings(results_of(("a", "b"), [[[10, 0], [5, -5]], [[3, 1], [7, 7]]] * 5))
    first, second = ranking.table
    assert (first.agent, first.wins, first.score, first.games) == ("a", 0.875, 6.25, 20)
    assert (second.agent, second.wins, second.score) == ("b", 0.125, 0.75)
    assert ranking.duels[0, 1] == 0.875
    assert 0.5 < first.wins_low < first.wins < first.wins_high <= 1
    assert first.score_low < first.score < first.score_high
    ahead = (8.75 + 0.5) / (1.25 + 0.5)  # 8.75 of ten deals won; the prior adds half a win to each
    assert first.rating - 1000 == pytest.approx(400 * np.log10(ahead), abs=1e-3)
    assert (second.rating, ranking.anchor) == (1000, "b")


def test_standings_rank_by_outcomes_and_show_scores():
    """All scores are equal; other outcomes, such as places in a race, rank the players."""
    scores, outcomes = np.full((10, 2, 2), 7), np.tile([2, 1], (10, 2, 1))
    ranking = standings(Results(Settings(("a", "b"), games=20), [scores], [outcomes], [np.full((10, 2), -1)]))
    assert [(line.agent, line.wins, line.score) for line in ranking.table] == [("a", 1, 7), ("b", 0, 7)]
    assert ranking.duels[0, 1] == 1


@pytest.mark.slow
def test_ratings_do_not_depend_on_the_order_of_the_games():
    """Also if ratings are nearly equal: the agent that wins more duels stands above, in whichever order games came."""
    played = drawn_results(("greedy", "lookahead", "ismcts:20"), (0, 22, 20), 20)
    expected = standings(played)
    assert [line.agent for line in expected.table] == ["lookahead", "ismcts:20", "greedy"]
    assert expected.duels[0, 1] > 0.5
    rng = np.random.default_rng(0)
    for _ in range(200):
        order = np.stack([rng.permutation(np.arange(first, 20, 2)) for first in (0, 1)], axis=1).ravel()
        reordered = standings(results_of(played.settings.agents, played.scores[0][order], players=3))
        assert ratings(reordered) == pytest.approx(ratings(expected), abs=1e-3)


def test_the_order_of_the_agents_does_not_matter():
    played = drawn_results(("a", "b", "c"), (0, 3, 30), 30, players=2)
    turned = results_of(("c", "b", "a"), *(scores[:, :, ::-1] for scores in played.scores[::-1]))
    assert ratings(standings(turned)) == pytest.approx(ratings(standings(played)), abs=1e-3)


def test_greedy_has_1000_where_it_plays_else_the_agent_in_the_middle():
    strength = (20, 0, 10)
    ranking = standings(drawn_results(("ppo", "greedy", "lookahead"), strength, 50, players=2))
    last = ranking.table[-1]
    assert (last.agent, last.rating, ranking.anchor) == ("greedy", 1000, "greedy")
    assert last.rating_low is last.rating_high is None
    assert "rating (greedy = 1000)" in markdown_table(ranking)
    assert not any("middle" in line for line in remarks(ranking))
    without = standings(drawn_results(("ppo", "random", "lookahead"), strength, 50, players=2))
    best, middle, last = without.table
    assert (middle.agent, middle.rating, without.anchor) == ("lookahead", 1000, "lookahead")
    assert middle.rating_low is middle.rating_high is None
    assert all(line.rating_low < line.rating < line.rating_high for line in (best, last))
    assert "rating (middle = 1000)" in markdown_table(without)
    assert any("lookahead, in the middle of the table, has 1000" in line for line in remarks(without))
    two = standings(drawn_results(("ppo", "random"), (20, 0), 50, players=2))
    assert [line.rating == 1000 for line in two.table] == [False, True]


@pytest.mark.slow
def test_ratings_are_elo_points_and_their_intervals_hold_the_truth():
    """Duels by Bradley and Terry's model, 100 tournaments of agents 0, 150 and 500 points strong."""
    true = {"greedy": 1000, "a": 1150, "b": 1500}
    rng = np.random.default_rng(0)
    hits = np.zeros(2)
    for _ in range(100):
        lineups = [(0, 150), (0, 500), (150, 500)]
        first = [rng.random((60, 2)) < 1 / (1 + 10 ** ((other - one) / 400)) for one, other in lineups]
        ranking = standings(results_of(tuple(true), *(np.stack([won, ~won], axis=2) for won in first)))
        hits += [
            line.rating_low < true[line.agent] < line.rating_high for line in ranking.table if line.agent != "greedy"
        ]
    assert (hits >= 88).all()
    assert (hits <= 100).all()


def test_agents_that_always_tie_are_equals():
    """All games are ties: no agent is better, but an event that never occurred may still be possible."""
    ranking = standings(results_of(("a", "b"), np.full((20, 2, 2), 7)))
    assert [(line.rating, line.wins) for line in ranking.table] == [(1000, 0.5), (1000, 0.5)]
    first, anchor = ranking.table
    assert first.rating_low < 1000 < first.rating_high
    assert anchor.rating_low is None
    assert all(line.wins_low < 0.5 < line.wins_high for line in ranking.table)
    assert "7.0 (always)" in markdown_table(ranking)


def test_an_agent_that_wins_everything_has_intervals_too():
    """Intervals get narrower with more games: after 0 losses in n games the rate may still be 3 / n."""
    tables = [standings(results_of(("greedy", "a"), [[[0, 1], [0, 2]]] * deals)) for deals in (10, 100, 1000)]
    for whole, low in zip(tables, (0.839, 0.981, 0.998), strict=True):
        best, worst = whole.table
        assert (best.wins, best.wins_high, worst.wins, worst.wins_low) == (1, 1, 0, 0)
        assert best.wins_low == pytest.approx(low, abs=0.003)
        assert worst.wins_high == pytest.approx(1 - best.wins_low)
        assert (whole.duels_low[0, 1], whole.duels_high[0, 1]) == (best.wins_low, 1)
        assert best.rating_low < best.rating < best.rating_high < 11_000
        assert best.rating_low > 1000 + 400 * np.log10(best.wins_low / (1 - best.wins_low)) - 300
    assert tables[0].table[0].rating + 300 < tables[1].table[0].rating + 100 < tables[2].table[0].rating


def test_agents_on_several_seats_are_rated():
    """Two agents at a table for three; one is ahead in three duels of four."""
    scores = [[[9, 1, 5], [9, 1, 5], [9, 1, 5]]] * 12  # a, a, b: a wins one duel of two in each game
    other = [[[9, 1, 5], [9, 1, 5], [9, 1, 5]]] * 12  # a, b, b: a wins both
    ranking = standings(results_of(("a", "b"), scores, other, players=3))
    assert ranking.duels[0, 1] == 0.75
    assert ranking.table[0].rating == pytest.approx(1000 + 400 * np.log10((9 + 0.5) / (3 + 0.5)), abs=1e-3)


def test_intervals_hold_the_truth_as_often_as_they_say():
    """Three deals of each order, drawn 400 times from a population whose mean is 1/2."""
    rng = np.random.default_rng(0)
    by_deal = rng.random((400, 6)) + np.array([0.4, -0.4, 0.4, -0.4, 0.4, -0.4])  # orders differ much
    low, high = interval_of(by_deal.mean(axis=1), resample(by_deal, 2, rng), 6, 2)
    hits = ((low < 0.5) & (high > 0.5)).mean()
    assert 0.93 < hits < 0.98
    assert (high - low).mean() < 0.8  # what the orders differ by isn't chance


@pytest.mark.parametrize("deals", [12, 100])
@pytest.mark.parametrize("chance", [0.5, 0.93])
@pytest.mark.parametrize("orders", [1, 2])
def test_intervals_of_fractions_hold_the_truth_as_often_as_they_say(deals, chance, orders):
    """Also for fractions far from 1/2, with few deals, and if games of a deal have similar results; 2,000 samples
    each."""
    rng = np.random.default_rng(0)
    shift = np.array([0.05, -0.05] if orders == 2 else [0.0])  # orders differ
    chances = chance + np.resize(shift, deals)
    of_deal = rng.beta(9 * chances, 9 * (1 - chances), (2000, deals))  # the better hand
    by_deal = (rng.random((3, 2000, deals)) < of_deal).mean(axis=0)
    low, high = fraction_intervals(by_deal, orders, np.full(2000, 3 * deals))
    hits = ((low <= chance) & (chance <= high)).mean()
    assert 0.94 <= hits <= 0.985, hits
    assert ((low >= 0) & (low < high) & (high <= 1)).all()


def test_one_deal_of_each_order_is_too_few():
    """Six players sit in ten orders: ten deals are one of each."""
    one, two = (standings(results_of(("a", "b"), *ten_orders(times), players=6, game="royal")) for times in (1, 2))
    assert not one.has_intervals
    assert one.table[0].wins_low is None
    assert any("intervals need at least 20" in line for line in remarks(one))
    assert two.has_intervals
    assert two.table[0].wins_low < two.table[0].wins < two.table[0].wins_high


def ten_orders(times):
    """Scores of all line-ups of two agents in games of six, in 10 * `times` deals; the first agent is better."""
    rng = np.random.default_rng(3)
    lineups = Settings(("a", "b"), num_players=6, game="royal").lineups()
    return [rng.normal(-np.array(who), 2, (10 * times, 6, 6)) for who in lineups]


@pytest.mark.parametrize("deals", [1, 9])
def test_few_deals_have_no_intervals(deals, tmp_path, capsys):
    results = results_of(("a", "b"), [[[10, 0], [5, -5]]] * deals)
    ranking = standings(results)
    best = ranking.table[0]
    assert best.wins_low is best.score_high is best.rating_low is None
    assert np.isnan(ranking.duels_low[0, 1])
    print_table(results, ranking)
    assert "too few deals" in capsys.readouterr().out
    write_report(results, ranking, tmp_path, "artus tournament ...")
    report = (tmp_path / "report.html").read_text()
    assert "wins (too few deals)" in report
    assert ">100.0%</td>" in report
    assert "nan" not in report
    data = json.loads((tmp_path / "results.json").read_text(), parse_constant=pytest.fail)  # NaN is no JSON
    assert data["table"][0]["wins_low"] is None


def test_an_interval_never_looks_like_a_point():
    results = drawn_results(("random", "greedy"), (0, 100), 10_000, players=2)
    assert "| 100.0% (99.98..100.00) |" in markdown_table(standings(results))


def test_names_do_not_break_the_report(tmp_path):
    """A bar would end a cell of a Markdown table, a line feed the table, a bracket begin an element of the page."""
    names = ("program:sh -c 'a | b'", "program:<i> $B\n{{table}}")
    ranking = standings(results := results_of(names, [[[1, 0], [0, 1]], [[1, 0], [1, 0]]] * 10))
    write_report(results, ranking, tmp_path, "artus tournament ...")
    page = (tmp_path / "report.html").read_text()
    assert "<i>" not in page
    assert "&lt;i&gt; $B {{table}}" in page
    rows = markdown_table(ranking).splitlines()
    assert len(rows) == 4
    assert len({row.replace("\\|", "").count("|") for row in rows}) == 1


def test_an_agent_on_several_seats_has_played_one_game():
    scores = np.arange(36).reshape(2, 2, 3, 3).astype(np.int32)
    results = Results(Settings(("a", "b"), num_players=3, games=6), *2 * [list(scores)], [np.full((2, 3), -1)] * 2)
    assert [line.games for line in standings(results).table] == [12, 12]


def test_intervals_keep_every_order_around_the_table():
    """Only the seating order decides these games. Each order is drawn as often as it was played, so there is no
    variance."""
    scores = np.tile(
        np.array([[9, 5, 1], [5, 9, 1]], np.int32)[:, None, :], (50, 3, 1)
    )  # the order changes with each deal
    ranking = standings(results_of(("a", "b", "c"), scores, players=3))
    for line in ranking.table[:2]:
        assert line.wins == 0.5
        assert 0.45 < line.wins_low < 0.5 < line.wins_high < 0.55  # luck alone would make it 0.4..0.6
    with pytest.raises(ValueError, match="not played in each order"):
        standings(results_of(("a", "b", "c"), scores[:1], players=3))


def test_the_command_writes_its_report(tmp_path, capsys):
    out = tmp_path / "t"
    assert main(["tournament", "greedy", "random", "--games", "20", "--out", str(out)]) == 0
    assert "greedy" in capsys.readouterr().out
    data = json.loads((out / "results.json").read_text())
    assert [line["agent"] for line in data["table"]] == ["greedy", "random"]
    names = {"settings.json", "blocks.jsonl", "results.json", "report.html", "films"}
    assert {path.name for path in out.iterdir()} - {"lock"} == names


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["greedy"], "two or more different agents"),
        (["greedy", "greedy"], "two play under the name 'greedy'"),
        (["greedy", "nobody"], "there is no agent 'nobody'"),
        (["greedy", "ismcts:soon"], "needs a number of simulations"),
        (["greedy", "random:5"], "agent 'random:5' can't be made: RandomAgent() takes no arguments"),
        (["greedy", "random", "--games", "0"], "games must be at least 1"),
        (["greedy", "random", "--games", "1000000000"], "at most 10,000,000 games"),
        (["greedy", "random", "lookahead", "--games", "9" * 400], "3 line-ups of 99"),
        (
            [*(f"ismcts:{n}" for n in range(1, 501)), "--num-players", "4"],
            "2,573,031,125 line-ups of 2000 games are too many",
        ),
        (["greedy", "random", "--seed", "-1"], "seed must be a whole number in 0..2**64-1, got -1"),
        (["greedy", "random", "--seed", str(2**64)], "seed must be a whole number in 0..2**64-1"),
    ],
)
def test_wrong_usage_is_one_line(arguments, fault, tmp_path, capsys):
    assert main(["tournament", *arguments, "--out", str(tmp_path / "t")]) == 2
    error = capsys.readouterr().err
    assert fault in error
    assert error.count("\n") == 1
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize(
    ("out", "records", "fault"),
    [
        ("file", None, "file: "),
        ("file/t", None, "file/t: Not a directory"),
        ("/proc/t", None, "/proc/t: "),
        ("t", ".", "--records needs a file, but . is none"),
        ("t", "/dev/null", "--records needs a file, but /dev/null is none"),
        ("t", "file/games.jsonl", "file: "),
        ("t", "/proc/games.jsonl", "/proc/games.jsonl: "),
        ("t", "t/blocks.jsonl", "would lie among the tournament's own files"),
    ],
)
def test_where_nothing_can_be_written_is_said_before_the_first_game(out, records, fault, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("something else")
    monkeypatch.setattr("artus_training.arena.play.play_block", lambda *_: pytest.fail("a game was played"))
    keep = ["--records", records] if records else []
    assert main(["tournament", "greedy", "random", "--games", "2", "--out", out, *keep]) == 2
    error = capsys.readouterr().err
    assert fault in error
    assert error.count("\n") == 1
    assert Path("file").read_text() == "something else"


def test_replay_lists_checks_and_shows(tmp_path, capsys):
    run(Settings(("greedy", "random"), games=4), tmp_path / "t", tmp_path / "games.jsonl")
    capsys.readouterr()
    games = str(tmp_path / "games.jsonl")
    assert main(["replay", games]) == 0
    assert capsys.readouterr().out.count("beginner, 2 players, 66 moves: ") == 4
    assert main(["replay", games, "--check"]) == 0
    assert "4 games replayed" in capsys.readouterr().out
    assert main(["replay", games, "2", "--at", "-1"]) == 0
    shown = capsys.readouterr().out
    first, second = json.loads((tmp_path / "games.jsonl").read_text().splitlines()[1])["players"]
    assert f"over: {first} (A) won" in shown or f"over: {second} (B) won" in shown
    assert f"  A {first} " in shown
    assert f"  B {second} " in shown
    assert "player 0" not in shown
    assert main(["replay", games, "9"]) == 2
    assert "there is no game 9, the file has 4" in capsys.readouterr().err


def test_replay_counts_one_thing_as_one(tmp_path, capsys):
    game = Game(seed=1)
    game.play(game.moves()[0])
    (tmp_path / "one.jsonl").write_text(game.record() + "\n")
    (tmp_path / "none.jsonl").write_text(game.first().record() + "\n")
    outputs = {}
    for name, options in (("one", []), ("one", ["--check"]), ("none", ["--html", str(tmp_path / "a.html")])):
        assert main(["replay", str(tmp_path / f"{name}.jsonl"), *options]) == 0
        outputs[name, *options[:1]] = capsys.readouterr().out
    assert "beginner, 2 players, 1 move: " in outputs["one",]
    assert outputs["one", "--check"].startswith("1 game replayed")
    assert ": 1 position, " in outputs["none", "--html"]


def test_replay_steps_through(tmp_path, capsys, monkeypatch):
    run(Settings(("greedy", "random"), games=2), tmp_path / "t", tmp_path / "games.jsonl")
    answers = iter(["", "b", "66", "", "q"])
    monkeypatch.setattr("builtins.input", lambda _: next(answers))
    assert main(["replay", str(tmp_path / "games.jsonl"), "1"]) == 0
    shown = [line for line in capsys.readouterr().out.splitlines() if line.startswith("move ")]
    assert [line.split(",")[0] for line in shown] == [f"move {n} of 66" for n in (0, 1, 0, 66, 66)]
