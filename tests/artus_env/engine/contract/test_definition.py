"""What a game hands to the engine is checked when it is handed over."""

import dataclasses

import numpy as np
import pytest

from artus_env.engine.compiling import dispatch
from artus_env.engine.contract import verbs
from artus_env.engine.contract.registry import find_game
from artus_env.engine.contract.state import state_dtype
from artus_env.games.artus.definition import ARTUS


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"action_feature_gates": (1.0,)},
            "artus: action_feature_gates must be 13 numbers, one for each feature",
        ),
        ({"action_table": lambda components: range(449)}, "artus: these components make 449 actions, at most 448 are"),
        ({"verbs": (object(),)}, "lacks deal, legal, play, is_over, observe, resample_hidden"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_does_not_fit_is_named(changes, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(ARTUS, **changes)


def test_a_game_made_of_another_has_tables_and_verbs_of_its_own():
    """Compiled code tells games apart by the type of their tables."""

    class Verbs:
        @staticmethod
        def is_over(t, g):
            return True

    tables = ARTUS.build_tables(ARTUS.standard)
    before = dispatch.functions_of(tables.dtype)
    other = dataclasses.replace(ARTUS, name="other", verbs=(Verbs, *ARTUS.verbs))
    theirs = other.build_tables(other.standard)
    assert theirs.dtype != tables.dtype
    assert Verbs.is_over in dispatch.functions_of(theirs.dtype)
    assert dispatch.functions_of(tables.dtype) == before


def test_tables_are_kept_and_read_only():
    assert ARTUS.build_tables(ARTUS.standard) is ARTUS.build_tables(ARTUS.standard)
    assert not ARTUS.build_tables(ARTUS.standard).flags.writeable


def test_a_mask_has_room_for_the_actions_of_every_box():
    """No game says how many words its sets of actions take."""
    for name, words in (("artus", 7), ("royal", 2), ("quest", 4)):
        game = find_game(name)
        assert game.mask_words == words
        assert verbs.mask_words(game.build_tables(game.standard)[0]) == words


def test_a_state_has_what_every_game_has_and_lies_aligned():
    made = state_dtype(3, [("hands", np.int8, (3, 5)), ("chance", np.uint64)])
    assert made.names == ("chance", "scores", "player", "num_players", "rule_set", "hands")
    assert made["scores"] == np.dtype((np.int16, (3,)))
    assert all(offset % field.base.itemsize == 0 for field, offset in made.fields.values())
