"""Makes the environments known to Gymnasium and PettingZoo."""

from __future__ import annotations

from gymnasium.envs import registration as gymnasium_envs
from pettingzoo.env_registry import registration as pettingzoo_envs


def register() -> None:
    """Register `Artus-v0` (Gymnasium) and `artus-v0` (PettingZoo), once: both libraries warn of doing it again."""
    if "Artus-v0" not in gymnasium_envs.registry:
        gymnasium_envs.register(
            "Artus-v0",
            entry_point="artus_env.gymnasium_v0:ArtusEnv",
            vector_entry_point="artus_env.gymnasium_v0:ArtusVectorEnv",
        )
    if "artus-v0" not in pettingzoo_envs.aec_registry:
        pettingzoo_envs.register("aec", "artus-v0", "artus_env.artus_v0:env")
