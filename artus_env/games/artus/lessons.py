"""The game in a few pictures, for the "?" panel of the play page."""

from __future__ import annotations

from collections.abc import Callable

from artus_env.engine.examples import Example, lesson
from artus_env.engine.games import find_game
from artus_env.games.artus.components import RULE_SETS, Components
from artus_env.games.artus.moves import parsed
from artus_env.games.artus.phrases import say
from artus_env.games.artus.picture import last_move

Holds = Callable[[Example], bool]


def pages(rules: str, num_players: int, components: Components) -> list[dict[str, str]]:
    """What is explained in a variant: a title, a text and a picture each. Nothing that plays no part in it."""
    topics: dict[str, Holds] = {
        "leave": lambda found: _moved(found, components) and found.before["scores"][0] != found.after["scores"][0],
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
    """A knight moves from a green seat to a free one, and nothing turns."""
    last = last_move(*found, components)
    return last.origin is not None and last.refuge is None and last.points > 4 and found.before["turn"] == 0


def _turns(found: Example) -> bool:
    origin = parsed(found.move).origin
    return origin is not None and "king" in found.before["seats"][origin]


def _crowns(found: Example) -> bool:
    target = parsed(found.move).target
    ring = parsed(found.move).kind == "ring" and target is not None
    return ring and found.before["seats"][target].get("rings") == 2
