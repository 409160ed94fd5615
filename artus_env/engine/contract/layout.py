"""Observation in blocks: meaning, bounds and scale of its features, defined in one place."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np

from artus_env.engine.compiling.jit import jit


@dataclass(frozen=True)
class Feature:
    """A block of features with the same meaning, bounds and scale.

    Attributes:
        name: Different from the names of all other blocks.
        size: Number of features.
        low, high: Bounds of the values.
        scale: Factor for small floats, most of them within -1..1; 0: derived from the bounds.
        meaning: Text for the table in the documentation.
    """

    name: str
    size: int = 1
    low: int = 0
    high: int = 1
    scale: float = 0.0
    meaning: str = ""

    def __post_init__(self) -> None:
        if not self.scale:
            object.__setattr__(self, "scale", 1 / max(1, abs(self.low), abs(self.high)))

    @property
    def scaled_range(self) -> str:
        """Bounds of the feature times its scale, as text."""
        return "..".join(f"{bound * self.scale:.3g}" for bound in (self.low, self.high))


class Layout:
    """Blocks of an observation, one after the other.

    Attributes:
        features: The blocks.
        starts: First index of each block, by its name.
        size: Total number of features.

    Raises:
        ValueError: If two blocks have the same name.
    """

    def __init__(self, features: Sequence[Feature]) -> None:
        self.features = tuple(features)
        self.size = 0
        self.starts: dict[str, int] = {}
        for feature in self.features:
            if feature.name in self.starts:
                raise ValueError(f"there are two features {feature.name}")
            self.starts[feature.name] = self.size
            self.size += feature.size

    @cached_property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest value of each feature, always including 0: shapes (F,), int8, read-only."""
        low = np.concatenate([np.full(block.size, min(block.low, 0), np.int8) for block in self.features])
        high = np.concatenate([np.full(block.size, max(block.high, 0), np.int8) for block in self.features])
        low.flags.writeable = high.flags.writeable = False
        return low, high

    @property
    def scale(self) -> np.ndarray:
        """Factors for small floats, see `Feature`: shape (F,), float32, a fresh array."""
        return np.concatenate([np.full(block.size, block.scale, np.float32) for block in self.features])

    def rows(self) -> list[list[object]]:
        """Return the lines of a table: index, size, name, range, scale, range as floats, meaning. Adjacent blocks with
        the same size, bounds and scale share a line, with the meaning of the first, if their names differ only by a
        number or a player at the end."""
        rows: list[list[object]] = []
        for _, like_blocks in groupby(self.features, _line_key):
            first, *more_blocks = like_blocks
            start, count = self.starts[first.name], 1 + len(more_blocks)
            end = start + count * first.size - 1
            rows.append([
                f"{start}-{end}" if end > start else start,
                f"{count} x {first.size}" if more_blocks else f"{first.size}",
                f"{first.name} ... {more_blocks[-1].name}" if more_blocks else first.name,
                f"{first.low}..{first.high}",
                f"{first.scale:.3g}",
                first.scaled_range,
                first.meaning,
            ])  # fmt: skip
        return rows


def _line_key(feature: Feature) -> tuple[object, ...]:
    """Key that is equal for adjacent blocks that share a line of the table."""
    name = re.sub(r" (\d|the viewer|player \+\d)$", "", feature.name)
    return name, feature.size, feature.low, feature.high, feature.scale


@jit
def clipped(number):
    """Nearest whole number in -127..127: it and its negative fit into an int8."""
    return max(-127, min(127, math.floor(number + 0.5)))
