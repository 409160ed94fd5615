"""`artus replay`: recorded games as text, as a page, or as a film. Films as GIF need the extra `render`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from gymnasium.error import DependencyNotInstalled
from tyro.conf import Positional, arg

from artus_env import Game
from artus_env.engine.basics.reading import printable, shown
from artus_env.engine.basics.wording import counted
from artus_env.engine.contract.registry import find_game
from artus_env.engine.play import records
from artus_training.options import read_options
from artus_training.replays import film
from artus_training.tables import variant_name
from artus_training.usage import shown_in_one_line


@dataclass
class Options:
    """List recorded games, step through one of them, or make a page or a film of it.

    When stepping: Enter for the next move, b back, a number to jump there, q to leave.

    Examples:
        artus tournament greedy lookahead --games 20 --records games.jsonl
        artus replay games.jsonl
        artus replay games.jsonl 3
        artus replay games.jsonl 3 --html game.html
    """

    file: Annotated[Path, Positional, arg(metavar="FILE")]
    """A file of records, one game a line."""
    game: Annotated[int | None, Positional, arg(metavar="[GAME]")] = None
    """Number of the game in the file, from 1; unless given, all games are listed, or a page or film shows the first."""
    at: int | None = None
    """Only print the position after this many moves; -1: the last position."""
    check: bool = False
    """Replay every game and compare the scores with the recorded ones."""
    html: Path | None = None
    """File for a page to step through."""
    gif: Path | None = None
    """File for a film."""
    player: int | None = None
    """Show only what this player saw, in page and film."""


def main(arguments: list[str]) -> int:
    """The command `artus replay`."""
    options = read_options(Options, "artus replay", arguments)
    with shown_in_one_line(DependencyNotInstalled), shown_in_one_line(ValueError, about=options.file):
        if options.check:
            count = len([Game.replay(line) for line in lines_of(options.file)])
            print(f"{counted(count, 'game')} replayed to the recorded scores")
        elif options.html or options.gif:
            line = pick(options.file, 1 if options.game is None else options.game)
            if options.html:
                count = film.write_html(options.html, line, options.player)
                print(f"{options.html}: {counted(count, 'position')}, {options.html.stat().st_size / 1000:.0f} kB")
            if options.gif:
                count = film.write_gif(options.gif, line, options.player)
                print(f"{options.gif}: {counted(count, 'frame')}, {options.gif.stat().st_size / 1000:.0f} kB")
        elif options.game is None:
            for number, line in enumerate(lines_of(options.file), 1):
                print(f"{number:>6}  {summary(line)}")
        else:
            step_through(pick(options.file, options.game), options.at)
    return 0


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a file of records, without blank ones.

    Raises:
        ValueError: If one of them is no record; the message has its number.
    """
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(records.LONGEST + 1), b""), 1):
            if not line.strip():
                continue
            try:
                records.read(line)
            except records.RecordError as error:
                raise ValueError(f"line {number}: {error}") from None
            yield line


def pick(path: Path, number: int) -> bytes:
    """Record `number` of a file, counted from 1.

    Raises:
        ValueError: If the file has fewer records.
    """
    count = 0
    for count, line in enumerate(lines_of(path), 1):
        if count == number:
            return line
    raise ValueError(f"there is no game {number}, the file has {count}")


def summary(line: bytes) -> str:
    """One record in one line."""
    record = records.read(line)
    names = record.players or [f"player {player}" for player in range(len(record.scores))]
    result = ", ".join(f"{printable(name)} {shown(score)}" for name, score in zip(names, record.scores, strict=True))
    return f"{variant_of(record)}, {counted(len(record.moves), 'move')}: {result}"


def variant_of(record: records.Record) -> str:
    """The record's variant, as text; says what is unknown."""
    try:
        definition = find_game(record.game)
    except ValueError:
        return f"unknown game {shown(record.game)}, {len(record.scores)} players"
    rules = definition.rules[0] if len(definition.rules) == 1 else record.position.get("rules")
    return variant_name(record.game, rules if rules in definition.rules else "unknown rules", len(record.scores))


def step_through(line: bytes, at: int | None) -> None:
    """Show a recorded game move by move."""
    full_game, record = Game.replay(line), records.read(line)
    moves, names = record.moves, record.players
    last = len(moves)
    if at is not None:
        if not -last - 1 <= at <= last:
            raise ValueError(f"--at must be in {-last - 1}..{last}: the game has {counted(last, 'move')}, got {at}")
        print(position_after(full_game, range(last + 1)[at]).render(names=names))
        return
    number = 0
    while True:
        print(f"\n{position_after(full_game, number).render(names=names)}\n")
        print(f"move {number} of {last}" + (f", next: {moves[number]}" if number < last else ", the end"))
        try:
            answer = input("[Enter] next, b back, number, q> ").strip()
        except (EOFError, RuntimeError):  # stdin has ended or is closed
            return
        if answer == "q":
            return
        if re.fullmatch(r"-?[0-9]{1,9}", answer):
            number = max(0, min(last, int(answer)))
        else:
            number = max(0, number - 1) if answer == "b" else min(last, number + 1)


def position_after(full_game: Game, count: int) -> Game:
    """The game after its first `count` moves."""
    game = full_game.first()
    for action in full_game.actions_played[:count]:
        game.play(action)
    return game
