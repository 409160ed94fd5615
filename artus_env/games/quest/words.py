"""Cards, quests and moves in plain language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from artus_env.engine.wording import counted
from artus_env.games.quest.components import STANDARD, Components
from artus_env.games.quest.deeds import CAMELOT, Deed, deed, jousters, total
from artus_env.games.quest.moves import parsed
from artus_env.games.quest.text import quest_text


def card_title(card: str) -> str:
    """A virtue card as people say it: `sword 2`."""
    return card.replace("-", " ")


def action_title(action: str) -> str:
    """An action card as people say it: `horse 3`, `sword exercise`."""
    name, _, what = action.partition("-")
    if name == "exercise":
        return f"{what} exercise"
    return {"artus": "Artus", "court": "court", "quest": "quest", "tournament": "tournament"}.get(
        name, f"{name} {what}"
    )


def action_text(action: str, components: Components = STANDARD) -> str:
    """What an action card is good for."""
    name, _, what = action.partition("-")
    return {
        "exercise": f"In Camelot: take a {what} card from its pile.",
        "artus": "In Camelot: take one of the open quests.",
        "tournament": "When all are done: joust, if you are in Camelot then.",
        "court": f"Outside Camelot: lay a book back for {counted(components.court, 'point')}.",
        "quest": "At the place of one of your quests: pay for it and get its points.",
        "horse": f"Ride up to {what} places, either way round.",
    }[name]


def quest_title(quest: str) -> str:
    """A quest as people say it: `lake 1`."""
    return quest.replace("-", " ")


def quest_words(quest: str, components: Components = STANDARD) -> str:
    """A quest, what it demands and what it brings."""
    return f"{quest_title(quest)} ({quest_text(quest, components)})"


def place_title(place: str) -> str:
    """A place within a sentence: `the lake`, `Camelot`."""
    return place.capitalize() if place == CAMELOT else f"the {place}"


def cards_words(cards: Sequence[str]) -> str:
    """Some virtue cards: `sword 1, sword 1 and lance 2`."""
    return listed([card_title(card) for card in cards])


def listed(parts: Sequence[str]) -> str:
    """Things one after the other, `nothing` if there are none."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0] if parts else "nothing"


def choice(
    before: dict[str, Any],
    move: str,
    after: dict[str, Any] | None,
    names: Sequence[str],
    components: Components = STANDARD,
) -> str:
    """A legal move in words, said to the player to move: no full stop. `after`: None if it isn't known."""
    what, player = parsed(move), before["turn"]
    if what.kind == "take":
        return f"take the card {action_title(what.action)}"
    if what.kind == "exercise":
        return f"exercise: take {card_title(what.card)}"
    if what.kind == "artus":
        return f"ask Artus for {quest_words(what.quest, components)}"
    if what.kind == "court":
        return f"lay {card_title(what.card)} back at court for {counted(components.court, 'point')}"
    if what.kind == "quest":
        if after is None:
            return f"do the quest {quest_words(what.quest, components)}"
        last = deed(before, move, after)
        return f"do the quest {quest_title(what.quest)} with {cards_words(last.paid)}: {counted(last.points, 'point')}"
    if what.kind == "horse":
        return f"ride to {place_title(what.place)} with {action_title(what.action)}"
    if what.bid is not None:
        alone = jousters(before) == [player]
        if not what.bid:
            return "bid nothing: you hold neither sword nor lance" if alone else "bid nothing"
        prize = f"you joust alone, for {counted(components.prize, 'point')}" if alone else f"{total(what.bid)} in all"
        return f"bid {cards_words(what.bid)}: {prize}"
    unused = _unused([card for card in before["actions"][player] if card != "tournament"])
    return f"be done: {unused}" if unused else "be done"


def _unused(cards: Sequence[str]) -> str:
    """What happens to action cards that nobody has used, nothing if there are none."""
    counts = Counter(map(action_title, cards))
    names = [f"{count} x {card}" if count > 1 else card for card, count in counts.items()]
    return f"{listed(names)} {'go' if len(cards) > 1 else 'goes'} back unused" if cards else ""


def played(
    before: dict[str, Any],
    move: str,
    after: dict[str, Any],
    viewer: int,
    names: Sequence[str],
    components: Components = STANDARD,
) -> str:
    """What somebody has done, to be read after their name: `rides to the lake with horse 3.`

    Args:
        before, after: The positions as the viewer knows them.
        move: The move.
        viewer: Who reads it.
        names: Who plays.
        components: The box.
    """
    last = deed(before, move, after)
    return f"{_done(last, before, names, components)}{_then(last, before, after, names)}"


def _done(last: Deed, before: dict[str, Any], names: Sequence[str], components: Components) -> str:
    """What the move itself was."""
    what = last.move
    points = counted(last.points, "point")
    if what.kind == "take":
        return f"takes the card {action_title(what.action)}."
    if what.kind == "exercise":
        return f"exercises and takes {card_title(what.card)}."
    if what.kind == "artus":
        return f"asks Artus for {quest_words(what.quest, components)}."
    if what.kind == "court":
        return f"lays {card_title(what.card)} back at court: {points}."
    if what.kind == "quest":
        return f"does the quest {quest_title(what.quest)} with {cards_words(last.paid)}: {points}."
    if what.kind == "horse":
        return f"rides to {place_title(what.place)} with {action_title(what.action)}."
    if what.bid is None:
        return f"is done: {_unused(last.unused)}." if last.unused else "is done."
    if jousters(before) == [last.player]:
        return f"jousts alone with {cards_words(what.bid)}: {points}." if what.bid else "has nothing to joust with."
    return f"bids {cards_words(what.bid)}: {total(what.bid)} in all." if what.bid else "bids nothing."


def _then(last: Deed, before: dict[str, Any], after: dict[str, Any], names: Sequence[str]) -> str:
    """What follows from it: the result of a tournament, the next one, the next round."""
    words = ""
    if len(last.bids) > 1:
        words += f" {_result(last, names)}"
    if last.meeting:
        who = listed([names[player] for player in last.meeting])
        words += f" {who} {'joust' if len(last.meeting) > 1 else 'jousts alone'}."
    if last.ends_round and after["phase"] == "over":
        words += " The game is over."
    elif last.ends_round:
        words += f" Round {after['round']} begins: {names[after['tents'][0]]} has the first tent."
    return words


def _result(last: Deed, names: Sequence[str]) -> str:
    """How a tournament of two has gone."""
    sums = ", ".join(f"{names[player]} {total(cards)}" for player, cards in last.bids.items())
    best = [player for player, prize in last.prizes.items() if prize]
    if len(best) == 1:
        return f"{names[best[0]]} wins the tournament ({sums}): {counted(last.prizes[best[0]], 'point')}."
    if best:
        return f"The tournament is drawn ({sums}): {counted(last.prizes[best[0]], 'point')} each."
    return "Nobody wins the tournament."
