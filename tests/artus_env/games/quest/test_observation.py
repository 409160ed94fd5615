"""Observations of the King's quests, compared with a second implementation that reads the known position."""

import pytest

from artus_env.games.quest.definition import QUEST
from observations import check_observations, flags
from quest.positions import ACTIONS, BOX, CARDS, CHOICES, QUESTS, RING, flat
from quest.reference import GOAL, jousters, payments
from quest.reference import QUESTS as DEMANDS

PLACES = RING  # its order in the box


def counts(held, kinds):
    """How many there are of each kind."""
    return [held.count(kind) for kind in kinds]


def card_names(piles):
    """Virtue cards of the open piles."""
    return [f"{virtue}-{value}" for virtue, values in piles.items() for value in values]


def expected(position, viewer):
    """The blocks of an observation by name, from a position as the viewer knows it."""
    n, ring, knights = position["num_players"], position["ring"], position["places"]
    players = [(viewer + turns) % n for turns in range(n)]
    own_cards = position["start_cards"][viewer] + position["taken"][viewer]

    def steps(start, place):
        forward = (ring.index(place) - ring.index(start)) % len(ring)
        return min(forward, len(ring) - forward)

    def unmet(cards, quest):
        return payments({"start_cards": [[]], "taken": [cards]}, 0, quest).count(None)

    hidden = list(BOX.elements())
    for card in [*card_names(position["piles"]), *flat(position["taken"]), *position["start_cards"][viewer]]:
        hidden.remove(card)
    blocks = {}
    for turns in range(4):
        player, name = players[turns] if turns < n else None, f"player +{turns}" if turns else "the viewer"
        numbers, sets = [0] * 7, [[], [], [], [], []]
        tent, place, state = flags(4), flags(len(PLACES)), flags(4)
        if player is not None:
            points, actions = position["points"][player], position["actions"][player]
            start_cards = position["start_cards"][player]
            num_hidden = start_cards if turns else len(start_cards)  # of others the viewer knows the number alone
            cards = position["taken"][player] if turns else own_cards
            quests = position["quests"][player]
            numbers = [
                points, GOAL[n] - points, position["points"][viewer] - points, steps("camelot", knights[player]),
                max((int(card[-1]) for card in actions if card.startswith("horse")), default=0), num_hidden,
                position["reached"][player],
            ]  # fmt: skip
            possible = set(hidden) - set(position["excluded"][player]) if turns and num_hidden else set()
            sets = [actions, cards, list(possible), quests, [quest for quest in quests if not unmet(cards, quest)]]
            tent = flags(4, position["tents"].index(player))
            place = flags(len(PLACES), PLACES.index(knights[player]))
            state = [
                int(player == position["turn"]), int(player in position["bidding"]),
                int(player == position["start_player"]), int(player in jousters(position)),
            ]  # fmt: skip
        names = ["points", "points to go", "lead", "way home", "best ride", "starting cards", "goal reached"]
        blocks |= {f"{feature} of {name}": [number] for feature, number in zip(names, numbers, strict=True)}
        names = ["actions", "cards", "possible starting cards", "quests", "paid quests"]
        kinds = [ACTIONS, CARDS, CARDS, QUESTS, QUESTS]
        for feature, held, order in zip(names, sets, kinds, strict=True):
            blocks[f"{feature} of {name}"] = counts(held, order)
        blocks |= {f"tent of {name}": tent, f"place of {name}": place, f"state of {name}": state}
    phase, number = position["phase"], position["round"]
    shown = {*position["open_quests"], *position["quests"][viewer]}
    still_to_take = CHOICES[n] - len(position["actions"][position["turn"]])
    own_place = knights[viewer]
    return blocks | {
        "phase": flags(3, ["choose", "act", "bid", "over"].index(phase)),
        "players": flags(3, n - 2),
        "open quests": counts(position["open_quests"], QUESTS),
        "round": [number],
        "rounds to come": [30 - number],
        "choices": [still_to_take if phase == "choose" else 0],
        "quest pile": [position["quest_pile"]],
        "own bid": counts(position["bids"][viewer], CARDS[:4]),
        "piles": counts(card_names(position["piles"]), CARDS),
        "hidden cards": counts(hidden, CARDS),
        "display": counts(position["display"], ACTIONS),
        "shields": [DEMANDS[quest][1] if quest in shown else 0 for quest in QUESTS],
        "missing": [unmet(own_cards, quest) if quest in shown else 0 for quest in QUESTS],
        "way": [steps(own_place, quest[:-2]) if quest in shown else 0 for quest in QUESTS],
        "ring": [ring.index(place) for place in PLACES],
        "ride": [steps(own_place, place) for place in PLACES],
    }


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_observations_agree_with_the_known_position(num_players):
    phases = check_observations(QUEST, "standard", num_players, expected)
    assert phases == {"choose", "act", "bid", "over"}
