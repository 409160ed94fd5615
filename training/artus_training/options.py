"""How every command is told what to do: a dataclass whose fields say name, type, default and help of each option.

For example::

    @options
    class Options:
        "What the command does."

        agents: Agents
        "What they are for."
        games: int = 1000
        "How many."

`read_options(Options, "artus evaluate", arguments)` makes one of it from `artus evaluate greedy random --games 10`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar, dataclass_transform

import tyro
from tyro.conf import DisallowNone, Positional, arg, configure
from tyro.constructors import PrimitiveConstructorSpec

Said = TypeVar("Said")


def _one_or_none(words: list[str]) -> str:
    """The word behind an option, empty if there is none."""
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


@dataclass_transform(field_specifiers=(field,))
def options(kind: type[Said]) -> type[Said]:
    """A dataclass of options. A default of None means that nothing was said: the word None is no value of its own."""
    return configure(DisallowNone)(dataclass(kind))


def read_options(
    kind: type[Said] | Callable[..., Said],
    program: str,
    arguments: Sequence[str],
    *,
    description: str | None = None,
    default: Said | None = None,
) -> Said:
    """What the command line says.

    Args:
        kind: A dataclass of options, or a function with an argument for each.
        program: Such as `artus evaluate`.
        arguments: The words behind it.
        description: For `--help`; None: the docstring of `kind`.
        default: Options that aren't given; None: those of `kind`.

    Raises:
        SystemExit: After `--help`, with code 0; with 2 if the arguments don't fit, after saying which.
    """
    chosen: dict[str, Any] = {} if default is None else {"default": default}
    return tyro.cli(kind, args=arguments, prog=program, description=description, **chosen)
