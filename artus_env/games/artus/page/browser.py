"""What the script of Artus's own page (`page/page.js`) gets to know: cards, legal moves, how a move came about.

Positions are those of one viewer, as `to_dict(viewer)` gives them, so that nothing here can tell them more.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from artus_env.games.artus.components import RULE_SETS, Components
from artus_env.games.artus.notation import MoveParts, parsed
from artus_env.games.artus.page import say, sentences, shapes
from artus_env.games.artus.page.counting import counting
from artus_env.games.artus.page.hints import reasons as reasons  # which the page asks for here
from artus_env.games.artus.page.picture import SUPPLY, king_of, last_move
from artus_env.games.artus.page.tutorial import tutorial as tutorial
from artus_env.pictures import small_badges, small_card

PAGE = Path(__file__).parent


def setup(rules: str, num_players: int, components: Components) -> dict[str, Any]:
    """What doesn't change during a game: the cards, and how cards and players look."""
    piles = RULE_SETS[rules].piles
    return {
        "badges": small_badges("artus", num_players),
        "rounds": components.deck_size(RULE_SETS[rules]) // RULE_SETS[rules].a_turn,
        "each": RULE_SETS[rules].a_turn,
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
    """Whether its player knows all that a move will do: not which card comes when one is drawn."""
    return parsed(move).kind != "draw"


def choice(
    before: dict[str, Any], move: str, after: dict[str, Any] | None, names: Sequence[str], components: Components
) -> dict[str, Any]:
    """A legal move as the page needs it: which card, figure and seat, what it brings, and parts of it in words."""
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
    """The seats that a move's points come from, with what each adds."""
    return [{"seat": seat, "value": value} for seat, value in counting(before, move, components)]


def last(before: dict[str, Any], move: str, after: dict[str, Any], components: Components) -> dict[str, Any]:
    """How the figures moved, and where the King sat before and after."""
    moved = last_move(before, move, after, components)
    return {
        "origin": moved.origin,
        "target": moved.target,
        "forward": moved.forward,
        "refuge": moved.refuge,
        "king_before": king_of(before),
        "king_after": king_of(after),
        "marks": marks(before, moved.move, components),
    }


def where(before: dict[str, Any], move: str, after: dict[str, Any], components: Components) -> dict[str, Any]:
    """Where a move took place: the seats that its points come from, and from where to where a figure went."""
    moved = last_move(before, move, after, components)
    return {
        "marks": marks(before, moved.move, components),
        "origin": moved.origin,
        "target": moved.target,
        "forward": moved.forward,
    }


def sources(rules: str) -> Sequence[str]:
    """What prestige comes from: the kinds of cards."""
    return [say(f"source.{pile}") for pile in RULE_SETS[rules].piles]


def source(move: str, components: Components) -> str | None:
    """The kind of card that a move's prestige comes from."""
    name = parsed(move).card
    return next((say(f"source.{card.pile}") for card in components.cards if card.name == name), None)
