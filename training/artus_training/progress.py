"""Progress of long commands: a bar on a terminal, lines of text elsewhere, nothing in a notebook; and Ctrl-C as a
request to stop."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
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

COLUMNS_FOR_BAR = 72
"""Columns that a terminal needs for a bar."""
SECONDS = 10.0
"""Seconds between two lines, also while there is no progress."""
Show = Callable[[float], None]
"""Takes the fraction of the work that is done, 0..1."""


def in_notebook() -> bool:
    """Whether a notebook runs this process; IPython being imported is not enough."""
    ipython: Any = sys.modules.get("IPython")
    return hasattr(ipython and ipython.get_ipython(), "kernel")


def terminal() -> Console:
    """Console for progress. In a notebook it shows nothing: there, every step of a bar would stay."""
    return Console(stderr=True, force_jupyter=False, force_terminal=False if in_notebook() else None)


class Bar(Progress):
    """A bar for one task on a terminal; without a terminal a line every `SECONDS`; nothing in a notebook.

    Args:
        columns: Columns of the bar.
        shown: False in all but one of several processes.

    Attributes:
        figures: Text at the end of each line.
    """

    def __init__(self, *columns: ProgressColumn, shown: bool = True) -> None:
        console = terminal()
        self.figures = ""
        self._prints = shown and not in_notebook()
        self._completed_before = 0.0
        self._ended = threading.Event()
        self._printer = threading.Thread(target=self._print_lines, daemon=True, name="progress")
        super().__init__(
            *columns, console=console, transient=True, disable=not (shown and console.is_terminal),
            redirect_stdout=sys.stdout.isatty(),  # else a file would lack lines printed during the task
        )  # fmt: skip

    def __enter__(self) -> Self:
        if self.disable and self._prints:
            self._printer.start()
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        self._ended.set()
        if self._printer.is_alive():
            self._printer.join()
        super().__exit__(*error)

    def add_task(self, description: str, *arguments: Any, **fields: Any) -> TaskID:
        """See `rich.progress.Progress`. Already completed steps don't count for the time left."""
        self._completed_before = fields.get("completed", 0.0)
        return super().add_task(description, *arguments, **fields)

    def _print_lines(self) -> None:
        while not self._ended.wait(SECONDS):
            with suppress(OSError, ValueError):  # stderr may be closed
                for task in self.tasks:
                    self.line(self.status(task))

    def status(self, task: Task) -> str:
        """A line: the percentage done, and the time left at the mean speed so far."""
        elapsed, done_here = task.elapsed or 0.0, task.completed - self._completed_before
        seconds_left = elapsed * (task.remaining or 0.0) / done_here if done_here > 0 else 0.0
        time_text = f"{_duration(seconds_left)} left" if done_here > 0 else f"after {_duration(elapsed)}"
        return f"{task.description} {task.percentage:.0f} %, {time_text}" + (
            f": {self.figures}" if self.figures else ""
        )

    def line(self, text: str) -> None:
        """Print a line that stays. Prints nothing in a notebook."""
        if self._prints:
            self.console.print(text, markup=False, highlight=False, soft_wrap=self.disable)


def _duration(seconds: float) -> str:
    """A duration such as 0:01:30."""
    return str(timedelta(seconds=round(seconds)))


@contextmanager
def progress(label: str) -> Iterator[Show]:
    """Show the progress of some work, see `Bar`."""
    columns = TextColumn("{task.description}", markup=False), TaskProgressColumn(), TimeRemainingColumn()
    with Bar(*columns, TextColumn("left")) as bar:
        task = bar.add_task(label, total=1.0)
        yield lambda fraction: bar.update(task, completed=fraction)


def show_nothing(fraction: float) -> None:
    """Show nothing."""


def progress_of_pieces(show: Show, count: int) -> Iterator[Show]:
    """Split progress among pieces of work of equal size: one function for each, which takes the fraction of it that is
    done."""

    def piece(number: int) -> Show:
        return lambda fraction: show((number + fraction) / count)

    return map(piece, range(count))


class NameColumn(ProgressColumn):
    """The bar's label: the only column that is shortened in a narrow terminal."""

    def __init__(self, width: int) -> None:
        super().__init__(Column(no_wrap=True))
        self._width = width

    def render(self, task: Task) -> Text:
        """The name, cut at its end."""
        other_columns = (
            len("100% 0:00:00 left  ") + len(task.fields["wins"]) + (13 if self._width >= COLUMNS_FOR_BAR else 0) + 1
        )
        name_width = max(8, self._width - other_columns)
        name = task.description
        return Text(name if len(name) <= name_width else f"{name[: name_width - 3]}...")


class TrainingBar(Bar):
    """A bar with the time left and a field `wins` (the learner's win rate against each opponent); below it the
    `figures` of the trainer.

    Args:
        shown: False in all but one of several processes.
    """

    def __init__(self, shown: bool = True) -> None:
        console = terminal()
        columns = (
            NameColumn(console.width),
            *([BarColumn(bar_width=12)] if console.width >= COLUMNS_FOR_BAR else []),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            TextColumn("left  {task.fields[wins]}", markup=False, table_column=Column(no_wrap=True)),
        )
        super().__init__(*columns, shown=shown)

    def get_renderables(self) -> Iterable[RenderableType]:
        """The bar, and the latest figures."""
        yield from super().get_renderables()
        if self.figures:
            yield Text(self.figures)

    def show_figures(self, figures: str) -> None:
        """Show figures below the bar, or without a terminal in each line."""
        self.figures = figures


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
