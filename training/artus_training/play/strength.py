"""Agents of the levels of strength on the page, and the strongest agent of a variant."""

from __future__ import annotations

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import find_game

LEVELS = {"easy": "greedy", "medium": "lookahead", "hard": "ismcts:1000", "master": "ppo-search:64"}
"""Agent of each level on the page, weakest first (docs/strength.md)."""
INSTEAD_OF_MASTER = "ismcts:4000"
"""Strongest agent without a trained one for the variant, or without torch."""


def levels(game: Definition, rules: str, num_players: int) -> dict[str, str]:
    """The agent of each level in a variant."""
    return {**LEVELS, "master": strongest(game, rules, num_players)}


def strongest(game: Definition, rules: str, num_players: int) -> str:
    """The strongest agent for a variant: a search with the network that was trained for it, if there is one."""
    return _strongest(game.name, rules, num_players)


@cache
def _strongest(name: str, rules: str, num_players: int) -> str:
    game = find_game(name)
    if game.trained is None or find_spec("torch") is None:
        return INSTEAD_OF_MASTER
    for path in (Path(game.trained) / f"{rules}-{num_players}.json", Path(game.trained) / "shared.json"):
        if path.is_file():  # has the variants; the network itself is loaded at its first move
            card = json.loads(path.read_text(encoding="utf-8-sig"))
            fits = [rules, num_players] in card["variants"] and card["components"] == game.standard.hash
            return LEVELS["master"] if fits else INSTEAD_OF_MASTER
    return INSTEAD_OF_MASTER
