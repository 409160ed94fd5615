"""Texts about why a move may be good: which quests come into reach, which rivals lose a quest, what it keeps or costs.

They use only the position as its player knows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from artus_env.games.quest.components import Components
from artus_env.games.quest.notation import parsed
from artus_env.games.quest.page import say
from artus_env.games.quest.page.deeds import jousters, lacking, place_of, virtue_of
from artus_env.games.quest.page.sentences import listed, quest_title


def reasons(
    before: dict[str, Any], move: str, after: dict[str, Any] | None, names: Sequence[str], components: Components
) -> list[str]:
    """Advantages and disadvantages of a legal move, the most important first.

    Args:
        before: The position, as the player to move knows it.
        move: The move.
        after: The position that follows; None if it can't be foreseen.
        names: Names of the players.
        components: The box.
    """
    what, player = parsed(move), before["turn"]
    if what.kind == "take":
        return list(_taken(before, what.action, components))
    if what.bid is not None:
        left = list((Counter(cards_of(before, player)) - Counter(what.bid)).elements())
        return list(_spends(before["quests"][player], cards_of(before, player), left, components))
    if after is None:
        return []
    return [*_forestalls(before, what.quest, names, components), *_changes(before, after, components)]


def cards_of(position: dict[str, Any], player: int) -> list[str]:
    """Virtue cards in a player's hand, as far as this position shows them."""
    start = position["start_cards"][player]
    return [*(start if isinstance(start, list) else []), *position["taken"][player]]


def _titles(quests: Sequence[str]) -> str:
    return listed([quest_title(quest) for quest in quests])


def _taken(before: dict[str, Any], action: str, components: Components) -> Iterator[str]:
    """Uses of an action card on display."""
    player = before["turn"]
    cards, quests = cards_of(before, player), before["quests"][player]
    lack = {quest: lacking(cards, quest, components) for quest in quests}
    ready = [quest for quest in quests if not lack[quest]]
    wanted = [quest for quest in quests if action in [f"exercise-{virtue_of(need)}" for need in lack[quest]]]
    if wanted:
        yield say("reason.lacks", quests=_titles(wanted))
    if action == "quest" and ready:
        yield say("reason.has", quests=_titles(ready))
    if before["display"].count(action) == 1:
        yield say("reason.last")


def _forestalls(before: dict[str, Any], quest: str, names: Sequence[str], components: Components) -> Iterator[str]:
    """Players who could do a quest that is taken now, with cards that they took openly."""
    if quest not in before["open_quests"]:
        return
    for player, name in enumerate(names):
        if player != before["turn"] and not lacking(before["taken"][player], quest, components):
            yield say("reason.forestalls", name=name)


def _changes(before: dict[str, Any], after: dict[str, Any], components: Components) -> Iterator[str]:
    """Quests and a tournament that have come into reach, and those that are out of reach now."""
    player = before["turn"]
    old, new = cards_of(before, player), cards_of(after, player)
    ready = [quest for quest in after["quests"][player] if not lacking(new, quest, components)]
    place = after["places"][player]
    reached = [quest for quest in ready if place_of(quest) == place != before["places"][player]]
    if reached:
        yield say("reason.there", quests=_titles(reached))
    fresh = [q for q in ready if q not in before["quests"][player] or lacking(old, q, components)]
    if fresh:
        yield say("reason.ready", quests=_titles(fresh))
    if jousters(after) != jousters(before):
        yield say("reason.joins" if player in jousters(after) else "reason.leaves")
    yield from _spends(after["quests"][player], old, new, components)


def _spends(quests: Sequence[str], old: Sequence[str], new: Sequence[str], components: Components) -> Iterator[str]:
    """Quests that need cards which the hand had before."""
    gone = [quest for quest in quests if not lacking(old, quest, components) and lacking(new, quest, components)]
    if gone:
        yield say("reason.spends", quests=_titles(gone))
