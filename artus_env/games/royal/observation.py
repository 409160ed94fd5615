"""Observation of a player as int8 features: one layout for 2 to 6 players and every box, relative to that player.

Players come in turn order from the viewer, cards by suit and value. `features` names every feature; the
compiled `observe` writes them in that order.
"""

from __future__ import annotations

from artus_env.authoring import Feature, Layout, highest_bit, jit, lowest_bit, popcount, write_32_bits, write_64_bits
from artus_env.games.royal.components import (
    MAX_CARDS,
    MAX_COPIES,
    MAX_HAND,
    MAX_PLAYERS,
    MAX_SUITS,
    MAX_VALUE,
    STANDARD,
    Components,
)
from artus_env.games.royal.rules import last_card, left_of
from artus_env.games.royal.state import GROUPS, KNIGHTS, OVER, SHIELDS, TRICK_PHASE

PLANE = MAX_SUITS * MAX_VALUE
"""Number of features of a plane, which has a flag for each value of each suit. Before a plane is written, it consists
of two numbers: the bits of all suits but the last, one suit after the other, and the bits of the last suit."""
LAST_SUIT = MAX_SUITS - 1
SUIT_BITS = (1 << MAX_VALUE) - 1
"""Mask for the values of one suit."""
TRUMP_FEATURES = 3
"""Number of features for each place for trumps."""
NEAR = 3
"""Number of flags for each player in the block "nearly there": 1 trick to go, 2, 3."""


