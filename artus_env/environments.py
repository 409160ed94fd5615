"""Any game as an environment: `env(game="...")` for PettingZoo, `AnyEnv(game="...")` for Gymnasium.

`artus_env.registration` gives each installed game names of its own, and a module `artus_env.NAME_v0`.
"""

from __future__ import annotations

from typing import Any

from artus_env.default import Batch, Game
from artus_env.engine.envs.aec import GameAEC
from artus_env.engine.envs.gym_env import GameEnv
from artus_env.engine.envs.vector_env import GameVectorEnv


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
