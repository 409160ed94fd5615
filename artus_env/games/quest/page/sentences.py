"""Texts for cards, quests and moves in the current language (`artus_env.pictures.Texts`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from artus_env.games.quest.components import QUESTS, STANDARD, VIRTUES, Components
from artus_env.games.quest.notation import parsed
from artus_env.games.quest.page import say
from artus_env.games.quest.page.deeds import Deed, deed, jousters, place_of, total, value_of, virtue_of


def card_title(card: str) -> str:
    """Title of a virtue card: `sword 2`."""
    return say("card.virtue", virtue=say(f"virtue.{virtue_of(card)}"), value=value_of(card))


def card_id(card: str) -> str:
    """Short name of a virtue card, for lists: `sword-2`."""
    return say("id.virtue", virtue=say(f"virtue.{virtue_of(card)}"), value=value_of(card))


def action_title(action: str) -> str:
    """Title of an action card: `horse 3`, `sword exercise`."""
    name, _, detail = action.partition("-")
    return say(f"action.{name}.{detail}") if name == "exercise" else say(f"action.{name}", reach=detail)


def action_id(action: str) -> str:
    """Short name of an action card, for lists: `horse-3`, `exercise-sword`."""
    name, _, detail = action.partition("-")
    if name == "quest":
        return say("id.quest.action")
    return say(f"id.{name}.{detail}") if name == "exercise" else say(f"id.{name}", reach=detail)


def action_text(action: str, components: Components = STANDARD) -> str:
    """Use of an action card."""
    name, _, detail = action.partition("-")
    key = f"text.{name}.{detail}" if name == "exercise" else f"text.{name}"
    return say(key, points=points_words(components.court), reach=detail)


def points_words(points: int) -> str:
    """`1 point`, `2 points`."""
    return say("points", n=points)


def quest_title(quest: str) -> str:
    """Title of a quest: `lake 1`."""
    return say("card.quest", place=say(f"place.{place_of(quest)}"), number=quest.partition("-")[2])


def quest_id(quest: str) -> str:
    """Short name of a quest, for lists: `lake-1`."""
    return say("id.quest", place=say(f"place.{place_of(quest)}"), number=quest.partition("-")[2])


def quest_needs(quest: str, components: Components = STANDARD) -> dict[str, str]:
    """Demands and points of a quest, as `needs` and `points`."""
    data = components.quests[QUESTS.index(quest)]
    needs = [card_id(f"{virtue}-{need}") for virtue, need in zip(VIRTUES, data.needs, strict=True) if need]
    return {"needs": " + ".join(needs), "points": points_words(data.points)}


def quest_words(quest: str, components: Components = STANDARD) -> str:
    """Title, demands and points of a quest."""
    return say("quest.words", quest=quest_title(quest), **quest_needs(quest, components))


def place_title(place: str) -> str:
    """Name of a place within a sentence: `the lake`, `Camelot`."""
    return say(f"the.{place}")


def cards_words(cards: Sequence[str]) -> str:
    """List of virtue cards: `sword 1, sword 1 and lance 2`."""
    return listed([card_title(card) for card in cards])


def listed(parts: Sequence[str]) -> str:
    """Texts joined into a list in words; `nothing` if there are none."""
    return say.listed(list(parts)) or say("nothing")


def choice(
    before: dict[str, Any],
    move: str,
    after: dict[str, Any] | None,
    names: Sequence[str],
    components: Components = STANDARD,
) -> str:
    """Text of a legal move for the player to move, without a full stop. `after`: None if it isn't known."""
    parts, player = parsed(move), before["turn"]
    if parts.kind == "take":
        return say("choice.take", action=action_title(parts.action))
    if parts.kind == "exercise":
        return say("choice.exercise", card=card_title(parts.card))
    if parts.kind == "artus":
        return say("choice.artus", quest=quest_words(parts.quest, components))
    if parts.kind == "court":
        return say("choice.court", card=card_title(parts.card), points=points_words(components.court))
    if parts.kind == "quest":
        if after is None:
            return say("choice.quest", quest=quest_words(parts.quest, components))
        last = deed(before, move, after)
        paid, points = cards_words(last.paid), points_words(last.points)
        return say("choice.quest.paid", quest=quest_title(parts.quest), cards=paid, points=points)
    if parts.kind == "horse":
        return say("choice.horse", to=say(f"to.{parts.place}"), action=action_title(parts.action))
    if parts.bid is not None:
        alone = jousters(before) == [player]
        if not parts.bid:
            return say("choice.bid.empty" if alone else "choice.bid.nothing")
        cards = cards_words(parts.bid)
        if alone:
            return say("choice.bid.alone", cards=cards, points=points_words(components.prize))
        return say("choice.bid", cards=cards, total=total(parts.bid))
    unused = _unused([card for card in before["actions"][player] if card != "tournament"])
    return say("choice.done.unused", unused=unused) if unused else say("choice.done")


