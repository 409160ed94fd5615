"""`Game` and `Batch` with the game that is played where none is named."""

from __future__ import annotations

from artus_env.engine.play import batch as _batch
from artus_env.engine.play import game as _game

DEFAULT_GAME = "artus"
"""What is played where no game is named."""


class Game(_game.Game):
    __doc__ = _game.Game.__doc__
    default_game = DEFAULT_GAME


class Batch(_batch.Batch):
    __doc__ = _batch.Batch.__doc__
    default_game = DEFAULT_GAME
