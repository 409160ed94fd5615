"""A move as text: the only place that writes its form, such as `horse-3:lake`. Each action id has one text in every
position."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from artus_env.games.quest.actions import BID, BID_KINDS, BOOKS, action_table
from artus_env.games.quest.components import ACTIONS, CARDS, HORSE, PLACES, QUESTS, Components
from artus_env.games.quest.state import DIGIT

TEXTS = (
    *(f"take:{action}" for action in ACTIONS),
    *(f"exercise:{card}" for card in CARDS),
    *(f"artus:{quest}" for quest in QUESTS),
    *(f"court:{card}" for card in CARDS[BOOKS:]),
    *(f"quest:{quest}" for quest in QUESTS),
    *(f"{horse}:{place}" for horse in ACTIONS[HORSE:] for place in PLACES),
    "done",
)
"""By action id, of all but the bids."""
NOTHING = "nothing"


class QuestMove(NamedTuple):
    """A move in its parts; those that it doesn't have are empty."""

    text: str
    """As records have it."""
    kind: str
    """One of "take", "exercise", "artus", "court", "quest", "horse", "done", "bid"."""
    action: str = ""
    """The action card that is taken or used."""
    card: str = ""
    """The virtue card that is taken, or laid back at court."""
    quest: str = ""
    """The quest that is taken or done."""
    place: str = ""
    """Where the ride goes."""
    bid: tuple[str, ...] | None = None
    """The cards of a bid, none for a bid of nothing; None if the move is no bid."""


def parsed(move: str) -> QuestMove:
    """The parts of a legal move's text."""
    kind, _, name = move.partition(":")
    if kind == "take":
        return QuestMove(move, kind, action=name)
    if kind == "exercise":
        return QuestMove(move, kind, action=f"{kind}-{name.partition('-')[0]}", card=name)
    if kind == "court":
        return QuestMove(move, kind, action=kind, card=name)
    if kind in ("artus", "quest"):
        return QuestMove(move, kind, action=kind, quest=name)
    if kind == "bid":
        return QuestMove(move, kind, bid=() if name == NOTHING else tuple(name.split("+")))
    return QuestMove(move, "horse", action=kind, place=name) if name else QuestMove(move, kind)


@lru_cache(maxsize=16)
def texts(components: Components) -> tuple[str, ...]:
    """The text of every action id. A bid names its cards in the order of the box, `bid:sword-1+sword-1+lance-2`."""
    bids = [
        "+".join(card for kind, card in enumerate(CARDS[:BID_KINDS]) for _ in range(cards >> DIGIT * kind & 15))
        for _, cards in action_table(components)[BID:]
    ]
    return (*TEXTS, *(f"bid:{cards or NOTHING}" for cards in bids))


@lru_cache(maxsize=16)
def _actions(components: Components) -> dict[str, int]:
    return {text: action for action, text in enumerate(texts(components))}


def move_text(action: int, states: np.ndarray, components: Components, tables: np.ndarray) -> str:
    """A legal action as text."""
    return texts(components)[action]


def actions_like(move: str, components: Components) -> tuple[int, ...]:
    """The action whose text this is, if there is one."""
    action = _actions(components).get(move)
    return () if action is None else (action,)


def action_meaning(action: int, components: Components) -> str:
    """What an action id means, in a few words."""
    kind, _, name = texts(components)[action].partition(":")
    return {
        "take": f"take the card {name}",
        "exercise": f"exercise: take {name}",
        "artus": f"take the quest {name}",
        "court": f"lay back {name} at court",
        "quest": f"do the quest {name}",
        "done": "end the turn",
        "bid": f"bid {name.replace('+', ', ')}",
    }.get(kind, f"ride {kind} to {name}")
