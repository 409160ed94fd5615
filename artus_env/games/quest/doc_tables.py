"""Tables for the documentation, generated from the game's own data."""

from __future__ import annotations

from itertools import pairwise

from artus_env.authoring import DocTable, observation_table
from artus_env.games.quest.actions import (
    ARTUS_ACTIONS,
    BID,
    COURT_ACTIONS,
    DONE,
    EXERCISE_ACTIONS,
    HORSE_ACTIONS,
    QUEST_ACTIONS,
    TAKE,
)
from artus_env.games.quest.components import (
    ACTIONS,
    CARDS,
    MAX_PLAYERS,
    MIN_PLAYERS,
    PLACES,
    QUESTS,
    STANDARD,
    START_CARDS,
    VIRTUES,
    Components,
)
from artus_env.games.quest.notation import texts
from artus_env.games.quest.observation import LAYOUT
from artus_env.games.quest.terminal import needs_text

PLAYERS = range(MIN_PLAYERS, MAX_PLAYERS + 1)


def box(components: Components = STANDARD) -> DocTable:
    """Places, virtue cards, rounds."""
    copies = [f"{count} `{card}`" for card, count in zip(CARDS, components.copies, strict=True)]
    rows = [
        ("places", ", ".join(f"`{place}`" for place in PLACES)),
        ("virtues", ", ".join(f"`{virtue}`" for virtue in VIRTUES)),
        ("virtue cards", ", ".join(copies)),
        ("hand at the start", f"{START_CARDS} virtue cards"),
        ("court", f"{components.court} points for a book"),
        ("tournament", f"{components.prize} points, {components.prize // 2} each where it is drawn"),
        ("rounds", f"at most {components.rounds}"),
    ]
    return DocTable(["", ""], rows)


def display(components: Components = STANDARD) -> DocTable:
    """Action cards, how many of them each player takes, and the goal, by the number of players."""
    rows: list[list[object]] = [
        [f"`{action}`", *(cards[kind] for cards in components.display)] for kind, action in enumerate(ACTIONS)
    ]
    rows += [
        ["all of them", *map(sum, components.display)],
        ["**a player takes**", *components.choices],
        ["**points that end the game**", *components.goals],
    ]
    return DocTable(["action card", *(f"{players} players" for players in PLAYERS)], rows)


def quests(components: Components = STANDARD) -> DocTable:
    """Demands and points of each quest."""
    rows = [
        [f"`{name}`", needs_text(quest), quest.points] for name, quest in zip(QUESTS, components.quests, strict=True)
    ]
    return DocTable(["quest", "demands", "points"], rows)


def actions(components: Components = STANDARD) -> DocTable:
    """Action ids, one row for each kind."""
    moves = texts(components)
    meanings = {
        TAKE: "choosing: take an action card",
        EXERCISE_ACTIONS: "exercise: take a virtue card from its pile",
        ARTUS_ACTIONS: "ask Artus for an open quest",
        COURT_ACTIONS: "lay a book back at court",
        QUEST_ACTIONS: "do a quest",
        HORSE_ACTIONS: "ride a horse to a place; id: 8 horse + place, in the order of the box",
        DONE: "use no more action cards",
        BID: "bid a set of swords and lances; the last id has all of them",
    }
    firsts = [*meanings, len(moves)]
    rows = []
    for first, end in pairwise(firsts):
        several = end - first > 1
        rows.append(
            [
                f"{first}..{end - 1}" if several else first,
                f"`{moves[first]}` .. `{moves[end - 1]}`" if several else f"`{moves[first]}`",
                meanings[first],
            ]
        )
    return DocTable(["ids", "move", "action"], rows)


def observation() -> DocTable:
    """Blocks of the observation in order; the repeated blocks of each other player are one line."""
    others = tuple(f" of player +{turn}" for turn in range(2, MAX_PLAYERS))
    table = observation_table([row for row in LAYOUT.rows() if not str(row[2]).endswith(others)])
    below = ["Players +2 and +3 follow player +1 with the same blocks, all 0 where nobody holds the seat."]
    return table._replace(below=below)


TABLES = {"box": box, "display": display, "quests": quests, "actions": actions, "observation": observation}
"""The tables of this game alone."""
