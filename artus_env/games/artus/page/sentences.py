"""Texts for cards and moves in the current language (`artus_env.pictures.Texts`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from artus_env.authoring import letter_of, signed
from artus_env.games.artus.components import STANDARD, Card, Components
from artus_env.games.artus.notation import parsed
from artus_env.games.artus.page import say
from artus_env.games.artus.page.counting import scored_seats
from artus_env.games.artus.page.picture import LastMove, king_of, last_move, value_of
from artus_env.games.artus.page.shapes import steps_range


def plus(points: int) -> str:
    """Points won or lost, with their sign."""
    return f"+{points}" if points > 0 else signed(points)


def steps(card: Card) -> str:
    """Range of a card's steps, with ± if the figure may also move backward."""
    return f"{steps_range(card)} ±" if card.backward else steps_range(card)


def card_title(card: Card) -> str:
    """Title of a card, such as `Ring: silver`."""
    if card.action == "knight":
        return say("card.knight", steps=steps(card))
    if card.action == "royal":
        return say(f"card.royal.{card.colour or 'any'}", steps=steps(card))
    return say(f"card.ring.{card.colour or 'any'}") if card.action == "ring" else say(f"card.{card.action}")


def card_text(card: Card) -> str:
    """Effect of a card, in a sentence or two."""
    key = f"text.{card.action}"
    if card.action in ("royal", "ring"):
        key += f".{card.colour or 'any'}"
    steps_text = say("far.both" if card.backward else "far.forward", low=card.low, high=card.high)
    return say(key, far=steps_text, low=card.low, high=card.high, penalty=signed(card.penalty))


def figure_words(figure: dict[str, Any], names: Sequence[str], viewer: int | None = None, case: str = "subject") -> str:
    """Name of a figure: `your knight`, `Ann's knight`, `the silver prince`, `the King`.

    Args:
        figure: As in a position.
        names: Names of the players.
        viewer: Player whose knights are called `your knight`, because they read the text; None: no player's.
        case: Role in the sentence: `subject`, `object`, `receiver`, or `start` (a subject that begins the sentence).
    """
    if "knight" in figure:
        owner = figure["knight"]
        return say(f"figure.own.{case}") if owner == viewer else say(f"figure.other.{case}", name=names[owner])
    return say(f"figure.{'king' if 'king' in figure else figure['prince']}.{case}")


class Option(NamedTuple):
    """Text of a legal move for its player, without the card's name and without a full stop."""

    label: str  # the complete text
    figure: str = ""  # figure that moves, and its seat
    goal: str = ""  # new seat, or figure that gets a ring
    pushes: str = ""  # displaced figure and its new seat, in short


def choice(
    before: dict[str, Any],
    move: str,
    after: dict[str, Any] | None,
    names: Sequence[str],
    components: Components = STANDARD,
) -> str:
    """Text of a legal move for the player to move. `after`: None if a card is drawn."""
    return option(before, foreseen(before, move, after, components), names, components).label


def foreseen(
    before: dict[str, Any], move: str, after: dict[str, Any] | None, components: Components = STANDARD
) -> LastMove:
    """Effect of a legal move, as far as its player can know it."""
    return LastMove(parsed(move), before["turn"], 0) if after is None else last_move(before, move, after, components)


