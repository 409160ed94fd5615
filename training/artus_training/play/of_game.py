"""How the page makes games, what it calls them, and what is seen of their moves.

What a game may bring for the page: `artus_env.authoring.Sentences` and `Browser`.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from artus_env import Batch, Game
from artus_env.engine.basics.wording import signed
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import find_game
from artus_env.engine.drawing.translations import Entry, Texts
from artus_training.play.phrases import say

# --- games -----------------------------------------------------------------------------------------------------------


def replay(record: dict[str, Any]) -> Game:
    """The game that a record, which names its game, describes.

    Raises:
        ValueError: If it can't be replayed.
    """
    return Game.replay(json.dumps(record))


def batch_of(game: Game) -> Batch:
    """A batch of one game of the same variant."""
    return Batch(
        1,
        rules=game.rules,
        num_players=game.num_players,
        autoreset=False,
        components=game.components,
        game=game.definition,
    )


def warm_up(name: str) -> None:
    """Compile what a game needs, or load it from the cache, so that nobody has to wait later."""
    game = Game(None, find_game(name).min_players, 0, game=name)
    game.play(game.moves()[0])
    game.redeal(0, 0)
    batch = batch_of(game)
    batch.refresh()
    batch.points()
    batch.observe(0)


# --- what is seen ----------------------------------------------------------------------------------------------------


def seen_move(game: Game, action: int, viewer: int, now: Game | None = None) -> str | None:
    """What a viewer sees of an action that the player to move takes, as text; None if only that something was chosen.

    With `now`, the same game later on, also if it has been opened since. Whatever is told of a move to anybody, in the
    log, in the stream or in a picture, comes from here.
    """
    return game.move(action) if game.is_seen(action, viewer, now) else None


# --- what it is called -----------------------------------------------------------------------------------------------

NO_TEXTS = Texts(Path(__file__).parent / "no texts")


def texts_of(definition: Definition) -> Texts:
    """A game's catalogues, in the folder `texts` of its page; empty ones if it brings none."""
    return _texts(definition.page) if definition.page else NO_TEXTS


@cache
def _texts(page: Path) -> Texts:
    return Texts(page / "texts")


SAID_BY_THE_SERVER = ("help.", "picture.", "reason.")
"""Beginnings of the keys of a game's texts that its script doesn't get."""


def texts_of_script(definition: Definition) -> dict[str, Entry]:
    """What a game's script can say, in the language that is spoken now."""
    return texts_of(definition).without(*SAID_BY_THE_SERVER)


def title_of(definition: Definition) -> str:
    """What a game is called in the language that is spoken now: its text `title`, else the definition's."""
    said = texts_of(definition)
    return said("title") if "title" in said else definition.title


def score_of(definition: Definition) -> str:
    """What its points are called: its text `score`, else the definition's."""
    said = texts_of(definition)
    return said("score") if "score" in said else definition.score


def scored(definition: Definition, points: int) -> str:
    """Some points in words, `3 fields`: its text `scored`, else the number and what they are called."""
    said, number = texts_of(definition), signed(points)
    return (
        said("scored", n=points, points=number)
        if "scored" in said
        else say("points", points=number, score=score_of(definition))
    )


def rules_name(definition: Definition, rules: str) -> str:
    """What a rule set is called: its text `rules.NAME`, else its name."""
    said = texts_of(definition)
    return said(f"rules.{rules}") if f"rules.{rules}" in said else rules


def rules_of(definition: Definition, rules: str) -> str:
    """What a rule set is called, empty if there is only one."""
    return rules_name(definition, rules) if len(definition.rules) > 1 else ""
