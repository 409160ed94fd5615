"""Texts about why a move may be good: what it certainly takes, keeps, gives away or costs.

They use only the position as its player knows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from artus_env.games.royal.components import SUPER_TRUMPS, Components
from artus_env.games.royal.notation import parsed
from artus_env.games.royal.page import say
from artus_env.games.royal.page.sentences import goal_words, suit_words
from artus_env.games.royal.page.tricks import destination, suit_of, takes_from, value_of, winning_index


def reasons(
    before: dict[str, Any], move: str, after: dict[str, Any] | None, names: Sequence[str], components: Components
) -> list[str]:
    """Advantages and disadvantages of a legal move, the most important first.

    Args:
        before: The position, as the player to move knows it.
        move: The move.
        after: Unused; for cards it isn't known, for chips it follows from `before`.
        names: Names of the players.
        components: The box.
    """
    parts = parsed(move)
    if parts.card is not None:
        return list(_card_reasons(before, parts.card, names, components))
    hand = before["hands"][before["turn"]]
    if parts.suit is not None:
        return [_trump_reason(parts.suit, before["trumps"].index(None) + 1, hand)]
    if parts.places is not None:
        first, second = parts.places
        suits = [(before["trumps"][first - 1], second), (before["trumps"][second - 1], first)]
        return [_trump_reason(suit, place, hand) for suit, place in sorted(suits, key=lambda entry: -entry[1])]
    return [say("reason.decline")]


def unseen(position: dict[str, Any], components: Components) -> Counter[str]:
    """Cards that others may hold: all except the hand of the player to move, the discards and the trick."""
    counts = Counter({f"{suit}-{value}": 1 for suit in components.suits for value in range(1, components.values + 1)})
    counts.update(dict(zip(SUPER_TRUMPS, (components.knights, components.shields), strict=True)))
    counts.subtract(position["hands"][position["turn"]])
    counts.subtract(position["discards"])
    counts.subtract(card for _, card in position["trick"])
    return +counts


def unbeaten(position: dict[str, Any], card: str, components: Components) -> bool:
    """Whether a card that is played now holds the trick, and no card that others may hold takes it."""
    player = position["turn"]
    trick = [*position["trick"], [player, card]]
    if trick[winning_index(trick, position["trumps"], components)][0] != player:
        return False
    if len(trick) == position["num_players"]:
        return True
    beats = takes_from(trick, position["trumps"], components)
    return not any(beats(other, card) for other in unseen(position, components))


def _card_reasons(before: dict[str, Any], card: str, names: Sequence[str], components: Components) -> Iterator[str]:
    """Yield the advantages and disadvantages of a card, the most important first."""
    player, fields, trick = before["turn"], before["fields"], [*before["trick"], [before["turn"], card]]
    completes = len(trick) == before["num_players"]
    taker = trick[winning_index(trick, before["trumps"], components)][0]
    target = destination(fields, taker, components)
    if completes and taker == player:
        if target in components.swords:
            yield say("reason.sword")
        rival = before["trick"][winning_index(before["trick"], before["trumps"], components)][0]
        yield say(
            "reason.prevents", name=names[rival], goal=goal_words(destination(fields, rival, components), components)
        )
    elif completes and target in components.swords:
        yield say("reason.gives", name=names[taker])
    elif not completes and unbeaten(before, card, components):
        yield say("reason.unbeaten")
    hand = Counter(before["hands"][player]) - Counter([card])
    suit = suit_of(card)
    if suit is not None and hand and not any(suit_of(other) == suit for other in hand):
        yield say("reason.void", suit=suit_words(suit))
    higher = [value_of(other) for other in hand if suit and suit_of(other) == suit and value_of(other) > value_of(card)]
    if higher and taker != player:
        yield say("reason.keeps.suit", value=max(higher), suit=suit_words(str(suit)))
    num_super_trumps = sum(hand[kind] for kind in SUPER_TRUMPS)
    if suit is None:
        yield say("reason.costs", n=num_super_trumps)
    elif num_super_trumps:
        yield say("reason.keeps", n=num_super_trumps)


def _trump_reason(suit: str, place: int, hand: Sequence[str]) -> str:
    """Text for a suit that gets a place among the trumps: how many of its cards the player holds."""
    count = sum(suit_of(card) == suit for card in hand)
    return say("reason.trumps", suit=suit_words(suit), place=place, n=count)