def _unused(cards: Sequence[str]) -> str:
    """Text about unused action cards; empty if there are none."""
    counts = Counter(map(action_title, cards))
    names = [say("unused.times", n=count, card=card) if count > 1 else card for card, count in counts.items()]
    return say("unused", n=len(cards), cards=listed(names)) if cards else ""


def played(
    before: dict[str, Any],
    move: str,
    after: dict[str, Any],
    viewer: int,
    names: Sequence[str],
    components: Components = STANDARD,
) -> str:
    """Text of a move that was played, to follow its player's name: `rides to the lake with horse 3.`

    Args:
        before, after: The positions as the viewer knows them.
        move: The move.
        viewer: Player who reads the text.
        names: Names of the players.
        components: The box.
    """
    last = deed(before, move, after)
    return f"{_move_text(last, before, names, components)}{_consequences(last, before, after, names)}"


def _move_text(last: Deed, before: dict[str, Any], names: Sequence[str], components: Components) -> str:
    """Text of the move itself."""
    parts = last.move
    points = points_words(last.points)
    if parts.kind == "take":
        return say("played.take", action=action_title(parts.action))
    if parts.kind == "exercise":
        return say("played.exercise", card=card_title(parts.card))
    if parts.kind == "artus":
        return say("played.artus", quest=quest_words(parts.quest, components))
    if parts.kind == "court":
        return say("played.court", card=card_title(parts.card), points=points)
    if parts.kind == "quest":
        return say("played.quest", quest=quest_title(parts.quest), cards=cards_words(last.paid), points=points)
    if parts.kind == "horse":
        return say("played.horse", to=say(f"to.{parts.place}"), action=action_title(parts.action))
    if parts.bid is None:
        unused = _unused(last.unused)
        return say("played.done.unused", unused=unused) if unused else say("played.done")
    cards = cards_words(parts.bid)
    if jousters(before) == [last.player]:
        return say("played.alone", cards=cards, points=points) if parts.bid else say("played.alone.nothing")
    return say("played.bid", cards=cards, total=total(parts.bid)) if parts.bid else say("played.bid.nothing")


def _consequences(last: Deed, before: dict[str, Any], after: dict[str, Any], names: Sequence[str]) -> str:
    """Text of what follows the move: the result of a tournament, the next tournament, the next round."""
    words = ""
    if len(last.bids) > 1:
        words += f" {_result(last, names)}"
    if last.next_jousters:
        jouster_names = listed([names[player] for player in last.next_jousters])
        words += f" {say('then.meet', n=len(last.next_jousters), names=jouster_names)}"
    if last.ends_round and after["phase"] == "over":
        words += f" {say('then.over')}"
    elif last.ends_round:
        words += f" {say('then.round', round=after['round'], name=names[after['tents'][0]])}"
    return words


def _result(last: Deed, names: Sequence[str]) -> str:
    """Text of the result of a tournament of two."""
    sums = ", ".join(say("result.sum", name=names[player], total=total(cards)) for player, cards in last.bids.items())
    winners = [player for player, prize in last.prizes.items() if prize]
    if not winners:
        return say("result.nobody")
    points = points_words(last.prizes[winners[0]])
    if len(winners) == 1:
        return say("result.won", name=names[winners[0]], sums=sums, points=points)
    return say("result.drawn", sums=sums, points=points)
