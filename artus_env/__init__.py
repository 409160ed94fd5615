"""Artus as an environment: exact rules, fast batches, standard interfaces."""

from __future__ import annotations

from artus_env.engine import batch as _batch
from artus_env.engine import game as _game
from artus_env.engine.game import IllegalMoveError
from artus_env.games.artus import actions as _actions
from artus_env.games.artus import observation as _observation
from artus_env.games.artus.components import Card, Components
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
    "warmup",
]

NUM_ACTIONS = _actions.NUM_ACTIONS
"""How many actions there are with the standard box: ids are 0..NUM_ACTIONS - 1."""
OBSERVATION_SIZE = _observation.OBSERVATION_SIZE
"""How many features an observation has with the standard box."""
OBSERVATION_SCALE = _observation.observation_scale()
"""Multiply an observation by it for floats of about -1..1: shape (OBSERVATION_SIZE,), float32. A copy: the
engine reads nothing from it."""


DEFAULT_GAME = "artus"
"""What is played where no game is named."""


class Game(_game.Game):
    __doc__ = _game.Game.__doc__
    default_game = DEFAULT_GAME


class Batch(_batch.Batch):
    __doc__ = _batch.Batch.__doc__
    default_game = DEFAULT_GAME


def warmup() -> None:
    """Compile everything now, or load it from the cache, so that no later call has to wait (a few seconds, once)."""
    from artus_env import artus_v0  # needs this module

    for threads in (1, 2):
        batch = Batch(8192, rules="advanced", num_players=4, threads=threads)
        batch.step(batch.sample())
    batch.points()
    batch.reset(which=[0])
    batch.step(batch.sample()[:1], which=[0])
    batch.observe(0)
    game = Game(seed=0)
    game.observation()
    game.play(game.moves()[0])
    game.redeal(0, 0)
    env = artus_v0.env(reward="prestige")
    env.reset(seed=0)
    while not env.terminations[env.agent_selection]:
        env.step(int(env.last()[0]["action_mask"].argmax()))


register()
