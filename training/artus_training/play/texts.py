"""A game for the page: creation, titles and texts, and the visible part of its moves.

The optional page content of a game is defined by `artus_env.authoring.Sentences` and `Browser`.
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
    """The game described by a record, which includes the game's name.

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
    """Compile or load the functions that a game needs, so that no player waits for that later."""
    game = Game(None, find_game(name).min_players, 0, game=name)
    game.play(game.moves()[0])
    game.redeal(0, 0)
    batch = batch_of(game)
    batch.refresh()
    batch.points()
    batch.observe(0)


# --- what is seen ----------------------------------------------------------------------------------------------------


def seen_move(game: Game, action: int, viewer: int, now: Game | None = None) -> str | None:
    """The visible part of an action of the player to move, as text for a viewer; None if they only see that a choice
    was made.

    With `now`, the same game at a later point: a move counts as visible if it has been revealed since. All texts and
    pictures of moves, in the log, in the stream or in a picture, come from here.
    """
    return game.move(action) if game.is_seen(action, viewer, now) else None


# --- what it is called -----------------------------------------------------------------------------------------------

NO_TEXTS = Texts(Path(__file__).parent / "no texts")


def texts_of(definition: Definition) -> Texts:
    """A game's catalogues, in the folder `texts` of its page; empty ones if it has none."""
    return _texts(definition.page) if definition.page else NO_TEXTS


@cache
def _texts(page: Path) -> Texts:
    return Texts(page / "texts")


SAID_BY_THE_SERVER = ("help.", "picture.", "reason.")
"""Key prefixes of a game's texts that only the server uses."""


def texts_of_script(definition: Definition) -> dict[str, Entry]:
    """Texts for a game's script, in the current language."""
    return texts_of(definition).without(*SAID_BY_THE_SERVER)


def title_of(definition: Definition) -> str:
    """A game's title in the current language: its text `title`, else the definition's."""
    said = texts_of(definition)
    return said("title") if "title" in said else definition.title


def score_of(definition: Definition) -> str:
    """Name of the game's points: its text `score`, else the definition's."""
    said = texts_of(definition)
    return said("score") if "score" in said else definition.score


def scored(definition: Definition, points: int) -> str:
    """A number of points in words, such as `3 fields`: the game's text `scored`, else the number and the name of the
    points."""
    said, number = texts_of(definition), signed(points)
    return (
        said("scored", n=points, points=number)
        if "scored" in said
        else say("points", points=number, score=score_of(definition))
    )


def rules_name(definition: Definition, rules: str) -> str:
    """Title of a rule set: its text `rules.NAME`, else its name."""
    said = texts_of(definition)
    return said(f"rules.{rules}") if f"rules.{rules}" in said else rules


def rules_of(definition: Definition, rules: str) -> str:
    """Title of a rule set, empty if the game has only one."""
    return rules_name(definition, rules) if len(definition.rules) > 1 else ""
