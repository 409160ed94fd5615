"""All variants of all installed games, and random games of them, for the tests that every game has to pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from artus_env import Batch, Game
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import find_game, game_names

GAMES = game_names()
MANY = 100_000
"""Decisions after which a game is taken to have no end."""


@dataclass(frozen=True)
class Variant:
    """One way to play a game."""

    game: str
    rules: str
    num_players: int

    def __str__(self) -> str:
        return f"{self.game}-{self.rules}-{self.num_players}"

    @property
    def definition(self) -> Definition:
        return find_game(self.game)

    def new_game(self, seed: int) -> Game:
        return Game(self.rules, self.num_players, seed, game=self.game)

    def new_batch(self, games: int, **options) -> Batch:
        options = {"seed": 1, "threads": 1, "autoreset": False, **options}
        return Batch(games, rules=self.rules, num_players=self.num_players, game=self.game, **options)


def variants_of(game: str) -> list[Variant]:
    definition = find_game(game)
    players = range(definition.min_players, definition.max_players + 1)
    return [Variant(game, rules, count) for rules in definition.rules for count in players]


VARIANTS = [variant for game in GAMES for variant in variants_of(game)]
LARGEST = [variants_of(game)[-1] for game in GAMES]
"""One variant of each game, for what hardly depends on it."""

games = pytest.mark.parametrize("game", GAMES)
variants = pytest.mark.parametrize("variant", VARIANTS, ids=str)
largest = pytest.mark.parametrize("variant", LARGEST, ids=str)


def random_game(variant: Variant, seed: int) -> Iterator[Game]:
    """The same game before each of its random moves, and once more when it is over."""
    game = variant.new_game(seed)
    choices = np.random.default_rng(seed)
    for _ in range(MANY):
        yield game
        if game.over:
            return
        game.play(int(choices.choice(game.legal_actions())))
    raise AssertionError(f"{variant}: no end after {MANY} moves")


@cache
def positions(variant: Variant, count: int = 12) -> tuple[Game, ...]:
    """Copies of two random games at about `count` moments, the first and the last among them: not to be played on."""
    found = []
    for seed in (1, 2):
        course = [game.clone() for game in random_game(variant, seed)]
        chosen = np.unique(np.linspace(0, len(course) - 1, max(2, count // 2)).astype(int))
        found += [course[moment] for moment in chosen]
    return tuple(found)


def record_of(game: Game) -> bytes:
    """All bytes of a game's state."""
    return game.states.tobytes()
