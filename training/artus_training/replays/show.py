"""`artus show`: positions as text."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from tyro.conf import Positional, arg

from artus_env import DEFAULT_GAME, Game
from artus_env.engine.basics.reading import decode
from artus_env.engine.contract.registry import find_game
from artus_env.engine.contract.rng import check_seed
from artus_env.engine.play import records
from artus_training.options import read_options
from artus_training.usage import shown_in_one_line


@dataclass
class Options:
    """Show a position, or the middle of a random game, as text.

    Examples:
        artus show --num-players 3 --seed 7
        artus show position.json --player 0
    """

    position: Annotated[str | None, Positional, arg(metavar="[FILE]")] = None
    """File with a position as JSON; - for standard input; unless given, a random game is played to its middle."""
    game: str | None = None
    """The game that is played, unless the position names it; `artus games` lists all."""
    rules: str | None = None
    """Rule set of the random game; unless given, the game's first."""
    num_players: int | None = None
    """Number of players of the random game; unless given, the minimum."""
    seed: int | None = None
    """Seed of the random game's deal and moves."""
    player: int | None = None
    """Show only what this player sees."""
    json: bool = False
    """Print the position as JSON."""


def main(arguments: list[str]) -> int:
    """The command `artus show`: a position, or the middle of a random game."""
    options = read_options(Options, "artus show", arguments)
    with shown_in_one_line(ValueError, about=options.position or "random game"):
        if options.position is None:
            game = middle_of_a_game(options.game or DEFAULT_GAME, options.rules, options.num_players, options.seed)
        else:
            game = Game.from_dict(decode(content_of(options.position), dict[str, Any]), game=options.game)
        if options.json:
            print(json.dumps(game.to_dict(options.player)))
        else:
            print(game.render(options.player))
            if not game.over and options.player in (None, game.player):
                print(f"\nmoves: {' '.join(game.moves())}")
    return 0


def content_of(path: str) -> bytes:
    """The content of a file, `-` for standard input.

    Raises:
        ValueError: If it is too long for a position, or standard input is closed.
    """
    if path == "-" and sys.stdin is None:
        raise ValueError("standard input is closed")
    with nullcontext(sys.stdin.buffer) if path == "-" else Path(path).open("rb") as file:
        content = file.read(records.LONGEST + 1)
    if len(content) > records.LONGEST:
        raise ValueError(f"no position: longer than {records.LONGEST} bytes")
    return content


def middle_of_a_game(name: str, rules: str | None, num_players: int | None, seed: int | None) -> Game:
    """A random game, played to its middle."""
    definition = find_game(name)
    rng = np.random.default_rng(seed if seed is None else check_seed(seed))
    players = definition.min_players if num_players is None else num_players
    full_game = Game(rules, players, int(rng.integers(1 << 63)), game=definition)
    while not full_game.over:
        full_game.play(int(rng.choice(full_game.legal_actions())))
    game = full_game.first()
    for action in full_game.actions_played[: len(full_game.actions_played) // 2]:
        game.play(action)
    return game
