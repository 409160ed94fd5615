"""The game in a few pictures, for the "?" panel of the play page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from artus_env.authoring import find_game
from artus_env.games.artus.components import RULE_SETS, Components
from artus_env.games.artus.notation import parsed
from artus_env.games.artus.page.picture import king_of, last_move, value_of
from artus_env.games.artus.page.translations import say
from artus_env.pictures import Example, lesson

Holds = Callable[[Example], bool]


def pages(rules: str, num_players: int, components: Components) -> list[dict[str, Any]]:
    """What is explained in a variant: a title, a text and a picture each. Nothing that plays no part in it."""
    topics: dict[str, Holds] = {
        "leave": lambda found: _moved(found, components),
        "turn": _turns,
        "rings": _crowns,
        "push": lambda found: last_move(*found, components).refuge is not None,
        "scoring": lambda found: parsed(found.move).card == "carpet" and found.after["scores"] > found.before["scores"],
        f"round.{rules}": lambda found: parsed(found.move).kind == "place",
    }
    if "scoring" not in RULE_SETS[rules].piles:
        del topics["scoring"]
    game = find_game("artus")
    return [lesson(say, topic, game, rules, 2, holds, components) for topic, holds in topics.items()]


def _moved(found: Example, components: Components) -> bool:
    """A knight goes some way from a green seat to a free red one: what it leaves counts, not where it goes."""
    last = last_move(*found, components)
    if last.origin is None or last.target is None or last.refuge is not None or found.before["turn"] != 0:
        return False
    knight = "knight" in found.before["seats"][last.origin]
    return knight and last.forward and last.points > 6 and value_of(last.target, king_of(found.before), components) < -3


def _turns(found: Example) -> bool:
    origin = parsed(found.move).origin
    return origin is not None and "king" in found.before["seats"][origin]


def _crowns(found: Example) -> bool:
    target = parsed(found.move).target
    ring = parsed(found.move).kind == "ring" and target is not None
    return ring and found.before["seats"][target].get("rings") == 2
