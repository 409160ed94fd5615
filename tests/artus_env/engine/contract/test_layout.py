"""A list of features determines the layout of an observation: places, bounds, scale, and the documentation's table."""

import numpy as np
import pytest

from artus_env.engine.contract.layout import Feature, Layout

LAYOUT = Layout(
    [
        Feature("hand", 3, meaning="own cards"),
        Feature("cards of player +1", 2, 0, 4, meaning="theirs"),
        Feature("cards of player +2", 2, 0, 4, meaning="likewise"),
        Feature("lead", 1, -8, 5, 0.5, "points ahead"),
    ]
)


def test_each_feature_knows_its_place():
    assert LAYOUT.starts == {"hand": 0, "cards of player +1": 3, "cards of player +2": 5, "lead": 7}
    assert LAYOUT.size == 8


def test_bounds_and_scale_follow():
    low, high = LAYOUT.bounds
    assert low.tolist() == [0] * 7 + [-8]
    assert high.tolist() == [1] * 3 + [4] * 4 + [5]
    assert low.dtype == high.dtype == np.int8
    assert LAYOUT.scale.tolist() == [1] * 3 + [0.25] * 4 + [0.5]
    assert LAYOUT.scale.dtype == np.float32


def test_like_blocks_share_a_line_of_the_table():
    assert LAYOUT.rows() == [
        ["0-2", "3", "hand", "0..1", "1", "0..1", "own cards"],
        ["3-6", "2 x 2", "cards of player +1 ... cards of player +2", "0..4", "0.25", "0..1", "theirs"],
        [7, "1", "lead", "-8..5", "0.5", "-4..2.5", "points ahead"],
    ]


def test_two_features_of_one_name_are_refused():
    with pytest.raises(ValueError, match="there are two features hand"):
        Layout([Feature("hand"), Feature("hand", 2)])
