"""Cards of trained agents, the same for all trainers.

An agent is two files: `agent.safetensors` with its weights, and `agent.json`, the card that describes it (see
`artus_agents.saved`).
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from importlib.metadata import version
from math import isfinite
from typing import Any

import torch

from artus_env import DEFAULT_GAME
from artus_env.engine.contract.registry import find_game
from artus_training.arena.evaluate import Evaluation
from artus_training.learn.settings import FILE_SETTINGS, TrainingSettings, changes, settings_to_dict

PACKAGES = ("artus-env", "torch", "numpy", "numba")


def card(
    game: str,
    variants: Sequence[tuple[str, int]],
    *,
    command: str,
    settings: dict[str, Any],
    steps: int,
    seconds: float,
    curve: Sequence[dict[str, Any]],
    strength: Sequence[Evaluation] = (),
    threads: int = 0,
    ranks: int = 1,
    bfloat16: bool = False,
    changes: Sequence[dict[str, Any]] = (),
    start: str = "",
    packages: Sequence[str] = PACKAGES,
) -> dict[str, Any]:
    """Build the card of an agent, in JSON types.

    Args:
        game, variants: Game and variants of the training.
        command: The command that trains the same agent.
        settings: All of the trainer's settings; those of `FILE_SETTINGS` are left out.
        steps: Total number of decisions.
        seconds: Training time, evaluations not counted.
        curve: The learning curve, see `point`.
        strength: Evaluations of the finished agent.
        threads: Torch threads of each rank; 0: torch's current number.
        ranks: Processes that shared the training.
        bfloat16: Whether the network computed in bfloat16.
        changes: Settings that were changed in resumed runs: `steps` at that time, and `settings` with the old and the
            new value of each.
        start: Hash of the initial weights (see `start.Start`); empty: they were random.
        packages: Packages whose versions are recorded.
    """
    return {
        "game": game,
        "variants": [list(variant) for variant in variants],
        "components": find_game(game).standard.hash,
        "command": command,
        "strength": [
            {"rules": e.rules, "num_players": e.num_players, "against": e.agents[1], "games": e.games, "seed": e.seed,
             "wins": round(e.win_rate, 4), "wins_95": [round(bound, 4) for bound in e.interval],
             "margin": round(e.margin, 2),
             "margin_95": round(e.margin_error, 2) if isfinite(e.margin_error) else None}
            for e in strength
        ],
        "steps": steps,
        "minutes": round(seconds / 60, 2),
        "threads": threads or torch.get_num_threads(),
        "ranks": ranks,
        "bfloat16": bfloat16,
        "versions": {name: version(name) for name in packages},
        "settings": {name: value for name, value in settings.items() if name not in FILE_SETTINGS},
        "changes": list(changes),
        "curve": list(curve),
        **({"start": start} if start else {}),
    }  # fmt: skip


def point(steps: int, seconds: float, results: Sequence[Evaluation]) -> dict[str, Any]:
    """A point of the learning curve: the steps and seconds so far, and the agent's win rate (`wins`) and mean lead in
    points (`margin`) against each opponent, both by the key RULES-PLAYERS/OPPONENT."""
    keys = [f"{e.rules}-{e.num_players}/{e.agents[1]}" for e in results]
    return {
        "steps": steps,
        "seconds": round(seconds, 1),
        "wins": {key: round(e.win_rate, 4) for key, e in zip(keys, results, strict=True)},
        "margin": {key: round(e.margin, 2) for key, e in zip(keys, results, strict=True)},
    }


def command(program: str, settings: TrainingSettings, default: TrainingSettings) -> str:
    """The command that trains the same agent.

    Args:
        program: The program, such as `artus train`.
        settings: Its settings; those of `FILE_SETTINGS` are left out.
        default: The settings that the program uses for this variant without options.
    """
    words = program.split() + (["--game", settings.game] if settings.game != DEFAULT_GAME else [])
    words += ["--rules", settings.rules, "--num-players", str(settings.num_players)]
    for name, (_, value) in changes(settings_to_dict(default), settings_to_dict(settings)).items():
        words += ["--set", f"{name}={value if isinstance(value, str) else json.dumps(value)}"]
    return shlex.join(words)
