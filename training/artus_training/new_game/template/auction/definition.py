"""The definition of Auction for artus_env: the box, positions as data, moves as text."""

from dataclasses import dataclass

import numpy as np

from artus_env.authoring import Definition, Feature, Positions
from auction import rules
from auction.rules import CARDS, HAND, MOST_PLAYERS, STATE, TABLES

FEATURES = (
    *(Feature(name, CARDS) for name in ("own hand", "played cards", "prizes to come", "prize", "own bid")),
    *(Feature(name, MOST_PLAYERS) for name in ("takes part", "has bid", "start player")),
    Feature("scores", MOST_PLAYERS, 0, 127, scale=0.1),
)


@dataclass(frozen=True)
class Components:
    """The box: prizes are worth 1 to `prizes` points; the first player with `goal` points ends the game."""

    prizes: int = 8
    goal: int = 12

    def __post_init__(self):
        if not HAND <= self.prizes < CARDS:
            raise ValueError(f"prizes must be {HAND}..{CARDS - 1}, got {self.prizes}")

    @property
    def hash(self):
        return f"{self.prizes:02x}{self.goal:04x}"


def build_tables(components):
    tables = np.zeros(1, TABLES)
    tables[0]["prizes"], tables[0]["goal"] = (2 << components.prizes) - 2, components.goal  # bits 1 to `prizes`
    return tables


def check(g, components):
    """Check that the parts of a position fit together. Each part alone has been checked already.

    Raises:
        ValueError: If they don't fit; the message names the part.
    """
    n, start, turn, over = (int(g[name]) for name in ("num_players", "start_player", "player", "over"))
    hands, bids, played = g["hands"][:n].tolist(), g["bids"][:n].tolist(), int(g["played"])
    cards_left = [hand | (1 << bid if bid >= 0 else 0) for hand, bid in zip(hands, bids, strict=True)]
    rounds, bidders = played.bit_count() // n, (turn - start) % n
    prizes, prize, all_prizes = int(g["prizes"]), int(g["prize"]), (2 << components.prizes) - 2
    must_be_over = not any(cards_left) or g["scores"].max() >= components.goal
    checks = {
        "start_player: there is no such player": 0 <= start < n,
        "bids: there is no such card": all(-1 <= bid < CARDS for bid in bids),
        "bids: not exactly the players before the one to move have bid": all(
            (bid >= 0) == ((player - start) % n < bidders) for player, bid in enumerate(bids)
        ),
        "hands: a card occurs twice, or there are too many or too few": sum(cards_left) + played < 1 << CARDS
        and (sum(cards_left) + played).bit_count()
        == n * HAND
        == n * rounds + sum(cards.bit_count() for cards in cards_left)
        and {cards.bit_count() for cards in cards_left} == {HAND - rounds},
        "prizes: some are missing, or occur twice": prizes | 1 << prize | all_prizes == all_prizes
        and not prizes >> prize & 1
        and prizes.bit_count() == components.prizes - rounds - (not over),
        "scores: they can't be negative": g["scores"].min() >= 0,
        "over: doesn't fit hands and scores": over == int(must_be_over),
    }
    for message, fits in checks.items():
        if not fits:
            raise ValueError(message)


POSITIONS = Positions(
    "auction", ("standard",), STATE, sets=("hands", "played", "prizes"), hidden=("hands", "bids", "chance"), check=check
)


def move_text(action, states, components, tables):
    return f"bid:{action}"


AUCTION = Definition(
    name="auction",
    title="Auction",
    max_players=MOST_PLAYERS,
    score="points",
    verbs=(rules,),
    standard=Components(),
    state_dtype=STATE,
    build_tables=build_tables,
    action_table=lambda components: range(CARDS),
    features=lambda components: FEATURES,
    positions=POSITIONS,
    move_text=move_text,
)
