"""Any installed game as an environment: `env(game="...")` for PettingZoo, `GameEnv(game="...")` for Gymnasium.

They are registered as `NAME-v0` (PettingZoo) and `Name-v0` (Gymnasium), as `artus_env.artus_v0` and
`artus_env.gymnasium_v0` are for the default game.
"""

from __future__ import annotations

from typing import Any

from artus_env.default import Batch, Game
from artus_env.engine.aec import GameAEC
from artus_env.engine.gym_env import GameEnv
from artus_env.engine.vector_env import GameVectorEnv


class AnyAEC(GameAEC):
    """A game for PettingZoo: `game` names it, all other arguments are those of `GameAEC`."""

    game_class = Game
    metadata = {"render_modes": ["human", "rgb_array", "ansi"], "is_parallelizable": False, "render_fps": 2}


class AnyEnv(GameEnv):
    """One seat of a game for Gymnasium: `game` names it, all other arguments are those of `GameEnv`."""

    batch_class = Batch
    metadata = {"render_modes": ["human", "rgb_array", "ansi"], "render_fps": 2}


class AnyVectorEnv(GameVectorEnv):
    """One seat in each of many games: `game` names it, all other arguments are those of `GameVectorEnv`."""

    batch_class = Batch
    metadata = {"render_modes": ["rgb_array", "ansi"], "render_fps": 2}


def env(**arguments: Any) -> AnyAEC:
    """A game for PettingZoo; an illegal action ends it. See `GameAEC` for the arguments."""
    return AnyAEC(**arguments)


def raw_env(**arguments: Any) -> AnyAEC:
    """A game for PettingZoo; an illegal action raises `IllegalMoveError`. See `GameAEC` for the arguments."""
    return AnyAEC(**arguments, raise_illegal=True)
