"""Agents in Python files that aren't part of a package: `my_agent.py:Cautious`.

Loading such a file runs it. Only a user who types its name may do that: see
`artus_env.engine.agents.names.runs_program`.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from artus_env.engine.basics.reading import shown
from artus_env.engine.basics.wording import did_you_mean

_NAME = re.compile(r"((?:[A-Za-z]:)?[^:]+\.py)(?::(\w*))?")


def file_and_name(agent: str) -> tuple[str, str] | None:
    """Split a name such as `my_agent.py:Cautious` into the file and the name in it, empty if it is missing. None if the
    text names no Python file."""
    match = _NAME.fullmatch(agent)
    return (match[1], match[2] or "") if match else None


class AgentFile:
    """Factory for the agents in a Python file: called with the name of a class, a function or an agent in it."""

    runs_program = True  # see artus_env.engine.agents.names.runs_program

    def __init__(self, path: str) -> None:
        self.path = path

    def __call__(self, name: str = "") -> Any:
        """Return the object with this name in the file.

        Raises:
            ValueError: If there is no such file, it can't be run, or nothing in it has this name.
        """
        module = _load(self.path)
        names = [known for known, value in vars(module).items() if _may_play(known, value, module)]
        candidates = f"in it are: {', '.join(names)}" if names else "nothing in it could be one"
        if not name:
            raise ValueError(f"{self.path} needs the name of an agent behind it ({self.path}:NAME); {candidates}")
        if not hasattr(module, name):
            guess = did_you_mean(name, names) or ";"
            raise ValueError(f"there is no agent {shown(name)} in {self.path}{guess} {candidates}")
        return getattr(module, name)


def _load(path: str) -> ModuleType:
    """Run a Python file as a module, once per process, and return the module. Like a script, it can import the other
    modules of its folder.

    Raises:
        ValueError: If the file can't be read or run; the message contains the line number.
    """
    file = Path(path).resolve()
    key = f"artus_agent_{hashlib.sha256(os.fsencode(file)).hexdigest()[:16]}"
    if key in sys.modules:
        return sys.modules[key]
    if not file.is_file():
        raise ValueError(f"there is no file {shown(path)}")
    spec = importlib.util.spec_from_file_location(key, file)
    assert spec is not None  # its name ends in .py
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))
    sys.modules[key] = module  # where pickle and dataclasses look for it
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[key]
        line_numbers = [
            frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)
        ]
        line = error.lineno if isinstance(error, SyntaxError) else line_numbers[-1] if line_numbers else None
        raise ValueError(f"{path}{f', line {line}' if line else ''}: {type(error).__name__}: {error}") from error
    return module


def _may_play(name: str, value: Any, module: ModuleType) -> bool:
    """Whether a name in a module may be meant as an agent: it is public, and its value was defined in that module and
    can be called or has `act`."""
    module_name = getattr(value, "__module__", None) or type(value).__module__
    return not name.startswith("_") and module_name == module.__name__ and (callable(value) or hasattr(value, "act"))
