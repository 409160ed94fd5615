"""The pages of the "?" panel: a game's topics, each with an example move from random games."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

from artus_env.engine.contract.definition import Definition
from artus_env.engine.play.game import Game
from artus_training.play.texts import texts_of

MOST_GAMES = 200
"""Number of random games searched before giving up."""


class Example(NamedTuple):
    """A move of a random game, and the positions before and after it, as its player sees them."""

    before: dict[str, Any]
    move: str
    after: dict[str, Any]


Holds = Callable[[dict[str, Any], str, dict[str, Any]], bool]
"""Whether a move shows a topic, from the positions before and after it."""
_found: dict[tuple[Any, ...], Example] = {}


def pages(definition: Definition, rules: str, components: Any) -> list[dict[str, Any]]:
    """A page for each topic of a variant; empty if the game has no topics.

    Each has the texts `help.TOPIC.title` and `help.TOPIC`, a move that shows the topic, drawn without hands, and the
    place on the board that the page's script highlights. Moves are searched once.
    """
    own: Any = definition.browser
    if not hasattr(own, "tutorial"):
        return []
    assert definition.picture is not None
    say, made = texts_of(definition), []
    num_players, topics = own.tutorial(rules, components)
    for topic, holds in topics.items():
        key = definition.name, rules, num_players, topic, components
        if key not in _found:
            _found[key] = example(definition, rules, num_players, holds, components)
        before, move, after = _found[key]
        drawn = definition.picture(after, components, before=before, move=move, layout="table")
        at = own.where(before, move, after, components) if hasattr(own, "where") else None
        made.append({"title": say(f"help.{topic}.title"), "text": say(f"help.{topic}"), "picture": drawn, "where": at})
    return made


def example(definition: Definition, rules: str, num_players: int, holds: Holds, components: Any) -> Example:
    """The first move for which `holds` is true, always the same one.

    Raises:
        ValueError: If there is none in `MOST_GAMES` games.
    """
    for seed in range(MOST_GAMES):
        game = Game(rules, num_players, seed, game=definition, components=components)
        rng = random.Random(seed)
        while not game.over:
            player, before, move = game.player, game.to_dict(game.player), rng.choice(game.moves())
            game.play(move)
            found = Example(before, move, game.to_dict(player))
            if holds(*found):
                return found
    raise ValueError(f"{definition.name}: no move of {MOST_GAMES} random games will do")
