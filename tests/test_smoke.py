"""A random game of every variant ends as the rules say."""

import pytest

from artus_env import Batch


@pytest.mark.parametrize("rules", ["beginner", "advanced"])
@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_random_batch_plays_on(rules, num_players):
    batch = Batch(64, rules=rules, num_players=num_players, seed=1)
    ended = 0
    for _ in range(400):
        reward, done = batch.step(batch.sample())
        ended += int(done.sum())
        assert abs(reward.sum()) < 1e-3
    assert ended >= 64


def test_tests_that_belong_together_run_in_one_process(request):
    """Where they don't, nothing but a long wait tells: pytest-xdist writes each test's group behind its name."""
    if not getattr(request.config.option, "loadgroup", False):
        pytest.skip("no groups were asked for: `make test` does")
    grouped = [item.nodeid for item in request.session.items if item.get_closest_marker("xdist_group")]
    assert grouped
    assert [name for name in grouped if "@" not in name] == []
