"""Observation of a player as int8 features: one layout for 2 to 4 players and every box, relative to that player.

Players come in the order of their numbers from the viewer on. `LAYOUT` names every feature; the compiled `observe`
writes them.
"""

from __future__ import annotations

from artus_env.authoring import (
    Feature,
    Layout,
    clipped,
    jit,
    jit_inlined,
    lowest_bit,
    packed_bytes,
    write_32_bits,
    write_64_bits,
    write_bytes,
    write_nibbles,
)
from artus_env.games.quest.actions import BID_KINDS
from artus_env.games.quest.components import (
    ACTIONS,
    CARDS,
    HORSE,
    HORSES,
    MAX_PLAYERS,
    MAX_POINTS,
    MIN_PLAYERS,
    PLACES,
    QUESTS,
    QUESTS_AT_PLACE,
    START_CARDS,
    VIRTUES,
    Components,
)
from artus_env.games.quest.fast import cards_in, kinds_of, missing, payable, steps_from
from artus_env.games.quest.rules import CAMELOT, count, goal, hand, jousters
from artus_env.games.quest.state import CHOOSE_PHASE, DIGIT, OVER

MAX_INT8 = 127
"""Maximum of int8; no game ends with more points than this."""
FARTHEST = len(PLACES) // 2
NUM_PLACES, NUM_QUESTS = len(PLACES), len(QUESTS)
NUM_VIRTUES = len(VIRTUES)


def _counts(name: str, names: tuple[str, ...], most: int, scale: float, meaning: str) -> Feature:
    return Feature(name, len(names), 0, most, scale, f"{meaning}: {', '.join(names)}")


def _player_features(turn: int) -> tuple[Feature, ...]:
    player_name = f"player +{turn}" if turn else "the viewer"

    def number(name: str, low: int, high: int, scale: float, meaning: str) -> Feature:
        return Feature(f"{name} of {player_name}", 1, low, high, scale, meaning)

    return (
        number("points", 0, MAX_INT8, 0.05, "points"),
        number("points to go", -MAX_INT8, MAX_INT8, 0.05, "points that are missing to the goal"),
        number("lead", -MAX_INT8, MAX_INT8, 0.1, "the viewer's points minus theirs"),
        number("way home", 0, FARTHEST, 0.25, "steps from the knight to Camelot"),
        number("best ride", 0, NUM_PLACES, 0.25, "steps of the fastest horse not yet used"),
        number("starting cards", 0, START_CARDS, 0.5, "starting cards that nobody else has seen"),
        number("goal reached", 0, MAX_PLAYERS, 0.5, "in which order the goal was reached, 0: not yet"),
        _counts(f"actions of {player_name}", ACTIONS, 4, 0.5, "action cards not yet used"),
        _counts(f"cards of {player_name}", CARDS, 5, 0.5, "cards taken openly" if turn else "virtue cards in hand"),
        _counts(f"possible starting cards of {player_name}", CARDS, 1, 1.0,
                "whether a hidden starting card can be of this kind (0 for the viewer)"),
        Feature(f"tent of {player_name}", MAX_PLAYERS, meaning="place in the turn order (one-hot)"),
        Feature(f"place of {player_name}", NUM_PLACES, meaning=f"where the knight is (one-hot): {', '.join(PLACES)}"),
        Feature(f"state of {player_name}", 4,
                meaning="is to move, still has to bid, started the game, has a tournament card in Camelot"),
        _counts(f"quests of {player_name}", QUESTS, 1, 1.0, "quests in hand"),
        _counts(f"paid quests of {player_name}", QUESTS, 1, 1.0, "those of them that the cards above pay for"),
    )  # fmt: skip


LAYOUT = Layout((
    *(feature for turn in range(MAX_PLAYERS) for feature in _player_features(turn)),
    Feature("phase", 3, meaning="choose, act, bid (one-hot); all 0 when the game is over"),
    Feature("players", MAX_PLAYERS - MIN_PLAYERS + 1, meaning="2, 3 or 4 players (one-hot)"),
    _counts("open quests", QUESTS, 1, 1.0, "quests that lie open"),
    Feature("round", 1, 0, MAX_POINTS, 0.05, "number of the round"),
    Feature("rounds to come", 1, 0, MAX_POINTS, 0.05, "rounds after this one, if nobody reaches the goal"),
    Feature("choices", 1, 0, 6, 0.25, "action cards that the player to move has still to take in this round"),
    Feature("quest pile", 1, 0, NUM_QUESTS, 0.1, "quests in the pile"),
    _counts("own bid", CARDS[:BID_KINDS], 5, 0.5, "cards that the viewer has bid"),
    _counts("piles", CARDS, 5, 0.5, "virtue cards on the open piles"),
    _counts("hidden cards", CARDS, 5, 0.5, "starting cards of the others, all together"),
    _counts("display", ACTIONS, 4, 0.5, "action cards on display"),
    _counts("shields", QUESTS, MAX_POINTS, 0.15, "what each quest brings, of those open or in the viewer's hand"),
    _counts("missing", QUESTS, NUM_VIRTUES, 0.5, "of these: cards that the viewer lacks for it"),
    _counts("way", QUESTS, FARTHEST, 0.25, "of these: steps from the viewer's knight to its place"),
    _counts("ring", PLACES, NUM_PLACES - 1, 0.15, "steps from Camelot, always the same way round"),
    _counts("ride", PLACES, FARTHEST, 0.25, "steps from the viewer's knight, the shorter way round"),
))  # fmt: skip
"""The blocks of an observation, in order. Flags come first and are written as bits, many at a time; numbers follow."""

