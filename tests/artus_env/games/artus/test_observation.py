"""Observations in Artus, compared with a second implementation that reads the known position."""

from collections import Counter

import pytest

from artus_env.games.artus.definition import ARTUS
from observations import check_observations, flags
from positions import BACK, BACKS, DECK
from reference import CARPET, king_seat, own_knights, royals, score, value_of

SCORING = ["all", "choice:best", "colors", "carpet", "reds"]


def cards(held):
    """A flag for each card of the deck; of two copies the first flag comes first."""
    return [int(held.count(card) > DECK[:place].count(card)) for place, card in enumerate(DECK)]


def expected(position, viewer):
    """The blocks of an observation by name, from a position as the viewer knows it."""
    n, king = position["num_players"], king_seat(position)
    names = ["the viewer", *(f"player +{turns}" for turns in range(1, 4))]
    players = [(viewer + turns) % n for turns in range(n)]

    def distance(seat):
        return (king - seat) % 28

    def knights_of(player):
        return sorted(own_knights(position | {"turn": player}), key=distance)

    figures = {f"own knight {number}": seat for number, seat in enumerate(knights_of(viewer), 1)}
    for colour in ("silver", "bronze"):
        seats = sorted(royals(position, colour), key=distance)
        figures |= {f"{colour} {number}": seat for number, seat in enumerate(seats, 1)}
    slots = [*(f"own knight {number}" for number in range(1, 6)), "silver 1", "silver 2", "bronze 1", "bronze 2"]
    blocks = {f"seat of {slot}": flags(28, *[distance(figures[slot])] if slot in figures else []) for slot in slots}
    blocks["seat values"] = [value_of(position, figures[slot]) if slot in figures else 0 for slot in slots]
    blocks["rings"] = [position["seats"][figures[slot]]["rings"] for slot in slots[5:]]
    blocks["carpet"] = flags(28, *map(distance, CARPET))
    blocks["hand"] = cards(position["hands"][viewer])
    for turns, name in enumerate(names):
        player = players[turns] if turns < n else None
        blocks[f"played by {name}"] = cards([])
        blocks[f"piles of {name}"] = blocks[f"hand backs of {name}"] = [0, 0, 0]
        if turns:
            blocks[f"knights of {name}"], blocks[f"lead over {name}"] = flags(28), [0, 0]
        if player is None:
            continue
        hand = position["hands"][player]
        counts = hand if turns else Counter(BACK[card] for card in hand)  # of others the viewer knows the backs alone
        blocks[f"played by {name}"] = cards(position["played"][player])
        blocks[f"piles of {name}"] = [position["piles"][player].get(back, 0) for back in BACKS]
        blocks[f"hand backs of {name}"] = [counts.get(back, 0) for back in BACKS]
        if turns:
            blocks[f"knights of {name}"] = flags(28, *map(distance, knights_of(player)))
            lead = position["scores"][viewer] - position["scores"][player]
            rest = (lead + 8) % 16 - 8
            blocks[f"lead over {name}"] = [(lead - rest) // 16, rest]
    advanced, as_viewer = position["rules"] == "advanced", position | {"turn": viewer}
    return blocks | {
        "scoring now": [score(as_viewer, card) if advanced else 0 for card in SCORING],
        "phase": flags(3, ["place", "play", "draw", "over"].index(position["phase"])),
        "left": [position["left"]],
        "to move": flags(4, players.index(position["turn"])),
        "start player": flags(4, players.index(position["start_player"])),
        "players": flags(3, n - 2),
        "advanced": [int(advanced)],
    }


@pytest.mark.parametrize("rules", ["beginner", "advanced"])
@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_observations_agree_with_the_known_position(rules, num_players):
    phases = check_observations(ARTUS, rules, num_players, expected)
    assert phases >= {"place", "play", "over"}
