"""Any installed game as an environment: `env(game="...")` for PettingZoo, `GameEnv(game="...")` for Gymnasium.

`artus_env.registration` says under which names they are registered, as `artus_env.artus_v0` and
`artus_env.gymnasium_v0` are for the default game. `Environments` is what `from artus_env import NAME_v0` gives.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    """Many seats at as many tables: `game` names it, all other arguments are those of `GameVectorEnv`."""

    batch_class = Batch
    metadata = {"render_modes": ["rgb_array", "ansi"], "render_fps": 2}


def env(**arguments: Any) -> AnyAEC:
    """A game for PettingZoo; an illegal action ends it. See `GameAEC` for the arguments."""
    return AnyAEC(**arguments)


def raw_env(**arguments: Any) -> AnyAEC:
    """A game for PettingZoo; an illegal action raises `IllegalMoveError`. See `GameAEC` for the arguments."""
    return AnyAEC(**arguments, raise_illegal=True)


@dataclass(frozen=True)
class Environments:
    """One game for PettingZoo: `env()` and `raw_env()`, as the modules of PettingZoo's own games have them."""

    game: str

    def env(self, **arguments: Any) -> AnyAEC:
        """An illegal action ends the game. See `GameAEC` for the arguments."""
        return env(game=self.game, **arguments)

    def raw_env(self, **arguments: Any) -> AnyAEC:
        """An illegal action raises `IllegalMoveError`. See `GameAEC` for the arguments."""
        return raw_env(game=self.game, **arguments)
