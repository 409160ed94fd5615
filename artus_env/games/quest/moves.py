"""A move as text: the only place that writes its form, such as `horse-3:lake`. Each action id has one text in every
position and with every box."""

from __future__ import annotations

from functools import cache

import numpy as np

from artus_env.games.quest.actions import (
    ARTUS_ACTIONS,
    BID,
    BID_DONE,
    BID_KINDS,
    BOOKS,
    COURT_ACTIONS,
    DONE,
    EXERCISE_ACTIONS,
    HORSE_ACTIONS,
    QUEST_ACTIONS,
)
from artus_env.games.quest.components import ACTIONS, CARDS, HORSE, PLACES, QUESTS, Components

TEXTS = (
    *(f"take:{action}" for action in ACTIONS),
    *(f"exercise:{card}" for card in CARDS),
    *(f"artus:{quest}" for quest in QUESTS),
    *(f"court:{card}" for card in CARDS[BOOKS:]),
    *(f"quest:{quest}" for quest in QUESTS),
    *(f"{horse}:{place}" for horse in ACTIONS[HORSE:] for place in PLACES),
    "done",
    *(f"bid:{card}" for card in CARDS[:BID_KINDS]),
    "bid:done",
)
"""By action id."""


def move_text(action: int, states: np.ndarray, components: Components, tables: np.ndarray) -> str:
    """A legal action as text."""
    return TEXTS[action]


@cache
def _actions() -> dict[str, int]:
    return {text: action for action, text in enumerate(TEXTS)}


def actions_like(move: str, components: Components) -> tuple[int, ...]:
    """The action whose text this is, if there is one."""
    action = _actions().get(move)
    return () if action is None else (action,)


def action_meaning(action: int, components: Components) -> str:
    """What an action id means, in a few words."""
    name = TEXTS[action].rpartition(":")[2]
    if action < EXERCISE_ACTIONS:
        return f"take the card {name}"
    if action < ARTUS_ACTIONS:
        return f"exercise: take {name}"
    if action < COURT_ACTIONS:
        return f"take the quest {name}"
    if action < QUEST_ACTIONS:
        return f"lay back {name} at court"
    if action < HORSE_ACTIONS:
        return f"do the quest {name}"
    if action < DONE:
        return f"ride {TEXTS[action].partition(':')[0]} to {name}"
    if action == DONE:
        return "end the turn"
    return f"bid {name}" if BID <= action < BID_DONE else "end the bid"
