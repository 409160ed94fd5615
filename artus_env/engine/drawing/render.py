"""Pictures of a game: a position as SVG, its pixels, and a window. Pixels and windows need the extra `render`."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from gymnasium.error import DependencyNotInstalled

from artus_env.engine.contract import verbs
from artus_env.engine.contract.definition import Definition
from artus_env.engine.drawing.svg import LAYOUTS, THEMES
from artus_env.engine.drawing.text_picture import text_picture

if TYPE_CHECKING:
    from PIL.Image import Image

FRAME_WIDTH = 912
"""Width of a frame in pixels: small enough for about 30 frames per second, and such that width and height are even, as
video formats require."""
FRAME_THEME = "light"
PIXEL_MODES = ("rgb_array", "human")
RenderMode = Literal["ansi", "rgb_array", "human"]
FONTS = Path(__file__).parent / "fonts"
"""Fonts of every frame, so that it looks the same on any machine: Inter, Latin letters only (see OFL.txt there)."""
GRID_GAMES = 12
"""Most games of a batch in a notebook."""


def draw(
    definition: Definition,
    states: np.ndarray,
    components: Any,
    player: int | None = None,
    before: np.ndarray | None = None,
    action: int = -1,
    **options: Any,
) -> str:
    """Draw a game as SVG, as seen by `player`.

    Args:
        states: shape (1,).
        before, action: The state before the last move, shape (1,), and that move; None: there was none. The move isn't
            shown if it is hidden from `player` and hasn't been revealed.
        options: Options of the game's own drawing function, e.g. `theme` and `layout`.
    """
    tables = definition.build_tables(components)
    if before is not None and player is not None:
        num_actions = len(definition.action_table(components))
        if not verbs.is_seen(tables[0], before[0], action, player, num_actions, states[0]):
            before = None
    if definition.picture is None:
        return _draw_text(definition, states, components, player, before, **options)
    position = definition.to_dict(states[0], components, player)
    if before is None:
        return definition.picture(position, components, **options)
    move = definition.move_text(action, before, components, tables)
    return definition.picture(
        position, components, before=definition.to_dict(before[0], components, player), move=move, **options
    )


def _draw_text(
    definition: Definition,
    states: np.ndarray,
    components: Any,
    player: int | None,
    before: np.ndarray | None,
    *,
    names: Sequence[str] | None = None,
    note: str = "",
    theme: str = "auto",
    layout: str = "wide",
) -> str:
    """Draw a game without a picture of its own: its text, with the changes by the last move marked."""
    if theme not in THEMES or layout not in LAYOUTS:
        raise ValueError(f"theme is one of {THEMES}, layout one of {LAYOUTS}, got {theme!r}, {layout!r}")
    text = definition.render(states, components, player, names)
    text_before = None if before is None else definition.render(before, components, player, names)
    return text_picture(f"{text}\n\n{note}" if note else text, text_before, definition.title, theme)


def grid(pictures: list[str], num_more: int) -> str:
    """Return HTML with pictures side by side, and below them the number of further games."""
    cells = "".join(f'<div style="width:220px">{picture}</div>' for picture in pictures)
    more_text = f"<p>... and {num_more} more games</p>" if num_more else ""
    return f'<div style="display:flex;flex-wrap:wrap;gap:8px">{cells}</div>{more_text}'


def require(mode: str | None) -> None:
    """Check early that a render mode will work.

    Raises:
        DependencyNotInstalled: If a package that it needs is missing; the message contains the command to install it.
    """
    if mode in PIXEL_MODES:
        _rasteriser()
    if mode == "human":
        _pygame()


def image(svg: str, width: int = FRAME_WIDTH) -> Image:
    """Convert an SVG to an image without transparency, `width` pixels wide.

    Raises:
        DependencyNotInstalled: Without the extra `render`.
    """
    drawing = _rasteriser().open(io.BytesIO(svg.encode()))
    scale = width / drawing.width
    while math.ceil(drawing.width * scale) > width:  # a rounding error must not add a pixel
        scale = math.nextafter(scale, 0)
    drawing.load(scale=scale)
    return drawing.convert("RGB")


def rgb_array(svg: str, width: int = FRAME_WIDTH) -> np.ndarray:
    """Convert an SVG to pixels: shape (height, width, 3), uint8, a fresh array.

    Raises:
        DependencyNotInstalled: Without the extra `render`.
    """
    return np.array(image(svg, width))


class Window:
    """Window that shows frames at a steady rate. It opens with the first frame; copies of it start closed.

    Args:
        title: Its title.
        fps: Frames per second: `show` waits as long as needed for this rate.
    """

    def __init__(self, title: str, fps: float) -> None:
        self.title = title
        self.fps = fps
        self._clock: Any = None

    def show(self, frame: np.ndarray) -> None:
        """Show a frame: shape (height, width, 3), uint8."""
        pygame = _pygame()
        size = (frame.shape[1], frame.shape[0])
        screen = pygame.display.get_surface()
        if screen is None or screen.get_size() != size or self._clock is None:
            pygame.display.init()
            pygame.display.set_caption(self.title)
            screen = pygame.display.set_mode(size)
            self._clock = pygame.time.Clock()
        pygame.surfarray.blit_array(screen, frame.swapaxes(0, 1))
        pygame.event.pump()  # keeps the window responsive
        pygame.display.flip()
        self._clock.tick(self.fps)

    def close(self) -> None:
        """Close the window; nothing happens if none is open."""
        if self._clock is not None:
            _pygame().display.quit()
            self._clock = None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.title, self.fps)


@cache
def _rasteriser() -> Any:
    """Return Pillow's module `Image`, which reads SVG with LunaSVG and the fonts of frames."""
    try:
        import pillow_lunasvg
        from PIL import Image
    except ImportError as error:
        raise _not_installed(error) from error
    pillow_lunasvg.add_font_file(FONTS / "Inter-Regular.ttf", "Inter")
    pillow_lunasvg.add_font_file(FONTS / "Inter-Bold.ttf", "Inter", bold=True)
    return Image


def _pygame() -> Any:
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # otherwise its import prints an advertisement
    try:
        import pygame
    except ImportError as error:
        raise _not_installed(error) from error
    return pygame


def _not_installed(error: ImportError) -> DependencyNotInstalled:
    return DependencyNotInstalled(f'pictures need {error.name}: pip install "artus-env[render]"')
