"""What a player sees, as int8 features: one layout for 2 to 4 players and every box, seen from that player's seat.

Players come in turn order from the viewer. `LAYOUT` names every feature; the compiled `observe` writes them.
"""

from __future__ import annotations

import numpy as np

from artus_env.engine.bits import lowest_bit
from artus_env.engine.features import Feature, bounds_of, flags, scale_of, starts_of
from artus_env.engine.jit import jit
from artus_env.games.quest.actions import BID_KINDS
from artus_env.games.quest.components import (
    ACTIONS,
    CARDS,
    HORSE,
    HORSES,
    MAX_PLAYERS,
    MAX_VALUE,
    MIN_PLAYERS,
    MOST_POINTS,
    PLACES,
    QUESTS,
    QUESTS_AT_PLACE,
    START_CARDS,
    TOURNAMENT,
    VIRTUES,
    Components,
)
from artus_env.games.quest.rules import CAMELOT, goal, held, position_in_ring
from artus_env.games.quest.state import CHOOSE_PHASE, OVER

MOST = 127
"""What int8 can hold; points beyond it are none that a game ends with."""
FARTHEST = len(PLACES) // 2
NUM_ACTION_CARDS, NUM_CARDS, NUM_PLACES, NUM_QUESTS = len(ACTIONS), len(CARDS), len(PLACES), len(QUESTS)
NUM_VIRTUES = len(VIRTUES)


def _counts(name: str, names: tuple[str, ...], most: int, scale: float, meaning: str) -> Feature:
    return Feature(name, len(names), 0, most, scale, f"{meaning}: {', '.join(names)}")


def _of_player(turn: int) -> tuple[Feature, ...]:
    who = f"player +{turn}" if turn else "the viewer"

    def number(name: str, low: int, high: int, scale: float, meaning: str) -> Feature:
        return Feature(f"{name} of {who}", 1, low, high, scale, meaning)

    return (
        number("points", 0, MOST, 0.05, "points"),
        number("points to go", -MOST, MOST, 0.05, "points that are missing to the goal"),
        number("lead", -MOST, MOST, 0.1, "the viewer's points minus theirs"),
        flags(f"state of {who}", 6, "takes part, is to move, has reached the goal, still has to bid, started the game, "
              "has a tournament card in Camelot"),
        flags(f"tent of {who}", MAX_PLAYERS, "place in the turn order (one-hot)"),
        flags(f"place of {who}", NUM_PLACES, f"where the knight is (one-hot): {', '.join(PLACES)}"),
        number("way home", 0, FARTHEST, 0.25, "steps from the knight to Camelot"),
        number("best ride", 0, NUM_PLACES, 0.25, "steps of the fastest horse not yet used"),
        _counts(f"actions of {who}", ACTIONS, 4, 0.5, "action cards not yet used"),
        _counts(f"cards of {who}", CARDS, 5, 0.5, "virtue cards in hand" if not turn else "cards taken openly"),
        _counts(f"possible starting cards of {who}", CARDS, 1, 1.0,
                "whether a hidden starting card can be of this kind (0 for the viewer)"),
        number("starting cards", 0, START_CARDS, 0.5, "starting cards that nobody else has seen"),
        _counts(f"quests of {who}", QUESTS, 1, 1.0, "quests in hand"),
        _counts(f"paid quests of {who}", QUESTS, 1, 1.0,
                "those of them that the cards above pay for"),
    )  # fmt: skip


