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
"""Columns that a page of help takes at least: in 5 Tyro's layout doesn't end."""
EXAMPLE = re.compile(r"\s*(artus|torchrun) ")
"""How a paragraph of commands begins."""


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
    kind: type[Said],
    program: str,
    arguments: Sequence[str],
    *,
    description: str | None = None,
    default: Said | None = None,
) -> Said:
    """What the command line says.

    Args:
        kind: A dataclass of options.
        program: Such as `artus evaluate`.
        arguments: The words behind it.
        description: For `--help`; None: the docstring of `kind`. Commands in paragraphs of their own are examples, and
            are shown last.
        default: Options that aren't given; None: those of `kind`.

    Raises:
        Finished: After `--help`, with code 0; with 2 if the arguments don't fit, after saying which.
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
    """The width of a page of help."""
    return max(NARROWEST, shutil.get_terminal_size().columns)


class _Page(StringIO):
    """Takes what would be printed, and in colours only where that would be."""

    def __init__(self, instead_of: TextIO) -> None:
        super().__init__()
        self._instead_of = instead_of

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """It decides which lines boxes are drawn with."""
        return self._instead_of.encoding or "ascii"

    def isatty(self) -> bool:
        """Without colours where https://no-color.org is followed."""
        return self._instead_of.isatty() and not os.environ.get("NO_COLOR")


def _help(page: str, description: str) -> str:
    """A page of help as wide as the terminal: usage, what the command does, options, examples.

    Args:
        page: Usage and options, as Tyro says them.
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
    """A dataclass with the same options, which says of each what its docstring says.

    Tyro finds these docstrings itself, but breaks their lines where the source does, and shows the defaults None and
    nothing as such.
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
    """The texts below the fields of a dataclass and of those that it inherits from, each in one line."""
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
    """What `--help` says of a default; nothing of one that means that nothing was said."""
    label = {"True": "on", "False": "", "None": "", "''": ""}.get(label, label)
    return f"(default: {label})" if label else ""


def _metavar(name: str, kind: Any) -> str | None:
    """What stands for the value of an option; None where Tyro knows better."""
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
