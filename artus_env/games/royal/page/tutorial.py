"""The game in a few pictures, for the "?" panel of the play page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from artus_env.authoring import find_game
from artus_env.games.royal.components import Components
from artus_env.games.royal.page.translations import say
from artus_env.games.royal.page.tricks import last_move, suit_of
from artus_env.pictures import Example, lesson


def pages(rules: str, num_players: int, components: Components) -> list[dict[str, Any]]:
    """What is explained: a title, a text and a picture each."""
    return [lesson(say, topic, find_game("royal"), rules, 4, holds, components) for topic, holds in TOPICS.items()]


def _follows(found: Example) -> bool:
    """Somebody follows suit, before the trick is complete."""
    trick = found.after["trick"]
    return len(trick) == 3 and len({suit_of(card) for _, card in trick}) == 1


def _trumped(found: Example) -> bool:
    """A trump lies in a trick that another suit has led."""
    trick, trumps = found.after["trick"], [suit for suit in found.after["trumps"] if suit]
    suits = [suit_of(card) for _, card in trick]
    return len(trick) == 3 and None not in suits and suits[0] not in trumps and any(suit in trumps for suit in suits)


def _supers(found: Example) -> bool:
    """A knight and a shield lie in the same trick."""
    return {"knight", "shield"} <= {card for _, card in found.after["trick"]}


def _jumps(found: Example) -> bool:
    """The pawn of who takes the trick goes over another one."""
    last = last_move(*found)
    return (
        last.taker is not None and last.origin is not None and (last.target or 0) > last.origin + 1 and last.origin > 2
    )


def _places(found: Example) -> bool:
    """A second chip is placed."""
    return found.move.startswith("trump:") and sum(suit is not None for suit in found.after["trumps"]) == 2


TOPICS: dict[str, Callable[[Example], bool]] = {
    "follow": _follows, "trumps": _trumped, "super": _supers, "run": _jumps, "swords": _places,
}  # fmt: skip
