"""The ladder: one table for each game, from results of tournaments and best responses; it shows what wasn't
measured."""

import dataclasses
import json
import sys
from pathlib import Path

import pytest

from artus_agents.neural import trained
from artus_env.engine.contract.registry import find_game
from artus_training.arena.ladder import Entry, Ladder, read_ladder
from artus_training.cli import main
from artus_training.people import results as people
from tools.ladder import decisions_per_second, merged
from tools.ladder import main as update_ladder
from tools.tables import NOT_MEASURED, fill, rows_of
from tools.tables import main as update_tables

BOT = Path(__file__).parents[3] / "agents" / "examples" / "bot.py"
RESPONSE = "ppo-search:8:runs/0-response-own-weights/ppo-beginner-2/agent.safetensors"
BEST = {"agent": "greedy", "role": "response", "name": RESPONSE, "gain": 0.25, "gain_95": [0.2, 0.3], "wins": 0.75}
EXPLOIT = {"game": "artus", "rules": "beginner", "num_players": 2, "best": [BEST]}


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A tournament's folder."""
    folder = tmp_path_factory.mktemp("tournament")
    assert main(["tournament", "random", "greedy", "lookahead", "--games", "60", "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def exploited(tmp_path):
    (tmp_path / "exploit").mkdir()
    (tmp_path / "exploit" / "result.json").write_text(json.dumps(EXPLOIT))
    return tmp_path / "exploit"


def test_what_was_measured_comes_together(played, exploited, tmp_path):
    path = tmp_path / "ladder.json"
    command = [str(path), "--tournaments", str(played), "--exploits", str(exploited)]
    assert update_ladder(command) == 0
    ladder = read_ladder(path)
    table = json.loads((played / "results.json").read_text())["table"]
    assert [entry.agent for entry in ladder.entries] == [line["agent"] for line in table]
    assert [entry.rating for entry in ladder.entries] == [line["rating"] for line in table]
    (greedy,) = (entry for entry in ladder.entries if entry.agent == "greedy")
    (best_response,) = greedy.responses
    assert best_response.response == "ppo-search:8 trained from own weights"
    variant, _, _, wins, best, speed = rows_of(Ladder("artus", [greedy]))[0]
    assert variant == "beginner, 2"
    assert best == "25.0 (20.0 .. 30.0): ppo-search:8 trained from own weights"
    assert wins.startswith(f"{100 * greedy.wins:.1f} % (")
    assert speed == NOT_MEASURED
    # A later measurement is added, and nothing is lost.
    assert update_ladder([str(path), "--tournaments", str(played), "--seconds", "0.01"]) == 0
    timed = read_ladder(path)
    assert [dataclasses.replace(entry, decisions=None) for entry in timed.entries] == ladder.entries
    assert all(entry.decisions > 0 for entry in timed.entries)


def test_speeds_that_nobody_has_measured_yet_are_measured_and_kept_one_by_one(tmp_path, capsys):
    path = tmp_path / "ladder.json"
    known = Entry("beginner", 2, "random", wins=0.0, decisions=7.0)
    missing = [Entry("beginner", players, agent, wins=0.5) for players in (2, 3) for agent in ("greedy", "nobody")]
    path.write_text(json.dumps(dataclasses.asdict(merged(Ladder("artus", [known]), missing))))
    assert update_ladder([str(path), "--seconds", "0.01"]) == 2
    assert "nobody" in capsys.readouterr().err
    measured = {(entry.agent, entry.num_players): entry.decisions for entry in read_ladder(path).entries}
    assert measured.pop(("greedy", 2)) > 1000
    assert measured == {("random", 2): 7.0, ("nobody", 2): None, ("greedy", 3): None, ("nobody", 3): None}


def test_an_interval_goes_with_the_figure_that_it_is_about():
    before = Entry("beginner", 2, "greedy", 900.0, (800.0, 1000.0), 0.5, (0.4, 0.6), 600, decisions=7.0)
    anew = Entry("beginner", 2, "greedy", 700.0, None, 0.3, None, 20)
    (entry,) = merged(Ladder("artus", [before]), [anew]).entries
    assert entry == dataclasses.replace(anew, decisions=7.0)


def test_page_and_data_are_compared(tmp_path):
    """Another ladder makes another page; tests/docs/test_docs.py compares that of each game with its data."""
    path = tmp_path / "ladder.json"
    path.write_text(json.dumps(dataclasses.asdict(Ladder("artus", [Entry("beginner", 2, "a|b`c\n", wins=0.5)]))))
    game = dataclasses.replace(find_game("artus"), ladder=path)
    page = fill("<!-- table: ladder -->\n<!-- end -->", game)
    cells = ("beginner, 2", "`a/b'c\N{REPLACEMENT CHARACTER}`", NOT_MEASURED, "50.0 %", NOT_MEASURED, NOT_MEASURED)
    assert page.splitlines()[3] == f"| {' | '.join(cells)} |"


@pytest.mark.parametrize("game", ["artus", "royal", "quest"])
def test_the_ladder_that_comes_with_a_game_is_in_order_and_of_agents_that_there_are(game):
    definition = find_game(game)
    ladder = read_ladder(definition.ladder)
    assert ladder.game == game
    assert ladder == merged(ladder, [])
    assert ladder.entries
    for entry in ladder.entries:
        definition.check_variant(entry.rules, entry.num_players)
        assert entry.rating is not None or entry.responses
        assert (entry.rating == 1000) == (entry.agent == "greedy")
        for figure, interval in ((entry.rating, entry.rating_95), (entry.wins, entry.wins_95)):
            assert interval is None or interval[0] <= figure <= interval[1], (entry.agent, entry.num_players)


@pytest.mark.parametrize("game", ["artus", "royal", "quest"])
def test_cards_say_of_agents_what_the_ladder_says(game):
    known = [entry for entry in read_ladder(find_game(game).ladder).entries if entry.agent == "ppo" and entry.responses]
    assert known
    for entry in known:
        exploitability = trained(entry.rules, entry.num_players, game)[1]["exploitability"]
        for best in entry.responses:
            assert (best.role, best.response, round(best.gain, 4)) in [
                (each["role"], each["response"], each["gain"]) for each in exploitability
            ]


@pytest.mark.slow
def test_a_second_of_a_program_is_one_on_the_clock(tmp_path):
    """A program computes, or waits, in a process of its own: CPU time of this process doesn't include it."""
    bot = tmp_path / "bot.py"
    bot.write_text("import time\n" + BOT.read_text().replace("    message =", "    time.sleep(0.02)\n    message ="))
    program = f"program:{sys.executable} {bot}"
    assert 5 < decisions_per_second(Entry("standard", 2, program), "royal", 0.1) < 50


@pytest.mark.slow
def test_decisions_are_counted():
    slow = decisions_per_second(Entry("beginner", 2, "ismcts:200"), "artus", 0.1)
    fast = decisions_per_second(Entry("beginner", 2, "greedy"), "artus", 0.1)
    assert 0 < 20 * slow < fast


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("results.json", {"anchor": "ppo"}, "greedy must have the rating 1000, but ppo has it: let greedy play, too"),
        (
            "results.json",
            {"anchor": None, "zero": "random"},
            "is of an earlier version, whose ratings have another scale",
        ),
        ("results.json", {"table": [{"agent": 3}]}, "is damaged or something else"),
        (
            "results.json",
            {"settings": {"rules": "beginner", "num_players": 2, "game": "royal"}},
            "is of the game royal",
        ),
        ("results.json", {"settings": {"rules": "expert", "num_players": 2}}, "rules must be one of"),
        ("result.json", {"best": [BEST | {"role": "friend"}]}, "role"),
        ("result.json", {"num_players": 9}, "num_players must be 2..4"),
    ],
)
def test_results_that_do_not_fit_are_named(name, change, message, played, tmp_path, capsys):
    content = json.loads((played / "results.json").read_text()) if name == "results.json" else EXPLOIT
    (tmp_path / name).write_text(json.dumps({**content, **change}))
    kind = "--tournaments" if name == "results.json" else "--exploits"
    assert update_ladder([str(tmp_path / "ladder.json"), kind, str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "ladder.json").exists()


def test_a_game_with_a_ladder_of_another_scale_is_refused_in_one_line(tmp_path, monkeypatch, capsys):
    """By the play server before it serves, for people's results, and for a page's tables."""
    path, page = tmp_path / "ladder.json", tmp_path / "page.md"
    path.write_text(json.dumps(dataclasses.asdict(Ladder("artus", [Entry("beginner", 2, "random", 0.0)]))))
    page.write_text("<!-- table: ladder -->\n<!-- end -->\n")
    monkeypatch.setitem(vars(find_game("artus")), "ladder", path)
    result = people.Result(
        1, "artus", "beginner", "2026-11-25", 70, [people.Sat("Ann", None, 5, 1), people.Sat("B", "greedy", 4, 2)]
    )
    (tmp_path / people.RESULTS).mkdir()
    (tmp_path / people.RESULTS / "ann.json").write_text(json.dumps(dataclasses.asdict(result)))
    for run, words in (
        (main, ["play", "--games", str(tmp_path)]),
        (main, ["play", "--results", "--games", str(tmp_path)]),
        (update_tables, [str(page)]),
    ):
        assert run(words) == 2
        error = capsys.readouterr().err
        assert "ratings have the scale greedy = 1000, but for 'beginner', 2 players, greedy has none" in error
        assert error.count("\n") == 1


def test_a_ladder_that_is_none_is_named(tmp_path, capsys):
    path = tmp_path / "ladder.json"
    entries = [Entry("beginner", 2, "greedy", 865.0), Entry("beginner", 2, "random", 0.0)]
    earlier = json.dumps(dataclasses.asdict(Ladder("artus", entries)))
    for text, message in (
        ("{", "is damaged or no ladder"),
        ('{"game": "royal"}', "is of the game royal"),
        (earlier, "ratings have the scale greedy = 1000, but for 'beginner', 2 players, greedy has 865: delete these"),
        (
            earlier.replace("greedy", "ppo"),
            "ratings have the scale greedy = 1000, but for 'beginner', 2 players, greedy",
        ),
    ):
        path.write_text(text)
        assert update_ladder([str(path)]) == 2
        error = capsys.readouterr().err
        assert message in error
        assert error.count("\n") == 1
        assert path.read_text() == text
    assert update_ladder([str(path), "--seconds", "-1"]) == 2
    assert "seconds must be at least 0 and finite, got -1.0" in capsys.readouterr().err
