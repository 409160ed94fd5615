"""Observation of a player as int8 features: one layout for every variant, relative to the King's seat.

Players come in turn order from the viewer, seats by their distance behind the King, figures by their slot (see
`actions`). `features` names every feature; the compiled `observe` writes them in that order.
"""

from __future__ import annotations

import numpy as np

from artus_env.authoring import Feature, highest_bit, jit, popcount, write_32_bits, write_32_bits_reversed
from artus_env.games.artus.actions import SLOTS
from artus_env.games.artus.components import MAX_KNIGHTS, MAX_PLAYERS, NUM_SEATS, PILES, Components
from artus_env.games.artus.fast import TOP
from artus_env.games.artus.rules import distance_behind, king_seat, rotated, scoring_cards
from artus_env.games.artus.state import OVER

NUM_SLOTS = MAX_KNIGHTS + 4
SPARE_BITS = 32 - NUM_SEATS  # a board has 28 bits; boards are written as words of 32
PRESTIGE_STEP = 16
"""A prestige difference is written as two numbers: how many sixteens, and the remainder (-8..7). This is exact up to
+-2 000 points."""


def features(components: Components) -> tuple[Feature, ...]:
    """The blocks of an observation, in order."""
    cards = len(components.deck)
    low, high = min(components.wheel), max(components.wheel)
    knights = [f"own knight {slot + 1}" for slot in range(MAX_KNIGHTS)]
    others = [f"player +{k}" for k in range(1, MAX_PLAYERS)]
    everybody = ["the viewer", *others]
    blocks = [
        Feature(f"seat of {name}", NUM_SEATS, meaning=f"distance of {name} behind the King (one-hot)")
        for name in [*knights, *SLOTS]
    ]
    blocks.append(
        Feature("seat values", NUM_SLOTS, low, high, 0.1, "value of the seat of each slot, in the order above")
    )
    blocks.append(Feature("rings", 4, 1, 3, 1 / 3, "rings of each royal slot; 3: the King"))
    blocks += [
        Feature(f"knights of {name}", NUM_SEATS, meaning=f"seats of {name}'s knights by distance") for name in others
    ]
    blocks.append(Feature("carpet", NUM_SEATS, meaning="seats on the carpet, by distance"))
    blocks.append(Feature("hand", cards, meaning="own hand, in deck order; n copies of a card set its first n places"))
    blocks += [
        Feature(f"played by {name}", cards, meaning=f"cards that {name} has played, likewise") for name in everybody
    ]
    blocks += [
        Feature(
            f"piles of {name}",
            len(PILES),
            0,
            max(components.pile_sizes),
            0.125,
            f"cards left in the knight, king and scoring pile of {name}",
        )
        for name in everybody
    ]
    blocks += [
        Feature(
            f"hand backs of {name}", len(PILES), 0, 6, 0.25, f"knight, king and scoring cards in the hand of {name}"
        )
        for name in everybody
    ]
    blocks += [
        Feature(
            f"lead over {name}",
            2,
            -128,
            127,
            0.125,
            f"own prestige minus that of {name}: sixteens, and the rest (-8..7)",
        )
        for name in others
    ]
    bounds = {name: _scoring_bounds(components, name) for name in ("all", "best", "colors", "carpet", "reds")}
    blocks.append(
        Feature(
            "scoring now",
            5,
            min(low for low, _ in bounds.values()),
            max(high for _, high in bounds.values()),
            0.05,
            "what `all`, `choice:best`, `colors`, `carpet` and `reds` would bring the viewer now; 0 in the "
            "beginner game",
        )
    )
    blocks.append(Feature("phase", 3, meaning="placing, playing, drawing (one-hot); all 0 when the game is over"))
    blocks.append(Feature("left", 1, 0, 2, 0.5, "cards still to play or to draw in this phase"))
    blocks.append(Feature("to move", MAX_PLAYERS, meaning="who is to move: viewer, player +1, ... (one-hot)"))
    blocks.append(Feature("start player", MAX_PLAYERS, meaning="who started: viewer, player +1, ... (one-hot)"))
    blocks.append(Feature("players", 3, meaning="2, 3 or 4 players (one-hot)"))
    blocks.append(Feature("advanced", 1, meaning="1 in the advanced game"))
    return tuple(blocks)


def _scoring_bounds(components: Components, name: str) -> tuple[int, int]:
    """Bounds of the points of a scoring action, clipped to int8."""
    wheel = sorted(components.wheel)
    count = {"all": 5, "best": 1, "colors": 2, "carpet": 2, "reds": 3}[name]
    penalties = [card.penalty for card in components.cards if card.action == name]
    low = min([sum(wheel[:count]), *penalties, 0])
    high = max([sum(wheel[-count:]), *penalties, 0])
    return max(low, -128), min(high, 127)


