"""Both trainers side by side, and their pictures."""

import dataclasses
import json
from collections import defaultdict

import pytest
from matplotlib.figure import Figure

from artus_env.engine.basics.writing import write_atomically
from artus_training.cli import main
from artus_training.learn import compare
from artus_training.learn.ppo.settings import Settings
from artus_training.learn.ppo.train import train
from artus_training.learn.runs import RunError, alone_in_run, finished
from artus_training.watch import curves


def tiny(runs):
    return Settings(
        steps=512, num_games=32, num_steps=16, hidden=(16,), threads=1, evaluate_every=0, final_games=0, runs=runs
    )


def test_only_this_very_training_counts_as_finished(tmp_path):
    settings = tiny(tmp_path)
    assert not finished(settings)
    assert train(settings)
    assert finished(settings)
    assert not finished(dataclasses.replace(settings, minutes=2.0))


def test_a_training_from_when_there_was_one_game_counts_as_finished(tmp_path):
    settings = tiny(tmp_path)
    assert train(settings)
    path = settings.agent.with_suffix(".json")
    card = json.loads(path.read_text())
    del card["game"], card["settings"]["game"], card["settings"]["forced"]
    card["settings"]["reward"] = "prestige"
    path.write_text(json.dumps(card))
    assert finished(settings)


def test_comparisons_of_other_games_have_folders_of_their_own(tmp_path):
    settings = compare.Settings(game="magpies", num_players=6, folder=tmp_path, minutes=1)
    settings.check()
    assert settings.runs == tmp_path / "magpies-standard-6"
    ours, theirs = compare.trainings(settings)
    assert (ours.game, ours.rules, ours.num_players, ours.final_reward) == ("magpies", "standard", 6, "win")
    assert (theirs.game, theirs.rules, theirs.num_players) == ("magpies", "standard", 6)


def test_a_judge_who_came_later_has_a_shorter_curve(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: drawn.extend(self.axes[0].lines))
    points = [{"seconds": 60, "wins": {"beginner-2/greedy": 0.6}}]
    points.append({"seconds": 120, "wins": {"beginner-2/greedy": 0.7, "beginner-2/lookahead": 0.4}})
    curves.draw([("one", {"curve": points})], tmp_path / "curves.png")
    lines = {line.get_label(): list(line.get_xdata()) for line in drawn}
    assert (lines["against greedy"], lines["against lookahead"]) == ([1, 2], [2])


def test_what_went_on_from_another_agent_is_drawn_behind_it(tmp_path, monkeypatch):
    """Only in panels that both know; a run whose beginning isn't there begins at nothing."""
    drawn = {}
    monkeypatch.setattr(
        Figure, "savefig", lambda self, *_, **__: drawn.update({axis.get_title(): axis.lines for axis in self.axes})
    )

    def card(weights, start, steps, *variants):
        curve = [{"seconds": 60, "steps": steps, "wins": {f"{variant}/greedy": 0.5 for variant in variants}}]
        return {"curve": curve, "weights": weights, "start": start, "steps": 2 * steps, "minutes": 2}

    cards = {
        "third": card("c", "b", 4_000_000, "beginner-2"),
        "first": card("a", None, 1_000_000, "beginner-2", "beginner-3"),
        "second": card("b", "a", 2_000_000, "beginner-2"),
        "lost": card("x", "y", 8_000_000, "beginner-3"),
    }
    for over, ahead in (("decisions", [1, 4, 10]), ("minutes", [1, 3, 5])):
        curves.draw(list(cards.items()), tmp_path / "curves.png", over)
        lines = {
            title: {
                line.get_label(): list(line.get_xdata())
                for line in lines
                if line.get_label().endswith("against greedy")
            }
            for title, lines in drawn.items()
        }
        assert lines["beginner, 2 players"] == {"third against greedy": ahead}
        alone = 8 if over == "decisions" else 1
        assert lines["beginner, 3 players"] == {"first against greedy": [1], "lost against greedy": [alone]}


