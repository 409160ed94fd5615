"""Tables for the documentation, generated from the game's own data."""

from __future__ import annotations

from itertools import groupby

from artus_env.authoring import DocTable
from artus_env.games.royal.actions import CARD, SWAP, TRUMP, Action, action_table
from artus_env.games.royal.components import STANDARD, SUPER_TRUMPS, Components


def box(components: Components = STANDARD) -> DocTable:
    """The cards, the course and the hands."""
    suits = components.suits
    super_trumps = [f"{count} `{name}`" for name, count in zip(SUPER_TRUMPS, components.copies[-2:], strict=True)]
    rows = [
        ("suits", ", ".join(f"`{suit}`" for suit in suits)),
        ("cards", f"1 to {components.values} in each suit, such as `{suits[0]}-7`; {' and '.join(super_trumps)}"),
        ("deck", f"{len(components.deck)} cards, {len(components.cards)} kinds"),
        ("hand", f"{components.hand} cards"),
        ("course", f"fields 0 (start) to {components.fields} (Artus)"),
        ("swords", f"on the fields {', '.join(map(str, components.swords))}"),
        ("chips", f"one for each suit, and {len(suits)} places for them"),
    ]
    return DocTable(["", ""], rows)


def actions(components: Components = STANDARD) -> DocTable:
    """Action ids: one row for the cards of each suit and for each other effect."""
    rows = []
    for (effect, _), group in groupby(
        enumerate(action_table(components)), key=lambda entry: _row_key(entry[1], components)
    ):
        entries = list(group)
        (first_id, first), (last_id, last) = entries[0], entries[-1]
        ids = f"{first_id}..{last_id}" if last_id > first_id else first_id
        rows.append([ids, *_meaning(effect, first, last, components)])
    return DocTable(["ids", "move", "action"], rows)


def _row_key(action: Action, components: Components) -> tuple[int, int]:
    """Key of the row that an action belongs to: its effect, and the suit of its card."""
    return action.effect, action.number // components.values if action.effect == CARD else 0


def _meaning(effect: int, first: Action, last: Action, components: Components) -> tuple[str, str]:
    """The moves of a row, from its first to its last action, and what they do."""
    if effect == CARD:
        names = [components.cards[action.number] for action in (first, last)]
        between = " .. " if first.number < len(components.suits) * components.values else ", "
        return f"`{names[0]}`{between}`{names[1]}`", "play a card"
    if effect == TRUMP:
        names = [components.suits[action.number] for action in (first, last)]
        return f"`trump:{names[0]}` .. `trump:{names[1]}`", "place the chip of a suit; suits in the order of the deck"
    if effect == SWAP:
        texts = [f"`swap:{low}:{high}`" for low, high in (first.places, last.places)]
        return " .. ".join(texts), "swap the chips on two places; in rising order of the first, then of the second"
    return "`decline`", "place no chip"


TABLES = {"box": box, "actions": actions}
"""Tables in addition to those of every game."""
