"""The part of a picture that is the same for all games: options, the last move, the frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from artus_env.engine.basics.reading import check_names
from artus_env.engine.drawing.svg import HEIGHT, LAYOUTS, THEMES, WIDTH, whole

Position = dict[str, Any]


class Draw(Protocol):
    """A function that draws what lies within the frame."""

    def __call__(
        self,
        position: Position,
        components: Any,
        last: Any,
        *,
        before: Position | None,
        names: Sequence[str] | None,
        note: str,
        wide: bool,
    ) -> Iterable[str]:
        """The parts of the picture as SVG, those at the back first.

        Args:
            position: As from `to_dict`.
            components: The box.
            last: The last move as `PictureParts.last_move` describes it, None: there was none.
            before: The position before that move.
            names: The players' names, None: they have none.
            note: A line to write in the middle.
            wide: Whether everything is drawn, or only what the layout "table" shows.
        """


class PictureParts(NamedTuple):
    """A game's own parts of its pictures. `PictureParts(...).picture` is the function for `Definition.picture`."""

    name: str
    """The game's name, which begins the picture's class in style sheets."""
    standard: Any
    """The box that is drawn with if none is given."""
    table_view: tuple[float, float, float, float]
    """Left, top, width and height of what the layout "table" shows."""
    style: Callable[[str], str]
    """theme -> the style sheet."""
    last_move: Callable[[Position, str, Position, Any], Any]
    """(position before, move, position after, components) -> a description of the move for `describe` and `draw`."""
    describe: Callable[[Position, Any, Any], tuple[str, str]]
    """(position, components, last move or None) -> title and description for readers who can't see the picture."""
    draw: Draw

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
            position: As from `to_dict`: what is a count there is drawn as backs of cards.
            components: The box; None: the standard one.
            before, move: The position before the last move, and that move's text: shows what the move did.
            names: The players' names, shown beside their letters.
            note: A line in the middle.
            theme: "light", "dark", or "auto": the one that the reader's system asks for.
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
        inside = self.draw(position, components, last, before=before, names=names, note=note, wide=wide)
        view = (0, 0, WIDTH, HEIGHT) if wide else self.table_view
        title, details = self.describe(position, components, last)
        return whole(f"{self.name}-{theme}", view, title, details, self.style(theme), inside)


def check_options(position: Mapping[str, Any], names: Sequence[str] | None, theme: str, layout: str) -> None:
    """Make sure that a position can be drawn as it is asked for.

    Raises:
        ValueError: If there is no such theme or layout, or `names` doesn't name every player.
    """
    if theme not in THEMES or layout not in LAYOUTS:
        raise ValueError(f"theme must be one of {THEMES} and layout one of {LAYOUTS}, got {theme!r} and {layout!r}")
    if names is not None:
        check_names("names", names, position["num_players"])
