"""The action table: one `Discrete` for every variant, one id for each possible decision.

An action names a card, a figure by its *slot* and a number of steps, never a seat, so that positions that are equal
relative to the King have the same actions. Slots count backward from the King (against the direction of play): own
knights 0..4; royals 0..3 = first silver, second silver, first bronze, second bronze.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from artus_env.games.artus.components import (
    COLOURS,
    MAX_CARDS,
    MAX_KNIGHTS,
    MAX_PLAYERS,
    NUM_KNIGHTS,
    NUM_SEATS,
    PILES,
    RULE_SETS,
    STANDARD,
    Components,
)

PLACE, KNIGHT, ROYAL, RING, ALL, REVERSED, COLORS, CARPET, REDS, BEST, DRAW = range(11)
EFFECTS = ("place", "knight", "royal", "ring", "all", "reversed", "colors", "carpet", "reds", "best", "draw")
SLOTS = ("silver 1", "silver 2", "bronze 1", "bronze 2")
ROYALS = (*COLOURS, None)
"""Colours of the royals that a card is for; None: any royal, or no royals."""
MASK_WORDS = 7
"""Words of 64 bits in a set of actions; enough for any box."""
MAX_ACTIONS = 64 * MASK_WORDS
PART = 7
"""Bits of a board in each table look-up."""
HAND_PART = 6
"""Bits of a hand in each table look-up."""
NONE = -10_000
"""Value of a missing seat; real values are in -100..100."""


@dataclass(frozen=True)
class Action:
    """Meaning of an action id. `slot` is the distance of the seat for "place" and the pile for "draw"."""

    effect: int
    card: int  # index into `Components.cards`, -1 for placing and drawing
    slot: int = 0
    steps: int = 0  # negative: backward


TABLES = np.dtype(
    [
        ("actions", np.int8, (MAX_ACTIONS, 4)),  # effect, card, slot, steps
        # [5 or 4 knights, King's colour, part of the deck, cards of it in the hand]: their actions
        ("hand_rows", np.uint64, (2, 2, MAX_CARDS // HAND_PART, 1 << HAND_PART, MASK_WORDS)),
        ("seat_rows", np.uint64, (NUM_SEATS, MASK_WORDS)),  # the action of placing a knight at this distance
        ("draw_rows", np.uint64, (1 << len(PILES), MASK_WORDS)),  # the actions of drawing from these piles
        ("wheel", np.int8, (NUM_SEATS,)),  # value by distance behind the King
        ("ranked", np.int64, (NUM_SEATS // PART, 1 << PART)),  # [part of the board, seats in it]: see `ranked` in rules
        ("ranks", np.int16, (NUM_SEATS + 1,)),  # value by rank, the most valuable seat last, `NONE` at 0
        ("colors", np.int32, (3,)),  # ranks of green, yellow and red seats
        ("carpet", np.int32),  # bit s: seat s lies on the carpet
        ("crown_seats", np.int8, (4,)),
        ("deck", np.int8, (MAX_CARDS,)),  # card index of each single card
        ("first", np.int8, (MAX_CARDS,)),  # position in the deck of the first copy of a card
        ("copies", np.int32, (MAX_CARDS,)),  # cards of the deck that are copies of a card
        ("pile_bits", np.int32, (len(PILES),)),  # cards of the deck with this back
        ("effect_bits", np.int32, (len(EFFECTS), len(ROYALS))),  # cards of the deck with this effect on these royals
        ("pile_sizes", np.int8, (len(PILES),)),
        ("penalties", np.int8, (len(EFFECTS),)),
        ("num_cards", np.int8),
        ("num_actions", np.int16),
        ("knights", np.int8, (MAX_PLAYERS + 1,)),  # knights of each player by number of players
        ("dealt", np.int8, (len(RULE_SETS),)),  # this and the next two by rule set, see `RuleSet`
        ("a_turn", np.int8, (len(RULE_SETS),)),
        ("num_piles", np.int8, (len(RULE_SETS),)),
    ]
)
"""Everything that compiled code knows about the box, in one record: another box changes data, not code."""


@lru_cache(maxsize=16)
def action_table(components: Components = STANDARD) -> tuple[Action, ...]:
    """All actions in order of their ids: placing, the cards in deck order, drawing."""
    actions = [Action(PLACE, -1, distance) for distance in range(NUM_SEATS)]
    for index, card in enumerate(components.cards):
        steps = list(range(card.low, card.high + 1)) if card.high else []
        if card.backward:
            steps += [-count for count in steps]
        royals = [slot for slot in range(4) if card.colour in (None, COLOURS[slot // 2])]
        if card.action in ("knight", "choice"):
            actions += [Action(KNIGHT, index, slot, count) for slot in range(MAX_KNIGHTS) for count in steps]
        if card.action in ("royal", "choice"):
            actions += [Action(ROYAL, index, slot, count) for slot in royals for count in steps]
        if card.action in ("ring", "choice"):
            actions += [Action(RING, index, slot) for slot in royals]
        if card.action == "choice":
            actions.append(Action(BEST, index))
        elif card.pile == "scoring":
            actions.append(Action(EFFECTS.index(card.action), index))
    actions += [Action(DRAW, -1, pile) for pile in range(len(PILES))]
    if len(actions) > MAX_ACTIONS:
        raise ValueError(f"cards: at most {MAX_ACTIONS} actions are possible, these make {len(actions)}")
    return tuple(actions)


NUM_ACTIONS = len(action_table())


def build_tables(components: Components) -> np.ndarray:
    """The box as a record for compiled code: shape (1,), dtype `TABLES`."""
    actions = action_table(components)
    tables = np.zeros(1, TABLES)
    t = tables[0]
    names = {card.name: index for index, card in enumerate(components.cards)}
    t["actions"][: len(actions)] = [(a.effect, a.card, a.slot, a.steps) for a in actions]
    t["wheel"] = components.wheel
    by_value = sorted(range(NUM_SEATS), key=lambda distance: components.wheel[distance])
    t["ranks"] = [NONE, *(components.wheel[distance] for distance in by_value)]
    for rank, distance in enumerate(by_value, 1):
        worth, bit = components.wheel[distance], NUM_SEATS - 1 - distance
        t["colors"][0 if worth > 0 else 1 if worth == 0 else 2] |= 1 << rank
        seats = np.arange(1 << PART)
        t["ranked"][bit // PART] += (seats >> bit % PART & 1) * ((worth << 32) + (1 << rank))
    t["carpet"] = sum(1 << seat for seat in components.carpet)
    t["crown_seats"] = components.crown_seats
    t["num_cards"] = len(components.deck)
    t["num_actions"] = len(actions)
    for players, knights in NUM_KNIGHTS.items():
        t["knights"][players] = knights
    for number, rules in enumerate(RULE_SETS.values()):
        t["dealt"][number], t["a_turn"][number], t["num_piles"][number] = rules.dealt, rules.a_turn, len(rules.piles)
    t["pile_sizes"] = components.pile_sizes
    for position, card in enumerate(components.deck):
        t["deck"][position] = names[card.name]
        t["copies"][names[card.name]] |= 1 << position
        t["pile_bits"][PILES.index(card.pile)] |= 1 << position
        effect = BEST if card.action == "choice" else EFFECTS.index(card.action)
        colour = card.colour if effect in (ROYAL, RING) else None
        t["effect_bits"][effect, ROYALS.index(colour)] |= 1 << position
    for card in components.cards:
        t["first"][names[card.name]] = components.deck.index(card)
        if card.pile == "scoring" and card.action != "choice":
            t["penalties"][EFFECTS.index(card.action)] = card.penalty
    for four, king_colour, position in np.ndindex(2, 2, len(components.deck)):
        of_card = [
            i for i, a in enumerate(actions) if a.card == t["deck"][position] and _possible(a, four, king_colour)
        ]
        part, place = divmod(position, HAND_PART)
        t["hand_rows"][four, king_colour, part, _with_bit(place, HAND_PART)] |= _row(of_card)
    for i, a in enumerate(actions):
        if a.effect == PLACE:
            t["seat_rows"][a.slot] = _row([i])
        elif a.effect == DRAW:
            t["draw_rows"][_with_bit(a.slot, len(PILES))] |= _row([i])
    return tables


def _possible(action: Action, four: int, king_colour: int) -> bool:
    """Whether a card's action is legal whenever the card is in hand.

    Every card is always playable. Only two kinds of actions can be illegal: moves of a fifth knight with four players,
    and rings for the King, always the first royal of that colour.
    """
    if action.effect == KNIGHT:
        return not (four and action.slot == MAX_KNIGHTS - 1)
    return not (action.effect == RING and action.slot == 2 * king_colour)


def _row(ids: list[int]) -> np.ndarray:
    """Actions as words of bits: shape (MASK_WORDS,), uint64."""
    words = [0] * MASK_WORDS
    for index in ids:
        words[index // 64] |= 1 << index % 64
    return np.array(words, np.uint64)


def _with_bit(place: int, size: int) -> np.ndarray:
    """All numbers of `size` bits in which bit `place` is set."""
    numbers = np.arange(1 << size)
    return numbers[numbers >> place & 1 == 1]
