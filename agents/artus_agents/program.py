"""Agents that are separate programs in any language: lines of JSON over stdin and stdout (docs/protocol.md)."""

from __future__ import annotations

import json
import math
import os
import re
import select
import shlex
import signal
import subprocess
import sys
import threading
import time
import weakref
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from artus_env import DEFAULT_GAME
from artus_env.agents import FORFEIT, View
from artus_env.engine.basics.reading import decode, shown
from artus_env.engine.contract.definition import Definition

if sys.platform == "linux":
    from artus_agents import orphans

T = TypeVar("T")

PROTOCOL = 1
PYTHON = ".py"
MAX_ANSWER = 64 * 1024
"""Maximum bytes of an answer; a program that writes more without an end of line has failed."""
CHUNK = 64 * 1024
"""Maximum number of bytes read at once."""
MAX_LIMIT = 86_400.0
"""Maximum time limit in seconds."""
START_FAILURES = 3
"""Consecutive starts without a hello after which the program isn't started again."""
FAILURES = 10
"""Consecutive failures without a legal move between them after which the program isn't started again."""
MAX_REASONS = 10_000
"""Number of forfeits whose reasons are kept."""
GOODBYE_SECONDS = 0.5
"""Time for a program to end by itself after its input is closed."""
KILL_SECONDS = 5.0
"""Time for the launcher to kill all processes of a program before we do it."""
EXIT_SECONDS = 1.0
"""Time to wait for the exit code of a program whose pipes are closed."""
PROBE_SECONDS = 10.0
"""Time limit of the test for PID namespaces."""
LAUNCHER = [sys.executable, "-I", "-S", str(Path(__file__).with_name("launcher.py"))]


class ProgramError(Exception):
    """A program's error, in one line."""


@dataclass
class Hello:
    """The answer to hello."""

    type: Literal["hello"]
    protocol: int


@dataclass
class Move:
    """The answer to a request to choose."""

    type: Literal["move"]
    move: str


@cache
def namespaces_allowed() -> bool:
    """Whether the system allows PID namespaces, tested by running a process in one."""
    devnull = subprocess.DEVNULL
    try:
        return not subprocess.run(
            [*LAUNCHER, str(os.getpid()), "0", "true"],
            stdin=devnull, stdout=devnull, stderr=devnull, start_new_session=True, timeout=PROBE_SECONDS, check=False,
        ).returncode  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return False


