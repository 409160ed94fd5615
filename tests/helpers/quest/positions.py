"""Positions of the King's quests for tests that read like the rule they check: name what matters, the rest is filled
in."""

from __future__ import annotations

from collections import Counter
from itertools import chain

from artus_env import Game
from artus_env.engine.contract import verbs

VIRTUES = ["sword", "lance", "dragon", "book"]
CARDS = [f"{virtue}-{value}" for virtue in VIRTUES for value in (1, 2)]
BOX = Counter({"sword-1": 3, "sword-2": 2, "lance-1": 3, "lance-2": 2})
BOX += Counter(dict.fromkeys(["dragon-1", "dragon-2", "book-1", "book-2"], 2))
RING = ["camelot", "forest", "valley", "lake", "moor", "ford", "ruin", "tower"]
QUESTS = [f"{place}-{number}" for place in RING[1:] for number in (1, 2)]
SMALL = [f"exercise-{virtue}" for virtue in VIRTUES]
SMALL += ["artus", "tournament", "tournament", "court", "quest", "quest", "horse-2", "horse-3", "horse-4"]
ACTIONS = list(dict.fromkeys(SMALL))
DISPLAY = {2: SMALL, 3: SMALL, 4: sorted([*SMALL, "artus", "court", "horse-3"], key=ACTIONS.index)}
CHOICES = {2: 4, 3: 3, 4: 3}


def flat(lists) -> list:
    """What is in lists, in one."""
    return list(chain.from_iterable(lists))


def position(players: int = 3, *, phase: str = "act", turn: int = 0, **parts) -> dict:
    """A whole position that fits.

    Args:
        phase: Name of the phase. Missing action cards are filled in. In phase `act`, players who act after the player
            to move get all that they may choose (`CHOICES`). In phase `choose`, players who chose before the player to
            move in this round get one card more than that player, the rest the same number.
        parts: Parts of a position as `to_dict` writes them; lists with a part for each player may also be dicts with
            the players that matter. Piles, display and quest_pile follow from the rest.
    """
    tents = parts.get("tents", list(range(players)))
    for name in ("actions", "start_cards", "taken", "excluded", "quests", "bids"):
        given = parts.get(name, {})
        if isinstance(given, dict):
            order = {"actions": ACTIONS, "quests": QUESTS}.get(name, CARDS)
            parts[name] = [sorted(given.get(player, ()), key=order.index) for player in range(players)]
    where = parts.get("places", {})
    if isinstance(where, dict):
        parts["places"] = [where.get(player, "camelot") for player in range(players)]
    hands = flat([*parts["start_cards"], *parts["taken"]])
    loose = BOX - Counter(hands)
    kept = parts.get("open_quests")
    free = [quest for quest in QUESTS if quest not in flat(parts["quests"])]
    open_quests = free[:3] if kept is None else kept
    _fill_actions(parts["actions"], players, phase, turn, tents)
    display = Counter(DISPLAY[players]) - Counter(flat(parts["actions"]))
    found = {
        "game": "quest",
        "rules": "standard",
        "num_players": players,
        "start_player": tents[0],
        "round": 1,
        "phase": phase,
        "turn": turn,
        "ring": RING,
        "tents": tents,
        "places": None,
        "points": [0] * players,
        "reached": [0] * players,
        "display": sorted(display.elements(), key=ACTIONS.index),
        "actions": None,
        "piles": {virtue: [value for value in (1, 2) for _ in range(loose[f"{virtue}-{value}"])] for virtue in VIRTUES},
        "start_cards": None,
        "taken": None,
        "excluded": None,
        "open_quests": open_quests,
        "quest_pile": [quest for quest in free if quest not in open_quests],
        "quests": None,
        "bids": None,
        "bidding": [],
        "chance": 1,
        "lots": 0,
    }
    assert not set(parts) - set(found)
    return found | parts


def _fill_actions(actions, players, phase, turn, tents):
    loose = Counter(DISPLAY[players]) - Counter(flat(actions))
    due, held = tents.index(turn), len(actions[turn])
    for tent, player in enumerate(tents):
        wanted = 0
        if phase == "choose" and player != turn:
            wanted = held + (tent < due)
        elif phase == "act" and tent > due:
            wanted = CHOICES[players]
        while len(actions[player]) < wanted:
            card = next(card for card in ACTIONS if loose[card] and card != "tournament")
            loose[card] -= 1
            actions[player].append(card)
        actions[player].sort(key=ACTIONS.index)


def game(players: int = 3, *, moves: tuple[str, ...] = (), **parts) -> Game:
    """A game at a position (see `position`), after these moves if any are given."""
    made = Game.from_dict(position(players, **parts), game="quest")
    for move in moves:
        made.play(move)
    return made


def joust(bidders=(0, 1), players=3, **parts) -> Game:
    """A game in which these players meet in a tournament, by tents in the order of their numbers."""
    parts = {"actions": {player: ["tournament"] for player in bidders}, "bidding": list(bidders)} | parts
    return game(players, **{"phase": "bid", "turn": min(bidders), **parts})


def points(game: Game, move: str) -> int:
    """What a player is told that a move brings."""
    return int(verbs.points_of(game.tables[0], game.state, game.action(move)))


def lively(game: Game, rng) -> str:
    """A move that keeps a game going: mostly one that looks good, now and then any."""
    t, g = game.tables[0], game.state
    if rng.random() < 0.1:
        return rng.choice(game.moves())
    looks = [verbs.greedy_value(t, g, action) + rng.random() for action in game.legal_actions()]
    return game.moves()[looks.index(max(looks))]
