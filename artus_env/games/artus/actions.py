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
ROYAL_COLOURS = (*COLOURS, None)
"""Colours of the royals that a card can move or give a ring; None: any royal, or the card isn't for royals."""
MASK_WORDS = 7
"""Words of 64 bits in a set of actions; enough for any box."""
MAX_ACTIONS = 64 * MASK_WORDS
BOARD_PART = 7
"""Number of seats in each table look-up: a board is looked up in parts."""
HAND_PART = 6
"""Number of cards of the deck in each table look-up: a hand is looked up in parts."""
NONE = -10_000
"""Value that stands for the seat of a missing figure; real values are in -100..100."""


@dataclass(frozen=True)
class Action:
    """Meaning of an action id.

    Attributes:
        effect: Index into `EFFECTS`.
        card: Index into `Components.cards`; -1 for placing and drawing.
        slot: Slot of the knight that moves, or of the royal that moves or gets a ring. For placing, distance of the
            seat behind the King; for drawing, index into `PILES`; 0 for the other effects.
        steps: Number of steps; negative: backward.
    """

    effect: int
    card: int
    slot: int = 0
    steps: int = 0


TABLES = np.dtype(
    [
        ("actions", np.int8, (MAX_ACTIONS, 4)),  # effect, card, slot, steps
        # [0: 5 knights, 1: 4; King's colour; part of the deck; the cards of this part in hand]: actions of these cards
        ("hand_rows", np.uint64, (2, 2, MAX_CARDS // HAND_PART, 1 << HAND_PART, MASK_WORDS)),
        ("seat_rows", np.uint64, (NUM_SEATS, MASK_WORDS)),  # the action of placing a knight at this distance
        ("draw_rows", np.uint64, (1 << len(PILES), MASK_WORDS)),  # the actions of drawing from these piles
        ("wheel", np.int8, (NUM_SEATS,)),  # value by distance behind the King
        # [part of the board; the seats of this part]: the sum of values and the ranks that `fast.ranked` returns
        ("ranked", np.int64, (NUM_SEATS // BOARD_PART, 1 << BOARD_PART)),
        ("ranks", np.int16, (NUM_SEATS + 1,)),  # value by rank, the most valuable seat last; `NONE` at index 0
        ("colors", np.int32, (3,)),  # ranks of green, yellow and red seats, as bits
        ("carpet", np.int32),  # bit s: seat s lies on the carpet
        ("crown_seats", np.int8, (4,)),
        ("deck", np.int8, (MAX_CARDS,)),  # card index of each single card
        ("first", np.int8, (MAX_CARDS,)),  # position in the deck of the first copy of a card
        ("copies", np.int32, (MAX_CARDS,)),  # cards of the deck that are copies of a card, as bits
        ("pile_bits", np.int32, (len(PILES),)),  # cards of the deck with this back, as bits
        # cards of the deck with this effect on royals of this colour, as bits
        ("effect_bits", np.int32, (len(EFFECTS), len(ROYAL_COLOURS))),
        ("pile_sizes", np.int8, (len(PILES),)),
        ("penalties", np.int8, (len(EFFECTS),)),
        ("num_cards", np.int8),
        ("num_actions", np.int16),
        ("knights", np.int8, (MAX_PLAYERS + 1,)),  # knights of each player by number of players
        # by rule set, see `RuleSet`:
        ("dealt_per_pile", np.int8, (len(RULE_SETS),)),
        ("cards_a_turn", np.int8, (len(RULE_SETS),)),
        ("num_piles", np.int8, (len(RULE_SETS),)),
    ]
)
"""Type of the tables: the box as one record for compiled code, so that another box changes data, not code."""


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
    card_numbers = {card.name: index for index, card in enumerate(components.cards)}
    t["actions"][: len(actions)] = [(a.effect, a.card, a.slot, a.steps) for a in actions]
    t["wheel"] = components.wheel
    by_value = sorted(range(NUM_SEATS), key=lambda distance: components.wheel[distance])
    t["ranks"] = [NONE, *(components.wheel[distance] for distance in by_value)]
    for rank, distance in enumerate(by_value, 1):
        value, bit = components.wheel[distance], NUM_SEATS - 1 - distance
        t["colors"][0 if value > 0 else 1 if value == 0 else 2] |= 1 << rank
        seats = np.arange(1 << BOARD_PART)
        t["ranked"][bit // BOARD_PART] += (seats >> bit % BOARD_PART & 1) * ((value << 32) + (1 << rank))
    t["carpet"] = sum(1 << seat for seat in components.carpet)
    t["crown_seats"] = components.crown_seats
    t["num_cards"] = len(components.deck)
    t["num_actions"] = len(actions)
    for players, knights in NUM_KNIGHTS.items():
        t["knights"][players] = knights
    for number, rules in enumerate(RULE_SETS.values()):
        t["dealt_per_pile"][number], t["cards_a_turn"][number] = rules.dealt_per_pile, rules.cards_a_turn
        t["num_piles"][number] = len(rules.piles)
    t["pile_sizes"] = components.pile_sizes
    for position, card in enumerate(components.deck):
        t["deck"][position] = card_numbers[card.name]
        t["copies"][card_numbers[card.name]] |= 1 << position
        t["pile_bits"][PILES.index(card.pile)] |= 1 << position
        effect = BEST if card.action == "choice" else EFFECTS.index(card.action)
        colour = card.colour if effect in (ROYAL, RING) else None
        t["effect_bits"][effect, ROYAL_COLOURS.index(colour)] |= 1 << position
    for card in components.cards:
        t["first"][card_numbers[card.name]] = components.deck.index(card)
        if card.pile == "scoring" and card.action != "choice":
            t["penalties"][EFFECTS.index(card.action)] = card.penalty
    for four_players, king_colour, position in np.ndindex(2, 2, len(components.deck)):
        card_actions = [
            i
            for i, a in enumerate(actions)
            if a.card == t["deck"][position] and _possible(a, four_players, king_colour)
        ]
        part, place = divmod(position, HAND_PART)
        t["hand_rows"][four_players, king_colour, part, _with_bit(place, HAND_PART)] |= _row(card_actions)
    for i, a in enumerate(actions):
        if a.effect == PLACE:
            t["seat_rows"][a.slot] = _row([i])
        elif a.effect == DRAW:
            t["draw_rows"][_with_bit(a.slot, len(PILES))] |= _row([i])
    return tables


def _possible(action: Action, four_players: int, king_colour: int) -> bool:
    """Whether a card's action is legal whenever the card is in hand.

    Every card is always playable. Only two kinds of actions can be illegal: moves of a fifth knight with four players,
    and rings for the King. The King always has the first slot of his colour.
    """
    if action.effect == KNIGHT:
        return not (four_players and action.slot == MAX_KNIGHTS - 1)
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
