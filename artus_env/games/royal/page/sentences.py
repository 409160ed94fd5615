"""Texts for cards and moves in the current language (`artus_env.pictures.Texts`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from artus_env.games.royal.components import STANDARD, Components
from artus_env.games.royal.page import say
from artus_env.games.royal.page.tricks import LastMove, last_move, led_suit, suit_of, value_of, winning_index


def suit_words(suit: str, capital: bool = False) -> str:
    """Name of a suit within a sentence, or at its beginning; suits of other boxes keep their own names."""
    key = f"Suit.{suit}" if capital else f"suit.{suit}"
    return say(key) if key in say else suit.capitalize() if capital else suit


def card_title(card: str) -> str:
    """Title of a card: `7 of hearts`, `knight`."""
    suit = suit_of(card)
    return say("card.suited", value=value_of(card), suit=suit_words(suit)) if suit else say(f"card.{card}")


def card_id(card: str) -> str:
    """Name of a card in a list: `hearts-7`, `knight`."""
    suit = suit_of(card)
    return say("id.suited", value=value_of(card), suit=suit_words(suit)) if suit else say(f"card.{card}")


def the_card(card: str) -> str:
    """Name of a card within a sentence, with its article: `the 7 of hearts`, but `a knight`."""
    return say("the.suited", card=card_title(card)) if suit_of(card) else say(f"the.{card}")


def goal_words(field: int, components: Components) -> str:
    """Field that a pawn goes to, with its special feature."""
    kind = "last" if field == components.fields else "sword" if field in components.swords else "field"
    return say(f"goal.{kind}", field=field)


def choice(
    before: dict[str, Any],
    move: str,
    after: dict[str, Any] | None,
    names: Sequence[str],
    components: Components = STANDARD,
) -> str:
    """Text of a legal move for the player to move, without a full stop. `after` is the position after the move, None if
    it isn't known."""
    last, trumps = last_move(before, move, after, components), before["trumps"]
    if last.move.card is not None:
        prospect = outlook(before, last, names, components)
        card = the_card(last.move.card)
        return say("choice.card.outlook", card=card, outlook=prospect) if prospect else say("choice.card", card=card)
    if last.move.suit is not None:
        return say("choice.trump", suit=suit_words(last.move.suit), place=trumps.index(None) + 1)
    if last.move.places is not None:
        first, second = last.move.places
        first_suit, second_suit = suit_words(trumps[first - 1]), suit_words(trumps[second - 1])
        return say("choice.swap", one=first_suit, first=first, other=second_suit, second=second)
    return say("choice.decline")


def outlook(before: dict[str, Any], last: LastMove, names: Sequence[str], components: Components = STANDARD) -> str:
    """Text of what a card leads to, as far as the trick shows it; empty if the card is led."""
    viewer = before["turn"]
    trick = [*before["trick"], [viewer, last.move.card]]
    holder, best = trick[winning_index(trick, before["trumps"], components)]
    if len(trick) == 1:
        return ""
    text_key = "own" if holder == viewer else "other"
    who = say("outlook.own") if text_key == "own" else say("outlook.other", name=names[holder], card=card_title(best))
    if last.target is None:
        return say(f"outlook.holds.{text_key}", who=who)
    return say(f"outlook.takes.{text_key}", who=who, goal=goal_words(last.target, components))


def played(
    before: dict[str, Any],
    move: str,
    after: dict[str, Any],
    viewer: int,
    names: Sequence[str],
    components: Components = STANDARD,
) -> str:
    """Text of a move that was played, for use after its player's name: `plays the 7 of hearts.`

    Args:
        before, after: The positions as the viewer knows them.
        move: The move.
        viewer: Unused: the text is the same for all readers.
        names: Names of the players.
        components: The box.
    """
    last, trumps = last_move(before, move, after, components), before["trumps"]
    if last.move.suit is not None:
        place = after["trumps"].index(last.move.suit) + 1
        return say("played.trump", suit=suit_words(last.move.suit), place=place)
    if last.move.places is not None:
        first, second = last.move.places
        first_suit, second_suit = suit_words(trumps[first - 1]), suit_words(trumps[second - 1])
        return say("played.swap", one=first_suit, first=first, other=second_suit, second=second)
    if last.move.card is None:
        return say("played.decline")
    result = say("then.nothing")
    if last.taker is not None and last.target is not None:
        text_key = "own" if last.taker == last.player else "other"
        result = say(f"then.{text_key}", name=names[last.taker], goal=goal_words(last.target, components))
    card, led = the_card(last.move.card), led_suit(before["trick"])
    if led is not None and suit_of(last.move.card) != led:
        text = say("played.void", suit=suit_words(led), card=card, then=result)
    else:
        text = say("played.plays" if before["trick"] else "played.leads", card=card, then=result)
    if last.taker is None or after["phase"] == "over" or any(after["played"]):
        return text
    return f"{text} {say('then.shuffled' if after['shuffles'] > before['shuffles'] else 'then.dealt')}"
