"""The parts of a game's definition are checked when it is made."""

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
def test_a_wrong_part_of_a_definition_is_named(changes, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(ARTUS, **changes)


def test_a_game_made_of_another_has_tables_and_verbs_of_its_own():
    """Compiled code tells games apart by the type of their tables."""

    class Verbs:
        @staticmethod
        def is_over(t, g):
            return True

    tables = ARTUS.build_tables(ARTUS.standard)
    functions_before = dispatch.functions_of(tables.dtype)
    other_game = dataclasses.replace(ARTUS, name="other", verbs=(Verbs, *ARTUS.verbs))
    other_tables = other_game.build_tables(other_game.standard)
    assert other_tables.dtype != tables.dtype
    assert Verbs.is_over in dispatch.functions_of(other_tables.dtype)
    assert dispatch.functions_of(tables.dtype) == functions_before


def test_tables_are_kept_and_read_only():
    assert ARTUS.build_tables(ARTUS.standard) is ARTUS.build_tables(ARTUS.standard)
    assert not ARTUS.build_tables(ARTUS.standard).flags.writeable


def test_a_mask_has_room_for_the_actions_of_every_box():
    """No game says how many words its sets of actions take."""
    for name, words in (("artus", 7), ("royal", 2), ("quest", 4)):
        game = find_game(name)
        assert game.mask_words == words
        assert verbs.mask_words(game.build_tables(game.standard)[0]) == words


def test_a_state_dtype_has_the_common_fields_and_is_aligned():
    dtype = state_dtype(3, [("hands", np.int8, (3, 5)), ("chance", np.uint64)])
    assert dtype.names == ("chance", "scores", "player", "num_players", "rule_set", "hands")
    assert dtype["scores"] == np.dtype((np.int16, (3,)))
    assert all(offset % field.base.itemsize == 0 for field, offset in dtype.fields.values())
