"""Names for display: of variants, and of agents, which are shortened because a program's command can be long."""

from __future__ import annotations

from collections import Counter

from artus_env import DEFAULT_GAME
from artus_env.engine.contract.registry import find_game


def variant_name(game: str, rules: str, num_players: int) -> str:
    """Name of a variant for a title; the name of the default game is left out."""
    title = "" if game == DEFAULT_GAME else f"{find_game(game).title}, "
    return f"{title}{rules}, {num_players} players"


def short_names(names: list[str], width: int) -> list[str]:
    """Cut names in the middle to a width, but keep them different from each other."""
    short = [shortened(name, width) for name in names]
    alike = Counter(short)
    return [
        text if alike[text] == 1 else f"{shortened(name, width - len(f'#{number}'))}#{number}"
        for number, (name, text) in enumerate(zip(names, short, strict=True), 1)
    ]


def shortened(name: str, width: int) -> str:
    """Cut a name in the middle to at most `width` letters."""
    left = width - 3
    return name if len(name) <= width else f"{name[: -(-left // 2)]}...{name[len(name) - left // 2 :]}"


def one_line_name(name: str) -> str:
    """Replace unprintable letters of a name, such as line breaks, by spaces."""
    return "".join(letter if letter.isprintable() else " " for letter in name)
