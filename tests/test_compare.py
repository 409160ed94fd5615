"""Both trainers side by side, and their pictures."""

import dataclasses

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


def test_agents_of_one_folder_name_are_told_apart(tmp_path, monkeypatch):
    labels = []
    monkeypatch.setattr(curves, "read_card", lambda path: {"curve": []})
    monkeypatch.setattr(curves, "draw", lambda cards, path, over: labels.extend(label for label, _ in cards))
    assert curves.main(["a/ppo-beginner-2/agent.json", "b/ppo-beginner-2/agent.json"]) == 0
    assert labels == ["a/ppo-beginner-2/agent.json", "b/ppo-beginner-2/agent.json"]
    labels.clear()
    assert curves.main(["a/ppo-beginner-2/agent.json", "a/ppo-beginner-3/agent.json"]) == 0
    assert labels == ["ppo-beginner-2", "ppo-beginner-3"]
