"""Artus as an environment: exact rules, fast batches, standard interfaces."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import Any

from artus_env.engine.contract import registry as _registry
from artus_env.engine.contract.layout import Layout as _Layout
from artus_env.engine.contract.registry import find_game, game_names
from artus_env.engine.play.batch import Batch
from artus_env.engine.play.game import Game, IllegalMoveError
from artus_env.engine.play.records import RecordError
from artus_env.games.artus import actions as _actions
from artus_env.games.artus import observation as _observation
from artus_env.games.artus.components import Card, Components
from artus_env.registration import module_name as _module_name
from artus_env.registration import register

__all__ = [
    "DEFAULT_GAME",
    "NUM_ACTIONS",
    "OBSERVATION_SCALE",
    "OBSERVATION_SIZE",
    "Batch",
    "Card",
    "Components",
    "Game",
    "IllegalMoveError",
    "RecordError",
    "find_game",
    "game_names",
    "warmup",
]

__version__: str
DEFAULT_GAME = _registry.DEFAULT_GAME
"""Name of the default game."""
NUM_ACTIONS = _actions.NUM_ACTIONS
"""Number of actions with the standard box; ids are 0..NUM_ACTIONS - 1."""
_layout = _Layout(_observation.features(Components()))
OBSERVATION_SIZE = _layout.size
"""Number of features of an observation with the standard box."""
OBSERVATION_SCALE = _layout.scale
"""Factors that scale an observation to small floats, most of them within -1..1: shape (OBSERVATION_SIZE,), float32.
Changes to this copy don't affect the engine."""


def warmup(game: str = DEFAULT_GAME) -> None:
    """Compile everything that a game needs, or load it from the cache, so that later calls don't wait. Takes a few
    seconds once."""
    from artus_env import environments  # only needed here

    for threads in (1, 2):
        batch = Batch(8192, threads=threads, game=game)
        batch.step(batch.sample())
    batch.refresh()
    batch.points()
    batch.reset(which=[0])
    batch.step(batch.sample()[:1], which=[0])
    batch.observe(0)
    single_game = Game(seed=0, game=game)
    single_game.observation()
    single_game.play(single_game.moves()[0])
    single_game.redeal(0, 0)
    env = environments.env(game=game, reward="points")
    env.reset(seed=0)
    while not env.terminations[env.agent_selection]:
        env.step(int(env.last()[0]["action_mask"].argmax()))


def __getattr__(name: str) -> Any:
    """Return `__version__`, or for `NAME_v0` of an installed game the module with its environments for PettingZoo."""
    if name == "__version__":
        return version("artus-env")
    if name in map(_module_name, game_names()):
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "__version__", *map(_module_name, game_names())})


register()
