"""Positions as text for people, readable in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from textwrap import wrap
from typing import Any

import numpy as np

from artus_env.authoring import check_names, letter_of, printable
from artus_env.games.royal.components import Components
from artus_env.games.royal.position import POSITIONS

WIDTH = 80
FIELDS_A_ROW = 10
LONGEST_NAME = 20


def render(
    states: np.ndarray, components: Components, player: int | None = None, names: Sequence[str] | None = None
) -> str:
    """The table as text: the course with its pawns, the players, trumps, the trick, discards and hands.

    A `*` after a field's number marks a sword.

    Args:
        states: One game.
        components: The box.
        player: The only player whose hand is shown; None: all hands are.
        names: Names of the players, instead of "player 0", ...

    Raises:
        ValueError: If `names` doesn't name every player.
    """
    position = POSITIONS.to_dict(states[0], components, player)
    n = position["num_players"]
    if names is not None:
        check_names("names", names, n)
    short_names = [_shortened(name) for name in names or [f"player {p}" for p in range(n)]]
    trumps = [f"{place} {suit}" for place, suit in enumerate(position["trumps"], 1) if suit]
    trick = [f"{letter_of(p)} {card}" for p, card in position["trick"]]
    pile = position["pile"]
    lines = [
        *wrap(_headline(position, short_names), WIDTH),
        "",
        *_course(position, components),
        *_players(position, components, short_names),
        "",
        *_listed("trumps, lowest first: ", trumps),
        *_listed("trick: ", trick),
        *_listed("discards: ", _by_suit(position["discards"])),
        f"pile: {pile if player is not None else len(pile)} cards",
    ]
    for p, hand in enumerate(position["hands"]):
        lines += _listed(f"hand of {letter_of(p)}: ", [f"{hand} cards"] if isinstance(hand, int) else _by_suit(hand))
    return "\n".join(line.rstrip() for line in lines)


def _shortened(name: str) -> str:
    """Printable name of limited length."""
    name = printable(str(name))
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _headline(position: dict[str, Any], names: list[str]) -> str:
    fields, phase = position["fields"], position["phase"]
    player = fields.index(max(fields)) if phase == "over" else position["turn"]
    task = {"over": "has reached Artus and won", "sword": "may place a trump chip"}.get(phase, "plays a card")
    if phase == "sword" and all(position["trumps"]):
        task = "swaps two trump chips"
    return f"{position['rules']}: {names[player]} ({letter_of(player)}) {task}"


def _course(position: dict[str, Any], components: Components) -> list[str]:
    """Lines with ten fields each: their numbers, and below them the pawns."""
    pawns = [""] * (components.fields + 1)
    for player, field in enumerate(position["fields"]):
        pawns[field] += letter_of(player)
    lines = []
    for first in range(0, len(pawns), FIELDS_A_ROW):
        row = range(first, min(first + FIELDS_A_ROW, len(pawns)))
        lines.append("".join(f"{f'{field}*' if field in components.swords else field:<7}" for field in row))
        lines.append("".join(f"{pawns[field] or '.':<7}" for field in row))
    return [*lines, ""]


def _players(position: dict[str, Any], components: Components, names: list[str]) -> list[str]:
    width = max(map(len, names))
    lines = [f"  {'':<{width}} field  cards  has no"]
    for p, name in enumerate(names):
        cards = components.hand - len(position["played"][p])
        line = f"{letter_of(p)} {name:<{width}} {position['fields'][p]:>5}  {cards:>5}  "
        dealer = "" if p != position["dealer"] else " (dealer)"
        lines.append(f"{line}{' '.join(position['voids'][p]) or '-'}{dealer}")
    return lines


def _by_suit(cards: list[str]) -> list[str]:
    """Cards in deck order, grouped by suit: `hearts 1 5`, `knight x2`."""
    parts = []
    for suit, suit_cards in groupby(cards, key=lambda card: card.partition("-")[0]):
        values = [card.partition("-")[2] for card in suit_cards]
        super_trumps = f"{suit} x{len(values)}" if len(values) > 1 else suit
        parts.append(f"{suit} {' '.join(values)}" if values[0] else super_trumps)
    return parts


def _listed(start: str, parts: list[str]) -> list[str]:
    """Parts separated by commas, on as many lines as they need."""
    return wrap(start + (", ".join(parts) or "-"), WIDTH, subsequent_indent="  ")
