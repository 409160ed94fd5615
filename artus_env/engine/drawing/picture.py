"""Common part of the pictures of all games: options, the last move, the frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from artus_env.engine.basics.reading import check_names
from artus_env.engine.drawing.svg import HEIGHT, LAYOUTS, THEMES, WIDTH, whole_picture

Position = dict[str, Any]


class Scene(NamedTuple):
    """Input of a game's function that draws the content of the frame."""

    position: Position
    """The position as `Game.to_dict` gives it."""
    components: Any
    """The components of the game."""
    last: Any
    """The last move as `PictureParts.last_move` describes it; None: there was none."""
    before: Position | None
    """The position before that move."""
    names: Sequence[str] | None
    """Names of the players; None: they have none."""
    note: str
    """A line of text in the middle."""
    wide: bool
    """Whether to draw everything, or only the part in the layout "table"."""


class PictureParts(NamedTuple):
    """A game's own parts of its pictures. `PictureParts(...).picture` is the function for `Definition.picture`."""

    name: str
    """The game's name, the beginning of the picture's class in style sheets."""
    standard: Any
    """The components to draw with if none are given."""
    table_view: tuple[float, float, float, float]
    """Left, top, width and height of the part in the layout "table"."""
    style: Callable[[str], str]
    """theme -> the style sheet."""
    last_move: Callable[[Position, str, Position, Any], Any]
    """(position before, move, position after, components) -> a description of the move for `describe` and `draw`."""
    describe: Callable[[Position, Any, Any], tuple[str, str]]
    """(position, components, last move or None) -> title and description for readers who can't see the picture."""
    draw: Callable[[Scene], Iterable[str]]
    """scene -> the parts of the picture as SVG, from back to front."""

    def picture(
        self,
        position: Position,
        components: Any = None,
        *,
        before: Position | None = None,
        move: str | None = None,
        names: Sequence[str] | None = None,
        note: str = "",
        theme: str = "auto",
        layout: str = "wide",
    ) -> str:
        """Draw a position.

        Args:
            position: As from `to_dict`: counts in place of cards are drawn as backs of cards.
            components: The components of the game; None: the standard ones.
            before, move: The position before the last move, and that move's text, to show its effect.
            names: Names of the players, shown next to their letters.
            note: A line in the middle.
            theme: "light", "dark", or "auto": the theme of the reader's system.
            layout: "wide", everything (1216 x 688), or "table", the table alone: readable at 200 pixels, too.

        Returns:
            One `<svg>` element without ids, for a page or as a file.

        Raises:
            ValueError: If there is no such theme or layout, or `names` doesn't name every player.
        """
        check_options(position, names, theme, layout)
        components = self.standard if components is None else components
        last = None
        if before is not None and move is not None:
            last = self.last_move(before, move, position, components)
        wide = layout == "wide"
        content = self.draw(Scene(position, components, last, before, names, note, wide))
        view = (0, 0, WIDTH, HEIGHT) if wide else self.table_view
        title, details = self.describe(position, components, last)
        return whole_picture(f"{self.name}-{theme}", view, title, details, self.style(theme), content)


def check_options(position: Mapping[str, Any], names: Sequence[str] | None, theme: str, layout: str) -> None:
    """Check that a position can be drawn with these options.

    Raises:
        ValueError: If there is no such theme or layout, or `names` doesn't name every player.
    """
    if theme not in THEMES or layout not in LAYOUTS:
        raise ValueError(f"theme must be one of {THEMES} and layout one of {LAYOUTS}, got {theme!r} and {layout!r}")
    if names is not None:
        check_names("names", names, position["num_players"])
