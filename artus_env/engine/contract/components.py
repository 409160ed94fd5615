"""What the components of all games can do: they are hashed, copied with changes, written and read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cached_property
from typing import Any, Self

from artus_env.engine.basics.reading import shown


class Box:
    """Base of frozen dataclasses that say what is in a game's box.

    A dataclass makes a `__hash__` of its own unless its body has one: say `__hash__ = Box.__hash__` there.
    """

    @cached_property
    def hash(self) -> str:
        """Tells boxes apart in records and saved agents: 16 hex digits."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()[:16]

    def __hash__(self) -> int:
        return hash(self.hash)  # worked out once: every new game looks its tables up with it

    def replace(self, **changes: Any) -> Self:
        """A copy with other parts."""
        return replace(self, **changes)  # type: ignore[type-var]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return asdict(self)  # type: ignore[call-overload]

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """The box that `to_dict` described.

        Raises:
            ValueError: If it is none; the message names the part.
        """
        try:
            return cls(**cls.parts(data))
        except (TypeError, KeyError) as error:
            raise ValueError(f"components: {shown(str(error), 200)}") from None

    @classmethod
    def parts(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments that plain data describes. A box with parts that are objects makes these here."""
        return {**data}
