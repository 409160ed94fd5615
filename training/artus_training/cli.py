"""The command line: `artus COMMAND ...`. Only the chosen command's module is imported."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import NamedTuple


class Command(NamedTuple):
    module: str  # has `function(arguments: list[str]) -> exit code`
    function: str
    summary: str
    extra: str = ""  # all that it needs is in this extra


COMMANDS = {
    "train": Command("artus_training.ppo", "main", "train an agent by self-play", "train"),
    "train-all": Command(
        "artus_training.ppo", "main_all", "train beginner and advanced agents and show how strong they are", "train"
    ),
    "train-sb3": Command("artus_training.train_sb3", "main", "train with Stable-Baselines3, for comparison", "train"),
    "compare": Command("artus_training.compare", "main", "the same minutes for our trainer and for Stable-Baselines3", "train"),
    "curves": Command("artus_training.curves", "main", "learning curves of trained agents as a picture", "train"),
    "play": Command("artus_training.play.command", "main", "play in the browser, with people and agents", "play"),
    "evaluate": Command("artus_training.evaluate", "main", "let agents play each other"),
    "tournament": Command(
        "artus_training.tournament", "main", "ratings and win rates of many agents, with a report", "tournament"
    ),
    "baseline": Command(
        "artus_training.tournament", "baseline", "tournaments of the agents here in every variant", "tournament"
    ),
    "replay": Command("artus_training.show", "replay", "list recorded games, step through one, make a page or a GIF of it"),
    "bench": Command("artus_training.bench", "main", "decisions per second, every interface"),
    "bench-train": Command(
        "artus_training.bench_train", "main", "training speed, beside its ceiling and Stable-Baselines3", "train"
    ),
    "show": Command("artus_training.show", "show", "a position, or the middle of a random game, as text"),
    "rules": Command("artus_training.show", "rules", "cards, wheel and action table"),
}


class UsageError(Exception):
    """Something that the user can mend: shown in one line, without a traceback; exit code 2."""


def usage() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {command.summary}" for name, command in COMMANDS.items()]
    return "\n".join(["usage: artus COMMAND [options]", "", *lines, "", "artus COMMAND --help tells a command's options."])


def main(arguments: list[str] | None = None) -> int:
    """Run one command. Returns the exit code: 0, 2 for wrong usage, 130 when interrupted, or the command's own."""
    arguments = sys.argv[1:] if arguments is None else arguments
    name, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if name in ("-h", "--help"):
        print(usage())
        return 0
    if name not in COMMANDS:
        print(f"artus: there is no command {name!r}\n\n{usage()}" if name else usage(), file=sys.stderr)
        return 2
    command = COMMANDS[name]
    try:
        return getattr(import_module(command.module), command.function)(rest)
    except UsageError as error:
        print(f"artus {name}: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        from artus_training.extras import extra_with

        extra = extra_with(error.name or "", command.extra)
        if extra is None:
            raise
        print(f"artus {name} needs {error.name}: pip install 'artus[{extra}]'", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"artus {name}: interrupted", file=sys.stderr)
        return 130
