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
    """Name of a virtue card in a list: `sword-2`."""
    return say("id.virtue", virtue=say(f"virtue.{virtue_of(card)}"), value=value_of(card))


def action_title(action: str) -> str:
    """Title of an action card: `horse 3`, `sword exercise`."""
    name, _, what = action.partition("-")
    return say(f"action.{name}.{what}") if name == "exercise" else say(f"action.{name}", reach=what)


def action_id(action: str) -> str:
    """Name of an action card in a list: `horse-3`, `exercise-sword`."""
    name, _, what = action.partition("-")
    if name == "quest":
        return say("id.quest.action")
    return say(f"id.{name}.{what}") if name == "exercise" else say(f"id.{name}", reach=what)


def action_text(action: str, components: Components = STANDARD) -> str:
    """Use of an action card."""
    name, _, what = action.partition("-")
    key = f"text.{name}.{what}" if name == "exercise" else f"text.{name}"
    return say(key, points=points_words(components.court), reach=what)


def points_words(points: int) -> str:
    """`1 point`, `2 points`."""
    return say("points", n=points)


def quest_title(quest: str) -> str:
    """Title of a quest: `lake 1`."""
    return say("card.quest", place=say(f"place.{place_of(quest)}"), number=quest.partition("-")[2])


def quest_id(quest: str) -> str:
    """Name of a quest in a list: `lake-1`."""
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
    """Parts as a list; `nothing` if there are none."""
    return say.listed(list(parts)) or say("nothing")


def choice(
    before: dict[str, Any],
    move: str,
    after: dict[str, Any] | None,
    names: Sequence[str],
    components: Components = STANDARD,
) -> str:
    """Text of a legal move for the player to move, without a full stop. `after`: None if it isn't known."""
    what, player = parsed(move), before["turn"]
    if what.kind == "take":
        return say("choice.take", action=action_title(what.action))
    if what.kind == "exercise":
        return say("choice.exercise", card=card_title(what.card))
    if what.kind == "artus":
        return say("choice.artus", quest=quest_words(what.quest, components))
    if what.kind == "court":
        return say("choice.court", card=card_title(what.card), points=points_words(components.court))
    if what.kind == "quest":
        if after is None:
            return say("choice.quest", quest=quest_words(what.quest, components))
        last = deed(before, move, after)
        paid, points = cards_words(last.paid), points_words(last.points)
        return say("choice.quest.paid", quest=quest_title(what.quest), cards=paid, points=points)
    if what.kind == "horse":
        return say("choice.horse", to=say(f"to.{what.place}"), action=action_title(what.action))
    if what.bid is not None:
        alone = jousters(before) == [player]
        if not what.bid:
            return say("choice.bid.empty" if alone else "choice.bid.nothing")
        cards = cards_words(what.bid)
        if alone:
            return say("choice.bid.alone", cards=cards, points=points_words(components.prize))
        return say("choice.bid", cards=cards, total=total(what.bid))
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
        viewer: Reader of the text.
        names: Names of the players.
        components: The box.
    """
    last = deed(before, move, after)
    return f"{_done(last, before, names, components)}{_then(last, before, after, names)}"


def _done(last: Deed, before: dict[str, Any], names: Sequence[str], components: Components) -> str:
    """Text of the move itself."""
    what = last.move
    points = points_words(last.points)
    if what.kind == "take":
        return say("played.take", action=action_title(what.action))
    if what.kind == "exercise":
        return say("played.exercise", card=card_title(what.card))
    if what.kind == "artus":
        return say("played.artus", quest=quest_words(what.quest, components))
    if what.kind == "court":
        return say("played.court", card=card_title(what.card), points=points)
    if what.kind == "quest":
        return say("played.quest", quest=quest_title(what.quest), cards=cards_words(last.paid), points=points)
    if what.kind == "horse":
        return say("played.horse", to=say(f"to.{what.place}"), action=action_title(what.action))
    if what.bid is None:
        unused = _unused(last.unused)
        return say("played.done.unused", unused=unused) if unused else say("played.done")
    cards = cards_words(what.bid)
    if jousters(before) == [last.player]:
        return say("played.alone", cards=cards, points=points) if what.bid else say("played.alone.nothing")
    return say("played.bid", cards=cards, total=total(what.bid)) if what.bid else say("played.bid.nothing")


def _then(last: Deed, before: dict[str, Any], after: dict[str, Any], names: Sequence[str]) -> str:
    """Text of its consequences: the result of a tournament, the next one, the next round."""
    words = ""
    if len(last.bids) > 1:
        words += f" {_result(last, names)}"
    if last.meeting:
        words += f" {say('then.meet', n=len(last.meeting), names=listed([names[who] for who in last.meeting]))}"
    if last.ends_round and after["phase"] == "over":
        words += f" {say('then.over')}"
    elif last.ends_round:
        words += f" {say('then.round', round=after['round'], name=names[after['tents'][0]])}"
    return words


def _result(last: Deed, names: Sequence[str]) -> str:
    """Text of the result of a tournament of two."""
    sums = ", ".join(say("result.sum", name=names[who], total=total(cards)) for who, cards in last.bids.items())
    best = [player for player, prize in last.prizes.items() if prize]
    if not best:
        return say("result.nobody")
    points = points_words(last.prizes[best[0]])
    if len(best) == 1:
        return say("result.won", name=names[best[0]], sums=sums, points=points)
    return say("result.drawn", sums=sums, points=points)
