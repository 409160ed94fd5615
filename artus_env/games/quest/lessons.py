"""The game in a few pictures, for the "?" panel of the play page."""

from __future__ import annotations

from collections.abc import Callable

from artus_env.engine.examples import Example, example
from artus_env.engine.games import find_game
from artus_env.games.quest.components import Components
from artus_env.games.quest.deeds import deed
from artus_env.games.quest.phrases import say
from artus_env.games.quest.picture import picture


def pages(rules: str, num_players: int, components: Components) -> list[dict[str, str]]:
    """What is explained: a title, a text and a picture each."""
    return [
        {"title": say(f"help.{topic}.title"), "text": say(f"help.{topic}"), "picture": _drawn(components, topic)}
        for topic in TOPICS
    ]


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
_found: dict[tuple[Components, str], Example] = {}


def _drawn(components: Components, topic: str) -> str:
    key = components, topic
    if key not in _found:
        _found[key] = example(find_game("quest"), "standard", 3, TOPICS[topic], components)
    before, move, after = _found[key]
    return picture(after, components, before=before, move=move, layout="table")
