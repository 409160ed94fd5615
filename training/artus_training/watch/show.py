"""`artus show` and `artus rules`: positions and rules as text."""

from __future__ import annotations

import json
import re
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from tyro.conf import Positional, arg

from artus_env import Batch, Game
from artus_env.engine import records
from artus_env.engine.reading import decode
from artus_env.engine.rng import check_seed
from artus_env.games.artus import tables
from artus_training.arena.evaluate import game_length
from artus_training.options import options, read_options
from artus_training.usage import UsageError


@options
class ShowOptions:
    """Show a position, or the middle of a random game."""

    position: Annotated[str | None, Positional, arg(metavar="[FILE]")] = None
    """File with a position as JSON, - for standard input."""
    rules: str = "advanced"
    """Of the random game: beginner or advanced."""
    num_players: int = 2
    """Of the random game."""
    seed: int | None = None
    """Deal and moves of the random game."""
    player: int | None = None
    """Show what this player sees."""
    json: bool = False
    """Print the position as JSON."""


def show(arguments: list[str]) -> int:
    """The command `artus show`: a position, or the middle of a random game."""
    chosen = read_options(ShowOptions, "artus show", arguments)
    try:
        if chosen.position is None:
            game = middle_of_a_game(chosen.rules, chosen.num_players, chosen.seed)
        else:
            game = Game.from_dict(decode(content_of(chosen.position), dict[str, Any]))
        if chosen.json:
            print(json.dumps(game.to_dict(chosen.player)))
        else:
            print(game.render(chosen.player))
            if not game.over and chosen.player in (None, game.player):
                print(f"\nmoves: {' '.join(game.moves())}")
    except ValueError as error:
        raise UsageError(f"{chosen.position or 'random game'}: {error}") from None
    return 0


def content_of(path: str) -> bytes:
    """What a file holds, `-` for standard input.

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


def middle_of_a_game(rules: str, num_players: int, seed: int | None) -> Game:
    """A random game, played to about its middle."""
    rng = np.random.default_rng(seed if seed is None else check_seed(seed))
    game = Game(rules=rules, num_players=num_players, seed=int(rng.integers(1 << 63)))
    for _ in range(game_length(Batch(1, rules=rules, num_players=num_players)) // 2):
        game.play(int(rng.choice(game.legal_actions())))
    return game


def rules(arguments: list[str]) -> int:
    """The command `artus rules`: cards, wheel and action table."""
    read_options(lambda: None, "artus rules", arguments, description="Print cards, wheel and action table.")
    for title, table in (("Cards", tables.cards), ("Wheel", tables.wheel), ("Actions", tables.actions)):
        print(f"{title}\n\n{aligned(table())}\n")
    print(f"Reconstructed are\n\n{tables.reconstructed()}")
    return 0


def aligned(markdown: str) -> str:
    """A Markdown table with columns of equal width, for reading in a terminal."""
    lines = re.sub(r"`|\*\*", "", markdown).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    cells = [row for row in cells if any(cell.strip("-") for cell in row)]  # not the line of dashes
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    rows = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    rest = [line for line in lines if not line.startswith("|")]
    return "\n".join([*rows, *rest])
