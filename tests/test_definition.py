"""What a game hands to the engine is checked when it is handed over."""

import dataclasses

import pytest

from artus_env.games.artus.definition import ARTUS


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"outlook_gates": (1.0,)}, "artus: outlook_gates must be 13 numbers, one for each outlook"),
        ({"action_table": lambda components: range(449)}, "artus: 449 actions need more words than mask_words says"),
        ({"verbs": (object(),)}, "lacks deal, legal, play, is_over, observe, redeal"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_does_not_fit_is_named(changes, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(ARTUS, **changes)
