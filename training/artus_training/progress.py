"""What long commands share: a bar with the time left, and Ctrl-C as a wish to stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Column


def terminal() -> Console:
    """Where progress is shown. In a notebook nothing is: every step of a bar would stay there."""
    return Console(stderr=True, force_jupyter=False, force_terminal=False if Console().is_jupyter else None)


def progress(*columns: ProgressColumn, shown: bool = True) -> Progress:
    """Progress on the terminal; nothing where nobody watches, or if it isn't to be shown."""
    console = terminal()
    return Progress(*columns, console=console, transient=True, disable=not (shown and console.is_terminal))


def progress_bar(shown: bool = True) -> Progress:
    """A bar with the time left and a field `wins`: how often the learner has beaten whom. See `progress`."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=12),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn("left  {task.fields[wins]}", table_column=Column(no_wrap=True)),
    )
    return progress(*columns, shown=shown)


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
