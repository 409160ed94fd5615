"""What a game may bring for the play page, and how the page makes games and asks what is seen of them.

A game has to bring nothing: it is played with its text, or its picture where it has one, and a button for each legal
move. What makes it nicer are three parts of its definition:

- `sentences`: sentences about moves (see `Sentences`);
- `browser`: data for the game's own script, and its picture for the page (see `Browser`);
- `page`: the folder with that script, `page.js`, with `page.css` if there is one, and all that these two ask for.
  `page/plain.js` says what the script may export. In its folder `texts` are the game's texts, a file for each language
  (see `artus_env.engine.drawing.translations`): its name `title`, what its points are
  called `score`, its rule sets `rules.NAME`, and whatever
  `sentences`, `browser` and the script say; the script doesn't get those in `SAID_BY_THE_SERVER`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from artus_env import Batch, Game
from artus_env.engine.basics.wording import signed
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import find_game
from artus_env.engine.drawing.translations import Entry, Texts
from artus_training.play.phrases import say

Position = dict[str, Any]
"""A position as `to_dict(viewer)` gives it: what that viewer knows, and nothing else."""
Holds = Callable[[Position, str, Position], bool]
"""Whether a move shows something, from the positions before and after it."""


class Sentences(Protocol):
    """A game's sentences. Every position is one viewer's, so that no sentence can tell them more."""

    def played(
        self, before: Position, move: str, after: Position, viewer: int, names: Sequence[str], components: Any
    ) -> str:
        """What a move did, to be read after the mover's name: `plays the seven of hearts.`"""

    def choice(self, before: Position, move: str, after: Position | None, names: Sequence[str], components: Any) -> str:
        """A legal move, said to its player before they play it. `after`: None if it can't be foreseen."""


class Browser(Protocol):
    """What a game's own script gets. Every position is one viewer's; all answers have to be JSON.

    More functions may be there: `where(before, move, after, components)`, what the script points at when a line of the
    log is looked at; `tutorial(rules, components)`, what the "?" panel explains: how many players its examples have,
    and by topic a function that says whether a move shows it (see `Holds`); `reveals(before, move, after)`, whether a
    move that was played has shown its player something hidden, so that it can't be taken back (where that isn't there,
    all have that aren't foreseeable); and `reasons(before, move, after, names, components)`, what speaks for a legal
    move or against it, for hints: short parts of a sentence, what matters most first (`after` as for `choice`).
    """

    def setup(self, rules: str, num_players: int, components: Any) -> dict[str, Any]:
        """What doesn't change during a game; `badges`, one `<svg>` for each player, replaces the page's own."""

    def picture(
        self, position: Position, components: Any, names: Sequence[str], before: Position | None, move: str | None
    ) -> str:
        """The position as SVG, with the move that led from `before` to it, if there was one that the viewer saw."""

    def foreseeable(self, move: str) -> bool:
        """Whether its player knows all that a legal move will do. Where not, nobody is shown what comes of it."""

    def choice(
        self, before: Position, move: str, after: Position | None, names: Sequence[str], components: Any
    ) -> dict[str, Any]:
        """What the script needs of a legal move. `after`: None if it can't be foreseen."""

    def last(self, before: Position, move: str, after: Position, components: Any) -> dict[str, Any]:
        """What the script needs to show a move that was played."""

    def sources(self, rules: str) -> Sequence[str]:
        """What points come from, as heads of columns of the final scores; none: there is only the sum."""

    def source(self, move: str, components: Any) -> str | None:
        """The one of `sources` that the points of a move belong to."""


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
