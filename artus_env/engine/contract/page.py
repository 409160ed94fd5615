"""Optional parts of a game for the page in the browser.

Without them the page shows the game's text, or its picture if it has one, and a button for each legal move. Three
fields of the definition extend that:

- `sentences`: sentences about moves (see `Sentences`);
- `browser`: data for the game's own script (see `Browser`); the page then shows the picture's layout "table";
- `page`: the folder with that script, `page.js`, with `page.css` if there is one, and all files that these two request.
  The beginning of `page/plain.js` of `artus_training.play` lists the functions that the script may export. The folder
  `texts` in it contains the game's texts, a file for each language (see `artus_env.engine.drawing.translations`): its
  name `title`, the name of its points `score`, its rule sets `rules.NAME`, and all texts of `sentences`, `browser` and
  the script. Texts whose keys begin with `help.`, `picture.` or `reason.` aren't sent to the script.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

Position = dict[str, Any]
"""A position as `to_dict(viewer)` returns it: only the knowledge of that viewer."""


class Sentences(Protocol):
    """A game's sentences. Every position contains only what one viewer knows, so that no sentence can reveal more."""

    def played(
        self, before: Position, move: str, after: Position, viewer: int, names: Sequence[str], components: Any
    ) -> str:
        """Effect of a move, to be read after the mover's name: `plays the seven of hearts.`"""

    def choice(self, before: Position, move: str, after: Position | None, names: Sequence[str], components: Any) -> str:
        """Text of a legal move for its player, before they play it. `after`: None if it can't be foreseen."""


class Browser(Protocol):
    """Data that a game computes for its own JavaScript in the browser, `page.js`. Every position contains only what one
    viewer knows; all results must be JSON.

    A game may define more functions:

    - `where(before, move, after, components)`: the place that the script points at when the user views a line of the
      log.
    - `tutorial(rules, components)`: the content of the "?" panel, as a pair: the number of players in its examples, and
      a dict with a function for each topic. The function decides from the positions before and after a move whether
      that move is an example of the topic.
    - `reveals(before, move, after)`: whether a played move has shown its player something hidden, so that it can't be
      taken back. Without this function, no move that isn't foreseeable can be taken back.
    - `reasons(before, move, after, names, components)`: arguments for or against a legal move, for hints: short parts
      of a sentence, the most important first. `after` is None if it can't be foreseen.
    """

    def setup(self, rules: str, num_players: int, components: Any) -> dict[str, Any]:
        """Data that stay the same throughout a game; `badges`, one `<svg>` for each player, replaces the page's own
        badges."""

    def foreseeable(self, move: str) -> bool:
        """Whether the player of a legal move knows all its effects. If not, the page shows none before it is played."""

    def choice(
        self, before: Position, move: str, after: Position | None, names: Sequence[str], components: Any
    ) -> dict[str, Any]:
        """Data about a legal move. `after`: None if it can't be foreseen."""

    def last(self, before: Position, move: str, after: Position, components: Any) -> dict[str, Any]:
        """Data for showing a played move."""

    def sources(self, rules: str) -> Sequence[str]:
        """Sources of points, as heads of columns in the final scores; none: only the sum is shown."""

    def source(self, move: str, components: Any) -> str | None:
        """The one of `sources` to which the points of a move belong; None: the move earns none."""
