"""Makes the environments known to Gymnasium and PettingZoo."""

from __future__ import annotations

from gymnasium.envs import registration as gymnasium_envs
from pettingzoo.env_registry import registration as pettingzoo_envs

from artus_env.engine.games import game_names


def gymnasium_name(game: str) -> str:
    """What Gymnasium calls a game's environment: `Secret-Lot-v0` for `secret-lot`."""
    return "-".join(part.capitalize() for part in game.split("-")) + "-v0"


def register(default: str) -> None:
    """Register `Name-v0` (Gymnasium) and `name-v0` (PettingZoo) for every installed game, once: both libraries warn of
    doing it again.

    Args:
        default: The game that has environments of its own.
    """
    for game in game_names():
        title = gymnasium_name(game)
        own = game == default
        kwargs = {} if own else {"game": game}
        if title not in gymnasium_envs.registry:
            module = "artus_env.gymnasium_v0:Artus" if own else "artus_env.environments:Any"
            gymnasium_envs.register(
                title, entry_point=f"{module}Env", vector_entry_point=f"{module}VectorEnv", kwargs=kwargs
            )
        if f"{game}-v0" not in pettingzoo_envs.aec_registry:
            entry = "artus_env.artus_v0:env" if own else "artus_env.environments:env"
            pettingzoo_envs.register("aec", f"{game}-v0", entry, kwargs=kwargs)
