"""Cards and moves in plain language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from artus_env.engine.wording import signed
from artus_env.games.artus.components import STANDARD, Card, Components
from artus_env.games.artus.moves import parsed
from artus_env.games.artus.picture import LastMove, last_move, value_of
from artus_env.games.artus.shapes import reach

SCORING_TITLES = {
    "all": "All knights",
    "reversed": "All reversed",
    "colors": "Three colours",
    "carpet": "Carpet",
    "reds": "Three reds",
    "choice": "Choice",
}


def plus(points: int) -> str:
    """Points won or lost, with their sign."""
    return f"+{points}" if points > 0 else signed(points)


def steps(card: Card) -> str:
    """How far a card moves: from - to, and ± where backward is allowed, too."""
    return f"{reach(card)} ±" if card.backward else reach(card)


def card_title(card: Card) -> str:
    """A card's name as people say it: `Ring: silver`."""
    if card.action == "knight":
        return f"Knight {steps(card)}"
    if card.action == "royal":
        return f"{card.colour.capitalize() if card.colour else 'Any royal'} {steps(card)}"
    if card.action == "ring":
        return f"Ring: {card.colour or 'any'}"
    return SCORING_TITLES[card.action]


def card_text(card: Card) -> str:
    """What a card does, in a sentence or two."""
    way = "forward or backward" if card.backward else "forward"
    far = f"{card.low} to {card.high} seats {way}"
    colour = f"{card.colour} " if card.colour else ""
    text = {
        "knight": f"Move one of your knights {far}. You gain what the seat that it leaves is worth.",
        "royal": f"Move a {colour}prince or the King, if he is {card.colour}, {far}." if card.colour
        else f"Move a prince or the King {far}.",
        "ring": f"Give a {colour}prince a ring. You gain what his seat is worth. With three rings he is King.",
        "all": "Gain what all your knights are worth together.",
        "reversed": "Gain what all your knights are worth together, plus and minus swapped.",
        "colors": f"Score one knight on green, one on yellow and one on red. If you can't: {signed(card.penalty)}.",
        "carpet": f"Score two knights on the carpet. If you can't: {signed(card.penalty)}.",
        "reds": f"Score three knights on red. If you can't: {signed(card.penalty)}.",
        "choice": f"Move one of your knights, a prince or the King {card.low} to {card.high} seats forward, "
        "or give a prince a ring, or score your best knight.",
    }[card.action]  # fmt: skip
    return f"{text} You gain what his seat was worth; the King's is worth 0." if card.action == "royal" else text


def figure_words(figure: dict[str, Any], names: Sequence[str], viewer: int | None = None) -> str:
    """Who sits on a seat: `your knight`, `Ann's knight`, `the silver prince`, `the King`."""
    if "knight" in figure:
        owner = figure["knight"]
        return "your knight" if owner == viewer else f"{names[owner]}'s knight"
    return "the King" if "king" in figure else f"the {figure['prince']} prince"


def king_of(position: dict[str, Any]) -> int:
    """Seat of the King."""
    return next(seat for seat, figure in enumerate(position["seats"]) if figure and "king" in figure)


class Option(NamedTuple):
    """A legal move, said to its player before they play it: no card's name, no full stop."""

    label: str  # the whole of it
    figure: str = ""  # which figure moves, and from where
    goal: str = ""  # where to, or who gets it


def choice(
    before: dict[str, Any],
    move: str,
    after: dict[str, Any] | None,
    names: Sequence[str],
    components: Components = STANDARD,
) -> str:
    """A legal move in words, said to the player to move. `after`: None if a card is drawn."""
    return option(before, foreseen(before, move, after, components), names, components).label


def foreseen(
    before: dict[str, Any], move: str, after: dict[str, Any] | None, components: Components = STANDARD
) -> LastMove:
    """What a legal move would do, as far as its player can know."""
    return LastMove(parsed(move), before["turn"], 0) if after is None else last_move(before, move, after, components)


def option(position: dict[str, Any], last: LastMove, names: Sequence[str], components: Components = STANDARD) -> Option:
    """A legal move in words, as a whole and in parts.

    Args:
        position: Before the move.
        last: The move.
        names: Who plays.
    """
    king, seats, viewer = king_of(position), position["seats"], position["turn"]
    gain = f": {plus(last.points)}"
    what = last.move
    if what.kind == "draw":
        return Option(f"draw from the {what.pile} pile ({position['piles'][viewer][what.pile]} left)")
    if last.target is None:
        return Option(f"score your best knight{gain}" if what.kind == "best" else f"score{gain}")
    if what.kind == "place":
        goal = f"seat {last.target} (worth {signed(value_of(last.target, king, components))})"
        return Option(f"place a knight on {goal}", goal=goal)
    sitting = seats[last.target]
    if last.origin is None:
        goal = f"{figure_words(sitting, names)} on seat {last.target}{gain}"
        goal += ", he becomes King" if sitting["rings"] == 2 else ""
        return Option(f"a ring for {goal}", goal=goal)
    mover, goal = figure_words(seats[last.origin], names, viewer), f"seat {last.target}"
    push = ""
    if last.refuge is not None:
        own = sitting.get("knight") == viewer and "knight" in seats[last.origin]
        who = "another of your knights" if own else figure_words(sitting, names, viewer)
        push = f", {who} has to go to seat {last.refuge}"
    return Option(
        f"{mover} from seat {last.origin} to {goal}{gain}{push}",
        f"{mover} on seat {last.origin}{gain}",
        f"{goal}{push}",
    )


def played(
    before: dict[str, Any],
    move: str,
    after: dict[str, Any],
    viewer: int,
    names: Sequence[str],
    components: Components = STANDARD,
) -> str:
    """What somebody has done, to be read after their name: `moves a knight from seat 3 to seat 8 …`.

    Args:
        before, after: The positions as the viewer knows them: only those who draw a card are told which one it is.
        move: The move.
        viewer: Who reads it.
        names: Who plays.
        components: The box.
    """
    last = last_move(before, move, after, components)
    by_name = {card.name: card for card in components.cards}
    king, king_after, seats = king_of(before), king_of(after), before["seats"]
    what = last.move
    if what.kind == "draw":
        words = f"draws a {what.pile} card."
        if last.player != viewer:
            return words
        (drawn,) = Counter(after["hands"][viewer]) - Counter(before["hands"][viewer])
        return f"{words} It is “{card_title(by_name[drawn])}”."
    if what.kind == "place":
        return f"places a knight on seat {last.target}, worth {signed(value_of(last.target or 0, king, components))}."
    card = by_name[str(what.card)]
    with_card = f" with “{card_title(card)}”"
    gain = f": {plus(last.points)}."
    if last.target is None:
        scored = "scores the best knight" if what.kind == "best" else "scores"
        return f"{scored}{with_card}{gain}"
    if last.origin is None:
        words = f"gives a ring to {figure_words(seats[last.target], names)} on seat {last.target}{with_card}{gain}"
        if king_after != king:
            words += " It is his third: he is crowned King, and the table turns to him."
        return words
    moved = seats[last.origin]
    mover = "a knight" if "knight" in moved else figure_words(moved, names)
    words = f"moves {mover} from seat {last.origin} to seat {last.target}{with_card}{gain}"
    if last.refuge is not None:
        words += f" {_capital(figure_words(seats[last.target], names))} there has to go to seat {last.refuge}."
    if king_after != king:
        words += " The table turns with the King."
    return words


def _capital(text: str) -> str:
    return f"T{text[1:]}" if text.startswith("the ") else text  # names are written as they are