@jit
def player_after(viewer, k, players):
    """The player `k` turns after the viewer."""
    player = viewer + k
    return player if player < players else player - players


@jit
def turns_after(viewer, player, players):
    """Number of turns from the viewer to a player in turn order."""
    return player - viewer if player >= viewer else player - viewer + players


@jit
def clipped(number):
    """The number, clipped to the range of int8. Only a changed wheel has points outside this range."""
    return max(-128, min(127, number))


@jit
def observe(t, g, viewer, out):
    """Write what `viewer` knows into `out`: shape (F,), int8.

    Blocks of bits are written 32 at a time; bits beyond the end of a block are overwritten by the next block. Numbers
    are masked with `&` so that the compiler knows that they aren't negative.
    """
    king = king_seat(g)
    viewer &= 3
    players = int(g["num_players"]) & 7
    cards = int(t["num_cards"]) & 31
    for i in range(len(out)):
        out[i] = 0

    values_start = NUM_SLOTS * NUM_SEATS
    rings_start = values_start + NUM_SLOTS
    slot = 0
    board = rotated(int(g["knights"][viewer]), king)
    while board:
        top = highest_bit(board)
        board ^= 1 << top
        out[slot * NUM_SEATS + TOP - top] = 1
        out[values_start + slot] = t["wheel"][TOP - top]
        slot += 1
    for first in range(0, 4, 2):
        first_distance = distance_behind(king, np.int64(g["royals"][first]))
        second_distance = distance_behind(king, np.int64(g["royals"][first + 1]))
        swapped = 1 if second_distance < first_distance else 0
        for nth in range(2):
            royal = first + (swapped ^ nth)
            distance = min(first_distance, second_distance) if nth == 0 else max(first_distance, second_distance)
            slot = MAX_KNIGHTS + first + nth
            out[slot * NUM_SEATS + distance] = 1
            out[values_start + slot] = t["wheel"][distance]
            out[rings_start + first + nth] = g["rings"][royal]

    o = rings_start + 4
    for k in range(1, MAX_PLAYERS):
        if k < players:
            board = rotated(int(g["knights"][player_after(viewer, k, players)]), king)
            write_32_bits_reversed(board << SPARE_BITS, out, o)
        o += NUM_SEATS
    write_32_bits_reversed(rotated(int(t["carpet"]), king) << SPARE_BITS, out, o)
    o += NUM_SEATS
    write_32_bits(int(g["hands"][viewer]), out, o)
    o += cards
    for k in range(MAX_PLAYERS):
        if k < players:
            write_32_bits(int(g["played"][player_after(viewer, k, players)]), out, o)
        o += cards

    back_index = o + MAX_PLAYERS * len(PILES)
    lead_index = back_index + MAX_PLAYERS * len(PILES)
    knight_backs, king_backs, scoring_backs = int(t["pile_bits"][0]), int(t["pile_bits"][1]), int(t["pile_bits"][2])
    own_score = int(g["scores"][viewer])
    for k in range(MAX_PLAYERS):
        if k < players:
            player = player_after(viewer, k, players)
            hand = int(g["hands"][player])
            lead = own_score - int(g["scores"][player])
            out[o] = g["pile_sizes"][player, 0]
            out[o + 1] = g["pile_sizes"][player, 1]
            out[o + 2] = g["pile_sizes"][player, 2]
            out[back_index] = popcount(hand & knight_backs)
            out[back_index + 1] = popcount(hand & king_backs)
            out[back_index + 2] = popcount(hand & scoring_backs)
            if k > 0:
                sixteens = (lead + PRESTIGE_STEP // 2) >> 4
                out[lead_index] = clipped(sixteens)
                out[lead_index + 1] = lead - (sixteens << 4)
        if k > 0:
            lead_index += 2
        o += len(PILES)
        back_index += len(PILES)
    o = lead_index

    if int(g["rule_set"]):
        total, best, colors, carpet, reds = scoring_cards(t, g, viewer)
        out[o] = clipped(total)
        out[o + 1] = clipped(best)
        out[o + 2] = colors
        out[o + 3] = clipped(carpet)
        out[o + 4] = clipped(reds)
    o += 5
    phase = int(g["phase"])
    if phase != OVER:
        out[o + phase] = 1
    out[o + 3] = g["left"]
    o += 4
    out[o + turns_after(viewer, int(g["player"]), players)] = 1
    o += MAX_PLAYERS
    out[o + turns_after(viewer, int(g["start_player"]), players)] = 1
    o += MAX_PLAYERS
    out[o + players - 2] = 1
    out[o + 3] = g["rule_set"]
