"""Positions to explain a game with: moves of random games for which something holds."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

from artus_env.engine.contract.definition import Definition
from artus_env.engine.drawing.translations import Texts
from artus_env.engine.play.game import Game

MOST_GAMES = 200
"""Random games that are searched before giving up."""


class Example(NamedTuple):
    """A move of a random game, and the positions around it, as its player knows them."""

    before: dict[str, Any]
    move: str
    after: dict[str, Any]


def example(
    definition: Definition, rules: str, num_players: int, holds: Callable[[Example], bool], components: Any = None
) -> Example:
    """The first move for which something holds, always the same one.

    Args:
        definition, rules, num_players: The variant.
        holds: Whether a move will do.
        components: The box.

    Raises:
        ValueError: If it doesn't happen in `MOST_GAMES` games.
    """
    for seed in range(MOST_GAMES):
        game = Game(rules, num_players, seed, game=definition, components=components)
        rng = random.Random(seed)
        while not game.over:
            player, before, move = game.player, game.to_dict(game.player), rng.choice(game.moves())
            game.play(move)
            found = Example(before, move, game.to_dict(player))
            if holds(found):
                return found
    raise ValueError(f"{definition.name}: no move of {MOST_GAMES} random games will do")


_found: dict[tuple[Any, ...], Example] = {}


def lesson(
    say: Texts, topic: str, definition: Definition, rules: str, num_players: int, holds: Callable[[Example], bool],
    components: Any,
) -> dict[str, Any]:  # fmt: skip
    """A page of a game's "?" panel: the texts `help.TOPIC.title` and `help.TOPIC`, and the first move for which
    something holds, drawn without hands, with what the page's script points at for it. It is looked for once."""
    key = definition.name, rules, num_players, topic, components
    if key not in _found:
        _found[key] = example(definition, rules, num_players, holds, components)
    before, move, after = _found[key]
    assert definition.picture is not None
    drawn = definition.picture(after, components, before=before, move=move, layout="table")
    where = getattr(definition.browser, "where", None)
    at = where(before, move, after, components) if where else None
    return {"title": say(f"help.{topic}.title"), "text": say(f"help.{topic}"), "picture": drawn, "where": at}
