"""Text form of a move, such as `horse-3:lake`, and its parts. Only this module reads and writes it.

The text of an action is the same in every position.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from artus_env.games.quest.actions import BID, BID_KINDS, BOOKS, action_table
from artus_env.games.quest.components import ACTIONS, CARDS, HORSE, PLACES, QUESTS, Components
from artus_env.games.quest.state import DIGIT

NOTHING = "nothing"
Kind = Literal["take", "exercise", "artus", "court", "quest", "horse", "done", "bid"]


class QuestMove(NamedTuple):
    """Parts of a move; empty for parts that its kind doesn't have."""

    kind: Kind
    action: str = ""
    """The action card that is taken or used."""
    card: str = ""
    """The virtue card that is taken, or laid back at court."""
    quest: str = ""
    """The quest that is taken or done."""
    place: str = ""
    """Destination of the ride."""
    bid: tuple[str, ...] | None = None
    """The cards of a bid, none for a bid of nothing; None if the move is no bid."""

    @property
    def text(self) -> str:
        """Text form, which `parse` reads."""
        if self.bid is not None:
            return f"bid:{'+'.join(self.bid) or NOTHING}"
        if self.kind == "take":
            return f"take:{self.action}"
        if self.kind == "horse":
            return f"{self.action}:{self.place}"
        return "done" if self.kind == "done" else f"{self.kind}:{self.card or self.quest}"


def parse(text: str) -> QuestMove | None:
    """Parts of a move; None if the text has another form. Whether the card, quest or place exists isn't checked."""
    first, _, name = text.partition(":")
    if text == "done":
        return QuestMove("done")
    if not name:
        return None
    match first:
        case "take":
            return QuestMove("take", action=name)
        case "exercise":
            return QuestMove("exercise", action=f"exercise-{name.partition('-')[0]}", card=name)
        case "court":
            return QuestMove("court", action="court", card=name)
        case "artus" | "quest":
            return QuestMove("artus" if first == "artus" else "quest", action=first, quest=name)
        case "bid":
            return QuestMove("bid", bid=() if name == NOTHING else tuple(name.split("+")))
    return QuestMove("horse", action=first, place=name) if first in ACTIONS[HORSE:] else None


def parsed(text: str) -> QuestMove:
    """Parts of a move that this module has written.

    Raises:
        ValueError: If the text has another form.
    """
    move = parse(text)
    if move is None:
        raise ValueError(f"no move: {text!r}")
    return move


@lru_cache(maxsize=16)
def move_parts(components: Components) -> tuple[QuestMove, ...]:
    """Parts of the move of each action id. A bid names its cards in the order of the box."""
    bids = [
        tuple(card for kind, card in enumerate(CARDS[:BID_KINDS]) for _ in range(cards >> DIGIT * kind & 15))
        for _, cards in action_table(components)[BID:]
    ]
    return (
        *(QuestMove("take", action) for action in ACTIONS),
        *(QuestMove("exercise", f"exercise-{card.partition('-')[0]}", card) for card in CARDS),
        *(QuestMove("artus", "artus", quest=quest) for quest in QUESTS),
        *(QuestMove("court", "court", card) for card in CARDS[BOOKS:]),
        *(QuestMove("quest", "quest", quest=quest) for quest in QUESTS),
        *(QuestMove("horse", horse, place=place) for horse in ACTIONS[HORSE:] for place in PLACES),
        QuestMove("done"),
        *(QuestMove("bid", bid=bid) for bid in bids),
    )


@lru_cache(maxsize=16)
def texts(components: Components) -> tuple[str, ...]:
    """Text of each action id."""
    return tuple(move.text for move in move_parts(components))


@lru_cache(maxsize=16)
def _actions(components: Components) -> dict[QuestMove | None, int]:
    return {move: action for action, move in enumerate(move_parts(components))}


def move_text(action: int, states: np.ndarray, components: Components, tables: np.ndarray) -> str:
    """Text of a legal action."""
    return texts(components)[action]


def parse_move(text: str, states: np.ndarray, components: Components, tables: np.ndarray) -> int | None:
    """Action with this text, legal or not; None if there is none."""
    return _actions(components).get(parse(text))


def action_meaning(action: int, components: Components) -> str:
    """Meaning of an action id, in a few words."""
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