LAYOUT = (
    flags("phase", 3, "choose, act, bid (one-hot); all 0 when the game is over"),
    flags("players", MAX_PLAYERS - MIN_PLAYERS + 1, "2, 3 or 4 players (one-hot)"),
    Feature("round", 1, 0, MOST_POINTS, 0.05, "number of the round"),
    Feature("rounds to come", 1, 0, MOST_POINTS, 0.05, "rounds after this one, if nobody reaches the goal"),
    Feature("choices", 1, 0, 6, 0.25, "action cards that the player to move has still to take in this round"),
    _counts("piles", CARDS, 5, 0.5, "virtue cards on the open piles"),
    _counts("display", ACTIONS, 4, 0.5, "action cards on display"),
    _counts("hidden cards", CARDS, 5, 0.5, "starting cards of the others, all together"),
    _counts("own bid", CARDS[:BID_KINDS], 5, 0.5, "cards that the viewer has bid"),
    Feature("quest pile", 1, 0, NUM_QUESTS, 0.1, "quests in the pile"),
    _counts("open quests", QUESTS, 1, 1.0, "quests that lie open"),
    _counts("shields", QUESTS, MOST_POINTS, 0.15, "what each brings, of those open or in the viewer's hand"),
    _counts("missing", QUESTS, NUM_VIRTUES, 0.5, "of these: cards that the viewer lacks for it"),
    _counts("way", QUESTS, FARTHEST, 0.25, "of these: steps from the viewer's knight to its place"),
    *(feature for turn in range(MAX_PLAYERS) for feature in _of_player(turn)),
)
"""The blocks of an observation, in order."""

_STARTS = starts_of(LAYOUT)
PLAYERS, ROUND, PILES, DISPLAY, HIDDEN, OWN_BID, QUEST_PILE, OPEN, SHIELDS, MISSING, WAY, VIEWER = (
    _STARTS[name]
    for name in (
        "players", "round", "piles", "display", "hidden cards", "own bid", "quest pile", "open quests", "shields",
        "missing", "way", "points of the viewer",
    )
)  # fmt: skip
SEAT = sum(feature.size for feature in _of_player(0))
"""Features of each player."""
TENT, PLACE, RIDES, TAKEN, POSSIBLE, START, IN_HAND, PAID = (
    _STARTS[f"{name} of the viewer"] - VIEWER
    for name in (
        "tent", "place", "way home", "cards", "possible starting cards", "starting cards", "quests", "paid quests",
    )
)  # fmt: skip
HELD = RIDES + 2
"""Where blocks begin, those of a player behind the player's first one."""


def observation_scale(components: Components) -> np.ndarray:
    """Multiply an observation by it for floats of about -1..1: shape (F,), float32."""
    return scale_of(LAYOUT)


def observation_bounds(components: Components) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest value of each feature: shapes (F,), int8, read-only."""
    return bounds_of(LAYOUT)


@jit
def clipped(number):
    """Into int8."""
    return max(-MOST, min(MOST, number))


@jit
def best_values(g, player, all_cards):
    """The highest value of each virtue among a player's cards, two bits each; without the starting cards if not
    `all_cards`."""
    best = 0
    for kind in range(NUM_CARDS):
        if int(g["taken"][player, kind]) > 0 or (all_cards and int(g["start_cards"][player, kind]) > 0):
            shift = 2 * (kind // MAX_VALUE)
            best = best & ~(3 << shift) | (kind % MAX_VALUE + 1) << shift
    return best


@jit
def missing_cards(t, quest, best):
    """How many requirements of a quest cards of these highest values don't meet."""
    count = 0
    for virtue in range(NUM_VIRTUES):
        count += int(t["needs"][quest, virtue]) > best >> 2 * virtue & 3
    return count


@jit
def steps_between(position, other):
    """Steps between two positions in the ring, the shorter way round."""
    steps = abs(position - other)
    return min(steps, NUM_PLACES - steps)


