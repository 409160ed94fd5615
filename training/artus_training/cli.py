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
from importlib import import_module
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple, NoReturn, TextIO

from artus_training import unwaited
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
    "curves": Command("watch.curves", "main", "learning curves of trained agents as a picture", "train"),
    "play": Command("play.command", "main", "play in the browser, with people and agents", "play"),
    "evaluate": Command("arena.evaluate", "main", "let agents play each other"),
    "tournament": Command(
        "watch.tournament", "main", "ratings and win rates of many agents, with a report", "tournament"
    ),
    "check-bot": Command("arena.check_bot", "main", "play one game with a bot aloud, and say what is wrong"),
    "exploit": Command("learn.exploit", "main", "how far an agent is from unbeatable, at least", "train"),
    "ladder": Command("arena.ladder", "main", "all agents of a game in one table, from what was measured"),
    "replay": Command("watch.replay", "replay", "list recorded games, step through one, make a page or GIF of it"),
    "bench": Command("bench.interfaces", "main", "decisions per second, every interface, or of trainings", "train"),
    "show": Command("watch.show", "show", "a position, or the middle of a random game, as text"),
    "games": Command("watch.about", "games", "the games that are installed"),
    "new-game": Command("new_game.command", "main", "write a package with a small game, to be made into your own"),
    "rules": Command("watch.about", "rules", "tables of a game: its box, its actions, its rewards"),
    "tables": Command("watch.about", "tables", "make those tables in Markdown files anew"),
}


SPINS = "300"
"""Times that a torch thread polls for work before it sleeps: 1/30 of the default. With the default, torch's threads
occupy cores that our own threads need."""
NO_MEMORY = re.compile(
    r"^Maximum allowed dimension exceeded$|^array is too big; `arr.size|DefaultCPUAllocator: can't allocate memory"
)
"""Messages of NumPy and torch about too little memory that aren't MemoryErrors."""

INTERRUPTED = 130
"""Exit code after Ctrl-C."""
STOPS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Signals that end a command like Ctrl-C: sent by `kill`, a batch system, or when a terminal is closed."""


def usage() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {command.summary}" for name, command in COMMANDS.items()]
    return "\n".join(
        [
            "usage: artus COMMAND [options]", "", *lines, "",
            "To begin with:",
            "  artus play                    choose a game and sit down, in the browser",
            "  artus evaluate greedy random  let two agents play each other",
            "  artus train                   train an agent of your own", "",
            "artus COMMAND --help explains a command and gives examples.",
            "artus --version says which version this is.",
        ]
    )  # fmt: skip


def version() -> str:
    """Version of the installed package."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("artus-env")
    except PackageNotFoundError:
        return "run from the sources"


def main(arguments: list[str] | None = None) -> int:
    """Run one command.

    Returns:
        The exit code: 0; 2 for wrong usage, a file that can't be read or written, too little memory; 130 when
        interrupted, 143 by SIGTERM, 129 by SIGHUP; 141 when its output is no longer read (`artus rules | head -1`); or
        the command's own.
    """
    with _stops_interrupt() as came:
        code = _main(sys.argv[1:] if arguments is None else arguments)
    return 128 + came[0] if came and code == INTERRUPTED else code


def _main(arguments: list[str]) -> int:
    """`main` without the handling of `STOPS`."""
    _open_closed_streams()
    name, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    with suppress(AttributeError):  # not a regular stream, e.g. in a notebook
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr] # the encoding may lack characters
    try:
        code = _run(name, rest)
        _flush(sys.stdout)
        return code
    except UsageError as error:
        return _failed(name, error)
    except ModuleNotFoundError as error:
        from artus_env.engine.basics.extras import DISTRIBUTION, how_to_install

        command = how_to_install(error.name or "", preferred=COMMANDS[name].extra)
        if command is None:
            raise
        in_a_clone = command.replace(DISTRIBUTION, ".")
        return _failed(name, f"{error.name} is missing: {command} (in a clone of the repository: {in_a_clone})")
    except Finished:
        raise
    except SystemExit as error:
        return _failed(name, f"code of an agent or a game ended the process: SystemExit({error.code!r})")
    except KeyboardInterrupt:
        return _failed(name, "interrupted", INTERRUPTED)
    except BrokenPipeError:
        _forget(sys.stdout)
        return 141
    except OSError as error:
        place = f"{error.filename}: " if error.filename is not None else ""
        return _failed(name, f"{place}{error.strerror or error}")
    except (MemoryError, RuntimeError, ValueError) as error:
        if not _lacks_memory(error):
            raise
        return _failed(name, f"there is not enough memory: {shorten(str(error), 120, placeholder=' ...')}")


def run() -> NoReturn:
    """Run `main` and end the process. While an agent's thread still computes, skip the shutdown of the interpreter."""
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", SPINS)  # read when torch is imported
    code = main()
    if unwaited.at_work():
        atexit._run_exitfuncs()
        _forget(sys.stdout)
        os._exit(code)
    sys.exit(code)


@contextmanager
def _stops_interrupt() -> Iterator[list[int]]:
    """Make the signals in `STOPS` act like Ctrl-C in this context, except ignored ones (`nohup`) and ones with a
    handler. Yields a list of the signals received."""
    came: list[int] = []

    def interrupt(number: int, frame: Any) -> None:
        came.append(number)
        if len(came) > 1:  # shells and `timeout` send it twice
            return
        on_interrupt = signal.getsignal(signal.SIGINT)
        if not callable(on_interrupt):  # ignored, as in a shell's background
            raise KeyboardInterrupt
        on_interrupt(signal.SIGINT, frame)

    own = []
    if threading.current_thread() is threading.main_thread():
        own = [number for number in STOPS if signal.getsignal(number) == signal.SIG_DFL]
    for number in own:
        signal.signal(number, interrupt)
    try:
        yield came
    finally:
        for number in own:
            signal.signal(number, signal.SIG_DFL)


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
    except Finished:  # after --help
        _flush(sys.stdout)
        raise


def _lacks_memory(error: Exception) -> bool:
    """Whether an error is about too little memory."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":  # torch's, for accelerators
        return True
    return type(error) in (RuntimeError, ValueError) and NO_MEMORY.search(str(error)) is not None


def _open_closed_streams() -> None:
    """Redirect closed output (`>&-`) to /dev/null, so that no file opened later gets its descriptor."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 # stays open


def _failed(name: str, error: Any, code: int = 2) -> int:
    """Print the error in one line."""
    _forget(sys.stdout)
    from artus_env.engine.basics.reading import storable

    line = "".join(letter if letter.isprintable() else " " for letter in storable(str(error)))
    with suppress(OSError):
        print(" ".join(f"artus {name}: {line}".split()), file=sys.stderr, flush=True)
    return code


def _flush(stream: TextIO | None) -> None:
    """Flush a stream now: errors at the end of the process couldn't be reported in one line."""
    if stream is not None:
        stream.flush()


def _forget(stream: TextIO | None) -> None:
    """Discard output that can't be written, so that Python doesn't try again at the end of the process."""
    try:
        _flush(stream)
    except OSError:
        with suppress(OSError), Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())  # type: ignore[union-attr]
