"""Artus as an environment: exact rules, fast batches, standard interfaces."""

from __future__ import annotations

from artus_env.artus.actions import NUM_ACTIONS
from artus_env.artus.components import Card, Components
from artus_env.artus.definition import ARTUS
from artus_env.engine import batch as _batch
from artus_env.engine import game as _game
from artus_env.engine.game import IllegalMoveError

__all__ = ["NUM_ACTIONS", "Batch", "Card", "Components", "Game", "IllegalMoveError", "warmup"]


class Game(_game.Game):
    __doc__ = _game.Game.__doc__
    definition = ARTUS


class Batch(_batch.Batch):
    __doc__ = _batch.Batch.__doc__
    definition = ARTUS


def warmup() -> None:
    """Compile everything now, or load it from the cache, so that no later call has to wait."""
