"""Makes the environments known to Gymnasium and PettingZoo, and each game's module `artus_env.NAME_v0` to Python."""

from __future__ import annotations

import sys
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from gymnasium.envs import registration as gymnasium_envs
from pettingzoo.env_registry import registration as pettingzoo_envs

from artus_env.engine.contract.registry import find_game, game_modules

PACKAGE = __name__.partition(".")[0]


def pettingzoo_name(game: str, default: str) -> str:
    """What PettingZoo calls a game's environment: `secret-lot-v0`, but `artus-secret-lot-v0` if the game comes along
    with this package and isn't its default one."""
    return f"{_prefix(game, default)}{game}-v0"


def gymnasium_name(game: str, default: str) -> str:
    """What Gymnasium calls a game's environment: `Secret-Lot-v0`, or likewise `ArtusSecret-Lot-v0`."""
    title = "-".join(part.capitalize() for part in game.split("-"))
    return f"{_prefix(game, default).rstrip('-').capitalize()}{title}-v0"


def _prefix(game: str, default: str) -> str:
    """`artus-` for the other games of this package: their names alone might be anybody's."""
    return f"{default}-" if game != default and game_modules()[game].partition(".")[0] == PACKAGE else ""


class GameModule(ModuleType):
    # The module `artus_env.NAME_v0` of a game from another package: `env()` and `raw_env()`, as in the modules of
    # PettingZoo's own games. The game is imported at the first use. (No docstring: `__doc__` is the property below.)

    def __init__(self, name: str, game: str) -> None:
        super().__init__(name)
        self.game = game

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        """The docstring of the module with the game's definition, which tells the rules."""
        find_game(self.game)
        return sys.modules[game_modules()[self.game]].__doc__

    @cached_property
    def AEC(self) -> Any:  # noqa: N802
        """The environment's class. Its module is this one: agents look there for the rules."""
        from artus_env.environments import AnyAEC  # only needed here

        return type("AEC", (AnyAEC,), {"__module__": self.__name__, "__doc__": AnyAEC.__doc__})

    def env(self, **arguments: Any) -> Any:
        """An illegal action ends the game. See `GameAEC` for the arguments."""
        return self.AEC(game=self.game, **arguments)

    def raw_env(self, **arguments: Any) -> Any:
        """An illegal action raises `IllegalMoveError`. See `GameAEC` for the arguments."""
        return self.AEC(game=self.game, raise_illegal=True, **arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (self.__name__,)


def module_name(game: str) -> str:
    """Name of a game's module in this package: `secret_lot_v0`."""
    return f"{game.replace('-', '_')}_v0"


def add_module(game: str) -> None:
    """Make the module of a game importable; the games of this package have a file each."""
    name = f"{PACKAGE}.{module_name(game)}"
    if name not in sys.modules and find_spec(name) is None:
        sys.modules[name] = GameModule(name, game)


def register(default: str) -> None:
    """Register every installed game with Gymnasium and PettingZoo, once: both libraries warn of doing it again. Give
    each of them its module.

    Args:
        default: The game that has environments of its own, and whose name the other games of this package begin with.
    """
    for game in game_modules():
        title, name = gymnasium_name(game, default), pettingzoo_name(game, default)
        own = game == default
        kwargs = {} if own else {"game": game}
        if title not in gymnasium_envs.registry:
            module = "artus_env.gymnasium_v0:Artus" if own else "artus_env.environments:Any"
            gymnasium_envs.register(
                title, entry_point=f"{module}Env", vector_entry_point=f"{module}VectorEnv", kwargs=kwargs
            )
        add_module(game)
        if name not in pettingzoo_envs.aec_registry:
            pettingzoo_envs.register("aec", name, f"{PACKAGE}.{module_name(game)}:env")
