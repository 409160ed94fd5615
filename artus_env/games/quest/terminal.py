"""A position as text for people who have never seen the game: at most 80 columns."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from artus_env.authoring import check_names, counted, letter_of, printable
from artus_env.games.quest.components import MIN_PLAYERS, QUESTS, VIRTUES, Components, Quest
from artus_env.games.quest.position import POSITIONS
from artus_env.games.quest.rules import ranking_key

WIDTH = 80
LONGEST_NAME = 20
TASKS = {
    "choose": "takes an action card",
    "act": "uses action cards or is done",
    "bid": "bids in the tournament",
}
NONE = "-"


def render(
    states: np.ndarray, components: Components, player: int | None = None, names: Sequence[str] | None = None
) -> str:
    """The position as text: the ring of places with knights and quests, the players by tents, open cards and quests.

    Args:
        states: One game.
        components: The box.
        player: Only what this player may know is shown; None: everything.
        names: Names of the players, instead of "player 0", ...

    Raises:
        ValueError: If `names` doesn't name every player.
    """
    position = POSITIONS.to_dict(states[0], components, player)
    n = position["num_players"]
    if names is not None:
        check_names("names", names, n)
    given_names = names or [f"player {number}" for number in range(n)]
    labels = [f"{letter_of(number)} {printable(str(name), LONGEST_NAME)}" for number, name in enumerate(given_names)]
    blocks = [
        _head(position, states, components, labels),
        _ring(position, components),
        [line for seat in position["tents"] for line in _player(position, seat, labels[seat])],
        _common(position),
    ]
    return "\n\n".join("\n".join(lines) for lines in blocks)


def _wrapped(label: str, text: str) -> list[str]:
    """A labelled text, wrapped into lines; all but the first are indented."""
    return textwrap.wrap(f"{label}{text}", WIDTH, subsequent_indent=" " * len(label), break_on_hyphens=False)


def _head(position: dict[str, Any], states: np.ndarray, components: Components, labels: Sequence[str]) -> list[str]:
    n = position["num_players"]
    goal = components.goals[n - MIN_PLAYERS]
    if position["phase"] == "over":
        key = getattr(ranking_key, "py_func", ranking_key)  # plain Python: nothing to compile; needs no tables
        keys = [key(None, states[0], player) for player in range(n)]
        winners = [labels[player] for player in range(n) if keys[player] == max(keys)]
        head = f"Over in round {position['round']}: {' and '.join(winners)} won."
    else:
        task = f"{labels[position['turn']]} {TASKS[position['phase']]}"
        head = f"Round {position['round']} of at most {components.rounds}: {task}."
    return [*_wrapped("", head), f"The game ends with the round in which somebody has {goal} points."]


def _ring(position: dict[str, Any], components: Components) -> list[str]:
    """A line for each place and each quest that is on the table there, in the order of the ring."""
    lines = [
        "Ring of places (behind the last comes camelot again), knights, quests. A quest",
        "is paid for with a virtue card of each kind that it names, or of a higher value.",
    ]
    status = dict.fromkeys(position["open_quests"], "open")
    for player, quests in enumerate(position["quests"]):
        status |= {quest: f"held by {letter_of(player)}" for quest in quests}
    for place in position["ring"]:
        knights = "".join(letter_of(player) for player, at in enumerate(position["places"]) if at == place)
        quests = [quest for quest in status if quest.startswith(f"{place}-")]
        texts = [f"{quest}: {quest_text(quest, components)} ({status[quest]})" for quest in sorted(quests)] or [""]
        lines.append(f"  {place:<8} {knights or '.':<4}  {texts[0]}".rstrip())
        lines += [" " * 17 + text for text in texts[1:]]
    return lines


def quest_text(quest: str, components: Components) -> str:
    """Demands and points of a quest, such as `sword-2 + dragon-1 for 5 points`."""
    data = components.quests[QUESTS.index(quest)]
    return f"{needs_text(data)} for {counted(data.points, 'point')}"


def needs_text(quest: Quest) -> str:
    """Demands of a quest."""
    return " + ".join(f"{virtue}-{need}" for virtue, need in zip(VIRTUES, quest.needs, strict=True) if need)


def _player(position: dict[str, Any], player: int, name: str) -> list[str]:
    """Return lines with a player's tent (their place in the turn order), points and cards."""
    marks = []
    if player == position["turn"] and position["phase"] != "over":
        marks.append("to move")
    if player in position["bidding"]:
        marks.append("in the tournament, has still to bid")
    if position["bids"][player] is None:
        marks.append("has bid, in secret")
    elif position["bids"][player]:
        marks.append(f"bids {_cards(position['bids'][player])}")
    tent = position["tents"].index(player) + 1
    head = f"Tent {tent}: {name}, {counted(position['points'][player], 'point')}"
    hand = position["taken"][player]
    hidden = position["start_cards"][player]
    if isinstance(hidden, int):
        text = " and ".join(
            filter(None, [_cards(hand) if hand else "", counted(hidden, "unknown card") if hidden else ""])
        )
        if hidden and position["excluded"][player]:
            text += f" (none of them {', '.join(position['excluded'][player])})"
    else:
        text = _cards(sorted([*hand, *hidden], key=_order))
    return [
        *_wrapped("", f"{head}{' - ' + ', '.join(marks) if marks else ''}"),
        *_wrapped("  actions  ", _cards(position["actions"][player])),
        *_wrapped("  virtues  ", text or NONE),
    ]


def _order(card: str) -> tuple[int, str]:
    virtue, _, value = card.partition("-")
    return VIRTUES.index(virtue), value


def _cards(cards: Sequence[str]) -> str:
    """Names of cards; repeated ones with their number."""
    counts = Counter(cards)
    return ", ".join(f"{count} x {card}" if count > 1 else card for card, count in counts.items()) or NONE


def _common(position: dict[str, Any]) -> list[str]:
    """Common cards: action cards on display, piles of virtue cards, the pile of quests."""
    piles = [f"{virtue} {' '.join(map(str, values)) or NONE}" for virtue, values in position["piles"].items()]
    pile = position["quest_pile"]
    quests = counted(pile, "quest") if isinstance(pile, int) else f"{counted(len(pile), 'quest')}: {_cards(pile)}"
    return [
        *_wrapped("Actions on display: ", _cards(position["display"])),
        *_wrapped("Piles of virtues:   ", ", ".join(piles)),
        *_wrapped("Pile of quests:     ", quests if pile else "empty"),
    ]
