"""The variants of a game, and random games of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NoReturn

import numpy as np

from artus_env import Batch, Game
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import find_game

MANY = 100_000
"""Number of decisions after which a game counts as endless."""


@dataclass(frozen=True)
class Variant:
    """One way to play a game: rule set and number of players."""

    definition: Definition = field(hash=False)
    rules: str
    num_players: int

    def __str__(self) -> str:
        return f"{self.game}-{self.rules}-{self.num_players}"

    @property
    def game(self) -> str:
        """Name of the game."""
        return self.definition.name

    def new_game(self, seed: int, start_player: int | None = None) -> Game:
        """A fresh deal."""
        return Game(self.rules, self.num_players, seed, start_player, game=self.definition)

    def new_batch(self, games: int, **options: Any) -> Batch:
        """Fresh deals on one thread, without autoreset unless `options` ask for it."""
        options = {"seed": 1, "threads": 1, "autoreset": False, **options}
        return Batch(games, rules=self.rules, num_players=self.num_players, game=self.definition, **options)

    def read(self, position: Any) -> Game:
        """Read a position, given as plain data."""
        return Game.from_dict(position, game=self.definition)


def variants_of(game: str | Definition) -> list[Variant]:
    """All variants of a game, given by name or definition."""
    definition = find_game(game)
    player_counts = range(definition.min_players, definition.max_players + 1)
    return [Variant(definition, rules, count) for rules in definition.rules for count in player_counts]


def random_game(variant: Variant, seed: int) -> Iterator[Game]:
    """Yield the same game before each of its random moves, and once more when it is over."""
    game = variant.new_game(seed)
    rng = np.random.default_rng(seed)
    for _ in range(MANY):
        yield game
        if game.over:
            return
        game.play(int(rng.choice(game.legal_actions())))
    fail(f"no end after {MANY} moves")


@cache
def positions(variant: Variant, seed: int = 1, count: int = 12) -> tuple[Game, ...]:
    """Copies of two random games at about `count` moments, including the first and the last. They are cached: don't
    play them on."""
    moments: list[Game] = []
    for number in (seed, seed + 1):
        games = [game.clone() for game in random_game(variant, number)]
        indices = np.unique(np.linspace(0, len(games) - 1, max(2, count // 2)).astype(int))
        moments += [games[index] for index in indices]
    return tuple(moments)


def fail(what: str) -> NoReturn:
    """Raise an AssertionError, also in `python -O`, where the statement `assert` does nothing."""
    raise AssertionError(what)


def expect(holds: Any, what: str) -> None:
    """Fail unless a condition is true; for an array, unless all elements are."""
    if not np.all(holds):
        fail(what)


def refusal(error: type[Exception], call: Callable[..., Any], *arguments: Any) -> str | None:
    """Message of the error that a call raises, None if it raises none."""
    try:
        call(*arguments)
    except error as caught:
        return str(caught)
    return None


def run(check: Callable[[Variant, int], Any], variant: Variant, seed: int) -> Any:
    """Run a check of one variant. Any exception becomes an AssertionError that names variant, seed and check."""
    try:
        return check(variant, seed)
    except Exception as error:
        what = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
        raise AssertionError(f"{variant}, seed {seed}: {check.__name__}: {what}") from error
