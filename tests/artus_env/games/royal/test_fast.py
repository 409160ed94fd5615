"""`fast.write_cards` gives the same result as its plain definition."""

import dataclasses

import numpy as np
import pytest

from artus_env.games.royal import fast
from artus_env.games.royal.actions import MASK_WORDS, build_tables
from artus_env.games.royal.components import STANDARD
from artus_env.games.royal.state import GROUPS, KNIGHTS


@pytest.mark.parametrize("suits", range(2, len(STANDARD.suits) + 1))
def test_cards_that_may_be_played(suits):
    box = dataclasses.replace(STANDARD, suits=STANDARD.suits[:suits], hand=3)
    tables, rng = build_tables(box)[0], np.random.default_rng(suits)
    words, plain = np.zeros(MASK_WORDS, np.uint64), np.zeros(MASK_WORDS, np.uint64)
    for _ in range(300):
        hand = tables["full"] & rng.integers(0, 1 << 15, GROUPS)
        hand[KNIGHTS:] = rng.integers(0, 3, 2)
        for suit in range(-1, len(box.suits)):
            fast.write_cards(tables, hand, suit, words)
            fast.plain_write_cards(tables, hand, suit, plain)
            assert (words == plain).all()
