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
    parts, player = parsed(move), before["turn"]
    if parts.kind == "take":
        return list(_take_reasons(before, parts.action, components))
    if parts.bid is not None:
        left = list((Counter(cards_of(before, player)) - Counter(parts.bid)).elements())
        return list(_cost_reasons(before["quests"][player], cards_of(before, player), left, components))
    if after is None:
        return []
    return [*_forestall_reasons(before, parts.quest, names, components), *_change_reasons(before, after, components)]


def cards_of(position: dict[str, Any], player: int) -> list[str]:
    """Virtue cards in a player's hand, as far as this position shows them."""
    start = position["start_cards"][player]
    return [*(start if isinstance(start, list) else []), *position["taken"][player]]


def _titles(quests: Sequence[str]) -> str:
    return listed([quest_title(quest) for quest in quests])


def _take_reasons(before: dict[str, Any], action: str, components: Components) -> Iterator[str]:
    """Reasons to take an action card from the display."""
    player = before["turn"]
    cards, quests = cards_of(before, player), before["quests"][player]
    missing_cards = {quest: lacking(cards, quest, components) for quest in quests}
    ready_quests = [quest for quest in quests if not missing_cards[quest]]
    helped_quests = [
        quest for quest in quests if action in [f"exercise-{virtue_of(need)}" for need in missing_cards[quest]]
    ]
    if helped_quests:
        yield say("reason.lacks", quests=_titles(helped_quests))
    if action == "quest" and ready_quests:
        yield say("reason.has", quests=_titles(ready_quests))
    if before["display"].count(action) == 1:
        yield say("reason.last")


def _forestall_reasons(
    before: dict[str, Any], quest: str, names: Sequence[str], components: Components
) -> Iterator[str]:
    """Other players who could do a quest that the move takes, with cards that they took openly."""
    if quest not in before["open_quests"]:
        return
    for player, name in enumerate(names):
        if player != before["turn"] and not lacking(before["taken"][player], quest, components):
            yield say("reason.forestalls", name=name)


def _change_reasons(before: dict[str, Any], after: dict[str, Any], components: Components) -> Iterator[str]:
    """Quests that the player can do after the move, a tournament that they enter or leave, and quests that they can no
    longer do."""
    player = before["turn"]
    old, new = cards_of(before, player), cards_of(after, player)
    ready_quests = [quest for quest in after["quests"][player] if not lacking(new, quest, components)]
    place = after["places"][player]
    quests_here = [quest for quest in ready_quests if place_of(quest) == place != before["places"][player]]
    if quests_here:
        yield say("reason.there", quests=_titles(quests_here))
    newly_ready = [q for q in ready_quests if q not in before["quests"][player] or lacking(old, q, components)]
    if newly_ready:
        yield say("reason.ready", quests=_titles(newly_ready))
    if jousters(after) != jousters(before):
        yield say("reason.joins" if player in jousters(after) else "reason.leaves")
    yield from _cost_reasons(after["quests"][player], old, new, components)


def _cost_reasons(
    quests: Sequence[str], old: Sequence[str], new: Sequence[str], components: Components
) -> Iterator[str]:
    """Quests that the player can no longer pay for, because the move has spent their cards."""
    lost_quests = [quest for quest in quests if not lacking(old, quest, components) and lacking(new, quest, components)]
    if lost_quests:
        yield say("reason.spends", quests=_titles(lost_quests))
