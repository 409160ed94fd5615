"""How strong agents are called on the page, and which one is the strongest of a variant."""

from __future__ import annotations

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import find_game

LEVELS = {"easy": "greedy", "medium": "lookahead", "hard": "ismcts:1000", "master": "ppo-search:64"}
"""How strong agents are called on the page, the weakest first (docs/strength.md)."""
INSTEAD_OF_MASTER = "ismcts:4000"
"""Where no agent was trained for a variant, or torch isn't installed."""


def strongest(game: Definition, rules: str, num_players: int) -> str:
    """The strongest agent that plays a variant: a search with the network that was trained for it, if there is one."""
    return _strongest(game.name, rules, num_players)


@cache
def _strongest(name: str, rules: str, num_players: int) -> str:
    game = find_game(name)
    if game.trained is None or find_spec("torch") is None:
        return INSTEAD_OF_MASTER
    for card in (Path(game.trained) / f"{rules}-{num_players}.json", Path(game.trained) / "shared.json"):
        if card.is_file():  # which says whom it was trained for; the network itself is read when it is asked
            told = json.loads(card.read_text(encoding="utf-8-sig"))
            fits = [rules, num_players] in told["variants"] and told["components"] == game.standard.hash
            return LEVELS["master"] if fits else INSTEAD_OF_MASTER
    return INSTEAD_OF_MASTER
