"""What long commands share: a bar with the time left, and Ctrl-C as a wish to stop."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text

WIDE = 72
"""Columns from which on a terminal has room for a bar."""
SECONDS = 10.0
"""Where no terminal is, a training says so often how it goes."""


def terminal() -> Console:
    """Where progress is shown. In a notebook nothing is: every step of a bar would stay there."""
    return Console(stderr=True, force_jupyter=False, force_terminal=False if Console().is_jupyter else None)


def progress(*columns: ProgressColumn, shown: bool = True) -> Progress:
    """Progress on the terminal; nothing where nobody watches, or if it isn't to be shown."""
    console = terminal()
    return Progress(*columns, console=console, transient=True, disable=not (shown and console.is_terminal))


class NameColumn(ProgressColumn):
    """What the bar is about: the one column that is cut where the terminal is too narrow for all of it."""

    def __init__(self, width: int) -> None:
        super().__init__(Column(no_wrap=True))
        self._width = width

    def render(self, task: Task) -> Text:
        """The name, cut at its end."""
        others = len("100% 0:00:00 left  ") + len(task.fields["wins"]) + (13 if self._width >= WIDE else 0) + 1
        room = max(8, self._width - others)
        name = task.description
        return Text(name if len(name) <= room else f"{name[: room - 3]}...")


class TrainingBar(Progress):
    """A bar with the time left and a field `wins`, whom the learner has beaten how often, and below it what a trainer
    says. Where no terminal is, a line now and then instead.

    Args:
        shown: False in all but one of several processes.
    """

    def __init__(self, shown: bool = True) -> None:
        console = terminal()
        columns = (
            NameColumn(console.width),
            *([BarColumn(bar_width=12)] if console.width >= WIDE else []),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            TextColumn("left  {task.fields[wins]}", markup=False, table_column=Column(no_wrap=True)),
        )
        self._figures = ""
        self._said = time.monotonic()
        self._lines = shown and not Console().is_jupyter
        super().__init__(*columns, console=console, transient=True, disable=not (shown and console.is_terminal))

    def get_renderables(self) -> Iterable[RenderableType]:
        """The bar, and what was said last."""
        yield from super().get_renderables()
        if self._figures:
            yield Text(self._figures)

    def say(self, figures: str) -> None:
        """Show figures below the bar; where there is none, print them every `SECONDS`."""
        self._figures = figures
        if self.disable and time.monotonic() - self._said >= SECONDS:
            self._said = time.monotonic()
            task = self.tasks[0]
            self.line(f"{task.description} {task.percentage:.0f} %: {figures}")

    def line(self, text: str) -> None:
        """Print a line that stays. In a notebook none does."""
        if self._lines:
            self.console.print(text, markup=False, highlight=False, soft_wrap=self.disable)


@contextmanager
def interrupt_as_flag() -> Iterator[threading.Event]:
    """While this lasts Ctrl-C sets the flag, so that nothing is left half done; a second one interrupts at once."""
    flag = threading.Event()

    def handle(*_: Any) -> None:
        flag.set()
        signal.signal(signal.SIGINT, previous)

    if threading.current_thread() is not threading.main_thread():
        yield flag  # signals are the main thread's
        return
    previous = signal.signal(signal.SIGINT, handle)
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, previous)
