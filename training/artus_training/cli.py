"""The command line: `artus COMMAND ...`. Only the chosen command's module is imported."""

from __future__ import annotations

import atexit
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module, metadata
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple, NoReturn

from artus_training import daemon
from artus_training.usage import Finished, UsageError


class Command(NamedTuple):
    module: str  # below this package; has `function(arguments: list[str]) -> exit code`
    function: str
    summary: str
    extra: str = ""  # the extra that installs its dependencies


COMMANDS = {
    "train": Command("learn.command", "main", "train an agent by self-play", "train"),
    "train-all": Command(
        "learn.command", "main_all", "train agents for every rule set and show how strong they are", "train"
    ),
    "train-sb3": Command("learn.command", "main_sb3", "train with Stable-Baselines3, for comparison", "train"),
    "curves": Command("learn.curves", "main", "learning curves of trained agents as a picture", "train"),
    "play": Command("play.command", "main", "play in the browser, with people and agents", "play"),
    "evaluate": Command("arena.evaluate", "main", "let agents play each other"),
    "tournament": Command(
        "report.command", "main", "ratings and win rates of many agents, with a report", "tournament"
    ),
    "check-bot": Command("arena.check_bot", "main", "play one game with a bot, print its moves, and say what is wrong"),
    "exploit": Command("learn.exploit", "main", "a lower bound of how far an agent is from unbeatable", "train"),
    "replay": Command("replays.command", "main", "list recorded games, step through one, make a page or GIF of it"),
    "bench": Command("bench.interfaces", "main", "decisions per second, every interface, or of trainings", "train"),
    "show": Command("replays.show", "main", "a position, or the middle of a random game, as text"),
    "games": Command("games", "games", "the games that are installed"),
    "new-game": Command("new_game.command", "main", "write a package with a small game, the start of your own game"),
    "rules": Command("games", "rules", "tables of a game: its box, its actions, its rewards"),
}


SPIN_COUNT = "300"
"""Times that a torch thread polls for work before it sleeps: 1/30 of the default. With the default, torch's threads
occupy cores that our own threads need."""
OUT_OF_MEMORY = re.compile(
    r"^\w*MemoryError|^ValueError: Maximum allowed dimension exceeded$|^ValueError: array is too big; `arr.size"
    "|^RuntimeError.*DefaultCPUAllocator: can't allocate memory"
)
"""Errors of Python, NumPy and torch about too little memory."""

INTERRUPTED = 130
"""Exit code after Ctrl-C."""
STOP_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Signals that end a command like Ctrl-C: sent by `kill`, a batch system, or when a terminal is closed."""


def usage() -> str:
    """The list of commands."""
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name:<{width}}  {command.summary}" for name, command in COMMANDS.items())
    return f"""usage: artus COMMAND [options]

{commands}

To begin with:
  artus play                    choose a game and sit down, in the browser
  artus evaluate greedy random  let two agents play each other
  artus train                   train an agent of your own

artus COMMAND --help explains a command and gives examples.
artus --version says which version this is."""


def run() -> NoReturn:
    """Run `main` and end the process. While an agent's thread still computes, skip the shutdown of the interpreter."""
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", SPIN_COUNT)  # read when torch is imported
    code = main()
    if daemon.at_work():
        atexit._run_exitfuncs()
        _discard_output()
        os._exit(code)
    sys.exit(code)