PHASE, OPEN, ROUND, OWN_BID, PILES, HIDDEN, DISPLAY, SHIELDS, MISSING, WAY, RING, RIDE = (
    LAYOUT.starts[name]
    for name in (
        "phase", "open quests", "round", "own bid", "piles", "hidden cards", "display", "shields", "missing", "way",
        "ring", "ride",
    )
)  # fmt: skip
"""Index of the first feature of a block, or of the first of several blocks that are written together."""
LENGTH = LAYOUT.size
PLAYER_SIZE = sum(block.size for block in _player_features(0))
"""Number of features of each player."""
ACTION_CARDS, VIRTUE_CARDS, FLAGS, PLACE, STATE, POSSIBLE, IN_HAND, PAID = (
    LAYOUT.starts[f"{name} of the viewer"]
    for name in ("actions", "cards", "tent", "place", "state", "possible starting cards", "quests", "paid quests")
)
"""Indices of the first features of a player's blocks, counted from the player's first feature."""


def features(components: Components) -> tuple[Feature, ...]:
    """The blocks of an observation, the same for every box."""
    return LAYOUT.features


@jit
def observe(t, g, viewer, out):
    """Write what `viewer` knows into `out`: shape (F,), int8.

    Flags and counts are written many at a time; bytes beyond the end of a block are overwritten by the blocks that
    follow. Players and places are masked so that the compiler knows that they aren't negative.
    """
    for start in range(0, LENGTH - 64, 64):
        write_64_bits(0, out, start)
    write_64_bits(0, out, LENGTH - 64)
    viewer &= 3
    players, phase = int(g["num_players"]) & 7, int(g["phase"])
    hidden = int(t["copies"]) - int(g["piles"]) - int(g["start_cards"][viewer])
    tents = 0
    for tent in range(players):
        player = int(g["tents"][tent]) & 3
        hidden -= int(g["taken"][player])
        tents |= tent << DIGIT * player
    jousting, possible_kinds, steps_home = jousters(g), kinds_of(hidden), steps_from(g, CAMELOT)
    player = viewer
    for seat in range(players):
        observe_player(
            t, g, viewer, player, count(tents, player), jousting, possible_kinds, steps_home, out, PLAYER_SIZE * seat
        )
        player = (player + 1 if player + 1 < players else 0) & 3

    bits = int(g["open_quests"]) << OPEN - PHASE | 1 << 3 + players - MIN_PLAYERS
    write_32_bits(bits | 1 << phase if phase != OVER else bits, out, PHASE)
    write_nibbles(int(g["bids"][viewer]), out, OWN_BID)
    write_nibbles(int(g["piles"]), out, PILES)
    write_nibbles(hidden, out, HIDDEN)
    write_nibbles(int(g["display"]), out, DISPLAY)
    out[ROUND] = g["round"]
    out[ROUND + 1] = int(t["rounds"]) - int(g["round"])
    num_taken = cards_in(int(g["actions"][int(g["player"]) & 3]))
    out[ROUND + 2] = int(t["choices"][players]) - num_taken if phase == CHOOSE_PHASE else 0
    out[ROUND + 3] = g["quest_pile_size"]

    cards, steps = hand(g, viewer), steps_from(g, int(g["places"][viewer]) & 7)
    quests = int(g["open_quests"]) | int(g["quests"][viewer])
    while quests != 0:
        quest = lowest_bit(quests)
        quests &= quests - 1
        out[SHIELDS + quest] = t["shields"][quest]
        out[MISSING + quest] = missing(t, quest, cards)
        out[WAY + quest] = steps >> 8 * (quest // QUESTS_AT_PLACE + 1) & 7
    write_bytes(packed_bytes(g["spots"]), out, RING)
    write_bytes(steps, out, RIDE)


@jit_inlined
def observe_player(t, g, viewer, player, tent, jousting, possible_kinds, steps_home, out, o):
    """Write the features of one player into `out`, from index `o` on.

    Args:
        tent: The player's place in the turn order.
        jousting: Players in the tournament, as bits.
        possible_kinds: Kinds that the others' starting cards can be, as digits.
        steps_home: Steps from Camelot to each place, as bytes.
    """
    points, place, quests = int(g["scores"][player]), int(g["places"][player]) & 7, int(g["quests"][player])
    num_start_cards, cards, actions = (
        cards_in(int(g["start_cards"][player])),
        int(g["taken"][player]),
        int(g["actions"][player]),
    )
    if player == viewer:
        cards += int(g["start_cards"][player])
    write_nibbles(actions, out, o + ACTION_CARDS)
    write_nibbles(cards, out, o + VIRTUE_CARDS)
    has_hidden_cards = player != viewer and num_start_cards > 0
    write_nibbles(possible_kinds & ~int(g["excluded"][player]) if has_hidden_cards else 0, out, o + POSSIBLE)
    bits = 1 << tent | 1 << PLACE - FLAGS + place | quests << IN_HAND - FLAGS
    bits |= (player == int(g["player"])) << STATE - FLAGS
    bits |= (int(g["bidding"]) >> player & 1) << STATE - FLAGS + 1
    bits |= (player == int(g["start_player"])) << STATE - FLAGS + 2
    bits |= (jousting >> player & 1) << STATE - FLAGS + 3
    bits |= (quests & payable(t, cards)) << PAID - FLAGS
    write_64_bits(bits, out, o + FLAGS)
    out[o] = clipped(points)
    out[o + 1] = clipped(goal(t, g) - points)
    out[o + 2] = clipped(int(g["scores"][viewer]) - points)
    out[o + 3] = steps_home >> 8 * place & 7
    best_ride = 0
    for horse in range(len(HORSES)):
        steps = int(t["steps"][horse])
        best_ride = max(best_ride, steps if count(actions, HORSE + horse) > 0 else 0)
    out[o + 4] = best_ride
    out[o + 5] = num_start_cards
    out[o + 6] = g["reached"][player]
