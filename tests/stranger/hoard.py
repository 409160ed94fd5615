"""Hoard: an auction for 2 or 3 players. Each player secretly knows one part of a hoard, 1 to 12 coins. In turn they
raise the bid by 1 to 3 coins or drop out. The last player left takes the hoard and pays the bid.

A game may end before a player has decided anything: when all players before them have dropped out.
"""

import sys
from dataclasses import dataclass

import numpy as np

from artus_env.authoring import Definition, Feature, Positions, below, jit, random_bits, state_dtype

SEATS, DROP, MOST_RAISE = 3, 0, 3
NUMBERS = ("start_player", "bid")
LISTS = ("parts", "out")  # coins in each player's part; 1 for players who have dropped out
STATE = state_dtype(SEATS, [(name, np.int64) for name in NUMBERS] + [(name, np.int64, SEATS) for name in LISTS])
START = 100  # index of the random number for the start player; lower ones are for the parts


@dataclass(frozen=True)
class Components:
    coins: int = 12  # maximum number of coins in one part
    raises: int = MOST_RAISE  # maximum number of coins by which a player may raise the bid

    @property
    def hash(self):
        return f"{self.coins:04x}{self.raises:x}"


def build_tables(components):
    return np.array([(components.coins, components.raises)], [("coins", np.int64), ("raises", np.int64)])


@jit
def num_bidders(g):
    """Number of players who haven't dropped out."""
    return int(g["num_players"]) - int(g["out"].sum())


@jit
def deal(t, g, seed, start_player, num_players, rule_set):
    g["num_players"], g["rule_set"], g["bid"] = num_players, rule_set, 0
    g["start_player"] = start_player if start_player >= 0 else below(random_bits(seed, START), num_players)
    g["player"] = g["start_player"]
    g["scores"][:], g["parts"][:], g["out"][:] = 0, 0, 0
    for p in range(num_players):
        g["parts"][p] = 1 + below(random_bits(seed, p), t["coins"])


@jit
def is_over(t, g):
    return num_bidders(g) == 1


@jit
def legal(t, g, words):
    words[0] = 0
    if not is_over(t, g):
        words[0] = 1 << DROP
        for coins in range(1, int(t["raises"]) + 1):
            if int(g["bid"]) + coins <= int(t["coins"]) * int(g["num_players"]):
                words[0] |= np.uint64(1 << coins)


@jit
def play(t, g, action):
    player, players = int(g["player"]), int(g["num_players"])
    g["bid"] = int(g["bid"]) + action
    g["out"][player] = action == DROP
    next_player = (player + 1) % players
    while g["out"][next_player]:
        next_player = (next_player + 1) % players
    g["player"] = next_player
    if is_over(t, g):
        g["scores"][next_player] = g["parts"].sum() - g["bid"]
        g["player"] = g["start_player"]
    return 0  # dropping out scores nothing, and coins are paid only at the end


@jit
def observe(t, g, viewer, out):
    """Write, for each player from the viewer on: the part if it is known; 2 for bidders, 1 for players who have dropped
    out; 1 for the player to move. Then the bid."""
    players, over, out[:] = int(g["num_players"]), is_over(t, g), 0
    for k in range(players):
        p = (viewer + k) % players
        out[k] = g["parts"][p] if over or k == 0 else 0
        out[SEATS + k] = 2 - g["out"][p]
        out[2 * SEATS + k] = g["player"] == p
    out[3 * SEATS] = g["bid"]


@jit
def resample_hidden(t, g, viewer, seed):
    for p in range(int(g["num_players"])):
        if p != viewer and not is_over(t, g):
            g["parts"][p] = 1 + below(random_bits(seed, p), t["coins"])


def features(components):
    return [
        Feature("own part", SEATS, 0, components.coins),
        Feature("players", SEATS, 0, 2),
        Feature("to move", SEATS),
        Feature("bid", 1, 0, components.coins * SEATS),
    ]


def check(g, components):
    """Raise a ValueError if the fields of a position don't fit together."""
    players, player, start = int(g["num_players"]), int(g["player"]), int(g["start_player"])
    scores, parts, out = (g[name][:players].tolist() for name in ("scores", *LISTS))
    ended = sum(out) == players - 1
    expected_scores = [sum(parts) - int(g["bid"]) if ended and not out[p] else 0 for p in range(players)]
    checks = (
        ("start_player", 0 <= start < players),
        ("parts", all(1 <= part <= components.coins for part in parts)),
        ("out", all(flag in (0, 1) for flag in out) and sum(out) < players),
        ("player", player == start if ended else not out[player]),
        ("bid", 0 <= g["bid"] <= components.coins * players),
        ("scores", scores == expected_scores),
    )
    for field, fits in checks:
        if not fits:
            raise ValueError(f"{field}: doesn't fit the rest of the position")


POSITIONS = Positions("hoard", ("standard",), STATE, hidden=("parts",), check=check)
HOARD = Definition(
    name="hoard",
    title="Hoard",
    max_players=SEATS,
    score="coins",
    verbs=(sys.modules[__name__],),
    standard=Components(),
    state_dtype=STATE,
    build_tables=build_tables,
    action_table=lambda components: range(1 + MOST_RAISE),
    features=features,
    positions=POSITIONS,
    move_text=lambda action, states, components, tables: f"raise:{action}" if action else "drop",
)
