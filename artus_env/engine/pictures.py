"""The picture of a game that draws none of its own: its position as text on a card."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape

COLUMNS, LINE, SIZE, MARGIN = 84, 20, 14, 24
WIDTH = 912
THEMES = {"light": ("#fbfaf6", "#24211c"), "dark": ("#211f1b", "#efece4")}


def text_picture(
    position: dict[str, Any],
    components: Any,
    *,
    before: dict[str, Any] | None = None,
    move: str | None = None,
    names: Sequence[str] | None = None,
    note: str = "",
    theme: str = "auto",
    layout: str = "wide",
) -> str:
    """Draw a position as a list of its parts.

    Args:
        position: As from `to_dict`.
        components: The box; not looked at.
        before, move: The position before the last move, and that move's text.
        names: Who plays, instead of "player 0", ...
        note: One more line.
        theme: "light", "dark", or "auto": what the reader's system asks for.
        layout: "wide" or "table"; both are the same here.

    Returns:
        One `<svg>` element without ids.

    Raises:
        ValueError: If there is no such theme or layout, or `names` doesn't name every player.
    """
    players = int(position["num_players"])
    if theme not in ("auto", *THEMES):
        raise ValueError(f"theme must be one of auto, {', '.join(THEMES)}, got {theme!r}")
    if layout not in ("wide", "table"):
        raise ValueError(f"layout must be one of wide, table, got {layout!r}")
    if names is not None and len(names) != players:
        raise ValueError(f"names must name {players} players, got {list(names)!r}")
    lines = [
        *([" · ".join(names)] if names else []),
        *(line for key, value in position.items() for line in _wrapped(f"{key}: {_plain(value)}")),
        *([f"last move: {move}"] if move else []),
        *([note] if note else []),
    ]
    height = 2 * MARGIN + LINE * len(lines)
    paper, ink = THEMES["light" if theme == "auto" else theme]
    night, day = THEMES["dark"]
    style = f".text-paper{{fill:{night}}}.text-ink{{fill:{day}}}"
    dark = f"<style>@media(prefers-color-scheme:dark){{{style}}}</style>" if theme == "auto" else ""
    text = "".join(
        f'<text class="text-ink" x="{MARGIN}" y="{MARGIN + LINE * (row + 1) - 6}" fill="{ink}" font-size="{SIZE}" '
        f'font-family="Inter, sans-serif" xml:space="preserve">{escape(line)}</text>'
        for row, line in enumerate(lines)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'width="{WIDTH}" height="{height}">{dark}'
        f'<rect class="text-paper" width="{WIDTH}" height="{height}" rx="12" fill="{paper}"/>{text}</svg>'
    )


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _wrapped(line: str) -> list[str]:
    return [line[start : start + COLUMNS] for start in range(0, len(line), COLUMNS)]