@jit
def observe(t, g, viewer, out):
    """Write what `viewer` knows into `out`: shape (F,), int8."""
    out[:] = 0
    players, phase, turn = int(g["num_players"]), int(g["phase"]), int(g["player"])
    if phase != OVER:
        out[phase] = 1
    out[PLAYERS + players - MIN_PLAYERS] = 1
    out[ROUND] = g["round"]
    out[ROUND + 1] = int(t["rounds"]) - int(g["round"])
    if phase == CHOOSE_PHASE:
        taken = 0
        for kind in range(NUM_ACTION_CARDS):
            taken += int(g["actions"][turn, kind])
        out[ROUND + 2] = int(t["choices"][players]) - taken
    hidden = 0  # bits: kinds that the others' starting cards can be
    for kind in range(NUM_CARDS):
        cards = int(t["copies"][kind]) - int(g["piles"][kind]) - int(g["start_cards"][viewer, kind])
        for player in range(players):
            cards -= int(g["taken"][player, kind])
        out[PILES + kind] = g["piles"][kind]
        out[HIDDEN + kind] = cards
        hidden |= (cards > 0) << kind
    for kind in range(NUM_ACTION_CARDS):
        out[DISPLAY + kind] = g["display"][kind]
    for kind in range(BID_KINDS):
        out[OWN_BID + kind] = g["bids"][viewer, kind]
    out[QUEST_PILE] = g["quest_pile_size"]
    observe_quests(t, g, viewer, out)
    for player in range(players):
        seat = player - viewer if player >= viewer else player - viewer + players
        observe_player(t, g, viewer, player, hidden, out, VIEWER + SEAT * seat)
    for tent in range(players):
        player = int(g["tents"][tent])
        seat = player - viewer if player >= viewer else player - viewer + players
        out[VIEWER + SEAT * seat + TENT + tent] = 1


@jit
def observe_quests(t, g, viewer, out):
    """Quests that the viewer has or can take."""
    best = best_values(g, viewer, True)
    position = position_in_ring(g, int(g["places"][viewer]))
    opened = int(g["open_quests"])
    quests = opened | int(g["quests"][viewer])
    while quests != 0:
        quest = lowest_bit(quests)
        quests &= quests - 1
        out[OPEN + quest] = opened >> quest & 1
        out[SHIELDS + quest] = t["shields"][quest]
        out[MISSING + quest] = missing_cards(t, quest, best)
        out[WAY + quest] = steps_between(position, position_in_ring(g, quest // QUESTS_AT_PLACE + 1))


@jit
def observe_player(t, g, viewer, player, hidden, out, o):
    """One player's block, which begins at `o`. `hidden` are the kinds that hidden starting cards can be, as bits."""
    points, place, own = int(g["scores"][player]), int(g["places"][player]), player == viewer
    out[o] = clipped(points)
    out[o + 1] = clipped(goal(t, g) - points)
    out[o + 2] = clipped(int(g["scores"][viewer]) - points)
    out[o + 3] = 1
    out[o + 4] = player == int(g["player"])
    out[o + 5] = int(g["reached"][player]) > 0
    out[o + 6] = int(g["bidding"]) >> player & 1
    out[o + 7] = player == int(g["start_player"])
    out[o + 8] = int(g["actions"][player, TOURNAMENT]) > 0 and place == CAMELOT
    out[o + PLACE + place] = 1
    out[o + RIDES] = steps_between(position_in_ring(g, place), 0)
    best_ride = 0
    for horse in range(len(HORSES)):
        if int(g["actions"][player, HORSE + horse]) > 0:
            best_ride = max(best_ride, int(t["steps"][horse]))
    out[o + RIDES + 1] = best_ride
    for kind in range(NUM_ACTION_CARDS):
        out[o + HELD + kind] = g["actions"][player, kind]
    starting = 0
    for kind in range(NUM_CARDS):
        starting += int(g["start_cards"][player, kind])
        out[o + TAKEN + kind] = held(g, player, kind) if own else int(g["taken"][player, kind])
    out[o + START] = starting
    possible = 0 if own or starting == 0 else hidden & ~int(g["excluded"][player])
    for kind in range(NUM_CARDS):
        out[o + POSSIBLE + kind] = possible >> kind & 1
    quests = int(g["quests"][player])
    best = best_values(g, player, own)
    while quests != 0:
        quest = lowest_bit(quests)
        quests &= quests - 1
        out[o + IN_HAND + quest] = 1
        out[o + PAID + quest] = missing_cards(t, quest, best) == 0
