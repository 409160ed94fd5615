"""Any game as an environment: `env(game="...")` for PettingZoo, `GameEnv(game="...")` for Gymnasium.

Each installed game also has a module `artus_env.NAME_v0` with its own classes and their docstrings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from artus_env.engine.contract.registry import class_prefix, find_game
from artus_env.engine.drawing.render import RenderMode
from artus_env.engine.envs import docstrings
from artus_env.engine.envs.aec import GameAEC
from artus_env.engine.envs.gym_env import GameEnv
from artus_env.engine.envs.vector_env import GameVectorEnv
from artus_env.engine.play.rewards import RewardMode

__all__ = ["GameAEC", "GameEnv", "GameVectorEnv", "env", "raw_env"]


def env(**arguments: Any) -> GameAEC:
    """A game for PettingZoo; an illegal action ends it. See `GameAEC` for the arguments."""
    return GameAEC(**arguments)


def raw_env(**arguments: Any) -> GameAEC:
    """A game for PettingZoo; an illegal action raises `IllegalMoveError`. See `GameAEC` for the arguments."""
    return GameAEC(**arguments, raise_illegal=True)


def environments_of(
    game: str, module: str
) -> tuple[type[GameAEC], type[GameEnv], type[GameVectorEnv], Callable[..., GameAEC], Callable[..., GameAEC]]:
    """Make the content of a game's module: the classes `NAMEAEC`, `NAMEEnv` and `NAMEVectorEnv`, and the functions
    `env` and `raw_env`.

    Args:
        game: Name of the game.
        module: Full name of its module, `artus_env.NAME_v0`.
    """
    definition, prefix = find_game(game), class_prefix(game)
    attributes = {"game_name": game, "__module__": module}

    def make_class(name: str, base: type, template: str) -> Any:
        text = docstrings.docstring(template, definition, module, f"{prefix}Env")
        return type(f"{prefix}{name}", (base,), {**attributes, "__doc__": text})

    aec: type[GameAEC] = make_class("AEC", GameAEC, docstrings.AEC)

    def env(
        rules: str | None = None,
        num_players: int = 2,
        reward: RewardMode = "win",
        components: Any = None,
        render_mode: RenderMode | None = None,
    ) -> GameAEC:
        return aec(rules, num_players, reward, components, render_mode)

    def raw_env(
        rules: str | None = None,
        num_players: int = 2,
        reward: RewardMode = "win",
        components: Any = None,
        render_mode: RenderMode | None = None,
    ) -> GameAEC:
        return aec(rules, num_players, reward, components, render_mode, raise_illegal=True)

    effects = {env: "ends it", raw_env: "raises `IllegalMoveError`"}
    for function, effect in effects.items():
        function.__module__, function.__qualname__ = module, function.__name__  # so that it can be pickled
        function.__doc__ = f"{definition.title} for PettingZoo; an illegal action {effect}. See `{aec.__name__}`."
    return (
        aec,
        make_class("Env", GameEnv, docstrings.ENV),
        make_class("VectorEnv", GameVectorEnv, docstrings.VECTOR_ENV),
        env,
        raw_env,
    )