def option(position: dict[str, Any], last: LastMove, names: Sequence[str], components: Components = STANDARD) -> Option:
    """Text of a legal move, complete and in parts.

    Args:
        position: The position before the move.
        last: The move.
        names: Names of the players.
    """
    king, seats, viewer = king_of(position), position["seats"], position["turn"]
    points, parts = plus(last.points), last.move
    if parts.kind == "draw":
        return Option(say(f"option.draw.{parts.pile}", n=position["piles"][viewer][parts.pile]))
    if last.target is None:
        return Option(say(f"option.{parts.kind}", points=points, counted=counted_figures(position, last, components)))
    if parts.kind == "place":
        goal = say("option.seat", seat=last.target, value=signed(value_of(last.target, king, components)))
        return Option(say("option.place", goal=goal), goal=goal)
    target_figure = seats[last.target]
    if last.origin is None:
        receiver = figure_words(target_figure, names, case="object")
        goal = say("option.receiver", figure=receiver, seat=last.target, points=points)
        goal += say("option.crowns") if target_figure["rings"] == 2 else ""
        return Option(say("option.ring", goal=goal), goal=goal)
    mover, push, pushes = figure_words(seats[last.origin], names, viewer), "", ""
    if last.refuge is not None:
        pushes_own = target_figure.get("knight") == viewer
        both_own = pushes_own and "knight" in seats[last.origin]
        pushed_figure = say("figure.another") if both_own else figure_words(target_figure, names, viewer)
        push = say("option.push", figure=pushed_figure, seat=last.refuge)
        royal = "option.king" if "king" in target_figure else "option.prince"
        short_name = letter_of(target_figure["knight"]) if "knight" in target_figure else say(royal)
        pushes = say("option.pushes", who=say("option.own") if pushes_own else short_name, seat=last.refuge)
    return Option(
        say("option.move", figure=mover, origin=last.origin, target=last.target, points=points) + push,
        say("option.figure", figure=mover, origin=last.origin, points=points),
        say("option.goal", target=last.target) + push,
        pushes,
    )


def counted_figures(position: dict[str, Any], last: LastMove, components: Components = STANDARD) -> str:
    """Figures that a scoring card counts, in brackets: ` (seat 1: 0, seat 15: -2)`; empty if it counts none."""
    values = scored_seats(position, last.move, components)
    parts = [say("counted.seat", seat=seat, value=signed(value)) for seat, value in values]
    return f" ({', '.join(parts)})" if parts else ""


def played(
    before: dict[str, Any],
    move: str,
    after: dict[str, Any],
    viewer: int,
    names: Sequence[str],
    components: Components = STANDARD,
) -> str:
    """Text of a move that was played, to follow its player's name: `moves a knight from seat 3 to seat 8 …`.

    Args:
        before, after: The positions as the viewer knows them; only the player who draws a card sees which one it is.
        move: The move.
        viewer: Player who reads the text.
        names: Names of the players.
        components: The box.
    """
    last = last_move(before, move, after, components)
    by_name = {card.name: card for card in components.cards}
    king, king_after, seats = king_of(before), king_of(after), before["seats"]
    parts = last.move
    if parts.kind == "draw":
        words = say(f"played.draw.{parts.pile}")
        if last.player != viewer:
            return words
        (drawn,) = Counter(after["hands"][viewer]) - Counter(before["hands"][viewer])
        return f"{words} {say('played.drawn', card=card_title(by_name[drawn]))}"
    if parts.kind == "place":
        value = signed(value_of(last.target or 0, king, components))
        return say("played.place", seat=last.target, value=value)
    card, points = card_title(by_name[str(parts.card)]), plus(last.points)
    if last.target is None:
        return say(f"played.{parts.kind}", card=card, points=points, counted=counted_figures(before, last, components))
    if last.origin is None:
        receiver = figure_words(seats[last.target], names, case="receiver")
        words = say("played.ring", figure=receiver, seat=last.target, card=card, points=points)
        return f"{words} {say('played.crowned')}" if king_after != king else words
    figure = seats[last.origin]
    mover = say("figure.knight") if "knight" in figure else figure_words(figure, names, case="object")
    words = say("played.move", figure=mover, origin=last.origin, target=last.target, card=card, points=points)
    if last.refuge is not None:
        pushed = figure_words(seats[last.target], names, case="start")
        words += f" {say('played.pushed', figure=pushed, seat=last.refuge)}"
    if king_after != king:
        words += f" {say('played.turns')}"
    return words