def test_an_agent_looks_the_same_in_every_panel_and_like_no_other(tmp_path, monkeypatch):
    """Also where it is alone, and its name stands there, too."""
    drawn = {}
    monkeypatch.setattr(
        Figure, "savefig", lambda self, *_, **__: drawn.update({axis.get_title(): axis.lines for axis in self.axes})
    )
    judges = ["random", "greedy", "lookahead"]

    def card(*variants):
        wins = {f"{variant}/{judge}": 0.5 for variant in variants for judge in judges}
        return {"curve": [{"seconds": 60, "wins": wins}]}

    cards = {"one": card("beginner-2"), "two": card("beginner-3"), "third": card("beginner-2")}
    cards["shared"] = card("beginner-2", "beginner-3", "beginner-4")
    curves.draw(list(cards.items()), tmp_path / "curves.png")
    looks, panels = defaultdict(set), {}
    for title, lines in drawn.items():
        panels[title] = {
            line.get_label(): (line.get_color(), line.get_marker()) for line in lines if len(line.get_xdata()) == 1
        }
        for label, look in panels[title].items():
            looks[label].add(look)
    assert list(panels["beginner, 4 players"]) == [f"shared against {judge}" for judge in judges]
    assert all(len(each) == 1 for each in looks.values()), "the same everywhere"
    assert all(len(set(panel.values())) == len(panel) for panel in panels.values()), "nine lines, nine looks"
    assert looks["one against greedy"] == looks["two against greedy"], "no more looks than are needed"


def test_a_card_whose_curve_is_none_is_refused_in_one_line(tmp_path, capsys):
    settings = tiny(tmp_path)
    assert train(settings)
    path = settings.agent.with_suffix(".json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"curve": 5}))
    for words in (["curves", str(path)], ["evaluate", str(settings.agent), "random"]):
        assert main(words) == 2
        assert "agent.json is no card of a saved agent: Expected `array`, got `int`" in capsys.readouterr().err


def test_a_second_comparison_leaves_the_first_alone(tmp_path, monkeypatch):
    """Also those of other variants stay, and one that was interrupted goes on with its own settings only."""
    made = []
    monkeypatch.setattr(
        compare, "_compare", lambda settings: made.append(settings.seed) or write_atomically(result, b"{}")
    )
    settings = compare.Settings(folder=tmp_path, minutes=1)
    result = settings.runs / "result.json"
    compare.compare(settings)
    with pytest.raises(RunError, match="beginner-2 holds a run already: --resume goes on with it, --folder"):
        compare.compare(dataclasses.replace(settings, seed=1))
    compare.compare(dataclasses.replace(settings, resume=True))
    assert made == [0, 0]
    assert dataclasses.replace(settings, rules="advanced").runs != settings.runs
    with alone_in_run(settings.runs), pytest.raises(RunError, match="beginner-2: another process"):
        compare.compare(settings)


@pytest.mark.parametrize(
    "change", [{"games": 0}, {"games": 10**9}, {"minutes": float("inf")}, {"points": -1}, {"seed": -1}]
)
def test_a_comparison_that_cannot_be_is_refused_before_anything_is_moved(tmp_path, change):
    with pytest.raises(ValueError, match=next(iter(change))):
        compare.compare(dataclasses.replace(compare.Settings(folder=tmp_path), **change))
    assert not list(tmp_path.iterdir())


def test_agents_of_one_folder_name_are_told_apart(tmp_path, monkeypatch):
    labels = []
    monkeypatch.setattr(curves, "read_card", lambda path: {"curve": []})
    monkeypatch.setattr(curves, "draw", lambda cards, path, over: labels.extend(label for label, _ in cards))
    assert curves.main(["a/ppo-beginner-2/agent.json", "b/ppo-beginner-2/agent.json"]) == 0
    assert labels == ["a/ppo-beginner-2/agent.json", "b/ppo-beginner-2/agent.json"]
    labels.clear()
    assert curves.main(["a/ppo-beginner-2/agent.json", "a/ppo-beginner-3/agent.json"]) == 0
    assert labels == ["ppo-beginner-2", "ppo-beginner-3"]
