"""Cards and moves in plain language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from artus_env.games.royal.components import STANDARD, Components
from artus_env.games.royal.tricks import LastMove, holder, last_move, led_suit, suit_of, value_of


def card_title(card: str) -> str:
    """A card as people say it: `7 of hearts`, `knight`."""
    suit = suit_of(card)
    return f"{value_of(card)} of {suit}" if suit else card


def the_card(card: str) -> str:
    """A card within a sentence: there is one 7 of hearts, but several knights."""
    return f"the {card_title(card)}" if suit_of(card) else f"a {card}"


def goal_words(field: int, components: Components) -> str:
    """Where a pawn goes, and what is special about it."""
    if field == components.fields:
        return "Artus and wins"
    return f"field {field}{', a sword' if field in components.swords else ''}"


def choice(
    before: dict[str, Any],
    move: str,
    after: dict[str, Any] | None,
    names: Sequence[str],
    components: Components = STANDARD,
) -> str:
    """A legal move in words, said to the player to move: no full stop. `after`: None if it isn't known."""
    last, trumps = last_move(before, move, after), before["trumps"]
    if last.move.card is not None:
        prospect = outlook(before, last, names, components)
        return f"play {the_card(last.move.card)}{f': {prospect}' if prospect else ''}"
    if last.move.suit is not None:
        return f"place the {last.move.suit} chip on place {trumps.index(None) + 1}: the strongest trump"
    if last.move.places is not None:
        first, second = last.move.places
        return f"swap {trumps[first - 1]} (place {first}) and {trumps[second - 1]} (place {second})"
    return "decline: no chip is placed"


def outlook(before: dict[str, Any], last: LastMove, names: Sequence[str], components: Components = STANDARD) -> str:
    """What a card comes to as far as the trick tells; nothing if it is led."""
    viewer = before["turn"]
    trick = [*before["trick"], [viewer, last.move.card]]
    player, best = trick[holder(trick, before["trumps"])]
    if len(trick) == 1:
        return ""
    who = "it" if player == viewer else f"{names[player]}'s {card_title(best)}"
    if last.target is None:
        return f"{who} holds the trick so far"
    goal = goal_words(last.target, components)
    return f"{who} takes the trick{': your pawn goes' if player == viewer else ','} to {goal}"


def played(
    before: dict[str, Any],
    move: str,
    after: dict[str, Any],
    viewer: int,
    names: Sequence[str],
    components: Components = STANDARD,
) -> str:
    """What somebody has done, to be read after their name: `plays the 7 of hearts.`

    Args:
        before, after: The positions as the viewer knows them.
        move: The move.
        viewer: Who reads it; all see the same.
        names: Who plays.
        components: The box.
    """
    last, trumps = last_move(before, move, after), before["trumps"]
    if last.move.suit is not None:
        place = after["trumps"].index(last.move.suit) + 1
        return f"places the {last.move.suit} chip on place {place}: the strongest trump now."
    if last.move.places is not None:
        first, second = last.move.places
        return f"swaps two chips: {trumps[second - 1]} is on place {first} now, {trumps[first - 1]} on place {second}."
    if last.move.card is None:
        return "declines: no chip is placed."
    card, led = the_card(last.move.card), led_suit(before["trick"])
    if led is not None and suit_of(last.move.card) != led:
        words = f"has no {led} and plays {card}"
    else:
        words = f"plays {card}" if before["trick"] else f"leads {card}"
    if last.taker is None or last.target is None:
        return f"{words}."
    goal = goal_words(last.target, components)
    if last.taker == last.player:
        words += f". That takes the trick, and the pawn goes to {goal}."
    else:
        words += f". {names[last.taker]} takes the trick and goes to {goal}."
    if after["phase"] == "over" or any(after["played"]):
        return words
    shuffled = after["shuffles"] > before["shuffles"]
    return f"{words} {'All cards are shuffled and dealt anew' if shuffled else 'New hands are dealt'}."
