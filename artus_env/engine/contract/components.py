"""Common functions of the components of all games: hash, copy with changes, conversion from and to plain data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cached_property
from typing import Any, Self

from artus_env.engine.basics.reading import shown


class Box:
    """Base class of frozen dataclasses that describe the components of a game.

    A dataclass makes its own `__hash__` unless its body has one: write `__hash__ = Box.__hash__` there.
    """

    @cached_property
    def hash(self) -> str:
        """Hash that distinguishes components in records and saved agents: 16 hex digits."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()[:16]

    def __hash__(self) -> int:
        return hash(self.hash)  # computed once: every new game looks up its tables with it

    def replace(self, **changes: Any) -> Self:
        """Return a copy with these parts changed."""
        return replace(self, **changes)  # type: ignore[type-var]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return asdict(self)  # type: ignore[call-overload]

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Return the components that `to_dict` described.

        Raises:
            ValueError: If the data don't describe components; the message names the part.
        """
        try:
            return cls(**cls.parts(data))
        except (TypeError, KeyError) as error:
            raise ValueError(f"components: {shown(str(error), 200)}") from None

    @classmethod
    def parts(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of the constructor for plain data. A class whose parts are objects makes these objects
        here."""
        return {**data}
