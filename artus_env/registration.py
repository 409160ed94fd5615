"""Makes the environments known to Gymnasium and PettingZoo."""

from __future__ import annotations

from gymnasium.envs import registration as gymnasium_envs
from pettingzoo.env_registry import registration as pettingzoo_envs

from artus_env.engine.games import game_modules


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
    package = __name__.partition(".")[0]
    return f"{default}-" if game != default and game_modules()[game].partition(".")[0] == package else ""


def register(default: str) -> None:
    """Register every installed game with Gymnasium and PettingZoo, once: both libraries warn of doing it again.

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
        if name not in pettingzoo_envs.aec_registry:
            entry = "artus_env.artus_v0:env" if own else "artus_env.environments:env"
            pettingzoo_envs.register("aec", name, entry, kwargs=kwargs)
