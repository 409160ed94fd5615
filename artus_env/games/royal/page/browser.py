"""Data for the script of the game's own page (`page/page.js`): cards, legal moves, details of moves.

Positions are those of one viewer, as `to_dict(viewer)` gives them, so nothing here can reveal hidden information.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from artus_env.games.royal.components import Components
from artus_env.games.royal.notation import parsed
from artus_env.games.royal.page import sentences, shapes
from artus_env.games.royal.page.hints import reasons as reasons  # the page imports it from here
from artus_env.games.royal.page.tricks import last_move, suit_of
from artus_env.games.royal.page.tutorial import tutorial as tutorial
from artus_env.pictures import small, small_badges, small_card

PAGE = Path(__file__).parent


def setup(rules: str, num_players: int, components: Components) -> dict[str, Any]:
    """Data that doesn't change during a game: the look of cards, suits and players."""
    return {
        "badges": small_badges("royal", num_players),
        "cards": {
            card: {
                "title": sentences.card_title(card),
                "suit": suit_of(card),
                "face": small_card("royal", shapes.card_front(card, components)),
            }
            for card in components.cards
        },
        "suits": {
            suit: {"name": sentences.suit_words(suit), "start": sentences.suit_words(suit, capital=True)}
            for suit in components.suits
        },
        "back": small_card("royal", shapes.card_back()),
        "voids": {
            suit: small("royal", "-15 -15 30 30", shapes.no_suit(number))
            for number, suit in enumerate(components.suits)
        },
    }


def foreseeable(move: str) -> bool:
    """Whether a move's player can foresee all its effects: not for a card, because the last one of a deal brings new
    hands."""
    return parsed(move).kind != "card"


def reveals(before: dict[str, Any], move: str, after: dict[str, Any]) -> bool:
    """Whether a move that was played has revealed something hidden: only the last card of a deal does, because of new
    hands."""
    return parsed(move).kind == "card" and not any(after["played"])


def choice(
    before: dict[str, Any], move: str, after: dict[str, Any] | None, names: Sequence[str], components: Components
) -> dict[str, Any]:
    """A legal move as data for the page: card, chip or places."""
    parts = parsed(move)
    effect = last_move(before, move, after, components)
    outlook = "" if parts.card is None else sentences.outlook(before, effect, names, components)
    return {"kind": parts.kind, "card": parts.card, "suit": parts.suit, "places": parts.places, "outlook": outlook}


def last(before: dict[str, Any], move: str, after: dict[str, Any], components: Components) -> dict[str, Any]:
    """The card or chips of a move that was played, and how the trick winner's pawn moved."""
    effect = last_move(before, move, after, components)
    return {
        "card": effect.move.card,
        "suit": effect.move.suit,
        "places": effect.move.places,
        "taker": effect.taker,
        "origin": effect.origin,
        "target": effect.target,
    }


def where(before: dict[str, Any], move: str, after: dict[str, Any], components: Components) -> dict[str, Any]:
    """Where a move took place: its card and the trick up to this card, the fields that the trick winner's pawn left and
    reached, the suit of the chip that was placed, or the places of the two that were swapped."""
    effect = last_move(before, move, after, components)
    card = effect.move.card
    return {
        "card": card,
        "trick": [*before["trick"], [effect.player, card]] if card else [],
        "taker": effect.taker,
        "origin": effect.origin,
        "target": effect.target,
        "suit": effect.move.suit,
        "places": effect.move.places,
    }


def sources(rules: str) -> Sequence[str]:
    """Empty: all fields come from tricks."""
    return []


def source(move: str, components: Components) -> str | None:
    """None: there is only one source."""
    return None
