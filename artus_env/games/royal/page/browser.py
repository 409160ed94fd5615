"""Data for the script of the game's own page (`page/page.js`): cards, legal moves, details of moves.

Positions are those of one viewer, as `to_dict(viewer)` gives them, so that nothing here can show them more.
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
    what = parsed(move)
    last = last_move(before, move, after, components)
    outlook = "" if what.card is None else sentences.outlook(before, last, names, components)
    return {"kind": what.kind, "card": what.card, "suit": what.suit, "places": what.places, "outlook": outlook}


def last(before: dict[str, Any], move: str, after: dict[str, Any], components: Components) -> dict[str, Any]:
    """Card or chips that were played, and the move of the trick winner's pawn."""
    moved = last_move(before, move, after, components)
    return {
        "card": moved.move.card,
        "suit": moved.move.suit,
        "places": moved.move.places,
        "taker": moved.taker,
        "origin": moved.origin,
        "target": moved.target,
    }


def where(before: dict[str, Any], move: str, after: dict[str, Any], components: Components) -> dict[str, Any]:
    """Where a move took place: a card and the trick up to it, the fields that the trick winner's pawn left and reached,
    the suit of a chip or the places of two."""
    moved = last_move(before, move, after, components)
    card = moved.move.card
    return {
        "card": card,
        "trick": [*before["trick"], [moved.player, card]] if card else [],
        "taker": moved.taker,
        "origin": moved.origin,
        "target": moved.target,
        "suit": moved.move.suit,
        "places": moved.move.places,
    }


def sources(rules: str) -> Sequence[str]:
    """Empty: all fields come from tricks."""
    return []


def source(move: str, components: Components) -> str | None:
    """None: there is only one source."""
    return None
