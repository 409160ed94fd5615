"""Functions that compute many values at once give the same results as their plain definitions."""

import numpy as np

from artus_env import Batch
from artus_env.games.quest import fast
from artus_env.games.quest.actions import build_tables
from artus_env.games.quest.components import STANDARD
from artus_env.games.quest.definition import QUEST
from artus_env.games.quest.state import DIGIT

TABLES = build_tables(STANDARD)[0]


def card_sets(max_copies, number=300):
    """Random sets of cards (see `state.DIGIT`), many of them with few kinds."""
    rng = np.random.default_rng(5)
    for _ in range(number):
        counts = rng.integers(0, max_copies + 1, fast.NUM_CARDS) * (rng.random(fast.NUM_CARDS) < rng.random())
        yield sum(int(count) << DIGIT * kind for kind, count in enumerate(counts))


def test_cards_and_quests():
    for few_cards in card_sets(1):
        assert fast.cards_in(few_cards) == fast.plain_cards_in(few_cards)
        for cards_in_hand in (few_cards, 7 * few_cards):
            assert fast.kinds_of(cards_in_hand) == fast.plain_kinds_of(cards_in_hand)
            assert fast.met(cards_in_hand) == fast.plain_met(cards_in_hand)
            assert fast.payable(TABLES, cards_in_hand) == fast.plain_payable(TABLES, cards_in_hand)
            for quest in range(len(TABLES["needs"])):
                assert fast.missing(TABLES, quest, cards_in_hand) == fast.plain_missing(TABLES, quest, cards_in_hand)


def test_bids():
    bids = [int(bid) for bid in TABLES["bids"][: TABLES["num_bids"]]]
    for cards_in_hand in card_sets(7):
        for bid in bids:
            assert fast.fits(bid, cards_in_hand) == fast.plain_fits(bid, cards_in_hand)


def test_ways_round_the_ring():
    for state in Batch(64, game=QUEST, seed=3).states:
        for place in range(fast.NUM_PLACES):
            steps = fast.steps_from(state, place)
            assert steps == fast.plain_steps_from(state, place)
            for farthest in range(fast.NUM_PLACES):
                assert fast.within(steps, farthest) == fast.plain_within(steps, farthest)
