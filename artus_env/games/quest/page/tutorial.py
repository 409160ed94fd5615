"""The game in a few pictures, for the "?" panel of the play page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from artus_env.authoring import find_game
from artus_env.games.quest.components import Components
from artus_env.games.quest.page.deeds import deed
from artus_env.games.quest.page.translations import say
from artus_env.pictures import Example, lesson


def pages(rules: str, num_players: int, components: Components) -> list[dict[str, Any]]:
    """What is explained: a title, a text and a picture each."""
    return [lesson(say, topic, find_game("quest"), rules, 3, holds, components) for topic, holds in TOPICS.items()]


def _joust(found: Example) -> bool:
    last = deed(*found)
    return len(last.bids) > 1 and any(last.prizes.values())


TOPICS: dict[str, Callable[[Example], bool]] = {
    "round": lambda found: found.move.startswith("take:") and len(found.before["display"]) < 11,
    "camelot": lambda found: found.move.startswith("exercise:"),
    "ride": lambda found: found.move.startswith("horse-3:") and len(deed(*found).way) == 4,
    "quest": lambda found: found.move.startswith("quest:"),
    "joust": _joust,
    "end": lambda found: found.move.startswith("artus:") and found.before["round"] > 1,
}
