"""Progress without a terminal: lines with the fraction done and the time left. Needs no extra."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

SECONDS = 10.0
"""Seconds between two lines, also while there is no progress."""
TICK = 1.0
"""Seconds between checks of the clock."""
Show = Callable[[float], None]
"""Takes the fraction of the work that is done, 0..1."""


class Lines:
    """Prints a line about some work every `SECONDS` while this context lasts.

    Args:
        label: Name of the work.
        say: Prints a line; None: to stderr.

    Attributes:
        figures: Further text of the line.
    """

    def __init__(self, label: str, say: Callable[[str], object] | None = None) -> None:
        self.label, self.figures = label, ""
        self._say = say or _to_stderr
        self._saying = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True, name="progress")
        self.begin(0.0)

    def begin(self, part: float) -> None:
        """Start the clock, with this fraction already done."""
        self._began = self._said = time.monotonic()
        self._before = self._part = part

    def show(self, part: float) -> None:
        """Set the fraction done."""
        self._part = part

    def __enter__(self) -> Lines:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(TICK):
            with suppress(OSError, ValueError):  # stderr may be closed
                self.tick()

    def tick(self) -> None:
        """Print the line if the last one is `SECONDS` old."""
        with self._saying:
            if time.monotonic() - self._said >= SECONDS:
                self._said = time.monotonic()
                self._say(self.text())

    def text(self) -> str:
        """The fraction done, and the time left at the mean speed so far."""
        so_far, done = time.monotonic() - self._began, self._part - self._before
        time_left = f"{_hours(so_far * (1 - self._part) / done)} left" if done > 0 else f"after {_hours(so_far)}"
        return f"{self.label} {100 * self._part:.0f} %, {time_left}" + (f": {self.figures}" if self.figures else "")


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _hours(seconds: float) -> str:
    """A duration such as 0:01:30."""
    return str(timedelta(seconds=round(seconds)))


def in_notebook() -> bool:
    """Whether a notebook runs this process; IPython being imported is not enough."""
    ipython: Any = sys.modules.get("IPython")
    return hasattr(ipython and ipython.get_ipython(), "kernel")


@contextmanager
def progress(label: str) -> Iterator[Show]:
    """Show the progress of some work: on a terminal in one line that changes, else in `Lines`; in a notebook not at
    all."""
    if sys.stderr.isatty():
        lines, last = Lines(label), -1.0

        def show(part: float) -> None:
            nonlocal last
            lines.show(part)
            if time.monotonic() - last >= 0.5:
                last = time.monotonic()
                print(f"\r{lines.text():<79}", end="\r", file=sys.stderr, flush=True)

        try:
            yield show
        finally:
            print(f"\r{'':<79}", end="\r", file=sys.stderr, flush=True)
    elif in_notebook():
        yield unseen
    else:
        with Lines(label) as lines:
            yield lines.show


def unseen(part: float) -> None:
    """Show nothing."""


def pieces(show: Show, count: int) -> Iterator[Show]:
    """One progress function for each of several equal pieces of work, which takes the fraction of that piece."""

    def piece(number: int) -> Show:
        return lambda part: show((number + part) / count)

    return map(piece, range(count))
