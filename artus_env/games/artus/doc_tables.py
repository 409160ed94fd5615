"""Tables for the documentation, generated from the game's own data."""

from __future__ import annotations

from itertools import groupby

from artus_env.authoring import DocTable, Layout, counted
from artus_env.games.artus.actions import BEST, DRAW, KNIGHT, PLACE, RING, ROYAL, SLOTS, Action, action_table
from artus_env.games.artus.components import (
    MAX_KNIGHTS,
    NUM_SEATS,
    PILES,
    RULE_SETS,
    STANDARD,
    Card,
    Components,
    RuleSet,
)
from artus_env.games.artus.observation import features

SCORING = {
    "all": "sum of the values of all own knights",
    "reversed": "minus that sum",
    "colors": "one knight on green, one on yellow, one on red",
    "carpet": "two knights on the carpet",
    "reds": "three knights on red",
    "choice": "move any own knight, prince or the King {steps} forward, or a ring on any prince, "
    "or score the best own knight",
}


def describe_card(card: Card) -> str:
    """Effect of a card, in one line."""
    steps = f"{card.low}-{card.high}" if card.low != card.high else f"{card.low}"
    direction = "forward or backward" if card.backward else "forward"
    if card.action == "knight":
        return f"own knight {steps} {direction}"
    if card.action == "royal":
        return f"{card.colour + ' prince or King' if card.colour else 'any prince or the King'} {steps} {direction}"
    if card.action == "ring":
        return f"a ring on {'a ' + card.colour if card.colour else 'any'} prince"
    text = SCORING[card.action].format(steps=steps)
    return f"{text}; else {card.penalty}" if card.penalty else text


def spec(components: Components = STANDARD) -> DocTable:
    """The environment in numbers."""
    low, high = Layout(features(components)).bounds
    rows = [
        ("players", "2, 3 or 4, called `player_0` .. `player_3`, clockwise"),
        ("rules", " and ".join(f"`{name}` ({_described(rules)})" for name, rules in RULE_SETS.items())),
        ("information", "hidden hands and piles; everything else is open"),
        ("actions", f"`Discrete({len(action_table(components))})`, the same ids for every variant, always with a mask"),
        (
            "observation",
            f"`Box({low.min()}, {high.max()}, ({len(low)},), int8)`, the same layout for every variant, seen "
            "from one player",
        ),
        ("reward", "zero-sum, at the end or move by move"),
        ("episode", "ends when all hands are played; nothing truncates"),
    ]
    return DocTable(["", ""], rows)


def _described(rules: RuleSet) -> str:
    """Short description of a rule set."""
    return f"{counted(rules.cards_a_turn, 'card')} a turn{', scoring cards' if 'scoring' in rules.piles else ''}"


def course(components: Components = STANDARD) -> DocTable:
    """Hands, turns and rounds."""
    rows = [
        [
            f"`{name}`",
            f"{rules.dealt_per_pile} knight and {rules.dealt_per_pile} king cards",
            counted(rules.cards_a_turn, "card"),
            components.deck_size(rules) // rules.cards_a_turn,
        ]
        for name, rules in RULE_SETS.items()
    ]
    return DocTable(["", "hand at the deal", "a turn", "rounds"], rows)


def cards(components: Components = STANDARD) -> DocTable:
    """The deck."""
    rows = [[f"`{card.name}`", card.pile, card.copies, describe_card(card)] for card in components.cards]
    return DocTable(["card", "back", "copies", "effect"], rows)


def wheel(components: Components = STANDARD) -> DocTable:
    """Value by distance behind the King."""
    rows = []
    for start in range(0, NUM_SEATS, 14):
        part = range(start, start + 14)
        rows += [["**behind**", *part], ["**value**", *("crown" if d == 0 else components.wheel[d] for d in part)]]
    return DocTable([" "] * 15, rows, [f"Carpet: seats {', '.join(map(str, components.carpet))}."])


def actions(components: Components = STANDARD) -> DocTable:
    """Action ids, one row for each kind. In the formulas of ids, f is the index of a figure in the row's list and s the
    index of a number of steps."""
    rows = []
    numbered = enumerate(action_table(components))
    for (effect, card), run in groupby(numbered, key=lambda pair: (pair[1].effect, pair[1].card)):
        members = list(run)
        first, last = members[0][0], members[-1][0]
        name = f"`{components.cards[card].name}`" if card >= 0 else ""
        ids = f"{first}..{last}" if last > first else f"{first}"
        meaning, offset = _run(effect, [action for _, action in members])
        rows.append([ids, name, meaning, f"{first} + {offset}" if offset else ids])
    return DocTable(["ids", "card", "action", "id"], rows)


def _run(effect: int, members: list[Action]) -> tuple[str, str]:
    """Meaning of actions with consecutive ids, and the formula of the difference between an id and the first one."""
    slots = list(dict.fromkeys(action.slot for action in members))
    steps = [f"{count:+d}" for count in dict.fromkeys(action.steps for action in members)]
    if effect == PLACE:
        return "place a knight on the seat d behind the King", "d"
    if effect == DRAW:
        return f"draw a card; f: {', '.join(PILES)} pile", "f"
    if effect in (KNIGHT, ROYAL):
        figures = f"own knight 1..{MAX_KNIGHTS}" if effect == KNIGHT else _royals(slots)
        return f"move f: {figures}; s: {' '.join(steps)}", f"{len(steps)} f + s"
    if effect == RING:
        return f"a ring for f: {_royals(slots)}", "f"
    return ("score the best own knight" if effect == BEST else "score"), ""


def _royals(slots: list[int]) -> str:
    return ", ".join(SLOTS[slot] for slot in slots)


TABLES = {
    "course": course,
    "cards": cards,
    "wheel": wheel,
    "actions": actions,
    "spec": spec,
}
"""The tables of this game alone."""
