"""Names as text: of variants, and of agents so that they fit, for a program's command line can be long."""

from __future__ import annotations

from collections import Counter

from artus_env import DEFAULT_GAME
from artus_env.engine.contract.registry import find_game


def variant_name(game: str, rules: str, num_players: int) -> str:
    """What is played, as a title says it. The default game goes without saying."""
    title = "" if game == DEFAULT_GAME else f"{find_game(game).title}, "
    return f"{title}{rules}, {num_players} players"


def short_names(names: list[str], width: int) -> list[str]:
    """Names cut in the middle to a width, each still different from the others."""
    short = [shortened(name, width) for name in names]
    alike = Counter(short)
    return [
        text if alike[text] == 1 else f"{shortened(name, width - len(f'#{number}'))}#{number}"
        for number, (name, text) in enumerate(zip(names, short, strict=True), 1)
    ]


def shortened(name: str, width: int) -> str:
    """A name that has at most so many letters."""
    left = width - 3
    return name if len(name) <= width else f"{name[: -(-left // 2)]}...{name[len(name) - left // 2 :]}"


def one_line_name(name: str) -> str:
    """A name in one line."""
    return "".join(letter if letter.isprintable() else " " for letter in name)