def features(components: Components) -> tuple[Feature, ...]:
    """The blocks of an observation, in order."""
    course = 1 / components.fields

    def flags(name: str, size: int, meaning: str) -> Feature:
        return Feature(name, size, meaning=meaning)

    def plane(name: str, meaning: str) -> Feature:
        return flags(name, PLANE, f"{meaning} (plane)")

    def super_trumps(name: str) -> Feature:
        return Feature(f"{name} super-trumps", 2, 0, MAX_COPIES, 1 / MAX_COPIES, "how many knights, how many shields")

    def by_player(name: str, high: int, scale: float, meaning: str) -> Feature:
        return Feature(name, MAX_PLAYERS, 0, high, scale, f"{meaning} (by player)")

    def flags_by_player(name: str, size: int, meaning: str) -> Feature:
        return flags(name, MAX_PLAYERS * size, f"{meaning} (by player)")

    return (
        plane("hand", "own cards"),
        super_trumps("own"),
        plane("unseen", "cards in other hands or in the pile"),
        super_trumps("unseen"),
        plane("masters", "own cards that no unseen card of their suit is higher than"),
        plane("takers", "own cards that may be played next and would take the trick from the cards in it"),
        super_trumps("taking"),
        flags("led", 1 + MAX_SUITS, "nothing, or the suit that has to be followed (one-hot)"),
        flags("best card", 1 + GROUPS, "nothing, or suit, knight or shield of what takes the trick so far (one-hot)"),
        Feature("best value", 1, 0, MAX_VALUE, 1 / MAX_VALUE, "value of that card"),
        Feature("best place", 1, 0, MAX_SUITS, 1 / MAX_SUITS, "place of its suit among the trumps, 0: none"),
        flags("phase", 2, "trick, sword (one-hot); both 0 when the game is over"),
        flags("players", MAX_PLAYERS - 1, "2, 3, ... players (one-hot)"),
        Feature("chips", 1, 0, MAX_SUITS, 1 / MAX_SUITS, "trump chips placed"),
        flags("swaps", 1, "whether all chips are placed"),
        Feature("deals", 1, 0, MAX_CARDS // 2, 0.25, "deals before the next shuffle"),
        Feature("in trick", 1, 0, MAX_PLAYERS, 0.25, "cards in the trick"),
        Feature("to come", 1, 0, MAX_PLAYERS, 0.25, "cards still to come in it"),
        Feature("pile", 1, 0, MAX_CARDS, 1 / MAX_CARDS, "cards in the pile"),
        Feature(
            "trump cards",
            TRUMP_FEATURES * MAX_SUITS,
            0,
            MAX_VALUE,
            1 / MAX_VALUE,
            "own cards, highest own value, unseen cards of the suit on place 1, of that on place 2, ...",
        ),
        Feature("suits", MAX_SUITS, 0, MAX_VALUE, 0.25, "own cards of each suit"),
        Feature("unseen suits", MAX_SUITS, 0, MAX_VALUE, 1 / MAX_VALUE, "unseen cards of each suit"),
        flags("trumps", MAX_SUITS * MAX_SUITS, "the suit on place 1 (one-hot), on place 2, ...; higher places win"),
        flags_by_player("voids", MAX_SUITS, "suits not followed since the last deal"),
        flags_by_player("nearly there", NEAR, f"whether 1, ... {NEAR} tricks to go are left (one-hot)"),
        by_player("field", components.fields, course, "field of the pawn"),
        by_player("tricks to go", components.fields, course, "tricks to the last field if no other pawn moved"),
        by_player("target", components.fields, course, "field that the pawn goes to with the next trick"),
        by_player("gain", MAX_PLAYERS, 0.25, "how many fields further that is"),
        by_player("sword", 1, 1.0, "whether that field carries a sword"),
        by_player("to sword", components.fields, 0.25, "fields to the next sword, 0: none lies ahead"),
        by_player("cards", MAX_HAND, 0.125, "cards in hand"),
        by_player("dealer", 1, 1.0, "who dealt (one-hot)"),
        by_player("leader", 1, 1.0, "who leads this trick or, in the sword phase, the next one (one-hot)"),
        by_player("to move", 1, 1.0, "who is to move (one-hot)"),
        by_player("start player", 1, 1.0, "who led the first trick of the game (one-hot)"),
        flags_by_player("card played", GROUPS, "suit, knight or shield of the card in the trick (one-hot)"),
        by_player("value played", MAX_VALUE, 1 / MAX_VALUE, "value of the card in the trick"),
        by_player("takes it", 1, 1.0, "whether that card takes the trick so far"),
    )


LAYOUT = Layout(features(STANDARD))
"""Blocks of the observation. They are the same for every box; only bounds and scales differ."""
OBSERVATION_SIZE = LAYOUT.size
SUPER_FEATURES = 2
"""Number of features for knights and shields."""
(
    UNSEEN, MASTERS, TAKERS, LED, BEST_CARD, BEST_VALUE, BEST_PLACE, PHASE, PLAYERS, CHIPS, SWAPS, DEALS, IN_TRICK,
    TO_COME, PILE, TRUMP_CARDS, SUITS, UNSEEN_SUITS, TRUMPS, VOIDS, NEARLY_THERE, FIELD, TO_GO, TARGET, GAIN, SWORD,
    TO_SWORD, CARDS, DEALER, LEADER, TO_MOVE, START_PLAYER, CARD_PLAYED, VALUE_PLAYED, TAKES_IT,
) = (
    LAYOUT.starts[name]
    for name in (
        "unseen", "masters", "takers", "led", "best card", "best value", "best place", "phase", "players", "chips",
        "swaps", "deals", "in trick", "to come", "pile", "trump cards", "suits", "unseen suits", "trumps", "voids",
        "nearly there", "field", "tricks to go", "target", "gain", "sword", "to sword", "cards", "dealer", "leader",
        "to move", "start player", "card played", "value played", "takes it",
    )
)  # fmt: skip
"""Index of the first feature of each block."""


@jit
def turns_after(viewer, player, players):
    """Number of steps from the viewer to a player in turn order."""
    return (player - viewer if player >= viewer else player - viewer + players) & 7


@jit
def write_plane(front, last, out, start):
    """Write a plane from its two numbers into `out`, from index `start` on. This also sets some bytes after the plane
    to 0: write those later."""
    write_64_bits(front, out, start)
    write_32_bits(last, out, start + MAX_VALUE * LAST_SUIT)


@jit
def observe(t, g, viewer, out):
    """Write what `viewer` knows into `out`: shape (F,), int8.

    Bits are written 32 or 64 at a time; bits beyond the end of a block are overwritten by the blocks that follow. The
    loops have few branches, because most of them would be mispredicted half of the time. Indices are masked so that the
    compiler knows that they aren't negative.
    """
    viewer &= 7
    players = int(g["num_players"]) & 7
    phase, led, in_trick = int(g["phase"]), int(g["led"]), int(g["in_trick"])
    for start in range(LED - SUPER_FEATURES, OBSERVATION_SIZE - 64, 64):
        write_64_bits(0, out, start)
    write_64_bits(0, out, OBSERVATION_SIZE - 64)

    # The trick: its cards as the two numbers of a plane, and the card that takes it so far.
    trick_front, trick_last, trick_knights, trick_shields = 0, 0, 0, 0
    best_group, best_value, best_place = -1, 0, -1
    if in_trick > 0:
        player = int(g["leader"]) & 7
        for _ in range(in_trick):
            kind = last_card(g, player)
            group, value = int(t["group"][kind]) & 7, int(t["value"][kind]) & 15
            trick_front |= 1 << MAX_VALUE * group + value - 1 if group < LAST_SUIT else 0
            trick_last |= 1 << value - 1 if group == LAST_SUIT else 0
            trick_knights += group == KNIGHTS
            trick_shields += group == SHIELDS
            turn = turns_after(viewer, player, players)
            out[CARD_PLAYED + GROUPS * turn + group] = 1
            out[VALUE_PLAYED + turn] = value
            player = left_of(g, player, 1)
        winning = int(g["winning"]) & 7
        kind = last_card(g, winning)
        best_group, best_value = int(t["group"][kind]) & 7, int(t["value"][kind]) & 15
        best_place = int(g["places"][best_group]) if best_group < KNIGHTS else MAX_SUITS + 1
        out[TAKES_IT + turns_after(viewer, winning, players)] = 1

    # The suits. A card takes the trick from the best card so far if its suit is on a higher place, or on the same place
    # (which means that it is the same suit) and its value is higher.
    must_follow = led >= 0 and int(g["hands"][viewer, led]) > 0
    own_front, own_last, unseen_front, unseen_last = 0, 0, 0, 0
    masters_front, masters_last, takers_front, takers_last = 0, 0, 0, 0
    num_chips, trump_bits = 0, 0
    for suit in range(MAX_SUITS):
        own_bits, place = int(g["hands"][viewer, suit]), int(g["places"][suit]) & 7
        unseen_bits = int(t["full"][suit]) ^ int(g["discards"][suit]) ^ own_bits
        unseen_bits ^= trick_front >> MAX_VALUE * suit & SUIT_BITS if suit < LAST_SUIT else trick_last
        highest_unseen = highest_bit(2 * unseen_bits + 1)
        master_bits = own_bits >> highest_unseen << highest_unseen
        higher_bits = own_bits >> best_value << best_value if place > 0 or suit == led else 0
        taker_bits = own_bits if place > best_place else higher_bits if place == best_place else 0
        taker_bits = taker_bits if suit == led or not must_follow else 0
        if suit < LAST_SUIT:
            own_front |= own_bits << MAX_VALUE * suit
            unseen_front |= unseen_bits << MAX_VALUE * suit
            masters_front |= master_bits << MAX_VALUE * suit
            takers_front |= taker_bits << MAX_VALUE * suit
        else:
            own_last, unseen_last, masters_last, takers_last = own_bits, unseen_bits, master_bits, taker_bits
        num_chips += place > 0
        trump_bits |= 1 << MAX_SUITS * place + suit
        count, unseen_count = popcount(own_bits), popcount(unseen_bits)
        out[SUITS + suit] = count
        out[UNSEEN_SUITS + suit] = unseen_count
        index = TRUMP_CARDS + TRUMP_FEATURES * (place - 1)  # without a chip: before the block, overwritten later
        out[index] = count
        out[index + 1] = highest_bit(2 * own_bits + 1)
        out[index + 2] = unseen_count
    own_knights, own_shields = int(g["hands"][viewer, KNIGHTS]), int(g["hands"][viewer, SHIELDS])
    write_plane(own_front, own_last, out, 0)
    write_plane(unseen_front, unseen_last, out, UNSEEN)
    write_plane(masters_front, masters_last, out, MASTERS)
    write_plane(takers_front, takers_last, out, TAKERS)
    out[UNSEEN - SUPER_FEATURES], out[UNSEEN - 1] = own_knights, own_shields
    out[MASTERS - SUPER_FEATURES] = int(t["full"][KNIGHTS]) - int(g["discards"][KNIGHTS]) - own_knights - trick_knights
    out[MASTERS - 1] = int(t["full"][SHIELDS]) - int(g["discards"][SHIELDS]) - own_shields - trick_shields
    out[LED - SUPER_FEATURES] = 0 if must_follow or best_group == KNIGHTS else own_knights
    out[LED - 1] = 0 if must_follow or best_group == SHIELDS else own_shields

    # Trick, phase and deal.
    out[LED + (1 + led & 7)] = 1
    out[BEST_CARD + (1 + best_group & 15)] = 1
    out[BEST_VALUE] = best_value
    out[BEST_PLACE] = best_place if 0 <= best_group < KNIGHTS else 0
    if phase != OVER:
        out[PHASE + (phase & 3)] = 1
    out[PLAYERS + players - 2] = 1
    out[CHIPS] = num_chips
    out[SWAPS] = num_chips == int(t["suits"])
    out[DEALS] = int(g["pile_size"]) // (players * int(t["hand"]))
    out[IN_TRICK] = in_trick
    out[TO_COME] = players - in_trick if phase == TRICK_PHASE else 0
    out[PILE] = g["pile_size"]

    # The players.
    pawn_bits, void_bits = 0, 0
    for player in range(players):
        pawn_bits |= 1 << int(g["scores"][player])
        void_bits |= int(g["voids"][player]) << MAX_SUITS * turns_after(viewer, player, players)
    write_64_bits(trump_bits >> MAX_SUITS, out, TRUMPS)
    write_64_bits(void_bits, out, VOIDS)
    swords, fields, hand = int(t["swords"]), int(t["fields"]), int(t["hand"])
    for player in range(players):
        turn = turns_after(viewer, player, players)
        field = int(g["scores"][player])
        pawns_ahead = pawn_bits >> field + 1
        to_go = fields - field - popcount(pawns_ahead)
        gain = 1 + lowest_bit(pawns_ahead + 1 & ~pawns_ahead)
        swords_ahead = swords >> field + 1
        if 0 < to_go <= NEAR:
            out[NEARLY_THERE + NEAR * turn + to_go - 1] = 1
        out[FIELD + turn] = field
        out[TO_GO + turn] = to_go
        out[TARGET + turn] = min(fields, field + gain)
        out[GAIN + turn] = gain
        out[SWORD + turn] = swords_ahead >> gain - 1 & 1
        out[TO_SWORD + turn] = lowest_bit(swords_ahead) + 1 if swords_ahead else 0
        out[CARDS + turn] = hand - int(g["played_cards"][player])
    out[DEALER + turns_after(viewer, int(g["dealer"]), players)] = 1
    out[LEADER + turns_after(viewer, int(g["leader"]), players)] = 1
    out[TO_MOVE + turns_after(viewer, int(g["player"]), players)] = 1
    out[START_PLAYER + turns_after(viewer, int(g["start_player"]), players)] = 1
