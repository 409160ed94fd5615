"""Hash of the code that can end up in a compiled function; comments, docstrings and line numbers don't change it.

Numba's own disk cache checks only the file of the compiled function. It misses changes of globals, and of functions in
other files that were inlined. This hash covers the function's module and all modules that it imports, directly or not,
as far as they belong to this project or to the function's package.
"""

from __future__ import annotations

import dis
import hashlib
import importlib.util
import inspect
import sys
import time
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np

OWN_PACKAGE = "artus_env"
VERSIONS = f"{sys.version} {np.__version__} {numba.__version__} {llvmlite.__version__}"
"""Versions of the compilers and of the packages that run the code."""
_HAS_DOCSTRING = (
    0x4000000  # a flag of functions since Python 3.13; in older versions their first constant is the docstring or None
)
_BEGUN = time.time()
"""Start of this process. Nearly everything is imported later: files that haven't been written since contain the
imported code."""


def source_hash(*packages: Path) -> str:
    """Hash of all source files of some packages and of the versions that run them (16 hex digits)."""
    hasher = hashlib.sha256(VERSIONS.encode())
    for package in packages:
        for path in sorted(package.rglob("*.py")):
            hasher.update(str(path.relative_to(package)).encode())
            hasher.update(path.read_bytes())
    return hasher.hexdigest()[:16]


@cache
def code_hash(module: str) -> str | None:
    """Hash of the code of a module and of its imports from its own package and this one (16 hex digits).

    Modules that are only imported within functions don't count: compiled code can't use them.

    None: the running code isn't known, because the module is a script or was typed in at a prompt, or because one of
    the files was edited after the start of this process and may have been imported before.
    """
    packages = {OWN_PACKAGE, module.partition(".")[0]}
    digests: dict[str, bytes] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in digests:
            module_content = content(name)
            if module_content is None or (name == module and not module_content[0]):
                return None
            digests[name], imported = module_content
            waiting += [import_name for import_name in imported if import_name.partition(".")[0] in packages]
    return hashlib.sha256(repr(sorted(digests.items())).encode()).hexdigest()[:16]


@cache
def content(module: str) -> tuple[bytes, tuple[str, ...]] | None:
    """Hash of a module's own code, and the names that it imports; empty if there is no such module or it has no code,
    None if its file was edited after the start of this process."""
    try:
        spec = importlib.util.find_spec(module)
        get_code: Any = getattr(spec and spec.loader, "get_code", None)
        code = get_code(module) if get_code else None
    except (ImportError, ValueError, AttributeError):  # not every imported name is a module; `__main__`
        return b"", ()
    if spec is None or code is None:
        return b"", ()
    if spec.origin and (file := Path(spec.origin)).exists() and _BEGUN < file.stat().st_mtime <= time.time():
        return None  # a time in the future isn't an edit: the clock was set back
    return digest(code), tuple(_imported_names(code, spec.parent or ""))


def values_hash(*functions: Any) -> str:
    """Hash of the values that functions, and all functions that they call, take from outside their code (16 hex
    digits).

    These are compiled in: globals and attributes of modules and classes that the code names, variables of enclosing
    functions, and default arguments; numbers, texts, tuples, arrays and data types. A module may have read them from a
    file, from the environment, or from another package.
    """
    entries: set[tuple[str, str]] = set()
    visited: set[int] = set()
    waiting = [inspect.unwrap(getattr(function, "py_func", function)) for function in functions]
    while waiting:
        function = waiting.pop()
        if id(function) not in visited and isinstance(function, FunctionType) and not _has_version(function):
            visited.add(id(function))
            for path, value in _values_in(function):
                if (text := _value_text(value)) is not None:
                    entries.add((path, text))
                elif callable(value) and not isinstance(value, type):
                    callee = inspect.unwrap(getattr(value, "py_func", value))
                    entries.add((path, getattr(callee, "__qualname__", "")))
                    waiting.append(callee)
            entries.add((f"{function.__module__}.{function.__qualname__}", digest(function.__code__).hex()))
    return hashlib.sha256(repr(sorted(entries)).encode()).hexdigest()[:16]


