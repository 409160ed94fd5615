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
