"""Magpies: a game of secret bids for 2 to 6 players, who are dealt three of twenty cards in every round. In turn each
player bids a card, face down; the highest card takes a jewel. The first player with five jewels wins."""

import sys
from dataclasses import dataclass

import numpy as np

from artus_env.authoring import Definition, Feature, Positions, below, jit, popcount, random_bits, state_dtype

CARDS, HAND, SEATS = 20, 3, 6
NO_BID = -1
NUMBERS = ("start_player", "round", "chance")  # all hands follow from `chance`
LISTS = ("hands", "bids")  # bit c of a hand: card c, which stays there when it is bid
STATE = state_dtype(SEATS, [(name, np.int64) for name in NUMBERS] + [(name, np.int64, SEATS) for name in LISTS])


@dataclass(frozen=True)
class Components:
    goal: int = 5

    @property
    def hash(self):
        return f"{self.goal:04x}"


@jit
def give_hands(g, viewer, key, number):
    """Deal hands to all players but the viewer (-1: to all), by the random numbers of a key from index `number` on."""
    dealt_bits = 0 if viewer < 0 else int(g["hands"][viewer])
    for p in range(int(g["num_players"])):
        if p != viewer:
            hand, card = 0, 0
            while popcount(hand) < HAND:
                card = below(random_bits(key, number), CARDS)
                number += 1
                hand |= (1 << card) & ~dealt_bits
            dealt_bits |= hand
            g["hands"][p] = hand
            if g["bids"][p] != NO_BID:
                g["bids"][p] = card  # each card of the hand is equally likely to be the last one drawn


@jit
def deal(t, g, seed, start_player, num_players, rule_set):
    g["num_players"], g["rule_set"], g["round"] = num_players, rule_set, 0
    g["start_player"] = g["player"] = start_player if start_player >= 0 else below(random_bits(seed, 0), num_players)
    g["scores"][:], g["hands"][:], g["bids"][:] = 0, 0, NO_BID
    g["chance"] = int(random_bits(seed, 1) >> np.uint64(11))
    give_hands(g, -1, g["chance"], 0)


@jit
def is_over(t, g):
    return g["scores"].max() == t["goal"]


@jit
def legal(t, g, words):
    words[0] = 0 if is_over(t, g) else g["hands"][g["player"]]


@jit
def play(t, g, action):
    player, players = int(g["player"]), int(g["num_players"])
    g["bids"][player] = action
    g["player"] = (player + 1) % players
    if g["player"] != g["start_player"]:
        return 0
    winner = np.argmax(g["bids"][:players])
    g["scores"][winner] += 1
    g["bids"][:], g["round"] = NO_BID, g["round"] + 1
    if not is_over(t, g):
        give_hands(g, -1, g["chance"], int(g["round"]) << 16)
    return int(winner == player)


@jit
def public_action(t, g, action, viewer):
    return action if viewer == g["player"] else 0  # all bids look alike


@jit
def is_revealed(t, g, action, viewer, now):
    return now["round"] > g["round"]  # all bids are revealed at the end of the round


@jit
def observe(t, g, viewer, out):
    players, out[:] = int(g["num_players"]), 0
    for card in range(CARDS):
        out[card] = int(g["hands"][viewer]) >> card & 1
    for k in range(players):  # in turn order from the viewer
        p = (viewer + k) % players
        out[CARDS + k], out[CARDS + SEATS + k] = g["scores"][p], 1 + (g["bids"][p] != NO_BID)


@jit
def resample_hidden(t, g, viewer, seed):
    give_hands(g, viewer, seed, 1)
    g["chance"] = int(random_bits(seed, 0) >> np.uint64(11))


def features(components):
    return [Feature("hand", CARDS), Feature("scores", SEATS, 0, components.goal), Feature("bids", SEATS, 0, 2)]


def check(g, components):
    """Raise a ValueError if the fields of a position don't fit together."""
    goal = components.goal
    players, start, player = int(g["num_players"]), int(g["start_player"]), int(g["player"])
    scores, hands, bids = g["scores"].tolist(), g["hands"][:players].tolist(), g["bids"][:players].tolist()
    have_bid = {(start + k) % players for k in range((player - start) % players)}
    checks = (
        ("start_player", 0 <= start < players),
        ("scores", min(scores) >= 0 and sorted(scores)[-2] < goal >= max(scores)),
        ("round", g["round"] == sum(scores)),
        ("player", max(scores) < goal or player == start),
        ("hands", all(hand.bit_count() == HAND and hand < 1 << CARDS for hand in hands)),
        ("hands", sum(hands).bit_count() == HAND * players),
        ("bids", all(b >= 0 and hands[p] >> b & 1 if p in have_bid else b == NO_BID for p, b in enumerate(bids))),
    )
    for field, fits in checks:
        if not fits:
            raise ValueError(f"{field}: doesn't fit the rest of the position")


POSITIONS = Positions("magpies", ("standard",), STATE, sets=("hands",), hidden=("hands", "bids", "chance"), check=check)
MAGPIES = Definition(
    name="magpies",
    title="Magpies",
    max_players=SEATS,
    score="jewels",
    verbs=(sys.modules[__name__],),
    standard=Components(),
    state_dtype=STATE,
    build_tables=lambda components: np.array([(components.goal,)], [("goal", np.int64)]),
    action_table=lambda components: range(CARDS),
    features=features,
    positions=POSITIONS,
    move_text=lambda action, states, components, tables: f"bid:{action}",
    parse_move=lambda text, *_: {f"bid:{card}": card for card in range(CARDS)}.get(text),
)
