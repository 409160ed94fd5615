"""Positions of the King's quests for tests: a test names only the parts that it needs, and the others are filled in."""

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
    """The items of several lists, in one list."""
    return list(chain.from_iterable(lists))


def position(players: int = 3, *, phase: str = "act", turn: int = 0, **parts) -> dict:
    """A complete position whose parts fit together.

    Args:
        phase: Name of the phase. Missing action cards are filled in. In phase `act`, players who act after the player
            to move get all that they may choose (`CHOICES`). In phase `choose`, players who chose before the player to
            move in this round get one card more than that player, and the others the same number.
        parts: Parts of a position as `to_dict` writes them. A list with an item for each player may also be a dict with
            only some players. Piles, display and quest_pile are filled with what the other parts leave.
    """
    tents = parts.get("tents", list(range(players)))
    for name in ("actions", "start_cards", "taken", "excluded", "quests", "bids"):
        cards = parts.get(name, {})
        if isinstance(cards, dict):
            order = {"actions": ACTIONS, "quests": QUESTS}.get(name, CARDS)
            parts[name] = [sorted(cards.get(player, ()), key=order.index) for player in range(players)]
    places = parts.get("places", {})
    if isinstance(places, dict):
        parts["places"] = [places.get(player, "camelot") for player in range(players)]
    hands = flat([*parts["start_cards"], *parts["taken"]])
    cards_left = BOX - Counter(hands)
    open_given = parts.get("open_quests")
    free = [quest for quest in QUESTS if quest not in flat(parts["quests"])]
    open_quests = free[:3] if open_given is None else open_given
    _fill_actions(parts["actions"], players, phase, turn, tents)
    display = Counter(DISPLAY[players]) - Counter(flat(parts["actions"]))
    whole = {
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
        "piles": {
            virtue: [value for value in (1, 2) for _ in range(cards_left[f"{virtue}-{value}"])] for virtue in VIRTUES
        },
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
    assert not set(parts) - set(whole)
    return whole | parts


def _fill_actions(actions, players, phase, turn, tents):
    cards_left = Counter(DISPLAY[players]) - Counter(flat(actions))
    mover_tent, num_cards = tents.index(turn), len(actions[turn])
    for tent, player in enumerate(tents):
        needed = 0
        if phase == "choose" and player != turn:
            needed = num_cards + (tent < mover_tent)
        elif phase == "act" and tent > mover_tent:
            needed = CHOICES[players]
        while len(actions[player]) < needed:
            card = next(card for card in ACTIONS if cards_left[card] and card != "tournament")
            cards_left[card] -= 1
            actions[player].append(card)
        actions[player].sort(key=ACTIONS.index)


def game_at(players: int = 3, *, moves: tuple[str, ...] = (), **parts) -> Game:
    """A game at a position (see `position`), after these moves if any are given."""
    game = Game.from_dict(position(players, **parts), game="quest")
    for move in moves:
        game.play(move)
    return game


def joust(bidders=(0, 1), players=3, **parts) -> Game:
    """A game at the bids of a tournament between these players."""
    parts = {"actions": {player: ["tournament"] for player in bidders}, "bidding": list(bidders)} | parts
    return game_at(players, **{"phase": "bid", "turn": min(bidders), **parts})


def points(game: Game, move: str) -> int:
    """Points that a move is certain to bring its player (the verb `points_of`)."""
    return int(verbs.points_of(game.tables[0], game.state, game.action(move)))


def lively(game: Game, rng) -> str:
    """A move that leads to eventful games: usually a good one by `greedy_value`, sometimes a random one."""
    t, g = game.tables[0], game.state
    if rng.random() < 0.1:
        return rng.choice(game.moves())
    looks = [verbs.greedy_value(t, g, action) + rng.random() for action in game.legal_actions()]
    return game.moves()[looks.index(max(looks))]
