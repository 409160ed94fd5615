"""Command-line options as a dataclass, whose fields define name, type, default and help of each option.

For example::

    @options
    class Options:
        "What the command does."

        agents: Agents
        "What they are for."
        games: int = 1000
        "How many."

`read_options(Options, "artus evaluate", arguments)` creates an instance from `artus evaluate greedy random --games 10`.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, make_dataclass
from inspect import cleandoc
from io import StringIO
from itertools import pairwise
from pathlib import Path
from textwrap import dedent, fill
from types import NoneType, UnionType
from typing import Annotated, Any, TextIO, TypeVar, dataclass_transform, get_args, get_origin, get_type_hints

import tyro
from tyro.conf import DisallowNone, Positional, arg, configure
from tyro.constructors import PrimitiveConstructorSpec

from artus_training.usage import Finished

Said = TypeVar("Said")
NARROWEST = 20
"""Minimum width of a help page in columns: with 5, Tyro's layout never terminates."""
EXAMPLE = re.compile(r"\s*(artus|torchrun) ")
"""Start of a paragraph of commands."""


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


@dataclass_transform(field_specifiers=(field,))
def options(kind: type[Said]) -> type[Said]:
    """Make a dataclass of options. A default of None means that the option wasn't given: the word None is not accepted
    as a value."""
    return configure(DisallowNone)(dataclass(kind))


def read_options(
    kind: type[Said],
    program: str,
    arguments: Sequence[str],
    *,
    description: str | None = None,
    default: Said | None = None,
) -> Said:
    """Parse a command line.

    Args:
        kind: A dataclass of options.
        program: Such as `artus evaluate`.
        arguments: The words after it.
        description: For `--help`; None: the docstring of `kind`. Paragraphs of commands are examples and are shown
            last.
        default: Values of options that aren't given; None: those of `kind`.

    Raises:
        Finished: After `--help`, with code 0; with 2 if the arguments are invalid, after an error message.
    """
    told = _with_help(kind, default)
    page = _Page(sys.stdout)
    try:
        with _not_too_narrow(), redirect_stdout(page) if {"-h", "--help"} & set(arguments) else nullcontext():
            said = tyro.cli(told, args=arguments, prog=program, description="")
    except SystemExit as end:
        if not end.code:
            print(_help(page.getvalue(), description if description is not None else kind.__doc__ or ""))
        raise Finished(end.code) from None
    return kind(**{each.name: getattr(said, each.name) for each in fields(kind)})  # type: ignore[arg-type]


@contextmanager
def _not_too_narrow() -> Iterator[None]:
    """Give Tyro at least `NARROWEST` columns."""
    if _columns() == shutil.get_terminal_size().columns:
        yield
        return
    said = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(NARROWEST)  # the only place where Tyro looks
    try:
        yield
    finally:
        if said is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = said


def _columns() -> int:
    """Width of a help page."""
    return max(NARROWEST, shutil.get_terminal_size().columns)


class _Page(StringIO):
    """Captures output, with colours only where the original stream would have them."""

    def __init__(self, instead_of: TextIO) -> None:
        super().__init__()
        self._instead_of = instead_of

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Encoding of the original stream, which determines the characters for boxes."""
        return self._instead_of.encoding or "ascii"

    def isatty(self) -> bool:
        """Whether to use colours; respects https://no-color.org."""
        return self._instead_of.isatty() and not os.environ.get("NO_COLOR")


def _help(page: str, description: str) -> str:
    """A help page as wide as the terminal: usage, description, options, examples.

    Args:
        page: Usage and options, from Tyro.
        description: Paragraphs; those of commands are examples.
    """
    width = _columns()

    def filled(text: str, indent: str = "") -> str:
        return fill(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)

    usage, _, options = page.strip().partition("\n\n")
    together = re.sub(r"\[[^\]]*\]", lambda option: option[0].replace(" ", "\0"), usage)
    parts, examples = [filled(together, "    ").replace("\0", " ")], []
    for paragraph in cleandoc(description).split("\n\n"):
        if EXAMPLE.match(paragraph):
            examples += [f"  {line.strip()}" for line in paragraph.splitlines()]
        else:
            parts.append(filled(" ".join(paragraph.split())))
    parts.append(options)
    if examples:
        parts.append("\n".join(["Examples:", *examples]))
    return "\n\n".join(parts)


def _with_help(kind: type[Said], default: Said | None) -> type[Said]:
    """A dataclass with the same options, each with the docstring of its field as help.

    Tyro finds these docstrings itself, but keeps the line breaks of the source, and shows the default None and empty
    defaults as such.
    """
    kinds, texts = get_type_hints(kind, include_extras=True), _docstrings(kind)
    made = []
    for each in fields(kind):  # type: ignore[arg-type] # it is a dataclass
        value = getattr(default, each.name) if default is not None else each.default
        factory = each.default_factory if default is None else MISSING
        shown = arg(help=texts[each.name], help_behavior_hint=_default, metavar=_metavar(each.name, kinds[each.name]))
        own = getattr(kinds[each.name], "__metadata__", ())
        plain = kinds[each.name].__origin__ if own else kinds[each.name]
        told = field(default=value) if factory is MISSING else field(default_factory=factory)
        made.append((each.name, Annotated[(plain, shown, *own)], told))
    return make_dataclass(kind.__name__, made, bases=(kind,))


def _docstrings(kind: type) -> dict[str, str]:
    """The strings below the fields of a dataclass and its base classes, each in one line."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if is_dataclass(base):
            (body,) = ast.parse(dedent(inspect.getsource(base))).body
            assert isinstance(body, ast.ClassDef)
            for one, other in pairwise(body.body):
                match one, other:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                        found[name] = " ".join(text.split())
    return found


def _default(label: str) -> str:
    """The default as shown in `--help`; empty for a default that means "not given"."""
    label = {"True": "on", "False": "", "None": "", "''": ""}.get(label, label)
    return f"(default: {label})" if label else ""


def _metavar(name: str, kind: Any) -> str | None:
    """Placeholder for the value of an option; None for Tyro's own."""
    if any(isinstance(each, PrimitiveConstructorSpec) for each in getattr(kind, "__metadata__", ())):
        return None
    plain = kind.__origin__ if get_origin(kind) is Annotated else kind
    inner = [each for each in get_args(plain) if each is not NoneType] if get_origin(plain) is UnionType else [plain]
    if len(inner) != 1:
        return None
    several = get_origin(inner[0]) is tuple
    one = get_args(inner[0])[0] if several else inner[0]
    own = name.rpartition("_")[2].removesuffix("s" if several else "").upper()
    word = {int: "N", float: "N", Path: "PATH", str: own}
    return word.get(one) and word[one] + (" ..." if several else "")