class Program:
    """A running program that exchanges lines with us. It ends, with everything it started, when this object or this
    process does.

    Args:
        command: The words of the command line.

    Raises:
        ProgramError: If no process can be started. A command that doesn't exist fails only at the first request.
    """

    def __init__(self, command: Sequence[str]) -> None:
        mark = 0 if namespaces_allowed() else orphans.new_mark()
        try:
            self._process = subprocess.Popen(
                [*LAUNCHER, str(os.getpid()), str(mark), *with_interpreter(command)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
                start_new_session=True,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            if mark:
                orphans.end(mark, 0)
            raise ProgramError(f"could not be started: {shown(str(error))}") from None
        self.close = weakref.finalize(self, _end, self._process, os.getpid(), mark)  # at the latest when Python exits
        pipes = self._process.stdin, self._process.stdout, self._process.stderr
        self._input, self._output, self._errors = (pipe.fileno() for pipe in pipes if pipe)
        for pipe in (self._input, self._output, self._errors):
            os.set_blocking(pipe, False)
        self._answer = b""  # the part of the answer that has arrived
        self._stderr_end = b""  # last 2,000 bytes of stderr
        self._open_pipes = {self._output, self._errors}

    def ask(self, request: dict[str, Any], seconds: float) -> bytes:
        """Send one line and return the line that answers it.

        Raises:
            ProgramError: If there is none within `seconds`. The program can't be used any more.
        """
        unsent = memoryview(json.dumps(request, separators=(",", ":")).encode() + b"\n")
        deadline = time.monotonic() + seconds
        self._read_answer()
        if self._answer:
            raise ProgramError(f"wrote without being asked: {shown(self._answer)}")
        while True:
            remaining = deadline - time.monotonic()
            ready = self._wait(remaining, bool(unsent))
            if self._input in ready:
                unsent = unsent[self._send(unsent) :]
            if self._errors in ready:
                self._read_stderr()
            if self._output in ready:
                self._read_answer()
            if len(self._answer) > MAX_ANSWER:
                raise ProgramError(f"wrote more than {MAX_ANSWER} bytes for one answer: {shown(self._answer)}")
            line, newline, extra = self._answer.partition(b"\n")
            if newline and not unsent:
                self._answer = b""
                if extra:
                    raise ProgramError(f"wrote more than one line for one answer: {shown(line)}, {shown(extra)}")
                return line
            if remaining <= 0:  # checked last: the answer may have arrived by now
                raise ProgramError(f"no answer within {seconds:g} s")

    def kill(self) -> None:
        """End the program at once."""
        _ask_to_end(self._process)
        self.close()

    def last_words(self) -> str:
        """The last line that the program wrote to stderr, empty if there is none."""
        for _ in range(16):  # at least a full pipe, but not endless output
            if not self._read_stderr():
                break
        lines = [line for line in self._stderr_end.decode(errors="replace").splitlines() if line.strip()]
        return "".join(c if c.isprintable() else "?" for c in lines[-1].strip())[:200] if lines else ""

    def _wait(self, seconds: float, sending: bool) -> set[int]:
        """Wait until pipes are ready or have failed, and return them; an empty set after `seconds`. The program's input
        counts only when `sending`."""
        poll = select.poll()
        for pipe in self._open_pipes:
            poll.register(pipe, select.POLLIN)
        if sending:
            poll.register(self._input, select.POLLOUT)
        return {pipe for pipe, _ in poll.poll(math.ceil(max(seconds, 0) * 1000))}

    def _send(self, unsent: memoryview) -> int:
        try:
            return os.write(self._input, unsent)
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            raise self._closed_pipe_error("closed its input") from None

    def _read_answer(self) -> None:
        """Read the available part of an answer. Skips blank lines, and the byte order mark that .NET programs write
        first."""
        with suppress(BlockingIOError):
            data = os.read(self._output, CHUNK)
            if not data:
                raise self._closed_pipe_error("closed its output")
            self._answer = (self._answer + data).removeprefix(BOM_UTF8).lstrip()

    def _read_stderr(self) -> bool:
        """Read stderr, so that the program never blocks on it, and keep the end. Returns whether there was any
        output."""
        try:
            data = os.read(self._errors, CHUNK) if self._errors in self._open_pipes else b""
        except BlockingIOError:
            return False
        if not data:
            self._open_pipes.discard(self._errors)
        self._stderr_end = (self._stderr_end + data)[-2000:]
        return bool(data)

    def _closed_pipe_error(self, message: str) -> ProgramError:
        """The error for a closed pipe: how the program has ended, or `message` if it still runs."""
        try:
            code = self._process.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            return ProgramError(message)
        if code < 0:
            return ProgramError(f"its launcher was ended by {signal.Signals(-code).name}")
        if code > 128:
            with suppress(ValueError):
                return ProgramError(f"was ended by {signal.Signals(code - 128).name}")
        return ProgramError(f"ended with exit code {code}")


def _ask_to_end(launcher: subprocess.Popen[bytes]) -> None:
    """Make a launcher kill its program, even if the program has stopped the launcher."""
    launcher.terminate()
    launcher.send_signal(signal.SIGCONT)


def _end(launcher: subprocess.Popen[bytes], owner: int, mark: int) -> None:
    """End a program: let it exit by itself, then kill it.

    Args:
        launcher: The program's launcher.
        owner: The process that started it.
        mark: The program's mark if it has no PID namespace (see `orphans`), else 0.
    """
    pipes = [pipe for pipe in (launcher.stdin, launcher.stdout, launcher.stderr) if pipe]
    pipes[0].close()
    if os.getpid() != owner:  # in a forked copy: only the owner ends the program
        launcher.returncode = 0  # avoids Popen's warning that it still runs
    else:
        try:
            launcher.wait(GOODBYE_SECONDS)
        except subprocess.TimeoutExpired:
            _ask_to_end(launcher)
            try:
                launcher.wait(KILL_SECONDS)
            except subprocess.TimeoutExpired:
                launcher.kill()
                launcher.wait()
        if mark:  # needed if the launcher was killed before it could clean up
            orphans.end(mark, KILL_SECONDS)
    for pipe in pipes[1:]:
        pipe.close()


def read_answer(line: bytes, answer_type: type[T], example: str) -> T:
    """Decode a program's answer. `example`: an answer of the expected form, for the message.

    Raises:
        ProgramError: If the answer has another form.
    """
    try:
        return decode(line, answer_type)
    except ValueError as error:
        raise ProgramError(f"answered {shown(line)} instead of {example}: {error}") from None


class ProgramAgent:
    """A program as an agent. It plays any number of games and gets one request at a time.

    A program that ends, doesn't answer in time or answers nonsense forfeits the game of that request, and is restarted
    for the next one. A program that keeps failing is not started again.

    Args:
        command: A command line, split into words as in a shell (no other shell syntax), optionally with settings before
            it: `./mybot --flag`, `time=2 start=60 python3 mybot.py`. Or the words themselves.
        time_limit: Seconds for a move; `time=` in the command line.
        start_limit: Seconds from the start to the answer to hello; `start=` in the command line.

    Attributes:
        failure: Reason of the last forfeit, one line.
        failures: Reasons of the forfeits by game number (`View.games`); the last 10,000.

    A copy, including a pickled or forked one, starts its own program, which knows nothing of earlier games.

    Raises:
        ValueError: If the command line or a limit makes no sense.
        NotImplementedError: On systems other than Linux.
    """

    games_at_once = 1  # requests go out one by one anyway
    runs_program = True  # see artus_env.agents.runs_program

    @staticmethod
    def files(command: str) -> list[Path]:
        """Words of a command that may be files: all except the first one if it has no slash, as PATH is then searched
        for it."""
        program, *arguments = read_command(command, {"time": 0.0, "start": 0.0}) or [""]
        return [Path(word) for word in ([program, *arguments] if "/" in program else arguments)]

    def __init__(self, command: str | Sequence[str] = "", time_limit: float = 5.0, start_limit: float = 10.0) -> None:
        if sys.platform != "linux":
            raise NotImplementedError("programs can play on Linux only: elsewhere they could stay behind")
        limits = {"time": time_limit, "start": start_limit}
        self.command = list(command) if not isinstance(command, str) else read_command(command, limits)
        if self.command and "/" in self.command[0] and Path(self.command[0]).is_dir():
            raise ValueError(f"program: {self.command[0]} is a folder; name the bot in it that plays")
        if not self.command:
            raise ValueError("program needs a command line, e.g. program:./mybot or 'program:time=2 python3 mybot.py'")
        for name, limit in limits.items():
            if not 0 < limit <= MAX_LIMIT:
                raise ValueError(
                    f"program: {name} must be more than 0 and at most {MAX_LIMIT:g} seconds, got {limit!r}"
                )
        self.time_limit, self.start_limit = limits["time"], limits["start"]
        self.failure = ""
        self.failures: dict[int, str] = {}
        self._start_failures_in_a_row = self._failures_in_a_row = 0
        self._reset()

    def _reset(self) -> None:
        """Begin without a program, as its owner."""
        self._owner = os.getpid()
        self._lock = threading.Lock()  # one request at a time
        self._program: Program | None = None

    def act(self, view: View) -> np.ndarray:
        """One action for each game; `FORFEIT` where the program failed."""
        self._check_owner()
        states = view.redeal(view.keys)  # a sampled deal: hidden information never reaches a program
        actions = np.full(len(view), FORFEIT, np.int64)
        with self._lock:
            for i, number in enumerate(view.games.tolist()):
                legal = np.flatnonzero(view.mask[i])
                state = states[i : i + 1]
                moves = [view.definition.move_text(int(a), state, view.components, view.tables) for a in legal]
                request = {
                    "type": "choose",
                    "game": number,
                    "seed": int(view.keys[i]) >> 32,  # numbers of more than 53 bits are inexact in some languages
                    "position": view.definition.to_dict(state[0], view.components, int(view.player[i])),
                    "moves": moves,
                    "points": view.points[i, legal].tolist(),
                }
                try:
                    actions[i] = legal[moves.index(self._choose(request))]
                except ProgramError as error:
                    self._note(number, str(error))
        return actions

    def check_variant(
        self, rules: str, num_players: int, components: Any, game: str | Definition = DEFAULT_GAME
    ) -> None:
        """Start the program, for any variant: a program that doesn't start would forfeit every game.

        Raises:
            ValueError: If it doesn't start or doesn't answer hello.
        """
        self._check_owner()
        with self._lock:
            try:
                with self._ending_on_failure():
                    self._program = self._program or self._start()
            except ProgramError as error:
                raise ValueError(f"{shown(shlex.join(self.command))} {error}") from None

    def close(self) -> None:
        """End the program. The next request starts it again."""
        self._check_owner()
        with self._lock:
            if self._program is not None:
                self._program.close()
            self._program = None

    def _check_owner(self) -> None:
        """Reset in a forked copy: the program is the parent's, and a thread that doesn't exist here may hold the
        lock."""
        if self._owner != os.getpid():
            self._reset()

    def _choose(self, request: dict[str, Any]) -> str:
        """The program's choice among the moves of a request.

        Raises:
            ProgramError: If it fails. The program has been ended then.
        """
        if self._start_failures_in_a_row >= START_FAILURES:
            raise ProgramError(f"not started again after {START_FAILURES} starts in a row without a hello")
        if self._failures_in_a_row >= FAILURES:
            raise ProgramError(
                f"not started again after {FAILURES} failures in a row without a legal move between them"
            )
        with self._ending_on_failure():
            program = self._program or self._start()
            move = read_answer(program.ask(request, self.time_limit), Move, '{"type": "move", "move": TEXT}').move
            if move not in request["moves"]:
                raise ProgramError(f"illegal move {shown(move)}")
        self._failures_in_a_row = 0
        return move

    @contextmanager
    def _ending_on_failure(self) -> Iterator[None]:
        """End the program if the exchange in this block fails, and add its last line on stderr to the reason."""
        try:
            yield
        except ProgramError as error:
            self._failures_in_a_row += 1
            words = self._program.last_words() if self._program else ""
            self._kill()
            raise ProgramError(f"{error} (stderr: {words})" if words else str(error)) from None
        except BaseException:  # interrupted in the middle of an exchange
            self._kill()
            raise

    def _start(self) -> Program:
        """Start the program and exchange hellos.

        Raises:
            ProgramError: If that fails.
        """
        hello = {"type": "hello", "protocol": PROTOCOL, "time": self.time_limit}
        try:
            self._program = Program(self.command)
            answer = self._program.ask(hello, self.start_limit)
            protocol = read_answer(answer, Hello, f'{{"type": "hello", "protocol": {PROTOCOL}}}').protocol
            if protocol != PROTOCOL:
                raise ProgramError(f"speaks protocol {shown(protocol)}, not {PROTOCOL}")
        except ProgramError as error:
            self._start_failures_in_a_row += 1
            raise ProgramError(f"did not start: {error}") from None
        self._start_failures_in_a_row = 0
        return self._program

    def _kill(self) -> None:
        if self._program is not None:
            self._program.kill()
        self._program = None

    def _note(self, number: int, reason: str) -> None:
        """Keep the reason why a game was forfeited."""
        self.failure = self.failures[number] = reason
        while len(self.failures) > MAX_REASONS:
            del self.failures[next(iter(self.failures))]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.command, self.time_limit, self.start_limit)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({shlex.join(self.command)!r}, {self.time_limit:g}, {self.start_limit:g})"


def with_interpreter(command: Sequence[str]) -> list[str]:
    """The words of a command. Python files without execute permission or without an interpreter line are run by this
    Python."""
    file = Path(command[0])
    if "/" not in command[0] or file.suffix != PYTHON or not file.is_file():
        return list(command)
    is_executable = os.access(file, os.X_OK) and _names_interpreter(file)
    return list(command) if is_executable else [sys.executable, *command]


def _names_interpreter(file: Path) -> bool:
    """Whether a file's first line is a valid interpreter line (`#!`). With a Windows line ending the system would look
    for a program whose name ends in a carriage return."""
    try:
        with file.open("rb") as stream:
            line = stream.readline(256)
    except OSError:  # starting it reports why it can't be read
        return False
    return line.startswith(b"#!") and not line.endswith(b"\r\n")


def read_command(text: str, limits: dict[str, float]) -> list[str]:
    """The words of a command line; settings before them go into `limits`.

    Raises:
        ValueError: If a quote isn't closed, or a setting is unknown or not a number.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"program: {str(error).lower()} in {text!r}") from None
    while words and (setting := re.fullmatch(r"(\w+)=(.*)", words[0])):
        name, value = setting.groups()
        del words[0]
        if name not in limits:
            raise ValueError(f"program: there is no setting {name!r}, only {' and '.join(limits)} (env sets variables)")
        try:
            limits[name] = float(value)
        except ValueError:
            raise ValueError(f"program: {name} must be a number of seconds, got {value!r}") from None
    return words
