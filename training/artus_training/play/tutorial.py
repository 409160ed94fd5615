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


ShowsTopic = Callable[[dict[str, Any], str, dict[str, Any]], bool]
"""Whether a move shows a topic: called with the position before it, the move, and the position after it."""
_examples: dict[tuple[Any, ...], Example] = {}


def pages(definition: Definition, rules: str, components: Any) -> list[dict[str, Any]]:
    """A page for each topic of a variant; empty if the game has no topics.

    Returns:
        For each page its `title` and `text` (the game's texts `help.TOPIC.title` and `help.TOPIC`), a `picture` (SVG,
        without hands) after a move that shows the topic, and `where`, the place that the page's script highlights in
        it. The move is searched only at the first call.
    """
    browser_part: Any = definition.browser
    if not hasattr(browser_part, "tutorial"):
        return []
    assert definition.picture is not None
    say, help_pages = texts_of(definition), []
    num_players, topics = browser_part.tutorial(rules, components)
    for topic, shows_topic in topics.items():
        key = definition.name, rules, num_players, topic, components
        if key not in _examples:
            _examples[key] = example(definition, rules, num_players, shows_topic, components)
        before, move, after = _examples[key]
        drawing = definition.picture(after, components, before=before, move=move, layout="table")
        where = browser_part.where(before, move, after, components) if hasattr(browser_part, "where") else None
        texts = {"title": say(f"help.{topic}.title"), "text": say(f"help.{topic}")}
        help_pages.append({**texts, "picture": drawing, "where": where})
    return help_pages


def example(definition: Definition, rules: str, num_players: int, shows_topic: ShowsTopic, components: Any) -> Example:
    """The first move of random games for which `shows_topic` is true. The games have fixed seeds.

    Raises:
        ValueError: If no move of `MOST_GAMES` games shows the topic.
    """
    for seed in range(MOST_GAMES):
        game = Game(rules, num_players, seed, game=definition, components=components)
        rng = random.Random(seed)
        while not game.over:
            player, before, move = game.player, game.to_dict(game.player), rng.choice(game.moves())
            game.play(move)
            found = Example(before, move, game.to_dict(player))
            if shows_topic(*found):
                return found
    raise ValueError(f"{definition.name}: no move of {MOST_GAMES} random games shows the topic")