def _has_version(function: FunctionType) -> bool:
    """Whether a function belongs to Python or to a package whose version is part of `VERSIONS`."""
    package = (function.__module__ or "").partition(".")[0]
    return package in ("numpy", "numba", "llvmlite") or package in sys.stdlib_module_names


def _values_in(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the values that a function takes from outside its code, with names that are the same in every process."""
    name = f"{function.__module__}.{function.__qualname__}"
    names = [name for part in _parts(function.__code__) for name in part.co_names]
    for place, value in enumerate(function.__defaults__ or ()):
        yield f"{name} default {place}", value
    for place, cell in enumerate(function.__closure__ or ()):
        yield f"{name} cell {place}", cell.cell_contents
    waiting: list[tuple[str, Any, Mapping[str, Any]]] = [(function.__module__, None, function.__globals__)]
    visited = set()
    while waiting:
        path, owner, namespace = waiting.pop()
        if id(owner) not in visited:  # modules may import each other
            visited.add(id(owner))
            for global_name in names:
                if global_name in namespace:
                    value = namespace[global_name]
                    yield f"{path}.{global_name}", value
                    if isinstance(value, ModuleType | type):
                        waiting.append((f"{path}.{global_name}", value, vars(value)))


def _value_text(value: Any) -> str | None:
    """Text of a value that compiled code can contain; None for other kinds of values."""
    if isinstance(value, tuple):
        parts = [_value_text(part) for part in value]
        return None if None in parts else repr((type(value).__qualname__, parts))
    if isinstance(value, np.ndarray | np.void):
        array = np.asarray(value)
        content = hashlib.sha256(array.tobytes()).hexdigest()
        return None if array.dtype.hasobject else repr((array.dtype, array.shape, content))
    if isinstance(value, Enum):
        return repr((type(value).__qualname__, value.name, _value_text(value.value)))
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    plain_types = bool | int | float | complex | str | bytes | np.generic | np.dtype | numba.types.Type | None
    return repr((type(value).__qualname__, value)) if isinstance(value, plain_types) else None


def _imported_names(code: CodeType, package: str) -> Iterator[str]:
    """Yield the modules that the code of a module imports, and each name that it imports from them: it may be a module
    as well."""
    source = ""
    instructions = [instruction for instruction in dis.get_instructions(code) if instruction.opname != "EXTENDED_ARG"]
    for place, instruction in enumerate(instructions):
        if instruction.opname == "IMPORT_NAME":
            level = instructions[place - 2].argval  # the level and the imported names are pushed just before
            source = importlib.util.resolve_name("." * level + instruction.argval, package)
            yield source
        elif instruction.opname == "IMPORT_FROM":
            yield f"{source}.{instruction.argval}"


def _parts(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a module and of all functions and classes defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _parts(constant)


def digest(code: CodeType) -> bytes:
    """Hash of the instructions, names and constants of some code, without docstrings."""
    hasher = hashlib.sha256()
    for part in _parts(code):
        docstring = _docstring(part)
        constants = [None if c is docstring else _ordered(c) for c in part.co_consts if not isinstance(c, CodeType)]
        hasher.update(repr((part.co_qualname, part.co_code, part.co_names, part.co_varnames, constants)).encode())
    return hasher.digest()


def _ordered(constant: Any) -> Any:
    """Return a set of constants as a sorted list, which is the same in every process; other constants unchanged."""
    return sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant


def _docstring(code: CodeType) -> Any:
    """Constant that is the docstring of a module, a class or a function; None if it has none."""
    if code.co_flags & inspect.CO_OPTIMIZED:  # a function
        first = code.co_consts[0] if code.co_consts else None
        has_name = not code.co_name.startswith("<")
        return first if has_name and (sys.version_info < (3, 13) or code.co_flags & _HAS_DOCSTRING) else None
    previous_value: Any = None
    for instruction in dis.get_instructions(code):
        if instruction.opname == "STORE_NAME" and instruction.argval == "__doc__":
            return previous_value
        previous_value = instruction.argval if instruction.opname == "LOAD_CONST" else None
    return None
