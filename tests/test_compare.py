"""Both trainers side by side, and their pictures."""

import dataclasses
from collections import defaultdict

from matplotlib.figure import Figure

from artus_training import compare, curves
from artus_training.ppo import Settings, train


def test_only_this_very_training_counts_as_finished(tmp_path):
    settings = Settings(
        steps=512, num_games=32, num_steps=16, hidden=(16,), threads=1, evaluate_every=0, final_games=0, runs=tmp_path
    )
    assert not compare._finished(settings, resume=True)
    assert train(settings)
    assert compare._finished(settings, resume=True)
    assert not compare._finished(settings, resume=False)
    assert not compare._finished(dataclasses.replace(settings, minutes=2.0), resume=True)


def test_a_judge_who_came_later_has_a_shorter_curve(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: drawn.extend(self.axes[0].lines))
    points = [{"seconds": 60, "wins": {"beginner-2/greedy": 0.6}}]
    points.append({"seconds": 120, "wins": {"beginner-2/greedy": 0.7, "beginner-2/lookahead": 0.4}})
    curves.draw([("one", {"curve": points})], tmp_path / "curves.png")
    lines = {line.get_label(): list(line.get_xdata()) for line in drawn}
    assert (lines["against greedy"], lines["against lookahead"]) == ([1, 2], [2])


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


def test_agents_of_one_folder_name_are_told_apart(tmp_path, monkeypatch):
    labels = []
    monkeypatch.setattr(curves, "read_card", lambda path: {"curve": []})
    monkeypatch.setattr(curves, "draw", lambda cards, path, over: labels.extend(label for label, _ in cards))
    assert curves.main(["a/ppo-beginner-2/agent.json", "b/ppo-beginner-2/agent.json"]) == 0
    assert labels == ["a/ppo-beginner-2/agent.json", "b/ppo-beginner-2/agent.json"]
    labels.clear()
    assert curves.main(["a/ppo-beginner-2/agent.json", "a/ppo-beginner-3/agent.json"]) == 0
    assert labels == ["ppo-beginner-2", "ppo-beginner-3"]
