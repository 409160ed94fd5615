"""Data for the script of the game's own page (`page/page.js`): cards, legal moves, details of moves.

Positions are those of one viewer, as `to_dict(viewer)` gives them, so that nothing here can show them more.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from artus_env.games.quest.components import ACTIONS, CARDS, MIN_PLAYERS, QUESTS, Components
from artus_env.games.quest.notation import parsed
from artus_env.games.quest.page import say, sentences, shapes
from artus_env.games.quest.page.deeds import deed, jousters, place_of, total, value_of, virtue_of
from artus_env.games.quest.page.hints import reasons as reasons  # the page imports it from here
from artus_env.games.quest.page.shapes import TAG_HEIGHT, TAG_WIDTH
from artus_env.games.quest.page.tutorial import tutorial as tutorial
from artus_env.pictures import small, small_badges, small_card

PAGE = Path(__file__).parent
SOURCES = ("quest", "court", "bid")


def setup(rules: str, num_players: int, components: Components) -> dict[str, Any]:
    """Data that doesn't change during a game: look and names of cards, quests and players."""
    variant = num_players - MIN_PLAYERS
    tag_box = f"{-TAG_WIDTH / 2 - 1:g} {-TAG_HEIGHT / 2 - 1:g} {TAG_WIDTH + 2} {TAG_HEIGHT + 2}"
    return {
        "badges": small_badges("quest", num_players),
        "choices": components.choices[variant],
        "prize": components.prize,
        "rounds": components.rounds,
        "goal": components.goals[variant],
        "virtues": {
            card: {
                "title": sentences.card_title(card),
                "virtue": virtue_of(card),
                "value": value_of(card),
                "face": small_card("quest", shapes.virtue_front(card)),
                "none": small("quest", "-15 -15 30 30", shapes.no_card(card)),
            }
            for card in CARDS
        },
        "back": small_card("quest", shapes.virtue_back()),
        "actions": {
            action: {
                "title": sentences.action_title(action),
                "text": sentences.action_text(action, components),
                "face": small_card("quest", shapes.action_front(action)),
            }
            for action in ACTIONS
        },
        "quests": {
            quest: {
                "title": sentences.quest_title(quest),
                "text": sentences.quest_words(quest, components),
                "place": place_of(quest),
                "face": small("quest", tag_box, shapes.place_tag(quest, components)),
            }
            for quest in QUESTS
        },
    }


def foreseeable(move: str) -> bool:
    """Whether a move's player can foresee all its effects: not if a round may end with it, because new quests are
    opened then."""
    return parsed(move).kind not in ("done", "bid")


def choice(
    before: dict[str, Any], move: str, after: dict[str, Any] | None, names: Sequence[str], components: Components
) -> dict[str, Any]:
    """A legal move as data for the page: its kind, cards, quest or place, and the values of a bid."""
    parts = parsed(move)
    return {
        "kind": parts.kind,
        "action": parts.action,
        "card": parts.card,
        "quest": parts.quest,
        "place": parts.place,
        "bid": parts.bid,
        "sum": total(parts.bid or ()),
        "alone": parts.bid is not None and len(jousters(before)) == 1,
        "goal": sentences.place_title(parts.place) if parts.place else "",
        "to": say(f"to.{parts.place}") if parts.place else "",
    }


def last(before: dict[str, Any], move: str, after: dict[str, Any], components: Components) -> dict[str, Any]:
    """A played move as data for the page: cards and quests that were taken, used or bid, and the knight's ride."""
    effect = deed(before, move, after)
    return {
        "kind": effect.move.kind,
        "action": effect.move.action,
        "card": effect.move.card,
        "quest": effect.move.quest,
        "way": effect.way,
        "bids": effect.bids,
        "news": effect.new_quests,
    }


def where(before: dict[str, Any], move: str, after: dict[str, Any], components: Components) -> dict[str, Any]:
    """Where a move took place: the places of a ride, a quest, a pile or an action card on display."""
    effect = deed(before, move, after)
    action = effect.move.action if effect.move.kind == "take" else None
    return {"way": effect.way, "quest": effect.move.quest, "card": effect.move.card, "action": action}


def sources(rules: str) -> Sequence[str]:
    """Sources of points."""
    return [say(f"source.{kind}") for kind in SOURCES]


def source(move: str, components: Components) -> str | None:
    """Source of a move's points; None if it brings none."""
    kind = parsed(move).kind
    return say(f"source.{kind}") if kind in SOURCES else None
