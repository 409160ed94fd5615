"""The command `artus check-bot`: one game with a bot, with every move printed."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from tyro.conf import Positional, arg

from artus_agents.program import ProgramAgent
from artus_env import DEFAULT_GAME, Batch
from artus_env.agents import FORFEIT, View, find_agent
from artus_env.engine.contract.registry import find_game
from artus_env.engine.contract.rng import following_keys, key_bits, seed_stream
from artus_training.options import read_options
from artus_training.usage import UsageError, shown_in_one_line

_KEYS = 300  # seed stream of the opponent's choices
BOT_SEAT = 0
ADVICE = (
    ("Permission denied", "Give the file execute permission: chmod +x."),
    ("Exec format error", "The first line must say what runs it, such as #!/usr/bin/env python3."),
    ("env: ", "The first line names a program that isn't here. Is it spelt right, and installed?"),
    (
        "exit code 127",
        "Is the path right? It counts from the folder that you are in; a file in that folder is written with ./ before "
        "its name. If it is, the first line names a program that isn't here.",
    ),
    ("without being asked", "Print nothing but answers to standard output; notes belong on standard error."),
    ("more than one line", "Answer each request with one line, and print notes to standard error."),
    ("no answer within", "Does it flush after each line? In Python: print(..., flush=True)."),
    ("illegal move", "Answer with one of the request's `moves`, letter by letter."),
    ("instead of", "Answer in the form that is shown, as one line of JSON."),
    ("speaks protocol", 'The answer to hello is {"type": "hello", "protocol": 1}.'),
    ("exit code 0", "It must go on reading until its input is closed."),
    ("ended", "It has crashed: its last line on standard error is shown; run it by itself to see all."),
)
"""Pairs: part of an error message, and the advice that usually helps. The first pair whose part matches is used."""


@dataclass
class Options:
    """Play one game with your bot against `random`, print every move, and report what is wrong with the bot.

    Exit code 0 if nothing is wrong, 1 otherwise. Nothing is saved.

    Examples:
        artus check-bot ./mybot
        artus check-bot 'time=2 python3 mybot.py' --num-players 3
    """

    bot: Annotated[tuple[str, ...], Positional, arg(metavar="COMMAND", help_behavior_hint="(required)")]
    """The command that starts your bot, in quotes if it has spaces; settings such as time=2 (seconds for an answer) go
    before it."""
    game: str = DEFAULT_GAME
    """The game that is played; `artus games` lists all."""
    rules: str | None = None
    """Its rule set; unless given, the game's first."""
    num_players: int | None = None
    """Number of players; unless given, the fewest that the game allows."""


def main(arguments: list[str]) -> int:
    """The command `artus check-bot`."""
    if len(arguments) > 1 and re.fullmatch("[^-].*", arguments[0]) and re.fullmatch("-[^-].*", arguments[1]):
        raise UsageError(unquoted(arguments))  # an option of the interpreter: python3 -u bot.py
    options = read_options(Options, "artus check-bot", arguments)
    if len(options.bot) != 1:
        raise UsageError(unquoted(options.bot) if options.bot else "name the command that starts the bot")
    (command,) = options.bot
    with shown_in_one_line(ValueError, NotImplementedError):
        definition = find_game(options.game)
        players = definition.min_players if options.num_players is None else options.num_players
        rules = definition.check_variant(options.rules, players)
        bot = ProgramAgent(command.removeprefix("program:"))
        batch = Batch(1, rules=rules, num_players=players, seed=0, autoreset=False, game=definition)
    start_time = time.monotonic()
    try:
        bot.check_variant(rules, players, batch.components, definition)
    except ValueError as error:
        return _report_fault(str(error))
    print(f"hello: answered after {time.monotonic() - start_time:.2f} s, of {bot.start_limit:g} s")
    try:
        return _play(batch, bot)
    finally:
        bot.close()


def unquoted(words: Sequence[str]) -> str:
    """Return the message for a command that was given as several words."""
    return f"the command of a bot is one word: put it in quotes, as in artus check-bot '{' '.join(words)}'"


def _play(batch: Batch, bot: ProgramAgent) -> int:
    """Play the game and print its moves. Returns the exit code."""
    opponent, key = find_agent("random"), seed_stream(0, 1, _KEYS)
    definition, slowest, decisions = batch.definition, 0.0, 0
    while not batch.over[0]:
        view = View(batch, None, key_bits(key))
        bot_moves = int(batch.player[0]) == BOT_SEAT
        start_time = time.monotonic()
        action = int((bot if bot_moves else opponent).act(view)[0])
        seconds = time.monotonic() - start_time
        if action == FORFEIT:
            return _report_fault(f"move {decisions + 1} of the bot: {bot.failure}")
        move = definition.move_text(action, batch.states, batch.components, batch.tables)
        if bot_moves:
            decisions += 1
            slowest = max(slowest, seconds)
            print(f"bot: {move}   ({int(view.mask[0].sum())} moves were legal, {seconds:.3f} s)")
        else:
            print(f"player {int(batch.player[0])}: {move}")
        batch.step(np.array([action]))
        key = following_keys(key)
    scores = batch.scores[0].tolist()
    print(f"end: the bot has {scores[BOT_SEAT]} {definition.score}, the others {', '.join(map(str, scores[1:]))}")
    print(f"nothing is wrong: {decisions} moves, the slowest after {slowest:.3f} s of {bot.time_limit:g} s")
    return 0


def _report_fault(reason: str) -> int:
    """Print what is wrong, and advice. Returns the exit code."""
    print(f"wrong: {reason}")
    print(*_advice(reason), sep="\n")
    return 1


def _advice(reason: str) -> list[str]:
    """Return at most one line of advice, and a pointer to the documentation."""
    matching = [advice for words, advice in ADVICE if words in reason][:1]
    return [*matching, "What a bot reads and answers: docs/protocol.md."]
