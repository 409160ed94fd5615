"""Setting up games on the start page: the available choices, and validation of a request."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

from artus_env import Game
from artus_env.engine.basics.reading import shown
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import find_game, game_names
from artus_env.engine.drawing.translations import language
from artus_training.people.results import Variant
from artus_training.play import texts, view
from artus_training.play.hosted import LONGEST_NAME, RefusedError, Seat
from artus_training.play.player_names import fits, unique
from artus_training.play.store import new_secret
from artus_training.play.strength import levels
from artus_training.play.texts import say

MOVES_OF_PICTURE = 45
"""Number of random moves before a game is drawn for the page."""


def choices() -> list[dict[str, Any]]:
    """All games with their variants, and the agent of each level."""
    return [choice(find_game(name)) for name in game_names()]


def choice(game: Definition) -> dict[str, Any]:
    """A game as data for the start page."""
    numbers = range(game.min_players, game.max_players + 1)
    return {
        "name": game.name,
        "title": texts.title_of(game),
        "about": texts.text_of(game, "about"),
        "players": list(numbers),
        "rules": [
            {
                "name": rules,
                "title": texts.rules_name(game, rules),
                "about": texts.text_of(game, f"rules.{rules}.about"),
                "levels": {number: levels(game, rules, number) for number in numbers if plays(game, rules, number)},
            }
            for rules in game.rules
        ],
    }


def plays(game: Definition, rules: str, num_players: int) -> bool:
    """Whether this variant exists."""
    try:
        game.check_variant(rules, num_players)
    except ValueError:
        return False
    return True


def picture(name: str) -> str:
    """A game near its middle as SVG, with texts in the current language."""
    return _picture(name, language())


@cache
def _picture(name: str, current_language: str) -> str:
    definition = find_game(name)
    players = min(max(3, definition.min_players), definition.max_players)
    game, rng = Game(None, players, 0, game=definition), random.Random(0)
    for _ in range(MOVES_OF_PICTURE):
        if game.over:
            break
        game.play(rng.choice(game.moves()))
    return view.picture(game, game.player, [say("start.letter", letter=letter) for letter in "ABCDEF"[:players]])


def read(request: dict[str, Any]) -> tuple[Definition, str, list[Seat]]:
    """Game, rule set and seats of a request from the start page.

    Raises:
        RefusedError: If they don't fit together.
    """
    game, rules, requested_seats = checked_game(request["game"]), request["rules"], request["seats"]
    if not isinstance(requested_seats, list) or not all(isinstance(s, dict) and len(s) == 1 for s in requested_seats):
        raise RefusedError(400, "seats", got=shown(requested_seats))
    num_players = len(requested_seats)
    check_variant(game, rules, num_players)
    agents = levels(game, rules, num_players)
    holders = [_holder(seat, agents) for seat in requested_seats]
    if all(agent for _, agent in holders):
        raise RefusedError(400, "person")
    names = unique([name for name, _ in holders])
    return (
        game,
        rules,
        [Seat(name, agent, None if agent else new_secret()) for name, (_, agent) in zip(names, holders, strict=True)],
    )


def read_person(request: dict[str, Any]) -> tuple[str, Variant]:
    """Name and variant of a request from the start page.

    Raises:
        RefusedError: If there is no such variant, or the name isn't allowed.
    """
    game, players = checked_game(request["game"]), request["players"]
    rules = check_variant(game, request["rules"], players)
    return checked_name(request["name"]), (game.name, rules, players)


def checked_game(name: Any) -> Definition:
    """A game by its name.

    Raises:
        RefusedError: If there is none.
    """
    if not isinstance(name, str) or name not in game_names():
        raise RefusedError(400, "unknown-game", got=shown(name))
    return find_game(name)


def check_variant(game: Definition, rules: Any, players: Any) -> str:
    """The rule set of a variant; refuses unknown variants."""
    try:
        return game.check_variant(rules, players)
    except (ValueError, TypeError) as error:
        raise RefusedError(400, "variant", reason=str(error)) from None


def checked_name(name: Any) -> str:
    """A person's name.

    Raises:
        RefusedError: If the name isn't allowed.
    """
    if not isinstance(name, str) or not fits(name, LONGEST_NAME):
        raise RefusedError(400, "name", longest=LONGEST_NAME, got=shown(name))
    return name


def _holder(seat: dict[str, Any], agents: dict[str, str]) -> tuple[str, str | None]:
    """Name and agent of a seat, None for a person."""
    ((kind, value),) = seat.items()
    if kind == "name":
        return checked_name(value), None
    if kind != "level" or not isinstance(value, str) or value not in agents:
        raise RefusedError(400, "level", levels=", ".join(agents), got=shown(value))
    return say(f"level.{value}"), agents[value]
