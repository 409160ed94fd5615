"""Optional parts of a game for the page in the browser.

Without them the page shows the game's text, or its picture where it has one, and a button for each legal move. Three
fields of its definition add to that:

- `sentences`: sentences about moves (see `Sentences`);
- `browser`: data for the game's own script (see `Browser`); the page shows the picture's layout "table" then;
- `page`: the folder with that script, `page.js`, with `page.css` if there is one, and all that these two ask for.
  The head of `page/plain.js` of `artus_training.play` lists what the script may export. In its folder `texts` are the
  game's texts, a file for each language (see `artus_env.engine.drawing.translations`): its name `title`, the name of
  its points `score`, its rule sets `rules.NAME`, and all texts of `sentences`, `browser` and the script. The script
  doesn't get those whose keys begin with `help.`, `picture.` or `reason.`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

Position = dict[str, Any]
"""A position as `to_dict(viewer)` gives it: what that viewer knows, and nothing else."""


class Sentences(Protocol):
    """A game's sentences. Every position is one viewer's, so that no sentence can tell them more."""

    def played(
        self, before: Position, move: str, after: Position, viewer: int, names: Sequence[str], components: Any
    ) -> str:
        """The effect of a move, to be read after the mover's name: `plays the seven of hearts.`"""

    def choice(self, before: Position, move: str, after: Position | None, names: Sequence[str], components: Any) -> str:
        """A legal move, said to its player before they play it. `after`: None if it can't be foreseen."""


class Browser(Protocol):
    """Data for a game's own script. Every position is one viewer's; all answers have to be JSON.

    More functions may be there: `where(before, move, after, components)`, what the script points at when a line of the
    log is looked at; `tutorial(rules, components)`, what the "?" panel explains: how many players its examples have,
    and by topic a function that says of a move, from the positions before and after it, whether it shows the topic;
    `reveals(before, move, after)`, whether a move that was played has shown its player something hidden, so that it
    can't be taken back (where that isn't there, all have that aren't foreseeable); and
    `reasons(before, move, after, names, components)`, what speaks for a legal move or against it, for hints: short
    parts of a sentence, what matters most first (`after` as for `choice`).
    """

    def setup(self, rules: str, num_players: int, components: Any) -> dict[str, Any]:
        """Data that is the same throughout a game; `badges`, one `<svg>` for each player, replaces the page's own."""

    def foreseeable(self, move: str) -> bool:
        """Whether its player knows all effects of a legal move. If not, the page shows none before it is played."""

    def choice(
        self, before: Position, move: str, after: Position | None, names: Sequence[str], components: Any
    ) -> dict[str, Any]:
        """Data about a legal move. `after`: None if it can't be foreseen."""

    def last(self, before: Position, move: str, after: Position, components: Any) -> dict[str, Any]:
        """Data to show a move that was played."""

    def sources(self, rules: str) -> Sequence[str]:
        """Sources of points, the heads of columns of the final scores; none: only the sum is shown."""

    def source(self, move: str, components: Any) -> str | None:
        """The one of `sources` that the points of a move belong to."""
