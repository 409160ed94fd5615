"""Registration of the environments with Gymnasium and PettingZoo, and import of each game's `artus_env.NAME_v0`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from gymnasium.envs import registration as gymnasium_envs
from pettingzoo.env_registry import registration as pettingzoo_envs

from artus_env.engine.contract.registry import DEFAULT_GAME, class_prefix, find_game, game_modules

PACKAGE = __name__.partition(".")[0]


def pettingzoo_name(game: str) -> str:
    """Id of a game's environment in PettingZoo: `secret-lot-v0`, but `artus-secret-lot-v0` if the game belongs to this
    package and isn't the default one."""
    return f"{_prefix(game)}{game}-v0"


def gymnasium_name(game: str) -> str:
    """Id of a game's environment in Gymnasium: `Secret-Lot-v0`, but `ArtusSecret-Lot-v0` if the game belongs to this
    package and isn't the default one."""
    title = "-".join(part.capitalize() for part in game.split("-"))
    return f"{_prefix(game).rstrip('-').capitalize()}{title}-v0"


def _prefix(game: str) -> str:
    """Beginning of a game's ids: `artus-` for the games of this package other than the default one, whose names alone
    would be too general; else empty."""
    return f"{DEFAULT_GAME}-" if game != DEFAULT_GAME and game_modules()[game].startswith(f"{PACKAGE}.") else ""


def module_name(game: str) -> str:
    """Name of a game's module in this package: `secret_lot_v0`."""
    return f"{game.replace('-', '_')}_v0"


class GameModules(MetaPathFinder, Loader):
    """Create `artus_env.NAME_v0` on import, for games of other packages; the modules of this package's games are
    files."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Spec of an installed game's module, None for other names."""
        if path is None or not name.startswith(f"{PACKAGE}."):
            return None
        games = {f"{PACKAGE}.{module_name(game)}": game for game in game_modules()}
        return ModuleSpec(name, self, loader_state=games[name]) if name in games else None

    def exec_module(self, module: ModuleType) -> None:
        """Fill a game's module. Its docstring (the rules) comes from the module with the game's definition."""
        from artus_env.environments import environments_of  # only needed here

        game: str = module.__spec__.loader_state  # type: ignore[union-attr]
        find_game(game)
        module.__doc__ = sys.modules[game_modules()[game]].__doc__
        for member in environments_of(game, module.__name__):
            setattr(module, member.__name__, member)


def register() -> None:
    """Register every installed game with Gymnasium and PettingZoo, and make its module importable. Registered games are
    skipped, because both libraries warn about a second registration."""
    if not any(type(finder).__qualname__ == GameModules.__qualname__ for finder in sys.meta_path):
        sys.meta_path.append(GameModules())
    for game in game_modules():
        module, gymnasium_id, pettingzoo_id = (
            f"{PACKAGE}.{module_name(game)}",
            gymnasium_name(game),
            pettingzoo_name(game),
        )
        path_start = f"{module}:{class_prefix(game)}"
        if gymnasium_id not in gymnasium_envs.registry:
            gymnasium_envs.register(
                gymnasium_id, entry_point=f"{path_start}Env", vector_entry_point=f"{path_start}VectorEnv"
            )
        if pettingzoo_id not in pettingzoo_envs.aec_registry:
            pettingzoo_envs.register("aec", pettingzoo_id, f"{module}:env")
