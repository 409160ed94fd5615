"""Shared by long commands: a bar with the time left (without a terminal see `lines`), and Ctrl-C as a request to
stop."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text

from artus_training.lines import Lines, in_notebook

WIDE = 72
"""Columns that a terminal needs for a bar."""


def terminal() -> Console:
    """Console for progress. In a notebook it shows nothing: there, every step of a bar would stay."""
    return Console(stderr=True, force_jupyter=False, force_terminal=False if in_notebook() else None)


class Bar(Progress):
    """A bar for one task on a terminal, `Lines` without one; nothing in a notebook.

    Args:
        columns: Of the bar.
        shown: False in all but one of several processes.
    """

    def __init__(self, *columns: ProgressColumn, shown: bool = True) -> None:
        console = terminal()
        self._prints = shown and not in_notebook()
        self._lines = Lines("", self.line)
        super().__init__(
            *columns, console=console, transient=True, disable=not (shown and console.is_terminal),
            redirect_stdout=sys.stdout.isatty(),  # else a file would lack lines printed during the task
        )  # fmt: skip

    def __enter__(self) -> Self:
        if self.disable and self._prints:
            self._lines.__enter__()
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        if self.disable and self._prints:
            self._lines.__exit__()
        super().__exit__(*error)

    def add_task(self, description: str, *arguments: Any, **fields: Any) -> TaskID:
        """See `rich.progress.Progress`. Already completed steps don't count for the time left."""
        task = super().add_task(description, *arguments, **fields)
        self._lines.label = description
        self._lines.begin(self.tasks[0].percentage / 100)
        return task

    def update(self, *arguments: Any, **fields: Any) -> None:
        """See `rich.progress.Progress`."""
        super().update(*arguments, **fields)
        self._lines.show(self.tasks[0].percentage / 100)

    def line(self, text: str) -> None:
        """Print a line that stays. Prints nothing in a notebook."""
        if self._prints:
            self.console.print(text, markup=False, highlight=False, soft_wrap=self.disable)


class NameColumn(ProgressColumn):
    """The bar's label: the only column that is shortened in a narrow terminal."""

    def __init__(self, width: int) -> None:
        super().__init__(Column(no_wrap=True))
        self._width = width

    def render(self, task: Task) -> Text:
        """The name, cut at its end."""
        others = len("100% 0:00:00 left  ") + len(task.fields["wins"]) + (13 if self._width >= WIDE else 0) + 1
        room = max(8, self._width - others)
        name = task.description
        return Text(name if len(name) <= room else f"{name[: room - 3]}...")


class TrainingBar(Bar):
    """A bar with the time left and a field `wins` (win rates of the learner by opponent); below it the trainer's
    figures.

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
        super().__init__(*columns, shown=shown)

    def get_renderables(self) -> Iterable[RenderableType]:
        """The bar, and the latest figures."""
        yield from super().get_renderables()
        if self._figures:
            yield Text(self._figures)

    def say(self, figures: str) -> None:
        """Show figures below the bar, or in the lines."""
        self._figures = self._lines.figures = figures
        if self.disable:
            self._lines.tick()


@contextmanager
def interrupt_as_flag() -> Iterator[threading.Event]:
    """Make Ctrl-C set the flag in this context, so that no step is left incomplete; a second Ctrl-C interrupts at
    once."""
    flag = threading.Event()

    def handle(*_: Any) -> None:
        flag.set()
        signal.signal(signal.SIGINT, previous)

    if threading.current_thread() is not threading.main_thread():
        yield flag  # only the main thread may set handlers
        return
    previous = signal.signal(signal.SIGINT, handle)
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, previous)