def main(arguments: list[str] | None = None) -> int:
    """Run one command.

    Returns:
        The exit code: 0; 2 for wrong usage, a file that can't be read or written, too little memory; 130 when
        interrupted, 143 by SIGTERM, 129 by SIGHUP; 141 when its output is no longer read (`artus rules | head -1`); or
        the command's own.
    """
    name, *options = (sys.argv[1:] if arguments is None else arguments) or [""]
    for stream in ("stdout", "stderr"):
        if getattr(sys, stream) is None:  # closed (`>&-`): no file opened later may get its descriptor
            setattr(sys, stream, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 # stays open
    with suppress(AttributeError):  # not a regular stream, e.g. in a notebook
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr] # the encoding may lack characters
    with _signals_as_interrupt() as signals:
        try:
            code = _run(name, options)
            sys.stdout.flush()  # an error at the end of the process couldn't be reported in one line
        except KeyboardInterrupt:
            code = _report_error(name, "interrupted", INTERRUPTED)
        except BrokenPipeError:
            _discard_output()
            code = 141
        except BaseException as error:
            message = _in_one_line(name, error)
            if message is None:
                raise
            code = _report_error(name, message)
    return 128 + signals[0] if signals and code == INTERRUPTED else code


def _run(name: str, arguments: list[str]) -> int:
    if name in ("-h", "--help"):
        print(usage())
        return 0
    if name in ("-V", "--version"):
        print(f"artus {version()}")
        return 0
    if name not in COMMANDS:
        from artus_env.engine.basics.wording import did_you_mean

        guess = did_you_mean(name, COMMANDS)
        print(f"artus: there is no command {name!r}{guess}\n\n{usage()}" if name else usage(), file=sys.stderr)
        return 2
    command = COMMANDS[name]
    try:
        return getattr(import_module(f"artus_training.{command.module}"), command.function)(arguments)
    except Finished as end:
        return end.code


def version() -> str:
    """Version of the installed package."""
    try:
        return metadata.version("artus-env")
    except metadata.PackageNotFoundError:
        return "run from the sources"


@contextmanager
def _signals_as_interrupt() -> Iterator[list[int]]:
    """Make the signals in `STOP_SIGNALS` act like Ctrl-C in this context, except those that are ignored (`nohup`) or
    have a handler. Yields a list, to which each received signal is appended."""
    received: list[int] = []

    def interrupt(number: int, frame: Any) -> None:
        received.append(number)
        if len(received) > 1:  # shells and `timeout` send it twice
            return
        on_interrupt = signal.getsignal(signal.SIGINT)
        if not callable(on_interrupt):  # ignored, as in a shell's background
            raise KeyboardInterrupt
        on_interrupt(signal.SIGINT, frame)

    in_main_thread = threading.current_thread() is threading.main_thread()
    numbers = [number for number in STOP_SIGNALS if in_main_thread and signal.getsignal(number) == signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, interrupt)
    try:
        yield received
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


def _in_one_line(name: str, error: BaseException) -> str | None:
    """The message of an error that the user can fix; None for a bug of this project, whose traceback is needed."""
    if isinstance(error, UsageError):
        return str(error)
    if isinstance(error, SystemExit):
        return f"code of an agent or a game ended the process: SystemExit({error.code!r})"
    if isinstance(error, OSError):
        return f"{'' if error.filename is None else f'{error.filename}: '}{error.strerror or error}"
    if isinstance(error, ModuleNotFoundError):
        from artus_env.engine.basics.extras import DISTRIBUTION, how_to_install

        command = how_to_install(error.name or "", preferred=COMMANDS[name].extra)
        in_a_clone = command and command.replace(DISTRIBUTION, ".")
        return command and f"{error.name} is missing: {command} (in a clone of the repository: {in_a_clone})"
    if OUT_OF_MEMORY.search(f"{type(error).__name__}: {error}"):
        return f"there is not enough memory: {shorten(str(error), 120, placeholder=' ...')}"
    return None


def _report_error(name: str, message: str, code: int = 2) -> int:
    """Print an error in one line. Returns the exit code."""
    from artus_env.engine.basics.reading import storable

    _discard_output()
    line = "".join(letter if letter.isprintable() else " " for letter in storable(message))
    with suppress(OSError):
        print(" ".join(f"artus {name}: {line}".split()), file=sys.stderr, flush=True)
    return code


def _discard_output() -> None:
    """Flush the output, or discard it if it can't be written, so that Python doesn't try again at the end."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError), Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
