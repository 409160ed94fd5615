"""Data for the script of Artus's own page (`page/page.js`): cards, legal moves, details of moves.

Positions are those of one viewer, as `to_dict(viewer)` gives them, so that nothing here can show them more.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from artus_env.games.artus.components import RULE_SETS, Components
from artus_env.games.artus.notation import MoveParts, parsed
from artus_env.games.artus.page import say, sentences, shapes
from artus_env.games.artus.page.counting import scored_seats
from artus_env.games.artus.page.hints import reasons as reasons  # the page imports it from here
from artus_env.games.artus.page.picture import SUPPLY, king_of, last_move
from artus_env.games.artus.page.tutorial import tutorial as tutorial
from artus_env.pictures import small_badges, small_card

PAGE = Path(__file__).parent


def setup(rules: str, num_players: int, components: Components) -> dict[str, Any]:
    """Data that doesn't change during a game: the cards, and the look of cards and players."""
    piles = RULE_SETS[rules].piles
    return {
        "badges": small_badges("artus", num_players),
        "rounds": components.deck_size(RULE_SETS[rules]) // RULE_SETS[rules].cards_a_turn,
        "each": RULE_SETS[rules].cards_a_turn,
        "supply": SUPPLY,
        "piles": piles,
        "cards": {
            card.name: {
                "title": sentences.card_title(card),
                "text": sentences.card_text(card),
                "pile": card.pile,
                "face": small_card("artus", shapes.card_front(card)),
            }
            for card in components.cards
            if card.pile in piles
        },
        "backs": {pile: small_card("artus", shapes.card_back(pile)) for pile in piles},
    }


def foreseeable(move: str) -> bool:
    """Whether a move's player can foresee all its effects: not for a draw, because the card is unknown."""
    return parsed(move).kind != "draw"


def choice(
    before: dict[str, Any], move: str, after: dict[str, Any] | None, names: Sequence[str], components: Components
) -> dict[str, Any]:
    """A legal move as data for the page: card, figure, seats, points, and parts of its text."""
    last = sentences.foreseen(before, move, after, components)
    option = sentences.option(before, last, names, components)
    kind: str = last.move.kind
    if last.origin is not None:
        kind = "knight" if "knight" in before["seats"][last.origin] else "royal"
    return {
        "kind": kind,
        "card": last.move.card,
        "pile": last.move.pile,
        "origin": last.origin,
        "target": last.target,
        "points": last.points,
        "refuge": last.refuge,
        "figure": option.figure,
        "goal": option.goal,
        "pushes": option.pushes,
        "marks": marks(before, last.move, components),
    }


def marks(before: dict[str, Any], move: MoveParts, components: Components) -> list[dict[str, Any]]:
    """Seats that a move's points come from, each with its value."""
    return [{"seat": seat, "value": value} for seat, value in scored_seats(before, move, components)]


def last(before: dict[str, Any], move: str, after: dict[str, Any], components: Components) -> dict[str, Any]:
    """A played move as data for the page: moves of figures, and the King's seats before and after."""
    effect = last_move(before, move, after, components)
    return {
        "origin": effect.origin,
        "target": effect.target,
        "forward": effect.forward,
        "refuge": effect.refuge,
        "king_before": king_of(before),
        "king_after": king_of(after),
        "marks": marks(before, effect.move, components),
    }


def where(before: dict[str, Any], move: str, after: dict[str, Any], components: Components) -> dict[str, Any]:
    """Where a move took place: the seats that its points come from, and the seats that a figure left and reached."""
    effect = last_move(before, move, after, components)
    return {
        "marks": marks(before, effect.move, components),
        "origin": effect.origin,
        "target": effect.target,
        "forward": effect.forward,
    }


def sources(rules: str) -> Sequence[str]:
    """Sources of prestige: the kinds of cards."""
    return [say(f"source.{pile}") for pile in RULE_SETS[rules].piles]


def source(move: str, components: Components) -> str | None:
    """Source of a move's prestige: the kind of its card; None if the move has no card."""
    name = parsed(move).card
    return next((say(f"source.{card.pile}") for card in components.cards if card.name == name), None)
