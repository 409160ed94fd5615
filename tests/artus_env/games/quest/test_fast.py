"""What is computed at once means the same as its plain definition."""

import numpy as np

from artus_env import Batch
from artus_env.games.quest import fast
from artus_env.games.quest.actions import build_tables
from artus_env.games.quest.components import STANDARD
from artus_env.games.quest.definition import QUEST
from artus_env.games.quest.state import DIGIT

TABLES = build_tables(STANDARD)[0]


def cards(most, number=300):
    """Numbers of cards, many of them with few kinds."""
    rng = np.random.default_rng(5)
    for _ in range(number):
        counts = rng.integers(0, most + 1, fast.NUM_CARDS) * (rng.random(fast.NUM_CARDS) < rng.random())
        yield sum(int(count) << DIGIT * kind for kind, count in enumerate(counts))


def test_cards_and_quests():
    for some in cards(1):
        assert fast.cards_in(some) == fast.plain_cards_in(some)
        for more in (some, 7 * some):
            assert fast.kinds_of(more) == fast.plain_kinds_of(more)
            assert fast.met(more) == fast.plain_met(more)
            assert fast.payable(TABLES, more) == fast.plain_payable(TABLES, more)
            for quest in range(len(TABLES["needs"])):
                assert fast.missing(TABLES, quest, more) == fast.plain_missing(TABLES, quest, more)


def test_bids():
    bids = [int(bid) for bid in TABLES["bids"][: TABLES["num_bids"]]]
    for some in cards(7):
        for bid in bids:
            assert fast.fits(bid, some) == fast.plain_fits(bid, some)


def test_ways_round_the_ring():
    for state in Batch(64, game=QUEST, seed=3).states:
        for place in range(fast.NUM_PLACES):
            steps = fast.steps_from(state, place)
            assert steps == fast.plain_steps_from(state, place)
            for farthest in range(fast.NUM_PLACES):
                assert fast.within(steps, farthest) == fast.plain_within(steps, farthest)
