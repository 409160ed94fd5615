"""Sizes and shapes that other programs rely on."""

import numpy as np
import pytest

from artus_env import NUM_ACTIONS, OBSERVATION_SCALE, OBSERVATION_SIZE, Batch, Game
from artus_env.games.artus.actions import MASK_WORDS, action_table
from artus_env.games.artus.definition import ARTUS
from artus_env.games.artus.state import STATE


def test_the_standard_box_has_339_actions():
    assert NUM_ACTIONS == len(action_table()) == len(set(action_table())) == 339


def test_a_game_is_a_few_hundred_bytes():
    assert STATE.itemsize <= 384
    assert STATE.itemsize % 4 == 0  # in an array of games every int32 is aligned
    assert all(STATE.fields[name][1] % 4 == 0 for name in ("knights", "hands", "played", "scores"))


def test_tables_are_read_only():
    tables = ARTUS.build_tables(ARTUS.standard)
    assert tables.shape == (1,)
    assert ARTUS.build_tables(ARTUS.standard) is tables
    with pytest.raises(ValueError, match="read-only"):
        tables["wheel"][0, 3] = 5
    assert Batch(1).tables is Batch(2).tables  # one for all games of a box
    assert not Batch(1).tables.flags.writeable


def test_scale_and_bounds_fit_the_observation():
    scale, (low, high) = ARTUS.observation_scale(ARTUS.standard), ARTUS.observation_bounds(ARTUS.standard)
    size = ARTUS.layout(ARTUS.standard).size
    assert scale.shape == low.shape == high.shape == Game(seed=1).observation().shape == (size,) == (OBSERVATION_SIZE,)
    assert (scale.dtype, low.dtype, high.dtype) == (np.float32, np.int8, np.int8)
    assert (low <= high).all()
    assert (scale > 0).all()
    for array in (low, high):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_a_scale_is_its_users_own():
    """Torch takes it without a warning, which it has for arrays that can't be written to, and nobody else's changes."""
    torch = pytest.importorskip("torch")
    assert (ARTUS.observation_scale(ARTUS.standard) == OBSERVATION_SCALE).all()
    for scale in (OBSERVATION_SCALE.copy(), ARTUS.observation_scale(ARTUS.standard)):
        assert torch.as_tensor(scale).dtype == torch.float32
        scale[:] = 0
    assert torch.as_tensor(OBSERVATION_SCALE).all()
    assert ARTUS.observation_scale(ARTUS.standard).all()
    assert not np.shares_memory(OBSERVATION_SCALE, ARTUS.observation_scale(ARTUS.standard))


def test_shapes_and_types_of_a_batch():
    batch = Batch(5, rules="advanced", num_players=3)
    batch.step(batch.sample())
    expected = {
        "player": ((5,), np.int8),
        "observation": ((5, OBSERVATION_SIZE), np.int8),
        "mask": ((5, 339), np.int8),
        "reward": ((5, 3), np.float32),
        "done": ((5,), np.bool_),
        "scores": ((5, 3), np.int32),
        "final_scores": ((5, 3), np.int32),
        "final_outcomes": ((5, 3), np.int32),
        "seeds": ((5,), np.uint64),
        "legal_bits": ((5, MASK_WORDS), np.uint64),
        "states": ((5,), STATE),
    }
    assert {name: (getattr(batch, name).shape, getattr(batch, name).dtype) for name in expected} == expected
    assert (batch.sample().shape, batch.sample().dtype) == ((5,), np.int64)
    assert (batch.points().shape, batch.points().dtype) == ((5, 339), np.int16)
    assert len(batch) == batch.num_games == 5
    assert repr(batch) == "Batch(5, game='artus', rules='advanced', num_players=3, threads=1)"


@pytest.mark.parametrize("rules", ["beginner", "advanced"])
@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_observations_stay_within_their_bounds(rules, num_players):
    low, high = ARTUS.observation_bounds(ARTUS.standard)
    batch = Batch(10, rules=rules, num_players=num_players, seed=12)
    lowest, highest = batch.observation.min(0), batch.observation.max(0)
    for _ in range(180):
        batch.step(batch.sample())
        lowest, highest = np.minimum(lowest, batch.observation.min(0)), np.maximum(highest, batch.observation.max(0))
    assert (lowest >= low).all()
    assert (highest <= high).all()
