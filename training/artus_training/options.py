"""Command-line options: the fields of a dataclass, read by tyro.

For example::

    @dataclass
    class Options:
        "What the command does."

        agents: Agents
        "What they are for."
        games: int = 1000
        "How many."

`read_options(Options, "artus evaluate", arguments)` creates an instance from `artus evaluate greedy random --games 10`.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from inspect import cleandoc
from typing import Annotated, TypeVar

import tyro
from tyro.conf import DisallowNone, Positional, arg
from tyro.constructors import PrimitiveConstructorSpec

from artus_training.usage import Finished

Kind = TypeVar("Kind")
NARROWEST = 20
"""Minimum width of a help page in columns: with 5, tyro's layout never terminates."""


def _one_or_none(words: list[str]) -> str:
    """The word after an option, empty if there is none."""
    if len(words) > 1:
        raise ValueError(f"one address at most, got {' '.join(words)}")
    return words[0] if words else ""


Agents = Annotated[tuple[str, ...], Positional, arg(metavar="AGENT ...", help_behavior_hint="(required)")]
"""One or more agents, without `--agents`."""

Ray = Annotated[
    str | None,
    PrimitiveConstructorSpec(
        nargs=(0, 1),
        metavar="[ADDRESS]",
        instance_from_str=_one_or_none,
        is_instance=lambda value: value is None or isinstance(value, str),
        str_from_instance=lambda value: [] if not value else [value],
    ),
    arg(help_behavior_hint="(off unless given)"),
]
"""`--ray`, or `--ray ADDRESS`: the address, empty if none is given; None without the option."""


def read_options(
    kind: type[Kind],
    program: str,
    arguments: Sequence[str],
    *,
    description: str | None = None,
) -> Kind:
    """Parse a command line.

    Args:
        kind: A dataclass of options. A default of None means that the option wasn't given; the word None on the command
            line is read as text.
        program: Such as `artus evaluate`.
        arguments: The words after the program's name.
        description: For `--help`; None: the docstring of `kind`. Indented lines, such as examples, stay as they are.

    Raises:
        Finished: After `--help`, with code 0; with 2 if the arguments are invalid, after an error message.
    """
    if shutil.get_terminal_size().columns < NARROWEST:
        os.environ["COLUMNS"] = str(NARROWEST)  # the only place where tyro looks
    text = re.sub(r"(?<=\S)\n(?=\S)", " ", cleandoc(description or kind.__doc__ or ""))
    try:
        return tyro.cli(kind, prog=program, args=arguments, description=text, config=(DisallowNone,))
    except SystemExit as end:
        raise Finished(end.code) from None
