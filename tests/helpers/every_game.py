"""All variants of all installed games, for the tests that every game has to pass."""

import pytest

from artus_env.engine.contract.registry import game_names
from artus_env.testing.variants import variants_of

GAMES = game_names()
VARIANTS = [variant for game in GAMES for variant in variants_of(game)]
LARGEST = [variants_of(game)[-1] for game in GAMES]
"""One variant of each game, for tests that hardly depend on the variant."""

games = pytest.mark.parametrize("game", GAMES)
variants = pytest.mark.parametrize(
    "variant",
    [variant if variant in LARGEST else pytest.param(variant, marks=pytest.mark.slow) for variant in VARIANTS],
    ids=str,
)
largest = pytest.mark.parametrize("variant", LARGEST, ids=str)
