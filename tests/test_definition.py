"""What a game hands to the engine is checked when it is handed over."""

import dataclasses

import pytest

from artus_env.engine.compiling import dispatch
from artus_env.games.artus.definition import ARTUS


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"action_feature_gates": (1.0,)},
            "artus: action_feature_gates must be 13 numbers, one for each feature",
        ),
        ({"action_table": lambda components: range(449)}, "artus: 449 actions need more words than mask_words says"),
        ({"verbs": (object(),)}, "lacks deal, legal, play, is_over, observe, resample_hidden"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_does_not_fit_is_named(changes, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(ARTUS, **changes)


def test_two_games_whose_tables_have_one_type_are_refused_by_name():
    """Compiled code tells games apart by the type of their tables: the second took the first one's verbs."""

    class Verbs:
        @staticmethod
        def is_over(t, g):
            return True

    tables = ARTUS.build_tables(ARTUS.standard).dtype
    before = dispatch.functions_of(tables)
    with pytest.raises(ValueError, match="the games other and artus have tables of one type: add a field named after"):
        dataclasses.replace(ARTUS, name="other", verbs=(Verbs, *ARTUS.verbs))
    assert dispatch.functions_of(tables) == before
    dataclasses.replace(ARTUS, name="other")  # the same verbs: nothing to confuse
    assert dispatch.functions_of(tables) == before
